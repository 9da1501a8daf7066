//! A multicore runtime whose workers serve themselves first.

pub mod memory;
pub mod sync;
