//! Strings in quotes and indented strings.
//!
//! Literal parts without escapes are not copied: they refer to the source text.

use bstr::ByteSlice;
use memchr::{memchr, memchr2, memchr3};

use super::{Failed, Parsed, Parser, Tree};
use crate::ast::{Expr, ExprKind, Part};
use crate::lexer::Kind;

/// A piece of an indented string before its indentation is removed.
#[derive(Clone, Copy)]
pub(super) enum Piece<'a> {
    /// Text whose leading spaces count as indentation.
    Text(&'a [u8]),
    /// An escaped byte, which ends the indentation.
    Escaped(u8),
    /// `${e}`, which ends the indentation.
    Interpolation(&'a Expr<'a>),
}

impl<'a> Parser<'a, '_> {
    /// Parses `"…"`. The current token is the quote.
    #[inline(never)]
    pub(super) fn string(&mut self) -> Parsed<'a> {
        let pos = self.pos();
        let mut start = self.token.end;
        let text = self.lexer.text();
        let (end, escaped) = self.string_literal(start)?;
        if text[end] == b'"' {
            let literal = self.unescape(start, end, escaped)?;
            self.resume(end + 1);
            return Ok(self.leaf(pos, ExprKind::Str(literal)));
        }
        let base = self.parts.len();
        let (mut end, mut escaped, mut height) = (end, escaped, 0);
        loop {
            if end > start {
                let literal = self.unescape(start, end, escaped)?;
                self.parts.push(Part::Literal(literal));
            }
            if text[end] == b'"' {
                break;
            }
            let tree = self.interpolation(end)?;
            height = height.max(tree.height);
            self.parts.push(Part::Interpolation(tree.expr));
            start = self.token.end;
            (end, escaped) = self.string_literal(start)?;
        }
        self.resume(end + 1);
        let parts = self.arena.alloc_slice_copy(&self.parts[base..]);
        self.parts.truncate(base);
        self.node(pos, ExprKind::Interpolated(parts), height)
    }

    /// Parses the `${e}` at `offset` up to its closing brace, which becomes the current token.
    fn interpolation(&mut self, offset: usize) -> Result<Tree<'a>, Failed> {
        self.resume(offset + 2);
        let tree = self.expression()?;
        if self.token.kind != Kind::BraceClose {
            return self.unexpected("'}'");
        }
        Ok(tree)
    }

    /// Returns where the literal part from `start` on ends, at a quote or `${`, and whether it has
    /// escapes.
    #[inline]
    fn string_literal(&mut self, start: usize) -> Result<(usize, bool), Failed> {
        let text = self.lexer.text();
        let (mut at, mut escaped) = (start, false);
        loop {
            let rest = text.get(at..).unwrap_or_default();
            let Some(found) = memchr3(b'"', b'\\', b'$', rest) else {
                return self.unexpected_at(text.len(), Kind::End.describe(), "'\"'");
            };
            at += found;
            match (text[at], text.get(at + 1)) {
                (b'"', _) | (b'$', Some(b'{')) => return Ok((at, escaped)),
                (b'\\', _) => {
                    escaped = true;
                    at += 2;
                }
                // A dollar takes the next byte with it, so that `$${` begins no interpolation.
                (_, Some(b'"' | b'\\')) => at += 1,
                _ => at += 2,
            }
        }
    }

    /// Replaces escapes, and line ends by LF.
    #[inline]
    fn unescape(&mut self, start: usize, end: usize, escaped: bool) -> Result<&'a [u8], Failed> {
        let literal = &self.lexer.text()[start..end];
        if self.has_nul {
            self.no_nul(start, literal)?;
        }
        let translate = escaped || self.has_cr && memchr(b'\r', literal).is_some();
        if !translate {
            return Ok(literal);
        }
        self.bytes.clear();
        let mut rest = literal;
        while let Some(found) = memchr2(b'\\', b'\r', rest) {
            self.bytes.extend_from_slice(&rest[..found]);
            let special = rest[found];
            rest = &rest[found + 1..];
            if special == b'\r' {
                self.bytes.push(b'\n');
                rest = rest.strip_prefix(b"\n").unwrap_or(rest);
            } else if let Some((&byte, after)) = rest.split_first() {
                self.bytes.push(escape(byte));
                rest = after;
            }
        }
        self.bytes.extend_from_slice(rest);
        Ok(self.arena.alloc_slice_copy(&self.bytes))
    }

    #[cold]
    fn no_nul(&mut self, start: usize, literal: &[u8]) -> Result<(), Failed> {
        if memchr(0, literal).is_none() {
            return Ok(());
        }
        let shown = literal.replace(b"\0", "␀");
        let message = format!(
            "input string '{}' cannot be represented as Nix string because it contains null bytes",
            shown.as_bstr()
        );
        self.fail(self.source.pos(start), message)
    }

    /// Parses `''…''`. The current token is the opening, up to the first content.
    #[inline(never)]
    pub(super) fn indented_string(&mut self) -> Parsed<'a> {
        let pos = self.pos();
        let text = self.lexer.text();
        let base = self.indented.len();
        let mut height = 0;
        let mut start = self.token.end;
        let mut at = start;
        loop {
            let Some(found) = memchr2(b'\'', b'$', &text[at..]) else {
                let expected = "indented string or '${' or end of an indented string";
                return self.unexpected_at(text.len(), Kind::End.describe(), expected);
            };
            at += found;
            let rest = &text[at..];
            match (rest[0], rest.get(1), rest.get(2)) {
                (b'$', Some(b'{'), _) => {
                    self.push_text(start, at)?;
                    let tree = self.interpolation(at)?;
                    height = height.max(tree.height);
                    self.indented.push(Piece::Interpolation(tree.expr));
                    start = self.token.end;
                    at = start;
                }
                // `$` or a lone quote takes the next byte with it.
                (b'$', Some(b'\''), _) | (b'\'', Some(b'$'), _) => at += 1,
                (b'$', Some(_), _) => at += 2,
                (_, None, _) => at += 1,
                (_, Some(b'\''), Some(b'\'')) => {
                    // `'''` stands for two quotes: the last two.
                    self.push_text(start, at)?;
                    start = at + 1;
                    at += 3;
                }
                (_, Some(b'\''), Some(b'$')) => {
                    self.push_text(start, at)?;
                    start = at + 2;
                    at += 3;
                }
                (_, Some(b'\''), Some(b'\\')) if rest.len() > 3 => {
                    self.push_text(start, at)?;
                    self.indented.push(Piece::Escaped(escape(rest[3])));
                    at += 4;
                    start = at;
                }
                (_, Some(b'\''), _) => break,
                _ => at += 2,
            }
        }
        self.push_text(start, at)?;
        self.resume(at + 2);
        self.strip_indentation(base);
        let pieces = &self.indented[base..];
        let tree = match *pieces {
            [] => Ok(self.leaf(pos, ExprKind::Str(b""))),
            [Piece::Text(literal)] => Ok(self.leaf(pos, ExprKind::Str(literal))),
            _ => {
                let parts = pieces.iter().map(|piece| match *piece {
                    Piece::Text(literal) => Part::Literal(literal),
                    Piece::Interpolation(expr) => Part::Interpolation(expr),
                    Piece::Escaped(_) => unreachable!("stripping leaves no escapes"),
                });
                let parts = self.arena.alloc_slice_fill_iter(parts);
                self.node(pos, ExprKind::Interpolated(parts), height)
            }
        };
        self.indented.truncate(base);
        tree
    }

    fn push_text(&mut self, start: usize, end: usize) -> Result<(), Failed> {
        if end > start {
            let text = &self.lexer.text()[start..end];
            if self.has_nul {
                self.no_nul(start, text)?;
            }
            self.indented.push(Piece::Text(text));
        }
        Ok(())
    }

    /// Removes the common indentation from the pieces since `base`, joins neighbours and drops
    /// what is empty; only texts and interpolations are left.
    fn strip_indentation(&mut self, base: usize) {
        let pieces = self.indented.len();
        if pieces == base {
            return;
        }
        let indentation = common_indentation(&self.indented[base..]);
        let mut line = LineStart { indentation, dropped: Some(0) };
        let (mut kept, mut last) = (base, 0);
        self.bytes.clear();
        for index in base..pieces {
            last = self.bytes.len();
            match self.indented[index] {
                Piece::Interpolation(_) => {
                    line.dropped = None;
                    kept = self.flush_text(kept);
                    self.indented[kept] = self.indented[index];
                    kept += 1;
                }
                Piece::Escaped(byte) => line.append(&mut self.bytes, &[byte]),
                Piece::Text(text) => line.append(&mut self.bytes, text),
            }
        }
        if !matches!(self.indented[pieces - 1], Piece::Interpolation(_)) {
            drop_blank_last_line(&mut self.bytes, last);
        }
        kept = self.flush_text(kept);
        self.indented.truncate(kept);
    }

    /// Turns the collected bytes into a text at index `kept`, if there are any. At least as many
    /// pieces have been read as are kept, so there is room.
    fn flush_text(&mut self, kept: usize) -> usize {
        if self.bytes.is_empty() {
            return kept;
        }
        self.indented[kept] = Piece::Text(self.arena.alloc_slice_copy(&self.bytes));
        self.bytes.clear();
        kept + 1
    }
}

