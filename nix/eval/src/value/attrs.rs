//! Attribute sets: a shape (names and positions) and one slot per name.
//!
//! ```text
//! Attrs         header(kind, layers, length) shape slots…
//! LayeredAttrs  header(kind, layers, length) shape slots… base total
//! Shape         header(kind, length) order names… positions…
//! ```
//!
//! Names in a shape are sorted by symbol, so a lookup is a search in a dense array of u32. Sets
//! made by the same literal share their shape, and so does what `mapAttrs` makes of a set without
//! positions. `a // b` with a small `b` makes a layer: a set of `b`'s own attributes on top of the
//! base `a`.
//!
//! Invariant: the order of symbols never reaches the user; see [`Attrs::sorted`].
#![expect(unsafe_code, reason = "reads the words of sets and shapes")]

use std::sync::atomic::{AtomicU64, Ordering};

use raddle_nix_syntax::{Pos, Symbol};

use super::heap::{Heap, Kind};
use super::{Slot, Tag, Value};

/// A set of at most this many attributes on the right of `//` may become a layer.
const LAYER_LENGTH: usize = 16;
/// A set has at most this many layers, counting the bottom one.
const LAYERS: u64 = 8;
/// Below this length a linear search is faster than a binary one.
const LINEAR: usize = 8;

/// The names and positions of a set.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Shape(*const u64);

/// A set value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Attrs(*const u64);

// SAFETY: shapes are immutable but for an atomic word, and never freed.
unsafe impl Send for Shape {}
// SAFETY: as above.
unsafe impl Sync for Shape {}
// SAFETY: a set's words are immutable but for its slots, which are atomic, and never freed.
unsafe impl Send for Attrs {}
// SAFETY: as above.
unsafe impl Sync for Attrs {}

/// An attribute of a set.
#[derive(Debug, Clone, Copy)]
pub struct Attr {
    /// The name.
    pub name: Symbol,
    /// Where it was defined.
    pub pos: Pos,
    /// The place of its value.
    pub slot: &'static Slot,
}

impl Attr {
    /// Returns the value, possibly not evaluated.
    #[inline]
    pub fn value(self) -> Value {
        self.slot.get()
    }
}

static EMPTY_SHAPE: [u64; 2] = [Kind::Shape as u64, 0];
/// The header of the empty set; its shape is never looked at because the length is 0.
static EMPTY: [u64; 2] = [Kind::Attrs as u64 | 1 << 8, 0];

impl Shape {
    /// Allocates a shape; `names` are sorted by symbol, without duplicates.
    pub(crate) fn new(heap: &Heap, names: impl ExactSizeIterator<Item = (Symbol, Pos)>) -> Shape {
        let len = names.len();
        if len == 0 {
            return Shape::empty();
        }
        let ptr = heap.alloc(2 + len);
        // SAFETY: the object has two words and room for two u32 per name, nobody else knows it,
        // and `names` yields `len` items at most because of `take`.
        unsafe {
            ptr.write((len as u64) << 16 | Kind::Shape as u64);
            let symbols = ptr.add(2).cast::<u32>();
            for (i, (name, pos)) in names.take(len).enumerate() {
                symbols.add(i).write(name.index());
                symbols.add(len + i).write(pos.index());
            }
        }
        Shape(ptr)
    }

    fn empty() -> Shape {
        Shape(EMPTY_SHAPE.as_ptr())
    }

    /// Returns the number of names.
    #[inline(always)]
    pub fn len(self) -> usize {
        // SAFETY: a shape's first word is its header, which never changes.
        unsafe { (*self.0 >> 16) as usize }
    }

