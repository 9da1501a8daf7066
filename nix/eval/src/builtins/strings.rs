//! Strings: measuring, cutting, joining, replacing, and the two ends of a path.
//!
//! Lengths and offsets count bytes. A result that equals an argument is that argument.

use raddle_nix_store::path;
use raddle_nix_syntax::Pos;
use smallvec::SmallVec;

use crate::eval::{Coerce, Cx, Error, ErrorKind, Result};
use crate::paths;
use crate::text::replace::{self, Piece};
use crate::value::{PrimOp, Str, Value, View};

pub(super) const PRIMOPS: &[PrimOp] = &[
    PrimOp::new("toString", 1, to_string).strict(0b1),
    PrimOp::new("stringLength", 1, string_length).strict(0b1),
    PrimOp::new("substring", 3, substring).strict(0b111),
    PrimOp::new("concatStringsSep", 2, concat_strings_sep).strict(0b11),
    PrimOp::new("replaceStrings", 3, replace_strings).strict(0b111),
    PrimOp::new("baseNameOf", 1, base_name_of).strict(0b1),
    PrimOp::new("dirOf", 1, dir_of).strict(0b1),
    PrimOp::new("placeholder", 1, placeholder).strict(0b1),
];

/// Returns a part of `whole`, with its context.
fn part(cx: &Cx<'_>, whole: Str, bytes: &[u8]) -> Value {
    if bytes.len() == whole.as_bytes().len() {
        return whole.into();
    }
    cx.string_with(bytes, whole.context())
}

fn to_string(cx: &Cx<'_>, args: &[Value], _: Pos) -> Result<Value> {
    let text = "while evaluating the first argument passed to builtins.toString";
    Ok(cx.coerce_for(args[0], Coerce::TO_STRING, Pos::NONE, text)?.into())
}

fn string_length(cx: &Cx<'_>, args: &[Value], _: Pos) -> Result<Value> {
    let text = "while evaluating the argument passed to builtins.stringLength";
    let s = cx.coerce_for(args[0], Coerce::INTERPOLATE, Pos::NONE, text)?;
    Ok(cx.int(s.as_bytes().len() as i64))
}

fn substring(cx: &Cx<'_>, args: &[Value], _: Pos) -> Result<Value> {
    let text =
        "while evaluating the first argument (the start offset) passed to builtins.substring";
    let start = cx.force_int(args[0], Pos::NONE, text)?;
    let Ok(start) = u64::try_from(start) else {
        let message = "negative start position in 'substring'";
        return Err(Error::new(ErrorKind::Other, Pos::NONE, message));
    };
    let text =
        "while evaluating the second argument (the substring length) passed to builtins.substring";
    let length = cx.force_int(args[1], Pos::NONE, text)?;
    let text = "while evaluating the third argument (the string) passed to builtins.substring";
    let s = cx.coerce_for(args[2], Coerce::INTERPOLATE, Pos::NONE, text)?;
    Ok(part(cx, s, replace::substring(s.as_bytes(), start, length)))
}

fn concat_strings_sep(cx: &Cx<'_>, args: &[Value], _: Pos) -> Result<Value> {
    let separator = cx.force_string(
        args[0],
        Pos::NONE,
        "while evaluating the first argument (the separator string) passed to \
         builtins.concatStringsSep",
    )?;
    let list = cx.force_list(
        args[1],
        Pos::NONE,
        "while evaluating the second argument (the list of strings to concat) passed to \
         builtins.concatStringsSep",
    )?;
    let text = "while evaluating one element of the list of strings to concat passed to \
                builtins.concatStringsSep";
    let mut context = separator.context();
    let mut bytes: SmallVec<[u8; 256]> = SmallVec::new();
    for (i, element) in list.iter().enumerate() {
        if i > 0 {
            bytes.extend_from_slice(separator.as_bytes());
        }
        let s = cx.coerce_for(element, Coerce::INTERPOLATE, Pos::NONE, text)?;
        context = context.union(cx.heap(), s.context());
        if list.len() == 1 && s.context() == context {
            return Ok(s.into());
        }
        cx.room_for_text(bytes.len() + separator.as_bytes().len() + s.as_bytes().len());
        bytes.extend_from_slice(s.as_bytes());
    }
    Ok(cx.string_with(&bytes, context))
}

