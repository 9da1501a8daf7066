//! How a task waits for any [`Future`]: its fiber suspends until its waker is called.
//!
//! ```text
//!            .--poll pending, fiber suspends--> Waiting --wake: resume the fiber--.
//!   Idle ----|                                                                    v
//!    ^       '------------------- wake ---------------------------------------> Notified
//!    '----------------------- the fiber is about to poll ------------------------'
//! ```
//!
//! A wake before the fiber has suspended shows as `Notified`, and the fiber polls again. Only the
//! wake that finds `Waiting` resumes the fiber, and only `wait` sets that, right before it suspends:
//! so a waker never resumes a fiber that is suspended for another reason, and a stale one (of an
//! earlier wait, or of a runtime that is gone) at most causes a poll.
//!
//! Each fiber has one waker, made with its first wait and used for all, so waiting allocates
//! nothing. A future whose own `poll` waits on the same fiber takes the waker away; that inner wait
//! gets one of its own, and no wake meant for the outer wait is spent on it.

use std::pin::pin;
use std::ptr;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll, Wake, Waker};

use super::current;
use super::observe::Reason;
use super::shared::Shared;
use super::task::Task;
use super::worker::Worker;
use crate::memory::model::atomic::{AtomicU32, Ordering};
use crate::sync::Wait;

const IDLE: u32 = 0;
const WAITING: u32 = 1;
const NOTIFIED: u32 = 2;

/// A future that wakes its own waker while it is polled is polled again so often before others go
/// first.
const PATIENCE: u32 = 3;

/// The state machine above.
#[derive(Debug)]
struct Signal(AtomicU32);

/// Whom a wake has to resume.
#[must_use = "a fiber that is not resumed sleeps for ever"]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wakes {
    TheFiber,
    Nobody,
}

/// What a fiber's waker points to.
struct WakerState {
    signal: Signal,
    worker: usize,
    fiber: u32,
    shared: Weak<Shared>,
}

/// The waker of one fiber, as the fiber has it.
pub(super) struct FiberWaker {
    state: Arc<WakerState>,
    waker: Waker,
}

impl Task<'_> {
    /// Waits until `future` is ready, and returns its output.
    ///
    /// The future is polled on this task's stack. While it is pending the task is suspended, and
    /// its worker runs other tasks. Its waker may be called from any thread.
    ///
    /// As with every wait, a lock that blocks threads must not be held meanwhile: another task of the
    /// worker may want it, and would block the worker that has to release it. Not to be called while
    /// a panic unwinds: other tasks of the worker would seem to panic.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::Runtime;
    ///
    /// async fn double(n: u32) -> u32 {
    ///     n * 2
    /// }
    ///
    /// let runtime = Runtime::builder().workers(1).build()?;
    /// assert_eq!(runtime.run(|task| task.wait(double(21))), 42);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn wait<F: IntoFuture>(&self, future: F) -> F::Output {
        let mut future = pin!(future.into_future());
        let fiber = self.fiber();
        let own = self.worker.fibers.take_waker(fiber);
        let own = own.unwrap_or_else(|| FiberWaker::new(self.worker, fiber));
        let mut context = Context::from_waker(&own.waker);
        let mut at_once = 0;
        let output = loop {
            own.state.signal.begin();
            if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
                break output;
            }
            if own.state.signal.start_waiting() {
                let _woken = self.suspend(Reason::Future);
                at_once = 0;
            } else if at_once < PATIENCE {
                at_once += 1;
            } else {
                self.yield_now();
            }
        };
        self.worker.fibers.keep_waker(fiber, own);
        output
    }
}

impl FiberWaker {
    fn new(worker: &Worker, fiber: u32) -> Self {
        let state = Arc::new(WakerState {
            signal: Signal::new(),
            worker: worker.index,
            fiber,
            shared: Arc::downgrade(&worker.shared),
        });
        let waker = Waker::from(Arc::clone(&state));
        Self { state, waker }
    }
}

impl Wake for WakerState {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if self.signal.wake() == Wakes::TheFiber {
            self.resume();
        }
    }
}

