//! Reads JSON for `fromJSON`: strict, iterative, delivering to a [`ValueSink`].
//!
//! Acceptance and messages follow the library that Nix uses: positions count bytes read, the text
//! last read is quoted, an integer that fits no 64-bit type is a float, one that fits only the
//! unsigned type is an error.
//!
//! Always holds: memory is bounded by the input; values nest at most `MAX_DEPTH` deep.

use super::json_lexer::{Lexer, Token};
use super::sink::{ValueSink, null_byte_message};

/// How deep lists and sets may nest.
const MAX_DEPTH: usize = 10_000;

/// Why a text is not a usable JSON value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JsonError {
    /// The text is not JSON.
    #[error(
        "[json.exception.parse_error.101] parse error at line {line}, column {column}: {detail}"
    )]
    Syntax {
        /// The line, from 1.
        line: usize,
        /// How many bytes of the line had been read.
        column: usize,
        /// What was found and what was expected.
        detail: String,
    },
    /// A float beyond the range of floats.
    #[error("[json.exception.out_of_range.406] number overflow parsing '{0}'")]
    FloatRange(String),
    /// A positive integer beyond the range of the language's integers.
    #[error("unsigned json number {0} outside of Nix integer range")]
    IntegerRange(u64),
    /// A string or key with a NUL byte.
    #[error("{}", null_byte_message(.0))]
    NullByte(Vec<u8>),
    /// Lists and sets nest too deeply.
    #[error("JSON value at line {line} nests more than {MAX_DEPTH} levels deep")]
    TooDeep {
        /// The line, from 1.
        line: usize,
    },
}

/// An open list or set.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Open {
    List,
    Set,
}

/// Reads the JSON value that `text` is and delivers it to `sink`.
pub fn parse_json(text: &[u8], sink: &mut impl ValueSink) -> Result<(), JsonError> {
    let mut lexer = Lexer::new(text);
    let mut open: Vec<Open> = Vec::new();
    let mut token = lexer.next_token();
    if token == Token::End && text.is_empty() {
        let detail = "attempting to parse an empty input; check that your input string or stream \
                      contains the expected JSON";
        return Err(JsonError::Syntax { line: 1, column: 1, detail: detail.to_owned() });
    }
    loop {
        if open.len() >= MAX_DEPTH {
            return Err(JsonError::TooDeep { line: lexer.line() });
        }
        // Deliver what begins with `token`; a list or set that is not empty stays open.
        match token {
            Token::BeginSet => {
                sink.begin_set();
                token = lexer.next_token();
                if token != Token::EndSet {
                    open.push(Open::Set);
                    read_key(&mut lexer, &token, sink)?;
                    token = lexer.next_token();
                    continue;
                }
                sink.end_set();
            }
            Token::BeginList => {
                sink.begin_list();
                token = lexer.next_token();
                if token != Token::EndList {
                    open.push(Open::List);
                    continue;
                }
                sink.end_list();
            }
            scalar => deliver(&lexer, &scalar, sink)?,
        }
        // Close what is complete now.
        loop {
            token = lexer.next_token();
            match (open.last(), &token) {
                (None, Token::End) => return Ok(()),
                (Some(_), Token::Comma) => break,
                (Some(Open::List), Token::EndList) => sink.end_list(),
                (Some(Open::Set), Token::EndSet) => sink.end_set(),
                (None, _) => return Err(unexpected(&lexer, &token, "value", Some("end of input"))),
                (Some(Open::List), _) => {
                    return Err(unexpected(&lexer, &token, "array", Some("']'")));
                }
                (Some(Open::Set), _) => {
                    return Err(unexpected(&lexer, &token, "object", Some("'}'")));
                }
            }
            open.pop();
        }
        token = lexer.next_token();
        if open.last() == Some(&Open::Set) {
            read_key(&mut lexer, &token, sink)?;
            token = lexer.next_token();
        }
    }
}

