//! Pools of reusable objects with a stock of free ones per worker.
//!
//! ```text
//!   worker's Cache (up to 128 numbers, no interlocked instruction)
//!       |  empty: refill                       ^  full: the oldest 64 leave
//!       |   1. from the worker's mailbox       |   - those of others go to their mailboxes
//!       |   2. from its node's depot           |   - its own to the depot of their node
//!       |   3. 64 new objects                  |
//!       v   4. from other nodes                |
//!   mailbox of each worker; depot of each node (a lock around a list of free numbers)
//! ```
//!
//! An object is named by its number and is never dropped before the pool: whoever takes it finds
//! what its last user left. Objects are made 64 at a time, as a *block*, whose *home* is the worker
//! that made it: it touched the memory first, which puts it on that worker's node, and it is the
//! one most likely to take the objects again. That never changes, so nothing has to agree on it. An
//! object given back elsewhere may serve that worker's next take (it is in its processor's cache),
//! and goes home when it would leave that worker's stock: neither taking nor giving asks for the
//! home, and what crosses between workers does so 64 at a time.
//!
//! On a machine with several nodes, each node has its own array of objects. The low bits of a
//! number say which array is meant, so an object never forgets where its memory is.
//!
//! Invariants: a number is in exactly one stock, mailbox or depot, or with the one who took it.
//! Out of reach for other workers are at most 128 numbers in a stock and 512 in a mailbox; a
//! worker that ends leaves none behind ([`Pool::drain`]).
//!
//! A depot's list has room for every number of its node, so giving back never allocates; taking
//! allocates only while the pool grows.

use std::fmt;
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;

use super::mailbox::{BATCH, Mailbox, Sent};
use super::model::atomic::{AtomicU32, Ordering};
use super::pool_counters::{PoolCounters, Tally};
use super::{CacheLine, Segments};

/// The most numbers in a stock.
const STOCK: usize = 2 * BATCH;

/// The home of objects made without a cache.
const NOBODY: u32 = 0;

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
/// pool.drain(cache);
/// ```
pub struct Pool<T> {
    /// Node 0 apart: most machines have no other, and it takes no detour to get there.
    first: Node<T>,
    others: Box<[Node<T>]>,
    /// How many low bits of a number say its node.
    node_bits: u32,
    homes: Segments<OnceLock<Arc<Home>>>,
    registry: Mutex<Registry>,
    /// For callers without a cache.
    outside: Tally,
}

/// What lies on one node.
struct Node<T> {
    objects: Segments<T>,
    /// Per block of objects the number of its home; written once, before anyone has the objects.
    homes: Segments<AtomicU32>,
    depot: CacheLine<Mutex<Depot>>,
}

#[derive(Default)]
struct Depot {
    /// Numbers, with their node's bits.
    free: Vec<u32>,
    /// Objects that exist; they are numbered from 0.
    made: u32,
    /// `made` stays within this.
    most: u32,
}

/// What others see of a cache.
#[derive(Debug, Default)]
struct Home {
    mailbox: CacheLine<Mailbox>,
    tally: CacheLine<Tally>,
}

#[derive(Default)]
struct Registry {
    /// Homes whose caches were drained.
    vacant: Vec<u32>,
    /// Homes are numbered from 1 to this.
    homes: u32,
}

/// One worker's stock of free numbers of one pool: of the first that it is used with.
///
/// Dropping it strands what it holds; see [`Pool::drain`].
#[derive(Debug)]
pub struct Cache {
    free: Vec<u32>,
    /// Takes since the last [`publish`](Self::publish).
    private: u64,
    /// How many were free at the last `publish`.
    published: usize,
    node: usize,
    home: Option<(u32, Arc<Home>)>,
}

impl<T: Default> Pool<T> {
    /// Creates a pool of at most `limit` objects, made as they are needed.
    pub fn new(limit: u32) -> Self {
        Self::with_nodes(limit, 1)
    }

    /// Creates a pool of at most `limit` objects for workers on `nodes` nodes, as numbered by
    /// [`Topology`](super::Topology).
    ///
    /// Each node gets an equal share of the limit; the number of shares is the next power of two.
    ///
    /// # Panics
    ///
    /// Panics if there is no node, or more than 256.
    pub fn with_nodes(limit: u32, nodes: usize) -> Self {
        assert!((1..=256).contains(&nodes), "a machine has 1 to 256 nodes, not {nodes}");
        let node_bits = nodes.next_power_of_two().ilog2();
        Self {
            first: Node::new(limit >> node_bits),
            others: (1..nodes).map(|_| Node::new(limit >> node_bits)).collect(),
            node_bits,
            homes: Segments::new(),
            registry: Mutex::default(),
            outside: Tally::default(),
        }
    }

    /// Takes an object out of `cache`, which it refills first if it is empty.
    ///
    /// Returns `None` when the limit is reached and no free object is within reach.
    #[inline]
    pub fn take(&self, cache: &mut Cache) -> Option<u32> {
        match cache.free.pop() {
            Some(number) => {
                cache.private += 1;
                Some(number)
            }
            None => self.refill(cache),
        }
    }

