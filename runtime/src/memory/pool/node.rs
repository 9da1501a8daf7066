//! What lies on one node of the machine: an array of objects, and a depot of free ones.
//!
//! Objects are made a block at a time, by the worker that runs out of them.
//!
//! Invariant: the depot's list has room for every object of the node, so that giving back never
//! allocates.

use parking_lot::Mutex;

use super::mailbox::BATCH;
use crate::memory::model::atomic::{AtomicU32, Ordering};
use crate::memory::{CacheLine, Segments};

/// How objects are numbered: the low bits say the node, the others which one of the node's.
#[derive(Clone, Copy, Debug)]
pub(super) struct Numbering {
    node_bits: u32,
}

/// What lies on one node.
pub(super) struct Node<T> {
    index: u32,
    numbering: Numbering,
    objects: Segments<T>,
    /// Per block the number of its home; written once, before anyone has the block's objects.
    homes: Segments<AtomicU32>,
    depot: CacheLine<Mutex<Depot>>,
}

struct Depot {
    free: Vec<u32>,
    /// Objects that exist.
    made: u32,
    /// `made` stays within this.
    most: u32,
}

/// Where objects came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// Somebody had given them back.
    Depot,
    /// They are new.
    System,
}

impl Numbering {
    pub(super) fn new(nodes: usize) -> Self {
        Self { node_bits: nodes.next_power_of_two().ilog2() }
    }

    /// Returns a node's share of the numbers below `limit`.
    pub(super) fn share(self, limit: u32) -> u32 {
        limit >> self.node_bits
    }

    #[inline]
    pub(super) fn has_one_node(self) -> bool {
        self.node_bits == 0
    }

    #[inline]
    pub(super) fn node(self, number: u32) -> u32 {
        number & !(u32::MAX << self.node_bits)
    }

    #[inline]
    fn place(self, number: u32) -> u32 {
        number >> self.node_bits
    }

    fn name(self, place: u32, node: u32) -> u32 {
        place << self.node_bits | node
    }

    /// Returns the lowest number of the block of `number`.
    pub(super) fn block(self, number: u32) -> u32 {
        number & !((BATCH as u32 - 1) << self.node_bits)
    }
}

impl<T> Node<T> {
    pub(super) fn new(index: u32, numbering: Numbering, limit: u32) -> Self {
        let depot = Depot { free: Vec::new(), made: 0, most: numbering.share(limit) };
        Self {
            index,
            numbering,
            objects: Segments::new(),
            homes: Segments::new(),
            depot: CacheLine(Mutex::new(depot)),
        }
    }

    #[inline]
    pub(super) fn find(&self, number: u32) -> Option<&T> {
        self.objects.get(self.numbering.place(number))
    }

    pub(super) fn home_of(&self, number: u32) -> Option<u32> {
        let block = self.numbering.place(number) / BATCH as u32;
        // Who has a number got it from somebody, and with it what was written before.
        Some(self.homes.get(block)?.load(Ordering::Relaxed))
    }

    /// Returns how many objects exist.
    pub(super) fn made(&self) -> u32 {
        self.depot.lock().made
    }

    /// Returns all objects and their numbers.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, &T)> {
        let named =
            |place| Some((self.numbering.name(place, self.index), self.objects.get(place)?));
        (0..self.made()).filter_map(named)
    }

    pub(super) fn put(&self, numbers: &[u32]) {
        self.depot.lock().free.extend_from_slice(numbers);
    }
}

impl<T: Default> Node<T> {
    /// Takes some of the free numbers; if there are none, a block is made for `home` first.
    pub(super) fn take<R>(&self, home: u32, some: impl FnOnce(&mut Vec<u32>) -> R) -> (Source, R) {
        let mut depot = self.depot.lock();
        let source = if depot.free.is_empty() { Source::System } else { Source::Depot };
        if source == Source::System {
            self.make(&mut depot, home);
        }
        (source, some(&mut depot.free))
    }

    /// Puts a block of new objects into the depot, or what the limit allows.
    fn make(&self, depot: &mut Depot, home: u32) {
        let end = depot.made.saturating_add(BATCH as u32).min(depot.most);
        if end == depot.made {
            return;
        }
        self.homes.get_or_grow(depot.made / BATCH as u32).store(home, Ordering::Relaxed);
        for place in (depot.made..end).rev() {
            self.objects.get_or_grow(place);
            depot.free.push(self.numbering.name(place, self.index));
        }
        depot.made = end;
        let room = end as usize - depot.free.len();
        depot.free.reserve(room);
    }
}
