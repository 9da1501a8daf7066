//! Raddle.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use raddle::sync::ring;
use raddle::{Priority, Runtime, Scope, Task, parallel};

use super::Job;
use super::cells::{self, Signalled, Watched};
use crate::measure::{Measured, Meter};
use crate::plan::Row;
use crate::problems::tree::{Node, Tree};
use crate::problems::{fibonacci, forks, grid::Grid, numbers};

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
        Row::PingPong => {
            let work = |(): &mut ()| runtime.run(|task| ping_pong(task, size));
            meter.measure(size, || (), work, |(), last| last == 2 * size)
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
        Row::Collisions => cells::run::<Signalled>(&runtime, size, meter),
        Row::Cells => cells::run::<Watched>(&runtime, size, meter),
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

fn ping_pong(task: &Task<'_>, rounds: u64) -> u64 {
    let (mut ping, mut pinged) = ring(1);
    let (mut pong, mut ponged) = ring(1);
    task.scope(|scope| {
        scope.spawn(task, Priority::Normal, move |task| {
            while let Some(number) = task.wait(pinged.recv()) {
                task.wait(pong.send(number + 1)).expect("the other side waits for it");
            }
        });
        let mut number = 0u64;
        for _ in 0..rounds {
            task.wait(ping.send(number + 1)).expect("the other side waits for it");
            number = task.wait(ponged.recv()).expect("the other side answers");
        }
        drop(ping);
        number
    })
}