    /// Gives an object back; the caller must not use it afterwards.
    #[inline]
    pub fn give(&self, cache: &mut Cache, number: u32) {
        if cache.free.len() == cache.free.capacity() {
            self.make_room(cache);
        }
        cache.free.push(number);
    }

    /// Takes an object straight from a depot, for callers without a cache.
    pub fn take_shared(&self) -> Option<u32> {
        for (index, node) in self.nodes_from(0) {
            let mut depot = node.depot.lock();
            let found = !depot.free.is_empty();
            if !found {
                self.make(node, index, &mut depot, NOBODY);
            }
            if let Some(number) = depot.free.pop() {
                let source =
                    if found { &self.outside.from_depot } else { &self.outside.from_system };
                source.add_among_others(1);
                return Some(number);
            }
        }
        None
    }

    /// Gives an object straight to a depot, for callers without a cache.
    pub fn give_shared(&self, number: u32) {
        self.outside.given.add_among_others(1);
        self.spill(&mut [number]);
    }

    /// Ends a worker's part in the pool: all that `cache` holds can be taken by others.
    ///
    /// # Panics
    ///
    /// Panics if the cache is another pool's.
    pub fn drain(&self, mut cache: Cache) {
        if cache.home.is_none() {
            return;
        }
        let (own, home) = self.home(&mut cache);
        cache.publish();
        home.mailbox.close();
        loop {
            for batch in cache.free.chunks_mut(BATCH) {
                self.move_out(batch, own, &home.tally);
            }
            cache.free.clear();
            if !home.mailbox.collect(|number| cache.free.push(number)) {
                break;
            }
        }
        self.registry.lock().vacant.push(own);
    }

    #[cold]
    fn refill(&self, cache: &mut Cache) -> Option<u32> {
        let (own, home) = self.home(cache);
        cache.publish();
        let taken = if home.mailbox.collect(|number| cache.free.push(number)) {
            home.tally.collected.add(1);
            cache.free.pop()
        } else {
            self.refill_from_depot(cache, own, &home.tally)
        };
        cache.published = cache.free.len();
        taken
    }

    fn refill_from_depot(&self, cache: &mut Cache, own: u32, tally: &Tally) -> Option<u32> {
        for (index, node) in self.nodes_from(cache.node) {
            let mut depot = node.depot.lock();
            let found = !depot.free.is_empty();
            if !found {
                self.make(node, index, &mut depot, own);
            }
            let kept = depot.free.len().saturating_sub(BATCH);
            cache.free.extend(depot.free.drain(kept..));
            drop(depot);
            if let Some(number) = cache.free.pop() {
                if found { &tally.from_depot } else { &tally.from_system }.add(1);
                return Some(number);
            }
        }
        None
    }

    /// Makes a block of objects, or as many as the limit allows, and puts them into the depot.
    fn make(&self, node: &Node<T>, index: u32, depot: &mut Depot, home: u32) {
        let end = depot.made.saturating_add(BATCH as u32).min(depot.most);
        if end == depot.made {
            return;
        }
        for number in (depot.made..end).rev() {
            node.objects.get_or_grow(number);
            depot.free.push(self.name(number, index));
        }
        // It reaches others with the objects.
        node.homes.get_or_grow(depot.made / BATCH as u32).store(home, Ordering::Relaxed);
        depot.made = end;
        let room = end as usize - depot.free.len();
        depot.free.reserve(room);
    }

    #[cold]
    fn make_room(&self, cache: &mut Cache) {
        let (own, home) = self.home(cache);
        cache.publish();
        if cache.free.len() >= STOCK {
            // The oldest go: the youngest are still in this worker's processor cache.
            self.move_out(&mut cache.free[..BATCH], own, &home.tally);
            cache.free.drain(..BATCH);
        }
        cache.published = cache.free.len();
    }

    /// Sends numbers home, or to a depot where this is their home.
    fn move_out(&self, numbers: &mut [u32], own: u32, tally: &Tally) {
        each_group(numbers, self.home_of(), |home, group| {
            if home == own {
                tally.spills.add(1);
            } else if home != NOBODY {
                tally.freed_away.add(group.len() as u64);
                if self.send_home(home, group) == Sent::Delivered {
                    return;
                }
            }
            self.spill(group);
        });
    }

    fn send_home(&self, home: u32, numbers: &[u32]) -> Sent {
        let home = self.homes.get(home).and_then(OnceLock::get);
        home.map_or(Sent::Refused, |home| home.mailbox.send(numbers))
    }

    /// Puts numbers into the depots of their nodes.
    fn spill(&self, numbers: &mut [u32]) {
        if self.node_bits == 0 {
            self.first.depot.lock().free.extend_from_slice(numbers);
            return;
        }
        each_group(
            numbers,
            |number| number & self.node_mask(),
            |node, group| {
                let node = self.node(node).expect("the number names its node");
                node.depot.lock().free.extend_from_slice(group);
            },
        );
    }

