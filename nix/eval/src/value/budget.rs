//! How much memory the heaps of an evaluator may take together, and what happens at the limit.
//!
//! Counting costs an addition per chunk, so the workers share one counter. Whoever is refused
//! unwinds; from then on everybody is, so that all tasks end soon.
//!
//! Not here: what is outside of the heaps (code, the texts of files, names, stacks, buffers).
//! Buffers whose size the program decides are checked against what is left, see
//! [`Heap::room_for`](super::heap::Heap::room_for).

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::heap::{CHUNK, LARGE};
use crate::settings::Settings;

/// More than any machine has: such a buffer is refused even where there is no limit.
const ABSURD: u64 = 1 << 46;

/// Evaluation needs more memory than it may have.
///
/// It is no [`Error`](crate::Error) of the program: nothing catches it, and no value keeps it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutOfMemory {
    /// The limit; `None` if there is none and the system refused.
    pub limit: Option<u64>,
}

impl std::fmt::Display for OutOfMemory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        const MIB: u64 = 1 << 20;
        const GIB: u64 = 1 << 30;
        let Some(limit) = self.limit else {
            return f.write_str("out of memory: the system has no more for the evaluation");
        };
        let (unit, name) = if limit >= GIB { (GIB, "GiB") } else { (MIB, "MiB") };
        let size = limit as f64 / unit as f64;
        write!(
            f,
            "out of memory: the evaluation needs more than the heap limit of {size:.1} {name}"
        )
    }
}

impl std::error::Error for OutOfMemory {}

/// What the heaps of an evaluator may take.
#[derive(Debug)]
pub(crate) struct Budget {
    limit: Option<u64>,
    chunk: usize,
    taken: AtomicU64,
    /// Whether somebody was refused.
    exhausted: AtomicBool,
}

impl Budget {
    /// Creates a budget for so many workers.
    pub(crate) fn new(limit: Option<u64>, workers: usize) -> Budget {
        let limit = limit.map(|limit| limit.max(Settings::SMALLEST_HEAP_LIMIT));
        // What lies unused in the workers' chunks should be a small part of the limit.
        let share = limit.map_or(CHUNK as u64, |limit| limit / 8 / workers.max(1) as u64);
        let chunk = (share.min(CHUNK as u64) as usize).next_multiple_of(LARGE);
        Budget { limit, chunk, taken: AtomicU64::new(0), exhausted: AtomicBool::new(false) }
    }

    /// Returns how many bytes a worker takes at a time.
    pub(super) fn chunk(&self) -> usize {
        self.chunk
    }

    /// Counts bytes that are about to be taken.
    pub(super) fn take(&self, bytes: usize) {
        // Only the sum matters, and other memory is not told by it.
        let before = self.taken.fetch_add(bytes as u64, Ordering::Relaxed);
        if !self.has_room(before, bytes) {
            self.taken.fetch_sub(bytes as u64, Ordering::Relaxed);
            self.refuse();
        }
    }

    /// Makes sure that so many bytes could be taken.
    #[cold]
    pub(super) fn check(&self, bytes: usize) {
        if !self.has_room(self.taken.load(Ordering::Relaxed), bytes) {
            self.refuse();
        }
    }

    fn has_room(&self, taken: u64, bytes: usize) -> bool {
        let sum = taken.saturating_add(bytes as u64);
        !self.exhausted.load(Ordering::Relaxed) && sum <= self.limit.unwrap_or(ABSURD)
    }

    /// Ends the task.
    pub(super) fn refuse(&self) -> ! {
        self.exhausted.store(true, Ordering::Relaxed);
        // No panic hook: this is no fault of ours, and whoever runs the evaluator words it.
        resume_unwind(Box::new(OutOfMemory { limit: self.limit }))
    }

    /// Forgets that somebody was refused, when all tasks have ended.
    pub(crate) fn reopen(&self) {
        self.exhausted.store(false, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::{Budget, CHUNK, LARGE, OutOfMemory};
    use std::panic::{AssertUnwindSafe, catch_unwind};

    fn refused(work: impl FnOnce()) -> bool {
        catch_unwind(AssertUnwindSafe(work)).is_err()
    }

    #[test]
    fn counts() {
        let budget = Budget::new(Some(64 << 20), 2);
        assert!(!refused(|| budget.take(40 << 20)));
        assert!(!refused(|| budget.check(24 << 20)));
        assert!(!refused(|| budget.take(24 << 20)));
        assert!(refused(|| budget.take(1)));
        budget.reopen();
        assert!(refused(|| budget.check(usize::MAX)));
        assert!(refused(|| budget.check(0)), "all are refused after one was");
    }

    #[test]
    fn absurd_sizes_without_a_limit() {
        let budget = Budget::new(None, 2);
        assert!(!refused(|| budget.take(1 << 40)));
        assert!(refused(|| budget.take(usize::MAX)));
    }

    #[test]
    fn chunks() {
        for (limit, workers, expected) in [
            (None, 1, CHUNK),
            (Some(0), 1, 2 << 20),
            (Some(64 << 20), 1, 8 << 20),
            (Some(64 << 20), 8, 1 << 20),
            (Some(64 << 20), 1024, LARGE),
            (Some(u64::MAX), 1, CHUNK),
        ] {
            assert_eq!(Budget::new(limit, workers).chunk(), expected, "{limit:?} {workers}");
        }
    }

    #[test]
    fn wording() {
        for (limit, expected) in [
            (Some(18 << 30), "more than the heap limit of 18.0 GiB"),
            (Some(64 << 20), "more than the heap limit of 64.0 MiB"),
            (Some(3 << 29), "more than the heap limit of 1.5 GiB"),
            (None, "the system has no more"),
        ] {
            assert!(OutOfMemory { limit }.to_string().contains(expected), "{limit:?}");
        }
    }
}
