//! A memo table in which every value is computed once, while all others who ask for it suspend.
//!
//! ```text
//! asked for first: owned, by who asks --value stored--> done, for ever
//!                  ^             |
//!      next to ask |             v
//!                  '---------- free: gave up (error or panic)
//! ```
//!
//! The states of an entry are told in `once_entry`. Waiting is left to the caller's [`Suspend`],
//! which also finds circles of waiting; the address of the entry is the key under which waiters
//! are parked. A finishing owner first changes the entry's state and then wakes those who wait; a
//! waiter marks the entry as waited for only while it still belongs to the owner. So no waiter is
//! missed.
//!
//! Entries are found without a lock (see `table`) and never move, so asking for a value that is
//! there writes nothing.
//!
//! Not here: removal, and what a failure is. Failures that should be kept are values.

use std::fmt;
use std::hash::{BuildHasher, Hash};
use std::mem;
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU64, Ordering};

use foldhash::fast::FixedState;

use super::once_entry::{Claim, Entry, Waiters};
use super::table::Table;
use crate::memory::{CacheLine, Segments};

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
        let hash = hash_of(key);
        let entry = match self.table.find(hash, |index| self.named(index, key)) {
            Some(entry) => entry,
            None => match self.insert(hash, key, number(task)) {
                Found::Here(entry) => entry,
                Found::Owned(entry) => return compute(entry, task, init),
            },
        };
        loop {
            if let Some(value) = entry.value() {
                return Ok(value);
            }
            let owner = match entry.claim(number(task)) {
                Claim::Done(value) => return Ok(value),
                Claim::Owned => return compute(entry, task, init),
                Claim::Busy(owner) => owner,
            };
            match task.wait_for(entry.address(), owner.get(), &mut || entry.mark_waited(owner)) {
                Wait::Ready | Wait::Woken => {}
                Wait::Orphaned => wake(entry, task, entry.give_up(owner)),
                circle @ (Wait::Recursion | Wait::Abandon) => return Err(circle.into()),
            }
        }
    }

    /// Returns the value of `key` if it has been computed.
    pub fn get(&self, key: &K) -> Option<&V> {
        self.table.find(hash_of(key), |index| self.named(index, key))?.value()
    }

    /// Returns the number of keys that were ever asked for.
    pub fn len(&self) -> usize {
        self.len.load(Ordering::Relaxed) as usize
    }

    /// Returns whether no key was asked for yet.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    #[cold]
    #[inline(never)]
    fn insert(&self, hash: u64, key: &K, owner: NonZeroU32) -> Found<'_, K, V> {
        let look = |index| self.named(index, key).map(Found::Here);
        self.table.find_or_insert(hash, look, || {
            let key = key.clone();
            let index = self.len.fetch_add(1, Ordering::Relaxed);
            let index = u32::try_from(index).expect("the map is full");
            let entry = self.entries.get_or_grow(index);
            entry.fill(key, owner);
            (index, Found::Owned(entry))
        })
    }

    /// Returns the entry `index` if it is the one of `key`.
    #[inline]
    fn named(&self, index: u32, key: &K) -> Option<&Entry<K, V>> {
        let entry = self.entries.get(index)?;
        (entry.key() == Some(key)).then_some(entry)
    }
}

/// An entry that was looked for to compute it.
enum Found<'a, K, V> {
    /// It was there.
    Here(&'a Entry<K, V>),
    /// It was not; now it is, and belongs to the caller.
    Owned(&'a Entry<K, V>),
}

/// Computes the value of an entry that belongs to `task`.
fn compute<'a, K, V, S: Suspend, E>(
    entry: &'a Entry<K, V>,
    task: &S,
    init: impl FnOnce() -> Result<V, E>,
) -> Result<&'a V, E> {
    /// Frees the entry when the value fails to come.
    struct GiveUp<'a, K, V, S: Suspend> {
        entry: &'a Entry<K, V>,
        task: &'a S,
        owner: NonZeroU32,
    }
    impl<K, V, S: Suspend> Drop for GiveUp<'_, K, V, S> {
        fn drop(&mut self) {
            wake(self.entry, self.task, self.entry.give_up(self.owner));
        }
    }
    let guard = GiveUp { entry, task, owner: number(task) };
    let value = init()?;
    let waiters = entry.finish(guard.owner, value);
    mem::forget(guard);
    wake(entry, task, waiters);
    Ok(entry.value().expect("the value was stored"))
}

