//! Sorting that keeps the order of equal elements: parts are sorted by the standard library, and
//! merged by several workers.
//!
//! ```text
//! items    | a | b | c | d |     sorted quarters, each in the same way or by one worker; if they
//!            \ /     \ /         are in order, this is all
//! buffer   |  ab   |  cd   |     copies; the elements themselves are still in `items`
//!               \ /
//! items    |     abcd      |     the elements are in the buffer until this is complete
//! ```
//!
//! A merge is cut in two where the middle of the longer run would go, and the pieces go to different
//! workers. A piece is cut once more, and its two merges take turns step by step: while one waits
//! for a comparison, the processor works at the other.
//!
//! What always holds: what is read in a merge is complete, and what is written is nobody's element
//! yet. So if a comparison panics, nothing is to be done in the first of the two steps, and in the
//! second the buffer is copied back. An element that was copied is not compared any more in the same
//! step, so a change that a comparison made of it is in the copy. What is cut where depends on
//! the elements alone.

#![expect(unsafe_code, reason = "merges elements by copying them from place to place")]

use std::cmp::Ordering;
use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr;

use crate::Task;

/// Parts of fewer elements are sorted by one worker.
const SMALL: usize = 1 << 14;

/// Quarters of quarters are not cut any more if this is how often that was done.
const MOST_LEVELS: u32 = 3;

/// Merges of fewer elements are not shared out.
const SMALL_MERGE: usize = 1 << 14;

/// Sorts the items, on as many workers as have time; equal ones keep their order.
///
/// Takes memory for as many items once more. [`sort_unstable`](super::sort_unstable) takes less
/// time and nearly no memory.
///
/// # Panics
///
/// Passes on a panic of the comparison; one that contradicts itself may panic too. The
/// slice has all its items then, in some order.
///
/// # Examples
///
/// ```
/// use raddle::{Runtime, parallel};
///
/// let runtime = Runtime::builder().workers(2).build()?;
/// let mut words = ["served", "by", "itself"];
/// runtime.run(|task| parallel::sort(task, &mut words));
/// assert_eq!(words, ["by", "itself", "served"]);
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn sort<T: Ord + Send>(task: &Task<'_>, items: &mut [T]) {
    sort_by(task, items, T::cmp);
}

/// Sorts the items by a key, as [`sort`] does; the key is made anew for every comparison.
///
/// # Panics
///
/// As [`sort`] does.
///
/// # Examples
///
/// ```
/// use raddle::{Runtime, parallel};
///
/// let runtime = Runtime::builder().workers(2).build()?;
/// let mut words = ["served", "by", "itself"];
/// runtime.run(|task| parallel::sort_by_key(task, &mut words, |word| word.len()));
/// assert_eq!(words, ["by", "served", "itself"]);
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn sort_by_key<T: Send, K: Ord>(
    task: &Task<'_>,
    items: &mut [T],
    key: impl Fn(&T) -> K + Sync,
) {
    sort_by(task, items, |a, b| key(a).cmp(&key(b)));
}

/// Sorts the items by a comparison, as [`sort`] does.
///
/// # Panics
///
/// As [`sort`] does.
///
/// # Examples
///
/// ```
/// use raddle::{Runtime, parallel};
///
/// let runtime = Runtime::builder().workers(2).build()?;
/// let mut numbers = [2.0, 0.5, -1.0];
/// runtime.run(|task| parallel::sort_by(task, &mut numbers, f64::total_cmp));
/// assert_eq!(numbers, [-1.0, 0.5, 2.0]);
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn sort_by<T: Send>(
    task: &Task<'_>,
    items: &mut [T],
    compare: impl Fn(&T, &T) -> Ordering + Sync,
) {
    // Every level makes quarters.
    let levels = (items.len() / SMALL).max(1).ilog2().div_ceil(2).min(MOST_LEVELS);
    if levels == 0 || size_of::<T>() == 0 {
        return items.sort_by(compare);
    }
    if items.is_sorted_by(|a, b| compare(a, b).is_le()) {
        return;
    }
    if items.is_sorted_by(|a, b| compare(a, b).is_gt()) {
        return items.reverse();
    }
    let mut buffer = Box::new_uninit_slice(items.len());
    sort_part(task, items, &mut buffer, levels, &compare);
}

