//! Which worker runs which task.
//!
//! A policy keeps the tasks that are ready and nobody has begun; to it a task is a word (see
//! `ready`). It is asked by workers, each with
//! its [`Seat`], and knows neither fibers nor sleeping: who sleeps is woken by `shared`, after the
//! policy has the task.
//!
//! What always holds: a task queued is given out once, by `take` or `take_back`; as long as there
//! is one that a worker may run, `has_tasks` says so to it.

mod dispatching;
mod pairs;
mod stealing;

use std::cell::Cell;

use super::shared::Priority;
use dispatching::Dispatcher;
use pairs::PairQueues;
use stealing::{OwnDeques, StealingDeques};

/// How tasks get to workers.
///
/// # Examples
///
/// ```
/// use raddle::{Policy, Runtime, Task};
///
/// fn fibonacci(task: &Task<'_>, n: u32) -> u32 {
///     if n < 2 {
///         return n;
///     }
///     let (a, b) = task.join(|task| fibonacci(task, n - 1), |task| fibonacci(task, n - 2));
///     a + b
/// }
///
/// // They differ in speed, and in nothing else.
/// for policy in [Policy::Stealing, Policy::Dispatching, Policy::Pairs] {
///     let runtime = Runtime::builder().workers(4).policy(policy).build()?;
///     assert_eq!(runtime.run(|task| fibonacci(task, 12)), 144);
/// }
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Policy {
    /// Each worker has a queue of its own, and takes from others when it is empty (symmetric
    /// multiprocessing).
    #[default]
    Stealing,
    /// Worker 0 runs no tasks; it gives those of the others to whoever is idle (asymmetric
    /// multiprocessing). A runtime of one worker has nobody to give to, and steals.
    Dispatching,
    /// Every two workers share a queue, and take from other pairs when it is empty.
    Pairs,
}

/// Where a worker looks for a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// Among its own.
    Own,
    /// At the others'.
    Others,
    /// At the others', also where they do not share; to be tried before sleeping.
    Hard,
}

/// The rules of a policy.
pub(super) trait Schedule {
    /// Queues a task that the worker has started.
    fn queue(&self, seat: &Seat, priority: Priority, task: u64);

    /// Takes a task for the worker.
    fn take(&self, seat: &Seat, look: Look) -> Option<u64>;

    /// Takes back the task that the worker has queued last, unless it is gone already.
    fn take_back(&self, seat: &Seat, priority: Priority, task: u64) -> bool;

    /// Returns whether there may be something to do for the worker.
    fn has_tasks(&self, worker: usize) -> bool;
}

/// A worker as a policy sees it.
#[derive(Debug)]
pub(super) struct Seat {
    pub(super) worker: usize,
    /// Tasks taken from others, to be counted and set back by the worker.
    pub(super) stolen: Cell<u64>,
    random: Cell<u64>,
    /// The worker's own deques, under stealing: nearly all calls end there.
    deques: Option<OwnDeques>,
}

/// The policy of a runtime.
pub(super) enum Queues {
    Stealing(StealingDeques),
    Dispatching(Dispatcher),
    Pairs(PairQueues),
}

impl Seat {
    fn new(worker: usize, deques: Option<OwnDeques>) -> Self {
        let random = Cell::new(0x9E37_79B9_7F4A_7C15 ^ (worker as u64 + 1) << 32);
        Self { worker, stolen: Cell::new(0), random, deques }
    }

    fn note_stolen(&self, count: usize) {
        self.stolen.set(self.stolen.get() + count as u64);
    }

    fn next_random(&self) -> usize {
        // Xorshift, Marsaglia 2003.
        let mut state = self.random.get();
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        self.random.set(state);
        state as usize
    }

    /// Returns the numbers below `count` but for `own`, from a random one on.
    fn others(&self, count: usize, own: usize) -> impl Iterator<Item = usize> + use<> {
        let first = self.next_random() % count;
        (0..count).map(move |offset| (first + offset) % count).filter(move |&other| other != own)
    }
}

