//! Memory that each worker takes from its own stock.
//!
//! What always holds: nothing here blocks for long or starts work; the locks of this module
//! guard a few moves of numbers. Nothing here knows tasks.

pub(crate) mod barrier;
mod line;
mod mailbox;
pub(crate) mod model;
mod pool;
mod pool_counters;
mod segments;
mod stack;

pub use line::CacheLine;
pub use pool::{Cache, Pool};
pub use pool_counters::PoolCounters;
pub use segments::Segments;
pub(crate) use stack::{Bounds, FiberStack, Reservation};
