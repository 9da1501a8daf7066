//! Values and errors as text.

use raddle_nix::print::{PrintOptions, ReportOptions, report};
use raddle_nix::{Cx, Error, Evaluator, Settings, Value};

type Print<'a> = &'a (dyn Fn(&Cx<'_>, Value) -> Result<String, Error> + Sync);

/// Evaluates each expression, prints the value and compares.
#[track_caller]
fn check(print: Print<'_>, cases: &[(&str, &str)]) {
    let evaluator = Evaluator::new(Settings::default(), |_| {}).unwrap();
    for (expression, expected) in cases {
        let printed = evaluator.run(|cx| print(cx, cx.eval_string(expression.as_bytes(), b"/")?));
        let printed = printed.unwrap_or_else(|error| format!("error: {error}"));
        assert_eq!(printed, *expected, "{expression}");
    }
}

/// Values that both printers show alike.
const COMMON: &[(&str, &str)] = &[
    ("1", "1"),
    ("-9223372036854775807 - 1", "-9223372036854775808"),
    ("1.0", "1"),
    ("100000000.0", "1e+08"),
    ("0.1 + 0.2", "0.3"),
    ("true", "true"),
    ("null", "null"),
    ("/a/../b", "/b"),
    (r#""a\"\n\t\r\\\${x} $x""#, r#""a\"\n\t\r\\\${x} $x""#),
    ("[ ]", "[ ]"),
    ("{ }", "{ }"),
    ("[ 1 [ { } ] ]", "[ 1 [ { } ] ]"),
    ("{ b = 1; a.c = [ 2 ]; }", "{ a = { c = [ 2 ]; }; b = 1; }"),
    (
        r#"{ "a b" = 1; or = 2; "if" = 3; "1" = 4; "'" = 5; a'-_ = 6; "" = 7; }"#,
        r#"{ "" = 7; "'" = 5; "1" = 4; "a b" = 1; a'-_ = 6; "if" = 3; or = 2; }"#,
    ),
    // Repetition: sets and long lists by identity, short lists by the cell they are in.
    (
        "let x = { a = 1; }; in [ x x (x // { }) { a = 1; } ]",
        "[ { a = 1; } «repeated» «repeated» { a = 1; } ]",
    ),
    ("let x = { }; y = [ ]; in [ x x y y ]", "[ { } { } [ ] [ ] ]"),
    ("let x = [ 1 ]; in [ x x x ]", "[ [ 1 ] [ 1 ] «repeated» ]"),
    ("let x = [ 1 2 3 ]; in [ x x ]", "[ [ 1 2 3 ] «repeated» ]"),
    ("let x = { y = x; }; in x", "{ y = «repeated»; }"),
    ("let x = [ x ]; in x", "[ [ «repeated» ] ]"),
    ("[ (let x = [ x ]; in x) ]", "[ [ [ «repeated» ] ] ]"),
    ("let x = [ x 1 2 ]; in x", "[ «repeated» 1 2 ]"),
];

#[test]
fn plain() {
    check(&|cx, value| cx.print_plain(value, true), COMMON);
    check(
        &|cx, value| cx.print_plain(value, true),
        &[
            ("[ (x: x) builtins.seq (builtins.seq 1) ]", "[ <LAMBDA> <PRIMOP> <PRIMOP-APP> ]"),
            (r#"{ a = throw "no"; }"#, "error: no"),
        ],
    );
    check(
        &|cx, value| cx.print_plain(value, false),
        &[
            ("[ 1 (1 + 1) ]", "[ 1 <CODE> ]"),
            (r#"{ a = throw "no"; b.c = 1; }"#, "{ a = <CODE>; b = <CODE>; }"),
            ("let x = 1 + 1; in builtins.seq x [ x ]", "[ 2 ]"),
        ],
    );
}

#[test]
fn pretty() {
    check(&|cx, value| cx.print(value), COMMON);
    check(
        &|cx, value| cx.print(value),
        &[
            ("x: x", "«lambda @ «string»:1:1»"),
            ("{ f = { a }: a; }", "{ f = «lambda f @ «string»:1:7»; }"),
            (
                "[ builtins.seq (builtins.seq 1) ]",
                "[ «primop seq» «partially applied primop seq» ]",
            ),
            (r#"[ 1 (throw "no") ]"#, "error: no"),
            (
                r#"[ { type = "derivation"; drvPath = "/nix/store/x.drv"; } ]"#,
                "[ «derivation /nix/store/x.drv» ]",
            ),
            (r#"{ type = "derivation"; }"#, "«derivation»"),
        ],
    );
}

#[test]
fn shallow() {
    check(
        &|cx, value| Ok(cx.print_shallow(value)),
        &[
            ("{ a = 1 + 1; b = 2; c = [ (1 + 1) ]; }", "{ a = «thunk»; b = 2; c = «thunk»; }"),
            ("[ (1 + 1) (x: x) ]", "[ «thunk» «lambda @ «string»:1:12» ]"),
            (r#"let x = throw "no"; in builtins.seq (builtins.tryEval x) [ x ]"#, "[ «thunk» ]"),
            (r#"{ type = "derivation"; }"#, r#"{ type = "derivation"; }"#),
        ],
    );
}

#[test]
fn messages_from_inside_an_evaluation() {
    let messages = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let sink = std::sync::Arc::clone(&messages);
    let print = move |message: &str| sink.lock().unwrap().push(message.to_owned());
    let evaluator = Evaluator::new(Settings::default(), print).unwrap();
    let text = b"let s = { x = builtins.trace s 1; }; in s.x";
    let value = evaluator.run(|cx| cx.print(cx.eval_string(text, b"/")?));
    assert_eq!(value.unwrap(), "1");
    assert_eq!(*messages.lock().unwrap(), ["trace: { x = «potential infinite recursion»; }"]);
}

#[test]
fn limits() {
    let options = PrintOptions {
        max_depth: 2,
        max_attrs: 3,
        max_items: 3,
        max_string: 4,
        ..PrintOptions::EVAL
    };
    check(
        &move |cx, value| cx.print_with(value, &options),
        &[
            ("[ 1 2 3 4 ]", "[ 1 2 3 «1 item elided» ]"),
            ("[ [ 1 2 ] [ 3 4 5 ] 6 ]", "[ [ 1 2 ] «2 items elided» ]"),
            (
                "{ a = 1; b = 2; c = 3; d = 4; type = 5; _type = 6; }",
                "{ _type = 6; type = 5; a = 1; «3 attributes elided» }",
            ),
            ("[ { a = { }; b = [ ]; } ]", "[ { a = { ... }; b = [ ... ]; } ]"),
            (r#""abcde""#, r#""abcd" «1 byte elided»"#),
            (r#""abcé!""#, r#""abc" «3 bytes elided»"#),
        ],
    );
}

#[test]
fn over_several_lines() {
    let options = PrintOptions { max_depth: usize::MAX, ..PrintOptions::REPL };
    check(
        &move |cx, value| cx.print_with(value, &options),
        &[
            ("{ a = 1; }", "{ a = 1; }"),
            ("[ [ ] ]", "[\n  [ ]\n]"),
            (
                "{ a = 1; b = { c = [ 1 2 ]; }; }",
                "{\n  a = 1;\n  b = {\n    c = [\n      1\n      2\n    ];\n  };\n}",
            ),
            (r#"[ 1 (throw "no") ]"#, "[\n  1\n  «error: no»\n]"),
            (r#"throw "no""#, "error: no"),
        ],
    );
    check(
        &|cx, value| cx.print_with(value, &PrintOptions::REPL),
        &[("{ a.b = 1; c = [ ]; }", "{\n  a = { ... };\n  c = [ ... ];\n}")],
    );
}

#[test]
fn colours() {
    let options = PrintOptions { colour: true, max_string: 1, ..PrintOptions::EVAL };
    check(
        &move |cx, value| cx.print_with(value, &options),
        &[
            ("[ 1 /a ]", "[ \x1b[36;1m1\x1b[0m \x1b[32;1m/a\x1b[0m ]"),
            (r#""ab""#, "\x1b[35;1m\"a\" \x1b[0m\x1b[2m«1 byte elided»\x1b[0m"),
        ],
    );
}

/// Values nested too deeply are an error or said to be, whatever the printer.
#[test]
fn deep_values() {
    let text = "builtins.foldl' (x: _: [ x ]) null (builtins.genList (x: x) 20000)";
    let evaluator = Evaluator::new(Settings::default(), |_| {}).unwrap();
    evaluator.run(|cx| {
        let value = cx.eval_string(text.as_bytes(), b"/").unwrap();
        assert!(cx.print(value).unwrap_err().to_string().starts_with("stack overflow"));
        assert!(cx.print_plain(value, true).unwrap_err().to_string().starts_with("stack overflow"));
        assert!(
            cx.print_plain(value, false).unwrap_err().to_string().starts_with("stack overflow")
        );
        assert!(cx.print_shallow(value).contains("«error: stack overflow"));
    });
}

/// Evaluates each expression, which fails, and compares the report.
#[track_caller]
fn check_report(options: &ReportOptions, cases: &[(&str, &str)]) {
    let settings = Settings { show_trace: options.show_trace, ..Settings::default() };
    let evaluator = Evaluator::new(settings, |_| {}).unwrap();
    for (expression, expected) in cases {
        let result =
            evaluator.run(|cx| cx.print_plain(cx.eval_string(expression.as_bytes(), b"/")?, true));
        assert_eq!(report(result.unwrap_err(), options), *expected, "{expression}");
    }
}

#[test]
fn reports() {
    check_report(
        &ReportOptions { show_trace: true, ..ReportOptions::default() },
        &[
            // Without frames, everything follows on the first line.
            (
                "# one\nx",
                "error: undefined variable 'x'\n       at «string»:2:1:\n            1| # one\n            2| x\n             | ^",
            ),
            (
                "1 +",
                "error: syntax error, unexpected end of file\n       at «string»:1:4:\n            1| 1 +\n             |    ^",
            ),
            (
                "\nthrow \"no\\nmore\"\n",
                "error:\n       … while calling the 'throw' builtin\n         at «string»:2:1:\n            1|\n            2| throw \"no\\nmore\"\n             | ^\n            3|\n\n       error: no\n       more",
            ),
            (
                r#"builtins.addErrorContext "context" { a = 1; }.b"#,
                "error:\n       … context\n\n       … while evaluating the attribute 'b'\n         at «string»:1:36:\n            1| builtins.addErrorContext \"context\" { a = 1; }.b\n             |                                    ^\n\n       error: attribute 'b' missing\n       Did you mean a?",
            ),
        ],
    );
}

/// Returns a recursive function whose trace has two frames for each of `n` calls.
fn recursion(n: usize) -> String {
    format!("let f = n: if n > 0 then f (n - 1) else throw \"end\"; in f {n}")
}

#[test]
fn repeated_frames() {
    let evaluator =
        Evaluator::new(Settings { show_trace: true, ..Settings::default() }, |_| {}).unwrap();
    let text = |n: usize, show_trace| {
        let expression = recursion(n);
        let result = evaluator.run(|cx| cx.eval_string(expression.as_bytes(), b"/"));
        report(result.unwrap_err(), &ReportOptions { show_trace, ..ReportOptions::default() })
    };
    for (n, frames, note) in [(1, 5, ""), (3, 9, ""), (4, 4, "(7 duplicate frames omitted)")] {
        let shown = text(n, true);
        assert_eq!(shown.matches("       … ").count(), frames, "{shown}");
        assert!(shown.contains(note), "{shown}");
        assert_eq!(shown.contains("duplicate"), !note.is_empty(), "{shown}");
        assert!(shown.ends_with("\n       error: end"), "{shown}");
    }
    let cut = text(3, false);
    assert_eq!(cut.matches("       … ").count(), 2, "{cut}");
    let note =
        "\n       (stack trace truncated; use '--show-trace' to show the full, detailed trace)";
    assert!(cut.ends_with(&format!("{note}\n\n       error: end")), "{cut}");
}

#[test]
fn context_is_never_cut() {
    let expression = r#"let f = n: if n == 0 then throw "end"
        else builtins.addErrorContext "level ${toString n}" (f (n - 1)); in f 6"#;
    let evaluator = Evaluator::new(Settings::default(), |_| {}).unwrap();
    let result = evaluator.run(|cx| cx.eval_string(expression.as_bytes(), b"/"));
    let text = report(result.unwrap_err(), &ReportOptions::default());
    for n in 1..=6 {
        assert!(text.contains(&format!("\n       … level {n}\n")), "{text}");
    }
    assert!(text.contains("(stack trace truncated"), "{text}");
}

#[test]
fn escapes_in_messages_are_kept_only_with_colours() {
    let text = r#"throw "a ${builtins.fromJSON "\"\\u001b[1mbold\\u001b[0m\""} word""#;
    let evaluator = Evaluator::new(Settings::default(), |_| {}).unwrap();
    let error = evaluator.run(|cx| cx.eval_string(text.as_bytes(), b"/")).unwrap_err();
    let plain = report(error, &ReportOptions::default());
    assert!(plain.contains("a bold word") && !plain.contains('\u{1b}'), "{plain}");
    let coloured = report(error, &ReportOptions { colour: true, ..ReportOptions::default() });
    assert!(coloured.contains("a \u{1b}[1mbold\u{1b}[0m word"), "{coloured}");
}

#[test]
fn unwinding_from_a_full_stack_is_linear() {
    // With a walk over all frames for each one added, this would take hours.
    let text =
        "(builtins.foldl' (a: b: { v = a.v + b; }) { v = 0; } (builtins.genList (x: x) 2000000)).v";
    let evaluator = Evaluator::new(Settings::default(), |_| {}).unwrap();
    let error = evaluator.run(|cx| cx.eval_string(text.as_bytes(), b"/")).unwrap_err();
    assert!(error.to_string().contains("stack overflow"), "{error}");
}
