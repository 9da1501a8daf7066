//! Puts the elements for which something holds in front of the others.
//!
//! Both ways of one worker read every element once, and only exchange elements:
//!
//! ```text
//! small elements    | front | back  | ? ...      the next one is exchanged with the first of the back,
//!                                                and the border moves or not: nothing to be predicted
//! large elements    | front | ? ... ? | back |   from both ends; two that are wrong are exchanged
//! ```
//!
//! Several workers partition a part each. Then the front is too long here and too short
//! there: what lies on the wrong side of the common border is exchanged, as much from the left as from
//! the right.
//!
//! ```text
//!  f f b b | f f b b | f b b b | f f f b       each part
//!  f f . . | f f . ^ . b b b | . . . b         wrong are as many on the left of ^ as on the right
//! ```

use super::{chunks_mut, for_each, map};
use crate::Task;

/// Larger elements are moved only if they have to be.
const SMALL_ELEMENT: usize = 16;

/// So many elements are exchanged by one worker.
const EXCHANGED: usize = 1 << 15;

/// Returns how many there are for which `is_front` holds; they come first afterwards.
pub(super) fn partition<T>(items: &mut [T], is_front: &impl Fn(&T) -> bool) -> usize {
    if size_of::<T>() <= SMALL_ELEMENT {
        let mut border = 0;
        for next in 0..items.len() {
            let moves = is_front(&items[next]);
            items.swap(border, next);
            border += usize::from(moves);
        }
        return border;
    }
    let (mut begin, mut end) = (0, items.len());
    loop {
        while begin < end && is_front(&items[begin]) {
            begin += 1;
        }
        while begin < end && !is_front(&items[end - 1]) {
            end -= 1;
        }
        if begin >= end {
            return begin;
        }
        end -= 1;
        items.swap(begin, end);
        begin += 1;
    }
}

/// Does what [`partition`] does, in so many parts.
pub(super) fn partition_together<T: Send>(
    task: &Task<'_>,
    items: &mut [T],
    parts: usize,
    is_front: &(impl Fn(&T) -> bool + Sync),
) -> usize {
    let size = items.len().div_ceil(parts).max(1);
    let counts = map(task, chunks_mut(items, size), |_, part| partition(part, is_front));
    let border = counts.iter().sum();

    // Those left of the border that belong to its right, and the reverse.
    let (mut left, mut right) = (Vec::new(), Vec::new());
    let mut begin = 0;
    for (part, count) in items.chunks_mut(size).zip(counts) {
        // Where the border would be in this part.
        let here = usize::clamp(border, begin, begin + part.len()) - begin;
        begin += part.len();
        if count < here {
            left.extend(part[count..here].chunks_mut(EXCHANGED));
        } else {
            right.extend(part[here..count].chunks_mut(EXCHANGED));
        }
    }
    for_each(task, &mut pairs(left, right), |_, (a, b)| a.swap_with_slice(b));
    border
}

/// Returns pairs of equal length that have all elements of both.
fn pairs<'a, T>(
    left: Vec<&'a mut [T]>,
    right: Vec<&'a mut [T]>,
) -> Vec<(&'a mut [T], &'a mut [T])> {
    let mut pairs = Vec::with_capacity(left.len() + right.len());
    let (mut left, mut right) = (left.into_iter(), right.into_iter());
    let (mut a, mut b): (&mut [T], &mut [T]) = (&mut [], &mut []);
    loop {
        if a.is_empty() {
            let Some(next) = left.next() else { return pairs };
            a = next;
        }
        if b.is_empty() {
            let Some(next) = right.next() else { return pairs };
            b = next;
        }
        let length = a.len().min(b.len());
        let (a_first, a_rest) = a.split_at_mut(length);
        let (b_first, b_rest) = b.split_at_mut(length);
        pairs.push((a_first, b_first));
        (a, b) = (a_rest, b_rest);
    }
}
