//! What is remembered of each derivation: for those that use it, and for importing its file.
//!
//! A derivation is known once it was evaluated, or its file was read from the store.

use std::sync::Arc;

use raddle_nix_store::context::Element;
use raddle_nix_store::derivation::{Derivation, ModuloHash, Node, OutputRef};
use raddle_nix_store::path::{StorePath, upstream_placeholder};
use raddle_nix_syntax::{Pos, Symbol, sym};

use super::file_system::lossy;
use super::store::Object;
use crate::eval::{Cx, Error, ErrorKind, Result};
use crate::value::{AttrsBuilder, Context, PrimOp, Value};

pub(super) const PRIMOPS: &[PrimOp] = &[PrimOp::new("outputOf", 2, output_of)];

/// What others need to know of a derivation.
#[derive(Debug)]
pub(super) struct KnownDerivation {
    pub(super) modulo: ModuloHash,
    references: Box<[StorePath]>,
    outputs: Box<[(String, OutputRef)]>,
}

impl KnownDerivation {
    pub(super) fn new(
        derivation: &Derivation,
        modulo: ModuloHash,
        drv: &StorePath,
    ) -> KnownDerivation {
        let outputs = derivation.outputs.iter().map(|(name, output)| {
            let output = match output.path() {
                Some(path) => OutputRef::Path(path.clone()),
                None => OutputRef::Placeholder(upstream_placeholder(drv, name)),
            };
            (name.clone(), output)
        });
        KnownDerivation {
            modulo,
            references: derivation.references().into_iter().cloned().collect(),
            outputs: outputs.collect(),
        }
    }
}

impl Cx<'_> {
    /// Returns what is known of a derivation, reading its file if evaluation has not met it.
    pub(super) fn known_derivation(&self, drv: &StorePath) -> Result<Option<Arc<KnownDerivation>>> {
        let derivations = &self.evaluator.store.derivations;
        if let Some(known) = derivations.get(drv.as_bytes()) {
            return Ok(Some(known));
        }
        self.check_stack()?;
        let Ok(text) = std::fs::read(drv.as_str()) else { return Ok(None) };
        let derivation = Derivation::from_bytes(&text, &self.evaluator.settings.store_dir)
            .map_err(|error| other(format!("error parsing derivation '{drv}': {error}")))?;
        for input in derivation.input_drvs.keys() {
            self.known_derivation(input)?;
        }
        let modulo = derivation
            .hash_modulo(|input| derivations.get(input.as_bytes()).map(|known| known.modulo))
            .map_err(|error| other(error.to_string()))?;
        let known = Arc::new(KnownDerivation::new(&derivation, modulo, drv));
        derivations.insert(drv.as_bytes(), Arc::clone(&known));
        Ok(Some(known))
    }

    /// Returns what the closure of a derivation needs to know about one of its paths.
    pub(super) fn node(&self, path: &StorePath) -> Result<Node> {
        if path.is_derivation() {
            let Some(known) = self.known_derivation(path)? else {
                return Err(other(format!("path '{path}' is not valid")));
            };
            return Ok(Node {
                references: known.references.to_vec(),
                outputs: known.outputs.iter().map(|(name, _)| name.clone()).collect(),
            });
        }
        let references = match self.evaluator.store.objects.get(path.as_bytes()) {
            Some(Object::Text(text)) => text
                .context()
                .elements()
                .into_iter()
                .map(|element| element.path().clone())
                .collect(),
            _ => Vec::new(),
        };
        Ok(Node { references, outputs: Vec::new() })
    }

    pub(super) fn output_string(&self, drv: &StorePath, name: &str, output: &OutputRef) -> Value {
        let context = Context::single(self.heap(), &Element::built(drv.clone(), name));
        self.string_with(output.as_str(), context)
    }

    pub(super) fn drv_string(&self, drv: &StorePath) -> Value {
        let context = Context::single(self.heap(), &Element::DrvDeep(drv.clone()));
        self.string_with(drv.as_str(), context)
    }

    /// Returns the set that importing the file of a derivation gives; nothing for other files.
    pub(super) fn import_derivation(&self, path: &[u8]) -> Result<Option<Value>> {
        if !path.ends_with(b".drv") {
            return Ok(None);
        }
        let Ok(drv) = self.evaluator.settings.store_dir.parse(path) else { return Ok(None) };
        let Some(known) = self.known_derivation(&drv)? else { return Ok(None) };
        let mut paths = AttrsBuilder::default();
        let mut names = Vec::new();
        for (name, output) in &known.outputs {
            names.push(self.string(name));
            let output = self.output_string(&drv, name, output);
            paths.push(Symbol::intern(name.as_bytes()), Pos::NONE, output);
        }
        let name = drv.name().strip_suffix(".drv").unwrap_or(drv.name());
        let mut facts = AttrsBuilder::default();
        facts.push(sym::DRV_PATH, Pos::NONE, self.drv_string(&drv));
        facts.push(sym::NAME, Pos::NONE, self.string(name));
        facts.push(sym::OUTPUTS, Pos::NONE, self.list(&names));
        facts.push(Symbol::intern(b"paths"), Pos::NONE, self.set(paths));
        let function = self.eval_string(include_str!("imported.nix").as_bytes(), b"/")?;
        self.call(function, &[self.set(facts)], Pos::NONE).map(Some)
    }

    /// Returns an error unless an experimental feature is on.
    pub(super) fn require_feature(&self, feature: &str) -> Result<()> {
        if self.evaluator.settings.has_feature(feature) {
            return Ok(());
        }
        Err(other(format!(
            "experimental Nix feature '{feature}' is disabled; add \
             '--extra-experimental-features {feature}' to enable it"
        )))
    }
}

#[cold]
fn other(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Other, Pos::NONE, message)
}

fn output_of(cx: &Cx<'_>, args: &[Value], _: Pos) -> Result<Value> {
    let text = "while evaluating the first argument to builtins.outputOf";
    let s = cx.force_string(args[0], Pos::NONE, text)?;
    let text = "while evaluating the second argument to builtins.outputOf";
    let output = cx.force_plain_string(args[1], Pos::NONE, text)?;
    let output =
        raddle_nix_store::path::check_name(output).map_err(|error| other(error.to_string()))?;
    let elements = s.context().elements();
    let drv = match elements[..] {
        [Element::Opaque(drv)] if drv.is_derivation() => drv,
        [Element::Opaque(path)] => {
            return Err(other(format!("path '{path}' is not a derivation")));
        }
        [Element::DrvDeep(_)] => {
            return Err(other(format!(
                "string '{}' has a context which refers to a complete source and binary closure. \
                 This is not supported at this time",
                lossy(s.as_bytes())
            )));
        }
        [Element::Built { .. }] => {
            return Err(other(
                "outputs of derivations that a derivation makes are not supported yet",
            ));
        }
        _ => {
            return Err(other(format!(
                "string '{}' has {} entries in its context. It should only have exactly one entry",
                lossy(s.as_bytes()),
                elements.len()
            )));
        }
    };
    let known = cx.known_derivation(drv)?;
    let place = known.as_ref().and_then(|known| {
        known.outputs.iter().find(|(name, _)| name == output).map(|(_, place)| place)
    });
    match place {
        Some(place) => Ok(cx.output_string(drv, output, place)),
        None if known.is_some() => {
            Err(other(format!("derivation '{drv}' does not have output '{output}'")))
        }
        None => {
            let place = OutputRef::Placeholder(upstream_placeholder(drv, output));
            Ok(cx.output_string(drv, output, &place))
        }
    }
}
