//! A deque of words, each naming a task, whose owner shares only what others ask for.
//!
//! ```text
//!        top           split             head
//!   . . . | oldest  ...  | ...  youngest  | . . .
//!         |--- public ---|--- private ----|
//!    thieves take here    the owner pushes and pops here
//! ```
//!
//! `top` and `split` lie in one word, and every transfer between public and private is one
//! compare-exchange of it: thieves take up to half of the public items (raise `top`), the owner
//! makes items public when somebody wants some (raises `split`), and when it has no private ones
//! left it takes all public ones (raises `top` to `split`) and puts them down anew above. So both
//! only ever rise, and a word that is still the same has always been. The private part is the
//! owner's alone; pushing and popping there costs neither an interlocked instruction nor a fence.
//! (The split is that of van Dijk and van de Pol, "Lace: non-blocking split deque for
//! work-stealing", 2014, where it also falls.)
//!
//! An owner in a long task does not hear who asks. So a thief that finds nothing anywhere may
//! *break in*: raise `split` itself, which needs proof that the owner is not popping there.
//!
//! ```text
//! owner's pop:   head = i             (1)        break-in:  split = s + n, unproven   (3)
//!                read split           (2)                   read head                 (4)
//!                i >= split: item i is the owner's          head >= s + n: proven
//! ```
//!
//! (1), (2) are kept apart by a light fence, (3), (4) by a heavy one: either the owner sees the
//! raised split and backs out, or the thief sees the lowered head and gives up. While the word says
//! *unproven* nobody else changes it; so thieves take only what is proven.
//!
//! Items lie in a ring whose size doubles when it is full. Old rings stay until the deque is
//! dropped and are never written again, so a thief that still reads one finds the items that were
//! in it. A slot is written anew only when `top` has passed it, and then the exchange of a thief
//! that read it fails. (Positions have 31 bits, so a thief could be fooled if exactly a multiple of
//! 2³¹ items passed between its read and its exchange, with the same split.)
//!
//! Invariant: an item pushed is returned exactly once, by `pop`, `steal` or `break_in`, provided
//! that only the owner calls `push`, `pop` and `share`.

#![expect(unsafe_code, reason = "reads rings through a pointer to the current one")]

use std::sync::OnceLock;

use crate::memory::CacheLine;
use crate::memory::barrier::{heavy, light};
use crate::memory::model::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering};
use crate::memory::model::thread;

#[cfg(not(raddle_loom))]
const FIRST_RING: usize = 256;
#[cfg(raddle_loom)]
const FIRST_RING: usize = 2;
const RINGS: usize = 24;
/// Taking back what nobody took costs time for each, so not more than this is shared at once.
const LARGEST_SHARE: usize = 128;

#[derive(Debug)]
pub(super) struct Deque {
    /// A [`Word`].
    shared: CacheLine<AtomicU64>,
    /// Set by thieves that found nothing public here.
    wanted: CacheLine<AtomicBool>,
    owner: CacheLine<OwnersPart>,
    rings: [OnceLock<Box<Ring>>; RINGS],
}

/// What the owner alone writes.
#[derive(Debug)]
struct OwnersPart {
    head: AtomicU32,
    /// A position that `top` has reached.
    floor: AtomicU32,
    /// The ring in use: the last of `rings` that was made.
    current: AtomicPtr<Ring>,
}

#[derive(Debug)]
struct Ring {
    slots: Box<[AtomicU64]>,
}

/// Where the public items lie, and whether the last change of `split` is proven.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Word {
    top: Position,
    split: Position,
    unproven: bool,
}

/// A position in the endless row of items, modulo 2³¹; kept doubled, as it lies in a [`Word`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Position(u32);

/// What came of an attempt to steal.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Steal {
    /// So many items were taken.
    Taken(usize),
    /// There is nothing, or nothing public; the owner has been asked for more.
    Empty,
    /// Another thief or the owner was faster.
    Lost,
}

impl Deque {
    pub(super) fn new() -> Self {
        let rings = [const { OnceLock::new() }; RINGS];
        let first = rings[0].get_or_init(|| Box::new(Ring::new(FIRST_RING)));
        let owner = OwnersPart {
            head: AtomicU32::new(0),
            floor: AtomicU32::new(0),
            current: AtomicPtr::new(Ring::pointer(first)),
        };
        Self {
            shared: CacheLine(AtomicU64::new(0)),
            wanted: CacheLine(AtomicBool::new(false)),
            owner: CacheLine(owner),
            rings,
        }
    }

    /// Adds an item; for the owner only.
    #[inline]
    pub(super) fn push(&self, item: u64) {
        let owner = &*self.owner;
        let head = Position(owner.head.load(Ordering::Relaxed));
        let mut ring = self.own_ring();
        if head.after(Position(owner.floor.load(Ordering::Relaxed))) >= ring.slots.len() {
            ring = self.make_room(head);
        }
        ring.slot(head).store(item, Ordering::Relaxed);
        // Release: pairs with the load of `head` in `break_in`; who makes the item public has
        // seen it, and what it names.
        owner.head.store(head.plus(1).0, Ordering::Release);
    }

