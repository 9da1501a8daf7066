//! Patterns that are known to hang pools whose waiting threads run whatever they find.
//!
//! Here whoever waits is set aside, and its worker goes on with others on other stacks. Each
//! pattern runs with 1, 2, 4 and 8 workers under every policy, and is over when it returns.

mod channel;

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::Poll;

use channel::{Channel, each_runtime};
use raddle::sync::Mutex as Lock;
use raddle::{Priority, Runtime, Task};

/// Adds up `0..count` with as many tasks.
fn parallel_sum(task: &Task<'_>, count: u64) -> u64 {
    let sum = AtomicU64::new(0);
    task.scope(|scope| {
        for n in 0..count {
            let sum = &sum;
            scope.spawn(task, Priority::Normal, move |_| {
                sum.fetch_add(n, Ordering::Relaxed);
            });
        }
    });
    sum.into_inner()
}

/// A waiting thread that steals gets one of the outer tasks here, which wants the lock that lies
/// further down on the same stack.
#[test]
fn parallel_work_under_a_lock_that_all_take() {
    each_runtime(|runtime| {
        let runtime = &runtime;
        let total = Lock::new(0);
        runtime.run(|task| {
            task.scope(|scope| {
                for _ in 0..20 {
                    scope.spawn(task, Priority::Normal, |task| {
                        let mut total = task.wait(total.lock());
                        *total += parallel_sum(task, 50);
                    });
                }
                let mut total = task.wait(total.lock());
                *total += parallel_sum(task, 50);
            });
        });
        assert_eq!(total.into_inner(), 21 * 1225);
    });
}

/// The queue of tasks holds the only one who can make room, or has what is waited for.
#[test]
fn the_owner_of_a_scope_waits_for_a_task_in_it() {
    each_runtime(|runtime| {
        let runtime = &runtime;
        for capacity in [1, 3] {
            let (there, back) = (Channel::new(capacity), Channel::new(capacity));
            let sum = runtime.run(|task| {
                task.scope(|scope| {
                    let (there, back) = (&there, &back);
                    scope.spawn(task, Priority::Low, move |task| {
                        for _ in 0..100 {
                            let n: u64 = task.wait(there.receive());
                            task.wait(back.send(n * 2));
                        }
                    });
                    scope.spawn(task, Priority::Low, move |task| {
                        (0..100).for_each(|n| task.wait(there.send(n)));
                    });
                    (0..100).map(|_| task.wait(back.receive())).sum::<u64>()
                })
            });
            assert_eq!(sum, 9900);
        }
    });
}

#[test]
fn the_runtime_is_entered_from_inside_itself() {
    fn enter(runtime: &Runtime, depth: u64) -> u64 {
        if depth == 0 {
            return runtime.run(|task| parallel_sum(task, 10));
        }
        runtime.run(|_| 1 + enter(runtime, depth - 1))
    }

    each_runtime(|runtime| {
        let runtime = &runtime;
        assert_eq!(enter(runtime, 20), 65);
        let sum = AtomicU64::new(0);
        runtime.run(|task| {
            task.scope(|scope| {
                for depth in 0..20 {
                    let sum = &sum;
                    scope.spawn(task, Priority::Normal, move |_| {
                        sum.fetch_add(enter(runtime, depth), Ordering::Relaxed);
                    });
                }
            });
        });
        assert_eq!(sum.into_inner(), 20 * 45 + 190);
        let panic = || runtime.run(|_| runtime.run(|_| panic!("innermost")));
        let panic = catch_unwind(AssertUnwindSafe(panic)).unwrap_err();
        assert_eq!(panic.downcast_ref(), Some(&"innermost"));
    });
}

#[test]
fn the_runtime_is_entered_from_polls_and_drops() {
    struct Enters<'r>(&'r Runtime, &'r AtomicU64);
    impl Drop for Enters<'_> {
        fn drop(&mut self) {
            let sum = self.0.run(|task| parallel_sum(task, 10));
            self.1.fetch_add(sum, Ordering::Relaxed);
        }
    }

    each_runtime(|runtime| {
        let runtime = &runtime;
        let (sum, channel) = (AtomicU64::new(0), Channel::new(1));
        runtime.run(|task| {
            let enters = Enters(runtime, &sum);
            drop(enters);
            task.scope(|scope| {
                let channel = &channel;
                let enters = Enters(runtime, &sum);
                scope.spawn(task, Priority::Normal, move |task| {
                    let _enters = enters;
                    task.wait(channel.send(5));
                });
                // This future waits on the fiber that polls it, before it registers anywhere and
                // after; none of the outer wake-ups may get lost in the inner waits.
                let mut receive = Box::pin(channel.receive());
                let mut handle = task.spawn(|task| parallel_sum(task, 4));
                let got = task.wait(poll_fn(|context| {
                    assert_eq!(runtime.run(|task| parallel_sum(task, 3)), 3);
                    let result = receive.as_mut().poll(context);
                    assert_eq!(runtime.run(|task| parallel_sum(task, 3)), 3);
                    result
                }));
                assert_eq!(got, 5);
                let got = task.wait(poll_fn(|context| {
                    let result = Pin::new(&mut handle).poll(context);
                    assert_eq!(runtime.run(|task| parallel_sum(task, 3)), 3);
                    result.map(|result| result.unwrap())
                }));
                assert_eq!(got, 6);
            });
        });
        assert_eq!(sum.into_inner(), 90);
    });
}

