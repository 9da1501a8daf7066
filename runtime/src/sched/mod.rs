//! Tasks on fibers, workers that steal, scopes that join.
//!
//! Read in this order: `record` (a task), `ready` (a task in a queue), `scope` (who waits for it), `deque` and `shared` (how it
//! finds a worker, by the rules of `policy`), `worker` and `fiber` (how it runs), `wait_graph` (how it waits for a cell), `join`,
//! `task` (what it can ask for).
//!
//! What always holds: results do not depend on the number of workers; a wait that can never end
//! is reported to a waiter.
//!
//! Not here: dependencies between tasks by the data they use.

#![expect(unsafe_code, reason = "starts root tasks that borrow from the caller of `run`")]

mod counters;
mod deque;
mod fiber;
mod join;
mod policy;
mod ready;
mod record;
mod scope;
mod shared;
mod task;
mod wait_graph;
mod worker;

use std::any::Any;
use std::fmt;
use std::io;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::{self, JoinHandle};

use parking_lot::{Condvar, Mutex};

pub use counters::{Counters, WaitCounters};
pub use policy::Policy;
pub use record::TaskId;
pub use scope::Scope;
pub use shared::Priority;
pub use task::Task;

use crate::memory::Reservation;
use record::{NONE, Origin};
use shared::Shared;
use worker::Worker;

/// Workers that run tasks.
///
/// Dropping it stops the workers. No task can be left at that time: [`run`](Self::run) returns
/// only when its tasks are complete, and borrows the runtime meanwhile.
///
/// # Examples
///
/// ```
/// use raddle::Runtime;
///
/// let runtime = Runtime::builder().workers(4).build()?;
/// let words = ["served", "by", "itself"];
/// let lengths: usize = runtime.run(|_task| words.iter().map(|word| word.len()).sum());
/// assert_eq!(lengths, 14);
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Runtime {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

/// Settings of a [`Runtime`] to be built.
#[derive(Clone, Debug)]
#[must_use]
pub struct Builder {
    workers: Option<usize>,
    policy: Policy,
    stack_size: usize,
}

impl Builder {
    /// Sets the number of workers; the default is the number of processors. 0 means the default.
    pub fn workers(mut self, workers: usize) -> Self {
        self.workers = (workers > 0).then_some(workers);
        self
    }

    /// Sets how tasks get to workers; the default is [`Policy::Stealing`].
    pub fn policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// Sets the address space of each fiber's stack in bytes; the default is 256 MiB.
    ///
    /// Only what a task uses takes memory.
    pub fn stack_size(mut self, bytes: usize) -> Self {
        self.stack_size = bytes;
        self
    }

    /// Starts the workers.
    ///
    /// # Errors
    ///
    /// Fails if the system refuses the threads or the address space, or if the stack size is
    /// below 256 KiB.
    pub fn build(self) -> io::Result<Runtime> {
        let workers = match self.workers {
            Some(workers) => workers,
            None => thread::available_parallelism().map_or(1, NonZeroUsize::get),
        };
        let shared =
            Arc::new(Shared::new(workers, self.policy, Reservation::new(self.stack_size)?));
        let mut runtime = Runtime { shared, threads: Vec::with_capacity(workers) };
        for index in 0..workers {
            let shared = Arc::clone(&runtime.shared);
            let thread = thread::Builder::new()
                .name(format!("raddle-{index}"))
                .spawn(move || Worker::main(index, shared))?;
            runtime.threads.push(thread);
        }
        Ok(runtime)
    }
}

impl Runtime {
    /// Returns the settings for a new runtime.
    pub fn builder() -> Builder {
        Builder { workers: None, policy: Policy::Stealing, stack_size: 256 << 20 }
    }

    /// Runs `function` as a task and returns its result; the calling thread blocks meanwhile.
    ///
    /// # Panics
    ///
    /// Passes on a panic of `function`. Panics if called from inside a task: a task opens a
    /// [scope](Task::scope) instead, for blocking its worker could block everybody.
    pub fn run<R: Send>(&self, function: impl FnOnce(&Task<'_>) -> R + Send) -> R {
        static RUNS: AtomicU32 = AtomicU32::new(0);

        assert!(!worker::on_worker(), "`Runtime::run` was called from inside a task");
        let landing = Arc::new(Landing { result: Mutex::new(None), landed: Condvar::new() });
        let flight = Flight { landing: Some(Arc::clone(&landing)) };
        let root = Root { function, flight };

        let number = self.shared.tasks.take_shared().expect("too many live tasks");
        let record = self.shared.tasks.get(number);
        record.begin(Origin {
            run: RUNS.fetch_add(1, Ordering::Relaxed),
            parent: NONE,
            index: self.shared.roots.fetch_add(1, Ordering::Relaxed),
            scope: NONE,
            level: 0,
            floor: 0,
        });
        // SAFETY: the number was just taken from the pool, so nobody else uses the record, and
        // its last closure was consumed before. The closure lands its flight as the last thing it
        // does with what it borrows, whether it is called or dropped, and we wait for that below.
        unsafe {
            record
                .store_closure(&self.shared.annexes, number, move |task: &Task<'_>| root.call(task))
        };
        self.shared.inject(number);

        landing.wait().unwrap_or_else(|panic| resume_unwind(panic))
    }

    /// Returns the number of workers.
    pub fn workers(&self) -> usize {
        self.shared.desks.len()
    }

    /// Returns the policy in force.
    pub fn policy(&self) -> Policy {
        self.shared.queues.policy()
    }

    /// Wakes all tasks that wait for the cell `key`; for code that runs outside of tasks.
    pub fn wake_cell(&self, key: usize) {
        self.shared.graph.cell_changed(&self.shared, None, key, None);
    }

    /// Returns what was counted so far, summed over the workers.
    pub fn counters(&self) -> Counters {
        self.shared.counters()
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        self.shared.stop();
        for thread in self.threads.drain(..) {
            // A worker does not panic; if it did, the process was ended.
            let _ended = thread.join();
        }
    }
}

impl fmt::Debug for Runtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runtime").field("workers", &self.workers()).finish_non_exhaustive()
    }
}

/// Where the result of a root task arrives.
struct Landing<R> {
    result: Mutex<Option<Result<R, Box<dyn Any + Send>>>>,
    landed: Condvar,
}

impl<R> Landing<R> {
    fn wait(&self) -> Result<R, Box<dyn Any + Send>> {
        let mut result = self.result.lock();
        loop {
            match result.take() {
                Some(result) => return result,
                None => self.landed.wait(&mut result),
            }
        }
    }
}

/// A root task. If it is dropped uncalled, `function` goes first: delivering ends its borrows.
struct Root<F, R> {
    function: F,
    flight: Flight<R>,
}

impl<R, F: FnOnce(&Task<'_>) -> R> Root<F, R> {
    fn call(self, task: &Task<'_>) {
        let Self { function, mut flight } = self;
        flight.deliver(catch_unwind(AssertUnwindSafe(|| function(task))));
    }
}

/// The duty to deliver a result; a closure that is dropped instead of called delivers an error.
struct Flight<R> {
    landing: Option<Arc<Landing<R>>>,
}

impl<R> Flight<R> {
    fn deliver(&mut self, result: Result<R, Box<dyn Any + Send>>) {
        if let Some(landing) = self.landing.take() {
            *landing.result.lock() = Some(result);
            landing.landed.notify_one();
        }
    }
}

impl<R> Drop for Flight<R> {
    fn drop(&mut self) {
        self.deliver(Err(Box::new("cannot start the task: no stack for it".to_owned())));
    }
}
