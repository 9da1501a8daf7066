//! `match` and `split`.

use crate::{check, check_errors};

#[test]
fn matches() {
    check(&[
        (r#"builtins.match "ab" "abc""#, "null"),
        (r#"builtins.match "abc" "abc""#, "[ ]"),
        (r#"builtins.match "a(b)(c)" "abc""#, r#"[ "b" "c" ]"#),
        (r#"builtins.match "a(b)?(c)" "ac""#, r#"[ null "c" ]"#),
        (r#"builtins.match "(a|ab)(c|bcd)(d*)" "abcd""#, r#"[ "a" "bcd" "" ]"#),
        (r#"builtins.match "[[:space:]]+([[:upper:]]+)[[:space:]]+" "  FOO   ""#, r#"[ "FOO" ]"#),
        (r#"builtins.match ".*" "a\nb""#, "[ ]"),
        (r#"builtins.match "." "é""#, "null"),
        (r#"builtins.match "" """#, "[ ]"),
        // The same pattern, as another string and as the same one.
        (r#"map (builtins.match "a(.)") [ "ab" "ac" "b" ]"#, r#"[ [ "b" ] [ "c" ] null ]"#),
        (r#"map (x: builtins.match ("a" + x) "ab") [ "b" "b" "c" ]"#, "[ [ ] [ ] null ]"),
    ]);
    check_errors(&[
        (
            "builtins.match 1 { }",
            &[
                "while evaluating the first argument passed to builtins.match",
                "expected a string but found an integer: 1",
            ],
        ),
        (
            r#"builtins.match "foo" { }"#,
            &[
                "while evaluating the second argument passed to builtins.match",
                "expected a string but found a set: { }",
            ],
        ),
        (r#"builtins.match "(.*" """#, &["invalid regular expression '(.*'"]),
        // The pattern is judged before the subject is evaluated.
        (r#"builtins.match "(.*" 1"#, &["invalid regular expression '(.*'"]),
        (r#"builtins.match "(.*" """#, &["invalid regular expression '(.*'"]),
    ]);
}

#[test]
fn splits() {
    check(&[
        (r#"builtins.split "(a)b" "abc""#, r#"[ "" [ "a" ] "c" ]"#),
        (r#"builtins.split "([ac])" "abc""#, r#"[ "" [ "a" ] "b" [ "c" ] "" ]"#),
        (r#"builtins.split "(a)|(c)" "abc""#, r#"[ "" [ "a" null ] "b" [ null "c" ] "" ]"#),
        (r#"builtins.split "x" "abc""#, r#"[ "abc" ]"#),
        (r#"builtins.split "x" """#, r#"[ "" ]"#),
        (r#"builtins.split "" "abc""#, r#"[ "" [ ] "a" [ ] "b" [ ] "c" [ ] "" ]"#),
        (r#"builtins.split "b*" "abbc""#, r#"[ "" [ ] "a" [ ] "" [ ] "c" [ ] "" ]"#),
        (r#"builtins.split "(a|ab)" "xabz""#, r#"[ "x" [ "ab" ] "z" ]"#),
    ]);
    check_errors(&[
        (
            r#"builtins.split "foo" { }"#,
            &[
                "while evaluating the second argument passed to builtins.split",
                "expected a string but found a set: { }",
            ],
        ),
        (r#"builtins.split "f(o*o" "1foo2""#, &["invalid regular expression 'f(o*o'"]),
    ]);
}
