//! What protocols are built of: the standard library's atomics and threads, or loom's stand-ins
//! when a model explores all interleavings (`--cfg raddle_loom`).

#[cfg(raddle_loom)]
pub(crate) mod atomic {
    pub(crate) use loom::sync::atomic::{AtomicI64, AtomicU32, AtomicU64, Ordering, fence};
}

#[cfg(raddle_loom)]
pub(crate) mod thread {
    pub(crate) use loom::thread::{Thread, current, park, yield_now};
}

#[cfg(not(raddle_loom))]
pub(crate) mod atomic {
    pub(crate) use std::sync::atomic::{AtomicI64, AtomicU32, AtomicU64, Ordering, fence};
}

#[cfg(not(raddle_loom))]
pub(crate) mod thread {
    pub(crate) use std::thread::{Thread, current, park, yield_now};
}
