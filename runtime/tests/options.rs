//! Options, cancellation before a task begins, and failures that all arrive.

mod runtimes;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use raddle::sync::CancelToken;
use raddle::{Options, Priority, Runtime};
use runtimes::each_runtime;

fn messages(failures: &raddle::Failures) -> Vec<&str> {
    failures.iter().map(raddle::TaskError::message).collect()
}

#[test]
fn all_failures_arrive_in_the_order_of_spawning() {
    each_runtime(|runtime| {
        let failures = runtime.run(|task| {
            task.try_scope(|scope| {
                for n in 0..200 {
                    scope.spawn(task, Priority::Normal, move |_| {
                        if n % 40 == 7 {
                            std::panic::panic_any(format!("{n}"));
                        }
                    });
                }
            })
        });
        let failures = failures.unwrap_err();
        assert_eq!((failures.count(), failures.first().message()), (5, "7"));
        assert_eq!(messages(&failures), ["7", "47", "87", "127", "167"]);
    });
}

#[test]
fn the_owners_failure_comes_first() {
    each_runtime(|runtime| {
        let failures = runtime.run(|task| {
            task.try_scope(|scope| {
                scope.spawn(task, Priority::Normal, |_| panic!("task"));
                panic!("owner");
            })
        });
        assert_eq!(messages(&failures.unwrap_err()), ["owner", "task"]);
        assert_eq!(runtime.run(|task| task.try_scope(|_| 5)).unwrap(), 5);
    });
}

/// The order must be the same under every policy and with every number of workers, also for tasks
/// that tasks of the scope start, and from scopes inside.
#[test]
fn failures_of_tasks_of_tasks_come_in_one_order() {
    let mut orders: Vec<Vec<String>> = Vec::new();
    let collect = |runtime: Runtime| {
        let failures = runtime.run(|task| {
            task.try_scope(|outer| {
                for n in 0..4 {
                    outer.spawn(task, Priority::Normal, move |task| {
                        for m in 0..3 {
                            outer.spawn(task, Priority::Normal, move |task| {
                                task.scope(|inner| {
                                    inner.spawn(task, Priority::Normal, move |task| {
                                        outer.spawn(task, Priority::Low, move |_| {
                                            std::panic::panic_any(format!("{n}.{m}.inner"));
                                        });
                                    });
                                });
                                std::panic::panic_any(format!("{n}.{m}"));
                            });
                        }
                        std::panic::panic_any(format!("{n}"));
                    });
                }
            })
        });
        let failures = failures.unwrap_err();
        messages(&failures).into_iter().map(str::to_owned).collect::<Vec<String>>()
    };
    for workers in [1, 2, 4, 8] {
        for policy in [raddle::Policy::Stealing, raddle::Policy::Dispatching, raddle::Policy::Pairs]
        {
            let builder = Runtime::builder().workers(workers).policy(policy);
            orders.push(collect(builder.stack_size(1 << 20).build().unwrap()));
        }
    }
    let first = &orders[0];
    assert_eq!(first.len(), 4 * (1 + 3 * 2));
    assert!(orders.iter().all(|order| order == first), "{orders:#?}");
    // Tasks of the owner before what descends from them, and that before the owner's next task.
    let groups: Vec<&str> = first.iter().map(|message| &message[..1]).collect();
    assert!(groups.is_sorted(), "{first:?}");
    assert!((0..4).all(|n| first[n * 7] == n.to_string()), "{first:?}");
}

#[test]
fn tasks_cancelled_before_they_begin_are_left_out() {
    each_runtime(|runtime| {
        let token = CancelToken::new();
        let options = Options::new().cancelled_by(&token).name("left out");
        let (begun, dropped) = (AtomicUsize::new(0), Arc::new(()));
        runtime.run(|task| {
            task.scope(|scope| {
                token.cancel();
                for _ in 0..100 {
                    let (begun, held) = (&begun, Arc::clone(&dropped));
                    scope.spawn_with(task, &options, move |_| {
                        begun.fetch_add(1 + Arc::strong_count(&held), Ordering::Relaxed);
                    });
                }
            });
        });
        assert_eq!(begun.into_inner(), 0);
        assert_eq!(Arc::strong_count(&dropped), 1, "the closures were dropped");
        assert_eq!(runtime.counters().tasks_cancelled, 100);

        let other = CancelToken::new();
        let kept = runtime.spawn_with(Options::new().cancelled_by(&other), |_| 5);
        assert_eq!(kept.join().unwrap(), 5);
        let cancelled = runtime.spawn_with(options.clone(), |_| 5).join().unwrap_err();
        assert!(cancelled.is_cancelled());
        assert_eq!(cancelled.to_string(), "a task was cancelled before it began");
        runtime.run(|task| {
            assert!(task.spawn_with(options.clone(), |_| ()).join().unwrap_err().is_cancelled());
        });
        runtime.spawn_with(options.clone(), |_| ()).detach();
        runtime.shutdown().expect("to be cancelled is no failure");
    });
}

