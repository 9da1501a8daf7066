//! An array that grows and whose elements never move.
//!
//! ```text
//! segment   0: null --.
//!           1: -------+--> 512 elements     made whole, by the first who asks for one of them;
//!           2: null   |                     made once, for of several makers one wins the exchange
//!               :     '--> null or elements, once and for good
//! ```
//!
//! Segment `n` holds `FIRST << n` elements, so 25 segments cover every `u32`.
//!
//! Everything rests on one order: elements are made, then the pointer to them is stored (Release); who
//! loads the pointer (Acquire) finds them made. What happens to an element then is its own concern.
//!
//! Invariant: a segment's pointer is null, or points to `FIRST << n` elements from a leaked slice
//! and stays the same until the array is dropped.
//!
//! Not here: which elements are in use.

#![expect(unsafe_code, reason = "reads elements by pointer: every pool and map goes through here")]

use std::fmt;
use std::marker::PhantomData;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

const FIRST: usize = 256;
const SEGMENTS: usize = 25;

/// An array indexed by `u32` that grows on demand; elements never move and are read without lock.
///
/// # Examples
///
/// ```
/// use raddle::memory::Segments;
/// use std::sync::atomic::{AtomicU32, Ordering};
///
/// let ages = Segments::<AtomicU32>::new();
/// assert!(ages.get(1_000_000).is_none());
/// ages.get_or_grow(1_000_000).store(7, Ordering::Relaxed);
/// assert_eq!(ages.get(1_000_000).unwrap().load(Ordering::Relaxed), 7);
/// ```
pub struct Segments<T> {
    segments: [AtomicPtr<T>; SEGMENTS],
    /// It owns elements, which any thread may make and drop.
    elements: PhantomData<Box<[T]>>,
}

// SAFETY: the array hands out shared references only, and drops its elements where it is dropped
// itself; with `AtomicPtr` inside, the compiler would ask nothing of `T`.
unsafe impl<T: Send + Sync> Sync for Segments<T> {}

// SAFETY: as above.
unsafe impl<T: Send> Send for Segments<T> {}

impl<T> Segments<T> {
    /// Creates an empty array.
    pub const fn new() -> Self {
        let segments = [const { AtomicPtr::new(ptr::null_mut()) }; SEGMENTS];
        Self { segments, elements: PhantomData }
    }

    /// Returns element `index` if its segment was made.
    #[inline]
    pub fn get(&self, index: u32) -> Option<&T> {
        let (segment, offset) = place(index);
        // Acquire: pairs with the exchange in `make`; the elements are initialised.
        let start = self.segments[segment].load(Ordering::Acquire);
        if start.is_null() {
            return None;
        }
        // SAFETY: `place` returns an offset below the segment's length.
        let element = unsafe { start.add(offset) };
        // SAFETY: it points to an element of ours, which is never borrowed mutably.
        Some(unsafe { &*element })
    }
}

impl<T: Default> Segments<T> {
    /// Returns element `index`, making its segment if needed.
    #[inline]
    pub fn get_or_grow(&self, index: u32) -> &T {
        match self.get(index) {
            Some(element) => element,
            None => self.make(index),
        }
    }

    #[cold]
    #[inline(never)]
    fn make(&self, index: u32) -> &T {
        let (segment, _) = place(index);
        let len = FIRST << segment;
        let elements: Box<[T]> = std::iter::repeat_with(T::default).take(len).collect();
        let start = Box::leak(elements).as_mut_ptr();
        let made = self.segments[segment].compare_exchange(
            ptr::null_mut(),
            start,
            // Release: pairs with the load in `get`.
            Ordering::Release,
            Ordering::Relaxed,
        );
        if made.is_err() {
            // SAFETY: the slice was leaked above, and nobody else has seen it.
            drop(unsafe { Box::from_raw(ptr::slice_from_raw_parts_mut(start, len)) });
        }
        self.get(index).expect("the segment was made")
    }
}

impl<T> Drop for Segments<T> {
    fn drop(&mut self) {
        for (segment, start) in self.segments.iter_mut().enumerate() {
            let start = *start.get_mut();
            if !start.is_null() {
                let elements = ptr::slice_from_raw_parts_mut(start, FIRST << segment);
                // SAFETY: `make` leaked a slice of this length; nobody borrows from `self` now.
                drop(unsafe { Box::from_raw(elements) });
            }
        }
    }
}

impl<T> Default for Segments<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> fmt::Debug for Segments<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_made = |start: &&AtomicPtr<T>| !start.load(Ordering::Relaxed).is_null();
        let made = self.segments.iter().filter(is_made).count();
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
    fn threads_see_the_same_elements_and_all_are_dropped() {
        use std::sync::Arc;
        use std::sync::atomic::AtomicUsize;

        static MADE: AtomicUsize = AtomicUsize::new(0);
        #[derive(Debug)]
        struct Counted(Arc<AtomicUsize>);
        impl Default for Counted {
            fn default() -> Self {
                MADE.fetch_add(1, Ordering::Relaxed);
                Self(Arc::default())
            }
        }
        impl Drop for Counted {
            fn drop(&mut self) {
                MADE.fetch_sub(1, Ordering::Relaxed);
            }
        }
        let elements = Segments::<Counted>::new();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for index in 0..2000 {
                        elements.get_or_grow(index).0.fetch_add(1, Ordering::Relaxed);
                    }
                });
            }
        });
        let count = |index| elements.get(index).unwrap().0.load(Ordering::Relaxed);
        assert!((0..2000).all(|index| count(index) == 4));
        drop(elements);
        assert_eq!(MADE.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn elements_stay_where_they_are() {
        let numbers = Segments::<u64>::new();
        assert_eq!(numbers.get(0), None);
        let first: *const u64 = numbers.get_or_grow(0);
        assert_eq!(numbers.get(255), Some(&0));
        assert_eq!(numbers.get(256), None);
        numbers.get_or_grow(100_000);
        assert!(ptr::eq(first, numbers.get_or_grow(0)));
    }
}
