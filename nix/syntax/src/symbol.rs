//! Interned names.
//!
//! A [`Symbol`] is a u32 into a table that lives as long as the process; equal names have equal
//! symbols. The order of symbols is *not* the order of names: whatever a user sees is sorted by
//! [`Symbol::as_bytes`].

/// An interned name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Symbol(u32);
