//! Large pieces of memory for managed heaps.
//!
//! A worker takes a [`Chunk`] and cuts its objects off the front of it; what was cut off is never
//! taken back, so that references into it hold for good. What is left of a chunk when its worker
//! ends goes to a spare list of the worker's node, for the next heap.
//!
//! ```text
//! system --take--> | cut off: objects | left: zeros |
//! spare  --take--^                     `--give--> spare
//! ```
//!
//! Chunks of a huge page and more start at a multiple of its size and ask for huge pages: touching
//! a fresh small page costs more than all the allocations in it. A chunk lies on the node of the
//! worker that touches it first. Taking one locks the node's list; that is once in thousands of
//! objects, so no worker keeps a stock beyond the chunk it uses.
//!
//! Invariants: the words that are left in a chunk are its own alone, and zero. What a chunk has
//! when it is taken was counted in a budget.
//!
//! Not here: what the words mean, and memory that a collector empties.

#![expect(unsafe_code, reason = "maps memory and hands out its words")]

use std::alloc::{Layout, alloc_zeroed};
use std::cell::Cell;
use std::ops::RangeInclusive;
use std::ptr::{self, NonNull};

use parking_lot::Mutex;

use super::{Budget, Refused};

/// The size of a huge page.
const HUGE_PAGE: usize = 2 << 20;
/// Lists of spare chunks; nodes beyond share them.
const NODES: usize = 8;
const WORD: usize = size_of::<u64>();

/// Where the chunks of some heaps come from.
///
/// # Examples
///
/// ```
/// use raddle::memory::{Budget, Chunks};
///
/// static CHUNKS: Chunks = Chunks::new();
///
/// let budget = Budget::new(Some(64 << 20));
/// let chunk = CHUNKS.take(0, 1 << 20..=8 << 20, &budget)?;
/// assert_eq!(chunk.len(), 8 << 20);
/// let words = chunk.cut(5).expect("there are a million");
/// assert_eq!(words.as_ptr() as usize % 8, 0);
/// CHUNKS.give(0, chunk, &budget);
/// assert_eq!(budget.taken(), 40);
/// # Ok::<(), raddle::memory::Refused>(())
/// ```
#[derive(Debug)]
pub struct Chunks {
    spare: [Mutex<Vec<Chunk>>; NODES],
}

/// Zeroed memory from which words are cut off.
///
/// Dropping it leaves what is left unused for good; see [`Chunks::give`].
///
/// # Examples
///
/// ```
/// use raddle::memory::{Budget, Chunks};
///
/// let chunk = Chunks::take_new(24, &Budget::new(None))?;
/// assert!(chunk.cut(2).is_some());
/// assert!(chunk.cut(2).is_none(), "one word is left");
/// assert_eq!(chunk.len(), 8);
/// # Ok::<(), raddle::memory::Refused>(())
/// ```
#[derive(Debug, Default)]
pub struct Chunk {
    /// The exposed address of the next word.
    next: Cell<usize>,
    end: Cell<usize>,
}

impl Chunks {
    /// Creates a supply without spare chunks.
    pub const fn new() -> Self {
        Self { spare: [const { Mutex::new(Vec::new()) }; NODES] }
    }

    /// Takes a spare chunk of `node` whose length is one of `lengths`, or else a new one of the
    /// last of them.
    ///
    /// # Errors
    ///
    /// Fails if the budget or the system has not so much.
    pub fn take(
        &self,
        node: usize,
        lengths: RangeInclusive<usize>,
        budget: &Budget,
    ) -> Result<Chunk, Refused> {
        let fits = |chunk: &mut Chunk| lengths.contains(&chunk.len());
        let spare = self.spare[node % NODES].lock().pop_if(fits);
        match spare {
            None => Self::take_new(*lengths.end(), budget),
            Some(chunk) => match budget.take(chunk.len()) {
                Ok(()) => Ok(chunk),
                Err(refused) => {
                    self.spare[node % NODES].lock().push(chunk);
                    Err(refused)
                }
            },
        }
    }

    /// Takes a new chunk of at least `bytes` bytes, for an object that needs one of its own.
    ///
    /// # Errors
    ///
    /// Fails if the budget or the system has not so much.
    pub fn take_new(bytes: usize, budget: &Budget) -> Result<Chunk, Refused> {
        let len = bytes.max(1).checked_next_multiple_of(WORD).ok_or_else(|| budget.refuse())?;
        budget.take(len)?;
        let start = take_from_system(len).ok_or_else(|| {
            budget.give(len);
            budget.refuse()
        })?;
        Ok(Chunk { next: Cell::new(start), end: Cell::new(start + len) })
    }

    /// Gives back what is left of a chunk.
    pub fn give(&self, node: usize, chunk: Chunk, budget: &Budget) {
        budget.give(chunk.len());
        if !chunk.is_empty() {
            self.spare[node % NODES].lock().push(chunk);
        }
    }
}

impl Default for Chunks {
    fn default() -> Self {
        Self::new()
    }
}

impl Chunk {
    /// Returns how many bytes are left.
    #[inline]
    pub fn len(&self) -> usize {
        self.end.get() - self.next.get()
    }

    /// Returns whether nothing is left.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Cuts off `words` words: they are zero, aligned to 8 bytes, the caller's alone, and there
    /// for good.
    #[inline(always)]
    pub fn cut(&self, words: usize) -> Option<NonNull<u64>> {
        let at = self.next.get();
        if words > self.len() / WORD {
            return None;
        }
        self.next.set(at + words * WORD);
        NonNull::new(ptr::with_exposed_provenance_mut(at))
    }

