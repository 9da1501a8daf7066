//! Halves work until it is small, and offers the second halves to whoever has time.
//!
//! ```text
//!               0..800                  the first levels are always offered: they give every worker
//!        0..400        400..800         a few parts to begin with
//!    0..200  200..400  400..600 ...     below, a half is offered only if somebody is idle and has
//!      :        :         :             taken what was offered before; else this worker goes on alone:
//!
//!      leaf leaf leaf ...  or  | . .. .... |   rest   |
//!      (fixed leaves: down       (free leaves: step by step, and when somebody is idle the rest is
//!       to them, in order)        halved like a part)
//! ```
//!
//! With [`Leaves::Fixed`] the tree and its leaves are the same whoever runs which part of it, so `merge`
//! is applied to the same values in the same order in every run. [`Leaves::Free`] is for work whose
//! result does not depend on where it is cut: it goes down to single items where somebody is idle, and
//! costs less where nobody is.
//!
//! When a part panics, or finds what was searched, all that comes after it is moot, and however much
//! that is, it must not delay the end. So the end of every such part goes into `stop`, which holds
//! the least of them: what begins there or after it is left out, and what comes before still runs,
//! for it may panic or find something too and would come first. Who is left out has no result
//! (`None`); nobody sees that, as a panic passes every frame in which the two would meet, and what
//! is found takes the place of both there.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::source::Split;
use crate::Task;

/// Where work is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Leaves {
    /// Where it suits.
    Free,
    /// Into parts that depend on the number of items alone.
    Fixed,
}

/// There are two to this power fixed leaves or more, if there are as many items: few enough for
/// their cost not to count, and many enough to end at about the same time on all workers.
const FIXED_LEAVES: u32 = 8;

/// A fixed leaf has no more items, however many there are: a panic must not wait for long.
const MOST_FIXED: u64 = 1 << 14;

/// Who works alone looks after so many items whether somebody is idle; with more of them, looking
/// would cost no less to speak of.
const LONGEST_STEP: u64 = 64;

/// What is done with the parts of something that is divided.
#[derive(Debug)]
pub(super) struct Division<L, M, E> {
    leaf: L,
    merge: M,
    /// Whether all that comes after a part with this value is moot.
    is_last: E,
    leaves: Leaves,
    /// What has up to so many items is a leaf in any case.
    grain: u64,
    /// What begins here or later is moot.
    stop: AtomicU64,
}

/// A part of the whole: from its item number `begin` on.
struct Part<P> {
    items: P,
    begin: u64,
    /// So many levels below this one are offered to others in any case.
    levels: u32,
}

/// A second half that others may take, seen from the first: where work would be cut next, there is
/// still something to take.
#[derive(Debug)]
struct Offer {
    /// `Relaxed` is enough: it only tells whether dividing further pays.
    is_taken: AtomicBool,
}

/// Notes that what comes after the part that ends at `end` is moot, unless this is forgotten.
struct StopsAt<'a> {
    stop: &'a AtomicU64,
    end: u64,
}

impl<L, M, E> Division<L, M, E> {
    /// Returns a division that is about to run: `leaf` makes a value of a small part, `merge` one
    /// of those of neighbours, and a value for which `is_last` holds is the last one that counts.
    pub(super) fn new<R>(leaves: Leaves, leaf: L, merge: M, is_last: E) -> Self
    where
        E: Fn(&R) -> bool,
    {
        Self { leaf, merge, is_last, leaves, grain: 1, stop: AtomicU64::new(u64::MAX) }
    }

