//! Store paths: what they look like and how they are taken apart.
//!
//! A [`StorePath`] is the whole text `<store dir>/<digest>-<name>` and is always well formed: its
//! digest part has 32 digits of base 32 and its name keeps the rules of [`check_name`]. Paths of one
//! store sort by their text. How digests come about is in `make.rs`; nothing here looks at a disk.

mod make;

use std::borrow::Borrow;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

pub(crate) use self::make::fixed_output;
pub use self::make::{FixedPathError, Method, output_path_name, placeholder, upstream_placeholder};
use crate::base32;

/// How many characters the digest part of a store path has.
pub const DIGEST_LEN: usize = 32;

/// How many characters a name may have.
pub const MAX_NAME_LEN: usize = 211;

/// What the name of a derivation's file ends in.
pub const DRV_EXTENSION: &str = ".drv";

/// Why a text is not the name of a store object.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NameError {
    /// Nothing at all.
    #[error("name must not be empty")]
    Empty,
    /// More than [`MAX_NAME_LEN`] bytes.
    #[error("name '{0}' must be no longer than {MAX_NAME_LEN} characters")]
    TooLong(String),
    /// `.` or `..`.
    #[error("name '{0}' is not valid")]
    Dots(String),
    /// Begins with `.-` or `..-`.
    #[error("name '{name}' is not valid: first dash-separated component must not be '{component}'")]
    DotsFirst {
        /// The whole name.
        name: String,
        /// `.` or `..`.
        component: &'static str,
    },
    /// A character other than letters, digits and `+-._?=`.
    #[error("name '{name}' contains illegal character '{character}'")]
    BadCharacter {
        /// The whole name.
        name: String,
        /// The first such character, as text.
        character: String,
    },
}

/// Why a text is not a store path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PathError {
    /// It does not lie below the store directory.
    #[error("path '{0}' is not in the Nix store")]
    NotInStore(String),
    /// It is a path below a store path, and only a store path itself will do.
    #[error("path '{0}' is not a store path: it lies inside one")]
    InsideStorePath(String),
    /// There is no room for a digest, a dash and a name.
    #[error("'{0}' is too short to be a valid store path")]
    TooShort(String),
    /// A character that base 32 does not have.
    #[error("store path '{path}' contains illegal base-32 character '{character}'")]
    BadDigest {
        /// The path without its directory.
        path: String,
        /// The first such character, as text.
        character: String,
    },
    /// The digest is followed by something other than a dash.
    #[error("path '{0}' is not a valid store path: its digest is not followed by '-'")]
    NoDash(String),
    /// The part after the digest is no name.
    #[error("path '{path}' is not a valid store path: {error}")]
    BadName {
        /// The path without its directory.
        path: String,
        /// What is wrong with it.
        error: NameError,
    },
}

/// Returns `name` as text if a store object may be called so.
pub fn check_name(name: &[u8]) -> Result<&str, NameError> {
    let lossy = || String::from_utf8_lossy(name).into_owned();
    if name.len() > MAX_NAME_LEN {
        return Err(NameError::TooLong(lossy()));
    }
    match name {
        b"" => return Err(NameError::Empty),
        b"." | b".." => return Err(NameError::Dots(lossy())),
        [b'.', b'-', ..] => return Err(NameError::DotsFirst { name: lossy(), component: "." }),
        [b'.', b'.', b'-', ..] => {
            return Err(NameError::DotsFirst { name: lossy(), component: ".." });
        }
        _ => {}
    }
    let allowed = |&c: &u8| c.is_ascii_alphanumeric() || b"+-._?=".contains(&c);
    match name.iter().position(|c| !allowed(c)) {
        Some(at) => Err(NameError::BadCharacter { name: lossy(), character: character(name, at) }),
        None => Ok(str::from_utf8(name).expect("the allowed characters are ASCII")),
    }
}

/// Returns the character of `text` that begins at `at`, for messages.
fn character(text: &[u8], at: usize) -> String {
    let end = text.len().min(at + 4);
    String::from_utf8_lossy(&text[at..end]).chars().take(1).collect()
}

/// A store path, written out in full. Cheap to clone.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StorePath(Arc<str>);