    /// Returns whether there are no names.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    #[inline(always)]
    fn symbols(self) -> &'static [u32] {
        // SAFETY: the header is followed by the order word and `len` symbols, immutable.
        unsafe { std::slice::from_raw_parts(self.0.add(2).cast(), self.len()) }
    }

    fn positions(self) -> &'static [u32] {
        let len = self.len();
        // SAFETY: the symbols are followed by `len` positions, immutable.
        unsafe { std::slice::from_raw_parts(self.0.add(2).cast::<u32>().add(len), len) }
    }

    /// Returns the index of a name.
    #[inline]
    pub(crate) fn find(self, name: Symbol) -> Option<usize> {
        let symbols = self.symbols();
        let key = name.index();
        if symbols.len() <= LINEAR {
            return symbols.iter().position(|&symbol| symbol == key);
        }
        symbols.binary_search(&key).ok()
    }

    fn order_word(self) -> &'static AtomicU64 {
        debug_assert!(!self.is_empty());
        // SAFETY: the second word of a non-empty shape is only ever accessed atomically.
        unsafe { &*self.0.add(1).cast::<AtomicU64>() }
    }

    /// Returns the indices of the names in the order of their bytes.
    fn order(self, heap: &Heap) -> &'static [u32] {
        let len = self.len();
        if len == 0 {
            return &[];
        }
        // `Acquire` pairs with the `Release` below: the indices are written.
        let mut word = self.order_word().load(Ordering::Acquire);
        if word == 0 {
            let symbols = self.symbols();
            let mut keyed: Vec<(&[u8], u32)> = symbols
                .iter()
                .enumerate()
                .map(|(i, &symbol)| (Symbol::from_index(symbol).as_bytes(), i as u32))
                .collect();
            keyed.sort_unstable();
            let ptr = heap.alloc(len.div_ceil(2)).cast::<u32>();
            for (i, &(_, index)) in keyed.iter().enumerate() {
                // SAFETY: the object has room for `len` u32 and nobody else knows it.
                unsafe { ptr.add(i).write(index) };
            }
            word = ptr.expose_provenance() as u64;
            // Two workers may both get here; either order is right.
            self.order_word().store(word, Ordering::Release);
        }
        let ptr: *const u32 = std::ptr::with_exposed_provenance(word as usize);
        // SAFETY: a non-zero order word is the address of `len` u32, immutable and never freed.
        unsafe { std::slice::from_raw_parts(ptr, len) }
    }

    /// Returns the address, which names this shape in lookup caches.
    #[inline(always)]
    pub(crate) fn key(self) -> u64 {
        self.0.addr() as u64
    }
}

impl Attrs {
    /// Returns the empty set.
    pub fn empty() -> Attrs {
        Attrs(EMPTY.as_ptr())
    }

    #[inline(always)]
    pub(super) fn from_ptr(ptr: *const u64) -> Attrs {
        Attrs(ptr)
    }

    #[inline(always)]
    fn header(self) -> u64 {
        // SAFETY: a set's first word is its header, which never changes.
        unsafe { *self.0 }
    }

    #[inline(always)]
    fn own_len(self) -> usize {
        (self.header() >> 32) as usize
    }

    #[inline(always)]
    fn layers(self) -> u64 {
        self.header() >> 8 & 0xff
    }

    /// Returns the shape of the top layer and its slots.
    #[inline(always)]
    pub(crate) fn top(self) -> (Shape, &'static [Slot]) {
        let len = self.own_len();
        if len == 0 {
            return (Shape::empty(), &[]);
        }
        // SAFETY: a non-empty set has its shape in the second word and `len` slots after it.
        unsafe {
            let shape = std::ptr::with_exposed_provenance(*self.0.add(1) as usize);
            (Shape(shape), std::slice::from_raw_parts(self.0.add(2).cast(), len))
        }
    }

    /// Returns the set below the top layer.
    #[inline(always)]
    pub(crate) fn base(self) -> Option<Attrs> {
        if self.header() as u8 != Kind::LayeredAttrs as u8 {
            return None;
        }
        // SAFETY: the slots of a layered set are followed by the address of its base.
        let word = unsafe { *self.0.add(2 + self.own_len()) };
        Some(Attrs(std::ptr::with_exposed_provenance(word as usize)))
    }

