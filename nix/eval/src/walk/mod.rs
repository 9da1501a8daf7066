//! Walks over package sets.
//!
//! Not here: how what was found is shown.

pub mod progress;
pub mod search;

pub use progress::Progress;
pub use search::{Filter, Match};
