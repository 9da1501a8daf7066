//! What protocols are built of: the standard library's atomics and threads, or loom's stand-ins
//! when a model explores all interleavings (`--cfg raddle_loom`).

#[cfg(raddle_loom)]
pub(crate) mod atomic {
    pub(crate) use loom::sync::atomic::{
        AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering, fence,
    };
}

#[cfg(raddle_loom)]
pub(crate) mod thread {
    pub(crate) use loom::thread::{Thread, current, park, yield_now};
}

#[cfg(not(raddle_loom))]
pub(crate) mod atomic {
    pub(crate) use std::sync::atomic::{
        AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering, fence,
    };
}

#[cfg(not(raddle_loom))]
pub(crate) mod thread {
    pub(crate) use std::thread::{Thread, current, park, yield_now};
}

/// Runs a model in all interleavings with up to three preemptions, which keeps it to seconds.
#[cfg(all(test, raddle_loom))]
pub(crate) fn explore(model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(model);
}
