//! A queue for every two workers.
//!
//! The two workers of a pair share a queue under a lock, as the NIX kernel had it in the end; they
//! take the youngest task of the highest priority. An empty pair takes the oldest tasks of another,
//! half of what there is, up to a limit.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;

use super::super::shared::Priority;
use super::{Look, Schedule, Seat};
use crate::memory::CacheLine;

const LARGEST_LOOT: usize = 32;

pub(in crate::sched) struct PairQueues {
    pairs: Box<[CacheLine<Pair>]>,
}

#[derive(Default)]
struct Pair {
    /// The number of tasks, so that others need not take the lock to see that there is none.
    len: AtomicUsize,
    queues: Mutex<[VecDeque<u64>; 3]>,
}

impl PairQueues {
    pub(super) fn new(workers: usize) -> Self {
        Self { pairs: (0..workers.div_ceil(2)).map(|_| CacheLine::default()).collect() }
    }

    fn own(&self, seat: &Seat) -> &Pair {
        &self.pairs[seat.worker / 2]
    }

    fn take_own(&self, seat: &Seat) -> Option<u64> {
        self.own(seat).with(|queues| queues.iter_mut().find_map(VecDeque::pop_back))
    }

    fn rob(&self, seat: &Seat) -> Option<u64> {
        for victim in seat.others(self.pairs.len(), seat.worker / 2) {
            let taken = self.pairs[victim].with(|queues| {
                let (priority, queue) =
                    queues.iter_mut().enumerate().find(|(_, queue)| !queue.is_empty())?;
                let count = queue.len().div_ceil(2).min(LARGEST_LOOT);
                Some((priority, queue.drain(..count).collect::<Vec<_>>()))
            });
            if let Some((priority, loot)) = taken {
                seat.note_stolen(loot.len());
                self.own(seat).lock_with(|queues| queues[priority].extend(&loot[1..]));
                return loot.first().copied();
            }
        }
        None
    }
}

impl Pair {
    /// Calls `change` under the lock if there are tasks.
    fn with<R>(&self, change: impl FnOnce(&mut [VecDeque<u64>; 3]) -> Option<R>) -> Option<R> {
        if self.len.load(Ordering::Relaxed) == 0 {
            return None;
        }
        self.lock_with(change)
    }

    fn lock_with<R>(&self, change: impl FnOnce(&mut [VecDeque<u64>; 3]) -> R) -> R {
        let mut queues = self.queues.lock();
        let result = change(&mut queues);
        let len = queues.iter().map(VecDeque::len).sum();
        // Who misses this is told by the event count; see `shared`.
        self.len.store(len, Ordering::Relaxed);
        result
    }
}

impl Schedule for PairQueues {
    fn queue(&self, seat: &Seat, priority: Priority, task: u64) {
        self.own(seat).lock_with(|queues| queues[priority as usize].push_back(task));
    }

    fn take(&self, seat: &Seat, look: Look) -> Option<u64> {
        match look {
            Look::Own => self.take_own(seat),
            Look::Others | Look::Hard => self.rob(seat),
        }
    }

    fn take_back(&self, seat: &Seat, priority: Priority, task: u64) -> bool {
        let taken = self.own(seat).with(|queues| {
            let queue = &mut queues[priority as usize];
            if queue.back() == Some(&task) { queue.pop_back() } else { None }
        });
        taken.is_some()
    }

    fn has_tasks(&self, _: usize) -> bool {
        self.pairs.iter().any(|pair| pair.len.load(Ordering::Relaxed) > 0)
    }
}