    /// Returns whether somebody has asked for items.
    #[inline]
    pub(super) fn is_wanted(&self) -> bool {
        self.wanted.load(Ordering::Relaxed)
    }

    /// Makes half of the private items public, up to a limit, and returns whether none is private now;
    /// for the owner only.
    #[cold]
    pub(super) fn share(&self) -> bool {
        self.wanted.store(false, Ordering::Relaxed);
        let head = Position(self.owner.head.load(Ordering::Relaxed));
        let word = Word::from(self.shared.load(Ordering::Relaxed));
        if word.unproven {
            return false;
        }
        let private = head.after(word.split);
        let split = word.split.plus(private.div_ceil(2).min(LARGEST_SHARE));
        // If a thief is faster, there were items for it.
        private == 0 || self.exchange(word, Word { split, ..word }) && split == head
    }

    /// Takes the youngest item; for the owner only.
    #[inline]
    pub(super) fn pop(&self) -> Option<u64> {
        let head = Position(self.owner.head.load(Ordering::Relaxed));
        match self.pop_private(head) {
            Some(item) => Some(item),
            None => self.pop_public(head),
        }
    }

    #[inline]
    fn pop_private(&self, head: Position) -> Option<u64> {
        let last = head.minus(1);
        self.owner.head.store(last.0, Ordering::Relaxed);
        // Between (1) and (2).
        light();
        let word = Word::from(self.shared.load(Ordering::Relaxed));
        if last.is_at_or_after(word.split) {
            return Some(self.own_ring().slot(last).load(Ordering::Relaxed));
        }
        // Nothing private, or a thief is breaking in. Release: as in `push`.
        self.owner.head.store(head.0, Ordering::Release);
        None
    }

    #[cold]
    fn pop_public(&self, mut head: Position) -> Option<u64> {
        loop {
            head = self.take_back(head)?;
            if let Some(item) = self.pop_private(head) {
                return Some(item);
            }
        }
    }

    /// Sees to it that there are private items, and returns the new head; none if there are no
    /// items at all.
    fn take_back(&self, head: Position) -> Option<Position> {
        loop {
            let word = Word::from(self.shared.load(Ordering::Relaxed));
            if word.unproven {
                // A thief between (3) and its proof, which takes about a microsecond.
                thread::yield_now();
            } else if word.split != head {
                return Some(head);
            } else if word.top == head {
                return None;
            } else if self.exchange(word, Word { top: word.split, ..word }) {
                let ring = self.own_ring();
                let count = head.after(word.top);
                // In ascending order no item is written over before it is read, for the ring
                // has room for all.
                for index in 0..count {
                    let item = ring.slot(word.top.plus(index)).load(Ordering::Relaxed);
                    ring.slot(head.plus(index)).store(item, Ordering::Relaxed);
                }
                let head = head.plus(count);
                // Release: as in `push`.
                self.owner.head.store(head.0, Ordering::Release);
                return Some(head);
            }
        }
    }

    /// Takes the oldest public items, at most half of them and as many as `loot` has room
    /// for; for anyone.
    pub(super) fn steal(&self, loot: &mut [u64]) -> Steal {
        // Acquire: pairs with the exchange that made the items public.
        let word = Word::from(self.shared.load(Ordering::Acquire));
        if word.unproven {
            return Steal::Lost;
        }
        let public = word.split.after(word.top);
        if public == 0 {
            if word.split.0 != self.owner.head.load(Ordering::Relaxed) && !self.is_wanted() {
                self.wanted.store(true, Ordering::Relaxed);
            }
            return Steal::Empty;
        }
        self.take(word, public.div_ceil(2).min(loot.len()), loot)
    }

    /// Takes items although the owner has made none public; for anyone.
    ///
    /// Interrupts every processor that runs a thread of this process.
    #[cold]
    pub(super) fn break_in(&self, loot: &mut [u64]) -> Steal {
        let word = Word::from(self.shared.load(Ordering::Acquire));
        let head = Position(self.owner.head.load(Ordering::Relaxed));
        if word.unproven || word.split != word.top {
            return self.steal(loot);
        }
        if !head.is_at_or_after(word.split) || head == word.split {
            return Steal::Empty;
        }
        let count = head.after(word.split).div_ceil(2);
        let raised = Word { split: word.split.plus(count), unproven: true, ..word };
        if !self.exchange(word, raised) {
            return Steal::Lost;
        }
        // Between (3) and (4).
        heavy();
        // Acquire: pairs with the stores of `head` in `push` and `pop`.
        let head = Position(self.owner.head.load(Ordering::Acquire));
        let proven = head.is_at_or_after(raised.split);
        let settled = if proven { Word { unproven: false, ..raised } } else { word };
        // Release: the items are visible to who sees them public.
        self.shared.store(settled.into(), Ordering::Release);
        if proven { self.take(settled, count.min(loot.len()), loot) } else { Steal::Lost }
    }

