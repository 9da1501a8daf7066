//! Evaluation on several workers: the same values, messages and errors as on one.

use std::fmt::Write as _;
use std::sync::{Arc, Mutex};

use raddle_nix::print::report::{ReportOptions, report};
use raddle_nix::{Evaluator, Settings};

/// The value or the report of the error, and the messages.
type Outcome = (Result<String, String>, Vec<String>);

fn evaluate(workers: usize, text: &str) -> Outcome {
    evaluate_with(Settings { workers, show_trace: true, ..Settings::default() }, text)
}

fn evaluate_with(settings: Settings, text: &str) -> Outcome {
    let options = ReportOptions { show_trace: settings.show_trace, ..ReportOptions::default() };
    let messages = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&messages);
    let evaluator = Evaluator::new(settings, move |message| {
        sink.lock().unwrap().push(message.to_owned());
    })
    .unwrap();
    let result = evaluator.run(|cx| {
        cx.eval_string(text.as_bytes(), b"/")
            .and_then(|value| cx.print_plain(value, true))
            .map_err(|error| report(error, &options))
    });
    drop(evaluator);
    let messages = messages.lock().unwrap().clone();
    (result, messages)
}

/// Evaluates `text` with every number of workers, several times, and returns what came out.
fn check(text: &str) -> Outcome {
    check_rounds(4, text)
}

fn check_rounds(rounds: usize, text: &str) -> Outcome {
    let expected = evaluate(1, text);
    for workers in [2, 3, 4, 8, 16] {
        for round in 0..rounds {
            let outcome = evaluate(workers, text);
            assert_eq!(outcome, expected, "{workers} workers, round {round}: {text}");
        }
    }
    expected
}

/// Definitions for the cases: `busy n` takes a while, `many f` makes a set of 60 attributes.
const PRELUDE: &str = r#"
    let
      busy = n: builtins.foldl' (a: b: a + b) 0 (builtins.genList (i: i) n);
      many = f: builtins.listToAttrs
        (builtins.genList (i: { name = "a${toString (100 + i)}"; value = f i; }) 60);
    in
"#;

fn with_prelude(text: &str) -> String {
    format!("{PRELUDE}{text}")
}

#[test]
fn values_do_not_depend_on_workers() {
    for text in [
        "many (i: busy (i * 10))",
        "let shared = busy 20000; in many (i: shared + i)",
        "let chain = builtins.genList (i: if i == 0 then busy 100 else builtins.elemAt chain (i - 1) + 1) 60; in many (builtins.elemAt chain)",
        "let x = many (i: { inherit i; all = builtins.attrNames x; }); in x",
        "builtins.genList (i: [ i (busy i) { a.b.c = busy (i * 7); } ]) 50",
        "many (i: (builtins.tryEval (if busy i > 500 then throw \"no\" else i)).success)",
        "let s = { n = 1; }; in [ s s { x = s; } ]",
    ] {
        let (result, _) = check(&with_prelude(text));
        assert!(result.is_ok(), "{text}: {result:?}");
    }
}

#[test]
fn the_first_error_in_order_is_reported() {
    let text = with_prelude(
        "many (i: if i == 7 || i == 3 || i == 50 then throw \"at ${toString (busy 3000 + i)}\" else busy 500)",
    );
    let (result, _) = check(&text);
    let error = result.unwrap_err();
    assert!(error.contains("at 4498503"), "{error}");
    assert!(error.contains("while evaluating the attribute 'a103'"), "{error}");
}

#[test]
fn what_a_message_shows_of_a_value_does_not_depend_on_workers() {
    for text in [
        "let s = { a = busy 10; b = \"constant\"; c = [ (busy 1) ]; d = [ 1 2 ]; }; in many (i: if i == 59 then \"${s}\" else builtins.deepSeq s (busy i))",
        "let l = [ (busy 10) { a = 1; } ]; in many (i: if i == 30 then l + 1 else builtins.deepSeq l (busy i))",
    ] {
        let (result, _) = check(&with_prelude(text));
        let error = result.unwrap_err();
        assert!(error.contains("«thunk»"), "{error}");
    }
}

