//! Values as XML: `builtins.toXML` and the command line's `--xml`.
//!
//! One element a line, indented by two blanks for each level; the attributes of an element are
//! sorted by name. A derivation is written in full the first time that its `drvPath` is met.

use std::collections::HashSet;

use raddle_nix_syntax::{Pos, Symbol, sym};

use crate::compile::LambdaCode;
use crate::eval::{Cx, Result};
use crate::text::{escape, number};
use crate::value::{Attrs, Context, Function, Value, View};

/// How to write XML.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct XmlOptions {
    /// Parts are evaluated; otherwise one that is not evaluated is `<unevaluated />`.
    pub strict: bool,
    /// Attributes and functions say where they are defined.
    pub locations: bool,
}

impl XmlOptions {
    /// What `builtins.toXML` does.
    pub const BUILTIN: XmlOptions = XmlOptions { strict: true, locations: false };
}

/// Returns a value as XML, with the contexts of all strings in it.
pub fn to_xml(
    cx: &Cx<'_>,
    value: Value,
    pos: Pos,
    options: XmlOptions,
) -> Result<(Vec<u8>, Context)> {
    let out = b"<?xml version='1.0' encoding='utf-8'?>\n".to_vec();
    let mut writer =
        Writer { cx, options, out, context: Context::EMPTY, level: 0, seen: HashSet::new() };
    writer.open("expr", &[]);
    writer.value(value, pos)?;
    writer.close("expr");
    Ok((writer.out, writer.context))
}

/// The attributes of an element, sorted by name.
type XmlAttrs<'a> = [(&'a str, &'a [u8])];

struct Writer<'c, 'e> {
    cx: &'c Cx<'e>,
    options: XmlOptions,
    out: Vec<u8>,
    context: Context,
    /// How many elements are open.
    level: usize,
    /// The `drvPath` of each derivation written so far.
    seen: HashSet<&'static [u8]>,
}

impl Writer<'_, '_> {
    fn value(&mut self, value: Value, pos: Pos) -> Result<()> {
        let cx = self.cx;
        cx.nested(pos, || {
            match self.look(value)?.view() {
                View::Int(i) => self.scalar("int", i.to_string().as_bytes()),
                View::Float(f) => self.scalar("float", number::float_general(f).as_bytes()),
                View::Bool(b) => self.scalar("bool", if b { b"true" } else { b"false" }),
                View::Path(path) => self.scalar("path", path),
                View::Str(s) => {
                    self.context = self.context.union(cx.heap(), s.context());
                    self.scalar("string", s.as_bytes());
                }
                View::Null => self.empty("null", &[]),
                View::List(list) => {
                    self.open("list", &[]);
                    for element in list.iter() {
                        self.value(element, pos)?;
                    }
                    self.close("list");
                }
                View::Attrs(attrs) => self.set(attrs)?,
                View::Function(Function::Lambda(lambda)) => self.function(lambda.code()),
                View::Function(_) | View::Thunk => self.empty("unevaluated", &[]),
            }
            Ok(())
        })
    }

    /// Returns a part as far as it is to be evaluated.
    fn look(&self, value: Value) -> Result<Value> {
        if self.options.strict { self.cx.force(value) } else { Ok(value.resolved()) }
    }

    fn set(&mut self, attrs: Attrs) -> Result<()> {
        if !self.is_derivation(attrs)? {
            self.open("attrs", &[]);
            self.members(attrs)?;
            self.close("attrs");
            return Ok(());
        }
        let drv_path = self.string_attr(attrs, sym::DRV_PATH)?;
        let out_path = self.string_attr(attrs, sym::OUT_PATH)?;
        let paths = [("drvPath", drv_path), ("outPath", out_path)];
        let known: Vec<(&str, &[u8])> =
            paths.into_iter().filter_map(|(name, path)| Some((name, path?))).collect();
        self.open("derivation", &known);
        match drv_path {
            Some(path) if !path.is_empty() && self.seen.insert(path) => self.members(attrs)?,
            _ => self.empty("repeated", &[]),
        }
        self.close("derivation");
        Ok(())
    }

