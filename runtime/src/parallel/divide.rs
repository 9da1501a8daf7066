//! Halves work until it is small, and offers the second halves to whoever has time.
//!
//! ```text
//!               0..800                  the first levels are always offered: they give every worker
//!        0..400        400..800         a few parts to begin with
//!    0..200  200..400  400..600 ...
//!      :        :         :             below, a half is offered only if somebody is idle and has
//!     leaf     leaf      leaf           taken what was offered before; else this worker goes on
//! ```
//!
//! The tree is the same whoever runs which part of it, so `merge` is applied to the same values in
//! the same order in every run. With [`Grain::Exactly`] that includes the leaves. With
//! [`Grain::AtMost`] leaves are smaller where somebody is idle: only for work whose result does not
//! depend on where it is cut.
//!
//! When a part panics, what comes after it is moot, and however much there is of it must not keep
//! the panic from being passed on. So the end of every part that has panicked goes into `stop`,
//! which holds the least of them: what begins there or after it is left out, and what comes before
//! still runs, for it may panic too and would come first. Who is left out has no result (`None`);
//! nobody sees that, as the panic passes every frame in which the two would meet.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::source::Split;
use crate::Task;

/// How small parts become.
#[derive(Clone, Copy, Debug)]
pub(super) enum Grain {
    /// A thousandth of all, up to this many items; down to single ones where somebody is idle.
    AtMost(u64),
    /// A thousandth of all, up to this many items.
    Exactly(u64),
}

/// What is done with the parts of something that is divided.
#[derive(Debug)]
pub(super) struct Division<L, M> {
    leaf: L,
    merge: M,
    /// A leaf has up to so many items.
    grain: u64,
    /// Whether leaves may be divided further.
    divides_leaves: bool,
    /// What begins here or later comes after a panic.
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

/// Notes that the part that ends at `end` has panicked, unless it is forgotten.
struct StopsAt<'a> {
    stop: &'a AtomicU64,
    end: u64,
}

impl<L, M> Division<L, M> {
    /// Returns a division that is about to run: `leaf` makes a value of a small part, and `merge`
    /// one of those of neighbours.
    pub(super) fn new(leaf: L, merge: M) -> Self {
        Self { leaf, merge, grain: 1, divides_leaves: false, stop: AtomicU64::new(u64::MAX) }
    }

    /// Runs it on `items`.
    ///
    /// # Panics
    ///
    /// Passes on the first panic, in the order of items, of `leaf` or `merge`.
    pub(super) fn run<P, R>(mut self, task: &Task<'_>, items: P, grain: Grain) -> R
    where
        P: Split,
        R: Send,
        L: Fn(&Task<'_>, P) -> R + Sync,
        M: Fn(R, R) -> R + Sync,
    {
        let share = items.length() >> 10;
        (self.grain, self.divides_leaves) = match grain {
            Grain::AtMost(most) => (share.clamp(1, most), true),
            Grain::Exactly(most) => (share.clamp(1, most), false),
        };
        // Eight parts for each worker.
        let levels = task.workers().ilog2() + 3;
        let nothing_offered = Offer { is_taken: AtomicBool::new(true) };
        self.divide(task, Part { items, begin: 0, levels }, &nothing_offered)
            .expect("only what comes after a panic is left out")
    }

    fn divide<P, R>(&self, task: &Task<'_>, part: Part<P>, outer: &Offer) -> Option<R>
    where
        P: Split,
        R: Send,
        L: Fn(&Task<'_>, P) -> R + Sync,
        M: Fn(R, R) -> R + Sync,
    {
        let Part { items, begin, levels } = part;
        if begin >= self.stop.load(Ordering::Relaxed) {
            return None;
        }
        let length = items.length();
        let is_leaf = length <= self.grain;
        if length <= 1 || (is_leaf && !self.divides_leaves) {
            return Some(self.stopping_at(begin + length, || (self.leaf)(task, items)));
        }
        let is_offered = levels > 0 || (outer.is_taken() && task.is_anyone_idle());
        if is_leaf && !is_offered {
            return Some(self.stopping_at(begin + length, || (self.leaf)(task, items)));
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
        let (front, back) = (front?, back?);
        Some(self.stopping_at(begin + length, || (self.merge)(front, back)))
    }

    /// Calls `function`, which is the work of a part that ends at `end`.
    #[inline]
    fn stopping_at<R>(&self, end: u64, function: impl FnOnce() -> R) -> R {
        let stops = StopsAt { stop: &self.stop, end };
        let result = function();
        std::mem::forget(stops);
        result
    }
}

impl Offer {
    #[inline]
    fn is_taken(&self) -> bool {
        self.is_taken.load(Ordering::Relaxed)
    }
}

impl Drop for StopsAt<'_> {
    fn drop(&mut self) {
        // `Relaxed`: who reads it late does work in vain, no more.
        self.stop.fetch_min(self.end, Ordering::Relaxed);
    }
}
