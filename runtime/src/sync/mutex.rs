//! A lock whose waiters suspend: a task leaves its worker free while it waits.
//!
//! ```text
//!            lock                      lock by another
//! FREE ----------------> HELD ----------------------------> AWAITED
//!   ^---------------------'  ^                                |   ^
//!   |       unlock           |    unlock, last of the line    |   | unlock, others wait
//!   |                        '--------------------------------'---'
//!   '------------ unlock, the line turns out to be empty -----'
//! ```
//!
//! Without waiters, locking and unlocking are one exchange each. Who finds the lock held gets in
//! line, in the order of coming; unlocking while someone waits hands the lock to the first in line
//! without ever freeing it. So nobody is passed over, and two tasks that take turns under one lock
//! do so with any number of workers.
//!
//! What always holds: the word becomes AWAITED, and leaves that state, only under the lock of the
//! line; while it is AWAITED only the owner changes it. A future that is dropped after the lock was
//! handed to it unlocks: the next in line gets it.
//!
//! Not here: circles of tasks that wait for each other's locks are not found.

#![expect(unsafe_code, reason = "hands out references to the value of a lock")]

use std::cell::UnsafeCell;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::pin::Pin;
use std::task::{Context, Poll};

use super::block::block_on;
use super::waiters::{Place, Seen, Waiters};
use crate::memory::model::Mutex as ShortLock;
use crate::memory::model::atomic::{AtomicU32, Ordering};

const FREE: u32 = 0;
const HELD: u32 = 1;
const AWAITED: u32 = 2;

/// A lock for tasks: it may be held across any wait, and who waits for it suspends.
///
/// The lock goes to those who wait in the order in which they came. A panic of the owner unlocks
/// it like any other end; the value stays as it is then, for there is no poisoning.
///
/// # Examples
///
/// ```
/// use raddle::sync::Mutex;
/// use raddle::{Priority, Runtime};
///
/// let runtime = Runtime::builder().workers(2).build()?;
/// let total = Mutex::new(0);
/// runtime.run(|task| {
///     task.scope(|scope| {
///         for n in 1..=100 {
///             let total = &total;
///             scope.spawn(task, Priority::Normal, move |task| {
///                 let mut total = task.wait(total.lock());
///                 let before = *total;
///                 task.yield_now(); // Nobody else gets the lock meanwhile.
///                 *total = before + n;
///             });
///         }
///     });
/// });
/// assert_eq!(total.into_inner(), 5050);
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Mutex<T: ?Sized> {
    state: AtomicU32,
    line: ShortLock<Waiters>,
    value: UnsafeCell<T>,
}

// SAFETY: moving the lock moves the value.
unsafe impl<T: ?Sized + Send> Send for Mutex<T> {}

// SAFETY: the value is reached only through a guard, of which there is at most one at a time; so
// sharing the lock moves the value between threads, and never shares it.
unsafe impl<T: ?Sized + Send> Sync for Mutex<T> {}

/// Holds a [`Mutex`] locked, until dropped.
#[must_use = "the lock is given back when the guard is dropped"]
pub struct MutexGuard<'a, T: ?Sized> {
    mutex: &'a Mutex<T>,
    /// The guard may be sent and shared as if it were this reference.
    value: PhantomData<&'a mut T>,
}

/// The future of [`Mutex::lock`]. Dropping it loses nothing but the place in line.
#[must_use = "futures do nothing unless they are polled"]
pub struct Lock<'a, T: ?Sized> {
    mutex: &'a Mutex<T>,
    place: Option<Place>,
}

impl<T> Mutex<T> {
    /// Creates a free lock.
    pub fn new(value: T) -> Self {
        Self {
            state: AtomicU32::new(FREE),
            line: ShortLock::new(Waiters::new()),
            value: UnsafeCell::new(value),
        }
    }

    /// Returns the value.
    pub fn into_inner(self) -> T {
        self.value.into_inner()
    }
}

