//! Root tasks: those that no scope waits for.
//!
//! `run` waits for its task and so may lend it what it likes. `spawn` does not wait, gives a handle,
//! and takes only closures that own what they use.

#![expect(unsafe_code, reason = "starts root tasks that borrow from the caller of `run`")]

use std::future::poll_fn;
use std::panic::resume_unwind;
use std::sync::Arc;

use super::Runtime;
use super::current;
use super::failures::CancelledEarly;
use super::handle::Handle;
use super::landing::{Errand, Landing};
use super::observe::Event;
use super::options::Options;
use super::record::{NONE, Origin};
use super::shared::{Priority, Shared};
use super::task::Task;
use crate::sync::CancelToken;

impl Runtime {
    /// Runs `function` as a task and returns its result; the caller waits meanwhile.
    ///
    /// A plain thread blocks. A task, of this runtime or of another one, is suspended, and its
    /// worker goes on; so a runtime may be entered from inside itself, also on a single worker.
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
    /// let nested = runtime.run(|_| runtime.run(|_| runtime.run(|_| 3) + 2) + 1);
    /// assert_eq!(nested, 6);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn run<R: Send>(&self, function: impl FnOnce(&Task<'_>) -> R + Send) -> R {
        current::with_task(|task| match task {
            Some(task) if self.is_of(task) => run_inside(task, function),
            _ => self.run_from_outside(function),
        })
    }

    /// Starts `function` as a task of its own.
    ///
    /// # Examples
    ///
    /// See [`Handle`].
    pub fn spawn<R, F>(&self, function: F) -> Handle<R>
    where
        R: Send + 'static,
        F: FnOnce(&Task<'_>) -> R + Send + 'static,
    {
        self.spawn_with(Options::new(), function)
    }

    /// Starts `function` as a task of its own, with options.
    ///
    /// If their token is cancelled before the task begins, `function` is dropped uncalled, and the
    /// handle gives an [error](super::TaskError::is_cancelled). From outside of tasks the priority
    /// is that of all others.
    pub fn spawn_with<R, F>(&self, options: Options, function: F) -> Handle<R>
    where
        R: Send + 'static,
        F: FnOnce(&Task<'_>) -> R + Send + 'static,
    {
        current::with_task(|task| match task {
            Some(task) if self.is_of(task) => task.spawn_with(options, function),
            _ => {
                let shared = &*self.shared;
                let entry = shared.enter_root();
                let landing = spawned_landing(shared, entry.index);
                let errand = Errand::new(function, &landing);
                let cancel = options.cancel;
                let closure =
                    |task: &Task<'_>| task.run_errand(errand, |f| call_unless(cancel, f, task));
                // SAFETY: the closure borrows nothing.
                unsafe { shared.inject_root(entry.index, closure) };
                entry.queued();
                Handle::new(landing)
            }
        })
    }

    fn is_of(&self, task: &Task<'_>) -> bool {
        Arc::ptr_eq(&self.shared, &task.worker.shared)
    }

    fn run_from_outside<R: Send>(&self, function: impl FnOnce(&Task<'_>) -> R + Send) -> R {
        let entry = self.shared.enter_root();
        let landing = Landing::new(None);
        let errand = Errand::new(function, &landing);
        // SAFETY: an errand lands as the last thing it does with what it borrows, whether it is
        // called or dropped, and we wait for that below. Neither polling nor suspending unwinds.
        unsafe {
            self.shared.inject_root(entry.index, |task| task.run_errand(errand, |f| f(task)));
        };
        entry.queued();
        current::wait(poll_fn(|context| landing.poll(context)))
            .unwrap_or_else(|panic| resume_unwind(panic))
    }
}

impl Task<'_> {
    /// Starts `function` as a task of its own: nothing waits for it but who has the handle, and the
    /// end of the runtime.
    ///
    /// # Examples
    ///
    /// See [`Handle`].
    pub fn spawn<R, F>(&self, function: F) -> Handle<R>
    where
        R: Send + 'static,
        F: FnOnce(&Task<'_>) -> R + Send + 'static,
    {
        self.spawn_with(Options::new(), function)
    }

    /// As [`spawn`](Self::spawn), with options.
    ///
    /// If their token is cancelled before the task begins, `function` is dropped uncalled, and the
    /// handle gives an [error](super::TaskError::is_cancelled).
    pub fn spawn_with<R, F>(&self, options: Options, function: F) -> Handle<R>
    where
        R: Send + 'static,
        F: FnOnce(&Task<'_>) -> R + Send + 'static,
    {
        let shared = &*self.worker.shared;
        let entry = shared.enter_root();
        let landing = spawned_landing(shared, entry.index);
        let errand = Errand::new(function, &landing);
        let origin = root_origin(entry.index);
        let Options { priority, name, cancel } = options;
        let announce = |id| {
            let (parent, name) = (Some(self.id()), name.as_deref());
            Event::TaskSpawned { task: id, parent, name, priority }
        };
        let closure = |task: &Task<'_>| task.run_errand(errand, |f| call_unless(cancel, f, task));
        // SAFETY: the closure borrows nothing, and is in no scope.
        unsafe { self.worker.spawn(origin, false, priority, announce, closure) };
        entry.queued();
        Handle::new(landing)
    }
}

impl Task<'_> {
    /// Calls what a root task does, and notes a panic for the observer.
    fn run_errand<F, R>(&self, errand: Errand<F, R>, call: impl FnOnce(F) -> R) {
        let is_ok = errand.run(call);
        self.has_panicked.set(!is_ok);
    }
}

/// Calls `function`, or drops it and unwinds if the token is cancelled.
fn call_unless<R>(
    cancel: Option<CancelToken>,
    function: impl FnOnce(&Task<'_>) -> R,
    task: &Task<'_>,
) -> R {
    if cancel.is_some_and(|token| token.is_cancelled()) {
        task.worker.desk.counters.tasks_cancelled.bump();
        drop(function);
        resume_unwind(Box::new(CancelledEarly));
    }
    function(task)
}

impl Shared {
    /// Queues a root task.
    ///
    /// # Safety
    ///
    /// The caller sees to it that nothing that `function` borrows goes away before `function` was
    /// called or dropped.
    unsafe fn inject_root(&self, index: u32, function: impl FnOnce(&Task<'_>) + Send) {
        let number = self.tasks.take_shared().expect("too many live tasks");
        let record = self.tasks.get(number);
        record.begin(number, root_origin(index));
        // SAFETY: the number was just taken from the pool, so nobody else uses the record, and
        // its last closure was consumed before. The caller vouches for borrows.
        unsafe { record.body.store(&self.large_places, number, function) };
        self.inject(number);
    }
}

fn root_origin(index: u32) -> Origin {
    Origin { scope: NONE, index, lineage: 0, level: 0, floor: 0 }
}

fn spawned_landing<R>(shared: &Shared, index: u32) -> Arc<Landing<R>> {
    Landing::new(Some((Arc::clone(&shared.roots.unseen), index)))
}

/// Runs `function` in a scope of the task that calls `run`, so that a wait in a circle is found.
fn run_inside<R: Send>(task: &Task<'_>, function: impl FnOnce(&Task<'_>) -> R + Send) -> R {
    let mut result = None;
    task.scope(|scope| {
        scope.spawn(task, Priority::Normal, |inner| result = Some(function(inner)));
    });
    result.expect("the scope passes on a panic")
}
