//! Structures that many threads share, built so that the common path writes nothing shared.
//!
//! Nothing here knows tasks: what has to suspend one asks for a [`Suspend`].

mod block;
mod cancel;
mod completion;
mod condition;
mod event_count;
mod interner;
mod mutex;
mod once_map;
pub mod ring;
mod waiters;

pub use cancel::{CancelToken, Cancellation};
pub use completion::{Completion, Progress};
pub use condition::{Condition, ConditionWait};
pub use event_count::{Cancelled, EventCount, Notified};
pub use interner::Interner;
pub use mutex::{Lock, Mutex, MutexGuard};
pub use once_map::{OnceMap, Suspend, Wait};
pub use ring::ring;
