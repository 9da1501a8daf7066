//! One entry of a [`OnceMap`](super::OnceMap): a key, and a value that one owner at a time computes.
//!
//! ```text
//! vacant --fill--> owned --finish--> storing --> done, for ever
//!                  ^   |
//!                claim give_up (error or panic), take_from (the owner is gone)
//!                  |   v
//!                  free
//! ```
//!
//! The state word of an owned entry holds the owner's number and a mark that somebody waits. The
//! mark is set only while the word names the owner, and whoever changes the word from that owner
//! to something else learns whether it was set. So no waiter is missed.
//!
//! What always holds:
//! - The key is written between the exchange *vacant → filling* and the store of what comes next,
//!   and never again. In all other states but these two it is there.
//! - The value is written between *owned → storing* and *done*, and never again. It is there in
//!   the state *done* only.
//!
//! Both exchanges succeed for one thread only, whatever the owners' numbers are: that an owner
//! is said to be gone while it is not may cost an assertion, not memory safety.
//!
//! Not here: waiting, and what finds the entry.

#![expect(unsafe_code, reason = "keeps key and value beside one state word, on one cache line")]

use std::mem::MaybeUninit;
use std::num::NonZeroU32;

use self::cell::Cell;
use crate::memory::model::atomic::{AtomicU64, Ordering};
use crate::memory::model::thread;

const VACANT: u64 = 0;
const WAITED: u64 = 1 << 32;
// The lower half of these is 0, which is no owner's number.
const FILLING: u64 = 2 << 32;
const FREE: u64 = 4 << 32;
const STORING: u64 = 8 << 32;
const DONE: u64 = 16 << 32;

/// A key and, once it has been computed, its value.
pub(super) struct Entry<K, V> {
    state: AtomicU64,
    key: Cell<MaybeUninit<K>>,
    value: Cell<MaybeUninit<V>>,
}

// SAFETY: key and value are written while nobody else reads them (see the states above), and
// then only shared.
unsafe impl<K: Send + Sync, V: Send + Sync> Sync for Entry<K, V> {}

/// What somebody finds who asks for the value.
#[must_use = "who has claimed the entry must finish it or give it up"]
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Claim<'a, V> {
    /// The value was there.
    Done(&'a V),
    /// The entry was free; now it is the caller's.
    Owned,
    /// It belongs to the owner with this number.
    Busy(NonZeroU32),
}

/// Whether somebody waited for an entry whose owner is done with it.
#[must_use = "who waits must be woken"]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Waiters {
    /// Nobody did.
    None,
    /// Some did, and wait to be woken.
    Some,
}

impl<K, V> Entry<K, V> {
    /// Stores the key and makes `owner` the one who computes the value.
    ///
    /// # Panics
    ///
    /// Panics if there is a key already.
    pub(super) fn fill(&self, key: K, owner: NonZeroU32) {
        let vacant =
            self.state.compare_exchange(VACANT, FILLING, Ordering::Relaxed, Ordering::Relaxed);
        assert!(vacant.is_ok(), "each entry is filled once");
        self.key.with_mut(|cell| {
            // SAFETY: the exchange above succeeds once, so nobody else writes the key, and nobody
            // reads it before the store below.
            let cell = unsafe { &mut *cell };
            cell.write(key);
        });
        // Release: pairs with the load in `key`.
        self.state.store(u64::from(owner.get()), Ordering::Release);
    }

    /// Returns the key, if it was stored.
    #[inline]
    pub(super) fn key(&self) -> Option<&K> {
        // Acquire: pairs with the store in `fill`.
        match self.state.load(Ordering::Acquire) {
            VACANT | FILLING => None,
            _ => Some(self.key.with(|cell| {
                // SAFETY: `fill` has come to its end, and nobody writes the key after that.
                let cell = unsafe { &*cell };
                // SAFETY: `fill` has written it.
                unsafe { cell.assume_init_ref() }
            })),
        }
    }

    /// Returns the value, if it was stored.
    #[inline]
    pub(super) fn value(&self) -> Option<&V> {
        // Acquire: pairs with the store in `finish`.
        if self.state.load(Ordering::Acquire) != DONE {
            return None;
        }
        Some(self.value.with(|cell| {
            // SAFETY: `finish` has come to its end, and nobody writes the value after that.
            let cell = unsafe { &*cell };
            // SAFETY: `finish` has written it.
            unsafe { cell.assume_init_ref() }
        }))
    }

