//! `toXML`.

use raddle_nix_syntax::Pos;

use crate::eval::{Cx, Result};
use crate::print::xml::{XmlOptions, to_xml};
use crate::value::{PrimOp, Value};

pub(super) const PRIMOPS: &[PrimOp] = &[PrimOp::new("toXML", 1, to_xml_).strict(0b1)];

fn to_xml_(cx: &Cx<'_>, args: &[Value], _: Pos) -> Result<Value> {
    let (text, context) = to_xml(cx, args[0], Pos::NONE, XmlOptions::BUILTIN)?;
    Ok(cx.string_with(text, context))
}
