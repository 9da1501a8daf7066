//! The hash of a derivation modulo fixed outputs: how a derivation that uses another one knows it.
//!
//! Output paths must not change when only the *way* to known contents changes. So in the text that
//! is hashed, an input derivation is called by its own such hash, and one with a fixed output by the
//! hash of that output. Inputs that thereby become equal are merged.
//!
//! Invariant: only derivations whose every output path is known have a hash; all others, and what
//! uses them, are deferred. Remembering hashes by derivation path is left to the caller.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::write::{Tail, write_input_drvs, write_masked_outputs, write_outputs};
use super::{Derivation, Output};
use crate::hash::{Sha256, hex, sha256};
use crate::path::{StorePath, fixed_output};

/// What a derivation is known by to those that use it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModuloHash {
    /// All its outputs are input-addressed.
    Known(Sha256),
    /// Its one output, `out`, is fixed.
    FixedOutput(Sha256),
    /// Some path is not known before something is built.
    Deferred,
}

/// The caller does not know the hash of an input derivation.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot compute output paths: the hash of the input derivation '{0}' is not known")]
pub struct UnknownInput(pub StorePath);

/// The input derivations as they stand in the text that is hashed: sorted and merged.
pub(super) struct ModuloInputs<'i>(Vec<(Sha256, Cow<'i, BTreeSet<String>>)>);

impl<'i> ModuloInputs<'i> {
    /// Looks up all inputs. Returns nothing if one of them is deferred.
    pub(super) fn of(
        input_drvs: &'i BTreeMap<StorePath, BTreeSet<String>>,
        lookup: impl Fn(&StorePath) -> Option<ModuloHash>,
    ) -> Result<Option<ModuloInputs<'i>>, UnknownInput> {
        let mut inputs = Vec::with_capacity(input_drvs.len());
        let mut deferred = false;
        for (path, outputs) in input_drvs {
            match lookup(path).ok_or_else(|| UnknownInput(path.clone()))? {
                ModuloHash::Known(hash) | ModuloHash::FixedOutput(hash) => {
                    inputs.push((hash, Cow::Borrowed(outputs)));
                }
                ModuloHash::Deferred => deferred = true,
            }
        }
        if deferred {
            return Ok(None);
        }
        // The order of digests is the order of their hexadecimal texts.
        inputs.sort_by_key(|&(hash, _)| hash);
        inputs.dedup_by(|later, kept| {
            let same = later.0 == kept.0;
            if same {
                kept.1.to_mut().extend(later.1.iter().cloned());
            }
            same
        });
        Ok(Some(ModuloInputs(inputs)))
    }

    fn write(&self, text: &mut Vec<u8>) {
        write_input_drvs(text, self.0.iter().map(|(hash, outputs)| (hex(hash), &**outputs)));
    }

    /// Returns the hash from which the output paths are made: that of the derivation without any.
    pub(super) fn masked_hash(&self, derivation: &Derivation, tail: &Tail) -> Sha256 {
        let mut head = Vec::with_capacity(self.len_hint());
        write_masked_outputs(&mut head, &derivation.outputs);
        self.write(&mut head);
        sha256(&[&head, tail.masked()])
    }

    /// Returns the hash by which users know the derivation: that with its output paths.
    pub(super) fn hash(&self, derivation: &Derivation, tail: &Tail) -> Sha256 {
        let mut head = Vec::with_capacity(self.len_hint() + derivation.outputs.len() * 320);
        write_outputs(&mut head, &derivation.outputs);
        self.write(&mut head);
        let mut parts = vec![&head[..]];
        parts.extend(tail.pieces(&derivation.outputs));
        sha256(&parts)
    }

    fn len_hint(&self) -> usize {
        self.0.len() * 96 + 128
    }
}

impl Derivation {
    /// Returns what this derivation is known by to those that use it.
    ///
    /// `lookup` gives the same for its input derivations. It is not called for derivations that
    /// do not depend on them.
    pub fn hash_modulo(
        &self,
        lookup: impl Fn(&StorePath) -> Option<ModuloHash>,
    ) -> Result<ModuloHash, UnknownInput> {
        if let Some(hash) = self.modulo_by_outputs() {
            return Ok(hash);
        }
        Ok(match ModuloInputs::of(&self.input_drvs, lookup)? {
            Some(inputs) => ModuloHash::Known(inputs.hash(self, &Tail::of(self))),
            None => ModuloHash::Deferred,
        })
    }

    /// Returns the hash if the outputs alone decide it: unless all are input-addressed.
    pub(super) fn modulo_by_outputs(&self) -> Option<ModuloHash> {
        if self.outputs.len() == 1
            && let Some(Output::Fixed { path, method, hash }) = self.outputs.get("out")
        {
            let digest = sha256(&[fixed_output(*method, hash).as_bytes(), path.as_bytes()]);
            return Some(ModuloHash::FixedOutput(digest));
        }
        let known = |output: &Output| matches!(output, Output::InputAddressed(_));
        if self.outputs.values().all(known) { None } else { Some(ModuloHash::Deferred) }
    }
}
