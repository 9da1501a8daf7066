//! What the scheduler knows about a task: a pooled record, named by number.
//!
//! ```text
//! free --spawn--> queued --a worker takes it--> running <--> suspended
//!   ^                                              |
//!   '---------- closure returned: `live` cleared --'
//! ```
//!
//! What a live task can name lives: the owner of the scope it is in, or the other half of its join,
//! and so on up to the root. The task that has spawned it may be gone.
//!
//! A task has a place in a *sequential order*, by which one of several panics is chosen. It counts
//! by levels: at each, how many tasks the owner of the scope had spawned before. A task that another
//! task of the scope has spawned comes after that task of the owner that it descends from, and
//! before the owner's next; among those the order is fixed, but arbitrary (by a hash of 32 bits of
//! how it descends), for an order of descent would need the ancestors' records.
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
use super::shared::Shared;

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
    /// The number of the record.
    number: AtomicU32,
    /// The scope this task was spawned into, or `NONE` or `JOINED`.
    pub(super) scope: AtomicU32,
    /// How many tasks the scope's owner, or the other half, had spawned before this one, or before
    /// the one of its own that this descends from.
    pub(super) index: AtomicU32,
    /// In a scope, how it descends from a task of the owner; 0 for that one itself. Of half of a
    /// join, the task that is the other half.
    pub(super) lineage: AtomicU32,
    /// How many scopes are around this task, and how many of them were opened outside of the
    /// innermost join.
    pub(super) level: AtomicU32,
    pub(super) floor: AtomicU32,
}

const _: () = assert!(size_of::<Record>() == 64, "a record is one cache line");

/// Facts that stay the same during a task's life.
#[derive(Clone, Copy, Debug)]
pub(super) struct Origin {
    pub(super) scope: u32,
    pub(super) index: u32,
    pub(super) lineage: u32,
    pub(super) level: u32,
    pub(super) floor: u32,
}

impl Record {
    /// Prepares a record that was just taken from the pool.
    #[inline]
    pub(super) fn begin(&self, number: u32, origin: Origin) {
        // All `Relaxed`: publishing the number in a queue orders them.
        self.number.store(number, Ordering::Relaxed);
        self.scope.store(origin.scope, Ordering::Relaxed);
        self.index.store(origin.index, Ordering::Relaxed);
        self.lineage.store(origin.lineage, Ordering::Relaxed);
        self.level.store(origin.level, Ordering::Relaxed);
        self.floor.store(origin.floor, Ordering::Relaxed);
    }

    /// Returns the number of the record.
    #[inline]
    pub(super) fn number(&self) -> u32 {
        self.number.load(Ordering::Relaxed)
    }

    /// Returns the task's id; for the task itself, or who has just made it.
    #[inline]
    pub(super) fn id(&self) -> TaskId {
        let live = self.live.load(Ordering::Relaxed);
        let known = if live & KNOWN != 0 { live as u32 } else { self.make_id(live) };
        TaskId::from_u32(known).expect("a number plus one is not 0")
    }

    /// Returns the task's id if the task has ever said it; for others.
    pub(super) fn known_id(&self) -> Option<TaskId> {
        let live = self.live.load(Ordering::Relaxed);
        if live & KNOWN != 0 { TaskId::from_u32(live as u32) } else { None }
    }

    #[cold]
    fn make_id(&self, last: u64) -> u32 {
        let generation = (last as u32 >> NUMBER_BITS).wrapping_add(1);
        let id = generation << NUMBER_BITS | (self.number() + 1);
        self.live.store(u64::from(id) | KNOWN, Ordering::Relaxed);
        id
    }

    /// Marks the task as waited for, if it is still the one with this id.
    pub(super) fn mark_waited_for(&self, id: TaskId) -> bool {
        if self.live.load(Ordering::Acquire) == u64::from(id.get()) | KNOWN | WAITED_FOR {
            return true;
        }
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

/// Returns how the `spawned`th task descends that a task of this lineage spawns in its own scope.
#[inline]
pub(super) fn child_lineage(lineage: u32, spawned: u32) -> u32 {
    // A step of the finalizer of MurmurHash3 (Appleby 2008) between the two; 0 is the owner's.
    let mixed = (lineage ^ lineage >> 16).wrapping_mul(0x85EB_CA6B).wrapping_add(spawned);
    (mixed ^ mixed >> 13).wrapping_mul(0xC2B2_AE35) | 1
}

/// A place in sequential order, which is the lexicographic one; from the root.
pub(super) type Place = Vec<(u32, u32)>;

/// Returns the place of a task that has not ended, or that the caller is ending.
pub(super) fn sequential_place(shared: &Shared, mut number: u32) -> Place {
    let mut place = Place::new();
    loop {
        let record = shared.tasks.get(number);
        let index = record.index.load(Ordering::Relaxed);
        let lineage = record.lineage.load(Ordering::Relaxed);
        match record.scope.load(Ordering::Relaxed) {
            NONE => {
                place.push((index, 0));
                break;
            }
            JOINED => {
                place.push((index, 0));
                number = lineage;
            }
            scope => {
                place.push((index, lineage));
                number = shared.scopes.get(scope).owner();
            }
        }
    }
    place.reverse();
    place
}
