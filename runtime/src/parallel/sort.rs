//! Sorting in place: quicksort whose halves go to other workers, with the standard library's sort
//! below.
//!
//! ```text
//! already in order, or in reverse?   done
//! small, or too many bad splits?     `sort_unstable` of the standard library
//! else                               pivot from a sample; partition; both sides as the halves of a join
//! ```
//!
//! A pivot that equals the one to the left of the part is its least element: all that equal it are put
//! in front and left there, so that few different elements take little time.
//!
//! What always holds: elements are only exchanged, so the slice has all of them whenever a comparison
//! panics, and whatever it answers. A split is bad if a side gets less than an eighth; a few
//! of those are put up with, so the time is *n* log *n* at worst. What is cut where
//! depends on the elements alone, and so does the order of equal ones.
//!
//! Not here: how a part is partitioned (see `partition`).

use std::cmp::Ordering;

use super::partition::{partition, partition_together};
use crate::Task;

/// Parts up to this length are sorted by one worker.
const SMALL: usize = 1 << 14;

/// Parts from this length on are partitioned by several workers, if there are few of them.
const LARGE: usize = 1 << 18;

/// So many may partition one part together; half as many in the parts of that.
const TOGETHER: usize = 16;

/// So many bad splits are put up with on the way to a part.
const PATIENCE: u32 = 8;

/// Sorts the items, on as many workers as have time; equal ones may change places.
///
/// The result is the same in every run and with any number of workers, also the order of equal items.
/// Several workers may compare the same item at the same time, hence `Sync`.
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
/// runtime.run(|task| parallel::sort_unstable(task, &mut words));
/// assert_eq!(words, ["by", "itself", "served"]);
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn sort_unstable<T: Ord + Send + Sync>(task: &Task<'_>, items: &mut [T]) {
    sort(task, items, &T::cmp);
}

/// Sorts the items by a comparison, as [`sort_unstable`] does.
///
/// # Panics
///
/// As [`sort_unstable`] does.
///
/// # Examples
///
/// ```
/// use raddle::{Runtime, parallel};
///
/// let runtime = Runtime::builder().workers(2).build()?;
/// let mut numbers = [0.5, -1.0, 2.0];
/// runtime.run(|task| parallel::sort_unstable_by(task, &mut numbers, f64::total_cmp));
/// assert_eq!(numbers, [-1.0, 0.5, 2.0]);
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn sort_unstable_by<T: Send + Sync>(
    task: &Task<'_>,
    items: &mut [T],
    compare: impl Fn(&T, &T) -> Ordering + Sync,
) {
    sort(task, items, &compare);
}

/// Sorts the items by a key, as [`sort_unstable`] does; the key is made anew for every comparison.
///
/// # Panics
///
/// As [`sort_unstable`] does.
///
/// # Examples
///
/// ```
/// use raddle::{Runtime, parallel};
///
/// let runtime = Runtime::builder().workers(2).build()?;
/// let mut words = ["served", "by", "its"];
/// runtime.run(|task| parallel::sort_unstable_by_key(task, &mut words, |word| word.len()));
/// assert_eq!(words, ["by", "its", "served"]);
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn sort_unstable_by_key<T: Send + Sync, K: Ord>(
    task: &Task<'_>,
    items: &mut [T],
    key: impl Fn(&T) -> K + Sync,
) {
    sort(task, items, &|a, b| key(a).cmp(&key(b)));
}

fn sort<T, F>(task: &Task<'_>, items: &mut [T], compare: &F)
where
    T: Send + Sync,
    F: Fn(&T, &T) -> Ordering + Sync,
{
    if items.len() > SMALL {
        if items.is_sorted_by(|a, b| compare(a, b).is_le()) {
            return;
        }
        if items.is_sorted_by(|a, b| compare(a, b).is_ge()) {
            return items.reverse();
        }
    }
    let above = Above { least: None, patience: PATIENCE, together: TOGETHER };
    sort_part(task, items, compare, above);
}

/// What a part has from those that it is a part of.
struct Above<'a, T> {
    /// No element of the part is less than this one.
    least: Option<&'a T>,
    /// How many more bad splits are put up with.
    patience: u32,
    together: usize,
}

fn sort_part<T, F>(task: &Task<'_>, mut items: &mut [T], compare: &F, mut above: Above<'_, T>)
where
    T: Send + Sync,
    F: Fn(&T, &T) -> Ordering + Sync,
{
    while items.len() > SMALL && above.patience > 0 {
        let length = items.len();
        let parts = if length < LARGE { 1 } else { above.together };
        move_pivot_to_front(items, compare);
        let (pivot, others) = items.split_first_mut().expect("it is not small");
        let pivot = &*pivot;
        if above.least.is_some_and(|least| compare(least, pivot).is_ge()) {
            let is_equal = |item: &T| compare(pivot, item).is_ge();
            let equal = split(task, others, parts, &is_equal);
            // Only a comparison that contradicts itself brings few together here.
            if equal < length / 8 {
                above.patience -= 1;
            }
            items = &mut items[equal + 1..];
            continue;
        }
        let is_less = |item: &T| compare(item, pivot).is_lt();
        let less = split(task, others, parts, &is_less);
        items.swap(0, less);
        if less.min(length - less) < length / 8 {
            above.patience -= 1;
        }

        let (front, rest) = items.split_at_mut(less);
        let (pivot, back) = rest.split_first_mut().expect("the pivot is there");
        let (patience, together) = (above.patience, (above.together / 2).max(1));
        let front_above = Above { least: above.least, patience, together };
        let back_above = Above { least: Some(&*pivot), patience, together };
        task.join(
            |task| sort_part(task, front, compare, front_above),
            |task| sort_part(task, back, compare, back_above),
        );
        return;
    }
    items.sort_unstable_by(compare);
}

/// Puts what `is_front` holds for in front of the others, and returns how many they are.
fn split<T, F>(task: &Task<'_>, items: &mut [T], parts: usize, is_front: &F) -> usize
where
    T: Send,
    F: Fn(&T) -> bool + Sync,
{
    if parts > 1 {
        partition_together(task, items, parts, is_front)
    } else {
        partition(items, is_front)
    }
}

/// Moves the median of a sample to the front.
fn move_pivot_to_front<T>(items: &mut [T], compare: &impl Fn(&T, &T) -> Ordering) {
    let count = 2 * items.len().ilog2() as usize + 1;
    let step = items.len() / count;
    for n in 0..count {
        items.swap(n, n * step + step / 2);
    }
    items[..count].sort_unstable_by(compare);
    items.swap(0, count / 2);
}
