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
//! The right half of a join ends differently: its latch tells the one task that may wait for it,
//! and that one gives the record back (see `join`).
//!
//! Who writes: the spawner before the number is published in a queue; then only the running task,
//! but for `live`, whose waited-for mark others set by compare-exchange, `subtree` and `latch`.
//!
//! Invariant: a stored closure is called or dropped exactly once, by whoever took the number from
//! a queue.

#![expect(unsafe_code, reason = "stores closures of any type and lifetime inline")]

use std::cell::{Cell, UnsafeCell};
use std::fmt;
use std::mem::MaybeUninit;
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use super::task::Task;
use crate::memory::Pool;
use crate::sync::Completion;

/// No record, or no scope.
pub(super) const NONE: u32 = u32::MAX;
/// Instead of a scope: the task is half of a join.
pub(super) const JOINED: u32 = u32::MAX - 1;

const RUNNING: u32 = 0;
const AWAITED: u32 = 1;
const DONE: u32 = 2;

const NUMBER_BITS: u32 = 24;
/// Records are numbered below this, so that a number fits an id.
pub(super) const MOST_RECORDS: u32 = (1 << NUMBER_BITS) - 1;
const WAITED_FOR: u64 = 1 << 32;

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

#[repr(align(64))]
#[derive(Default)]
pub(super) struct Record {
    /// The id while the task has not ended, with a mark if somebody waits for the task.
    live: AtomicU64,
    /// Identifies the call of `Runtime::run` that the task belongs to.
    pub(super) run: AtomicU64,
    generation: AtomicU32,
    /// The task that spawned this one.
    pub(super) parent: AtomicU32,
    /// How many tasks the parent had spawned before this one.
    pub(super) index: AtomicU32,
    /// The scope this task was spawned into, or `NONE` or `JOINED`.
    pub(super) scope: AtomicU32,
    /// How many scopes are around this task.
    pub(super) level: AtomicU32,
    /// How many of them were opened outside of the innermost join.
    pub(super) floor: AtomicU32,
    latch: AtomicU32,
    /// Tasks that this one spawned in all.
    pub(super) spawned: AtomicU32,
    /// Tasks that this one spawned into scopes of others.
    pub(super) spawned_abroad: AtomicU32,
    /// Where the task runs; written when it starts.
    pub(super) worker: AtomicU32,
    pub(super) fiber: AtomicU32,
    /// Counts the completion of what was `spawned_abroad`.
    pub(super) subtree: Completion,
    pub(super) closure: Closure,
}

/// Facts that stay the same during a task's life.
#[derive(Clone, Copy)]
pub(super) struct Origin {
    pub(super) run: u64,
    pub(super) parent: u32,
    pub(super) index: u32,
    pub(super) scope: u32,
    pub(super) level: u32,
    pub(super) floor: u32,
}

impl Record {
    /// Prepares a record that was just taken from the pool.
    #[inline]
    pub(super) fn begin(&self, number: u32, origin: Origin) {
        // All `Relaxed`: publishing the number in a queue orders them.
        let generation = self.generation.load(Ordering::Relaxed).wrapping_add(1);
        self.generation.store(generation, Ordering::Relaxed);
        let id = generation << NUMBER_BITS | (number + 1);
        self.live.store(u64::from(id), Ordering::Relaxed);
        self.run.store(origin.run, Ordering::Relaxed);
        self.parent.store(origin.parent, Ordering::Relaxed);
        self.index.store(origin.index, Ordering::Relaxed);
        self.scope.store(origin.scope, Ordering::Relaxed);
        self.level.store(origin.level, Ordering::Relaxed);
        self.floor.store(origin.floor, Ordering::Relaxed);
        self.latch.store(RUNNING, Ordering::Relaxed);
    }

    /// Notes where the task is about to run.
    #[inline]
    pub(super) fn run_on(&self, worker: u32, fiber: u32) {
        self.worker.store(worker, Ordering::Relaxed);
        self.fiber.store(fiber, Ordering::Relaxed);
        self.spawned.store(0, Ordering::Relaxed);
        self.spawned_abroad.store(0, Ordering::Relaxed);
        self.subtree.open();
    }

    /// Says that the half of a join has ended, and returns whether the other half waits for it.
    pub(super) fn open_latch(&self) -> bool {
        // Release: the result is visible to the other half. SeqCst: as in `await_end`.
        self.latch.swap(DONE, Ordering::SeqCst) == AWAITED
    }

