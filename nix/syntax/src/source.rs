//! Source texts and positions.
//!
//! A [`Pos`] is a u32 offset into the imaginary concatenation of all texts read so far, so it
//! costs four bytes in every attribute and is turned into file, line and column only when
//! somebody asks. Texts live as long as the process.
//!
//! Invariant: every text has its own range of positions, one longer than the text so that its
//! end has a position too; position 0 belongs to none.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{OnceLock, PoisonError, RwLock};

use bstr::ByteSlice;
use memchr::memchr2;

/// A place in a source text; 0 is "unknown".
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Pos(u32);

impl Pos {
    /// The unknown position.
    pub const NONE: Self = Self(0);

    /// Returns whether this is a place in some text.
    pub const fn is_known(self) -> bool {
        self.0 != 0
    }

    /// Returns the position as a number, 0 if unknown.
    #[inline]
    pub const fn index(self) -> u32 {
        self.0
    }

    /// Returns the position with the number `index`, which must have come from [`index`](Self::index).
    #[inline]
    pub const fn from_index(index: u32) -> Self {
        Self(index)
    }

    /// Returns text, line and column, or `None` if the position is unknown.
    pub fn locate(self) -> Option<Location> {
        if !self.is_known() {
            return None;
        }
        let sources = SOURCES.read().unwrap_or_else(PoisonError::into_inner);
        let after = sources.partition_point(|source| source.base <= self.0);
        let source = *sources.get(after.checked_sub(1)?)?;
        drop(sources);
        Some(source.location((self.0 - source.base) as usize))
    }
}

/// Where a text came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// A file.
    File(PathBuf),
    /// The command line or a string: `«string»`.
    String,
    /// The standard input: `«stdin»`.
    Stdin,
    /// Built into the program; the name is shown as `«nix-internal»/name`.
    Internal(&'static str),
    /// Nowhere: `«none»`.
    None,
}

impl Origin {
    /// Returns what an error calls this origin.
    pub fn name(&self) -> Cow<'_, str> {
        match self {
            Self::File(path) => path.to_string_lossy(),
            Self::String => "«string»".into(),
            Self::Stdin => "«stdin»".into(),
            Self::Internal(name) => format!("«nix-internal»/{name}").into(),
            Self::None => "«none»".into(),
        }
    }
}

/// All texts together would need more than 4 GiB of positions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("cannot read another {len} bytes of Nix: all source texts together are limited to 4 GiB")]
pub struct SourceTooLarge {
    /// The size of the text that did not fit.
    pub len: usize,
}

/// A text, alive until the process ends.
#[derive(Debug)]
pub struct Source {
    origin: Origin,
    text: Box<[u8]>,
    base: u32,
    /// The offset at which each line begins, made when first needed.
    lines: OnceLock<Box<[u32]>>,
}

/// All texts in the order of their bases.
static SOURCES: RwLock<Vec<&'static Source>> = RwLock::new(Vec::new());

impl Source {
    /// Adds a text and gives it a range of positions.
    ///
    /// # Errors
    ///
    /// Fails if the positions are used up.
    pub fn add(origin: Origin, text: Vec<u8>) -> Result<&'static Self, SourceTooLarge> {
        let mut sources = SOURCES.write().unwrap_or_else(PoisonError::into_inner);
        let base = sources.last().map_or(1, |last| last.base as usize + last.text.len() + 1);
        let len = text.len();
        if len >= (u32::MAX as usize).saturating_sub(base) {
            return Err(SourceTooLarge { len });
        }
        let text = text.into_boxed_slice();
        let source = Self { origin, text, base: base as u32, lines: OnceLock::new() };
        let source: &'static Self = Box::leak(Box::new(source));
        sources.push(source);
        Ok(source)
    }

    /// Returns where the text came from.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// Returns the text.
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// Returns the path if the text is a file's.
    pub fn path(&self) -> Option<&Path> {
        match &self.origin {
            Origin::File(path) => Some(path),
            _ => None,
        }
    }

    /// Returns the position of the byte at `offset`, at most the text's length.
    #[inline]
    pub fn pos(&self, offset: usize) -> Pos {
        debug_assert!(offset <= self.text.len());
        Pos(self.base + offset as u32)
    }

    /// Returns the offset of a position in this text.
    pub fn offset(&self, pos: Pos) -> Option<usize> {
        let offset = pos.0.checked_sub(self.base)? as usize;
        (offset <= self.text.len()).then_some(offset)
    }

    fn location(&'static self, offset: usize) -> Location {
        let line = self.line_starts().partition_point(|&start| start as usize <= offset);
        let start = self.line_starts()[line - 1] as usize;
        Location { source: self, line: line as u32, column: (offset - start) as u32 + 1 }
    }

    fn line_starts(&self) -> &[u32] {
        self.lines.get_or_init(|| {
            let mut starts = vec![0];
            let mut at = 0;
            while let Some(found) = memchr2(b'\n', b'\r', &self.text[at..]) {
                at += found + 1;
                if self.text[at - 1] == b'\r' && self.text.get(at) == Some(&b'\n') {
                    at += 1;
                }
                starts.push(at as u32);
            }
            starts.into()
        })
    }

    /// Returns a line (from 1) without its end.
    fn line(&self, number: u32) -> Option<&[u8]> {
        let starts = self.line_starts();
        let start = *starts.get((number as usize).checked_sub(1)?)? as usize;
        let end = starts.get(number as usize).map_or(self.text.len(), |&next| next as usize);
        let line = &self.text[start..end];
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        Some(line.strip_suffix(b"\r").unwrap_or(line))
    }
}

