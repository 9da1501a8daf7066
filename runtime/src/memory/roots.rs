//! Values that are held outside of a managed heap, where a collector finds them.
//!
//! Each root is a pooled slot of one word, 0 while it is free. A [`Root`] clears its slot when it
//! is dropped, so what a collector sees is what is held.
//!
//! Not here: stopping whoever holds roots while a collector looks.

use std::fmt;
use std::marker::PhantomData;
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{Cache, Pool, PoolCounters};

/// A value of one word, other than 0.
///
/// # Examples
///
/// ```
/// use raddle::memory::{Cache, RootWord, Roots};
/// use std::num::NonZeroU64;
///
/// /// A place in a heap, counted from 0.
/// #[derive(Clone, Copy, Debug, PartialEq)]
/// struct Place(u32);
///
/// impl RootWord for Place {
///     fn to_word(self) -> NonZeroU64 {
///         NonZeroU64::MIN.saturating_add(self.0.into())
///     }
///
///     fn from_word(word: NonZeroU64) -> Self {
///         Self((word.get() - 1) as u32)
///     }
/// }
///
/// let roots = Roots::new(10);
/// let root = roots.hold(&mut Cache::new(), Place(0)).expect("nine are left");
/// roots.update(|Place(old)| Place(old + 8));
/// assert_eq!(root.get(), Place(8));
/// ```
pub trait RootWord: Copy {
    /// Returns the word for this value.
    fn to_word(self) -> NonZeroU64;

    /// Returns the value for a word that [`to_word`](Self::to_word) returned, or a collector's
    /// [`Roots::update`].
    fn from_word(word: NonZeroU64) -> Self;
}

impl RootWord for NonZeroU64 {
    fn to_word(self) -> NonZeroU64 {
        self
    }

    fn from_word(word: NonZeroU64) -> Self {
        word
    }
}

/// The roots of a managed heap: all values that are held outside of it.
///
/// # Examples
///
/// ```
/// use raddle::memory::{Cache, Roots};
/// use std::num::NonZeroU64;
///
/// let roots = Roots::<NonZeroU64>::new(1000);
/// let mut cache = Cache::new();
/// let value = NonZeroU64::new(7).unwrap();
/// let root = roots.hold(&mut cache, value).expect("999 are left");
/// assert_eq!(root.get(), value);
/// assert_eq!(roots.iter().collect::<Vec<_>>(), [value]);
/// drop(root);
/// assert_eq!(roots.iter().count(), 0);
/// ```
///
/// A root does not outlive its heap's roots:
///
/// ```compile_fail,E0505
/// # use raddle::memory::{Cache, Roots};
/// # use std::num::NonZeroU64;
/// let roots = Roots::<NonZeroU64>::new(1000);
/// let root = roots.hold(&mut Cache::new(), NonZeroU64::MIN).unwrap();
/// drop(roots);
/// root.get();
/// ```
pub struct Roots<T> {
    slots: Pool<AtomicU64>,
    values: PhantomData<fn(T) -> T>,
}

/// Holds a value; dropping it lets go.
///
/// # Examples
///
/// See [`Roots`].
#[must_use = "a value is held only as long as its root"]
pub struct Root<'r, T: RootWord> {
    roots: &'r Roots<T>,
    number: u32,
}

impl<T: RootWord> Roots<T> {
    /// Creates room for at most `limit` roots at a time.
    pub fn new(limit: u32) -> Self {
        Self { slots: Pool::new(limit), values: PhantomData }
    }

    /// Holds `value` until the root is dropped; `None` if the limit is reached.
    pub fn hold(&self, cache: &mut Cache, value: T) -> Option<Root<'_, T>> {
        Some(self.fill(self.slots.take(cache)?, value))
    }

    /// Like [`hold`](Self::hold), for callers without a cache.
    pub fn hold_shared(&self, value: T) -> Option<Root<'_, T>> {
        Some(self.fill(self.slots.take_shared()?, value))
    }

    fn fill(&self, number: u32, value: T) -> Root<'_, T> {
        // Release: pairs with `iter` and `update`; the collector finds what the value refers to.
        self.slots.get(number).store(value.to_word().get(), Ordering::Release);
        Root { roots: self, number }
    }

    /// Returns all values that are held.
    ///
    /// Of those that others begin or cease to hold meanwhile, some may be missing.
    pub fn iter(&self) -> impl Iterator<Item = T> {
        // Acquire: pairs with `fill`.
        let words = self.slots.iter().map(|(_, slot)| slot.load(Ordering::Acquire));
        words.filter_map(NonZeroU64::new).map(T::from_word)
    }

    /// Replaces all values that are held, for a collector that moves what they refer to.
    ///
    /// Nobody else may hold or let go of values meanwhile: a root that is dropped while its value
    /// is replaced would leave the new one behind, for good.
    pub fn update(&self, mut moved: impl FnMut(T) -> T) {
        for (_, slot) in self.slots.iter() {
            if let Some(word) = NonZeroU64::new(slot.load(Ordering::Acquire)) {
                slot.store(moved(T::from_word(word)).to_word().get(), Ordering::Release);
            }
        }
    }

    /// Ends a worker's part; see [`Pool::drain`].
    ///
    /// # Panics
    ///
    /// Panics if the cache is another pool's.
    pub fn drain(&self, cache: Cache) {
        self.slots.drain(cache);
    }

    /// Returns how requests were served so far.
    pub fn counters(&self) -> PoolCounters {
        self.slots.counters()
    }
}

impl<T: RootWord> Root<'_, T> {
    /// Returns the value.
    pub fn get(&self) -> T {
        let word = self.slot().load(Ordering::Acquire);
        T::from_word(NonZeroU64::new(word).expect("the slot is full as long as its root lives"))
    }

    /// Lets go of the value, and gives the slot back to a worker's own stock.
    ///
    /// Dropping the root gives it to the depot, which takes a lock.
    pub fn release(self, cache: &mut Cache) {
        self.slot().store(0, Ordering::Relaxed);
        self.roots.slots.give(cache, self.number);
        // The slot may be another root's already.
        std::mem::forget(self);
    }

    fn slot(&self) -> &AtomicU64 {
        self.roots.slots.get(self.number)
    }
}

impl<T: RootWord> Drop for Root<'_, T> {
    fn drop(&mut self) {
        // Cleared before it can be taken again.
        self.slot().store(0, Ordering::Relaxed);
        self.roots.slots.give_shared(self.number);
    }
}

impl<T> fmt::Debug for Roots<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Roots").field("slots", &self.slots).finish()
    }
}

impl<T: RootWord> fmt::Debug for Root<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Root").field(&self.number).finish()
    }
}
