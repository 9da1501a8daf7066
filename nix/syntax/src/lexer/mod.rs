//! Bytes to tokens.
//!
//! The lexer knows the text outside of strings and paths; the parser reads what is inside of
//! them itself, because only it knows where they end. Of several readings the longest wins: `a/b`
//! is a path, `x:x` a URI, `a-1` a name.
//!
//! Invariant: reading a whole text takes time linear in its size. To tell a name from a path the
//! lexer must look ahead to the end of a run of path characters; the ends of the last runs are
//! kept, so that no byte is looked at once per token.

mod class;
mod token;

use memchr::{memchr, memchr2};

use class::{is_digit, is_scheme, is_uri};
pub(crate) use class::{is_letter, is_name, is_path};
pub(crate) use token::{Kind, Kinds, Token};

/// Reads tokens from a text.
pub(crate) struct Lexer<'s> {
    text: &'s [u8],
    /// Where the next token is looked for.
    at: usize,
    /// End of the last run of path characters that was measured.
    path_end: usize,
    /// End of the last run of URI scheme characters that was measured.
    scheme_end: usize,
    /// The last documentation comment, and the start of the token it precedes.
    doc: Doc,
}

#[derive(Clone, Copy)]
struct Doc {
    start: usize,
    end: usize,
    token: usize,
}

impl<'s> Lexer<'s> {
    pub(crate) fn new(text: &'s [u8]) -> Self {
        let doc = Doc { start: 0, end: 0, token: usize::MAX };
        Self { text, at: 0, path_end: 0, scheme_end: 0, doc }
    }