/// A position as people read it.
#[derive(Debug, Clone, Copy)]
pub struct Location {
    /// The text.
    pub source: &'static Source,
    /// The line, from 1. LF, CRLF and a lone CR end a line.
    pub line: u32,
    /// The column in bytes, from 1.
    pub column: u32,
}

/// The lines around a location, without their ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lines {
    /// The line before.
    pub previous: Option<&'static [u8]>,
    /// The line of the location.
    pub current: &'static [u8],
    /// The line after.
    pub next: Option<&'static [u8]>,
}

/// Longer lines, in bytes, are cut when shown; nobody reads them.
const LONG: usize = 300;
/// Bytes that are left of such a line on either side of the column.
const AROUND: usize = 80;

impl Location {
    /// Returns the path, `«string»`, `«stdin»`, ….
    pub fn name(&self) -> Cow<'static, str> {
        self.source.origin.name()
    }

    /// Returns the line with its neighbours.
    pub fn lines(&self) -> Lines {
        Lines {
            previous: self.source.line(self.line - 1),
            current: self.source.line(self.line).unwrap_or_default(),
            next: self.source.line(self.line + 1),
        }
    }

    /// Returns `at NAME:LINE:COLUMN:` and the lines around with a caret under the column, as error
    /// messages show them; not indented, without a final line end.
    pub fn snippet(&self) -> String {
        let mut out = format!("at {self}:");
        let lines = self.lines();
        if let Some(line) = lines.previous {
            show(&mut out, self.line - 1, &excerpt(line, 1).0);
        }
        let (text, column) = excerpt(lines.current, self.column as usize);
        show(&mut out, self.line, &text);
        let _ = write!(out, "\n      |{:>1$}", "^", column + 1);
        if let Some(line) = lines.next {
            show(&mut out, self.line + 1, &excerpt(line, 1).0);
        }
        out
    }
}

fn show(out: &mut String, number: u32, text: &str) {
    let _ = write!(out, "\n {}", format!("{number:5}| {text}").trim_end());
}

/// Returns what is shown of a line around a column, and where the column is in that, from 1. What a
/// terminal would act upon is shown as a picture of one column.
fn excerpt(line: &[u8], column: usize) -> (String, usize) {
    if line.len() <= LONG {
        return (printable(line), column);
    }
    let at = (column - 1).min(line.len());
    let (mut start, mut end) = (at.saturating_sub(AROUND), (at + AROUND).min(line.len()));
    let is_within_char = |at: usize| line.get(at).is_some_and(|byte| byte & 0xc0 == 0x80);
    // Not into the middle of a character; what is no text may be cut anywhere.
    while at - start < AROUND + 4 && start > 0 && is_within_char(start) {
        start -= 1;
    }
    while end - at < AROUND + 4 && is_within_char(end) {
        end += 1;
    }
    let before = printable(&line[start..at]);
    let cut = |is_cut: bool| if is_cut { "…" } else { "" };
    let (left, right) = (cut(start > 0), cut(end < line.len()));
    let column = left.chars().count() + before.chars().count() + 1;
    (format!("{left}{before}{}{right}", printable(&line[at..end])), column)
}

