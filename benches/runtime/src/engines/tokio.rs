//! tokio's runtime of many threads.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::Poll;

use atomic_waker::AtomicWaker;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{Notify, mpsc};

use super::Job;
use crate::measure::{Measured, Meter};
use crate::plan::Row;
use crate::problems::tree::{Node, Tree};
use crate::problems::{chains, fibonacci, forks, grid::Grid};

pub(super) fn run(job: Job, meter: &Meter) -> Option<Measured> {
    let runtime = Builder::new_multi_thread()
        .worker_threads(job.workers)
        .build()
        .expect("the system gives threads");
    let size = job.size;
    Some(match job.row {
        Row::Spawn => {
            let count = Arc::new(AtomicU64::new(0));
            let counted = Arc::clone(&count);
            on_worker(
                &runtime,
                spawn(size, move || {
                    counted.fetch_add(1, Ordering::Relaxed);
                }),
            );
            assert_eq!(count.load(Ordering::Relaxed), size);
            let work = |(): &mut ()| on_worker(&runtime, spawn(size, || {}));
            meter.measure(size, || (), work, |(), ()| true)
        }
        Row::Fib => {
            let work = |(): &mut ()| on_worker(&runtime, fib(size));
            meter.measure(forks(size), || (), work, |(), result| result == fibonacci(size))
        }
        Row::Wavefront => {
            let expected = Grid::expected(size);
            let set_up = || Arc::new(Wavefront { grid: Grid::new(size), done: Notify::new() });
            let work = |wavefront: &mut Arc<Wavefront>| {
                let wavefront = Arc::clone(wavefront);
                on_worker(&runtime, async move {
                    compute(&wavefront, 0);
                    wavefront.done.notified().await;
                });
            };
            let is_right = |wavefront: &Arc<Wavefront>, ()| wavefront.grid.last() == expected;
            meter.measure(size * size, set_up, work, is_right)
        }
        Row::Tree => {
            let tree = Tree { depth: size as u32 };
            let nodes = tree.nodes();
            let work = |(): &mut ()| on_worker(&runtime, search(tree, Node::root()));
            meter.measure(nodes, || (), work, |(), found| found == nodes)
        }
        Row::PingPong => {
            let work = |(): &mut ()| on_worker(&runtime, ping_pong(size));
            meter.measure(size, || (), work, |(), last| last == 2 * size)
        }
        Row::Collisions | Row::Cells => {
            let expected = chains::expected(size);
            let work = |chains: &mut Arc<Chains>| on_worker(&runtime, evaluate(Arc::clone(chains)));
            let is_right = |chains: &Arc<Chains>, ()| chains.sum.get() == expected;
            meter.measure(size * chains::CHAINS, || Arc::new(Chains::new(size)), work, is_right)
        }
        _ => return None,
    })
}

/// Runs a future as a task; `block_on` alone would run it on the calling thread.
fn on_worker<R: Send + 'static>(
    runtime: &Runtime,
    future: impl Future<Output = R> + Send + 'static,
) -> R {
    runtime.block_on(runtime.spawn(future)).expect("the task does not panic")
}

async fn spawn(count: u64, body: impl Fn() + Clone + Send + 'static) {
    struct Pending {
        count: AtomicU64,
        done: Notify,
    }
    let pending = Arc::new(Pending { count: AtomicU64::new(count), done: Notify::new() });
    for _ in 0..count {
        let (body, pending) = (body.clone(), Arc::clone(&pending));
        tokio::spawn(async move {
            body();
            if pending.count.fetch_sub(1, Ordering::AcqRel) == 1 {
                pending.done.notify_one();
            }
        });
    }
    pending.done.notified().await;
}

fn fib(n: u64) -> Pin<Box<dyn Future<Output = u64> + Send>> {
    Box::pin(async move {
        if n < 2 {
            return n;
        }
        let b = tokio::spawn(fib(n - 2));
        let a = fib(n - 1).await;
        a + b.await.expect("the task does not panic")
    })
}

struct Wavefront {
    grid: Grid,
    done: Notify,
}

fn compute(wavefront: &Arc<Wavefront>, cell: usize) {
    for next in wavefront.grid.compute(cell).into_iter().flatten() {
        let wavefront = Arc::clone(wavefront);
        tokio::spawn(async move { compute(&wavefront, next) });
    }
    if wavefront.grid.is_last(cell) {
        wavefront.done.notify_one();
    }
}

fn search(tree: Tree, node: Node) -> Pin<Box<dyn Future<Output = u64> + Send>> {
    Box::pin(async move {
        // Without cutting the children in halves, which would cost more here.
        let mut children: Vec<_> = Vec::new();
        let mut numbers = tree.children(&node);
        let own = numbers.next();
        for index in numbers {
            children.push(tokio::spawn(search(tree, node.child(index))));
        }
        let mut found = 1;
        if let Some(index) = own {
            found += search(tree, node.child(index)).await;
        }
        for child in children {
            found += child.await.expect("the task does not panic");
        }
        found
    })
}

async fn ping_pong(rounds: u64) -> u64 {
    let (ping, mut pinged) = mpsc::channel(1);
    let (pong, mut ponged) = mpsc::channel(1);
    tokio::spawn(async move {
        while let Some(number) = pinged.recv().await {
            pong.send(number + 1).await.expect("the other side waits for it");
        }
    });
    let mut number = 0u64;
    for _ in 0..rounds {
        ping.send(number + 1).await.expect("the other side waits for it");
        number = ponged.recv().await.expect("the other side answers");
    }
    number
}

/// A cell that one task evaluates and another waits for.
struct Cell {
    ready: AtomicBool,
    value: AtomicU64,
    waiter: AtomicWaker,
}

struct Chains {
    chains: Vec<Vec<Cell>>,
    sum: chains::Sum,
}

impl Chains {
    fn new(length: u64) -> Self {
        let cell = || Cell {
            ready: AtomicBool::new(false),
            value: AtomicU64::new(0),
            waiter: AtomicWaker::new(),
        };
        let chain = || (0..length).map(|_| cell()).collect();
        Self { chains: (0..chains::CHAINS).map(|_| chain()).collect(), sum: chains::Sum::default() }
    }
}

async fn evaluate(chains: Arc<Chains>) {
    let mut tasks = Vec::new();
    for number in 0..chains.chains.len() {
        for parity in 0..2 {
            tasks.push(tokio::spawn(evaluate_half(Arc::clone(&chains), number, parity)));
        }
    }
    for task in tasks {
        task.await.expect("the task does not panic");
    }
}

async fn evaluate_half(chains: Arc<Chains>, number: usize, parity: usize) {
    let cells = &chains.chains[number];
    for (n, cell) in cells.iter().enumerate().skip(parity).step_by(2) {
        let value = match n.checked_sub(1) {
            None => chains::first(number as u64),
            Some(before) => chains::next(cells[before].force().await),
        };
        cell.finish(value);
        if n + 1 == cells.len() {
            chains.sum.add(value);
        }
    }
}

impl Cell {
    fn force(&self) -> impl Future<Output = u64> {
        poll_fn(|context| {
            if self.ready.load(Ordering::Acquire) {
                return Poll::Ready(self.value.load(Ordering::Relaxed));
            }
            self.waiter.register(context.waker());
            if self.ready.load(Ordering::Acquire) {
                Poll::Ready(self.value.load(Ordering::Relaxed))
            } else {
                Poll::Pending
            }
        })
    }

    fn finish(&self, value: u64) {
        self.value.store(value, Ordering::Relaxed);
        self.ready.store(true, Ordering::Release);
        self.waiter.wake();
    }
}
