//! Structures that many threads share, built so that the common path writes nothing shared.
//!
//! Nothing here knows tasks.

mod interner;

pub use interner::Interner;
