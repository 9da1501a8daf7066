//! Which members of sets stand in the text of the program as constants.
//!
//! A glimpse of a value in an error message must not evaluate anything, and must not depend on what
//! has been evaluated so far: on several workers that is a matter of timing. Constants are there
//! from the beginning; everything else is shown as a thunk.
//!
//! A binding is looked up in the text, because errors are rare and there are many bindings. (Lists
//! have no positions; the compiler makes lists of constants once, and they know it.)

use crate::value::Attr;

/// Returns whether the value of an attribute is a constant: `name = 1;`.
pub(super) fn is_constant(attr: &Attr) -> bool {
    let Some(location) = attr.pos.locate() else { return false };
    let text = location.source.text();
    let Some(offset) = location.source.offset(attr.pos) else { return false };
    is_constant_binding(&text[offset..], attr.name.as_bytes())
}

fn is_constant_binding(text: &[u8], name: &[u8]) -> bool {
    let quoted = [b"\"", name, b"\""].concat();
    let after_name = text.strip_prefix(name).or_else(|| text.strip_prefix(&*quoted));
    let value = after_name.and_then(|text| text.trim_ascii_start().strip_prefix(b"="));
    let Some(value) = value.map(<[u8]>::trim_ascii_start) else { return false };
    let rest = match value.first() {
        Some(b'"') => {
            let end = value[1..].iter().position(|byte| matches!(byte, b'"' | b'\\' | b'$'));
            end.filter(|&end| value[1 + end] == b'"').map(|end| &value[end + 2..])
        }
        Some(b'0'..=b'9') => {
            let is_number = |byte: &u8| byte.is_ascii_digit() || *byte == b'.';
            let end = value.iter().position(|byte| !is_number(byte)).unwrap_or(value.len());
            Some(&value[end..])
        }
        _ => ["true", "false", "null"].iter().find_map(|word| value.strip_prefix(word.as_bytes())),
    };
    rest.is_some_and(|rest| rest.trim_ascii_start().starts_with(b";"))
}

#[cfg(test)]
mod tests {
    use super::is_constant_binding;

    #[test]
    fn bindings() {
        for (text, expected) in [
            ("a = 1;", true),
            ("a=1.5 ;", true),
            ("a = \"text\"; b", true),
            ("\"a\" = null;", true),
            ("a = true;", true),
            ("a = trueish;", false),
            ("a = \"${x}\";", false),
            ("a = \"\\n\";", false),
            ("a = 1 + 1;", false),
            ("a = -1;", false),
            ("a = [ ];", false),
            ("a.b = 1;", false),
            ("a;", false),
            ("ab = 1;", false),
            ("a = \"", false),
            ("a", false),
        ] {
            assert_eq!(is_constant_binding(text.as_bytes(), b"a"), expected, "{text}");
        }
    }
}