/// Delivers the key that `token` must be and reads the colon.
fn read_key(
    lexer: &mut Lexer<'_>,
    token: &Token<'_>,
    sink: &mut impl ValueSink,
) -> Result<(), JsonError> {
    let Token::String(key) = token else {
        return Err(unexpected(lexer, token, "object key", Some("string literal")));
    };
    check_null_bytes(key)?;
    sink.key(key);
    match lexer.next_token() {
        Token::Colon => Ok(()),
        token => Err(unexpected(lexer, &token, "object separator", Some("':'"))),
    }
}

fn deliver(
    lexer: &Lexer<'_>,
    token: &Token<'_>,
    sink: &mut impl ValueSink,
) -> Result<(), JsonError> {
    match token {
        Token::Null => sink.null(),
        Token::Boolean(value) => sink.boolean(*value),
        Token::Integer(value) => sink.integer(*value),
        Token::Unsigned(value) => return Err(JsonError::IntegerRange(*value)),
        Token::Float(value) if value.is_finite() => sink.float(*value),
        Token::Float(_) => return Err(JsonError::FloatRange(lexer.last_read())),
        Token::String(text) => {
            check_null_bytes(text)?;
            sink.string(text);
        }
        Token::Invalid(_) => return Err(unexpected(lexer, token, "value", None)),
        _ => return Err(unexpected(lexer, token, "value", Some("'[', '{', or a literal"))),
    }
    Ok(())
}

fn check_null_bytes(text: &[u8]) -> Result<(), JsonError> {
    match memchr::memchr(0, text) {
        Some(_) => Err(JsonError::NullByte(text.to_vec())),
        None => Ok(()),
    }
}

