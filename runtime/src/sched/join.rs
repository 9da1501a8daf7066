//! Two closures at once, at the price of one when nobody else has time.
//!
//! ```text
//! queue `right`; run `left`; take `right` back?  yes: run it here
//!                                                no:  wait for its latch
//! ```
//!
//! `right` lies in a frame on the caller's stack, and the queue holds the frame's address. Whoever
//! takes it from there makes a task of it, with a record of its own; the caller stays until the
//! latch says Done. If it is taken back it never was a task, and runs as a part of the caller's.
//!
//! Whether `right` became a task is a matter of timing, and must show nowhere. So the halves start
//! tasks only in scopes that they have opened themselves: in an outer scope, the order by which one
//! of several panics is chosen would depend on it, and so would how long the join waits.

#![expect(unsafe_code, reason = "runs a closure that borrows from the frame that waits for it")]

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr;

use super::body::Joined;
use super::latch::Latch;
use super::observe::Reason;
use super::policy::Schedule;
use super::ready::Ready;
use super::record::{JOINED, Origin};
use super::shared::Priority;
use super::task::Task;

/// What is known of a right half without its type.
#[derive(Debug)]
#[repr(align(16))]
pub(super) struct Frame {
    /// Runs the closure with the task that the half has become.
    run: unsafe fn(*const Frame, &Task<'_>),
    latch: Latch,
    origin: Origin,
}

/// A right half: its closure, and where the result arrives.
#[repr(C)]
struct Right<B, R> {
    frame: Frame,
    function: Cell<Option<B>>,
    result: Cell<Option<Result<R, Box<dyn Any + Send>>>>,
}

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
        // Closes all open scopes to both halves.
        let floor = self.floor.replace(self.level.get());
        let right = Right {
            frame: Frame {
                run: run_right::<B, RB>,
                latch: Latch::new(),
                origin: Origin {
                    scope: JOINED,
                    index: self.spawned.get(),
                    lineage: self.number(),
                    level: self.level.get(),
                    floor: self.level.get(),
                },
            },
            function: Cell::new(Some(right)),
            result: Cell::new(None),
        };
        let ready = Ready::Half((&raw const right).cast()).into();
        let worker = self.worker;
        worker.shared.queues.queue(&worker.seat, Priority::Normal, ready);
        worker.shared.work_arrived(&worker.seat, Priority::Normal);

        // No path leaves before the frame is taken back or its latch has said Done: panics are
        // caught.
        let left = catch_unwind(AssertUnwindSafe(|| left(self)));
        let is_mine = worker.shared.queues.take_back(&worker.seat, Priority::Normal, ready);
        let result = if is_mine {
            let function = right.function.take().expect("nobody has run it");
            match &left {
                Ok(_) => Some(catch_unwind(AssertUnwindSafe(|| function(self)))),
                Err(_) => {
                    // A panic of its drop would come second.
                    let _second = catch_unwind(AssertUnwindSafe(|| drop(function)));
                    None
                }
            }
        } else {
            self.await_latch(&right.frame);
            right.result.take()
        };
        self.floor.set(floor);
        match (left, result) {
            (Ok(left), Some(Ok(right))) => (left, right),
            (Err(panic), _) | (Ok(_), Some(Err(panic))) => resume_unwind(panic),
            (Ok(_), None) => unreachable!("the result is stored before the latch says Done"),
        }
    }

    /// Waits until the right half, which is a task now, has ended.
    #[cold]
    fn await_latch(&self, frame: &Frame) {
        let shared = &*self.worker.shared;
        // SAFETY: the task runs: it is the caller.
        let running = unsafe { self.record().body.running() };
        running.joins.begin(Joined::Half(frame.address()));
        if frame.latch.start_waiting() {
            shared.graph.awaiting_half(shared, self.worker, self.number(), frame.address());
            let _woken = self.suspend(Reason::Join);
        }
        running.joins.end();
    }
}

impl Frame {
    pub(super) fn address(&self) -> usize {
        ptr::from_ref(self).addr()
    }

    /// Returns where the half came from.
    ///
    /// # Safety
    ///
    /// The frame came out of a queue, and its latch was not opened.
    pub(super) unsafe fn origin(frame: *const Self) -> Origin {
        // SAFETY: the caller of `join` keeps the frame until the latch says Done.
        unsafe { (*frame).origin }
    }

    /// Runs the half with the task that it has become.
    ///
    /// # Safety
    ///
    /// The frame came out of a queue, and this is called once.
    pub(super) unsafe fn run(frame: *const Self, task: &Task<'_>) {
        // SAFETY: the caller of `join` keeps the frame until the latch says Done.
        let run = unsafe { (*frame).run };
        // SAFETY: `join` made `run` for the type of the frame.
        unsafe { run(frame, task) };
    }

    /// Says that the half has ended, and returns whether the other half waits for it. The frame
    /// may be gone afterwards.
    ///
    /// # Safety
    ///
    /// The half was run, and this is called once.
    pub(super) unsafe fn open_latch(frame: *const Self) -> bool {
        // SAFETY: the caller of `join` keeps the frame until this says Done.
        let latch = unsafe { &(*frame).latch };
        latch.open()
    }
}

/// # Safety
///
/// `frame` is the first field of a `Right<B, R>`, whose cells nobody else uses until its latch is
/// opened.
unsafe fn run_right<B, R>(frame: *const Frame, task: &Task<'_>)
where
    B: FnOnce(&Task<'_>) -> R,
{
    // SAFETY: as required of the caller. The closure and its result are `Send`, as `join` asks.
    let right = unsafe { &*frame.cast::<Right<B, R>>() };
    if let Some(function) = right.function.take() {
        right.result.set(Some(catch_unwind(AssertUnwindSafe(|| function(task)))));
    }
}
