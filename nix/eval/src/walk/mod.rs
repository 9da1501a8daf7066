//! Walks over package sets.
//!
//! Not here: how what was found is shown.

pub mod attr_path;
pub mod progress;
pub mod search;

pub use attr_path::{AttrPath, AttrPathError};
pub use progress::Progress;
pub use search::{Filter, Match};
