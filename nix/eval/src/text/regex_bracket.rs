//! Bracket expressions: `[a-z[:digit:][.hyphen.][=e=]]`.
//!
//! Follows GNU C++ `std::regex` in the C locale: a backslash is an ordinary byte, class names are
//! read without regard to case, ranges compare bytes as signed numbers, and an equivalence class
//! is a letter in both cases.
//!
//! Not here: everything outside the brackets (`regex_parse`).

use super::regex_parse::{ByteSet, Refusal};

/// What stood last in the bracket expression; a `-` may follow only some of it.
#[derive(Clone, Copy)]
enum Last {
    Nothing,
    Byte(u8),
    Class,
}

/// One element as it is written.
enum Item<'a> {
    Byte(u8),
    Dash,
    End,
    Symbol(&'a [u8]),
    Class(&'a [u8]),
    Equivalence(&'a [u8]),
}

/// Reads a bracket expression whose `[` has been read and returns its set and the text after it.
pub(super) fn parse_bracket(text: &[u8], ignore_case: bool) -> Result<(ByteSet, &[u8]), Refusal> {
    let mut bracket = Bracket { rest: text, at_start: true, ignore_case, set: ByteSet::default() };
    let negated = bracket.rest.first() == Some(&b'^');
    if negated {
        bracket.rest = &bracket.rest[1..];
    }
    bracket.elements()?;
    let set = bracket.set;
    let set = if negated { ByteSet::of(|byte| !set.contains(byte)) } else { set };
    Ok((set, bracket.rest))
}

struct Bracket<'a> {
    rest: &'a [u8],
    at_start: bool,
    ignore_case: bool,
    set: ByteSet,
}

impl<'a> Bracket<'a> {
    fn elements(&mut self) -> Result<(), Refusal> {
        let mut last = Last::Nothing;
        // A dash in the first place is an ordinary byte.
        if self.rest.first() == Some(&b'-') {
            self.item()?;
            last = Last::Byte(b'-');
        }
        loop {
            match self.item()? {
                Item::End => break,
                Item::Byte(byte) => {
                    self.add(last);
                    last = Last::Byte(byte);
                }
                Item::Symbol(name) => {
                    self.add(last);
                    last = Last::Byte(symbol(name)?);
                }
                Item::Class(name) => {
                    self.add(last);
                    last = Last::Class;
                    let class = class(name, self.ignore_case).ok_or(Refusal::Invalid)?;
                    self.set = self.set.union(&ByteSet::of(class));
                }
                Item::Equivalence(name) => {
                    self.add(last);
                    last = Last::Class;
                    let byte = symbol(name)?;
                    self.set =
                        self.set.union(&ByteSet::of(|other| other.eq_ignore_ascii_case(&byte)));
                }
                Item::Dash => match (self.item()?, last) {
                    (Item::End, _) => {
                        self.add(last);
                        last = Last::Byte(b'-');
                        break;
                    }
                    (Item::Byte(end), Last::Byte(start)) => {
                        self.add_range(start, end)?;
                        last = Last::Nothing;
                    }
                    (Item::Dash, Last::Byte(start)) => {
                        self.add_range(start, b'-')?;
                        last = Last::Nothing;
                    }
                    _ => return Err(Refusal::Invalid),
                },
            }
        }
        self.add(last);
        Ok(())
    }

    fn add(&mut self, last: Last) {
        if let Last::Byte(byte) = last {
            let ignore_case = self.ignore_case;
            let both = ByteSet::of(|other| {
                other == byte || ignore_case && other.eq_ignore_ascii_case(&byte)
            });
            self.set = self.set.union(&both);
        }
    }

    fn add_range(&mut self, start: u8, end: u8) -> Result<(), Refusal> {
        let (start, end) = (start as i8, end as i8);
        if start > end {
            return Err(Refusal::Invalid);
        }
        let within = |byte: u8| (start..=end).contains(&(byte as i8));
        let ignore_case = self.ignore_case;
        self.set = self.set.union(&ByteSet::of(|byte| {
            within(byte)
                || ignore_case
                    && (within(byte.to_ascii_lowercase()) || within(byte.to_ascii_uppercase()))
        }));
        Ok(())
    }

    fn item(&mut self) -> Result<Item<'a>, Refusal> {
        let (&byte, rest) = self.rest.split_first().ok_or(Refusal::Invalid)?;
        self.rest = rest;
        let at_start = std::mem::replace(&mut self.at_start, false);
        Ok(match (byte, rest.first()) {
            (b'-', _) => Item::Dash,
            (b']', _) if !at_start => Item::End,
            (b'[', None) => return Err(Refusal::Invalid),
            (b'[', Some(b'.')) => Item::Symbol(self.name(b'.')?),
            (b'[', Some(b':')) => Item::Class(self.name(b':')?),
            (b'[', Some(b'=')) => Item::Equivalence(self.name(b'=')?),
            _ => Item::Byte(byte),
        })
    }

    /// Reads up to `mark` and the `]` that must come next.
    fn name(&mut self, mark: u8) -> Result<&'a [u8], Refusal> {
        let inside = &self.rest[1..];
        let length = memchr::memchr(mark, inside).ok_or(Refusal::Invalid)?;
        if inside.get(length + 1) != Some(&b']') {
            return Err(Refusal::Invalid);
        }
        self.rest = &inside[length + 2..];
        Ok(&inside[..length])
    }
}