#[test]
fn an_endless_sibling_does_not_hide_an_error() {
    let text = with_prelude(
        "let forever = builtins.genericClosure { startSet = [ { key = 0; } ]; operator = x: [ { key = x.key + 1; } ]; };
         in many (i: if i == 5 then throw \"five\" else if i > 5 then forever else i)",
    );
    for workers in [2, 4] {
        let error = evaluate(workers, &text).0.unwrap_err();
        assert!(error.contains("five"), "{error}");
    }
}

#[test]
fn a_cycle_over_tasks_is_infinite_recursion() {
    for text in [
        "let x = { a = busy 2000 + x.b; b = busy 2000 + x.a; }; in x",
        "let x = { a = busy 900 + x.b; b = busy 900 + x.c; c = busy 900 + x.a; }; in x",
        // A ring through all sixty attributes.
        "let x = many (i: busy 300 + x.\"a${toString (100 + (if i == 59 then 0 else i + 1))}\"); in x",
        "let x = { a = busy 900; b = busy 900 + x.c; c = busy 900 + x.b; d = throw \"later\"; }; in x",
        "let x = { a = [ (busy 900) x.b.y ]; b = { y = busy 900 + x.c; }; c = busy 900 + builtins.elemAt x.a 1; }; in x",
    ] {
        let (result, _) = check(&with_prelude(text));
        let error = result.unwrap_err();
        assert!(error.contains("infinite recursion encountered"), "{error}");
    }
}

#[test]
fn too_deep_recursion_is_an_error_on_every_worker() {
    let text = with_prelude("let f = x: 1 + f (x + 1); in { a = f 0; b = f 1; }");
    let expected = evaluate_with(Settings::default(), &text);
    assert!(expected.0.as_ref().unwrap_err().contains("max-call-depth exceeded"));
    for workers in [2, 4] {
        let settings = Settings { workers, ..Settings::default() };
        assert_eq!(evaluate_with(settings, &text), expected, "{workers} workers");
    }
}

#[test]
fn messages_come_in_program_order_and_once() {
    let text = with_prelude(
        "let shared = builtins.trace \"shared\" (busy 3000);
         in many (i: builtins.trace \"item ${toString i}\" (shared + busy (1000 - i * 10)))",
    );
    let (result, messages) = check(&text);
    assert!(result.is_ok());
    let mut expected = vec!["trace: item 0".to_owned(), "trace: shared".to_owned()];
    for i in 1..60 {
        let mut line = String::new();
        write!(line, "trace: item {i}").unwrap();
        expected.push(line);
    }
    assert_eq!(messages, expected);
}

#[test]
fn a_member_of_an_evaluated_set_is_still_met_in_order() {
    for (text, expected) in [
        (
            "let s = builtins.trace \"s\" { x = busy 10; }; in { a = builtins.trace \"a\" s.x; b = builtins.trace \"b\" s.x; c = seq (busy 50) s; }",
            "a s b",
        ),
        (
            "let s = builtins.trace \"s\" { x = builtins.trace \"x\" (busy 10); }; in { a = with s; builtins.trace \"a\" (y: x) 1; b = builtins.trace \"b\" s.x; }",
            "a s x b",
        ),
        (
            "let l = builtins.trace \"l\" [ (busy 10) ]; in { a = builtins.trace \"a\" (builtins.elemAt l 0); b = builtins.trace \"b\" (builtins.head l); }",
            "a l b",
        ),
    ] {
        let (result, messages) = check(&format!("with builtins; {}", with_prelude(text)));
        assert!(result.is_ok(), "{result:?}");
        assert_eq!(messages.join(" ").replace("trace: ", ""), expected, "{text}");
    }
}

#[test]
fn the_context_of_an_error_does_not_take_its_place() {
    for (text, expected) in [
        (
            "let tryOr = v: d: let r = builtins.tryEval v; in if r.success then r.value else d;
               t1 = tryOr a 1; a = builtins.addErrorContext (throw \"a\") t2;
               t2 = tryOr b 2; b = builtins.addErrorContext (throw \"b\") t1;
             in { x = builtins.seq (busy 3000) t1; y = t2; }",
            "infinite recursion",
        ),
        (
            "let s = builtins.addErrorContext (assert false; \"\") (busy 90000); in { a = throw \"first\"; b = s; c = busy s; }",
            "first",
        ),
        (
            "let s = builtins.addErrorContext (assert false; \"\") (throw \"no\"); in [ s ]",
            "assertion",
        ),
    ] {
        let error = check(&with_prelude(text)).0.unwrap_err();
        assert!(error.contains(expected), "{text}: {error}");
    }
}

/// The reports have all their frames, whoever was in the cycle or at the failure first.
#[test]
fn traces_do_not_depend_on_workers() {
    for text in [
        "let s = { x = s.y; y = s.z + 1; z = s.x + 1; }; in { a = builtins.seq (busy 900) s.x; b = s.z; c = s.y; }",
        "let s = { x = s.y; y = builtins.seq (busy 500) s.x; }; in many (i: if i == 0 then builtins.seq (busy 2000) s.y else s.x)",
        "let s = builtins.seq (busy 90) { x = throw \"no\"; }; in { a = builtins.seq (busy 500) (builtins.stringLength s.x); b = s.x; c = with s; [ x ]; }",
        // A function that is evaluated before it is called, or not.
        "let f = builtins.seq (busy 90) (x: if x == 3 then throw \"no\" else x); in { a = builtins.seq (busy 900) (builtins.map f [ 1 2 3 ]); b = f 1; }",
    ] {
        let (result, _) = check(&with_prelude(text));
        assert!(result.is_err(), "{text}");
    }
}

#[test]
fn messages_after_an_error_are_not_printed() {
    let text = with_prelude(
        "many (i: if i == 4 then builtins.trace \"fails\" (throw \"four\") else builtins.trace \"item ${toString i}\" i)",
    );
    let (result, messages) = check(&text);
    assert!(result.unwrap_err().contains("four"));
    assert_eq!(messages.last().map(String::as_str), Some("trace: fails"));
    assert_eq!(messages.len(), 5);
}

#[test]
fn depth_does_not_depend_on_workers() {
    for (text, succeeds) in [
        (
            "let c = builtins.genList (i: if i == 29999 then 1 else builtins.elemAt c (i + 1)) 30000; in builtins.genList (i: builtins.elemAt c (i * 100)) 300",
            true,
        ),
        (
            "let c = builtins.genList (i: if i == 29999 then throw \"end\" else builtins.elemAt c (i + 1)) 30000; in builtins.genList (i: builtins.elemAt c (i * 100)) 300",
            false,
        ),
        (
            "let c = builtins.genList (i: if i == 12999 then 1 else builtins.elemAt c (i + 1)) 13000; in many (i: [ i { x = builtins.elemAt c (i * 200); } ])",
            true,
        ),
        // What was said on the way to where it was too deep is not said again.
        (
            "let c = builtins.genList (i: if i == 29999 then 1 else builtins.trace \"m${toString i}\" (builtins.elemAt c (i + 1))) 30000; in [ (builtins.trace \"first\" 1) (builtins.elemAt c 0) ]",
            true,
        ),
        // Data within data, to an end and without.
        ("let f = n: if n == 4000 then [ ] else { a = f (n + 1); b = [ n n ]; }; in f 0", true),
        ("let f = n: { a = f (n + 1); b = [ n n ]; }; in f 0", false),
        ("let f = n: [ n (f (n + 1)) ]; in f 0", false),
        // Calls are counted for each value by itself.
        (
            "let f = n: if n == 0 then s else 1 + f (n - 1); g = n: if n == 0 then 0 else 1 + g (n - 1); s = g 9000; in [ (f 9900) s ]",
            true,
        ),
        (
            "let g = n: if n == 0 then 0 else 1 + g (n - 1); l = builtins.genList (i: g 200 + i) 2000; f = n: if n == 9900 then builtins.foldl' (a: b: a + b) 0 l else 1 + f (n + 1); in [ (f 0) l ]",
            true,
        ),
        ("builtins.genList (i: i * 2) 100000", true),
    ] {
        let (result, messages) = check(&with_prelude(text));
        assert_eq!(result.is_ok(), succeeds, "{text}: {result:?}");
        let mut once = messages.clone();
        once.sort();
        once.dedup();
        assert_eq!(once.len(), messages.len(), "{text}");
    }
}

/// Each evaluation fills a whole stack, so one round must do.
#[test]
fn a_chain_without_end_does_not_depend_on_workers() {
    let text = "let f = n: { v = builtins.elemAt [ (f (n + 1)).v ] 0; }; in [ 1 (builtins.trace \"m\" 2) (f 0).v ]";
    let (result, messages) = check_rounds(1, text);
    assert!(result.is_err(), "{result:?}");
    assert_eq!(messages, ["trace: m"]);
}

/// The first branch fails, so the others must not be explored to their ends.
#[test]
fn trees_without_end_do_not_depend_on_workers() {
    for text in [
        "let f = n: [ (f (n + 1)) (f (n + 1)) (f (n + 1)) ]; in f 0",
        "let f = n: { a = f (n + 1); b = f (n + 1); c = busy n; }; in f 0",
    ] {
        let (result, _) = check_rounds(1, &with_prelude(text));
        assert!(result.is_err(), "{text}");
    }
}
