//! What the scheduler knows about a task: a pooled record, named by number.
//!
//! ```text
//! free --spawn--> queued --a worker takes it--> running <--> suspended
//!   ^                                              | closure returned: `live` cleared
//!   |                                              v
//!   '---- all tasks it started are complete ---- ended
//! ```
//!
//! An ended task keeps its record until every task that it started in somebody else's scope is
//! complete, recursively. So the chain of parents of a live task is always there to be read, and a
//! scope need count only what its owner started.
//!
//! The right half of a join gets a record when somebody takes it from a queue, and its end is told
//! by a latch (see `join`).
//!
//! Who writes: the spawner before the number is published in a queue; then only the running task,
//! but for `live`, whose waited-for mark others set by compare-exchange, and `subtree`.
//!
//! Invariant: a stored closure is called or dropped exactly once, by whoever took the number from
//! a queue.

#![expect(unsafe_code, reason = "stores closures of any type and lifetime inline")]

use std::cell::{Cell, UnsafeCell};
use std::fmt;
use std::mem::MaybeUninit;
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};

use super::join::Frame;
use super::task::Task;
use crate::memory::{Pool, Segments};
use crate::sync::Completion;

/// No record, or no scope.
pub(super) const NONE: u32 = u32::MAX;
/// Instead of a scope: the task is half of a join.
pub(super) const JOINED: u32 = u32::MAX - 1;

const NUMBER_BITS: u32 = 24;
/// Records are numbered below this, so that a number fits an id.
pub(super) const MOST_RECORDS: u32 = (1 << NUMBER_BITS) - 1;
const KNOWN: u64 = 1 << 32;
const WAITED_FOR: u64 = 1 << 33;

/// Names a task: unique among the tasks that have not ended.
///
/// It is never 0, so a cell's header can use 0 for "nobody".
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct TaskId(NonZeroU32);

impl TaskId {
    /// Returns the id as a number, to be kept in a cell's header.
    pub fn get(self) -> u32 {
        self.0.get()
    }

    /// Returns the id with this number; `None` for 0.
    ///
    /// A number that no task has is harmless: it names an owner that is gone.
    pub fn from_u32(number: u32) -> Option<Self> {
        NonZeroU32::new(number).map(Self)
    }

    pub(super) fn record(self) -> u32 {
        (self.get() & MOST_RECORDS).wrapping_sub(1)
    }
}

impl fmt::Debug for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TaskId({}.{})", self.record(), self.get() >> NUMBER_BITS)
    }
}

/// A task's record: one cache line, which is all that a small task touches.
#[repr(C, align(64))]
#[derive(Default)]
pub(super) struct Record {
    /// The last id that was given out for this record; with `KNOWN` while it names the task, and
    /// `WAITED_FOR` if somebody waits for the task.
    live: AtomicU64,
    /// Calls the closure.
    call: CallCell,
    small: SmallCell,
    /// Identifies the call of `Runtime::run` that the task belongs to.
    pub(super) run: AtomicU32,
    /// The task that spawned this one.
    pub(super) parent: AtomicU32,
    /// How many tasks the parent had spawned before this one.
    pub(super) index: AtomicU32,
    /// The scope this task was spawned into, or `NONE` or `JOINED`.
    pub(super) scope: AtomicU32,
    /// How many scopes are around this task, and how many of them were opened outside of the
    /// innermost join.
    pub(super) level: AtomicU32,
    pub(super) floor: AtomicU32,
    /// Where the task runs; written when it starts.
    pub(super) fiber: AtomicU32,
    pub(super) worker: AtomicU32,
}

/// What few tasks need, by the number of their records.
#[repr(C, align(128))]
#[derive(Default)]
pub(super) struct Annex {
    payload: PayloadCell,
    /// Counts the completion of tasks spawned into scopes of others; opened with the first.
    pub(super) subtree: Completion,
    /// The address of the frame whose half the task is; 0 if it is none.
    frame: AtomicUsize,
    /// The address of the frame whose latch the task waits for; 0 if it waits for none.
    awaits: AtomicUsize,
}

const _: () = assert!(size_of::<Record>() == 64, "a record is one cache line");
const _: () = assert!(size_of::<Annex>() == 128, "an annex is two cache lines");

/// Facts that stay the same during a task's life.
#[derive(Clone, Copy, Debug)]
pub(super) struct Origin {
    pub(super) run: u32,
    pub(super) parent: u32,
    pub(super) index: u32,
    pub(super) scope: u32,
    pub(super) level: u32,
    pub(super) floor: u32,
}

impl Annex {
    /// Notes which half of a join the task is.
    pub(super) fn set_frame(&self, frame: usize) {
        self.frame.store(frame, Ordering::Relaxed);
    }

    /// Returns which half of a join the task is; only for tasks that are one.
    pub(super) fn frame(&self) -> usize {
        self.frame.load(Ordering::Relaxed)
    }

