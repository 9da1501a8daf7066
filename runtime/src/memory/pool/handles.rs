//! Pooled objects whose names outlive their use: a stale name is told from a current one.
//!
//! ```text
//!               take: Held            give
//! free, g ---------------------> taken, g ------> free, g + 1     (a handle to g is stale now)
//!                                   `----- g + 1 is the last: the object is never taken again
//! ```
//!
//! The generation stands beside the object, so that whoever looks at one has the other in its
//! processor's cache. A [`Pool`] by itself has no generations, and pays for none.
//!
//! Only whoever has the [`Held`], of which there is one, ends a generation. So that takes no
//! exchange, and nothing can be given back twice.
//!
//! Reading by a handle is a bet that the object stays: what was read counts only if the generation
//! is still the same afterwards, as with a sequence lock (Boehm, "Can seqlocks get along with
//! programming language memory models?", 2012). The fences in `Slot::begin` and `Slot::read` make that sound: who
//! has read something of a later generation sees that the earlier one ended.

use std::fmt;

use super::{Cache, Pool, PoolCounters};
use crate::memory::model::atomic::{AtomicU32, Ordering, fence};

/// A pool of objects of type `T` with names that can be kept.
///
/// # Examples
///
/// ```
/// use raddle::memory::{Cache, HandlePool};
/// use std::sync::atomic::{AtomicU32, Ordering};
///
/// let pool = HandlePool::<AtomicU32>::new(1000);
/// let mut cache = Cache::new();
/// let held = pool.take(&mut cache).expect("999 are left");
/// let handle = held.handle();
/// pool.get(&held).store(7, Ordering::Relaxed);
/// assert_eq!(pool.read(handle, |number| number.load(Ordering::Relaxed)), Some(7));
///
/// pool.give(&mut cache, held);
/// let next = pool.take(&mut cache).expect("it is the same object");
/// assert!(pool.resolve(handle).is_none());
/// assert!(pool.resolve(next.handle()).is_some());
/// ```
pub struct HandlePool<T> {
    pool: Pool<Slot<T>>,
}

/// Names one use of an object of a [`HandlePool`].
///
/// # Examples
///
/// See [`HandlePool`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Handle {
    number: u32,
    generation: u32,
}

/// The use of an object of a [`HandlePool`], to be ended by [`HandlePool::give`].
///
/// # Examples
///
/// See [`HandlePool`].
#[must_use = "the object stays taken unless it is given back"]
#[derive(Debug, PartialEq, Eq)]
pub struct Held {
    handle: Handle,
}

#[derive(Default)]
struct Slot<T> {
    generation: AtomicU32,
    object: T,
}

impl Held {
    /// Returns the name of this use, which may be kept by anyone for any time.
    pub fn handle(&self) -> Handle {
        self.handle
    }
}

impl<T: Default> HandlePool<T> {
    /// Creates a pool of at most `limit` objects; see [`Pool::new`].
    pub fn new(limit: u32) -> Self {
        Self { pool: Pool::new(limit) }
    }

    /// Creates a pool of at most `limit` objects on several nodes; see [`Pool::with_nodes`].
    ///
    /// # Panics
    ///
    /// Panics if there is no node, or more than 256.
    pub fn with_nodes(limit: u32, nodes: usize) -> Self {
        Self { pool: Pool::with_nodes(limit, nodes) }
    }

    /// Takes an object; see [`Pool::take`].
    pub fn take(&self, cache: &mut Cache) -> Option<Held> {
        let number = self.pool.take(cache)?;
        let generation = self.pool.get(number).begin();
        Some(Held { handle: Handle { number, generation } })
    }

    /// Gives an object back; from now on its handles are stale.
    ///
    /// # Panics
    ///
    /// Panics if the object is of another pool that has made more of them.
    pub fn give(&self, cache: &mut Cache, held: Held) {
        let Handle { number, generation } = held.handle;
        match self.pool.get(number).end(generation) {
            Next::Use => self.pool.give(cache, number),
            Next::Nothing => {}
        }
    }

    /// Ends a worker's part in the pool; see [`Pool::drain`].
    ///
    /// # Panics
    ///
    /// Panics if the cache is another pool's.
    pub fn drain(&self, cache: Cache) {
        self.pool.drain(cache);
    }
}

impl<T> HandlePool<T> {
    /// Returns the object that the caller has.
    ///
    /// # Panics
    ///
    /// Panics if the object is of another pool that has made more of them.
    pub fn get(&self, held: &Held) -> &T {
        &self.pool.get(held.handle.number).object
    }

    /// Returns the object that `handle` names; `None` if it was given back.
    ///
    /// It may be given back at any time after; where the caller cannot exclude that, use
    /// [`read`](Self::read).
    pub fn resolve(&self, handle: Handle) -> Option<&T> {
        let slot = self.pool.find(handle.number)?;
        slot.is(handle.generation).then_some(&slot.object)
    }

