//! Waiting, under a [`Mutex`], until somebody says that its value may have changed.
//!
//! ```text
//! with the guard --first poll--> in line, unlocked --notified--> locking --> with the guard
//! ```
//!
//! A future gets in line before it unlocks. So whoever changes the value under the lock, and
//! notifies afterwards, finds in line all who had seen the old value.
//!
//! A future that is dropped after it was notified notifies the next in line instead: what it was
//! told may be news for that one.
//!
//! Not here: what the waiters wait for. They look again, and wait again, until it is there.

use std::fmt;
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll};

use super::mutex::{Lock, Mutex, MutexGuard};
use super::waiters::{Place, Seen, Waiters};
use crate::memory::model::Mutex as ShortLock;
use crate::memory::model::atomic::{AtomicU32, Ordering};

/// A place where tasks wait for a change of what a [`Mutex`] guards.
///
/// # Examples
///
/// ```
/// use raddle::sync::{Condition, Mutex};
/// use raddle::{Priority, Runtime};
///
/// let runtime = Runtime::builder().workers(1).build()?;
/// let (letters, arrived) = (Mutex::new(Vec::new()), Condition::new());
/// let letter = runtime.run(|task| {
///     task.scope(|scope| {
///         scope.spawn(task, Priority::Normal, |task| {
///             task.wait(letters.lock()).push("hello");
///             arrived.notify_one();
///         });
///         let letters = task.wait(letters.lock());
///         let mut letters = task.wait(arrived.wait_while(letters, |letters| letters.is_empty()));
///         letters.pop()
///     })
/// });
/// assert_eq!(letter, Some("hello"));
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Condition {
    line: ShortLock<Waiters>,
    /// How many are in line, written under its lock.
    waiting: AtomicU32,
}

/// The future of [`Condition::wait`]. Dropping it gives the lock back, if it has it.
#[must_use = "futures do nothing unless they are polled"]
pub struct ConditionWait<'a, T: ?Sized> {
    condition: &'a Condition,
    stage: Stage<'a, T>,
}

enum Stage<'a, T: ?Sized> {
    Locked(MutexGuard<'a, T>),
    InLine(&'a Mutex<T>, Option<Place>),
    Locking(Lock<'a, T>),
    Over,
}

impl Condition {
    /// Creates a place where nobody waits.
    pub fn new() -> Self {
        Self { line: ShortLock::new(Waiters::new()), waiting: AtomicU32::new(0) }
    }

    /// Unlocks, waits for a notification, and locks again.
    ///
    /// The caller looks at the value again: it may have changed once more before the lock was
    /// there, and a notification may be meant for somebody else.
    pub fn wait<'a, T: ?Sized>(&'a self, guard: MutexGuard<'a, T>) -> ConditionWait<'a, T> {
        ConditionWait { condition: self, stage: Stage::Locked(guard) }
    }

    /// Waits as long as `unwanted` says so of the value.
    pub async fn wait_while<'a, T: ?Sized>(
        &'a self,
        mut guard: MutexGuard<'a, T>,
        mut unwanted: impl FnMut(&mut T) -> bool,
    ) -> MutexGuard<'a, T> {
        while unwanted(&mut guard) {
            guard = self.wait(guard).await;
        }
        guard
    }

    /// Notifies the one that has waited longest. Costs one load if nobody waits.
    #[inline]
    pub fn notify_one(&self) {
        self.notify(1);
    }

    /// Notifies all who wait now. Costs one load if nobody waits.
    #[inline]
    pub fn notify_all(&self) {
        self.notify(u32::MAX);
    }

    #[inline]
    fn notify(&self, most: u32) {
        // Relaxed: the lock of the value orders this. A waiter that saw the old value got in line
        // before it unlocked, so before the notifier's change.
        let waiting = self.waiting.load(Ordering::Relaxed);
        for _ in 0..waiting.min(most) {
            self.notify_first();
        }
    }

    #[cold]
    fn notify_first(&self) {
        let waker = self.change_line(Waiters::notify_first);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    fn change_line<R>(&self, change: impl FnOnce(&mut Waiters) -> R) -> R {
        let mut line = self.line.lock();
        let result = change(&mut line);
        self.waiting.store(line.len(), Ordering::Relaxed);
        result
    }
}

impl<'a, T: ?Sized> Future for ConditionWait<'a, T> {
    type Output = MutexGuard<'a, T>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let condition = self.condition;
        loop {
            match &mut self.stage {
                Stage::Locked(guard) => {
                    let mutex = guard.mutex();
                    let place = condition.change_line(|line| line.push(context.waker()));
                    // Here the lock is given back.
                    self.stage = Stage::InLine(mutex, Some(place));
                    return Poll::Pending;
                }
                Stage::InLine(mutex, place) => {
                    let seen = condition.change_line(|line| line.look(place, context.waker()));
                    match seen {
                        Seen::Waiting(old) => {
                            drop(old);
                            return Poll::Pending;
                        }
                        Seen::Notified => self.stage = Stage::Locking(mutex.lock()),
                    }
                }
                Stage::Locking(lock) => {
                    let ended = Pin::new(lock).poll(context);
                    if ended.is_ready() {
                        self.stage = Stage::Over;
                    }
                    return ended;
                }
                Stage::Over => panic!("a future is not polled after it was ready"),
            }
        }
    }
}

