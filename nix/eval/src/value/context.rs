//! String contexts: which store objects a string refers to.
//!
//! An element is interned by its textual encoding (`path`, `!output!drv`, `=drv`), so a context is
//! an array of ids, sorted by id, and a union is a merge. Contexts repeat massively; a union that
//! adds nothing returns one of its operands.
#![expect(unsafe_code, reason = "reads the words of context objects")]

use std::sync::OnceLock;

use raddle::memory::Segments;
use raddle::sync::Interner;
use raddle_nix_store::context::Element;

use super::heap::{Heap, Kind};

/// The encodings of all elements met so far.
static ENCODINGS: Interner = Interner::new();
/// The elements, by the ids of their encodings.
static ELEMENTS: Segments<OnceLock<Element>> = Segments::new();

fn intern(element: &Element) -> u32 {
    let id = ENCODINGS.intern(element.to_string().as_bytes());
    ELEMENTS.get_or_grow(id).get_or_init(|| element.clone());
    id
}

/// Returns the element with an id of a context.
pub(crate) fn element(id: u32) -> &'static Element {
    ELEMENTS
        .get(id)
        .and_then(OnceLock::get)
        .unwrap_or_else(|| unreachable!("an id is handed out after its element is stored"))
}

/// A set of context elements: the address of a context object, or 0.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Context(u64);

impl Context {
    /// The context of an ordinary string.
    pub const EMPTY: Context = Context(0);

    /// Returns whether there are no elements.
    #[inline]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(super) fn to_word(self) -> u64 {
        self.0
    }

    pub(super) fn from_word(word: u64) -> Context {
        Context(word)
    }

    /// Returns the ids of the elements, ascending.
    pub(crate) fn ids(self) -> &'static [u32] {
        if self.0 == 0 {
            return &[];
        }
        let ptr: *const u64 = std::ptr::with_exposed_provenance(self.0 as usize);
        // SAFETY: a non-zero word is the address of an object made by `from_ids`: a header with
        // the number of ids, then the ids; immutable and never freed.
        unsafe { std::slice::from_raw_parts(ptr.add(1).cast(), (*ptr >> 16) as usize) }
    }

    fn from_ids(heap: &Heap, ids: &[u32]) -> Context {
        if ids.is_empty() {
            return Context::EMPTY;
        }
        let ptr = heap.alloc(1 + ids.len().div_ceil(2));
        // SAFETY: the object has room for the header and all ids, and nobody else knows it.
        unsafe {
            ptr.write((ids.len() as u64) << 16 | Kind::Context as u64);
            std::ptr::copy_nonoverlapping(ids.as_ptr(), ptr.add(1).cast(), ids.len());
        }
        Context(ptr.expose_provenance() as u64)
    }

    /// Returns the context of a single element.
    pub(crate) fn single(heap: &Heap, element: &Element) -> Context {
        Context::from_ids(heap, &[intern(element)])
    }

    /// Returns the context with exactly these elements.
    pub(crate) fn from_elements<'a>(
        heap: &Heap,
        elements: impl IntoIterator<Item = &'a Element>,
    ) -> Context {
        let mut ids: Vec<u32> = elements.into_iter().map(intern).collect();
        ids.sort_unstable();
        ids.dedup();
        Context::from_ids(heap, &ids)
    }

    /// Returns the union of two contexts.
    pub(crate) fn union(self, heap: &Heap, other: Context) -> Context {
        if self == other || other.is_empty() {
            return self;
        }
        if self.is_empty() {
            return other;
        }
        let (a, b) = (self.ids(), other.ids());
        let mut ids = Vec::with_capacity(a.len() + b.len());
        let (mut i, mut j) = (0, 0);
        while i < a.len() && j < b.len() {
            let id = a[i].min(b[j]);
            i += usize::from(a[i] == id);
            j += usize::from(b[j] == id);
            ids.push(id);
        }
        ids.extend_from_slice(&a[i..]);
        ids.extend_from_slice(&b[j..]);
        if ids.len() == a.len() {
            self
        } else if ids.len() == b.len() {
            other
        } else {
            Context::from_ids(heap, &ids)
        }
    }

    /// Returns the elements in the order of their encodings.
    pub fn elements(self) -> Vec<&'static Element> {
        let mut elements: Vec<&Element> = self.ids().iter().map(|&id| element(id)).collect();
        elements.sort_unstable();
        elements
    }
}

impl std::fmt::Debug for Context {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.elements()).finish()
    }
}
