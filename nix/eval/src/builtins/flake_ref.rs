//! Flake references: `parseFlakeRef` and `flakeRefToString`.
//!
//! A reference is a set of attributes, among them `type`; its textual form is a URL whose scheme
//! follows from the type.

use std::collections::BTreeMap;

use raddle_nix_syntax::{Pos, Symbol};

use super::file_system::lossy;
use crate::eval::{Cx, Error, ErrorKind, Result};
use crate::value::{AttrsBuilder, PrimOp, Value, View};

pub(super) const PRIMOPS: &[PrimOp] = &[
    PrimOp::new("parseFlakeRef", 1, parse_flake_ref),
    PrimOp::new("flakeRefToString", 1, flake_ref_to_string),
];

/// The attributes of a reference.
type Reference = BTreeMap<String, Field>;

/// An attribute of a reference.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Field {
    Text(String),
    Int(i64),
    Bool(bool),
}

impl Field {
    fn text(&self) -> String {
        match self {
            Field::Text(text) => text.clone(),
            Field::Int(i) => i.to_string(),
            Field::Bool(b) => u8::from(*b).to_string(),
        }
    }
}

#[cold]
fn other(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Other, Pos::NONE, message)
}

fn parse_flake_ref(cx: &Cx<'_>, args: &[Value], _: Pos) -> Result<Value> {
    let text = "while evaluating the argument passed to builtins.parseFlakeRef";
    let url = cx.force_plain_string(args[0], Pos::NONE, text)?;
    let reference = parse(&lossy(url)).map_err(other)?;
    let mut attrs = AttrsBuilder::with_capacity(reference.len());
    for (name, field) in &reference {
        let value = match field {
            Field::Text(text) => cx.string(text),
            Field::Int(i) => cx.int(*i),
            Field::Bool(b) => Value::bool(*b),
        };
        attrs.push(Symbol::intern(name.as_bytes()), Pos::NONE, value);
    }
    Ok(cx.set(attrs))
}

fn flake_ref_to_string(cx: &Cx<'_>, args: &[Value], _: Pos) -> Result<Value> {
    let text = "while evaluating the argument passed to builtins.flakeRefToString";
    let attrs = cx.force_attrs(args[0], Pos::NONE, text)?;
    let mut reference = Reference::new();
    for attr in attrs.sorted(cx.heap()) {
        let name = attr.name;
        let value = cx.force_attr(attr)?;
        let field = match value.view() {
            View::Int(i) if i < 0 => {
                return Err(other(format!("negative value given for flake ref attr {name}: {i}")));
            }
            View::Int(i) => Field::Int(i),
            View::Bool(b) => Field::Bool(b),
            View::Str(s) => Field::Text(lossy(s.as_bytes()).into_owned()),
            _ => {
                let found = value.type_of().map_or("a thunk", |found| found.with_article());
                return Err(other(format!(
                    "flake reference attribute sets may only contain integers, Booleans, and strings, but attribute '{name}' is {found}"
                )));
            }
        };
        reference.insert(name.to_string(), field);
    }
    unparse(reference).map(|text| cx.string(text)).map_err(other)
}

