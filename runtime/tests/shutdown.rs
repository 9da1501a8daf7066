//! The end of a runtime loses no task and no panic.

mod channel;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};

use channel::{Channel, each_runtime};
use raddle::{Priority, Runtime, Task};

/// Spawns a task that spawns two, and so on, `depth` times; all of them detached.
fn spread(task: &Task<'_>, depth: u32, ran: Arc<AtomicUsize>) {
    task.yield_now();
    if depth > 0 {
        for _ in 0..2 {
            let ran = Arc::clone(&ran);
            task.spawn(move |task| spread(task, depth - 1, ran)).detach();
        }
    }
    ran.fetch_add(1, Ordering::Relaxed);
}

#[test]
fn tasks_in_flight_and_those_they_spawn_are_run() {
    each_runtime(|runtime| {
        let ran = Arc::new(AtomicUsize::new(0));
        for _ in 0..4 {
            let ran = Arc::clone(&ran);
            runtime.spawn(|task| spread(task, 7, ran)).detach();
        }
        runtime.shutdown().unwrap();
        assert_eq!(ran.load(Ordering::Relaxed), 4 * 255);
    });
}

#[test]
fn dropping_waits_for_those_who_wait() {
    each_runtime(|runtime| {
        let (items, got) = (Channel::new(1), Arc::new(AtomicUsize::new(0)));
        let (receiver, sum) = (Arc::clone(&items), Arc::clone(&got));
        runtime
            .spawn(move |task| {
                for _ in 0..100 {
                    sum.fetch_add(task.wait(receiver.receive()), Ordering::Relaxed);
                }
            })
            .detach();
        runtime
            .spawn(move |task| {
                for n in 0..100 {
                    task.blocking(|| ());
                    task.wait(items.send(n));
                }
            })
            .detach();
        drop(runtime);
        assert_eq!(got.load(Ordering::Relaxed), 4950);
    });
}

#[test]
fn unseen_panics_are_reported_and_the_first_spawned_comes_first() {
    each_runtime(|runtime| {
        let start = Channel::new(1);
        let started = Arc::clone(&start);
        // It panics last, and was spawned first.
        let first = runtime.spawn(move |task| {
            task.wait(started.receive());
            panic!("spawned first");
        });
        first.detach();
        let spawn = |n| runtime.spawn(move |_| -> () { panic!("task {n}") });
        let handles: Vec<_> = (0..10).map(spawn).collect();
        for (n, handle) in handles.into_iter().enumerate() {
            while n % 3 == 0 && !handle.is_finished() {
                std::thread::yield_now();
            }
            // Those that somebody asks for are not reported again.
            if n % 2 == 0 {
                assert_eq!(handle.join().unwrap_err().message(), format!("task {n}"));
            }
        }
        runtime.run(|task| task.wait(start.send(())));
        let failures = runtime.shutdown().unwrap_err();
        assert_eq!(failures.count(), 6);
        assert_eq!(failures.to_string(), "a task panicked: spawned first (and 5 more)");
    });
}

#[test]
fn dropping_passes_an_unseen_panic_on() {
    each_runtime(|runtime| {
        runtime.spawn(|_| panic!("unseen")).detach();
        let panic = catch_unwind(AssertUnwindSafe(|| drop(runtime))).unwrap_err();
        assert_eq!(panic.downcast_ref(), Some(&"unseen"));
    });
}

/// The last owner of the runtime is a task of its own: the workers end after it.
#[test]
fn a_runtime_may_be_dropped_by_its_own_task() {
    each_runtime(|runtime| {
        let runtime = Arc::new(runtime);
        let (done, ran) = mpsc::channel();
        let owner = Arc::clone(&runtime);
        runtime
            .spawn(move |task| {
                for n in 0..10 {
                    let done = done.clone();
                    task.spawn(move |task| {
                        task.yield_now();
                        done.send(n).unwrap();
                    })
                    .detach();
                }
                while Arc::strong_count(&owner) > 1 {
                    task.yield_now();
                }
                drop(owner);
                task.scope(|scope| scope.spawn(task, Priority::Normal, |_| done.send(10).unwrap()));
            })
            .detach();
        drop(runtime);
        let mut ran: Vec<_> = ran.iter().collect();
        ran.sort_unstable();
        assert_eq!(ran, (0..=10).collect::<Vec<_>>());
    });
}

/// The tasks of the inner runtime need the one worker of the outer one, whose task drops the inner.
#[test]
fn a_runtime_may_be_dropped_by_a_task_of_another() {
    each_runtime(|inner| {
        let outer = Arc::new(Runtime::builder().workers(1).build().unwrap());
        let entered = Arc::new(AtomicUsize::new(0));
        for _ in 0..5 {
            let (outer, entered) = (Arc::clone(&outer), Arc::clone(&entered));
            inner
                .spawn(move |task| {
                    task.yield_now();
                    outer.run(|_| entered.fetch_add(1, Ordering::Relaxed));
                })
                .detach();
        }
        outer.run(move |_| drop(inner));
        assert_eq!(entered.load(Ordering::Relaxed), 5);
    });
}
