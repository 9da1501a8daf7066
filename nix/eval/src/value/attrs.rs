//! Attribute sets: a shape (names and positions) and one slot per name.
//!
//! ```text
//! Attrs         header(kind, layers, length) shape slots…
//! LayeredAttrs  header(kind, layers) over under flat
//! Shape         header(kind, length) order names… positions…
//! ```
//!
//! Names in a shape are sorted by symbol, so a lookup is a search in a dense array of u32. Sets
//! made by the same literal share their shape, and so do sets that happen to have the same names
//! and positions as one that the worker made not long ago. `under // over` copies nothing: it
//! makes a layered set, which is made flat when somebody asks for all its attributes or when
//! there are too many layers for lookups. The flat set is kept in the layered one.
//!
//! Invariant: the order of symbols never reaches the user; see `Attrs::sorted`.
#![expect(unsafe_code, reason = "reads the words of sets and shapes")]

use std::sync::atomic::{AtomicU64, Ordering};

use raddle_nix_syntax::{Pos, Symbol};

use super::heap::{Heap, Kind};
use super::{Slot, Tag, Value};

/// Flat sets with at most this many attributes together are merged at once.
const SMALL: usize = 4;
/// A set has at most this many layers.
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
    /// Returns a shape; `names` are sorted by symbol, without duplicates.
    pub(crate) fn new(
        heap: &Heap,
        names: impl ExactSizeIterator<Item = (Symbol, Pos)> + Clone,
    ) -> Shape {
        let len = names.len();
        if len == 0 {
            return Shape::empty();
        }
        let mut hash = len as u64;
        for (name, pos) in names.clone() {
            let entry = u64::from(name.index()) << 32 | u64::from(pos.index());
            hash = (hash.rotate_left(5) ^ entry).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        }
        let cell = heap.recent_shape(hash);
        let recent = cell.get();
        if recent != 0 {
            let shape = Shape(std::ptr::with_exposed_provenance(recent));
            if shape.is_of(names.clone()) {
                return shape;
            }
        }
        let shape = Shape::alloc(heap, names);
        cell.set(shape.0.expose_provenance());
        shape
    }

    fn is_of(self, names: impl ExactSizeIterator<Item = (Symbol, Pos)>) -> bool {
        self.len() == names.len()
            && self.symbols().iter().zip(self.positions()).zip(names).all(
                |((&symbol, &position), (name, pos))| {
                    symbol == name.index() && position == pos.index()
                },
            )
    }

    /// Allocates a shape that is not shared.
    fn alloc(heap: &Heap, names: impl ExactSizeIterator<Item = (Symbol, Pos)>) -> Shape {
        let len = names.len();
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
            heap.room_for(len.saturating_mul(size_of::<(&[u8], u32)>()));
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

    #[inline(always)]
    fn is_layered(self) -> bool {
        self.header() as u8 == Kind::LayeredAttrs as u8
    }

    /// Returns the shape and the slots of a flat set, or of a layered one that was made flat;
    /// `None` for other layered sets.
    #[inline(always)]
    pub(crate) fn as_flat(self) -> Option<(Shape, &'static [Slot])> {
        if !self.is_layered() {
            return Some(self.own());
        }
        Some(self.known_flat()?.own())
    }

    /// Returns the shape and the slots of a flat set.
    #[inline(always)]
    fn own(self) -> (Shape, &'static [Slot]) {
        debug_assert!(!self.is_layered());
        let len = self.own_len();
        if len == 0 {
            return (Shape::empty(), &[]);
        }
        // SAFETY: a non-empty flat set has its shape in the second word and `len` slots after it.
        unsafe {
            let shape = std::ptr::with_exposed_provenance(*self.0.add(1) as usize);
            (Shape(shape), std::slice::from_raw_parts(self.0.add(2).cast(), len))
        }
    }

    /// Returns the two sets that a layered set is made of: `over` and `under`.
    #[inline(always)]
    fn parts(self) -> (Attrs, Attrs) {
        debug_assert!(self.is_layered());
        // SAFETY: the second and third words of a layered set are the addresses of two sets.
        let (over, under) = unsafe { (*self.0.add(1), *self.0.add(2)) };
        (
            Attrs(std::ptr::with_exposed_provenance(over as usize)),
            Attrs(std::ptr::with_exposed_provenance(under as usize)),
        )
    }

    fn flat_word(self) -> &'static AtomicU64 {
        debug_assert!(self.is_layered());
        // SAFETY: the fourth word of a layered set is only ever accessed atomically.
        unsafe { &*self.0.add(3).cast::<AtomicU64>() }
    }

    #[inline(always)]
    fn known_flat(self) -> Option<Attrs> {
        // `Acquire` pairs with the `Release` in `flat`: the flat set is complete.
        match self.flat_word().load(Ordering::Acquire) {
            0 => None,
            word => Some(Attrs(std::ptr::with_exposed_provenance(word as usize))),
        }
    }

    /// Returns the same set as a flat one.
    pub(crate) fn flat(self, heap: &Heap) -> Attrs {
        if !self.is_layered() {
            return self;
        }
        if let Some(flat) = self.known_flat() {
            return flat;
        }
        let flat = Attrs::from_attrs(heap, &self.attrs());
        // Two workers may both get here; either set is right, and their slots are equivalent.
        self.flat_word().store(flat.0.expose_provenance() as u64, Ordering::Release);
        flat
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
        let ptr = heap.alloc(2 + len);
        // SAFETY: the object has two words and `len` slots that nobody else knows yet.
        unsafe {
            ptr.write((len as u64) << 32 | 1 << 8 | Kind::Attrs as u64);
            ptr.add(1).write(shape.0.expose_provenance() as u64);
        }
        let attrs = Attrs(ptr);
        for (i, slot) in attrs.own().1.iter().enumerate() {
            slot.set(value(i));
        }
        attrs
    }

    /// Returns the number of attributes.
    pub fn len(self) -> usize {
        match self.as_flat() {
            Some((_, slots)) => slots.len(),
            None => self.attrs().len(),
        }
    }

    /// Returns whether there are no attributes.
    #[inline]
    pub fn is_empty(self) -> bool {
        // The parts of a layered set are not empty.
        !self.is_layered() && self.own_len() == 0
    }

    /// Returns the place of an attribute's value.
    #[inline]
    pub fn get(self, name: Symbol) -> Option<&'static Slot> {
        let mut attrs = self;
        loop {
            if let Some((shape, slots)) = attrs.as_flat() {
                return Some(&slots[shape.find(name)?]);
            }
            let (over, under) = attrs.parts();
            if let Some(slot) = over.get(name) {
                return Some(slot);
            }
            attrs = under;
        }
    }

    /// Returns an attribute with its position.
    pub fn get_attr(self, name: Symbol) -> Option<Attr> {
        let mut attrs = self;
        loop {
            if let Some((shape, slots)) = attrs.as_flat() {
                let index = shape.find(name)?;
                let pos = Pos::from_index(shape.positions()[index]);
                return Some(Attr { name, pos, slot: &slots[index] });
            }
            let (over, under) = attrs.parts();
            if let Some(attr) = over.get_attr(name) {
                return Some(attr);
            }
            attrs = under;
        }
    }

    /// Returns a number that the number of attributes does not exceed, without counting them.
    pub(crate) fn at_most(self) -> usize {
        match self.as_flat() {
            Some((_, slots)) => slots.len(),
            None => {
                let (over, under) = self.parts();
                over.at_most() + under.at_most()
            }
        }
    }

    /// Returns all attributes of a flat set, sorted by symbol.
    fn own_attrs(self) -> impl ExactSizeIterator<Item = Attr> + Clone {
        let (shape, slots) = self.own();
        let (symbols, positions) = (shape.symbols(), shape.positions());
        slots.iter().zip(symbols).zip(positions).map(|((slot, &symbol), &position)| Attr {
            name: Symbol::from_index(symbol),
            pos: Pos::from_index(position),
            slot,
        })
    }

    /// Returns all attributes, sorted by symbol: an order that means nothing to users.
    ///
    /// A layered set is made flat for it, once.
    pub(crate) fn iter(self, heap: &Heap) -> impl ExactSizeIterator<Item = Attr> + Clone {
        self.flat(heap).own_attrs()
    }

    /// Returns all attributes, sorted by symbol: an order that means nothing to users.
    pub fn attrs(self) -> Vec<Attr> {
        if !self.is_layered() {
            return self.own_attrs().collect();
        }
        if let Some(flat) = self.known_flat() {
            return flat.own_attrs().collect();
        }
        let (over, under) = self.parts();
        merge(&under.attrs(), &over.attrs())
    }

    /// Returns all attributes, sorted by the bytes of their names.
    pub(crate) fn sorted(self, heap: &Heap) -> Vec<Attr> {
        let (shape, slots) = self.flat(heap).own();
        let (symbols, positions) = (shape.symbols(), shape.positions());
        heap.room_for(slots.len().saturating_mul(size_of::<Attr>()));
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

    /// Returns `self // over` and how many attributes were copied for it.
    pub(crate) fn update(self, heap: &Heap, over: Attrs) -> (Attrs, usize) {
        if over.is_empty() {
            return (self, 0);
        }
        if self.is_empty() {
            return (over, 0);
        }
        if !self.is_layered() && !over.is_layered() && self.own_len() + over.own_len() <= SMALL {
            let merged = merge(&self.attrs(), &over.attrs());
            return (Attrs::from_attrs(heap, &merged), merged.len());
        }
        let (mut under, mut over) = (self, over);
        let mut copied = 0;
        if under.layers() + over.layers() > LAYERS {
            // The deeper one is made flat; if that is not enough, the other one too.
            if under.layers() >= over.layers() {
                under = under.flat(heap);
                copied += under.own_len();
            }
            if under.layers() + over.layers() > LAYERS {
                over = over.flat(heap);
                copied += over.own_len();
            }
        }
        let ptr = heap.alloc(4);
        // SAFETY: `alloc` returned four words that nobody else knows yet; the last is 0.
        unsafe {
            let layers = under.layers() + over.layers();
            ptr.write(layers << 8 | Kind::LayeredAttrs as u64);
            ptr.add(1).write(over.0.expose_provenance() as u64);
            ptr.add(2).write(under.0.expose_provenance() as u64);
        }
        (Attrs(ptr), copied)
    }

    /// Allocates a flat set; `attrs` are sorted by symbol, without duplicates.
    pub(crate) fn from_attrs(heap: &Heap, attrs: &[Attr]) -> Attrs {
        let shape = Shape::new(heap, attrs.iter().map(|attr| (attr.name, attr.pos)));
        Attrs::with_shape(heap, shape, |i| attrs[i].value())
    }

    /// Returns a set with the same names but no positions; `value` computes each value from the
    /// old attribute and may allocate.
    pub(crate) fn map(self, heap: &Heap, mut value: impl FnMut(Attr) -> Value) -> Attrs {
        heap.room_for(self.at_most().saturating_mul(size_of::<Attr>()));
        let attrs = self.attrs();
        let shape = Shape::new(heap, attrs.iter().map(|attr| (attr.name, Pos::NONE)));
        Attrs::with_shape(heap, shape, |i| value(attrs[i]))
    }
}

/// Merges two sequences sorted by symbol; where both have a name, `over` wins.
fn merge(under: &[Attr], over: &[Attr]) -> Vec<Attr> {
    let mut merged = Vec::with_capacity(under.len() + over.len());
    let mut at = 0;
    for &attr in over {
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
