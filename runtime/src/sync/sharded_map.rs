//! A map that many threads read and change, cut into shards with a lock each.
//!
//! ```text
//! hash   63 …… 57 | 56 …………………… 40 | 39 ……………………………… 0
//!        tag        shard              bucket
//! ```
//!
//! The table inside a shard takes its tags from the top bits of the hash and its buckets from the
//! lowest; the shard comes from the middle, so that keys of one shard are as different there as
//! any. With shards chosen by the top bits, a search for an absent key compares more than seven
//! keys instead of 0.1. This needs hashes that are good in all bits, which many hash functions do
//! not give; so the hash is mixed once more. [`ShardedMap::quality`] tells how well it went.
//!
//! What always holds: a key is in the shard that its mixed hash names, and is there once. Locks
//! are held while a caller's closure runs, never two at a time.
//!
//! Not here: values that many compute at a time ([`OnceMap`](super::OnceMap)), and references
//! that outlive a call.

use std::borrow::Borrow;
use std::fmt;
use std::hash::{BuildHasher, Hash};
use std::iter::FusedIterator;
use std::thread;
use std::vec;

use foldhash::fast::FixedState;
use hashbrown::hash_table::{self, Entry, HashTable};
use parking_lot::RwLock;

use super::hash_quality::{HashQuality, Survey};
use crate::memory::CacheLine;

pub(super) const SHARD_SHIFT: u32 = 40;
const MOST_SHARDS: usize = 1 << 16;
/// With so many shards for each thread, two of them seldom meet.
const SHARDS_PER_THREAD: usize = 16;

type Shard<K, V> = CacheLine<RwLock<HashTable<(K, V)>>>;

/// A map that threads and tasks share.
///
/// Closures that are handed in run while a shard is locked: they must not use the map, and should
/// be short. A task must not wait in one.
///
/// # Examples
///
/// ```
/// use raddle::sync::ShardedMap;
///
/// let words = ShardedMap::<String, u32>::new();
/// for word in ["to", "be", "or", "not", "to", "be"] {
///     if words.update(word, |count| *count += 1).is_none() {
///         words.insert(word.to_owned(), 1);
///     }
/// }
/// assert_eq!(words.get("to"), Some(2));
/// assert_eq!(words.remove("or"), Some(1));
/// words.retain(|_, count| *count > 1);
/// assert_eq!(words.len(), 2);
/// ```
pub struct ShardedMap<K, V, S = FixedState> {
    /// A power of two of them.
    shards: Box<[Shard<K, V>]>,
    hasher: S,
}

impl<K, V> ShardedMap<K, V> {
    /// Creates an empty map, with shards enough for the threads of this machine.
    pub fn new() -> Self {
        Self::with_hasher(FixedState::default())
    }
}

impl<K, V, S> ShardedMap<K, V, S> {
    /// Creates an empty map that hashes with `hasher`, which may be weak but should not be blind.
    pub fn with_hasher(hasher: S) -> Self {
        let threads = thread::available_parallelism().map_or(1, usize::from);
        Self::with_shards(threads.saturating_mul(SHARDS_PER_THREAD), hasher)
    }

    /// Creates an empty map with at least so many shards, up to 65536.
    pub fn with_shards(shards: usize, hasher: S) -> Self {
        let shards = shards.clamp(1, MOST_SHARDS).next_power_of_two();
        let empty = || CacheLine(RwLock::new(HashTable::new()));
        Self { shards: (0..shards).map(|_| empty()).collect(), hasher }
    }

    /// Returns how many entries there are; while others change the map, how many there about are.
    pub fn len(&self) -> usize {
        self.shards.iter().map(|shard| shard.read().len()).sum()
    }

    /// Returns whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.shards.iter().all(|shard| shard.read().is_empty())
    }

    /// Calls `visit` with every entry, in no order.
    ///
    /// Entries that others add or remove meanwhile may be visited or not.
    pub fn for_each(&self, mut visit: impl FnMut(&K, &V)) {
        for shard in &self.shards {
            shard.read().iter().for_each(|(key, value)| visit(key, value));
        }
    }

    /// Removes the entries for which `keep` returns false.
    pub fn retain(&self, mut keep: impl FnMut(&K, &mut V) -> bool) {
        for shard in &self.shards {
            shard.write().retain(|(key, value)| keep(key, value));
        }
    }

    /// Removes all entries.
    pub fn clear(&self) {
        for shard in &self.shards {
            shard.write().clear();
        }
    }
}

impl<K: Eq + Hash, V, S: BuildHasher> ShardedMap<K, V, S> {
    /// Returns a copy of the value of `key`.
    #[inline]
    pub fn get<Q>(&self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
        V: Clone,
    {
        self.read(key, V::clone)
    }

    /// Returns what `look` makes of the value of `key`.
    #[inline]
    pub fn read<Q, R>(&self, key: &Q, look: impl FnOnce(&V) -> R) -> Option<R>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        let hash = self.hash(key);
        let shard = self.shard(hash).read();
        shard.find(hash, is(key)).map(|(_, value)| look(value))
    }

