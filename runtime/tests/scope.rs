//! Tasks, scopes, borrows and panics, over worker counts.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use raddle::{Priority, Runtime, Scope, Task};

const WORKERS: [usize; 6] = [1, 2, 3, 4, 8, 16];

fn each_worker_count(check: impl Fn(&Runtime)) {
    for workers in WORKERS {
        let runtime = Runtime::builder().workers(workers).stack_size(1 << 20).build().unwrap();
        check(&runtime);
        let counters = runtime.counters();
        assert!(counters.wakes <= counters.parks, "{workers} workers: {counters:?}");
        assert!(counters.tasks_run > counters.tasks_spawned, "roots are not spawned");
    }
}

fn message(panic: Box<dyn std::any::Any + Send>) -> String {
    match panic.downcast::<String>() {
        Ok(text) => *text,
        Err(panic) => (*panic.downcast::<&str>().unwrap()).to_owned(),
    }
}

#[test]
fn run_returns_what_the_root_returns() {
    each_worker_count(|runtime| {
        let text = String::from("borrowed");
        assert_eq!(runtime.run(|_| text.len()), 8);
        let workers = runtime.workers();
        runtime.run(|task| {
            assert_eq!(task.workers(), workers);
            assert!(task.worker() < workers);
            assert_ne!(task.id().get(), 0);
        });
    });
}

#[test]
fn a_scope_waits_for_all_its_tasks() {
    each_worker_count(|runtime| {
        for count in [0, 1, 2, 10, 1000] {
            let sum = AtomicU64::new(0);
            runtime.run(|task| {
                task.scope(|scope| {
                    for n in 0..count {
                        let sum = &sum;
                        scope.spawn(task, Priority::Normal, move |_| {
                            sum.fetch_add(n, Ordering::Relaxed);
                        });
                    }
                });
                assert_eq!(sum.load(Ordering::Relaxed), count * count.saturating_sub(1) / 2);
            });
        }
    });
}

#[test]
fn tasks_write_borrowed_data() {
    each_worker_count(|runtime| {
        let mut numbers = vec![0u64; 500];
        runtime.run(|task| {
            task.scope(|scope| {
                for (n, number) in numbers.iter_mut().enumerate() {
                    scope.spawn(task, Priority::Low, move |_| *number = n as u64);
                }
            });
        });
        assert!(numbers.into_iter().eq(0..500));
    });
}

fn fibonacci(task: &Task<'_>, n: u64) -> u64 {
    if n < 2 {
        return n;
    }
    let (mut left, mut right) = (0, 0);
    task.scope(|scope| {
        scope.spawn(task, Priority::Normal, |task| left = fibonacci(task, n - 1));
        right = fibonacci(task, n - 2);
    });
    left + right
}

#[test]
fn scopes_nest() {
    each_worker_count(|runtime| assert_eq!(runtime.run(|task| fibonacci(task, 16)), 987));
}

#[test]
fn tasks_spawn_into_the_scope_they_are_in() {
    fn grow<'scope>(
        task: &Task<'_>,
        scope: &'scope Scope<'scope, '_>,
        seen: &'scope AtomicUsize,
        depth: u32,
    ) {
        seen.fetch_add(1, Ordering::Relaxed);
        if depth > 0 {
            for _ in 0..3 {
                scope.spawn(task, Priority::High, move |task| grow(task, scope, seen, depth - 1));
            }
        }
    }
    each_worker_count(|runtime| {
        let seen = AtomicUsize::new(0);
        runtime.run(|task| {
            task.scope(|scope| grow(task, scope, &seen, 6));
            assert_eq!(seen.load(Ordering::Relaxed), 1093);
        });
    });
}

#[test]
fn tasks_of_an_inner_scope_spawn_into_the_outer() {
    each_worker_count(|runtime| {
        let seen = AtomicUsize::new(0);
        let seen = &seen;
        runtime.run(|task| {
            task.scope(|outer| {
                task.scope(|inner| {
                    for _ in 0..10 {
                        inner.spawn(task, Priority::Normal, move |task| {
                            outer.spawn(task, Priority::Normal, move |_| {
                                seen.fetch_add(1, Ordering::Relaxed);
                            });
                        });
                    }
                });
            });
            assert_eq!(seen.load(Ordering::Relaxed), 10);
        });
    });
}

#[test]
fn a_long_chain_of_tasks_in_one_scope() {
    fn link<'scope>(task: &Task<'_>, scope: &'scope Scope<'scope, '_>, left: u32) {
        if left > 0 {
            scope.spawn(task, Priority::Normal, move |task| link(task, scope, left - 1));
        }
    }
    each_worker_count(|runtime| runtime.run(|task| task.scope(|scope| link(task, scope, 20_000))));
}

#[test]
fn large_closures_and_results_arrive_whole() {
    each_worker_count(|runtime| {
        let large = [7u8; 4096];
        let sum = AtomicU64::new(0);
        let result = runtime.run(|task| {
            task.scope(|scope| {
                for _ in 0..10 {
                    let sum = &sum;
                    scope.spawn(task, Priority::Normal, move |_| {
                        let bytes = large.iter().map(|&byte| u64::from(byte)).sum();
                        sum.fetch_add(bytes, Ordering::Relaxed);
                    });
                }
            });
            large
        });
        assert_eq!(result, large);
        assert_eq!(sum.into_inner(), 10 * 7 * 4096);
        assert_eq!(runtime.counters().closures_boxed, 10);
    });
}

#[test]
fn panics_reach_the_caller() {
    each_worker_count(|runtime| {
        let panic = catch_unwind(AssertUnwindSafe(|| runtime.run(|_| panic!("in the root"))));
        assert_eq!(message(panic.unwrap_err()), "in the root");
        assert_eq!(runtime.run(|_| 1), 1, "the runtime is still usable");
    });
}

