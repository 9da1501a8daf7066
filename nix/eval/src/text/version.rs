//! Version strings: splitting, ordering, and package names that end in one.
//!
//! Everything is a slice of the input; nothing is allocated. A component is a run of digits or a
//! run of other bytes; `.` and `-` only separate.

use std::cmp::Ordering;

/// The components of a version, from left to right.
#[derive(Clone, Debug)]
pub struct Components<'a> {
    rest: &'a [u8],
}

impl<'a> Iterator for Components<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let start = self.rest.iter().position(|byte| !is_separator(*byte))?;
        let text = &self.rest[start..];
        let digits = text[0].is_ascii_digit();
        let length = text
            .iter()
            .position(|byte| byte.is_ascii_digit() != digits || is_separator(*byte))
            .unwrap_or(text.len());
        self.rest = &text[length..];
        Some(&text[..length])
    }
}

fn is_separator(byte: u8) -> bool {
    matches!(byte, b'.' | b'-')
}

/// Returns the components of `version`.
pub fn split_version(version: &[u8]) -> Components<'_> {
    Components { rest: version }
}

/// Orders two versions: component by component, a missing one counting as empty.
pub fn compare_versions(left: &[u8], right: &[u8]) -> Ordering {
    let (mut left, mut right) = (split_version(left), split_version(right));
    loop {
        let (left, right) = match (left.next(), right.next()) {
            (None, None) => return Ordering::Equal,
            (left, right) => (left.unwrap_or_default(), right.unwrap_or_default()),
        };
        let ordering = compare_components(left, right);
        if ordering.is_ne() {
            return ordering;
        }
    }
}

fn compare_components(left: &[u8], right: &[u8]) -> Ordering {
    if is_less(left, right) {
        Ordering::Less
    } else if is_less(right, left) {
        Ordering::Greater
    } else {
        Ordering::Equal
    }
}

/// `pre` comes before all else, then nothing, then other text, then numbers.
fn is_less(left: &[u8], right: &[u8]) -> bool {
    match (number(left), number(right)) {
        (Some(left), Some(right)) => left < right,
        (None, Some(_)) if left.is_empty() => true,
        _ if left == b"pre" && right != b"pre" => true,
        _ if right == b"pre" => false,
        (None, Some(_)) => true,
        (Some(_), None) => false,
        (None, None) => left < right,
    }
}

/// Reads a component as a 32-bit number; larger ones are only text.
fn number(component: &[u8]) -> Option<i32> {
    if component.is_empty() {
        return None;
    }
    component.iter().try_fold(0i32, |value, byte| {
        let digit = byte.is_ascii_digit().then(|| i32::from(byte - b'0'))?;
        value.checked_mul(10)?.checked_add(digit)
    })
}

/// Splits `text` at the first `-` that something other than a letter follows, into the package
/// name and the version.
pub fn parse_drv_name(text: &[u8]) -> (&[u8], &[u8]) {
    let dash = text.windows(2).position(|pair| pair[0] == b'-' && !pair[1].is_ascii_alphabetic());
    match dash {
        Some(dash) => (&text[..dash], &text[dash + 1..]),
        None => (text, b""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits() {
        for (version, expected) in [
            ("1.2.3pre4-r5", &["1", "2", "3", "pre", "4", "r", "5"][..]),
            ("", &[]),
            (".-", &[]),
            ("..1--a", &["1", "a"]),
            ("a.b1c", &["a", "b", "1", "c"]),
            ("é1", &["é", "1"]),
            ("1_2", &["1", "_", "2"]),
        ] {
            let components: Vec<_> = split_version(version.as_bytes()).collect();
            let expected: Vec<_> = expected.iter().map(|text| text.as_bytes()).collect();
            assert_eq!(components, expected, "{version}");
        }
    }

    #[test]
    fn orders() {
        for (left, expected, right) in [
            ("1.0", Ordering::Less, "2.3"),
            ("2.3", Ordering::Greater, "2.3pre1"),
            ("2.3a", Ordering::Less, "2.3c"),
            ("2.3.1", Ordering::Greater, "2.3a"),
            ("2.3pre3", Ordering::Less, "2.3pre12"),
            ("2.3pre1", Ordering::Less, "2.3q"),
            ("1.", Ordering::Equal, "1"),
            ("1-2", Ordering::Equal, "1.2"),
            ("", Ordering::Greater, "pre"),
            ("a", Ordering::Greater, "pre"),
            ("1", Ordering::Greater, "a"),
            ("", Ordering::Less, "a"),
            ("", Ordering::Less, "0"),
            ("a", Ordering::Less, "b"),
            ("0000000000003", Ordering::Equal, "3"),
            ("2147483647", Ordering::Greater, "3"),
            ("2147483648", Ordering::Less, "3"),
            ("20240101120000", Ordering::Less, "3"),
        ] {
            let (l, r) = (left.as_bytes(), right.as_bytes());
            assert_eq!(compare_versions(l, r), expected, "{left} {right}");
            assert_eq!(compare_versions(r, l), expected.reverse(), "{right} {left}");
        }
    }

    #[test]
    fn separates_name_and_version() {
        for (text, name, version) in [
            ("a-b-1.2-3", "a-b", "1.2-3"),
            ("-", "-", ""),
            ("a-", "a-", ""),
            ("a--1", "a", "-1"),
            ("a-.5", "a", ".5"),
            ("", "", ""),
            ("nix-0.12pre12876", "nix", "0.12pre12876"),
            ("foo-_x", "foo", "_x"),
            ("a-é1", "a", "é1"),
            ("a-b", "a-b", ""),
        ] {
            let expected = (name.as_bytes(), version.as_bytes());
            assert_eq!(parse_drv_name(text.as_bytes()), expected, "{text}");
        }
    }
}
