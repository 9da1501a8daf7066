//! Keeping apart what different workers write.

use std::ops::Deref;

/// A value alone on its cache line (and on the neighbour that the processor fetches with it).
#[repr(align(128))]
#[derive(Debug, Default)]
pub struct CacheLine<T>(pub T);

impl<T> Deref for CacheLine<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}
