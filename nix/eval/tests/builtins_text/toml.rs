//! `fromTOML`.

use crate::{check, check_errors, check_with, with_features};

#[test]
fn reads() {
    check(&[
        (
            "builtins.fromTOML ''\n  x = 1\n  s = \"a\"\n  [table]\n  y = 2\n''",
            r#"{ s = "a"; table = { y = 2; }; x = 1; }"#,
        ),
        ("builtins.fromTOML ''''", "{ }"),
        (
            "fromTOML ''a.b = [ 1, 2.5, true, { c = \"d\" } ]''",
            r#"{ a = { b = [ 1 2.5 true { c = "d"; } ]; }; }"#,
        ),
        ("fromTOML ''\n  [[p]]\n  n = 1\n  [[p]]\n''", "{ p = [ { n = 1; } { } ]; }"),
    ]);
    check_errors(&[
        (
            "fromTOML 1",
            &[
                "while evaluating the argument passed to builtins.fromTOML",
                "expected a string but found an integer: 1",
            ],
        ),
        ("fromTOML ''d = 1979-05-27''", &["while parsing TOML: Dates and times are not supported"]),
        (
            r#"fromTOML ''k = "a\u0000b"''"#,
            &["while parsing TOML: error: input string 'a␀b' cannot be represented as Nix string \
               because it contains null bytes"],
        ),
    ]);
}

#[test]
fn reads_timestamps() {
    check_with(
        with_features(&["parse-toml-timestamps"]),
        &[(
            "fromTOML ''d = 1979-05-27 07:32:00.1Z''",
            r#"{ d = { _type = "timestamp"; value = "1979-05-27T07:32:00.100Z"; }; }"#,
        )],
    );
}
