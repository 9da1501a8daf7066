//! Tasks on fibers, workers that steal, scopes that join.
//!
//! Read in this order: `record` and `body` (a task), `ready` (a task in a queue), `scope` (who waits for it), `deque`, `idlers` and `shared` (how it
//! finds a worker, by the rules of `policy`), `worker` and `fiber` (how it runs), `wait_graph` (how it waits for a cell), `join` and `latch`,
//! `task` (what it can ask for). Then `waker` (how it waits for a future), `root`, `landing`, `handle` (tasks that no scope waits
//! for), `shutdown`, and what runs beside the workers: `blocking`, `timer`.
//!
//! What always holds: results do not depend on the number of workers; a wait that can never end
//! is reported to a waiter.
//!
//! Not here: dependencies between tasks by the data they use.

mod blocking;
mod body;
mod counters;
mod current;
mod deque;
mod failures;
mod fiber;
mod handle;
mod idlers;
mod join;
mod landing;
mod latch;
pub mod observe;
mod options;
mod policy;
mod ready;
mod record;
mod root;
mod scope;
mod shared;
mod shutdown;
mod task;
mod timer;
mod wait_graph;
mod waker;
mod worker;

use std::fmt;
use std::io;
use std::num::NonZeroUsize;
use std::sync::atomic::Ordering;
use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};

pub use counters::{Counters, WaitCounters};
pub use failures::{Failures, TaskError};
pub use handle::Handle;
pub use options::Options;
pub use policy::Policy;
pub use record::TaskId;
pub use scope::Scope;
pub use shared::Priority;
pub use task::Task;
pub use timer::{Elapsed, Sleep, Timer};

use crate::memory::{Reservation, Topology, pin_to};
use blocking::SidePool;
use observe::Observer;
use shared::Shared;
use worker::Worker;

/// Workers that run tasks.
///
/// Dropping it waits until all tasks are complete, and stops the workers; see
/// [`shutdown`](Self::shutdown).
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

/// An idle worker looks at all others, so many of them would have no time for anything else.
const MOST_WORKERS: usize = 1024;

/// Settings of a [`Runtime`] to be built.
#[derive(Clone)]
#[must_use]
pub struct Builder {
    workers: Option<usize>,
    policy: Policy,
    stack_size: usize,
    side_threads: usize,
    observer: Option<Arc<dyn Observer>>,
    pinned: bool,
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

    /// Sets how many calls of [`Task::blocking`] run at the same time; the default is 64.
    ///
    /// The threads for them are started when they are needed. 0 means the default.
    pub fn side_threads(mut self, threads: usize) -> Self {
        self.side_threads = if threads > 0 { threads } else { blocking::MOST_THREADS };
        self
    }

    /// Has `observer` told what happens; the default is nobody.
    pub fn observer(mut self, observer: Arc<dyn Observer>) -> Self {
        self.observer = Some(observer);
        self
    }

    /// Sets whether each worker is bound to one processor; the default is that none is.
    ///
    /// Workers get the processors that this process may use in the order of their nodes, and more
    /// than one worker gets the same if there are more workers. Then task records lie on the node of
    /// the worker that uses them first.
    pub fn pinned(mut self, pinned: bool) -> Self {
        self.pinned = pinned;
        self
    }

    /// Starts the workers.
    ///
    /// # Errors
    ///
    /// Fails if the system refuses the threads, the processors or the address space, if the stack
    /// size is below 256 KiB, or if there are more than 1024 workers.
    pub fn build(self) -> io::Result<Runtime> {
        let workers = match self.workers {
            Some(workers) => workers,
            None => thread::available_parallelism().map_or(1, NonZeroUsize::get),
        };
        if workers > MOST_WORKERS {
            let text = format!("{workers} workers are too many: the most is {MOST_WORKERS}");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        }
        let side = SidePool::new(self.side_threads, blocking::IDLE);
        let stacks = Reservation::new(self.stack_size)?;
        let topology = self.pinned.then(Topology::of_this_machine);
        let nodes = topology.as_ref().map_or(1, |topology| topology.nodes().len());
        let places: Vec<Option<Place>> = match &topology {
            None => vec![None; workers],
            Some(topology) => Place::all(topology).cycle().take(workers).map(Some).collect(),
        };
        let shared =
            Arc::new(Shared::new(self.policy, workers, nodes, stacks, side, self.observer));
        let mut runtime = Runtime { shared, threads: Vec::with_capacity(workers) };
        let (report, reports) = mpsc::channel();
        for (index, place) in places.into_iter().enumerate() {
            let (shared, report) = (Arc::clone(&runtime.shared), report.clone());
            let thread =
                thread::Builder::new().name(format!("raddle-{index}")).spawn(move || {
                    let bound = place.map_or(Ok(()), |place| pin_to(place.cpu));
                    // Who builds the runtime listens, unless an earlier worker was refused.
                    let _told = report.send(bound);
                    drop(report);
                    Worker::main(index, place.map_or(0, |place| place.node), shared);
                })?;
            runtime.threads.push(thread);
        }
        drop(report);
        if topology.is_some() {
            reports.iter().collect::<io::Result<()>>()?;
        }
        Ok(runtime)
    }
}

impl Runtime {
    /// Returns the settings for a new runtime.
    pub fn builder() -> Builder {
        Builder {
            workers: None,
            policy: Policy::Stealing,
            stack_size: 256 << 20,
            side_threads: blocking::MOST_THREADS,
            observer: None,
            pinned: false,
        }
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

    /// Switches telling the observer off, or on again; workers notice it with their next event.
    ///
    /// Without an observer this changes nothing.
    pub fn set_observing(&self, observing: bool) {
        let observing = observing && self.shared.observer.is_some();
        self.shared.observing.store(observing, Ordering::Relaxed);
    }

    /// Returns what was counted so far, summed over the workers.
    pub fn counters(&self) -> Counters {
        self.shared.counters()
    }
}

impl fmt::Debug for Runtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runtime").field("workers", &self.workers()).finish_non_exhaustive()
    }
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("workers", &self.workers)
            .field("policy", &self.policy)
            .field("stack_size", &self.stack_size)
            .field("side_threads", &self.side_threads)
            .field("pinned", &self.pinned)
            .finish_non_exhaustive()
    }
}

/// Where a worker is bound to.
#[derive(Clone, Copy, Debug)]
struct Place {
    cpu: usize,
    node: usize,
}

impl Place {
    /// Returns the places of a machine in the order of its nodes.
    fn all(topology: &Topology) -> impl Iterator<Item = Self> + Clone {
        let of_node = |(node, cpus): (usize, &'_ Vec<usize>)| {
            cpus.iter().map(move |&cpu| Self { cpu, node }).collect::<Vec<_>>()
        };
        let all: Vec<Self> = topology.nodes().iter().enumerate().flat_map(of_node).collect();
        all.into_iter()
    }
}
