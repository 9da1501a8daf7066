//! No input, however odd, makes the parser panic, overflow its stack or take forever.

use bumpalo::Bump;
use raddle_nix_syntax::print::{self, Paths};
use raddle_nix_syntax::{MAX_DEPTH, Options, Origin, Source, SyntaxError, parse};

const OPTIONS: Options<'_> = Options {
    pipe_operators: true,
    url_literals: raddle_nix_syntax::Lint::Ignore,
    absolute_paths: raddle_nix_syntax::Lint::Ignore,
    short_paths: raddle_nix_syntax::Lint::Ignore,
    warnings: None,
};

/// Parses `text`, and what is printed of the tree; the prints must be the same.
fn exercise(text: Vec<u8>) -> Result<(), SyntaxError> {
    let mut arena = Bump::new();
    let source = Source::add(Origin::String, text).unwrap();
    let printed = match parse(&arena, source, &OPTIONS) {
        Ok(tree) => {
            print::desugared(tree, Paths { base: b"/", home: b"/" });
            print::source(tree)
        }
        Err(error) => {
            assert!(error.render().contains("at «string»:"));
            return Err(error);
        }
    };
    arena.reset();
    let source = Source::add(Origin::String, printed.clone()).unwrap();
    match parse(&arena, source, &OPTIONS) {
        Ok(again) => assert!(print::source(again) == printed, "{}", printed.escape_ascii()),
        // Parentheses that the print needs count as levels, too.
        Err(error) if error.message.starts_with("nesting too deep") => {}
        Err(error) => panic!("{}", error.render()),
    }
    Ok(())
}

#[test]
fn deep_nesting() {
    // What is opened, what is in the middle, what closes.
    let shapes = [
        ("(", "1", ")"),
        ("[", "", "]"),
        ("[{a=", "1", ";}]"),
        ("{a=", "1", ";}"),
        ("rec{a=", "1", ";}"),
        ("{a.b.c=", "1", ";}"),
        ("{${", "a", "}=1;}"),
        ("{\"${", "a", "}\"=1;}"),
        ("{a.b.${", "a", "}.c=1;}"),
        ("{inherit(", "a", ");}"),
        ("let a=", "1", ";in a"),
        ("let in ", "1", ""),
        ("let{a=", "1", ";}"),
        ("x: ", "1", ""),
        ("{a}: ", "1", ""),
        ("{a?", "1", "}: 1"),
        ("a@{...}: ", "1", ""),
        ("-", "1", ""),
        ("!", "a", ""),
        ("a++", "a", ""),
        ("a//", "a", ""),
        ("a ->", "a", ""),
        ("a+", "a", ""),
        ("a&&", "a", ""),
        ("a|>", "a", ""),
        ("a<|", "a", ""),
        ("a+(", "a", ")"),
        ("a ->b||c&&d==e<f//g+h*i++-(", "a", ")"),
        ("if a then b else ", "a", ""),
        ("if a then ", "a", " else b"),
        ("if ", "a", " then b else c"),
        ("with a;", "a", ""),
        ("with ", "a", ";b"),
        ("assert a;", "a", ""),
        ("assert ", "a", ";b"),
        ("\"${", "a", "}\""),
        ("''${", "a", "}''"),
        ("./${", "a", "}"),
        ("a.${", "a", "}"),
        ("a?${", "a", "}"),
        ("a.b or ", "a", ""),
        ("f (", "a", ")"),
        ("f [", "a", "]"),
        ("(a: ", "a", ") or"),
        ("f {a=[(x: \"${-(", "a", ")}\")];}"),
    ];
    let run = move || {
        for (open, middle, close) in shapes {
            let nest = |n: usize, m: usize| {
                let text = [&open.repeat(n), middle, &close.repeat(m)].concat();
                exercise(text.into_bytes())
            };
            assert!(nest(150, 150).is_ok(), "{open}");
            for n in [1, 2, 3, 4, 5, 6, 8, 10, 15].map(|part| MAX_DEPTH as usize / part) {
                let _ = nest(n - 2, n - 2);
            }
            let error = nest(100_000, 0).unwrap_err();
            assert!(error.message.starts_with("nesting too deep"), "{open}: {error}");
        }
    };
    // The stack that the depth limit is made for.
    std::thread::Builder::new().stack_size(8 << 20).spawn(run).unwrap().join().unwrap();
}

