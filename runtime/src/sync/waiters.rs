//! A line of waiting futures: the first to come is the first to be notified.
//!
//! ```text
//! push                 notify_first              look
//! -----> Waiting, in line --------> Notified, out of line -----> place given back
//!           |                           |
//!           '---------- leave ----------'----------------------> place given back
//! ```
//!
//! A waiter that leaves learns whether it had been notified, and then passes that on: so no
//! notification is lost with a future that is dropped.
//!
//! Invariant: every place belongs to one future, from `push` until that future gives it back. The
//! places are used again, so there are never more than there were waiters at one time.
//!
//! Not here: the lock around the line, and what a notification means. Wakers are handed out rather
//! than woken or dropped, because either may run anything and the caller holds that lock.

use std::mem;
use std::task::Waker;

const NONE: u32 = u32::MAX;

/// The waiters, in their order.
#[derive(Debug)]
pub(super) struct Waiters {
    entries: Vec<Entry>,
    free: u32,
    first: u32,
    last: u32,
    in_line: u32,
}

#[derive(Debug)]
struct Entry {
    state: State,
    before: u32,
    /// The next one in line, or the next free one.
    after: u32,
}

#[derive(Debug)]
enum State {
    Free,
    Waiting(Waker),
    Notified,
}

/// A waiter's own entry.
#[derive(Debug)]
pub(super) struct Place(u32);

/// What a waiter finds at its place.
#[must_use = "a notification must be acted upon or passed on"]
#[derive(Debug)]
pub(super) enum Seen {
    /// It was notified, and its place is given back.
    Notified,
    /// It was not; here is its old waker if there is no more use for it.
    Waiting(Option<Waker>),
}

impl Waiters {
    pub(super) const fn new() -> Self {
        Self { entries: Vec::new(), free: NONE, first: NONE, last: NONE, in_line: 0 }
    }

    /// Returns how many are in line.
    pub(super) fn len(&self) -> u32 {
        self.in_line
    }

    /// Puts a waiter at the end of the line.
    pub(super) fn push(&mut self, waker: &Waker) -> Place {
        let last = self.last;
        self.insert(last, NONE, waker)
    }

    /// Puts a waiter before all others.
    pub(super) fn push_front(&mut self, waker: &Waker) -> Place {
        let first = self.first;
        self.insert(NONE, first, waker)
    }

    fn insert(&mut self, before: u32, after: u32, waker: &Waker) -> Place {
        let entry = Entry { state: State::Waiting(waker.clone()), before, after };
        let index = match self.free {
            NONE => {
                let index = u32::try_from(self.entries.len()).ok().filter(|&index| index < NONE);
                self.entries.push(entry);
                index.expect("fewer than 2^32 futures wait for one thing")
            }
            index => {
                self.free = self.entry(index).after;
                *self.entry(index) = entry;
                index
            }
        };
        *self.after(before) = index;
        *self.before(after) = index;
        self.in_line += 1;
        Place(index)
    }

    /// Notifies the first in line, and returns its waker.
    #[must_use = "the notified future is to be woken"]
    pub(super) fn notify_first(&mut self) -> Option<Waker> {
        let index = self.first;
        if index == NONE {
            return None;
        }
        self.unlink(index);
        match mem::replace(&mut self.entry(index).state, State::Notified) {
            State::Waiting(waker) => Some(waker),
            State::Free | State::Notified => unreachable!("who is in line waits"),
        }
    }

    /// Looks whether the waiter was notified; if not, its next notification goes to `waker`.
    pub(super) fn look(&mut self, place: &mut Option<Place>, waker: &Waker) -> Seen {
        let index = place.as_ref().expect("a waiter has its place until it is notified").0;
        match &mut self.entry(index).state {
            State::Waiting(old) if old.will_wake(waker) => Seen::Waiting(None),
            State::Waiting(old) => Seen::Waiting(Some(mem::replace(old, waker.clone()))),
            State::Notified | State::Free => {
                *place = None;
                self.give_back(index);
                Seen::Notified
            }
        }
    }

    /// Takes back a place, whose waiter waits no longer.
    pub(super) fn leave(&mut self, place: Place) -> Seen {
        let index = place.0;
        if matches!(self.entry(index).state, State::Waiting(_)) {
            self.unlink(index);
        }
        match self.give_back(index) {
            State::Waiting(waker) => Seen::Waiting(Some(waker)),
            State::Notified | State::Free => Seen::Notified,
        }
    }

    fn give_back(&mut self, index: u32) -> State {
        let free = Entry { state: State::Free, before: NONE, after: self.free };
        self.free = index;
        mem::replace(self.entry(index), free).state
    }

    fn unlink(&mut self, index: u32) {
        let (before, after) = (self.entry(index).before, self.entry(index).after);
        *self.after(before) = after;
        *self.before(after) = before;
        self.in_line -= 1;
    }

    /// Returns the word that says who comes after `index`.
    fn after(&mut self, index: u32) -> &mut u32 {
        match index {
            NONE => &mut self.first,
            index => &mut self.entry(index).after,
        }
    }

    /// Returns the word that says who comes before `index`.
    fn before(&mut self, index: u32) -> &mut u32 {
        match index {
            NONE => &mut self.last,
            index => &mut self.entry(index).before,
        }
    }

    fn entry(&mut self, index: u32) -> &mut Entry {
        &mut self.entries[index as usize]
    }
}

#[cfg(all(test, not(raddle_loom)))]
mod tests {
    use super::*;
    use std::collections::VecDeque;

    /// Compares with a plain queue, over steps that a simple generator chooses.
    #[test]
    fn the_line_keeps_its_order_whoever_leaves() {
        let waker = Waker::noop();
        let mut waiters = Waiters::new();
        let mut line: VecDeque<(u32, Place)> = VecDeque::new();
        let mut notified: Vec<Place> = Vec::new();
        let (mut random, mut most) = (1u32, 0);
        for step in 0..20_000 {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let choice = (random >> 16) as usize;
            match choice % 6 {
                5 => line.push_front((step, waiters.push_front(waker))),
                0 | 1 => line.push_back((step, waiters.push(waker))),
                2 => {
                    assert_eq!(waiters.notify_first().is_some(), !line.is_empty());
                    notified.extend(line.pop_front().map(|(_, place)| place));
                }
                3 if !line.is_empty() => {
                    let (_, place) = line.remove(choice % line.len()).unwrap();
                    assert!(matches!(waiters.leave(place), Seen::Waiting(Some(_))));
                }
                _ => {
                    if let Some(place) = notified.pop() {
                        assert!(matches!(waiters.look(&mut Some(place), waker), Seen::Notified));
                    }
                }
            }
            if line.len() > 20 {
                assert!(matches!(waiters.leave(line.pop_back().unwrap().1), Seen::Waiting(_)));
            }
            most = most.max(line.len() + notified.len());
            assert_eq!(waiters.len() as usize, line.len());
            let order: Vec<u32> = line.iter().map(|(_, place)| place.0).collect();
            let mut index = waiters.first;
            for expected in order {
                assert_eq!(index, expected);
                index = waiters.entries[index as usize].after;
            }
            assert_eq!(index, NONE);
        }
        assert!(waiters.entries.len() <= most + 1, "{} > {most}", waiters.entries.len());
    }
}
