//! How workers without work find out about it.
//!
//! A worker that runs out of work *searches* for a bounded time, then sleeps on the event count.
//! A producer wakes a sleeper only if nobody searches, and the woken one counts as searching from
//! then on: so a burst of spawns wakes one worker at a time.
//!
//! ```text
//! producer:  push; fence; somebody sleeps and nobody searches? -> searching 0 -> 1, wake one
//! searcher:  found work  -> searching - 1; the last one wakes another if there is more
//!            found none  -> searching - 1; prepare to sleep; look once more; sleep
//! ```
//!
//! A producer that sees a searcher leaves its task to it: the searcher's last look comes after it
//! stopped counting as searching, hence after the push. The producer's fence is a light one, so
//! whoever stops searching while others may rely on it looks after a heavy one.
//!
//! What always holds: as long as there is work that somebody may take, somebody runs, searches, or
//! was woken and not yet looked.

use crate::memory::CacheLine;
use crate::memory::barrier::{heavy, light};
use crate::memory::model::atomic::{AtomicU32, Ordering, fence};
use crate::sync::EventCount;

pub(super) struct Idlers {
    pub(super) events: EventCount,
    /// Workers that look for work and have none.
    searching: CacheLine<AtomicU32>,
}

impl Idlers {
    pub(super) fn new(workers: usize) -> Self {
        Self { events: EventCount::new(workers), searching: CacheLine(AtomicU32::new(0)) }
    }

    /// Returns whether some worker has nothing to do.
    #[inline]
    pub(super) fn is_any(&self) -> bool {
        self.events.any_waiting() || self.searching.load(Ordering::Relaxed) > 0
    }

    /// Returns whether somebody sleeps who may have to be woken for work that was just made visible.
    #[inline]
    pub(super) fn any_asleep(&self) -> bool {
        // Between the push and reading who sleeps; pairs with the fence in `EventCount::prepare`.
        light();
        self.events.any_waiting()
    }

    /// Returns whether nobody searches who would find new work; after `any_asleep` has said yes.
    pub(super) fn nobody_searches(&self) -> bool {
        // Between reading who sleeps and who searches; pairs with the fence in `end_search`.
        fence(Ordering::SeqCst);
        self.searching.load(Ordering::SeqCst) == 0
    }

    /// Has somebody search, unless somebody does.
    #[cold]
    pub(super) fn wake_searcher(&self) {
        loop {
            let begun =
                self.searching.compare_exchange(0, 1, Ordering::SeqCst, Ordering::SeqCst).is_ok();
            if !begun || self.events.notify_any() {
                return;
            }
            self.searching.fetch_sub(1, Ordering::SeqCst);
            heavy();
            // Another producer may have relied on the searcher that we pretended to be.
            if !self.events.any_waiting() {
                return;
            }
        }
    }

    pub(super) fn begin_search(&self) {
        self.searching.fetch_add(1, Ordering::SeqCst);
    }

    /// Ends a search that found something; `is_there_more` looks for what is left to others.
    pub(super) fn end_search(&self, is_there_more: impl FnOnce() -> bool) {
        let last = self.searching.fetch_sub(1, Ordering::SeqCst) == 1;
        if !last {
            return;
        }
        // Whom a producer saw asleep that left its work to us, we see asleep as well.
        fence(Ordering::SeqCst);
        if self.events.any_waiting() {
            // As `give_up_search`: the producer's other fence is a light one.
            heavy();
            if is_there_more() {
                self.wake_searcher();
            }
        }
    }

    /// Ends a search that found nothing; the caller looks once more after its next heavy fence.
    pub(super) fn give_up_search(&self) {
        self.searching.fetch_sub(1, Ordering::SeqCst);
    }
}

#[cfg(all(test, raddle_loom))]
mod models {
    use std::sync::Arc;

    use loom::sync::{Condvar, Mutex};
    use loom::thread;

    use super::*;
    use crate::memory::model::explore_within;
    use crate::sync::{Cancelled, Notified};

