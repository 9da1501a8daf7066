//! Raddle.

use std::ops::Range;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use raddle::{Priority, Runtime, Scope, Task, TaskId, parallel};

use super::Job;
use crate::measure::{Measured, Meter};
use crate::plan::Row;
use crate::problems::tree::{Node, Tree};
use crate::problems::{chains, fibonacci, forks, grid::Grid, numbers};

/// Starts a runtime for the comparison; every engine has stacks for its own kind of tasks.
pub(super) fn start(workers: usize) -> Runtime {
    Runtime::builder().workers(workers).build().expect("the system gives threads and memory")
}

pub(super) fn run(job: Job, meter: &Meter) -> Option<Measured> {
    let runtime = start(job.workers);
    let size = job.size;
    Some(match job.row {
        Row::Spawn => {
            let count = AtomicU64::new(0);
            runtime.run(|task| {
                spawn(task, size, || {
                    count.fetch_add(1, Ordering::Relaxed);
                });
            });
            assert_eq!(count.into_inner(), size);
            let work = |(): &mut ()| runtime.run(|task| spawn(task, size, || {}));
            meter.measure(size, || (), work, |(), ()| true)
        }
        Row::Fib => {
            let work = |(): &mut ()| runtime.run(|task| fib(task, size));
            meter.measure(forks(size), || (), work, |(), result| result == fibonacci(size))
        }
        Row::Wavefront => {
            let expected = Grid::expected(size);
            let work = |grid: &mut Grid| {
                runtime.run(|task| task.scope(|scope| compute(scope, task, grid, 0)));
            };
            let is_right = |grid: &Grid, ()| grid.last() == expected;
            meter.measure(size * size, || Grid::new(size), work, is_right)
        }
        Row::Tree => {
            let tree = Tree { depth: size as u32 };
            let nodes = tree.nodes();
            let work = |(): &mut ()| runtime.run(|task| search(task, tree, &Node::root()));
            meter.measure(nodes, || (), work, |(), found| found == nodes)
        }
        Row::Sum => {
            let numbers = numbers::numbers(size);
            let expected = numbers::sum(&numbers);
            let work = |(): &mut ()| {
                let wide = |_: &Task<'_>, &number: &u32| u64::from(number);
                runtime.run(|task| parallel::reduce(task, &numbers, || 0, wide, |a, b| a + b))
            };
            meter.measure(size, || (), work, |(), sum| sum == expected)
        }
        Row::Sort => {
            let numbers = numbers::numbers(size);
            let expected = numbers::sum(&numbers);
            let work = |numbers: &mut Vec<u32>| {
                runtime.run(|task| parallel::sort_unstable(task, numbers));
            };
            let is_right = |sorted: &Vec<u32>, ()| numbers::is_sorted(sorted, expected);
            meter.measure(size, || numbers.clone(), work, is_right)
        }
        Row::Collisions => {
            let expected = chains::expected(size);
            let work = |chains: &mut Chains| {
                runtime.run(|task| task.scope(|scope| chains.start(scope, task)));
            };
            let is_right = |chains: &Chains, ()| chains.sum.get() == expected;
            meter.measure(size * chains::CHAINS, || Chains::new(size), work, is_right)
        }
        _ => return None,
    })
}

fn spawn(task: &Task<'_>, count: u64, body: impl Fn() + Copy + Send) {
    task.scope(|scope| {
        for _ in 0..count {
            scope.spawn(task, Priority::Normal, move |_| body());
        }
    });
}

fn fib(task: &Task<'_>, n: u64) -> u64 {
    if n < 2 {
        return n;
    }
    let (a, b) = task.join(|task| fib(task, n - 1), |task| fib(task, n - 2));
    a + b
}

fn compute<'scope>(
    scope: &'scope Scope<'scope, '_>,
    task: &Task<'_>,
    grid: &'scope Grid,
    cell: usize,
) {
    for next in grid.compute(cell).into_iter().flatten() {
        scope.spawn(task, Priority::Normal, move |task| compute(scope, task, grid, next));
    }
}

fn search(task: &Task<'_>, tree: Tree, node: &Node) -> u64 {
    1 + search_children(task, tree, node, tree.children(node))
}

fn search_children(task: &Task<'_>, tree: Tree, node: &Node, children: Range<usize>) -> u64 {
    match children.len() {
        0 => 0,
        1 => search(task, tree, &node.child(children.start)),
        count => {
            let middle = children.start + count / 2;
            let (left, right) = task.join(
                |task| search_children(task, tree, node, children.start..middle),
                |task| search_children(task, tree, node, middle..children.end),
            );
            left + right
        }
    }
}

const BUSY: u32 = 0;
const WAITED: u32 = 1;
const READY: u32 = 2;

/// A cell that one task evaluates and another waits for.
struct Cell {
    state: AtomicU32,
    value: AtomicU64,
}

struct Chains {
    chains: Vec<Chain>,
    sum: chains::Sum,
}

struct Chain {
    cells: Vec<Cell>,
    /// The tasks that evaluate the even and the odd cells.
    owners: [AtomicU32; 2],
}

impl Chains {
    fn new(length: u64) -> Self {
        let cell = || Cell { state: AtomicU32::new(BUSY), value: AtomicU64::new(0) };
        let chain = || Chain {
            cells: (0..length).map(|_| cell()).collect(),
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

impl Chain {
    fn evaluate(&self, task: &Task<'_>, number: u64, parity: usize, sum: &chains::Sum) {
        self.owners[parity].store(task.id().get(), Ordering::Release);
        let mut other = None;
        while other.is_none() {
            other = TaskId::from_u32(self.owners[1 - parity].load(Ordering::Acquire));
            if other.is_none() {
                task.yield_now();
            }
        }
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

impl Cell {
    fn force(&self, task: &Task<'_>, owner: Option<TaskId>) -> u64 {
        while self.state.load(Ordering::Acquire) != READY {
            let still_busy = || {
                let mark =
                    self.state.compare_exchange(BUSY, WAITED, Ordering::AcqRel, Ordering::Acquire);
                mark != Err(READY)
            };
            let address = (&raw const self.state).addr();
            let owner = owner.expect("both tasks have begun");
            let _woken = task.wait_cell(address, owner, still_busy);
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
