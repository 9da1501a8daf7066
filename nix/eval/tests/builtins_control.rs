//! Control of evaluation.

mod support;

use raddle_nix::Settings;
use support::{check, check_frames, check_messages, check_with};

#[test]
fn strictness() {
    check(&[
        ("builtins.seq 1 2", "2"),
        (r#"builtins.seq (throw "first") (throw "second")"#, "error: first"),
        (r#"builtins.seq { a = throw "deep"; } 2"#, "2"),
        (r#"builtins.seq [ (throw "deep") ] 2"#, "2"),
        (r#"builtins.deepSeq { a = [ (throw "deep") ]; } 2"#, "error: deep"),
        ("builtins.deepSeq { a = 1; } 2", "2"),
        ("let x = { y = x; }; in builtins.deepSeq x 1", "1"),
        ("let x = [ x 1 ]; in builtins.deepSeq x 1", "1"),
        ("builtins.break 3", "3"),
        ("break (1 + 2)", "3"),
    ]);
}

#[test]
fn catching() {
    check(&[
        ("builtins.tryEval 1", "{ success = true; value = 1; }"),
        (r#"builtins.tryEval (throw "x")"#, "{ success = false; value = false; }"),
        ("builtins.tryEval (assert false; 1)", "{ success = false; value = false; }"),
        ("builtins.tryEval <no-such-thing>", "{ success = false; value = false; }"),
        (r#"(builtins.tryEval { a = throw "lazy"; }).success"#, "true"),
        (r#"(builtins.tryEval (builtins.deepSeq { a = throw "x"; } 1)).success"#, "false"),
        (r#"builtins.tryEval (abort "x")"#, "error: evaluation aborted"),
        ("builtins.tryEval (1 + null)", "error: cannot add null to an integer"),
        ("builtins.tryEval { }.a", "error: attribute 'a' missing"),
        ("builtins.tryEval (let x = x; in x)", "error: infinite recursion"),
        ("builtins.tryEval (1 / 0)", "error: division by zero"),
        (
            r#"let x = throw "x"; in [ (builtins.tryEval x).success (builtins.tryEval x).success ]"#,
            "[ false false ]",
        ),
    ]);
}

#[test]
fn failing() {
    check(&[
        (r#"throw "some text""#, "error: some text"),
        (r#"throw { __toString = self: "from a set"; }"#, "error: from a set"),
        (r#"throw (throw "inner")"#, "error: inner"),
        ("throw 1", "error: cannot coerce an integer to a string: 1"),
        (r#"abort "m""#, "error: evaluation aborted with the following error message: 'm'"),
        ("abort null", "error: cannot coerce null to a string: null"),
        (r#"builtins.addErrorContext (throw "unused") 1"#, "1"),
        (r#"builtins.addErrorContext "while testing" (throw "x")"#, "error: x"),
        (
            r#"(builtins.tryEval (builtins.addErrorContext "while testing" (throw "x"))).success"#,
            "false",
        ),
    ]);
}

#[test]
fn messages() {
    let verbose = Settings { trace_verbose: true, ..Settings::default() };
    check_messages(
        &Settings::default(),
        &[
            (r#"builtins.trace "a" 1"#, &["trace: a"]),
            (r#"builtins.trace "a\nb" 1"#, &["trace: a\nb"]),
            ("builtins.trace 1.5 1", &["trace: 1.5"]),
            ("builtins.trace [ (1 + 1) ] 1", &["trace: [ «thunk» ]"]),
            (r#"builtins.trace "a" (builtins.trace "b" 1)"#, &["trace: a", "trace: b"]),
            (r#"builtins.trace (builtins.trace "in" "out") 1"#, &["trace: in", "trace: out"]),
            (r#"builtins.trace "a" (throw "x")"#, &["trace: a"]),
            (r#"builtins.trace (throw "x") 1"#, &[]),
            (r#"let x = builtins.trace "once" 1; in x + x"#, &["trace: once"]),
            (
                r#"let x = builtins.trace "once" throw "x";
                   in [ (builtins.tryEval x).success (builtins.tryEval x).success ]"#,
                &["trace: once"],
            ),
            (r#"builtins.traceVerbose "a" 1"#, &[]),
            (r#"builtins.traceVerbose (throw "unused") 1"#, &[]),
            (r#"builtins.warn "w" 1"#, &["evaluation warning: w"]),
            (r#"builtins.warn "a\nb" 1"#, &["evaluation warning: a\n                    b"]),
            ("builtins.warn 1 1", &[]),
        ],
    );
    check_messages(&verbose, &[(r#"builtins.traceVerbose "a" 1"#, &["trace: a"])]);
    check(&[
        ("builtins.warn 1 1", "error: expected a string but found an integer: 1"),
        (r#"builtins.warn "w" 2"#, "2"),
        (r#"builtins.trace "w" 2"#, "2"),
        (r#"builtins.traceVerbose (throw "unused") 2"#, "2"),
    ]);
    let aborting = Settings { abort_on_warn: true, ..Settings::default() };
    check_with(
        aborting,
        &[(r#"builtins.tryEval (builtins.warn "w" 2)"#, "error: aborting to reveal stack trace")],
    );
}

#[test]
fn frames() {
    check_frames(&[
        (
            r#"builtins.addErrorContext "forcing" (throw "nope")"#,
            &["forcing", "while calling the 'throw' builtin", "nope"],
        ),
        (
            r#"builtins.seq (abort "foo") 2"#,
            &[
                "while calling the 'seq' builtin",
                "while calling the 'abort' builtin",
                "evaluation aborted with the following error message: 'foo'",
            ],
        ),
        (
            r#"builtins.deepSeq [ 1 { b = throw "x"; } ] 1"#,
            &[
                "while calling the 'deepSeq' builtin",
                "while evaluating list element at index 1",
                "while evaluating the attribute 'b'",
                "while calling the 'throw' builtin",
                "x",
            ],
        ),
    ]);
}