    /// Tasks are a number; the last one to be taken stops everybody.
    struct Model {
        idlers: Idlers,
        queued: AtomicU32,
        left: AtomicU32,
        all_begun: (Mutex<bool>, Condvar),
        workers: usize,
        /// A task ends only when all have begun.
        together: bool,
        /// A searcher that finds something wakes nobody for the rest.
        forgets_the_rest: bool,
    }

    impl Model {
        fn new(workers: usize, tasks: u32) -> Self {
            Self {
                idlers: Idlers::new(workers),
                queued: AtomicU32::new(0),
                left: AtomicU32::new(tasks),
                all_begun: (Mutex::new(false), Condvar::new()),
                workers,
                together: false,
                forgets_the_rest: false,
            }
        }

        fn produce(&self) {
            self.queued.fetch_add(1, Ordering::Relaxed);
            if self.idlers.any_asleep() && self.idlers.nobody_searches() {
                self.idlers.wake_searcher();
            }
        }

        fn take(&self) -> bool {
            let take = |queued: u32| queued.checked_sub(1);
            self.queued.fetch_update(Ordering::AcqRel, Ordering::Acquire, take).is_ok()
        }

        fn run(&self) {
            if self.left.fetch_sub(1, Ordering::SeqCst) == 1 {
                (0..self.workers).for_each(|worker| _ = self.idlers.events.notify(worker));
                *self.all_begun.0.lock().unwrap() = true;
                self.all_begun.1.notify_all();
            }
            if self.together {
                let mut all_begun = self.all_begun.0.lock().unwrap();
                while !*all_begun {
                    all_begun = self.all_begun.1.wait(all_begun).unwrap();
                }
            }
        }

        /// What a worker does, shortened: one look is a search.
        fn work(&self, worker: usize) {
            let events = &self.idlers.events;
            let mut searching = false;
            loop {
                if !searching {
                    self.idlers.begin_search();
                }
                if self.take() {
                    self.idlers.end_search(|| {
                        !self.forgets_the_rest && self.queued.load(Ordering::Relaxed) > 0
                    });
                    searching = false;
                    self.run();
                    continue;
                }
                self.idlers.give_up_search();
                events.prepare(worker);
                let stopping = self.left.load(Ordering::SeqCst) == 0;
                let notified = if stopping || self.queued.load(Ordering::Relaxed) > 0 {
                    match events.cancel(worker) {
                        Cancelled::Unclaimed => None,
                        Cancelled::Claimed(notified) => Some(notified),
                    }
                } else {
                    Some(events.wait(worker))
                };
                searching = notified == Some(Notified::Any);
                if stopping {
                    return;
                }
            }
        }
    }

    /// Work that nobody is woken for shows as a deadlock of the model.
    fn check(preemptions: usize, producers: u32, tasks: u32, model: fn(u32) -> Model) {
        explore_within(preemptions, move || {
            let model = Arc::new(model(producers * tasks));
            let mut threads = Vec::new();
            for worker in 0..model.workers {
                let model = Arc::clone(&model);
                threads.push(thread::spawn(move || model.work(worker)));
            }
            for _ in 1..producers {
                let model = Arc::clone(&model);
                threads.push(thread::spawn(move || (0..tasks).for_each(|_| model.produce())));
            }
            (0..tasks).for_each(|_| model.produce());
            threads.into_iter().for_each(|thread| thread.join().unwrap());
            assert_eq!(model.left.load(Ordering::Relaxed), 0);
        });
    }

    #[test]
    fn a_worker_finds_what_two_producers_make() {
        check(2, 2, 1, |tasks| Model::new(1, tasks));
    }

    #[test]
    fn two_workers_find_what_one_makes() {
        check(2, 1, 2, |tasks| Model::new(2, tasks));
    }

    #[test]
    fn a_searcher_wakes_another_for_the_rest() {
        check(2, 1, 2, |tasks| Model { together: true, ..Model::new(2, tasks) });
    }

    /// The rest stays where it is, and the task that was found waits for it.
    #[test]
    #[should_panic]
    fn the_models_find_a_searcher_that_wakes_nobody() {
        let broken =
            |tasks| Model { together: true, forgets_the_rest: true, ..Model::new(2, tasks) };
        check(2, 1, 2, broken);
    }
}
