//! The printer of `nix eval`, of the REPL, of traces and of error messages.
//!
//! ```text
//! { a = 1; f = «lambda f @ file.nix:1:2»; list = [ 1 «thunk» ]; }
//! ```
//!
//! It evaluates what it prints or leaves thunks alone, prints on one line or breaks nested values
//! over lines, and leaves things out where [`PrintOptions`] set limits. The limits on attributes
//! and items count over the whole value, not over each set.
//!
//! Without an evaluation at hand (`cx` is `None`) nothing can be evaluated; `options.force` must
//! be off.

use std::io::Write;

use raddle_nix_syntax::sym;

use super::constants;
use super::seen::Seen;
use super::{Output, PrintOptions};
use crate::eval::{Coerce, Cx, Error, Result};
use crate::text::{escape, number};
use crate::value::{Attr, Attrs, Function, List, Type, Value, View};
use raddle_nix_syntax::Pos;

const NORMAL: &str = "\x1b[0m";
const FAINT: &str = "\x1b[2m";
const RED: &str = "\x1b[31;1m";
const GREEN: &str = "\x1b[32;1m";
const BLUE: &str = "\x1b[34;1m";
const MAGENTA: &str = "\x1b[35;1m";
const CYAN: &str = "\x1b[36;1m";

pub(super) struct Printer<'a, 'e> {
    cx: Option<&'a Cx<'e>>,
    options: &'a PrintOptions,
    out: Output<'a>,
    seen: Seen,
    attrs_printed: usize,
    items_printed: usize,
    /// The columns by which a new line is indented now.
    indent: usize,
}

impl<'a, 'e> Printer<'a, 'e> {
    pub(super) fn new(
        cx: Option<&'a Cx<'e>>,
        options: &'a PrintOptions,
        sink: &'a mut dyn Write,
    ) -> Printer<'a, 'e> {
        Printer {
            cx,
            options,
            out: Output::new(sink),
            seen: Seen::default(),
            attrs_printed: 0,
            items_printed: 0,
            indent: 0,
        }
    }

    /// Prints a whole value.
    pub(super) fn print(mut self, value: Value) -> Result<()> {
        let value = match self.cx {
            Some(cx) if self.options.force => cx.force(value)?,
            _ => value.resolved(),
        };
        self.value(value, 0)?;
        self.out.finish()
    }

    /// Prints a value at some depth; evaluates it first if asked to.
    fn member(&mut self, value: Value, depth: usize) -> Result<()> {
        let evaluated = match self.cx {
            Some(cx) if self.options.force => match cx.force(value) {
                Ok(evaluated) => evaluated,
                Err(error) if self.options.show_errors && error.is_lasting() => {
                    self.error(error);
                    return Ok(());
                }
                Err(error) => return Err(error),
            },
            _ => value.resolved(),
        };
        self.value(evaluated, depth)
    }

    /// Prints a value that has been evaluated if it is to be.
    fn value(&mut self, value: Value, depth: usize) -> Result<()> {
        match value.view() {
            View::Int(i) => self.coloured(CYAN, i.to_string()),
            View::Float(f) => self.coloured(CYAN, number::float_general(f)),
            View::Bool(b) => self.coloured(CYAN, if b { "true" } else { "false" }),
            View::Null => self.coloured(CYAN, "null"),
            View::Str(s) => self.string(s.as_bytes()),
            View::Path(path) => self.coloured(GREEN, path),
            View::Function(function) => self.function(function),
            View::Attrs(attrs) => {
                let repeated = self.options.track_repeated && self.seen.has_set(attrs);
                return self.nested(|printer| printer.set(attrs, repeated, depth));
            }
            View::List(list) => {
                let repeated = self.options.track_repeated && self.seen.has_list(list);
                return self.nested(|printer| printer.list(list, repeated, depth));
            }
            View::Thunk => match value.as_thunk() {
                Some(thunk) if thunk.is_busy() => {
                    self.coloured(RED, "«potential infinite recursion»");
                }
                _ => self.coloured(MAGENTA, "«thunk»"),
            },
        }
        self.out.spill()
    }

    fn set(&mut self, attrs: Attrs, repeated: bool, depth: usize) -> Result<()> {
        if repeated {
            self.coloured(MAGENTA, "«repeated»");
            return Ok(());
        }
        if self.derivation(attrs)? {
            return Ok(());
        }
        if depth >= self.options.max_depth {
            self.text("{ ... }");
            return Ok(());
        }
        let sorted = self.sorted(attrs);
        let broken = self.is_broken(sorted.len(), sorted.first().map(|attr| attr.value()));
        self.indent += self.options.indent;
        self.text("{");
        for (i, attr) in sorted.iter().enumerate() {
            self.space(broken);
            if self.attrs_printed >= self.options.max_attrs {
                self.elided(sorted.len() - i, "attribute");
                break;
            }
            escape::write_attribute_name(&mut self.out.bytes, attr.name.as_bytes());
            self.text(" = ");
            if self.options.constants_only && !constants::is_constant(attr) {
                self.coloured(MAGENTA, "«thunk»");
            } else {
                self.member(attr.value(), depth + 1)?;
            }
            self.text(";");
            self.attrs_printed += 1;
        }
        self.indent -= self.options.indent;
        self.space(broken);
        self.text("}");
        self.out.spill()
    }

