//! What a command evaluates: a file, standard input, an expression or a flake.

use std::ffi::OsStr;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use raddle_nix::walk::AttrPath;
use raddle_nix::{Cx, Error, Value};
use raddle_nix_syntax::Symbol;

use crate::options::{self, Purity};
use crate::output::Failure;

/// Where an expression comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Source {
    /// A file, a folder with a `default.nix`, or `<name>`.
    File(Vec<u8>),
    /// The text that came through standard input.
    Stdin(Vec<u8>),
    /// A text on the command line.
    Expression(Vec<u8>),
}

impl Source {
    /// Reads a file argument; `-` is standard input.
    pub(crate) fn file(argument: &OsStr) -> Result<Source, Failure> {
        if argument == "-" {
            return Ok(Source::Stdin(options::read_stdin()?));
        }
        if argument.is_empty() {
            return Err(Failure::usage("the name of a file must not be empty"));
        }
        Ok(Source::File(argument.as_bytes().to_vec()))
    }

    /// Evaluates it.
    pub(crate) fn evaluate(&self, cx: &Cx<'_>, base: &[u8]) -> Result<Value, Error> {
        match self {
            Source::File(file) => cx.import_argument(file, base),
            Source::Stdin(text) => cx.eval_stdin(text.clone(), base),
            Source::Expression(text) => cx.eval_string(text, base),
        }
    }
}

/// What a user names without `--file` or `--expr`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Installable {
    /// A folder with a `flake.nix`, and what of it.
    Flake(FlakeRef),
    /// A path without a flake: as with `--file`, and what of it.
    File(Vec<u8>, AttrPath),
}

/// A local flake and an attribute path in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FlakeRef {
    /// Its folder, absolute and canonical.
    pub(crate) folder: Vec<u8>,
    /// The part after `#`.
    pub(crate) fragment: AttrPath,
}

impl Installable {
    /// Reads `.`, `PATH`, `path:PATH` and `PATH#FRAGMENT`.
    pub(crate) fn parse(argument: &OsStr) -> Result<Installable, Failure> {
        let argument = argument.as_bytes();
        let (path, fragment) = match argument.iter().position(|&byte| byte == b'#') {
            Some(at) => (&argument[..at], &argument[at + 1..]),
            None => (argument, &b""[..]),
        };
        let fragment = percent_decoded(fragment);
        let fragment = AttrPath::parse(&fragment).map_err(Failure::message)?;
        let shown = String::from_utf8_lossy(path).into_owned();
        let (path, explicit) = match path.strip_prefix(b"path:") {
            Some(rest) => (rest, true),
            None => (path, false),
        };
        let scheme = !explicit && path.contains(&b':') && !path.starts_with(b"/");
        let os = if path.is_empty() { Path::new(".") } else { Path::new(OsStr::from_bytes(path)) };
        let local = path.is_empty() || path.starts_with(b".") || path.contains(&b'/');
        if scheme || !(explicit || local) {
            let hint = if os.exists() {
                format!("; for the path, write './{shown}'")
            } else {
                String::new()
            };
            return Err(Failure::message(format_args!(
                "cannot find flake '{shown}': only local paths such as '.' or './folder' are \
                 supported yet{hint}"
            )));
        }
        let folder = std::path::absolute(os).and_then(|path| {
            path.symlink_metadata()?;
            Ok(path)
        });
        let folder = folder
            .map_err(|error| Failure::message(format_args!("cannot use '{shown}': {error}")))?;
        if folder.is_dir()
            && !folder.join("flake.nix").exists()
            && folder.join("default.nix").exists()
            || folder.is_file()
        {
            return Ok(Installable::File(folder.into_os_string().into_vec(), fragment));
        }
        let folder = enclosing_flake(&folder)?;
        let folder = folder.into_os_string().into_vec();
        Ok(Installable::Flake(FlakeRef { folder: canonical(&folder), fragment }))
    }

