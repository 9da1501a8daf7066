//! How the requests to a pool were served.
//!
//! Each worker counts for itself, in memory that only it writes; sums are made on demand.

use std::iter::Sum;
use std::sync::atomic::{AtomicU64, Ordering};

use super::node::Source;

/// How the requests to a pool were served.
///
/// Each take is counted by one of the first four, each object given back by one of the next two.
///
/// # Examples
///
/// ```
/// use raddle::memory::{Cache, Pool};
///
/// let pool = Pool::<u64>::new(1000);
/// let mut cache = Cache::new();
/// for _ in 0..100 {
///     let number = pool.take(&mut cache).expect("999 are left");
///     pool.give(&mut cache, number);
/// }
/// cache.publish();
/// let counters = pool.counters();
/// assert_eq!((counters.from_system, counters.private), (1, 99));
/// assert_eq!(counters.private_share(), 0.99);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoolCounters {
    /// Takes from the worker's own stock: no interlocked instruction, no shared memory.
    pub private: u64,
    /// Takes that first had to collect a batch that others had sent home.
    pub collected: u64,
    /// Takes that first had to refill the stock from a depot.
    pub from_depot: u64,
    /// Takes for which memory was asked of the operating system, for a batch of new objects.
    pub from_system: u64,
    /// Objects given back that stayed, or whose home this was.
    pub freed_home: u64,
    /// Objects given back to another worker than their own, and sent home from there.
    pub freed_away: u64,
    /// Batches that went from a depot to a stock, new ones included.
    pub refills: u64,
    /// Batches that went from a stock to a depot.
    pub spills: u64,
    /// Objects that exist.
    pub objects: u64,
}

impl PoolCounters {
    /// Returns how many objects were taken.
    pub fn taken(&self) -> u64 {
        self.private + self.collected + self.from_depot + self.from_system
    }

    /// Returns the share of takes that needed no interlocked instruction; 1 if there were none.
    pub fn private_share(&self) -> f64 {
        if self.taken() == 0 { 1.0 } else { self.private as f64 / self.taken() as f64 }
    }
}

/// A number that one thread writes, unless said otherwise, and any may read.
#[derive(Debug, Default)]
pub(super) struct Count(AtomicU64);

impl Count {
    pub(super) fn add(&self, more: u64) {
        // Not a read-modify-write: only one thread writes.
        self.0.store(self.0.load(Ordering::Relaxed) + more, Ordering::Relaxed);
    }

    /// For a count that many threads write.
    pub(super) fn add_among_others(&self, more: u64) {
        self.0.fetch_add(more, Ordering::Relaxed);
    }

    fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// What one worker counts.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) private: Count,
    pub(super) collected: Count,
    pub(super) from_depot: Count,
    pub(super) from_system: Count,
    pub(super) given: Count,
    pub(super) freed_away: Count,
    pub(super) spills: Count,
}

impl Tally {
    /// Returns the count of takes for which a batch came from `source`.
    pub(super) fn of(&self, source: Source) -> &Count {
        match source {
            Source::Depot => &self.from_depot,
            Source::System => &self.from_system,
        }
    }
}

impl<'t> Sum<&'t Tally> for PoolCounters {
    fn sum<I: Iterator<Item = &'t Tally>>(tallies: I) -> Self {
        tallies.fold(Self::default(), |sum, tally| {
            let (from_depot, from_system) = (tally.from_depot.get(), tally.from_system.get());
            let (given, freed_away) = (tally.given.get(), tally.freed_away.get());
            Self {
                private: sum.private + tally.private.get(),
                collected: sum.collected + tally.collected.get(),
                from_depot: sum.from_depot + from_depot,
                from_system: sum.from_system + from_system,
                // Objects may pass through a stock without having been in use.
                freed_home: sum.freed_home + given.saturating_sub(freed_away),
                freed_away: sum.freed_away + freed_away,
                refills: sum.refills + from_depot + from_system,
                spills: sum.spills + tally.spills.get(),
                objects: sum.objects,
            }
        })
    }
}
