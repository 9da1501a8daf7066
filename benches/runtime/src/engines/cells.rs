//! Raddle's cells that one task evaluates and another waits for, of two kinds: `Signalled` keeps the
//! waiter's waker, as the cells of the other engines do; `Watched` waits by `wait_cell`, which would
//! find a circle.

use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::task::Poll;

use atomic_waker::AtomicWaker;
use raddle::{Priority, Runtime, Scope, Task, TaskId};

use crate::measure::{Measured, Meter};
use crate::problems::chains;

/// A cell, which is made empty.
pub(super) trait Cell: Default + Sync {
    /// Waits until the cell is evaluated, by `owner`.
    fn force(&self, task: &Task<'_>, owner: TaskId) -> u64;

    /// Gives the cell its value.
    fn finish(&self, task: &Task<'_>, value: u64);
}

/// Tells one waker.
#[derive(Default)]
pub(super) struct Signalled {
    ready: AtomicBool,
    value: AtomicU64,
    waiter: AtomicWaker,
}

/// Tells the runtime.
#[derive(Default)]
pub(super) struct Watched {
    state: AtomicU32,
    value: AtomicU64,
}

struct Chains<C> {
    chains: Vec<Chain<C>>,
    sum: chains::Sum,
}

struct Chain<C> {
    cells: Vec<C>,
    /// The tasks that evaluate the even and the odd cells.
    owners: [AtomicU32; 2],
}

pub(super) fn run<C: Cell>(runtime: &Runtime, size: u64, meter: &Meter) -> Measured {
    let expected = chains::expected(size);
    let work = |chains: &mut Chains<C>| {
        runtime.run(|task| task.scope(|scope| chains.start(scope, task)));
    };
    let is_right = |chains: &Chains<C>, ()| chains.sum.get() == expected;
    meter.measure(size * chains::CHAINS, || Chains::new(size), work, is_right)
}

impl<C: Cell> Chains<C> {
    fn new(length: u64) -> Self {
        let chain = || Chain {
            cells: (0..length).map(|_| C::default()).collect(),
            owners: [AtomicU32::new(0), AtomicU32::new(0)],
        };
        Self { chains: (0..chains::CHAINS).map(|_| chain()).collect(), sum: chains::Sum::default() }
    }

    fn start<'scope>(&'scope self, scope: &'scope Scope<'scope, '_>, task: &Task<'_>) {
        for (number, chain) in self.chains.iter().enumerate() {
            for parity in 0..2 {
                scope.spawn(task, Priority::Normal, move |task| {
                    chain.evaluate(task, number as u64, parity, &self.sum);
                });
            }
        }
    }
}

impl<C: Cell> Chain<C> {
    fn evaluate(&self, task: &Task<'_>, number: u64, parity: usize, sum: &chains::Sum) {
        self.owners[parity].store(task.id().get(), Ordering::Release);
        let other = loop {
            match TaskId::from_u32(self.owners[1 - parity].load(Ordering::Acquire)) {
                Some(other) => break other,
                None => task.yield_now(),
            }
        };
        for (n, cell) in self.cells.iter().enumerate().skip(parity).step_by(2) {
            let value = match n.checked_sub(1) {
                None => chains::first(number),
                Some(before) => chains::next(self.cells[before].force(task, other)),
            };
            cell.finish(task, value);
            if n + 1 == self.cells.len() {
                sum.add(value);
            }
        }
    }
}

impl Cell for Signalled {
    fn force(&self, task: &Task<'_>, _: TaskId) -> u64 {
        if !self.ready.load(Ordering::Acquire) {
            task.wait(poll_fn(|context| {
                self.waiter.register(context.waker());
                if self.ready.load(Ordering::Acquire) { Poll::Ready(()) } else { Poll::Pending }
            }));
        }
        self.value.load(Ordering::Relaxed)
    }

    fn finish(&self, _: &Task<'_>, value: u64) {
        self.value.store(value, Ordering::Relaxed);
        self.ready.store(true, Ordering::Release);
        self.waiter.wake();
    }
}

const WAITED: u32 = 1;
const READY: u32 = 2;

impl Cell for Watched {
    fn force(&self, task: &Task<'_>, owner: TaskId) -> u64 {
        while self.state.load(Ordering::Acquire) != READY {
            let still_busy = || {
                let mark =
                    self.state.compare_exchange(0, WAITED, Ordering::AcqRel, Ordering::Acquire);
                mark != Err(READY)
            };
            let _woken = task.wait_cell((&raw const self.state).addr(), owner, still_busy);
        }
        self.value.load(Ordering::Relaxed)
    }

    fn finish(&self, task: &Task<'_>, value: u64) {
        self.value.store(value, Ordering::Relaxed);
        if self.state.swap(READY, Ordering::AcqRel) == WAITED {
            task.wake_cell((&raw const self.state).addr());
        }
    }
}