/// Sorts the items, with a buffer of the same length.
fn sort_part<T, F>(
    task: &Task<'_>,
    items: &mut [T],
    buffer: &mut [MaybeUninit<T>],
    levels: u32,
    compare: &F,
) where
    T: Send,
    F: Fn(&T, &T) -> Ordering + Sync,
{
    if levels == 0 {
        return items.sort_by(compare);
    }
    let half = items.len() / 2;
    let (left, right) = items.split_at_mut(half);
    let (left_buffer, right_buffer) = buffer.split_at_mut(half);
    task.join(
        |task| sort_halves(task, left, left_buffer, levels, compare),
        |task| sort_halves(task, right, right_buffer, levels, compare),
    );
    let borders = [half / 2, half, half + (items.len() - half) / 2];
    if borders.iter().all(|&at| compare(&items[at - 1], &items[at]).is_le()) {
        return;
    }

    let (left, right) = items.split_at_mut(half);
    let (left_buffer, right_buffer) = buffer.split_at_mut(half);
    task.join(
        |task| merge_halves(task, left, left_buffer, compare),
        |task| merge_halves(task, right, right_buffer, compare),
    );
    // SAFETY: `merge_halves` has put copies of all items here. From now on they are the elements:
    // the items are only written, until they are complete.
    let sorted = unsafe { buffer.assume_init_mut() };
    let places = ptr::from_mut(items) as *mut [MaybeUninit<T>];
    // SAFETY: a place for an element is laid out like the element, and `items` is not used until
    // it has all elements again.
    let places = unsafe { &mut *places };
    let (left, right) = sorted.split_at_mut(half);
    let merge = AssertUnwindSafe(|| merge(task, left, right, places, compare));
    if let Err(panic) = catch_unwind(merge) {
        copy(sorted, places);
        resume_unwind(panic);
    }
}

/// Sorts both halves of the items, with a buffer of the same length.
fn sort_halves<T, F>(
    task: &Task<'_>,
    items: &mut [T],
    buffer: &mut [MaybeUninit<T>],
    levels: u32,
    compare: &F,
) where
    T: Send,
    F: Fn(&T, &T) -> Ordering + Sync,
{
    let half = items.len() / 2;
    let (left, right) = items.split_at_mut(half);
    let (left_buffer, right_buffer) = buffer.split_at_mut(half);
    task.join(
        |task| sort_part(task, left, left_buffer, levels - 1, compare),
        |task| sort_part(task, right, right_buffer, levels - 1, compare),
    );
}

/// Copies the elements of both halves, merged, to as many `places`.
fn merge_halves<T, F>(task: &Task<'_>, items: &mut [T], places: &mut [MaybeUninit<T>], compare: &F)
where
    T: Send,
    F: Fn(&T, &T) -> Ordering + Sync,
{
    let (left, right) = items.split_at_mut(items.len() / 2);
    merge(task, left, right, places, compare);
}

/// Copies the elements of two sorted runs, merged, to as many `places`.
///
/// The elements stay those of the runs. What the places have is complete when this returns.
fn merge<T, F>(
    task: &Task<'_>,
    left: &mut [T],
    right: &mut [T],
    places: &mut [MaybeUninit<T>],
    compare: &F,
) where
    T: Send,
    F: Fn(&T, &T) -> Ordering + Sync,
{
    assert_eq!(left.len() + right.len(), places.len(), "every element has its place");
    let (Some((first, last)), Some((right_first, right_last))) = (ends(left), ends(right)) else {
        let (left_places, right_places) = places.split_at_mut(left.len());
        copy(left, left_places);
        return copy(right, right_places);
    };
    if compare(last, right_first).is_le() {
        let (left_places, right_places) = places.split_at_mut(left.len());
        copy(left, left_places);
        return copy(right, right_places);
    }
    if compare(first, right_last).is_gt() {
        let (right_places, left_places) = places.split_at_mut(right.len());
        copy(right, right_places);
        return copy(left, left_places);
    }

    // What is equal to an element of the left run comes after it.
    let (in_left, in_right) = if left.len() >= right.len() {
        let middle = left.len() / 2;
        let pivot = &left[middle];
        (middle, right.partition_point(|item| compare(item, pivot).is_lt()))
    } else {
        let middle = right.len() / 2;
        let pivot = &right[middle];
        (left.partition_point(|item| compare(item, pivot).is_le()), middle)
    };
    let is_small = places.len() < SMALL_MERGE;
    let (left, left_back) = left.split_at_mut(in_left);
    let (right, right_back) = right.split_at_mut(in_right);
    let (places, places_back) = places.split_at_mut(in_left + in_right);
    if is_small {
        let front = Merge { left, right, places };
        let back = Merge { left: left_back, right: right_back, places: places_back };
        return merge_both(front, back, compare);
    }
    task.join(
        |task| merge(task, left, right, places, compare),
        |task| merge(task, left_back, right_back, places_back, compare),
    );
}

/// Two runs, and as many places as they have elements.
struct Merge<'a, T> {
    left: &'a [T],
    right: &'a [T],
    places: &'a mut [MaybeUninit<T>],
}

