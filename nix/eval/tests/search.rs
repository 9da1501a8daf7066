//! Searching a set: the same packages, messages and errors for every number of workers.

use std::sync::{Arc, Mutex};

use raddle_nix::print::report::{ReportOptions, report};
use raddle_nix::walk::search::Root;
use raddle_nix::walk::{Filter, Progress};
use raddle_nix::{Evaluator, Settings};

/// What a search came to.
#[derive(Debug, PartialEq, Eq)]
struct Outcome {
    /// The paths of what was found.
    found: Vec<String>,
    error: Option<String>,
    messages: Vec<String>,
}

fn search(workers: usize, text: &str) -> Outcome {
    let settings = Settings { workers, ..Settings::default() };
    let messages = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&messages);
    let evaluator = Evaluator::new(settings, move |message| {
        sink.lock().unwrap().push(message.to_owned());
    })
    .unwrap();
    let (found, error) = evaluator.run(|cx| {
        let value = cx.eval_string(text.as_bytes(), b"/").expect("the root evaluates");
        let roots = [Root { path: Vec::new(), value }];
        cx.search(&roots, &Filter::default(), &Progress::new(workers))
    });
    drop(evaluator);
    let options = ReportOptions { show_trace: true, ..ReportOptions::default() };
    Outcome {
        found: found.iter().map(|m| String::from_utf8_lossy(&m.path).into_owned()).collect(),
        error: error.map(|error| report(error, &options)),
        messages: Arc::into_inner(messages).unwrap().into_inner().unwrap(),
    }
}

/// Searches with every number of workers, several times, and returns what came out.
fn check(text: &str) -> Outcome {
    let expected = search(1, text);
    for workers in [2, 3, 4, 8, 16] {
        for round in 0..3 {
            let outcome = search(workers, text);
            assert!(
                outcome == expected,
                "{workers} workers, round {round}: {text}\n{outcome:#?}\n{expected:#?}"
            );
        }
    }
    expected
}

/// Definitions for the cases. `many n f` makes a set of `n` attributes from their numbers; `lenient`
/// is where a search passes over errors.
const PRELUDE: &str = r#"
    let
      inherit (builtins) elemAt foldl' genList listToAttrs seq trace;
      busy = n: foldl' (a: b: a + b) 0 (genList (i: i) n);
      pkg = name: { type = "derivation"; inherit name; };
      many = n: f: listToAttrs
        (genList (i: { name = "a${toString (1000000 + i)}"; value = f i; }) n);
      set = attrs: attrs // { recurseForDerivations = true; };
      lenient = attrs: { legacyPackages.x = attrs; };
      # A chain of values, each of which needs the next.
      chain = n: let c = genList (i: if i == n - 1 then "p-1" else elemAt c (i + 1)) n; in c;
    in
"#;

fn with_prelude(text: &str) -> String {
    format!("{PRELUDE}{text}")
}

#[test]
fn chains_succeed_however_long() {
    for (length, step) in [(9_000, 100), (9_990, 100), (12_000, 7), (30_000, 200), (100_000, 5_000)]
    {
        for place in ["lenient", "(x: x)"] {
            let text = with_prelude(&format!(
                "let c = chain {length}; in {place} (many ({length} / {step}) (i: pkg (elemAt c (i * {step}))))"
            ));
            let outcome = check(&text);
            assert_eq!(outcome.error, None, "{text}");
            assert_eq!(outcome.found.len(), length / step, "{text}");
        }
    }
}

#[test]
fn depth_errors_are_the_same_for_every_number_of_workers() {
    for (text, found, expected) in [
        // Without end, through fresh values.
        (
            "let f = n: { v = elemAt [ (f (n + 1)).v ] 0; }; in many 30 (i: if i == 20 then (f 0).v else pkg \"p-1\")",
            20,
            Some("max-call-depth exceeded"),
        ),
        (
            "let f = n: 1 + f (n + 1); in many 30 (i: if i == 20 then f 0 else pkg \"p-1\")",
            20,
            Some("max-call-depth exceeded"),
        ),
        (
            "let f = n: 1 + f (n + 1); in lenient (many 30 (i: if i == 20 then f 0 else pkg \"p-1\"))",
            29,
            None,
        ),
        // A circle that is longer than the depth allowed.
        (
            "let c = genList (i: elemAt c (if i == 19999 then 0 else i + 1)) 20000; in many 20 (i: pkg (elemAt c (i * 1000)))",
            0,
            Some("infinite recursion encountered"),
        ),
        // Deep calls that need a value that has deep calls of its own.
        (
            "let f = n: if n == 0 then s else 1 + f (n - 1); g = n: if n == 0 then 0 else 1 + g (n - 1); s = g 9000; in { a = pkg \"p-${toString (f 9900)}\"; b = pkg \"p-${toString s}\"; }",
            2,
            None,
        ),
        // Sets within sets without end: 500 are looked into, two of them above these.
        (
            "let f = n: set { a = f (n + 1); p = pkg \"p-${toString n}\"; }; in lenient (f 0)",
            498,
            None,
        ),
        // A failure at the end of a long chain.
        (
            "let c = genList (i: if i == 29999 then throw \"end\" else elemAt c (i + 1)) 30000; in many 20 (i: pkg (elemAt c (i * 1000)))",
            0,
            Some("error: end"),
        ),
    ] {
        let outcome = check(&with_prelude(text));
        assert_eq!(outcome.found.len(), found, "{text}");
        match (&outcome.error, expected) {
            (Some(error), Some(expected)) => assert!(error.contains(expected), "{text}: {error}"),
            (error, expected) => assert_eq!(error.as_deref(), expected, "{text}"),
        }
    }
}

