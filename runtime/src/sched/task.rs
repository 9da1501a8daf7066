//! What a running task can ask of its runtime.
//!
//! A [`Task`] is made on the fiber that runs the task and stays there: it is neither `Send` nor
//! `Sync`, so code that holds one is that task.

#![expect(unsafe_code, reason = "names the record of the task by its address")]

use std::cell::Cell;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::current;
use super::failures::Failures;
use super::fiber::{FiberYielder, Resume, Yielded};
use super::observe::{Event, Reason};
use super::record::{Record, TaskId};
use super::scope::{self, Scope};
use super::worker::Worker;
use crate::sync::{Suspend, Wait};

/// The running task: opens scopes, waits, and tells where it runs.
///
/// One of these serves all tasks that a fiber runs, one after the other.
pub struct Task<'fiber> {
    pub(super) worker: &'fiber Worker,
    yielder: &'fiber FiberYielder,
    fiber: u32,
    stack_limit: usize,
    /// A record of `worker.shared`. (Not a reference: code that gets a task may shorten 'fiber.)
    record: Cell<*const Record>,
    /// How many scopes are around the running code.
    pub(super) level: Cell<u32>,
    /// How many of them were opened outside of the innermost join.
    pub(super) floor: Cell<u32>,
    /// Tasks that this one spawned in all.
    pub(super) spawned: Cell<u32>,
    /// Its panic was caught, to be delivered elsewhere.
    pub(super) has_panicked: Cell<bool>,
}

impl<'fiber> Task<'fiber> {
    /// Creates what will be task after task on this fiber; [`begin`](Self::begin) comes first.
    pub(super) fn new(
        worker: &'fiber Worker,
        yielder: &'fiber FiberYielder,
        fiber: u32,
        stack_limit: usize,
        first: &'fiber Record,
    ) -> Self {
        Self {
            worker,
            yielder,
            fiber,
            stack_limit,
            record: Cell::new(first),
            level: Cell::new(0),
            floor: Cell::new(0),
            spawned: Cell::new(0),
            has_panicked: Cell::new(false),
        }
    }

    /// Becomes the task of this record.
    #[inline]
    pub(super) fn begin(&self, record: &'fiber Record) {
        self.record.set(record);
        self.level.set(record.level.load(Ordering::Relaxed));
        self.floor.set(record.floor.load(Ordering::Relaxed));
        self.spawned.set(0);
        self.has_panicked.set(false);
    }

    /// Returns the number of the task's record.
    #[inline]
    pub(super) fn number(&self) -> u32 {
        self.record().number()
    }

    /// Returns the address of what the workers of this runtime share.
    #[inline]
    pub(super) fn runtime(&self) -> usize {
        Arc::as_ptr(&self.worker.shared).addr()
    }

