//! What runs beside the workers: calls that block, and timers.

mod channel;

use std::future::pending;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, mpsc};
use std::time::{Duration, Instant};

use channel::{Channel, each_runtime};
use raddle::{Elapsed, Priority, Runtime};

#[test]
fn a_blocked_call_does_not_block_its_worker() {
    each_runtime(|runtime| {
        let runtime = &runtime;
        let (sender, receiver) = mpsc::channel();
        let receiver = Mutex::new(receiver);
        runtime.run(|task| {
            task.scope(|scope| {
                // The worker must run this while the call below is blocked.
                scope.spawn(task, Priority::Low, move |_| {
                    (0..10).for_each(|n| sender.send(n).unwrap());
                });
                let text = String::from("borrowed");
                let (sum, length) = task.blocking(|| {
                    let sum: u32 = receiver.lock().unwrap().iter().sum();
                    (sum, text.len())
                });
                assert_eq!((sum, length), (45, 8));
            });
        });
    });
}

#[test]
fn more_calls_than_threads_take_turns() {
    let builder = Runtime::builder().workers(2).stack_size(1 << 20).side_threads(3);
    let runtime = builder.build().unwrap();
    let (now, most, made) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
    runtime.run(|task| {
        task.scope(|scope| {
            for _ in 0..200 {
                scope.spawn(task, Priority::Normal, |task| {
                    task.blocking(|| {
                        most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                        std::thread::yield_now();
                        now.fetch_sub(1, Ordering::SeqCst);
                        made.fetch_add(1, Ordering::SeqCst);
                    });
                });
            }
        });
    });
    assert_eq!(made.into_inner(), 200);
    assert!(most.into_inner() <= 3);
}

#[test]
fn panics_of_blocking_calls_are_passed_on() {
    each_runtime(|runtime| {
        let runtime = &runtime;
        runtime.run(|task| {
            let call = || task.blocking(|| -> () { panic!("no such file") });
            let panic = catch_unwind(AssertUnwindSafe(call)).unwrap_err();
            assert_eq!(panic.downcast_ref(), Some(&"no such file"));
            assert_eq!(task.blocking(|| 3), 3);
        });
    });
}

#[test]
fn blocking_calls_may_enter_the_runtime() {
    each_runtime(|runtime| {
        let runtime = &runtime;
        let nested = runtime.run(|task| {
            task.blocking(|| runtime.run(|task| task.blocking(|| runtime.run(|_| 1) + 2)))
        });
        assert_eq!(nested, 3);
    });
}

/// Deadlines are in the order of the numbers, first polls are not.
#[test]
fn sleeps_end_in_the_order_of_their_deadlines() {
    const STEP: Duration = Duration::from_millis(20);
    let runtime = Runtime::builder().workers(1).stack_size(1 << 20).build().unwrap();
    loop {
        let begin = Instant::now();
        let mut sleeps: Vec<_> = (1..=5).map(|n| Some(runtime.timer().sleep(STEP * n))).collect();
        let (polled, ended) = (Mutex::new(begin), Mutex::new(Vec::new()));
        runtime.run(|task| {
            task.scope(|scope| {
                for n in [3, 1, 4, 0, 2] {
                    let (polled, ended) = (&polled, &ended);
                    let sleep = sleeps[n].take().unwrap();
                    scope.spawn(task, Priority::Normal, move |task| {
                        *polled.lock().unwrap() = Instant::now();
                        task.wait(sleep);
                        assert!(begin.elapsed() >= STEP * (n as u32 + 1));
                        ended.lock().unwrap().push(n);
                    });
                }
            });
        });
        // If the thread was held up, those polled late were ready at once: that says nothing.
        if polled.into_inner().unwrap() < begin + STEP {
            assert_eq!(ended.into_inner().unwrap(), [0, 1, 2, 3, 4]);
            break;
        }
    }
}

#[test]
fn many_sleep_at_once() {
    each_runtime(|runtime| {
        let runtime = &runtime;
        let ended = AtomicUsize::new(0);
        runtime.run(|task| {
            task.scope(|scope| {
                for n in 0..500 {
                    let ended = &ended;
                    scope.spawn(task, Priority::Normal, move |task| {
                        task.sleep(Duration::from_micros(n * 7 % 1000));
                        ended.fetch_add(1, Ordering::Relaxed);
                    });
                }
            });
        });
        assert_eq!(ended.into_inner(), 500);
    });
}

#[test]
fn timeouts() {
    each_runtime(|runtime| {
        let runtime = &runtime;
        let (timer, channel) = (runtime.timer(), Channel::new(1));
        runtime.run(|task| {
            let short = Duration::from_millis(1);
            assert_eq!(task.wait(timer.timeout(short, pending::<()>())), Err(Elapsed));
            assert_eq!(task.wait(timer.timeout(short, channel.receive())), Err(Elapsed));
            task.scope(|scope| {
                scope.spawn(task, Priority::Normal, |task| task.wait(channel.send(5)));
                assert_eq!(task.wait(timer.timeout(Duration::MAX, channel.receive())), Ok(5));
            });
        });
        let handle = runtime.spawn(|task| task.sleep(Duration::from_millis(1)));
        handle.detach();
    });
}

/// A sleep that nobody awaits in a task outlives its runtime, and is awaited elsewhere.
#[test]
fn a_sleep_may_outlive_its_runtime() {
    let runtime = Runtime::builder().workers(1).build().unwrap();
    let sleep = runtime.timer().sleep(Duration::from_millis(5));
    drop(runtime);
    let other = Runtime::builder().workers(1).build().unwrap();
    other.run(|task| task.wait(sleep));
}
