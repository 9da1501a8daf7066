//! Counts pending work and tells exactly one party that all of it is done.
//!
//! ```text
//! open ---- complete_one, any number of times ----> open
//!   |
//!   | close(started)
//!   v
//! closed, `started` minus completions pending ---- complete_one ----> ... ----> zero: Done
//! ```
//!
//! Starting work does not touch the counter: the one party that starts most of it counts for itself
//! and says the sum in `close`; others note what they start, with `start_more`. Until `close` the
//! counter carries a bias that no number of completions can use up, so that it cannot reach zero
//! early. Later only somebody whose own work is still pending may start more.
//!
//! Each change is one addition to one word (Release, Acquire), and who makes it zero is told so by
//! what it has added to: so there is one such party, and it sees what all others did.
//!
//! Invariant: of all calls between one `open` and the next, exactly one returns `Done`.

use std::sync::atomic::{AtomicU64, Ordering};

const BIAS: u64 = 1 << 62;

/// A counter of pending work. Whoever brings it to zero wakes the waiter; nobody else does.
///
/// # Examples
///
/// ```
/// use raddle::sync::{Completion, Progress};
///
/// let completion = Completion::new();
/// assert_eq!(completion.complete_one(), Progress::Pending);
/// assert_eq!(completion.close(2), Progress::Pending);
/// assert_eq!(completion.complete_one(), Progress::Done);
/// ```
#[derive(Debug)]
pub struct Completion {
    pending: AtomicU64,
}

/// Whether work is left.
///
/// # Examples
///
/// See [`Completion`].
#[must_use = "whoever sees `Done` wakes the waiter"]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Something is still to be completed.
    Pending,
    /// This call was the last one.
    Done,
}

impl Completion {
    /// Creates an open counter.
    pub const fn new() -> Self {
        Self { pending: AtomicU64::new(BIAS) }
    }

    /// Makes the counter ready for its next use. Nobody else may use it at this time.
    pub fn open(&self) {
        self.pending.store(BIAS, Ordering::Relaxed);
    }

    /// Notes that one piece of work is done.
    pub fn complete_one(&self) -> Progress {
        self.lower(1)
    }

    /// Notes that so many pieces of work are done.
    pub fn complete(&self, count: u32) -> Progress {
        self.lower(count.into())
    }

    /// Notes that so many more pieces of work are started by somebody else than the party that calls
    /// [`close`](Self::close); while at least one piece of work is pending.
    pub fn start_more(&self, count: u32) {
        // Relaxed: the completion of the work that is pending comes later.
        self.pending.fetch_add(count.into(), Ordering::Relaxed);
    }

    /// Says how many pieces of work the caller has started in all; it starts none afterwards.
    pub fn close(&self, started: u32) -> Progress {
        self.lower(BIAS - u64::from(started))
    }

    fn lower(&self, by: u64) -> Progress {
        // Release: what this party did is visible to whoever sees zero. Acquire: and the other
        // way round, for the party that sees it.
        let before = self.pending.fetch_sub(by, Ordering::AcqRel);
        if before == by { Progress::Done } else { Progress::Pending }
    }
}

impl Default for Completion {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU32;
    use std::thread;

    #[test]
    fn done_is_said_once_wherever_close_falls() {
        for started in 0..5 {
            for close_at in 0..=started {
                let completion = Completion::new();
                let mut done = 0;
                for step in 0..=started {
                    if step == close_at {
                        done += u32::from(completion.close(started) == Progress::Done);
                    }
                    if step < started {
                        done += u32::from(completion.complete_one() == Progress::Done);
                    }
                }
                assert_eq!(done, 1, "{started} started, closed at {close_at}");
            }
        }
    }

    #[test]
    fn threads_see_one_done() {
        for _ in 0..200 {
            let completion = Completion::new();
            let done = AtomicU32::new(0);
            let note = |progress| {
                done.fetch_add(u32::from(progress == Progress::Done), Ordering::Relaxed);
            };
            thread::scope(|scope| {
                for _ in 0..3 {
                    scope.spawn(|| note(completion.complete_one()));
                }
                note(completion.close(3));
            });
            assert_eq!(done.into_inner(), 1);
        }
    }
}
