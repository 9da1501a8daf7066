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
//! Whoever completes, or closes, lowers one word (Release, Acquire), and learns from what it was before
//! whether it is zero now: so there is one such party, and it sees what all others did.
//!
//! Invariant: of all calls between one `open` and the next, exactly one returns `Done`.

use crate::memory::model::atomic::{AtomicU64, Ordering};

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
    #[cfg(not(raddle_loom))]
    pub const fn new() -> Self {
        Self { pending: AtomicU64::new(BIAS) }
    }

    /// Creates an open counter.
    #[cfg(raddle_loom)]
    pub fn new() -> Self {
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

#[cfg(all(test, not(raddle_loom)))]
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

#[cfg(all(test, raddle_loom))]
mod models {
    use std::sync::Arc;

    use loom::sync::atomic::AtomicU32;
    use loom::thread::{self, Thread};

    use super::*;
    use crate::memory::model::explore;

    struct Model {
        completion: Completion,
        /// How many have seen `Done`.
        done: AtomicU32,
        /// Work that was done; a relaxed load may return an old value unless the counter orders it.
        work: [AtomicU32; 3],
        owner: Thread,
        /// Whoever completes the last piece of work tells nobody.
        last_is_silent: bool,
    }

    impl Model {
        fn new(last_is_silent: bool) -> Arc<Self> {
            Arc::new(Self {
                completion: Completion::new(),
                done: AtomicU32::new(0),
                work: std::array::from_fn(|_| AtomicU32::new(0)),
                owner: thread::current(),
                last_is_silent,
            })
        }

        fn note(&self, progress: Progress) {
            if progress == Progress::Done {
                self.done.fetch_add(1, Ordering::Release);
                if !self.last_is_silent {
                    self.owner.unpark();
                }
            }
        }

        /// What an owner does that has started so much work.
        fn wait(&self, started: u32) {
            self.note(self.completion.close(started));
            while self.done.load(Ordering::Acquire) == 0 {
                thread::park();
            }
            assert_eq!(self.done.load(Ordering::Relaxed), 1);
        }
    }

    #[test]
    fn the_last_of_two_wakes_the_owner() {
        explore(|| {
            let model = Model::new(false);
            let threads: Vec<_> = (0..2)
                .map(|number| {
                    let model = Arc::clone(&model);
                    thread::spawn(move || {
                        model.work[number].store(1, Ordering::Relaxed);
                        model.note(model.completion.complete_one());
                    })
                })
                .collect();
            model.wait(2);
            assert!(model.work[..2].iter().all(|work| work.load(Ordering::Relaxed) == 1));
            threads.into_iter().for_each(|thread| thread.join().unwrap());
        });
    }

    /// A task starts another on credit, which a second worker completes; the first settles later.
    #[test]
    fn work_started_on_credit_is_waited_for() {
        explore(|| {
            let model = Model::new(false);
            let first = {
                let model = Arc::clone(&model);
                thread::spawn(move || {
                    let loan = 4;
                    model.completion.start_more(loan);
                    let second = {
                        let model = Arc::clone(&model);
                        thread::spawn(move || {
                            model.work[1].store(1, Ordering::Relaxed);
                            model.note(model.completion.complete_one());
                        })
                    };
                    model.work[0].store(1, Ordering::Relaxed);
                    // Of the loan one was used; and the task itself is complete.
                    model.note(model.completion.complete(loan - 1 + 1));
                    second.join().unwrap();
                })
            };
            model.wait(1);
            assert!(model.work[..2].iter().all(|work| work.load(Ordering::Relaxed) == 1));
            first.join().unwrap();
        });
    }

    /// The owner sleeps for ever.
    #[test]
    #[should_panic]
    fn the_models_find_a_last_one_that_wakes_nobody() {
        explore(|| {
            let model = Model::new(true);
            let other = Arc::clone(&model);
            let thread = thread::spawn(move || other.note(other.completion.complete_one()));
            model.wait(1);
            thread.join().unwrap();
        });
    }
}
