//! "Did you mean …?": the names closest to one that does not exist.

use std::collections::BTreeSet;

/// Names further away than this many edits are not suggested.
const MAX_DISTANCE: usize = 2;

/// Longer names, in bytes, are not compared: nobody types them.
const LONGEST: usize = 1000;

/// At most this many names are suggested.
const MAX_SUGGESTIONS: usize = 5;

/// Returns the candidates closest to `name`, closest first, then in bytewise order.
pub fn best_matches<'a>(
    candidates: impl IntoIterator<Item = &'a [u8]>,
    name: &[u8],
) -> Vec<&'a [u8]> {
    let mut best = BTreeSet::new();
    let mut row = Vec::new();
    for candidate in candidates {
        if let Some(distance) = distance(candidate, name, &mut row) {
            best.insert((distance, candidate));
            if best.len() > MAX_SUGGESTIONS {
                best.pop_last();
            }
        }
    }
    best.into_iter().map(|(_, candidate)| candidate).collect()
}

/// Returns the sentence that offers `matches`, or `None` if there are none.
pub fn did_you_mean(matches: &[&[u8]]) -> Option<String> {
    let names: Vec<_> = matches.iter().map(|name| String::from_utf8_lossy(name)).collect();
    match names.as_slice() {
        [] => None,
        [name] => Some(format!("Did you mean {name}?")),
        [names @ .., last] => Some(format!("Did you mean one of {} or {last}?", names.join(", "))),
    }
}

/// Returns the number of edits from `left` to `right` if it is small enough to matter.
fn distance(left: &[u8], right: &[u8], row: &mut Vec<usize>) -> Option<usize> {
    if left.len().abs_diff(right.len()) > MAX_DISTANCE || left.len() > LONGEST {
        return None;
    }
    row.clear();
    row.extend(0..=right.len());
    for (i, a) in left.iter().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        let mut least = row[0];
        for (j, b) in right.iter().enumerate() {
            let replaced = diagonal + usize::from(a != b);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
            least = least.min(row[j + 1]);
        }
        if least > MAX_DISTANCE {
            return None;
        }
    }
    row.last().copied().filter(|&distance| distance <= MAX_DISTANCE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_types_long_names() {
        let long = |last: u8| [&b"x".repeat(1 << 20)[..], &[last]].concat();
        assert!(best_matches([&long(b'a')[..]], &long(b'b')).is_empty());
    }

    #[test]
    fn suggests() {
        for (candidates, name, expected) in [
            (&["a"][..], "b", Some("Did you mean a?")),
            (&["foo", "fob"], "fo", Some("Did you mean one of fob or foo?")),
            (
                &["ag", "af", "ae", "ad", "ac", "ab"],
                "aa",
                Some("Did you mean one of ab, ac, ad, ae or af?"),
            ),
            (&["xabc", "abc", "xx"], "abcd", Some("Did you mean one of abc or xabc?")),
            (&["abcdefgh"], "abcdefgxyz", None),
            (&["abc"], "xyz", None),
            (&["a", "ab", "abc"], "", Some("Did you mean one of a or ab?")),
            (&[], "x", None),
        ] {
            let candidates = candidates.iter().map(|text| text.as_bytes());
            let matches = best_matches(candidates, name.as_bytes());
            assert_eq!(did_you_mean(&matches).as_deref(), expected, "{name}");
        }
    }
}
