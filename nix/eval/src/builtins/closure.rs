//! `genericClosure`: what can be reached from some elements, breadth first, each key once.
//!
//! Keys are equal when neither is less than the other, as `<` compares them; of several elements
//! with equal keys the first one met counts. Keys are kept in an ordered set, so a closure of n
//! elements costs n log n comparisons.

use std::cell::Cell;
use std::cmp::Ordering;
use std::collections::{BTreeSet, VecDeque};

use raddle_nix_syntax::{Pos, Symbol, sym};

use super::attrs::missing;
use crate::eval::{Cx, Error, Result, Trace};
use crate::print;
use crate::value::{Attr, Attrs, PrimOp, Type, Value, View};

pub(super) const PRIMOPS: &[PrimOp] =
    &[PrimOp::new("genericClosure", 1, generic_closure).strict(0b1)];

#[expect(clippy::mutable_key_type, reason = "what `Cx` changes has no say in the order of keys")]
fn generic_closure(cx: &Cx<'_>, args: &[Value], _: Pos) -> Result<Value> {
    let text = "while evaluating the first argument passed to builtins.genericClosure";
    let arg = cx.force_attrs(args[0], Pos::NONE, text)?;
    let start = argument(arg, sym::START_SET)?;
    let text =
        "while evaluating the 'startSet' attribute passed as argument to builtins.genericClosure";
    let start = cx.force_list(start.value(), Pos::NONE, text)?;
    if start.is_empty() {
        return Ok(start.into());
    }
    let operator = argument(arg, sym::OPERATOR)?;
    let text =
        "while evaluating the 'operator' attribute passed as argument to builtins.genericClosure";
    let operator = cx.force_function(operator.value(), Pos::NONE, text)?;

    let failure = Cell::new(None);
    let mut done = BTreeSet::new();
    let mut found = Vec::new();
    let mut pending: VecDeque<Value> = start.iter().collect();
    while let Some(element) = pending.pop_front() {
        cx.room_for::<Keyed<'_, '_>>(done.len() + pending.len());
        let key = key_of(cx, element)
            .trace(Pos::NONE, || format!("in genericClosure element {}", print::short(element)))?;
        let is_new = done.insert(Keyed { key, element, cx, failure: &failure });
        if let Some(error) = failure.get() {
            return Err(error);
        }
        if !is_new {
            continue;
        }
        found.push(element);
        let calling = || {
            format!("while calling operator on genericClosure element {}", print::short(element))
        };
        let next = cx.call(operator, &[element], Pos::NONE).trace(Pos::NONE, calling)?;
        let text =
            "while evaluating the return value of the `operator` passed to builtins.genericClosure";
        let next = cx.force_list(next, Pos::NONE, text).trace(Pos::NONE, calling)?;
        pending.extend(next.iter());
    }
    Ok(cx.list(&found))
}

fn argument(arg: Attrs, name: Symbol) -> Result<Attr> {
    let at = "in the attrset passed as argument to builtins.genericClosure";
    arg.get_attr(name).ok_or_else(|| missing(name.as_bytes()).frame(Pos::NONE, at))
}

fn key_of(cx: &Cx<'_>, element: Value) -> Result<Value> {
    let value = cx.force(element)?;
    let View::Attrs(attrs) = value.view() else {
        return Err(cx.type_error(Type::Set, value, Pos::NONE));
    };
    match attrs.get(sym::KEY) {
        Some(slot) => cx.force_slot(slot),
        None => Err(missing(sym::KEY.as_bytes())),
    }
}

/// An element, ordered by its key.
///
/// A comparison that fails leaves its error in `failure` and says "equal", which ends the search
/// that it is part of.
struct Keyed<'a, 'e> {
    key: Value,
    element: Value,
    cx: &'a Cx<'e>,
    failure: &'a Cell<Option<Error>>,
}

impl Ord for Keyed<'_, '_> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.cx.compare(self.key, other.key, Pos::NONE).unwrap_or_else(|error| {
            let with = format!("with element {}", print::short(other.element));
            let comparing = format!("while comparing element {}", print::short(self.element));
            self.failure.set(Some(error.frame(Pos::NONE, with).frame(Pos::NONE, comparing)));
            Ordering::Equal
        })
    }
}

impl PartialOrd for Keyed<'_, '_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Keyed<'_, '_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Keyed<'_, '_> {}
