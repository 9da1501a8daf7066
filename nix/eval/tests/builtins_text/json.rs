//! `toJSON` and `fromJSON`.

use crate::{check, check_errors, check_text};

#[test]
fn writes() {
    check_text(&[
        ("builtins.toJSON null", "null"),
        ("builtins.toJSON true", "true"),
        ("builtins.toJSON (-5)", "-5"),
        ("builtins.toJSON 1.0", "1.0"),
        ("builtins.toJSON 0.1", "0.1"),
        ("builtins.toJSON 1.0e300", "1e+300"),
        (r#"builtins.toJSON "é\n\"\\/""#, r#""é\n\"\\/""#),
        ("builtins.toJSON [ ]", "[]"),
        ("builtins.toJSON { }", "{}"),
        ("builtins.toJSON [ 1 [ 2 ] { } ]", "[1,[2],{}]"),
        (
            r#"builtins.toJSON { b = 1; a = 2; B = 3; _ = 4; "1" = 5; "x y" = 6; }"#,
            r#"{"1":5,"B":3,"_":4,"a":2,"b":1,"x y":6}"#,
        ),
        ("builtins.toJSON ({ a = 1; c = 2; } // { b = 3; a = 4; })", r#"{"a":4,"b":3,"c":2}"#),
    ]);
}

#[test]
fn writes_sets_that_are_strings() {
    check_text(&[
        (r#"builtins.toJSON { outPath = "x"; a = throw "no"; }"#, r#""x""#),
        (r#"builtins.toJSON { outPath = throw "no"; __toString = _: "y"; }"#, r#""y""#),
        ("builtins.toJSON { outPath = 42; }", "42"),
        ("builtins.toJSON { outPath = null; }", "null"),
        (r#"builtins.toJSON { outPath = { outPath = "z"; }; }"#, r#""z""#),
        ("builtins.toJSON { outPath = { b = 1; a = 2; }; }", r#"{"a":2,"b":1}"#),
        (r#"builtins.toJSON { outPath = [ "1" { outPath = [ 2 ]; } ]; }"#, r#"["1",[2]]"#),
        (r#"builtins.toJSON { __toString = _: { outPath = "deep"; }; }"#, r#""deep""#),
        (r#"builtins.toJSON { __toString = s: s.a; a = { __toString = _: "b"; }; }"#, r#""b""#),
        // A path from `__toString` is not copied.
        ("builtins.toJSON { __toString = _: /no/such/file; }", r#""/no/such/file""#),
    ]);
    check_errors(&[
        (
            "builtins.toJSON { __toString = _: 42; }",
            &[
                "while using the result of the `__toString` attribute",
                "`__toString` should return a string, but got an integer: 42",
            ],
        ),
        (
            "builtins.toJSON { outPath = { __toString = _: [ ]; }; }",
            &[
                "while using the `outPath` attribute",
                "while using the result of the `__toString` attribute",
                "`__toString` should return a string, but got a list: [ ]",
            ],
        ),
        (
            "builtins.toJSON { __toString = _: { a = 1; }; }",
            &[
                "while using the result of the `__toString` attribute",
                "`__toString` must return a string, but got a set: { a = 1; }",
            ],
        ),
        (
            "builtins.toJSON { __toString = 1; }",
            &[
                "while calling the `__toString` attribute",
                "attempt to call something which is not a function but an integer: 1",
            ],
        ),
    ]);
}

#[test]
fn says_where_writing_fails() {
    check_errors(&[
        (
            r#"builtins.toJSON { a.b = [ 1 { c = throw "no"; } ]; }"#,
            &[
                "while evaluating attribute 'a'",
                "while evaluating attribute 'b'",
                "while evaluating list element at index 1",
                "while evaluating attribute 'c'",
                "no",
            ],
        ),
        ("builtins.toJSON (x: x)", &["cannot convert a function to JSON"]),
        (
            "builtins.toJSON [ builtins.map ]",
            &[
                "while evaluating list element at index 0",
                "cannot convert the built-in function 'map' to JSON",
            ],
        ),
    ]);
}

#[test]
fn limits_depth() {
    let deep = "builtins.toJSON (builtins.foldl' (tail: _: { inherit tail; }) null \
                (builtins.genList (x: x) 100000))";
    let evaluator = raddle_nix::Evaluator::new(raddle_nix::Settings::default(), |_| {}).unwrap();
    let result = evaluator.run(|cx| cx.eval_string(deep.as_bytes(), b"/"));
    let error = result.unwrap_err();
    assert_eq!(error.to_string(), "stack overflow; max-call-depth exceeded");
}

#[test]
fn reads() {
    check(&[
        ("builtins.fromJSON ''null''", "null"),
        (
            "builtins.fromJSON ''[true, false, 1, -2, 1.0, 1e3, \"x\"]''",
            r#"[ true false 1 -2 1 1000 "x" ]"#,
        ),
        ("builtins.typeOf (builtins.fromJSON ''1.0'')", r#""float""#),
        (r#"builtins.fromJSON ''{"b": 1, "a": {"c": []}}''"#, "{ a = { c = [ ]; }; b = 1; }"),
        (r#"builtins.fromJSON ''{"a": 1, "b": 2, "a": 3}''"#, "{ a = 3; b = 2; }"),
        ("builtins.fromJSON ''{}''", "{ }"),
        ("builtins.fromJSON ''9223372036854775807''", "9223372036854775807"),
        ("builtins.fromJSON ''-9223372036854775808''", "-9223372036854775808"),
        (r#"builtins.fromJSON ''"\u00e9\ud83d\ude00\/"''"#, r#""é😀/""#),
        (
            "let v = { a = [ 1 2.5 null ]; b = { }; }; in builtins.fromJSON (builtins.toJSON v) == v",
            "true",
        ),
    ]);
    check_errors(&[
        (
            "builtins.fromJSON 1",
            &[
                "while evaluating the first argument passed to builtins.fromJSON",
                "expected a string but found an integer: 1",
            ],
        ),
        (
            r#"builtins.fromJSON ''{"a": 18446744073709551615}''"#,
            &["unsigned json number 18446744073709551615 outside of Nix integer range"],
        ),
        (
            r#"builtins.fromJSON ''"a\u0000b"''"#,
            &[
                "input string 'a␀b' cannot be represented as Nix string because it contains null bytes",
            ],
        ),
    ]);
    let evaluator = raddle_nix::Evaluator::new(raddle_nix::Settings::default(), |_| {}).unwrap();
    for bad in ["", "[1,]", "{\"a\":}", "nul", "[1] 2", "{a: 1}", "\"a"] {
        let text = format!("builtins.fromJSON ''{bad}''");
        let error = evaluator.run(|cx| cx.eval_string(text.as_bytes(), b"/")).unwrap_err();
        assert!(error.to_string().starts_with("[json.exception.parse_error.101]"), "{error}");
        assert!(error.frames().any(|frame| frame.text == "while decoding a JSON string"), "{bad}");
    }
}
