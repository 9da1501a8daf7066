//! Versions and package names.

use crate::{check, check_errors};

#[test]
fn versions() {
    check(&[
        (r#"builtins.compareVersions "1.0" "2.3""#, "-1"),
        (r#"builtins.compareVersions "2.3" "2.3pre1""#, "1"),
        (r#"builtins.compareVersions "1-2" "1.2""#, "0"),
        (r#"builtins.compareVersions "20240101120000" "3""#, "-1"),
        (r#"builtins.splitVersion "1.2.3pre4-r5""#, r#"[ "1" "2" "3" "pre" "4" "r" "5" ]"#),
        (r#"builtins.splitVersion """#, "[ ]"),
        (
            r#"builtins.parseDrvName "nix-0.12pre12876""#,
            r#"{ name = "nix"; version = "0.12pre12876"; }"#,
        ),
        (r#"builtins.parseDrvName "a-b""#, r#"{ name = "a-b"; version = ""; }"#),
    ]);
    check_errors(&[
        (
            "builtins.compareVersions 1 { }",
            &[
                "while evaluating the first argument passed to builtins.compareVersions",
                "expected a string but found an integer: 1",
            ],
        ),
        (
            r#"builtins.compareVersions "abd" { }"#,
            &[
                "while evaluating the second argument passed to builtins.compareVersions",
                "expected a string but found a set: { }",
            ],
        ),
        (
            "builtins.splitVersion 1",
            &[
                "while evaluating the first argument passed to builtins.splitVersion",
                "expected a string but found an integer: 1",
            ],
        ),
        (
            "builtins.parseDrvName 1",
            &[
                "while evaluating the first argument passed to builtins.parseDrvName",
                "expected a string but found an integer: 1",
            ],
        ),
    ]);
}
