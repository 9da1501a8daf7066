//! `fromTOML`.

use raddle_nix_syntax::Pos;

use super::data::Builder;
use crate::eval::{Cx, Error, ErrorKind, Result};
use crate::text::toml::{Timestamps, parse_toml};
use crate::value::{PrimOp, Value};

pub(super) const PRIMOPS: &[PrimOp] = &[PrimOp::new("fromTOML", 1, from_toml).strict(0b1)];

fn from_toml(cx: &Cx<'_>, args: &[Value], _: Pos) -> Result<Value> {
    let at = "while evaluating the argument passed to builtins.fromTOML";
    let text = cx.force_plain_string(args[0], Pos::NONE, at)?;
    let allowed = cx.evaluator.settings.has_feature("parse-toml-timestamps");
    let timestamps = if allowed { Timestamps::Deliver } else { Timestamps::Reject };
    let mut builder = Builder::new(cx);
    match parse_toml(text, timestamps, &mut builder) {
        Ok(()) => Ok(builder.finish()),
        Err(error) => {
            let message = format!("while parsing TOML: {error}");
            Err(Error::new(ErrorKind::Other, Pos::NONE, message))
        }
    }
}
