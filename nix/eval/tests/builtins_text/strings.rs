//! Builtins on strings.

use crate::{check, check_errors};

#[test]
fn to_string() {
    check(&[
        ("toString 1", r#""1""#),
        ("toString (-1)", r#""-1""#),
        ("toString 1.5", r#""1.500000""#),
        ("toString true", r#""1""#),
        ("toString false", r#""""#),
        ("toString null", r#""""#),
        ("toString /a/b", r#""/a/b""#),
        ("toString ./b", r#""/base/b""#),
        (r#"toString [ 1 [ ] 2 [ [ ] 3 ] "" ]"#, r#""1 2 3 ""#),
        (r#"toString { outPath = "x"; }"#, r#""x""#),
        (r#"toString { outPath = "x"; __toString = self: "y" + self.outPath; }"#, r#""yx""#),
        ("toString { __toString = _: /a; }", r#""/a""#),
        ("toString { __toString = _: { outPath = 5; }; }", r#""5""#),
    ]);
    check_errors(&[
        (
            "toString { a = 1; }",
            &[
                "while evaluating the first argument passed to builtins.toString",
                "cannot coerce a set to a string: { a = 1; }",
            ],
        ),
        (
            "toString (x: x)",
            &[
                "while evaluating the first argument passed to builtins.toString",
                "cannot coerce a function to a string: «lambda @ «string»:1:11»",
            ],
        ),
        (r#"toString (throw "x")"#, &["x"]),
    ]);
}

#[test]
fn string_length() {
    check(&[
        (r#"builtins.stringLength """#, "0"),
        (r#"builtins.stringLength "é""#, "2"),
        (r#"builtins.stringLength { outPath = "abc"; }"#, "3"),
    ]);
    check_errors(&[(
        "builtins.stringLength 1",
        &[
            "while evaluating the argument passed to builtins.stringLength",
            "cannot coerce an integer to a string: 1",
        ],
    )]);
}

#[test]
fn substring() {
    check(&[
        (r#"builtins.substring 0 3 "nixos""#, r#""nix""#),
        (r#"builtins.substring 3 100 "nixos""#, r#""os""#),
        (r#"builtins.substring 1 (-1) "nixos""#, r#""ixos""#),
        (r#"builtins.substring 0 (-1) "nixos""#, r#""nixos""#),
        (r#"builtins.substring 5 1 "nixos""#, r#""""#),
        (r#"builtins.substring 100 1 "nixos""#, r#""""#),
        (r#"builtins.substring 9223372036854775807 1 "nixos""#, r#""""#),
        (r#"builtins.substring 1 9223372036854775807 "nixos""#, r#""ixos""#),
        (r#"builtins.substring 1 1 { outPath = "abc"; }"#, r#""b""#),
    ]);
    check_errors(&[
        (
            r#"builtins.substring { } "foo" true"#,
            &[
                "while evaluating the first argument (the start offset) passed to \
                 builtins.substring",
                "expected an integer but found a set: { }",
            ],
        ),
        (
            r#"builtins.substring 3 "foo" true"#,
            &[
                "while evaluating the second argument (the substring length) passed to \
                 builtins.substring",
                r#"expected an integer but found a string: "foo""#,
            ],
        ),
        (
            "builtins.substring 0 3 { }",
            &[
                "while evaluating the third argument (the string) passed to builtins.substring",
                "cannot coerce a set to a string: { }",
            ],
        ),
        (r#"builtins.substring (-3) 3 "sometext""#, &["negative start position in 'substring'"]),
        // The start is judged before the length is evaluated.
        (r#"builtins.substring (-3) { } "x""#, &["negative start position in 'substring'"]),
    ]);
}

#[test]
fn concat_strings_sep() {
    check(&[
        (r#"builtins.concatStringsSep "," [ ]"#, r#""""#),
        (r#"builtins.concatStringsSep "," [ "a" ]"#, r#""a""#),
        (r#"builtins.concatStringsSep "," [ "a" "" "b" ]"#, r#""a,,b""#),
        (r#"builtins.concatStringsSep "" [ "a" { outPath = "b"; } ]"#, r#""ab""#),
        (
            r#"builtins.stringLength (builtins.concatStringsSep "ab" (map toString [ 1 2 3 4 5 ]))"#,
            "13",
        ),
    ]);
    check_errors(&[
        (
            "builtins.concatStringsSep 1 { }",
            &[
                "while evaluating the first argument (the separator string) passed to \
                 builtins.concatStringsSep",
                "expected a string but found an integer: 1",
            ],
        ),
        (
            r#"builtins.concatStringsSep "foo" { }"#,
            &[
                "while evaluating the second argument (the list of strings to concat) passed to \
                 builtins.concatStringsSep",
                "expected a list but found a set: { }",
            ],
        ),
        (
            r#"builtins.concatStringsSep "foo" [ 1 2 ]"#,
            &[
                "while evaluating one element of the list of strings to concat passed to \
                 builtins.concatStringsSep",
                "cannot coerce an integer to a string: 1",
            ],
        ),
    ]);
}

#[test]
fn replace_strings() {
    check(&[
        (r#"builtins.replaceStrings [ "oo" "a" ] [ "a" "i" ] "foobar""#, r#""fabir""#),
        (r#"builtins.replaceStrings [ "" "a" ] [ "-" "b" ] "abc""#, r#""-a-b-c-""#),
        (r#"builtins.replaceStrings [ "a" "" ] [ "b" "-" ] "abc""#, r#""b-b-c-""#),
        (r#"builtins.replaceStrings [ "" ] [ "X" ] """#, r#""X""#),
        (r#"builtins.replaceStrings [ ] [ ] "abc""#, r#""abc""#),
        (r#"builtins.replaceStrings [ "a" ] [ "aa" ] "aaa""#, r#""aaaaaa""#),
        (r#"builtins.replaceStrings [ "ab" "a" ] [ "1" "2" ] "aab""#, r#""21""#),
        (r#"builtins.replaceStrings [ "x" ] [ (throw "unused") ] "abc""#, r#""abc""#),
        (r#"builtins.replaceStrings [ "x" "b" ] [ 1 "y" ] "abc""#, r#""ayc""#),
    ]);
    check_errors(&[
        (
            "builtins.replaceStrings 0 0 { }",
            &[
                "while evaluating the first argument passed to builtins.replaceStrings",
                "expected a list but found an integer: 0",
            ],
        ),
        (
            "builtins.replaceStrings [ ] 0 { }",
            &[
                "while evaluating the second argument passed to builtins.replaceStrings",
                "expected a list but found an integer: 0",
            ],
        ),
        (
            "builtins.replaceStrings [ 0 ] [ ] { }",
            &["'from' and 'to' arguments passed to builtins.replaceStrings have different lengths"],
        ),
        (
            r#"builtins.replaceStrings [ 1 ] [ "new" ] { }"#,
            &[
                "while evaluating one of the strings to replace passed to \
                 builtins.replaceStrings",
                "expected a string but found an integer: 1",
            ],
        ),
        (
            r#"builtins.replaceStrings [ "oo" ] [ true ] "foo""#,
            &[
                "while evaluating one of the replacement strings passed to \
                 builtins.replaceStrings",
                "expected a string but found a Boolean: true",
            ],
        ),
        (
            r#"builtins.replaceStrings [ "old" ] [ "new" ] { }"#,
            &[
                "while evaluating the third argument passed to builtins.replaceStrings",
                "expected a string but found a set: { }",
            ],
        ),
    ]);
}

#[test]
fn ends_of_paths() {
    check(&[
        (r#"baseNameOf """#, r#""""#),
        (r#"baseNameOf "a""#, r#""a""#),
        (r#"baseNameOf "a/""#, r#""a""#),
        (r#"baseNameOf "a//""#, r#""""#),
        (r#"baseNameOf "/a/b//""#, r#""""#),
        (r#"baseNameOf "a/b""#, r#""b""#),
        (r#"baseNameOf "a/..""#, r#""..""#),
        (r#"baseNameOf "/""#, r#""""#),
        (r#"baseNameOf "//""#, r#""""#),
        ("baseNameOf /a/b", r#""b""#),
        ("baseNameOf /.", r#""""#),
        (r#"dirOf """#, r#"".""#),
        (r#"dirOf "a""#, r#"".""#),
        (r#"dirOf "a/b""#, r#""a""#),
        (r#"dirOf "a///b""#, r#""a//""#),
        (r#"dirOf "/""#, r#""/""#),
        (r#"dirOf "//""#, r#""/""#),
        (r#"dirOf "///""#, r#""//""#),
        (r#"dirOf "/a""#, r#""/""#),
        (r#"dirOf "a/b/""#, r#""a/b""#),
        ("dirOf /a/b", "/a"),
        ("dirOf /a", "/"),
        ("dirOf /.", "/"),
        (r#"dirOf { outPath = "/x/y"; }"#, r#""/x""#),
    ]);
    check_errors(&[
        (
            "baseNameOf [ ]",
            &[
                "while evaluating the first argument passed to builtins.baseNameOf",
                "cannot coerce a list to a string: [ ]",
            ],
        ),
        (
            "dirOf 1",
            &[
                "while evaluating the first argument passed to 'builtins.dirOf'",
                "cannot coerce an integer to a string: 1",
            ],
        ),
    ]);
}

#[test]
fn placeholder() {
    check(&[(
        r#"placeholder "out""#,
        r#""/1rz4g4znpzjwh1xymhjpm42vipw92pr73vdgl6xs1hycac8kf2n9""#,
    )]);
    check_errors(&[(
        "placeholder [ ]",
        &[
            "while evaluating the first argument passed to builtins.placeholder",
            "expected a string but found a list: [ ]",
        ],
    )]);
}

/// Strings with context come from paths; their store paths have a fixed length.
#[test]
fn contexts() {
    let with =
        |body: &str| format!(r#"let s = "${{./tests}}"; has = builtins.hasContext; in {body}"#);
    let cases = [
        ("has (builtins.substring 0 0 s)", "true"),
        ("has (builtins.substring 5 3 s)", "true"),
        ("has (builtins.concatStringsSep s [ ])", "true"),
        (r#"has (builtins.concatStringsSep s [ "a" ])"#, "true"),
        (r#"has (builtins.concatStringsSep "," [ "a" s ])"#, "true"),
        (r#"has (builtins.replaceStrings [ "a" ] [ s ] "b")"#, "false"),
        (r#"has (builtins.replaceStrings [ "b" ] [ s ] "b")"#, "true"),
        (r#"has (builtins.replaceStrings [ s ] [ "x" ] "b")"#, "false"),
        (r#"has (builtins.replaceStrings [ "/" ] [ "x" ] s)"#, "true"),
        ("has (baseNameOf s)", "true"),
        ("has (dirOf s)", "true"),
        ("has (toString [ s ])", "true"),
        (r#"has (builtins.head (builtins.match "(.*)" s))"#, "false"),
        (
            r#"map has (builtins.filter builtins.isString (builtins.split "/" s))"#,
            "[ false false false false ]",
        ),
        (r#"map has (builtins.split "no" s)"#, "[ true ]"),
        (r#"has (builtins.hashString "md5" s)"#, "false"),
        ("has (builtins.toJSON [ s ])", "true"),
        ("has (builtins.toXML [ s ])", "true"),
        ("has (builtins.toJSON ./tests)", "true"),
        (r#"builtins.toJSON ./tests == ''"${./tests}"''"#, "true"),
    ];
    let settings = raddle_nix::Settings::default();
    let evaluator = raddle_nix::Evaluator::new(settings, |_| {}).unwrap();
    for (body, expected) in cases {
        let printed = evaluator.run(|cx| {
            let base = env!("CARGO_MANIFEST_DIR").as_bytes();
            let value = cx.eval_string(with(body).as_bytes(), base)?;
            cx.print(value)
        });
        assert_eq!(printed.unwrap(), expected, "{body}");
    }
}