    /// Returns what `read` finds in the object that `handle` names; `None` if it was given back,
    /// even if that happened while `read` was looking.
    pub fn read<R>(&self, handle: Handle, read: impl FnOnce(&T) -> R) -> Option<R> {
        self.pool.find(handle.number)?.read(handle.generation, read)
    }

    /// Returns how requests were served so far.
    pub fn counters(&self) -> PoolCounters {
        self.pool.counters()
    }
}

/// What an object that is given back is good for.
#[must_use]
#[derive(Debug, PartialEq, Eq)]
enum Next {
    Use,
    /// Another use could not be told from the first.
    Nothing,
}

impl<T> Slot<T> {
    /// Returns the generation that begins.
    fn begin(&self) -> u32 {
        // Only whoever has the object changes it, and we do.
        let generation = self.generation.load(Ordering::Relaxed);
        // Pairs with the fence in `read`: who reads what is written from here on will see that
        // the generation before has ended.
        fence(Ordering::Release);
        generation
    }

    fn end(&self, generation: u32) -> Next {
        let next = generation + 1;
        self.generation.store(next, Ordering::Relaxed);
        if next == u32::MAX { Next::Nothing } else { Next::Use }
    }

    fn is(&self, generation: u32) -> bool {
        self.generation.load(Ordering::Relaxed) == generation
    }

    fn read<R>(&self, generation: u32, read: impl FnOnce(&T) -> R) -> Option<R> {
        if !self.is(generation) {
            return None;
        }
        let result = read(&self.object);
        // Pairs with the fence in `begin`.
        fence(Ordering::Acquire);
        self.is(generation).then_some(result)
    }
}

impl<T> fmt::Debug for HandlePool<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HandlePool").field("pool", &self.pool).finish()
    }
}

#[cfg(all(test, not(raddle_loom)))]
mod tests {
    use super::*;

    #[test]
    fn stale_handles_are_told() {
        let pool = HandlePool::<AtomicU32>::new(1);
        let mut cache = Cache::new();
        let mut stale: Vec<Handle> = Vec::new();
        for use_number in 0..100 {
            let held = pool.take(&mut cache).unwrap();
            pool.get(&held).store(use_number, Ordering::Relaxed);
            let read = |handle| pool.read(handle, |object| object.load(Ordering::Relaxed));
            assert_eq!(read(held.handle()), Some(use_number));
            assert!(pool.resolve(held.handle()).is_some());
            assert!(stale.iter().all(|&handle| pool.resolve(handle).is_none()));
            assert!(stale.iter().all(|&handle| read(handle).is_none()));
            stale.push(held.handle());
            pool.give(&mut cache, held);
            assert!(pool.resolve(stale[use_number as usize]).is_none(), "already when it is free");
        }
        assert!(pool.resolve(Handle { number: 1 << 20, generation: 0 }).is_none());
    }

    #[test]
    fn an_object_that_ends_while_it_is_read_was_not_read() {
        let pool = HandlePool::<AtomicU32>::new(1);
        let mut cache = Cache::new();
        let held = pool.take(&mut cache).unwrap();
        let handle = held.handle();
        assert_eq!(pool.read(handle, |_| pool.give(&mut cache, held)), None);
    }

    #[test]
    fn generations_never_repeat() {
        let pool = HandlePool::<AtomicU32>::new(1);
        let mut cache = Cache::new();
        let first = pool.take(&mut cache).unwrap();
        pool.pool.get(0).generation.store(u32::MAX - 1, Ordering::Relaxed);
        let last = Held { handle: Handle { number: 0, generation: u32::MAX - 1 } };
        assert!(pool.resolve(last.handle()).is_some());
        pool.give(&mut cache, last);
        assert_eq!(pool.take(&mut cache), None, "its generations are used up");
        assert!(pool.resolve(first.handle()).is_none());
    }
}

#[cfg(all(test, raddle_loom))]
mod models {
    use super::*;
    use loom::sync::Arc;
    use loom::thread;

    use crate::memory::model::explore as model;

    /// One reads by a handle while others end the use, and begin another on another thread.
    #[test]
    fn nothing_of_a_later_use_is_read() {
        model(|| {
            let slot = Arc::new(Slot::<[AtomicU32; 2]>::default());
            let first = slot.begin();
            slot.object.iter().for_each(|part| part.store(1, Ordering::Relaxed));
            let reader = thread::spawn({
                let slot = Arc::clone(&slot);
                move || slot.read(first, |object| [0, 1].map(|n| object[n].load(Ordering::Relaxed)))
            });
            assert_eq!(slot.end(first), Next::Use);
            let next = thread::spawn({
                let slot = Arc::clone(&slot);
                move || {
                    slot.begin();
                    slot.object.iter().for_each(|part| part.store(2, Ordering::Relaxed));
                }
            });
            let read = reader.join().unwrap();
            assert!(read.is_none() || read == Some([1, 1]), "{read:?}");
            next.join().unwrap();
        });
    }
}