    #[inline]
    pub(super) fn record(&self) -> &'fiber Record {
        // SAFETY: `new` and `begin` were given a reference; records stay where they are as long as
        // the worker's pool.
        unsafe { &*self.record.get() }
    }

    /// Returns the number of the fiber that runs the task.
    #[inline]
    pub(super) fn fiber(&self) -> u32 {
        self.fiber
    }

    /// Returns the number of the worker that runs this task, from 0; it stays the same.
    #[inline]
    pub fn worker(&self) -> usize {
        self.worker.index
    }

    /// Returns the number of workers.
    #[inline]
    pub fn workers(&self) -> usize {
        self.worker.shared.desks.len()
    }

    /// Returns whether some worker has nothing to do at the moment: a hint whether splitting work
    /// further pays, and nothing to base a result on.
    #[inline]
    pub fn is_anyone_idle(&self) -> bool {
        self.worker.shared.idlers.is_any()
    }

    /// Returns the task's id.
    #[inline]
    pub fn id(&self) -> TaskId {
        self.record().id()
    }

    /// Returns the address that the stack pointer should stay above.
    ///
    /// Below it lies a red zone of at least 128 KiB for code that does not check. Code that
    /// recurses without a bound compares with this and fails cleanly; past the red zone the
    /// process dies.
    #[inline]
    pub fn stack_limit(&self) -> usize {
        self.stack_limit
    }

    /// Runs `body`, which may start tasks, and returns when all of them are complete.
    ///
    /// The tasks may borrow whatever outlives this call. While they run, the caller is suspended
    /// and its worker runs other tasks, also these.
    ///
    /// # Panics
    ///
    /// Passes on a panic of `body`, else the panic of the task that comes first in the order of
    /// spawning, after all tasks are complete.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::{Priority, Runtime};
    ///
    /// let runtime = Runtime::builder().workers(2).build()?;
    /// let mut halves = [0, 0];
    /// runtime.run(|task| {
    ///     let (left, right) = halves.split_at_mut(1);
    ///     task.scope(|scope| {
    ///         scope.spawn(task, Priority::Normal, |_| left[0] = (1..=50).sum());
    ///         scope.spawn(task, Priority::Normal, |_| right[0] = (51..=100).sum());
    ///     });
    /// });
    /// assert_eq!(halves, [1275, 3775]);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn scope<'env, R>(
        &self,
        body: impl for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> R,
    ) -> R {
        scope::run(self, body).unwrap_or_else(|failures| failures.into_first().resume())
    }

    /// As [`scope`](Self::scope), but returns the panics instead of passing on the first.
    ///
    /// # Errors
    ///
    /// Fails if `body` or tasks panicked. A panic of `body` comes first, then those of the tasks in
    /// the order of spawning.
    ///
    /// # Examples
    ///
    /// See [`Failures`].
    pub fn try_scope<'env, R>(
        &self,
        body: impl for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> R,
    ) -> Result<R, Failures> {
        scope::run(self, body)
    }

    /// Waits for a cell that task `owner` has under evaluation.
    ///
    /// `key` names the cell, usually by its address. `still_busy` is called at once, under the
    /// lock of the wait-for graph: it marks the cell so that its owner will call
    /// [`wake_cell`](Self::wake_cell), and returns whether the cell is still under evaluation. It
    /// must not wait or call the runtime.
    ///
    /// Not to be called while a panic unwinds.
    pub fn wait_cell(&self, key: usize, owner: TaskId, still_busy: impl FnOnce() -> bool) -> Wait {
        let shared = &*self.worker.shared;
        let answer =
            shared.graph.wait_for_cell(shared, self.worker, self.number(), key, owner, still_busy);
        answer.unwrap_or_else(|| self.suspend(Reason::Cell))
    }

    /// Wakes all tasks that wait for the cell `key`, which this task has evaluated or given up.
    pub fn wake_cell(&self, key: usize) {
        let shared = &*self.worker.shared;
        shared.graph.cell_changed(shared, Some(self.worker), key, Some(self.number()));
    }

    /// Waits until task `owner` has got on: has finished a cell others wait for, was itself woken
    /// from a wait, or has ended.
    ///
    /// For a task that was told to abandon its evaluation and has done so, before it starts over.
    /// If waiting would close a circle, or `owner` has ended, only the worker's other tasks go
    /// first: those that this one gave way to may be among them. The caller holds no cell.
    pub fn step_aside(&self, owner: TaskId) {
        let shared = &*self.worker.shared;
        if shared.graph.step_aside(shared, self.worker, self.number(), owner) {
            let _woken = self.suspend(Reason::Aside);
        } else {
            self.yield_now();
        }
    }

    /// Lets the worker's other tasks go first; returns when it has nothing else to do.
    pub fn yield_now(&self) {
        self.worker.make_yielded(self.fiber());
        let _resumed = self.suspend(Reason::Yield);
    }

    /// Gives the worker up until somebody wakes this task; that was arranged before.
    pub(super) fn suspend(&self, reason: Reason) -> Wait {
        self.worker.desk.counters.suspensions.bump();
        self.worker.observe(|| Event::TaskSuspended { task: self.id(), reason });
        self.worker.settle();
        current::leave(self.worker);
        let resume = self.yielder.suspend(Yielded::Blocked);
        current::enter(self);
        self.worker.observe(|| Event::TaskResumed { task: self.id() });
        match resume {
            Resume::Continue(wait) => wait,
            Resume::Run(_) | Resume::Exit => unreachable!("only idle fibers get tasks"),
        }
    }
}

impl Suspend for Task<'_> {
    fn owner(&self) -> u32 {
        self.id().get()
    }

    fn wait_for(&self, key: usize, owner: u32, still_busy: &mut dyn FnMut() -> bool) -> Wait {
        match TaskId::from_u32(owner) {
            Some(owner) => self.wait_cell(key, owner, still_busy),
            None => Wait::Orphaned,
        }
    }

    fn wake(&self, key: usize) {
        self.wake_cell(key);
    }
}

impl fmt::Debug for Task<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Task")
            .field("id", &self.id())
            .field("worker", &self.worker.index)
            .finish_non_exhaustive()
    }
}
