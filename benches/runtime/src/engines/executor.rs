//! A small executor on `crossbeam-deque`, as its documentation suggests one.
//!
//! Each worker has a deque from which it takes the newest task; idle ones take batches from the
//! injector and steal from others. A worker that waits for something runs other tasks meanwhile.
//!
//! ```text
//! searching --nothing found some rounds long--> counted as sleeper --queues still empty--> asleep
//!     ^---------------- task found ------------------'                                        |
//!     ^---------------------------------- woken ----------------------------------------------'
//! ```
//!
//! A sleeper counts itself before it looks at the queues for the last time; who pushes a task looks
//! at the count afterwards; the fence between makes one see the other.

#![expect(unsafe_code, reason = "queues closures that borrow from whoever waits for them")]

use std::cell::Cell;
use std::fmt;
use std::iter;
use std::mem;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering, fence};
use std::sync::{Arc, Condvar, Mutex, mpsc};
use std::thread::{self, JoinHandle};

use crossbeam_deque::{Injector, Steal, Stealer, Worker};

type Closure = Box<dyn FnOnce(&Local<'_>) + Send>;

/// Rounds of looking for a task before a worker sleeps.
const ROUNDS: u32 = 64;

/// Threads that run closures.
pub(super) struct Executor {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

struct Shared {
    injector: Injector<Closure>,
    stealers: Vec<Stealer<Closure>>,
    sleepers: AtomicUsize,
    /// How many sleepers were told to wake and have not woken.
    calls: Mutex<usize>,
    called: Condvar,
    stopped: AtomicBool,
}

/// A worker, as the closures see it.
pub(super) struct Local<'a> {
    index: usize,
    deque: &'a Worker<Closure>,
    shared: &'a Shared,
    random: Cell<usize>,
}

impl Executor {
    pub(super) fn new(workers: usize) -> Self {
        let deques: Vec<_> = (0..workers).map(|_| Worker::new_lifo()).collect();
        let shared = Arc::new(Shared {
            injector: Injector::new(),
            stealers: deques.iter().map(Worker::stealer).collect(),
            sleepers: AtomicUsize::new(0),
            calls: Mutex::new(0),
            called: Condvar::new(),
            stopped: AtomicBool::new(false),
        });
        let start = |(index, deque): (usize, Worker<Closure>)| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                let random = Cell::new(index + 1);
                let local = Local { index, deque: &deque, shared: &shared, random };
                local.work_until(|| shared.stopped.load(Ordering::Acquire));
            })
        };
        let threads = deques.into_iter().enumerate().map(start).collect();
        Self { shared, threads }
    }

    /// Runs `function` on a worker and waits for its result.
    pub(super) fn run<R: Send>(&self, function: impl FnOnce(&Local<'_>) -> R + Send) -> R {
        let (sender, receiver) = mpsc::sync_channel(1);
        let closure = Box::new(move |local: &Local<'_>| {
            let result = function(local);
            sender.send(result).expect("the receiver waits");
        });
        // SAFETY: what the closure borrows outlives the call of `recv`, which returns after the
        // closure has sent its result as the last thing it does with a borrow.
        self.shared.injector.push(unsafe { forget_borrows(closure) });
        self.shared.call_sleeper();
        receiver.recv().expect("the closure sends a result")
    }
}

impl Drop for Executor {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::Release);
        *self.shared.calls.lock().expect("nobody panics under this lock") += self.threads.len();
        self.shared.called.notify_all();
        for thread in self.threads.drain(..) {
            // A closure that panicked has been reported already.
            let _ended = thread.join();
        }
    }
}

impl Shared {
    fn call_sleeper(&self) {
        // Pairs with the fence in `sleep`.
        fence(Ordering::SeqCst);
        if self.sleepers.load(Ordering::Relaxed) > 0 {
            let mut calls = self.calls.lock().expect("nobody panics under this lock");
            if *calls < self.sleepers.load(Ordering::Relaxed) {
                *calls += 1;
                self.called.notify_one();
            }
        }
    }

