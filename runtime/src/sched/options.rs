//! How a task is started, where its priority does not say enough.
//!
//! Options are handed over with each task that they are for, and nothing keeps them longer: a task
//! does not inherit those of the task that starts it, nor a worker those of what it ran before.

use std::borrow::Cow;

use super::shared::Priority;
use crate::sync::CancelToken;

/// How a task is started.
///
/// # Examples
///
/// ```
/// use raddle::sync::CancelToken;
/// use raddle::{Options, Priority, Runtime};
///
/// let search = CancelToken::new();
/// let options = Options::new().name("probe").priority(Priority::Low).cancelled_by(&search);
/// let runtime = Runtime::builder().workers(1).build()?;
/// let mut begun = [false, false];
/// runtime.run(|task| {
///     let (first, second) = begun.split_at_mut(1);
///     task.scope(|scope| {
///         scope.spawn(task, Priority::Normal, |_| {
///             first[0] = true;
///             search.cancel();
///         });
///         scope.spawn_with(task, &options, |_| second[0] = true);
///     });
/// });
/// assert_eq!(begun, [true, false]);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct Options {
    pub(super) priority: Priority,
    pub(super) name: Option<Cow<'static, str>>,
    pub(super) cancel: Option<CancelToken>,
}

impl Options {
    /// Returns options that change nothing: normal priority, no name, never cancelled.
    pub const fn new() -> Self {
        Self { priority: Priority::Normal, name: None, cancel: None }
    }

    /// Sets how urgent the task is.
    pub fn priority(mut self, priority: Priority) -> Self {
        self.priority = priority;
        self
    }

    /// Sets the name by which an [observer](crate::observe::Observer) hears of the task.
    pub fn name(mut self, name: impl Into<Cow<'static, str>>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Has the task left out if `token` is cancelled before it begins: its closure is dropped.
    ///
    /// Once it has begun it is up to the task to look at the token.
    pub fn cancelled_by(mut self, token: &CancelToken) -> Self {
        self.cancel = Some(token.clone());
        self
    }
}

impl From<Priority> for Options {
    fn from(priority: Priority) -> Self {
        Self::new().priority(priority)
    }
}
