//! Handles: what is left in the hands of whoever spawned a task that no scope waits for.
//!
//! A handle is a future, for other async code and for [`Task::wait`]; it can block a plain thread;
//! and it can be dropped, then the task goes on by itself.

use std::borrow::Cow;
use std::error::Error;
use std::fmt;
use std::panic;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use parking_lot::Mutex;

use super::current;
use super::landing::{Landing, Payload};

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

/// A task has panicked; this is what it said.
///
/// # Examples
///
/// ```
/// use raddle::Runtime;
///
/// let runtime = Runtime::builder().workers(1).build()?;
/// let panicked = runtime.spawn(|_| panic!("no such file")).join().unwrap_err();
/// assert_eq!(panicked.message(), "no such file");
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Panicked {
    message: Cow<'static, str>,
    /// In a lock only so that this type is `Sync`, as errors should be.
    payload: Mutex<Payload>,
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
    /// Fails if the task panicked.
    pub fn join(self) -> Result<R, Panicked> {
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
    type Output = Result<R, Panicked>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let result = self.landing.poll(context);
        self.taken = result.is_ready();
        result.map(|result| result.map_err(Panicked::new))
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

impl Panicked {
    pub(super) fn new(payload: Payload) -> Self {
        let message = if let Some(text) = payload.downcast_ref::<&'static str>() {
            Cow::Borrowed(*text)
        } else if let Some(text) = payload.downcast_ref::<String>() {
            Cow::Owned(text.clone())
        } else {
            Cow::Borrowed("a payload that is no text")
        };
        Self { message, payload: Mutex::new(payload) }
    }

    /// Returns the text given to `panic!`, or a remark that there was none.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Returns what the task panicked with.
    pub fn into_payload(self) -> Box<dyn std::any::Any + Send> {
        self.payload.into_inner()
    }

    /// Goes on with the panic here.
    pub fn resume(self) -> ! {
        panic::resume_unwind(self.into_payload())
    }
}

impl fmt::Display for Panicked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a task panicked: {}", self.message)
    }
}

impl fmt::Debug for Panicked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Panicked").field(&self.message).finish()
    }
}

impl Error for Panicked {}