fn wake<K, V>(entry: &Entry<K, V>, task: &impl Suspend, waiters: Waiters) {
    match waiters {
        Waiters::None => {}
        Waiters::Some => task.wake(entry.address()),
    }
}

fn number(task: &impl Suspend) -> NonZeroU32 {
    NonZeroU32::new(task.owner()).expect("no owner has the number 0")
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

#[cfg(all(test, raddle_loom))]
mod models {
    use loom::sync::{Arc, Condvar, Mutex};
    use loom::thread;

    use super::*;
    use crate::memory::model::atomic::AtomicU32;
    use crate::memory::model::explore;

    /// Threads that wait for each other. A lost wake-up shows as a deadlock of the model.
    struct Waiters {
        lock: Mutex<()>,
        woken: Condvar,
    }

    struct Waiter<'a> {
        all: &'a Waiters,
        number: u32,
    }

    impl Suspend for Waiter<'_> {
        fn owner(&self) -> u32 {
            self.number
        }

        fn wait_for(&self, _: usize, _: u32, still_busy: &mut dyn FnMut() -> bool) -> Wait {
            let guard = self.all.lock.lock().unwrap();
            if !still_busy() {
                return Wait::Ready;
            }
            drop(self.all.woken.wait(guard).unwrap());
            Wait::Woken
        }

        fn wake(&self, _: usize) {
            drop(self.all.lock.lock().unwrap());
            self.all.woken.notify_all();
        }
    }

    struct Shared {
        map: OnceMap<u32, u32>,
        waiters: Waiters,
        computed: AtomicU32,
    }

    impl Shared {
        fn new() -> Arc<Self> {
            let waiters = Waiters { lock: Mutex::new(()), woken: Condvar::new() };
            let map = OnceMap::new();
            // What is made once, with the standard library's means, loom does not see: it is made here.
            let task = Waiter { all: &waiters, number: 9 };
            assert_eq!(map.get_or_init(&task, &0, || 0), Ok(&0));
            Arc::new(Self { map, waiters, computed: AtomicU32::new(0) })
        }

        /// Asks for the value; the first `failing` times it cannot be computed.
        fn ask(&self, number: u32, failing: u32) -> Result<u32, Option<Wait>> {
            let task = Waiter { all: &self.waiters, number };
            let init = || {
                let before = self.computed.fetch_add(1, Ordering::Relaxed);
                thread::yield_now();
                if before < failing { Err(None) } else { Ok(7) }
            };
            self.map.get_or_try_init(&task, &1, init).copied()
        }
    }

    #[test]
    fn one_computes_and_the_other_is_woken() {
        explore(|| {
            let shared = Shared::new();
            let other = thread::spawn({
                let shared = Arc::clone(&shared);
                move || shared.ask(1, 0)
            });
            assert_eq!(shared.ask(2, 0), Ok(7));
            assert_eq!(other.join().unwrap(), Ok(7));
            assert_eq!(shared.computed.load(Ordering::Relaxed), 1);
            assert_eq!(shared.map.len(), 2);
        });
    }

    #[test]
    fn who_waits_for_one_that_fails_computes() {
        explore(|| {
            let shared = Shared::new();
            let other = thread::spawn({
                let shared = Arc::clone(&shared);
                move || shared.ask(1, 1)
            });
            let mine = shared.ask(2, 1);
            let results = [mine, other.join().unwrap()];
            assert!(results == [Err(None), Ok(7)] || results == [Ok(7), Err(None)]);
            assert_eq!(shared.computed.load(Ordering::Relaxed), 2);
        });
    }
}
