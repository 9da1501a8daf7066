//! Making strings of values: interpolation, `+`, `toString` and derivation attributes.

use raddle_nix_syntax::{Pos, sym};
use smallvec::SmallVec;

use super::expect::show_type;
use super::{Cx, Error, ErrorKind, Result, Trace};
use crate::compile::Code;
use crate::compile::code::Concat;
use crate::paths;
use crate::print;
use crate::text::number;
use crate::value::env::Env;
use crate::value::{Attrs, Context, List, Str, Value, View};

/// What may become a string, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Coerce {
    /// Numbers, Booleans, null and lists too.
    pub more: bool,
    /// Paths are copied to the store and become store paths.
    pub copy: bool,
}

impl Coerce {
    /// `"${x}"`: strings, paths (copied), sets that know how.
    pub const INTERPOLATE: Coerce = Coerce { more: false, copy: true };
    /// Strings, paths (as they are), sets that know how.
    pub const PLAIN: Coerce = Coerce { more: false, copy: false };
    /// `toString`.
    pub const TO_STRING: Coerce = Coerce { more: true, copy: false };
    /// Attributes of a derivation.
    pub const DERIVATION: Coerce = Coerce { more: true, copy: true };
}

/// How a part of an interpolation or an addition is described.
const SEGMENT: &str = "while evaluating a path segment";

