//! Regular expressions: matching whole strings and splitting at matches.
//!
//! Programs use few patterns very often, so every pattern is compiled once for the process. A
//! worker finds the ones that it used last without looking at anything that others write to.
//!
//! Results carry no context. How patterns are understood is in `text::regex`.

use std::cell::Cell;
use std::sync::LazyLock;

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use parking_lot::RwLock;
use raddle_nix_syntax::Pos;

use crate::eval::{Cx, Error, ErrorKind, Result};
use crate::text::regex::{Regex, RegexError};
use crate::value::{PrimOp, Value};

pub(super) const PRIMOPS: &[PrimOp] =
    &[PrimOp::new("match", 2, match_).strict(0b11), PrimOp::new("split", 2, split).strict(0b11)];

/// A pattern's program, or why it has none.
type Compiled = std::result::Result<Regex, RegexError>;

/// All patterns met so far.
static COMPILED: LazyLock<RwLock<HashMap<&'static [u8], &'static Compiled, FixedState>>> =
    LazyLock::new(RwLock::default);

/// A pattern that a worker used lately, known by where its text is.
type Recent = Cell<Option<(&'static [u8], &'static Compiled)>>;

/// The number of recent patterns that a worker remembers.
const RECENT: usize = 256;

thread_local! {
    static RECENTLY_USED: [Recent; RECENT] = const { [const { Cell::new(None) }; RECENT] };
}

/// Returns the program of a pattern.
fn compiled(pattern: &'static [u8]) -> Result<&'static Regex> {
    // Texts of strings never move or change, so the same address and length is the same text.
    let index = (pattern.as_ptr().addr() >> 3) % RECENT;
    let recent = RECENTLY_USED.with(|recent| recent[index].get());
    let compiled = match recent {
        Some((known, compiled)) if std::ptr::eq(known, pattern) => compiled,
        _ => {
            let compiled = look_up(pattern);
            RECENTLY_USED.with(|recent| recent[index].set(Some((pattern, compiled))));
            compiled
        }
    };
    compiled.as_ref().map_err(|error| Error::new(ErrorKind::Other, Pos::NONE, error.to_string()))
}

#[cold]
fn look_up(pattern: &'static [u8]) -> &'static Compiled {
    if let Some(compiled) = COMPILED.read().get(pattern) {
        return compiled;
    }
    let compiled = Regex::new(pattern);
    COMPILED.write().entry(pattern).or_insert_with(|| Box::leak(Box::new(compiled)))
}

/// Returns the groups of a match as a list.
fn groups(cx: &Cx<'_>, subject: &[u8], spans: &[Option<(usize, usize)>]) -> Value {
    cx.list_from_fn(spans.len(), |i| match spans[i] {
        Some((start, end)) => cx.string(&subject[start..end]),
        None => Value::NULL,
    })
}

fn match_(cx: &Cx<'_>, args: &[Value], _: Pos) -> Result<Value> {
    let text = "while evaluating the first argument passed to builtins.match";
    let regex = compiled(cx.force_plain_string(args[0], Pos::NONE, text)?)?;
    let text = "while evaluating the second argument passed to builtins.match";
    let subject = cx.force_string(args[1], Pos::NONE, text)?.as_bytes();
    Ok(match regex.match_whole(subject) {
        Some(spans) => groups(cx, subject, &spans),
        None => Value::NULL,
    })
}

fn split(cx: &Cx<'_>, args: &[Value], _: Pos) -> Result<Value> {
    let text = "while evaluating the first argument passed to builtins.split";
    let regex = compiled(cx.force_plain_string(args[0], Pos::NONE, text)?)?;
    let text = "while evaluating the second argument passed to builtins.split";
    let string = cx.force_string(args[1], Pos::NONE, text)?;
    let subject = string.as_bytes();
    let mut parts = Vec::new();
    let mut end = 0;
    for found in regex.find_iter(subject) {
        if parts.len() == parts.capacity() {
            // The old buffer and the new one, which is twice as large.
            cx.room_for::<[Value; 3]>(parts.len());
        }
        parts.push(cx.string(&subject[end..found.start]));
        parts.push(groups(cx, subject, &found.groups));
        end = found.end;
    }
    // Where nothing matches, the string stays what it is, with its context.
    parts.push(if parts.is_empty() { string.into() } else { cx.string(&subject[end..]) });
    Ok(cx.list(&parts))
}
