//! Values go through rings in order, once each, whatever the ends run on.

mod runtimes;

use std::future::Future;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::thread;

use raddle::sync::ring::{Receiver, SendError, Sender, TryRecvError, TrySendError, ring};
use raddle::{Priority, Runtime, Task};
use runtimes::each_runtime;

const CAPACITIES: [usize; 4] = [1, 2, 3, 8];

#[test]
fn ends_on_threads_that_never_wait() {
    for capacity in CAPACITIES {
        let (mut sender, mut receiver) = ring(capacity);
        thread::scope(|scope| {
            scope.spawn(move || {
                for value in 0..10_000u64 {
                    let mut sent = sender.try_send(value);
                    while let Err(TrySendError::Full(back)) = sent {
                        assert_eq!(back, value);
                        thread::yield_now();
                        sent = sender.try_send(value);
                    }
                    sent.unwrap();
                }
            });
            for expected in 0..10_000 {
                let value = loop {
                    match receiver.try_recv() {
                        Ok(value) => break value,
                        Err(TryRecvError::Empty) => thread::yield_now(),
                        Err(TryRecvError::Closed) => panic!("{expected} is missing"),
                    }
                };
                assert_eq!(value, expected);
            }
            while receiver.try_recv() == Err(TryRecvError::Empty) {
                thread::yield_now();
            }
            assert_eq!(receiver.try_recv(), Err(TryRecvError::Closed));
        });
    }
}

/// Passes values on, each one more.
fn stage(task: &Task<'_>, mut from: Receiver<u64>, mut to: Sender<u64>) {
    while let Some(value) = task.wait(from.recv()) {
        task.wait(to.send(value + 1)).unwrap();
    }
}

#[test]
fn a_pipeline_of_tasks() {
    each_runtime(|runtime| {
        for capacity in CAPACITIES {
            let (mut first, from) = ring(capacity);
            let mut last = from;
            runtime.run(|task| {
                task.scope(|scope| {
                    for _ in 0..3 {
                        let (to, next) = ring(capacity);
                        let from = std::mem::replace(&mut last, next);
                        scope.spawn(task, Priority::Normal, |task| stage(task, from, to));
                    }
                    scope.spawn(task, Priority::Normal, move |task| {
                        (0..500).for_each(|value| task.wait(first.send(value)).unwrap());
                    });
                    for value in 0..500 {
                        assert_eq!(task.wait(last.recv()), Some(value + 3));
                    }
                    assert_eq!(task.wait(last.recv()), None);
                });
            });
        }
    });
}

/// Each end waits for the other all the time.
#[test]
fn two_rings_between_a_task_and_a_thread() {
    let runtime = Runtime::builder().workers(2).build().unwrap();
    let (mut there, mut ask) = ring(1);
    let (mut answer, mut back) = ring(1);
    let other = runtime.spawn(move |task| {
        while let Some(value) = task.wait(ask.recv()) {
            task.wait(answer.send(value * 2)).unwrap();
        }
    });
    for value in 0..1000u64 {
        there.try_send(value).unwrap();
        let answered = loop {
            match back.try_recv() {
                Ok(value) => break value,
                Err(error) => assert_eq!(error, TryRecvError::Empty),
            }
            thread::yield_now();
        };
        assert_eq!(answered, value * 2);
    }
    drop(there);
    other.join().unwrap();
}

#[test]
fn what_is_not_received_is_dropped_once() {
    let value = Arc::new(());
    let copies = || Arc::strong_count(&value) - 1;
    for capacity in CAPACITIES {
        for received in 0..=capacity {
            let (mut sender, mut receiver) = ring(capacity);
            // The positions wrap around before the values that stay.
            for _ in 0..received {
                sender.try_send(Arc::clone(&value)).unwrap();
                drop(receiver.try_recv().unwrap());
            }
            (0..capacity).for_each(|_| sender.try_send(Arc::clone(&value)).unwrap());
            let refused = sender.try_send(Arc::clone(&value)).unwrap_err();
            assert!(matches!(refused, TrySendError::Full(_)));
            drop(refused);
            (0..received).for_each(|_| drop(receiver.try_recv().unwrap()));
            assert_eq!(copies(), capacity - received);
            if received % 2 == 0 {
                drop(receiver);
                assert_eq!(copies(), 0, "the sender's stay keeps no values");
                assert!(sender.is_closed());
                let refused = sender.try_send(Arc::clone(&value)).unwrap_err();
                assert!(matches!(refused, TrySendError::Closed(_)));
            } else {
                drop(sender);
                assert_eq!(copies(), capacity - received);
                drop(receiver);
            }
            assert_eq!(copies(), 0);
        }
    }
}

#[test]
fn an_end_that_goes_wakes_the_other() {
    each_runtime(|runtime| {
        let (mut sender, receiver) = ring(1);
        let (gone, mut empty) = ring::<u32>(1);
        runtime.run(|task| {
            task.scope(|scope| {
                scope.spawn(task, Priority::Low, move |_| drop((receiver, gone)));
                assert_eq!(task.wait(empty.recv()), None);
                let refused = loop {
                    if let Err(SendError(value)) = task.wait(sender.send(7)) {
                        break value;
                    }
                };
                assert_eq!(refused, 7);
            });
        });
    });
}

/// Futures are dropped while they wait, with what they were to send.
#[test]
fn dropped_futures_lose_nothing_that_was_sent() {
    let (mut sender, mut receiver) = ring(1);
    let value = Arc::new(0);
    let mut context = Context::from_waker(Waker::noop());
    for _ in 0..3 {
        let mut receiving = Box::pin(receiver.recv());
        assert!(receiving.as_mut().poll(&mut context).is_pending());
        drop(receiving);
        assert!(sender.try_send(Arc::clone(&value)).is_ok());
        let mut sending = Box::pin(sender.send(Arc::clone(&value)));
        assert!(sending.as_mut().poll(&mut context).is_pending());
        assert_eq!(Arc::strong_count(&value), 3);
        drop(sending);
        assert_eq!(Arc::strong_count(&value), 2);
        let mut receiving = Box::pin(receiver.recv());
        assert_eq!(receiving.as_mut().poll(&mut context), Poll::Ready(Some(Arc::clone(&value))));
    }
}

#[test]
#[should_panic(expected = "a ring holds at least one value")]
fn a_ring_without_room_is_refused() {
    drop(ring::<()>(0));
}
