//! What can be halved, and its items counted.
//!
//! A [`Source`] is what callers hand over; its *parts* are what is halved. The two differ only
//! where a source is a reference to something that has a slice. All are known here, so that a
//! part's length can be trusted.

use std::ops::Range;
use std::slice;

/// What can be iterated over in parallel.
///
/// These are `&[T]` and `&mut [T]`, references to vectors and arrays, ranges of integers,
/// [`chunks`] and [`chunks_mut`].
///
/// # Examples
///
/// ```
/// use raddle::{Runtime, Task, parallel};
///
/// fn count<S: parallel::Source>(task: &Task<'_>, source: S) -> u64 {
///     parallel::reduce(task, source, || 0, |_task, _item| 1, |a, b| a + b)
/// }
///
/// let runtime = Runtime::builder().workers(2).build()?;
/// let counts = runtime.run(|task| [count(task, 0..10), count(task, &["a", "b"])]);
/// assert_eq!(counts, [10, 2]);
/// # Ok::<(), std::io::Error>(())
/// ```
pub trait Source {
    /// What the closures get.
    type Item;
    #[doc(hidden)]
    type Parts: Split + IntoIterator<Item = Self::Item>;

    #[doc(hidden)]
    fn into_parts(self) -> Self::Parts;
}

/// A sequence that can be cut in two; its iterator, if it has one, yields `length` items.
///
/// Public for [`Source`] only: the module is not.
///
/// # Examples
///
/// See [`Source`].
pub trait Split: Send + Sized {
    /// Returns the number of items.
    fn length(&self) -> u64;

    /// Returns the first `at` items and the others.
    fn split_at(self, at: u64) -> (Self, Self);
}

impl<T: Sync> Split for &[T] {
    #[inline]
    fn length(&self) -> u64 {
        self.len() as u64
    }

    #[inline]
    fn split_at(self, at: u64) -> (Self, Self) {
        self.split_at(at as usize)
    }
}

impl<T: Send> Split for &mut [T] {
    #[inline]
    fn length(&self) -> u64 {
        self.len() as u64
    }

    #[inline]
    fn split_at(self, at: u64) -> (Self, Self) {
        self.split_at_mut(at as usize)
    }
}

impl<'a, T: Sync> Source for &'a [T] {
    type Item = &'a T;
    type Parts = Self;

    fn into_parts(self) -> Self {
        self
    }
}

impl<'a, T: Send> Source for &'a mut [T] {
    type Item = &'a mut T;
    type Parts = Self;

    fn into_parts(self) -> Self {
        self
    }
}

impl<'a, T: Sync> Source for &'a Vec<T> {
    type Item = &'a T;
    type Parts = &'a [T];

    fn into_parts(self) -> &'a [T] {
        self
    }
}

impl<'a, T: Send> Source for &'a mut Vec<T> {
    type Item = &'a mut T;
    type Parts = &'a mut [T];

    fn into_parts(self) -> &'a mut [T] {
        self
    }
}

impl<'a, T: Sync, const N: usize> Source for &'a [T; N] {
    type Item = &'a T;
    type Parts = &'a [T];

    fn into_parts(self) -> &'a [T] {
        self
    }
}

impl<'a, T: Send, const N: usize> Source for &'a mut [T; N] {
    type Item = &'a mut T;
    type Parts = &'a mut [T];

    fn into_parts(self) -> &'a mut [T] {
        self
    }
}

/// An integer of up to 64 bits; public for [`Source`] only, like [`Split`].
///
/// # Examples
///
/// See [`Source`].
pub trait Integer: Copy + PartialOrd + Send {
    /// Returns how many numbers there are from this one to a larger one.
    fn distance(self, to: Self) -> u64;

    /// Returns this number plus `distance`, which is known to exist.
    fn plus(self, distance: u64) -> Self;
}

macro_rules! integers {
    ($($integer:ty)*) => { $(
        impl Integer for $integer {
            #[inline]
            fn distance(self, to: Self) -> u64 {
                self.abs_diff(to) as u64
            }

            #[inline]
            fn plus(self, distance: u64) -> Self {
                // Right also where the distance exceeds the maximum of a signed integer.
                self.wrapping_add(distance as Self)
            }
        }
    )* };
}

integers!(u8 u16 u32 u64 usize i8 i16 i32 i64 isize);

impl<I: Integer> Split for Range<I> {
    #[inline]
    fn length(&self) -> u64 {
        if self.start < self.end { self.start.distance(self.end) } else { 0 }
    }

