//! Byte strings to dense numbers and back, read without a lock.
//!
//! Two structures, both append-only: a [`Table`] leads from hashes to ids, and an *entry list* from
//! ids to bytes, which never move. How a reader can do without a lock is told in `table`.
//!
//! Invariant: every id below `len` that a caller was handed names an initialised entry, and each
//! byte string has one id for the interner's whole life.
//!
//! Not here: removal. Symbols live as long as the interner.

use std::fmt;
use std::hash::{BuildHasher, Hasher};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use foldhash::fast::FixedState;

use super::table::Table;
use crate::memory::{CacheLine, Segments};

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
    table: Table,
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

impl Interner {
    /// Creates an empty interner.
    pub const fn new() -> Self {
        Self { table: Table::new(), entries: Segments::new(), len: CacheLine(AtomicU32::new(0)) }
    }

    /// Returns the number of `bytes`, which it adds if they are new.
    ///
    /// # Panics
    ///
    /// Panics when `u32::MAX` strings are already held.
    #[inline]
    pub fn intern(&self, bytes: &[u8]) -> u32 {
        let hash = hash(bytes);
        match self.table.find(hash, |id| self.named(id, bytes)) {
            Some(id) => id,
            None => self.insert(hash, bytes),
        }
    }

    /// Returns the number of `bytes` if they were interned before.
    #[inline]
    pub fn lookup(&self, bytes: &[u8]) -> Option<u32> {
        self.table.find(hash(bytes), |id| self.named(id, bytes))
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

    #[inline]
    fn entry(&self, id: u32) -> Option<&[u8]> {
        Some(self.entries.get(id)?.get()?.bytes())
    }

    /// Returns `id` if it is the number of `bytes`.
    #[inline]
    fn named(&self, id: u32, bytes: &[u8]) -> Option<u32> {
        (self.entry(id) == Some(bytes)).then_some(id)
    }

    #[cold]
    #[inline(never)]
    fn insert(&self, hash: u64, bytes: &[u8]) -> u32 {
        self.table.find_or_insert(
            hash,
            |id| self.named(id, bytes),
            || {
                let next = |len| if len < u32::MAX - 1 { Some(len + 1) } else { None };
                let id = self
                    .len
                    .fetch_update(Ordering::Relaxed, Ordering::Relaxed, next)
                    .expect("the interner is full");
                let entry = self.entries.get_or_grow(id);
                entry.set(Text::new(bytes)).expect("each id is handed out once");
                (id, id)
            },
        )
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

#[inline]
fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = FixedState::with_seed(0).build_hasher();
    hasher.write(bytes);
    hasher.finish()
}

#[cold]
#[inline(never)]
fn unknown(id: u32) -> ! {
    panic!("no string has the number {id}")
}

#[cfg(test)]
mod tests {
    use super::super::table::{SHARDS, shard_of};
    use super::*;

    #[test]
    fn every_hash_bit_varies_and_shards_fill_evenly() {
        let (mut and, mut or) = (u64::MAX, 0);
        let mut fill = [0; SHARDS];
        for n in 0..16_000 {
            let hash = hash(format!("attr{n}").as_bytes());
            and &= hash;
            or |= hash;
            fill[shard_of(hash)] += 1;
        }
        assert_eq!((and, or), (0, u64::MAX));
        assert!(fill.iter().all(|&n| (800..1200).contains(&n)), "{fill:?}");
    }
}
