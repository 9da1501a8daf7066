//! A lock whose waiters suspend: a task leaves its worker free while it waits.
//!
//! ```text
//! HELD    somebody has the lock
//! LINE    somebody is in line
//! WOKEN   the first in line was woken, has left the line, and has yet to try
//!
//! lock:    HELD is clear -> set it                         HELD is set -> get in line
//! unlock:  nobody in line, or one is WOKEN -> clear HELD
//!          the first in line is new        -> clear HELD, set WOKEN, wake it
//!          the first in line was too late  -> wake it as the owner; HELD stays
//! woken:   clear WOKEN; HELD is clear -> set it            HELD is set -> first in line, too late
//! ```
//!
//! Without waiters, locking and unlocking are one exchange each. An owner that unlocks may lock
//! again before the one it woke has tried: so a lock that is wanted all the time does not wait for a
//! switch of tasks at each step. But whoever came too late once is handed the lock next, without its
//! ever being free. So nobody is passed over for long, and tasks that take turns under one lock do so
//! with any number of workers.
//!
//! What always holds:
//! - LINE and WOKEN change only under the lock of the line; HELD is set by who gets the lock and
//!   cleared by its owner.
//! - At most one future is either woken or too late, and one that is too late is the first in line.
//! - A future that is dropped passes on what it had: its wake, or the lock.
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
const LINE: u32 = 2;
const WOKEN: u32 = 4;

/// A lock for tasks: it may be held across any wait, and who waits for it suspends.
///
/// Those who wait get the lock in the order in which they came. Others may get it before a waiter
/// that was woken is back, but not twice: then it is kept for that waiter.
///
/// A panic of the owner unlocks like any other end; the value stays as it is then, for there is no
/// poisoning.
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
    line: ShortLock<Line>,
    value: UnsafeCell<T>,
}

#[derive(Debug)]
struct Line {
    waiters: Waiters,
    /// The first in line is handed the lock.
    first_was_too_late: bool,
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
    was_too_late: bool,
}

impl<T> Mutex<T> {
    /// Creates a free lock.
    pub fn new(value: T) -> Self {
        Self {
            state: AtomicU32::new(FREE),
            line: ShortLock::new(Line { waiters: Waiters::new(), first_was_too_late: false }),
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
        Lock { mutex: self, place: None, was_too_late: false }
    }

    /// Locks if nobody holds the lock.
    #[inline]
    pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        // Acquire: pairs with `unlock`; what earlier owners wrote is visible.
        let taken = self.state.compare_exchange(FREE, HELD, Ordering::Acquire, Ordering::Relaxed);
        let is_taken = taken.is_ok() || self.take_or_else(|state| state | HELD, |_| None);
        is_taken.then(|| self.guard())
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

    /// Sets HELD if it is clear, as `take` says; else changes the word as `leave` says. Returns
    /// whether the lock was taken.
    fn take_or_else(&self, take: impl Fn(u32) -> u32, leave: impl Fn(u32) -> Option<u32>) -> bool {
        let change = |state| if state & HELD == 0 { Some(take(state)) } else { leave(state) };
        // Acquire: pairs with `unlock`; what earlier owners wrote is visible.
        match self.state.fetch_update(Ordering::Acquire, Ordering::Relaxed, change) {
            Ok(before) | Err(before) => before & HELD == 0,
        }
    }

    #[inline]
    fn unlock(&self) {
        // Release: pairs with `try_lock`.
        let freed = self.state.compare_exchange(HELD, FREE, Ordering::Release, Ordering::Relaxed);
        if freed.is_err() {
            self.unlock_for_others();
        }
    }

    #[cold]
    fn unlock_for_others(&self) {
        let free = |state| if state & (LINE | WOKEN) == LINE { None } else { Some(state & !HELD) };
        // Release: as in `unlock`.
        if self.state.fetch_update(Ordering::Release, Ordering::Relaxed, free).is_ok() {
            return;
        }
        // While the caller has the lock and that of the line, nobody else changes the word.
        let mut line = self.line.lock();
        let next = line.waiters.notify_first();
        let others = if line.waiters.len() == 0 { FREE } else { LINE };
        let state = if next.is_none() {
            FREE
        } else if std::mem::take(&mut line.first_was_too_late) {
            others | HELD
        } else {
            others | WOKEN
        };
        // Release: as in `unlock`.
        self.state.store(state, Ordering::Release);
        drop(line);
        if let Some(next) = next {
            next.wake();
        }
    }
}

impl<'a, T: ?Sized> Lock<'a, T> {
    /// Tries, and gets in line otherwise.
    fn come(&mut self, context: &Context<'_>) -> Poll<MutexGuard<'a, T>> {
        let mutex = self.mutex;
        if let Some(guard) = mutex.try_lock() {
            return Poll::Ready(guard);
        }
        let mut line = mutex.line.lock();
        if mutex.take_or_else(|state| state | HELD, |state| Some(state | LINE)) {
            return Poll::Ready(mutex.guard());
        }
        self.place = Some(line.waiters.push(context.waker()));
        // It may have been so in an earlier use of this future.
        self.was_too_late = false;
        Poll::Pending
    }

    /// Looks whether it is this future's turn.
    fn come_back(&mut self, context: &Context<'_>) -> Poll<MutexGuard<'a, T>> {
        let mutex = self.mutex;
        let mut line = mutex.line.lock();
        let seen = line.waiters.look(&mut self.place, context.waker());
        if let Seen::Waiting(old) = seen {
            drop(line);
            drop(old);
            return Poll::Pending;
        }
        let has_lock = self.was_too_late
            || mutex.take_or_else(
                |state| (state | HELD) & !WOKEN,
                |state| Some((state | LINE) & !WOKEN),
            );
        if has_lock {
            return Poll::Ready(mutex.guard());
        }
        self.place = Some(line.waiters.push_front(context.waker()));
        self.was_too_late = true;
        line.first_was_too_late = true;
        Poll::Pending
    }

    /// Gets out of line, and passes on what this future was given there.
    #[cold]
    fn leave(&self, place: Place) {
        let mutex = self.mutex;
        let mut line = mutex.line.lock();
        let seen = line.waiters.leave(place);
        let was_notified = matches!(seen, Seen::Notified);
        if was_notified && self.was_too_late {
            drop(line);
            mutex.unlock();
            return;
        }
        line.first_was_too_late &= !self.was_too_late;
        // Whoever was woken is replaced by the next in line.
        let next = if was_notified { line.waiters.notify_first() } else { None };
        let mut over = 0;
        if line.waiters.len() == 0 {
            over |= LINE;
        }
        if was_notified && next.is_none() {
            over |= WOKEN;
        }
        // Relaxed: nothing is passed on but these bits, under the lock of the line.
        mutex.state.fetch_and(!over, Ordering::Relaxed);
        drop(line);
        drop(seen);
        if let Some(next) = next {
            next.wake();
        }
    }
}

impl<'a, T: ?Sized> Future for Lock<'a, T> {
    type Output = MutexGuard<'a, T>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match self.place {
            None => self.come(context),
            Some(_) => self.come_back(context),
        }
    }
}

impl<T: ?Sized> Drop for Lock<'_, T> {
    fn drop(&mut self) {
        if let Some(place) = self.place.take() {
            self.leave(place);
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
        // SAFETY: a guard is made only by who set HELD, or was handed the lock by the guard that
        // ended without clearing it; so there is one, and the value is borrowed through it alone.
        // The Acquire with which HELD was set, or the lock of the line in which the lock was handed
        // over, makes earlier owners' writes visible.
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
#[path = "mutex_models.rs"]
mod models;
