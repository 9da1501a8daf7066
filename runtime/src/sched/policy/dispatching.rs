//! A dispatcher: worker 0 runs no tasks and gives those of the others to whoever is idle.
//!
//! ```text
//! worker --outbox--> dispatcher's stock --inbox--> idle worker
//!                          ^                 |
//!                          '--- taken back --'  when another is idle and the stock is empty
//! ```
//!
//! A worker puts what it starts into its outbox, and asks when its inbox is empty. The dispatcher
//! empties the outboxes into its stock, by priority, and answers who asked: with one task, or with
//! more if there are many for each. Outboxes and inboxes are deques: a worker owns its outbox, the
//! dispatcher all inboxes, and the other side takes as a thief does. (The scheme is that of the NIX
//! kernel above five cores: a core that only hands out processes to idle ones.)
//!
//! ```text
//! worker:      nothing in the inbox?  asking := true;  wake the dispatcher    (1)
//!              announce its sleep;  nothing in the inbox, and asking?  sleep  (2)
//! dispatcher:  asking?  give;  asking := false;  wake the worker              (3)
//! ```
//!
//! So nobody sleeps who is not asking: an answer may be used up, or taken back, before the question
//! is marked as answered; then the worker finds that in (2) and begins anew, or (3) comes after its
//! announcement and wakes it. And nobody asks whom the dispatcher does not hear: a worker that looks
//! again after (1), as it does for a while, does not ask there.
//!
//! The dispatcher's rounds happen when it looks for a task, of which it never gets any. Only
//! where tasks wait for each other's workers' ends could it matter that worker 0 has fibers of its
//! own: it has none.

use std::collections::VecDeque;

use super::super::deque::{Deque, Steal};
use super::super::shared::{PRIORITIES, Priority};
use super::{Look, Schedule, Seat};
use crate::memory::CacheLine;
use crate::memory::model::atomic::{AtomicBool, Ordering};
use crate::memory::model::{Mutex, spin_loop};

/// The dispatcher's seat.
const DISPATCHER: usize = 0;
/// The most tasks that a worker gets at once.
const LARGEST_GIFT: usize = 32;

pub(in crate::sched) struct Dispatcher {
    desks: Box<[CacheLine<Desk>]>,
    /// Used by the dispatcher alone.
    stock: Mutex<[VecDeque<u64>; 3]>,
    /// Whether the stock may have something; written by the dispatcher.
    stocked: AtomicBool,
}

struct Desk {
    outbox: [Deque; 3],
    inbox: Deque,
    /// The worker has found its inbox empty.
    asking: CacheLine<AtomicBool>,
}

impl Dispatcher {
    pub(super) fn new(workers: usize) -> Self {
        let desk = |_| {
            CacheLine(Desk {
                outbox: std::array::from_fn(|_| Deque::new()),
                inbox: Deque::new(),
                asking: CacheLine(AtomicBool::new(false)),
            })
        };
        Self {
            desks: (0..workers).map(desk).collect(),
            stock: Mutex::new(Default::default()),
            stocked: AtomicBool::new(false),
        }
    }

    /// Adds a task from outside to the stock; for the dispatcher.
    pub(in crate::sched) fn stock(&self, task: u64) {
        self.stock.lock()[Priority::Normal as usize].push_back(task);
        self.stocked.store(true, Ordering::Relaxed);
    }

    /// Collects and gives out, and calls `tell` with each worker that got something.
    pub(in crate::sched) fn dispatch(&self, mut tell: impl FnMut(usize)) {
        let mut stock = self.stock.lock();
        for desk in &self.desks[1..] {
            for priority in PRIORITIES {
                empty(&desk.outbox[priority as usize], &mut stock[priority as usize]);
            }
        }
        let idle = || (1..self.desks.len()).filter(|&worker| self.is_asking(worker));
        let mut left: usize = stock.iter().map(VecDeque::len).sum();
        for worker in idle() {
            let gift = (left / (2 * self.desks.len())).clamp(1, LARGEST_GIFT);
            let mut next = || stock.iter_mut().find_map(VecDeque::pop_front);
            let Some(first) = next().or_else(|| self.take_from_fullest()) else { break };
            self.give(worker, first);
            std::iter::from_fn(next).take(gift - 1).for_each(|task| self.give(worker, task));
            left = left.saturating_sub(gift);
            // Before the fence in `tell`.
            self.desks[worker].asking.store(false, Ordering::Relaxed);
            tell(worker);
        }
        self.stocked.store(left > 0, Ordering::Relaxed);
    }

    /// Takes a task that was given to a worker which has not come to it.
    fn take_from_fullest(&self) -> Option<u64> {
        let fullest = self.desks[1..].iter().max_by_key(|desk| desk.inbox.len())?;
        take_youngest(&fullest.inbox)
    }

    fn give(&self, worker: usize, task: u64) {
        let inbox = &self.desks[worker].inbox;
        inbox.push(task);
        publish(inbox);
    }

    fn is_asking(&self, worker: usize) -> bool {
        self.desks[worker].asking.load(Ordering::Relaxed)
    }

    fn any_asking(&self) -> bool {
        (1..self.desks.len()).any(|worker| self.is_asking(worker))
    }
}

/// Makes all items public; for the owner.
fn publish(deque: &Deque) {
    while !deque.share() {}
}

