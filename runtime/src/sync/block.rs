//! Blocking a plain thread until a future is ready.
//!
//! Not for tasks, which suspend instead: `Task::wait`.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

#[cfg(raddle_loom)]
use loom::sync::Notify as Parker;

/// A thread that sleeps between polls.
struct Sleeper(Parker);

impl Wake for Sleeper {
    fn wake(self: Arc<Self>) {
        self.0.notify();
    }
}

/// Polls `future` until it is ready; the calling thread sleeps meanwhile.
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    let sleeper = Arc::new(Sleeper(Parker::new()));
    let waker = Waker::from(Arc::clone(&sleeper));
    let mut context = Context::from_waker(&waker);
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(output) => return output,
            Poll::Pending => sleeper.0.wait(),
        }
    }
}

#[cfg(not(raddle_loom))]
struct Parker {
    thread: std::thread::Thread,
    notified: std::sync::atomic::AtomicBool,
}

#[cfg(not(raddle_loom))]
impl Parker {
    fn new() -> Self {
        Self { thread: std::thread::current(), notified: false.into() }
    }

    fn notify(&self) {
        // Release: pairs with the swap in `wait`; what came before is visible to the next poll.
        self.notified.store(true, std::sync::atomic::Ordering::Release);
        self.thread.unpark();
    }

    fn wait(&self) {
        while !self.notified.swap(false, std::sync::atomic::Ordering::Acquire) {
            std::thread::park();
        }
    }
}
