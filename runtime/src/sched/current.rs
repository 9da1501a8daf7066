//! What the calling thread is, for code that was not handed a task: a waker, a drop, a nested call.
//!
//! ```text
//! plain thread:   no worker
//! worker:         WORKER ---> Worker.current --fiber runs a task--> Task, on that fiber's stack
//!                                  `--otherwise--> none
//! ```
//!
//! A task's fiber enters the task in its worker when it begins and whenever it goes on, and takes it
//! out when it suspends or ends. So what is entered is the task whose code is running.
//!
//! Invariant: `WORKER` points to the worker whose thread this is, `Worker::current` to a task whose
//! frames are below the caller's on the same stack; or they are null.

#![expect(unsafe_code, reason = "reads the pointers to the running worker and task")]

use std::cell::Cell;
use std::ptr;

use super::task::Task;
use super::worker::Worker;
use crate::sync::block::block_on;

thread_local! {
    static WORKER: Cell<*const Worker> = const { Cell::new(ptr::null()) };
}

/// Says that the calling thread is `worker` while `body` runs.
pub(super) fn as_worker(worker: &Worker, body: impl FnOnce()) {
    struct Leave;
    impl Drop for Leave {
        fn drop(&mut self) {
            WORKER.set(ptr::null());
        }
    }

    let _leave = Leave;
    WORKER.set(worker);
    body();
}

/// Calls `body` with the worker whose thread this is.
pub(super) fn with_worker<R>(body: impl FnOnce(Option<&Worker>) -> R) -> R {
    let worker = WORKER.get();
    // SAFETY: `as_worker` keeps a borrow of the worker until it takes the pointer back, and the
    // frames that `body` is called from end before.
    body(unsafe { worker.as_ref() })
}

/// Calls `body` with the task that is running on this thread.
pub(super) fn with_task<R>(body: impl FnOnce(Option<&Task<'_>>) -> R) -> R {
    let task = with_worker(|worker| worker.map_or(ptr::null(), |worker| worker.current.get()));
    // SAFETY: the pointer is that of the task whose code calls this, by `enter` and `leave`; the
    // task stays where it is until that code returns.
    body(unsafe { task.as_ref() })
}

/// Says that the code of `task` runs from here on.
#[inline]
pub(super) fn enter(task: &Task<'_>) {
    task.worker.current.set(ptr::from_ref(task).cast());
}

/// Says that no task's code runs from here on.
#[inline]
pub(super) fn leave(worker: &Worker) {
    worker.current.set(ptr::null());
}

/// Waits until `future` is ready: a task suspends, a plain thread blocks.
pub(super) fn wait<F: Future>(future: F) -> F::Output {
    with_task(|task| match task {
        Some(task) => task.wait(future),
        None => block_on(future),
    })
}
