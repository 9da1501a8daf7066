//! The atomics of protocols that have a model: the standard ones, or loom's when it explores.

#[cfg(raddle_loom)]
pub(crate) use loom::sync::atomic::{AtomicI64, AtomicU32, AtomicU64, Ordering, fence};
#[cfg(not(raddle_loom))]
pub(crate) use std::sync::atomic::{AtomicI64, AtomicU32, AtomicU64, Ordering, fence};