fn printable(bytes: &[u8]) -> String {
    let picture = |c: char| match c {
        '\t' => c,
        '\0'..='\x1f' => char::from_u32(0x2400 + u32::from(c)).unwrap_or(c),
        '\x7f' => '␡',
        c if c.is_control() => char::REPLACEMENT_CHARACTER,
        c => c,
    };
    bytes.to_str_lossy().chars().map(picture).collect()
}

/// Writes `NAME:LINE:COLUMN`.
impl std::fmt::Display for Location {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}:{}", self.name(), self.line, self.column)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_come_back_as_line_and_column() {
        let first = Source::add(Origin::String, b"a\nb\r\nc\rd\n".to_vec()).unwrap();
        let empty = Source::add(Origin::File("/x/y.nix".into()), Vec::new()).unwrap();
        let places: Vec<_> = (0..=first.text().len())
            .map(|offset| first.pos(offset).locate().unwrap())
            .map(|place| (place.line, place.column))
            .collect();
        let expected =
            [(1, 1), (1, 2), (2, 1), (2, 2), (2, 3), (3, 1), (3, 2), (4, 1), (4, 2), (5, 1)];
        assert_eq!(places, expected);
        assert_eq!(empty.pos(0).locate().unwrap().to_string(), "/x/y.nix:1:1");
        assert_eq!(empty.offset(first.pos(0)), None);
        assert_eq!(first.offset(first.pos(3)), Some(3));
        assert!(Pos::NONE.locate().is_none());
        assert_eq!(Pos::from_index(first.pos(2).index()), first.pos(2));
    }

    #[test]
    fn lines_around() {
        let source = Source::add(Origin::Stdin, b"one\r\ntwo\n".to_vec()).unwrap();
        let lines = source.pos(5).locate().unwrap().lines();
        let expected = Lines { previous: Some(b"one"), current: b"two", next: Some(b"") };
        assert_eq!(lines, expected);
        let place = source.pos(7).locate().unwrap();
        assert_eq!(
            place.snippet(),
            "at «stdin»:2:3:\n     1| one\n     2| two\n      |   ^\n     3|"
        );
    }

    #[test]
    fn long_lines_are_cut() {
        let text = [&b"x".repeat(1 << 20)[..], b"\n)"].concat();
        let source = Source::add(Origin::String, text).unwrap();
        let snippet = |offset: usize| source.pos(offset).locate().unwrap().snippet();
        assert!(snippet((1 << 20) + 1).ends_with("| )\n      | ^"));
        let cut = "x".repeat(AROUND);
        for (offset, line, column) in [
            (0, format!("{cut}…"), 1),
            (10, format!("{}{cut}…", "x".repeat(10)), 11),
            (1 << 19, format!("…{cut}{cut}…"), AROUND + 2),
            ((1 << 20) - 1, format!("…{cut}x"), AROUND + 2),
            (1 << 20, format!("…{cut}"), AROUND + 2),
        ] {
            let expected = format!("     1| {line}\n      |{:>1$}\n     2| ", "^", column + 1);
            let got = snippet(offset);
            let rest = got.split_once('\n').unwrap().1;
            assert!(rest.starts_with(expected.trim_end()), "{offset}: {rest}");
        }
    }

    #[test]
    fn characters_are_not_cut() {
        let line = "ä€".repeat(200);
        for column in [1, 3, 6, 101, 501, 998, 1001] {
            let (text, at) = excerpt(line.as_bytes(), column);
            assert!(!text.contains(char::REPLACEMENT_CHARACTER), "{column}: {text}");
            assert!(text.chars().count() < 200 && at <= text.chars().count() + 1, "{column}");
        }
    }

    #[test]
    fn nothing_reaches_the_terminal_raw() {
        for (line, expected) in [
            (&b"a\tb"[..], "a\tb"),
            (b"\x1b[31m", "␛[31m"),
            (b"\0\x07\x7f", "␀␇␡"),
            (b"\xff\xfe", "\u{fffd}\u{fffd}"),
            ("\u{9b}x".as_bytes(), "\u{fffd}x"),
            ("grün".as_bytes(), "grün"),
        ] {
            assert_eq!(excerpt(line, 1).0, expected);
        }
    }
}
