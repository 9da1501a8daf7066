//! Flakes: a folder with a `flake.nix` that says what it offers.
//!
//! Supported is a local folder whose flake has no inputs. It is evaluated where it lies; its store
//! path (`self.outPath`) is computed only if something asks for it, over all files but `.git`,
//! also those that git does not track.
//!
//! Not here: lock files, inputs, registries, and how a command line names a flake.

use bumpalo::Bump;
use raddle_nix_syntax::ast::{BindingValue, Expr, ExprKind};
use raddle_nix_syntax::{Options, Origin, Pos, Source, Symbol};

use crate::eval::{Cx, Error, ErrorKind, Result};
use crate::paths;
use crate::value::{Attrs, Function, Type, Value, View};

/// The definition of `self`.
const CALL: &str = include_str!("call.nix");

/// What may stand in a `flake.nix`.
const ALLOWED: [&[u8]; 4] = [b"description", b"inputs", b"outputs", b"nixConfig"];

impl Cx<'_> {
    /// Returns the flake in a folder, an absolute and canonical path: its outputs together with
    /// what flakes know of themselves.
    pub fn flake(&self, folder: &[u8]) -> Result<Attrs> {
        self.allow_path(folder);
        let file = paths::join(folder, b"flake.nix");
        self.check_form(&file)?;
        let value = self.import(&file, Pos::NONE)?;
        let attrs = self.expect_attrs(value, Pos::NONE, "while evaluating a flake")?;
        self.check_attrs(attrs, folder)?;
        let call = self.eval_string(CALL.as_bytes(), b"/")?;
        let flake = self.call(call, &[self.path(folder), value], Pos::NONE)?;
        self.expect_attrs(flake, Pos::NONE, "while evaluating the outputs of a flake")
    }

    /// Checks that the file is a set with nothing to evaluate at its top.
    fn check_form(&self, file: &[u8]) -> Result<()> {
        let text = self.expression_text(file)?;
        let source = Source::add(Origin::File(paths::os(file).to_owned()), text)
            .map_err(|error| Error::new(ErrorKind::Other, Pos::NONE, error.to_string()))?;
        let arena = Bump::new();
        let Ok(tree) = raddle_nix_syntax::parse(&arena, source, &Options::default()) else {
            // Evaluation will say so, with its own settings.
            return Ok(());
        };
        let ExprKind::Attrs(attrs) = &tree.kind else {
            let file = String::from_utf8_lossy(file);
            let message = format!("file '{file}' must be an attribute set");
            return Err(Error::new(ErrorKind::Other, tree.pos, message));
        };
        for binding in attrs.bindings {
            let BindingValue::Expr(value) = binding.value else { continue };
            if !is_trivial(value) {
                let message = format!(
                    "the attribute '{}' of a flake must be written out, not computed",
                    binding.name
                );
                return Err(Error::new(ErrorKind::Type, value.pos, message));
            }
        }
        Ok(())
    }

    fn check_attrs(&self, attrs: Attrs, folder: &[u8]) -> Result<()> {
        let folder = String::from_utf8_lossy(folder);
        let fail = |kind, pos, message| Err(Error::new(kind, pos, message));
        for attr in attrs.sorted(self.heap()) {
            if !ALLOWED.contains(&attr.name.as_bytes()) {
                let message =
                    format!("flake '{folder}' has an unsupported attribute '{}'", attr.name);
                return fail(ErrorKind::Other, attr.pos, message);
            }
        }
        let get = |name: &str| attrs.get_attr(Symbol::intern(name.as_bytes()));
        if let Some(description) = get("description") {
            self.force_string(
                description.value(),
                description.pos,
                "in the description of a flake",
            )?;
        }
        if let Some(inputs) = get("inputs") {
            let set = self.force_attrs(inputs.value(), inputs.pos, "in the inputs of a flake")?;
            if let Some(input) = set.sorted(self.heap()).first() {
                return Err(unsupported_input(input.name, input.pos, &folder));
            }
        }
        let Some(outputs) = get("outputs") else {
            return fail(
                ErrorKind::MissingAttribute,
                Pos::NONE,
                format!("flake '{folder}' lacks attribute 'outputs'"),
            );
        };
        let function = self.force(outputs.value())?;
        let View::Function(Function::Lambda(lambda)) = function.view() else {
            return Err(self.type_error(Type::Function, function, outputs.pos));
        };
        for formal in lambda.code().formals.iter().flat_map(|formals| formals.formals) {
            if formal.name.as_bytes() != b"self" && formal.default.is_none() {
                return Err(unsupported_input(formal.name, formal.pos, &folder));
            }
        }
        Ok(())
    }

    /// Returns what lies at the first of `paths` that exists in a set, without calling functions.
    pub fn first_attr_path(&self, root: Attrs, paths: &[Vec<Symbol>]) -> Result<Option<Value>> {
        for path in paths {
            if let Some(value) = self.at_attr_path(root, path)? {
                return Ok(Some(value));
            }
        }
        Ok(None)
    }

    /// Returns what lies at `path` in a set, if everything on the way is a set.
    pub fn at_attr_path(&self, root: Attrs, path: &[Symbol]) -> Result<Option<Value>> {
        let mut value = Value::from(root);
        for &name in path {
            let View::Attrs(attrs) = self.force(value)?.view() else { return Ok(None) };
            match attrs.get(name) {
                Some(slot) => value = slot.get(),
                None => return Ok(None),
            }
        }
        Ok(Some(value))
    }
}

/// Returns whether an expression is as good as a value.
fn is_trivial(expr: &Expr<'_>) -> bool {
    match &expr.kind {
        ExprKind::Attrs(attrs) => {
            attrs.dynamic.is_empty()
                && attrs.bindings.iter().all(|binding| match binding.value {
                    BindingValue::Expr(value) => is_trivial(value),
                    _ => false,
                })
        }
        ExprKind::List(elements) => elements.iter().all(|element| is_trivial(element)),
        ExprKind::Int(_)
        | ExprKind::Float(_)
        | ExprKind::Str(_)
        | ExprKind::Path(_)
        | ExprKind::Lambda(_) => true,
        ExprKind::Var(name) => matches!(name.as_bytes(), b"true" | b"false" | b"null"),
        _ => false,
    }
}

#[cold]
fn unsupported_input(name: Symbol, pos: Pos, folder: &str) -> Error {
    let message = format!(
        "flake '{folder}' has the input '{name}', and flakes with inputs are not supported yet"
    );
    Error::new(ErrorKind::Other, pos, message)
}
