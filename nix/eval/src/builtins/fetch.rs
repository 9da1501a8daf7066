//! Fetchers: their arguments are checked as Nix checks them; fetching itself is not done yet.
//!
//! What is pinned by a hash and lies in the store already is returned without fetching.

use raddle_nix_store::hash::Hash;
use raddle_nix_store::path::{Method, check_name};
use raddle_nix_syntax::{Pos, sym};

use super::file_system::{base_name, lossy};
use super::store::is_in_store;
use crate::eval::{Coerce, Cx, Error, ErrorKind, Result, Trace};
use crate::value::{Attrs, PrimOp, Value, View};

pub(super) const PRIMOPS: &[PrimOp] = &[
    PrimOp::new("fetchurl", 1, |cx, args, _| fetch_file(cx, args[0], &FETCHURL)),
    PrimOp::new("fetchTarball", 1, |cx, args, _| fetch_file(cx, args[0], &FETCH_TARBALL)),
    PrimOp::new("fetchGit", 1, fetch_git),
    PrimOp::new("fetchMercurial", 1, fetch_mercurial),
    PrimOp::new("fetchTree", 1, fetch_tree),
    PrimOp::new("fetchClosure", 1, fetch_closure),
    PrimOp::new("getFlake", 1, get_flake),
];

/// A fetcher of one file.
struct Fetcher {
    name: &'static str,
    /// What the result is called unless the caller says; empty for the last part of the URL.
    default_name: &'static [u8],
    method: Method,
}

const FETCHURL: Fetcher = Fetcher { name: "fetchurl", default_name: b"", method: Method::Flat };
const FETCH_TARBALL: Fetcher =
    Fetcher { name: "fetchTarball", default_name: b"source", method: Method::Recursive };

#[cold]
fn other(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Other, Pos::NONE, message)
}

#[cold]
fn not_supported(fetcher: &str, what: &[u8]) -> Error {
    other(format!("'{fetcher}' cannot fetch '{}': fetching is not supported yet", lossy(what)))
}

fn fetch_file(cx: &Cx<'_>, arg: Value, fetcher: &Fetcher) -> Result<Value> {
    let who = fetcher.name;
    let arg = cx.force(arg)?;
    let mut url: Option<&[u8]> = None;
    let mut name = fetcher.default_name;
    let mut named = false;
    let mut expected: Option<Hash> = None;
    let is_set = if let View::Attrs(attrs) = arg.view() {
        for attr in attrs.sorted(cx.heap()) {
            let text = match attr.name {
                sym::URL => "while evaluating the url we should fetch",
                sym::SHA256 => "while evaluating the sha256 of the content we should fetch",
                sym::NAME => "while evaluating the name of the content we should fetch",
                name => return Err(other(format!("unsupported argument '{name}' to '{who}'"))),
            };
            let value = cx.force_plain_string(attr.value(), attr.pos, text)?;
            match attr.name {
                sym::URL => url = Some(value),
                sym::SHA256 => expected = Some(cx.expected_hash(value, attr.pos)?),
                _ => (name, named) = (value, true),
            }
        }
        true
    } else {
        let text = "while evaluating the url we should fetch";
        url = Some(cx.force_plain_string(arg, Pos::NONE, text)?);
        false
    };
    let Some(url) = url else { return Err(other("'url' argument required")) };
    check_uri(cx, url)?;
    if name.is_empty() {
        name = last_part(url);
    }
    let name = check_name(name).map_err(|error| {
        let advice = match (named, is_set) {
            (true, _) => format!(
                "Please change the value for the 'name' attribute passed to '{who}', so that it can create a valid store path."
            ),
            (false, true) => format!(
                "Please add a valid 'name' attribute to the argument for '{who}', so that it can create a valid store path."
            ),
            (false, false) => format!(
                "Please pass an attribute set with 'url' and 'name' attributes to '{who}',  so that it can create a valid store path."
            ),
        };
        let url = lossy(url);
        other(format!("invalid store path name when fetching URL '{url}': {error}. {advice}"))
    })?;
    let Some(hash) = expected else {
        if cx.evaluator.settings.pure {
            return Err(other(format!(
                "in pure evaluation mode, '{who}' requires a 'sha256' argument"
            )));
        }
        return Err(not_supported(who, url));
    };
    let path = cx
        .evaluator
        .settings
        .store_dir
        .fixed_output_path(name, fetcher.method, &hash)
        .map_err(|error| other(error.to_string()))?;
    if is_in_store(&path) {
        cx.allow_path(path.as_bytes());
        return Ok(cx.store_path_string(&path).into());
    }
    Err(not_supported(who, url))
}

