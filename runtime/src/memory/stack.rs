//! Stacks for fibers, cut from large reservations of address space.
//!
//! A reservation costs no memory: pages arrive when a fiber first touches them and stay until
//! [`Bounds::trim`]. Reservations are cut front to back and unmapped when the last stack cut from
//! them is gone.
//!
//! ```text
//! bottom                                                              top
//!   | guard page | red zone, 128 KiB | ......... usable ......... | in use |
//!                                    ^ limit                              <- grows down
//! ```
//!
//! Stacks of equal size at equal distances would have their tops in the same sets of every cache and
//! translation buffer, and fibers that take turns would drive each other out. So stacks lie a page
//! further apart than they are long, and each fiber begins at an offset of its own in the top page.
//!
//! Code that recurses compares its stack pointer with `limit`. The guard page catches code that
//! does not: each splits a mapping, and the kernel allows some 65,000 of those, so only the first
//! [`GUARDED`] stacks have one.

#![expect(unsafe_code, reason = "maps memory and hands it out as stacks")]

use std::io;
use std::ptr;
use std::sync::Arc;

use corosensei::stack::{Stack, StackPointer};
use parking_lot::Mutex;

pub(crate) const RED_ZONE: usize = 128 << 10;
/// Smaller stacks are refused: the red zone and the fiber's own frames need this much.
pub(crate) const SMALLEST: usize = 256 << 10;
const PAGE: usize = 4096;
const GUARDED: usize = 8192;
const RESERVED_STACKS: usize = 4096;
const RESERVED_BYTES: usize = 1 << 40;
/// Fibers begin at this many places in the top page, so far apart.
const COLOURS: usize = 32;
const COLOUR: usize = 64;
/// A stack used more deeply than this is trimmed.
const DEEP: usize = 1 << 20;
/// Trimming leaves this much of the top.
const KEPT: usize = 256 << 10;

/// The source of all stacks of a runtime.
#[derive(Debug)]
pub(crate) struct Reservation {
    size: usize,
    cutting: Mutex<Cutting>,
}

#[derive(Debug)]
struct Cutting {
    mapping: Arc<Mapping>,
    /// Stacks cut from `mapping`.
    cut: usize,
    /// Stacks cut in all.
    total: usize,
}

/// A range of address space, unmapped when dropped.
#[derive(Debug)]
struct Mapping {
    start: usize,
    len: usize,
}

/// A stack that belongs to one fiber.
#[derive(Debug)]
pub(crate) struct FiberStack {
    bounds: Bounds,
    /// Where the fiber begins.
    base: usize,
    _mapping: Arc<Mapping>,
}

/// Where a stack lies.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    bottom: usize,
    top: usize,
}

impl Reservation {
    /// Reserves address space for stacks of `size` bytes each.
    ///
    /// # Errors
    ///
    /// Fails if `size` is too small, or if not even one stack fits the address space.
    pub(crate) fn new(size: usize) -> io::Result<Self> {
        if size < SMALLEST {
            let text = format!("a stack of {size} bytes is too small: the least is {SMALLEST}");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        }
        let size = size.checked_next_multiple_of(PAGE).ok_or(io::ErrorKind::InvalidInput)?;
        if size > isize::MAX as usize - PAGE {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let mapping = Arc::new(Mapping::reserve(size + PAGE)?);
        Ok(Self { size, cutting: Mutex::new(Cutting { mapping, cut: 0, total: 0 }) })
    }

    /// Cuts the next stack, reserving more address space when all of it is cut.
    pub(crate) fn cut(&self) -> io::Result<FiberStack> {
        let mut cutting = self.cutting.lock();
        let distance = self.size + PAGE;
        if (cutting.cut + 1) * distance > cutting.mapping.len {
            cutting.mapping = Arc::new(Mapping::reserve(distance)?);
            cutting.cut = 0;
        }
        let bottom = cutting.mapping.start + cutting.cut * distance;
        if cutting.total < GUARDED {
            // SAFETY: the page lies in our mapping, in a part that no stack was cut from yet.
            let result = unsafe { libc::mprotect(ptr_to(bottom), PAGE, libc::PROT_NONE) };
            if result != 0 {
                return Err(io::Error::last_os_error());
            }
        }
        let bounds = Bounds { bottom, top: bottom + self.size };
        let base = bounds.top - cutting.total % COLOURS * COLOUR;
        cutting.cut += 1;
        cutting.total += 1;
        Ok(FiberStack { bounds, base, _mapping: Arc::clone(&cutting.mapping) })
    }
}

impl Mapping {
    /// Maps room for many stacks that take `size` bytes, or for as many as the system allows.
    fn reserve(size: usize) -> io::Result<Self> {
        let mut count = RESERVED_STACKS.min(RESERVED_BYTES / size).max(1);
        loop {
            match Self::map(count * size) {
                Ok(mapping) => return Ok(mapping),
                Err(error) if count == 1 => return Err(error),
                Err(_) => count /= 2,
            }
        }
    }

