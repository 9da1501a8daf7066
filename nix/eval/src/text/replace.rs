//! Replacing and cutting byte strings.
//!
//! [`replacements`] says which parts of the subject stay and which replacement stands where, so
//! that the caller forces only the replacements it meets.

use std::ops::Range;

/// Marks the end of a chain of patterns.
const NONE: u32 = u32::MAX;

/// A part of the result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// This part of the subject.
    Text(Range<usize>),
    /// The replacement of the pattern with this index.
    Replacement(usize),
}

/// The pieces of the result; see [`replacements`].
#[derive(Debug)]
pub struct Pieces<'a, P> {
    patterns: &'a [P],
    subject: &'a [u8],
    at: usize,
    /// Where text begins that has not been handed out.
    text_start: usize,
    /// A replacement whose preceding text has just been handed out.
    pending: Option<usize>,
    /// The first pattern with each first byte, then the next with the same.
    heads: Box<[u32; 256]>,
    chain: Vec<u32>,
    /// The first empty pattern; later patterns can never win.
    empty: Option<usize>,
    is_done: bool,
}

/// Replaces every occurrence of a pattern, from left to right; at each position the earliest
/// pattern that matches wins. An empty pattern matches before every byte and at the end.
pub fn replacements<'a, P: AsRef<[u8]>>(patterns: &'a [P], subject: &'a [u8]) -> Pieces<'a, P> {
    let empty = patterns.iter().position(|pattern| pattern.as_ref().is_empty());
    let useful = &patterns[..empty.unwrap_or(patterns.len())];
    let mut heads = Box::new([NONE; 256]);
    let mut chain = vec![NONE; useful.len()];
    for (index, pattern) in useful.iter().enumerate().rev() {
        let head = &mut heads[usize::from(pattern.as_ref()[0])];
        chain[index] = std::mem::replace(head, index as u32);
    }
    Pieces {
        patterns: useful,
        subject,
        at: 0,
        text_start: 0,
        pending: None,
        heads,
        chain,
        empty,
        is_done: false,
    }
}

impl<P: AsRef<[u8]>> Pieces<'_, P> {
    /// Returns the pattern that wins at the current position.
    fn winner(&self) -> Option<usize> {
        let rest = &self.subject[self.at..];
        let mut candidate = rest.first().map_or(NONE, |&byte| self.heads[usize::from(byte)]);
        while candidate != NONE {
            let index = candidate as usize;
            if rest.starts_with(self.patterns[index].as_ref()) {
                return Some(index);
            }
            candidate = self.chain[index];
        }
        self.empty
    }
}

impl<P: AsRef<[u8]>> Iterator for Pieces<'_, P> {
    type Item = Piece;

    fn next(&mut self) -> Option<Piece> {
        if let Some(index) = self.pending.take() {
            return Some(Piece::Replacement(index));
        }
        while !self.is_done {
            let at = self.at;
            let winner = self.winner();
            // At the end only an empty pattern can win, and only once.
            self.is_done = at >= self.subject.len();
            let Some(index) = winner else {
                self.at += 1;
                continue;
            };
            let text = self.text_start..at;
            let length = self.patterns.get(index).map_or(0, |pattern| pattern.as_ref().len());
            self.text_start = at + length;
            self.at = at + length.max(1);
            if text.is_empty() {
                return Some(Piece::Replacement(index));
            }
            self.pending = Some(index);
            return Some(Piece::Text(text));
        }
        let text = self.text_start..self.subject.len();
        self.text_start = self.subject.len();
        (!text.is_empty()).then_some(Piece::Text(text))
    }
}

/// Returns `length` bytes of `text` from `start`, fewer at the end; a negative length means all.
pub fn substring(text: &[u8], start: u64, length: i64) -> &[u8] {
    let start = usize::try_from(start).unwrap_or(usize::MAX).min(text.len());
    let rest = &text[start..];
    let length = usize::try_from(length).unwrap_or(usize::MAX).min(rest.len());
    &rest[..length]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replaces() {
        for (from, to, subject, expected) in [
            (&["a"][..], &["b"][..], "banana", "bbnbnb"),
            (&["", "a"], &["-", "b"], "abc", "-a-b-c-"),
            (&["a", ""], &["b", "-"], "abc", "b-b-c-"),
            (&[""], &["X"], "", "X"),
            (&["a"], &["X"], "", ""),
            (&["oo", "a"], &["a", "i"], "foobar", "fabir"),
            (&["a", "ab"], &["1", "2"], "abab", "1b1b"),
            (&["ab", "a"], &["1", "2"], "aaba", "212"),
            (&["aa"], &[""], "aaaaa", "a"),
            (&[], &[], "abc", "abc"),
            (&["é"], &["e"], "café!", "cafe!"),
            (&["c", ""], &["", "."], "abc", ".a.b."),
        ] {
            let mut result = String::new();
            for piece in replacements(from, subject.as_bytes()) {
                match piece {
                    Piece::Text(range) => result.push_str(&subject[range]),
                    Piece::Replacement(index) => result.push_str(to[index]),
                }
            }
            assert_eq!(result, expected, "{from:?} {subject}");
        }
    }

    #[test]
    fn cuts() {
        for (start, length, expected) in [
            (0, 2, "ab"),
            (1, -5, "bc"),
            (1, 100, "bc"),
            (3, 2, ""),
            (10, 2, ""),
            (10, -1, ""),
            (u64::MAX, i64::MAX, ""),
            (0, 0, ""),
        ] {
            assert_eq!(substring(b"abc", start, length), expected.as_bytes());
        }
    }
}