    /// Returns whether evaluation is pure unless the user says otherwise.
    pub(crate) fn purity(&self) -> Purity {
        match self {
            Installable::Flake(_) => Purity::Pure,
            Installable::File(..) => Purity::Impure,
        }
    }
}

/// Returns the folder itself if it has a `flake.nix`, else the nearest folder around it that has,
/// within the same repository.
fn enclosing_flake(start: &Path) -> Result<PathBuf, Failure> {
    if !start.is_dir() {
        return Err(Failure::message(format_args!(
            "path '{}' is not a flake (because it's not a directory)",
            start.display()
        )));
    }
    for folder in start.ancestors() {
        if folder.join("flake.nix").exists() {
            return Ok(folder.to_owned());
        }
        if folder.join(".git").exists() {
            break;
        }
    }
    Err(Failure::message(format_args!(
        "path '{}' is not a flake, nor in one: there is no 'flake.nix' (and no 'default.nix')",
        start.display()
    )))
}

/// Returns an absolute path without `.`, `..` and superfluous slashes.
fn canonical(path: &[u8]) -> Vec<u8> {
    let mut parts: Vec<&[u8]> = Vec::new();
    for part in path.split(|&byte| byte == b'/') {
        match part {
            b"" | b"." => {}
            b".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    let mut out = b"/".to_vec();
    out.extend(parts.join(&b'/'));
    out
}

fn percent_decoded(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&byte, after)) = rest.split_first() {
        let digits = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(decoded) if byte == b'%' => {
                out.push(decoded);
                rest = &after[2..];
            }
            _ => {
                out.push(byte);
                rest = after;
            }
        }
    }
    out
}

impl FlakeRef {
    /// Returns the attribute paths that the fragment may mean, best first; `defaults` without one.
    pub(crate) fn candidates(&self, system: &str, defaults: &[&[&str]]) -> Vec<Vec<Symbol>> {
        let names = |parts: &[&str]| -> Vec<Symbol> {
            let name = |part: &&str| Symbol::intern(part.replace("SYSTEM", system).as_bytes());
            parts.iter().map(name).collect()
        };
        let fragment = self.fragment.symbols();
        if fragment.is_empty() {
            return defaults.iter().map(|parts| names(parts)).collect();
        }
        if self.fragment.text().starts_with('.') {
            return vec![fragment[1..].to_vec()];
        }
        [&["packages", "SYSTEM"][..], &["legacyPackages", "SYSTEM"], &[]]
            .iter()
            .map(|parts| [names(parts), fragment.clone()].concat())
            .collect()
    }

    /// Words that none of the candidates is there.
    pub(crate) fn missing(&self, candidates: &[Vec<Symbol>]) -> Failure {
        let quoted: Vec<String> =
            candidates.iter().map(|path| format!("'{}'", dotted(path))).collect();
        let (last, others) = quoted.split_last().map_or(("''", &[][..]), |(l, o)| (l.as_str(), o));
        let list = match others {
            [] => last.to_owned(),
            _ => format!("{} or {last}", others.join(", ")),
        };
        let folder = String::from_utf8_lossy(&self.folder);
        Failure::message(format_args!("flake 'path:{folder}' does not provide attribute {list}"))
    }
}

fn dotted(path: &[Symbol]) -> String {
    let names: Vec<String> = path.iter().map(ToString::to_string).collect();
    names.join(".")
}

#[cfg(test)]
mod tests {
    #[test]
    fn canonical() {
        for (path, expected) in [("/", "/"), ("/a/./b/", "/a/b"), ("/a/../../b", "/b")] {
            assert_eq!(super::canonical(path.as_bytes()), expected.as_bytes());
        }
    }

    #[test]
    fn percent_decoding() {
        for (text, expected) in [("a%20b", "a b"), ("%", "%"), ("%zz", "%zz"), ("%41", "A")] {
            assert_eq!(super::percent_decoded(text.as_bytes()), expected.as_bytes());
        }
    }
}
