//! The tokens of JSON.
//!
//! Keeps what error messages need: how much has been read, and where the string or number last
//! begun starts. Knows nothing of the order in which tokens may come.

use std::borrow::Cow;
use std::fmt::Write;

/// A token, or the lack of one.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token<'a> {
    BeginSet,
    EndSet,
    BeginList,
    EndList,
    Colon,
    Comma,
    Null,
    Boolean(bool),
    Integer(i64),
    /// An integer that fits only the unsigned type.
    Unsigned(u64),
    Float(f64),
    String(Cow<'a, [u8]>),
    End,
    /// No token; why not.
    Invalid(Cow<'static, str>),
}

impl Token<'_> {
    /// Returns what messages call the token.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::BeginSet => "'{'",
            Self::EndSet => "'}'",
            Self::BeginList => "'['",
            Self::EndList => "']'",
            Self::Colon => "':'",
            Self::Comma => "','",
            Self::Null => "null literal",
            Self::Boolean(true) => "true literal",
            Self::Boolean(false) => "false literal",
            Self::Integer(_) | Self::Unsigned(_) | Self::Float(_) => "number literal",
            Self::String(_) => "string literal",
            Self::End => "end of input",
            Self::Invalid(_) => "<parse error>",
        }
    }
}

/// A problem with a string or number.
type Problem = Cow<'static, str>;

/// Cuts a text into tokens.
#[derive(Debug)]
pub(super) struct Lexer<'a> {
    text: &'a [u8],
    /// Bytes read; one more than there are once the end has been seen.
    read: usize,
    /// Where messages begin to quote.
    quote_start: usize,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(text: &'a [u8]) -> Self {
        Self { text, read: 0, quote_start: 0 }
    }

    /// Returns the current line, from 1.
    pub(super) fn line(&self) -> usize {
        1 + memchr::memchr_iter(b'\n', self.text_read()).count()
    }

    /// Returns how many bytes of the current line have been read, the end counting as one.
    pub(super) fn column(&self) -> usize {
        self.read - memchr::memrchr(b'\n', self.text_read()).map_or(0, |newline| newline + 1)
    }

    /// Returns the text last read, with control characters spelt out.
    pub(super) fn last_read(&self) -> String {
        let mut out = String::new();
        let quoted = &self.text_read()[self.quote_start..];
        for character in String::from_utf8_lossy(quoted).chars() {
            match u32::from(character) {
                code @ 0..=31 => _ = write!(out, "<U+{code:04X}>"),
                _ => out.push(character),
            }
        }
        out
    }

    fn text_read(&self) -> &'a [u8] {
        &self.text[..self.read.min(self.text.len())]
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.read).copied()
    }

    /// Reads a byte; `None` at the end, which counts as read.
    fn next(&mut self) -> Option<u8> {
        let byte = self.peek();
        self.read = (self.read + 1).min(self.text.len() + 1);
        byte
    }

    /// Reads the next token.
    pub(super) fn next_token(&mut self) -> Token<'a> {
        if self.read == 0 && self.text.first() == Some(&0xEF) {
            if !self.text.starts_with(b"\xEF\xBB\xBF") {
                self.read = 1;
                return Token::Invalid("invalid BOM; must be 0xEF 0xBB 0xBF if given".into());
            }
            self.read = 3;
        }
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.read += 1;
        }
        let start = self.read;
        match self.next() {
            None => Token::End,
            Some(b'{') => Token::BeginSet,
            Some(b'}') => Token::EndSet,
            Some(b'[') => Token::BeginList,
            Some(b']') => Token::EndList,
            Some(b':') => Token::Colon,
            Some(b',') => Token::Comma,
            Some(b'n') => self.literal(b"ull", Token::Null),
            Some(b't') => self.literal(b"rue", Token::Boolean(true)),
            Some(b'f') => self.literal(b"alse", Token::Boolean(false)),
            Some(b'"') => {
                self.quote_start = start;
                match self.string() {
                    Ok(text) => Token::String(text),
                    Err(problem) => Token::Invalid(problem),
                }
            }
            Some(b'-' | b'0'..=b'9') => {
                self.quote_start = start;
                self.read = start;
                match self.number() {
                    Ok(is_float) => value_of(&self.text[start..self.read], is_float),
                    Err(problem) => Token::Invalid(problem.into()),
                }
            }
            Some(_) => Token::Invalid("invalid literal".into()),
        }
    }

    fn literal(&mut self, rest: &[u8], token: Token<'a>) -> Token<'a> {
        for &expected in rest {
            if self.next() != Some(expected) {
                return Token::Invalid("invalid literal".into());
            }
        }
        token
    }

    /// Reads a number and returns whether it is written as a float.
    fn number(&mut self) -> Result<bool, &'static str> {
        if self.peek() == Some(b'-') {
            self.read += 1;
        }
        if self.peek() == Some(b'0') {
            self.read += 1;
        } else {
            self.digits("invalid number; expected digit after '-'")?;
        }
        let mut is_float = false;
        if self.peek() == Some(b'.') {
            self.read += 1;
            is_float = true;
            self.digits("invalid number; expected digit after '.'")?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.read += 1;
            is_float = true;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.read += 1;
                self.digits("invalid number; expected digit after exponent sign")?;
            } else {
                self.digits("invalid number; expected '+', '-', or digit after exponent")?;
            }
        }
        Ok(is_float)
    }

    /// Reads at least one digit.
    fn digits(&mut self, problem: &'static str) -> Result<(), &'static str> {
        if !self.next().is_some_and(|byte| byte.is_ascii_digit()) {
            return Err(problem);
        }
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.read += 1;
        }
        Ok(())
    }

    /// Reads the rest of a string, borrowed if nothing in it is escaped.
    fn string(&mut self) -> Result<Cow<'a, [u8]>, Problem> {
        let mut built: Option<Vec<u8>> = None;
        loop {
            let start = self.read;
            let rest = &self.text[start.min(self.text.len())..];
            let length = rest
                .iter()
                .position(|&byte| byte == b'"' || byte == b'\\' || byte < 32)
                .unwrap_or(rest.len());
            let plain = &rest[..length];
            if let Err(error) = std::str::from_utf8(plain) {
                self.read = start + error.valid_up_to() + error.error_len().unwrap_or(1);
                return Err("invalid string: ill-formed UTF-8 byte".into());
            }
            self.read += length;
            let stop = self.next();
            if stop == Some(b'"') && built.is_none() {
                return Ok(Cow::Borrowed(plain));
            }
            let text = built.get_or_insert_default();
            text.extend_from_slice(plain);
            match stop {
                None => return Err("invalid string: missing closing quote".into()),
                Some(b'"') => return Ok(Cow::Owned(std::mem::take(text))),
                Some(b'\\') => self.escape(text)?,
                Some(control) => return Err(control_problem(control)),
            }
        }
    }

    /// Reads what follows a backslash.
    fn escape(&mut self, text: &mut Vec<u8>) -> Result<(), Problem> {
        let byte = match self.next() {
            Some(byte @ (b'"' | b'\\' | b'/')) => byte,
            Some(b'b') => 8,
            Some(b'f') => 12,
            Some(b'n') => b'\n',
            Some(b'r') => b'\r',
            Some(b't') => b'\t',
            Some(b'u') => {
                let character = self.unicode()?;
                text.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                return Ok(());
            }
            _ => return Err("invalid string: forbidden character after backslash".into()),
        };
        text.push(byte);
        Ok(())
    }

    /// Reads the digits of `\u`, and the second half of a surrogate pair.
    fn unicode(&mut self) -> Result<char, Problem> {
        let unpaired =
            "invalid string: surrogate U+D800..U+DBFF must be followed by U+DC00..U+DFFF";
        let first = self.hex()?;
        let code = match first {
            0xD800..=0xDBFF => {
                if self.next() != Some(b'\\') || self.next() != Some(b'u') {
                    return Err(unpaired.into());
                }
                let second = self.hex()?;
                if !(0xDC00..=0xDFFF).contains(&second) {
                    return Err(unpaired.into());
                }
                0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00)
            }
            _ => first,
        };
        char::from_u32(code).ok_or(Cow::Borrowed(
            "invalid string: surrogate U+DC00..U+DFFF must follow U+D800..U+DBFF",
        ))
    }

    fn hex(&mut self) -> Result<u32, Problem> {
        let mut code = 0;
        for _ in 0..4 {
            let digit = self.next().and_then(|byte| char::from(byte).to_digit(16));
            code = code << 4
                | digit.ok_or("invalid string: '\\u' must be followed by 4 hex digits")?;
        }
        Ok(code)
    }
}

