//! A memo table in which every value is computed once, while all others who ask for it suspend.
//!
//! ```text
//! empty --claim--> computing (owner) --value stored--> done, for ever
//!   ^                    |
//!   '---- gave up (error or panic): the next to ask computes
//! ```
//!
//! An entry's state word holds the owner's id and a mark that somebody waits. Waiting is left to
//! the caller's [`Suspend`], which also finds circles of waiting; the address of the state word is
//! the key under which waiters are parked. A finishing owner first stores the value, then
//! exchanges the state word, and wakes waiters if the mark was set; a waiter sets the mark only
//! while the word still names the owner. So no waiter is missed.
//!
//! Entries are found without a lock (see `table`) and never move, so asking for a value that is
//! there writes nothing.
//!
//! Not here: removal, and what a failure is. Failures that should be kept are values.

use std::fmt;
use std::hash::{BuildHasher, Hash};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use foldhash::fast::FixedState;

use super::table::Table;
use crate::memory::{CacheLine, Segments};

const EMPTY: u64 = 0;
const DONE: u64 = u64::MAX;
const WAITED: u64 = 1 << 32;

/// Something that can wait for a cell which another of its kind is evaluating.
pub trait Suspend {
    /// Returns the number, never 0, that names the caller as an owner of cells.
    fn owner(&self) -> u32;

    /// Waits until the cell `key`, which `owner` evaluates, has changed hands.
    ///
    /// `still_busy` is asked first, at a moment when no wake-up can be missed: it marks the cell
    /// as waited for and returns whether it is still under evaluation.
    fn wait_for(&self, key: usize, owner: u32, still_busy: &mut dyn FnMut() -> bool) -> Wait;

    /// Wakes all who wait for the cell `key`.
    fn wake(&self, key: usize);
}

/// How waiting for a cell ended.
#[must_use = "only some endings mean that the cell may be looked at again"]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// The cell was no longer under evaluation; there was no waiting.
    Ready,
    /// The waiter was woken and should look again; the cell may still be busy.
    Woken,
    /// The owner's evaluation waits for the caller: the value depends on itself.
    Recursion,
    /// The caller must give up all cells it is evaluating, so that another task of a circle can
    /// go on and meet the recursion itself. Afterwards the caller may step aside and start over.
    Abandon,
    /// The owner is gone and will never finish the cell.
    Orphaned,
}

/// A map from keys to values that are computed at most once each.
///
/// # Examples
///
/// ```
/// use raddle::Runtime;
/// use raddle::sync::OnceMap;
///
/// let runtime = Runtime::builder().workers(2).build()?;
/// let lengths = OnceMap::<String, usize>::new();
/// let length = runtime.run(|task| {
///     let key = String::from("abc");
///     *lengths.get_or_init(task, &key, || key.len()).expect("nothing waits in a circle")
/// });
/// assert_eq!(length, 3);
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct OnceMap<K, V> {
    table: Box<Table>,
    entries: Segments<Entry<K, V>>,
    len: CacheLine<AtomicU64>,
}

struct Entry<K, V> {
    key: OnceLock<K>,
    state: AtomicU64,
    value: OnceLock<V>,
}

impl<K: Hash + Eq + Clone, V> OnceMap<K, V> {
    /// Creates an empty map.
    pub fn new() -> Self {
        Self {
            table: Box::new(Table::new()),
            entries: Segments::new(),
            len: CacheLine(AtomicU64::new(0)),
        }
    }

    /// Returns the value of `key`, computing it if nobody has.
    ///
    /// While another task computes it, the caller suspends.
    ///
    /// # Errors
    ///
    /// Returns [`Wait::Recursion`] or [`Wait::Abandon`] when waiting would never end.
    pub fn get_or_init(
        &self,
        task: &impl Suspend,
        key: &K,
        init: impl FnOnce() -> V,
    ) -> Result<&V, Wait> {
        self.get_or_try_init(task, key, || Ok::<V, Wait>(init()))
    }

    /// Returns the value of `key`, computing it if nobody has; an error is not kept.
    ///
    /// # Errors
    ///
    /// Returns what `init` returned, or [`Wait::Recursion`] or [`Wait::Abandon`] when waiting
    /// would never end.
    pub fn get_or_try_init<E: From<Wait>>(
        &self,
        task: &impl Suspend,
        key: &K,
        init: impl FnOnce() -> Result<V, E>,
    ) -> Result<&V, E> {
        let entry = self.entry(key);
        loop {
            // Acquire: DONE was stored after the value.
            let state = entry.state.load(Ordering::Acquire);
            if state == DONE {
                return Ok(entry.done());
            }
            if state == EMPTY {
                let owner = u64::from(task.owner());
                let claim = entry.state.compare_exchange(
                    EMPTY,
                    owner,
                    Ordering::Relaxed,
                    Ordering::Relaxed,
                );
                if claim.is_ok() {
                    return entry.compute(task, init);
                }
                continue;
            }
            let owner = state as u32;
            match task.wait_for(entry.address(), owner, &mut || entry.mark_waited(owner)) {
                Wait::Ready | Wait::Woken => {}
                Wait::Orphaned => entry.take_from(owner),
                circle @ (Wait::Recursion | Wait::Abandon) => return Err(circle.into()),
            }
        }
    }