impl<T: ?Sized> Drop for ConditionWait<'_, T> {
    fn drop(&mut self) {
        let was_notified = match mem::replace(&mut self.stage, Stage::Over) {
            Stage::InLine(_, Some(place)) => {
                let seen = self.condition.change_line(|line| line.leave(place));
                matches!(seen, Seen::Notified)
            }
            Stage::Locking(_) => true,
            Stage::InLine(_, None) | Stage::Locked(_) | Stage::Over => false,
        };
        if was_notified {
            self.condition.notify_one();
        }
    }
}

impl Default for Condition {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let waiting = self.waiting.load(Ordering::Relaxed);
        f.debug_struct("Condition").field("waiting", &waiting).finish_non_exhaustive()
    }
}

impl<T: ?Sized> fmt::Debug for ConditionWait<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stage = match &self.stage {
            Stage::Locked(_) => "locked",
            Stage::InLine(..) => "in line",
            Stage::Locking(_) => "locking",
            Stage::Over => "over",
        };
        f.debug_struct("ConditionWait").field("stage", &stage).finish_non_exhaustive()
    }
}

#[cfg(all(test, raddle_loom))]
mod models {
    use super::*;
    use loom::thread;
    use std::sync::Arc;
    use std::task::Waker;

    use crate::memory::model::explore;
    use crate::sync::block::block_on;

    #[derive(Default)]
    struct Letters {
        letters: Mutex<u32>,
        arrived: Condition,
    }

    impl Letters {
        fn take(&self) {
            let letters = block_on(self.letters.lock());
            let mut letters = block_on(self.arrived.wait_while(letters, |&mut n| n == 0));
            *letters -= 1;
        }

        fn put(&self, count: u32) {
            *block_on(self.letters.lock()) += count;
        }
    }

    /// A lost wake-up shows as a deadlock of the model.
    #[test]
    fn one_letter_is_taken() {
        explore(|| {
            let letters = Arc::new(Letters::default());
            let other = Arc::clone(&letters);
            let taking = thread::spawn(move || other.take());
            letters.put(1);
            letters.arrived.notify_one();
            taking.join().unwrap();
        });
    }

    #[test]
    fn all_are_notified() {
        explore(|| {
            let letters = Arc::new(Letters::default());
            let taking: Vec<_> = (0..2)
                .map(|_| {
                    let letters = Arc::clone(&letters);
                    thread::spawn(move || letters.take())
                })
                .collect();
            letters.put(2);
            letters.arrived.notify_all();
            taking.into_iter().for_each(|thread| thread.join().unwrap());
        });
    }

    /// A future at any of its stages is dropped; another waits behind it, for the one letter.
    #[test]
    fn a_dropped_waiter_passes_the_notification_on() {
        explore(|| {
            let letters = Arc::new(Letters::default());
            let mut context = Context::from_waker(Waker::noop());
            let mut leaving = letters.arrived.wait(letters.letters.try_lock().unwrap());
            assert!(Pin::new(&mut leaving).poll(&mut context).is_pending());
            let other = Arc::clone(&letters);
            let taking = thread::spawn(move || other.take());
            let other = Arc::clone(&letters);
            let putting = thread::spawn(move || {
                other.put(1);
                other.arrived.notify_one();
            });
            if let Poll::Ready(guard) = Pin::new(&mut leaving).poll(&mut context) {
                // It was not dropped in time, and leaves the letter to the other.
                drop(guard);
                letters.arrived.notify_one();
            }
            drop(leaving);
            putting.join().unwrap();
            taking.join().unwrap();
        });
    }
}
