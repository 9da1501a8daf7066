//! Work stealing: a deque per worker and priority.
//!
//! A worker takes its own youngest task of the highest priority. Others take its oldest, up to half
//! of what it shares, from a random worker on; it shares when it is asked, which it notices whenever
//! it queues or takes a task. Who finds only tasks that are not shared breaks in before it sleeps.

use std::cell::Cell;
use std::sync::Arc;

use super::super::deque::{Deque, Steal};
use super::super::shared::{PRIORITIES, Priority};
use super::{Look, Seat};
use crate::memory::CacheLine;

/// A thief takes half of what it finds, up to this many.
const LARGEST_LOOT: usize = 32;

pub(in crate::sched) struct StealingDeques {
    desks: Box<[Arc<Deques>]>,
}

/// By priority.
type Deques = CacheLine<[Deque; 3]>;

/// A worker's own deques, as it alone may use them.
#[derive(Debug)]
pub(super) struct OwnDeques {
    deques: Arc<Deques>,
    /// There may be tasks of high priority.
    urgent: Cell<bool>,
}

impl StealingDeques {
    pub(super) fn new(workers: usize) -> Self {
        let desk = |_| Arc::new(CacheLine(std::array::from_fn(|_| Deque::new())));
        Self { desks: (0..workers).map(desk).collect() }
    }

    pub(super) fn own(&self, worker: usize) -> OwnDeques {
        OwnDeques { deques: Arc::clone(&self.desks[worker]), urgent: Cell::new(false) }
    }

    /// Returns one task of another worker and queues the rest of the loot as own.
    pub(super) fn rob(&self, seat: &Seat, look: Look) -> Option<u64> {
        let own = seat.deques.as_ref()?;
        let mut loot = [0; LARGEST_LOOT];
        for priority in PRIORITIES {
            for victim in seat.others(self.desks.len(), seat.worker) {
                let deque = &self.desks[victim][priority as usize];
                let count = loop {
                    let stolen = match look {
                        Look::Hard => deque.break_in(&mut loot),
                        Look::Own | Look::Others => deque.steal(&mut loot),
                    };
                    match stolen {
                        Steal::Taken(count) => break count,
                        Steal::Empty => break 0,
                        Steal::Lost => std::hint::spin_loop(),
                    }
                };
                if let Some((&first, rest)) = loot[..count].split_first() {
                    seat.note_stolen(count);
                    // The youngest of them ends up to be run first, as it would have been there.
                    for &task in rest {
                        own.push(priority, task);
                    }
                    return Some(first);
                }
            }
        }
        None
    }

    pub(super) fn has_tasks(&self) -> bool {
        self.desks.iter().flat_map(|desk| desk.iter()).any(|deque| deque.len() > 0)
    }
}

impl OwnDeques {
    pub(super) fn share(&self, priority: Priority) {
        self.deques[priority as usize].share();
    }

    #[inline]
    pub(super) fn queue(&self, priority: Priority, task: u64) {
        let deque = self.push(priority, task);
        if deque.is_wanted() {
            deque.share();
        }
    }

    #[inline]
    fn push(&self, priority: Priority, task: u64) -> &Deque {
        if priority == Priority::High {
            self.urgent.set(true);
        }
        let deque = &self.deques[priority as usize];
        deque.push(task);
        deque
    }

    #[inline]
    pub(super) fn take(&self) -> Option<u64> {
        if self.urgent.get()
            && let Some(task) = self.take_urgent()
        {
            return Some(task);
        }
        match self.take_of(Priority::Normal) {
            Some(task) => Some(task),
            None => self.take_of_low(),
        }
    }

    #[inline]
    fn take_of(&self, priority: Priority) -> Option<u64> {
        let deque = &self.deques[priority as usize];
        let task = deque.pop()?;
        if deque.is_wanted() {
            deque.share();
        }
        Some(task)
    }

    #[cold]
    fn take_urgent(&self) -> Option<u64> {
        let task = self.take_of(Priority::High);
        self.urgent.set(task.is_some());
        task
    }

    #[cold]
    fn take_of_low(&self) -> Option<u64> {
        self.take_of(Priority::Low)
    }

    #[inline]
    pub(super) fn take_back(&self, priority: Priority, task: u64) -> bool {
        let deque = &self.deques[priority as usize];
        match deque.pop() {
            Some(last) if last == task => true,
            Some(other) => {
                deque.push(other);
                false
            }
            None => false,
        }
    }
}