    /// Announces that the other half waits; false if this one has ended already.
    pub(super) fn await_end(&self) -> bool {
        // Acquire: the result is visible. SeqCst: before the graph's count of waiting tasks is
        // read; see `wait_graph`.
        self.latch.compare_exchange(RUNNING, AWAITED, Ordering::SeqCst, Ordering::SeqCst).is_ok()
    }

    /// Returns whether the other half of the join waits for this one.
    pub(super) fn is_awaited(&self) -> bool {
        self.latch.load(Ordering::SeqCst) == AWAITED
    }

    /// Returns the task's id; for the task itself.
    pub(super) fn id(&self) -> TaskId {
        TaskId::from_u32(self.live.load(Ordering::Relaxed) as u32).expect("a live task has an id")
    }

    /// Marks the task as waited for, if it is still the one with this id.
    pub(super) fn mark_waited_for(&self, id: TaskId) -> bool {
        let mark = |live| if live as u32 == id.get() { Some(live | WAITED_FOR) } else { None };
        self.live.fetch_update(Ordering::AcqRel, Ordering::Acquire, mark).is_ok()
    }

    /// Says that the task has ended, and returns whether somebody had marked it.
    pub(super) fn end(&self) -> bool {
        // One exchange: a waiter either sets its mark before, or finds that the task has ended.
        self.live.swap(0, Ordering::AcqRel) & WAITED_FOR != 0
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

const INLINE: usize = 128;

#[repr(align(16))]
struct Payload {
    _bytes: MaybeUninit<[u8; INLINE]>,
}

/// Calls the closure at the address with the task, or drops it.
type Call = unsafe fn(*mut Payload, Option<&Task<'_>>);

/// Room for one closure of any type; large ones are boxed.
pub(super) struct Closure {
    call: Cell<Option<Call>>,
    payload: UnsafeCell<Payload>,
}

// SAFETY: `store` and `consume` are unsafe and require that one thread at a time uses them; what
// they move between threads is `Send`. Nothing else reaches the contents.
unsafe impl Sync for Closure {}

impl Closure {
    /// Stores `function` and returns whether it had to be boxed.
    ///
    /// # Safety
    ///
    /// - Nobody else uses this value at the same time, and it holds no closure.
    /// - `consume` is called before anything that `function` borrows goes away.
    pub(super) unsafe fn store<F: FnOnce(&Task<'_>) + Send>(&self, function: F) -> bool {
        let fits = size_of::<F>() <= INLINE && align_of::<F>() <= align_of::<Payload>();
        let address = self.payload.get();
        if fits {
            self.call.set(Some(call_inline::<F>));
            // SAFETY: size and alignment were compared above; the caller has exclusive use.
            unsafe { address.cast::<F>().write(function) };
        } else {
            self.call.set(Some(call_boxed::<F>));
            // SAFETY: a pointer fits; the caller has exclusive use.
            unsafe { address.cast::<Box<F>>().write(Box::new(function)) };
        }
        !fits
    }

    /// Forgets the stored closure, without dropping it. The caller has exclusive use.
    #[inline]
    pub(super) fn forget(&self) {
        self.call.set(None);
    }

    /// Calls the stored closure with `task`, or only drops it if there is none.
    ///
    /// # Safety
    ///
    /// Nobody else uses this value at the same time, and it holds a closure.
    pub(super) unsafe fn consume(&self, task: Option<&Task<'_>>) {
        let call = self.call.take().expect("a queued task has a closure");
        // SAFETY: `store` chose `call` for the type that it wrote here; `take` above makes sure
        // that it is read once.
        unsafe { call(self.payload.get(), task) }
    }
}

impl Default for Closure {
    fn default() -> Self {
        Self {
            call: Cell::new(None),
            payload: UnsafeCell::new(Payload { _bytes: MaybeUninit::uninit() }),
        }
    }
}

/// # Safety
///
/// An `F` was written at `address` and not read since.
unsafe fn call_inline<F: FnOnce(&Task<'_>)>(address: *mut Payload, task: Option<&Task<'_>>) {
    // SAFETY: as required of the caller.
    let function = unsafe { address.cast::<F>().read() };
    if let Some(task) = task {
        function(task);
    }
}

/// # Safety
///
/// A `Box<F>` was written at `address` and not read since.
unsafe fn call_boxed<F: FnOnce(&Task<'_>)>(address: *mut Payload, task: Option<&Task<'_>>) {
    // SAFETY: as required of the caller.
    let function = unsafe { address.cast::<Box<F>>().read() };
    if let Some(task) = task {
        function(task);
    }
}

const _: () = assert!(size_of::<Record>() <= 256, "a record takes four cache lines");
