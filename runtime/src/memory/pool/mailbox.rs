//! Where batches of freed objects wait for the worker whose they are.
//!
//! A mailbox has a few pigeonholes, each for a batch of numbers. A word says what they are at:
//!
//! ```text
//!         claim            publish             collect
//! free ----------> filling --------> full ----------------> free
//!                     `--- closed ---> free, and the sender keeps the batch
//! ```
//!
//! A sender claims a free pigeonhole, writes its numbers and publishes them; the owner collects a
//! full one when it needs numbers. That makes two exchanges for the sender and one for the owner,
//! whatever the size of the batch. A bit of the word says whether there is an owner: without one
//! there is nothing to claim, and a sender that finds it gone while it publishes withdraws. So
//! once the owner has left and emptied its mailbox, nothing is in there.
//!
//! Invariant: a pigeonhole is written by the one sender that claimed it, and read by the owner
//! while it is full.
//!
//! Not here: what a refused sender does.

use std::fmt;

use crate::memory::model::atomic::{AtomicU32, Ordering};

/// The most numbers in a batch.
#[cfg(not(raddle_loom))]
pub(super) const BATCH: usize = 64;
#[cfg(raddle_loom)]
pub(super) const BATCH: usize = 2;

#[cfg(not(raddle_loom))]
const HOLES: usize = 8;
#[cfg(raddle_loom)]
const HOLES: usize = 2;

const OPEN: u32 = 1 << 31;

/// One worker's mailbox. A new one has no owner.
#[derive(Default)]
pub(super) struct Mailbox {
    word: Word,
    holes: [Hole; HOLES],
}

/// `OPEN` if there is an owner; bit `n`: pigeonhole `n` is claimed; bit `HOLES + n`: it is full.
#[derive(Default)]
struct Word(AtomicU32);

#[repr(align(64))]
struct Hole {
    numbers: [AtomicU32; BATCH],
    count: AtomicU32,
}

/// What became of a batch.
#[must_use = "a refused batch is still the sender's"]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sent {
    /// The owner will find it.
    Delivered,
    /// There is no owner, or no room.
    Refused,
}

const fn claimed(hole: usize) -> u32 {
    1 << hole
}

const fn full(hole: usize) -> u32 {
    1 << (HOLES + hole)
}

impl Word {
    /// Claims a free pigeonhole, if there is one and an owner.
    fn claim(&self) -> Option<usize> {
        let mut word = self.0.load(Ordering::Relaxed);
        loop {
            let hole = (!word).trailing_zeros() as usize;
            if word & OPEN == 0 || hole >= HOLES {
                return None;
            }
            let claimed = word | claimed(hole);
            // Acquire: pairs with `free`, so that the owner has read before the sender writes. (No
            // model shows it: loom does not let a load see a store that comes later.)
            match self.0.compare_exchange_weak(word, claimed, Ordering::Acquire, Ordering::Relaxed)
            {
                Ok(_) => return Some(hole),
                Err(now) => word = now,
            }
        }
    }

    /// Makes a claimed pigeonhole full, or free if the owner has gone.
    fn publish(&self, hole: usize) -> Sent {
        let change =
            |word| Some(if word & OPEN == 0 { word & !claimed(hole) } else { word | full(hole) });
        // Release: pairs with the load in `first_full`; the owner sees the numbers, and what was
        // last done with the objects. After a withdrawal it pairs with the next `claim`.
        match self.0.fetch_update(Ordering::Release, Ordering::Relaxed, change) {
            Ok(word) if word & OPEN != 0 => Sent::Delivered,
            _ => Sent::Refused,
        }
    }

    fn first_full(&self) -> Option<usize> {
        // Acquire: pairs with `publish`.
        let word = self.0.load(Ordering::Acquire);
        (0..HOLES).find(|&hole| word & full(hole) != 0)
    }

    fn free(&self, hole: usize) {
        // Release: pairs with `claim`.
        self.0.fetch_and(!(claimed(hole) | full(hole)), Ordering::Release);
    }
}

impl Mailbox {
    /// Sends numbers, at most [`BATCH`]; for anyone.
    pub(super) fn send(&self, numbers: &[u32]) -> Sent {
        let Some(index) = self.word.claim() else { return Sent::Refused };
        let hole = &self.holes[index];
        for (place, &number) in hole.numbers.iter().zip(numbers) {
            place.store(number, Ordering::Relaxed);
        }
        hole.count.store(numbers.len() as u32, Ordering::Relaxed);
        self.word.publish(index)
    }

    /// Hands a batch to `keep`, number by number, if one waits; for the owner.
    pub(super) fn collect(&self, keep: impl FnMut(u32)) -> bool {
        let Some(index) = self.word.first_full() else { return false };
        let hole = &self.holes[index];
        let count = hole.count.load(Ordering::Relaxed) as usize;
        hole.numbers[..count].iter().map(|place| place.load(Ordering::Relaxed)).for_each(keep);
        self.word.free(index);
        true
    }

    /// Makes the caller the owner.
    pub(super) fn open(&self) {
        // Nothing is read or written on the strength of it.
        self.word.0.fetch_or(OPEN, Ordering::Relaxed);
    }

    /// Ends ownership: what is sent from now on is refused. The caller still has to collect.
    pub(super) fn close(&self) {
        self.word.0.fetch_and(!OPEN, Ordering::Relaxed);
    }
}

impl Default for Hole {
    fn default() -> Self {
        Self { numbers: std::array::from_fn(|_| AtomicU32::new(0)), count: AtomicU32::new(0) }
    }
}

