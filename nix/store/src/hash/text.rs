//! How hashes are written and read: base 16, Nix base 32, base 64 and SRI.
//!
//! The rules and messages are Nix's: without a prefix the length alone decides the encoding, since
//! the lengths of the three encodings differ for every algorithm. Base 64 is read leniently, as
//! Nix does: line ends are skipped, and it stops at the first `=`, so that padding is optional.

use base64::Engine;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use super::{Algorithm, Hash};
use crate::base32;

/// Why a text is not a hash.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HashError {
    /// No digest function has this name.
    #[error("unknown hash algorithm '{0}', expect 'blake3', 'md5', 'sha1', 'sha256', or 'sha512'")]
    UnknownAlgorithm(String),
    /// No format has this name.
    #[error("unknown hash format '{0}', expect 'base16', 'base32', 'base64', or 'sri'")]
    UnknownFormat(String),
    /// Neither the text nor the caller says which algorithm is meant.
    #[error("hash '{0}' does not include a type, nor is the type otherwise known from context")]
    NoAlgorithm(String),
    /// The text names an algorithm other than the one asked for.
    #[error("hash '{hash}' should have type '{expected}'")]
    WrongAlgorithm {
        /// The whole text.
        hash: String,
        /// What the caller wants.
        expected: Algorithm,
    },
    /// SRI form was asked for, and there is no `-`.
    #[error("hash '{0}' is not SRI")]
    NotSri(String),
    /// No encoding of this algorithm has this length.
    #[error("hash '{hash}' has wrong length for hash algorithm '{algorithm}'")]
    WrongLength {
        /// The text without its prefix.
        hash: String,
        /// The algorithm whose hash it should be.
        algorithm: Algorithm,
    },
    /// A character that the encoding does not have.
    #[error(
        "invalid character in {encoding} string: '{}'\n while decoding hash '{hash}'",
        char::from(*.character)
    )]
    BadCharacter {
        /// The text without its prefix.
        hash: String,
        /// The encoding that the length or the prefix chose.
        encoding: &'static str,
        /// The first character that does not belong.
        character: u8,
    },
    /// Well-formed text that stands for too few, too many or too large bytes.
    #[error("invalid {encoding} hash '{hash}', length {actual} != expected length {expected}")]
    WrongSize {
        /// The text without its prefix.
        hash: String,
        /// The encoding that the length or the prefix chose.
        encoding: &'static str,
        /// How many bytes the text stands for.
        actual: usize,
        /// How many bytes the algorithm gives.
        expected: usize,
    },
    /// The first digit in base 32 carries bits that no byte has room for.
    #[error("invalid base-32 hash '{0}'")]
    Overflow(String),
    /// An empty text, and the caller does not know the algorithm.
    #[error("empty hash requires explicit hash algorithm")]
    EmptyWithoutAlgorithm,
}

/// A way of writing a hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// Lower-case hexadecimal digits.
    Base16,
    /// Nix's base 32.
    Nix32,
    /// Base 64 with padding.
    Base64,
    /// The algorithm, `-`, and base 64.
    Sri,
}

impl Format {
    /// Returns the format that `convertHash` calls `name`.
    ///
    /// `base32` is a deprecated name of `nix32`; the caller may warn about it.
    pub fn parse(name: &[u8]) -> Result<Format, HashError> {
        Ok(match name {
            b"base16" => Format::Base16,
            b"nix32" | b"base32" => Format::Nix32,
            b"base64" => Format::Base64,
            b"sri" => Format::Sri,
            _ => return Err(HashError::UnknownFormat(lossy(name))),
        })
    }
}

impl Hash {
    /// Returns the text of the hash, without the algorithm unless the format is SRI.
    pub fn to_text(&self, format: Format) -> String {
        match format {
            Format::Base16 => hex(self.as_bytes()),
            Format::Nix32 => base32::encode(self.as_bytes()),
            Format::Base64 => BASE64.encode(self.as_bytes()),
            Format::Sri => format!("{}-{}", self.algorithm(), BASE64.encode(self.as_bytes())),
        }
    }

    /// Returns the text of the hash with the algorithm before it.
    pub fn to_prefixed(&self, format: Format) -> String {
        match format {
            Format::Sri => self.to_text(format),
            _ => format!("{}:{}", self.algorithm(), self.to_text(format)),
        }
    }
}

/// Returns the lower-case hexadecimal digits of `bytes`.
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        text.push(char::from(DIGITS[usize::from(byte >> 4)]));
        text.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
    text
}

/// Reads a hash in any spelling: `digits`, `algorithm:digits` or `algorithm-base64`.
///
/// The algorithm comes from the text or from `algorithm`; if both name one they must agree.
pub fn parse_any(text: &[u8], algorithm: Option<Algorithm>) -> Result<Hash, HashError> {
    let (prefix, rest, sri) = match (split(text, b':'), split(text, b'-')) {
        (Some((prefix, rest)), _) => (Some(prefix), rest, false),
        (None, Some((prefix, rest))) => (Some(prefix), rest, true),
        (None, None) => (None, text, false),
    };
    let named = prefix.map(Algorithm::parse).transpose()?;
    let algorithm = match (named, algorithm) {
        (None, None) => return Err(HashError::NoAlgorithm(lossy(text))),
        (Some(named), Some(expected)) if named != expected => {
            return Err(HashError::WrongAlgorithm { hash: lossy(text), expected });
        }
        (Some(algorithm), _) | (None, Some(algorithm)) => algorithm,
    };
    if sri { decode(rest, algorithm, "SRI") } else { decode_by_length(rest, algorithm) }
}

