//! Structures that many threads share, built so that the common path writes nothing shared.
//!
//! Nothing here knows tasks: what has to suspend one asks for a [`Suspend`].

mod completion;
mod event_count;
mod hash_quality;
mod interner;
mod once_entry;
mod once_map;
mod sharded_map;
mod table;

pub use completion::{Completion, Progress};
pub use event_count::{Cancelled, EventCount, Notified};
pub use hash_quality::{HashFlaw, HashQuality};
pub use interner::Interner;
pub use once_map::{OnceMap, Suspend, Wait};
pub use sharded_map::{IntoEntries, ShardedMap};
