//! A work-stealing deque of task numbers (Chase and Lev, in the form of Lê, Pop, Cohen and
//! Zappa Nardelli, "Correct and efficient work-stealing for weak memory models", 2013).
//!
//! ```text
//!        top                      bottom
//!   . . . | oldest . . . . youngest | . . .
//!   thieves take here      the owner pushes and pops here
//! ```
//!
//! Items lie in a ring whose size doubles when it is full. Old rings stay until the deque is
//! dropped and are never written again, so a thief that still reads one finds the items that were
//! in it.
//!
//! Invariant: an item pushed is returned exactly once, by `pop` or by `steal`, provided that only
//! the owner calls `push` and `pop`.

use std::sync::OnceLock;

use crate::memory::CacheLine;
use crate::memory::model::atomic::{AtomicI64, AtomicU32, Ordering, fence};

#[cfg(not(raddle_loom))]
const FIRST_RING: usize = 256;
#[cfg(raddle_loom)]
const FIRST_RING: usize = 2;
const RINGS: usize = 24;

#[derive(Debug)]
pub(super) struct Deque {
    top: CacheLine<AtomicI64>,
    bottom: CacheLine<AtomicI64>,
    /// Index of the ring in use.
    current: AtomicU32,
    rings: [OnceLock<Box<[AtomicU32]>>; RINGS],
}

#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Steal {
    Item(u32),
    Empty,
    /// Another thief or the owner took the item first.
    Lost,
}

impl Deque {
    pub(super) fn new() -> Self {
        let deque = Self {
            top: CacheLine(AtomicI64::new(0)),
            bottom: CacheLine(AtomicI64::new(0)),
            current: AtomicU32::new(0),
            rings: [const { OnceLock::new() }; RINGS],
        };
        deque.rings[0].get_or_init(|| new_ring(FIRST_RING));
        deque
    }

    /// Adds an item; for the owner only.
    #[inline]
    pub(super) fn push(&self, item: u32) {
        let bottom = self.bottom.load(Ordering::Relaxed);
        // Acquire: pairs with the exchange in `steal`, so that a slot is reused only after the
        // thief has read it.
        let top = self.top.load(Ordering::Acquire);
        let mut ring = self.ring(self.current.load(Ordering::Relaxed));
        if bottom - top >= ring.len() as i64 {
            ring = self.grow(top, bottom);
        }
        slot(ring, bottom).store(item, Ordering::Relaxed);
        // Release: pairs with the load of `bottom` in `steal`; the thief sees the item and what
        // it names.
        self.bottom.store(bottom + 1, Ordering::Release);
    }

    /// Takes the youngest item; for the owner only.
    #[inline]
    pub(super) fn pop(&self) -> Option<u32> {
        let bottom = self.bottom.load(Ordering::Relaxed);
        // Thieves only raise `top`, so the deque is empty for certain.
        if self.top.load(Ordering::Relaxed) >= bottom {
            return None;
        }
        let bottom = bottom - 1;
        self.bottom.store(bottom, Ordering::Relaxed);
        // Between lowering `bottom` and reading `top`; pairs with the fence in `steal`. Without
        // it both parties could miss the other's move and take the same last item.
        fence(Ordering::SeqCst);
        let top = self.top.load(Ordering::Relaxed);
        if top > bottom {
            self.bottom.store(bottom + 1, Ordering::Relaxed);
            return None;
        }
        let item = slot(self.ring(self.current.load(Ordering::Relaxed)), bottom);
        let item = item.load(Ordering::Relaxed);
        if top < bottom {
            return Some(item);
        }
        // The last item: whoever raises `top` has it.
        let won =
            self.top.compare_exchange(top, top + 1, Ordering::SeqCst, Ordering::Relaxed).is_ok();
        self.bottom.store(bottom + 1, Ordering::Relaxed);
        won.then_some(item)
    }

    /// Takes the oldest item; for anyone.
    pub(super) fn steal(&self) -> Steal {
        let top = self.top.load(Ordering::Acquire);
        // Between reading `top` and `bottom`; pairs with the fence in `pop`.
        fence(Ordering::SeqCst);
        let bottom = self.bottom.load(Ordering::Acquire);
        if top >= bottom {
            return Steal::Empty;
        }
        // Acquire: pairs with the store in `grow`; the ring holds the items from `top` on.
        let ring = self.ring(self.current.load(Ordering::Acquire));
        let item = slot(ring, top).load(Ordering::Relaxed);
        // If `top` is still the same, nobody took the item and its slot was not reused.
        match self.top.compare_exchange(top, top + 1, Ordering::SeqCst, Ordering::Relaxed) {
            Ok(_) => Steal::Item(item),
            Err(_) => Steal::Lost,
        }
    }

