//! Maps from paths that all workers share: many small tables, each under its own lock.
//!
//! Entries are only added; of two values for one path the first stays.

use std::hash::BuildHasher;

use foldhash::fast::FixedState;
use hashbrown::HashTable;
use parking_lot::Mutex;
use raddle::memory::CacheLine;

/// A map from paths, split so that workers seldom meet.
#[derive(Debug)]
pub(super) struct ByPath<V>(Box<[CacheLine<Mutex<Table<V>>>]>);

type Table<V> = HashTable<(Box<[u8]>, V)>;

const SHARDS: usize = 64;

impl<V> Default for ByPath<V> {
    fn default() -> ByPath<V> {
        ByPath((0..SHARDS).map(|_| CacheLine(Mutex::new(HashTable::new()))).collect())
    }
}

impl<V: Clone> ByPath<V> {
    fn hash(path: &[u8]) -> u64 {
        FixedState::with_seed(2).hash_one(path)
    }

    /// Returns the shard for a hash, chosen by bits that the table uses for nothing.
    fn shard(&self, hash: u64) -> &Mutex<Table<V>> {
        &self.0[(hash >> 40) as usize % SHARDS].0
    }

    pub(super) fn get(&self, path: &[u8]) -> Option<V> {
        let hash = Self::hash(path);
        let table = self.shard(hash).lock();
        table.find(hash, |entry| *entry.0 == *path).map(|entry| entry.1.clone())
    }

    /// Adds an entry unless there is one.
    pub(super) fn insert(&self, path: &[u8], value: V) {
        let hash = Self::hash(path);
        self.shard(hash)
            .lock()
            .entry(hash, |entry| *entry.0 == *path, |entry| Self::hash(&entry.0))
            .or_insert_with(|| (path.into(), value));
    }
}
