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

#[cfg(raddle_loom)]
pub(crate) use loom::hint::spin_loop;

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

#[cfg(not(raddle_loom))]
pub(crate) use std::hint::spin_loop;

#[cfg(raddle_loom)]
pub(crate) use loom::{cell::UnsafeCell, sync::Arc};

#[cfg(not(raddle_loom))]
pub(crate) use {parking_lot::Mutex, std::sync::Arc};

/// A lock for a few instructions, which no panic poisons.
#[cfg(raddle_loom)]
#[derive(Debug)]
pub(crate) struct Mutex<T>(loom::sync::Mutex<T>);

#[cfg(raddle_loom)]
impl<T> Mutex<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(loom::sync::Mutex::new(value))
    }

    pub(crate) fn lock(&self) -> loom::sync::MutexGuard<'_, T> {
        self.0.lock().expect("loom's locks are not poisoned")
    }
}

/// A cell whose accesses a model checks for races.
#[cfg(not(raddle_loom))]
#[derive(Debug)]
pub(crate) struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

#[cfg(not(raddle_loom))]
impl<T> UnsafeCell<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self(std::cell::UnsafeCell::new(value))
    }

    /// Calls `access` with a pointer to the value, which it alone accesses meanwhile.
    #[inline(always)]
    pub(crate) fn with_mut<R>(&self, access: impl FnOnce(*mut T) -> R) -> R {
        access(self.0.get())
    }
}

/// Runs a model in all interleavings with up to three preemptions, which keeps it to seconds.
#[cfg(all(test, raddle_loom))]
pub(crate) fn explore(model: impl Fn() + Sync + Send + 'static) {
    explore_within(3, model);
}

/// Runs a model in all interleavings with up to so many preemptions.
#[cfg(all(test, raddle_loom))]
pub(crate) fn explore_within(preemptions: usize, model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(model);
}
