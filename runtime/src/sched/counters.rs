//! What happened, counted per worker and summed when somebody asks.
//!
//! Each worker writes its own cells with plain loads and stores; readers may see a sum that is a
//! few events old.

use std::ops::AddAssign;
use std::sync::atomic::{AtomicU64, Ordering};

/// How often what happened since the runtime was built.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counters {
    /// Tasks spawned into scopes.
    pub tasks_spawned: u64,
    /// Tasks run, including those given to `Runtime::run`.
    pub tasks_run: u64,
    /// Tasks left out because their token was cancelled before they began.
    pub tasks_cancelled: u64,
    /// Closures too large for a task record.
    pub closures_boxed: u64,
    /// Tasks taken from another worker's deque.
    pub steals: u64,
    /// Times a task gave up its worker to wait.
    pub suspensions: u64,
    /// Fibers made, each with its stack.
    pub fibers: u64,
    /// Stacks whose deep part was given back to the system.
    pub stacks_trimmed: u64,
    /// Times a worker blocked in the kernel.
    pub parks: u64,
    /// Times the kernel was asked to wake a worker.
    pub wakes: u64,
    /// Batches of task records fetched from the shared depot.
    pub pool_refills: u64,
    /// Batches of task records returned to the shared depot.
    pub pool_spills: u64,
    /// Task records that exist.
    pub task_records: u64,
    /// What happened to tasks that waited for cells.
    pub waits: WaitCounters,
}

/// What happened to tasks that waited for cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WaitCounters {
    /// Calls that suspended the task.
    pub suspended: u64,
    /// Calls that found the cell finished after all.
    pub ready: u64,
    /// Waits that ended by a recursion.
    pub recursions: u64,
    /// Tasks told to abandon their evaluation.
    pub abandoned: u64,
    /// Tasks that stepped aside for another.
    pub stepped_aside: u64,
    /// Waits for a cell whose owner was gone.
    pub orphaned: u64,
    /// Circles of waiting tasks found.
    pub circles: u64,
}

/// One worker's counters.
#[derive(Debug, Default)]
pub(super) struct WorkerCounters {
    pub(super) tasks_spawned: Cell,
    pub(super) tasks_run: Cell,
    pub(super) tasks_cancelled: Cell,
    pub(super) closures_boxed: Cell,
    pub(super) steals: Cell,
    pub(super) suspensions: Cell,
    pub(super) fibers: Cell,
    pub(super) stacks_trimmed: Cell,
}

/// A number that one thread writes and any may read.
#[derive(Debug, Default)]
pub(super) struct Cell(AtomicU64);

impl Cell {
    #[inline]
    pub(super) fn bump(&self) {
        // Not a read-modify-write: only one thread writes.
        self.0.store(self.0.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }

    pub(super) fn add(&self, count: u64) {
        if count > 0 {
            self.0.store(self.0.load(Ordering::Relaxed) + count, Ordering::Relaxed);
        }
    }

    fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl AddAssign<&WorkerCounters> for Counters {
    fn add_assign(&mut self, worker: &WorkerCounters) {
        self.tasks_spawned += worker.tasks_spawned.get();
        self.tasks_run += worker.tasks_run.get();
        self.tasks_cancelled += worker.tasks_cancelled.get();
        self.closures_boxed += worker.closures_boxed.get();
        self.steals += worker.steals.get();
        self.suspensions += worker.suspensions.get();
        self.fibers += worker.fibers.get();
        self.stacks_trimmed += worker.stacks_trimmed.get();
    }
}
