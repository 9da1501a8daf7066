//! How much memory the heaps of an evaluator may take together, and what happens at the limit.
//!
//! Whoever is refused unwinds; from then on everybody is refused, so that all tasks end soon.
//!
//! Not here: what is outside of the heaps (code, the texts of files, names, stacks, buffers).
//! Buffers whose size the program decides are checked against what is left, see
//! [`Heap::room_for`](super::heap::Heap::room_for).

use std::panic::resume_unwind;

use raddle::memory::{self, Refused};

use super::heap::{CHUNK, LARGE};
use crate::settings::Settings;

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
    bytes: memory::Budget,
    chunk: usize,
}

impl Budget {
    /// Creates a budget for so many workers.
    pub(crate) fn new(limit: Option<u64>, workers: usize) -> Budget {
        let limit = limit.map(|limit| limit.max(Settings::SMALLEST_HEAP_LIMIT));
        // What lies unused in the workers' chunks should be a small part of the limit.
        let share = limit.map_or(CHUNK as u64, |limit| limit / 8 / workers.max(1) as u64);
        let chunk = (share.min(CHUNK as u64) as usize).next_multiple_of(LARGE);
        Budget { bytes: memory::Budget::new(limit), chunk }
    }

    /// Returns how many bytes a worker takes at a time.
    pub(super) fn chunk(&self) -> usize {
        self.chunk
    }

    /// Returns what chunks are counted in.
    pub(super) fn bytes(&self) -> &memory::Budget {
        &self.bytes
    }

    /// Makes sure that so many bytes could be taken.
    #[cold]
    pub(super) fn check(&self, bytes: usize) {
        self.bytes.check(bytes).unwrap_or_else(|refused| end_task(refused));
    }

    /// Forgets that somebody was refused, when all tasks have ended.
    pub(crate) fn reopen(&self) {
        self.bytes.reopen();
    }
}

/// Ends the task, which was refused memory.
pub(super) fn end_task(refused: Refused) -> ! {
    // No panic hook: this is no fault of ours, and whoever runs the evaluator words it.
    resume_unwind(Box::new(OutOfMemory { limit: refused.limit }))
}

#[cfg(test)]
mod tests {
    use super::{Budget, CHUNK, LARGE, OutOfMemory};
    use std::panic::{AssertUnwindSafe, catch_unwind};

    #[test]
    fn who_is_refused_unwinds() {
        let budget = Budget::new(Some(64 << 20), 2);
        budget.check(64 << 20);
        let ended = catch_unwind(AssertUnwindSafe(|| budget.check((64 << 20) + 1)));
        let out_of_memory = *ended.unwrap_err().downcast::<OutOfMemory>().unwrap();
        assert_eq!(out_of_memory.limit, Some(64 << 20));
        let all_are = catch_unwind(AssertUnwindSafe(|| budget.check(0)));
        assert!(all_are.is_err());
        budget.reopen();
        budget.check(0);
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
