//! `derivationStrict`.
//!
//! Attributes are processed in the order of their names, which decides what error comes first. The
//! rules of paths are the store crate's; here attributes become the parts of a derivation.

use std::sync::Arc;

use raddle_nix_store::derivation::{DerivationError, Draft, Finished, OutputKind};
use raddle_nix_store::hash::{Algorithm, Hash, parse_allow_empty};
use raddle_nix_store::path::Method;
use raddle_nix_syntax::{Pos, Symbol, sym};

use super::data::Builder;
use super::file_system::lossy;
use super::known_derivations::KnownDerivation;
use crate::eval::{Coerce, Cx, Error, ErrorKind, Result, Trace};
use crate::print::json::{JsonOptions, to_json};
use crate::text::escape::write_json_string;
use crate::text::json::parse_json;
use crate::value::{Attr, Attrs, AttrsBuilder, Context, PrimOp, Value, View, context};

pub(super) const PRIMOPS: &[PrimOp] =
    &[PrimOp::new("derivationStrict", 1, derivation_strict).strict(0b1)];

#[cold]
fn other(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Other, Pos::NONE, message)
}

#[cold]
fn refused(error: &DerivationError) -> Error {
    other(error.to_string())
}

fn derivation_strict(cx: &Cx<'_>, args: &[Value], _: Pos) -> Result<Value> {
    let text = "while evaluating the argument passed to builtins.derivationStrict";
    let attrs = cx.force_attrs(args[0], Pos::NONE, text)?;
    let Some(name_attr) = attrs.get_attr(sym::NAME) else {
        let error = cx.missing_attribute(attrs, sym::NAME, Pos::NONE);
        let text = "in the attrset passed as argument to builtins.derivationStrict";
        return Err(error.frame(Pos::NONE, text));
    };
    let text = "while evaluating the `name` attribute passed to builtins.derivationStrict";
    let name = cx
        .force_plain_string(name_attr.value(), Pos::NONE, text)
        .trace(name_attr.pos, || "while evaluating the derivation attribute 'name'".to_owned())?;
    Parts::new(cx, name).and_then(|parts| parts.derivation(attrs)).map_err(|error| {
        let at = name_attr.pos.locate().map_or("«none»".to_owned(), |at| at.to_string());
        let name = lossy(name);
        let text = format!(
            "while evaluating derivation '{name}'\n  whose name attribute is located at {at}"
        );
        error.always_frame(Pos::NONE, text)
    })
}

/// The parts of a derivation, as far as its attributes have been processed.
struct Parts<'c, 'e> {
    cx: &'c Cx<'e>,
    draft: Draft,
    contexts: Vec<Context>,
    /// The members of the JSON object that the builder gets instead of variables.
    json: Option<Vec<u8>>,
    ignore_nulls: bool,
    content_addressed: bool,
    impure: bool,
    hash: Option<Vec<u8>>,
    algorithm: Option<Algorithm>,
    method: Option<Method>,
}

/// Attributes that a builder with structured attributes is told in another way.
const REPLACED_BY_OUTPUT_CHECKS: &[&[u8]] = &[
    b"allowedReferences",
    b"allowedRequisites",
    b"disallowedReferences",
    b"disallowedRequisites",
    b"maxClosureSize",
    b"maxSize",
];

impl<'c, 'e> Parts<'c, 'e> {
    fn new(cx: &'c Cx<'e>, name: &[u8]) -> Result<Parts<'c, 'e>> {
        let name = raddle_nix_store::path::check_name(name)
            .map_err(|error| refused(&DerivationError::Name(error)))?;
        Ok(Parts {
            cx,
            draft: Draft::new(name),
            contexts: Vec::new(),
            json: None,
            ignore_nulls: false,
            content_addressed: false,
            impure: false,
            hash: None,
            algorithm: None,
            method: None,
        })
    }

