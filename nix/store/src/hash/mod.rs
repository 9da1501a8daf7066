//! Hash values, and the digest functions that make them.
//!
//! A [`struct@Hash`] always has exactly as many bytes as its algorithm gives. How hashes are written and
//! read is in `text.rs`; this file knows only bytes.

mod text;

use std::fmt;
use std::io;

use sha2::Digest;

pub use self::text::{
    AllowEmpty, Format, HashError, convert_hash, hex, parse_allow_empty, parse_any, parse_sri,
};

/// The digest that store paths and derivations are made of.
pub type Sha256 = [u8; 32];

/// A digest function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Algorithm {
    /// MD5, 16 bytes.
    Md5,
    /// SHA-1, 20 bytes.
    Sha1,
    /// SHA-256, 32 bytes.
    Sha256,
    /// SHA-512, 64 bytes.
    Sha512,
    /// BLAKE3, 32 bytes. Experimental in Nix; the caller decides whether it may be used.
    Blake3,
}

impl Algorithm {
    /// Returns the algorithm that Nix calls `name`.
    pub fn parse(name: &[u8]) -> Result<Algorithm, HashError> {
        Ok(match name {
            b"md5" => Algorithm::Md5,
            b"sha1" => Algorithm::Sha1,
            b"sha256" => Algorithm::Sha256,
            b"sha512" => Algorithm::Sha512,
            b"blake3" => Algorithm::Blake3,
            _ => return Err(HashError::UnknownAlgorithm(text::lossy(name))),
        })
    }

    /// Returns Nix's name for the algorithm.
    pub const fn name(self) -> &'static str {
        match self {
            Algorithm::Md5 => "md5",
            Algorithm::Sha1 => "sha1",
            Algorithm::Sha256 => "sha256",
            Algorithm::Sha512 => "sha512",
            Algorithm::Blake3 => "blake3",
        }
    }

    /// Returns how many bytes a digest has.
    pub const fn size(self) -> usize {
        match self {
            Algorithm::Md5 => 16,
            Algorithm::Sha1 => 20,
            Algorithm::Sha256 | Algorithm::Blake3 => 32,
            Algorithm::Sha512 => 64,
        }
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A digest together with the function that made it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hash {
    algorithm: Algorithm,
    /// Zero beyond the size of `algorithm`.
    bytes: [u8; 64],
}

impl Hash {
    /// Returns the hash of `algorithm` with these bytes, or nothing if their number is wrong.
    pub fn from_bytes(algorithm: Algorithm, bytes: &[u8]) -> Option<Hash> {
        if bytes.len() != algorithm.size() {
            return None;
        }
        let mut hash = Hash::zero(algorithm);
        hash.bytes[..bytes.len()].copy_from_slice(bytes);
        Some(hash)
    }

    /// Returns the hash of `algorithm` whose bytes are all zero.
    pub const fn zero(algorithm: Algorithm) -> Hash {
        Hash { algorithm, bytes: [0; 64] }
    }

    /// Returns the digest of `data`.
    pub fn of(algorithm: Algorithm, data: &[u8]) -> Hash {
        let mut hasher = Hasher::new(algorithm);
        hasher.update(data);
        hasher.finish()
    }

    /// Returns the digest function.
    pub const fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// Returns the digest.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.algorithm.size()]
    }

    /// Returns the digest if it is one of SHA-256.
    pub fn sha256(&self) -> Option<Sha256> {
        match self.algorithm {
            Algorithm::Sha256 => self.as_bytes().try_into().ok(),
            _ => None,
        }
    }
}

impl From<Sha256> for Hash {
    fn from(digest: Sha256) -> Hash {
        let mut hash = Hash::zero(Algorithm::Sha256);
        hash.bytes[..32].copy_from_slice(&digest);
        hash
    }
}

/// Shows the SRI form.
impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_text(Format::Sri))
    }
}

/// Returns the SHA-256 of the concatenation of `parts`.
pub fn sha256(parts: &[&[u8]]) -> Sha256 {
    let mut hasher = sha2::Sha256::new();
    for part in parts {
        hasher.update(part);
    }
    hasher.finalize().into()
}

/// A digest under way; bytes may also be written to it as [`io::Write`].
#[derive(Clone)]
pub struct Hasher(State);

#[derive(Clone)]
enum State {
    Md5(md5::Md5),
    Sha1(sha1::Sha1),
    Sha256(sha2::Sha256),
    Sha512(sha2::Sha512),
    Blake3(Box<blake3::Hasher>),
}

impl Hasher {
    /// Starts a digest.
    pub fn new(algorithm: Algorithm) -> Hasher {
        Hasher(match algorithm {
            Algorithm::Md5 => State::Md5(md5::Md5::new()),
            Algorithm::Sha1 => State::Sha1(sha1::Sha1::new()),
            Algorithm::Sha256 => State::Sha256(sha2::Sha256::new()),
            Algorithm::Sha512 => State::Sha512(sha2::Sha512::new()),
            Algorithm::Blake3 => State::Blake3(Box::new(blake3::Hasher::new())),
        })
    }

    /// Adds bytes.
    pub fn update(&mut self, data: &[u8]) {
        match &mut self.0 {
            State::Md5(state) => state.update(data),
            State::Sha1(state) => state.update(data),
            State::Sha256(state) => state.update(data),
            State::Sha512(state) => state.update(data),
            State::Blake3(state) => {
                state.update(data);
            }
        }
    }

    /// Returns the digest of all bytes added.
    pub fn finish(self) -> Hash {
        fn hash(algorithm: Algorithm, digest: &[u8]) -> Hash {
            let mut hash = Hash::zero(algorithm);
            hash.bytes[..digest.len()].copy_from_slice(digest);
            hash
        }
        match self.0 {
            State::Md5(state) => hash(Algorithm::Md5, &state.finalize()),
            State::Sha1(state) => hash(Algorithm::Sha1, &state.finalize()),
            State::Sha256(state) => hash(Algorithm::Sha256, &state.finalize()),
            State::Sha512(state) => hash(Algorithm::Sha512, &state.finalize()),
            State::Blake3(state) => hash(Algorithm::Blake3, state.finalize().as_bytes()),
        }
    }
}

impl fmt::Debug for Hasher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Hasher(..)")
    }
}

impl io::Write for Hasher {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        self.update(data);
        Ok(data.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests;