/// Reads a hash in SRI form.
pub fn parse_sri(text: &[u8]) -> Result<Hash, HashError> {
    let (prefix, rest) = split(text, b'-').ok_or_else(|| HashError::NotSri(lossy(text)))?;
    decode(rest, Algorithm::parse(prefix)?, "SRI")
}

/// What [`parse_allow_empty`] found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AllowEmpty {
    /// A hash was written out.
    Given(Hash),
    /// The text is empty, which stands for the all-zero hash. Nix warns:
    /// see [`AllowEmpty::warning`].
    Empty(Hash),
}

impl AllowEmpty {
    /// Returns the hash, given or assumed.
    pub fn hash(self) -> Hash {
        match self {
            AllowEmpty::Given(hash) | AllowEmpty::Empty(hash) => hash,
        }
    }

    /// Returns the warning to print, if the hash was assumed.
    pub fn warning(self) -> Option<String> {
        match self {
            AllowEmpty::Given(_) => None,
            AllowEmpty::Empty(hash) => {
                Some(format!("found empty hash, assuming '{}'", hash.to_text(Format::Sri)))
            }
        }
    }
}

/// Reads a hash as `outputHash` is read: any spelling, or the empty text for the all-zero hash.
pub fn parse_allow_empty(
    text: &[u8],
    algorithm: Option<Algorithm>,
) -> Result<AllowEmpty, HashError> {
    match (text, algorithm) {
        (b"", None) => Err(HashError::EmptyWithoutAlgorithm),
        (b"", Some(algorithm)) => Ok(AllowEmpty::Empty(Hash::zero(algorithm))),
        _ => parse_any(text, algorithm).map(AllowEmpty::Given),
    }
}

/// Rewrites a hash, as the builtin `convertHash` does.
pub fn convert_hash(
    text: &[u8],
    algorithm: Option<Algorithm>,
    format: Format,
) -> Result<String, HashError> {
    parse_any(text, algorithm).map(|hash| hash.to_text(format))
}

fn split(text: &[u8], separator: u8) -> Option<(&[u8], &[u8])> {
    let at = memchr::memchr(separator, text)?;
    Some((&text[..at], &text[at + 1..]))
}

fn decode_by_length(text: &[u8], algorithm: Algorithm) -> Result<Hash, HashError> {
    let size = algorithm.size();
    let encoding = match text.len() {
        len if len == size * 2 => "base16",
        len if len == base32::encoded_len(size) => "nix32",
        len if len == size.div_ceil(3) * 4 => "base64",
        _ => return Err(HashError::WrongLength { hash: lossy(text), algorithm }),
    };
    decode(text, algorithm, encoding)
}

fn decode(text: &[u8], algorithm: Algorithm, encoding: &'static str) -> Result<Hash, HashError> {
    let bad_character =
        |encoding, character| HashError::BadCharacter { hash: lossy(text), encoding, character };
    let bytes = match encoding {
        "base16" => from_hex(text).map_err(|c| bad_character("Base16", c))?,
        "nix32" => base32::decode(text).map_err(|error| match error {
            base32::DecodeError::BadCharacter(c) => bad_character("Nix32", c),
            _ => HashError::Overflow(lossy(text)),
        })?,
        _ => from_base64(text).map_err(|c| bad_character("Base64", c))?,
    };
    Hash::from_bytes(algorithm, &bytes).ok_or_else(|| HashError::WrongSize {
        hash: lossy(text),
        encoding,
        actual: bytes.len(),
        expected: algorithm.size(),
    })
}

/// Reads an even number of hexadecimal digits; the error is the first other character.
fn from_hex(text: &[u8]) -> Result<Vec<u8>, u8> {
    let digit = |c: u8| char::from(c).to_digit(16).map(|d| d as u8).ok_or(c);
    text.chunks_exact(2).map(|pair| Ok(digit(pair[0])? << 4 | digit(pair[1])?)).collect()
}

/// Reads base 64; the error is the first character that does not belong.
fn from_base64(text: &[u8]) -> Result<Vec<u8>, u8> {
    let end = memchr::memchr(b'=', text).unwrap_or(text.len());
    let mut digits: Vec<u8> = text[..end].iter().copied().filter(|&c| c != b'\n').collect();
    // Six left-over bits make no byte.
    let partial = if digits.len() % 4 == 1 { digits.pop() } else { None };
    let is_digit = |c: u8| c.is_ascii_alphanumeric() || c == b'+' || c == b'/';
    let Ok(decoded) = BASE64.decode(&digits) else {
        return Err(digits.iter().copied().find(|&c| !is_digit(c)).unwrap_or(b'='));
    };
    match partial {
        Some(c) if !is_digit(c) => Err(c),
        _ => Ok(decoded),
    }
}

/// Writes padding, does not ask for it, and ignores left-over bits.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

pub(super) fn lossy(text: &[u8]) -> String {
    String::from_utf8_lossy(text).into_owned()
}
