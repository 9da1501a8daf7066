//! Two closures at once, at the price of one when nobody else has time.
//!
//! ```text
//! queue `right`; run `left`; take `right` back?  yes: run it here
//!                                                no:  wait for its latch
//!
//! latch:   Running --right's end--> Done
//!             `--left waits--> Awaited --right's end--> Done, and left is woken
//! ```
//!
//! `right` is a task in a record of its own, which holds only a pointer to the caller's frame; the
//! caller stays until the latch says Done, and gives the record back itself. If it is taken back it
//! never was a task: it runs as a part of the caller's.
//!
//! Whether `right` became a task is a matter of timing, and must show nowhere. So the halves start
//! tasks only in scopes that they have opened themselves: in an outer scope, the order by which one
//! of several panics is chosen would depend on it, and so would how long the join waits.

#![expect(unsafe_code, reason = "stores a closure that borrows from the frame that waits for it")]

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use super::policy::Schedule;
use super::record::{JOINED, Origin};
use super::shared::Priority;
use super::task::Task;

/// Where the result of `right` arrives.
struct Right<B, R> {
    function: Cell<Option<B>>,
    result: Cell<Option<Result<R, Box<dyn Any + Send>>>>,
}

/// A pointer to the caller's frame, which outlives the task.
struct RightPointer<B, R>(*const Right<B, R>);

// SAFETY: the frame's cells are used by one thread at a time: by the task from its start until its
// latch says Done, by the caller before it was queued and after that. Closure and result are
// `Send`, so moving them to the task and back is sound.
unsafe impl<B: Send, R: Send> Send for RightPointer<B, R> {}

impl Task<'_> {
    /// Runs both closures, at the same time if another worker has time, and returns what they
    /// return.
    ///
    /// While `left` runs, other workers may take `right`. If none has, the caller runs it as well;
    /// else it suspends until `right` is done. A task that is not one of the two never runs on the
    /// caller's stack.
    ///
    /// # Panics
    ///
    /// Passes on a panic of `left`, else of `right`, after both have ended; if `left` panics,
    /// `right` may not be run. Panics if a half starts a task in a scope that was opened outside.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::{Runtime, Task};
    ///
    /// fn fibonacci(task: &Task<'_>, n: u64) -> u64 {
    ///     if n < 2 {
    ///         return n;
    ///     }
    ///     let (a, b) = task.join(|task| fibonacci(task, n - 1), |task| fibonacci(task, n - 2));
    ///     a + b
    /// }
    ///
    /// let runtime = Runtime::builder().workers(2).build()?;
    /// assert_eq!(runtime.run(|task| fibonacci(task, 20)), 6765);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[inline]
    pub fn join<A, B, RA, RB>(&self, left: A, right: B) -> (RA, RB)
    where
        A: FnOnce(&Task<'_>) -> RA,
        B: FnOnce(&Task<'_>) -> RB + Send,
        RB: Send,
    {
        let floor = self.enter_join();
        let frame = Right { function: Cell::new(Some(right)), result: Cell::new(None) };
        let pointer = RightPointer(&raw const frame);
        let origin = Origin {
            run: self.run,
            parent: self.number,
            index: self.spawned.get(),
            scope: JOINED,
            level: self.level.get(),
            floor: self.floor.get(),
        };
        // SAFETY: below, before this frame goes away, the task is either taken back, and its
        // closure dropped, or its latch has said Done; no path leaves in between, for panics are
        // caught.
        let number = unsafe {
            self.worker.start_task(origin, Priority::Normal, move |task: &Task<'_>| {
                run_right(pointer, task);
            })
        };
        let left = catch_unwind(AssertUnwindSafe(|| left(self)));
        let right =
            if self.worker.shared.queues.take_back(&self.worker.seat, Priority::Normal, number) {
                // SAFETY: the number came out of the queue just now; the closure is a pointer.
                unsafe { self.worker.forget_task(number) };
                let function = frame.function.take().expect("nobody has run it");
                match &left {
                    Ok(_) => catch_unwind(AssertUnwindSafe(|| function(self))),
                    Err(_) => {
                        // Its own panic would come second.
                        let _second = catch_unwind(AssertUnwindSafe(|| drop(function)));
                        Err(Box::new(()) as Box<dyn Any + Send>)
                    }
                }
            } else {
                self.await_latch(number);
                frame.result.take().expect("the task stored its result before its latch said Done")
            };
        self.leave_join(floor);
        match (left, right) {
            (Ok(left), Ok(right)) => (left, right),
            (Err(panic), _) | (Ok(_), Err(panic)) => resume_unwind(panic),
        }
    }

    /// Closes all open scopes to the running code, and returns what opens them again.
    #[inline]
    fn enter_join(&self) -> u32 {
        self.floor.replace(self.level.get())
    }

    #[inline]
    fn leave_join(&self, floor: u32) {
        self.floor.set(floor);
    }

    /// Waits until the task `number`, the right half of a join, has ended, and gives its record
    /// back.
    #[cold]
    fn await_latch(&self, number: u32) {
        let shared = &*self.worker.shared;
        let record = shared.tasks.get(number);
        if record.await_end() {
            shared.graph.awaiting_half(shared, self.worker, self.number, number);
            let _woken = self.suspend();
        }
        self.worker.give_back(number);
    }
}

fn run_right<B, R>(pointer: RightPointer<B, R>, task: &Task<'_>)
where
    B: FnOnce(&Task<'_>) -> R,
{
    // SAFETY: the caller of `join` keeps the frame until this task's latch says Done, and does not
    // touch it meanwhile.
    let frame = unsafe { &*pointer.0 };
    if let Some(function) = frame.function.take() {
        frame.result.set(Some(catch_unwind(AssertUnwindSafe(|| function(task)))));
    }
}