    fn take(&self, word: Word, count: usize, loot: &mut [u64]) -> Steal {
        // Acquire: pairs with the store in `make_room`; the ring holds the items from `top` on.
        let ring = self.ring(self.owner.current.load(Ordering::Acquire));
        for (index, place) in loot[..count].iter_mut().enumerate() {
            *place = ring.slot(word.top.plus(index)).load(Ordering::Relaxed);
        }
        // If the word is still the same, nobody took the items and no slot was written anew.
        let taken = self.exchange(word, Word { top: word.top.plus(count), ..word });
        if taken { Steal::Taken(count) } else { Steal::Lost }
    }

    /// Returns about how many items there are.
    pub(super) fn len(&self) -> usize {
        let word = Word::from(self.shared.load(Ordering::Relaxed));
        let head = Position(self.owner.head.load(Ordering::Relaxed));
        if head.is_at_or_after(word.top) { head.after(word.top) } else { 0 }
    }

    fn exchange(&self, old: Word, new: Word) -> bool {
        // Release: what the owner has written before is visible to thieves, and the other way
        // round what a thief has read was read before the owner writes over it (Acquire).
        self.shared
            .compare_exchange(old.into(), new.into(), Ordering::AcqRel, Ordering::Relaxed)
            .is_ok()
    }

    /// Returns the current ring; for the owner only.
    #[inline]
    fn own_ring(&self) -> &Ring {
        self.ring(self.owner.current.load(Ordering::Relaxed))
    }

    /// Returns the ring that was read from `current`.
    #[inline]
    fn ring(&self, current: *mut Ring) -> &Ring {
        // SAFETY: `current` only ever holds pointers to rings in `rings`, which stay as long as
        // `self`. The owner has made the ring itself; others read the pointer with `Acquire`, after
        // the ring was filled.
        unsafe { &*current }
    }

    /// Returns a ring with room for an item at `head`.
    #[cold]
    fn make_room(&self, head: Position) -> &Ring {
        let owner = &*self.owner;
        // Acquire: pairs with the exchange in `take`; its reads came before.
        let top = Word::from(self.shared.load(Ordering::Acquire)).top;
        owner.floor.store(top.0, Ordering::Relaxed);
        let old = self.own_ring();
        let len = head.after(top);
        if len < old.slots.len() {
            return old;
        }
        let place = (old.slots.len() / FIRST_RING).ilog2() as usize + 1;
        let next = self.rings.get(place).expect("fewer tasks than the deque holds");
        let new = next.get_or_init(|| Box::new(Ring::new(old.slots.len() * 2)));
        for index in 0..len {
            let item = old.slot(top.plus(index)).load(Ordering::Relaxed);
            new.slot(top.plus(index)).store(item, Ordering::Relaxed);
        }
        // Release: pairs with the load in `take`.
        owner.current.store(Ring::pointer(new), Ordering::Release);
        new
    }
}

impl Ring {
    fn new(len: usize) -> Self {
        Self { slots: std::iter::repeat_with(|| AtomicU64::new(0)).take(len).collect() }
    }

    /// Returns what to store in `current`. Nothing is ever written through it.
    fn pointer(ring: &Self) -> *mut Self {
        (&raw const *ring).cast_mut()
    }

    #[inline]
    fn slot(&self, position: Position) -> &AtomicU64 {
        &self.slots[(position.0 / 2) as usize & (self.slots.len() - 1)]
    }
}

impl Position {
    #[inline]
    fn plus(self, count: usize) -> Self {
        Self(self.0.wrapping_add(2 * count as u32))
    }

    #[inline]
    fn minus(self, count: u32) -> Self {
        Self(self.0.wrapping_sub(2 * count))
    }

    /// Returns how far this lies after `other`, which is at or before it.
    #[inline]
    fn after(self, other: Self) -> usize {
        (self.0.wrapping_sub(other.0) / 2) as usize
    }

    /// Distances are far below half of the range.
    #[inline]
    fn is_at_or_after(self, other: Self) -> bool {
        self.0.wrapping_sub(other.0) as i32 >= 0
    }
}

impl From<u64> for Word {
    #[inline]
    fn from(bits: u64) -> Self {
        Self {
            top: Position((bits >> 32) as u32),
            split: Position(bits as u32 & !1),
            unproven: bits & 1 != 0,
        }
    }
}

impl From<Word> for u64 {
    #[inline]
    fn from(word: Word) -> Self {
        u64::from(word.top.0) << 32 | u64::from(word.split.0) | u64::from(word.unproven)
    }
}

#[cfg(test)]
#[path = "deque_tests.rs"]
mod tests;