    /// Announces that the task is about to wait for the frame at this address.
    pub(super) fn await_half(&self, frame: usize) {
        self.awaits.store(frame, Ordering::SeqCst);
    }

    /// Returns whether the task waits for the frame at this address, or is about to.
    pub(super) fn awaits_half(&self, frame: usize) -> bool {
        // SeqCst: with the graph's count of waiting tasks; see `wait_graph`.
        self.awaits.load(Ordering::SeqCst) == frame
    }
}

impl Record {
    /// Prepares a record that was just taken from the pool.
    #[inline]
    pub(super) fn begin(&self, origin: Origin) {
        // All `Relaxed`: publishing the number in a queue orders them.
        self.run.store(origin.run, Ordering::Relaxed);
        self.parent.store(origin.parent, Ordering::Relaxed);
        self.index.store(origin.index, Ordering::Relaxed);
        self.scope.store(origin.scope, Ordering::Relaxed);
        self.level.store(origin.level, Ordering::Relaxed);
        self.floor.store(origin.floor, Ordering::Relaxed);
    }

    /// Notes where the task is about to run.
    #[inline]
    pub(super) fn run_on(&self, worker: usize, fiber: u32) {
        self.worker.store(worker as u32, Ordering::Relaxed);
        self.fiber.store(fiber, Ordering::Relaxed);
    }

    /// Returns the task's id; for the task itself.
    #[inline]
    pub(super) fn id(&self, number: u32) -> TaskId {
        let live = self.live.load(Ordering::Relaxed);
        let known = if live & KNOWN != 0 { live as u32 } else { self.make_id(live, number) };
        TaskId::from_u32(known).expect("a number plus one is not 0")
    }

    #[cold]
    fn make_id(&self, last: u64, number: u32) -> u32 {
        let generation = (last as u32 >> NUMBER_BITS).wrapping_add(1);
        let id = generation << NUMBER_BITS | (number + 1);
        self.live.store(u64::from(id) | KNOWN, Ordering::Relaxed);
        id
    }

    /// Marks the task as waited for, if it is still the one with this id.
    pub(super) fn mark_waited_for(&self, id: TaskId) -> bool {
        let mark = |live| {
            let is_it = live as u32 == id.get() && live & KNOWN != 0;
            is_it.then_some(live | WAITED_FOR)
        };
        self.live.fetch_update(Ordering::AcqRel, Ordering::Acquire, mark).is_ok()
    }

    /// Says that the task has ended, and returns whether somebody had marked it.
    #[inline]
    pub(super) fn end(&self) -> bool {
        let live = self.live.load(Ordering::Relaxed);
        if live & KNOWN == 0 {
            // The task never said its id, so nobody can wait for it.
            return false;
        }
        // One exchange: a waiter either sets its mark before, or finds that the task has ended.
        self.live.swap(u64::from(live as u32), Ordering::AcqRel) & WAITED_FOR != 0
    }
}

/// Returns the place of task `number` in sequential order: what each of its ancestors, from the
/// root, had spawned before. Lexicographic order is the order of sequential execution.
///
/// The task has not ended, or the caller is the one that is ending it.
pub(super) fn sequential_place(tasks: &Pool<Record>, mut number: u32) -> Vec<u32> {
    let mut place = Vec::new();
    while number != NONE {
        let record = tasks.get(number);
        place.push(record.index.load(Ordering::Relaxed));
        number = record.parent.load(Ordering::Relaxed);
    }
    place.reverse();
    place
}

/// How large a closure may be to lie in the record, and in the annex.
const SMALL: usize = 16;
const LARGE: usize = 96;

#[repr(align(8))]
#[derive(Clone, Copy)]
struct SmallPayload {
    _bytes: MaybeUninit<[u8; SMALL]>,
}

#[repr(align(16))]
#[derive(Clone, Copy)]
struct LargePayload {
    _bytes: MaybeUninit<[u8; LARGE]>,
}

