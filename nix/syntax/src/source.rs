//! Source texts and positions.
//!
//! A [`Pos`] is a u32 offset into the imaginary concatenation of all texts read so far, so it
//! costs four bytes in every attribute and is turned into file, line and column only when
//! somebody asks. Texts live as long as the process.

/// A place in a source text; 0 is "unknown".
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Pos(u32);