/// Does two merges in turns.
fn merge_both<T>(
    mut one: Merge<'_, T>,
    mut other: Merge<'_, T>,
    compare: &impl Fn(&T, &T) -> Ordering,
) {
    loop {
        let steps = one.certain_steps().min(other.certain_steps());
        if steps == 0 {
            break;
        }
        let (mut at, mut other_at) = (0, 0);
        for step in 0..steps {
            at += one.step(step, at, compare);
            other_at += other.step(step, other_at, compare);
        }
        one.advance(steps, at);
        other.advance(steps, other_at);
    }
    one.finish(compare);
    other.finish(compare);
}

impl<T> Merge<'_, T> {
    /// Returns how many steps do not use up a run.
    fn certain_steps(&self) -> usize {
        self.left.len().min(self.right.len())
    }

    /// Copies the next element, `taken` of `step` having come from the left; returns how many more
    /// do.
    #[inline]
    fn step(&mut self, step: usize, taken: usize, compare: &impl Fn(&T, &T) -> Ordering) -> usize {
        let (left, right) = (&self.left[taken], &self.right[step - taken]);
        let is_left = compare(right, left).is_ge();
        let next = if is_left { left } else { right };
        copy(std::slice::from_ref(next), std::slice::from_mut(&mut self.places[step]));
        usize::from(is_left)
    }

    /// Leaves behind what was copied in so many steps.
    fn advance(&mut self, steps: usize, taken: usize) {
        self.left = &self.left[taken..];
        self.right = &self.right[steps - taken..];
        self.places = &mut std::mem::take(&mut self.places)[steps..];
    }

    /// Copies the rest.
    fn finish(mut self, compare: &impl Fn(&T, &T) -> Ordering) {
        loop {
            let steps = self.certain_steps();
            if steps == 0 {
                break;
            }
            let mut taken = 0;
            for step in 0..steps {
                taken += self.step(step, taken, compare);
            }
            self.advance(steps, taken);
        }
        let (left_places, right_places) = self.places.split_at_mut(self.left.len());
        copy(self.left, left_places);
        copy(self.right, right_places);
    }
}

/// Returns the first and the last element.
fn ends<T>(run: &[T]) -> Option<(&T, &T)> {
    Some((run.first()?, run.last()?))
}

/// Copies the elements to the places; only one of the two may be used as elements later.
#[inline]
fn copy<T>(elements: &[T], places: &mut [MaybeUninit<T>]) {
    assert_eq!(elements.len(), places.len(), "every element has its place");
    let to = places.as_mut_ptr().cast::<T>();
    // SAFETY: both have the same length, and places that are borrowed as mutable lie elsewhere. What is
    // in a place is no element until somebody says so.
    unsafe { ptr::copy_nonoverlapping(elements.as_ptr(), to, elements.len()) };
}
