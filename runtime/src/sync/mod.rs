//! Structures that many threads share, built so that the common path writes nothing shared.
//!
//! Nothing here knows tasks: what has to suspend one asks for a [`Suspend`], or is a future that the
//! task [waits](crate::Task::wait) for.
//!
//! - [`Mutex`] and [`Condition`] suspend who waits; [`ring()`] passes values from one task to another;
//!   a [`CancelToken`] says that work is no longer wanted.
//! - [`OnceMap`] and [`Interner`] have what is computed, or named, once; a [`ShardedMap`] what comes
//!   and goes.
//! - [`EventCount`] and [`Completion`] are what the runtime itself waits with.

pub(crate) mod block;
mod cancel;
mod completion;
mod condition;
mod event_count;
mod hash_quality;
mod interner;
mod mutex;
mod once_entry;
mod once_map;
pub mod ring;
mod sharded_map;
mod table;
mod waiters;

pub use cancel::{CancelToken, Cancellation};
pub use completion::{Completion, Progress};
pub use condition::{Condition, ConditionWait};
pub use event_count::{Cancelled, EventCount, Notified};
pub use hash_quality::{HashFlaw, HashQuality};
pub use interner::Interner;
pub use mutex::{Lock, Mutex, MutexGuard};
pub use once_map::{OnceMap, Suspend, Wait};
pub use ring::ring;
pub use sharded_map::{IntoEntries, ShardedMap};
