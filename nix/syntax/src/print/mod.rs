//! Trees to text.
//!
//! [`source`] writes a tree so that parsing the text gives the same tree, positions and
//! documentation aside. [`desugared`] writes what `nix-instantiate --parse` prints: operators as
//! the calls that they mean, attributes and formals sorted, paths absolute.
//!
//! Both recurse on the tree, whose height is limited.

mod desugared;
mod source;
#[cfg(test)]
mod tests;

pub use desugared::{Paths, desugared};
pub use source::source;

use bstr::ByteSlice;

use crate::Symbol;
use crate::lexer::{is_letter, is_name};

/// The keywords, which cannot be names without quotes.
const KEYWORDS: [&[u8]; 9] =
    [b"if", b"then", b"else", b"assert", b"with", b"let", b"in", b"rec", b"inherit"];

/// Returns whether `name` can be written without quotes as an attribute.
pub fn is_identifier(name: &[u8]) -> bool {
    name.first().is_some_and(|&first| is_letter(first))
        && name.iter().all(|&byte| is_name(byte))
        && !KEYWORDS.contains(&name)
}

/// Returns the name of an attribute, in quotes if it needs them.
pub fn attr_name(name: Symbol) -> String {
    let mut out = Vec::new();
    write_attr_name(&mut out, name);
    out.to_str_lossy().into_owned()
}

fn write_attr_name(out: &mut Vec<u8>, name: Symbol) {
    let name = name.as_bytes();
    if is_identifier(name) { out.extend_from_slice(name) } else { write_string(out, name) }
}

/// Writes a string literal, quotes included.
fn write_string(out: &mut Vec<u8>, text: &[u8]) {
    out.push(b'"');
    write_escaped(out, text);
    out.push(b'"');
}

fn write_escaped(out: &mut Vec<u8>, text: &[u8]) {
    for (index, &byte) in text.iter().enumerate() {
        match byte {
            b'"' | b'\\' => out.extend([b'\\', byte]),
            b'\n' => out.extend(b"\\n"),
            b'\r' => out.extend(b"\\r"),
            b'\t' => out.extend(b"\\t"),
            b'$' if text.get(index + 1) == Some(&b'{') => out.extend(b"\\$"),
            _ => out.push(byte),
        }
    }
}
