//! Writing strings and attribute names inside JSON, XML and the language's own syntax.
//!
//! All writers append to a byte buffer. Only JSON looks at the encoding: it refuses text that is
//! not UTF-8; the others pass bytes through.

use std::str::Utf8Error;

/// Text that cannot be JSON because it is not UTF-8.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JsonTextError {
    /// A byte that cannot stand where it does.
    #[error("[json.exception.type_error.316] invalid UTF-8 byte at index {index}: 0x{byte:02X}")]
    InvalidByte {
        /// Where the byte is.
        index: usize,
        /// The byte.
        byte: u8,
    },
    /// The text ends within a character.
    #[error("[json.exception.type_error.316] incomplete UTF-8 string; last byte: 0x{byte:02X}")]
    Incomplete {
        /// The last byte of the text.
        byte: u8,
    },
}

/// Appends `text` as a JSON string with its quotes.
pub fn write_json_string(out: &mut Vec<u8>, text: &[u8]) -> Result<(), JsonTextError> {
    if let Err(error) = std::str::from_utf8(text) {
        return Err(json_text_error(text, error));
    }
    out.push(b'"');
    write_escaped(out, text, |out, byte| {
        let short = match byte {
            b'"' => br#"\""#,
            b'\\' => br"\\",
            8 => br"\b",
            9 => br"\t",
            10 => br"\n",
            12 => br"\f",
            13 => br"\r",
            0..=31 => {
                out.extend_from_slice(format!("\\u{byte:04x}").as_bytes());
                return true;
            }
            _ => return false,
        };
        out.extend_from_slice(short);
        true
    });
    out.push(b'"');
    Ok(())
}

fn json_text_error(text: &[u8], error: Utf8Error) -> JsonTextError {
    let start = error.valid_up_to();
    let Some(length) = error.error_len() else {
        return JsonTextError::Incomplete { byte: text[text.len() - 1] };
    };
    // A byte that may begin a character is fine itself; the one that does not continue it is not.
    let index = if matches!(text[start], 0xC2..=0xF4) { start + length } else { start };
    JsonTextError::InvalidByte { index, byte: text[index] }
}

/// Appends `text` as it stands between the quotes of an XML attribute.
pub fn write_xml_text(out: &mut Vec<u8>, text: &[u8]) {
    write_escaped(out, text, |out, byte| {
        let entity: &[u8] = match byte {
            b'"' => b"&quot;",
            b'<' => b"&lt;",
            b'>' => b"&gt;",
            b'&' => b"&amp;",
            b'\n' => b"&#xA;",
            _ => return false,
        };
        out.extend_from_slice(entity);
        true
    });
}

/// Appends `text` as a string literal of the language with its quotes.
pub fn write_string_literal(out: &mut Vec<u8>, text: &[u8]) {
    out.push(b'"');
    let mut after_dollar = false;
    write_escaped(out, text, |out, byte| {
        let is_brace = byte == b'{' && std::mem::replace(&mut after_dollar, byte == b'$');
        after_dollar = byte == b'$';
        match byte {
            b'"' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
            b'\n' => out.extend_from_slice(br"\n"),
            b'\r' => out.extend_from_slice(br"\r"),
            b'\t' => out.extend_from_slice(br"\t"),
            b'{' if is_brace => {
                // The dollar is written already.
                out.pop();
                out.extend_from_slice(br"\${");
            }
            _ => return false,
        }
        true
    });
    out.push(b'"');
}

/// Copies `text`, giving each byte to `escape`, which writes it in another form or declines.
fn write_escaped(out: &mut Vec<u8>, text: &[u8], mut escape: impl FnMut(&mut Vec<u8>, u8) -> bool) {
    out.reserve(text.len() + 2);
    for &byte in text {
        if !escape(out, byte) {
            out.push(byte);
        }
    }
}

/// Appends an attribute name, quoted unless it is an identifier.
pub fn write_attribute_name(out: &mut Vec<u8>, name: &[u8]) {
    if is_identifier(name) {
        out.extend_from_slice(name);
    } else {
        write_string_literal(out, name);
    }
}

/// Returns whether `name` can be written as an attribute name without quotes.
pub fn is_identifier(name: &[u8]) -> bool {
    let Some((&first, rest)) = name.split_first() else { return false };
    (first.is_ascii_alphabetic() || first == b'_')
        && rest.iter().all(|byte| byte.is_ascii_alphanumeric() || b"_'-".contains(byte))
        && !is_keyword(name)
}

/// Returns whether `name` is one of the reserved words; `or` is not.
pub fn is_keyword(name: &[u8]) -> bool {
    matches!(
        name,
        b"if" | b"then" | b"else" | b"assert" | b"with" | b"let" | b"in" | b"rec" | b"inherit"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(write: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        write(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn json() {
        for (text, expected) in [
            ("", r#""""#),
            ("a\"b\\c/", r#""a\"b\\c/""#),
            ("\u{8}\u{c}\n\r\t\u{1}\u{1f}\u{7f}", "\"\\b\\f\\n\\r\\t\\u0001\\u001f\u{7f}\""),
            ("é😀", "\"é😀\""),
        ] {
            assert_eq!(written(|out| write_json_string(out, text.as_bytes()).unwrap()), expected);
        }
        for (text, message) in [
            (&b"_invalid UTF-8: \xff_"[..], "invalid UTF-8 byte at index 16: 0xFF"),
            (b"\xc3(", "invalid UTF-8 byte at index 1: 0x28"),
            (b"\xe2\x82(", "invalid UTF-8 byte at index 2: 0x28"),
            (b"a\x80", "invalid UTF-8 byte at index 1: 0x80"),
            (b"\xed\xa0\x80", "invalid UTF-8 byte at index 1: 0xA0"),
            (b"a\xe2\x82", "incomplete UTF-8 string; last byte: 0x82"),
        ] {
            let error = write_json_string(&mut Vec::new(), text).unwrap_err().to_string();
            assert_eq!(error, format!("[json.exception.type_error.316] {message}"));
        }
    }

    #[test]
    fn xml() {
        let text = b"a\t<b>&'\"\n\r";
        assert_eq!(written(|out| write_xml_text(out, text)), "a\t&lt;b&gt;&amp;'&quot;&#xA;\r");
    }

    #[test]
    fn literals() {
        for (text, expected) in [
            ("", r#""""#),
            ("a\tb\r\n", r#""a\tb\r\n""#),
            ("${x}", r#""\${x}""#),
            ("$${x}", r#""$\${x}""#),
            ("$x $ {", r#""$x $ {""#),
            ("$\"{", r#""$\"{""#),
            ("\\${", r#""\\\${""#),
            ("\u{1}é", "\"\u{1}é\""),
        ] {
            assert_eq!(written(|out| write_string_literal(out, text.as_bytes())), expected);
        }
    }

    #[test]
    fn names() {
        for (name, expected) in [
            ("a", "a"),
            ("a'b-1_", "a'b-1_"),
            ("_", "_"),
            ("or", "or"),
            ("if", "\"if\""),
            ("inherit", "\"inherit\""),
            ("'a", "\"'a\""),
            ("-a", "\"-a\""),
            ("1", "\"1\""),
            ("", "\"\""),
            ("a b", "\"a b\""),
            ("é", "\"é\""),
        ] {
            assert_eq!(written(|out| write_attribute_name(out, name.as_bytes())), expected);
        }
    }
}