    fn has_tasks(&self) -> bool {
        !self.injector.is_empty() || self.stealers.iter().any(|stealer| !stealer.is_empty())
    }

    fn sleep(&self) {
        self.sleepers.fetch_add(1, Ordering::Relaxed);
        // Pairs with the fence in `call_sleeper`.
        fence(Ordering::SeqCst);
        let mut calls = self.calls.lock().expect("nobody panics under this lock");
        if !self.has_tasks() {
            while *calls == 0 {
                calls = self.called.wait(calls).expect("nobody panics under this lock");
            }
        }
        *calls = calls.saturating_sub(1);
        self.sleepers.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Local<'_> {
    /// Queues a closure.
    ///
    /// # Safety
    ///
    /// The caller makes sure that the closure has run before anything ends that it borrows.
    pub(super) unsafe fn spawn<'a>(&self, closure: impl FnOnce(&Local<'_>) + Send + 'a) {
        // SAFETY: as required of the caller.
        self.deque.push(unsafe { forget_borrows(Box::new(closure)) });
        self.shared.call_sleeper();
    }

    /// Runs both closures, at the same time if another worker has time.
    pub(super) fn join<A, B: Send>(
        &self,
        left: impl FnOnce(&Local<'_>) -> A,
        right: impl FnOnce(&Local<'_>) -> B + Send,
    ) -> (A, B) {
        let mut result = None;
        let done = AtomicBool::new(false);
        let (slot, flag) = (&mut result, &done);
        let closure = move |local: &Local<'_>| {
            *slot = Some(right(local));
            // Release: the result is visible to who sees the flag.
            flag.store(true, Ordering::Release);
        };
        // SAFETY: the closure has run when the flag is set, which is waited for below. A panic of
        // `left` would break this; the closures of this program do not panic.
        unsafe { self.spawn(closure) };
        let left = left(self);
        self.help_until(|| done.load(Ordering::Acquire));
        (left, result.expect("the flag is set after the result is stored"))
    }

    /// Runs tasks until `is_done` says so, without sleeping.
    pub(super) fn help_until(&self, is_done: impl Fn() -> bool) {
        while !is_done() {
            match self.find() {
                Some(closure) => closure(self),
                None => thread::yield_now(),
            }
        }
    }

    fn work_until(&self, is_done: impl Fn() -> bool) {
        let mut rounds = 0;
        while !is_done() {
            match self.find() {
                Some(closure) => {
                    closure(self);
                    rounds = 0;
                }
                None if rounds < ROUNDS => {
                    rounds += 1;
                    std::hint::spin_loop();
                }
                None => {
                    self.shared.sleep();
                    rounds = 0;
                }
            }
        }
    }

    fn find(&self) -> Option<Closure> {
        self.deque.pop().or_else(|| {
            iter::repeat_with(|| {
                let injected = self.shared.injector.steal_batch_and_pop(self.deque);
                injected.or_else(|| self.steal())
            })
            .find(|steal| !steal.is_retry())
            .and_then(Steal::success)
        })
    }

    fn steal(&self) -> Steal<Closure> {
        let stealers = &self.shared.stealers;
        let first = self.random.get().wrapping_mul(0x9E37_79B9).wrapping_add(0x7F4A_7C15);
        self.random.set(first);
        let victims = (0..stealers.len()).map(|offset| ((first >> 8) + offset) % stealers.len());
        victims
            .filter(|&victim| victim != self.index)
            .map(|victim| stealers[victim].steal_batch_and_pop(self.deque))
            .collect()
    }
}

impl fmt::Debug for Local<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Local").field("index", &self.index).finish_non_exhaustive()
    }
}

/// # Safety
///
/// The closure is gone before anything ends that it borrows.
unsafe fn forget_borrows<'a>(closure: Box<dyn FnOnce(&Local<'_>) + Send + 'a>) -> Closure {
    // SAFETY: only the lifetime changes; that is the caller's business.
    unsafe { mem::transmute::<Box<dyn FnOnce(&Local<'_>) + Send + 'a>, Closure>(closure) }
}