/// Reads the textual form.
fn parse(text: &str) -> Result<Reference, String> {
    let (url, fragment) = text.split_once('#').unwrap_or((text, ""));
    if !fragment.is_empty() {
        return Err(format!("unexpected fragment '{fragment}' in flake reference '{text}'"));
    }
    let (front, query) = url.split_once('?').unwrap_or((url, ""));
    let mut reference = Reference::new();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let Some((name, value)) = pair.split_once('=') else {
            return Err(format!("dubious URI query '{pair}' is missing equal sign '='"));
        };
        reference.insert(decode(name)?, Field::Text(decode(value)?));
    }
    let Some((scheme, path)) = front.split_once(':').filter(|(scheme, _)| is_scheme(scheme)) else {
        return parse_without_scheme(text, front, reference);
    };
    let mut set = |name: &str, value: String| reference.insert(name.to_owned(), Field::Text(value));
    match scheme {
        "github" | "gitlab" | "sourcehut" => {
            set("type", scheme.to_owned());
            let parts: Vec<&str> = path.split('/').collect();
            let [owner, repo, rest @ ..] = &parts[..] else {
                return Err(format!("URL '{text}' is invalid"));
            };
            set("owner", decode(owner)?);
            set("repo", decode(repo)?);
            add_version(text, &decode(&rest.join("/"))?, &mut reference)?;
        }
        "flake" => parse_id(text, path, &mut reference)?,
        "path" => {
            set("type", "path".to_owned());
            set("path", decode(path)?);
        }
        _ => {
            let (kind, transport) = match scheme.split_once('+') {
                Some((kind, transport)) => (kind, transport),
                None if scheme == "git" => ("git", "git"),
                None if is_archive(path) => ("tarball", scheme),
                None => ("file", scheme),
            };
            if !matches!(kind, "git" | "hg" | "tarball" | "file")
                || !matches!(transport, "git" | "http" | "https" | "ssh" | "file")
            {
                return Err(format!("input '{text}' is unsupported"));
            }
            set("type", kind.to_owned());
            let mut url = format!("{transport}:{path}");
            let is_download = matches!(kind, "tarball" | "file");
            // What the fetcher does not know belongs to the URL.
            if is_download {
                let foreign: Vec<String> = reference
                    .extract_if(.., |name, _| !DOWNLOAD_FIELDS.contains(&name.as_str()))
                    .map(|(name, field)| format!("{}={}", encode(&name), encode(&field.text())))
                    .collect();
                if !foreign.is_empty() {
                    url = format!("{url}?{}", foreign.join("&"));
                }
            }
            reference.insert("url".to_owned(), Field::Text(url));
        }
    }
    to_typed(&mut reference)?;
    Ok(reference)
}

/// Query parameters that say something to the downloader instead of the server.
const DOWNLOAD_FIELDS: &[&str] =
    &["type", "dir", "narHash", "rev", "revCount", "lastModified", "name", "unpack"];

fn is_archive(path: &str) -> bool {
    [".zip", ".tar", ".tgz", ".tar.gz", ".tar.xz", ".tar.bz2", ".tar.zst"]
        .iter()
        .any(|end| path.ends_with(end))
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.bytes().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || b"+-.".contains(&c))
}

fn parse_without_scheme(
    text: &str,
    front: &str,
    mut reference: Reference,
) -> Result<Reference, String> {
    if front.starts_with(|c: char| c.is_ascii_alphabetic()) && !front.contains(':') {
        parse_id(text, front, &mut reference)?;
        return Ok(reference);
    }
    if front.starts_with('/') {
        reference.insert("type".to_owned(), Field::Text("path".to_owned()));
        reference.insert("path".to_owned(), Field::Text(decode(front)?));
        return Ok(reference);
    }
    Err(format!("flake reference '{text}' is not an absolute path"))
}

/// Reads `id`, `id/ref`, `id/rev` or `id/ref/rev`.
fn parse_id(text: &str, path: &str, reference: &mut Reference) -> Result<(), String> {
    let mut parts = path.splitn(2, '/');
    let id = parts.next().unwrap_or_default();
    let is_id = id.starts_with(|c: char| c.is_ascii_alphabetic())
        && id.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'_' || c == b'-');
    if !is_id {
        return Err(format!("'{id}' is not a valid flake identifier in '{text}'"));
    }
    reference.insert("type".to_owned(), Field::Text("indirect".to_owned()));
    reference.insert("id".to_owned(), Field::Text(id.to_owned()));
    let rest = parts.next().unwrap_or_default();
    if let Some((name, rev)) = rest.rsplit_once('/').filter(|(_, rev)| is_rev(rev)) {
        reference.insert("ref".to_owned(), Field::Text(checked_ref(text, name)?));
        reference.insert("rev".to_owned(), Field::Text(rev.to_owned()));
        return Ok(());
    }
    add_version(text, rest, reference)
}

/// Adds a commit hash or the name of a branch or tag.
fn add_version(text: &str, version: &str, reference: &mut Reference) -> Result<(), String> {
    if version.is_empty() {
        return Ok(());
    }
    let name = if is_rev(version) { "rev" } else { "ref" };
    if reference.contains_key(name) {
        let what = if name == "rev" { "commit hashes" } else { "branch/tag names" };
        return Err(format!("URL '{text}' contains multiple {what}"));
    }
    let value = if name == "rev" { version.to_owned() } else { checked_ref(text, version)? };
    reference.insert(name.to_owned(), Field::Text(value));
    if let (Some(rev), Some(name)) = (reference.get("rev"), reference.get("ref")) {
        return Err(format!(
            "URL '{text}' contains both a commit hash and a branch/tag name '{}' '{}'",
            name.text(),
            rev.text()
        ));
    }
    Ok(())
}

