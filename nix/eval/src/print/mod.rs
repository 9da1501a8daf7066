//! Values and errors as text.
//!
//! | module   | who asks                                            |
//! |----------|-----------------------------------------------------|
//! | `plain`  | `nix-instantiate --eval`                            |
//! | `pretty` | `nix eval`, the REPL, traces, error messages        |
//! | [`json`] | `--json`, `builtins.toJSON`                         |
//! | [`xml`]  | `--xml`, `builtins.toXML`                           |
//! | [`mod@report`] | errors with their traces                      |
//!
//! Whatever is printed comes out in the order of attribute names, for any number of workers.
//!
//! Not here: where the text goes.

mod constants;
pub mod json;
mod plain;
mod pretty;
pub mod report;
mod seen;
pub mod xml;

use std::io::{self, Write};

use raddle_nix_syntax::Pos;

pub use report::{ReportOptions, report};

use crate::eval::{Ahead, Cx, Error, ErrorKind, Result};
use crate::value::Value;
use crate::value::heap::Heap;

/// What [`Cx::print_with`] shows of a value and how.
#[derive(Debug, Clone)]
pub struct PrintOptions {
    /// Whether everything is evaluated; otherwise thunks are shown as such.
    pub force: bool,
    /// Whether of the members of sets and lists only constants of the program are shown, and all
    /// others as thunks, whatever has been evaluated so far.
    pub constants_only: bool,
    /// Whether terminal colours are used.
    pub colour: bool,
    /// Whether derivations are shown by their path only; needs `force`.
    pub derivation_paths: bool,
    /// Whether a set or list is shown once only.
    pub track_repeated: bool,
    /// Whether errors inside the value are shown in their place; otherwise they end the printing.
    /// An error of the outermost value always ends it.
    pub show_errors: bool,
    /// The columns that nested values are indented by; 0 for everything on one line.
    pub indent: usize,
    /// The nesting at which sets and lists are left out.
    pub max_depth: usize,
    /// The number of attributes, in all sets together, after which the others are left out.
    pub max_attrs: usize,
    /// The number of list items, in all lists together, after which the others are left out.
    pub max_items: usize,
    /// The number of bytes of each string that are shown.
    pub max_string: usize,
}

impl PrintOptions {
    /// As `nix eval` prints: everything, evaluated, on one line.
    pub const EVAL: PrintOptions =
        PrintOptions { force: true, derivation_paths: true, ..PrintOptions::SHALLOW };

    /// As `builtins.trace` prints: what has been evaluated so far, on one line.
    pub const SHALLOW: PrintOptions = PrintOptions {
        force: false,
        constants_only: false,
        colour: false,
        derivation_paths: false,
        track_repeated: true,
        show_errors: false,
        indent: 0,
        max_depth: usize::MAX,
        max_attrs: usize::MAX,
        max_items: usize::MAX,
        max_string: usize::MAX,
    };

    /// As a REPL prints: one level, evaluated, over several lines, with errors in their place.
    pub const REPL: PrintOptions =
        PrintOptions { show_errors: true, indent: 2, max_depth: 1, ..PrintOptions::EVAL };

    /// As error messages print: a glimpse that is the same whatever has been evaluated so far.
    pub const ERROR: PrintOptions = PrintOptions {
        constants_only: true,
        max_depth: 10,
        max_attrs: 10,
        max_items: 10,
        max_string: 1024,
        ..PrintOptions::SHALLOW
    };
}

impl Default for PrintOptions {
    fn default() -> PrintOptions {
        PrintOptions::EVAL
    }
}

impl Cx<'_> {
    /// Returns a value as `nix eval` prints it, evaluated all the way down.
    pub fn print(&self, value: Value) -> Result<String> {
        self.print_with(value, &PrintOptions::EVAL)
    }

    /// Returns a value as `options` want it.
    pub fn print_with(&self, value: Value, options: &PrintOptions) -> Result<String> {
        let mut bytes = Vec::new();
        self.print_to(&mut self.collector(&mut bytes), value, options)?;
        Ok(text(bytes))
    }

    /// Writes a value as `options` want it; what was written before an error stays.
    pub fn print_to(
        &self,
        sink: &mut dyn Write,
        value: Value,
        options: &PrintOptions,
    ) -> Result<()> {
        if !options.force {
            return pretty::Printer::new(Some(self), options, sink).print(value);
        }
        self.evaluate_ahead(value, Ahead::Derivations, |cx| {
            pretty::Printer::new(Some(cx), options, sink).print(value)
        })
    }

    /// Returns a sink that appends to `bytes`, as long as the evaluator's limit of memory has room.
    pub fn collector<'b>(&'b self, bytes: &'b mut Vec<u8>) -> impl Write + 'b {
        Collector { heap: self.heap(), bytes }
    }

    /// Returns what is known of a value without evaluating anything.
    pub fn print_shallow(&self, value: Value) -> String {
        let mut bytes = Vec::new();
        let printer = pretty::Printer::new(Some(self), &PrintOptions::SHALLOW, &mut bytes);
        match printer.print(value) {
            Ok(()) => text(bytes),
            Err(error) => format!("«error: {}»", error.cause().message),
        }
    }

    /// Returns a value as `nix-instantiate --eval` prints it; with `strict`, it is evaluated all
    /// the way down first.
    pub fn print_plain(&self, value: Value, strict: bool) -> Result<String> {
        let mut bytes = Vec::new();
        self.print_plain_to(&mut self.collector(&mut bytes), value, strict)?;
        Ok(text(bytes))
    }

    /// Writes a value like [`print_plain`](Self::print_plain).
    pub fn print_plain_to(&self, sink: &mut dyn Write, value: Value, strict: bool) -> Result<()> {
        let value = if strict {
            self.evaluate_ahead(value, Ahead::Everything, |cx| cx.force_deep(value))?
        } else {
            self.force(value)?
        };
        plain::Printer::new(self, sink).print(value)
    }
}

/// Returns a short form of a value for an error message, without evaluating anything.
pub(crate) fn short(value: Value) -> String {
    let mut bytes = Vec::new();
    match pretty::Printer::new(None, &PrintOptions::ERROR, &mut bytes).print(value) {
        Ok(()) => text(bytes),
        Err(error) => unreachable!("nothing was evaluated, but: {error}"),
    }
}

/// Returns bytes as text; what is not UTF-8 is replaced.
fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// A sink that keeps all in memory.
struct Collector<'b> {
    heap: &'b Heap,
    bytes: &'b mut Vec<u8>,
}

impl Write for Collector<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // The old buffer and the new one, when it grows.
        self.heap.room_for((self.bytes.len() + bytes.len()).saturating_mul(2));
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A buffer in front of a sink.
struct Output<'a> {
    bytes: Vec<u8>,
    sink: &'a mut dyn Write,
}

impl<'a> Output<'a> {
    /// The number of bytes that are worth a write.
    const FULL: usize = 64 << 10;

    fn new(sink: &'a mut dyn Write) -> Output<'a> {
        Output { bytes: Vec::new(), sink }
    }

    /// Writes the buffer if it is full.
    #[inline]
    fn spill(&mut self) -> Result<()> {
        if self.bytes.len() < Self::FULL {
            return Ok(());
        }
        self.finish()
    }

    /// Writes the buffer.
    fn finish(&mut self) -> Result<()> {
        self.sink.write_all(&self.bytes).map_err(|error| {
            Error::new(ErrorKind::Other, Pos::NONE, format!("cannot write the value: {error}"))
        })?;
        self.bytes.clear();
        Ok(())
    }
}
