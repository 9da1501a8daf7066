//! From hashes to numbers, read without a lock: what [`Interner`](super::Interner) and
//! [`OnceMap`](super::OnceMap) find their entries with.
//!
//! ```text
//! hash   63 …… 44 | 43..40 | 39 …… 32 | 31 …………………… 0
//!                  shard                 tag and bucket
//! word   63 ……………………………………………… 32 | 31 …………………… 0
//!                    tag                 id + 1, 0: empty slot
//! ```
//!
//! Each shard is an open-addressing array of such words, to which words are only added. The shard
//! comes from bits that the array uses for nothing else; were it chosen by bucket bits, the words
//! of a shard would crowd together.
//!
//! ```text
//! insert, under the shard's lock:  entry filled --Release--> word stored
//! find, without it:                word loaded  --Acquire--> entry read
//! grow, under the lock:            new array filled --Release--> its index stored
//! find:                            index loaded --Acquire--> words read
//! ```
//!
//! So a reader never meets a word whose entry is not filled, nor an array that lacks older words.
//! Old arrays stay until the table is dropped (together they are smaller than the current one),
//! so a reader may finish its search in one; if it misses there what has just been added, it
//! looks again under the lock before it inserts.
//!
//! Invariant: what a word once said stays true, and equal keys get one word.
//!
//! Not here: the entries, which the owner keeps by id; removal.

use std::sync::OnceLock;

use self::parts::{AtomicIndex, Lock};
use crate::memory::model::atomic::{AtomicU64, Ordering};

const SHARD_BITS: u32 = if cfg!(raddle_loom) { 0 } else { 4 };
pub(super) const SHARDS: usize = 1 << SHARD_BITS;
const SHARD_SHIFT: u32 = 40;
/// The smallest array has this many slots; array `n` has `FIRST_ARRAY << n`.
const FIRST_ARRAY: usize = if cfg!(raddle_loom) { 4 } else { 64 };
const ARRAYS: usize = if cfg!(raddle_loom) { 3 } else { 27 };

/// A set of ids, each found by the hash of what it stands for.
pub(super) struct Table {
    shards: [Shard; SHARDS],
}

#[repr(align(128))]
struct Shard {
    /// Index of the current array. An array is filled before its index is stored here.
    current: AtomicIndex,
    arrays: [OnceLock<Box<[AtomicU64]>>; ARRAYS],
    /// Number of words in the current array; the lock is the right to insert.
    used: Lock<usize>,
}

impl Table {
    /// Creates an empty table.
    pub(super) const fn new() -> Self {
        Self { shards: [const { Shard::new() }; SHARDS] }
    }

    /// Returns what `look` makes of the first id listed under `hash` that it accepts.
    ///
    /// Writes nothing and waits for nobody. Finds every id whose insertion happened before.
    #[inline]
    pub(super) fn find<T>(&self, hash: u64, look: impl Fn(u32) -> Option<T>) -> Option<T> {
        self.shard(hash).find(hash as u32, look)
    }

    /// Returns what `look` makes of an id listed under `hash`, or lists the one that `fill` makes.
    ///
    /// `fill` is called at most once, after nothing was found, and while no equal key can be
    /// inserted by others. It returns an id below `u32::MAX` whose entry is filled. If it panics,
    /// nothing is listed.
    #[cold]
    #[inline(never)]
    pub(super) fn find_or_insert<T>(
        &self,
        hash: u64,
        look: impl Fn(u32) -> Option<T>,
        fill: impl FnOnce() -> (u32, T),
    ) -> T {
        let shard = self.shard(hash);
        let mut used = shard.used.lock();
        if let Some(found) = shard.find(hash as u32, look) {
            return found;
        }
        let (id, filled) = fill();
        shard.add(&mut used, hash as u32, id);
        filled
    }

    #[inline]
    fn shard(&self, hash: u64) -> &Shard {
        &self.shards[shard_of(hash)]
    }
}

/// Returns the shard in which `hash` is listed.
#[inline]
pub(super) fn shard_of(hash: u64) -> usize {
    (hash >> SHARD_SHIFT) as usize & (SHARDS - 1)
}

impl Shard {
    const fn new() -> Self {
        Self {
            current: parts::first_index(),
            arrays: [const { OnceLock::new() }; ARRAYS],
            used: parts::lock(),
        }
    }

