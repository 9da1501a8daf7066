//! rayon.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;
use rayon::{Scope, ThreadPool, ThreadPoolBuilder};

use super::Job;
use crate::measure::{Measured, Meter};
use crate::plan::Row;
use crate::problems::tree::{Node, Tree};
use crate::problems::{fibonacci, forks, grid::Grid, numbers};

pub(super) fn run(job: Job, meter: &Meter) -> Option<Measured> {
    let pool: ThreadPool = ThreadPoolBuilder::new()
        .num_threads(job.workers)
        .build()
        .expect("the system gives threads");
    let size = job.size;
    Some(match job.row {
        Row::Spawn => {
            let count = AtomicU64::new(0);
            pool.install(|| {
                spawn(size, || {
                    count.fetch_add(1, Ordering::Relaxed);
                });
            });
            assert_eq!(count.into_inner(), size);
            let work = |(): &mut ()| pool.install(|| spawn(size, || {}));
            meter.measure(size, || (), work, |(), ()| true)
        }
        Row::Fib => {
            let work = |(): &mut ()| pool.install(|| fib(size));
            meter.measure(forks(size), || (), work, |(), result| result == fibonacci(size))
        }
        Row::Wavefront => {
            let expected = Grid::expected(size);
            let work =
                |grid: &mut Grid| pool.install(|| rayon::scope(|scope| compute(scope, grid, 0)));
            let is_right = |grid: &Grid, ()| grid.last() == expected;
            meter.measure(size * size, || Grid::new(size), work, is_right)
        }
        Row::Tree => {
            let tree = Tree { depth: size as u32 };
            let nodes = tree.nodes();
            let work = |(): &mut ()| pool.install(|| search(tree, &Node::root()));
            meter.measure(nodes, || (), work, |(), found| found == nodes)
        }
        Row::Sum => {
            let numbers = numbers::numbers(size);
            let expected = numbers::sum(&numbers);
            let work = |(): &mut ()| {
                pool.install(|| numbers.par_iter().map(|&number| u64::from(number)).sum::<u64>())
            };
            meter.measure(size, || (), work, |(), sum| sum == expected)
        }
        Row::Sort => {
            let numbers = numbers::numbers(size);
            let expected = numbers::sum(&numbers);
            let work = |numbers: &mut Vec<u32>| pool.install(|| numbers.par_sort_unstable());
            let is_right = |sorted: &Vec<u32>, ()| numbers::is_sorted(sorted, expected);
            meter.measure(size, || numbers.clone(), work, is_right)
        }
        _ => return None,
    })
}

fn spawn(count: u64, body: impl Fn() + Copy + Send + Sync) {
    rayon::scope(|scope| {
        for _ in 0..count {
            scope.spawn(move |_| body());
        }
    });
}

fn fib(n: u64) -> u64 {
    if n < 2 {
        return n;
    }
    let (a, b) = rayon::join(|| fib(n - 1), || fib(n - 2));
    a + b
}

fn compute<'scope>(scope: &Scope<'scope>, grid: &'scope Grid, cell: usize) {
    for next in grid.compute(cell).into_iter().flatten() {
        scope.spawn(move |scope| compute(scope, grid, next));
    }
}

fn search(tree: Tree, node: &Node) -> u64 {
    1 + search_children(tree, node, tree.children(node))
}

fn search_children(tree: Tree, node: &Node, children: Range<usize>) -> u64 {
    match children.len() {
        0 => 0,
        1 => search(tree, &node.child(children.start)),
        count => {
            let middle = children.start + count / 2;
            let (left, right) = rayon::join(
                || search_children(tree, node, children.start..middle),
                || search_children(tree, node, middle..children.end),
            );
            left + right
        }
    }
}
