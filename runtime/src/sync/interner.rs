//! Byte strings to dense numbers and back, read without a lock.
//!
//! Two structures, both append-only. A *table* maps hashes to ids: open addressing over words of
//! 32 hash bits and an id. An *entry list* maps ids to bytes, which never move.
//!
//! ```text
//! hash   63 …… 44 | 43..40 | 39 …… 32 | 31 …………………… 0
//!                  shard                 tag and bucket
//! word   63 ……………………………………………… 32 | 31 …………………… 0
//!                    tag                 id + 1, 0: empty slot
//! ```
//!
//! The shard comes from bits that the table uses for nothing else; were it chosen by bucket bits,
//! the entries of a shard would crowd together in its table.
//!
//! Inserting happens under the shard's lock, in this order: the entry's bytes are stored, then
//! the word that names the entry (`Release`). A reader that loads the word (`Acquire`) therefore
//! finds the bytes. A table that is half full is replaced: the new one is filled completely, then
//! published. Old tables stay until the interner is dropped (together they are smaller than the
//! current one), so a reader may finish its search in one; if it misses there what has just been
//! added, it looks again under the lock before it inserts.
//!
//! Invariant: every id below `len` that a caller was handed names an initialised entry, and each
//! byte string has one id for the interner's whole life.
//!
//! Not here: removal. Symbols live as long as the interner.

use std::fmt;
use std::hash::{BuildHasher, Hasher};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use foldhash::fast::FixedState;
use parking_lot::Mutex;

use crate::memory::{CacheLine, Segments};

const SHARD_BITS: u32 = 4;
const SHARD_SHIFT: u32 = 40;
/// The smallest table has this many slots; table `n` has `FIRST_TABLE << n`.
const FIRST_TABLE: usize = 64;
const TABLES: usize = 27;

/// A set of byte strings, each with a number: dense from 0, in order of first arrival.
///
/// Made to be a `static` that all threads read: looking up a known string or a number writes
/// nothing and takes no lock.
///
/// # Examples
///
/// ```
/// use raddle::sync::Interner;
///
/// static SYMBOLS: Interner = Interner::new();
///
/// let name = SYMBOLS.intern(b"name");
/// assert_eq!(SYMBOLS.intern(b"name"), name);
/// assert_eq!(SYMBOLS.get(name), b"name");
/// assert_eq!(SYMBOLS.lookup(b"unheard of"), None);
/// ```
pub struct Interner {
    shards: [Shard; 1 << SHARD_BITS],
    entries: Segments<OnceLock<Text>>,
    len: CacheLine<AtomicU32>,
}

const SHORT: usize = 22;

/// Bytes, in place if they are few: most names are, and then comparing costs one cache miss less.
#[derive(Debug)]
enum Text {
    Short { len: u8, bytes: [u8; SHORT] },
    Long(Box<[u8]>),
}

const _: () = assert!(size_of::<OnceLock<Text>>() == 32, "two entries to a cache line");

#[repr(align(128))]
struct Shard {
    /// Index of the current table. A table is filled before its index is stored here.
    current: AtomicU32,
    tables: [OnceLock<Box<[AtomicU64]>>; TABLES],
    /// Number of words in the current table; the lock is the right to insert.
    used: Mutex<usize>,
}

impl Interner {
    /// Creates an empty interner.
    pub const fn new() -> Self {
        Self {
            shards: [const { Shard::new() }; 1 << SHARD_BITS],
            entries: Segments::new(),
            len: CacheLine(AtomicU32::new(0)),
        }
    }

    /// Returns the number of `bytes`, which it adds if they are new.
    ///
    /// # Panics
    ///
    /// Panics when `u32::MAX` strings are already held.
    #[inline]
    pub fn intern(&self, bytes: &[u8]) -> u32 {
        let hash = hash(bytes);
        let shard = self.shard(hash);
        match self.find(shard, hash, bytes) {
            Some(id) => id,
            None => self.insert(shard, hash, bytes),
        }
    }

