//! Builds values of what the parsers of data formats deliver.

use raddle_nix_syntax::{Pos, Symbol, sym};

use crate::eval::Cx;
use crate::text::sink::ValueSink;
use crate::value::{AttrsBuilder, Value};

/// A list or set that has begun and not ended.
#[derive(Clone, Copy)]
struct Open {
    /// Where its members begin in `members`.
    from: usize,
    /// The key of the next member; of a list, nothing.
    key: Symbol,
}

/// Builds one value.
pub(super) struct Builder<'c, 'e> {
    cx: &'c Cx<'e>,
    open: Vec<Open>,
    /// The members of all that is open, outermost first.
    members: Vec<(Symbol, Value)>,
}

impl<'c, 'e> Builder<'c, 'e> {
    pub(super) fn new(cx: &'c Cx<'e>) -> Self {
        Builder { cx, open: Vec::new(), members: Vec::new() }
    }

    /// Returns the value, which has been delivered completely.
    pub(super) fn finish(self) -> Value {
        self.members.last().map_or(Value::NULL, |member| member.1)
    }

    fn add(&mut self, value: Value) {
        let key = self.open.last().map_or(sym::EMPTY, |open| open.key);
        if self.members.len() == self.members.capacity() {
            // The old buffer and the new one, which is twice as large.
            self.cx.room_for::<[(Symbol, Value); 3]>(self.members.len());
        }
        self.members.push((key, value));
    }

    fn begin(&mut self) {
        self.open.push(Open { from: self.members.len(), key: sym::EMPTY });
    }

    /// Replaces the members of the innermost list or set by what `build` makes of them.
    fn end(&mut self, build: impl FnOnce(&Cx<'_>, &[(Symbol, Value)]) -> Value) {
        let from = self.open.pop().map_or(0, |open| open.from);
        let value = build(self.cx, &self.members[from..]);
        self.members.truncate(from);
        self.add(value);
    }
}

impl ValueSink for Builder<'_, '_> {
    fn null(&mut self) {
        self.add(Value::NULL);
    }

    fn boolean(&mut self, value: bool) {
        self.add(Value::bool(value));
    }

    fn integer(&mut self, value: i64) {
        self.add(self.cx.int(value));
    }

    fn float(&mut self, value: f64) {
        self.add(self.cx.float(value));
    }

    fn string(&mut self, text: &[u8]) {
        self.add(self.cx.string(text));
    }

    fn begin_list(&mut self) {
        self.begin();
    }

    fn end_list(&mut self) {
        self.end(|cx, members| cx.list_from_fn(members.len(), |i| members[i].1));
    }

    fn begin_set(&mut self) {
        self.begin();
    }

    fn key(&mut self, text: &[u8]) {
        if let Some(open) = self.open.last_mut() {
            open.key = Symbol::intern(text);
        }
    }

    fn end_set(&mut self) {
        self.end(|cx, members| {
            let mut set = AttrsBuilder::with_capacity(members.len());
            // The builder keeps the first of equal names; of equal keys the last one counts.
            for &(key, value) in members.iter().rev() {
                set.push(key, Pos::NONE, value);
            }
            cx.set(set)
        });
    }
}
