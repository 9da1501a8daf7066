//! A thread of the system for each task; waiting is parking. The number of workers means nothing.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{OnceLock, mpsc};
use std::thread::{self, Thread};

use super::Job;
use crate::measure::{Measured, Meter};
use crate::plan::Row;
use crate::problems::chains;

pub(super) fn run(job: Job, meter: &Meter) -> Option<Measured> {
    let size = job.size;
    Some(match job.row {
        Row::PingPong => {
            meter.measure(size, || (), |(): &mut ()| ping_pong(size), |(), last| last == 2 * size)
        }
        Row::Collisions | Row::Cells => {
            let expected = chains::expected(size);
            let work = |chains: &mut Chains| chains.evaluate();
            let is_right = |chains: &Chains, ()| chains.sum.get() == expected;
            meter.measure(size * chains::CHAINS, || Chains::new(size), work, is_right)
        }
        _ => return None,
    })
}

fn ping_pong(rounds: u64) -> u64 {
    let (ping, pinged) = mpsc::sync_channel(1);
    let (pong, ponged) = mpsc::sync_channel(1);
    thread::scope(|scope| {
        scope.spawn(move || {
            for number in pinged {
                pong.send(number + 1).expect("the other side waits for it");
            }
        });
        let mut number = 0u64;
        for _ in 0..rounds {
            ping.send(number + 1).expect("the other side waits for it");
            number = ponged.recv().expect("the other side answers");
        }
        drop(ping);
        number
    })
}

const BUSY: u32 = 0;
const WAITED: u32 = 1;
const READY: u32 = 2;

struct Cell {
    state: AtomicU32,
    value: AtomicU64,
}

struct Chain {
    cells: Vec<Cell>,
    /// The threads that evaluate the even and the odd cells.
    threads: [OnceLock<Thread>; 2],
}

struct Chains {
    chains: Vec<Chain>,
    sum: chains::Sum,
}

impl Chains {
    fn new(length: u64) -> Self {
        let cell = || Cell { state: AtomicU32::new(BUSY), value: AtomicU64::new(0) };
        let chain = || Chain {
            cells: (0..length).map(|_| cell()).collect(),
            threads: [OnceLock::new(), OnceLock::new()],
        };
        Self { chains: (0..chains::CHAINS).map(|_| chain()).collect(), sum: chains::Sum::default() }
    }

    fn evaluate(&self) {
        thread::scope(|scope| {
            for (number, chain) in self.chains.iter().enumerate() {
                for parity in 0..2 {
                    scope.spawn(move || chain.evaluate(number as u64, parity, &self.sum));
                }
            }
        });
    }
}

impl Chain {
    fn evaluate(&self, number: u64, parity: usize, sum: &chains::Sum) {
        self.threads[parity].get_or_init(thread::current);
        for (n, cell) in self.cells.iter().enumerate().skip(parity).step_by(2) {
            let value = match n.checked_sub(1) {
                None => chains::first(number),
                Some(before) => chains::next(self.cells[before].force()),
            };
            cell.value.store(value, Ordering::Relaxed);
            if cell.state.swap(READY, Ordering::AcqRel) == WAITED {
                let waiter = self.threads[1 - parity].get();
                waiter.expect("who waits has begun").unpark();
            }
            if n + 1 == self.cells.len() {
                sum.add(value);
            }
        }
    }
}

impl Cell {
    fn force(&self) -> u64 {
        let mark = self.state.compare_exchange(BUSY, WAITED, Ordering::AcqRel, Ordering::Acquire);
        if mark.is_ok() {
            while self.state.load(Ordering::Acquire) != READY {
                thread::park();
            }
        }
        self.value.load(Ordering::Relaxed)
    }
}