    /// Allocates a set of a shape; `value` gives the value of each index and may allocate too.
    pub(crate) fn with_shape(
        heap: &Heap,
        shape: Shape,
        mut value: impl FnMut(usize) -> Value,
    ) -> Attrs {
        let len = shape.len();
        if len == 0 {
            return Attrs::empty();
        }
        let attrs = Attrs::alloc(heap, shape, Kind::Attrs, 1, 0);
        for (i, slot) in attrs.top().1.iter().enumerate() {
            slot.set(value(i));
        }
        attrs
    }

    /// Allocates a set of a shape whose slots the caller fills at once.
    fn alloc(heap: &Heap, shape: Shape, kind: Kind, layers: u64, extra: usize) -> Attrs {
        let len = shape.len();
        let ptr = heap.alloc(2 + len + extra);
        // SAFETY: the object has at least two words that nobody else knows yet.
        unsafe {
            ptr.write((len as u64) << 32 | layers << 8 | kind as u64);
            ptr.add(1).write(shape.0.expose_provenance() as u64);
        }
        Attrs(ptr)
    }

    /// Returns the number of attributes.
    pub fn len(self) -> usize {
        if self.header() as u8 != Kind::LayeredAttrs as u8 {
            return self.own_len();
        }
        // SAFETY: the last word of a layered set is the total number of attributes.
        unsafe { *self.0.add(3 + self.own_len()) as usize }
    }

    /// Returns whether there are no attributes.
    pub fn is_empty(self) -> bool {
        // A layered set is never empty: its base is not.
        self.own_len() == 0
    }

    /// Returns the place of an attribute's value.
    #[inline]
    pub fn get(self, name: Symbol) -> Option<&'static Slot> {
        let mut attrs = self;
        loop {
            let (shape, slots) = attrs.top();
            if let Some(index) = shape.find(name) {
                return Some(&slots[index]);
            }
            attrs = attrs.base()?;
        }
    }

    /// Returns an attribute with its position.
    pub fn get_attr(self, name: Symbol) -> Option<Attr> {
        let mut attrs = self;
        loop {
            let (shape, slots) = attrs.top();
            if let Some(index) = shape.find(name) {
                let pos = Pos::from_index(shape.positions()[index]);
                return Some(Attr { name, pos, slot: &slots[index] });
            }
            attrs = attrs.base()?;
        }
    }

    fn own(self) -> impl ExactSizeIterator<Item = Attr> {
        let (shape, slots) = self.top();
        let (symbols, positions) = (shape.symbols(), shape.positions());
        slots.iter().enumerate().map(move |(i, slot)| Attr {
            name: Symbol::from_index(symbols[i]),
            pos: Pos::from_index(positions[i]),
            slot,
        })
    }

    /// Returns all attributes, sorted by symbol: an order that means nothing to users.
    pub fn attrs(self) -> Vec<Attr> {
        let Some(base) = self.base() else { return self.own().collect() };
        merge(&base.attrs(), self.own())
    }

    /// Returns all attributes, sorted by the bytes of their names.
    pub(crate) fn sorted(self, heap: &Heap) -> Vec<Attr> {
        if self.base().is_some() {
            let mut attrs = self.attrs();
            attrs.sort_by_cached_key(|attr| attr.name.as_bytes());
            return attrs;
        }
        let (shape, slots) = self.top();
        let (symbols, positions) = (shape.symbols(), shape.positions());
        shape
            .order(heap)
            .iter()
            .map(|&i| {
                let i = i as usize;
                Attr {
                    name: Symbol::from_index(symbols[i]),
                    pos: Pos::from_index(positions[i]),
                    slot: &slots[i],
                }
            })
            .collect()
    }

    /// Returns `self // other` and how many attributes were copied for it.
    pub(crate) fn update(self, heap: &Heap, other: Attrs) -> (Attrs, usize) {
        if other.is_empty() {
            return (self, 0);
        }
        if self.is_empty() {
            return (other, 0);
        }
        let (len, added) = (self.len(), other.len());
        if added <= LAYER_LENGTH && other.layers() == 1 && self.layers() < LAYERS && len > added {
            let (shape, slots) = other.top();
            let fresh = shape
                .symbols()
                .iter()
                .filter(|&&symbol| self.get(Symbol::from_index(symbol)).is_none())
                .count();
            let layers = self.layers() + 1;
            let layered = Attrs::alloc(heap, shape, Kind::LayeredAttrs, layers, 2);
            for (to, from) in layered.top().1.iter().zip(slots) {
                to.set(from.get());
            }
            let own = layered.own_len();
            // SAFETY: the object was allocated with two more words after its slots, which nobody
            // else knows yet.
            unsafe {
                let extra = layered.0.cast_mut().add(2 + own);
                extra.write(self.0.expose_provenance() as u64);
                extra.add(1).write((len + fresh) as u64);
            }
            return (layered, added);
        }
        let merged = merge(&self.attrs(), other.attrs().into_iter());
        (Attrs::from_attrs(heap, &merged), merged.len())
    }

    /// Allocates a flat set; `attrs` are sorted by symbol, without duplicates.
    pub(crate) fn from_attrs(heap: &Heap, attrs: &[Attr]) -> Attrs {
        let shape = Shape::new(heap, attrs.iter().map(|attr| (attr.name, attr.pos)));
        Attrs::with_shape(heap, shape, |i| attrs[i].value())
    }

    /// Returns a set with the same names but no positions; `value` computes each value from the
    /// old attribute and may allocate.
    pub(crate) fn map(self, heap: &Heap, mut value: impl FnMut(Attr) -> Value) -> Attrs {
        let attrs = self.attrs();
        let shape = if self.base().is_none() && attrs.iter().all(|attr| !attr.pos.is_known()) {
            self.top().0
        } else {
            Shape::new(heap, attrs.iter().map(|attr| (attr.name, Pos::NONE)))
        };
        Attrs::with_shape(heap, shape, |i| value(attrs[i]))
    }

    /// Returns the address, which names this set.
    pub(crate) fn key(self) -> usize {
        self.0.addr()
    }
}