#[test]
fn the_earliest_panic_wins_and_all_tasks_run() {
    each_worker_count(|runtime| {
        let ran = AtomicUsize::new(0);
        let run = || {
            runtime.run(|task| {
                task.scope(|scope| {
                    for n in 0..50 {
                        let ran = &ran;
                        scope.spawn(task, Priority::Normal, move |task| {
                            ran.fetch_add(1, Ordering::Relaxed);
                            scope.spawn(task, Priority::Normal, move |_| {
                                ran.fetch_add(1, Ordering::Relaxed);
                                assert!(n % 7 != 3, "task {n}");
                            });
                        });
                    }
                });
            });
        };
        let panic = catch_unwind(AssertUnwindSafe(run)).unwrap_err();
        assert_eq!(message(panic), "task 3");
        assert_eq!(ran.into_inner(), 100);
    });
}

#[test]
fn the_scope_s_own_panic_comes_first() {
    each_worker_count(|runtime| {
        let ran = AtomicUsize::new(0);
        let run = || {
            runtime.run(|task| {
                task.scope(|scope| {
                    scope.spawn(task, Priority::Normal, |_| {
                        ran.fetch_add(1, Ordering::Relaxed);
                        panic!("child");
                    });
                    panic!("owner");
                });
            });
        };
        assert_eq!(message(catch_unwind(AssertUnwindSafe(run)).unwrap_err()), "owner");
        assert_eq!(ran.into_inner(), 1);
    });
}

#[test]
fn a_panic_caught_at_a_scope_stops_there() {
    each_worker_count(|runtime| {
        runtime.run(|task| {
            for _ in 0..20 {
                let scope = || {
                    task.scope(|scope| scope.spawn(task, Priority::High, |_| panic!("inner")));
                };
                assert!(catch_unwind(AssertUnwindSafe(scope)).is_err());
            }
            assert_eq!(fibonacci(task, 10), 55);
        });
    });
}

#[test]
fn urgent_tasks_go_first() {
    let runtime = Runtime::builder().workers(1).stack_size(1 << 20).build().unwrap();
    let order = Mutex::new(Vec::new());
    runtime.run(|task| {
        task.scope(|scope| {
            for priority in [Priority::Low, Priority::High, Priority::Normal, Priority::High] {
                let order = &order;
                scope.spawn(task, priority, move |_| order.lock().unwrap().push(priority));
            }
        });
    });
    let expected = [Priority::High, Priority::High, Priority::Normal, Priority::Low];
    assert_eq!(order.into_inner().unwrap(), expected);
}

#[test]
fn ids_are_unique_among_live_tasks() {
    each_worker_count(|runtime| {
        let live = Mutex::new(std::collections::HashSet::new());
        runtime.run(|task| {
            task.scope(|scope| {
                for _ in 0..2000 {
                    let live = &live;
                    scope.spawn(task, Priority::Normal, move |task| {
                        assert!(live.lock().unwrap().insert(task.id()));
                        task.scope(|scope| scope.spawn(task, Priority::Normal, |_| {}));
                        assert!(live.lock().unwrap().remove(&task.id()));
                    });
                }
            });
        });
    });
}

#[test]
fn several_threads_may_run_at_once() {
    each_worker_count(|runtime| {
        std::thread::scope(|threads| {
            for n in 0..4 {
                threads.spawn(move || {
                    for _ in 0..20 {
                        assert_eq!(runtime.run(|task| fibonacci(task, 8) + n), 21 + n);
                    }
                });
            }
        });
    });
}

#[test]
fn a_task_of_another_run_cannot_spawn_here() {
    let runtime = Runtime::builder().workers(2).build().unwrap();
    runtime.run(|task| {
        task.scope(|scope| {
            std::thread::scope(|threads| {
                let outside = || {
                    runtime.run(|other| scope.spawn(other, Priority::Normal, |_| unreachable!()));
                };
                let panic = threads.spawn(outside).join().unwrap_err();
                assert!(message(panic).contains("its own run"));
            });
        });
    });
}

#[test]
fn stacks_too_small_are_an_error() {
    let error = Runtime::builder().workers(1).stack_size(1000).build().unwrap_err();
    assert!(error.to_string().contains("too small"), "{error}");
}

#[test]
fn runtimes_come_and_go() {
    for round in 0..200 {
        let runtime = Runtime::builder().workers(1 + round % 4).build().unwrap();
        if round % 3 > 0 {
            assert_eq!(runtime.run(|task| fibonacci(task, 5)), 5);
        }
    }
}

#[test]
fn recursion_is_deep_on_a_fiber_and_stops_at_the_limit() {
    fn depth(limit: usize, n: u64) -> u64 {
        let here = 0u8;
        if (&raw const here).addr() < limit { n } else { depth(limit, std::hint::black_box(n + 1)) }
    }
    let runtime = Runtime::builder().workers(2).build().unwrap();
    for _ in 0..3 {
        runtime.run(|task| {
            task.scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(task, Priority::Normal, |task| {
                        let frames = depth(task.stack_limit(), 0);
                        assert!(frames > 1_000_000, "{frames} frames");
                    });
                }
            });
        });
    }
}

#[test]
fn many_fibers_wait_at_once() {
    fn nest(task: &Task<'_>, depth: u32) {
        if depth > 0 {
            task.scope(|scope| {
                scope.spawn(task, Priority::Normal, move |task| nest(task, depth - 1));
            });
        }
    }
    let runtime = Runtime::builder().workers(2).build().unwrap();
    runtime.run(|task| nest(task, 12_000));
    assert!(runtime.counters().fibers >= 12_000);
}