fn replace_strings(cx: &Cx<'_>, args: &[Value], _: Pos) -> Result<Value> {
    let from = cx.force_list(
        args[0],
        Pos::NONE,
        "while evaluating the first argument passed to builtins.replaceStrings",
    )?;
    let to = cx.force_list(
        args[1],
        Pos::NONE,
        "while evaluating the second argument passed to builtins.replaceStrings",
    )?;
    if from.len() != to.len() {
        let message = "'from' and 'to' arguments passed to builtins.replaceStrings have different \
                       lengths";
        return Err(Error::new(ErrorKind::Other, Pos::NONE, message));
    }
    cx.room_for::<&[u8]>(from.len());
    let mut patterns: SmallVec<[&'static [u8]; 16]> = SmallVec::with_capacity(from.len());
    for pattern in from.iter() {
        let text =
            "while evaluating one of the strings to replace passed to builtins.replaceStrings";
        patterns.push(cx.force_string(pattern, Pos::NONE, text)?.as_bytes());
    }
    let subject = cx.force_string(
        args[2],
        Pos::NONE,
        "while evaluating the third argument passed to builtins.replaceStrings",
    )?;

    let mut context = subject.context();
    let mut bytes: SmallVec<[u8; 256]> = SmallVec::new();
    let mut is_changed = false;
    for piece in replace::replacements(&patterns, subject.as_bytes()) {
        match piece {
            Piece::Text(range) => {
                cx.room_for_text(bytes.len() + range.len());
                bytes.extend_from_slice(&subject.as_bytes()[range]);
            }
            Piece::Replacement(index) => {
                is_changed = true;
                let text = "while evaluating one of the replacement strings passed to \
                            builtins.replaceStrings";
                let s = cx.force_string(to.slots()[index].get(), Pos::NONE, text)?;
                context = context.union(cx.heap(), s.context());
                cx.room_for_text(bytes.len() + s.as_bytes().len());
                bytes.extend_from_slice(s.as_bytes());
            }
        }
    }
    Ok(if is_changed { cx.string_with(&bytes, context) } else { subject.into() })
}

fn base_name_of(cx: &Cx<'_>, args: &[Value], _: Pos) -> Result<Value> {
    let text = "while evaluating the first argument passed to builtins.baseNameOf";
    let s = cx.coerce_for(args[0], Coerce::PLAIN, Pos::NONE, text)?;
    Ok(part(cx, s, base_name(s.as_bytes())))
}

/// Returns what follows the last slash, not counting one at the very end.
fn base_name(path: &[u8]) -> &[u8] {
    let end = match path {
        [rest @ .., b'/'] if !rest.is_empty() => rest,
        _ => path,
    };
    match memchr::memrchr(b'/', end) {
        Some(slash) => &end[slash + 1..],
        None => end,
    }
}

fn dir_of(cx: &Cx<'_>, args: &[Value], _: Pos) -> Result<Value> {
    let value = cx.force(args[0])?;
    if let View::Path(path) = value.view() {
        return Ok(cx.path(paths::parent(path)));
    }
    let text = "while evaluating the first argument passed to 'builtins.dirOf'";
    let s = cx.coerce_for(value, Coerce::PLAIN, Pos::NONE, text)?;
    Ok(match memchr::memrchr(b'/', s.as_bytes()) {
        None => cx.string_with(".", s.context()),
        Some(0) => part(cx, s, b"/"),
        Some(slash) => part(cx, s, &s.as_bytes()[..slash]),
    })
}

fn placeholder(cx: &Cx<'_>, args: &[Value], _: Pos) -> Result<Value> {
    let text = "while evaluating the first argument passed to builtins.placeholder";
    let output = cx.force_plain_string(args[0], Pos::NONE, text)?;
    Ok(cx.string(path::placeholder(output)))
}