#[test]
fn a_token_seen_from_inside_ends_a_search() {
    each_runtime(|runtime| {
        let token = CancelToken::new();
        let found = AtomicUsize::new(0);
        runtime.run(|task| {
            task.scope(|scope| {
                for part in 0..8 {
                    let (token, found) = (&token, &found);
                    scope.spawn(task, Priority::Normal, move |task| {
                        for n in (part..).step_by(8) {
                            if token.is_cancelled() {
                                return;
                            }
                            if n == 10_007 {
                                found.store(n, Ordering::Relaxed);
                                token.cancel();
                            }
                            if n % 1024 == part {
                                task.yield_now();
                            }
                        }
                    });
                }
            });
        });
        assert_eq!(found.into_inner(), 10_007);
    });
}

/// A chain of tasks, each started by the one before: ended tasks keep nothing.
#[test]
fn long_chains_of_tasks_take_no_room() {
    fn step<'scope>(
        scope: &'scope raddle::Scope<'scope, '_>,
        task: &raddle::Task<'_>,
        left: &'scope AtomicUsize,
    ) {
        if left.fetch_sub(1, Ordering::Relaxed) > 1 {
            scope.spawn(task, Priority::Normal, move |task| step(scope, task, left));
        }
    }

    const LENGTH: usize = 300_000;
    for workers in [1, 2, 4] {
        let runtime = Runtime::builder().workers(workers).build().unwrap();
        let left = AtomicUsize::new(LENGTH);
        runtime.run(|task| task.scope(|scope| step(scope, task, &left)));
        let counters = runtime.counters();
        assert_eq!(counters.tasks_run, LENGTH as u64);
        let most = 192 * (workers as u64 + 1);
        assert!(counters.task_records <= most, "{counters:?}");
    }
}

#[test]
fn pinned_workers_run_tasks() {
    for workers in [1, 2, 5] {
        let runtime = Runtime::builder().workers(workers).pinned(true).build().unwrap();
        let sum = AtomicUsize::new(0);
        runtime.run(|task| {
            task.scope(|scope| {
                for n in 0..1000 {
                    let sum = &sum;
                    scope.spawn(task, Priority::Normal, move |_| {
                        sum.fetch_add(n, Ordering::Relaxed);
                    });
                }
            });
        });
        assert_eq!(sum.into_inner(), 499_500);
    }
}

#[test]
fn a_scope_passes_on_the_first_failure() {
    let runtime = Runtime::builder().workers(2).build().unwrap();
    let run = || {
        runtime.run(|task| {
            task.scope(|scope| {
                scope.spawn(task, Priority::Normal, |_| panic!("first"));
                scope.spawn(task, Priority::High, |_| panic!("second"));
            });
        });
    };
    let panic = catch_unwind(AssertUnwindSafe(run)).unwrap_err();
    assert_eq!(panic.downcast_ref::<&str>(), Some(&"first"));
}

#[test]
fn settings_that_cannot_be_met_are_errors() {
    for (builder, what) in [
        (Runtime::builder().workers(1025), "1025 workers are too many: the most is 1024"),
        (Runtime::builder().workers(usize::MAX), "18446744073709551615 workers are too many"),
        (Runtime::builder().workers(1).stack_size(1000), "a stack of 1000 bytes is too small"),
        (Runtime::builder().workers(1).stack_size(usize::MAX), ""),
    ] {
        let error = builder.clone().build().unwrap_err().to_string();
        assert!(error.contains(what), "{builder:?}: {error}");
    }
}