    /// Returns the value, or makes `owner` the one who computes it if nobody else does.
    pub(super) fn claim(&self, owner: NonZeroU32) -> Claim<'_, V> {
        loop {
            if let Some(value) = self.value() {
                return Claim::Done(value);
            }
            match self.state.compare_exchange(
                FREE,
                u64::from(owner.get()),
                Ordering::Relaxed,
                Ordering::Relaxed,
            ) {
                Ok(_) => return Claim::Owned,
                Err(state) => match NonZeroU32::new(state as u32) {
                    Some(owner) => return Claim::Busy(owner),
                    // Done by now, or about to be: the value is just being moved to its place.
                    None => thread::yield_now(),
                },
            }
        }
    }

    /// Stores the value that `owner` has computed.
    ///
    /// # Panics
    ///
    /// Panics if `owner` does not own the entry.
    pub(super) fn finish(&self, owner: NonZeroU32, value: V) -> Waiters {
        let waiters = self.leave(owner, STORING).expect("only the owner stores a value");
        self.value.with_mut(|cell| {
            // SAFETY: no state leads to `STORING` for a second time, so nobody else writes the
            // value, and nobody reads it before the store below.
            let cell = unsafe { &mut *cell };
            cell.write(value);
        });
        // Release: pairs with the load in `value`.
        self.state.store(DONE, Ordering::Release);
        waiters
    }

    /// Makes the entry free for the next to ask, if it still belongs to `owner`.
    pub(super) fn give_up(&self, owner: NonZeroU32) -> Waiters {
        self.leave(owner, FREE).unwrap_or(Waiters::None)
    }

    /// Marks the entry as waited for, if it still belongs to `owner`.
    pub(super) fn mark_waited(&self, owner: NonZeroU32) -> bool {
        self.change(owner, |state| state | WAITED).is_some()
    }

    /// Returns a number that no other entry has at the same time.
    pub(super) fn address(&self) -> usize {
        (&raw const self.state).addr()
    }

    /// Ends the time in which the entry belongs to `owner`.
    fn leave(&self, owner: NonZeroU32, next: u64) -> Option<Waiters> {
        let before = self.change(owner, |_| next)?;
        Some(if before & WAITED == 0 { Waiters::None } else { Waiters::Some })
    }

    /// Changes the state while the entry belongs to `owner`; returns the state before.
    fn change(&self, owner: NonZeroU32, next: impl Fn(u64) -> u64) -> Option<u64> {
        let change = |state| if state as u32 == owner.get() { Some(next(state)) } else { None };
        // Whether there are waiters and what they see is decided by the order of changes of this
        // one word; the key was read through another `Acquire`.
        self.state.fetch_update(Ordering::Relaxed, Ordering::Relaxed, change).ok()
    }
}

impl<K, V> Default for Entry<K, V> {
    fn default() -> Self {
        Self {
            state: AtomicU64::new(VACANT),
            key: Cell::new(MaybeUninit::uninit()),
            value: Cell::new(MaybeUninit::uninit()),
        }
    }
}

impl<K, V> Drop for Entry<K, V> {
    fn drop(&mut self) {
        // Nothing can be half-written: who moves a key or value in borrows the entry.
        let state = self.state.load(Ordering::Relaxed);
        if state != VACANT {
            self.key.with_mut(|cell| {
                // SAFETY: `self` is borrowed mutably.
                let cell = unsafe { &mut *cell };
                // SAFETY: there is a key in all states but `VACANT` and `FILLING`.
                unsafe { cell.assume_init_drop() };
            });
        }
        if state == DONE {
            self.value.with_mut(|cell| {
                // SAFETY: `self` is borrowed mutably.
                let cell = unsafe { &mut *cell };
                // SAFETY: there is a value in the state `DONE`.
                unsafe { cell.assume_init_drop() };
            });
        }
    }
}

/// A cell whose uses are told to loom, when there is one.
#[cfg(raddle_loom)]
mod cell {
    pub(super) use loom::cell::UnsafeCell as Cell;
}

