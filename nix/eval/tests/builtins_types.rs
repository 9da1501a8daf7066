//! Types and numbers.

mod support;

use support::{check, check_frames};

#[test]
fn type_names() {
    check(&[
        ("builtins.typeOf 1", r#""int""#),
        ("builtins.typeOf 1.5", r#""float""#),
        ("builtins.typeOf true", r#""bool""#),
        (r#"builtins.typeOf "s""#, r#""string""#),
        ("builtins.typeOf /p", r#""path""#),
        ("builtins.typeOf null", r#""null""#),
        ("builtins.typeOf { }", r#""set""#),
        ("builtins.typeOf { __functor = self: x: x; }", r#""set""#),
        ("builtins.typeOf [ ]", r#""list""#),
        ("builtins.typeOf (x: x)", r#""lambda""#),
        ("builtins.typeOf map", r#""lambda""#),
        ("builtins.typeOf (map (x: x))", r#""lambda""#),
        (r#"builtins.typeOf (throw "no")"#, "error: no"),
    ]);
}

#[test]
fn type_tests() {
    let one_of_each = [
        ("isInt", "1"),
        ("isFloat", "1.5"),
        ("isBool", "false"),
        ("isString", r#""s""#),
        ("isPath", "/p"),
        ("isNull", "null"),
        ("isAttrs", "{ }"),
        ("isList", "[ ]"),
        ("isFunction", "(x: x)"),
    ];
    for (test, _) in one_of_each {
        for (type_of_value, value) in one_of_each {
            let expected = if test == type_of_value { "true" } else { "false" };
            check(&[(&format!("builtins.{test} {value}"), expected)]);
        }
    }
    check(&[
        ("isNull null", "true"),
        ("builtins.isFunction { __functor = self: x: x; }", "false"),
        ("builtins.isFunction map", "true"),
        ("builtins.isFunction (map (x: x))", "true"),
        ("builtins.isFloat 1.0", "true"),
        (r#"builtins.isList [ (throw "lazy") ]"#, "true"),
        ("builtins.isInt 9223372036854775807", "true"),
    ]);
}

#[test]
fn arithmetic() {
    check(&[
        ("builtins.add 1 2", "3"),
        ("builtins.add 1 2.5", "3.5"),
        ("builtins.add 1.0 2", "3"),
        ("builtins.isFloat (builtins.add 1.0 2)", "true"),
        ("builtins.sub 1 2", "-1"),
        ("builtins.sub 1.5 1", "0.5"),
        ("builtins.mul 3 4", "12"),
        ("builtins.mul 3 0.5", "1.5"),
        ("builtins.div 7 2", "3"),
        ("builtins.div (-7) 2", "-3"),
        ("builtins.div 7 (-2)", "-3"),
        ("builtins.div 7 2.0", "3.5"),
        ("builtins.div 7.0 2", "3.5"),
        ("builtins.add 9223372036854775806 1", "9223372036854775807"),
        ("builtins.sub (-9223372036854775807) 1", "-9223372036854775808"),
        ("builtins.add 1152921504606846975 1", "1152921504606846976"),
        ("builtins.sub (-1152921504606846976) 1", "-1152921504606846977"),
        ("builtins.div 0 5", "0"),
        ("builtins.div 1 0", "error: division by zero"),
        ("builtins.div 1 0.0", "error: division by zero"),
        ("builtins.div 1.5 0", "error: division by zero"),
        (r#"builtins.div "x" 0"#, "error: division by zero"),
        (
            "builtins.add 9223372036854775807 1",
            "error: integer overflow in adding 9223372036854775807 + 1",
        ),
        (
            "builtins.sub (-9223372036854775807) 2",
            "error: integer overflow in subtracting -9223372036854775807 - 2",
        ),
        (
            "builtins.mul 4294967297 4294967297",
            "error: integer overflow in multiplying 4294967297 * 4294967297",
        ),
        (
            "builtins.div (-9223372036854775807 - 1) (-1)",
            "error: integer overflow in dividing -9223372036854775808 / -1",
        ),
        ("(builtins.tryEval (builtins.add 9223372036854775807 1)).success", "error: overflow"),
        (r#"builtins.add "a" "b""#, "error: expected an integer but found a string"),
        (r#"builtins.add 1.0 "b""#, "error: expected a float but found a string"),
        ("builtins.mul null 1", "error: expected an integer but found null"),
    ]);
}

#[test]
fn order() {
    check(&[
        ("builtins.lessThan 1 2", "true"),
        ("builtins.lessThan 2 1", "false"),
        ("builtins.lessThan 1 1", "false"),
        ("builtins.lessThan 1 1.5", "true"),
        ("builtins.lessThan 1.5 1", "false"),
        (r#"builtins.lessThan "B" "a""#, "true"),
        (r#"builtins.lessThan "a" "ab""#, "true"),
        (r#"builtins.lessThan "é" "z""#, "false"),
        ("builtins.lessThan /a /b", "true"),
        ("builtins.lessThan [ 1 2 ] [ 1 3 ]", "true"),
        ("builtins.lessThan [ 1 ] [ 1 3 ]", "true"),
        ("builtins.lessThan [ 1 3 ] [ 1 ]", "false"),
        ("builtins.lessThan [ ] [ ]", "false"),
        ("builtins.lessThan [ null 1 ] [ null 2 ]", "true"),
        (
            r#"builtins.lessThan 1 "foo""#,
            r#"error: cannot compare an integer with a string; values are 1 and "foo""#,
        ),
        (
            "builtins.lessThan { } { }",
            "error: cannot compare a set with a set; values of that type are incomparable (values are { } and { })",
        ),
        ("builtins.lessThan null null", "error: cannot compare null with null"),
        ("builtins.lessThan true false", "error: cannot compare a Boolean with a Boolean"),
        ("builtins.lessThan /a \"/b\"", "error: cannot compare a path with a string"),
    ]);
}

#[test]
fn bits() {
    check(&[
        ("builtins.bitAnd 12 10", "8"),
        ("builtins.bitOr 12 10", "14"),
        ("builtins.bitXor 12 10", "6"),
        ("builtins.bitAnd (-1) 9223372036854775807", "9223372036854775807"),
        ("builtins.bitXor (-1) 0", "-1"),
        ("builtins.bitAnd 1.0 1", "error: expected an integer but found a float"),
    ]);
}

#[test]
fn rounding() {
    check(&[
        ("builtins.floor 1.5", "1"),
        ("builtins.floor (-1.5)", "-2"),
        ("builtins.ceil 1.5", "2"),
        ("builtins.ceil (-1.5)", "-1"),
        ("builtins.floor 2", "2"),
        ("builtins.ceil 9223372036854775807", "9223372036854775807"),
        ("builtins.floor (-9223372036854775808.0)", "-9223372036854775808"),
        ("builtins.floor 9223372036854775808.0", "error: 9.22337e+18 is not in the range"),
        ("builtins.ceil 1.0e30", "error: NixFloat argument 1e+30 is not in the range of NixInt"),
        (r#"builtins.floor "1""#, "error: expected a float but found a string"),
    ]);
}

#[test]
fn frames() {
    check_frames(&[
        (
            r#"builtins.div 1 "x""#,
            &[
                "while calling the 'div' builtin",
                "while evaluating the second operand of the division",
                r#"expected a float but found a string: "x""#,
            ],
        ),
        (
            r#"builtins.sub "x" 1"#,
            &[
                "while calling the 'sub' builtin",
                "while evaluating the first argument of the subtraction",
                r#"expected an integer but found a string: "x""#,
            ],
        ),
        (
            "builtins.bitOr 1 2.2",
            &[
                "while calling the 'bitOr' builtin",
                "while evaluating the second argument passed to builtins.bitOr",
                "expected an integer but found a float: 2.2",
            ],
        ),
        (
            r#"builtins.lessThan [ 1 2 ] [ "foo" ]"#,
            &[
                "while calling the 'lessThan' builtin",
                "while comparing two list elements",
                r#"cannot compare an integer with a string; values are 1 and "foo""#,
            ],
        ),
    ]);
}
