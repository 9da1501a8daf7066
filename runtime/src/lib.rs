//! A multicore runtime whose workers serve themselves first.

pub mod sync;