    /// Returns the cache's home and its number; finds it one at first use.
    fn home(&self, cache: &mut Cache) -> (u32, &Home) {
        if cache.home.is_none() {
            let mut registry = self.registry.lock();
            let number = registry.vacant.pop().unwrap_or_else(|| {
                registry.homes += 1;
                registry.homes
            });
            let home = self.homes.get_or_grow(number).get_or_init(Arc::default);
            home.mailbox.open();
            cache.home = Some((number, Arc::clone(home)));
            cache.free.reserve_exact(STOCK);
        }
        let (number, home) = cache.home.as_ref().expect("it was found above");
        let known = self.homes.get(*number).and_then(OnceLock::get);
        let known =
            known.filter(|known| Arc::ptr_eq(known, home)).expect("a cache serves one pool");
        (*number, known)
    }
}

impl<T> Pool<T> {
    /// Returns the object `number`.
    ///
    /// # Panics
    ///
    /// Panics if the pool never handed out this number.
    #[inline]
    pub fn get(&self, number: u32) -> &T {
        self.find(number).expect("the pool handed out this number")
    }

    /// Returns the object `number` if the pool has made it.
    #[inline]
    pub fn find(&self, number: u32) -> Option<&T> {
        if self.node_bits == 0 {
            return self.first.objects.get(number);
        }
        self.node(number & self.node_mask())?.objects.get(number >> self.node_bits)
    }

    /// Returns all objects that exist, taken or free, with their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &T)> {
        self.nodes_from(0).flat_map(move |(index, node)| {
            let made = node.depot.lock().made;
            let object = move |number| Some((self.name(number, index), node.objects.get(number)?));
            (0..made).filter_map(object)
        })
    }

    /// Returns how requests were served so far.
    pub fn counters(&self) -> PoolCounters {
        let homes = self.registry.lock().homes;
        let homes = (1..=homes).filter_map(|number| self.homes.get(number)?.get());
        let tallies = homes.map(|home| &*home.tally).chain([&self.outside]);
        let made = self.nodes_from(0).map(|(_, node)| u64::from(node.depot.lock().made));
        PoolCounters { objects: made.sum(), ..tallies.sum() }
    }

    #[inline]
    fn node_mask(&self) -> u32 {
        !(u32::MAX << self.node_bits)
    }

    #[inline]
    fn node(&self, index: u32) -> Option<&Node<T>> {
        match index {
            0 => Some(&self.first),
            other => self.others.get(other as usize - 1),
        }
    }

    /// Returns all nodes and their indices, the one with this index first.
    fn nodes_from(&self, index: usize) -> impl Iterator<Item = (u32, &Node<T>)> {
        let count = self.others.len() + 1;
        let indices = (0..count).map(move |step| ((index + step) % count) as u32);
        indices.filter_map(|index| Some((index, self.node(index)?)))
    }

    /// Returns the number of a node's object.
    fn name(&self, number: u32, node: u32) -> u32 {
        number << self.node_bits | node
    }

    /// Returns what tells the homes of numbers, quickly if neighbours are asked for in turn.
    fn home_of(&self) -> impl FnMut(u32) -> u32 {
        let within_block = (BATCH as u32 - 1) << self.node_bits;
        let (mut known, mut home) = (u32::MAX, NOBODY);
        move |number| {
            if number & !within_block != known {
                known = number & !within_block;
                let homes = self.node(number & self.node_mask()).map(|node| &node.homes);
                let word =
                    homes.and_then(|homes| homes.get((number >> self.node_bits) / BATCH as u32));
                home = word.map_or(NOBODY, |word| word.load(Ordering::Relaxed));
            }
            home
        }
    }
}

impl<T> Node<T> {
    fn new(most: u32) -> Self {
        let depot = CacheLine(Mutex::new(Depot { most, ..Depot::default() }));
        Self { objects: Segments::new(), homes: Segments::new(), depot }
    }
}

/// Sorts `numbers` into groups of one key, and calls `act` with each.
fn each_group(
    mut numbers: &mut [u32],
    mut key_of: impl FnMut(u32) -> u32,
    mut act: impl FnMut(u32, &mut [u32]),
) {
    // There are few groups, mostly one: going through the rest for each costs less than sorting.
    while let Some(&first) = numbers.first() {
        let key = key_of(first);
        let other = numbers.iter().position(|&number| key_of(number) != key);
        let mut count = other.unwrap_or(numbers.len());
        for index in count + 1..numbers.len() {
            if key_of(numbers[index]) == key {
                numbers.swap(index, count);
                count += 1;
            }
        }
        let (group, rest) = numbers.split_at_mut(count);
        act(key, group);
        numbers = rest;
    }
}

impl<T> fmt::Debug for Pool<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool").field("counters", &self.counters()).finish_non_exhaustive()
    }
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

    /// Adds what was counted here to [`Pool::counters`].
    ///
    /// Whatever leaves the stock alone (most takes and gives) is only counted here until the stock
    /// is refilled, gets full, or is drained.
    pub fn publish(&mut self) {
        let Some((_, home)) = &self.home else { return };
        let given = self.free.len() as u64 + self.private - self.published as u64;
        home.tally.private.add(self.private);
        home.tally.given.add(given);
        self.private = 0;
        self.published = self.free.len();
    }
}

impl Default for Cache {
    fn default() -> Self {
        Self::new()
    }
}
