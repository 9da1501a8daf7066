//! Calls that block in the kernel, on threads of their own: files, processes, foreign locks.
//!
//! ```text
//! task:         submit --> suspended -----------------------------> goes on, where it was
//! side thread:  none idle: a new one, up to the limit --> call --> lands --> next, or idle --> ends
//! ```
//!
//! The threads are made when there is a call that no idle thread takes, and end when there was none
//! for some seconds. They share one queue under a lock: a call that blocks costs far more.
//!
//! Invariant: a submitted call is made once.

#![expect(unsafe_code, reason = "sends closures that borrow from the task that waits for them")]

use std::collections::VecDeque;
use std::future::poll_fn;
use std::mem;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};

use super::landing::{Errand, Landing};
use super::task::Task;

pub(super) const MOST_THREADS: usize = 64;
pub(super) const IDLE: Duration = Duration::from_secs(5);

type Call = Box<dyn FnOnce() + Send>;

/// Threads for calls that block.
pub(super) struct SidePool {
    state: Mutex<State>,
    submitted: Condvar,
    ended: Condvar,
    most_threads: usize,
    idle: Duration,
}

#[derive(Default)]
struct State {
    calls: VecDeque<Call>,
    threads: usize,
    idle: usize,
    closing: bool,
}

impl Task<'_> {
    /// Makes a call that may block its thread, on a thread beside the workers.
    ///
    /// The task is suspended meanwhile and its worker goes on. The closure may borrow, for this
    /// waits for it. At most so many calls run at the same time as
    /// [`Builder::side_threads`](super::Builder::side_threads) says; the others wait.
    ///
    /// # Panics
    ///
    /// Passes on a panic of `function`.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::Runtime;
    ///
    /// let runtime = Runtime::builder().workers(1).build()?;
    /// let path = std::path::PathBuf::from("Cargo.toml");
    /// let text = runtime.run(|task| task.blocking(|| std::fs::read_to_string(&path)))?;
    /// assert!(text.contains("raddle"));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn blocking<R: Send>(&self, function: impl FnOnce() -> R + Send) -> R {
        let landing = Landing::new(None);
        let errand = Errand::new(function, &landing);
        let call: Box<dyn FnOnce() + Send + '_> =
            Box::new(|| _ = errand.run(|function| function()));
        // SAFETY: the types differ in the lifetime only. An errand lands as the last thing it does
        // with what it borrows, whether it is called or dropped, and we wait for that below.
        // Neither polling nor suspending unwinds.
        let call = unsafe { mem::transmute::<Box<dyn FnOnce() + Send + '_>, Call>(call) };
        self.worker.shared.side.submit(call);
        self.wait(poll_fn(|context| landing.poll(context)))
            .unwrap_or_else(|panic| resume_unwind(panic))
    }
}

impl SidePool {
    pub(super) fn new(most_threads: usize, idle: Duration) -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::default(),
            submitted: Condvar::new(),
            ended: Condvar::new(),
            most_threads,
            idle,
        })
    }

    /// Has `call`, which does not panic, made on some thread.
    fn submit(self: &Arc<Self>, call: Call) {
        let mut state = self.state.lock();
        state.calls.push_back(call);
        if state.idle >= state.calls.len() || state.threads >= self.most_threads {
            self.submitted.notify_one();
            return;
        }
        state.threads += 1;
        drop(state);
        let pool = Arc::clone(self);
        let made = thread::Builder::new().name("raddle-side".to_owned()).spawn(move || pool.work());
        if made.is_err() {
            let mut state = self.state.lock();
            state.threads -= 1;
            // Others will make the call, if there are any; else it must be made here.
            let call = if state.threads == 0 { state.calls.pop_front() } else { None };
            drop(state);
            if let Some(call) = call {
                call();
            }
        }
    }

    /// The life of a thread.
    fn work(&self) {
        let mut state = self.state.lock();
        loop {
            if let Some(call) = state.calls.pop_front() {
                drop(state);
                call();
                state = self.state.lock();
                continue;
            }
            if state.closing {
                break;
            }
            state.idle += 1;
            let timed_out = self.submitted.wait_for(&mut state, self.idle).timed_out();
            state.idle -= 1;
            if timed_out && state.calls.is_empty() {
                break;
            }
        }
        state.threads -= 1;
        if state.threads == 0 {
            self.ended.notify_all();
        }
    }

    /// Lets the threads end; no call is submitted any more.
    pub(super) fn close(&self) {
        self.state.lock().closing = true;
        self.submitted.notify_all();
    }

    /// Waits until the threads of a closed pool are about to end.
    pub(super) fn wait_for_end(&self) {
        let mut state = self.state.lock();
        while state.threads > 0 {
            self.ended.wait(&mut state);
        }
    }
}

#[cfg(all(test, not(raddle_loom)))]
mod tests {
    use super::*;
    use std::sync::Barrier;
    use std::sync::mpsc;

    #[test]
    fn threads_are_made_on_demand_up_to_the_limit_and_end_when_idle() {
        let pool = SidePool::new(3, Duration::from_millis(1));
        let all_three = Arc::new(Barrier::new(3));
        let (done, results) = mpsc::channel();
        for n in 0..30 {
            let (all_three, done) = (Arc::clone(&all_three), done.clone());
            pool.submit(Box::new(move || {
                all_three.wait();
                done.send(n).unwrap();
            }));
            assert!(pool.state.lock().threads <= 3);
        }
        drop(done);
        let mut results: Vec<_> = results.iter().collect();
        results.sort_unstable();
        assert_eq!(results, (0..30).collect::<Vec<_>>());
        pool.wait_for_end();
        let (done, results) = mpsc::channel();
        pool.submit(Box::new(move || done.send(()).unwrap()));
        results.recv().expect("a thread is made again");
        pool.close();
        pool.wait_for_end();
    }
}
