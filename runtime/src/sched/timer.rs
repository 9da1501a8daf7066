//! Timers: futures that are ready at a certain time.
//!
//! ```text
//! sleep polled --> entered, by deadline --> due: waker called, entry gone
//!                        '--sleep dropped--> entry gone
//!
//! keeper:  none --first entry--> waits for the earliest deadline --no entry for a while--> none
//! ```
//!
//! One thread per runtime keeps the timers, and is there only while there are any. Entries are in
//! a tree ordered by deadline, under a lock: a timer that is dropped, as most timeouts are, leaves
//! nothing behind.
//!
//! Invariant: as long as there are entries there is a keeper, and it knows of the earliest.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex, MutexGuard};

use super::Runtime;
use super::task::Task;

/// How long the keeper stays without timers.
const IDLE: Duration = Duration::from_secs(5);
/// What is longer than the clock can count is this long.
const FOR_EVER: Duration = Duration::from_hours(100 * 365 * 24);

/// Makes timers; of a [`Runtime`], but futures of it may be used by any async code.
///
/// # Examples
///
/// ```
/// use raddle::Runtime;
/// use std::time::Duration;
///
/// let runtime = Runtime::builder().workers(1).build()?;
/// let timer = runtime.timer();
/// runtime.run(|task| {
///     task.wait(timer.sleep(Duration::from_millis(1)));
///     let too_long = task.wait(timer.timeout(Duration::from_millis(1), std::future::pending::<()>()));
///     assert!(too_long.is_err());
/// });
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone)]
pub struct Timer {
    core: Arc<Core>,
}

/// A future that is ready after a certain time; made by [`Timer::sleep`].
///
/// # Examples
///
/// See [`Timer`].
#[must_use = "a future does nothing unless it is awaited"]
pub struct Sleep {
    core: Arc<Core>,
    deadline: Instant,
    /// Tells entries with the same deadline apart; none before the first poll.
    number: Option<u64>,
}

/// The time was over before the future was ready.
///
/// # Examples
///
/// ```
/// use raddle::Runtime;
/// use std::future::pending;
/// use std::time::Duration;
///
/// let runtime = Runtime::builder().workers(1).build()?;
/// let never = runtime.timer().timeout(Duration::from_millis(1), pending::<()>());
/// let error = runtime.run(|task| task.wait(never)).unwrap_err();
/// assert_eq!(error.to_string(), "the time was over");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Elapsed;

#[derive(Default)]
struct Core {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    sleepers: BTreeMap<(Instant, u64), Waker>,
    numbers: u64,
    has_keeper: bool,
    closing: bool,
}

impl Runtime {
    /// Returns the maker of timers.
    pub fn timer(&self) -> Timer {
        self.shared.timer.clone()
    }
}

impl Task<'_> {
    /// Suspends the task for at least so long; its worker goes on.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::Runtime;
    /// use std::time::{Duration, Instant};
    ///
    /// let runtime = Runtime::builder().workers(1).build()?;
    /// let before = Instant::now();
    /// runtime.run(|task| task.sleep(Duration::from_millis(2)));
    /// assert!(before.elapsed() >= Duration::from_millis(2));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn sleep(&self, duration: Duration) {
        self.wait(self.worker.shared.timer.sleep(duration));
    }

    /// Returns the maker of the runtime's timers.
    pub fn timer(&self) -> Timer {
        self.worker.shared.timer.clone()
    }
}

impl Timer {
    pub(super) fn new() -> Self {
        Self { core: Arc::default() }
    }

    /// Returns a future that is ready when `duration` has passed from now.
    ///
    /// It may outlive the runtime.
    pub fn sleep(&self, duration: Duration) -> Sleep {
        let now = Instant::now();
        let deadline = now.checked_add(duration).unwrap_or_else(|| now + FOR_EVER);
        Sleep { core: Arc::clone(&self.core), deadline, number: None }
    }

