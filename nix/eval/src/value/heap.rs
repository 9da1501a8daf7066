//! The managed heap: bump allocation in chunks that one worker owns.
//!
//! Every object starts with a header word that says its [`Kind`] and size, so a collector can be
//! added; today nothing is freed, and memory goes back to the operating system when the process
//! ends. That is why handles into the heap are `'static`.
//!
//! What all workers take is counted in one [`Budget`]. When it is used up, the task unwinds with
//! [`OutOfMemory`]: objects are written after they were allocated and seen by others after they
//! were written, so nothing is left half made where anybody looks.
//!
//! Invariant: a [`Heap`] is used by one worker thread at a time; what [`Heap::alloc`] returned is
//! never moved, freed or handed out again.
//!
//! Not here: what the words of an object mean, and getting memory from the system (`raddle::memory`).

use std::cell::Cell;
use std::sync::Arc;

use raddle::memory::{Chunk, Chunks, Refused};

use super::budget::{Budget, end_task};

/// The most bytes fetched from the system at a time, unless one object is larger.
pub(super) const CHUNK: usize = 8 << 20;
/// Objects of at least this many bytes get memory of their own.
pub(super) const LARGE: usize = 256 << 10;

/// Where the heaps of all evaluators get their memory, one that has ended leaving its chunks'
/// remainders to the next.
static CHUNKS: Chunks = Chunks::new();

/// The node whose spare chunks are used: one list serves all.
const NODE: usize = 0;

/// The kinds of objects, in the low byte of their header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Kind {
    /// A frame of variables. The numbers below are the states of thunks; see `thunk`.
    Env = 16,
    /// A set.
    Attrs,
    /// A set that refines another one.
    LayeredAttrs,
    /// The names and positions of sets.
    Shape,
    /// A list.
    List,
    /// A string without context.
    Str,
    /// A string with context.
    StrContext,
    /// The context of a string.
    Context,
    /// A function with its environment.
    Lambda,
    /// A built-in function.
    PrimOp,
    /// A function with some of its arguments.
    PartialApp,
    /// An integer too wide for a word's payload.
    Int,
    /// A float.
    Float,
    /// A path.
    Path,
}

/// One worker's allocator.
#[derive(Debug)]
pub(crate) struct Heap {
    chunk: Chunk,
    /// Bytes of chunks taken so far.
    taken: Cell<usize>,
    /// What the heaps of all workers may take together.
    budget: Arc<Budget>,
    /// Addresses of shapes made not long ago, by the low bits of their hashes.
    shapes: RecentShapes,
}

/// A direct-mapped cache: an entry is replaced by the next one that falls on it.
struct RecentShapes(Box<[Cell<usize>]>);

/// Entries in the cache of shapes; a power of two.
const SHAPES: usize = 1 << 14;

impl Default for RecentShapes {
    fn default() -> RecentShapes {
        RecentShapes(vec![Cell::new(0); SHAPES].into())
    }
}

impl std::fmt::Debug for RecentShapes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("RecentShapes")
    }
}

impl Heap {
    /// Creates an empty heap.
    pub(crate) fn new(budget: Arc<Budget>) -> Heap {
        Heap {
            chunk: Chunk::default(),
            taken: Cell::default(),
            budget,
            shapes: RecentShapes::default(),
        }
    }

    /// Returns `words` fresh words, zeroed, aligned to 8 bytes.
    #[inline(always)]
    pub(crate) fn alloc(&self, words: usize) -> *mut u64 {
        match self.chunk.cut(words) {
            Some(start) => start.as_ptr(),
            None => self.alloc_slow(words),
        }
    }

    #[cold]
    #[inline(never)]
    fn alloc_slow(&self, words: usize) -> *mut u64 {
        if words >= LARGE / 8 {
            let own = self.granted(Chunks::take_new(words.saturating_mul(8), self.budget.bytes()));
            return own.cut(words).expect("it was taken for this object").as_ptr();
        }
        let lengths = LARGE..=self.budget.chunk();
        let chunk = self.granted(CHUNKS.take(NODE, lengths, self.budget.bytes()));
        // What is left of the chunk before is too small for this object.
        let _left = self.chunk.replace(chunk);
        self.chunk.cut(words).expect("a chunk is larger").as_ptr()
    }

    /// Counts a chunk, or ends the task.
    fn granted(&self, chunk: Result<Chunk, Refused>) -> Chunk {
        let chunk = chunk.unwrap_or_else(|refused| end_task(refused));
        self.taken.set(self.taken.get() + chunk.len());
        chunk
    }

    /// Makes sure that there is room for a buffer of so many bytes outside of the heap; whoever
    /// will copy it into the heap asks for twice as much.
    ///
    /// For buffers whose size the program decides: where the heap would be refused memory they
    /// must not get it, and the standard library ends the process when there is none.
    #[inline]
    pub(crate) fn room_for(&self, bytes: usize) {
        if bytes >= LARGE {
            self.budget.check(bytes);
        }
    }

    /// Returns the place of a shape with this hash, if it is among the recent ones; 0 if none is.
    #[inline]
    pub(crate) fn recent_shape(&self, hash: u64) -> &Cell<usize> {
        &self.shapes.0[(hash >> 40) as usize & (SHAPES - 1)]
    }

    /// Bytes handed out to objects so far.
    pub(crate) fn allocated(&self) -> usize {
        self.taken.get() - self.chunk.len()
    }
}

impl Drop for Heap {
    fn drop(&mut self) {
        if self.chunk.len() >= LARGE {
            CHUNKS.give(NODE, std::mem::take(&mut self.chunk), self.budget.bytes());
        }
    }
}
