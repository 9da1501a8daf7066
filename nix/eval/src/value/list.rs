//! Lists: a header with the length, then one slot per element.
//!
//! ```text
//! header: length 48 | constants 8 | kind 8
//! ```
#![expect(unsafe_code, reason = "reads the words of list objects")]

use super::heap::{Heap, Kind};
use super::{Slot, Tag, Value};

/// A list value.
#[derive(Clone, Copy)]
pub struct List(*const u64);

// SAFETY: a list object's header is immutable, its slots are atomic, and it is never freed.
unsafe impl Send for List {}
// SAFETY: as above.
unsafe impl Sync for List {}

static EMPTY: u64 = HEADER;

/// The header of an empty list.
const HEADER: u64 = Kind::List as u64;
/// In the header: whether the elements stand in the text of the program as constants.
const CONSTANTS: u64 = 1 << 8;

impl List {
    /// Returns the empty list.
    pub fn empty() -> List {
        List(&raw const EMPTY)
    }

    /// Allocates a list of these values.
    pub(crate) fn new(heap: &Heap, values: &[Value]) -> List {
        List::from_fn(heap, values.len(), |i| values[i])
    }

    /// Allocates a list whose elements stand in the text of the program as constants.
    pub(crate) fn of_constants(heap: &Heap, values: &[Value]) -> List {
        List::alloc(heap, values.len(), CONSTANTS, |i| values[i])
    }

    /// Allocates a list of `len` values; `value` may allocate too.
    pub(crate) fn from_fn(heap: &Heap, len: usize, value: impl FnMut(usize) -> Value) -> List {
        List::alloc(heap, len, 0, value)
    }

    fn alloc(heap: &Heap, len: usize, flags: u64, mut value: impl FnMut(usize) -> Value) -> List {
        if len == 0 {
            return List::empty();
        }
        let ptr = heap.alloc(1 + len);
        // SAFETY: the object has `1 + len` words, zeroed: a valid list of unusable thunks that
        // nobody else knows until this function returns.
        unsafe { ptr.write((len as u64) << 16 | flags | HEADER) };
        let list = List(ptr);
        for (i, slot) in list.slots().iter().enumerate() {
            slot.set(value(i));
        }
        list
    }

    pub(super) fn from_ptr(ptr: *const u64) -> List {
        List(ptr)
    }

    /// Returns the slots of the elements.
    #[inline]
    pub fn slots(self) -> &'static [Slot] {
        // SAFETY: a list object is a header with the length and that many slots, never freed;
        // `Slot` is a transparent wrapper around a word.
        unsafe { std::slice::from_raw_parts(self.0.add(1).cast(), (*self.0 >> 16) as usize) }
    }

    /// Returns the number of elements.
    #[inline]
    pub fn len(self) -> usize {
        self.slots().len()
    }

    /// Returns whether the elements stand in the text of the program as constants.
    pub(crate) fn is_of_constants(self) -> bool {
        // SAFETY: a list object begins with its header, which is immutable.
        unsafe { *self.0 & CONSTANTS != 0 }
    }

    /// Returns whether there are no elements.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Returns the elements.
    pub fn iter(self) -> impl ExactSizeIterator<Item = Value> + Clone + use<> {
        self.slots().iter().map(Slot::get)
    }
}

impl From<List> for Value {
    fn from(list: List) -> Value {
        Value::from_ptr(list.0, Tag::List)
    }
}

impl std::fmt::Debug for List {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "[{} elements]", self.len())
    }
}