    /// Returns the number of `bytes` if they were interned before.
    #[inline]
    pub fn lookup(&self, bytes: &[u8]) -> Option<u32> {
        let hash = hash(bytes);
        self.find(self.shard(hash), hash, bytes)
    }

    /// Returns the bytes with the number `id`.
    ///
    /// # Panics
    ///
    /// Panics if this interner gave out no such number.
    #[inline]
    pub fn get(&self, id: u32) -> &[u8] {
        match self.entry(id) {
            Some(bytes) => bytes,
            None => unknown(id),
        }
    }

    /// Returns how many different strings were interned.
    pub fn len(&self) -> usize {
        self.len.0.load(Ordering::Relaxed) as usize
    }

    /// Returns whether nothing was interned yet.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn shard(&self, hash: u64) -> &Shard {
        &self.shards[(hash >> SHARD_SHIFT) as usize & ((1 << SHARD_BITS) - 1)]
    }

    #[inline]
    fn entry(&self, id: u32) -> Option<&[u8]> {
        Some(self.entries.get(id)?.get()?.bytes())
    }

    #[inline]
    fn find(&self, shard: &Shard, hash: u64, bytes: &[u8]) -> Option<u32> {
        // Acquire: pairs with the store in `Shard::grow`, so that the table is the filled one.
        let current = shard.current.load(Ordering::Acquire) as usize;
        let table = shard.tables[current].get()?;
        let mask = table.len() - 1;
        let tag = hash as u32;
        let mut slot = tag as usize & mask;
        loop {
            // Acquire: pairs with the store in `insert`; the entry named here is initialised.
            let word = table[slot & mask].load(Ordering::Acquire);
            if word == 0 {
                return None;
            }
            if (word >> 32) as u32 == tag {
                let id = word as u32 - 1;
                if self.entry(id) == Some(bytes) {
                    return Some(id);
                }
            }
            slot += 1;
        }
    }

    #[cold]
    #[inline(never)]
    fn insert(&self, shard: &Shard, hash: u64, bytes: &[u8]) -> u32 {
        let mut used = shard.used.lock();
        if let Some(id) = self.find(shard, hash, bytes) {
            return id;
        }
        let id = self
            .len
            .0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |len| {
                if len < u32::MAX - 1 { Some(len + 1) } else { None }
            })
            .expect("the interner is full");
        let entry = self.entries.get_or_grow(id);
        entry.set(Text::new(bytes)).expect("each id is handed out once");
        shard.add(&mut used, hash as u32, id);
        id
    }
}

impl Default for Interner {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Interner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Interner").field("len", &self.len()).finish_non_exhaustive()
    }
}

impl Text {
    fn new(bytes: &[u8]) -> Self {
        if bytes.len() > SHORT {
            return Self::Long(bytes.into());
        }
        let mut short = [0; SHORT];
        short[..bytes.len()].copy_from_slice(bytes);
        Self::Short { len: bytes.len() as u8, bytes: short }
    }

    #[inline]
    fn bytes(&self) -> &[u8] {
        match self {
            Self::Short { len, bytes } => &bytes[..usize::from(*len)],
            Self::Long(bytes) => bytes,
        }
    }
}

impl Shard {
    const fn new() -> Self {
        Self {
            current: AtomicU32::new(0),
            tables: [const { OnceLock::new() }; TABLES],
            used: Mutex::new(0),
        }
    }

    /// Adds a word to the current table, which is replaced first when it is half full.
    fn add(&self, used: &mut usize, tag: u32, id: u32) {
        let current = self.current.load(Ordering::Relaxed) as usize;
        let mut table: &[AtomicU64] = self.tables[current].get_or_init(|| new_slice(FIRST_TABLE));
        if *used * 2 >= table.len() && current + 1 < TABLES {
            table = self.grow(current, table);
        }
        assert!(*used < table.len() - 1, "the interner is full");
        place(table, u64::from(tag) << 32 | u64::from(id + 1));
        *used += 1;
    }

