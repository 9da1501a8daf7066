//! Which sets and lists have been printed before.
//!
//! Nix tells a repeated value by its storage: a set by its table of attributes, a list by its
//! array of elements, except that one or two elements are stored in the cell itself, so that
//! such a list counts as repeated only where the same cell is met again. Empty ones never do.

use std::collections::HashSet;

use crate::value::{Attrs, List, Value};

/// Lists of at most this many elements are told by their cell.
const IN_CELL: usize = 2;

#[derive(Debug, Default)]
pub(super) struct Seen {
    /// Sets and lists, and the thunks that led to short lists.
    words: HashSet<u64>,
    /// Short lists that were met without a thunk in front.
    bare: HashSet<u64>,
}

impl Seen {
    /// Returns whether a set was printed before, and notes it.
    pub(super) fn has_set(&mut self, attrs: Attrs) -> bool {
        !attrs.is_empty() && !self.words.insert(Value::from(attrs).0)
    }

    /// Returns whether a list was printed before, and notes it. `cell` is the member of a set or
    /// list that led to it, `None` for the outermost value.
    pub(super) fn has_list(&mut self, list: List, cell: Option<Value>) -> bool {
        if list.is_empty() {
            return false;
        }
        let word = Value::from(list).0;
        if list.len() > IN_CELL {
            return !self.words.insert(word);
        }
        match cell {
            None => false,
            // A thunk may have been replaced by its result in one place and not yet in another:
            // whoever meets the bare list cannot tell its cell from others.
            Some(cell) if cell.is_thunk() => {
                let known = !self.words.insert(cell.0) || self.bare.contains(&word);
                self.words.insert(word);
                known
            }
            Some(_) => {
                self.bare.insert(word);
                !self.words.insert(word)
            }
        }
    }
}
