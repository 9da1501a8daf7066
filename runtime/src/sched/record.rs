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
//! but for `live`, whose waited-for mark others set by compare-exchange. What else there is about a
//! task is in its `body`.

use std::fmt;
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use super::body::Body;
use crate::memory::Pool;

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
    pub(super) body: Body,
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
}

const _: () = assert!(size_of::<Record>() == 64, "a record is one cache line");

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