/// Returns the membership test of a named class.
fn class(name: &[u8], ignore_case: bool) -> Option<fn(u8) -> bool> {
    let name = name.to_ascii_lowercase();
    Some(match name.as_slice() {
        b"lower" | b"upper" if ignore_case => |byte| byte.is_ascii_alphabetic(),
        b"d" | b"digit" => |byte| byte.is_ascii_digit(),
        b"w" => |byte| byte.is_ascii_alphanumeric() || byte == b'_',
        b"s" | b"space" => |byte| matches!(byte, b' ' | 9..=13),
        b"alnum" => |byte| byte.is_ascii_alphanumeric(),
        b"alpha" => |byte| byte.is_ascii_alphabetic(),
        b"blank" => |byte| matches!(byte, b' ' | b'\t'),
        b"cntrl" => |byte| byte.is_ascii_control(),
        b"graph" => |byte| byte.is_ascii_graphic(),
        b"lower" => |byte| byte.is_ascii_lowercase(),
        b"print" => |byte| byte.is_ascii_graphic() || byte == b' ',
        b"punct" => |byte| byte.is_ascii_punctuation(),
        b"upper" => |byte| byte.is_ascii_uppercase(),
        b"xdigit" => |byte| byte.is_ascii_hexdigit(),
        _ => return None,
    })
}

/// Returns the byte a collating symbol names: a letter, or a name of the POSIX portable set.
fn symbol(name: &[u8]) -> Result<u8, Refusal> {
    if let [letter] = name
        && letter.is_ascii_alphabetic()
    {
        return Ok(*letter);
    }
    SYMBOLS
        .iter()
        .find(|(text, _)| text.as_bytes() == name)
        .map(|&(_, byte)| byte)
        .ok_or(Refusal::Invalid)
}

/// The portable character set without its letters.
const SYMBOLS: [(&str, u8); 76] = [
    ("NUL", 0),
    ("SOH", 1),
    ("STX", 2),
    ("ETX", 3),
    ("EOT", 4),
    ("ENQ", 5),
    ("ACK", 6),
    ("alert", 7),
    ("backspace", 8),
    ("tab", 9),
    ("newline", 10),
    ("vertical-tab", 11),
    ("form-feed", 12),
    ("carriage-return", 13),
    ("SO", 14),
    ("SI", 15),
    ("DLE", 16),
    ("DC1", 17),
    ("DC2", 18),
    ("DC3", 19),
    ("DC4", 20),
    ("NAK", 21),
    ("SYN", 22),
    ("ETB", 23),
    ("CAN", 24),
    ("EM", 25),
    ("SUB", 26),
    ("ESC", 27),
    ("IS4", 28),
    ("IS3", 29),
    ("IS2", 30),
    ("IS1", 31),
    ("space", b' '),
    ("exclamation-mark", b'!'),
    ("quotation-mark", b'"'),
    ("number-sign", b'#'),
    ("dollar-sign", b'$'),
    ("percent-sign", b'%'),
    ("ampersand", b'&'),
    ("apostrophe", b'\''),
    ("left-parenthesis", b'('),
    ("right-parenthesis", b')'),
    ("asterisk", b'*'),
    ("plus-sign", b'+'),
    ("comma", b','),
    ("hyphen", b'-'),
    ("period", b'.'),
    ("slash", b'/'),
    ("zero", b'0'),
    ("one", b'1'),
    ("two", b'2'),
    ("three", b'3'),
    ("four", b'4'),
    ("five", b'5'),
    ("six", b'6'),
    ("seven", b'7'),
    ("eight", b'8'),
    ("nine", b'9'),
    ("colon", b':'),
    ("semicolon", b';'),
    ("less-than-sign", b'<'),
    ("equals-sign", b'='),
    ("greater-than-sign", b'>'),
    ("question-mark", b'?'),
    ("commercial-at", b'@'),
    ("left-square-bracket", b'['),
    ("backslash", b'\\'),
    ("right-square-bracket", b']'),
    ("circumflex", b'^'),
    ("underscore", b'_'),
    ("grave-accent", b'`'),
    ("left-curly-bracket", b'{'),
    ("vertical-line", b'|'),
    ("right-curly-bracket", b'}'),
    ("tilde", b'~'),
    ("DEL", 127),
];
