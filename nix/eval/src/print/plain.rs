//! The printer of `nix-instantiate --eval`, older and simpler than the one in `pretty`.
//!
//! It evaluates nothing: what has not been evaluated is `<CODE>`, functions are `<LAMBDA>`,
//! `<PRIMOP>` and `<PRIMOP-APP>`.

use std::io::Write;

use raddle_nix_syntax::Pos;

use super::Output;
use super::seen::Seen;
use crate::eval::{Cx, Result};
use crate::text::{escape, number};
use crate::value::{Attrs, Function, List, Value, View};

pub(super) struct Printer<'a, 'e> {
    cx: &'a Cx<'e>,
    out: Output<'a>,
    seen: Seen,
}

impl<'a, 'e> Printer<'a, 'e> {
    pub(super) fn new(cx: &'a Cx<'e>, sink: &'a mut dyn Write) -> Printer<'a, 'e> {
        Printer { cx, out: Output::new(sink), seen: Seen::default() }
    }

    /// Prints a whole value.
    pub(super) fn print(mut self, value: Value) -> Result<()> {
        self.value(value)?;
        self.out.finish()
    }

    fn value(&mut self, value: Value) -> Result<()> {
        match value.view() {
            View::Int(i) => self.text(i.to_string()),
            View::Float(f) => self.text(number::float_general(f)),
            View::Bool(b) => self.text(if b { "true" } else { "false" }),
            View::Null => self.text("null"),
            View::Str(s) => {
                self.cx.room_for_text(s.as_bytes().len());
                escape::write_string_literal(&mut self.out.bytes, s.as_bytes());
            }
            View::Path(path) => self.text(path),
            View::Function(Function::Lambda(_)) => self.text("<LAMBDA>"),
            View::Function(Function::PrimOp(_)) => self.text("<PRIMOP>"),
            View::Function(Function::PartialApp(_)) => self.text("<PRIMOP-APP>"),
            View::Attrs(attrs) if self.seen.has_set(attrs) => self.text("«repeated»"),
            View::Attrs(attrs) => self.cx.nested(Pos::NONE, || self.set(attrs))?,
            View::List(list) if self.seen.has_list(list) => self.text("«repeated»"),
            View::List(list) => self.cx.nested(Pos::NONE, || self.list(list))?,
            View::Thunk => match value.as_thunk() {
                Some(thunk) if thunk.is_busy() => self.text("«potential infinite recursion»"),
                _ => self.text("<CODE>"),
            },
        }
        self.out.spill()
    }

    fn set(&mut self, attrs: Attrs) -> Result<()> {
        self.text("{ ");
        for attr in attrs.sorted(self.cx.heap()) {
            escape::write_attribute_name(&mut self.out.bytes, attr.name.as_bytes());
            self.text(" = ");
            self.value(attr.value())?;
            self.text("; ");
        }
        self.text("}");
        Ok(())
    }

    fn list(&mut self, list: List) -> Result<()> {
        self.text("[ ");
        for item in list.iter() {
            self.value(item)?;
            self.text(" ");
        }
        self.text("]");
        Ok(())
    }

    fn text(&mut self, text: impl AsRef<[u8]>) {
        self.out.bytes.extend_from_slice(text.as_ref());
    }
}
