//! A small cache in front of the symbol table.
//!
//! The names of one file repeat a lot and most are short, so that two words hold one.

use crate::Symbol;

const SLOTS: usize = 512;
const LONGEST: usize = 16;

/// Names that were interned lately.
pub(super) struct Names {
    /// A name, filled up with zeros, which no name contains, and its symbol. Zero is no name.
    slots: Box<[(u128, Symbol)]>,
}

impl Names {
    pub(super) fn new() -> Self {
        Self { slots: vec![(0, Symbol::from_index(0)); SLOTS].into() }
    }

    /// Returns the symbol of the name in `text[start..end]`, which is not empty.
    #[inline]
    pub(super) fn intern(&mut self, text: &[u8], start: usize, end: usize) -> Symbol {
        let len = end - start;
        let Some(bytes) = text[start..].first_chunk::<LONGEST>() else {
            return Symbol::intern(&text[start..end]);
        };
        if len > LONGEST {
            return Symbol::intern(&text[start..end]);
        }
        let name = u128::from_le_bytes(*bytes) << (8 * (LONGEST - len));
        let mixed = (name as u64 ^ (name >> 64) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let slot = &mut self.slots[(mixed >> 55) as usize % SLOTS];
        if slot.0 != name {
            *slot = (name, Symbol::intern(&text[start..end]));
        }
        slot.1
    }
}
