//! What becomes of panics: each reaches somebody.
//!
//! A panic of a task is caught where the task runs. It goes to who asks for the task's result; or,
//! with those of the other tasks of a scope, to the scope's owner; or to who waits for the end of the
//! runtime. Of several, the one that comes first in the order of spawning is passed on, and the
//! others come with it, in that order; so it does not matter which of them happened first.
//!
//! Invariant: of all panics noted, those kept are the earliest; all are counted.

use std::any::Any;
use std::borrow::Cow;
use std::error::Error;
use std::fmt;
use std::panic::{self, AssertUnwindSafe, catch_unwind};

use parking_lot::Mutex;

pub(super) type Payload = Box<dyn Any + Send>;

/// So many failures are kept; of the others only the number.
const MOST_KEPT: usize = 64;

/// A task has panicked, or was cancelled before it began; this is what it said.
///
/// # Examples
///
/// ```
/// use raddle::Runtime;
///
/// let runtime = Runtime::builder().workers(1).build()?;
/// let error = runtime.spawn(|_| panic!("no such file")).join().unwrap_err();
/// assert_eq!(error.message(), "no such file");
/// assert_eq!(error.to_string(), "a task panicked: no such file");
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct TaskError {
    message: Cow<'static, str>,
    /// In a lock only so that this type is `Sync`, as errors should be.
    payload: Mutex<Payload>,
}

/// One or several tasks failed.
///
/// # Examples
///
/// ```
/// use raddle::{Priority, Runtime};
///
/// let runtime = Runtime::builder().workers(2).build()?;
/// let failures = runtime.run(|task| {
///     task.try_scope(|scope| {
///         for n in 0..10 {
///             scope.spawn(task, Priority::Normal, move |_| assert!(n % 3 != 2, "{n} is bad"));
///         }
///     })
/// });
/// let failures = failures.unwrap_err();
/// assert_eq!(failures.count(), 3);
/// let messages: Vec<&str> = failures.iter().map(|error| error.message()).collect();
/// assert_eq!(messages, ["2 is bad", "5 is bad", "8 is bad"]);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Failures {
    kept: Vec<TaskError>,
    count: usize,
}

/// Collects failures, each with its place in the order of spawning.
pub(super) struct Noted<P>(Mutex<Option<Box<Collection<P>>>>);

struct Collection<P> {
    /// In the order of their places.
    kept: Vec<(P, Payload)>,
    count: usize,
}

/// What a task is said to have panicked with that was cancelled before it began.
pub(super) struct CancelledEarly;

impl<P: Ord> Noted<P> {
    pub(super) fn note(&self, place: P, payload: Payload) {
        let mut collection = self.0.lock();
        let collection_now =
            collection.get_or_insert_with(|| Box::new(Collection { kept: Vec::new(), count: 0 }));
        let late = collection_now.add(place, payload);
        drop(collection);
        if let Some(late) = late {
            discard(late);
        }
    }

    /// Takes all that was noted.
    pub(super) fn take(&self) -> Option<Failures> {
        let collection = self.0.lock().take()?;
        let Collection { kept, count } = *collection;
        let kept = kept.into_iter().map(|(_, payload)| TaskError::new(payload)).collect();
        Some(Failures { kept, count })
    }
}

impl<P> Default for Noted<P> {
    fn default() -> Self {
        Self(Mutex::new(None))
    }
}

impl<P: Ord> Collection<P> {
    /// Returns the payload that is not kept, if there is one.
    fn add(&mut self, place: P, payload: Payload) -> Option<Payload> {
        self.count += 1;
        let index = self.kept.partition_point(|(kept, _)| *kept <= place);
        if index == MOST_KEPT {
            return Some(payload);
        }
        self.kept.insert(index, (place, payload));
        if self.kept.len() > MOST_KEPT { self.kept.pop().map(|(_, last)| last) } else { None }
    }
}

impl Failures {
    /// Returns the failure of the task that was spawned first.
    ///
    /// # Panics
    ///
    /// Never: there is one.
    pub fn first(&self) -> &TaskError {
        &self.kept[0]
    }

    /// Returns the failure of the task that was spawned first.
    ///
    /// # Panics
    ///
    /// Never: there is one.
    pub fn into_first(mut self) -> TaskError {
        self.kept.drain(1..).for_each(|error| discard(error.into_payload()));
        self.kept.pop().expect("there is one")
    }

    /// Returns the failures in the order in which their tasks were spawned; the first 64.
    pub fn iter(&self) -> impl Iterator<Item = &TaskError> {
        self.kept.iter()
    }

    /// Returns how many tasks failed; at least one.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Puts the failure of the scope's owner in front.
    pub(super) fn after(own: Payload, others: Option<Self>) -> Self {
        let (rest, count) = others.map_or((Vec::new(), 0), |others| (others.kept, others.count));
        let mut kept = vec![TaskError::new(own)];
        kept.extend(rest);
        Self { kept, count: count + 1 }
    }
}

impl fmt::Display for Failures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.first())?;
        if self.count > 1 {
            write!(f, " (and {} more)", self.count - 1)?;
        }
        Ok(())
    }
}

impl Error for Failures {}

impl TaskError {
    pub(super) fn new(payload: Payload) -> Self {
        let message = if let Some(text) = payload.downcast_ref::<&'static str>() {
            Cow::Borrowed(*text)
        } else if let Some(text) = payload.downcast_ref::<String>() {
            Cow::Owned(text.clone())
        } else if payload.is::<CancelledEarly>() {
            Cow::Borrowed("cancelled before it began")
        } else {
            Cow::Borrowed("a payload that is no text")
        };
        Self { message, payload: Mutex::new(payload) }
    }

    /// Returns the text given to `panic!`, or a remark that there was none.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Returns whether the task was cancelled before it began.
    pub fn is_cancelled(&self) -> bool {
        self.payload.lock().is::<CancelledEarly>()
    }

    /// Returns what the task panicked with.
    pub fn into_payload(self) -> Box<dyn Any + Send> {
        self.payload.into_inner()
    }

    /// Goes on with the panic here.
    pub fn resume(self) -> ! {
        panic::resume_unwind(self.into_payload())
    }
}

impl fmt::Display for TaskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = if self.is_cancelled() { "a task was" } else { "a task panicked:" };
        write!(f, "{what} {}", self.message)
    }
}

impl fmt::Debug for TaskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TaskError").field(&self.message).finish()
    }
}

impl Error for TaskError {}

/// Drops the payload of a panic that nobody will see, even if dropping panics.
pub(super) fn discard(payload: Payload) {
    if let Err(again) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        std::mem::forget(again);
    }
}

#[cfg(all(test, not(raddle_loom)))]
mod tests {
    use super::*;

    #[test]
    fn the_earliest_are_kept_in_order() {
        for step in [1, 7, 99] {
            let noted = Noted::<u32>::default();
            assert!(noted.take().is_none());
            // 7 and 99 share no factor with 100: all places come, in another order.
            for n in 0..100u32 {
                let place = n * step % 100;
                noted.note(place, Box::new(format!("{place}")));
            }
            let failures = noted.take().unwrap();
            assert_eq!((failures.count(), failures.first().message()), (100, "0"));
            let messages: Vec<String> = failures.iter().map(|e| e.message().to_owned()).collect();
            let expected: Vec<String> = (0..MOST_KEPT).map(|n| n.to_string()).collect();
            assert_eq!(messages, expected, "step {step}");
            assert_eq!(failures.to_string(), "a task panicked: 0 (and 99 more)");
            assert!(noted.take().is_none());
        }
    }
}