    fn derivation(mut self, attrs: Attrs) -> Result<Value> {
        let cx = self.cx;
        let flag = |name, text: &'static str| match attrs.get(name) {
            None => Ok(false),
            Some(slot) => cx.force_bool(slot.get(), Pos::NONE, text),
        };
        let text = "while evaluating the `__structuredAttrs` attribute passed to builtins.derivationStrict";
        if flag(sym::STRUCTURED_ATTRS, text)? {
            self.json = Some(Vec::new());
        }
        let text =
            "while evaluating the `__ignoreNulls` attribute passed to builtins.derivationStrict";
        self.ignore_nulls = flag(sym::IGNORE_NULLS, text)?;
        for attr in attrs.sorted(cx.heap()) {
            if attr.name != sym::IGNORE_NULLS {
                self.attribute(attr).trace(attr.pos, || {
                    let name = &self.draft.name;
                    format!("while evaluating attribute '{}' of derivation '{name}'", attr.name)
                })?;
            }
        }
        self.finish()
    }

    fn attribute(&mut self, attr: Attr) -> Result<()> {
        let cx = self.cx;
        if self.ignore_nulls && cx.force_slot(attr.slot)? == Value::NULL {
            return Ok(());
        }
        match attr.name {
            sym::CONTENT_ADDRESSED => {
                if self.boolean(attr)? {
                    self.content_addressed = true;
                    cx.require_feature("ca-derivations")?;
                }
            }
            sym::IMPURE => {
                if self.boolean(attr)? {
                    self.impure = true;
                    cx.require_feature("impure-derivations")?;
                }
            }
            sym::ARGS => {
                for arg in self.list(attr.value())?.iter() {
                    let arg = cx.coerce_for(
                        arg,
                        Coerce::DERIVATION,
                        Pos::NONE,
                        "while evaluating an element of the argument list",
                    )?;
                    self.contexts.push(arg.context());
                    self.draft.args.push(arg.as_bytes().into());
                }
            }
            sym::STRUCTURED_ATTRS if self.json.is_some() => {}
            _ if self.json.is_some() => self.structured(attr)?,
            _ => self.variable(attr)?,
        }
        Ok(())
    }

    /// Processes an attribute that becomes a member of the JSON object.
    fn structured(&mut self, attr: Attr) -> Result<()> {
        let cx = self.cx;
        let value = attr.value();
        let (text, context) = to_json(cx, value, Pos::NONE, JsonOptions::BUILTIN)?;
        self.contexts.push(context);
        if let Some(json) = &mut self.json {
            json.push(if json.is_empty() { b'{' } else { b',' });
            write_json_string(json, attr.name.as_bytes())
                .map_err(|error| other(format!("JSON serialization error: {error}")))?;
            json.push(b':');
            json.extend_from_slice(&text);
        }
        match attr.name {
            sym::BUILDER => {
                let builder = cx.force_string(value, Pos::NONE, "")?;
                self.contexts.push(builder.context());
                self.draft.builder = builder.as_bytes().into();
            }
            sym::SYSTEM => self.draft.platform = self.plain_string(value)?.into(),
            sym::OUTPUT_HASH => self.hash = Some(self.plain_string(value)?.to_vec()),
            sym::OUTPUT_HASH_ALGO => {
                let name = self.plain_string(value)?;
                self.set_algorithm(name)?;
            }
            sym::OUTPUT_HASH_MODE => {
                let mode = self.plain_string(value)?;
                self.set_method(mode)?;
            }
            sym::OUTPUTS => {
                let mut names = Vec::new();
                for name in self.list(value)?.iter() {
                    names.push(self.plain_string(name)?);
                }
                self.draft.set_outputs(names).map_err(|error| refused(&error))?;
            }
            name if REPLACED_BY_OUTPUT_CHECKS.contains(&name.as_bytes()) => {
                let drv = &self.draft.name;
                cx.emit(format!(
                    "warning: In a derivation named '{drv}', 'structuredAttrs' disables the effect \
                     of the derivation attribute '{name}'; use 'outputChecks.<output>.{name}' instead"
                ));
            }
            _ => {}
        }
        Ok(())
    }

    /// Processes an attribute that becomes an environment variable.
    fn variable(&mut self, attr: Attr) -> Result<()> {
        let s = self.cx.coerce(attr.value(), Coerce::DERIVATION, Pos::NONE)?;
        self.contexts.push(s.context());
        let text = s.as_bytes();
        match attr.name {
            sym::JSON => return self.literal_json(text),
            sym::BUILDER => self.draft.builder = text.into(),
            sym::SYSTEM => self.draft.platform = text.into(),
            sym::OUTPUT_HASH => self.hash = Some(text.to_vec()),
            sym::OUTPUT_HASH_ALGO => self.set_algorithm(text)?,
            sym::OUTPUT_HASH_MODE => self.set_method(text)?,
            sym::OUTPUTS => {
                let names = text
                    .split(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'))
                    .filter(|name| !name.is_empty());
                self.draft.set_outputs(names).map_err(|error| refused(&error))?;
            }
            _ => {}
        }
        self.draft.env.insert(attr.name.as_bytes().into(), text.into());
        Ok(())
    }

    /// Structured attributes written by hand, which is deprecated: a JSON object as text.
    fn literal_json(&mut self, text: &[u8]) -> Result<()> {
        self.cx.emit(format!(
            "warning: In derivation '{}': setting structured attributes via '__json' is deprecated, \
             and may be disallowed in future versions of Nix. Set '__structuredAttrs = true' instead.",
            self.draft.name
        ));
        let mut builder = Builder::new(self.cx);
        parse_json(text, &mut builder)
            .map_err(|error| other(format!("cannot process __json attribute: {error}")))?;
        let value = builder.finish();
        if !matches!(value.view(), View::Attrs(_)) {
            return Err(other("cannot process __json attribute: it is not a JSON object"));
        }
        // Written anew, with sorted keys and no blanks.
        let plain = JsonOptions { copy_paths: false, strict: true, pretty: false };
        let (text, _) = to_json(self.cx, value, Pos::NONE, plain)?;
        self.draft.env.insert("__json".into(), text.into());
        Ok(())
    }

    fn boolean(&self, attr: Attr) -> Result<bool> {
        self.cx.force_bool(attr.value(), Pos::NONE, "")
    }

    fn plain_string(&self, value: Value) -> Result<&'static [u8]> {
        self.cx.force_plain_string(value, Pos::NONE, "")
    }

    fn list(&self, value: Value) -> Result<crate::value::List> {
        self.cx.force_list(value, Pos::NONE, "")
    }

    fn set_algorithm(&mut self, name: &[u8]) -> Result<()> {
        // A name that means nothing counts as none, and the hash itself has to say.
        self.algorithm = Algorithm::parse(name).ok();
        if self.algorithm == Some(Algorithm::Blake3) {
            self.cx.require_feature("blake3-hashes")?;
        }
        Ok(())
    }

    fn set_method(&mut self, mode: &[u8]) -> Result<()> {
        let Some(method) = Method::parse(mode) else {
            return Err(other(format!(
                "invalid value '{}' for 'outputHashMode' attribute",
                lossy(mode)
            )));
        };
        self.method = Some(method);
        match method {
            Method::Text => self.cx.require_feature("dynamic-derivations"),
            Method::Git => self.cx.require_feature("git-hashing"),
            Method::Flat | Method::Recursive => Ok(()),
        }
    }

    /// Adds everything that the strings refer to as inputs.
    fn add_inputs(&mut self) -> Result<()> {
        let mut ids: Vec<u32> = Vec::new();
        for context in &self.contexts {
            ids.extend_from_slice(context.ids());
        }
        ids.sort_unstable();
        ids.dedup();
        for id in ids {
            self.draft.add_input(context::element(id), |path| self.cx.node(path))?;
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Value> {
        if let Some(mut json) = self.json.take() {
            if json.is_empty() {
                json.push(b'{');
            }
            json.push(b'}');
            self.draft.env.insert("__json".into(), json.into());
        }
        self.add_inputs()?;
        let mut failed = None;
        self.draft.kind = match self.kind() {
            Ok(kind) => kind,
            Err(error) => {
                failed = Some(error);
                self.dummy_kind()
            }
        };
        let cx = self.cx;
        for input in self.draft.input_drvs.keys() {
            cx.known_derivation(input)?;
        }
        let derivations = &cx.evaluator.store.derivations;
        let finished = self
            .draft
            .finish(&cx.evaluator.settings.store_dir, |input| {
                derivations.get(input.as_bytes()).map(|known| known.modulo)
            })
            .map_err(|error| refused(&error))?;
        if let Some(error) = failed {
            return Err(error);
        }
        Ok(result(cx, &finished))
    }

    /// A kind that passes and fails the same checks as the one that was asked for.
    fn dummy_kind(&self) -> OutputKind {
        let method = self.method.unwrap_or(Method::Recursive);
        match self.hash {
            Some(_) => OutputKind::Fixed { method, hash: Hash::zero(Algorithm::Sha256) },
            None => OutputKind::Floating { method, algorithm: Algorithm::Sha256 },
        }
    }

    fn kind(&self) -> Result<OutputKind> {
        if let Some(text) = &self.hash {
            let hash = parse_allow_empty(text, self.algorithm)
                .map_err(|error| other(error.to_string()))?;
            if let Some(warning) = hash.warning() {
                self.cx.emit(format!("warning: {warning}"));
            }
            let method = self.method.unwrap_or(Method::Flat);
            return Ok(OutputKind::Fixed { method, hash: hash.hash() });
        }
        let method = self.method.unwrap_or(Method::Recursive);
        let algorithm = self.algorithm.unwrap_or(Algorithm::Sha256);
        match (self.content_addressed, self.impure) {
            (true, true) => Err(other("derivation cannot be both content-addressed and impure")),
            (true, false) => Ok(OutputKind::Floating { method, algorithm }),
            (false, true) => Ok(OutputKind::Impure { method, algorithm }),
            (false, false) => Ok(OutputKind::InputAddressed),
        }
    }
}

/// Remembers a derivation and returns the strings for its file and its outputs.
fn result(cx: &Cx<'_>, finished: &Finished) -> Value {
    let drv = &finished.drv_path;
    let known = KnownDerivation::new(&finished.derivation, finished.modulo, drv);
    cx.evaluator.store.derivations.insert(drv.as_bytes(), Arc::new(known));
    let mut strings = AttrsBuilder::with_capacity(finished.outputs.len() + 1);
    strings.push(sym::DRV_PATH, Pos::NONE, cx.drv_string(drv));
    for (name, output) in &finished.outputs {
        let string = cx.output_string(drv, name, output);
        strings.push(Symbol::intern(name.as_bytes()), Pos::NONE, string);
    }
    cx.set(strings)
}