/// Calls the closure of the record, or of the annex with the number, with the task; or drops it.
type Call = unsafe fn(&Record, &Segments<Annex>, u32, Option<&Task<'_>>);

/// How to call the closure; none if there is no closure.
#[derive(Default)]
struct CallCell(Cell<Option<Call>>);

/// Room for one small closure.
struct SmallCell(UnsafeCell<SmallPayload>);

/// Room for one larger closure.
struct PayloadCell(UnsafeCell<LargePayload>);

// SAFETY: the unsafe functions that alone use it require that one thread at a time does.
unsafe impl Sync for CallCell {}

// SAFETY: as above; what they move between threads by it is `Send`, or the address of a frame whose
// contents are.
unsafe impl Sync for SmallCell {}

// SAFETY: as above.
unsafe impl Sync for PayloadCell {}

impl Default for SmallCell {
    fn default() -> Self {
        Self(UnsafeCell::new(SmallPayload { _bytes: MaybeUninit::uninit() }))
    }
}

impl Default for PayloadCell {
    fn default() -> Self {
        Self(UnsafeCell::new(LargePayload { _bytes: MaybeUninit::uninit() }))
    }
}

impl Record {
    /// Stores `function`, the closure of task `number`, and returns whether it had to be boxed.
    ///
    /// # Safety
    ///
    /// - Nobody else uses this record's closure at the same time, and it holds none.
    /// - `consume_closure` is called before anything that `function` borrows goes away.
    #[inline]
    pub(super) unsafe fn store_closure<F: FnOnce(&Task<'_>) + Send>(
        &self,
        annexes: &Segments<Annex>,
        number: u32,
        function: F,
    ) -> bool {
        if size_of::<F>() <= SMALL && align_of::<F>() <= align_of::<SmallPayload>() {
            self.call.0.set(Some(call_small::<F>));
            // SAFETY: size and alignment were compared above; the caller has exclusive use.
            unsafe { self.small.0.get().cast::<F>().write(function) };
            false
        } else if size_of::<F>() <= LARGE && align_of::<F>() <= align_of::<LargePayload>() {
            self.call.0.set(Some(call_large::<F>));
            let address = annexes.get_or_grow(number).payload.0.get();
            // SAFETY: as above; the annex with a record's number is used by that record alone.
            unsafe { address.cast::<F>().write(function) };
            false
        } else {
            self.call.0.set(Some(call_boxed::<F>));
            // SAFETY: a pointer fits; the caller has exclusive use.
            unsafe { self.small.0.get().cast::<Box<F>>().write(Box::new(function)) };
            true
        }
    }

    /// Calls the stored closure with `task`, or only drops it if there is none.
    ///
    /// # Safety
    ///
    /// Nobody else uses this record's closure at the same time, and it holds one, which was stored
    /// with the same `annexes` and `number`.
    #[inline]
    pub(super) unsafe fn consume_closure(
        &self,
        annexes: &Segments<Annex>,
        number: u32,
        task: Option<&Task<'_>>,
    ) {
        let call = self.call.0.take().expect("a queued task holds a closure");
        // SAFETY: `store_closure` wrote a closure of the type that `call` was made for; taking
        // `call` made sure that it is read once.
        unsafe { call(self, annexes, number, task) };
    }

    /// Stores the right half of a join as this record's closure.
    ///
    /// # Safety
    ///
    /// As for `store_closure`; and `frame` came out of a queue.
    pub(super) unsafe fn store_half(&self, frame: *const Frame) {
        self.call.0.set(Some(call_half));
        // SAFETY: a pointer fits; the caller has exclusive use.
        unsafe { self.small.0.get().cast::<*const Frame>().write(frame) };
    }

    /// Returns the frame of a half.
    ///
    /// # Safety
    ///
    /// The record's closure is a half, stored or consumed.
    pub(super) unsafe fn half(&self) -> *const Frame {
        // SAFETY: `store_half` wrote it, and consuming it leaves it there.
        unsafe { self.small.0.get().cast::<*const Frame>().read() }
    }
}

/// # Safety
///
/// A value of type `F` was written into the record's small payload and not read since.
unsafe fn call_small<F: FnOnce(&Task<'_>)>(
    record: &Record,
    _: &Segments<Annex>,
    _: u32,
    task: Option<&Task<'_>>,
) {
    // SAFETY: as required of the caller.
    let function = unsafe { record.small.0.get().cast::<F>().read() };
    if let Some(task) = task {
        function(task);
    }
}

/// # Safety
///
/// A value of type `F` was written into the payload of the annex and not read since.
unsafe fn call_large<F: FnOnce(&Task<'_>)>(
    _: &Record,
    annexes: &Segments<Annex>,
    number: u32,
    task: Option<&Task<'_>>,
) {
    let address = annexes.get_or_grow(number).payload.0.get();
    // SAFETY: as required of the caller.
    let function = unsafe { address.cast::<F>().read() };
    if let Some(task) = task {
        function(task);
    }
}

/// # Safety
///
/// A `Box<F>` was written into the record's small payload and not read since.
unsafe fn call_boxed<F: FnOnce(&Task<'_>)>(
    record: &Record,
    _: &Segments<Annex>,
    _: u32,
    task: Option<&Task<'_>>,
) {
    // SAFETY: as required of the caller.
    let function = unsafe { record.small.0.get().cast::<Box<F>>().read() };
    if let Some(task) = task {
        function(task);
    }
}

/// # Safety
///
/// The address of a frame was written into the record's small payload.
unsafe fn call_half(record: &Record, _: &Segments<Annex>, _: u32, task: Option<&Task<'_>>) {
    // SAFETY: as required of the caller.
    let frame = unsafe { record.half() };
    if let Some(task) = task {
        // SAFETY: the frame came out of a queue; a record's closure is called once.
        unsafe { Frame::run(frame, task) };
    }
}
