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
//! that ran out of them: the one most likely to need as many again. That never changes, so nothing
//! has to agree on it. An object given back elsewhere may serve that worker's next take (it is in
//! its processor's cache), and goes home when it would leave that worker's stock. So neither taking
//! nor giving asks for the home, and what crosses between workers does so 64 at a time.
//!
//! On a machine with several nodes, each node has its own array of objects, which its own workers
//! touch first: the memory is there. The low bits of a number say which array is meant, so an
//! object never forgets where its memory is.
//!
//! Invariants: a number is in exactly one stock, mailbox or depot, or with the one who took it.
//! Out of reach for other workers are at most 128 numbers in a stock and 512 in a mailbox; a
//! worker that ends leaves none behind ([`Pool::drain`]).
//!
//! Not here: handles that outlive their object's use (`handles`).

mod cache;
mod counters;
mod handles;
mod mailbox;
mod node;

use std::fmt;

use cache::{Homes, NOBODY, STOCK};
use counters::Tally;
use mailbox::{BATCH, Sent};
use node::{Node, Numbering};

pub use cache::Cache;
pub use counters::PoolCounters;
pub use handles::{Handle, HandlePool, Held};

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
    numbering: Numbering,
    homes: Homes,
    /// For callers without a cache.
    outside: Tally,
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
        let numbering = Numbering::new(nodes);
        let node = |index| Node::new(index, numbering, limit);
        Self {
            first: node(0),
            others: (1..nodes as u32).map(node).collect(),
            numbering,
            homes: Homes::default(),
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
        self.nodes_from(0).find_map(|node| {
            let (source, number) = node.take(NOBODY, Vec::pop);
            self.outside.of(source).add_among_others(u64::from(number.is_some()));
            number
        })
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
        if !cache.has_home() {
            return;
        }
        let (own, home) = self.homes.of(&mut cache);
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
        self.homes.vacate(own);
    }

    #[cold]
    fn refill(&self, cache: &mut Cache) -> Option<u32> {
        let (own, home) = self.homes.of(cache);
        cache.publish();
        let count = if home.mailbox.collect(|number| cache.free.push(number)) {
            &home.tally.collected
        } else {
            let source = self.nodes_from(cache.node).find_map(|node| {
                let (source, ()) = node.take(own, |free| {
                    let kept = free.len().saturating_sub(BATCH);
                    cache.free.extend(free.drain(kept..));
                });
                (!cache.free.is_empty()).then_some(source)
            });
            home.tally.of(source?)
        };
        count.add(1);
        let taken = cache.free.pop();
        cache.published = cache.free.len();
        taken
    }

    #[cold]
    fn make_room(&self, cache: &mut Cache) {
        let (own, home) = self.homes.of(cache);
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
        self.homes.find(home).map_or(Sent::Refused, |home| home.mailbox.send(numbers))
    }

    /// Puts numbers into the depots of their nodes.
    fn spill(&self, numbers: &mut [u32]) {
        if self.numbering.has_one_node() {
            return self.first.put(numbers);
        }
        let node_of = |number| self.numbering.node(number);
        each_group(numbers, node_of, |node, group| {
            self.node(node).expect("the number names its node").put(group);
        });
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
        if self.numbering.has_one_node() {
            return self.first.find(number);
        }
        self.node(self.numbering.node(number))?.find(number)
    }

    /// Returns the node where the memory of this object is.
    pub fn node_of(&self, number: u32) -> usize {
        self.numbering.node(number) as usize
    }

    /// Returns all objects that exist, taken or free, with their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &T)> {
        self.nodes_from(0).flat_map(Node::iter)
    }

    /// Returns how requests were served so far.
    pub fn counters(&self) -> PoolCounters {
        let tallies = self.homes.iter().map(|home| &*home.tally).chain([&self.outside]);
        let objects = self.nodes_from(0).map(|node| u64::from(node.made())).sum();
        PoolCounters { objects, ..tallies.sum() }
    }

    #[inline]
    fn node(&self, index: u32) -> Option<&Node<T>> {
        match index {
            0 => Some(&self.first),
            other => self.others.get(other as usize - 1),
        }
    }

    /// Returns all nodes, the one with this index first.
    fn nodes_from(&self, index: usize) -> impl Iterator<Item = &Node<T>> {
        let count = self.others.len() + 1;
        (0..count).filter_map(move |step| self.node(((index + step) % count) as u32))
    }

    /// Returns what tells the homes of numbers, quickly if neighbours are asked for in turn.
    fn home_of(&self) -> impl FnMut(u32) -> u32 {
        let mut known = (u32::MAX, NOBODY);
        move |number| {
            let block = self.numbering.block(number);
            if block != known.0 {
                let node = self.node(self.numbering.node(number));
                known = (block, node.and_then(|node| node.home_of(number)).unwrap_or(NOBODY));
            }
            known.1
        }
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
