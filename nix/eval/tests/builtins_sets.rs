//! Attribute sets.

mod support;

use support::{check, check_frames};

#[test]
fn names_and_values() {
    check(&[
        (
            r#"builtins.attrNames { b = 1; a = 2; _ = 3; B = 4; "1" = 5; }"#,
            r#"[ "1" "B" "_" "a" "b" ]"#,
        ),
        ("builtins.attrNames ({ z = 1; m = 2; } // { a = 3; })", r#"[ "a" "m" "z" ]"#),
        ("builtins.attrNames { }", "[ ]"),
        (r#"builtins.attrNames { a = throw "lazy"; }"#, r#"[ "a" ]"#),
        ("builtins.attrValues { b = 1; a = 2; B = 3; }", "[ 3 2 1 ]"),
        (r#"builtins.length (builtins.attrValues { a = throw "lazy"; b = 2; })"#, "2"),
        ("builtins.attrNames [ ]", "error: expected a set but found a list: [ ]"),
    ]);
}

#[test]
fn lookups() {
    check(&[
        (r#"builtins.getAttr "a" { a = 1; }"#, "1"),
        (r#"builtins.getAttr "foo" { }"#, "error: attribute 'foo' missing"),
        (r#"builtins.getAttr (throw "name") (throw "set")"#, "error: name"),
        (r#"builtins.hasAttr "a" { a = throw "lazy"; }"#, "true"),
        (r#"builtins.hasAttr "never seen before" { a = 1; }"#, "false"),
        ("builtins.hasAttr 1 { }", "error: expected a string but found an integer: 1"),
        (r#"builtins.unsafeGetAttrPos "x" { y = 1; }"#, "null"),
        (r#"builtins.unsafeGetAttrPos "abort" builtins"#, "null"),
        (
            r#"removeAttrs (builtins.unsafeGetAttrPos "a" { a = 1; }) [ "file" ]"#,
            "{ column = 46; line = 1; }",
        ),
        (r#"(builtins.unsafeGetAttrPos "a" ({ a = 1; } // { a = 2; })).column"#, "49"),
    ]);
}

#[test]
fn removing() {
    check(&[
        (r#"removeAttrs { a = 1; b = 2; c = 3; } [ "a" "c" ]"#, "{ b = 2; }"),
        (r#"removeAttrs { a = 1; } [ "x" "never mentioned" ]"#, "{ a = 1; }"),
        (r#"removeAttrs { a = 1; } [ "a" "a" ]"#, "{ }"),
        ("removeAttrs { a = 1; } [ ]", "{ a = 1; }"),
        (r#"removeAttrs ({ a = 1; b = 2; } // { c = 3; }) [ "b" ]"#, "{ a = 1; c = 3; }"),
        (r#"(removeAttrs { a = throw "lazy"; b = 2; } [ "c" ]).b"#, "2"),
        ("removeAttrs { } [ 1 ]", "error: expected a string but found an integer: 1"),
        (r#"removeAttrs "" """#, "error: expected a set but found a string: \"\""),
    ]);
}

#[test]
fn intersections() {
    check(&[
        ("builtins.intersectAttrs { a = 1; b = 2; } { b = 3; c = 4; }", "{ b = 3; }"),
        ("builtins.intersectAttrs { a = 1; b = 2; c = 3; } { b = 4; }", "{ b = 4; }"),
        ("builtins.intersectAttrs { b = 4; } { a = 1; b = 2; c = 3; }", "{ b = 2; }"),
        ("builtins.intersectAttrs { } { a = 1; }", "{ }"),
        ("builtins.intersectAttrs { a = 1; } { }", "{ }"),
        (
            "builtins.intersectAttrs ({ a = 1; b = 2; } // { c = 3; }) ({ c = 4; a = 5; } // { d = 6; })",
            "{ a = 5; c = 4; }",
        ),
        (r#"(builtins.intersectAttrs { a = throw "l"; b = 1; } { a = 1; b = throw "r"; }).a"#, "1"),
        (
            r#"(builtins.unsafeGetAttrPos "a" (builtins.intersectAttrs { a = 1; } { a = 1; b = 2; })).column"#,
            "70",
        ),
    ]);
}

#[test]
fn collecting() {
    check(&[
        (r#"builtins.catAttrs "a" [ { a = 1; } { b = 0; } { a = 2; b = 3; } ]"#, "[ 1 2 ]"),
        (r#"builtins.catAttrs "nowhere" [ { a = 1; } ]"#, "[ ]"),
        (r#"builtins.length (builtins.catAttrs "a" [ { a = throw "lazy"; } ])"#, "1"),
        (r#"builtins.catAttrs "a" [ { a = 1; } 2 ]"#, "error: expected a set but found an integer"),
        (
            r#"builtins.groupBy (builtins.substring 0 1) [ "foo" "bar" "baz" ]"#,
            r#"{ b = [ "bar" "baz" ]; f = [ "foo" ]; }"#,
        ),
        ("builtins.groupBy (x: \"k\") [ ]", "{ }"),
        (r#"builtins.length (builtins.groupBy (x: "k") [ (throw "lazy") 2 ]).k"#, "2"),
        ("builtins.groupBy (x: 1) [ 1 ]", "error: expected a string but found an integer: 1"),
        (
            "builtins.zipAttrsWith (name: values: { inherit name values; }) [ { a = 1; } { b = 2; a = 3; } ]",
            r#"{ a = { name = "a"; values = [ 1 3 ]; }; b = { name = "b"; values = [ 2 ]; }; }"#,
        ),
        ("builtins.zipAttrsWith (n: v: v) [ ]", "{ }"),
        ("(builtins.zipAttrsWith (n: v: throw n) [ { a = 1; } ]) ? a", "true"),
        (
            r#"(builtins.zipAttrsWith (n: builtins.length) [ { a = throw "lazy"; } { a = 1; } ]).a"#,
            "2",
        ),
        ("builtins.zipAttrsWith 1 [ ]", "error: expected a function but found an integer: 1"),
    ]);
}

#[test]
fn lists_to_sets() {
    check(&[
        (
            r#"builtins.listToAttrs [ { name = "b"; value = 1; } { name = "a"; value = 2; } ]"#,
            "{ a = 2; b = 1; }",
        ),
        (
            r#"builtins.listToAttrs [ { name = "a"; value = 1; } { name = "a"; value = 2; } ]"#,
            "{ a = 1; }",
        ),
        (r#"builtins.listToAttrs [ { name = "a"; value = 1; } { name = "a"; } ]"#, "{ a = 1; }"),
        ("builtins.listToAttrs [ ]", "{ }"),
        (r#"builtins.listToAttrs [ { name = "a"; value = throw "lazy"; } ] ? a"#, "true"),
        ("builtins.listToAttrs [ { } ]", "error: attribute 'name' missing"),
        (r#"builtins.listToAttrs [ { name = "foo"; } ]"#, "error: attribute 'value' missing"),
        ("builtins.listToAttrs [ { name = 1; } ]", "error: expected a string but found an integer"),
        (
            r#"(builtins.unsafeGetAttrPos "a" (builtins.listToAttrs [ { name = "a"; value = 1; } ])).column"#,
            "70",
        ),
    ]);
}

#[test]
fn mapping() {
    check(&[
        ("builtins.mapAttrs (name: value: name + value) { a = \"1\"; }", r#"{ a = "a1"; }"#),
        (
            "builtins.mapAttrs (n: v: v * 2) ({ a = 1; b = 2; } // { b = 3; c = 4; })",
            "{ a = 2; b = 6; c = 8; }",
        ),
        (r#"builtins.mapAttrs (throw "lazy") { }"#, "{ }"),
        (r#"builtins.mapAttrs (throw "lazy") { a = 1; } ? a"#, "true"),
        ("builtins.mapAttrs 1 [ ]", "error: expected a set but found a list: [ ]"),
        (r#"builtins.unsafeGetAttrPos "a" (builtins.mapAttrs (n: v: v) { a = 1; })"#, "null"),
        (
            "builtins.mapAttrs (n: v: v + 1) (builtins.mapAttrs (n: v: v + 1) { a = 1; })",
            "{ a = 3; }",
        ),
    ]);
}

#[test]
fn function_arguments() {
    check(&[
        ("builtins.functionArgs ({ a, b ? 1, ... }: a)", "{ a = false; b = true; }"),
        ("builtins.functionArgs ({ b ? 2, a }@all: a)", "{ a = false; b = true; }"),
        ("builtins.functionArgs ({ }: 1)", "{ }"),
        ("builtins.functionArgs (x: x)", "{ }"),
        ("builtins.functionArgs map", "{ }"),
        ("builtins.functionArgs (map (x: x))", "{ }"),
        (
            "builtins.functionArgs { __functor = self: { a }: a; }",
            "error: 'functionArgs' requires a function",
        ),
        (r#"(builtins.unsafeGetAttrPos "b" (builtins.functionArgs ({ a, b }: a))).column"#, "61"),
    ]);
}

#[test]
fn frames() {
    check_frames(&[
        (
            "builtins.attrValues [ ]",
            &[
                "while calling the 'attrValues' builtin",
                "while evaluating the argument passed to builtins.attrValues",
                "expected a set but found a list: [ ]",
            ],
        ),
        (
            r#"builtins.getAttr "foo" { }"#,
            &[
                "while calling the 'getAttr' builtin",
                "in the attribute set under consideration",
                "attribute 'foo' missing",
            ],
        ),
        (
            "builtins.listToAttrs [ { } ]",
            &[
                "while calling the 'listToAttrs' builtin",
                "in a {name=...; value=...;} pair",
                "attribute 'name' missing",
            ],
        ),
        (
            r#"builtins.groupBy (x: x) [ "foo" 1 ]"#,
            &[
                "while calling the 'groupBy' builtin",
                "while evaluating the return value of the grouping function passed to builtins.groupBy",
                "expected a string but found an integer: 1",
            ],
        ),
    ]);
}
