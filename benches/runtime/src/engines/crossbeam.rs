//! The executor on `crossbeam-deque`.

#![expect(unsafe_code, reason = "starts closures that borrow from whoever waits for them")]

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use super::Job;
use super::executor::{Executor, Local};
use crate::measure::{Measured, Meter};
use crate::plan::Row;
use crate::problems::tree::{Node, Tree};
use crate::problems::{fibonacci, forks, grid::Grid};

pub(super) fn run(job: Job, meter: &Meter) -> Option<Measured> {
    let executor = Executor::new(job.workers);
    let size = job.size;
    Some(match job.row {
        Row::Spawn => {
            let count = AtomicU64::new(0);
            executor.run(|local| {
                spawn(local, size, || {
                    count.fetch_add(1, Ordering::Relaxed);
                });
            });
            assert_eq!(count.into_inner(), size);
            let work = |(): &mut ()| executor.run(|local| spawn(local, size, || {}));
            meter.measure(size, || (), work, |(), ()| true)
        }
        Row::Fib => {
            let work = |(): &mut ()| executor.run(|local| fib(local, size));
            meter.measure(forks(size), || (), work, |(), result| result == fibonacci(size))
        }
        Row::Wavefront => {
            let expected = Grid::expected(size);
            let work = |grid: &mut Grid| executor.run(|local| wavefront(local, grid, size));
            let is_right = |grid: &Grid, ()| grid.last() == expected;
            meter.measure(size * size, || Grid::new(size), work, is_right)
        }
        Row::Tree => {
            let tree = Tree { depth: size as u32 };
            let nodes = tree.nodes();
            let work = |(): &mut ()| executor.run(|local| search(local, tree, &Node::root()));
            meter.measure(nodes, || (), work, |(), found| found == nodes)
        }
        _ => return None,
    })
}

fn spawn(local: &Local<'_>, count: u64, body: impl Fn() + Copy + Send) {
    let pending = AtomicU64::new(count);
    for _ in 0..count {
        let pending = &pending;
        // SAFETY: the closures have run when nothing is pending, which is waited for.
        unsafe {
            local.spawn(move |_| {
                body();
                pending.fetch_sub(1, Ordering::Release);
            });
        }
    }
    local.help_until(|| pending.load(Ordering::Acquire) == 0);
}

fn fib(local: &Local<'_>, n: u64) -> u64 {
    if n < 2 {
        return n;
    }
    let (a, b) = local.join(|local| fib(local, n - 1), |local| fib(local, n - 2));
    a + b
}

fn wavefront(local: &Local<'_>, grid: &Grid, side: u64) {
    let pending = AtomicU64::new(side * side);
    compute(local, grid, 0, &pending);
    local.help_until(|| pending.load(Ordering::Acquire) == 0);
}

fn compute(local: &Local<'_>, grid: &Grid, cell: usize, pending: &AtomicU64) {
    for next in grid.compute(cell).into_iter().flatten() {
        // SAFETY: the closures have run when nothing is pending, which `wavefront` waits for.
        unsafe { local.spawn(move |local| compute(local, grid, next, pending)) };
    }
    pending.fetch_sub(1, Ordering::Release);
}

fn search(local: &Local<'_>, tree: Tree, node: &Node) -> u64 {
    1 + search_children(local, tree, node, tree.children(node))
}

fn search_children(local: &Local<'_>, tree: Tree, node: &Node, children: Range<usize>) -> u64 {
    match children.len() {
        0 => 0,
        1 => search(local, tree, &node.child(children.start)),
        count => {
            let middle = children.start + count / 2;
            let (left, right) = local.join(
                |local| search_children(local, tree, node, children.start..middle),
                |local| search_children(local, tree, node, middle..children.end),
            );
            left + right
        }
    }
}