    /// Runs it on `items`.
    ///
    /// # Panics
    ///
    /// Passes on the first panic, in the order of items, of `leaf` or `merge`, unless a last value
    /// comes before it.
    pub(super) fn run<P, R>(mut self, task: &Task<'_>, items: P) -> R
    where
        P: Split,
        R: Send,
        L: Fn(&Task<'_>, P) -> R + Sync,
        M: Fn(R, R) -> R + Sync,
        E: Fn(&R) -> bool + Sync,
    {
        if self.leaves == Leaves::Fixed {
            self.grain = (items.length() >> FIXED_LEAVES).clamp(1, MOST_FIXED);
        }
        // Eight parts for each worker.
        let levels = task.workers().ilog2() + 3;
        let nothing_offered = Offer { is_taken: AtomicBool::new(true) };
        self.divide(task, Part { items, begin: 0, levels }, &nothing_offered)
            .expect("nothing comes before the whole")
    }

    fn divide<P, R>(&self, task: &Task<'_>, part: Part<P>, outer: &Offer) -> Option<R>
    where
        P: Split,
        R: Send,
        L: Fn(&Task<'_>, P) -> R + Sync,
        M: Fn(R, R) -> R + Sync,
        E: Fn(&R) -> bool + Sync,
    {
        let Part { items, begin, levels } = part;
        if self.is_moot(begin) {
            return None;
        }
        let length = items.length();
        if length <= self.grain {
            return Some(self.stopping_at(begin + length, || (self.leaf)(task, items)));
        }
        let is_offered = levels > 0 || outer.invites(task);
        if !is_offered && self.leaves == Leaves::Free {
            return self.go_alone(task, items, begin, outer);
        }

        let half = length / 2;
        let (front, back) = items.split_at(half);
        let levels = levels.saturating_sub(1);
        let front = Part { items: front, begin, levels };
        let back = Part { items: back, begin: begin + half, levels };
        let (front, back) = if is_offered {
            let offer = Offer { is_taken: AtomicBool::new(false) };
            task.join(
                |task| self.divide(task, front, &offer),
                |task| {
                    offer.is_taken.store(true, Ordering::Relaxed);
                    self.divide(task, back, outer)
                },
            )
        } else {
            (self.divide(task, front, outer), self.divide(task, back, outer))
        };
        let front = front?;
        if (self.is_last)(&front) {
            return Some(front);
        }
        let back = back?;
        Some(self.stopping_at(begin + length, || (self.merge)(front, back)))
    }

    /// Works on free leaves from the first one on, until somebody is idle.
    fn go_alone<P, R>(&self, task: &Task<'_>, items: P, mut begin: u64, outer: &Offer) -> Option<R>
    where
        P: Split,
        R: Send,
        L: Fn(&Task<'_>, P) -> R + Sync,
        M: Fn(R, R) -> R + Sync,
        E: Fn(&R) -> bool + Sync,
    {
        // The first items are looked at one by one: each may take long.
        let mut step = 1;
        let (first, mut rest) = items.split_at(step);
        let mut done = self.stopping_at(begin + step, || (self.leaf)(task, first));
        loop {
            begin += step;
            if (self.is_last)(&done) {
                return Some(done);
            }
            if self.is_moot(begin) {
                return None;
            }
            let length = rest.length();
            if outer.invites(task) {
                let rest = Part { items: rest, begin, levels: 1 };
                return Some((self.merge)(done, self.divide(task, rest, outer)?));
            }
            step = (step * 2).min(LONGEST_STEP).min(length);
            let (next, others) = rest.split_at(step);
            let next = self.stopping_at(begin + step, || (self.leaf)(task, next));
            done = (self.merge)(done, next);
            if step == length {
                return Some(done);
            }
            rest = others;
        }
    }

    /// Returns whether what begins here need not be done.
    #[inline]
    fn is_moot(&self, begin: u64) -> bool {
        begin >= self.stop.load(Ordering::Relaxed)
    }

    /// Calls `function`, which is the work of a part that ends at `end`.
    #[inline]
    fn stopping_at<R>(&self, end: u64, function: impl FnOnce() -> R) -> R
    where
        E: Fn(&R) -> bool,
    {
        let stops = StopsAt { stop: &self.stop, end };
        let result = function();
        if !(self.is_last)(&result) {
            std::mem::forget(stops);
        }
        result
    }
}

impl Offer {
    /// Returns whether more should be offered: this is taken, and somebody is idle.
    #[inline]
    fn invites(&self, task: &Task<'_>) -> bool {
        self.is_taken.load(Ordering::Relaxed) && task.is_anyone_idle()
    }
}

impl Drop for StopsAt<'_> {
    fn drop(&mut self) {
        // `Relaxed`: who reads it late does work in vain, no more.
        self.stop.fetch_min(self.end, Ordering::Relaxed);
    }
}
