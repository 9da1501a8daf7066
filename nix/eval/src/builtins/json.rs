//! `toJSON` and `fromJSON`.

use raddle_nix_syntax::Pos;

use super::data::Builder;
use crate::eval::{Cx, Error, ErrorKind, Result};
use crate::print::json::{self, JsonOptions};
use crate::text::json::{JsonError, parse_json};
use crate::value::{PrimOp, Value};

pub(super) const PRIMOPS: &[PrimOp] = &[
    PrimOp::new("toJSON", 1, to_json).strict(0b1),
    PrimOp::new("fromJSON", 1, from_json).strict(0b1),
];

fn to_json(cx: &Cx<'_>, args: &[Value], _: Pos) -> Result<Value> {
    let (text, context) = json::to_json(cx, args[0], Pos::NONE, JsonOptions::BUILTIN)?;
    Ok(cx.string_with(text, context))
}

fn from_json(cx: &Cx<'_>, args: &[Value], _: Pos) -> Result<Value> {
    let at = "while evaluating the first argument passed to builtins.fromJSON";
    let text = cx.force_plain_string(args[0], Pos::NONE, at)?;
    let mut builder = Builder::new(cx);
    match parse_json(text, &mut builder) {
        Ok(()) => Ok(builder.finish()),
        Err(error) => Err(decoding_error(&error)),
    }
}

#[cold]
fn decoding_error(cause: &JsonError) -> Error {
    let error = Error::new(ErrorKind::Other, Pos::NONE, cause.to_string());
    match cause {
        // What the language cannot represent is not a fault of the text.
        JsonError::IntegerRange(_) | JsonError::NullByte(_) => error,
        _ => error.frame(Pos::NONE, "while decoding a JSON string"),
    }
}
