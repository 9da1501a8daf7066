//! Handles: what is left in the hands of whoever spawned a task that no scope waits for.
//!
//! A handle is a future, for other async code and for [`Task::wait`]; it can block a plain thread;
//! and it can be dropped, then the task goes on by itself.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use super::current;
use super::failures::TaskError;
use super::landing::Landing;

/// A task that was spawned, and is not in a scope.
///
/// It gives the task's result once: as a future, or by [`join`](Self::join). Dropping the handle
/// detaches the task, which runs nevertheless; see [`Runtime::shutdown`](super::Runtime::shutdown)
/// for a panic that nobody asked for.
///
/// # Examples
///
/// ```
/// use raddle::Runtime;
///
/// let runtime = Runtime::builder().workers(2).build()?;
/// let handle = runtime.spawn(|_task| 6 * 7);
/// assert_eq!(handle.join().unwrap(), 42);
///
/// let sum = runtime.run(|task| {
///     let parts = [1, 2].map(|n| task.spawn(move |_task| n * 10));
///     parts.map(|part| task.wait(part).unwrap()).iter().sum::<u32>()
/// });
/// assert_eq!(sum, 30);
/// # Ok::<(), std::io::Error>(())
/// ```
#[must_use = "a handle that is dropped detaches its task"]
pub struct Handle<R> {
    landing: Arc<Landing<R>>,
    taken: bool,
}

impl<R> Handle<R> {
    pub(super) fn new(landing: Arc<Landing<R>>) -> Self {
        Self { landing, taken: false }
    }

    /// Waits until the task has ended, and returns its result. A plain thread blocks; a task is
    /// suspended, its worker goes on.
    ///
    /// # Errors
    ///
    /// Fails if the task panicked, or was cancelled before it began.
    pub fn join(self) -> Result<R, TaskError> {
        current::wait(self)
    }

    /// Lets the task go on by itself; the same as dropping the handle.
    pub fn detach(self) {}

    /// Returns whether the result is there.
    pub fn is_finished(&self) -> bool {
        self.landing.has_landed()
    }
}

impl<R> Future for Handle<R> {
    type Output = Result<R, TaskError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let result = self.landing.poll(context);
        self.taken = result.is_ready();
        result.map(|result| result.map_err(TaskError::new))
    }
}

impl<R> Drop for Handle<R> {
    fn drop(&mut self) {
        if !self.taken {
            self.landing.abandon();
        }
    }
}

impl<R> fmt::Debug for Handle<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle").field("finished", &self.is_finished()).finish_non_exhaustive()
    }
}
