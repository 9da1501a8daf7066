//! Values as JSON: `builtins.toJSON`, structured derivation attributes and the command line.
//!
//! A set that says what string it is (`__toString`, else `outPath`) becomes that string. Keys are
//! sorted by their bytes. Text that is not UTF-8 is an error that comes after all others, because
//! Nix evaluates everything before it writes the first byte.

use raddle_nix_syntax::{Pos, sym};

use crate::eval::{Cx, Error, ErrorKind, Result, Trace, describe, show_type};
use crate::text::escape::{self, JsonTextError};
use crate::text::number;
use crate::value::{Attrs, Context, List, Str, Value, View};

/// How to write JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JsonOptions {
    /// Paths are copied to the store and become store paths.
    pub copy_paths: bool,
    /// Parts are evaluated; otherwise one that is not evaluated is an error.
    pub strict: bool,
    /// One member per line, indented by two blanks for each level.
    pub pretty: bool,
}

impl JsonOptions {
    /// What `builtins.toJSON` does.
    pub const BUILTIN: JsonOptions = JsonOptions { copy_paths: true, strict: true, pretty: false };
    /// What `nix eval --json` does.
    pub const EVAL: JsonOptions = JsonOptions { copy_paths: false, strict: true, pretty: false };
}

/// Returns a value as JSON, with the contexts of all strings in it.
pub fn to_json(
    cx: &Cx<'_>,
    value: Value,
    pos: Pos,
    options: JsonOptions,
) -> Result<(Vec<u8>, Context)> {
    let mut writer =
        Writer { cx, options, out: Vec::new(), context: Context::EMPTY, level: 0, bad_text: None };
    writer.value(value, pos, options.copy_paths)?;
    match writer.bad_text {
        None => Ok((writer.out, writer.context)),
        Some(error) => {
            let message = format!("JSON serialization error: {error}");
            Err(Error::new(ErrorKind::Other, Pos::NONE, message))
        }
    }
}

struct Writer<'c, 'e> {
    cx: &'c Cx<'e>,
    options: JsonOptions,
    out: Vec<u8>,
    context: Context,
    /// How many lists and objects are open.
    level: usize,
    /// The first text that is not UTF-8.
    bad_text: Option<JsonTextError>,
}

impl Writer<'_, '_> {
    fn value(&mut self, value: Value, pos: Pos, copy_paths: bool) -> Result<()> {
        let cx = self.cx;
        cx.nested(pos, || {
            let value = if self.options.strict {
                cx.force(value).map_err(|error| at_member(error, pos))?
            } else {
                value.resolved()
            };
            match value.view() {
                View::Attrs(attrs) => {
                    let peel = Peel { pos, at: pos, through_to_string: false, copy_paths };
                    self.peel(value, attrs, peel)
                }
                _ => self.plain(value, pos, copy_paths),
            }
        })
    }

    /// Writes anything but a set.
    fn plain(&mut self, value: Value, pos: Pos, copy_paths: bool) -> Result<()> {
        match value.view() {
            View::Null => self.raw("null"),
            View::Bool(true) => self.raw("true"),
            View::Bool(false) => self.raw("false"),
            View::Int(i) => self.raw(&i.to_string()),
            View::Float(f) => self.raw(&number::float_json(f)),
            View::Str(s) => self.string(s),
            View::Path(path) if copy_paths => {
                let copied = self.cx.copy_to_store(path, pos)?;
                self.string(copied);
            }
            View::Path(path) => self.text(path),
            View::List(list) => return self.list(list, pos, copy_paths),
            View::Attrs(_) | View::Function(_) | View::Thunk => {
                let message = format!("cannot convert {} to JSON", show_type(value));
                return Err(Error::new(ErrorKind::Type, pos, message));
            }
        }
        Ok(())
    }