    fn list(&mut self, list: List, repeated: bool, depth: usize) -> Result<()> {
        if repeated {
            self.coloured(MAGENTA, "«repeated»");
            return Ok(());
        }
        if depth >= self.options.max_depth {
            self.text("[ ... ]");
            return Ok(());
        }
        let broken = self.is_broken(list.len(), list.iter().next());
        let all_shown = !self.options.constants_only || list.is_of_constants();
        self.indent += self.options.indent;
        self.text("[");
        for (i, item) in list.iter().enumerate() {
            self.space(broken);
            if self.items_printed >= self.options.max_items {
                self.elided(list.len() - i, "item");
                break;
            }
            if all_shown {
                self.member(item, depth + 1)?;
            } else {
                self.coloured(MAGENTA, "«thunk»");
            }
            self.items_printed += 1;
        }
        self.indent -= self.options.indent;
        self.space(broken);
        self.text("]");
        self.out.spill()
    }

    /// Returns the attributes in the order of printing.
    fn sorted(&self, attrs: Attrs) -> Vec<Attr> {
        let mut sorted = match self.cx {
            Some(cx) => attrs.sorted(cx.heap()),
            None => {
                let mut sorted = attrs.attrs();
                sorted.sort_by_key(|attr| attr.name.as_bytes());
                sorted
            }
        };
        if self.options.max_attrs < usize::MAX {
            // Where not everything fits, what says most about a set comes first.
            let rank = |attr: &Attr| ![sym::TYPE, sym::UNDERSCORE_TYPE].contains(&attr.name);
            sorted.sort_by_key(rank);
        }
        sorted
    }

    /// Returns whether a set or list is printed over several lines, by its length and one member.
    fn is_broken(&self, len: usize, member: Option<Value>) -> bool {
        let Some(member) = member.filter(|_| self.options.indent > 0) else { return false };
        len > 1 || matches!(member.type_of(), None | Some(Type::Set | Type::List))
    }

    /// Prints a set as a derivation if it is one and that is asked for.
    fn derivation(&mut self, attrs: Attrs) -> Result<bool> {
        let Some(cx) = self.cx.filter(|_| self.options.force && self.options.derivation_paths)
        else {
            return Ok(false);
        };
        let path =
            cx.is_derivation(attrs).and_then(|is_derivation| match attrs.get(sym::DRV_PATH) {
                _ if !is_derivation => Ok(None),
                None => Ok(Some(Vec::new())),
                Some(slot) => {
                    let path = cx.coerce(slot.get(), Coerce::PLAIN, Pos::NONE)?;
                    Ok(Some([b" ", path.as_bytes()].concat()))
                }
            });
        match path {
            Ok(None) => return Ok(false),
            Ok(Some(path)) => {
                self.coloured(GREEN, ["«derivation".as_bytes(), &path, "»".as_bytes()].concat());
            }
            Err(error) if self.options.show_errors && error.is_lasting() => self.error(error),
            Err(error) => return Err(error),
        }
        Ok(true)
    }

    fn function(&mut self, function: Function) {
        let text = match function {
            Function::PrimOp(primop) => format!("«primop {}»", primop.name),
            Function::PartialApp(app) => {
                format!("«partially applied primop {}»", app.unwind().0.name)
            }
            Function::Lambda(lambda) => {
                let code = lambda.code();
                let mut text = "«lambda".to_owned();
                if let Some(name) = code.name.get() {
                    text.push(' ');
                    text.push_str(&String::from_utf8_lossy(name.as_bytes()));
                }
                match code.pos.locate() {
                    Some(location) => format!("{text} @ {location}»"),
                    None => format!("{text} @ «none»»"),
                }
            }
        };
        self.coloured(BLUE, text);
    }

    fn string(&mut self, bytes: &[u8]) {
        let shown = cut(bytes, self.options.max_string);
        if self.options.colour {
            self.text(MAGENTA);
        }
        if let Some(cx) = self.cx {
            cx.room_for_text(shown.len());
        }
        escape::write_string_literal(&mut self.out.bytes, shown);
        let left = bytes.len() - shown.len();
        if left > 0 {
            self.text(" ");
        }
        if self.options.colour {
            self.text(NORMAL);
        }
        if left > 0 {
            self.elided(left, "byte");
        }
    }

    fn error(&mut self, error: Error) {
        self.coloured(RED, format!("«error: {}»", error.cause().message));
    }

    /// Prints a nested value, or what is wrong if it is nested too deeply.
    fn nested(&mut self, print: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        let Some(cx) = self.cx else { return print(self) };
        let mut entered = false;
        let result = cx.nested(Pos::NONE, || {
            entered = true;
            print(self)
        });
        match result {
            Err(error) if !entered && (self.options.show_errors || !self.options.force) => {
                self.error(error);
                Ok(())
            }
            result => result,
        }
    }

    fn elided(&mut self, count: usize, what: &str) {
        let plural = if count == 1 { "" } else { "s" };
        self.coloured(FAINT, format!("«{count} {what}{plural} elided»"));
    }

    fn coloured(&mut self, colour: &str, text: impl AsRef<[u8]>) {
        let (before, after) = if self.options.colour { (colour, NORMAL) } else { ("", "") };
        self.text(before);
        self.out.bytes.extend_from_slice(text.as_ref());
        self.text(after);
    }

    fn space(&mut self, broken: bool) {
        if !broken {
            self.text(" ");
            return;
        }
        let bytes = &mut self.out.bytes;
        bytes.push(b'\n');
        bytes.resize(bytes.len() + self.indent, b' ');
    }

    fn text(&mut self, text: &str) {
        self.out.bytes.extend_from_slice(text.as_bytes());
    }
}

/// Returns the first `max` bytes, or fewer so as not to cut a character in two.
fn cut(bytes: &[u8], max: usize) -> &[u8] {
    let mut end = bytes.len().min(max);
    if end < bytes.len() {
        let floor = end.saturating_sub(3);
        while end > floor && bytes[end] & 0xc0 == 0x80 {
            end -= 1;
        }
    }
    &bytes[..end]
}
