//! Attribute sets: names, values, and making sets from sets and lists.
//!
//! Sets are walked by symbol wherever the order cannot be seen and by name where it can. Values
//! are carried over unevaluated. A result that equals an argument is that argument.
//!
//! An attribute keeps its position where it is the same attribute in the result; what is computed
//! (`mapAttrs`, `zipAttrsWith`, `groupBy`) has none.

use raddle_nix_syntax::{Pos, Symbol, sym};

use crate::eval::{Cx, Error, ErrorKind, Result, name_in_message, position_value};
use crate::value::attrs::Shape;
use crate::value::{Attr, Attrs, AttrsBuilder, Function, PrimOp, Value, View};

pub(super) const PRIMOPS: &[PrimOp] = &[
    PrimOp::new("attrNames", 1, attr_names).strict(0b1),
    PrimOp::new("attrValues", 1, attr_values).strict(0b1),
    PrimOp::new("getAttr", 2, get_attr).strict(0b11),
    PrimOp::new("hasAttr", 2, has_attr).strict(0b11),
    PrimOp::new("unsafeGetAttrPos", 2, unsafe_get_attr_pos),
    PrimOp::new("removeAttrs", 2, remove_attrs).strict(0b11),
    PrimOp::new("intersectAttrs", 2, intersect_attrs).strict(0b11),
    PrimOp::new("catAttrs", 2, cat_attrs).strict(0b11),
    PrimOp::new("listToAttrs", 1, list_to_attrs).strict(0b1),
    PrimOp::new("mapAttrs", 2, map_attrs).strict(0b10),
    PrimOp::new("zipAttrsWith", 2, zip_attrs_with).strict(0b10),
    PrimOp::new("groupBy", 2, group_by).strict(0b10),
    PrimOp::new("functionArgs", 1, function_args).strict(0b1),
];

fn attr_names(cx: &Cx<'_>, args: &[Value], _: Pos) -> Result<Value> {
    let text = "while evaluating the argument passed to builtins.attrNames";
    let attrs = cx.force_attrs(args[0], Pos::NONE, text)?.sorted(cx.heap());
    Ok(cx.list_from_fn(attrs.len(), |i| cx.symbol_string(attrs[i].name)))
}

fn attr_values(cx: &Cx<'_>, args: &[Value], _: Pos) -> Result<Value> {
    let text = "while evaluating the argument passed to builtins.attrValues";
    let attrs = cx.force_attrs(args[0], Pos::NONE, text)?.sorted(cx.heap());
    Ok(cx.list_from_fn(attrs.len(), |i| attrs[i].value()))
}

/// Evaluates the arguments of a function that looks a name up in a set.
fn name_and_set(cx: &Cx<'_>, args: &[Value], builtin: &str) -> Result<(&'static [u8], Attrs)> {
    let text = |which| {
        move || format!("while evaluating the {which} argument passed to builtins.{builtin}")
    };
    let name = cx.force_plain_string(args[0], Pos::NONE, text("first"))?;
    let attrs = cx.force_attrs(args[1], Pos::NONE, text("second"))?;
    Ok((name, attrs))
}

/// Returns an attribute by name; a name that no program has mentioned is in no set.
fn find(attrs: Attrs, name: &[u8]) -> Option<Attr> {
    attrs.get_attr(Symbol::lookup(name)?)
}

/// Returns the error for an attribute that a function needs: unlike `.`, without suggestions.
#[cold]
pub(super) fn missing(name: &[u8]) -> Error {
    let message = format!("attribute '{}' missing", name_in_message(name));
    Error::new(ErrorKind::MissingAttribute, Pos::NONE, message)
}

fn get_attr(cx: &Cx<'_>, args: &[Value], _: Pos) -> Result<Value> {
    let (name, attrs) = name_and_set(cx, args, "getAttr")?;
    match find(attrs, name) {
        Some(attr) => cx.force_slot(attr.slot),
        None => Err(missing(name).frame(Pos::NONE, "in the attribute set under consideration")),
    }
}

fn has_attr(cx: &Cx<'_>, args: &[Value], _: Pos) -> Result<Value> {
    let (name, attrs) = name_and_set(cx, args, "hasAttr")?;
    Ok(Value::bool(find(attrs, name).is_some()))
}

