//! Where one half of a join learns that the other has ended.
//!
//! ```text
//! Running --the right half ends--> Done
//!    `--the left half waits--> Awaited --the right half ends--> Done, and the left one is woken
//! ```
//!
//! Two exchanges, so one of them comes first: either the left half finds Done and goes on, or the
//! right one finds Awaited and wakes it. What the right half did is visible to the left one then.
//!
//! What always holds: after `open` the latch may be gone, so that is the last that is done with it.

use crate::memory::model::atomic::{AtomicU32, Ordering};

const RUNNING: u32 = 0;
const AWAITED: u32 = 1;
const DONE: u32 = 2;

#[derive(Debug)]
pub(super) struct Latch(AtomicU32);

impl Latch {
    #[inline]
    pub(super) fn new() -> Self {
        Self(AtomicU32::new(RUNNING))
    }

    /// Returns whether the caller must wait to be woken; false if the latch is open.
    pub(super) fn start_waiting(&self) -> bool {
        // Acquire: pairs with `open`; the result is visible. SeqCst: with the graph's count of
        // waiting tasks; see `wait_graph`.
        self.0.compare_exchange(RUNNING, AWAITED, Ordering::SeqCst, Ordering::SeqCst).is_ok()
    }

    /// Opens the latch, once, and returns whether somebody waits, who must be woken.
    pub(super) fn open(&self) -> bool {
        // Release: pairs with `start_waiting`; or the wake makes the result visible.
        self.0.swap(DONE, Ordering::SeqCst) == AWAITED
    }
}

#[cfg(all(test, raddle_loom))]
mod models {
    use std::sync::Arc;

    use loom::thread;

    use super::*;
    use crate::memory::model::explore;

    #[test]
    fn the_result_is_there_when_the_latch_opens() {
        explore(|| {
            // A relaxed load may return an old value unless the latch has ordered the two.
            let model = Arc::new((Latch::new(), AtomicU32::new(0)));
            let (right, left) = (Arc::clone(&model), thread::current());
            let right = thread::spawn(move || {
                right.1.store(5, Ordering::Relaxed);
                if right.0.open() {
                    left.unpark();
                }
            });
            if model.0.start_waiting() {
                thread::park();
            }
            assert_eq!(model.1.load(Ordering::Relaxed), 5);
            right.join().unwrap();
        });
    }
}
