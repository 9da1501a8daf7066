//! Work stealing: a deque per worker and priority.
//!
//! A worker takes its own youngest task of the highest priority. Others take its oldest, up to half
//! of what it shares, from a random worker on; it shares when it is asked, which it notices whenever
//! it queues or takes a task. Who finds only tasks that are not shared breaks in before it sleeps.

use super::super::deque::{Deque, Steal};
use super::super::shared::{PRIORITIES, Priority};
use super::{Look, Schedule, Seat};
use crate::memory::CacheLine;

/// A thief takes half of what it finds, up to this many.
const LARGEST_LOOT: usize = 32;

pub(in crate::sched) struct StealingDeques {
    desks: Box<[CacheLine<[Deque; 3]>]>,
}

impl StealingDeques {
    pub(super) fn new(workers: usize) -> Self {
        let desk = |_| CacheLine(std::array::from_fn(|_| Deque::new()));
        Self { desks: (0..workers).map(desk).collect() }
    }

    pub(super) fn share(&self, seat: &Seat, priority: Priority) {
        self.own(seat, priority).share();
    }

    #[inline]
    fn own(&self, seat: &Seat, priority: Priority) -> &Deque {
        &self.desks[seat.worker][priority as usize]
    }

    #[inline]
    fn take_own(&self, seat: &Seat) -> Option<u64> {
        for priority in PRIORITIES {
            let deque = self.own(seat, priority);
            if let Some(task) = deque.pop() {
                if deque.is_wanted() {
                    deque.share();
                }
                return Some(task);
            }
        }
        None
    }

    /// Returns one task of another worker and queues the rest of the loot as own.
    fn rob(&self, seat: &Seat, take: impl Fn(&Deque, &mut [u64]) -> Steal) -> Option<u64> {
        let mut loot = [0; LARGEST_LOOT];
        for priority in PRIORITIES {
            for victim in seat.others(self.desks.len(), seat.worker) {
                let deque = &self.desks[victim][priority as usize];
                let count = loop {
                    match take(deque, &mut loot) {
                        Steal::Taken(count) => break count,
                        Steal::Empty => break 0,
                        Steal::Lost => std::hint::spin_loop(),
                    }
                };
                if let Some((&first, rest)) = loot[..count].split_first() {
                    seat.note_stolen(count);
                    let own = self.own(seat, priority);
                    // The youngest of them ends up to be run first, as it would have been there.
                    for &task in rest {
                        own.push(task);
                    }
                    return Some(first);
                }
            }
        }
        None
    }
}

impl Schedule for StealingDeques {
    #[inline]
    fn queue(&self, seat: &Seat, priority: Priority, task: u64) {
        let deque = self.own(seat, priority);
        deque.push(task);
        if deque.is_wanted() {
            deque.share();
        }
    }

    #[inline]
    fn take(&self, seat: &Seat, look: Look) -> Option<u64> {
        match look {
            Look::Own => self.take_own(seat),
            Look::Others => self.rob(seat, Deque::steal),
            Look::Hard => self.rob(seat, Deque::break_in),
        }
    }

    #[inline]
    fn take_back(&self, seat: &Seat, priority: Priority, task: u64) -> bool {
        let deque = self.own(seat, priority);
        match deque.pop() {
            Some(last) if last == task => true,
            Some(other) => {
                deque.push(other);
                false
            }
            None => false,
        }
    }

    fn has_tasks(&self, _: usize) -> bool {
        self.desks.iter().flat_map(|desk| desk.iter()).any(|deque| deque.len() > 0)
    }
}