/// Returns the token of a well-formed number.
fn value_of(text: &[u8], is_float: bool) -> Token<'static> {
    // Digits, signs, `.` and `e` only.
    let text = std::str::from_utf8(text).unwrap_or_default();
    if !is_float {
        if let Ok(value) = text.parse() {
            return Token::Integer(value);
        }
        if let Ok(value) = text.parse() {
            return Token::Unsigned(value);
        }
    }
    text.parse().map_or(Token::Invalid("invalid number".into()), Token::Float)
}

fn control_problem(control: u8) -> Problem {
    const NAMES: [&str; 32] = [
        "NUL", "SOH", "STX", "ETX", "EOT", "ENQ", "ACK", "BEL", "BS", "HT", "LF", "VT", "FF", "CR",
        "SO", "SI", "DLE", "DC1", "DC2", "DC3", "DC4", "NAK", "SYN", "ETB", "CAN", "EM", "SUB",
        "ESC", "FS", "GS", "RS", "US",
    ];
    let name = NAMES[usize::from(control & 31)];
    let short = match control {
        8 => " or \\b",
        9 => " or \\t",
        10 => " or \\n",
        12 => " or \\f",
        13 => " or \\r",
        _ => "",
    };
    format!(
        "invalid string: control character U+{control:04X} ({name}) must be escaped to \
         \\u{control:04X}{short}"
    )
    .into()
}
