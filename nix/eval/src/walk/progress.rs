//! How far a walk has come, for whoever watches it.

use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

/// Counters of a walk; each worker has its own line, readers add them up.
#[derive(Debug)]
pub struct Progress {
    workers: Box<[Line]>,
    current: Mutex<String>,
}

#[derive(Debug, Default)]
#[repr(align(128))]
struct Line {
    seen: AtomicU64,
    found: AtomicU64,
}

impl Progress {
    /// Creates the counters.
    pub fn new(workers: usize) -> Progress {
        Progress {
            workers: (0..workers.max(1)).map(|_| Line::default()).collect(),
            current: Mutex::default(),
        }
    }

    /// Counts an attribute that a worker begins to look at.
    pub(crate) fn see(&self, worker: usize, path: impl FnOnce() -> String) {
        let seen = self.workers[worker].seen.fetch_add(1, Ordering::Relaxed);
        // The text is for a human eye: now and then is enough.
        if seen.is_multiple_of(64)
            && let Some(mut current) = self.current.try_lock()
        {
            *current = path();
        }
    }

    /// Counts a match.
    pub(crate) fn find(&self, worker: usize) {
        self.workers[worker].found.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the attributes seen and the matches found so far.
    pub fn counts(&self) -> (u64, u64) {
        self.workers.iter().fold((0, 0), |(seen, found), line| {
            (seen + line.seen.load(Ordering::Relaxed), found + line.found.load(Ordering::Relaxed))
        })
    }

    /// Returns an attribute path that was being looked at a moment ago.
    pub fn current(&self) -> String {
        self.current.lock().clone()
    }
}