impl<T: ?Sized> Mutex<T> {
    /// Returns a future that is ready once the caller has the lock.
    pub fn lock(&self) -> Lock<'_, T> {
        Lock { mutex: self, place: None }
    }

    /// Locks if nobody holds the lock.
    #[inline]
    pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        // Acquire: pairs with `unlock`; what earlier owners wrote is visible.
        let taken = self.state.compare_exchange(FREE, HELD, Ordering::Acquire, Ordering::Relaxed);
        taken.is_ok().then(|| self.guard())
    }

    /// Locks, and blocks the calling thread until it can.
    ///
    /// For plain threads. A task that calls this keeps its worker from running the task that has
    /// the lock; it [waits](crate::Task::wait) for [`lock`](Self::lock) instead.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::Runtime;
    /// use raddle::sync::Mutex;
    ///
    /// let runtime = Runtime::builder().workers(1).build()?;
    /// let numbers = Mutex::new(vec![1]);
    /// runtime.run(|task| task.wait(numbers.lock()).push(2));
    /// assert_eq!(*numbers.lock_blocking(), [1, 2]);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn lock_blocking(&self) -> MutexGuard<'_, T> {
        match self.try_lock() {
            Some(guard) => guard,
            None => block_on(self.lock()),
        }
    }

    /// Returns the value, which nobody can have locked.
    pub fn get_mut(&mut self) -> &mut T {
        self.value.get_mut()
    }

    /// Returns the guard of a lock that the caller has just taken, or was handed.
    #[inline]
    fn guard(&self) -> MutexGuard<'_, T> {
        MutexGuard { mutex: self, value: PhantomData }
    }

    /// Locks, or says in the word that someone is in line; the caller holds the line.
    fn take_or_mark(&self) -> Result<MutexGuard<'_, T>, Marked> {
        loop {
            if let Some(guard) = self.try_lock() {
                return Ok(guard);
            }
            // Relaxed: the owner meets the waiter under the lock of the line.
            match self.state.compare_exchange(HELD, AWAITED, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) | Err(AWAITED) => return Err(Marked),
                Err(_freed_meanwhile) => {}
            }
        }
    }

    #[inline]
    fn unlock(&self) {
        // Release: pairs with `try_lock`.
        let freed = self.state.compare_exchange(HELD, FREE, Ordering::Release, Ordering::Relaxed);
        if freed.is_err() {
            self.hand_over();
        }
    }

    /// Gives the lock to the first in line.
    #[cold]
    fn hand_over(&self) {
        let mut line = self.line.lock();
        let next = line.notify_first();
        if next.is_none() {
            // Release: pairs with `try_lock`.
            self.state.store(FREE, Ordering::Release);
        } else if line.len() == 0 {
            // Relaxed: the next owner learns that it is one under the lock of the line.
            self.state.store(HELD, Ordering::Relaxed);
        }
        drop(line);
        if let Some(next) = next {
            next.wake();
        }
    }
}

/// The word says that someone is in line.
struct Marked;

impl<'a, T: ?Sized> Future for Lock<'a, T> {
    type Output = MutexGuard<'a, T>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mutex = self.mutex;
        if self.place.is_some() {
            let seen = mutex.line.lock().look(&mut self.place, context.waker());
            return match seen {
                Seen::Notified => Poll::Ready(mutex.guard()),
                Seen::Waiting(old) => {
                    drop(old);
                    Poll::Pending
                }
            };
        }
        if let Some(guard) = mutex.try_lock() {
            return Poll::Ready(guard);
        }
        let mut line = mutex.line.lock();
        match mutex.take_or_mark() {
            Ok(guard) => Poll::Ready(guard),
            Err(Marked) => {
                self.place = Some(line.push(context.waker()));
                Poll::Pending
            }
        }
    }
}

impl<T: ?Sized> Drop for Lock<'_, T> {
    fn drop(&mut self) {
        if let Some(place) = self.place.take() {
            let seen = self.mutex.line.lock().leave(place);
            if let Seen::Notified = seen {
                self.mutex.unlock();
            }
        }
    }
}

impl<'a, T: ?Sized> MutexGuard<'a, T> {
    /// Returns the lock.
    pub(super) fn mutex(&self) -> &'a Mutex<T> {
        self.mutex
    }
}

impl<T: ?Sized> Deref for MutexGuard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: a guard is made only by who changed the word from FREE, or was handed the lock
        // by the guard that ended; so there is one, and the value is borrowed through it alone.
        // The Acquire in `try_lock` or the lock of the line makes earlier owners' writes visible.
        unsafe { &*self.mutex.value.get() }
    }
}

impl<T: ?Sized> DerefMut for MutexGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as in `deref`, and the guard is borrowed mutably.
        unsafe { &mut *self.mutex.value.get() }
    }
}

impl<T: ?Sized> Drop for MutexGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.mutex.unlock();
    }
}

impl<T: Default> Default for Mutex<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut output = f.debug_struct("Mutex");
        match self.try_lock() {
            Some(value) => output.field("value", &&*value),
            None => output.field("value", &format_args!("<locked>")),
        };
        output.finish()
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized> fmt::Debug for Lock<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lock").field("in_line", &self.place.is_some()).finish_non_exhaustive()
    }
}

#[cfg(all(test, raddle_loom))]
mod models {
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

    /// A future in line is dropped while the lock may be handed to it; a third waits behind it.
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
                    let _ = Pin::new(&mut lock).poll(&mut context).is_ready();
                }
            });
            let waiting = thread::spawn({
                let mutex = Arc::clone(&mutex);
                move || increase(&mutex)
            });
            drop(owner);
            leaving.join().unwrap();
            waiting.join().unwrap();
            assert_eq!(mutex.try_lock().expect("all have unlocked").get(), 1);
        });
    }

    /// The planted bug: a dropped future keeps the lock that was handed to it.
    #[test]
    #[should_panic(expected = "the lock is lost")]
    fn a_lock_dropped_with_its_waiter_is_missed() {
        explore(|| {
            let mutex = Arc::new(Mutex::new(()));
            let owner = mutex.try_lock().unwrap();
            let mut lock = mutex.lock();
            let mut context = Context::from_waker(Waker::noop());
            assert!(Pin::new(&mut lock).poll(&mut context).is_pending());
            let leaving = thread::spawn({
                let (mutex, place) = (Arc::clone(&mutex), lock.place.take().unwrap());
                move || drop(mutex.line.lock().leave(place))
            });
            drop(owner);
            leaving.join().unwrap();
            assert!(mutex.try_lock().is_some(), "the lock is lost");
        });
    }
}