    /// Returns a future that waits for `future`, but no longer than `duration` from now.
    pub fn timeout<F: IntoFuture>(
        &self,
        duration: Duration,
        future: F,
    ) -> impl Future<Output = Result<F::Output, Elapsed>> + use<F> {
        let sleep = self.sleep(duration);
        async move {
            let (mut sleep, mut future) = (sleep, pin!(future.into_future()));
            poll_fn(|context| match future.as_mut().poll(context) {
                Poll::Ready(output) => Poll::Ready(Ok(output)),
                Poll::Pending => Pin::new(&mut sleep).poll(context).map(|()| Err(Elapsed)),
            })
            .await
        }
    }

    /// Lets the keeper end as soon as there are no timers.
    pub(super) fn close(&self) {
        self.core.state.lock().closing = true;
        self.core.changed.notify_one();
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if Instant::now() >= self.deadline {
            self.remove();
            return Poll::Ready(());
        }
        self.enter(context.waker());
        Poll::Pending
    }
}

impl Sleep {
    fn enter(&mut self, waker: &Waker) {
        let core = &self.core;
        let mut state = core.state.lock();
        let number = *self.number.get_or_insert_with(|| {
            state.numbers += 1;
            state.numbers
        });
        let key = (self.deadline, number);
        // If the entry is gone, it has just become due; entering it anew is as good.
        if let Some(old) = state.sleepers.get_mut(&key) {
            old.clone_from(waker);
            return;
        }
        state.sleepers.insert(key, waker.clone());
        if !state.has_keeper {
            let core = Arc::clone(core);
            thread::Builder::new()
                .name("raddle-timer".to_owned())
                .spawn(move || core.keep())
                .expect("the system has a thread for timers");
            state.has_keeper = true;
        } else if state.sleepers.first_key_value().is_some_and(|(&first, _)| first == key) {
            core.changed.notify_one();
        }
    }

    fn remove(&mut self) {
        if let Some(number) = self.number.take() {
            let waker = self.core.state.lock().sleepers.remove(&(self.deadline, number));
            // Dropped after the lock is released: it may be anybody's.
            drop(waker);
        }
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        self.remove();
    }
}

impl Core {
    /// The life of the keeper.
    fn keep(&self) {
        let mut due = Vec::new();
        let mut state = self.state.lock();
        loop {
            let now = Instant::now();
            while let Some(entry) = state.sleepers.first_entry()
                && entry.key().0 <= now
            {
                due.push(entry.remove());
            }
            if !due.is_empty() {
                MutexGuard::unlocked(&mut state, || {
                    for waker in due.drain(..) {
                        // A foreign waker may panic; its message is printed, the others go on.
                        let _woken = catch_unwind(AssertUnwindSafe(|| waker.wake()));
                    }
                });
                continue;
            }
            let first = state.sleepers.first_key_value().map(|(&(deadline, _), _)| deadline);
            match first {
                Some(deadline) => _ = self.changed.wait_until(&mut state, deadline),
                None => {
                    let is_over = state.closing || {
                        let waited = self.changed.wait_for(&mut state, IDLE);
                        waited.timed_out() && state.sleepers.is_empty()
                    };
                    if is_over {
                        state.has_keeper = false;
                        return;
                    }
                }
            }
        }
    }
}

impl fmt::Display for Elapsed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the time was over")
    }
}

impl Error for Elapsed {}

impl fmt::Debug for Timer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sleepers = self.core.state.lock().sleepers.len();
        f.debug_struct("Timer").field("sleepers", &sleepers).finish_non_exhaustive()
    }
}

impl fmt::Debug for Sleep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sleep").field("deadline", &self.deadline).finish_non_exhaustive()
    }
}

#[cfg(all(test, not(raddle_loom)))]
mod tests {
    use super::*;

    #[test]
    fn dropped_sleeps_leave_nothing() {
        let timer = Timer::new();
        let mut context = Context::from_waker(Waker::noop());
        let mut sleeps: Vec<_> =
            [60, u64::MAX, 1].map(|s| timer.sleep(Duration::from_secs(s))).into();
        for sleep in &mut sleeps {
            assert!(Pin::new(&mut *sleep).poll(&mut context).is_pending());
            assert!(Pin::new(sleep).poll(&mut context).is_pending());
        }
        assert_eq!(timer.core.state.lock().sleepers.len(), 3);
        drop(sleeps);
        assert_eq!(timer.core.state.lock().sleepers.len(), 0);
        timer.close();
    }
}