fn unexpected(
    lexer: &Lexer<'_>,
    token: &Token<'_>,
    context: &str,
    expected: Option<&str>,
) -> JsonError {
    let found = match token {
        Token::Invalid(problem) => format!("{problem}; last read: '{}'", lexer.last_read()),
        _ => format!("unexpected {}", token.name()),
    };
    let expected = expected.map(|text| format!("; expected {text}")).unwrap_or_default();
    JsonError::Syntax {
        line: lexer.line(),
        column: lexer.column(),
        detail: format!("syntax error while parsing {context} - {found}{expected}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::sink::Transcript;

    #[test]
    fn delivers() {
        for (text, expected) in [
            ("null", "null"),
            (" [ true , false ]\n", "[ true false ]"),
            ("[]", "[ ]"),
            ("{}", "{ }"),
            ("[[],{},[{}]]", "[ [ ] { } [ { } ] ]"),
            (r#"{"a":1,"b":{"c":[2]},"a":3}"#, "{ a: 1 b: { c: [ 2 ] } a: 3 }"),
            ("-0", "0"),
            ("1.0", "1.0"),
            ("1e5", "100000.0"),
            ("1e-400", "0.0"),
            ("-1.5E+1", "-15.0"),
            ("9223372036854775807", "9223372036854775807"),
            ("-9223372036854775808", "-9223372036854775808"),
            ("-9223372036854775809", "-9.223372036854776e18"),
            ("18446744073709551616", "1.8446744073709552e19"),
            (r#""\"\\\/\b\f\n\r\t\u0041\u00e9\ud83d\ude00é""#, "'\"\\/\u{8}\u{c}\n\r\tAé😀é'"),
            ("\u{feff}1", "1"),
            ("\"\u{7f}\"", "'\u{7f}'"),
        ] {
            let mut sink = Transcript::default();
            assert_eq!(parse_json(text.as_bytes(), &mut sink), Ok(()), "{text}");
            assert_eq!(sink.0, expected, "{text}");
        }
    }

    #[test]
    fn complains() {
        for (text, line, column, detail) in [
            ("[1,2", 1, 5, "array - unexpected end of input; expected ']'"),
            ("nul", 1, 4, "value - invalid literal; last read: 'nul'"),
            ("   ", 1, 4, "value - unexpected end of input; expected '[', '{', or a literal"),
            ("[1] x", 1, 5, "value - invalid literal; last read: '1] x'; expected end of input"),
            ("{\"a\":1,}", 1, 8, "object key - unexpected '}'; expected string literal"),
            ("[1,]", 1, 4, "value - unexpected ']'; expected '[', '{', or a literal"),
            ("{1:2}", 1, 2, "object key - unexpected number literal; expected string literal"),
            ("{\"a\" 1}", 1, 6, "object separator - unexpected number literal; expected ':'"),
            ("01", 1, 2, "value - unexpected number literal; expected end of input"),
            ("1.", 1, 3, "value - invalid number; expected digit after '.'; last read: '1.'"),
            ("-", 1, 2, "value - invalid number; expected digit after '-'; last read: '-'"),
            (
                "1e",
                1,
                3,
                "value - invalid number; expected '+', '-', or digit after exponent; last read: '1e'",
            ),
            ("[1 2]", 1, 4, "array - unexpected number literal; expected ']'"),
            (
                "\"a\tb\"",
                1,
                3,
                "value - invalid string: control character U+0009 (HT) must be escaped to \\u0009 \
                 or \\t; last read: '\"a<U+0009>'",
            ),
            (
                r#""\q""#,
                1,
                3,
                r#"value - invalid string: forbidden character after backslash; last read: '"\q'"#,
            ),
            (
                r#""\u12""#,
                1,
                6,
                r#"value - invalid string: '\u' must be followed by 4 hex digits; last read: '"\u12"'"#,
            ),
            ("\"abc", 1, 5, "value - invalid string: missing closing quote; last read: '\"abc'"),
            (
                r#""\ud800""#,
                1,
                8,
                "value - invalid string: surrogate U+D800..U+DBFF must be followed by \
                 U+DC00..U+DFFF; last read: '\"\\ud800\"'",
            ),
            (
                r#""\udc00""#,
                1,
                7,
                "value - invalid string: surrogate U+DC00..U+DFFF must follow U+D800..U+DBFF; last \
                 read: '\"\\udc00'",
            ),
            ("{\"a\":1 \"b\"}", 1, 10, "object - unexpected string literal; expected '}'"),
            ("{", 1, 2, "object key - unexpected end of input; expected string literal"),
            (
                "{\"a\":\n\n ?}",
                3,
                2,
                "value - invalid literal; last read: '\"a\":<U+000A><U+000A> ?'",
            ),
            ("[tru]", 1, 5, "value - invalid literal; last read: '[tru]'"),
            ("[1}", 1, 3, "array - unexpected '}'; expected ']'"),
        ] {
            let error = parse_json(text.as_bytes(), &mut Transcript::default()).unwrap_err();
            let detail = format!("syntax error while parsing {detail}");
            assert_eq!(error, JsonError::Syntax { line, column, detail }, "{text}");
        }
        for (text, expected) in [
            ("1e400", JsonError::FloatRange("1e400".into())),
            ("18446744073709551615", JsonError::IntegerRange(u64::MAX)),
            (r#""a\u0000b""#, JsonError::NullByte(b"a\0b".to_vec())),
            (r#"{"a\u0000b":1}"#, JsonError::NullByte(b"a\0b".to_vec())),
            (&"[".repeat(20_000), JsonError::TooDeep { line: 1 }),
        ] {
            let error = parse_json(text.as_bytes(), &mut Transcript::default()).unwrap_err();
            assert_eq!(error, expected);
        }
        assert!(parse_json(b"\"\xff\"", &mut Transcript::default()).is_err());
        assert!(parse_json(b"", &mut Transcript::default()).is_err());
        let message = JsonError::NullByte(b"a\0b".to_vec()).to_string();
        assert!(message.starts_with("input string 'a␀b' cannot"), "{message}");
    }
}
