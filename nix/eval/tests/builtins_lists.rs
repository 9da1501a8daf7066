//! Lists.

mod support;

use support::{check, check_frames, check_messages};

#[test]
fn parts() {
    check(&[
        ("builtins.head [ 1 2 ]", "1"),
        (r#"builtins.head [ 1 (throw "lazy") ]"#, "1"),
        ("builtins.head [ ]", "error: 'builtins.head' called on an empty list"),
        ("builtins.tail [ 1 2 3 ]", "[ 2 3 ]"),
        ("builtins.tail [ 1 ]", "[ ]"),
        (r#"builtins.length (builtins.tail [ (throw "lazy") (throw "lazy") ])"#, "1"),
        ("builtins.tail [ ]", "error: 'builtins.tail' called on an empty list"),
        ("builtins.elemAt [ 1 2 3 ] 0", "1"),
        ("builtins.elemAt [ 1 2 3 ] 2", "3"),
        (
            "builtins.elemAt [ 1 ] 3",
            "error: 'builtins.elemAt' called with index 3 on a list of size 1",
        ),
        (
            "builtins.elemAt [ ] (-1)",
            "error: 'builtins.elemAt' called with index -1 on a list of size 0",
        ),
        (r#"builtins.elemAt (throw "list") (throw "index")"#, "error: index"),
        ("builtins.length [ ]", "0"),
        (r#"builtins.length [ (throw "lazy") 2 ]"#, "2"),
        ("builtins.length { }", "error: expected a list but found a set: { }"),
    ]);
}

#[test]
fn membership() {
    check(&[
        ("builtins.elem 2 [ 1 2 3 ]", "true"),
        ("builtins.elem 2.0 [ 1 2 3 ]", "true"),
        ("builtins.elem 4 [ 1 2 3 ]", "false"),
        ("builtins.elem { a = [ 1 ]; } [ { a = [ 1 ]; } ]", "true"),
        (r#"builtins.elem 1 [ 1 (throw "not reached") ]"#, "true"),
        (r#"builtins.elem (throw "lazy") [ ]"#, "false"),
        ("let f = x: x; in builtins.elem f [ f ]", "true"),
        ("builtins.elem (x: x) [ (x: x) ]", "false"),
        ("builtins.any (x: x == 2) [ 1 2 ]", "true"),
        ("builtins.any (x: x == 3) [ 1 2 ]", "false"),
        ("builtins.any (x: true) [ ]", "false"),
        (r#"builtins.any (x: x == 1) [ 1 (throw "not reached") ]"#, "true"),
        ("builtins.all (x: x > 0) [ 1 2 ]", "true"),
        ("builtins.all (x: false) [ ]", "true"),
        (r#"builtins.all (x: x > 1) [ 1 (throw "not reached") ]"#, "false"),
        (r#"builtins.any (x: true) [ (throw "lazy") ]"#, "true"),
        ("builtins.any 1 [ ]", "error: expected a function but found an integer: 1"),
    ]);
}

#[test]
fn selection() {
    check(&[
        ("builtins.filter (x: x > 1) [ 1 2 3 ]", "[ 2 3 ]"),
        ("builtins.filter (x: false) [ 1 2 3 ]", "[ ]"),
        (r#"builtins.length (builtins.filter (x: true) [ (throw "lazy") ])"#, "1"),
        (r#"builtins.filter (throw "lazy") [ ]"#, "[ ]"),
        ("builtins.filter { __functor = self: x: x > 1; } [ 1 2 ]", "[ 2 ]"),
        ("builtins.partition (x: x > 2) [ 1 5 2 4 3 ]", "{ right = [ 5 4 3 ]; wrong = [ 1 2 ]; }"),
        ("builtins.partition (x: true) [ ]", "{ right = [ ]; wrong = [ ]; }"),
        (
            r#"builtins.length (builtins.partition (x: true) [ (throw "forced") ]).right"#,
            "error: forced",
        ),
    ]);
}

#[test]
fn mapping() {
    check(&[
        ("map (x: x * 2) [ 1 2 3 ]", "[ 2 4 6 ]"),
        ("map (throw \"lazy\") [ ]", "[ ]"),
        ("map 1 [ ]", "[ ]"),
        ("map { __functor = self: x: x + self.by; by = 2; } [ 1 ]", "[ 3 ]"),
        (r#"builtins.length (map (x: throw "lazy") [ 1 2 ])"#, "2"),
        ("builtins.concatLists [ [ 1 ] [ ] [ 2 3 ] ]", "[ 1 2 3 ]"),
        ("builtins.concatLists [ ]", "[ ]"),
        (r#"builtins.length (builtins.concatLists [ [ (throw "lazy") ] [ 2 ] ])"#, "2"),
        ("builtins.concatLists [ [ 1 ] 2 ]", "error: expected a list but found an integer: 2"),
        ("builtins.concatMap (x: [ x x ]) [ 1 2 ]", "[ 1 1 2 2 ]"),
        ("builtins.concatMap (x: [ ]) [ 1 2 ]", "[ ]"),
        ("builtins.concatMap (x: [ ]) [ ]", "[ ]"),
        (r#"builtins.length (builtins.concatMap (x: [ (throw "lazy") ]) [ 1 2 ])"#, "2"),
        ("builtins.genList (x: x * x) 4", "[ 0 1 4 9 ]"),
        ("builtins.genList (x: x) 0", "[ ]"),
        (r#"builtins.length (builtins.genList (x: throw "lazy") 3)"#, "3"),
        ("builtins.genList (x: x) (-1)", "error: cannot create list of size -1"),
        (
            "builtins.genList (x: x) 9223372036854775807",
            "error: cannot create list of size 9223372036854775807",
        ),
        ("builtins.genList 1 0", "error: expected a function but found an integer: 1"),
    ]);
}

#[test]
fn folds() {
    check(&[
        ("builtins.foldl' (a: b: a - b) 10 [ 1 2 3 ]", "4"),
        ("builtins.foldl' (a: b: a) 7 [ ]", "7"),
        (r#"builtins.foldl' (a: b: b) (throw "unused") [ 1 ]"#, "1"),
        (r#"builtins.foldl' (a: b: b) (throw "needed") [ ]"#, "error: needed"),
        (r#"builtins.foldl' (a: b: 1) 0 [ (throw "lazy") ]"#, "1"),
        (r#"builtins.foldl' (a: f: f null) null [ (_: throw "strict") (_: 23) ]"#, "error: strict"),
        ("builtins.foldl' builtins.add 0 (builtins.genList (x: x) 20000)", "199990000"),
        ("builtins.foldl' builtins.add 0 1", "error: expected a list"),
    ]);
}

#[test]
fn sorting() {
    check(&[
        ("builtins.sort builtins.lessThan [ 3 1 2 ]", "[ 1 2 3 ]"),
        ("builtins.sort builtins.lessThan [ 3 1.5 2 ]", "[ 1.5 2 3 ]"),
        (r#"builtins.sort builtins.lessThan [ "b" "B" "a" "" ]"#, r#"[ "" "B" "a" "b" ]"#),
        ("builtins.sort builtins.lessThan [ [ 2 ] [ 1 2 ] [ 1 ] ]", "[ [ 1 ] [ 1 2 ] [ 2 ] ]"),
        ("builtins.sort builtins.lessThan [ /b /a ]", "[ /a /b ]"),
        ("builtins.sort builtins.lessThan [ { } ]", "[ { } ]"),
        ("builtins.sort builtins.lessThan [ ]", "[ ]"),
        ("builtins.sort (throw \"lazy\") [ ]", "[ ]"),
        (
            r#"builtins.sort builtins.lessThan [ 3 1 "a" ]"#,
            "error: cannot compare a string with an integer",
        ),
        ("builtins.sort (a: b: a > b) [ 1 3 2 ]", "[ 3 2 1 ]"),
        (
            "map (x: x.v) (builtins.sort (a: b: a.k < b.k)
               (builtins.genList (i: { k = builtins.bitAnd i 3; v = i; }) 12))",
            "[ 0 4 8 1 5 9 2 6 10 3 7 11 ]",
        ),
        ("builtins.length (builtins.sort (a: b: true) (builtins.genList (x: x) 1000))", "1000"),
        (r#"builtins.length (builtins.sort (a: b: true) [ (throw "forced") ])"#, "error: forced"),
        ("builtins.sort (a: b: 1) [ 1 2 ]", "error: expected a Boolean but found an integer: 1"),
        (
            "builtins.sort builtins.lessThan (builtins.sort (a: b: a > b) (builtins.genList (x: x) 7))",
            "[ 0 1 2 3 4 5 6 ]",
        ),
    ]);
}

#[test]
fn closures() {
    check(&[
        (
            "map (x: x.key) (builtins.genericClosure {
               startSet = [ { key = 1; } ];
               operator = x: if x.key > 20 then [ ] else [ { key = x.key * 2; } { key = x.key * 3; } ];
             })",
            "[ 1 2 3 4 6 9 8 12 18 27 16 24 36 54 32 48 ]",
        ),
        (
            "builtins.genericClosure {
               startSet = [ { key = 1; v = 1; } { key = 1.0; v = 2; } { key = 2; v = 3; } ];
               operator = x: [ ];
             }",
            "[ { key = 1; v = 1; } { key = 2; v = 3; } ]",
        ),
        (
            r#"map (x: x.key) (builtins.genericClosure {
               startSet = [ { key = "b"; } { key = "a"; } { key = "b"; } ];
               operator = x: [ { key = x.key; } ];
             })"#,
            r#"[ "b" "a" ]"#,
        ),
        (
            "map (x: x.key) (builtins.genericClosure {
               startSet = [ { key = [ 1 2 ]; } { key = [ 1 ]; } { key = [ 1 2 ]; } { key = [ ]; } ];
               operator = x: [ ];
             })",
            "[ [ 1 2 ] [ 1 ] [ ] ]",
        ),
        (
            "builtins.length (builtins.genericClosure {
               startSet = builtins.genList (i: { key = i; }) 3000;
               operator = x: if x.key < 60000 then [ { key = x.key + 3000; } ] else [ ];
             })",
            "63000",
        ),
        (r#"builtins.genericClosure { startSet = [ ]; operator = throw "unused"; }"#, "[ ]"),
        (
            "builtins.genericClosure { startSet = [ { key = { }; } ]; operator = x: [ ]; }",
            "[ { key = { }; } ]",
        ),
        (
            r#"(builtins.head (builtins.genericClosure {
               startSet = [ { key = 1; v = throw "lazy"; } ]; operator = x: [ ];
             })).key"#,
            "1",
        ),
        ("builtins.genericClosure { }", "error: attribute 'startSet' missing"),
        (
            "builtins.genericClosure { startSet = [ { key = 1; } ]; }",
            "error: attribute 'operator' missing",
        ),
    ]);
}

#[test]
fn frames() {
    check_frames(&[
        (
            "builtins.concatMap (x: 1) [ 0 ]",
            &[
                "while calling the 'concatMap' builtin",
                "while evaluating the return value of the function passed to builtins.concatMap",
                "expected a list but found an integer: 1",
            ],
        ),
        (
            r#"builtins.foldl' 1 "foo" true"#,
            &[
                "while calling the 'foldl'' builtin",
                "while evaluating the first argument passed to builtins.foldlStrict",
                "expected a function but found an integer: 1",
            ],
        ),
        (
            "builtins.genericClosure { startSet = [ { nokey = 1; } ]; operator = x: [ ]; }",
            &[
                "while calling the 'genericClosure' builtin",
                "in genericClosure element { nokey = 1; }",
                "attribute 'key' missing",
            ],
        ),
        (
            r#"builtins.genericClosure {
                 startSet = [ { key = 1; } { key = "string"; } ]; operator = x: [ ];
               }"#,
            &[
                "while calling the 'genericClosure' builtin",
                r#"while comparing element { key = "string"; }"#,
                "with element { key = 1; }",
                r#"cannot compare a string with an integer; values are "string" and 1"#,
            ],
        ),
        (
            r#"builtins.genericClosure { startSet = [ { key = 1; } ]; operator = x: "no list"; }"#,
            &[
                "while calling the 'genericClosure' builtin",
                "while calling operator on genericClosure element { key = 1; }",
                "while evaluating the return value of the `operator` passed to builtins.genericClosure",
                r#"expected a list but found a string: "no list""#,
            ],
        ),
    ]);
}

#[test]
fn each_element_is_evaluated_once() {
    check_messages(
        &raddle_nix::Settings::default(),
        &[
            (
                r#"let l = [ (builtins.trace "a" 2) (builtins.trace "b" 1) ];
                   in builtins.sort builtins.lessThan l ++ l ++ builtins.filter (x: x > 1) l"#,
                &["trace: a", "trace: b"],
            ),
            (
                "let l = map (x: builtins.trace (toString x) x) [ 1 2 ]; in l ++ l",
                &["trace: 1", "trace: 2"],
            ),
        ],
    );
}
