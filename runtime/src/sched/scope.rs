//! Scopes: tasks that may borrow, because their starter waits for all of them.
//!
//! ```text
//! open --body returns--> joining --nothing pending--> joined: record given back
//!                           |  ^
//!                 suspended '--' woken by the last completion
//! ```
//!
//! Starting a task costs no interlocked instruction. The owner counts what it starts for itself,
//! and says so when it gets to the end. Another task of the scope starts one on *credit*: its worker
//! keeps completions of the scope's tasks to itself for a while, each of which pays for a start, and
//! buys more in advance when none is left (see `worker`). So what the scope has counted is never
//! less than what is pending.
//!
//! When tasks panic, the scope collects that in sequential order; a panic of the owner's own code
//! comes before all of them.

#![expect(unsafe_code, reason = "starts tasks that borrow from their scope's owner")]

use std::fmt;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, Ordering};

use super::body::Joined;
use super::failures::{Failures, Noted};
use super::observe::{Event, Reason};
use super::options::Options;
use super::record::{JOINED, NONE, Origin, Place, child_lineage};
use super::shared::Priority;
use super::task::Task;
use crate::sync::{Completion, Progress};

/// Starts tasks that are complete before [`Task::scope`] returns.
pub struct Scope<'scope, 'env: 'scope> {
    core: u32,
    owner: u32,
    /// The address of what the workers of its runtime share.
    runtime: usize,
    /// How many scopes are around a task of this one, itself included.
    level: u32,
    /// Tasks started by the owner.
    started: AtomicU32,
    /// Invariant in both lifetimes, like `std::thread::Scope`.
    scope: PhantomData<&'scope mut &'scope ()>,
    env: PhantomData<&'env mut &'env ()>,
}

/// A scope's pooled part, which outlives the owner's frame from the view of ending tasks.
#[derive(Default)]
pub(super) struct ScopeCore {
    owner: AtomicU32,
    pub(super) pending: Completion,
    pub(super) failures: Noted<Place>,
}

