//! Models of the lock: one owner at a time, and no lost wake-up, whoever leaves.

use super::*;
use loom::cell::Cell;
use loom::thread;
use std::sync::Arc;
use std::task::Waker;

use crate::memory::model::explore;

fn increase(mutex: &Mutex<Cell<u32>>) {
    // Loom's cell finds two owners at once, and writes that are not seen.
    let number = block_on(mutex.lock());
    number.set(number.get() + 1);
}

fn increased_by(others: usize) {
    explore(move || {
        let mutex = Arc::new(Mutex::new(Cell::new(0)));
        let threads: Vec<_> = (0..others)
            .map(|_| {
                let mutex = Arc::clone(&mutex);
                thread::spawn(move || increase(&mutex))
            })
            .collect();
        increase(&mutex);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(mutex.try_lock().expect("all have unlocked").get(), others as u32 + 1);
        assert_eq!(mutex.state.load(Ordering::Relaxed), FREE);
    });
}

#[test]
fn two_owners_take_turns() {
    increased_by(1);
}

#[test]
fn three_owners_take_turns() {
    increased_by(2);
}

/// A future that has come, and maybe come back too late, is dropped while it may be its turn; a
/// third waits behind it. A lost wake-up shows as a deadlock.
#[test]
fn a_dropped_waiter_passes_the_lock_on() {
    explore(|| {
        let mutex = Arc::new(Mutex::new(Cell::new(0)));
        let owner = mutex.try_lock().unwrap();
        let leaving = thread::spawn({
            let mutex = Arc::clone(&mutex);
            move || {
                let mut lock = mutex.lock();
                let mut context = Context::from_waker(Waker::noop());
                let _ = Pin::new(&mut lock).poll(&mut context).is_ready()
                    || Pin::new(&mut lock).poll(&mut context).is_ready();
            }
        });
        let waiting = thread::spawn({
            let mutex = Arc::clone(&mutex);
            move || increase(&mutex)
        });
        drop(owner);
        let again = mutex.try_lock();
        drop(again);
        leaving.join().unwrap();
        waiting.join().unwrap();
        assert_eq!(mutex.try_lock().expect("all have unlocked").get(), 1);
    });
}

/// Two are in line, and the first leaves in the way given while the owner unlocks.
fn the_second_gets_the_lock(leave: fn(Lock<'_, ()>)) {
    explore(move || {
        let mutex = Arc::new(Mutex::new(()));
        let owner = mutex.try_lock().unwrap();
        let mut context = Context::from_waker(Waker::noop());
        let (mut first, mut second) = (mutex.lock(), mutex.lock());
        assert!(Pin::new(&mut first).poll(&mut context).is_pending());
        assert!(Pin::new(&mut second).poll(&mut context).is_pending());
        let leaving = thread::spawn({
            let (mutex, place) = (Arc::clone(&mutex), first.place.take());
            move || leave(Lock { mutex: &mutex, place, was_too_late: false })
        });
        drop(owner);
        leaving.join().unwrap();
        let is_ready = Pin::new(&mut second).poll(&mut context).is_ready();
        // It must not lock anything while a panic unwinds.
        second.place = None;
        assert!(is_ready, "nobody was woken");
    });
}

#[test]
fn the_second_in_line_is_woken_for_the_first() {
    the_second_gets_the_lock(|lock| drop(lock));
}

/// The planted bug: who is dropped after it was woken tells nobody.
#[test]
#[should_panic(expected = "nobody was woken")]
fn a_wake_dropped_with_its_waiter_is_caught() {
    the_second_gets_the_lock(|mut lock| {
        let place = lock.place.take().unwrap();
        drop(lock.mutex.line.lock().waiters.leave(place));
    });
}