impl fmt::Debug for Mailbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Mailbox")
            .field(&format_args!("{:#b}", self.word.0.load(Ordering::Relaxed)))
            .finish()
    }
}

#[cfg(all(test, not(raddle_loom)))]
mod tests {
    use super::*;

    fn collect(mailbox: &Mailbox) -> Vec<u32> {
        let mut numbers = Vec::new();
        while mailbox.collect(|number| numbers.push(number)) {}
        numbers
    }

    #[test]
    fn batches_arrive_whole() {
        let mailbox = Mailbox::default();
        mailbox.open();
        assert_eq!(collect(&mailbox), []);
        assert_eq!(mailbox.send(&[5, 3, 9]), Sent::Delivered);
        assert_eq!(mailbox.send(&[7]), Sent::Delivered);
        assert_eq!(collect(&mailbox), [5, 3, 9, 7]);
        assert_eq!(collect(&mailbox), []);
    }

    #[test]
    fn too_many_are_refused() {
        let mailbox = Mailbox::default();
        mailbox.open();
        for hole in 0..HOLES as u32 {
            assert_eq!(mailbox.send(&[hole]), Sent::Delivered);
        }
        assert_eq!(mailbox.send(&[100]), Sent::Refused);
        assert!(mailbox.collect(|number| assert_eq!(number, 0)));
        assert_eq!(mailbox.send(&[101]), Sent::Delivered);
        assert_eq!(mailbox.send(&[102]), Sent::Refused);
    }

    #[test]
    fn without_an_owner_all_is_refused() {
        let mailbox = Mailbox::default();
        assert_eq!(mailbox.send(&[1]), Sent::Refused);
        mailbox.open();
        assert_eq!(mailbox.send(&[2]), Sent::Delivered);
        mailbox.close();
        assert_eq!(mailbox.send(&[3]), Sent::Refused);
        assert_eq!(collect(&mailbox), [2]);
    }
}

#[cfg(all(test, raddle_loom))]
mod models {
    use super::*;
    use loom::sync::Arc;
    use loom::thread;

    use crate::memory::model::explore as model;

    /// A mailbox, and objects whose accesses order nothing.
    #[derive(Default)]
    struct Shared {
        mailbox: Mailbox,
        objects: [AtomicU32; 6],
    }

    impl Shared {
        fn opened() -> Arc<Self> {
            let shared = Self::default();
            shared.mailbox.open();
            Arc::new(shared)
        }

        /// Writes the objects and sends them; returns those that are still the sender's.
        fn send(&self, numbers: &[u32]) -> Vec<u32> {
            for &number in numbers {
                self.objects[number as usize].store(number + 1, Ordering::Relaxed);
            }
            match self.mailbox.send(numbers) {
                Sent::Delivered => vec![],
                Sent::Refused => numbers.to_vec(),
            }
        }

        /// Collects all that waits, and sees what was last written to it.
        fn collect(&self) -> Vec<u32> {
            let mut numbers = Vec::new();
            while self.mailbox.collect(|number| {
                let written = self.objects[number as usize].load(Ordering::Relaxed);
                assert_eq!(written, number + 1, "the mailbox hands the object over");
                numbers.push(number);
            }) {}
            numbers
        }
    }

    fn all(mut numbers: Vec<u32>, count: u32) {
        numbers.sort_unstable();
        assert_eq!(numbers, (0..count).collect::<Vec<_>>());
    }

    #[test]
    fn what_two_send_the_owner_finds() {
        model(|| {
            let shared = Shared::opened();
            let senders = [&[0, 1][..], &[2]].map(|numbers| {
                let shared = Arc::clone(&shared);
                thread::spawn(move || assert_eq!(shared.send(numbers), []))
            });
            let mut found = shared.collect();
            senders.into_iter().for_each(|sender| sender.join().unwrap());
            found.extend(shared.collect());
            all(found, 3);
        });
    }

    /// A pigeonhole is used again: its next sender must not write while the owner reads.
    #[test]
    fn pigeonholes_come_round() {
        model(|| {
            let shared = Shared::opened();
            assert_eq!(shared.send(&[0, 1]), []);
            let sender = thread::spawn({
                let shared = Arc::clone(&shared);
                move || {
                    let mut kept = shared.send(&[2, 3]);
                    kept.extend(shared.send(&[4, 5]));
                    kept
                }
            });
            let mut found = shared.collect();
            found.extend(sender.join().unwrap());
            found.extend(shared.collect());
            all(found, 6);
        });
    }

    /// The owner leaves while two send: what it does not find they keep.
    #[test]
    fn nothing_is_lost_when_the_owner_leaves() {
        model(|| {
            let shared = Shared::opened();
            let senders = [[0, 1], [2, 3]].map(|numbers| {
                let shared = Arc::clone(&shared);
                thread::spawn(move || shared.send(&numbers))
            });
            shared.mailbox.close();
            let mut found = shared.collect();
            found.extend(senders.into_iter().flat_map(|sender| sender.join().unwrap()));
            all(found, 4);
            assert_eq!(shared.collect(), []);
        });
    }

    /// The next owner finds what is sent after the last one left, and only that.
    #[test]
    fn the_next_owner_takes_over() {
        model(|| {
            let shared = Shared::opened();
            let sender = thread::spawn({
                let shared = Arc::clone(&shared);
                move || shared.send(&[0])
            });
            shared.mailbox.close();
            let mut found = shared.collect();
            shared.mailbox.open();
            found.extend(sender.join().unwrap());
            found.extend(shared.collect());
            all(found, 1);
        });
    }
}
