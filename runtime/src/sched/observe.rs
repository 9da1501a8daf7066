//! What a runtime does, told to somebody while it happens.
//!
//! An [`Observer`] is given to the builder and hears of tasks, workers and pools. Without one, or
//! while observing is switched off, each place that would tell something costs one load and one
//! branch, and nothing else; see [`Runtime::set_observing`](crate::Runtime::set_observing).
//!
//! What always holds: the events of one worker are told in order, on that worker's thread. A task is
//! told to be spawned before it is started, but for half of a join, which is spawned when somebody
//! else takes it.
//!
//! Not here: clocks (an observer reads the one it likes), and what to make of the events.

use std::fmt;

use super::record::TaskId;
use super::shared::Priority;

/// Hears what a runtime does.
///
/// It is called by workers in the midst of their work, by several at the same time; what it does
/// adds to what every task costs. It must not start tasks, wait, or call the runtime. If it panics,
/// observing is switched off.
///
/// # Examples
///
/// ```
/// use raddle::observe::{Event, Observer};
/// use raddle::{Priority, Runtime};
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicU32, Ordering};
///
/// #[derive(Default)]
/// struct Count {
///     spawned: AtomicU32,
///     ended: AtomicU32,
/// }
///
/// impl Observer for Count {
///     fn event(&self, _worker: usize, event: Event<'_>) {
///         match event {
///             Event::TaskSpawned { .. } => _ = self.spawned.fetch_add(1, Ordering::Relaxed),
///             Event::TaskEnded { .. } => _ = self.ended.fetch_add(1, Ordering::Relaxed),
///             _ => {}
///         }
///     }
/// }
///
/// let count = Arc::new(Count::default());
/// let runtime = Runtime::builder().workers(2).observer(count.clone()).build()?;
/// runtime.run(|task| {
///     task.scope(|scope| {
///         for _ in 0..100 {
///             scope.spawn(task, Priority::Normal, |_| {});
///         }
///     });
/// });
/// drop(runtime);
/// assert_eq!(count.spawned.load(Ordering::Relaxed), 100);
/// assert_eq!(count.ended.load(Ordering::Relaxed), 101, "with that of `run`");
/// # Ok::<(), std::io::Error>(())
/// ```
pub trait Observer: Send + Sync {
    /// Hears of `event`, which happens on `worker`.
    fn event(&self, worker: usize, event: Event<'_>);
}

/// Something that happens on a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event<'a> {
    /// A task was queued, or a half of a join was taken by this worker.
    TaskSpawned {
        /// The new task.
        task: TaskId,
        /// The task that has spawned it; none for half of a join whose other half never said its id.
        parent: Option<TaskId>,
        /// The name given with its options.
        name: Option<&'a str>,
        /// How urgent it is.
        priority: Priority,
    },
    /// A task begins.
    TaskStarted {
        /// The task.
        task: TaskId,
    },
    /// A task gives up the worker.
    TaskSuspended {
        /// The task.
        task: TaskId,
        /// What it waits for.
        reason: Reason,
    },
    /// A task that was suspended goes on.
    TaskResumed {
        /// The task.
        task: TaskId,
    },
    /// A task has ended.
    TaskEnded {
        /// The task.
        task: TaskId,
        /// Whether it has panicked.
        panicked: bool,
    },
    /// The worker has taken tasks from another one.
    TasksStolen {
        /// How many.
        count: usize,
    },
    /// The worker has nothing to do and is about to block in the kernel.
    WorkerParked,
    /// The worker goes on after it was parked.
    WorkerWoken,
    /// The worker's stock of task records was empty, and was filled in one go.
    PoolRefilled,
}

/// What a suspended task waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// The tasks of a scope.
    Scope,
    /// The other half of a join.
    Join,
    /// A cell that another task evaluates.
    Cell,
    /// Another task to get on.
    Aside,
    /// A future.
    Future,
    /// Others to go first.
    Yield,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Scope => "the tasks of a scope",
            Self::Join => "the other half of a join",
            Self::Cell => "a cell",
            Self::Aside => "another task to get on",
            Self::Future => "a future",
            Self::Yield => "others to go first",
        })
    }
}
