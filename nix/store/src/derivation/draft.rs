//! From the parts of a derivation to its paths.
//!
//! The evaluator fills a [`Draft`]; [`Draft::finish`] checks it with Nix's rules, computes all paths
//! and returns the finished derivation with the contents of its file. One call does three SHA-256
//! runs over one written text.

use std::collections::{BTreeMap, BTreeSet};

use bstr::BString;

use super::modulo::ModuloInputs;
use super::write::Tail;
use super::{Derivation, ModuloHash, Output, UnknownInput};
use crate::context::Element;
use crate::hash::{Algorithm, Hash};
use crate::path::{
    DRV_EXTENSION, FixedPathError, Method, NameError, StoreDir, StorePath, check_name,
    output_path_name, placeholder, upstream_placeholder,
};

/// Why a draft is no derivation. The messages are Nix's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DerivationError {
    /// No program to build with.
    #[error("required attribute 'builder' missing")]
    NoBuilder,
    /// No kind of machine to build on.
    #[error("required attribute 'system' missing")]
    NoSystem,
    /// The name ends in `.drv`, and the output is not one derivation file.
    #[error(
        "derivation names are allowed to end in '.drv' only if they produce a single derivation file"
    )]
    DrvName,
    /// The name of the derivation or of an output cannot be used.
    #[error("invalid derivation name: {0}. Please pass a different 'name'.")]
    Name(#[from] NameError),
    /// An output named twice.
    #[error("duplicate derivation output '{0}'")]
    DuplicateOutput(String),
    /// An output with a name that means something else.
    #[error("invalid derivation output name '{0}'")]
    OutputName(String),
    /// An output whose name cannot be part of a store path.
    #[error("invalid derivation output name '{output}': {error}")]
    BadOutputName {
        /// The name.
        output: String,
        /// What is wrong with it.
        error: NameError,
    },
    /// Nothing is made.
    #[error("derivation cannot have an empty set of outputs")]
    NoOutputs,
    /// The contents of one output are known, and there are others or it is not called `out`.
    #[error("multiple outputs are not supported in fixed-output derivations")]
    FixedOutputs,
    /// A fixed output that cannot be hashed in the way asked for.
    #[error(transparent)]
    FixedPath(#[from] FixedPathError),
    /// The hash of an input is missing.
    #[error(transparent)]
    UnknownInput(#[from] UnknownInput),
}

/// How the paths of all outputs come about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OutputKind {
    /// From the derivation; the rule.
    #[default]
    InputAddressed,
    /// From contents known beforehand. There is one output, `out`.
    Fixed {
        /// How `hash` is taken.
        method: Method,
        /// The hash that the contents must have.
        hash: Hash,
    },
    /// From the contents, once built.
    Floating {
        /// How their hash will be taken.
        method: Method,
        /// The digest function.
        algorithm: Algorithm,
    },
    /// From the contents, once built, which differ from build to build.
    Impure {
        /// How their hash will be taken.
        method: Method,
        /// The digest function.
        algorithm: Algorithm,
    },
}

/// The parts of a derivation, before any path is known.
#[derive(Debug, Clone)]
pub struct Draft {
    /// The name, without `.drv`.
    pub name: String,
    /// How output paths come about.
    pub kind: OutputKind,
    /// The names of the outputs; `out` unless set otherwise. See [`Draft::set_outputs`].
    pub outputs: BTreeSet<String>,
    /// Which outputs of which derivations are used. See [`Draft::add_input`].
    pub input_drvs: BTreeMap<StorePath, BTreeSet<String>>,
    /// Which other store objects are used.
    pub input_srcs: BTreeSet<StorePath>,
    /// The kind of machine to build on.
    pub platform: BString,
    /// The program that builds.
    pub builder: BString,
    /// Its arguments.
    pub args: Vec<BString>,
    /// Its environment. Variables called like an output need not be here: `finish` sets them.
    pub env: BTreeMap<BString, BString>,
}

/// What [`Draft::add_input`] has to know about a store path in a closure.
#[derive(Debug, Clone, Default)]
pub struct Node {
    /// The store paths that it refers to.
    pub references: Vec<StorePath>,
    /// If it is a derivation, the names of its outputs.
    pub outputs: Vec<String>,
}

/// A derivation with all that can be said about its paths.
#[derive(Debug, Clone)]
pub struct Finished {
    /// Where the derivation's file lies.
    pub drv_path: StorePath,
    /// Where each output lies, or what stands for it in other derivations.
    pub outputs: BTreeMap<String, OutputRef>,
    /// The derivation.
    pub derivation: Derivation,
    /// The contents of its file.
    pub text: Vec<u8>,
    /// What derivations that use this one will ask for.
    pub modulo: ModuloHash,
}

impl Finished {
    /// Returns the text that stands for output `name` in strings.
    pub fn output(&self, name: &str) -> Option<&str> {
        self.outputs.get(name).map(OutputRef::as_str)
    }
}

/// What an evaluator puts into a string for an output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OutputRef {
    /// The path is known.
    Path(StorePath),
    /// The path will be known when it is built; until then this text stands for it.
    Placeholder(String),
}

