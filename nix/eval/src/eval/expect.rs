//! Type checks, and how their failures are worded.

use std::borrow::Cow;

use raddle_nix_syntax::Pos;

use super::{Cx, Error, ErrorKind, Result};
use crate::compile::code::Assert;
use crate::print;
use crate::text::suggest;
use crate::value::env::Env;
use crate::value::{Attrs, Function, List, Str, Type, Value, View};

/// Returns a name as messages show it: one that nobody would read to the end is cut.
pub(crate) fn name_in_message(name: &[u8]) -> Cow<'_, str> {
    const LONG: usize = 1000;
    if name.len() <= LONG {
        return String::from_utf8_lossy(name);
    }
    let start = String::from_utf8_lossy(&name[..LONG]);
    Cow::Owned(format!("{}…", start.trim_end_matches(char::REPLACEMENT_CHARACTER)))
}

/// A description of where a check happens, such as `while evaluating the first argument passed to
/// builtins.map`.
pub(crate) trait Where {
    /// Returns the text.
    fn text(self) -> String;
}

impl<F: FnOnce() -> String> Where for F {
    fn text(self) -> String {
        self()
    }
}

impl Where for &str {
    fn text(self) -> String {
        self.to_owned()
    }
}

impl Cx<'_> {
    /// Returns the error for a value of the wrong type.
    #[cold]
    #[inline(never)]
    pub(crate) fn type_error(&self, expected: Type, found: Value, pos: Pos) -> Error {
        self.type_error_text(expected.with_article(), found, pos)
    }

    #[cold]
    pub(crate) fn type_error_text(&self, expected: &str, found: Value, pos: Pos) -> Error {
        let message = format!("expected {expected} but found {}", describe(found));
        Error::new(ErrorKind::Type, pos, message)
    }

    /// Checks a condition that has been evaluated.
    #[inline(always)]
    pub(super) fn expect_condition(
        &self,
        condition: Result<Value>,
        pos: Pos,
        text: &'static str,
    ) -> Result<bool> {
        match condition {
            Ok(Value::TRUE) => Ok(true),
            Ok(Value::FALSE) => Ok(false),
            Ok(value) => Err(self.type_error(Type::Bool, value, pos).frame(pos, text)),
            Err(error) => Err(error.frame(pos, text)),
        }
    }

    /// Checks that an evaluated value is a set.
    #[inline]
    pub(crate) fn expect_attrs(&self, value: Value, pos: Pos, at: impl Where) -> Result<Attrs> {
        match value.view() {
            View::Attrs(attrs) => Ok(attrs),
            _ => Err(self.type_error(Type::Set, value, pos).frame(pos, at.text())),
        }
    }

    /// Checks that an evaluated value is a string without context.
    pub(crate) fn expect_plain_string(
        &self,
        value: Value,
        pos: Pos,
        at: impl Where,
    ) -> Result<&'static [u8]> {
        match value.view() {
            View::Str(s) if s.context().is_empty() => Ok(s.as_bytes()),
            View::Str(s) => Err(context_error(s, pos).frame(pos, at.text())),
            _ => Err(self.type_error(Type::String, value, pos).frame(pos, at.text())),
        }
    }

    /// Evaluates a value that must be a set.
    #[inline]
    pub(crate) fn force_attrs(&self, value: Value, pos: Pos, at: impl Where) -> Result<Attrs> {
        match self.force(value) {
            Ok(value) => self.expect_attrs(value, pos, at),
            Err(error) => Err(error.frame(pos, at.text())),
        }
    }

    /// Evaluates a value that must be a list.
    #[inline]
    pub(crate) fn force_list(&self, value: Value, pos: Pos, at: impl Where) -> Result<List> {
        match self.force(value) {
            Ok(value) => match value.view() {
                View::List(list) => Ok(list),
                _ => Err(self.type_error(Type::List, value, pos).frame(pos, at.text())),
            },
            Err(error) => Err(error.frame(pos, at.text())),
        }
    }

    /// Evaluates a value that must be an integer.
    pub(crate) fn force_int(&self, value: Value, pos: Pos, at: impl Where) -> Result<i64> {
        match self.force(value) {
            Ok(value) => match value.view() {
                View::Int(i) => Ok(i),
                _ => Err(self.type_error(Type::Int, value, pos).frame(pos, at.text())),
            },
            Err(error) => Err(error.frame(pos, at.text())),
        }
    }

    /// Evaluates a value that must be a number; integers become floats.
    pub(crate) fn force_float(&self, value: Value, pos: Pos, at: impl Where) -> Result<f64> {
        match self.force(value) {
            Ok(value) => match value.view() {
                View::Int(i) => Ok(i as f64),
                View::Float(f) => Ok(f),
                _ => Err(self.type_error(Type::Float, value, pos).frame(pos, at.text())),
            },
            Err(error) => Err(error.frame(pos, at.text())),
        }
    }

    /// Evaluates a value that must be a Boolean.
    #[inline]
    pub(crate) fn force_bool(&self, value: Value, pos: Pos, at: impl Where) -> Result<bool> {
        match self.force(value) {
            Ok(Value::TRUE) => Ok(true),
            Ok(Value::FALSE) => Ok(false),
            Ok(value) => Err(self.type_error(Type::Bool, value, pos).frame(pos, at.text())),
            Err(error) => Err(error.frame(pos, at.text())),
        }
    }

    /// Evaluates a value that must be a string; its context may be anything.
    #[inline]
    pub(crate) fn force_string(&self, value: Value, pos: Pos, at: impl Where) -> Result<Str> {
        match self.force(value) {
            Ok(value) => match value.view() {
                View::Str(s) => Ok(s),
                _ => Err(self.type_error(Type::String, value, pos).frame(pos, at.text())),
            },
            Err(error) => Err(error.frame(pos, at.text())),
        }
    }

    /// Evaluates a value that must be a string without context.
    pub(crate) fn force_plain_string(
        &self,
        value: Value,
        pos: Pos,
        at: impl Where,
    ) -> Result<&'static [u8]> {
        match self.force(value) {
            Ok(value) => self.expect_plain_string(value, pos, at),
            Err(error) => Err(error.frame(pos, at.text())),
        }
    }

    /// Evaluates a value that must be something that can be called.
    pub(crate) fn force_function(&self, value: Value, pos: Pos, at: impl Where) -> Result<Value> {
        match self.force(value) {
            Ok(value) => match value.view() {
                View::Function(_) => Ok(value),
                View::Attrs(attrs) if attrs.get(raddle_nix_syntax::sym::FUNCTOR).is_some() => {
                    Ok(value)
                }
                _ => Err(self.type_error(Type::Function, value, pos).frame(pos, at.text())),
            },
            Err(error) => Err(error.frame(pos, at.text())),
        }
    }

    /// Returns the error for an assertion that does not hold, with the two sides of an equation.
    #[cold]
    #[inline(never)]
    pub(super) fn assertion_failed(&self, assert: &'static Assert, env: Env) -> Error {
        use crate::compile::Code;
        use crate::compile::code::{Binary, Op};
        let error = || {
            let message = format!("assertion '{}' failed", assert.text);
            Error::new(ErrorKind::Assertion, assert.pos, message)
        };
        if let Code::Binary(Binary { op: Op::Eq, lhs, rhs, pos, .. }) = &assert.condition
            && let (Ok(a), Ok(b)) = (self.eval(lhs, env), self.eval(rhs, env))
            && let Err(difference) = self.explain_difference(a, b, *pos)
        {
            let text = format!("while evaluating the condition of the assertion '{}'", assert.text);
            return difference.frame(assert.pos, text);
        }
        error()
    }
}

