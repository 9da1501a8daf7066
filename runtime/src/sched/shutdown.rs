//! The end of a runtime: no task is lost, and no panic.
//!
//! ```text
//! live = 1 (the `Runtime`) + root tasks
//!
//! spawn, run: + 1     a root task is complete: - 1     dropping the `Runtime`: - 1
//!                                        whoever makes it 0 stops the workers
//! ```
//!
//! A task can start others as long as it runs, and counts itself meanwhile; so at 0 nobody is left
//! who could start one. Waiting for the end is joining the workers' threads.
//!
//! Invariant: the workers are told to stop once, when nothing is left to run.

use std::mem;
use std::panic::resume_unwind;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::thread;

use super::Runtime;
use super::current;
use super::failures::{Failures, Noted};
use super::shared::Shared;

/// Counts the tasks that no scope waits for.
pub(super) struct Roots {
    live: AtomicUsize,
    started: AtomicU32,
    pub(super) unseen: Arc<Unseen>,
}

/// A root task that is about to be queued: it is counted already, and no longer if this is dropped.
pub(super) struct Entry<'shared> {
    shared: &'shared Shared,
    /// How many root tasks were started before.
    pub(super) index: u32,
}

/// Panics that nobody asked for, by the number of the root task.
pub(super) type Unseen = Noted<u32>;

impl Runtime {
    /// Waits until all tasks are complete, also those that they spawn meanwhile, and stops the
    /// workers.
    ///
    /// A task that waits for something that never comes keeps this waiting. Called from inside a
    /// task of this very runtime, it returns at once, and the workers stop after the last task.
    ///
    /// Dropping a runtime does the same, and passes on the first of the failures as a panic, unless
    /// the thread is panicking already.
    ///
    /// # Errors
    ///
    /// Fails if tasks panicked whose handles were dropped before anybody asked for the result. The
    /// first is the one that was spawned first.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::Runtime;
    /// use std::sync::Arc;
    /// use std::sync::atomic::{AtomicU32, Ordering};
    ///
    /// let runtime = Runtime::builder().workers(2).build()?;
    /// let done = Arc::new(AtomicU32::new(0));
    /// for _ in 0..100 {
    ///     let done = Arc::clone(&done);
    ///     runtime.spawn(move |_task| done.fetch_add(1, Ordering::Relaxed)).detach();
    /// }
    /// runtime.shutdown().expect("no task panics");
    /// assert_eq!(done.load(Ordering::Relaxed), 100);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn shutdown(mut self) -> Result<(), Failures> {
        self.end();
        self.shared.roots.unseen.take().map_or(Ok(()), Err)
    }

    /// Lets the workers end; does nothing the second time.
    pub(super) fn end(&mut self) {
        let threads = mem::take(&mut self.threads);
        if threads.is_empty() {
            return;
        }
        self.shared.leave_root();
        let shared = &self.shared;
        let join = || {
            for thread in threads {
                // A worker does not panic; if it did, the process was ended.
                let _ended = thread.join();
            }
            shared.side.wait_for_end();
        };
        current::with_task(|task| match task {
            None => join(),
            Some(task) if ptr::eq(&raw const *task.worker.shared, &raw const **shared) => {}
            Some(task) => task.blocking(join),
        });
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        self.end();
        if let Some(failures) = self.shared.roots.unseen.take()
            && !thread::panicking()
        {
            resume_unwind(failures.into_first().into_payload());
        }
    }
}

impl Shared {
    /// Counts a root task that is about to be queued; while the runtime or another task is there.
    pub(super) fn enter_root(&self) -> Entry<'_> {
        // Relaxed: whoever calls this is counted, so 0 is out of reach.
        self.roots.live.fetch_add(1, Ordering::Relaxed);
        Entry { shared: self, index: self.roots.started.fetch_add(1, Ordering::Relaxed) }
    }

    /// Notes that a root task is complete, or that the runtime was dropped.
    pub(super) fn leave_root(&self) {
        // Release, Acquire: all that tasks did is visible to whoever stops the workers.
        if self.roots.live.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.stop();
        }
    }
}

impl Roots {
    pub(super) fn new() -> Self {
        let unseen = Arc::default();
        Self { live: AtomicUsize::new(1), started: AtomicU32::new(0), unseen }
    }
}

impl Entry<'_> {
    /// Leaves the counting to the end of the task, which is queued.
    pub(super) fn queued(self) {
        mem::forget(self);
    }
}

impl Drop for Entry<'_> {
    fn drop(&mut self) {
        self.shared.leave_root();
    }
}
