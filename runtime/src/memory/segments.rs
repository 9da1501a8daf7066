//! An array that grows and whose elements never move.
//!
//! Segment `n` holds `FIRST << n` elements, so 25 segments cover every `u32`. A segment is made
//! whole, when its first element is asked for.
//!
//! Not here: which elements are in use.

use std::fmt;
use std::sync::OnceLock;

const FIRST: usize = 256;
const SEGMENTS: usize = 25;

/// An array indexed by `u32` that grows on demand; elements never move and are read without lock.
pub struct Segments<T> {
    segments: [OnceLock<Box<[T]>>; SEGMENTS],
}

impl<T> Segments<T> {
    /// Creates an empty array.
    pub const fn new() -> Self {
        Self { segments: [const { OnceLock::new() }; SEGMENTS] }
    }

    /// Returns element `index` if its segment was made.
    #[inline]
    pub fn get(&self, index: u32) -> Option<&T> {
        let (segment, offset) = place(index);
        self.segments[segment].get()?.get(offset)
    }
}

impl<T: Default> Segments<T> {
    /// Returns element `index`, making its segment if needed.
    pub fn get_or_grow(&self, index: u32) -> &T {
        let (segment, offset) = place(index);
        let elements = self.segments[segment]
            .get_or_init(|| std::iter::repeat_with(T::default).take(FIRST << segment).collect());
        &elements[offset]
    }
}

impl<T> Default for Segments<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> fmt::Debug for Segments<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let made = self.segments.iter().filter(|segment| segment.get().is_some()).count();
        f.debug_struct("Segments").field("made", &made).finish_non_exhaustive()
    }
}

/// Returns the segment that holds element `index`, and where in it.
#[inline]
fn place(index: u32) -> (usize, usize) {
    let shifted = index as usize + FIRST;
    let segment = (shifted.ilog2() - FIRST.ilog2()) as usize;
    (segment, shifted - (FIRST << segment))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_follow_each_other() {
        let mut expected = (0, 0);
        for index in 0..10_000 {
            assert_eq!(place(index), expected);
            expected.1 += 1;
            if expected.1 == FIRST << expected.0 {
                expected = (expected.0 + 1, 0);
            }
        }
        assert!(place(u32::MAX).0 < SEGMENTS);
    }

    #[test]
    fn elements_stay_where_they_are() {
        let numbers = Segments::<u64>::new();
        assert_eq!(numbers.get(0), None);
        let first: *const u64 = numbers.get_or_grow(0);
        assert_eq!(numbers.get(255), Some(&0));
        assert_eq!(numbers.get(256), None);
        numbers.get_or_grow(100_000);
        assert!(std::ptr::eq(first, numbers.get_or_grow(0)));
    }
}
