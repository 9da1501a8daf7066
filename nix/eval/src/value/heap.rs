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
//! Not here: what the words of an object mean.
#![expect(unsafe_code, reason = "hands out raw words of leaked chunks")]

use std::alloc::{Layout, alloc_zeroed};
use std::cell::Cell;
use std::sync::{Arc, Mutex};

use super::budget::Budget;

/// The most bytes fetched from the system at a time, unless one object is larger.
pub(super) const CHUNK: usize = 8 << 20;
/// The size of a huge page.
const HUGE_PAGE: usize = 2 << 20;
/// Objects of at least this many bytes get memory of their own.
pub(super) const LARGE: usize = 256 << 10;

/// Chunk remainders of evaluators that have ended, for the next one.
static SPARE: Mutex<Vec<(usize, usize)>> = Mutex::new(Vec::new());

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
    next: Cell<usize>,
    end: Cell<usize>,
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
            next: Cell::default(),
            end: Cell::default(),
            taken: Cell::default(),
            budget,
            shapes: RecentShapes::default(),
        }
    }

    /// Returns `words` fresh words, zeroed, aligned to 8 bytes.
    #[inline(always)]
    pub(crate) fn alloc(&self, words: usize) -> *mut u64 {
        let at = self.next.get();
        let bytes = words * 8;
        if bytes <= self.end.get() - at {
            self.next.set(at + bytes);
            return std::ptr::with_exposed_provenance_mut(at);
        }
        self.alloc_slow(bytes)
    }

    #[cold]
    #[inline(never)]
    fn alloc_slow(&self, bytes: usize) -> *mut u64 {
        if bytes >= LARGE {
            return std::ptr::with_exposed_provenance_mut(self.take(bytes));
        }
        let wanted = self.budget.chunk();
        let fits = |&mut (_, len): &mut (usize, usize)| (LARGE..=wanted).contains(&len);
        let spare = SPARE.lock().ok().and_then(|mut spare| spare.pop_if(fits));
        let (start, len) = match spare {
            Some((start, len)) => {
                self.budget.take(len);
                self.taken.set(self.taken.get() + len);
                (start, len)
            }
            None => (self.take(wanted), wanted),
        };
        self.next.set(start + bytes);
        self.end.set(start + len);
        std::ptr::with_exposed_provenance_mut(start)
    }

    /// Returns the address of fresh memory.
    fn take(&self, bytes: usize) -> usize {
        self.budget.take(bytes);
        let start = take_from_system(bytes).unwrap_or_else(|| self.budget.refuse());
        self.taken.set(self.taken.get() + bytes);
        start
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
        self.taken.get() - (self.end.get() - self.next.get())
    }
}

impl Drop for Heap {
    fn drop(&mut self) {
        let left = self.end.get() - self.next.get();
        if left >= LARGE
            && let Ok(mut spare) = SPARE.lock()
        {
            spare.push((self.next.get(), left));
        }
    }
}

/// Returns the address of `bytes` zeroed bytes that are never given back, if the system has them.
///
/// Chunks are aligned to huge pages and ask for them: touching a fresh small page costs more than
/// all the allocations in it.
fn take_from_system(bytes: usize) -> Option<usize> {
    if bytes >= HUGE_PAGE {
        return map(bytes);
    }
    let layout = Layout::from_size_align(bytes, 16).ok()?;
    // SAFETY: `layout` has a non-zero size: callers pass at least one object's bytes.
    let start = unsafe { alloc_zeroed(layout) };
    (!start.is_null()).then(|| start.expose_provenance())
}

/// Maps `bytes` zeroed bytes at a multiple of the huge page size.
fn map(bytes: usize) -> Option<usize> {
    let len = bytes.checked_next_multiple_of(HUGE_PAGE)?.checked_add(HUGE_PAGE)?;
    let (protection, flags) = (
        libc::PROT_READ | libc::PROT_WRITE,
        libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
    );
    // SAFETY: an anonymous private mapping at an address of the kernel's choice touches nothing
    // that exists.
    let start = unsafe { libc::mmap(std::ptr::null_mut(), len, protection, flags, -1, 0) };
    if start == libc::MAP_FAILED {
        return None;
    }
    let aligned = start.expose_provenance().next_multiple_of(HUGE_PAGE);
    // SAFETY: the range lies in the mapping made above; this is advice only, and where the kernel
    // does not take it nothing changes, so the result is of no interest.
    let _ = unsafe {
        libc::madvise(
            std::ptr::with_exposed_provenance_mut(aligned),
            len - HUGE_PAGE,
            libc::MADV_HUGEPAGE,
        )
    };
    Some(aligned)
}
