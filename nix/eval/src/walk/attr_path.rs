//! Attribute paths as command lines have them (`a.b."c.d".0`), and the calls they imply.
//!
//! At each step a function is called with what the command line offers for its arguments, so
//! `-A hello` works on a file that is a function from options to a set.

use raddle_nix_syntax::{Pos, Symbol};

use crate::eval::{Cx, Error, ErrorKind, Result, describe, hint};
use crate::value::{Attrs, AttrsBuilder, Function, LambdaRef, Type, Value, View};

/// A path of attribute names and list indices.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AttrPath {
    text: String,
    steps: Vec<Vec<u8>>,
}

/// A text that is not an attribute path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("missing closing quote in selection path '{path}'")]
pub struct AttrPathError {
    path: String,
}

impl AttrPath {
    /// Reads a path: names separated by dots, in quotes if they contain one.
    ///
    /// # Errors
    ///
    /// When a quote is not closed.
    pub fn parse(text: &[u8]) -> Result<AttrPath, AttrPathError> {
        let mut steps = Vec::new();
        let mut step = Vec::new();
        let mut bytes = text.iter();
        while let Some(&byte) = bytes.next() {
            match byte {
                b'.' => steps.push(std::mem::take(&mut step)),
                b'"' => loop {
                    match bytes.next() {
                        Some(b'"') => break,
                        Some(&byte) => step.push(byte),
                        None => {
                            let path = String::from_utf8_lossy(text).into_owned();
                            return Err(AttrPathError { path });
                        }
                    }
                },
                byte => step.push(byte),
            }
        }
        if !step.is_empty() {
            steps.push(step);
        }
        Ok(AttrPath { text: String::from_utf8_lossy(text).into_owned(), steps })
    }

    /// Returns the path as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns whether it leads nowhere.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Returns the names along the path.
    pub fn symbols(&self) -> Vec<Symbol> {
        self.steps.iter().map(|step| Symbol::intern(step)).collect()
    }
}

/// Returns the list index that a step is, if it consists of digits.
fn index(step: &[u8]) -> Option<usize> {
    if step.is_empty() || !step.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(step).ok()?.parse().ok()
}

impl Cx<'_> {
    /// Returns what lies at `path` below `root`, not evaluated yet. Functions on the way are
    /// called with `args`.
    pub fn find_along_attr_path(&self, root: Value, path: &AttrPath, args: Attrs) -> Result<Value> {
        let mut value = root;
        for step in &path.steps {
            let set = self.auto_call(args, value)?;
            value = step_into(set, step, &path.text)?;
        }
        Ok(value)
    }

    /// Returns the value, or what it returns if it is a function whose arguments have names: each
    /// is taken from `args` if it is there.
    pub fn auto_call(&self, args: Attrs, value: Value) -> Result<Value> {
        let value = self.force(value)?;
        match value.view() {
            View::Attrs(attrs) => match attrs.get(raddle_nix_syntax::sym::FUNCTOR) {
                Some(functor) => self.nested(Pos::NONE, || {
                    let called = self.call(functor.get(), &[value], Pos::NONE)?;
                    self.auto_call(args, called)
                }),
                None => Ok(value),
            },
            View::Function(Function::Lambda(lambda)) => self.auto_call_lambda(args, lambda, value),
            _ => Ok(value),
        }
    }

    fn auto_call_lambda(&self, args: Attrs, lambda: LambdaRef, value: Value) -> Result<Value> {
        let Some(formals) = &lambda.code().formals else { return Ok(value) };
        if formals.ellipsis {
            return self.call(value, &[args.into()], Pos::NONE);
        }
        let mut actual = AttrsBuilder::default();
        for formal in formals.formals {
            if let Some(slot) = args.get(formal.name) {
                actual.push(formal.name, formal.pos, slot.get());
            } else if formal.default.is_none() {
                let message = format!(
                    "cannot evaluate a function that has an argument without a value ('{}')\n\
                     The value here is a function; its arguments must have defaults or be given \
                     with '--arg' or '--argstr'.",
                    formal.name
                );
                return Err(Error::new(ErrorKind::Type, formal.pos, message));
            }
        }
        self.call(value, &[self.set(actual)], Pos::NONE)
    }
}