/// Merges two sequences sorted by symbol; where both have a name, `over` wins.
fn merge(under: &[Attr], over: impl ExactSizeIterator<Item = Attr>) -> Vec<Attr> {
    let mut merged = Vec::with_capacity(under.len() + over.len());
    let mut at = 0;
    for attr in over {
        while at < under.len() && under[at].name < attr.name {
            merged.push(under[at]);
            at += 1;
        }
        if at < under.len() && under[at].name == attr.name {
            at += 1;
        }
        merged.push(attr);
    }
    merged.extend_from_slice(&under[at..]);
    merged
}

impl From<Attrs> for Value {
    fn from(attrs: Attrs) -> Value {
        Value::from_ptr(attrs.0, Tag::Attrs)
    }
}

impl std::fmt::Debug for Attrs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{{{} attributes}}", self.len())
    }
}

impl std::fmt::Debug for Shape {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list()
            .entries(self.symbols().iter().map(|&symbol| Symbol::from_index(symbol)))
            .finish()
    }
}

/// Collects the attributes of a new set in any order.
#[derive(Debug, Default)]
pub struct AttrsBuilder {
    entries: Vec<(Symbol, Pos, Value)>,
}

impl AttrsBuilder {
    /// Creates a builder with room for `capacity` attributes.
    pub fn with_capacity(capacity: usize) -> AttrsBuilder {
        AttrsBuilder { entries: Vec::with_capacity(capacity) }
    }

    /// Adds an attribute; of several with the same name, the first one counts.
    pub fn push(&mut self, name: Symbol, pos: Pos, value: Value) {
        self.entries.push((name, pos, value));
    }

    /// Allocates the set.
    pub(crate) fn finish(mut self, heap: &Heap) -> Attrs {
        // Stable, so that of equal names the first stays first and `dedup` keeps it.
        self.entries.sort_by_key(|entry| entry.0);
        self.entries.dedup_by_key(|entry| entry.0);
        let shape = Shape::new(heap, self.entries.iter().map(|&(name, pos, _)| (name, pos)));
        Attrs::with_shape(heap, shape, |i| self.entries[i].2)
    }
}