    #[inline]
    fn split_at(self, at: u64) -> (Self, Self) {
        let middle = self.start.plus(at);
        (self.start..middle, middle..self.end)
    }
}

// One for all integers, so that the type of `0..n` can follow from what is done with it.
impl<I: Integer> Source for Range<I>
where
    Self: Iterator<Item = I>,
{
    type Item = I;
    type Parts = Self;

    fn into_parts(self) -> Self {
        self
    }
}

/// Parts of a slice, one after the other; made by [`chunks`].
///
/// # Examples
///
/// See [`chunks`].
#[derive(Debug)]
pub struct Chunks<'a, T> {
    slice: &'a [T],
    size: usize,
}

/// Mutable parts of a slice, one after the other; made by [`chunks_mut`].
///
/// # Examples
///
/// See [`chunks_mut`].
#[derive(Debug)]
pub struct ChunksMut<'a, T> {
    slice: &'a mut [T],
    size: usize,
}

/// Returns the chunks of a slice as a [`Source`]: each of `size` items, the last of what is left.
///
/// # Panics
///
/// Panics if `size` is 0.
///
/// # Examples
///
/// ```
/// use raddle::{Runtime, parallel};
///
/// let runtime = Runtime::builder().workers(2).build()?;
/// let sums = runtime.run(|task| {
///     let chunks = parallel::chunks(&[1, 2, 3, 4, 5], 2);
///     parallel::map(task, chunks, |_task, chunk| chunk.iter().sum::<i32>())
/// });
/// assert_eq!(sums, [3, 7, 5]);
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn chunks<T>(slice: &[T], size: usize) -> Chunks<'_, T> {
    assert!(size > 0, "chunks of no items have no end");
    Chunks { slice, size }
}

/// Returns the chunks of a slice as a [`Source`] of mutable slices, as [`chunks`] does.
///
/// # Panics
///
/// Panics if `size` is 0.
///
/// # Examples
///
/// ```
/// use raddle::{Runtime, parallel};
///
/// let runtime = Runtime::builder().workers(2).build()?;
/// let mut numbers = [1, 2, 3, 4, 5];
/// runtime.run(|task| {
///     let chunks = parallel::chunks_mut(&mut numbers, 2);
///     parallel::for_each(task, chunks, |_task, chunk| chunk.reverse());
/// });
/// assert_eq!(numbers, [2, 1, 4, 3, 5]);
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn chunks_mut<T>(slice: &mut [T], size: usize) -> ChunksMut<'_, T> {
    assert!(size > 0, "chunks of no items have no end");
    ChunksMut { slice, size }
}

impl<T: Sync> Split for Chunks<'_, T> {
    fn length(&self) -> u64 {
        self.slice.len().div_ceil(self.size) as u64
    }

    fn split_at(self, at: u64) -> (Self, Self) {
        let (front, back) = self.slice.split_at(middle(self.slice.len(), at, self.size));
        (Self { slice: front, ..self }, Self { slice: back, ..self })
    }
}

impl<T: Send> Split for ChunksMut<'_, T> {
    fn length(&self) -> u64 {
        self.slice.len().div_ceil(self.size) as u64
    }

    fn split_at(self, at: u64) -> (Self, Self) {
        let Self { slice, size } = self;
        let (front, back) = slice.split_at_mut(middle(slice.len(), at, size));
        (Self { slice: front, size }, Self { slice: back, size })
    }
}

/// Returns where `at` chunks end.
fn middle(length: usize, at: u64, size: usize) -> usize {
    // The last chunk may end before its size, and with it what a number can hold.
    (at as usize).saturating_mul(size).min(length)
}

impl<'a, T> IntoIterator for Chunks<'a, T> {
    type Item = &'a [T];
    type IntoIter = slice::Chunks<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.slice.chunks(self.size)
    }
}

impl<'a, T> IntoIterator for ChunksMut<'a, T> {
    type Item = &'a mut [T];
    type IntoIter = slice::ChunksMut<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.slice.chunks_mut(self.size)
    }
}

impl<'a, T: Sync> Source for Chunks<'a, T> {
    type Item = &'a [T];
    type Parts = Self;

    fn into_parts(self) -> Self {
        self
    }
}

impl<'a, T: Send> Source for ChunksMut<'a, T> {
    type Item = &'a mut [T];
    type Parts = Self;

    fn into_parts(self) -> Self {
        self
    }
}