    fn map(len: usize) -> io::Result<Self> {
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_STACK;
        // SAFETY: a new anonymous mapping at an address of the kernel's choice touches no memory
        // that is in use.
        let start = unsafe { libc::mmap(ptr::null_mut(), len, protection, flags, -1, 0) };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        // A huge page per stack would waste most of it. Failing changes only memory use.
        // SAFETY: the range is the mapping just made; the advice does not change its contents.
        unsafe { libc::madvise(start, len, libc::MADV_NOHUGEPAGE) };
        Ok(Self { start: start as usize, len })
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the range was mapped by `map`; every `FiberStack` cut from it held an `Arc` to
        // this value, so none is left.
        unsafe { libc::munmap(ptr_to(self.start), self.len) };
    }
}

impl FiberStack {
    pub(crate) fn bounds(&self) -> Bounds {
        self.bounds
    }
}

// SAFETY: `bottom..base` is readable and writable memory of at least `SMALLEST` bytes less a page
// (but for the guard page at its end), aligned to `COLOUR` bytes at both ends, cut for this value
// alone and mapped as long as it lives. Stacks without a guard page rely on the limit that tasks are told.
unsafe impl Stack for FiberStack {
    fn base(&self) -> StackPointer {
        StackPointer::new(self.base).expect("a mapping does not start at address 0")
    }

    fn limit(&self) -> StackPointer {
        StackPointer::new(self.bounds.bottom).expect("a mapping does not start at address 0")
    }
}

impl Bounds {
    /// Returns the address that careful code stays above; the red zone lies below it.
    pub(crate) fn limit(self) -> usize {
        self.bottom + PAGE + RED_ZONE
    }

    /// Returns whether more than [`DEEP`] bytes of the stack hold memory.
    ///
    /// Frames larger than a page touch each of their pages, so looking at one page is enough.
    pub(crate) fn was_used_deeply(self) -> bool {
        if self.top - self.bottom <= DEEP + 2 * PAGE {
            return false;
        }
        let mut resident = 0u8;
        let page = self.top - DEEP - PAGE;
        // SAFETY: the page is part of the stack, hence mapped; the call writes one byte per page.
        let result = unsafe { libc::mincore(ptr_to(page), PAGE, &raw mut resident) };
        result == 0 && resident & 1 != 0
    }

    /// Gives the memory below the first [`KEPT`] bytes back to the system.
    ///
    /// # Safety
    ///
    /// - The stack is mapped and its fiber is suspended.
    /// - Its live frames fit into the top `KEPT` bytes.
    pub(crate) unsafe fn trim(self) {
        let start = self.bottom + PAGE;
        let end = self.top - KEPT;
        if end > start {
            // SAFETY: the caller vouches that nothing between guard page and `end` is in use.
            unsafe { libc::madvise(ptr_to(start), end - start, libc::MADV_DONTNEED) };
        }
    }
}

fn ptr_to(address: usize) -> *mut libc::c_void {
    ptr::with_exposed_provenance_mut(address)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stacks_do_not_overlap() {
        let reservation = Reservation::new(300_000).unwrap();
        let stacks: Vec<_> = (0..5000).map(|_| reservation.cut().unwrap()).collect();
        let mut bounds: Vec<_> = stacks.iter().map(|s| (s.bounds.bottom, s.bounds.top)).collect();
        bounds.sort_unstable();
        assert!(bounds.iter().all(|(bottom, top)| top - bottom == 303_104 && top % PAGE == 0));
        assert!(bounds.windows(2).all(|pair| pair[0].1 <= pair[1].0));
    }

    #[test]
    fn small_and_absurd_sizes_are_refused() {
        for size in [0, 1, SMALLEST - 1, usize::MAX, usize::MAX / 2] {
            assert!(Reservation::new(size).is_err(), "{size}");
        }
    }

    #[test]
    fn deep_use_is_seen_and_trimmed() {
        let stack = Reservation::new(8 << 20).unwrap().cut().unwrap();
        let bounds = stack.bounds();
        assert!(!bounds.was_used_deeply());
        let deep: *mut u8 = ptr_to(bounds.top - DEEP - PAGE).cast();
        // SAFETY: the address lies in the stack, which no fiber uses.
        unsafe { deep.write(1) };
        assert!(bounds.was_used_deeply());
        // SAFETY: no fiber runs on the stack.
        unsafe { bounds.trim() };
        assert!(!bounds.was_used_deeply());
    }
}
