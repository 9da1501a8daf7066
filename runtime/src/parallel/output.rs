//! Where the results of many tasks arrive, in order, without being moved again.
//!
//! ```text
//! vector's spare capacity   |  .  .  .  .  |  .  .  .  .  |     slots, cut like the items
//!                           |  r  r  .  .  |  r  r  r  r  |     each task fills its own from the left
//! all made: append          |  r  r  r  r     r  r  r  r  |     the vector gets its length
//! ```
//!
//! What always holds: a [`Made`] owns the results in its slots, and drops them if a panic keeps it
//! from being appended; every slot belongs to one `Filling` or one `Made`. The vector has no length
//! until one `Made` has all.

#![expect(unsafe_code, reason = "writes results into the spare capacity of a vector")]

use std::marker::PhantomData;
use std::mem;
use std::ptr;

use super::source::Split;

/// Items, and a slot for what will be made of each.
#[derive(Debug)]
pub(super) struct Filling<'vector, P, R> {
    items: P,
    /// As many slots as items, not written yet, from here on.
    first: *mut R,
    vector: PhantomData<&'vector mut Vec<R>>,
}

/// Results that lie one after the other in a vector's spare capacity.
#[derive(Debug)]
pub(super) struct Made<'vector, R> {
    first: *mut R,
    count: usize,
    vector: PhantomData<&'vector mut Vec<R>>,
}

// SAFETY: no other value has the slots, which are places for an `R` each; so this is sent like the
// items and a vector of `R`.
unsafe impl<P: Send, R: Send> Send for Filling<'_, P, R> {}

// SAFETY: it owns its results and nobody else reaches them, like a vector of `R`.
unsafe impl<R: Send> Send for Made<'_, R> {}

/// Returns what `fill` makes of the items and their slots.
///
/// # Panics
///
/// Panics if memory cannot hold the results, or if they are not all there.
pub(super) fn collect<P: Split, R>(
    items: P,
    fill: impl for<'vector> FnOnce(Filling<'vector, P, R>) -> Made<'vector, R>,
) -> Vec<R> {
    let count = usize::try_from(items.length()).expect("a vector cannot hold so many results");
    let mut vector = Vec::with_capacity(count);
    let first: *mut R = vector.as_mut_ptr();
    let made = fill(Filling { items, first, vector: PhantomData });
    assert!(ptr::eq(made.first, first) && made.count == count, "every item has its result");
    mem::forget(made);
    // SAFETY: `Made` had `count` results from the first slot on, as was just seen, and has not
    // dropped them. The capacity is at least `count`.
    unsafe { vector.set_len(count) };
    vector
}

impl<'vector, P, R> Filling<'vector, P, R> {
    /// Fills the slots with what `function` makes of the items.
    pub(super) fn fill(self, mut function: impl FnMut(P::Item) -> R) -> Made<'vector, R>
    where
        P: Split + IntoIterator,
    {
        let count = self.items.length() as usize;
        // Owns what is written so far, should `function` panic.
        let mut made = Made { first: self.first, count: 0, vector: PhantomData };
        for item in self.items.into_iter().take(count) {
            let result = function(item);
            // SAFETY: there are as many slots as the items had before they were iterated, and
            // fewer are written.
            let slot = unsafe { made.first.add(made.count) };
            // SAFETY: `Filling` had the slot alone, inside the vector's capacity.
            unsafe { slot.write(result) };
            made.count += 1;
        }
        made
    }
}

impl<P: Split, R: Send> Split for Filling<'_, P, R> {
    #[inline]
    fn length(&self) -> u64 {
        self.items.length()
    }

    fn split_at(self, at: u64) -> (Self, Self) {
        assert!(at <= self.length(), "a part is not larger than the whole");
        let (front, back) = self.items.split_at(at);
        // SAFETY: there are at least `at` slots, all in one vector.
        let middle = unsafe { self.first.add(at as usize) };
        (
            Self { items: front, first: self.first, vector: PhantomData },
            Self { items: back, first: middle, vector: PhantomData },
        )
    }
}

impl<R> Made<'_, R> {
    /// Returns these results and the `other` ones, which follow them.
    ///
    /// # Panics
    ///
    /// Panics if the others lie elsewhere.
    pub(super) fn append(mut self, other: Self) -> Self {
        let end = self.first.wrapping_add(self.count);
        assert!(ptr::eq(end, other.first), "neighbours are appended");
        self.count += other.count;
        mem::forget(other);
        self
    }
}

impl<R> Drop for Made<'_, R> {
    fn drop(&mut self) {
        let results = ptr::slice_from_raw_parts_mut(self.first, self.count);
        // SAFETY: `count` slots from the first on are written and belong to this value, which is
        // dropped once. Those that were appended lie in the same vector, and `first` was derived
        // from a pointer to all of it.
        unsafe { ptr::drop_in_place(results) };
    }
}