/// Takes the youngest item and makes the others, which that may have made private, public again; for
/// the owner.
fn take_youngest(deque: &Deque) -> Option<u64> {
    let item = deque.pop();
    publish(deque);
    item
}

/// Moves all public items to the end of `stock`.
fn empty(outbox: &Deque, stock: &mut VecDeque<u64>) {
    let mut loot = [0; LARGEST_GIFT];
    loop {
        match outbox.steal(&mut loot) {
            Steal::Taken(count) => stock.extend(&loot[..count]),
            Steal::Empty => return,
            Steal::Lost => spin_loop(),
        }
    }
}

impl Schedule for Dispatcher {
    fn queue(&self, seat: &Seat, priority: Priority, task: u64) {
        if seat.worker == DISPATCHER {
            // Nothing runs there; but what runs on the dispatcher's thread would be served.
            self.stock(task);
            return;
        }
        let outbox = &self.desks[seat.worker].outbox[priority as usize];
        outbox.push(task);
        publish(outbox);
    }

    fn take(&self, seat: &Seat, look: Look) -> Option<u64> {
        if seat.worker == DISPATCHER {
            return None;
        }
        let desk = &self.desks[seat.worker];
        let mut task = [0];
        loop {
            match desk.inbox.steal(&mut task) {
                Steal::Taken(_) => {
                    seat.note_stolen(1);
                    return Some(task[0]);
                }
                Steal::Empty => {
                    if look == Look::Own && !desk.asking.load(Ordering::Relaxed) {
                        desk.asking.store(true, Ordering::Relaxed);
                    }
                    return None;
                }
                Steal::Lost => spin_loop(),
            }
        }
    }

    fn take_back(&self, seat: &Seat, priority: Priority, task: u64) -> bool {
        let outbox = &self.desks[seat.worker].outbox[priority as usize];
        match take_youngest(outbox) {
            Some(last) if last == task => true,
            Some(other) => {
                outbox.push(other);
                publish(outbox);
                false
            }
            None => false,
        }
    }

    fn has_tasks(&self, worker: usize) -> bool {
        if worker == DISPATCHER {
            let queued = |desk: &CacheLine<Desk>| desk.outbox.iter().any(|box_| box_.len() > 0);
            let waiting = self.stocked.load(Ordering::Relaxed)
                || self.desks.iter().any(|desk| desk.inbox.len() > 0);
            self.desks.iter().any(queued) || (waiting && self.any_asking())
        } else {
            self.desks[worker].inbox.len() > 0 || !self.is_asking(worker)
        }
    }
}

#[cfg(all(test, raddle_loom))]
mod models {
    use std::sync::Arc;

    use loom::thread;

    use super::*;
    use crate::memory::model::explore_within;
    use crate::sync::EventCount;

    const TASKS: u64 = 2;

    struct Model {
        dispatcher: Dispatcher,
        events: EventCount,
        /// The worker sleeps also if its question was answered.
        relies_on_its_question: bool,
        /// The worker asks also where it does not wake the dispatcher afterwards.
        asks_in_passing: bool,
    }

    impl Model {
        fn sleep_unless(&self, worker: usize, has_tasks: impl FnOnce() -> bool) {
            self.events.prepare(worker);
            if has_tasks() {
                _ = self.events.cancel(worker);
                thread::yield_now();
            } else {
                _ = self.events.wait(worker);
            }
        }

        /// Gives out one task a round, until there are none.
        fn dispatch(&self) {
            loop {
                self.dispatcher.dispatch(|worker| _ = self.events.notify(worker));
                if !self.dispatcher.stocked.load(Ordering::Relaxed) {
                    return;
                }
                self.sleep_unless(DISPATCHER, || self.dispatcher.has_tasks(DISPATCHER));
            }
        }

        fn work(&self) {
            let seat = Seat::new(1, None);
            let search = || {
                self.events.notify(DISPATCHER);
                self.dispatcher
                    .take(&seat, if self.asks_in_passing { Look::Own } else { Look::Others })
            };
            for _ in 0..TASKS {
                while self.dispatcher.take(&seat, Look::Own).or_else(search).is_none() {
                    let has_tasks = || match self.relies_on_its_question {
                        true => self.dispatcher.desks[1].inbox.len() > 0,
                        false => self.dispatcher.has_tasks(1),
                    };
                    self.sleep_unless(1, has_tasks);
                }
            }
        }
    }

    /// A task that nobody gets shows as a deadlock of the model.
    fn check(relies_on_its_question: bool, asks_in_passing: bool) {
        explore_within(5, move || {
            let model = Arc::new(Model {
                dispatcher: Dispatcher::new(2),
                events: EventCount::new(2),
                relies_on_its_question,
                asks_in_passing,
            });
            (0..TASKS).for_each(|task| model.dispatcher.stock(task));
            let worker = thread::spawn({
                let model = Arc::clone(&model);
                move || model.work()
            });
            model.dispatch();
            worker.join().unwrap();
        });
    }

    #[test]
    fn a_worker_gets_all_it_asks_for() {
        check(false, false);
    }

    #[test]
    #[should_panic(expected = "deadlock")]
    fn the_model_finds_a_worker_that_relies_on_its_question() {
        check(true, false);
    }

    #[test]
    #[should_panic(expected = "deadlock")]
    fn the_model_finds_a_question_that_nobody_hears() {
        check(false, true);
    }
}
