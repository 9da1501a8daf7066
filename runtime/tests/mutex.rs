//! Locks and conditions whose waiters suspend.

mod runtimes;

use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Mutex as ThreadMutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};
use std::thread;

use raddle::sync::{Condition, Mutex};
use raddle::{Priority, Runtime};
use runtimes::each_runtime;

fn one_worker() -> Runtime {
    Runtime::builder().workers(1).build().unwrap()
}

/// Without the lock the yield in between would lose increments.
#[test]
fn tasks_and_threads_count_under_a_lock() {
    each_runtime(|runtime| {
        let count = Mutex::new(0);
        thread::scope(|threads| {
            threads.spawn(|| {
                for _ in 0..200 {
                    let mut count = count.lock_blocking();
                    let before = *count;
                    thread::yield_now();
                    *count = before + 1;
                }
            });
            runtime.run(|task| {
                task.scope(|scope| {
                    for _ in 0..20 {
                        scope.spawn(task, Priority::Normal, |task| {
                            for _ in 0..20 {
                                let mut count = task.wait(count.lock());
                                let before = *count;
                                task.yield_now();
                                *count = before + 1;
                            }
                        });
                    }
                });
            });
        });
        assert_eq!(count.into_inner(), 600);
    });
}

#[test]
fn the_lock_goes_to_who_came_first() {
    let (mutex, order) = (Mutex::new(()), ThreadMutex::new(Vec::new()));
    one_worker().run(|task| {
        let first = mutex.try_lock().unwrap();
        assert!(mutex.try_lock().is_none());
        task.scope(|scope| {
            for n in 0..50 {
                let (mutex, order) = (&mutex, &order);
                scope.spawn(task, Priority::Normal, move |task| {
                    let came = {
                        let mut order = order.lock().unwrap();
                        order.push((n, "comes"));
                        order.iter().filter(|(_, what)| *what == "comes").count()
                    };
                    let held = task.wait(mutex.lock());
                    order.lock().unwrap().push((n, "gets it"));
                    assert!(came <= 50);
                    drop(held);
                });
            }
            // All get in line before the lock is given away.
            while order.lock().unwrap().len() < 50 {
                task.yield_now();
            }
            drop(first);
        });
    });
    let order = order.into_inner().unwrap();
    let of = |what| order.iter().filter(move |entry| entry.1 == what).map(|entry| entry.0);
    assert!(of("comes").eq(of("gets it")), "{order:?}");
}

/// The first task lets go only for moments without a wait, in which a lock that is free for whoever
/// comes would go to itself again, for ever.
#[test]
fn nobody_is_passed_over() {
    each_runtime(|runtime| {
        let (mutex, reached) = (Mutex::new(()), AtomicBool::new(false));
        runtime.run(|task| {
            task.scope(|scope| {
                let held = task.wait(mutex.lock());
                scope.spawn(task, Priority::Normal, |task| {
                    let _held = task.wait(mutex.lock());
                    reached.store(true, Ordering::Relaxed);
                });
                task.yield_now();
                drop(held);
                while !reached.load(Ordering::Relaxed) {
                    let _held = task.wait(mutex.lock());
                    task.yield_now();
                }
            });
        });
    });
}

#[test]
fn a_dropped_waiter_passes_the_lock_on() {
    let mutex = Mutex::new(5);
    let mut context = Context::from_waker(Waker::noop());
    // In line or already the owner, first or last in line: whoever goes, the last one gets the lock.
    for handed_over_first in [false, true] {
        for leaves in 0..3 {
            let held = mutex.try_lock().unwrap();
            let mut line: Vec<_> = (0..4).map(|_| Box::pin(mutex.lock())).collect();
            for lock in &mut line {
                assert!(lock.as_mut().poll(&mut context).is_pending());
            }
            if handed_over_first {
                drop(held);
                drop(line.remove(leaves));
            } else {
                drop(line.remove(leaves));
                drop(held);
            }
            for lock in &mut line {
                match lock.as_mut().poll(&mut context) {
                    Poll::Ready(held) => assert_eq!(*held, 5),
                    Poll::Pending => panic!("the lock is lost"),
                }
            }
            drop(line);
            assert!(mutex.try_lock().is_some());
        }
    }
}

/// A future that came back too late, then got the lock, begins anew when it is polled again.
#[test]
fn a_future_that_is_used_again_gets_in_line_again() {
    let mutex = Mutex::new(());
    let mut context = Context::from_waker(Waker::noop());
    let mut lock = pin!(mutex.lock());
    let held = mutex.try_lock().unwrap();
    assert!(lock.as_mut().poll(&mut context).is_pending());
    drop(held);
    let barged_in = mutex.try_lock().unwrap();
    assert!(lock.as_mut().poll(&mut context).is_pending(), "too late");
    drop(barged_in);
    assert!(mutex.try_lock().is_none(), "the lock is kept");
    assert!(lock.as_mut().poll(&mut context).is_ready());
    let held = mutex.try_lock().unwrap();
    assert!(lock.as_mut().poll(&mut context).is_pending());
    drop(held);
    let barged_in = mutex.try_lock().unwrap();
    assert!(lock.as_mut().poll(&mut context).is_pending(), "there is one owner");
    drop(barged_in);
    assert!(lock.as_mut().poll(&mut context).is_ready());
}

