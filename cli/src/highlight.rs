//! Marks what matched, in colour.

use raddle_nix::text::regex::Regex;

/// Begins a match.
const MATCH: &[u8] = b"\x1b[32;1m";

/// Returns all places in `text` that one of `regexes` matches, in order, touching ones merged.
fn places(text: &[u8], regexes: &[Regex]) -> Vec<(usize, usize)> {
    let mut found: Vec<(usize, usize)> = regexes
        .iter()
        .flat_map(|regex| regex.find_iter(text))
        .map(|found| (found.start, found.end))
        .collect();
    found.sort_unstable();
    let mut merged: Vec<(usize, usize)> = Vec::new();
    for (start, end) in found {
        match merged.last_mut() {
            Some(last) if start <= last.1 => last.1 = last.1.max(end),
            _ => merged.push((start, end)),
        }
    }
    merged
}

/// Writes `text` with its matches in colour; `normal` switches back after each.
pub(crate) fn write(out: &mut Vec<u8>, text: &[u8], regexes: &[Regex], normal: &[u8]) {
    let mut done = 0;
    for (start, end) in places(text, regexes) {
        out.extend_from_slice(&text[done..start]);
        out.extend_from_slice(MATCH);
        out.extend_from_slice(&text[start..end]);
        out.extend_from_slice(normal);
        done = end;
    }
    out.extend_from_slice(&text[done..]);
}

#[cfg(test)]
mod tests {
    use raddle_nix::text::regex::Regex;

    #[test]
    fn marks() {
        for (text, patterns, expected) in [
            ("hello", &["l"][..], "he<ll>o"),
            ("hello", &["ell", "lo"], "h<ello>"),
            ("hello", &["h", "o"], "<h>ell<o>"),
            ("hello", &["^"], "<>hello"),
            ("hello", &["HE"], "<he>llo"),
            ("hello", &["x"], "hello"),
        ] {
            let regexes: Vec<Regex> = patterns
                .iter()
                .map(|pattern| Regex::new_ignore_case(pattern.as_bytes()).unwrap())
                .collect();
            let mut out = Vec::new();
            super::write(&mut out, text.as_bytes(), &regexes, b">");
            let out = String::from_utf8(out).unwrap().replace("\x1b[32;1m", "<");
            assert_eq!(out, expected, "{text} {patterns:?}");
        }
    }
}