fn unsafe_get_attr_pos(cx: &Cx<'_>, args: &[Value], _: Pos) -> Result<Value> {
    let (name, attrs) = name_and_set(cx, args, "unsafeGetAttrPos")?;
    let pos = find(attrs, name).map_or(Pos::NONE, |attr| attr.pos);
    Ok(position_value(cx.heap(), pos))
}

/// Returns a set of attributes that are sorted by symbol.
fn set_of(cx: &Cx<'_>, attrs: &[Attr]) -> Value {
    let set = Attrs::from_attrs(cx.heap(), attrs);
    cx.count_set(set);
    set.into()
}

fn remove_attrs(cx: &Cx<'_>, args: &[Value], _: Pos) -> Result<Value> {
    let text = "while evaluating the first argument passed to builtins.removeAttrs";
    let attrs = cx.force_attrs(args[0], Pos::NONE, text)?;
    let text = "while evaluating the second argument passed to builtins.removeAttrs";
    let list = cx.force_list(args[1], Pos::NONE, text)?;
    cx.room_for::<Symbol>(list.len());
    let mut removed = Vec::with_capacity(list.len());
    for slot in list.slots() {
        let name = cx.force_slot(slot)?;
        let text =
            "while evaluating the values of the second argument passed to builtins.removeAttrs";
        let name = cx.expect_plain_string(name, Pos::NONE, text)?;
        removed.extend(Symbol::lookup(name).filter(|&name| attrs.get(name).is_some()));
    }
    if removed.is_empty() {
        return Ok(attrs.into());
    }
    removed.sort_unstable();
    cx.room_for::<Attr>(attrs.at_most());
    let mut kept = attrs.attrs();
    kept.retain(|attr| removed.binary_search(&attr.name).is_err());
    Ok(set_of(cx, &kept))
}

fn intersect_attrs(cx: &Cx<'_>, args: &[Value], _: Pos) -> Result<Value> {
    let text = "while evaluating the first argument passed to builtins.intersectAttrs";
    let names = cx.force_attrs(args[0], Pos::NONE, text)?;
    let text = "while evaluating the second argument passed to builtins.intersectAttrs";
    let values = cx.force_attrs(args[1], Pos::NONE, text)?;
    if values.is_empty() {
        return Ok(values.into());
    }
    // The larger set is often everything that there is, in layers: it is only looked into.
    let common: Vec<Attr> = if names.at_most() <= values.at_most() {
        names.iter(cx.heap()).filter_map(|attr| values.get_attr(attr.name)).collect()
    } else {
        values.iter(cx.heap()).filter(|attr| names.get(attr.name).is_some()).collect()
    };
    if common.len() == values.at_most() {
        return Ok(values.into());
    }
    Ok(set_of(cx, &common))
}

fn cat_attrs(cx: &Cx<'_>, args: &[Value], _: Pos) -> Result<Value> {
    let text = "while evaluating the first argument passed to builtins.catAttrs";
    let name = cx.force_plain_string(args[0], Pos::NONE, text)?;
    let text = "while evaluating the second argument passed to builtins.catAttrs";
    let list = cx.force_list(args[1], Pos::NONE, text)?;
    let name = Symbol::intern(name);
    cx.room_for::<Value>(list.len());
    let mut found = Vec::with_capacity(list.len());
    for element in list.iter() {
        let text = "while evaluating an element in the list passed as second argument to builtins.catAttrs";
        let attrs = cx.force_attrs(element, Pos::NONE, text)?;
        found.extend(attrs.get(name).map(|slot| slot.get()));
    }
    Ok(cx.list(&found))
}

/// Returns an attribute of an element of the list passed to `listToAttrs`.
fn part_of_pair(pair: Attrs, name: Symbol) -> Result<Attr> {
    let at = "in a {name=...; value=...;} pair";
    pair.get_attr(name).ok_or_else(|| missing(name.as_bytes()).frame(Pos::NONE, at))
}