    #[inline]
    fn find<T>(&self, tag: u32, look: impl Fn(u32) -> Option<T>) -> Option<T> {
        // Acquire: pairs with the store in `grow`, so that the array is the filled one.
        let current = self.current.load(Ordering::Acquire) as usize;
        let array = self.arrays[current].get()?;
        let mask = array.len() - 1;
        let mut slot = tag as usize & mask;
        loop {
            // Acquire: pairs with the store in `place`; the entry named here is filled.
            let word = array[slot & mask].load(Ordering::Acquire);
            if word == 0 {
                return None;
            }
            if (word >> 32) as u32 == tag
                && let Some(found) = look(word as u32 - 1)
            {
                return Some(found);
            }
            slot += 1;
        }
    }

    /// Adds a word to the current array, which is replaced first when it is three quarters full.
    fn add(&self, used: &mut usize, tag: u32, id: u32) {
        let current = self.current.load(Ordering::Relaxed) as usize;
        let mut array: &[AtomicU64] = self.arrays[current].get_or_init(|| empty(FIRST_ARRAY));
        if *used * 4 >= array.len() * 3 && current + 1 < ARRAYS {
            array = self.grow(current, array);
        }
        // One slot stays empty, so that every search ends.
        assert!(*used < array.len() - 1, "the table is full");
        place(array, u64::from(tag) << 32 | u64::from(id + 1));
        *used += 1;
    }

    fn grow(&self, current: usize, old: &[AtomicU64]) -> &[AtomicU64] {
        let new = self.arrays[current + 1].get_or_init(|| {
            let new = empty(old.len() * 2);
            for word in old {
                match word.load(Ordering::Relaxed) {
                    0 => {}
                    word => place(&new, word),
                }
            }
            new
        });
        // Release: pairs with the load in `find`; whoever sees the index sees the words.
        self.current.store(current as u32 + 1, Ordering::Release);
        new
    }
}

/// Stores `word` in the first empty slot from its bucket on. The caller holds the shard's lock.
fn place(array: &[AtomicU64], word: u64) {
    let mask = array.len() - 1;
    let mut slot = (word >> 32) as usize & mask;
    while array[slot].load(Ordering::Relaxed) != 0 {
        slot = (slot + 1) & mask;
    }
    // Release: pairs with the load in `find`; the entry was filled before.
    array[slot].store(word, Ordering::Release);
}

fn empty(len: usize) -> Box<[AtomicU64]> {
    std::iter::repeat_with(AtomicU64::default).take(len).collect()
}

/// What a table is made of.
#[cfg(not(raddle_loom))]
mod parts {
    use crate::memory::model::atomic::AtomicU32;

    pub(super) type AtomicIndex = AtomicU32;
    pub(super) type Lock<T> = parking_lot::Mutex<T>;

    pub(super) const fn first_index() -> AtomicIndex {
        AtomicU32::new(0)
    }

    pub(super) const fn lock() -> Lock<usize> {
        Lock::new(0)
    }
}

/// The same for models. Tables are made in constants, but loom's objects only in a running model.
#[cfg(raddle_loom)]
mod parts {
    use std::sync::LazyLock;

    use loom::sync::{Mutex, MutexGuard};

    use crate::memory::model::atomic::AtomicU32;

    pub(super) type AtomicIndex = LazyLock<AtomicU32>;
    pub(super) struct Lock<T>(LazyLock<Mutex<T>>);

    impl<T> Lock<T> {
        pub(super) fn lock(&self) -> MutexGuard<'_, T> {
            self.0.lock().expect("models that panic have failed")
        }
    }

    pub(super) const fn first_index() -> AtomicIndex {
        LazyLock::new(|| AtomicU32::new(0))
    }

    pub(super) const fn lock() -> Lock<usize> {
        Lock(LazyLock::new(|| Mutex::new(0)))
    }
}

#[cfg(all(test, raddle_loom))]
mod models {
    use loom::sync::Arc;
    use loom::thread;

    use super::*;
    use crate::memory::model::atomic::AtomicU32;
    use crate::memory::model::explore;

    /// A table of numbers. Loom lets a reader see a number late where nothing orders it.
    struct Numbers {
        table: Table,
        entries: [AtomicU64; 6],
        used: AtomicU32,
    }

    impl Numbers {
        /// Lists some numbers, as far as the smallest array goes.
        fn new(listed: &[u64]) -> Arc<Self> {
            let entries = std::array::from_fn(|_| AtomicU64::new(0));
            let numbers = Self { table: Table::new(), entries, used: AtomicU32::new(0) };
            for &number in listed {
                numbers.insert(number);
            }
            Arc::new(numbers)
        }

