//! A multicore runtime whose workers serve themselves first.

pub mod memory;
pub mod sched;
pub mod sync;

pub use sched::{Builder, Counters, Priority, Runtime, Scope, Task, TaskId, WaitCounters};
pub use sync::Wait;