#[cfg(not(raddle_loom))]
mod cell {
    use std::cell::UnsafeCell;

    /// The standard cell, used as loom's is.
    pub(super) struct Cell<T>(UnsafeCell<T>);

    impl<T> Cell<T> {
        pub(super) const fn new(content: T) -> Self {
            Self(UnsafeCell::new(content))
        }

        #[inline]
        pub(super) fn with<R>(&self, read: impl FnOnce(*const T) -> R) -> R {
            read(self.0.get())
        }

        #[inline]
        pub(super) fn with_mut<R>(&self, write: impl FnOnce(*mut T) -> R) -> R {
            write(self.0.get())
        }
    }
}

#[cfg(all(test, not(raddle_loom)))]
mod tests {
    use super::*;

    const SEVEN: NonZeroU32 = NonZeroU32::new(7).unwrap();
    const EIGHT: NonZeroU32 = NonZeroU32::new(8).unwrap();

    #[test]
    fn a_small_entry_takes_less_than_a_cache_line() {
        assert!(size_of::<Entry<String, u64>>() <= 40);
    }

    #[test]
    fn states_follow_each_other() {
        let entry = Entry::<&str, u8>::default();
        assert_eq!((entry.key(), entry.value()), (None, None));
        entry.fill("a", SEVEN);
        assert_eq!((entry.key(), entry.value()), (Some(&"a"), None));
        assert_eq!(entry.claim(EIGHT), Claim::Busy(SEVEN));
        assert!(!entry.mark_waited(EIGHT) && entry.mark_waited(SEVEN));
        assert_eq!(entry.claim(EIGHT), Claim::Busy(SEVEN));
        assert_eq!(entry.give_up(EIGHT), Waiters::None);
        assert_eq!(entry.give_up(SEVEN), Waiters::Some);
        assert_eq!(entry.claim(EIGHT), Claim::Owned);
        assert_eq!(entry.finish(EIGHT, 1), Waiters::None);
        assert_eq!(entry.claim(SEVEN), Claim::Done(&1));
        assert!(!entry.mark_waited(EIGHT));
        assert_eq!((entry.key(), entry.value()), (Some(&"a"), Some(&1)));
    }

    #[test]
    #[should_panic(expected = "only the owner stores a value")]
    fn who_was_said_to_be_gone_stores_nothing() {
        let entry = Entry::<u8, u8>::default();
        entry.fill(0, SEVEN);
        assert_eq!(entry.give_up(SEVEN), Waiters::None);
        assert_eq!(entry.claim(EIGHT), Claim::Owned);
        let _waiters = entry.finish(SEVEN, 1);
    }

    #[test]
    fn keys_and_values_are_dropped_once() {
        use std::rc::Rc;

        let (key, value) = (Rc::new(()), Rc::new(()));
        let vacant = Entry::<Rc<()>, Rc<()>>::default();
        let free = Entry::<Rc<()>, Rc<()>>::default();
        let done = Entry::default();
        free.fill(Rc::clone(&key), SEVEN);
        assert_eq!(free.give_up(SEVEN), Waiters::None);
        done.fill(Rc::clone(&key), SEVEN);
        assert_eq!(done.finish(SEVEN, Rc::clone(&value)), Waiters::None);
        assert_eq!((Rc::strong_count(&key), Rc::strong_count(&value)), (3, 2));
        drop((vacant, free, done));
        assert_eq!((Rc::strong_count(&key), Rc::strong_count(&value)), (1, 1));
    }
}

#[cfg(all(test, raddle_loom))]
mod models {
    use loom::sync::Arc;
    use loom::thread;

    use super::*;
    use crate::memory::model::explore;

    const OWNER: NonZeroU32 = NonZeroU32::new(7).unwrap();

    #[test]
    fn who_sees_a_state_sees_what_it_stands_for() {
        explore(|| {
            let entry = Arc::new(Entry::<u32, u32>::default());
            let reader = thread::spawn({
                let entry = Arc::clone(&entry);
                move || {
                    assert!(matches!(entry.key(), None | Some(1)));
                    assert!(matches!(entry.value(), None | Some(2)));
                }
            });
            entry.fill(1, OWNER);
            let _nobody = entry.finish(OWNER, 2);
            reader.join().unwrap();
        });
    }
}
