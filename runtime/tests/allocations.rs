//! Spawning, running and joining tasks allocates nothing once the pools are warm.

#![expect(unsafe_code, reason = "counts the calls of the global allocator")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::future::poll_fn;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Poll, Waker};

use raddle::sync::{Condition, Mutex as Lock, ring};
use raddle::{Priority, Runtime, Task, parallel};

struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's duties are the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's duties are the same.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's duties are the same.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The counter is one for the whole process, so the tests take turns.
static TURN: Mutex<()> = Mutex::new(());

/// Runs `work` a few times; afterwards, repeats of it must not allocate. The best of some repeats
/// counts: the number of fibers may grow for a while, and the test harness allocates too.
fn check(workers: usize, work: impl Fn(&Task<'_>) + Sync) {
    let turn = TURN.lock().unwrap();
    let runtime = Runtime::builder().workers(workers).stack_size(1 << 20).build().unwrap();
    let fewest = runtime.run(|task| {
        (0..3).for_each(|_| work(task));
        let counts = (0..20).map(|_| {
            let before = ALLOCATIONS.load(Ordering::SeqCst);
            work(task);
            ALLOCATIONS.load(Ordering::SeqCst) - before
        });
        counts.min()
    });
    drop(turn);
    assert_eq!(fewest, Some(0), "{workers} workers");
}

#[test]
fn a_hundred_thousand_tasks() {
    for workers in [1, 2, 4] {
        let sum = AtomicU64::new(0);
        check(workers, |task| {
            task.scope(|scope| {
                for n in 0..100_000u64 {
                    let sum = &sum;
                    scope.spawn(task, Priority::Normal, move |_| {
                        sum.fetch_add(n, Ordering::Relaxed);
                    });
                }
            });
        });
        assert_eq!(sum.into_inner(), 23 * 4_999_950_000);
    }
}

#[test]
fn nested_scopes() {
    fn tree(task: &Task<'_>, depth: u32) -> u64 {
        if depth == 0 {
            return 1;
        }
        let (mut left, mut right) = (0, 0);
        task.scope(|scope| {
            scope.spawn(task, Priority::Normal, |task| left = tree(task, depth - 1));
            scope.spawn(task, Priority::High, |task| right = tree(task, depth - 1));
        });
        left + right
    }
    for workers in [1, 2, 4] {
        check(workers, |task| assert_eq!(tree(task, 10), 1024));
    }
}

#[test]
fn a_million_items() {
    let numbers: Vec<u64> = (0..1_000_000).collect();
    for workers in [1, 2, 4] {
        check(workers, |task| {
            let sum = AtomicU64::new(0);
            parallel::for_each(task, &numbers, |_, number| {
                sum.fetch_add(*number, Ordering::Relaxed);
            });
            assert_eq!(sum.into_inner(), 499_999_500_000);
            let sum = parallel::reduce(task, &numbers, || 0, |_, &number| number, |a, b| a + b);
            assert_eq!(sum, 499_999_500_000);
        });
    }
}

/// Two tasks hand a turn to and fro, each by the waker that the other has left.
#[test]
fn waits_for_futures() {
    #[derive(Default)]
    struct Turn {
        number: u64,
        waiting: [Option<Waker>; 2],
    }

    fn take_turns(task: &Task<'_>, turn: &Mutex<Turn>, me: usize) {
        for number in (0..1000).filter(|number| number % 2 == me as u64) {
            task.wait(poll_fn(|context| {
                let mut turn = turn.lock().unwrap();
                if turn.number != number {
                    turn.waiting[me] = Some(context.waker().clone());
                    return Poll::Pending;
                }
                turn.number += 1;
                let other = turn.waiting[1 - me].take();
                drop(turn);
                if let Some(other) = other {
                    other.wake();
                }
                Poll::Ready(())
            }));
        }
    }

    for workers in [1, 2, 4] {
        check(workers, |task| {
            let turn = Mutex::new(Turn::default());
            task.scope(|scope| {
                scope.spawn(task, Priority::Normal, |task| take_turns(task, &turn, 1));
                take_turns(task, &turn, 0);
            });
        });
    }
}

#[test]
fn waits_for_rings_and_locks() {
    for workers in [1, 2, 4] {
        let rings = Lock::new((ring(1), ring(3)));
        let (count, changed) = (Lock::new(0u64), Condition::new());
        check(workers, |task| {
            let mut rings = task.wait(rings.lock());
            let ((to, from), (back_to, back_from)) = &mut *rings;
            task.scope(|scope| {
                scope.spawn(task, Priority::Normal, |task| {
                    for _ in 0..500 {
                        let n: u64 = task.wait(from.recv()).unwrap();
                        task.wait(back_to.send(n)).unwrap();
                    }
                });
                for _ in 0..3 {
                    scope.spawn(task, Priority::Normal, |task| {
                        for _ in 0..100 {
                            let mut count = task.wait(count.lock());
                            *count += 1;
                            task.yield_now();
                            drop(count);
                            changed.notify_one();
                        }
                    });
                }
                for n in 0..500 {
                    task.wait(to.send(n)).unwrap();
                    assert_eq!(task.wait(back_from.recv()), Some(n));
                }
                let held = task.wait(count.lock());
                *task.wait(changed.wait_while(held, |count| *count < 300)) = 0;
            });
        });
    }
}
