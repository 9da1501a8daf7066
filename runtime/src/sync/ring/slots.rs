//! The slots of a ring, between one writer and one reader.
//!
//! ```text
//!          head                 tail
//!           v                    v
//!   free    |   filled, in order |   free          positions count up for ever;
//!           '-- at most `capacity` --'             a slot is a position modulo their number
//!
//! writer:  fill the slot at `tail`     (1)         reader:  empty the slot at `head`    (3)
//!          publish: tail + 1           (2)                  free: head + 1              (4)
//! ```
//!
//! Everything rests on (1) before (2) and (3) before (4): the reader touches a slot only after it
//! saw the tail beyond it, the writer only after it saw the head beyond its last use. The models
//! below fail if either order is swapped.
//!
//! Each end owns its word and remembers what it last saw of the other's, and looks again only when
//! that says full, or empty. So in a steady stream the ends rarely touch each other's lines.
//!
//! Invariant: slots from head to tail hold a value, all others none.
//!
//! Not here: waiting, and what happens when an end is gone.

#![expect(unsafe_code, reason = "moves values through uninitialised slots")]

use std::mem::MaybeUninit;

use crate::memory::CacheLine;
use crate::memory::model::atomic::{AtomicU64, Ordering};
use crate::memory::model::{Arc, UnsafeCell};

/// What the ends share.
struct Slots<T> {
    slots: Box<[UnsafeCell<MaybeUninit<T>>]>,
    capacity: u64,
    /// Written by the writer alone.
    tail: CacheLine<AtomicU64>,
    /// Written by the reader alone.
    head: CacheLine<AtomicU64>,
}

// SAFETY: the ends move values of `T` from one thread to another, and never share one; which end
// may touch which slot is said by the positions.
unsafe impl<T: Send> Sync for Slots<T> {}

// SAFETY: as above; a pointer to the slots is all an end has.
unsafe impl<T: Send> Send for Slots<T> {}

/// The end that fills slots.
pub(super) struct Writer<T> {
    slots: Arc<Slots<T>>,
    tail: u64,
    /// A head that was seen; the real one is there or further on.
    seen_head: u64,
}

/// The end that empties slots.
pub(super) struct Reader<T> {
    slots: Arc<Slots<T>>,
    head: u64,
    /// A tail that was seen; the real one is there or further on.
    seen_tail: u64,
}

/// Creates slots for `capacity` values, at least one.
pub(super) fn slots<T>(capacity: usize) -> (Writer<T>, Reader<T>) {
    assert!(capacity > 0, "a ring holds at least one value");
    let number = capacity.checked_next_power_of_two().expect("the capacity fits in memory");
    let slots = Arc::new(Slots {
        slots: (0..number).map(|_| UnsafeCell::new(MaybeUninit::uninit())).collect(),
        capacity: capacity as u64,
        tail: CacheLine(AtomicU64::new(0)),
        head: CacheLine(AtomicU64::new(0)),
    });
    let writer = Writer { slots: Arc::clone(&slots), tail: 0, seen_head: 0 };
    (writer, Reader { slots, head: 0, seen_tail: 0 })
}

impl<T> Writer<T> {
    /// Adds a value at the end, or returns it if there is no room.
    #[inline]
    pub(super) fn push(&mut self, value: T) -> Result<(), T> {
        if self.is_full() {
            return Err(value);
        }
        let next = self.tail + 1;
        // SAFETY: the slot is free, by `is_full`, and this is the only writer.
        unsafe { self.slots.fill(self.tail, value) };
        self.slots.publish(next);
        self.tail = next;
        Ok(())
    }

    /// Returns whether there is no room; the reader may make some at any time.
    #[inline]
    pub(super) fn is_full(&mut self) -> bool {
        if self.tail - self.seen_head < self.slots.capacity {
            return false;
        }
        // Acquire: pairs with `free`; the slots before the head are empty.
        self.seen_head = self.slots.head.load(Ordering::Acquire);
        self.tail - self.seen_head == self.slots.capacity
    }

    pub(super) fn capacity(&self) -> usize {
        self.slots.capacity as usize
    }
}

impl<T> Reader<T> {
    /// Takes the first value out.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<T> {
        if self.head == self.seen_tail {
            // Acquire: pairs with `publish`; the slots before the tail are filled.
            self.seen_tail = self.slots.tail.load(Ordering::Acquire);
            if self.head == self.seen_tail {
                return None;
            }
        }
        let next = self.head + 1;
        // SAFETY: the slot is filled, for the tail is beyond it, and this is the only reader.
        let value = unsafe { self.slots.empty(self.head) };
        self.slots.free(next);
        self.head = next;
        Some(value)
    }

    pub(super) fn capacity(&self) -> usize {
        self.slots.capacity as usize
    }
}

impl<T> Slots<T> {
    #[inline]
    fn slot(&self, position: u64) -> &UnsafeCell<MaybeUninit<T>> {
        &self.slots[position as usize & (self.slots.len() - 1)]
    }