#[test]
fn long_but_flat() {
    let repeat = |text: &str| text.repeat(100_000);
    for text in [
        format!("[ {} ]", repeat("a ")),
        format!("f {}", repeat("a ")),
        format!("a{}", repeat(".a")),
        format!("a.a{}", repeat("+a.a")[..1000].trim_end_matches(['+', '.'])),
        format!(
            "{{ {} }}",
            (0..50_000).map(|n| format!("a{n}.b = 1;")).collect::<Vec<_>>().concat()
        ),
        format!("{{ {} }}: 1", (0..50_000).map(|n| format!("a{n},")).collect::<Vec<_>>().concat()),
        format!("\"{}\"", repeat("${a}$$")),
        format!("''{}''", repeat("${a}\n  b\n")),
        format!("1{}", repeat(" /* x **/ # y\n")),
        repeat(" ") + "1",
        repeat("a"),
        repeat("a-b_c'"),
        format!("./{}", repeat("a/b")),
    ] {
        exercise(text.into_bytes()).unwrap();
    }
    for text in [
        "<a", "a.", "a+", "/*", "/* ", "1.", "~/", "''", "\"$", "{a,", "a/", "//", "x@", "\u{e9}",
        "\0",
    ] {
        assert!(exercise(repeat(text).into_bytes()).is_err(), "{text}");
    }
}

const SEEDS: &[&str] = &[
    "{ stdenv, fetchurl ? null, ... }@args: stdenv.mkDerivation rec { name = \"a-${version}\"; version = \"1.0\"; }",
    "let a.b.c = 1; a.b.d = [ 1 2.5 ./x <y/z> ~/w http://v.u/t?s ]; inherit (a) b; in a.b.c or (x: y: x)",
    "''\n  a ${if b then \"c\" else ''d''}\n    ''${e} ''\\n ''' $${f}\n  ''",
    "with a; assert b -> c || d && e == f != g; { inherit a b; inherit (c) d; ${e} = 1; \"f ${g}\".h = 2; }",
    "a + b * -c / d - e ++ f // !g <= h ? i.j.\"k\" |> l",
    "rec { a = { b = 1; }; a.c = rec { d = 2; }; a = { c.e = 3; }; } # comment\n/** doc */",
    "let { body = map or [ (x or) ]; }.body.${\"a\"} or ../b/${c}.nix/d",
    "x@{ }: { ... }: { a, b }: __curPos <| \"\\n\\t\\\\ \\${a} $\" 9223372036854775807 .5 1.e3",
];

#[test]
fn mutations() {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = move |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 16) as usize % below
    };
    let tokens = "( ) [ ] { } \" '' ${ ; : , . ... = == ? @ or let in rec with assert if then else inherit \
                  + - * / // ++ -> ! && || < <= |> <| ./a <a> ~/ a/ x:y 1 1.5 \\ $ $$ ''' ''$ ''\\ # /* */ /** \n \r";
    let tokens: Vec<&str> = tokens.split(' ').collect();
    let mut accepted = 0;
    for _ in 0..6000 {
        let mut text = SEEDS[random(SEEDS.len())].as_bytes().to_vec();
        for _ in 0..=random(4) {
            let at = random(text.len() + 1);
            let end = (at + random(6)).min(text.len());
            match random(6) {
                0 => drop(text.drain(at..end)),
                1 => drop(text.splice(at..end, tokens[random(tokens.len())].bytes())),
                2 => drop(text.splice(at..at, tokens[random(tokens.len())].bytes())),
                3 => text.insert(at, random(256) as u8),
                4 => {
                    let other = SEEDS[random(SEEDS.len())].as_bytes();
                    let from = random(other.len());
                    let to = (from + random(30)).min(other.len());
                    drop(text.splice(at..end, other[from..to].iter().copied()));
                }
                _ => {
                    let piece = text[at..end].to_vec();
                    drop(text.splice(at..at, piece));
                }
            }
        }
        accepted += usize::from(exercise(text).is_ok());
    }
    assert!(accepted > 300, "only {accepted} mutated texts were Nix");
}
