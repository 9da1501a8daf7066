//! Regular expressions checked case by case; the expectations were compared with `std::regex`.

use super::regex::{Regex, RegexError};

type Spans = Vec<Option<(usize, usize)>>;

fn spans(text: &str) -> Spans {
    let span = |part: &str| {
        part.split_once(',').map(|(from, to)| (from.parse().unwrap(), to.parse().unwrap()))
    };
    text.split_whitespace().map(span).collect()
}

#[test]
fn accepts_and_refuses() {
    for pattern in [
        "",
        "()",
        "a||b",
        "(|a)",
        "a**",
        "a{2}{3}",
        "a{0}",
        "a{2,}",
        "]",
        "}",
        "a]b}",
        "^a$",
        "a^b",
        "[]a]",
        "[^]a]",
        "[a-]",
        "[-a]",
        "[--0]",
        "[+--]",
        r"[a\]b]",
        r"\.\[\\\(\)\*\+\?\{\|\^\$",
        "[[:alpha:]_]",
        "[[:ALPHA:]]",
        "[[:w:][:d:][:s:]]",
        "[[.hyphen.]]",
        "[[.a.]-z]",
        "[[=a=]]",
        "[[:alpha:]-]",
        "[[a]",
        "a{0,9999}",
        "é",
        "\n",
    ] {
        assert!(Regex::new(pattern.as_bytes()).is_ok(), "{pattern}");
    }
    for pattern in [
        "(",
        ")",
        "(a",
        "a)",
        "*",
        "+a",
        "?",
        "{",
        "a{",
        "a{,3}",
        "a{1",
        "a{2,1}",
        "a{1,2,3}",
        "a{x}",
        "a|*b",
        "(*a)",
        "^*",
        "(?:a)",
        r"\d",
        r"\w",
        r"\s",
        r"\-",
        r"\/",
        r"\n",
        r"\1",
        r"\]",
        r"\}",
        "\\",
        "[",
        "[a",
        "[]",
        "[^]",
        "[z-a]",
        "[a-z-9]",
        "[[:alpha:]-z]",
        "[a-[.b.]]",
        "[[:nope:]]",
        "[[.nope.]]",
        "[[.-.]]",
        "[[:alpha:]",
        "[[:alpha]]",
        "[a-é]",
        "a\0b",
    ] {
        let invalid = Err(RegexError::Invalid(pattern.to_owned()));
        assert_eq!(Regex::new(pattern.as_bytes()).map(|_| ()), invalid, "{pattern}");
    }
    for pattern in ["a{1000}{1000}", "a{4294967295}", "(((a{99}){99}){99}){99}", &"(".repeat(9999)]
    {
        let error = Regex::new(pattern.as_bytes()).unwrap_err();
        assert_eq!(error, RegexError::MemoryLimit(pattern.to_owned()));
    }
    let message = RegexError::Invalid("(.*".to_owned()).to_string();
    assert_eq!(message, "invalid regular expression '(.*'");
}

#[test]
fn matches_whole() {
    for (pattern, subject, expected) in [
        ("", "", Some("")),
        ("", "a", None),
        ("ab", "ab", Some("")),
        ("ab", "abc", None),
        ("a|ab", "ab", Some("")),
        ("(a|ab)(c|bcd)(d*)", "abcd", Some("0,1 1,4 4,4")),
        ("(a)|(b)", "b", Some("- 0,1")),
        (".", "é", None),
        ("..", "é", Some("")),
        (".", "\n", Some("")),
        ("[^a]", "\n", Some("")),
        (r"[a\]b]", "ab]", Some("")),
        (r"[a\]b]", "\\b]", Some("")),
        ("(a*)*", "", Some("0,0")),
        ("(a*)*", "aa", Some("2,2")),
        ("(a|b*)*", "ab", Some("2,2")),
        ("(a*)+b", "aab", Some("2,2")),
        ("(()|a)+", "a", Some("1,1 1,1")),
        ("((a)|b)*", "ab", Some("1,2 0,1")),
        ("(a){0}(b)", "b", Some("- 0,1")),
        ("a^b", "ab", None),
        ("(^)a($)", "a", Some("0,0 1,1")),
        ("[[:alpha:]]+[[:digit:]]{2,3}", "abc123", Some("")),
        ("[[=a=]]", "A", Some("")),
        ("([a-z]+)-([0-9.]+)", "hello-2.12", Some("0,5 6,10")),
        ("(.*)/([^/]*)", "/a/b/c", Some("0,4 5,6")),
    ] {
        let regex = Regex::new(pattern.as_bytes()).unwrap();
        let found = regex.match_whole(subject.as_bytes());
        assert_eq!(found, expected.map(spans), "{pattern} {subject}");
    }
    let regex = Regex::new_ignore_case(b"[a-c]X[[:upper:]]").unwrap();
    assert!(regex.match_whole(b"Bxd").is_some());
}

#[test]
fn finds() {
    // Each match: its span, then its groups.
    for (pattern, subject, expected) in [
        ("", "abc", &["0,0", "1,1", "2,2", "3,3"][..]),
        ("b*", "abbc", &["0,0", "1,3", "3,3", "4,4"]),
        ("(a|ab)", "xabz", &["1,3 1,3"]),
        ("(a)b", "ababa", &["0,2 0,1", "2,4 2,3"]),
        ("(a|ab)(c|bcd)?", "abcd", &["0,4 0,1 1,4"]),
        ("a*(ab)?", "aab", &["0,2 -", "2,2 -", "3,3 -"]),
        ("(a*|ab)", "ab", &["0,2 0,2", "2,2 2,2"]),
        ("^a", "aa", &["0,1"]),
        ("a$", "aa", &["1,2"]),
        ("(|a)b*", "aab", &["0,1 0,1", "1,3 1,2", "3,3 3,3"]),
        ("x", "abc", &[]),
        ("([[:upper:]]+)", "  FOO  ", &["2,5 2,5"]),
        ("\n", "a\n\nb", &["1,2", "2,3"]),
    ] {
        let regex = Regex::new(pattern.as_bytes()).unwrap();
        let found: Vec<Spans> = regex
            .find_iter(subject.as_bytes())
            .map(|found| {
                let mut spans = vec![Some((found.start, found.end))];
                spans.extend(found.groups);
                spans
            })
            .collect();
        let expected: Vec<Spans> = expected.iter().map(|text| spans(text)).collect();
        assert_eq!(found, expected, "{pattern} {subject}");
        assert_eq!(regex.is_match_anywhere(subject.as_bytes()), !found.is_empty());
    }
}

#[test]
fn long_subjects_neither_recurse_nor_explode() {
    let subject = "ab".repeat(5_000);
    for pattern in ["(a|b)*", "((a*)*b?)*", "(a|ab)(b|ab)*.*", "((a*)+(b*)+)+c?"] {
        let regex = Regex::new(pattern.as_bytes()).unwrap();
        assert!(regex.match_whole(subject.as_bytes()).is_some(), "{pattern}");
        assert!(regex.match_whole(format!("{subject}\0").as_bytes()).is_none(), "{pattern}");
    }
    let regex = Regex::new(b"(a|ab|b.*c)").unwrap();
    assert_eq!(regex.find_iter(subject.as_bytes()).count(), 5_000);
    let groups = "()".repeat(5_000);
    let regex = Regex::new(groups.as_bytes()).unwrap();
    assert_eq!(regex.match_whole(b"").unwrap().len(), 5_000);
}