    /// Puts another chunk in the place of this one, and returns what is left of this one.
    #[must_use = "what is left can be given back"]
    pub fn replace(&self, chunk: Chunk) -> Chunk {
        let Chunk { next, end } = chunk;
        Chunk {
            next: self.next.replace(next.get()).into(),
            end: self.end.replace(end.get()).into(),
        }
    }
}

/// Returns the exposed address of `len` zeroed bytes that are never given back, if the system has
/// them.
fn take_from_system(len: usize) -> Option<usize> {
    if len >= HUGE_PAGE {
        return map(len);
    }
    let layout = Layout::from_size_align(len, 16).ok()?;
    // SAFETY: the size is not 0: `take_new` rounds up from 1.
    let start = unsafe { alloc_zeroed(layout) };
    (!start.is_null()).then(|| start.expose_provenance())
}

/// Maps `len` zeroed bytes at a multiple of the huge page size.
fn map(len: usize) -> Option<usize> {
    let mapped = len.checked_next_multiple_of(HUGE_PAGE)?.checked_add(HUGE_PAGE)?;
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: an anonymous private mapping at an address of the kernel's choice touches nothing
    // that exists.
    let start = unsafe { libc::mmap(ptr::null_mut(), mapped, protection, flags, -1, 0) };
    if start == libc::MAP_FAILED {
        return None;
    }
    let aligned = start.expose_provenance().next_multiple_of(HUGE_PAGE);
    let range = ptr::with_exposed_provenance_mut(aligned);
    // SAFETY: the range lies in the mapping made above; this is advice only, and where the kernel
    // does not take it nothing changes, so the result is of no interest.
    let _ = unsafe { libc::madvise(range, mapped - HUGE_PAGE, libc::MADV_HUGEPAGE) };
    Some(aligned)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: usize = 1 << 20;

    /// Returns whether words are all zero, and makes them something else.
    fn use_up(words: NonNull<u64>, count: usize) -> bool {
        // SAFETY: the words were cut off for this test alone, so nobody else refers to them, and
        // they are initialised: they are zero.
        let words = unsafe { std::slice::from_raw_parts_mut(words.as_ptr(), count) };
        let zero = words.iter().all(|&word| word == 0);
        words.fill(u64::MAX);
        zero
    }

    #[test]
    fn words_are_zero_and_distinct() {
        let (chunks, budget) = (Chunks::new(), Budget::new(None));
        for len in [1, 7, 8, 4096, MIB, 2 * MIB, 2 * MIB + 8] {
            let chunk = chunks.take(0, len..=len, &budget).unwrap();
            let count = chunk.len() / WORD;
            assert_eq!(count, len.div_ceil(WORD));
            for words in [1, count / 3, count - 1 - count / 3] {
                if let Some(words_at) = chunk.cut(words) {
                    assert!(words_at.is_aligned());
                    assert!(use_up(words_at, words), "{len}");
                }
            }
            assert!(chunk.cut(count).is_none() && chunk.cut(usize::MAX).is_none());
        }
    }

    #[test]
    fn large_chunks_are_aligned() {
        let budget = Budget::new(None);
        for len in [2 * MIB, 5 * MIB] {
            let chunk = Chunks::take_new(len, &budget).unwrap();
            assert_eq!(chunk.cut(1).unwrap().as_ptr().addr() % HUGE_PAGE, 0);
        }
    }

    #[test]
    fn what_is_left_serves_the_next() {
        let (chunks, budget) = (Chunks::new(), Budget::new(Some(10 * MIB as u64)));
        let chunk = chunks.take(1, MIB..=4 * MIB, &budget).unwrap();
        let first = chunk.cut(MIB / WORD).unwrap();
        assert!(use_up(first, MIB / WORD));
        let left = chunk.replace(Chunk::default());
        assert!(chunk.is_empty() && chunk.cut(1).is_none());
        chunks.give(1, left, &budget);
        assert_eq!(budget.taken(), MIB as u64, "what was cut off stays counted");

        // Another node does not get it, nor one who needs more or less.
        assert_eq!(chunks.take(0, MIB..=4 * MIB, &budget).unwrap().len(), 4 * MIB);
        assert_eq!(chunks.take(1, MIB..=2 * MIB, &budget).unwrap().len(), 2 * MIB);
        let again = chunks.take(1, MIB..=4 * MIB, &budget).unwrap();
        assert_eq!(again.len(), 3 * MIB);
        let words = again.cut(3 * MIB / WORD).unwrap();
        assert_eq!(words.as_ptr().addr(), first.as_ptr().addr() + MIB);
        assert!(use_up(words, 3 * MIB / WORD));
    }

    #[test]
    fn refusals_are_values() {
        let (chunks, budget) = (Chunks::new(), Budget::new(Some(4 * MIB as u64)));
        let chunk = chunks.take(0, MIB..=2 * MIB, &budget).unwrap();
        chunks.give(0, chunk, &budget);
        assert!(budget.take(3 * MIB).is_ok());
        assert!(chunks.take(0, MIB..=2 * MIB, &budget).is_err());
        budget.reopen();
        budget.give(MIB);
        assert_eq!(chunks.take(0, MIB..=2 * MIB, &budget).unwrap().len(), 2 * MIB, "not lost");

        let budget = Budget::new(None);
        for absurd in [usize::MAX, usize::MAX / 2, 1 << 47] {
            assert_eq!(Chunks::take_new(absurd, &budget).unwrap_err().limit, None);
            budget.reopen();
        }
        assert_eq!(budget.taken(), 0);
    }
}