fn list_to_attrs(cx: &Cx<'_>, args: &[Value], _: Pos) -> Result<Value> {
    let text = "while evaluating the argument passed to builtins.listToAttrs";
    let list = cx.force_list(args[0], Pos::NONE, text)?;
    // Each pair, what it takes to sort it, and its attribute.
    cx.room_for::<[Attr; 2]>(list.len());
    let mut pairs = Vec::with_capacity(list.len());
    for element in list.iter() {
        let text = "while evaluating an element of the list passed to builtins.listToAttrs";
        let pair = cx.force_attrs(element, Pos::NONE, text)?;
        let name = part_of_pair(pair, sym::NAME)?;
        let text = "while evaluating the `name` attribute of an element of the list passed to builtins.listToAttrs";
        let bytes = cx.force_plain_string(name.value(), name.pos, text)?;
        pairs.push((Symbol::intern(bytes), pair));
    }
    // Stable, so that the first of several pairs with the same name stays first; the others need
    // no value.
    pairs.sort_by_key(|pair| pair.0);
    pairs.dedup_by_key(|pair| pair.0);
    let mut attrs = Vec::with_capacity(pairs.len());
    for (name, pair) in pairs {
        attrs.push(Attr { name, ..part_of_pair(pair, sym::VALUE)? });
    }
    Ok(set_of(cx, &attrs))
}

fn map_attrs(cx: &Cx<'_>, args: &[Value], _: Pos) -> Result<Value> {
    let text = "while evaluating the second argument passed to builtins.mapAttrs";
    let attrs = cx.force_attrs(args[1], Pos::NONE, text)?;
    let mapped =
        attrs.map(cx.heap(), |attr| cx.apply_named_later(args[0], attr.name, attr.value(), false));
    cx.count_set(mapped);
    Ok(mapped.into())
}

/// Collects values by name: calls `value` with each name and its values in their order.
fn grouped(
    cx: &Cx<'_>,
    mut named: Vec<(Symbol, Value)>,
    value: impl Fn(Symbol, Value) -> Value,
) -> Value {
    // Stable, so that values with the same name keep their order.
    named.sort_by_key(|entry| entry.0);
    let mut builder = AttrsBuilder::default();
    for group in named.chunk_by(|a, b| a.0 == b.0) {
        let name = group[0].0;
        let values = cx.list_from_fn(group.len(), |i| group[i].1);
        builder.push(name, Pos::NONE, value(name, values));
    }
    cx.set(builder)
}

fn zip_attrs_with(cx: &Cx<'_>, args: &[Value], _: Pos) -> Result<Value> {
    let text = "while evaluating the first argument passed to builtins.zipAttrsWith";
    let function = cx.force_function(args[0], Pos::NONE, text)?;
    let text = "while evaluating the second argument passed to builtins.zipAttrsWith";
    let list = cx.force_list(args[1], Pos::NONE, text)?;
    let mut named = Vec::new();
    for element in list.iter() {
        let text = "while evaluating a value of the list passed as second argument to builtins.zipAttrsWith";
        let attrs = cx.force_attrs(element, Pos::NONE, text)?;
        cx.room_for::<[(Symbol, Value); 2]>(named.len() + attrs.at_most());
        named.extend(attrs.iter(cx.heap()).map(|attr| (attr.name, attr.value())));
    }
    Ok(grouped(cx, named, |name, values| cx.apply_named_later(function, name, values, true)))
}

fn group_by(cx: &Cx<'_>, args: &[Value], _: Pos) -> Result<Value> {
    let text = "while evaluating the first argument passed to builtins.groupBy";
    let function = cx.force_function(args[0], Pos::NONE, text)?;
    let text = "while evaluating the second argument passed to builtins.groupBy";
    let list = cx.force_list(args[1], Pos::NONE, text)?;
    cx.room_for::<[(Symbol, Value); 2]>(list.len());
    let mut named = Vec::with_capacity(list.len());
    for element in list.iter() {
        let name = cx.call(function, &[element], Pos::NONE)?;
        let text =
            "while evaluating the return value of the grouping function passed to builtins.groupBy";
        let name = cx.expect_plain_string(name, Pos::NONE, text)?;
        named.push((Symbol::intern(name), element));
    }
    Ok(grouped(cx, named, |_, values| values))
}

fn function_args(cx: &Cx<'_>, args: &[Value], _: Pos) -> Result<Value> {
    let View::Function(function) = cx.force(args[0])?.view() else {
        let message = "'functionArgs' requires a function";
        return Err(Error::new(ErrorKind::Type, Pos::NONE, message));
    };
    let Function::Lambda(lambda) = function else { return Ok(Attrs::empty().into()) };
    let Some(formals) = &lambda.code().formals else { return Ok(Attrs::empty().into()) };
    let names = formals.formals;
    let shape = Shape::new(cx.heap(), names.iter().map(|formal| (formal.name, formal.pos)));
    let set = Attrs::with_shape(cx.heap(), shape, |i| Value::bool(names[i].default.is_some()));
    cx.count_set(set);
    Ok(set.into())
}