#[test]
fn messages_are_the_same_for_every_number_of_workers() {
    for (text, expected) in [
        ("many 40 (i: trace \"m${toString i}\" (pkg \"p-1\"))", 40),
        // Nothing after the first failure.
        (
            "many 40 (i: trace \"m${toString i}\" (if i == 20 then throw \"no\" else pkg \"p-${toString (busy 500)}\"))",
            21,
        ),
        (
            "lenient (many 40 (i: trace \"m${toString i}\" (if i == 20 then throw \"no\" else pkg \"p-${toString (busy 500)}\")))",
            40,
        ),
        // A shared value.
        ("let s = trace \"shared\" (busy 9000); in many 40 (i: seq s (pkg \"p-1\"))", 1),
        // Circles, each of whose members says something: no failure is kept, so each attempt says it.
        (
            "let x = { a = trace \"a\" (busy 2000 + x.b); b = trace \"b\" (busy 2000 + x.c); c = trace \"c\" (busy 2000 + x.a); }; in x",
            3,
        ),
        (
            "let x = { a = trace \"a\" (busy 2000 + x.b); b = trace \"b\" (busy 2000 + x.c); c = trace \"c\" (busy 2000 + x.a); }; in lenient x",
            9,
        ),
        (
            "let x = many 24 (i: trace \"m${toString i}\" (busy 300 + x.\"a${toString (1000000 + (if i == 23 then 0 else i + 1))}\")); in lenient x",
            24 * 24,
        ),
        (
            "let s = trace \"s\" 1; x = { a = trace \"a\" (seq s x.b); b = trace \"b\" (seq s (busy 900 + x.a)); c = seq s (pkg \"p-1\"); }; in lenient x",
            5,
        ),
        // Within sets.
        (
            "lenient (many 12 (i: set (many 12 (j: trace \"m${toString i}.${toString j}\" (if j == i then throw \"no\" else pkg \"p-1\")))))",
            144,
        ),
        (
            "many 12 (i: if i == 7 then trace \"last\" (throw \"no\") else trace \"m\" (pkg \"p-1\"))",
            8,
        ),
        // A message on the way down a long chain.
        (
            "let c = genList (i: if i == 29999 then \"p-1\" else if i / 10000 * 10000 == i then trace \"m${toString i}\" (elemAt c (i + 1)) else elemAt c (i + 1)) 30000; in many 20 (i: pkg (elemAt c (i * 1000)))",
            3,
        ),
    ] {
        let outcome = check(&with_prelude(text));
        assert_eq!(outcome.messages.len(), expected, "{text}\n{outcome:#?}");
    }
}

#[test]
fn messages_come_where_the_program_comes_to_them() {
    for (text, expected) in [
        (
            "let s = trace \"s\" { x = busy 10; }; in { a = trace \"a\" (pkg \"p-${toString s.x}\"); b = trace \"b\" (pkg \"p-${toString s.x}\"); }",
            "a s b",
        ),
        (
            "let s = trace \"s\" { x = busy 10; }; in many 3 (i: with s; trace \"m${toString i}\" (seq x (pkg \"p-1\")))",
            "m0 s m1 m2",
        ),
        // Of what was begun ahead of the failure and stopped, nothing is missing when it is needed.
        (
            "let t = seq (busy 700) (trace \"t\" (busy 900)); u = trace \"u\" (seq (busy 300) t);
             in { a = pkg \"p-${toString (u + t)}\"; b = throw \"no\"; c = seq (busy 200) (pkg \"p-${toString (seq t u)}\"); d = seq u (pkg \"p-1\"); }",
            "u t",
        ),
        (
            "let t = seq (busy 700) (trace \"t\" (busy 900)); u = trace \"u\" (seq (busy 300) t);
             in lenient { a = throw \"no\"; b = trace \"b\" (seq t (throw \"no\")); c = trace \"c\" (pkg \"p-${toString u}\"); }",
            "b t c u",
        ),
        (
            "let x = { a = trace \"a\" x.b; b = trace \"b\" (seq (busy 500) x.a); }; in lenient { c = seq (builtins.tryEval x.a) 1; d = x.b; e = trace \"e\" (pkg \"p-1\"); }",
            "a b b a e",
        ),
        // What is evaluated again, from further down, because it was too deep.
        (
            "let c = genList (i: if i == 29999 then trace \"end\" \"p-1\" else if i == 9000 then trace \"down\" (elemAt c (i + 1)) else elemAt c (i + 1)) 30000;
               t = trace \"t\" (busy 9); u = trace \"u\" (seq t (trace \"v\" (seq (elemAt c 0) (trace \"w\" 1))));
             in { a = trace \"a\" (pkg (seq u (trace \"x\" \"p-${toString u}\"))); b = trace \"b\" (seq t (pkg \"p-1\")); }",
            "a u t v down end w x b",
        ),
    ] {
        let outcome = check(&with_prelude(text));
        let messages: Vec<_> =
            outcome.messages.iter().map(|line| line.strip_prefix("trace: ").unwrap()).collect();
        assert_eq!(messages.join(" "), expected, "{text}");
    }
}