impl StorePath {
    /// Returns the whole path.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the path without the store directory.
    pub fn base_name(&self) -> &str {
        let slash = self.0.rfind('/').expect("a store path begins with a store directory");
        &self.0[slash + 1..]
    }

    /// Returns the digest in base 32.
    pub fn digest(&self) -> &str {
        &self.base_name()[..DIGEST_LEN]
    }

    /// Returns the part after the digest.
    pub fn name(&self) -> &str {
        &self.base_name()[DIGEST_LEN + 1..]
    }

    /// Returns whether this is the file of a derivation, going by its name.
    pub fn is_derivation(&self) -> bool {
        self.0.ends_with(DRV_EXTENSION)
    }
}

impl Deref for StorePath {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl AsRef<[u8]> for StorePath {
    fn as_ref(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

impl Borrow<str> for StorePath {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for StorePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for StorePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

/// The directory in which store paths lie; `/nix/store` by default. Cheap to clone.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct StoreDir(Arc<str>);

impl Default for StoreDir {
    fn default() -> StoreDir {
        StoreDir::new("/nix/store")
    }
}

impl StoreDir {
    /// Returns the store in directory `dir`. Slashes at its end do not count.
    pub fn new(dir: &str) -> StoreDir {
        StoreDir(Arc::from(dir.trim_end_matches('/')))
    }

    /// Returns the directory without a slash at its end.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the part of `path` after the store directory and its slash, if it lies below.
    fn below<'p>(&self, path: &'p [u8]) -> Option<&'p [u8]> {
        path.strip_prefix(self.0.as_bytes())?.strip_prefix(b"/").filter(|rest| !rest.is_empty())
    }

    /// Returns whether `path` lies below the store directory. It need not be well formed.
    pub fn contains(&self, path: &[u8]) -> bool {
        self.below(path).is_some()
    }

    /// Returns whether `path` is a store path, not merely a path inside one.
    pub fn is_store_path(&self, path: &[u8]) -> bool {
        self.parse(path).is_ok()
    }

    /// Reads a store path, written out in full.
    pub fn parse(&self, path: &[u8]) -> Result<StorePath, PathError> {
        let (store_path, rest) = self.split(path)?;
        if rest.is_empty() {
            Ok(store_path)
        } else {
            Err(PathError::InsideStorePath(String::from_utf8_lossy(path).into_owned()))
        }
    }

    /// Splits a path at or below a store path into the store path and the rest.
    ///
    /// The rest is empty or begins with a slash.
    pub fn split<'p>(&self, path: &'p [u8]) -> Result<(StorePath, &'p [u8]), PathError> {
        let below = self
            .below(path)
            .ok_or_else(|| PathError::NotInStore(String::from_utf8_lossy(path).into_owned()))?;
        let end = memchr::memchr(b'/', below).unwrap_or(below.len());
        Ok((self.parse_base_name(&below[..end])?, &below[end..]))
    }

    /// Reads a store path without its directory.
    pub fn parse_base_name(&self, base: &[u8]) -> Result<StorePath, PathError> {
        let lossy = || String::from_utf8_lossy(base).into_owned();
        if base.len() < DIGEST_LEN + 1 {
            return Err(PathError::TooShort(lossy()));
        }
        let digest = &base[..DIGEST_LEN];
        if let Some(at) = digest.iter().position(|&c| !base32::is_digit(c)) {
            return Err(PathError::BadDigest { path: lossy(), character: character(base, at) });
        }
        if base[DIGEST_LEN] != b'-' {
            return Err(PathError::NoDash(lossy()));
        }
        let name = check_name(&base[DIGEST_LEN + 1..])
            .map_err(|error| PathError::BadName { path: lossy(), error })?;
        let digest = str::from_utf8(digest).expect("base 32 is ASCII");
        Ok(self.join(digest, name))
    }

    /// Puts a path together. The parts have been checked.
    fn join(&self, digest: &str, name: &str) -> StorePath {
        let mut text = String::with_capacity(self.0.len() + digest.len() + name.len() + 2);
        for part in [&self.0, "/", digest, "-", name] {
            text.push_str(part);
        }
        StorePath(Arc::from(text))
    }
}

impl fmt::Display for StoreDir {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for StoreDir {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

#[cfg(test)]
mod tests;
