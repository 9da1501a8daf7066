//! The search path: `<name>` and `findFile`.

use std::os::unix::ffi::OsStrExt;

use raddle_nix_syntax::{Pos, sym};

use super::file_system::Links;
use crate::eval::{Coerce, Cx, Error, ErrorKind, Result, name_in_message};
use crate::paths;
use crate::value::{PrimOp, Value};

pub(super) const PRIMOPS: &[PrimOp] = &[PrimOp::new("findFile", 2, find_file)];

/// Where an entry of a search path leads.
#[derive(Debug, Clone, Copy)]
pub(super) enum SearchPlace {
    /// To this path.
    Found(&'static [u8]),
    /// Nowhere; the address of the text names the warning about it.
    Missing(&'static [u8], Why),
}

/// Why an entry leads nowhere.
#[derive(Debug, Clone, Copy)]
pub(super) enum Why {
    /// There is no such file.
    Absent,
    /// It would have to be fetched.
    Remote,
}

/// Returns an entry of the search path as an absolute path.
pub(super) fn absolute(path: &[u8]) -> Option<Vec<u8>> {
    let path = std::path::absolute(paths::os(path)).ok()?;
    Some(paths::canonical(path.as_os_str().as_bytes()))
}

/// Returns whether a path on the search path or the command line is to be fetched.
pub(crate) fn is_remote(path: &[u8]) -> bool {
    let schemes: [&[u8]; 8] = [
        b"http://",
        b"https://",
        b"file://",
        b"channel:",
        b"git://",
        b"s3://",
        b"ssh://",
        b"flake:",
    ];
    schemes.iter().any(|scheme| path.starts_with(scheme))
}

/// Returns what is left of a looked-up name if an entry with this prefix may have it.
fn suffix<'n>(prefix: &[u8], name: &'n [u8]) -> Option<&'n [u8]> {
    let rest = name.strip_prefix(prefix)?;
    match rest {
        _ if prefix.is_empty() => Some(rest),
        [] => Some(rest),
        [b'/', rest @ ..] => Some(rest),
        _ => None,
    }
}

impl Cx<'_> {
    /// Returns the value of `<name>`.
    pub fn lookup_path(&self, name: &[u8], pos: Pos) -> Result<Value> {
        let settings = &self.evaluator.settings;
        let entries = if settings.pure { &[][..] } else { &settings.search_path };
        for entry in entries {
            if let Some(rest) = suffix(&entry.prefix, name)
                && let Some(found) = self.find_in(&entry.path, rest)?
            {
                return Ok(self.path(found));
            }
        }
        self.find_internal(name, pos)
    }

    /// Returns the path of `rest` in an entry of a search path, if it is there.
    fn find_in(&self, entry: &[u8], rest: &[u8]) -> Result<Option<Vec<u8>>> {
        let root = match self.search_place(entry)? {
            SearchPlace::Found(root) => root,
            SearchPlace::Missing(text, why) => {
                let entry = name_in_message(text);
                self.emit_once(text.as_ptr().addr(), || match why {
                    Why::Absent => {
                        format!("warning: Nix search path entry '{entry}' does not exist, ignoring")
                    }
                    Why::Remote => format!(
                        "warning: Nix search path entry '{entry}' cannot be downloaded, ignoring: \
                         fetching is not supported yet"
                    ),
                });
                return Ok(None);
            }
        };
        let path = paths::canonical(&[root, b"/", rest].concat());
        let path = self.follow(path.into(), Links::All)?;
        if self.file_type(&path)?.is_some() {
            return Ok(Some(path.into_owned()));
        }
        self.check_access(&path)?;
        Ok(None)
    }

    fn search_place(&self, entry: &[u8]) -> Result<SearchPlace> {
        let known = &self.evaluator.store.search_entries;
        if let Some(place) = known.get(entry) {
            return Ok(place);
        }
        let missing = |why| SearchPlace::Missing(entry.to_vec().leak(), why);
        let place = match absolute(entry) {
            _ if is_remote(entry) => missing(Why::Remote),
            None => missing(Why::Absent),
            Some(path) => {
                let real = self.follow((&path[..]).into(), Links::All)?;
                if self.file_type(&real)?.is_some() {
                    SearchPlace::Found(path.leak())
                } else {
                    self.check_access(&real)?;
                    missing(Why::Absent)
                }
            }
        };
        known.insert(entry, place);
        // Another worker may have been first, and the first address counts.
        Ok(known.get(entry).unwrap_or(place))
    }

    fn find_internal(&self, name: &[u8], pos: Pos) -> Result<Value> {
        if let Some(rest) = name.strip_prefix(b"nix/") {
            let path = paths::canonical(&[b"/__corepkgs__/", rest].concat());
            if crate::files::is_internal(&path) {
                return Ok(self.path(path));
            }
        }
        let name = name_in_message(name);
        let message = if self.evaluator.settings.pure {
            format!(
                "cannot look up '<{name}>' in pure evaluation mode (use '--impure' to override)"
            )
        } else {
            format!(
                "file '{name}' was not found in the Nix search path (add it using $NIX_PATH or -I)"
            )
        };
        Err(Error::new(ErrorKind::Thrown, pos, message))
    }
}

fn find_file(cx: &Cx<'_>, args: &[Value], pos: Pos) -> Result<Value> {
    let text = "while evaluating the first argument passed to builtins.findFile";
    let list = cx.force_list(args[0], Pos::NONE, text)?;
    let mut entries = Vec::with_capacity(list.len());
    for element in list.iter() {
        let text = "while evaluating an element of the list passed to builtins.findFile";
        let attrs = cx.force_attrs(element, Pos::NONE, text)?;
        let prefix = match attrs.get(sym::PREFIX) {
            None => &b""[..],
            Some(slot) => {
                let text = "while evaluating the `prefix` attribute of an element of the list passed to builtins.findFile";
                cx.force_plain_string(slot.get(), Pos::NONE, text)?
            }
        };
        let Some(path) = attrs.get(sym::PATH) else {
            let error = cx.missing_attribute(attrs, sym::PATH, Pos::NONE);
            return Err(error.frame(Pos::NONE, "in an element of the __nixPath"));
        };
        let path = cx.coerce_for(path.get(), Coerce::PLAIN, Pos::NONE, "while evaluating the `path` attribute of an element of the list passed to builtins.findFile")?;
        cx.realise(path.context())?;
        entries.push((prefix, path.as_bytes()));
    }
    let text = "while evaluating the second argument passed to builtins.findFile";
    let name = cx.force_plain_string(args[1], Pos::NONE, text)?;
    for (prefix, path) in entries {
        if let Some(rest) = suffix(prefix, name)
            && let Some(found) = cx.find_in(path, rest)?
        {
            return Ok(cx.path(found));
        }
    }
    cx.find_internal(name, pos)
}