    /// Stores a value.
    ///
    /// # Safety
    ///
    /// - The slot holds no value, and the caller has seen, with Acquire, the head that says so.
    /// - Nobody else fills slots.
    #[inline]
    unsafe fn fill(&self, position: u64, value: T) {
        self.slot(position).with_mut(|slot| {
            // SAFETY: the caller alone accesses the slot: the reader has left it, and comes back
            // only after `publish`.
            let slot = unsafe { &mut *slot };
            slot.write(value);
        });
    }

    /// Lets the reader have the slots before `tail`.
    #[inline]
    fn publish(&self, tail: u64) {
        // Release: pairs with the load in `pop`; who sees the position sees the value.
        self.tail.store(tail, Ordering::Release);
    }

    /// Takes a value out.
    ///
    /// # Safety
    ///
    /// - The slot holds a value, and the caller has seen, with Acquire, the tail that says so.
    /// - Nobody else empties slots, and the caller does this once for each position.
    #[inline]
    unsafe fn empty(&self, position: u64) -> T {
        self.slot(position).with_mut(|slot| {
            // SAFETY: the caller alone accesses the slot: the writer has published it, and comes
            // back only after `free`.
            let slot = unsafe { &mut *slot };
            // SAFETY: there is a value, and it is not read a second time.
            unsafe { slot.assume_init_read() }
        })
    }

    /// Lets the writer have the slots before `head` again.
    #[inline]
    fn free(&self, head: u64) {
        // Release: pairs with the load in `is_full`; who sees the position may write the slot.
        self.head.store(head, Ordering::Release);
    }
}

impl<T> Drop for Slots<T> {
    fn drop(&mut self) {
        let tail = self.tail.load(Ordering::Relaxed);
        for position in self.head.load(Ordering::Relaxed)..tail {
            // SAFETY: both ends are gone, and the end of the last reference to the slots comes after
            // all they did. The slots from head to tail hold values, each dropped once here.
            drop(unsafe { self.empty(position) });
        }
    }
}

#[cfg(all(test, raddle_loom))]
mod models {
    use super::*;
    use loom::thread;

    use crate::memory::model::explore;

    /// Sends `0..count` with `push`, and takes them with `pop`, which must come in order. A slot that
    /// both ends touch at once is found by loom's cells.
    fn values_come_in_order(
        capacity: usize,
        count: u32,
        push: fn(&mut Writer<u32>, u32) -> Result<(), u32>,
        pop: fn(&mut Reader<u32>) -> Option<u32>,
    ) {
        explore(move || {
            let (mut writer, mut reader) = slots(capacity);
            let writing = thread::spawn(move || {
                for value in 0..count {
                    while push(&mut writer, value).is_err() {
                        thread::yield_now();
                    }
                }
            });
            for expected in 0..count {
                let value = loop {
                    match pop(&mut reader) {
                        Some(value) => break value,
                        None => thread::yield_now(),
                    }
                };
                assert_eq!(value, expected);
            }
            writing.join().unwrap();
        });
    }

    #[test]
    fn one_slot() {
        values_come_in_order(1, 3, Writer::push, Reader::pop);
    }

    #[test]
    fn two_slots() {
        values_come_in_order(2, 3, Writer::push, Reader::pop);
    }

    /// Four slots of which three are used.
    #[test]
    fn three_of_four_slots() {
        values_come_in_order(3, 4, Writer::push, Reader::pop);
    }

    /// What is not taken is dropped with the last end, whichever that is.
    #[test]
    fn what_is_left_is_dropped_once() {
        explore(|| {
            let value = Arc::new(());
            let (mut writer, mut reader) = slots(2);
            let sent = Arc::clone(&value);
            let writing = thread::spawn(move || {
                for _ in 0..2 {
                    assert!(writer.push(Arc::clone(&sent)).is_ok());
                }
            });
            drop(reader.pop());
            drop(reader);
            writing.join().unwrap();
            assert_eq!(Arc::strong_count(&value), 1);
        });
    }

    /// The planted bug: the position is published before the slot is filled.
    #[test]
    #[should_panic(expected = "Causality violation")]
    fn early_publication_is_caught() {
        fn publish_early(writer: &mut Writer<u32>, value: u32) -> Result<(), u32> {
            if writer.is_full() {
                return Err(value);
            }
            writer.slots.publish(writer.tail + 1);
            // SAFETY: none; loom is to say so.
            unsafe { writer.slots.fill(writer.tail, value) };
            writer.tail += 1;
            Ok(())
        }
        values_come_in_order(1, 3, publish_early, Reader::pop);
    }

    /// The planted bug: the slot is freed before it is emptied.
    #[test]
    #[should_panic(expected = "Causality violation")]
    fn early_freeing_is_caught() {
        fn free_early(reader: &mut Reader<u32>) -> Option<u32> {
            reader.seen_tail = reader.slots.tail.load(Ordering::Acquire);
            if reader.head == reader.seen_tail {
                return None;
            }
            reader.slots.free(reader.head + 1);
            // SAFETY: none; loom is to say so.
            let value = unsafe { reader.slots.empty(reader.head) };
            reader.head += 1;
            Some(value)
        }
        values_come_in_order(1, 3, Writer::push, free_early);
    }
}
