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

impl Cx<'_> {
    /// Makes a string of a value.
    pub fn coerce(&self, value: Value, how: Coerce, pos: Pos) -> Result<Str> {
        let value = self.force(value)?;
        let heap = self.heap();
        Ok(match value.view() {
            View::Str(s) => s,
            View::Path(path) if how.copy => self.copy_to_store(path, pos)?,
            View::Path(path) => Str::new(heap, path),
            View::Attrs(attrs) => return self.coerce_set(value, attrs, how, pos),
            View::Int(i) if how.more => Str::new(heap, i.to_string().as_bytes()),
            View::Float(f) if how.more => Str::new(heap, number::float_fixed(f).as_bytes()),
            View::Bool(true) if how.more => Str::new(heap, b"1"),
            View::Bool(false) | View::Null if how.more => Str::new(heap, b""),
            View::List(list) if how.more => return self.coerce_list(list, how, pos),
            _ => return Err(not_a_string(value, pos)),
        })
    }

    #[inline(never)]
    fn coerce_set(&self, value: Value, attrs: Attrs, how: Coerce, pos: Pos) -> Result<Str> {
        self.check_stack()?;
        if let Some(slot) = attrs.get(sym::TO_STRING) {
            let text = || "while evaluating the result of the `__toString` attribute".to_owned();
            let function = self.force_slot(slot)?;
            let string = self.call(function, &[value], pos).trace(pos, text)?;
            return self.coerce(string, how, pos).trace(pos, text);
        }
        if let Some(slot) = attrs.get(sym::OUT_PATH) {
            let path = self.force_slot(slot)?;
            return self.coerce(path, how, pos);
        }
        Err(not_a_string(value, pos))
    }

    #[inline(never)]
    fn coerce_list(&self, list: List, how: Coerce, pos: Pos) -> Result<Str> {
        self.check_stack()?;
        let mut bytes = Vec::new();
        let mut context = Context::EMPTY;
        let last = list.len().wrapping_sub(1);
        for (i, value) in list.iter().enumerate() {
            let s = self
                .coerce(value, how, pos)
                .trace(pos, || "while evaluating one element of the list".to_owned())?;
            bytes.extend_from_slice(s.as_bytes());
            context = context.union(self.heap(), s.context());
            // A quirk kept for compatibility: no blank after an empty list.
            let empty = matches!(value.view(), View::List(list) if list.is_empty());
            if i != last && !empty {
                bytes.push(b' ');
            }
        }
        Ok(Str::with_context(self.heap(), &bytes, context))
    }

    /// Makes a path of a value: absolute, canonical, with whatever context it brings.
    pub(crate) fn coerce_to_path(&self, value: Value, pos: Pos) -> Result<(Vec<u8>, Context)> {
        let s = self.coerce(value, Coerce::PLAIN, pos)?;
        if s.as_bytes().first() != Some(&b'/') {
            let message = format!(
                "string '{}' doesn't represent an absolute path",
                String::from_utf8_lossy(s.as_bytes())
            );
            return Err(Error::new(ErrorKind::Other, pos, message));
        }
        Ok((paths::canonical(s.as_bytes()), s.context()))
    }

    /// Joins strings into one, allocated once.
    pub(crate) fn join(&self, strings: &[Str]) -> Str {
        let mut context = Context::EMPTY;
        let mut bytes: SmallVec<[u8; 256]> = SmallVec::new();
        for s in strings {
            bytes.extend_from_slice(s.as_bytes());
            context = context.union(self.heap(), s.context());
        }
        Str::with_context(self.heap(), &bytes, context)
    }

    pub(super) fn interpolate(&self, code: &'static Concat, env: Env) -> Result<Value> {
        let mut strings: SmallVec<[Str; 8]> = SmallVec::new();
        for (part, pos) in code.parts {
            let s = self
                .eval(part, env)
                .and_then(|value| match value.view() {
                    View::Str(s) => Ok(s),
                    _ => self.coerce(value, Coerce::INTERPOLATE, *pos),
                })
                .trace(*pos, || "while evaluating a path segment".to_owned())?;
            strings.push(s);
        }
        Ok(self.join(&strings).into())
    }

    pub(super) fn interpolate_path(&self, code: &'static Concat, env: Env) -> Result<Value> {
        let mut bytes = Vec::new();
        for (part, pos) in code.parts {
            let value = self.eval(part, env)?;
            let s = self
                .coerce(value, Coerce::PLAIN, *pos)
                .trace(*pos, || "while evaluating a path segment".to_owned())?;
            self.forbid_context(s, *pos)?;
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
        let mut sum = self.eval(first, env)?;
        for (i, (part, pos)) in rest.iter().enumerate() {
            sum = match sum.view() {
                View::Int(_) | View::Float(_) => {
                    let value = self.eval(part, env)?;
                    self.add_numbers(sum, value, *pos)?
                }
                View::Path(path) => {
                    let value = self.eval(part, env)?;
                    let s = self.coerce(value, Coerce::PLAIN, *pos)?;
                    self.forbid_context(s, *pos)?;
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
            View::Attrs(_) => self.coerce(first, Coerce::INTERPOLATE, first_pos)?,
            _ => return Err(not_a_string(first, first_pos)),
        });
        for (part, pos) in rest {
            let value = self.eval(part, env)?;
            strings.push(match value.view() {
                View::Str(s) => s,
                _ => self.coerce(value, Coerce::INTERPOLATE, *pos)?,
            });
        }
        Ok(self.join(&strings).into())
    }
}

#[cold]
fn not_a_string(value: Value, pos: Pos) -> Error {
    let what = show_type(value);
    let message = format!("cannot coerce {what} to a string: {}", print::short(value));
    Error::new(ErrorKind::Type, pos, message)
}
