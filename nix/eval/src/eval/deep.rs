//! Evaluating values all the way down.

use std::collections::HashSet;

use raddle_nix_syntax::Pos;

use super::{Cx, Result, Trace};
use crate::value::{Value, View};

impl Cx<'_> {
    /// Evaluates a value and everything in it; sharing and cycles are visited once.
    pub fn force_deep(&self, value: Value) -> Result<Value> {
        let mut seen = HashSet::new();
        self.nested(Pos::NONE, || self.force_deep_unseen(value, &mut seen))?;
        self.force(value)
    }

    fn force_deep_unseen(&self, value: Value, seen: &mut HashSet<u64>) -> Result<()> {
        let value = self.force(value)?;
        match value.view() {
            View::Attrs(attrs) if seen.insert(value.0) => {
                for attr in attrs.sorted(self.heap()) {
                    let forced =
                        self.nested(attr.pos, || self.force_deep_unseen(attr.value(), seen));
                    forced.trace(attr.pos, || {
                        let name = String::from_utf8_lossy(attr.name.as_bytes());
                        format!("while evaluating the attribute '{name}'")
                    })?;
                }
            }
            View::List(list) if seen.insert(value.0) => {
                for (i, element) in list.iter().enumerate() {
                    self.nested(Pos::NONE, || self.force_deep_unseen(element, seen))
                        .trace(Pos::NONE, || {
                            format!("while evaluating list element at index {i}")
                        })?;
                }
            }
            _ => {}
        }
        Ok(())
    }
}
