//! Memory that each worker takes from its own stock.
//!
//! - [`Pool`] has objects that are used again and again, each worker's stock of them in a
//!   [`Cache`]; [`HandlePool`] adds names that tell whether an object is still in the same use.
//! - [`Roots`] has the values that are held outside of a managed heap.
//! - [`Chunks`] is where such a heap gets its memory, within a [`Budget`].
//! - [`Topology`] tells which processors are near each other, [`pin_to`] binds a thread to one.
//! - [`Segments`] is an array that grows, [`CacheLine`] keeps apart what different workers write.
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
