//! A small async channel, which knows nothing of the runtime.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};

pub(crate) use runtimes::each_runtime;

#[path = "../runtimes/mod.rs"]
mod runtimes;

/// A channel for any number of senders and receivers, which holds up to `capacity` items.
pub(crate) struct Channel<T> {
    capacity: usize,
    state: Mutex<State<T>>,
}

struct State<T> {
    items: VecDeque<T>,
    waiting: Vec<Waker>,
}

impl<T> Channel<T> {
    pub(crate) fn new(capacity: usize) -> Arc<Self> {
        let state = State { items: VecDeque::new(), waiting: Vec::new() };
        Arc::new(Self { capacity, state: Mutex::new(state) })
    }

    pub(crate) async fn send(&self, item: T) {
        let mut item = Some(item);
        self.change(|items| {
            let is_free = items.len() < self.capacity;
            if is_free {
                items.extend(item.take());
            }
            is_free.then_some(())
        })
        .await;
    }

    pub(crate) async fn receive(&self) -> T {
        self.change(VecDeque::pop_front).await
    }

    /// Waits until `attempt` succeeds, and wakes all who wait for something.
    async fn change<R>(&self, mut attempt: impl FnMut(&mut VecDeque<T>) -> Option<R>) -> R {
        poll_fn(|context| {
            let mut state = self.state.lock().unwrap();
            match attempt(&mut state.items) {
                Some(result) => {
                    let waiting = std::mem::take(&mut state.waiting);
                    drop(state);
                    waiting.into_iter().for_each(Waker::wake);
                    Poll::Ready(result)
                }
                None => {
                    state.waiting.push(context.waker().clone());
                    Poll::Pending
                }
            }
        })
        .await
    }
}