    fn grow(&self, current: usize, old: &[AtomicU64]) -> &[AtomicU64] {
        let new = self.tables[current + 1].get_or_init(|| {
            let new = new_slice(old.len() * 2);
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
fn place(table: &[AtomicU64], word: u64) {
    let mask = table.len() - 1;
    let mut slot = (word >> 32) as usize & mask;
    while table[slot].load(Ordering::Relaxed) != 0 {
        slot = (slot + 1) & mask;
    }
    // Release: pairs with the load in `find`; the entry was initialised before.
    table[slot].store(word, Ordering::Release);
}

#[inline]
fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = FixedState::with_seed(0).build_hasher();
    hasher.write(bytes);
    hasher.finish()
}

fn new_slice<T: Default>(len: usize) -> Box<[T]> {
    std::iter::repeat_with(T::default).take(len).collect()
}

#[cold]
#[inline(never)]
fn unknown(id: u32) -> ! {
    panic!("no string has the number {id}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn numbers_are_dense_and_bytes_come_back() {
        let interner = Interner::new();
        assert!(interner.is_empty());
        for round in 0..2 {
            for n in 0..20_000u32 {
                let text = format!("name-{n}");
                assert_eq!(interner.intern(text.as_bytes()), n, "round {round}");
            }
        }
        assert_eq!(interner.len(), 20_000);
        for n in 0..20_000u32 {
            assert_eq!(interner.get(n), format!("name-{n}").as_bytes());
            assert_eq!(interner.lookup(format!("name-{n}").as_bytes()), Some(n));
            assert_eq!(interner.lookup(format!("other-{n}").as_bytes()), None);
        }
    }

    #[test]
    fn any_bytes_will_do() {
        let interner = Interner::new();
        let long = vec![b'x'; 100_000];
        for (n, bytes) in [&b""[..], b"\0", b"\0\0", b"\xff\xfe", &long].into_iter().enumerate() {
            assert_eq!(interner.intern(bytes), n as u32);
            assert_eq!(interner.get(n as u32), bytes);
        }
    }

    #[test]
    #[should_panic(expected = "no string has the number 3")]
    fn an_unknown_number_panics() {
        let interner = Interner::new();
        interner.intern(b"a");
        interner.get(3);
    }

    #[test]
    fn every_hash_bit_varies_and_shards_fill_evenly() {
        let (mut and, mut or) = (u64::MAX, 0);
        let mut fill = [0; 1 << SHARD_BITS];
        for n in 0..16_000 {
            let hash = hash(format!("attr{n}").as_bytes());
            and &= hash;
            or |= hash;
            fill[(hash >> SHARD_SHIFT) as usize % fill.len()] += 1;
        }
        assert_eq!((and, or), (0, u64::MAX));
        assert!(fill.iter().all(|&n| (800..1200).contains(&n)), "{fill:?}");
    }

    #[test]
    fn threads_agree() {
        const NAMES: u32 = 30_000;
        let interner = Interner::new();
        let ids: Vec<Vec<u32>> = thread::scope(|scope| {
            let threads: Vec<_> = (0..4u32)
                .map(|thread| {
                    let interner = &interner;
                    scope.spawn(move || {
                        let mut ids = vec![0; NAMES as usize];
                        for step in 0..NAMES {
                            // Threads walk the same names in different orders.
                            let n = (step * 7919 + thread * 4001) % NAMES;
                            let text = n.to_le_bytes();
                            let id = interner.intern(&text);
                            assert_eq!(interner.get(id), text);
                            ids[n as usize] = id;
                        }
                        ids
                    })
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(ids.iter().all(|others| *others == ids[0]));
        assert_eq!(interner.len(), NAMES as usize);
        let mut sorted = ids[0].clone();
        sorted.sort_unstable();
        assert!(sorted.into_iter().eq(0..NAMES));
    }
}
