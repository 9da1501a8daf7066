//! Types: asking a value what it is.
//!
//! All of these evaluate their argument as far as its outermost constructor and no further.

use raddle_nix_syntax::Pos;

use crate::eval::{Cx, Result};
use crate::value::{PrimOp, Type, Value};

pub(super) const PRIMOPS: &[PrimOp] = &[
    PrimOp::new("typeOf", 1, type_of).strict(0b1),
    PrimOp::new("isAttrs", 1, is_attrs).strict(0b1),
    PrimOp::new("isBool", 1, is_bool).strict(0b1),
    PrimOp::new("isFloat", 1, is_float).strict(0b1),
    PrimOp::new("isFunction", 1, is_function).strict(0b1),
    PrimOp::new("isInt", 1, is_int).strict(0b1),
    PrimOp::new("isList", 1, is_list).strict(0b1),
    PrimOp::new("isNull", 1, is_null).strict(0b1),
    PrimOp::new("isPath", 1, is_path).strict(0b1),
    PrimOp::new("isString", 1, is_string).strict(0b1),
];

fn type_of(cx: &Cx<'_>, args: &[Value], _: Pos) -> Result<Value> {
    let value = cx.force(args[0])?;
    let name = value.type_of().map_or("", Type::name);
    Ok(cx.string(name))
}

fn is(cx: &Cx<'_>, args: &[Value], expected: Type) -> Result<Value> {
    Ok(Value::bool(cx.force(args[0])?.type_of() == Some(expected)))
}

fn is_attrs(cx: &Cx<'_>, args: &[Value], _: Pos) -> Result<Value> {
    is(cx, args, Type::Set)
}

fn is_bool(cx: &Cx<'_>, args: &[Value], _: Pos) -> Result<Value> {
    is(cx, args, Type::Bool)
}

fn is_float(cx: &Cx<'_>, args: &[Value], _: Pos) -> Result<Value> {
    is(cx, args, Type::Float)
}

/// A set with `__functor` can be called but is no function.
fn is_function(cx: &Cx<'_>, args: &[Value], _: Pos) -> Result<Value> {
    is(cx, args, Type::Function)
}

fn is_int(cx: &Cx<'_>, args: &[Value], _: Pos) -> Result<Value> {
    is(cx, args, Type::Int)
}

fn is_list(cx: &Cx<'_>, args: &[Value], _: Pos) -> Result<Value> {
    is(cx, args, Type::List)
}

fn is_null(cx: &Cx<'_>, args: &[Value], _: Pos) -> Result<Value> {
    is(cx, args, Type::Null)
}

fn is_path(cx: &Cx<'_>, args: &[Value], _: Pos) -> Result<Value> {
    is(cx, args, Type::Path)
}

fn is_string(cx: &Cx<'_>, args: &[Value], _: Pos) -> Result<Value> {
    is(cx, args, Type::String)
}
