//! Keeping apart what different workers write.

use std::ops::Deref;

/// A value alone on its cache line (and on the neighbour that the processor fetches with it).
///
/// # Examples
///
/// ```
/// use raddle::memory::CacheLine;
/// use std::sync::atomic::{AtomicU64, Ordering};
///
/// // Each worker counts in a place that no other writes to.
/// let counts: [CacheLine<AtomicU64>; 2] = Default::default();
/// counts[0].fetch_add(1, Ordering::Relaxed);
/// assert!(size_of_val(&counts) >= 256);
/// ```
#[repr(align(128))]
#[derive(Debug, Default)]
pub struct CacheLine<T>(pub T);

impl<T> Deref for CacheLine<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}