    /// Returns whether there is an entry for `key`.
    pub fn contains_key<Q>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        self.read(key, |_| ()).is_some()
    }

    /// Sets the value of `key` and returns the one that it had.
    pub fn insert(&self, key: K, value: V) -> Option<V> {
        let hash = self.hash(&key);
        let mut shard = self.shard(hash).write();
        match shard.entry(hash, is(&key), |(key, _)| self.hash(key)) {
            Entry::Occupied(mut entry) => Some(std::mem::replace(&mut entry.get_mut().1, value)),
            Entry::Vacant(entry) => {
                entry.insert((key, value));
                None
            }
        }
    }

    /// Removes `key` and returns the value that it had.
    pub fn remove<Q>(&self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        let hash = self.hash(key);
        let mut shard = self.shard(hash).write();
        // The key is dropped after the lock is released, like all that callers bring along.
        let removed = shard.find_entry(hash, is(key)).ok().map(|entry| entry.remove().0);
        drop(shard);
        removed.map(|(_, value)| value)
    }

    /// Returns a copy of the value of `key`, which `init` makes if there is none.
    ///
    /// Of several who ask at a time one calls `init`; the others wait for it, blocking their
    /// threads. What takes long belongs into a [`OnceMap`](super::OnceMap).
    pub fn get_or_insert_with(&self, key: K, init: impl FnOnce() -> V) -> V
    where
        V: Clone,
    {
        if let Some(value) = self.get(&key) {
            return value;
        }
        let hash = self.hash(&key);
        let mut shard = self.shard(hash).write();
        match shard.entry(hash, is(&key), |(key, _)| self.hash(key)) {
            Entry::Occupied(entry) => entry.get().1.clone(),
            Entry::Vacant(entry) => entry.insert((key, init())).get().1.clone(),
        }
    }

    /// Changes the value of `key` and returns what `change` does, if there is one.
    pub fn update<Q, R>(&self, key: &Q, change: impl FnOnce(&mut V) -> R) -> Option<R>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        let hash = self.hash(key);
        let mut shard = self.shard(hash).write();
        shard.find_mut(hash, is(key)).map(|(_, value)| change(value))
    }

    /// Measures how well the keys are spread. Takes as long as asking for each of them twice.
    pub fn quality(&self) -> HashQuality {
        let mut survey = Survey::new();
        for shard in &self.shards {
            survey.add(&shard.read(), |(key, _)| self.hash(key));
        }
        survey.finish()
    }

    #[inline]
    fn hash(&self, key: &(impl Hash + ?Sized)) -> u64 {
        mix(self.hasher.hash_one(key))
    }

    #[inline]
    fn shard(&self, hash: u64) -> &RwLock<HashTable<(K, V)>> {
        &self.shards[(hash >> SHARD_SHIFT) as usize & (self.shards.len() - 1)]
    }
}

#[inline]
fn is<K, V, Q>(key: &Q) -> impl Fn(&(K, V)) -> bool
where
    K: Borrow<Q>,
    Q: Eq + ?Sized,
{
    move |(other, _)| key == other.borrow()
}

/// Makes every bit of a hash depend on all of its bits. Different hashes stay different.
///
/// The finalizer of SplitMix64 with the constants of David Stafford's variant 13.
#[inline]
pub(super) const fn mix(hash: u64) -> u64 {
    let hash = (hash ^ hash >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let hash = (hash ^ hash >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ hash >> 31
}

impl<K, V, S: Default> Default for ShardedMap<K, V, S> {
    fn default() -> Self {
        Self::with_hasher(S::default())
    }
}

impl<K, V, S> fmt::Debug for ShardedMap<K, V, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ShardedMap").field("shards", &self.shards.len()).finish_non_exhaustive()
    }
}

impl<K, V, S> IntoIterator for ShardedMap<K, V, S> {
    type Item = (K, V);
    type IntoIter = IntoEntries<K, V>;

    /// Returns the entries, in no order.
    fn into_iter(self) -> IntoEntries<K, V> {
        IntoEntries {
            shards: self.shards.into_vec().into_iter(),
            entries: HashTable::new().into_iter(),
        }
    }
}

/// The entries of a [`ShardedMap`].
pub struct IntoEntries<K, V> {
    shards: vec::IntoIter<Shard<K, V>>,
    /// What is left of a shard.
    entries: hash_table::IntoIter<(K, V)>,
}

impl<K, V> Iterator for IntoEntries<K, V> {
    type Item = (K, V);

    fn next(&mut self) -> Option<(K, V)> {
        loop {
            if let Some(entry) = self.entries.next() {
                return Some(entry);
            }
            self.entries = self.shards.next()?.0.into_inner().into_iter();
        }
    }
}

impl<K, V> FusedIterator for IntoEntries<K, V> {}

impl<K, V> fmt::Debug for IntoEntries<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IntoEntries").finish_non_exhaustive()
    }
}