    pub(crate) fn text(&self) -> &'s [u8] {
        self.text
    }

    /// Continues at `offset`, which is not before the current place.
    pub(crate) fn skip_to(&mut self, offset: usize) {
        debug_assert!(offset >= self.at);
        self.at = offset;
    }

    /// Returns the documentation comment right before the token that starts at `token`.
    pub(crate) fn doc_before(&self, token: usize) -> Option<&'s [u8]> {
        (self.doc.token == token).then(|| &self.text[self.doc.start..self.doc.end])
    }

    #[inline]
    fn byte(&self, at: usize) -> u8 {
        self.text.get(at).copied().unwrap_or(0)
    }

    /// Returns the end of the run of bytes from `at` on that satisfy `test`.
    #[inline]
    fn run(&self, mut at: usize, test: impl Fn(u8) -> bool) -> usize {
        while at < self.text.len() && test(self.text[at]) {
            at += 1;
        }
        at
    }

    #[inline]
    pub(crate) fn next(&mut self) -> Token {
        self.skip_blanks();
        let start = self.at;
        let (kind, end) = self.token_at(start);
        self.at = end;
        Token { kind, start, end }
    }

    #[inline]
    fn skip_blanks(&mut self) {
        let mut doc = None;
        while let Some(&byte) = self.text.get(self.at) {
            match byte {
                b' ' | b'\t' | b'\r' => self.at += 1,
                b'\n' => {
                    self.at += 1;
                    // Most blanks are indentation.
                    while self.text[self.at..].starts_with(b"        ") {
                        self.at += 8;
                    }
                }
                b'#' => {
                    let rest = &self.text[self.at..];
                    self.at += memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
                }
                b'/' if self.byte(self.at + 1) == b'*' => {
                    let start = self.at + 2;
                    let Some(end) = self.comment_end(start) else { break };
                    if end - start > 3 && self.text[start] == b'*' && self.text[start + 1] != b'*' {
                        doc = Some((start + 1, end - 2));
                    }
                    self.at = end;
                }
                _ => break,
            }
        }
        if let Some((start, end)) = doc {
            self.doc = Doc { start, end, token: self.at };
        }
    }

    /// Returns the end of the comment whose text begins at `start`.
    fn comment_end(&self, start: usize) -> Option<usize> {
        let mut at = start + 1;
        loop {
            at += memchr(b'/', self.text.get(at..)?)? + 1;
            if self.text[at - 2] == b'*' {
                return Some(at);
            }
        }
    }

    #[inline]
    fn token_at(&mut self, start: usize) -> (Kind, usize) {
        let Some(&first) = self.text.get(start) else { return (Kind::End, start) };
        if is_letter(first) {
            return self.word(start);
        }
        let second = self.byte(start + 1);
        let pair = |kind| (kind, start + 2);
        let single = |kind| (kind, start + 1);
        match first {
            b'0'..=b'9' => self.number(start),
            b'.' | b'+' | b'-' | b'/' => {
                if (is_path(second) || second == b'/' || (first, second) == (b'/', b'$'))
                    && let Some(path) = self.path(start)
                {
                    return path;
                }
                match (first, second) {
                    (b'.', b'.') if self.byte(start + 2) == b'.' => (Kind::Ellipsis, start + 3),
                    (b'.', b'0'..=b'9') => self.fraction(start),
                    (b'.', _) => single(Kind::Dot),
                    (b'+', b'+') => pair(Kind::Concat),
                    (b'+', _) => single(Kind::Plus),
                    (b'-', b'>') => pair(Kind::Arrow),
                    (b'-', _) => single(Kind::Minus),
                    (_, b'/') => pair(Kind::Update),
                    _ => single(Kind::Slash),
                }
            }
            b'"' => single(Kind::Quote),
            b'\'' if second == b'\'' => (Kind::IndentedOpen, self.indented_open(start + 2)),
            b'$' if second == b'{' => pair(Kind::DollarBrace),
            b'~' if second == b'/' => self.home_path(start),
            b',' => single(Kind::Comma),
            b';' => single(Kind::Semicolon),
            b':' => single(Kind::Colon),
            b'=' if second == b'=' => pair(Kind::Equal),
            b'=' => single(Kind::Assign),
            b'@' => single(Kind::At),
            b'?' => single(Kind::Question),
            b'(' => single(Kind::ParenOpen),
            b')' => single(Kind::ParenClose),
            b'{' => single(Kind::BraceOpen),
            b'}' => single(Kind::BraceClose),
            b'[' => single(Kind::BracketOpen),
            b']' => single(Kind::BracketClose),
            b'<' => match second {
                b'=' => pair(Kind::LessEqual),
                b'|' => pair(Kind::PipeLeft),
                _ => self.lookup_path(start).unwrap_or(single(Kind::Less)),
            },
            b'>' if second == b'=' => pair(Kind::GreaterEqual),
            b'>' => single(Kind::Greater),
            b'*' => single(Kind::Star),
            b'!' if second == b'=' => pair(Kind::NotEqual),
            b'!' => single(Kind::Bang),
            b'&' if second == b'&' => pair(Kind::AndAnd),
            b'|' if second == b'|' => pair(Kind::OrOr),
            b'|' if second == b'>' => pair(Kind::PipeRight),
            _ => single(Kind::Invalid),
        }
    }

    /// Reads a name, keyword, path or URI.
    #[inline]
    fn word(&mut self, start: usize) -> (Kind, usize) {
        let end = self.run(start + 1, is_name);
        match self.byte(end) {
            b'.' | b'+' | b'/' => {
                if let Some(path) = self.path(start) {
                    return path;
                }
                if let Some(uri) = self.uri(start) {
                    return uri;
                }
            }
            b':' => {
                if let Some(uri) = self.uri(start) {
                    return uri;
                }
            }
            _ => {}
        }
        (keyword(&self.text[start..end]).unwrap_or(Kind::Identifier), end)
    }

    /// Reads a path that starts with path characters or a slash.
    fn path(&mut self, start: usize) -> Option<(Kind, usize)> {
        if start >= self.path_end {
            self.path_end = self.run(start, is_path);
        }
        let end = if is_path(self.text[start]) { self.path_end } else { start };
        self.path_tail(end).map(|end| (Kind::Path, end))
    }

    /// Returns the end of the part of a path that follows its first component: `/b/c` or `/b/c/`,
    /// or `/` if an interpolation follows.
    fn path_tail(&self, start: usize) -> Option<usize> {
        let mut end = start;
        while self.byte(end) == b'/' && is_path(self.byte(end + 1)) {
            end = self.run(end + 1, is_path);
        }
        if self.byte(end) == b'/' && (end > start || self.text[end + 1..].starts_with(b"${")) {
            end += 1;
        }
        (end > start).then_some(end)
    }

    fn home_path(&self, start: usize) -> (Kind, usize) {
        match self.path_tail(start + 1) {
            Some(end) => (Kind::HomePath, end),
            None => (Kind::Invalid, start + 1),
        }
    }

    fn lookup_path(&self, start: usize) -> Option<(Kind, usize)> {
        let mut end = self.run(start + 1, is_path);
        if end == start + 1 {
            return None;
        }
        while self.byte(end) == b'/' && is_path(self.byte(end + 1)) {
            end = self.run(end + 1, is_path);
        }
        (self.byte(end) == b'>').then_some((Kind::LookupPath, end + 1))
    }

    fn uri(&mut self, start: usize) -> Option<(Kind, usize)> {
        if !is_scheme(self.text[start]) {
            return None;
        }
        if start >= self.scheme_end {
            self.scheme_end = self.run(start, is_scheme);
        }
        let colon = self.scheme_end;
        if self.byte(colon) != b':' || !is_uri(self.byte(colon + 1)) {
            return None;
        }
        Some((Kind::Uri, self.run(colon + 1, is_uri)))
    }

    /// Reads an integer, float or path.
    fn number(&mut self, start: usize) -> (Kind, usize) {
        let end = self.run(start + 1, is_digit);
        let next = self.byte(end);
        if !is_path(next) && next != b'/' {
            return (Kind::Integer, end);
        }
        if let Some(path) = self.path(start) {
            return path;
        }
        if next == b'.' {
            if self.text[start] != b'0' {
                return (Kind::Float, self.exponent(self.run(end + 1, is_digit)));
            }
            if end == start + 1 && is_digit(self.byte(end + 1)) {
                return self.fraction(end);
            }
        }
        (Kind::Integer, end)
    }

    /// Reads the rest of a float from its dot on, which a digit follows.
    fn fraction(&self, dot: usize) -> (Kind, usize) {
        (Kind::Float, self.exponent(self.run(dot + 1, is_digit)))
    }

    /// Returns the end of an exponent at `at`, or `at` if there is none.
    fn exponent(&self, at: usize) -> usize {
        if !matches!(self.byte(at), b'e' | b'E') {
            return at;
        }
        let digits = at + 1 + usize::from(matches!(self.byte(at + 1), b'+' | b'-'));
        let end = self.run(digits, is_digit);
        if end > digits { end } else { at }
    }

    /// Returns where the content of an indented string begins: blanks up to the end of the first
    /// line belong to the quotes.
    fn indented_open(&self, after: usize) -> usize {
        let end = self.run(after, |byte| byte == b' ');
        if self.byte(end) == b'\n' { end + 1 } else { after }
    }
}

#[inline]
fn keyword(word: &[u8]) -> Option<Kind> {
    if word.len() > 7 {
        return None;
    }
    Some(match word {
        b"if" => Kind::If,
        b"in" => Kind::In,
        b"or" => Kind::Or,
        b"let" => Kind::Let,
        b"rec" => Kind::Rec,
        b"then" => Kind::Then,
        b"else" => Kind::Else,
        b"with" => Kind::With,
        b"assert" => Kind::Assert,
        b"inherit" => Kind::Inherit,
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