    /// Returns the value of `key` if it has been computed.
    pub fn get(&self, key: &K) -> Option<&V> {
        self.table.find(hash_of(key), |index| self.named(index, key))?.value.get()
    }

    /// Returns the number of keys that were ever asked for.
    pub fn len(&self) -> usize {
        self.len.load(Ordering::Relaxed) as usize
    }

    /// Returns whether no key was asked for yet.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    #[inline]
    fn entry(&self, key: &K) -> &Entry<K, V> {
        let hash = hash_of(key);
        match self.table.find(hash, |index| self.named(index, key)) {
            Some(entry) => entry,
            None => self.insert(hash, key),
        }
    }

    #[cold]
    #[inline(never)]
    fn insert(&self, hash: u64, key: &K) -> &Entry<K, V> {
        self.table.find_or_insert(
            hash,
            |index| self.named(index, key),
            || {
                let key = key.clone();
                let index = self.len.fetch_add(1, Ordering::Relaxed);
                let index = u32::try_from(index).expect("the map is full");
                let entry = self.entries.get_or_grow(index);
                assert!(entry.key.set(key).is_ok(), "each entry is made once");
                (index, entry)
            },
        )
    }

    /// Returns the entry `index` if it is the one of `key`.
    #[inline]
    fn named(&self, index: u32, key: &K) -> Option<&Entry<K, V>> {
        let entry = self.entries.get(index)?;
        (entry.key.get() == Some(key)).then_some(entry)
    }
}

impl<K, V> Entry<K, V> {
    /// Computes the value; the caller has just claimed the entry.
    fn compute<E>(
        &self,
        task: &impl Suspend,
        init: impl FnOnce() -> Result<V, E>,
    ) -> Result<&V, E> {
        /// Ends the owner's claim on every way out, also when `init` panics.
        struct Claim<'a, K, V, S: Suspend> {
            entry: &'a Entry<K, V>,
            task: &'a S,
        }
        impl<K, V, S: Suspend> Drop for Claim<'_, K, V, S> {
            fn drop(&mut self) {
                let next = if self.entry.value.get().is_some() { DONE } else { EMPTY };
                // Release: the value is visible to who sees DONE. Acquire: see the mark.
                if self.entry.state.swap(next, Ordering::AcqRel) & WAITED != 0 {
                    self.task.wake(self.entry.address());
                }
            }
        }
        let claim = Claim { entry: self, task };
        let stored = self.value.set(init()?).is_ok();
        assert!(stored, "only the owner stores a value");
        drop(claim);
        Ok(self.done())
    }

    fn done(&self) -> &V {
        self.value.get().expect("the value is stored before the state says so")
    }

    fn address(&self) -> usize {
        (&raw const self.state).addr()
    }

    /// Marks the entry as waited for, if `owner` still computes it.
    fn mark_waited(&self, owner: u32) -> bool {
        let mark = |state| {
            if state as u32 == owner && state != DONE { Some(state | WAITED) } else { None }
        };
        self.state.fetch_update(Ordering::AcqRel, Ordering::Acquire, mark).is_ok()
    }

    /// Makes the entry free for the next to ask, if it still belongs to `owner`, which is gone.
    fn take_from(&self, owner: u32) {
        let free = |state| if state as u32 == owner && state != DONE { Some(EMPTY) } else { None };
        let _lost_to_another = self.state.fetch_update(Ordering::AcqRel, Ordering::Acquire, free);
    }
}

impl<K, V> Default for Entry<K, V> {
    fn default() -> Self {
        Self { key: OnceLock::new(), state: AtomicU64::new(EMPTY), value: OnceLock::new() }
    }
}

impl<K: Hash + Eq + Clone, V> Default for OnceMap<K, V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K, V> fmt::Debug for OnceMap<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let len = self.len.load(Ordering::Relaxed);
        f.debug_struct("OnceMap").field("len", &len).finish_non_exhaustive()
    }
}

fn hash_of(key: &impl Hash) -> u64 {
    FixedState::with_seed(1).hash_one(key)
}
