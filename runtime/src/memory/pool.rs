//! Pools of reusable objects with a stock of free ones per worker.
//!
//! ```text
//!   worker's Cache (up to 128 numbers, no lock)
//!       |  empty: refill 64         ^  full: spill 64
//!       v                           |
//!   depot (a lock around a list of free numbers, then numbers never used)
//! ```
//!
//! An object is named by its number and is never dropped before the pool: whoever takes it finds
//! what its last user left. An object taken by one worker may be given back by another; it gets
//! home through the depot, 64 at a time.
//!
//! Invariant: a number is in exactly one cache, in the depot, or with the one who took it.
//!
//! The depot's list has room for every number that exists, so giving back never allocates; taking
//! allocates only while the pool grows.

use std::fmt;

use parking_lot::Mutex;

use super::{CacheLine, Segments};

const BATCH: usize = 64;

/// A pool of objects of type `T`, named by number.
///
/// # Examples
///
/// ```
/// use raddle::memory::{Cache, Pool};
/// use std::sync::atomic::{AtomicU32, Ordering};
///
/// let pool = Pool::<AtomicU32>::new(1000);
/// let mut cache = Cache::new();
/// let number = pool.take(&mut cache).expect("999 are left");
/// pool.get(number).store(7, Ordering::Relaxed);
/// pool.give(&mut cache, number);
/// ```
pub struct Pool<T> {
    objects: Segments<T>,
    depot: CacheLine<Mutex<Depot>>,
    /// Numbers stay below this.
    limit: u32,
}

/// One worker's stock of free numbers of one pool.
#[derive(Debug)]
pub struct Cache {
    free: Vec<u32>,
}

/// How often the shared part of a pool was used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoolCounters {
    /// Batches moved from the depot to a cache.
    pub refills: u64,
    /// Batches moved from a cache to the depot.
    pub spills: u64,
    /// Objects that exist.
    pub objects: u64,
}

#[derive(Default)]
struct Depot {
    free: Vec<u32>,
    /// Numbers from here on were never handed out.
    fresh: u32,
    refills: u64,
    spills: u64,
}

impl<T: Default> Pool<T> {
    /// Creates a pool of at most `limit` objects, made as they are needed.
    pub fn new(limit: u32) -> Self {
        Self { objects: Segments::new(), depot: CacheLine::default(), limit }
    }

    /// Takes an object out of `cache`, which it refills first if it is empty.
    ///
    /// Returns `None` when all objects are taken and the limit is reached.
    #[inline]
    pub fn take(&self, cache: &mut Cache) -> Option<u32> {
        match cache.free.pop() {
            Some(number) => Some(number),
            None => self.refill(cache),
        }
    }

    /// Gives an object back; the caller must not use it afterwards.
    #[inline]
    pub fn give(&self, cache: &mut Cache, number: u32) {
        if cache.free.len() == 2 * BATCH {
            self.spill(cache);
        }
        cache.free.push(number);
    }

    /// Takes an object straight from the depot, for callers without a cache.
    pub fn take_shared(&self) -> Option<u32> {
        let mut depot = self.depot.lock();
        if depot.free.is_empty() {
            self.add_fresh(&mut depot, 1);
        }
        depot.free.pop()
    }

    /// Returns the object `number`.
    ///
    /// # Panics
    ///
    /// Panics if the pool never handed out this number.
    #[inline]
    pub fn get(&self, number: u32) -> &T {
        self.objects.get(number).expect("the pool handed out this number")
    }

    /// Returns the object `number` if the pool has made it.
    pub fn find(&self, number: u32) -> Option<&T> {
        self.objects.get(number)
    }

    /// Returns how often the depot was used so far.
    pub fn counters(&self) -> PoolCounters {
        let depot = self.depot.lock();
        PoolCounters { refills: depot.refills, spills: depot.spills, objects: depot.fresh.into() }
    }

    #[cold]
    fn refill(&self, cache: &mut Cache) -> Option<u32> {
        let mut depot = self.depot.lock();
        if depot.free.is_empty() {
            self.add_fresh(&mut depot, BATCH);
        }
        let kept = depot.free.len().saturating_sub(BATCH);
        cache.free.extend(depot.free.drain(kept..));
        depot.refills += 1;
        cache.free.pop()
    }

    #[cold]
    fn spill(&self, cache: &mut Cache) {
        let mut depot = self.depot.lock();
        // The oldest go: the youngest are still in this worker's processor cache.
        depot.free.extend(cache.free.drain(..BATCH));
        depot.spills += 1;
    }

    fn add_fresh(&self, depot: &mut Depot, count: usize) {
        let end = depot.fresh.saturating_add(count as u32).min(self.limit);
        for number in (depot.fresh..end).rev() {
            self.objects.get_or_grow(number);
            depot.free.push(number);
        }
        depot.fresh = end;
        let room = end as usize - depot.free.len();
        depot.free.reserve(room);
    }
}

impl<T> fmt::Debug for Pool<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool").field("limit", &self.limit).finish_non_exhaustive()
    }
}

impl Cache {
    /// Creates an empty stock.
    pub fn new() -> Self {
        Self { free: Vec::with_capacity(2 * BATCH) }
    }
}

impl Default for Cache {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;
    use std::sync::atomic::{AtomicU32, Ordering};

    #[test]
    fn no_number_is_out_twice() {
        let pool = Pool::<AtomicU32>::new(1 << 20);
        let mut caches = [Cache::new(), Cache::new()];
        let mut out = HashSet::new();
        for round in 0..20_000u32 {
            let number = pool.take(&mut caches[0]).unwrap();
            assert!(out.insert(number), "round {round}");
            if round % 3 != 0 {
                let number = *out.iter().next().unwrap();
                out.remove(&number);
                pool.give(&mut caches[1], number);
            }
        }
        let counters = pool.counters();
        assert!(counters.spills > 100 && counters.refills > counters.spills);
        assert!(counters.objects < 7_000, "given numbers come back: {counters:?}");
    }

    #[test]
    fn the_limit_holds() {
        let pool = Pool::<AtomicU32>::new(100);
        let mut cache = Cache::new();
        let all: HashSet<u32> = std::iter::from_fn(|| pool.take(&mut cache)).collect();
        assert_eq!(all.len(), 100);
        assert_eq!(pool.take_shared(), None);
        pool.give(&mut cache, 17);
        assert_eq!(pool.take(&mut cache), Some(17));
    }

    #[test]
    fn an_object_keeps_what_was_left_in_it() {
        let pool = Pool::<AtomicU32>::new(10);
        let mut cache = Cache::new();
        let number = pool.take(&mut cache).unwrap();
        pool.get(number).store(5, Ordering::Relaxed);
        pool.give(&mut cache, number);
        let again = pool.take(&mut cache).unwrap();
        assert_eq!(pool.get(again).load(Ordering::Relaxed), 5);
    }
}
