//! Numbers: arithmetic, order, bits, rounding.
//!
//! The operators `-`, `*`, `/` and `<` are these functions; what they compute is in `eval::ops`.
//! `add` is not `+`: it takes numbers only.

use raddle_nix_syntax::Pos;

use crate::compile::code::Op;
use crate::eval::{Cx, Error, ErrorKind, Result};
use crate::text::number;
use crate::value::{PrimOp, Value, View};

pub(super) const PRIMOPS: &[PrimOp] = &[
    PrimOp::new("add", 2, add).strict(0b11),
    PrimOp::new("sub", 2, sub).strict(0b11),
    PrimOp::new("mul", 2, mul).strict(0b11),
    PrimOp::new("div", 2, div),
    PrimOp::new("lessThan", 2, less_than).strict(0b11),
    PrimOp::new("bitAnd", 2, bit_and),
    PrimOp::new("bitOr", 2, bit_or),
    PrimOp::new("bitXor", 2, bit_xor),
    PrimOp::new("ceil", 1, ceil).strict(0b1),
    PrimOp::new("floor", 1, floor).strict(0b1),
];

fn add(cx: &Cx<'_>, args: &[Value], _: Pos) -> Result<Value> {
    let first = "while evaluating the first argument of the addition";
    let second = "while evaluating the second argument of the addition";
    let (a, b) = (cx.force(args[0])?, cx.force(args[1])?);
    if matches!(a.view(), View::Float(_)) || matches!(b.view(), View::Float(_)) {
        cx.force_float(a, Pos::NONE, first)?;
        cx.force_float(b, Pos::NONE, second)?;
    } else {
        cx.force_int(a, Pos::NONE, first)?;
        cx.force_int(b, Pos::NONE, second)?;
    }
    cx.add_numbers(a, b, Pos::NONE)
}

fn sub(cx: &Cx<'_>, args: &[Value], _: Pos) -> Result<Value> {
    cx.arithmetic(Op::Sub, args[0], args[1], Pos::NONE)
}

fn mul(cx: &Cx<'_>, args: &[Value], _: Pos) -> Result<Value> {
    cx.arithmetic(Op::Mul, args[0], args[1], Pos::NONE)
}

fn div(cx: &Cx<'_>, args: &[Value], _: Pos) -> Result<Value> {
    cx.arithmetic(Op::Div, args[0], args[1], Pos::NONE)
}

fn less_than(cx: &Cx<'_>, args: &[Value], _: Pos) -> Result<Value> {
    cx.arithmetic(Op::Less, args[0], args[1], Pos::NONE)
}

fn bits(cx: &Cx<'_>, args: &[Value], name: &str, combine: fn(i64, i64) -> i64) -> Result<Value> {
    let text =
        |which| move || format!("while evaluating the {which} argument passed to builtins.{name}");
    let x = cx.force_int(args[0], Pos::NONE, text("first"))?;
    let y = cx.force_int(args[1], Pos::NONE, text("second"))?;
    Ok(cx.int(combine(x, y)))
}

fn bit_and(cx: &Cx<'_>, args: &[Value], _: Pos) -> Result<Value> {
    bits(cx, args, "bitAnd", |x, y| x & y)
}

fn bit_or(cx: &Cx<'_>, args: &[Value], _: Pos) -> Result<Value> {
    bits(cx, args, "bitOr", |x, y| x | y)
}

fn bit_xor(cx: &Cx<'_>, args: &[Value], _: Pos) -> Result<Value> {
    bits(cx, args, "bitXor", |x, y| x ^ y)
}

/// Rounds a number to an integer; one that is an integer already stays exact.
fn round(cx: &Cx<'_>, value: Value, name: &str, to_whole: fn(f64) -> f64) -> Result<Value> {
    let number = cx.force_float(value, Pos::NONE, || {
        format!("while evaluating the first argument passed to builtins.{name}")
    })?;
    let value = cx.force(value)?;
    if matches!(value.view(), View::Int(_)) {
        return Ok(value);
    }
    // The bounds are powers of two, so they are exact; comparing rejects NaN too.
    let limit = 2f64.powi(63);
    let whole = to_whole(number);
    if whole >= -limit && whole < limit {
        return Ok(cx.int(whole as i64));
    }
    let number = number::float_general(number);
    let message = format!("NixFloat argument {number} is not in the range of NixInt");
    Err(Error::new(ErrorKind::Other, Pos::NONE, message))
}

fn ceil(cx: &Cx<'_>, args: &[Value], _: Pos) -> Result<Value> {
    round(cx, args[0], "ceil", f64::ceil)
}

fn floor(cx: &Cx<'_>, args: &[Value], _: Pos) -> Result<Value> {
    round(cx, args[0], "floor", f64::floor)
}
