//! How the digest of a store path comes about.
//!
//! Every path is named after a fingerprint: the kind of object, the SHA-256 of what it is made from,
//! the store directory and the name. The kinds are `text` (files written by an evaluator), `source`
//! (whole trees) and `output:<id>` (what derivations make, and all other fixed outputs).

use super::{DIGEST_LEN, DRV_EXTENSION, NameError, StoreDir, StorePath, check_name};
use crate::base32;
use crate::hash::{Algorithm, Hash, Sha256, hex, sha256};

/// How the hash of a store object is taken from its contents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Method {
    /// Of the one regular file that the object is.
    Flat,
    /// Of the object's archive, called `recursive` or `nar`.
    Recursive,
    /// Of the file, which may refer to other store objects.
    Text,
    /// Of the object's Git tree or blob.
    Git,
}

impl Method {
    /// Returns the method that `outputHashMode` calls `name`.
    ///
    /// `text` and `git` are experimental in Nix; the caller decides whether they may be used.
    pub fn parse(name: &[u8]) -> Option<Method> {
        Some(match name {
            b"flat" => Method::Flat,
            b"recursive" | b"nar" => Method::Recursive,
            b"text" => Method::Text,
            b"git" => Method::Git,
            _ => return None,
        })
    }

    /// Returns what stands before the algorithm in derivations and fingerprints.
    pub const fn prefix(self) -> &'static str {
        match self {
            Method::Flat => "",
            Method::Recursive => "r:",
            Method::Text => "text:",
            Method::Git => "git:",
        }
    }

    /// Splits `algorithm` into the method of its prefix and the rest.
    pub(crate) fn strip_prefix(algorithm: &[u8]) -> (Method, &[u8]) {
        for method in [Method::Recursive, Method::Text, Method::Git] {
            if let Some(rest) = algorithm.strip_prefix(method.prefix().as_bytes()) {
                return (method, rest);
            }
        }
        (Method::Flat, algorithm)
    }
}

/// Why a fixed output has no path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FixedPathError {
    /// The name cannot be used.
    #[error(transparent)]
    Name(#[from] NameError),
    /// The `text` method, with an algorithm other than SHA-256.
    #[error(
        "'{name}' is hashed as text with '{algorithm}', but only 'sha256' can be used for that"
    )]
    TextAlgorithm {
        /// The name of the object.
        name: String,
        /// What was asked for.
        algorithm: Algorithm,
    },
}

impl StoreDir {
    /// Returns the path of an object of kind `kind` that is made from what `inner` is the hash of.
    pub fn make_store_path(
        &self,
        kind: &str,
        inner: &Sha256,
        name: &str,
    ) -> Result<StorePath, NameError> {
        check_name(name.as_bytes())?;
        let fingerprint = sha256(&[
            kind.as_bytes(),
            b":sha256:",
            hex(inner).as_bytes(),
            b":",
            self.as_str().as_bytes(),
            b":",
            name.as_bytes(),
        ]);
        let mut folded = [0; DIGEST_LEN * 5 / 8];
        for (i, byte) in fingerprint.iter().enumerate() {
            folded[i % 20] ^= byte;
        }
        Ok(self.join(&base32::encode(&folded), name))
    }

    /// Returns the path of the file `name` with SHA-256 `contents`, written by an evaluator.
    ///
    /// `references` are the store paths that it refers to, in order.
    pub fn text_path<'r>(
        &self,
        name: &str,
        contents: &Sha256,
        references: impl IntoIterator<Item = &'r StorePath>,
    ) -> Result<StorePath, NameError> {
        self.make_store_path(&kind("text", references), contents, name)
    }

    /// Returns the path of a tree whose archive has SHA-256 `archive`.
    ///
    /// `references` are the store paths that it refers to, in order.
    pub fn source_path<'r>(
        &self,
        name: &str,
        archive: &Sha256,
        references: impl IntoIterator<Item = &'r StorePath>,
    ) -> Result<StorePath, NameError> {
        self.make_store_path(&kind("source", references), archive, name)
    }

    /// Returns the path of an object without references whose hash is known beforehand.
    pub fn fixed_output_path(
        &self,
        name: &str,
        method: Method,
        hash: &Hash,
    ) -> Result<StorePath, FixedPathError> {
        let path = match (method, hash.sha256()) {
            (Method::Recursive, Some(archive)) => self.source_path(name, &archive, []),
            (Method::Text, Some(contents)) => self.text_path(name, &contents, []),
            (Method::Text, None) => {
                let (name, algorithm) = (name.to_owned(), hash.algorithm());
                return Err(FixedPathError::TextAlgorithm { name, algorithm });
            }
            _ => {
                let inner = sha256(&[fixed_output(method, hash).as_bytes()]);
                self.make_store_path("output:out", &inner, name)
            }
        };
        Ok(path?)
    }

    /// Returns the path of output `output` of the derivation `name`, without `.drv`.
    ///
    /// `inner` is the hash of the derivation with its outputs masked.
    pub fn output_path(
        &self,
        output: &str,
        inner: &Sha256,
        name: &str,
    ) -> Result<StorePath, NameError> {
        let path_name = output_path_name(name, output);
        self.make_store_path(&format!("output:{output}"), inner, &path_name)
    }
}

/// Returns what the hash of a fixed output is taken of, up to the store path.
pub(crate) fn fixed_output(method: Method, hash: &Hash) -> String {
    format!("fixed:out:{}{}:{}:", method.prefix(), hash.algorithm(), hex(hash.as_bytes()))
}

fn kind<'r>(kind: &str, references: impl IntoIterator<Item = &'r StorePath>) -> String {
    let mut text = kind.to_owned();
    for reference in references {
        text.push(':');
        text.push_str(reference);
    }
    text
}

/// Returns the name of output `output` of the derivation `name`: only `out` is not mentioned.
pub fn output_path_name(name: &str, output: &str) -> String {
    if output == "out" { name.to_owned() } else { format!("{name}-{output}") }
}

/// Returns what stands for a derivation's own output until it is built.
pub fn placeholder(output: &[u8]) -> String {
    format!("/{}", base32::encode(&sha256(&[b"nix-output:", output])))
}

/// Returns what stands for an output of another derivation whose path is not known yet.
pub fn upstream_placeholder(drv_path: &StorePath, output: &str) -> String {
    let name = drv_path.name();
    let name = output_path_name(name.strip_suffix(DRV_EXTENSION).unwrap_or(name), output);
    let parts: [&[u8]; 4] =
        [b"nix-upstream-output:", drv_path.digest().as_bytes(), b":", name.as_bytes()];
    format!("/{}", base32::encode(&sha256(&parts)))
}
