//! String contexts: looking at them, taking them off and putting them on; and waiting for builds.

use raddle_nix_store::context::Element;
use raddle_nix_syntax::{Pos, Symbol, sym};

use super::file_system::lossy;
use crate::eval::{Coerce, Cx, Error, ErrorKind, Result};
use crate::value::{AttrsBuilder, Context, PrimOp, Str, Value};

pub(super) const PRIMOPS: &[PrimOp] = &[
    PrimOp::new("hasContext", 1, has_context).strict(0b1),
    PrimOp::new("getContext", 1, get_context).strict(0b1),
    PrimOp::new("appendContext", 2, append_context),
    PrimOp::new("unsafeDiscardStringContext", 1, discard_context).strict(0b1),
    PrimOp::new("unsafeDiscardOutputDependency", 1, discard_output_dependency),
    PrimOp::new("addDrvOutputDependencies", 1, add_output_dependencies),
];

impl Cx<'_> {
    /// Makes sure that everything a path depends on is there. Nothing is ever built for it.
    pub(super) fn realise(&self, context: Context) -> Result<()> {
        if context.is_empty() {
            return Ok(());
        }
        let mut build = None;
        for element in context.elements() {
            match element {
                Element::Built { drv, output } => {
                    if build.is_none_or(|first| (drv, output) < first) {
                        build = Some((drv, output));
                    }
                }
                Element::Opaque(path) | Element::DrvDeep(path) => {
                    if !self.is_valid(path) {
                        return Err(other(format!("path '{path}' is not valid")));
                    }
                }
            }
        }
        match build {
            None => Ok(()),
            Some((drv, output)) => {
                let message = format!(
                    "cannot build '{drv}^{output}' during evaluation because the option \
                     'allow-import-from-derivation' is disabled"
                );
                Err(Error::new(ErrorKind::ImportFromDerivation, Pos::NONE, message))
            }
        }
    }

    fn coerce_argument(&self, value: Value, text: &'static str) -> Result<Str> {
        self.coerce_for(value, Coerce::INTERPOLATE, Pos::NONE, text)
    }
}

#[cold]
fn other(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Other, Pos::NONE, message)
}

fn has_context(cx: &Cx<'_>, args: &[Value], _: Pos) -> Result<Value> {
    let text = "while evaluating the argument passed to builtins.hasContext";
    let s = cx.force_string(args[0], Pos::NONE, text)?;
    Ok(Value::bool(!s.context().is_empty()))
}

fn discard_context(cx: &Cx<'_>, args: &[Value], _: Pos) -> Result<Value> {
    let text = "while evaluating the argument passed to builtins.unsafeDiscardStringContext";
    let s = cx.coerce_argument(args[0], text)?;
    Ok(if s.context().is_empty() { s.into() } else { cx.string(s.as_bytes()) })
}

fn discard_output_dependency(cx: &Cx<'_>, args: &[Value], _: Pos) -> Result<Value> {
    let text = "while evaluating the argument passed to builtins.unsafeDiscardOutputDependency";
    let s = cx.coerce_argument(args[0], text)?;
    let elements: Vec<Element> = s
        .context()
        .elements()
        .into_iter()
        .map(|element| match element {
            Element::DrvDeep(drv) => Element::Opaque(drv.clone()),
            other => other.clone(),
        })
        .collect();
    Ok(cx.string_with(s.as_bytes(), Context::from_elements(cx.heap(), &elements)))
}

fn add_output_dependencies(cx: &Cx<'_>, args: &[Value], _: Pos) -> Result<Value> {
    let text = "while evaluating the argument passed to builtins.addDrvOutputDependencies";
    let s = cx.coerce_argument(args[0], text)?;
    let elements = s.context().elements();
    let [element] = elements[..] else {
        return Err(other(format!(
            "context of string '{}' must have exactly one element, but has {}",
            lossy(s.as_bytes()),
            elements.len()
        )));
    };
    match element {
        Element::DrvDeep(_) => Ok(s.into()),
        Element::Opaque(path) if path.is_derivation() => {
            let context = Context::single(cx.heap(), &Element::DrvDeep(path.clone()));
            Ok(cx.string_with(s.as_bytes(), context))
        }
        Element::Opaque(path) => Err(other(format!("path '{path}' is not a derivation"))),
        Element::Built { output, .. } => Err(other(format!(
            "`addDrvOutputDependencies` can only act on derivations, not on a derivation output such as '{output}'"
        ))),
    }
}

