//! Much of everything: memory stays bounded, and nothing is left behind.
//!
//! Under `--release` the numbers are those that the runtime is meant for; otherwise they are
//! smaller, so that the tests take seconds.

mod channel;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use channel::{Channel, each_runtime};
use raddle::{Priority, Runtime};

const FEWER: usize = if cfg!(debug_assertions) { 10 } else { 1 };

#[test]
fn scopes_opened_and_dropped() {
    each_runtime(|runtime| {
        let runtime = &runtime;
        let ran = AtomicUsize::new(0);
        let records = |scopes| {
            runtime.run(|task| {
                for n in 0..scopes {
                    task.scope(|scope| {
                        for _ in 0..n % 4 {
                            let ran = &ran;
                            scope.spawn(task, Priority::Normal, move |_| {
                                ran.fetch_add(1, Ordering::Relaxed);
                            });
                        }
                    });
                }
            });
            runtime.counters()
        };
        let (few, many) = (records(100), records(9_900));
        assert_eq!(ran.load(Ordering::Relaxed), 15_000);
        // A full stock for each worker, and what the depot has of the last batches.
        let most = 192 * (runtime.workers() as u64 + 1);
        assert!(many.task_records <= most, "{} of {most} records", many.task_records);
        assert!(many.fibers <= few.fibers + 64, "{few:?} {many:?}");
    });
}

/// Rounds so short that workers run out of tasks, and of answers from a dispatcher, all the time.
#[test]
fn rounds_of_few_tasks() {
    each_runtime(|runtime| {
        let ran = AtomicUsize::new(0);
        runtime.run(|task| {
            for n in 0..30_000 / FEWER {
                task.scope(|scope| {
                    for _ in 0..=n % 3 {
                        let ran = &ran;
                        scope.spawn(task, Priority::Normal, move |_| {
                            ran.fetch_add(1, Ordering::Relaxed);
                        });
                    }
                });
            }
        });
        assert_eq!(ran.load(Ordering::Relaxed), 60_000 / FEWER);
    });
}

/// All tasks wait at the same time, each on a stack of its own; then all go on.
#[test]
fn fibers_suspended_at_once() {
    let tasks = 100_000 / FEWER;
    for workers in [1, 2] {
        let runtime = Runtime::builder().workers(workers).stack_size(256 << 10).build().unwrap();
        let (waiting, gate) = (Arc::new(AtomicUsize::new(0)), Channel::new(tasks));
        let handles: Vec<_> = (0..tasks)
            .map(|_| {
                let (waiting, gate) = (Arc::clone(&waiting), Arc::clone(&gate));
                runtime.spawn(move |task| {
                    waiting.fetch_add(1, Ordering::Relaxed);
                    task.wait(gate.receive())
                })
            })
            .collect();
        runtime.run(|task| {
            while waiting.load(Ordering::Relaxed) < tasks {
                task.yield_now();
            }
            // One send wakes all who wait: they were all entered before.
            (0..tasks).for_each(|n| task.wait(gate.send(n)));
        });
        let sum: usize = handles.into_iter().map(|handle| handle.join().unwrap()).sum();
        assert_eq!(sum, tasks * (tasks - 1) / 2);
        let counters = runtime.counters();
        assert!(counters.fibers >= tasks as u64);
        runtime.shutdown().expect("no task panics");
    }
}

#[test]
fn tasks_in_one_scope() {
    let tasks = 10_000_000 / FEWER;
    for workers in [1, 2] {
        let runtime = Runtime::builder().workers(workers).build().unwrap();
        let ran = AtomicUsize::new(0);
        runtime.run(|task| {
            task.scope(|scope| {
                for _ in 0..tasks {
                    let ran = &ran;
                    scope.spawn(task, Priority::Normal, move |_| {
                        ran.fetch_add(1, Ordering::Relaxed);
                    });
                }
            });
        });
        assert_eq!(ran.into_inner(), tasks);
        let counters = runtime.counters();
        assert_eq!((counters.tasks_run, counters.closures_boxed), (tasks as u64 + 1, 0));
        assert!(counters.task_records <= tasks as u64 + 1000);
        assert!(counters.fibers < 100);
    }
}
