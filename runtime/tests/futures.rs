//! Tasks that wait for futures, and futures that wait for tasks.

mod channel;

use std::future::{pending, poll_fn, ready};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Poll, Waker};
use std::thread;

use channel::{Channel, each_runtime};
use raddle::{Priority, Runtime};

fn runtime(workers: usize) -> Runtime {
    Runtime::builder().workers(workers).stack_size(1 << 20).build().unwrap()
}

/// A future that is ready once its flag is set, and shows its waker.
#[derive(Default)]
struct Gate {
    open: AtomicBool,
    waker: Mutex<Option<Waker>>,
    polls: AtomicUsize,
}

impl Gate {
    async fn passed(&self) {
        poll_fn(|context| {
            self.polls.fetch_add(1, Ordering::Relaxed);
            *self.waker.lock().unwrap() = Some(context.waker().clone());
            if self.open.load(Ordering::Acquire) { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    }

    fn open(&self) {
        self.open.store(true, Ordering::Release);
        self.wake();
    }

    /// Calls the waker, once one is there.
    fn wake(&self) {
        loop {
            let waker = self.waker.lock().unwrap().clone();
            match waker {
                Some(waker) => return waker.wake(),
                None => thread::yield_now(),
            }
        }
    }
}

#[test]
fn ready_futures_do_not_suspend() {
    let runtime = runtime(1);
    let sum: u32 = runtime.run(|task| (0..100).map(|n| task.wait(ready(n))).sum());
    assert_eq!((sum, runtime.counters().suspensions), (4950, 0));
}

#[test]
fn other_threads_wake() {
    each_runtime(|runtime| {
        let runtime = &runtime;
        for _ in 0..50 {
            let gate = Gate::default();
            thread::scope(|threads| {
                threads.spawn(|| gate.open());
                runtime.run(|task| task.wait(gate.passed()));
            });
        }
    });
}

#[test]
fn a_wake_for_no_reason_causes_another_poll() {
    let (runtime, gate) = (runtime(1), Gate::default());
    thread::scope(|threads| {
        threads.spawn(|| {
            for polls in 1..=10 {
                while gate.polls.load(Ordering::Relaxed) < polls {
                    thread::yield_now();
                }
                gate.wake();
            }
            gate.open();
        });
        runtime.run(|task| task.wait(gate.passed()));
    });
    // The last poll may have begun before the gate opened, and have seen it open.
    assert!(gate.polls.into_inner() >= 10);
}

/// ```text
/// task:    wait for the gate | suspended at the scope's end  ...  | goes on
/// waker:                     | called again and again             |
/// child:                     |              waits ... ended       |
/// ```
#[test]
fn a_waker_wakes_nobody_who_waits_for_something_else() {
    each_runtime(|runtime| {
        let runtime = &runtime;
        let (gate, child_ended) = (Gate::default(), AtomicBool::new(false));
        gate.open.store(true, Ordering::Relaxed);
        runtime.run(|task| {
            task.wait(gate.passed());
            task.scope(|scope| {
                let (gate, child_ended) = (&gate, &child_ended);
                scope.spawn(task, Priority::Normal, move |task| {
                    for _ in 0..10 {
                        // From this thread and, some calls later, from another.
                        (0..10).for_each(|_| gate.wake());
                        task.blocking(|| (0..10).for_each(|_| gate.wake()));
                        task.yield_now();
                    }
                    child_ended.store(true, Ordering::Relaxed);
                });
            });
            assert!(child_ended.load(Ordering::Relaxed));
        });
        let suspensions = runtime.counters().suspensions;
        assert!(suspensions <= 22, "{suspensions} suspensions");
    });
}

#[test]
fn a_waker_may_outlive_the_task_and_the_runtime() {
    let gate = Gate::default();
    gate.open.store(true, Ordering::Relaxed);
    let runtime = runtime(2);
    runtime.run(|task| task.wait(gate.passed()));
    gate.wake();
    assert_eq!(runtime.run(|task| task.wait(ready(1))), 1);
    drop(runtime);
    gate.wake();
    gate.wake();
}

#[test]
fn a_future_may_panic() {
    each_runtime(|runtime| {
        let runtime = &runtime;
        runtime.run(|task| {
            let wait = || task.wait(poll_fn(|_| -> Poll<()> { panic!("polled") }));
            assert!(catch_unwind(AssertUnwindSafe(wait)).is_err());
            let gate = Gate::default();
            task.scope(|scope| {
                scope.spawn(task, Priority::Normal, |_| gate.open());
                task.wait(gate.passed());
            });
        });
    });
}

/// A wake for the outer wait arrives while an inner one, in the same poll, waits.
#[test]
fn waits_within_polls_lose_no_wake() {
    each_runtime(|runtime| {
        let runtime = &runtime;
        let (outer, inner) = (Gate::default(), Gate::default());
        runtime.run(|task| {
            task.scope(|scope| {
                scope.spawn(task, Priority::Normal, |_| {
                    outer.open();
                    inner.open();
                });
                let mut passed = Box::pin(outer.passed());
                let mut polls = 0;
                task.wait(poll_fn(|context| {
                    polls += 1;
                    let result = passed.as_mut().poll(context);
                    task.wait(inner.passed());
                    result
                }));
                assert!(polls <= 2, "{polls} polls");
            });
        });
    });
}

#[test]
fn a_dropped_future_was_not_lost() {
    let (runtime, channel) = (runtime(1), Channel::new(1));
    runtime.run(|task| {
        for n in 0..10 {
            // The first of the two is ready; the other is dropped while it waits.
            let mut received = Box::pin(channel.receive());
            let first = task.wait(poll_fn(|context| match received.as_mut().poll(context) {
                Poll::Ready(number) => Poll::Ready(Some(number)),
                Poll::Pending => Poll::Ready(None),
            }));
            assert_eq!(first, None);
            drop(received);
            task.wait(channel.send(n));
            assert_eq!(task.wait(channel.receive()), n);
        }
        let mut never = Box::pin(pending::<()>());
        assert!(task.wait(poll_fn(|c| Poll::Ready(never.as_mut().poll(c).is_pending()))));
    });
}

#[test]
fn handles_give_results_to_threads_tasks_and_futures() {
    each_runtime(|runtime| {
        let runtime = &runtime;
        let handle = runtime.spawn(|task| task.worker());
        assert!(handle.join().unwrap() < runtime.workers());

        let tree = runtime.spawn(|task| {
            let leaves = (0..100u64).map(|n| task.spawn(move |_| n)).collect::<Vec<_>>();
            leaves.into_iter().map(|leaf| task.wait(leaf).unwrap()).sum::<u64>()
        });
        let doubled = async move { tree.await.map(|sum| sum * 2) };
        assert_eq!(runtime.run(|task| task.wait(doubled)).unwrap(), 9900);

        let joined = runtime.run(|task| task.spawn(|task| task.spawn(|_| 7).join()).join());
        assert_eq!(joined.unwrap().unwrap(), 7);

        let failed = runtime.spawn(|task| -> () { panic!("number {}", task.workers()) });
        let panicked = runtime.run(|task| task.wait(failed)).unwrap_err();
        let message = format!("number {}", runtime.workers());
        assert_eq!(panicked.message(), message);
        assert_eq!(panicked.into_payload().downcast_ref::<String>(), Some(&message));
    });
}

#[test]
fn finished_handles_are_ready_at_once() {
    let runtime = runtime(1);
    let handle = runtime.spawn(|_| 1);
    while !handle.is_finished() {
        thread::yield_now();
    }
    let before = runtime.counters().suspensions;
    assert_eq!(runtime.run(|task| task.wait(handle)).unwrap(), 1);
    assert_eq!(runtime.counters().suspensions, before);
}
