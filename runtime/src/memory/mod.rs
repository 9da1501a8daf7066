//! Memory that each worker takes from its own stock.
//!
//! What always holds: nothing here blocks for long or starts work; the locks of this module
//! guard a few moves of numbers. Nothing here knows tasks.

mod affinity;
pub(crate) mod barrier;
mod budget;
mod chunks;
mod line;
pub(crate) mod model;
mod pool;
mod roots;
mod segments;
mod stack;
mod topology;

pub use affinity::pin_to;
pub use budget::{Budget, Refused};
pub use chunks::{Chunk, Chunks};
pub use line::CacheLine;
pub use pool::{Cache, Handle, HandlePool, Held, Pool, PoolCounters};
pub use roots::{Root, RootWord, Roots};
pub use segments::Segments;
pub(crate) use stack::{Bounds, FiberStack, Reservation};
pub use topology::Topology;
