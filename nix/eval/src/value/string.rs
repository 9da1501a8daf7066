//! Strings: length-prefixed bytes, with a context where they have one.
//!
//! ```text
//! Str         header(kind, length) bytes…
//! StrContext  header(kind, length) context bytes…
//! ```
#![expect(unsafe_code, reason = "reads the words of string objects")]

use super::context::Context;
use super::heap::{Heap, Kind};
use super::{Tag, Value};

/// A string value. Two words never change: a handle can be copied freely.
#[derive(Clone, Copy)]
pub struct Str(*const u64);

// SAFETY: a string object is immutable from the moment its handle exists and lives as long as
// the process, so any thread may read it.
unsafe impl Send for Str {}
// SAFETY: as above.
unsafe impl Sync for Str {}

/// Allocates an object of `fixed` words, the first of which becomes the header with the length of
/// `bytes`, followed by `bytes`.
pub(super) fn alloc_bytes(heap: &Heap, kind: Kind, fixed: usize, bytes: &[u8]) -> *mut u64 {
    let ptr = heap.alloc(fixed + bytes.len().div_ceil(8).max(1));
    // SAFETY: the object has room for `fixed` words and all of `bytes`, and nobody else knows it.
    unsafe {
        ptr.write((bytes.len() as u64) << 16 | kind as u64);
        std::ptr::copy_nonoverlapping(bytes.as_ptr(), ptr.add(fixed).cast(), bytes.len());
    }
    ptr
}

/// Returns the bytes of an object made by [`alloc_bytes`].
pub(super) fn bytes_at(ptr: *const u64, fixed: usize) -> &'static [u8] {
    // SAFETY: callers pass an object made by `alloc_bytes` with the same `fixed`; it is immutable
    // and never freed.
    unsafe { std::slice::from_raw_parts(ptr.add(fixed).cast(), (*ptr >> 16) as usize) }
}

impl Str {
    /// Allocates a string without context.
    pub(crate) fn new(heap: &Heap, bytes: &[u8]) -> Str {
        Str(alloc_bytes(heap, Kind::Str, 1, bytes))
    }

    /// Allocates a string with a context, which may be empty.
    pub(crate) fn with_context(heap: &Heap, bytes: &[u8], context: Context) -> Str {
        if context.is_empty() {
            return Str::new(heap, bytes);
        }
        let ptr = alloc_bytes(heap, Kind::StrContext, 2, bytes);
        // SAFETY: the second of the two fixed words is free for the context.
        unsafe { ptr.add(1).write(context.to_word()) };
        Str(ptr)
    }

    pub(super) fn from_ptr(ptr: *const u64) -> Str {
        Str(ptr)
    }

    #[inline]
    fn has_context(self) -> bool {
        // SAFETY: `self.0` points at a string object, whose first word is its header.
        let header = unsafe { *self.0 };
        header as u8 == Kind::StrContext as u8
    }

    /// Returns the bytes.
    #[inline]
    pub fn as_bytes(self) -> &'static [u8] {
        bytes_at(self.0, if self.has_context() { 2 } else { 1 })
    }

    /// Returns the context, which is empty for most strings.
    #[inline]
    pub fn context(self) -> Context {
        if !self.has_context() {
            return Context::EMPTY;
        }
        // SAFETY: a `StrContext` object's second word is its context.
        Context::from_word(unsafe { *self.0.add(1) })
    }
}

impl From<Str> for Value {
    fn from(s: Str) -> Value {
        Value::from_ptr(s.0, Tag::Str)
    }
}

impl std::fmt::Debug for Str {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}", bstr::BStr::new(self.as_bytes()))
    }
}