impl OutputRef {
    /// Returns the text.
    pub fn as_str(&self) -> &str {
        match self {
            OutputRef::Path(path) => path,
            OutputRef::Placeholder(text) => text,
        }
    }
}

impl Draft {
    /// Returns a draft called `name` with one output, `out`, and nothing else.
    pub fn new(name: impl Into<String>) -> Draft {
        Draft {
            name: name.into(),
            kind: OutputKind::default(),
            outputs: BTreeSet::from(["out".to_owned()]),
            input_drvs: BTreeMap::new(),
            input_srcs: BTreeSet::new(),
            platform: BString::default(),
            builder: BString::default(),
            args: Vec::new(),
            env: BTreeMap::new(),
        }
    }

    /// Sets the names of the outputs, which must be different and at least one.
    pub fn set_outputs<N: AsRef<[u8]>>(
        &mut self,
        names: impl IntoIterator<Item = N>,
    ) -> Result<(), DerivationError> {
        self.outputs.clear();
        for name in names {
            let name = name.as_ref();
            let lossy = || String::from_utf8_lossy(name).into_owned();
            if name == b"drvPath" {
                return Err(DerivationError::OutputName(lossy()));
            }
            let text = match check_name(name) {
                Ok(text) => text.to_owned(),
                Err(error) => {
                    return Err(DerivationError::BadOutputName { output: lossy(), error });
                }
            };
            if !self.outputs.insert(text) {
                return Err(DerivationError::DuplicateOutput(lossy()));
            }
        }
        if self.outputs.is_empty() { Err(DerivationError::NoOutputs) } else { Ok(()) }
    }

    /// Adds what a string refers to as an input.
    ///
    /// Only for [`Element::DrvDeep`], `node` is asked about every path in the derivation's closure,
    /// once each: all of them become input sources, and derivations among them also inputs with
    /// all their outputs.
    pub fn add_input<E>(
        &mut self,
        element: &Element,
        mut node: impl FnMut(&StorePath) -> Result<Node, E>,
    ) -> Result<(), E> {
        match element {
            Element::Opaque(path) => {
                self.input_srcs.insert(path.clone());
            }
            Element::Built { drv, output } => {
                self.add_output(drv, output.to_string());
            }
            Element::DrvDeep(drv) => {
                let mut seen = BTreeSet::from([drv.clone()]);
                let mut open = vec![drv.clone()];
                while let Some(path) = open.pop() {
                    let Node { references, outputs } = node(&path)?;
                    for output in outputs {
                        self.add_output(&path, output);
                    }
                    open.extend(references.into_iter().filter(|path| seen.insert(path.clone())));
                    self.input_srcs.insert(path);
                }
            }
        }
        Ok(())
    }

    fn add_output(&mut self, drv: &StorePath, output: String) {
        match self.input_drvs.get_mut(drv) {
            Some(outputs) => {
                outputs.insert(output);
            }
            None => {
                self.input_drvs.insert(drv.clone(), BTreeSet::from([output]));
            }
        }
    }