impl Queues {
    pub(super) fn new(policy: Policy, workers: usize) -> Self {
        match policy {
            Policy::Dispatching if workers > 1 => Self::Dispatching(Dispatcher::new(workers)),
            Policy::Stealing | Policy::Dispatching => Self::Stealing(StealingDeques::new(workers)),
            Policy::Pairs => Self::Pairs(PairQueues::new(workers)),
        }
    }

    /// Returns the seat of a worker, of which there is one.
    pub(super) fn seat(&self, worker: usize) -> Seat {
        let deques = match self {
            Self::Stealing(queues) => Some(queues.own(worker)),
            Self::Dispatching(_) | Self::Pairs(_) => None,
        };
        Seat::new(worker, deques)
    }

    /// Returns the policy in force.
    pub(super) fn policy(&self) -> Policy {
        match self {
            Self::Stealing(_) => Policy::Stealing,
            Self::Dispatching(_) => Policy::Dispatching,
            Self::Pairs(_) => Policy::Pairs,
        }
    }

    /// Returns the worker that must be told of tasks, if it is always the same.
    #[inline]
    pub(super) fn dispatcher(&self) -> Option<usize> {
        match self {
            Self::Dispatching(_) => Some(0),
            Self::Stealing(_) | Self::Pairs(_) => None,
        }
    }

    /// Makes what the worker has queued visible to others, where that is not so anyway.
    #[cold]
    pub(super) fn share(seat: &Seat, priority: Priority) {
        if let Some(deques) = &seat.deques {
            deques.share(priority);
        }
    }
}

impl Schedule for Queues {
    #[inline]
    fn queue(&self, seat: &Seat, priority: Priority, task: u64) {
        match &seat.deques {
            Some(deques) => deques.queue(priority, task),
            None => self.queue_elsewhere(seat, priority, task),
        }
    }

    #[inline]
    fn take(&self, seat: &Seat, look: Look) -> Option<u64> {
        match &seat.deques {
            Some(deques) if look == Look::Own => deques.take(),
            _ => self.take_elsewhere(seat, look),
        }
    }

    #[inline]
    fn take_back(&self, seat: &Seat, priority: Priority, task: u64) -> bool {
        match &seat.deques {
            Some(deques) => deques.take_back(priority, task),
            None => self.take_back_elsewhere(seat, priority, task),
        }
    }

    fn has_tasks(&self, worker: usize) -> bool {
        match self {
            Self::Stealing(queues) => queues.has_tasks(),
            Self::Dispatching(queues) => queues.has_tasks(worker),
            Self::Pairs(queues) => queues.has_tasks(worker),
        }
    }
}

/// For who has no deques of its own.
impl Queues {
    #[inline(never)]
    fn queue_elsewhere(&self, seat: &Seat, priority: Priority, task: u64) {
        match self {
            Self::Stealing(_) => unreachable!("every seat has deques"),
            Self::Dispatching(queues) => queues.queue(seat, priority, task),
            Self::Pairs(queues) => queues.queue(seat, priority, task),
        }
    }

    #[inline(never)]
    fn take_elsewhere(&self, seat: &Seat, look: Look) -> Option<u64> {
        match self {
            Self::Stealing(queues) => queues.rob(seat, look),
            Self::Dispatching(queues) => queues.take(seat, look),
            Self::Pairs(queues) => queues.take(seat, look),
        }
    }

    #[inline(never)]
    fn take_back_elsewhere(&self, seat: &Seat, priority: Priority, task: u64) -> bool {
        match self {
            Self::Stealing(_) => unreachable!("every seat has deques"),
            Self::Dispatching(queues) => queues.take_back(seat, priority, task),
            Self::Pairs(queues) => queues.take_back(seat, priority, task),
        }
    }
}

#[cfg(all(test, not(raddle_loom)))]
mod tests;