#[test]
fn two_runtimes_enter_each_other() {
    each_runtime(|one| {
        let one = &one;
        let other = Runtime::builder().workers(1).build().unwrap();
        let nested =
            one.run(|_| other.run(|_| one.run(|_| other.run(|task| parallel_sum(task, 5)))));
        assert_eq!(nested, 10);
        one.run(|task| {
            task.scope(|scope| {
                for _ in 0..10 {
                    let other = &other;
                    scope.spawn(task, Priority::Normal, move |_| {
                        assert_eq!(other.run(|_| one.run(|task| parallel_sum(task, 5))), 10);
                    });
                }
            });
        });
    });
}

#[test]
fn items_of_a_serial_iterator_start_parallel_work() {
    each_runtime(|runtime| {
        let runtime = &runtime;
        let items = Mutex::new((0..100).filter(|n| n % 3 == 0));
        let total = AtomicU64::new(0);
        runtime.run(|task| {
            task.scope(|scope| {
                for _ in 0..8 {
                    let (items, total) = (&items, &total);
                    scope.spawn(task, Priority::Normal, move |task| {
                        // The lock is held for `next` alone; nothing waits under it.
                        while let Some(n) = { items.lock().unwrap().next() } {
                            total.fetch_add(parallel_sum(task, n), Ordering::Relaxed);
                        }
                    });
                }
            });
        });
        let expected: u64 =
            (0..100).filter(|n| n % 3 == 0).map(|n: u64| n * n.saturating_sub(1) / 2).sum();
        assert_eq!(total.into_inner(), expected);
    });
}

#[test]
fn the_halves_of_a_join_wait_for_each_other() {
    fn halves(task: &Task<'_>, depth: u32) -> u64 {
        if depth == 0 {
            return 1;
        }
        let (to_left, to_right) = (Channel::new(1), Channel::new(1));
        let (left, right) = task.join(
            |task| {
                task.wait(to_right.send(halves(task, depth - 1)));
                task.wait(to_left.receive())
            },
            |task| {
                let got: u64 = task.wait(to_right.receive());
                task.wait(to_left.send(halves(task, depth - 1)));
                got
            },
        );
        left + right
    }

    each_runtime(|runtime| {
        let runtime = &runtime;
        assert_eq!(runtime.run(|task| halves(task, 7)), 128);
    });
}

#[test]
fn an_async_channel_between_tasks_and_a_thread() {
    each_runtime(|runtime| {
        let runtime = &runtime;
        let (numbers, squares) = (Channel::new(2), Channel::new(2));
        for _ in 0..3 {
            let (numbers, squares) = (Arc::clone(&numbers), Arc::clone(&squares));
            runtime
                .spawn(move |task| {
                    while let Some(n) = task.wait(numbers.receive()) {
                        task.wait(squares.send(n * n));
                    }
                })
                .detach();
        }
        let sum = {
            let (numbers, squares) = (Arc::clone(&numbers), Arc::clone(&squares));
            runtime.spawn(move |task| {
                let feed = task.spawn(move |task| {
                    (1..=200u64).for_each(|n| task.wait(numbers.send(Some(n))));
                    (0..3).for_each(|_| task.wait(numbers.send(None)));
                });
                let sum = (0..200).map(|_| task.wait(squares.receive())).sum::<u64>();
                task.wait(feed).unwrap();
                sum
            })
        };
        assert_eq!(sum.join().unwrap(), 2_686_700);
    });
}

/// Two tasks keep each other awake until a third has run, which nobody woken waits for.
#[test]
fn tasks_that_wake_each_other_let_others_run() {
    each_runtime(|runtime| {
        let runtime = &runtime;
        let (ping, pong, end) = (Channel::new(1), Channel::new(1), AtomicU64::new(0));
        runtime.run(|task| {
            task.scope(|scope| {
                let (ping, pong, end) = (&ping, &pong, &end);
                scope.spawn(task, Priority::Normal, move |task| {
                    while task.wait(ping.receive()) {
                        task.wait(pong.send(()));
                    }
                });
                scope.spawn(task, Priority::Normal, move |task| {
                    let mut rounds = 0;
                    while end.load(Ordering::Relaxed) == 0 {
                        task.wait(ping.send(true));
                        task.wait(pong.receive());
                        rounds += 1;
                        if rounds == 10 {
                            // From here on the two are resumed, one after the other, without end.
                            scope.spawn(task, Priority::Low, move |_| {
                                end.store(1, Ordering::Relaxed);
                            });
                        }
                    }
                    task.wait(ping.send(false));
                });
            });
        });
    });
}

/// A future that wakes itself, and is ready when a task has run that is queued behind it.
#[test]
fn a_future_that_wakes_itself_lets_others_run() {
    each_runtime(|runtime| {
        let runtime = &runtime;
        let ran = AtomicU64::new(0);
        runtime.run(|task| {
            task.scope(|scope| {
                scope.spawn(task, Priority::Low, |_| ran.store(1, Ordering::Relaxed));
                task.wait(poll_fn(|context| {
                    if ran.load(Ordering::Relaxed) == 1 {
                        return Poll::Ready(());
                    }
                    context.waker().wake_by_ref();
                    Poll::Pending
                }));
            });
        });
    });
}