impl Cx<'_> {
    /// Makes a string of a value.
    pub fn coerce(&self, value: Value, how: Coerce, pos: Pos) -> Result<Str> {
        self.coerce_part(value, how, pos, None)
    }

    /// Makes a string of a value; `at` describes it in complaints about its type.
    pub(crate) fn coerce_for(
        &self,
        value: Value,
        how: Coerce,
        pos: Pos,
        at: &'static str,
    ) -> Result<Str> {
        self.coerce_part(value, how, pos, Some(at))
    }

    fn coerce_part(
        &self,
        value: Value,
        how: Coerce,
        pos: Pos,
        at: Option<&'static str>,
    ) -> Result<Str> {
        let value = self.force(value)?;
        let heap = self.heap();
        Ok(match value.view() {
            View::Str(s) => s,
            View::Path(path) if how.copy => self.copy_to_store(path, pos)?,
            View::Path(path) => Str::new(heap, path),
            View::Attrs(attrs) => return self.coerce_set(value, attrs, how, pos, at),
            View::Int(i) if how.more => Str::new(heap, i.to_string().as_bytes()),
            View::Float(f) if how.more => Str::new(heap, number::float_fixed(f).as_bytes()),
            View::Bool(true) if how.more => Str::new(heap, b"1"),
            View::Bool(false) | View::Null if how.more => Str::new(heap, b""),
            View::List(list) if how.more => return self.coerce_list(list, how, pos, at),
            _ => return Err(not_a_string(value, pos, at)),
        })
    }

    #[inline(never)]
    fn coerce_set(
        &self,
        value: Value,
        attrs: Attrs,
        how: Coerce,
        pos: Pos,
        at: Option<&'static str>,
    ) -> Result<Str> {
        self.check_stack()?;
        if let Some(attr) = attrs.get_attr(sym::TO_STRING) {
            let string = self
                .call(attr.value(), &[value], attr.pos)
                .trace(attr.pos, || "while calling the `__toString` attribute".to_owned())?;
            return self.coerce_part(string, how, pos, at).trace(attr.pos, || {
                "while using the result of the `__toString` attribute".to_owned()
            });
        }
        if let Some(attr) = attrs.get_attr(sym::OUT_PATH) {
            let path = self
                .force_slot(attr.slot)
                .trace(attr.pos, || "while evaluating the `outPath` attribute".to_owned())?;
            return self
                .coerce_part(path, how, pos, at)
                .trace(attr.pos, || "while using the `outPath` attribute".to_owned());
        }
        Err(not_a_string(value, pos, at))
    }

    #[inline(never)]
    fn coerce_list(
        &self,
        list: List,
        how: Coerce,
        pos: Pos,
        at: Option<&'static str>,
    ) -> Result<Str> {
        self.check_stack()?;
        let mut bytes: SmallVec<[u8; 256]> = SmallVec::new();
        let mut context = Context::EMPTY;
        let last = list.len().wrapping_sub(1);
        for (i, value) in list.iter().enumerate() {
            let element = Some("while evaluating one element of the list");
            let s = self.coerce_part(value, how, pos, element).map_err(|error| match at {
                Some(at) => error.frame(pos, at),
                None => error,
            })?;
            self.room_for_text(bytes.len() + s.as_bytes().len());
            bytes.extend_from_slice(s.as_bytes());
            context = context.union(self.heap(), s.context());
            // A quirk kept for compatibility: no blank after an empty list.
            let empty = matches!(value.resolved().view(), View::List(list) if list.is_empty());
            if i != last && !empty {
                bytes.push(b' ');
            }
        }
        Ok(Str::with_context(self.heap(), &bytes, context))
    }

    /// Makes a path of a value: absolute, canonical, with whatever context it brings.
    ///
    /// `at` describes the value in complaints about its type.
    pub(crate) fn coerce_to_path(
        &self,
        value: Value,
        pos: Pos,
        at: &'static str,
    ) -> Result<(Vec<u8>, Context)> {
        let s = self.coerce_for(value, Coerce::PLAIN, pos, at)?;
        if s.as_bytes().first() != Some(&b'/') {
            let message = format!(
                "string '{}' doesn't represent an absolute path",
                String::from_utf8_lossy(s.as_bytes())
            );
            return Err(Error::new(ErrorKind::Other, Pos::NONE, message).frame(pos, at));
        }
        Ok((paths::canonical(s.as_bytes()), s.context()))
    }

    /// Joins strings into one, allocated once.
    pub(crate) fn join(&self, strings: &[Str]) -> Str {
        let mut context = Context::EMPTY;
        let mut bytes: SmallVec<[u8; 256]> = SmallVec::new();
        self.room_for_text(strings.iter().map(|s| s.as_bytes().len()).sum());
        for s in strings {
            bytes.extend_from_slice(s.as_bytes());
            context = context.union(self.heap(), s.context());
        }
        Str::with_context(self.heap(), &bytes, context)
    }

    pub(super) fn interpolate(&self, code: &'static Concat, env: Env) -> Result<Value> {
        let mut strings: SmallVec<[Str; 8]> = SmallVec::new();
        for (part, pos) in code.parts {
            let value = self.eval(part, env)?;
            strings.push(match value.view() {
                View::Str(s) => s,
                _ => self.coerce_for(value, Coerce::INTERPOLATE, *pos, SEGMENT)?,
            });
        }
        Ok(self.join(&strings).into())
    }

    pub(super) fn interpolate_path(&self, code: &'static Concat, env: Env) -> Result<Value> {
        let mut bytes = Vec::new();
        for (part, pos) in code.parts {
            let value = self.eval(part, env)?;
            let s = self.coerce_for(value, Coerce::PLAIN, *pos, SEGMENT)?;
            self.forbid_context(s, *pos)?;
            self.room_for_text(bytes.len() + s.as_bytes().len());
            bytes.extend_from_slice(s.as_bytes());
        }
        Ok(self.path(paths::canonical(&bytes)))
    }

    fn forbid_context(&self, s: Str, pos: Pos) -> Result<()> {
        if s.context().is_empty() {
            return Ok(());
        }
        let message = "a string that refers to a store path cannot be appended to a path";
        Err(Error::new(ErrorKind::Type, pos, message))
    }

    /// Evaluates `a + b + …`; the type of what has been added so far decides each step.
    pub(super) fn add_code(&self, code: &'static Concat, env: Env) -> Result<Value> {
        let Some(((first, first_pos), rest)) = code.parts.split_first() else {
            unreachable!("an addition has operands")
        };
        let mut sum = self.operand(first, *first_pos, env)?;
        for (i, (part, pos)) in rest.iter().enumerate() {
            sum = match sum.view() {
                View::Int(_) | View::Float(_) => {
                    let value = self.operand(part, *pos, env)?;
                    self.add_numbers(sum, value, *pos)?
                }
                View::Path(path) => {
                    let value = self.operand(part, *pos, env)?;
                    let s = self.coerce_for(value, Coerce::PLAIN, *pos, SEGMENT)?;
                    self.forbid_context(s, *pos)?;
                    self.room_for_text(path.len() + s.as_bytes().len());
                    self.path(paths::canonical(&[path, s.as_bytes()].concat()))
                }
                // From here on everything is a string: one pass over what is left.
                _ => {
                    let first_pos = if i == 0 { first_pos } else { pos };
                    return self.add_strings(sum, *first_pos, &rest[i..], env);
                }
            };
        }
        Ok(sum)
    }

    fn operand(&self, code: &'static Code, pos: Pos, env: Env) -> Result<Value> {
        self.eval(code, env).trace(pos, || "in an operand of '+'".to_owned())
    }

    fn add_strings(
        &self,
        first: Value,
        first_pos: Pos,
        rest: &'static [(Code, Pos)],
        env: Env,
    ) -> Result<Value> {
        let mut strings: SmallVec<[Str; 8]> = SmallVec::new();
        strings.push(match first.view() {
            View::Str(s) => s,
            _ => self.coerce_for(first, Coerce::INTERPOLATE, first_pos, SEGMENT)?,
        });
        for (part, pos) in rest {
            let value = self.operand(part, *pos, env)?;
            strings.push(match value.view() {
                View::Str(s) => s,
                _ => self.coerce_for(value, Coerce::INTERPOLATE, *pos, SEGMENT)?,
            });
        }
        Ok(self.join(&strings).into())
    }
}

#[cold]
fn not_a_string(value: Value, pos: Pos, at: Option<&'static str>) -> Error {
    let what = show_type(value);
    let message = format!("cannot coerce {what} to a string: {}", print::short(value));
    match at {
        Some(at) => Error::new(ErrorKind::Type, Pos::NONE, message).frame(pos, at),
        None => Error::new(ErrorKind::Type, pos, message),
    }
}