impl<'scope> Scope<'scope, '_> {
    /// Starts `function` as a task of this scope.
    ///
    /// `task` is the task that calls this: the owner of the scope or one started in it. Tasks
    /// started earlier come earlier in the sequential order by which errors are chosen.
    ///
    /// # Panics
    ///
    /// Panics if `task` belongs to another call of `Runtime::run` than the scope, if it is half of
    /// a [join](Task::join) inside the scope, or if more than 16 million tasks are alive.
    #[inline]
    pub fn spawn<F>(&'scope self, task: &Task<'_>, priority: Priority, function: F)
    where
        F: FnOnce(&Task<'_>) + Send + 'scope,
    {
        self.start(task, priority, None, function);
    }

    /// Starts `function` as a task of this scope, with options.
    ///
    /// If the options' token is cancelled before the task begins, `function` is dropped uncalled.
    ///
    /// # Panics
    ///
    /// As [`spawn`](Self::spawn).
    ///
    /// # Examples
    ///
    /// See [`Options`].
    pub fn spawn_with<F>(&'scope self, task: &Task<'_>, options: &'scope Options, function: F)
    where
        F: FnOnce(&Task<'_>) + Send + 'scope,
    {
        let (priority, name) = (options.priority, options.name.as_deref());
        match &options.cancel {
            None => self.start(task, priority, name, function),
            Some(token) => self.start(task, priority, name, move |task| {
                if token.is_cancelled() {
                    task.worker.desk.counters.tasks_cancelled.bump();
                } else {
                    function(task);
                }
            }),
        }
    }

    #[inline]
    fn start<F>(&'scope self, task: &Task<'_>, priority: Priority, name: Option<&str>, function: F)
    where
        F: FnOnce(&Task<'_>) + Send + 'scope,
    {
        assert!(
            self.runtime == task.runtime(),
            "a task spawns only into scopes of its own runtime"
        );
        assert!(
            self.level > task.floor.get(),
            "half of a join spawns only into scopes that it has opened itself"
        );
        let spawned = task.spawned.get();
        let is_owner = task.number() == self.owner;
        let (index, lineage) = if is_owner { (spawned, 0) } else { self.descent(task, spawned) };
        let origin =
            Origin { scope: self.core, index, lineage, level: self.level, floor: task.floor.get() };
        let announce = |id| {
            let parent = Some(task.id());
            Event::TaskSpawned { task: id, parent, name, priority }
        };
        // SAFETY: `Task::scope` does not return before everything started in the scope is
        // complete, and 'scope contains that call. A task that can name `&'scope Scope` is the
        // owner or was started, directly or not, inside the scope: a closure of an outer or
        // unrelated scope outlives 'scope, which no borrow of this value does; and a task of
        // another run, which could get it through a plain thread, was refused above. The count
        // below, which closing the scope reads, follows in any case: `spawn` panics only before
        // it has counted or queued the task.
        unsafe { task.worker.spawn(origin, !is_owner, priority, announce, function) };
        task.spawned.set(spawned + 1);
        if is_owner {
            self.started.store(self.started.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        }
    }

    /// Returns index and lineage of the `spawned`th task of a task that does not own the scope.
    #[inline]
    fn descent(&self, task: &Task<'_>, spawned: u32) -> (u32, u32) {
        let record = task.record();
        if record.scope.load(Ordering::Relaxed) == self.core {
            let lineage = record.lineage.load(Ordering::Relaxed);
            (record.index.load(Ordering::Relaxed), child_lineage(lineage, spawned))
        } else {
            self.far_descent(task, spawned)
        }
    }

    /// As `descent`, for a task in a scope or a join inside of this one.
    #[cold]
    fn far_descent(&self, task: &Task<'_>, spawned: u32) -> (u32, u32) {
        let shared = &*task.worker.shared;
        let (mut number, mut step) = (task.number(), spawned);
        loop {
            let record = shared.tasks.get(number);
            let index = record.index.load(Ordering::Relaxed);
            let lineage = record.lineage.load(Ordering::Relaxed);
            let scope = record.scope.load(Ordering::Relaxed);
            let (above, lineage) = match scope {
                NONE => panic!("a task spawns only into scopes of its own run"),
                JOINED => (lineage, 0),
                _ => (shared.scopes.get(scope).owner(), lineage),
            };
            if scope == self.core || above == self.owner {
                return (index, child_lineage(lineage, step));
            }
            step = child_lineage(child_lineage(lineage, index), step);
            number = above;
        }
    }
}

impl fmt::Debug for Scope<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope").finish_non_exhaustive()
    }
}

impl ScopeCore {
    pub(super) fn owner(&self) -> u32 {
        self.owner.load(Ordering::Relaxed)
    }
}

/// Runs `body` with a new scope and waits for the scope's tasks.
pub(super) fn run<'env, R>(
    task: &Task<'_>,
    body: impl for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> R,
) -> Result<R, Failures> {
    let shared = &*task.worker.shared;
    let number =
        shared.scopes.take(&mut task.worker.scopes.borrow_mut()).expect("too many open scopes");
    let core = shared.scopes.get(number);
    core.owner.store(task.number(), Ordering::Relaxed);
    core.pending.open();
    let level = task.level.get().checked_add(1).expect("scopes are nested too deeply");
    task.level.set(level);
    let scope = Scope {
        core: number,
        owner: task.number(),
        runtime: task.runtime(),
        level,
        started: AtomicU32::new(0),
        scope: PhantomData,
        env: PhantomData,
    };
    let result = catch_unwind(AssertUnwindSafe(|| body(&scope)));

    let started = scope.started.load(Ordering::Relaxed);
    if started > 0 {
        // SAFETY: the task runs: it is the caller.
        let running = unsafe { task.record().body.running() };
        running.joins.begin(Joined::Scope(number));
        if core.pending.close(started) == Progress::Pending {
            shared.graph.joining(shared, task.worker, task.number(), number);
            let _woken = task.suspend(Reason::Scope);
        }
        running.joins.end();
    }
    task.level.set(level - 1);
    let failures = core.failures.take();
    shared.scopes.give(&mut task.worker.scopes.borrow_mut(), number);
    match (result, failures) {
        (Ok(result), None) => Ok(result),
        (Ok(_), Some(failures)) => Err(failures),
        (Err(own), failures) => Err(Failures::after(own, failures)),
    }
}
