//! Reads TOML for `fromTOML`, delivering to a [`ValueSink`].
//!
//! The `toml` crate parses and merges tables; here its result is walked. Sets arrive with their
//! keys in bytewise order.
//!
//! Always holds: that crate limits how deep values nest (80 levels of each kind), so the walk may
//! recurse.

use std::fmt::Write;

use toml::Spanned;
use toml::de::{DeTable, DeValue};
use toml_datetime::{Datetime, Offset};

use super::sink::{ValueSink, null_byte_message};

/// What to do with dates and times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timestamps {
    /// They are an error.
    Reject,
    /// They are delivered with [`ValueSink::timestamp`].
    Deliver,
}

/// Why a text is not a usable TOML document. The text has no prefix naming the operation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TomlError {
    /// The text is not TOML.
    #[error("line {line}, column {column}: {message}")]
    Syntax {
        /// The line, from 1.
        line: usize,
        /// The byte within the line, from 1.
        column: usize,
        /// What is wrong.
        message: String,
    },
    /// The text is not UTF-8.
    #[error("invalid UTF-8 byte at index {0}")]
    Encoding(usize),
    /// An integer beyond 64 bits.
    #[error("[error] toml::parse_{base}_integer: too large integer: current max digits = 2^63")]
    IntegerRange {
        /// `dec`, `hex`, `oct` or `bin`.
        base: &'static str,
    },
    /// A float beyond the range of floats.
    #[error("float `{0}` is out of range")]
    FloatRange(String),
    /// A date or time where none is allowed.
    #[error("Dates and times are not supported")]
    Timestamp,
    /// A string or key with a NUL byte.
    #[error("error: {}", null_byte_message(.0.as_bytes()))]
    NullByte(String),
}

/// Reads the TOML document `text` and delivers it to `sink` as a set.
pub fn parse_toml(
    text: &[u8],
    timestamps: Timestamps,
    sink: &mut impl ValueSink,
) -> Result<(), TomlError> {
    let text =
        std::str::from_utf8(text).map_err(|error| TomlError::Encoding(error.valid_up_to()))?;
    let document = DeTable::parse(text).map_err(|error| {
        let at = error.span().map_or(text.len(), |span| span.start).min(text.len());
        let before = &text.as_bytes()[..at];
        TomlError::Syntax {
            line: 1 + memchr::memchr_iter(b'\n', before).count(),
            column: at - memchr::memrchr(b'\n', before).map_or(0, |newline| newline + 1) + 1,
            message: error.message().to_owned(),
        }
    })?;
    Walk { timestamps, sink }.table(document.get_ref())
}

struct Walk<'s, S> {
    timestamps: Timestamps,
    sink: &'s mut S,
}

impl<S: ValueSink> Walk<'_, S> {
    fn table(&mut self, table: &DeTable<'_>) -> Result<(), TomlError> {
        self.sink.begin_set();
        for (key, value) in table {
            let key = key.get_ref();
            check_null_bytes(key)?;
            self.sink.key(key.as_bytes());
            self.value(value)?;
        }
        self.sink.end_set();
        Ok(())
    }

    fn value(&mut self, value: &Spanned<DeValue<'_>>) -> Result<(), TomlError> {
        match value.get_ref() {
            DeValue::String(text) => {
                check_null_bytes(text)?;
                self.sink.string(text.as_bytes());
            }
            DeValue::Integer(number) => {
                let value = i64::from_str_radix(number.as_str(), number.radix());
                let base = match number.radix() {
                    2 => "bin",
                    8 => "oct",
                    16 => "hex",
                    _ => "dec",
                };
                self.sink.integer(value.map_err(|_| TomlError::IntegerRange { base })?);
            }
            DeValue::Float(number) => {
                let text = number.as_str();
                let value = text.parse::<f64>().ok();
                let value = value.filter(|value| !value.is_infinite() || text.contains("inf"));
                self.sink.float(value.ok_or_else(|| TomlError::FloatRange(text.to_owned()))?);
            }
            DeValue::Boolean(value) => self.sink.boolean(*value),
            DeValue::Datetime(_) if self.timestamps == Timestamps::Reject => {
                return Err(TomlError::Timestamp);
            }
            DeValue::Datetime(value) => self.sink.timestamp(&timestamp_text(value)),
            DeValue::Array(values) => {
                self.sink.begin_list();
                for value in values {
                    self.value(value)?;
                }
                self.sink.end_list();
            }
            DeValue::Table(table) => self.table(table)?,
        }
        Ok(())
    }
}

fn check_null_bytes(text: &str) -> Result<(), TomlError> {
    if text.contains('\0') { Err(TomlError::NullByte(text.to_owned())) } else { Ok(()) }
}