/// Returns the last component of a URL; one slash at the end does not count.
fn last_part(url: &[u8]) -> &[u8] {
    base_name(url.strip_suffix(b"/").unwrap_or(url))
}

/// Returns an error for a URI that must not be fetched in restricted mode.
fn check_uri(cx: &Cx<'_>, uri: &[u8]) -> Result<()> {
    if !cx.evaluator.settings.restricted {
        return Ok(());
    }
    match uri.strip_prefix(b"file://") {
        Some(path) => cx.check_access(&crate::paths::join(b"/", path)),
        None if uri.first() == Some(&b'/') => cx.check_access(&crate::paths::canonical(uri)),
        None => {
            Err(other(format!("access to URI '{}' is forbidden in restricted mode", lossy(uri))))
        }
    }
}

/// Checks the attributes of `fetchTree` and `fetchGit`, and returns what names the input.
fn tree_attributes(cx: &Cx<'_>, attrs: Attrs, who: &str) -> Result<Vec<u8>> {
    let mut what = Vec::new();
    for attr in attrs.sorted(cx.heap()) {
        let value = cx.force_attr(attr)?;
        match value.view() {
            View::Str(_) | View::Path(_) => {
                let text = cx.coerce(value, Coerce::PLAIN, attr.pos)?;
                if matches!(attr.name.as_bytes(), b"url" | b"path" | b"repo" | b"id") {
                    what = text.as_bytes().to_vec();
                }
            }
            View::Bool(_) => {}
            View::Int(i) if i < 0 => {
                let name = attr.name;
                return Err(other(format!(
                    "negative value given for '{who}' argument '{name}': {i}"
                )));
            }
            View::Int(_) => {}
            _ if attr.name.as_bytes() == b"publicKeys" => cx.require_feature("verified-fetches")?,
            _ => {
                let found = value.type_of().map_or("a thunk", |found| found.with_article());
                return Err(other(format!(
                    "argument '{}' to '{who}' is {found} while a string, Boolean or integer is expected",
                    attr.name
                )));
            }
        }
    }
    Ok(what)
}

fn fetch_git(cx: &Cx<'_>, args: &[Value], _: Pos) -> Result<Value> {
    let who = "fetchGit";
    let arg = cx.force(args[0])?;
    let (what, locked) = match arg.view() {
        View::Attrs(attrs) => {
            if attrs.get(sym::TYPE).is_some() {
                return Err(other("unexpected argument 'type'"));
            }
            if attrs.get(sym::URL).is_none() {
                return Err(other("input attribute 'url' is missing"));
            }
            (tree_attributes(cx, attrs, who)?, attrs.get(sym::REV).is_some())
        }
        _ => {
            let url = cx.coerce_for(
                arg,
                Coerce::PLAIN,
                Pos::NONE,
                "while evaluating the first argument passed to 'fetchGit'",
            )?;
            (url.as_bytes().to_vec(), false)
        }
    };
    fetch_input(cx, who, &what, locked)
}

fn fetch_tree(cx: &Cx<'_>, args: &[Value], _: Pos) -> Result<Value> {
    let who = "fetchTree";
    let arg = cx.force(args[0])?;
    let (what, locked) = match arg.view() {
        View::Attrs(attrs) => {
            let Some(kind) = attrs.get_attr(sym::TYPE) else {
                return Err(other(format!("argument 'type' is missing in call to '{who}'")));
            };
            let text = "while evaluating the `type` argument passed to 'fetchTree'";
            cx.force_plain_string(kind.value(), kind.pos, text)?;
            let what = tree_attributes(cx, attrs, who)?;
            if attrs.get(sym::NAME).is_some() {
                return Err(other(format!("argument 'name' isn’t supported in call to '{who}'")));
            }
            (what, attrs.get(sym::REV).is_some() || attrs.get(sym::NAR_HASH).is_some())
        }
        _ => {
            let url = cx.coerce_for(
                arg,
                Coerce::PLAIN,
                Pos::NONE,
                "while evaluating the first argument passed to 'fetchTree'",
            )?;
            if !cx.evaluator.settings.has_feature("flakes") {
                return Err(other(format!(
                    "passing a string argument to '{who}' requires the 'flakes' experimental feature"
                )));
            }
            let url = url.as_bytes();
            (url.to_vec(), memchr::memmem::find(url, b"narHash=").is_some())
        }
    };
    fetch_input(cx, who, &what, locked)
}

