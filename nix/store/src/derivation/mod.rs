//! Derivations: what to build, from what, and where the results will lie.
//!
//! A [`Derivation`] is the term that a `.drv` file holds. Evaluators begin with a [`Draft`], which has
//! no output paths yet, and [`Draft::finish`] it: that computes every path and the
//! [`ModuloHash`] by which derivations that use it know it.
//!
//! Maps and sets are sorted by bytes, which is the order in the file. Not here: what attributes of
//! a set become which parts, and what the hash-modulo of an input is; the caller looks that up.

mod draft;
mod modulo;
mod read;
mod write;

use std::collections::{BTreeMap, BTreeSet};

use bstr::BString;

pub use self::draft::{DerivationError, Draft, Finished, Node, OutputKind, OutputRef};
pub use self::modulo::{ModuloHash, UnknownInput};
pub use self::read::{Problem, ReadError};
use crate::hash::{Algorithm, Hash, sha256};
use crate::path::{DRV_EXTENSION, Method, NameError, StoreDir, StorePath};

/// The contents of a `.drv` file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Derivation {
    /// What is made, by the name of the output.
    pub outputs: BTreeMap<String, Output>,
    /// Which outputs of which derivations are used.
    pub input_drvs: BTreeMap<StorePath, BTreeSet<String>>,
    /// Which other store objects are used.
    pub input_srcs: BTreeSet<StorePath>,
    /// The kind of machine to build on.
    pub platform: BString,
    /// The program that builds.
    pub builder: BString,
    /// Its arguments.
    pub args: Vec<BString>,
    /// Its environment.
    pub env: BTreeMap<BString, BString>,
}

/// One output of a derivation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Output {
    /// Its path follows from the derivation.
    InputAddressed(StorePath),
    /// Its contents are known beforehand, and its path follows from them.
    Fixed {
        /// Where it will lie.
        path: StorePath,
        /// How `hash` is taken.
        method: Method,
        /// The hash that the contents must have.
        hash: Hash,
    },
    /// Its path will follow from its contents, once it is built.
    Floating {
        /// How its hash will be taken.
        method: Method,
        /// The digest function.
        algorithm: Algorithm,
    },
    /// As [`Output::Floating`], but every build may give something else.
    Impure {
        /// How its hash will be taken.
        method: Method,
        /// The digest function.
        algorithm: Algorithm,
    },
    /// Its path will follow from the derivation, once the paths of all inputs are known.
    Deferred,
}

impl Output {
    /// Returns the path, if it is known.
    pub fn path(&self) -> Option<&StorePath> {
        match self {
            Output::InputAddressed(path) | Output::Fixed { path, .. } => Some(path),
            Output::Floating { .. } | Output::Impure { .. } | Output::Deferred => None,
        }
    }
}

impl Derivation {
    /// Returns the store paths that the `.drv` file refers to, in order.
    pub fn references(&self) -> BTreeSet<&StorePath> {
        self.input_srcs.iter().chain(self.input_drvs.keys()).collect()
    }

    /// Returns the path of the `.drv` file of this derivation, called `name` (without `.drv`).
    pub fn path(&self, store: &StoreDir, name: &str) -> Result<StorePath, NameError> {
        self.path_of_text(store, name, &self.to_bytes())
    }

    /// As [`Derivation::path`], for callers that have the contents of the file already.
    fn path_of_text(
        &self,
        store: &StoreDir,
        name: &str,
        text: &[u8],
    ) -> Result<StorePath, NameError> {
        store.text_path(&format!("{name}{DRV_EXTENSION}"), &sha256(&[text]), self.references())
    }
}

#[cfg(test)]
mod tests;
