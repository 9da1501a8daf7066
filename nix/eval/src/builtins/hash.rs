//! Hashes of strings and files, and their spellings.

use raddle_nix_store::hash::{Algorithm, Format, Hash, HashError, convert_hash};
use raddle_nix_syntax::{Pos, Symbol, sym};

use crate::eval::{Cx, Error, ErrorKind, Result};
use crate::value::{Attrs, PrimOp, Value};

pub(super) const PRIMOPS: &[PrimOp] = &[
    PrimOp::new("hashString", 2, hash_string),
    PrimOp::new("hashFile", 2, hash_file),
    PrimOp::new("convertHash", 1, convert),
];

/// The experimental feature that BLAKE3 needs.
const BLAKE3: &str = "blake3-hashes";

fn failed(error: &HashError) -> Error {
    Error::new(ErrorKind::Other, Pos::NONE, error.to_string())
}

/// Returns the algorithm with this name, if it may be used.
fn algorithm(cx: &Cx<'_>, name: &[u8]) -> Result<Algorithm> {
    let algorithm = Algorithm::parse(name).map_err(|error| failed(&error))?;
    if algorithm == Algorithm::Blake3 && !cx.evaluator.settings.has_feature(BLAKE3) {
        let message = format!(
            "experimental Nix feature '{BLAKE3}' is disabled; add '--extra-experimental-features \
             {BLAKE3}' to enable it"
        );
        return Err(Error::new(ErrorKind::Other, Pos::NONE, message));
    }
    Ok(algorithm)
}

fn hash_string(cx: &Cx<'_>, args: &[Value], _: Pos) -> Result<Value> {
    let text = "while evaluating the first argument passed to builtins.hashString";
    let algorithm = algorithm(cx, cx.force_plain_string(args[0], Pos::NONE, text)?)?;
    let text = "while evaluating the second argument passed to builtins.hashString";
    let data = cx.force_string(args[1], Pos::NONE, text)?.as_bytes();
    Ok(cx.string(Hash::of(algorithm, data).to_text(Format::Base16)))
}

fn hash_file(cx: &Cx<'_>, args: &[Value], _: Pos) -> Result<Value> {
    let text = "while evaluating the first argument passed to builtins.hashFile";
    let algorithm = algorithm(cx, cx.force_plain_string(args[0], Pos::NONE, text)?)?;
    let data = cx.read_file(args[1], Pos::NONE)?;
    Ok(cx.string(Hash::of(algorithm, &data).to_text(Format::Base16)))
}

fn convert(cx: &Cx<'_>, args: &[Value], _: Pos) -> Result<Value> {
    let text = "while evaluating the first argument passed to builtins.convertHash";
    let attrs = cx.force_attrs(args[0], Pos::NONE, text)?;
    let hash = required(cx, attrs, sym::HASH)?;
    let algorithm = match attrs.get(sym::HASH_ALGO) {
        None => None,
        Some(slot) => {
            let text = "while evaluating the attribute 'hashAlgo'";
            Some(algorithm(cx, cx.force_plain_string(slot.get(), Pos::NONE, text)?)?)
        }
    };
    let format = required(cx, attrs, sym::TO_HASH_FORMAT)?;
    if format == b"base32" {
        let warning = r#"warning: "base32" is a deprecated alias for hash format "nix32"."#;
        cx.emit(warning.to_owned());
    }
    let format = Format::parse(format).map_err(|error| failed(&error))?;
    let converted = convert_hash(hash, algorithm, format).map_err(|error| failed(&error))?;
    Ok(cx.string(converted))
}

/// Returns the string that an attribute must be.
fn required(cx: &Cx<'_>, attrs: Attrs, name: Symbol) -> Result<&'static [u8]> {
    let Some(slot) = attrs.get(name) else {
        let message = format!("attribute '{name}' missing");
        return Err(Error::new(ErrorKind::Type, Pos::NONE, message)
            .frame(Pos::NONE, format!("while locating the attribute '{name}'")));
    };
    let text = || format!("while evaluating the attribute '{name}'");
    cx.force_plain_string(slot.get(), Pos::NONE, text)
}
