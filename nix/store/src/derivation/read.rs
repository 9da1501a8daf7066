//! Reads `.drv` files.
//!
//! Accepts every term that [`Derivation::to_bytes`] writes, and also ones whose lists are in another
//! order. Anything else is an error that says where and what; nothing panics, and no more memory
//! is taken than the input has bytes, times a small factor. Terms of the versioned kind, with dynamic
//! dependencies, are recognised and refused.

use std::collections::{BTreeMap, BTreeSet};

use bstr::BString;

use super::{Derivation, Output};
use crate::hash::{Algorithm, Hash, HashError, parse_any};
use crate::path::{Method, NameError, PathError, StoreDir, StorePath, check_name};

/// Why a file is not a derivation.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the derivation is malformed at byte {at}: {problem}")]
pub struct ReadError {
    /// Where, counted from 0.
    pub at: usize,
    /// What is wrong there.
    pub problem: Problem,
}

/// What can be wrong in the file of a derivation.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// Something else should stand here.
    #[error("expected '{0}'")]
    Expected(&'static str),
    /// The file ends within a string.
    #[error("the string that begins here does not end")]
    OpenString,
    /// There is something after the term.
    #[error("expected the end of the file")]
    TrailingBytes,
    /// The term is of a kind that cannot be used.
    #[error("derivations with dynamic dependencies are not supported")]
    Dynamic,
    /// A key or member occurs twice.
    #[error("'{0}' occurs twice")]
    Duplicate(String),
    /// A string that must be a store path is none.
    #[error(transparent)]
    Path(#[from] PathError),
    /// The name of an output is none.
    #[error("bad output name: {0}")]
    OutputName(#[from] NameError),
    /// The hash of a fixed output, or the algorithm, is none.
    #[error("bad hash: {0}")]
    Hash(#[from] HashError),
    /// The path, algorithm and hash of an output do not go together.
    #[error("the path, algorithm and hash of output '{0}' do not go together")]
    Output(String),
}

impl Derivation {
    /// Reads the contents of a `.drv` file.
    pub fn from_bytes(text: &[u8], store: &StoreDir) -> Result<Derivation, ReadError> {
        let mut reader = Reader { text, at: 0, store };
        let derivation = reader.derivation()?;
        if reader.at < text.len() {
            return Err(reader.error(Problem::TrailingBytes));
        }
        Ok(derivation)
    }
}

struct Reader<'t> {
    text: &'t [u8],
    at: usize,
    store: &'t StoreDir,
}

impl Reader<'_> {
    fn derivation(&mut self) -> Result<Derivation, ReadError> {
        if self.text.starts_with(b"DrvWithVersion(") {
            return Err(self.error(Problem::Dynamic));
        }
        let mut derivation = Derivation::default();
        self.expect("Derive(")?;
        derivation.outputs = self.map(|reader| {
            let name = reader.output_name()?;
            reader.expect(",")?;
            let output = reader.output(&name)?;
            Ok((name, output))
        })?;
        self.expect(",")?;
        derivation.input_drvs = self.map(|reader| {
            let path = reader.store_path()?;
            reader.expect(",")?;
            Ok((path, reader.set(Reader::output_name)?))
        })?;
        self.expect(",")?;
        derivation.input_srcs = self.set(Reader::store_path)?;
        self.expect(",")?;
        derivation.platform = self.string()?;
        self.expect(",")?;
        derivation.builder = self.string()?;
        self.expect(",")?;
        self.list(|reader| {
            derivation.args.push(reader.string()?);
            Ok(())
        })?;
        self.expect(",")?;
        derivation.env = self.map(|reader| {
            let name = reader.string()?;
            reader.expect(",")?;
            Ok((name, reader.string()?))
        })?;
        self.expect(")")?;
        Ok(derivation)
    }

    /// Reads the path, algorithm and hash of an output.
    fn output(&mut self, name: &str) -> Result<Output, ReadError> {
        let start = self.at;
        let path = self.string()?;
        self.expect(",")?;
        let algorithm = self.string()?;
        self.expect(",")?;
        let hash = self.string()?;
        let at_start = |problem: Problem| ReadError { at: start, problem };

        let path = if path.is_empty() {
            None
        } else {
            Some(self.store.parse(&path).map_err(|error| at_start(error.into()))?)
        };
        if algorithm.is_empty() && hash.is_empty() {
            return Ok(path.map_or(Output::Deferred, Output::InputAddressed));
        }
        let (method, algorithm) = Method::strip_prefix(&algorithm);
        let algorithm = Algorithm::parse(algorithm).map_err(|error| at_start(error.into()))?;
        match (path, hash.as_slice()) {
            (None, b"") => Ok(Output::Floating { method, algorithm }),
            (None, b"impure") => Ok(Output::Impure { method, algorithm }),
            (Some(path), digits) if !digits.is_empty() => {
                let hash: Hash =
                    parse_any(digits, Some(algorithm)).map_err(|error| at_start(error.into()))?;
                Ok(Output::Fixed { path, method, hash })
            }
            _ => Err(at_start(Problem::Output(name.to_owned()))),
        }
    }

    fn store_path(&mut self) -> Result<StorePath, ReadError> {
        let start = self.at;
        let path = self.string()?;
        self.store.parse(&path).map_err(|error| ReadError { at: start, problem: error.into() })
    }

    fn output_name(&mut self) -> Result<String, ReadError> {
        let start = self.at;
        let name = self.string()?;
        match check_name(&name) {
            Ok(name) => Ok(name.to_owned()),
            Err(error) => Err(ReadError { at: start, problem: error.into() }),
        }
    }

    /// Reads a list of pairs in parentheses.
    fn map<K: Ord + ToString, V>(
        &mut self,
        mut pair: impl FnMut(&mut Self) -> Result<(K, V), ReadError>,
    ) -> Result<BTreeMap<K, V>, ReadError> {
        let mut map = BTreeMap::new();
        self.list(|reader| {
            let start = reader.at;
            reader.expect("(")?;
            let (key, value) = pair(reader)?;
            reader.expect(")")?;
            if map.contains_key(&key) {
                return Err(ReadError { at: start, problem: Problem::Duplicate(key.to_string()) });
            }
            map.insert(key, value);
            Ok(())
        })?;
        Ok(map)
    }

    fn set<T: Ord + ToString>(
        &mut self,
        mut item: impl FnMut(&mut Self) -> Result<T, ReadError>,
    ) -> Result<BTreeSet<T>, ReadError> {
        let mut set = BTreeSet::new();
        self.list(|reader| {
            let start = reader.at;
            let item = item(reader)?;
            if set.contains(&item) {
                return Err(ReadError { at: start, problem: Problem::Duplicate(item.to_string()) });
            }
            set.insert(item);
            Ok(())
        })?;
        Ok(set)
    }

    fn list(
        &mut self,
        mut item: impl FnMut(&mut Self) -> Result<(), ReadError>,
    ) -> Result<(), ReadError> {
        self.expect("[")?;
        if self.skip("]") {
            return Ok(());
        }
        loop {
            item(self)?;
            if self.skip("]") {
                return Ok(());
            }
            self.expect(",")?;
        }
    }

    fn string(&mut self) -> Result<BString, ReadError> {
        let start = self.at;
        self.expect("\"")?;
        let mut string = Vec::new();
        loop {
            let rest = &self.text[self.at..];
            let Some(plain) = memchr::memchr2(b'"', b'\\', rest) else {
                return Err(ReadError { at: start, problem: Problem::OpenString });
            };
            string.extend_from_slice(&rest[..plain]);
            self.at += plain + 1;
            if rest[plain] == b'"' {
                return Ok(string.into());
            }
            let Some(&escaped) = rest.get(plain + 1) else {
                return Err(ReadError { at: start, problem: Problem::OpenString });
            };
            self.at += 1;
            string.push(match escaped {
                b'n' => b'\n',
                b'r' => b'\r',
                b't' => b'\t',
                other => other,
            });
        }
    }

    fn expect(&mut self, what: &'static str) -> Result<(), ReadError> {
        if self.skip(what) { Ok(()) } else { Err(self.error(Problem::Expected(what))) }
    }

    fn skip(&mut self, what: &str) -> bool {
        let found = self.text[self.at..].starts_with(what.as_bytes());
        if found {
            self.at += what.len();
        }
        found
    }

    fn error(&self, problem: Problem) -> ReadError {
        ReadError { at: self.at, problem }
    }
}