/// Describes a value for an error message: its type and a short form of it.
pub(crate) fn describe(value: Value) -> String {
    format!("{}: {}", show_type(value), print::short(value.resolved()))
}

/// Describes the type of a value for an error message.
pub(crate) fn show_type(value: Value) -> Cow<'static, str> {
    let value = value.resolved();
    Cow::Borrowed(match value.view() {
        View::Function(Function::PrimOp(primop)) => {
            return format!("the built-in function '{}'", primop.name).into();
        }
        View::Function(Function::PartialApp(app)) => {
            let name = app.unwind().0.name;
            return format!("the partially applied built-in function '{name}'").into();
        }
        View::Thunk => "a thunk",
        View::Str(s) if !s.context().is_empty() => "a string with context",
        _ => value.type_of().map_or("a thunk", Type::with_article),
    })
}

/// Returns the error for a string with context where none is allowed.
#[cold]
pub(crate) fn context_error(s: Str, pos: Pos) -> Error {
    let element = s.context().elements().first().map_or(String::new(), ToString::to_string);
    let message = format!(
        "the string '{}' is not allowed to refer to a store path (such as '{element}')",
        String::from_utf8_lossy(s.as_bytes()),
    );
    Error::new(ErrorKind::Type, pos, message)
}

/// Returns the sentence that offers names close to one that does not exist, or nothing.
#[cold]
pub(crate) fn hint(name: &[u8], candidates: &[&[u8]]) -> String {
    let matches = suggest::best_matches(candidates.iter().copied(), name);
    suggest::did_you_mean(&matches).unwrap_or_default()
}