/// Returns what a backslash and `byte` stand for.
fn escape(byte: u8) -> u8 {
    match byte {
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        other => other,
    }
}

/// Returns the smallest number of spaces that a line begins with; lines of only spaces do not count.
fn common_indentation(pieces: &[Piece<'_>]) -> usize {
    let mut smallest = usize::MAX;
    // The spaces since the line began, while nothing else was seen.
    let mut spaces = Some(0);
    for piece in pieces {
        let Piece::Text(mut text) = *piece else {
            if let Some(spaces) = spaces.take() {
                smallest = smallest.min(spaces);
            }
            continue;
        };
        while !text.is_empty() {
            if let Some(before) = spaces {
                let more = text.iter().take_while(|&&byte| byte == b' ').count();
                text = &text[more..];
                match text.first() {
                    None => spaces = Some(before + more),
                    Some(b'\n') => {
                        spaces = Some(0);
                        text = &text[1..];
                    }
                    Some(_) => {
                        spaces = None;
                        smallest = smallest.min(before + more);
                    }
                }
            } else {
                let Some(end) = memchr(b'\n', text) else { break };
                spaces = Some(0);
                text = &text[end + 1..];
            }
        }
    }
    smallest
}

/// Copies text without its indentation.
struct LineStart {
    indentation: usize,
    /// How many spaces of the current line were met, or `None` after anything else.
    dropped: Option<usize>,
}

impl LineStart {
    fn append(&mut self, out: &mut Vec<u8>, mut text: &[u8]) {
        while !text.is_empty() {
            if let Some(before) = self.dropped {
                let spaces = text.iter().take_while(|&&byte| byte == b' ').count();
                let drop = spaces.min(self.indentation.saturating_sub(before));
                out.extend_from_slice(&text[drop..spaces]);
                text = &text[spaces..];
                self.dropped = if text.is_empty() { Some(before + spaces) } else { None };
            } else {
                let end = memchr(b'\n', text).map_or(text.len(), |end| end + 1);
                let (line, rest) = text.split_at(end);
                out.extend_from_slice(line);
                text = rest;
                if line.ends_with(b"\n") {
                    self.dropped = Some(0);
                }
            }
        }
    }
}

/// Removes the spaces after the last line end if nothing else follows it.
fn drop_blank_last_line(bytes: &mut Vec<u8>, from: usize) {
    let spaces = bytes[from..].iter().rev().take_while(|&&byte| byte == b' ').count();
    let end = bytes.len() - spaces;
    if end > from && bytes[end - 1] == b'\n' {
        bytes.truncate(end);
    }
}
