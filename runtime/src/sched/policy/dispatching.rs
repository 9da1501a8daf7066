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
//! The dispatcher's rounds happen when it looks for a task, of which it never gets any. Only
//! where tasks wait for each other's workers' ends could it matter that worker 0 has fibers of its
//! own: it has none.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;

use super::super::deque::{Deque, Steal};
use super::super::shared::{PRIORITIES, Priority};
use super::{Look, Schedule, Seat};
use crate::memory::CacheLine;

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
                asking: CacheLine::default(),
            })
        };
        Self {
            desks: (0..workers).map(desk).collect(),
            stock: Mutex::default(),
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
            let mut given = 0;
            while given < gift {
                let task = stock.iter_mut().find_map(VecDeque::pop_front);
                let Some(task) = task.or_else(|| self.take_from_fullest(given)) else { break };
                self.give(worker, task);
                given += 1;
            }
            if given == 0 {
                break;
            }
            left = left.saturating_sub(given);
            self.desks[worker].asking.store(false, Ordering::Relaxed);
            tell(worker);
        }
        self.stocked.store(left > 0, Ordering::Relaxed);
    }

    /// Takes a task that was given to a worker which has not come to it.
    fn take_from_fullest(&self, given: usize) -> Option<u64> {
        if given > 0 {
            return None;
        }
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
            Steal::Lost => std::hint::spin_loop(),
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

    fn take(&self, seat: &Seat, _: Look) -> Option<u64> {
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
                    if !desk.asking.load(Ordering::Relaxed) {
                        desk.asking.store(true, Ordering::Relaxed);
                    }
                    return None;
                }
                Steal::Lost => std::hint::spin_loop(),
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
            self.desks[worker].inbox.len() > 0
        }
    }
}
