//! A worker's stock, and what others see of it.
//!
//! Whoever uses a pool for the first time gets a home: a mailbox and counters with a number. When
//! a worker ends, its home is vacant; the next worker moves in, and is sent what was its
//! predecessor's. So there are never more homes than workers at one time.

use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;

use super::counters::Tally;
use super::mailbox::{BATCH, Mailbox};
use crate::memory::{CacheLine, Segments};

/// The most numbers in a stock.
pub(super) const STOCK: usize = 2 * BATCH;

/// The home of objects made without a cache.
pub(super) const NOBODY: u32 = 0;

/// One worker's stock of free numbers of one pool: of the first that it is used with.
///
/// Dropping it strands what it holds; see [`Pool::drain`](super::Pool::drain).
///
/// # Examples
///
/// ```
/// use raddle::memory::{Cache, Pool};
///
/// let pool = Pool::<u64>::new(64);
/// let mut cache = Cache::new();
/// let number = pool.take(&mut cache).expect("all are left");
/// pool.give(&mut cache, number);
/// assert_eq!(pool.take(&mut Cache::new()), None, "the first worker has all in its stock");
/// pool.drain(cache);
/// assert!(pool.take(&mut Cache::new()).is_some());
/// ```
#[derive(Debug)]
pub struct Cache {
    pub(super) free: Vec<u32>,
    /// Takes from the stock since the counters were last published.
    pub(super) private: u64,
    /// How many were free when the counters were last published.
    pub(super) published: usize,
    pub(super) node: usize,
    home: Option<(u32, Arc<Home>)>,
}

/// What others see of a cache.
#[derive(Debug, Default)]
pub(super) struct Home {
    pub(super) mailbox: CacheLine<Mailbox>,
    pub(super) tally: CacheLine<Tally>,
}

/// All homes of a pool.
#[derive(Default)]
pub(super) struct Homes {
    homes: Segments<OnceLock<Arc<Home>>>,
    registry: Mutex<Registry>,
}

#[derive(Default)]
struct Registry {
    vacant: Vec<u32>,
    /// Homes are numbered from 1 to this.
    last: u32,
}

impl Cache {
    /// Creates an empty stock for a worker on node 0.
    pub const fn new() -> Self {
        Self::on_node(0)
    }

    /// Creates an empty stock for a worker on the node with this index.
    pub const fn on_node(node: usize) -> Self {
        Self { free: Vec::new(), private: 0, published: 0, node, home: None }
    }

    /// Adds what was counted here to [`Pool::counters`](super::Pool::counters).
    ///
    /// What does not leave the stock (most takes and gives) is counted only here until the stock
    /// is refilled, gets full, or is drained.
    pub fn publish(&mut self) {
        let Some((_, home)) = &self.home else { return };
        let given = self.free.len() as u64 + self.private - self.published as u64;
        home.tally.private.add(self.private);
        home.tally.given.add(given);
        self.private = 0;
        self.published = self.free.len();
    }

    /// Returns whether nothing is in stock, so that the next take goes elsewhere.
    pub fn is_empty(&self) -> bool {
        self.free.is_empty()
    }

    /// Returns whether the cache was ever used.
    pub(super) fn has_home(&self) -> bool {
        self.home.is_some()
    }
}

impl Default for Cache {
    fn default() -> Self {
        Self::new()
    }
}

impl Homes {
    /// Returns the home with this number.
    pub(super) fn find(&self, number: u32) -> Option<&Arc<Home>> {
        self.homes.get(number)?.get()
    }

    /// Returns all homes there ever were.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Arc<Home>> {
        let last = self.registry.lock().last;
        (1..=last).filter_map(|number| self.find(number))
    }

    /// Returns the number of the cache's home, and the home; finds it one at first use.
    ///
    /// # Panics
    ///
    /// Panics if the cache's home is in another pool.
    pub(super) fn of(&self, cache: &mut Cache) -> (u32, &Home) {
        let (number, home) = cache.home.get_or_insert_with(|| {
            cache.free.reserve_exact(STOCK);
            self.move_in()
        });
        let found = self.find(*number).filter(|found| Arc::ptr_eq(found, home));
        (*number, found.expect("a cache serves one pool"))
    }

    fn move_in(&self) -> (u32, Arc<Home>) {
        let mut registry = self.registry.lock();
        let number = registry.vacant.pop().unwrap_or_else(|| {
            registry.last += 1;
            registry.last
        });
        let home = self.homes.get_or_grow(number).get_or_init(Arc::default);
        home.mailbox.open();
        (number, Arc::clone(home))
    }

    /// Lets the next worker have this home, whose mailbox is closed and empty.
    pub(super) fn vacate(&self, number: u32) {
        self.registry.lock().vacant.push(number);
    }
}