    fn is_derivation(&self, attrs: Attrs) -> Result<bool> {
        let Some(slot) = attrs.get(sym::TYPE) else { return Ok(false) };
        let view = self.cx.force_slot(slot)?.view();
        Ok(matches!(view, View::Str(s) if s.as_bytes() == b"derivation"))
    }

    fn string_attr(&self, attrs: Attrs, name: Symbol) -> Result<Option<&'static [u8]>> {
        let Some(slot) = attrs.get(name) else { return Ok(None) };
        match self.look(slot.get())?.view() {
            View::Str(s) => Ok(Some(s.as_bytes())),
            _ => Ok(None),
        }
    }

    fn members(&mut self, attrs: Attrs) -> Result<()> {
        for attr in attrs.sorted(self.cx.heap()) {
            let place = self.place(attr.pos);
            self.open_at("attr", place, &[("name", attr.name.as_bytes())]);
            self.value(attr.value(), attr.pos)?;
            self.close("attr");
        }
        Ok(())
    }

    fn function(&mut self, code: &'static LambdaCode) {
        let place = self.place(code.pos);
        self.open_at("function", place, &[]);
        match &code.formals {
            None => {
                let name = code.arg.map_or(&b""[..], Symbol::as_bytes);
                self.empty("varpat", &[("name", name)]);
            }
            Some(formals) => {
                let mut about: Vec<(&str, &[u8])> = Vec::new();
                if formals.ellipsis {
                    about.push(("ellipsis", b"1"));
                }
                if let Some(name) = code.arg {
                    about.push(("name", name.as_bytes()));
                }
                self.open("attrspat", &about);
                let mut names: Vec<&[u8]> =
                    formals.formals.iter().map(|formal| formal.name.as_bytes()).collect();
                names.sort_unstable();
                for name in names {
                    self.empty("attr", &[("name", name)]);
                }
                self.close("attrspat");
            }
        }
        self.close("function");
    }

    /// Returns where something is defined, if that is to be said and known.
    fn place(&self, pos: Pos) -> Option<Place> {
        if !self.options.locations {
            return None;
        }
        let location = pos.locate()?;
        let path = location.source.path().map(|path| path.as_os_str().as_encoded_bytes().to_vec());
        Some(Place { column: location.column.to_string(), line: location.line.to_string(), path })
    }

    fn open_at(&mut self, name: &str, place: Option<Place>, own: &XmlAttrs<'_>) {
        let Some(place) = place else { return self.open(name, own) };
        let mut all = own.to_vec();
        all.push(("column", place.column.as_bytes()));
        all.push(("line", place.line.as_bytes()));
        if let Some(path) = &place.path {
            all.push(("path", path));
        }
        all.sort_unstable();
        self.open(name, &all);
    }

    fn open(&mut self, name: &str, attrs: &XmlAttrs<'_>) {
        self.tag(name, attrs);
        self.out.extend_from_slice(b">\n");
        self.level += 1;
    }

    fn close(&mut self, name: &str) {
        self.level -= 1;
        self.indent();
        self.out.extend_from_slice(b"</");
        self.out.extend_from_slice(name.as_bytes());
        self.out.extend_from_slice(b">\n");
    }

    fn scalar(&mut self, name: &str, value: &[u8]) {
        self.empty(name, &[("value", value)]);
    }

    fn empty(&mut self, name: &str, attrs: &XmlAttrs<'_>) {
        self.tag(name, attrs);
        self.out.extend_from_slice(b" />\n");
    }

    fn tag(&mut self, name: &str, attrs: &XmlAttrs<'_>) {
        self.indent();
        let len: usize = attrs.iter().map(|(_, value)| value.len()).sum();
        self.cx.room_for_text(self.out.len() + len);
        self.out.push(b'<');
        self.out.extend_from_slice(name.as_bytes());
        for (name, value) in attrs {
            self.out.push(b' ');
            self.out.extend_from_slice(name.as_bytes());
            self.out.extend_from_slice(b"=\"");
            escape::write_xml_text(&mut self.out, value);
            self.out.push(b'"');
        }
    }

    fn indent(&mut self) {
        self.out.resize(self.out.len() + 2 * self.level, b' ');
    }
}

/// A position as XML attributes.
struct Place {
    column: String,
    line: String,
    path: Option<Vec<u8>>,
}