/// Writes a date or time in one form, whichever way it was written: `T` between the two, seconds
/// always there, and their fraction in groups of three digits.
fn timestamp_text(value: &Datetime) -> String {
    let mut text = String::new();
    if let Some(date) = value.date {
        _ = write!(text, "{:04}-{:02}-{:02}", date.year, date.month, date.day);
        if value.time.is_some() {
            text.push('T');
        }
    }
    if let Some(time) = value.time {
        let second = time.second.unwrap_or(0);
        _ = write!(text, "{:02}:{:02}:{second:02}", time.hour, time.minute);
        match time.nanosecond.unwrap_or(0) {
            0 => {}
            nanos if nanos % 1_000_000 == 0 => {
                _ = write!(text, ".{:03}", nanos / 1_000_000);
            }
            nanos if nanos % 1_000 == 0 => _ = write!(text, ".{:06}", nanos / 1_000),
            nanos => _ = write!(text, ".{nanos:09}"),
        }
    }
    match value.offset {
        None => {}
        Some(Offset::Z | Offset::Custom { minutes: 0 }) => text.push('Z'),
        Some(Offset::Custom { minutes }) => {
            let sign = if minutes < 0 { '-' } else { '+' };
            let minutes = minutes.unsigned_abs();
            _ = write!(text, "{sign}{:02}:{:02}", minutes / 60, minutes % 60);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::sink::Transcript;

    #[test]
    fn delivers() {
        for (text, expected) in [
            ("", "{ }"),
            ("b=1\na='x'", "{ a: 'x' b: 1 }"),
            (
                "a=inf\nb=0x10\nc=1_000.5\nd=-0.0\ne=-inf",
                "{ a: inf b: 16 c: 1000.5 d: -0.0 e: -inf }",
            ),
            (
                "a=0o755\nb=0b11\nc=+99\nd=-17\ne=0xdead_beef",
                "{ a: 493 b: 3 c: 99 d: -17 e: 3735928559 }",
            ),
            ("a=5e+22\nb=6.626e-34\nc=1e6", "{ a: 5e22 b: 6.626e-34 c: 1000000.0 }"),
            ("[[x]]\ny=1\n[[x]]", "{ x: [ { y: 1 } { } ] }"),
            (
                "a.b.c=true\n[a.d]\ne={f=[1,[2]]}",
                "{ a: { b: { c: true } d: { e: { f: [ 1 [ 2 ] ] } } } }",
            ),
            ("\"é x\"=\"\\u00e9\\n\"", "{ é x: 'é\n' }"),
            ("a=-9223372036854775808", "{ a: -9223372036854775808 }"),
        ] {
            let mut sink = Transcript::default();
            let result = parse_toml(text.as_bytes(), Timestamps::Reject, &mut sink);
            assert_eq!(result, Ok(()), "{text}");
            assert_eq!(sink.0, expected, "{text}");
        }
    }

    #[test]
    fn normalizes_timestamps() {
        for (text, expected) in [
            ("1979-05-27", "1979-05-27"),
            ("07:32:00", "07:32:00"),
            ("1979-05-27 07:32:00Z", "1979-05-27T07:32:00Z"),
            ("1979-05-27t07:32:00.1", "1979-05-27T07:32:00.100"),
            ("1979-05-27T07:32:00.1234-07:00", "1979-05-27T07:32:00.123400-07:00"),
            ("00:32:00.1234567891", "00:32:00.123456789"),
            ("1979-05-27T07:32:00.1234567+05:30", "1979-05-27T07:32:00.123456700+05:30"),
        ] {
            let mut sink = Transcript::default();
            let document = format!("a = {text}");
            parse_toml(document.as_bytes(), Timestamps::Deliver, &mut sink).unwrap();
            assert_eq!(sink.0, format!("{{ a: @{expected} }}"));
            let rejected = parse_toml(document.as_bytes(), Timestamps::Reject, &mut sink);
            assert_eq!(rejected, Err(TomlError::Timestamp));
        }
    }

    #[test]
    fn complains() {
        for (text, expected) in [
            ("a=9223372036854775808", TomlError::IntegerRange { base: "dec" }),
            ("a=-9223372036854775809", TomlError::IntegerRange { base: "dec" }),
            ("a=0xffffffffffffffff", TomlError::IntegerRange { base: "hex" }),
            ("a=1e400", TomlError::FloatRange("1e400".into())),
            ("\"a\\u0000b\"=1", TomlError::NullByte("a\0b".into())),
            ("k=\"a\\u0000b\"", TomlError::NullByte("a\0b".into())),
        ] {
            let mut sink = Transcript::default();
            assert_eq!(parse_toml(text.as_bytes(), Timestamps::Reject, &mut sink), Err(expected));
        }
        for text in [
            "a=\n",
            "a=1\na=2",
            "=",
            "[a",
            "a=[1,",
            "a=1 b=2",
            "[a]\n[a]",
            "a=\"x",
            &format!("a={}", "[".repeat(20_000)),
            &format!("a={}", "{a=".repeat(20_000)),
            &format!("a{}=1", ".a".repeat(20_000)),
            &format!("[a{}]", ".a".repeat(20_000)),
        ] {
            let result =
                parse_toml(text.as_bytes(), Timestamps::Reject, &mut Transcript::default());
            assert!(matches!(result, Err(TomlError::Syntax { .. })), "{result:?}");
        }
        let result = parse_toml(b"a='\xff'", Timestamps::Reject, &mut Transcript::default());
        assert_eq!(result, Err(TomlError::Encoding(3)));
    }
}