    /// Computes all paths.
    ///
    /// `lookup` gives the [`ModuloHash`] of each input derivation; only input-addressed outputs
    /// need it. The caller remembers [`Finished::modulo`] under [`Finished::drv_path`] for those
    /// that come later.
    pub fn finish(
        self,
        store: &StoreDir,
        lookup: impl Fn(&StorePath) -> Option<ModuloHash>,
    ) -> Result<Finished, DerivationError> {
        self.check()?;
        let Draft { name, kind, outputs, input_drvs, input_srcs, platform, builder, args, env } =
            self;
        let mut derivation = Derivation {
            outputs: BTreeMap::new(),
            input_drvs,
            input_srcs,
            platform,
            builder,
            args,
            env,
        };
        let mut set = |output: String, value: String, what: Output| {
            derivation.env.insert(output.as_str().into(), value.into());
            derivation.outputs.insert(output, what);
        };
        for output in outputs {
            match kind {
                OutputKind::InputAddressed => set(output, String::new(), Output::Deferred),
                OutputKind::Fixed { method, hash } => {
                    let path = store.fixed_output_path(&name, method, &hash)?;
                    set(output, path.to_string(), Output::Fixed { path, method, hash });
                }
                OutputKind::Floating { method, algorithm } => {
                    let value = placeholder(output.as_bytes());
                    set(output, value, Output::Floating { method, algorithm });
                }
                OutputKind::Impure { method, algorithm } => {
                    let value = placeholder(output.as_bytes());
                    set(output, value, Output::Impure { method, algorithm });
                }
            }
        }
        let (tail, modulo) = match kind {
            OutputKind::InputAddressed => address_by_inputs(&mut derivation, store, &name, lookup)?,
            _ => {
                let modulo = derivation.modulo_by_outputs().unwrap_or(ModuloHash::Deferred);
                (Tail::of(&derivation), modulo)
            }
        };

        let text = tail.to_file(&derivation);
        let drv_path = derivation.path_of_text(store, &name, &text)?;
        let outputs = derivation.outputs.iter().map(|(name, output)| {
            let output = match output.path() {
                Some(path) => OutputRef::Path(path.clone()),
                None => OutputRef::Placeholder(upstream_placeholder(&drv_path, name)),
            };
            (name.clone(), output)
        });
        Ok(Finished { outputs: outputs.collect(), drv_path, derivation, text, modulo })
    }

    /// Checks in the order in which Nix does, so that the same mistake is named first.
    fn check(&self) -> Result<(), DerivationError> {
        check_name(self.name.as_bytes())?;
        if self.builder.is_empty() {
            return Err(DerivationError::NoBuilder);
        }
        if self.platform.is_empty() {
            return Err(DerivationError::NoSystem);
        }
        if self.outputs.is_empty() {
            return Err(DerivationError::NoOutputs);
        }
        let only_out = self.outputs.len() == 1 && self.outputs.contains("out");
        let method = match self.kind {
            OutputKind::InputAddressed => None,
            OutputKind::Fixed { method, .. }
            | OutputKind::Floating { method, .. }
            | OutputKind::Impure { method, .. } => Some(method),
        };
        if self.name.ends_with(DRV_EXTENSION) && !(method == Some(Method::Text) && only_out) {
            return Err(DerivationError::DrvName);
        }
        if matches!(self.kind, OutputKind::Fixed { .. }) && !only_out {
            return Err(DerivationError::FixedOutputs);
        }
        for output in &self.outputs {
            check_name(output_path_name(&self.name, output).as_bytes())?;
        }
        Ok(())
    }
}

/// Gives the outputs their paths, if all inputs have theirs. Their variables are empty so far.
fn address_by_inputs(
    derivation: &mut Derivation,
    store: &StoreDir,
    name: &str,
    lookup: impl Fn(&StorePath) -> Option<ModuloHash>,
) -> Result<(Tail, ModuloHash), DerivationError> {
    let tail = Tail::with_holes(derivation);
    let Some(inputs) = ModuloInputs::of(&derivation.input_drvs, lookup)? else {
        return Ok((tail, ModuloHash::Deferred));
    };
    let inner = inputs.masked_hash(derivation, &tail);
    for (output, what) in &mut derivation.outputs {
        let path = store.output_path(output, &inner, name)?;
        derivation.env.insert(output.as_str().into(), path.as_str().into());
        *what = Output::InputAddressed(path);
    }
    let modulo = ModuloHash::Known(inputs.hash(derivation, &tail));
    Ok((tail, modulo))
}