fn fetch_input(cx: &Cx<'_>, who: &str, what: &[u8], locked: bool) -> Result<Value> {
    if cx.evaluator.settings.pure && !locked {
        return Err(other(format!(
            "in pure evaluation mode, '{who}' doesn't fetch unlocked input '{}'",
            lossy(what)
        )));
    }
    check_uri(cx, what)?;
    Err(not_supported(who, what))
}

fn fetch_mercurial(cx: &Cx<'_>, args: &[Value], _: Pos) -> Result<Value> {
    let arg = cx.force(args[0])?;
    let mut url = None;
    let mut locked = false;
    if let View::Attrs(attrs) = arg.view() {
        for attr in attrs.sorted(cx.heap()) {
            match attr.name {
                sym::URL => {
                    let s = cx.coerce_for(
                        attr.value(),
                        Coerce::PLAIN,
                        attr.pos,
                        "while evaluating the `url` attribute passed to builtins.fetchMercurial",
                    )?;
                    url = Some(s);
                }
                sym::REV => {
                    let text =
                        "while evaluating the `rev` attribute passed to builtins.fetchMercurial";
                    let rev = cx.force_plain_string(attr.value(), attr.pos, text)?;
                    locked = rev.len() == 40 && rev.iter().all(u8::is_ascii_hexdigit);
                }
                sym::NAME => {
                    let text =
                        "while evaluating the `name` attribute passed to builtins.fetchMercurial";
                    cx.force_plain_string(attr.value(), attr.pos, text)?;
                }
                name => {
                    let message = format!("unsupported argument '{name}' to 'fetchMercurial'");
                    return Err(Error::new(ErrorKind::Other, attr.pos, message));
                }
            }
        }
    } else {
        let s = cx.coerce_for(
            arg,
            Coerce::PLAIN,
            Pos::NONE,
            "while evaluating the first argument passed to builtins.fetchMercurial",
        )?;
        url = Some(s);
    }
    match url {
        Some(url) if !url.as_bytes().is_empty() => {
            fetch_input(cx, "fetchMercurial", url.as_bytes(), locked)
        }
        _ => Err(other("'url' argument required")),
    }
}

fn fetch_closure(cx: &Cx<'_>, args: &[Value], _: Pos) -> Result<Value> {
    let text = "while evaluating the argument passed to builtins.fetchClosure";
    let attrs = cx.force_attrs(args[0], Pos::NONE, text)?;
    let (mut from_store, mut from_path) = (None, None);
    for attr in attrs.sorted(cx.heap()) {
        let text = || {
            format!(
                "while evaluating the attribute '{}' passed to builtins.fetchClosure",
                attr.name
            )
        };
        match attr.name.as_bytes() {
            b"fromPath" | b"toPath" => {
                let path =
                    cx.coerce(attr.value(), Coerce::PLAIN, attr.pos).trace(attr.pos, text)?;
                let path = path.as_bytes();
                if !(path.is_empty() && attr.name.as_bytes() == b"toPath") {
                    cx.evaluator.settings.store_dir.parse(path).map_err(|error| {
                        Error::new(ErrorKind::Other, attr.pos, error.to_string())
                    })?;
                }
                if attr.name.as_bytes() == b"fromPath" {
                    from_path = Some(path);
                }
            }
            b"fromStore" => {
                from_store = Some(cx.force_plain_string(attr.value(), attr.pos, text)?);
            }
            b"inputAddressed" => {
                cx.force_bool(attr.value(), attr.pos, text)?;
            }
            _ => {
                let message =
                    format!("attribute '{}' isn't supported in call to 'fetchClosure'", attr.name);
                return Err(Error::new(ErrorKind::Other, attr.pos, message));
            }
        }
    }
    let missing = |name| other(format!("attribute '{name}' is missing in call to 'fetchClosure'"));
    let path = from_path.ok_or_else(|| missing("fromPath"))?;
    from_store.ok_or_else(|| missing("fromStore"))?;
    Err(not_supported("fetchClosure", path))
}

fn get_flake(cx: &Cx<'_>, args: &[Value], _: Pos) -> Result<Value> {
    let text = "while evaluating the argument passed to builtins.getFlake";
    let reference = cx.force_plain_string(args[0], Pos::NONE, text)?;
    let locked = [&b"rev="[..], b"narHash="]
        .iter()
        .any(|mark| memchr::memmem::find(reference, mark).is_some());
    if cx.evaluator.settings.pure && !locked {
        return Err(other(format!(
            "cannot call 'getFlake' on unlocked flake reference '{}', because pure evaluation mode is enabled (use --impure to override)",
            lossy(reference)
        )));
    }
    Err(not_supported("getFlake", reference))
}
