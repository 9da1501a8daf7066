//! Programs that would take all memory: evaluation ends with the limit, on any number of workers,
//! and no task waits for ever.

use raddle_nix::print::{PrintOptions, json};
use raddle_nix::walk::Progress;
use raddle_nix::walk::search::{Filter, Root};
use raddle_nix::{Cx, Evaluator, OutOfMemory, Settings};
use raddle_nix_syntax::Pos;

/// The smallest limit: what an evaluator takes stays taken until the tests end.
const LIMIT: u64 = 16 << 20;

/// Definitions for the cases.
const PRELUDE: &str = r#"
    let
      inherit (builtins) genList foldl' concatStringsSep toJSON deepSeq listToAttrs length;
      loop = n: f: x: foldl' (x: _: f x) x (genList (i: i) n);
      many = f: listToAttrs
        (genList (i: { name = "a${toString (100 + i)}"; value = f i; }) 20);
      # Makes garbage only.
      quadratic = loop 1000000 (x: x ++ [ 1 ]) [ ];
      doubled = loop 60 (x: x + x) "0123456789abcdef";
      grown = n: if n == 0 then [ ] else [ n ] ++ grown (n + 1);
      lists = loop 60 (x: x ++ x) [ 1 2 3 4 ];
      megabyte = loop 16 (x: x + x) "0123456789abcdef";
      dag = loop 60 (x: [ x x ]) 1;
      sets = loop 60 (x: { a = x; b = x; }) 1;
    in
"#;

/// Programs that need more than any limit.
const ENDLESS: &[&str] = &[
    "length quadratic",
    "builtins.stringLength doubled",
    "length lists",
    "length (genList (i: i) 200000000)",
    "concatStringsSep \"-\" (genList (_: megabyte) 1000000)",
    "toString (genList (_: megabyte) 1000000)",
    "builtins.replaceStrings [ \"0\" ] [ megabyte ] megabyte",
    "\"${doubled}-${doubled}\"",
    "builtins.stringLength (toJSON (genList (_: megabyte) 1000000))",
    "toJSON dag",
    "toJSON sets",
    "builtins.toXML dag",
    "builtins.fromJSON (\"[\" + concatStringsSep \",\" (genList (_: \"1\") 10000000) + \"]\")",
    "builtins.split \"5\" (loop 21 (x: x + x) \"0123456789abcdef\")",
    "builtins.sort (a: b: a < b) (genList (i: 0 - i) 6000000)",
    "builtins.filter (_: true) lists",
    "builtins.concatMap (x: [ x x ]) lists",
    "let f = n: [ (f (n + 1)) n ]; in deepSeq (loop 10000000 (x: f x) 1) 1",
    "let f = n: f (n + 1) // { \"a${toString n}\" = n; }; in loop 100000000 (n: n + 1) 0",
    "deepSeq (loop 10000000 (x: x // { \"a${toString (length (builtins.attrNames x))}\" = 1; }) { }) 1",
    "builtins.genericClosure { startSet = [ { key = 0; } ]; operator = e: [ { key = e.key + 1; } ]; }",
    "builtins.tryEval (length quadratic)",
    "many (_: length (loop 1000000 (x: x ++ [ 1 ]) [ ]))",
    "many (_: quadratic)",
    "let s = many (i: if i == 19 then length quadratic else s.a119); in s",
    "let s = many (i: if i == 0 then length quadratic else s.a100); in s",
    "let s = many (i: if i == 19 then length quadratic else builtins.tryEval s.a119); in s",
    "many (i: many (j: doubled))",
];

fn evaluator(workers: usize) -> Evaluator {
    let settings = Settings { workers, heap_limit: Some(LIMIT), ..Settings::default() };
    Evaluator::new(settings, |_| {}).unwrap()
}

/// Checks that `work` with each program's value ends with the limit.
fn check(
    programs: &[&str],
    workers: &[usize],
    work: impl Fn(&Cx<'_>, raddle_nix::Value) -> Result<String, raddle_nix::Error> + Sync,
) {
    for workers in workers {
        for program in programs {
            let evaluator = evaluator(*workers);
            let text = format!("{PRELUDE}{program}");
            let result = evaluator.try_run(|cx| {
                cx.eval_string(text.as_bytes(), b"/").and_then(|value| work(cx, value))
            });
            let expected = Err(OutOfMemory { limit: Some(LIMIT) });
            let result = result.map(|result| match result {
                Ok(text) => text.chars().take(100).collect(),
                Err(error) => format!("error: {error}"),
            });
            assert_eq!(result, expected, "{workers} workers: {program}");
        }
    }
}

#[test]
fn values() {
    check(ENDLESS, &[1, 2, 4, 8], |cx, value| cx.print_plain(value, true));
}

#[test]
fn printing() {
    let repeated = &["genList (_: megabyte) 1000000"];
    check(repeated, &[1, 2], |cx, value| cx.print_plain(value, true));
    check(repeated, &[1, 2], |cx, value| cx.print_with(value, &PrintOptions::EVAL));
    check(&["dag", "sets"], &[1, 2], |cx, value| {
        json::to_json(cx, value, Pos::NONE, json::JsonOptions::EVAL).map(|_| String::new())
    });
}

#[test]
fn searches() {
    let packages = &[
        "many (i: { type = \"derivation\"; name = \"p${toString (length quadratic)}\"; })",
        "many (i: { type = \"derivation\"; name = toString (length (loop 1000000 (x: x ++ [ i ]) [ ])); })",
        "let s = many (i: { type = \"derivation\"; name = if i == 19 then doubled else s.a119.name; }); in s",
        "{ packages = many (i: { type = \"derivation\"; name = if i == 10 then doubled else \"p\"; }); }",
    ];
    check(packages, &[1, 2, 4, 8], |cx, value| {
        let roots = [Root { path: Vec::new(), value }];
        let progress = Progress::new(8);
        let (found, error) = cx.search(&roots, &Filter::default(), &progress);
        error.map_or(Ok(format!("{} found", found.len())), Err)
    });
}

#[test]
fn an_evaluator_can_be_asked_again_after_it_ran_out() {
    for workers in [1, 2, 8] {
        let evaluator = evaluator(workers);
        let eval = |text: &str| {
            let text = format!("{PRELUDE}{text}");
            evaluator.try_run(|cx| {
                cx.print_plain(cx.eval_string(text.as_bytes(), b"/")?, true)
                    .map_err(|error| error.frame(Pos::NONE, "at the top"))
            })
        };
        assert!(eval("toJSON (genList (_: megabyte) 1000)").is_err());
        // There may be room left for this, or not.
        if let Ok(sum) = eval("1 + 1") {
            assert_eq!(sum.unwrap(), "2", "{workers} workers");
        }
    }
}