#[test]
fn a_panic_unlocks_and_poisons_nothing() {
    let runtime = one_worker();
    let mutex = Mutex::new(1);
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        runtime.run(|task| {
            *task.wait(mutex.lock()) = 2;
            let _held = task.wait(mutex.lock());
            panic!("under the lock");
        })
    }));
    assert!(panicked.is_err());
    assert_eq!(*mutex.lock_blocking(), 2);
    assert_eq!(format!("{mutex:?}"), "Mutex { value: 2 }");
    let held = mutex.try_lock().unwrap();
    assert_eq!(format!("{mutex:?} {held:?}"), "Mutex { value: <locked> } 2");
}

/// A bounded queue of several producers and consumers, with one condition for each direction.
#[test]
fn a_queue_with_two_conditions() {
    each_runtime(|runtime| {
        let queue = Mutex::new(Vec::new());
        let (not_full, not_empty) = (Condition::new(), Condition::new());
        let sum = Mutex::new(0);
        runtime.run(|task| {
            task.scope(|scope| {
                for producer in 0..4u64 {
                    let (queue, not_full, not_empty) = (&queue, &not_full, &not_empty);
                    scope.spawn(task, Priority::Normal, move |task| {
                        for n in 0..100 {
                            let held = task.wait(queue.lock());
                            let mut held =
                                task.wait(not_full.wait_while(held, |queue| queue.len() == 2));
                            held.push(producer * 100 + n);
                            drop(held);
                            not_empty.notify_one();
                        }
                    });
                    scope.spawn(task, Priority::Normal, |task| {
                        for _ in 0..100 {
                            let held = task.wait(queue.lock());
                            let mut held =
                                task.wait(not_empty.wait_while(held, |queue| queue.is_empty()));
                            let n = held.pop().unwrap();
                            drop(held);
                            not_full.notify_one();
                            *task.wait(sum.lock()) += n;
                        }
                    });
                }
            });
        });
        assert_eq!(sum.into_inner(), 399 * 400 / 2);
    });
}

#[test]
fn all_waiters_are_notified() {
    each_runtime(|runtime| {
        let (open, changed) = (Mutex::new(false), Condition::new());
        runtime.run(|task| {
            task.scope(|scope| {
                for _ in 0..30 {
                    scope.spawn(task, Priority::Normal, |task| {
                        let held = task.wait(open.lock());
                        let held = task.wait(changed.wait_while(held, |open| !*open));
                        assert!(*held);
                    });
                }
                task.yield_now();
                *task.wait(open.lock()) = true;
                changed.notify_all();
            });
        });
    });
}

/// A waiter that was notified is dropped, at every stage; the next one in line hears of it.
#[test]
fn a_dropped_waiter_passes_the_notification_on() {
    let (mutex, condition) = (Mutex::new(()), Condition::new());
    let mut context = Context::from_waker(Waker::noop());
    for stage in ["in line", "notified", "locking"] {
        let mut leaves = Box::pin(condition.wait(mutex.try_lock().unwrap()));
        assert!(leaves.as_mut().poll(&mut context).is_pending());
        let mut stays = pin!(condition.wait(mutex.try_lock().unwrap()));
        assert!(stays.as_mut().poll(&mut context).is_pending());
        if stage == "in line" {
            drop(leaves);
            condition.notify_one();
        } else {
            condition.notify_one();
            assert!(stays.as_mut().poll(&mut context).is_pending(), "one is notified");
            if stage == "locking" {
                let held = mutex.try_lock().unwrap();
                assert!(leaves.as_mut().poll(&mut context).is_pending());
                drop(held);
            }
            drop(leaves);
        }
        match stays.as_mut().poll(&mut context) {
            Poll::Ready(held) => drop(held),
            Poll::Pending => panic!("the notification is lost: {stage}"),
        }
        assert!(mutex.try_lock().is_some());
    }
    // Nobody waits any more; a condition that never was polled gives its lock back.
    condition.notify_all();
    drop(condition.wait(mutex.try_lock().unwrap()));
    assert!(mutex.try_lock().is_some());
}

/// A task waits for a lock with a future that another task has begun to wait for.
#[test]
fn a_waiting_future_may_move_to_another_task() {
    let (runtime, mutex) = (one_worker(), Mutex::new(3));
    runtime.run(|task| {
        let held = mutex.try_lock().unwrap();
        let mut lock = Box::pin(mutex.lock());
        let first =
            task.wait(poll_fn(|context| Poll::Ready(lock.as_mut().poll(context).is_ready())));
        assert!(!first);
        task.scope(|scope| {
            scope.spawn(task, Priority::Normal, move |task| assert_eq!(*task.wait(lock), 3));
            task.yield_now();
            drop(held);
        });
    });
}