    /// Returns about how many items there are.
    pub(super) fn len(&self) -> usize {
        let top = self.top.load(Ordering::Relaxed);
        (self.bottom.load(Ordering::Relaxed) - top).max(0) as usize
    }

    fn ring(&self, index: u32) -> &[AtomicU32] {
        self.rings[index as usize].get().expect("the current ring was made")
    }

    #[cold]
    fn grow(&self, top: i64, bottom: i64) -> &[AtomicU32] {
        let current = self.current.load(Ordering::Relaxed);
        let old = self.ring(current);
        let next = self.rings.get(current as usize + 1).expect("fewer tasks than the deque holds");
        let new = next.get_or_init(|| new_ring(old.len() * 2));
        for index in top..bottom {
            let item = slot(old, index).load(Ordering::Relaxed);
            slot(new, index).store(item, Ordering::Relaxed);
        }
        // Release: pairs with the load in `steal`.
        self.current.store(current + 1, Ordering::Release);
        new
    }
}

fn new_ring(len: usize) -> Box<[AtomicU32]> {
    std::iter::repeat_with(|| AtomicU32::new(0)).take(len).collect()
}

fn slot(ring: &[AtomicU32], index: i64) -> &AtomicU32 {
    &ring[index as usize & (ring.len() - 1)]
}

#[cfg(all(test, not(raddle_loom)))]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;
    use std::thread;

    #[test]
    fn the_owner_takes_the_youngest_and_thieves_the_oldest() {
        let deque = Deque::new();
        assert_eq!((deque.pop(), deque.steal()), (None, Steal::Empty));
        (0..1000).for_each(|item| deque.push(item));
        assert_eq!(deque.len(), 1000);
        assert_eq!((deque.pop(), deque.steal()), (Some(999), Steal::Item(0)));
        assert_eq!((deque.pop(), deque.steal()), (Some(998), Steal::Item(1)));
        assert!((2..998).rev().all(|item| deque.pop() == Some(item)));
        assert_eq!((deque.pop(), deque.steal()), (None, Steal::Empty));
    }

    #[test]
    fn every_item_is_taken_once() {
        const ITEMS: u32 = 200_000;
        let deque = Deque::new();
        let done = AtomicBool::new(false);
        let mut taken: Vec<u32> = thread::scope(|scope| {
            let thieves: Vec<_> = (0..3)
                .map(|_| {
                    scope.spawn(|| {
                        let mut taken = Vec::new();
                        loop {
                            match deque.steal() {
                                Steal::Item(item) => taken.push(item),
                                Steal::Lost => {}
                                Steal::Empty if done.load(Ordering::Acquire) => return taken,
                                Steal::Empty => thread::yield_now(),
                            }
                        }
                    })
                })
                .collect();
            let mut taken = Vec::new();
            for item in 0..ITEMS {
                deque.push(item);
                if item % 3 == 0 {
                    taken.extend(deque.pop());
                }
            }
            taken.extend(std::iter::from_fn(|| deque.pop()));
            done.store(true, Ordering::Release);
            for thief in thieves {
                taken.extend(thief.join().unwrap());
            }
            taken
        });
        taken.sort_unstable();
        assert!(taken.into_iter().eq(0..ITEMS));
    }
}

#[cfg(all(test, raddle_loom))]
mod models {
    use super::*;
    use loom::sync::Arc;
    use loom::thread;

    use crate::memory::model::explore as model;

    fn steal(deque: &Deque) -> Option<u32> {
        match deque.steal() {
            Steal::Item(item) => Some(item),
            Steal::Empty | Steal::Lost => None,
        }
    }

    /// The owner and a thief go for the last items; then more are pushed, so that the ring grows
    /// while the thief reads it.
    #[test]
    fn every_item_is_taken_once() {
        model(|| {
            let deque = Arc::new(Deque::new());
            deque.push(1);
            deque.push(2);
            let thief = thread::spawn({
                let deque = Arc::clone(&deque);
                move || [steal(&deque), steal(&deque)]
            });
            let mut taken: Vec<u32> = deque.pop().into_iter().collect();
            deque.push(3);
            deque.push(4);
            taken.extend(thief.join().unwrap().into_iter().flatten());
            taken.extend(std::iter::from_fn(|| deque.pop()));
            taken.sort_unstable();
            assert_eq!(taken, [1, 2, 3, 4]);
        });
    }

    #[test]
    fn two_thieves_and_the_owner_share_one_item() {
        model(|| {
            let deque = Arc::new(Deque::new());
            deque.push(1);
            let thieves = [0, 1].map(|_| {
                let deque = Arc::clone(&deque);
                thread::spawn(move || steal(&deque))
            });
            let mut taken: Vec<u32> = deque.pop().into_iter().collect();
            taken.extend(thieves.into_iter().filter_map(|thief| thief.join().unwrap()));
            taken.extend(deque.pop());
            assert_eq!(taken, [1]);
        });
    }
}
