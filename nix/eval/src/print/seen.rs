//! Which sets and lists have been printed before.
//!
//! A set or list is told by where it lies. Empty ones are never repeated.
//!
//! Nix does the same, except that it stores one or two elements in the cell of the list itself, so that
//! such a list is repeated only where the same cell is met again. Which cell leads to a list depends
//! on what was evaluated when, so that cannot be told here: a short list is printed twice at most.

use std::collections::HashSet;

use crate::value::{Attrs, List, Value};

/// Lists of at most this many elements are printed once more.
const SHORT: usize = 2;

#[derive(Debug, Default)]
pub(super) struct Seen {
    /// The addresses of sets and lists.
    once: HashSet<u64>,
    /// Those of short lists that were met again.
    twice: HashSet<u64>,
}

impl Seen {
    /// Returns whether a set was printed before, and notes it.
    pub(super) fn has_set(&mut self, attrs: Attrs) -> bool {
        !attrs.is_empty() && !self.once.insert(Value::from(attrs).0)
    }

    /// Returns whether a list was printed as often as it may be, and notes it.
    pub(super) fn has_list(&mut self, list: List) -> bool {
        let word = Value::from(list).0;
        if list.is_empty() || self.once.insert(word) {
            return false;
        }
        list.len() > SHORT || !self.twice.insert(word)
    }
}