impl WakerState {
    fn resume(&self) {
        let is_home = |worker: &&Worker| {
            worker.index == self.worker
                && ptr::eq(Arc::as_ptr(&worker.shared), self.shared.as_ptr())
        };
        current::with_worker(|worker| match worker.filter(is_home) {
            Some(worker) => worker.make_resumable(self.fiber, Wait::Woken),
            None => {
                if let Some(shared) = self.shared.upgrade() {
                    shared.post(self.worker, self.fiber, Wait::Woken);
                }
            }
        });
    }
}

impl Signal {
    fn new() -> Self {
        Self(AtomicU32::new(IDLE))
    }

    /// Forgets wakes up to here, for the fiber is about to poll.
    fn begin(&self) {
        // Acquire: pairs with `wake`; what a forgotten waker did before is visible to the poll. A
        // wake that comes between load and swap, or later, shows in `start_waiting` or by the swap.
        if self.0.load(Ordering::Acquire) != IDLE {
            self.0.swap(IDLE, Ordering::Acquire);
        }
    }

    /// Returns whether the fiber, which suspends next, will be resumed by a wake; false if there was
    /// a wake already.
    fn start_waiting(&self) -> bool {
        // Relaxed: who resumes the fiber does it through a lock, or is on its thread; and after a
        // failure `begin` comes next.
        self.0.compare_exchange(IDLE, WAITING, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    fn wake(&self) -> Wakes {
        // Release: pairs with `begin`.
        match self.0.swap(NOTIFIED, Ordering::Release) {
            WAITING => Wakes::TheFiber,
            _ => Wakes::Nobody,
        }
    }
}

#[cfg(all(test, raddle_loom))]
mod models {
    use super::*;
    use crate::memory::model::explore;
    use loom::sync::Arc;
    use loom::sync::atomic::AtomicU32;
    use loom::thread;

    struct Model {
        signal: Signal,
        /// What the future looks at.
        events: AtomicU32,
        /// How often somebody was told to resume the fiber, minus how often it was resumed.
        resumes: AtomicU32,
    }

    impl Model {
        fn new() -> Arc<Self> {
            Arc::new(Self {
                signal: Signal::new(),
                events: AtomicU32::new(0),
                resumes: AtomicU32::new(0),
            })
        }

        /// Waits as `Task::wait` does until there were `count` events. A lost wake-up shows as a
        /// deadlock of the model.
        fn wait_for(&self, count: u32) {
            loop {
                self.signal.begin();
                if self.events.load(Ordering::Relaxed) >= count {
                    return;
                }
                if self.signal.start_waiting() {
                    while self.resumes.load(Ordering::Acquire) == 0 {
                        thread::park();
                    }
                    let before = self.resumes.fetch_sub(1, Ordering::AcqRel);
                    assert_eq!(before, 1, "a suspended fiber is resumed once");
                }
            }
        }

        fn event(&self, waiter: &thread::Thread) {
            self.events.fetch_add(1, Ordering::Relaxed);
            if self.signal.wake() == Wakes::TheFiber {
                self.resumes.fetch_add(1, Ordering::AcqRel);
                waiter.unpark();
            }
        }
    }

    #[test]
    fn a_wake_is_not_lost_against_suspending() {
        explore(|| {
            let model = Model::new();
            let (other, waiter) = (Arc::clone(&model), thread::current());
            let waking = thread::spawn(move || other.event(&waiter));
            model.wait_for(1);
            waking.join().unwrap();
            assert_eq!(model.resumes.load(Ordering::Relaxed), 0);
        });
    }

    /// The second wait begins while the first waker may still be called.
    #[test]
    fn two_wakers_and_two_waits() {
        explore(|| {
            let model = Model::new();
            let waking: Vec<_> = (0..2)
                .map(|_| {
                    let (other, waiter) = (Arc::clone(&model), thread::current());
                    thread::spawn(move || other.event(&waiter))
                })
                .collect();
            model.wait_for(1);
            model.wait_for(2);
            // A wake that comes only now finds nobody waiting.
            waking.into_iter().for_each(|thread| thread.join().unwrap());
            assert_eq!(model.resumes.load(Ordering::Relaxed), 0);
        });
    }
}