    /// Writes the string that a set stands for, or an object.
    fn peel(&mut self, value: Value, attrs: Attrs, peel: Peel) -> Result<()> {
        let cx = self.cx;
        if let Some(attr) = attrs.get_attr(sym::TO_STRING) {
            let called = cx
                .call(attr.value(), &[value], attr.pos)
                .trace(attr.pos, || "while calling the `__toString` attribute".to_owned())?;
            let inner = Peel { at: attr.pos, through_to_string: true, ..peel };
            return cx.nested(peel.at, || self.peeled(called, inner)).trace(attr.pos, || {
                "while using the result of the `__toString` attribute".to_owned()
            });
        }
        if let Some(attr) = attrs.get_attr(sym::OUT_PATH) {
            let out_path = cx
                .force_slot(attr.slot)
                .trace(attr.pos, || "while evaluating the `outPath` attribute".to_owned())?;
            let inner = Peel { at: attr.pos, ..peel };
            return cx
                .nested(peel.at, || self.peeled(out_path, inner))
                .trace(attr.pos, || "while using the `outPath` attribute".to_owned());
        }
        if peel.through_to_string {
            return Err(not_a_string("must", value, peel.at));
        }
        self.object(attrs, peel.copy_paths)
    }

    fn peeled(&mut self, value: Value, peel: Peel) -> Result<()> {
        match value.view() {
            View::Attrs(attrs) => self.peel(value, attrs, peel),
            View::Str(_) | View::Path(_) => {
                // A quirk kept for compatibility: such a path is not copied.
                let copy_paths = peel.copy_paths && !peel.through_to_string;
                self.value(value, peel.pos, copy_paths)
            }
            _ if peel.through_to_string => Err(not_a_string("should", value, peel.at)),
            _ => self.value(value, peel.pos, peel.copy_paths),
        }
    }

    fn object(&mut self, attrs: Attrs, copy_paths: bool) -> Result<()> {
        self.open(b'{');
        for (i, attr) in attrs.sorted(self.cx.heap()).into_iter().enumerate() {
            self.next_member(i);
            self.text(attr.name.as_bytes());
            self.raw(if self.options.pretty { ": " } else { ":" });
            self.value(attr.value(), attr.pos, copy_paths)
                .trace(attr.pos, || format!("while evaluating attribute '{}'", attr.name))?;
        }
        self.close(b'}', attrs.is_empty());
        Ok(())
    }

    fn list(&mut self, list: List, pos: Pos, copy_paths: bool) -> Result<()> {
        self.open(b'[');
        for (i, element) in list.iter().enumerate() {
            self.next_member(i);
            self.value(element, pos, copy_paths)
                .trace(pos, || format!("while evaluating list element at index {i}"))?;
        }
        self.close(b']', list.is_empty());
        Ok(())
    }

    fn open(&mut self, bracket: u8) {
        self.out.push(bracket);
        self.level += 1;
    }

    fn close(&mut self, bracket: u8, is_empty: bool) {
        self.level -= 1;
        if !is_empty {
            self.new_line();
        }
        self.out.push(bracket);
    }

    fn next_member(&mut self, index: usize) {
        self.cx.room_for_text(self.out.len());
        if index > 0 {
            self.out.push(b',');
        }
        self.new_line();
    }

    fn new_line(&mut self) {
        if self.options.pretty {
            self.out.push(b'\n');
            self.out.resize(self.out.len() + 2 * self.level, b' ');
        }
    }

    fn raw(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
    }

    fn string(&mut self, s: Str) {
        self.context = self.context.union(self.cx.heap(), s.context());
        self.text(s.as_bytes());
    }

    fn text(&mut self, text: &[u8]) {
        self.cx.room_for_text(self.out.len() + text.len());
        if let Err(error) = escape::write_json_string(&mut self.out, text) {
            self.bad_text.get_or_insert(error);
        }
    }
}

/// Where in the layers of a set that stands for a string we are.
#[derive(Clone, Copy)]
struct Peel {
    /// Where the set is.
    pos: Pos,
    /// Where the layer is.
    at: Pos,
    /// Whether some layer was a `__toString`.
    through_to_string: bool,
    copy_paths: bool,
}

/// Puts the error for too deep a call where the member is that was about to be evaluated.
#[cold]
fn at_member(error: Error, pos: Pos) -> Error {
    if error.kind() == ErrorKind::StackOverflow && error.frames().next().is_none() {
        return Error::new(ErrorKind::StackOverflow, pos, error.to_string());
    }
    error
}

#[cold]
fn not_a_string(how: &str, value: Value, pos: Pos) -> Error {
    let message = format!("`__toString` {how} return a string, but got {}", describe(value));
    Error::new(ErrorKind::Type, pos, message)
}