/// Returns what lies at one step of `path` in an evaluated value.
fn step_into(value: Value, step: &[u8], path: &str) -> Result<Value> {
    let fail = |kind, message| Err(Error::new(kind, Pos::NONE, message));
    let name = String::from_utf8_lossy(step);
    match (value.view(), index(step)) {
        (View::List(list), Some(index)) => match list.slots().get(index) {
            Some(slot) => Ok(slot.get()),
            None => fail(
                ErrorKind::MissingAttribute,
                format!("list index {index} in selection path '{path}' is out of range"),
            ),
        },
        (_, Some(_)) => fail(ErrorKind::Type, wrong_type(path, Type::List, value)),
        (View::Attrs(_), None) if step.is_empty() => {
            fail(ErrorKind::Other, format!("empty attribute name in selection path '{path}'"))
        }
        (View::Attrs(attrs), None) => match attrs.get(Symbol::intern(step)) {
            Some(slot) => Ok(slot.get()),
            None => {
                let names: Vec<&[u8]> =
                    attrs.attrs().iter().map(|attr| attr.name.as_bytes()).collect();
                Err(Error::with_hint(
                    ErrorKind::MissingAttribute,
                    Pos::NONE,
                    format!("attribute '{name}' in selection path '{path}' not found"),
                    hint(step, &names),
                ))
            }
        },
        (_, None) => fail(ErrorKind::Type, wrong_type(path, Type::Set, value)),
    }
}

fn wrong_type(path: &str, expected: Type, found: Value) -> String {
    let expected = expected.with_article();
    format!(
        "the expression selected by the selection path '{path}' should be {expected} but is {}",
        describe(found)
    )
}

#[cfg(test)]
mod tests {
    use super::AttrPath;
    use crate::value::AttrsBuilder;
    use crate::{Cx, Evaluator, Settings};

    fn with_cx<R: Send>(work: impl FnOnce(&Cx<'_>) -> R + Send) -> R {
        Evaluator::new(Settings::default(), |_| {}).unwrap().run(work)
    }

    #[test]
    fn parsing() {
        for (text, steps) in [
            ("", &[][..]),
            ("a", &["a"]),
            ("a.b", &["a", "b"]),
            (r#"a."b.c".d"#, &["a", "b.c", "d"]),
            (r#"a"b"c"#, &["abc"]),
            ("a..b", &["a", "", "b"]),
            ("a.", &["a"]),
        ] {
            let path = AttrPath::parse(text.as_bytes()).unwrap();
            let expected: Vec<Vec<u8>> = steps.iter().map(|s| s.as_bytes().to_vec()).collect();
            assert_eq!(path.steps, expected, "{text}");
        }
        assert!(AttrPath::parse(br#"a."b"#).is_err());
    }

    #[test]
    fn selection() {
        for (root, path, expected) in [
            ("{ a.b = 1; }", "a.b", "1"),
            ("[ 1 [ 2 3 ] ]", "1.0", "2"),
            ("{ x ? 1, y ? 2 }: { inherit x y; }", "x", "5"),
            ("{ x ? 1, y ? 2 }: { inherit x y; }", "y", "2"),
            ("{ ... }@args: args", "z", "6"),
            ("{ __functor = self: { x }: { r = x; }; }", "r", "5"),
            ("x: x", "", "«lambda @ «string»:1:1»"),
            ("{ a = 1; }", "b", "attribute 'b' in selection path 'b' not found"),
            (
                "{ a = 1; }",
                "a.b",
                "the expression selected by the selection path 'a.b' should be a set but is an integer: 1",
            ),
            ("{ a = [ ]; }", "a.0", "list index 0 in selection path 'a.0' is out of range"),
            (
                "{ a = 1; }",
                "a.0",
                "the expression selected by the selection path 'a.0' should be a list but is an integer: 1",
            ),
            ("{ a = 1; }", "..", "empty attribute name in selection path '..'"),
        ] {
            let got = with_cx(|cx| {
                let mut args = AttrsBuilder::default();
                for (name, value) in [("x", 5), ("z", 6)] {
                    args.push(
                        raddle_nix_syntax::Symbol::intern(name.as_bytes()),
                        raddle_nix_syntax::Pos::NONE,
                        cx.int(value),
                    );
                }
                let root = cx.eval_string(root.as_bytes(), b"/")?;
                let path = AttrPath::parse(path.as_bytes()).unwrap();
                cx.print(cx.find_along_attr_path(root, &path, cx.attrs(args))?)
            });
            let got = got.unwrap_or_else(|error| error.to_string());
            assert_eq!(got, expected, "{root} {path}");
        }
    }
}