        fn entry(&self, id: u32) -> u64 {
            let number = self.entries[id as usize].load(Ordering::Relaxed);
            assert_ne!(number, 0, "a listed entry is not filled");
            number
        }

        fn fill(&self, id: u32, number: u64) {
            self.entries[id as usize].store(number, Ordering::Relaxed);
        }

        fn find(&self, number: u64) -> Option<u32> {
            self.table.find(number, |id| (self.entry(id) == number).then_some(id))
        }

        fn insert(&self, number: u64) -> u32 {
            let look = |id| (self.entry(id) == number).then_some(id);
            self.table.find_or_insert(number, look, || {
                let id = self.used.fetch_add(1, Ordering::Relaxed);
                self.fill(id, number);
                (id, id)
            })
        }

        /// The mistake: the word is stored before the entry is filled.
        fn insert_early(&self, number: u64) {
            let id = self.used.fetch_add(1, Ordering::Relaxed);
            let shard = self.table.shard(number);
            shard.add(&mut shard.used.lock(), number as u32, id);
            self.fill(id, number);
        }
    }

    /// Runs `read` in a thread of its own while this one goes on.
    ///
    /// This way round because loom explores the orders of a load and an earlier store, but not
    /// always those of a store and an earlier load, when the storing thread itself has loaded since.
    fn beside(
        numbers: &Arc<Numbers>,
        read: impl FnOnce(&Numbers) + 'static,
    ) -> thread::JoinHandle<()> {
        let numbers = Arc::clone(numbers);
        thread::spawn(move || read(&numbers))
    }

    #[test]
    fn a_reader_meets_filled_entries_only() {
        explore(|| {
            let numbers = Numbers::new(&[1]);
            let reader = beside(&numbers, |numbers| {
                // Both begin at the same slot.
                assert!(matches!(numbers.find(5), None | Some(1)));
                assert_eq!(numbers.find(1), Some(0));
            });
            assert_eq!(numbers.insert(5), 1);
            reader.join().unwrap();
        });
    }

    #[test]
    #[should_panic(expected = "a listed entry is not filled")]
    fn a_word_stored_too_early_is_found_out() {
        explore(|| {
            let numbers = Numbers::new(&[1]);
            let reader = beside(&numbers, |numbers| _ = numbers.find(5));
            numbers.insert_early(5);
            reader.join().unwrap();
        });
    }

    #[test]
    fn a_reader_loses_nothing_when_the_table_grows() {
        explore(|| {
            // The next number does not fit the smallest array.
            let numbers = Numbers::new(&[1, 5, 2]);
            let reader = beside(&numbers, |numbers| {
                assert_eq!(numbers.find(2), Some(2));
                assert_eq!(numbers.find(5), Some(1));
                assert!(matches!(numbers.find(9), None | Some(3)));
            });
            assert_eq!(numbers.insert(9), 3);
            reader.join().unwrap();
            assert_eq!(numbers.table.shards[0].current.load(Ordering::Relaxed), 1);
        });
    }

    #[test]
    fn what_was_inserted_before_is_found() {
        explore(|| {
            let numbers = Numbers::new(&[1, 5, 2]);
            let told = Arc::new(AtomicU32::new(0));
            let reader = beside(&numbers, {
                let told = Arc::clone(&told);
                move |numbers| {
                    if told.load(Ordering::Acquire) == 1 {
                        assert_eq!((numbers.find(9), numbers.find(2)), (Some(3), Some(2)));
                    }
                }
            });
            numbers.insert(9);
            told.store(1, Ordering::Release);
            reader.join().unwrap();
        });
    }

    #[test]
    fn who_inserts_the_same_gets_the_same() {
        // With room in the smallest array, and without.
        for listed in [&[1][..], &[1, 5, 2]] {
            explore(|| {
                let numbers = Numbers::new(listed);
                let ask = |numbers: &Numbers| numbers.find(9).unwrap_or_else(|| numbers.insert(9));
                let other = thread::spawn({
                    let numbers = Arc::clone(&numbers);
                    move || ask(&numbers)
                });
                let id = ask(&numbers);
                assert_eq!(other.join().unwrap(), id);
                assert_eq!(numbers.used.load(Ordering::Relaxed) as usize, listed.len() + 1);
            });
        }
    }
}