fn is_rev(text: &str) -> bool {
    text.len() == 40 && text.bytes().all(|c| matches!(c, b'0'..=b'9' | b'a'..=b'f'))
}

fn checked_ref(text: &str, name: &str) -> Result<String, String> {
    let good = name.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '@')
        && !name.contains("..")
        && name.bytes().all(|c| c.is_ascii_alphanumeric() || b"_.\\/@+-".contains(&c));
    if good {
        Ok(name.to_owned())
    } else {
        Err(format!("in URL '{text}', '{name}' is not a commit hash or branch/tag name"))
    }
}

/// Gives the attributes that are no strings their types.
fn to_typed(reference: &mut Reference) -> Result<(), String> {
    for (name, field) in reference {
        let text = field.text();
        match name.as_str() {
            "lastModified" | "revCount" => {
                let number = text.parse().map_err(|_| format!("'{text}' is not a number"))?;
                *field = Field::Int(number);
            }
            "shallow" | "submodules" | "allRefs" | "exportIgnore" | "lfs" => {
                *field = Field::Bool(text == "1");
            }
            _ => {}
        }
    }
    Ok(())
}

/// Writes the textual form.
fn unparse(mut reference: Reference) -> Result<String, String> {
    let mut take = |name: &str| reference.remove(name).map(|field| field.text());
    let missing = |name: &str| format!("input attribute '{name}' is missing");
    let kind = take("type").ok_or_else(|| missing("type"))?;
    let url = match kind.as_str() {
        "github" | "gitlab" | "sourcehut" => {
            let owner = take("owner").ok_or_else(|| missing("owner"))?;
            let repo = take("repo").ok_or_else(|| missing("repo"))?;
            let version = match (take("ref"), take("rev")) {
                (Some(_), Some(_)) => {
                    return Err(
                        "input contains both a commit hash and a branch/tag name".to_owned()
                    );
                }
                (Some(version), None) | (None, Some(version)) => format!("/{}", encode(&version)),
                (None, None) => String::new(),
            };
            format!("{kind}:{}/{}{version}", encode(&owner), encode(&repo))
        }
        "indirect" => {
            let mut url = format!("flake:{}", take("id").ok_or_else(|| missing("id"))?);
            for version in [take("ref"), take("rev")].into_iter().flatten() {
                url = format!("{url}/{version}");
            }
            url
        }
        "path" => format!("path:{}", encode(&take("path").ok_or_else(|| missing("path"))?)),
        "git" | "hg" => {
            let url = take("url").ok_or_else(|| missing("url"))?;
            if url.starts_with("git:") { url } else { format!("{kind}+{url}") }
        }
        "tarball" | "file" => {
            let url = take("url").ok_or_else(|| missing("url"))?;
            let implied = if is_archive(&url) { "tarball" } else { "file" };
            if implied == kind { url } else { format!("{kind}+{url}") }
        }
        _ => return Err(format!("input type '{kind}' is unsupported")),
    };
    let query: Vec<String> = reference
        .iter()
        .map(|(name, field)| format!("{}={}", encode(name), encode(&field.text())))
        .collect();
    Ok(if query.is_empty() {
        url
    } else {
        let mark = if url.contains('?') { '&' } else { '?' };
        format!("{url}{mark}{}", query.join("&"))
    })
}

fn hex(digit: u8) -> char {
    char::from_digit(u32::from(digit), 16).map_or('0', |digit| digit.to_ascii_uppercase())
}

/// Replaces what cannot stand in a URL.
fn encode(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => encoded.push(char::from(byte)),
            _ if b"-._~!$'()*,;:@/".contains(&byte) => encoded.push(char::from(byte)),
            _ => encoded.extend(['%', hex(byte >> 4), hex(byte & 15)]),
        }
    }
    encoded
}

fn decode(text: &str) -> Result<String, String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digits = rest.get(..2).and_then(|digits| str::from_utf8(digits).ok());
        let Some(byte) = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) else {
            return Err(format!("invalid URI parameter '{text}'"));
        };
        bytes.push(byte);
        rest = &rest[2..];
    }
    String::from_utf8(bytes).map_err(|_| format!("invalid URI parameter '{text}'"))
}