fn get_context(cx: &Cx<'_>, args: &[Value], _: Pos) -> Result<Value> {
    let text = "while evaluating the argument passed to builtins.getContext";
    let s = cx.force_string(args[0], Pos::NONE, text)?;
    let mut elements = s.context().elements();
    elements.sort_by_key(|element| element.path());
    let mut paths = AttrsBuilder::default();
    for same_path in elements.chunk_by(|a, b| a.path() == b.path()) {
        let mut outputs = Vec::new();
        let mut facts = AttrsBuilder::default();
        for element in same_path {
            match element {
                Element::Opaque(_) => facts.push(sym::PATH, Pos::NONE, Value::TRUE),
                Element::DrvDeep(_) => facts.push(sym::ALL_OUTPUTS, Pos::NONE, Value::TRUE),
                Element::Built { output, .. } => outputs.push(&**output),
            }
        }
        if !outputs.is_empty() {
            outputs.sort_unstable();
            let outputs: Vec<Value> = outputs.into_iter().map(|name| cx.string(name)).collect();
            facts.push(sym::OUTPUTS, Pos::NONE, cx.list(&outputs));
        }
        let path = Symbol::intern(same_path[0].path().as_bytes());
        paths.push(path, Pos::NONE, cx.set(facts));
    }
    Ok(cx.set(paths))
}

fn append_context(cx: &Cx<'_>, args: &[Value], _: Pos) -> Result<Value> {
    let text = "while evaluating the first argument passed to builtins.appendContext";
    let s = cx.force_string(args[0], Pos::NONE, text)?;
    let text = "while evaluating the second argument passed to builtins.appendContext";
    let attrs = cx.force_attrs(args[1], Pos::NONE, text)?;
    let mut elements = Vec::new();
    for attr in attrs.sorted(cx.heap()) {
        let failed = |message: String| Err(Error::new(ErrorKind::Other, attr.pos, message));
        let Ok(path) = cx.evaluator.settings.store_dir.parse(attr.name.as_bytes()) else {
            return failed(format!("context key '{}' is not a store path", attr.name));
        };
        let text = "while evaluating the value of a string context";
        let facts = cx.force_attrs(attr.value(), attr.pos, text)?;
        let flag = |name, text: &'static str| match facts.get_attr(name) {
            None => Ok(false),
            Some(attr) => cx.force_bool(attr.value(), attr.pos, text),
        };
        if flag(sym::PATH, "while evaluating the `path` attribute of a string context")? {
            elements.push(Element::Opaque(path.clone()));
        }
        let text = "while evaluating the `allOutputs` attribute of a string context";
        if flag(sym::ALL_OUTPUTS, text)? {
            if !path.is_derivation() {
                return failed(format!(
                    "tried to add all-outputs context of {path}, which is not a derivation, to a string"
                ));
            }
            elements.push(Element::DrvDeep(path.clone()));
        }
        if let Some(outputs) = facts.get_attr(sym::OUTPUTS) {
            let text = "while evaluating the `outputs` attribute of a string context";
            let names = cx.force_list(outputs.value(), outputs.pos, text)?;
            if !names.is_empty() && !path.is_derivation() {
                return failed(format!(
                    "tried to add derivation output context of {path}, which is not a derivation, to a string"
                ));
            }
            for name in names.iter() {
                let text = "while evaluating an output name within a string context";
                let name = cx.force_plain_string(name, outputs.pos, text)?;
                let name = raddle_nix_store::path::check_name(name).map_err(|error| {
                    Error::new(ErrorKind::Other, outputs.pos, error.to_string())
                })?;
                elements.push(Element::built(path.clone(), name));
            }
        }
    }
    let added = Context::from_elements(cx.heap(), &elements);
    Ok(cx.string_with(s.as_bytes(), s.context().union(cx.heap(), added)))
}
