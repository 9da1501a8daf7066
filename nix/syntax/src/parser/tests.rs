//! What texts mean, shown in the desugared form, and what is wrong with others.

use bstr::ByteSlice;

use super::*;
use crate::{Origin, print};

const PIPES: Options<'_> = Options {
    pipe_operators: true,
    url_literals: Lint::Ignore,
    absolute_paths: Lint::Ignore,
    short_paths: Lint::Ignore,
    warnings: None,
};

fn parse_bytes(text: &[u8], options: &Options<'_>) -> Result<String, SyntaxError> {
    let source = Source::add(Origin::String, text.to_vec()).unwrap();
    let arena = Bump::new();
    let tree = parse(&arena, source, options)?;
    let paths = print::Paths { base: b"/base", home: b"/home" };
    Ok(print::desugared(tree, paths).to_str_lossy().into_owned())
}

/// Each pair is a text and its desugared form.
fn check(cases: &[(&str, &str)]) {
    for (text, expected) in cases {
        match parse_bytes(text.as_bytes(), &PIPES) {
            Ok(found) => assert_eq!(found, *expected, "{text}"),
            Err(error) => panic!("{text}: {}", error.render()),
        }
    }
}

/// Each triple is a text, the place of the error and its message.
fn check_errors(cases: &[(&str, &str, &str)]) {
    for (text, place, message) in cases {
        match parse_bytes(text.as_bytes(), &Options::default()) {
            Ok(found) => panic!("{text} was read as {found}"),
            Err(error) => {
                let found = error.pos.locate().unwrap();
                let found = format!("{}:{}", found.line, found.column);
                assert_eq!((found.as_str(), error.message.as_str()), (*place, *message), "{text}");
            }
        }
    }
}

#[test]
fn literals() {
    check(&[
        ("9223372036854775807", "9223372036854775807"),
        ("00000000000000000000007", "7"),
        ("1.5", "1.5"),
        (".5", "0.5"),
        ("1.e3", "1000"),
        ("123456789.0", "1.23457e+08"),
        ("0.00001", "1e-05"),
        ("100000.0", "100000"),
        ("0.0e9", "0"),
        ("x:x", "\"x:x\""),
        ("__curPos", "__curPos"),
        ("true", "true"),
        ("<nixpkgs/lib>", "(__findFile __nixPath \"nixpkgs/lib\")"),
        ("[ ]", "[ ]"),
        ("[ 1 [ ] a.b (f x) ]", "[ (1) ([ ]) ((a).b) ((f x)) ]"),
        ("{ }", "{ }"),
        ("rec { }", "rec { }"),
    ]);
    check_errors(&[
        ("9223372036854775808", "1:1", "invalid integer '9223372036854775808'"),
        ("-9223372036854775808", "1:2", "invalid integer '9223372036854775808'"),
        ("[ 1.0e999 ]", "1:3", "invalid float '1.0e999'"),
        ("1.0e-320", "1:1", "invalid float '1.0e-320'"),
    ]);
}

#[test]
fn paths() {
    check(&[
        ("./a", "/base/a"),
        ("../a/./b", "/a/b"),
        ("a/b", "/base/a/b"),
        ("/a", "/a"),
        ("~/a", "/home/a"),
        ("./${x}", "(/base/ + x)"),
        ("/${x}/b", "(/ + x + \"/b\")"),
        ("./a${x}", "(/base/a + x)"),
        ("~/${x}.nix", "(/home/ + x + \".nix\")"),
        ("a/${x}${y}c//d", "(/base/a/ + x + y + \"c//d\")"),
        ("./a//b${x}", "(/base/a/b + x)"),
        ("./a${./b${x}}", "(/base/a + (/base/b + x))"),
        ("[ ./a ./b${x} /c ]", "[ (/base/a) ((/base/b + x)) (/c) ]"),
    ]);
    check_errors(&[
        ("/a/", "1:4", "path has a trailing slash"),
        ("/a/ b", "1:4", "path has a trailing slash"),
        ("./a${x}/", "1:9", "path has a trailing slash"),
        ("~/a/", "1:5", "path has a trailing slash"),
        ("./a///b${x}", "1:5", "syntax error, unexpected string, expecting '${'"),
        ("./a//b", "1:7", "syntax error, unexpected end of path, expecting '${'"),
        ("./${", "1:5", "syntax error, unexpected end of file"),
        ("./${x", "1:6", "syntax error, unexpected end of file, expecting '}'"),
    ]);
}

#[test]
fn strings() {
    check(&[
        (r#""""#, r#""""#),
        (r#""a\n\r\t\q\"\\\${b}""#, r#""a\n\r\tq\"\\\${b}""#),
        (r#""$${x} $$ $""#, r#""$\${x} $$ $""#),
        (r#""${x}""#, "(x)"),
        (r#""a${x}b${y}""#, r#"("a" + x + "b" + y)"#),
        (r#""$$${x}""#, r#"("$$" + x)"#),
        (r#""\$${x}""#, r#"("$" + x)"#),
        (r#""${"${"a"}"}""#, r#"(("a"))"#),
        ("\"a\r\nb\rc\nd\\\r\"", r#""a\nb\nc\nd\r""#),
        ("\"${{ a = \"}\"; }}\"", "({ a = \"}\"; })"),
    ]);
    check_errors(&[
        ("\"abc", "1:5", "syntax error, unexpected end of file, expecting '\"'"),
        ("\"abc\\", "1:6", "syntax error, unexpected end of file, expecting '\"'"),
        ("\n \"$", "2:4", "syntax error, unexpected end of file, expecting '\"'"),
        ("\"${x}", "1:6", "syntax error, unexpected end of file, expecting '\"'"),
        ("\"${", "1:4", "syntax error, unexpected end of file"),
        ("\"${a b", "1:7", "syntax error, unexpected end of file, expecting '}'"),
        ("\"${a;}\"", "1:5", "syntax error, unexpected ';', expecting '}'"),
    ]);
}

#[test]
fn indented_strings() {
    check(&[
        ("''''", r#""""#),
        ("''a''", r#""a""#),
        ("''\n  a\n   b\n  ''", r#""a\n b\n""#),
        ("''  \n  a\n''", r#""a\n""#),
        ("'' a\n   b''", r#""a\n  b""#),
        ("''\n    a\n\n   \n  b\n      ''", r#""  a\n\n \nb\n""#),
        ("''\n  a\n\tb''", r#""  a\n\tb""#),
        ("''\n\t\ta''", r#""\t\ta""#),
        ("''\n  ''", r#""""#),
        ("''   ''", r#""""#),
        ("''\n  a\n  b''", r#""a\nb""#),
        ("''\n  ${x}\n    a''", r#"(x + "\n  a")"#),
        ("''\n    ${x}\n  a\n  ''", r#"("  " + x + "\na\n")"#),
        ("''\n  a ${x}\n  ''", r#"("a " + x + "\n")"#),
        ("''${x}''", "(x)"),
        ("''\n  a''$b''", r#""a$b""#),
        ("'' ''' ''", r#""'' ""#),
        ("''a'b'$c$'d''", r#""a'b'$c$'d""#),
        ("''''\\n''", r#""\n""#),
        ("''a''\\tb''", r#""a\tb""#),
        ("''a\n''\\n b''", r#""a\n\n b""#),
        ("''\n   a''\\n  b''", r#""a\nb""#),
        ("''$${x}$''", r#""$\${x}$""#),
        ("''''${x}''", r#""\${x}""#),
        ("''\r\n  a\r\n''", r#""\r\n  a\r\n""#),
        ("''a\"\\n''", r#""a\"\\n""#),
        ("''a'''b''", r#""a''b""#),
        ("''a'''''", r#""a''""#),
    ]);
    let expected = "indented string or '${' or end of an indented string";
    let message = format!("syntax error, unexpected end of file, expecting {expected}");
    check_errors(&[
        ("''abc", "1:6", &message),
        ("''abc'", "1:7", &message),
        ("''abc'''", "1:9", &message),
        ("''abc''$", "1:9", &message),
        ("''abc''\\", "1:8", "syntax error, unexpected invalid token, expecting end of file"),
        ("''abc${x}", "1:10", &message),
    ]);
}

#[test]
fn operators() {
    check(&[
        ("a + b + c", "((a + b) + c)"),
        ("a ++ b ++ c", "(a ++ (b ++ c))"),
        ("a // b // c", "(a // (b // c))"),
        ("a -> b -> c", "(a -> (b -> c))"),
        ("a && b || c && d", "((a && b) || (c && d))"),
        ("a * b - c", "(__sub (__mul a b) c)"),
        ("a < b", "(__lessThan a b)"),
        ("a > b", "(__lessThan b a)"),
        ("a <= b", "(! (__lessThan b a))"),
        ("a >= b", "(! (__lessThan a b))"),
        ("a < b == c > d", "((__lessThan a b) == (__lessThan d c))"),
        ("-a", "(__sub 0 a)"),
        ("-a b", "(__sub 0 (a b))"),
        ("- - a", "(__sub 0 (__sub 0 a))"),
        ("a -1", "(__sub a 1)"),
        ("!a ? b", "(! ((a) ? b))"),
        ("-a ? b", "(((__sub 0 a)) ? b)"),
        ("a ? b ? c", "((((a) ? b)) ? c)"),
        ("!a + b", "(! (a + b))"),
        ("!a // b", "((! a) // b)"),
        ("!a == b", "((! a) == b)"),
        ("a * !b + c // d", "((__mul a (! (b + c))) // d)"),
        ("-!a + b", "(__sub 0 (! (a + b)))"),
        ("!!a", "(! (! a))"),
        ("a ? b.\"c\".${d}.${\"e\"}", "((a) ? b.c.\"${d}\".e)"),
        ("a |> b |> c", "(c (b a))"),
        ("a <| b <| c", "(a (b c))"),
        ("a || b |> c + d", "((c + d) (a || b))"),
    ]);
    let off = "experimental Nix feature 'pipe-operators' is disabled; \
               add '--extra-experimental-features pipe-operators' to enable it";
    check_errors(&[
        ("1 == 2 == 3", "1:8", "syntax error, unexpected '=='"),
        ("1 == 2 != 3", "1:8", "syntax error, unexpected '!='"),
        ("1 < 2 >= 3", "1:7", "syntax error, unexpected '>='"),
        ("a + x: y", "1:6", "syntax error, unexpected ':', expecting end of file"),
        ("a + if b then c else d", "1:5", "syntax error, unexpected 'if'"),
        ("[ a -1 ]", "1:5", "syntax error, unexpected '-'"),
        ("a +", "1:4", "syntax error, unexpected end of file"),
        (
            "a ? 5",
            "1:5",
            "syntax error, unexpected integer, expecting identifier or 'or' or '${' or '\"'",
        ),
        ("a |> b", "1:3", off),
        ("a <| b", "1:3", off),
        ("a <| |> b", "1:6", "syntax error, unexpected '|>'"),
        ("1 /* foo", "1:4", "syntax error, unexpected '*'"),
        ("/* foo", "1:1", "syntax error, unexpected '/'"),
        ("$", "1:1", "syntax error, unexpected invalid token"),
        ("\u{feff}1", "1:1", "syntax error, unexpected invalid token"),
    ]);
}

#[test]
fn calls_and_selections() {
    check(&[
        ("f a b", "(f a b)"),
        ("(f a) b", "(f a b)"),
        ("f (a b)", "(f (a b))"),
        ("f a.b.c d", "(f (a).b.c d)"),
        ("a.b or c", "(a).b or (c)"),
        ("f.x or y z", "((f).x or (y) z)"),
        ("a.b or c.d or e", "(a).b or ((c).d or (e))"),
        ("a.${b}.\"c d\".\"${e}\"", "(a).\"${b}\".\"c d\".\"${(e)}\""),
        ("a.or.or", "(a).or.or"),
        ("{}.a", "({ }).a"),
        ("x or", "(x or)"),
        ("map or [ ]", "(map or [ ])"),
        ("f (x or)", "(f (x or))"),
        ("f x or", "(f (x or))"),
        ("a.b or c or d", "((a).b or ((c or)) d)"),
        ("let { body = 1; }.a", "((rec { body = 1; }).body).a"),
        ("rec { a = 1; }.a", "(rec { a = 1; }).a"),
        ("[]\"\"''''./a", "([ ] \"\" \"\" /base/a)"),
    ]);
    check_errors(&[
        (
            "a. 5",
            "1:4",
            "syntax error, unexpected integer, expecting identifier or 'or' or '${' or '\"'",
        ),
        ("a.b or -1", "1:8", "syntax error, unexpected '-'"),
        ("a.or or or", "1:9", "syntax error, unexpected 'or'"),
        ("x or.y", "1:5", "syntax error, unexpected '.', expecting end of file"),
        ("f let x = 1; in x", "1:7", "syntax error, unexpected identifier, expecting '{'"),
        ("f rec x", "1:7", "syntax error, unexpected identifier, expecting '{'"),
        ("f x: y", "1:4", "syntax error, unexpected ':', expecting end of file"),
        ("f { a, b }: a", "1:6", "syntax error, unexpected ',', expecting '.' or '='"),
        ("(1", "1:3", "syntax error, unexpected end of file, expecting ')'"),
        ("[1 2", "1:5", "syntax error, unexpected end of file"),
        ("1 )", "1:3", "syntax error, unexpected ')', expecting end of file"),
        ("", "1:1", "syntax error, unexpected end of file"),
        (" # nothing\n", "2:1", "syntax error, unexpected end of file"),
    ]);
}

#[test]
fn functions() {
    check(&[
        ("x: y: x", "(x: (y: x))"),
        ("{ }: 1", "({  }: 1)"),
        ("{ ... }: 1", "({ ... }: 1)"),
        ("{ b, a ? 1, ... }: a", "({ a ? 1, b, ... }: a)"),
        ("{ a, }: a", "({ a }: a)"),
        ("{ a }@x: a", "({ a } @ x: a)"),
        ("x@{ a }: a", "({ a } @ x: a)"),
        ("x @ { }: 1", "({  } @ x: 1)"),
        ("{ a ? { b }: b }: a", "({ a ? ({ b }: b) }: a)"),
    ]);
    check_errors(&[
        ("{ a, b, a }: 1", "1:9", "duplicate formal function argument 'a'"),
        ("{ a, b, b, a }: 1", "1:9", "duplicate formal function argument 'b'"),
        ("a@{ a }: 1", "1:1", "duplicate formal function argument 'a'"),
        (" { a }@a: 1", "1:2", "duplicate formal function argument 'a'"),
        (
            "{ a, 5 }: 1",
            "1:6",
            "syntax error, unexpected integer, expecting identifier or '...' or '}'",
        ),
        ("{ a, b } x", "1:10", "syntax error, unexpected identifier, expecting ':' or '@'"),
        ("{ ..., a }: 1", "1:6", "syntax error, unexpected ',', expecting '}'"),
        ("x@5", "1:3", "syntax error, unexpected integer, expecting '{'"),
        ("x@{ a }@y: 1", "1:8", "syntax error, unexpected '@', expecting ':'"),
        ("{ a }@5", "1:7", "syntax error, unexpected integer, expecting identifier"),
        ("{ a ? 1 : 2", "1:9", "syntax error, unexpected ':', expecting '}' or ','"),
        ("{ \"a\" ? 1 }: 1", "1:7", "syntax error, unexpected '?', expecting '.' or '='"),
        ("x:", "1:3", "syntax error, unexpected end of file"),
    ]);
    let mut many: Vec<String> = (0..100).map(|n| format!("x{n}")).collect();
    assert!(parse_bytes(format!("{{ {} }}: 1", many.join(", ")).as_bytes(), &PIPES).is_ok());
    many.push("x50".into());
    let error = parse_bytes(format!("{{ {} }}: 1", many.join(", ")).as_bytes(), &PIPES);
    assert_eq!(error.unwrap_err().message, "duplicate formal function argument 'x50'");
}

#[test]
fn keywords() {
    check(&[
        ("if a then b else if c then d else e", "(if a then b else (if c then d else e))"),
        ("with a; with b; c", "(with a; (with b; c))"),
        ("assert a; b", "assert a; b"),
        ("let in 1", "(let in 1)"),
        ("let b = 1; a = b; in a", "(let a = b; b = 1; in a)"),
        ("let inherit (x) a; inherit b; in a", "(let inherit b; inherit (x) a; in a)"),
        ("let ${\"a\"} = 1; in a", "(let a = 1; in a)"),
        ("let a.${b} = 1; in a", "(let a = { \"${b}\" = 1; }; in a)"),
        ("let { ${b} = 1; body = 1; }", "(rec { body = 1; \"${b}\" = 1; }).body"),
    ]);
    check_errors(&[
        ("if a else b", "1:6", "syntax error, unexpected 'else', expecting 'then'"),
        ("if a then b", "1:12", "syntax error, unexpected end of file, expecting 'else'"),
        ("with a, b", "1:7", "syntax error, unexpected ',', expecting ';'"),
        ("assert a b", "1:11", "syntax error, unexpected end of file, expecting ';'"),
        ("let a = 1; 5", "1:12", "syntax error, unexpected integer, expecting 'in' or 'inherit'"),
        ("let a = 1; in", "1:14", "syntax error, unexpected end of file"),
        (" let ${a} = 1; in 1", "1:2", "dynamic attributes not allowed in let"),
        ("let \"${a}\" = 1; in 1", "1:1", "dynamic attributes not allowed in let"),
        ("then", "1:1", "syntax error, unexpected 'then'"),
    ]);
}

#[test]
fn sets() {
    check(&[
        (
            "{ a = 1; \"b c\" = 2; \"if\" = 3; or = 4; \"\" = 5; }",
            "{ \"\" = 5; a = 1; \"b c\" = 2; \"if\" = 3; or = 4; }",
        ),
        (
            "{ ${a} = 1; \"${b}\" = 2; ${\"c\"} = 3; ${x:y} = 4; }",
            "{ c = 3; \"x:y\" = 4; \"${a}\" = 1; \"${(b)}\" = 2; }",
        ),
        ("{ inherit; inherit (x); }", "{ }"),
        (
            "{ inherit b \"a\" ${\"c\"}; inherit (x) e d; inherit (y) f or; }",
            "{ inherit a b c; inherit (x) d e; inherit (y) f or; }",
        ),
        ("{ a.b.c = 1; a.b.d = 2; a.e = 3; }", "{ a = { b = { c = 1; d = 2; }; e = 3; }; }"),
        ("{ a = { b = 1; }; a.c = 2; }", "{ a = { b = 1; c = 2; }; }"),
        ("{ a.c = 2; a = { b = 1; }; }", "{ a = { b = 1; c = 2; }; }"),
        ("{ a = ({ b = 1; }); a = { c = 2; }; }", "{ a = { b = 1; c = 2; }; }"),
        ("{ a = rec { x = 1; }; a = { y = x; }; }", "{ a = rec { x = 1; y = x; }; }"),
        ("{ a = { y = x; }; a = rec { x = 1; }; }", "{ a = { x = 1; y = x; }; }"),
        (
            "{ a.b = { c.d = 1; }; a = { b = { c.e = 2; f = 3; }; }; }",
            "{ a = { b = { c = { d = 1; e = 2; }; f = 3; }; }; }",
        ),
        (
            "{ a = { inherit (x) b; }; a = { inherit (y) c; inherit (z) d; inherit e; }; }",
            "{ a = { inherit e; inherit (x) b; inherit (y) c; inherit (z) d; }; }",
        ),
        (
            "{ a = { ${x} = 1; }; a.${y} = 2; a = { ${z} = 3; }; }",
            "{ a = { \"${x}\" = 1; \"${y}\" = 2; \"${z}\" = 3; }; }",
        ),
        (
            "{ a.${x}.b.${y} = 1; a.${x}.b = 2; }",
            "{ a = { \"${x}\" = { b = { \"${y}\" = 1; }; }; \"${x}\" = { b = 2; }; }; }",
        ),
    ]);
    let at = "«string»";
    check_errors(&[
        ("{ a = 1; a = 2; }", "1:10", &format!("attribute 'a' already defined at {at}:1:3")),
        ("{ a.b = 1; a.b = 2; }", "1:12", &format!("attribute 'a.b' already defined at {at}:1:3")),
        (
            "{ a.b = 1; a.b.c = 2; }",
            "1:12",
            &format!("attribute 'a.b' already defined at {at}:1:3"),
        ),
        (
            "{ a.b.c = 1; a.b = 2; }",
            "1:14",
            &format!("attribute 'a.b' already defined at {at}:1:3"),
        ),
        ("{ a = 1; inherit a; }", "1:18", &format!("attribute 'a' already defined at {at}:1:3")),
        ("{ inherit a; a.b = 2; }", "1:14", &format!("attribute 'a' already defined at {at}:1:11")),
        (
            "{ inherit (x) a; inherit a; }",
            "1:26",
            &format!("attribute 'a' already defined at {at}:1:15"),
        ),
        (
            "{ a.\"b c\" = 1;\n a = { \"b c\" = 2; }; }",
            "2:8",
            &format!("attribute 'a.\"b c\"' already defined at {at}:1:3"),
        ),
        ("let a = 1; a = 2; in a", "1:12", &format!("attribute 'a' already defined at {at}:1:5")),
        ("{ inherit ${a}; }", "1:11", "dynamic attributes not allowed in inherit"),
        ("{ inherit (x) \"${a}\"; }", "1:15", "dynamic attributes not allowed in inherit"),
        ("{ inherit a.b; }", "1:12", "syntax error, unexpected '.'"),
        ("{ inherit (x; }", "1:13", "syntax error, unexpected ';', expecting ')'"),
        ("{ a = 1; 5 }", "1:10", "syntax error, unexpected integer, expecting 'inherit'"),
        ("rec { 5 }", "1:7", "syntax error, unexpected integer, expecting 'inherit' or '}'"),
        ("{ a = 1", "1:8", "syntax error, unexpected end of file, expecting ';'"),
        ("{ a = 1 }", "1:9", "syntax error, unexpected '}', expecting ';'"),
        ("{ a", "1:4", "syntax error, unexpected end of file, expecting '.' or '='"),
        ("{ ${a }", "1:8", "syntax error, unexpected end of file, expecting '.' or '='"),
    ]);
}

#[test]
fn many_attributes() {
    let lines = (0..1000).map(|n| format!("a{n}.b = {n}; a{n}.c = {n};\n"));
    let mut text = lines.collect::<Vec<_>>().concat();
    let parsed = parse_bytes(format!("{{ {text} }}").as_bytes(), &PIPES).unwrap();
    assert!(parsed.contains("a999 = { b = 999; c = 999; };"));
    text.push_str("a500 = 1;");
    let error = parse_bytes(format!("{{ {text} }}").as_bytes(), &PIPES).unwrap_err();
    assert_eq!(error.message, "attribute 'a500' already defined at «string»:501:1");
}

#[test]
fn positions() {
    let text = "let\n  a.b.c = 1;\n  inherit (x)\n    y;\n  z = f  1 + a.b;\nin z";
    let source = Source::add(Origin::String, text.into()).unwrap();
    let arena = Bump::new();
    let tree = parse(&arena, source, &PIPES).unwrap();
    let place = |pos: Pos| {
        let place = pos.locate().unwrap();
        (place.line, place.column)
    };
    let ExprKind::Let(attrs, body) = tree.kind else { panic!() };
    assert_eq!((place(tree.pos), place(body.pos)), ((1, 1), (6, 4)));
    let [a, y, z] = attrs.bindings else { panic!() };
    assert_eq!((place(a.pos), place(y.pos), place(z.pos)), ((2, 3), (4, 5), (5, 3)));
    use crate::ast::BindingValue;
    let BindingValue::Expr(Expr { kind: ExprKind::Attrs(a), .. }) = a.value else { panic!() };
    // As Nix has it, a nested name is where its path begins.
    assert_eq!(place(a.bindings[0].pos), (2, 3));
    let BindingValue::Expr(sum) = z.value else { panic!() };
    let ExprKind::Binary(_, call, select) = sum.kind else { panic!() };
    assert_eq!((place(sum.pos), place(call.pos), place(select.pos)), ((5, 12), (5, 7), (5, 14)));
}

#[test]
fn documentation() {
    let text =
        "{ /** one */ a.b = /** two */ x: /** three */ { y }: 1; /* no */ c = /** no */ 1; }";
    let source = Source::add(Origin::String, text.into()).unwrap();
    let arena = Bump::new();
    let tree = parse(&arena, source, &PIPES).unwrap();
    use crate::ast::BindingValue;
    let ExprKind::Attrs(attrs) = tree.kind else { panic!() };
    let BindingValue::Expr(Expr { kind: ExprKind::Attrs(a), .. }) = attrs.bindings[0].value else {
        panic!()
    };
    let b = a.bindings[0];
    let BindingValue::Expr(Expr { kind: ExprKind::Lambda(outer), .. }) = b.value else { panic!() };
    let ExprKind::Lambda(inner) = outer.body.kind else { panic!() };
    let docs = [b.doc, outer.doc, inner.doc, attrs.bindings[1].doc];
    assert_eq!(docs, [Some(&b" one "[..]), Some(b" two "), Some(b" three "), None]);
}

#[test]
fn warnings() {
    let warnings = RefCell::default();
    let options = Options {
        url_literals: Lint::Warn,
        absolute_paths: Lint::Warn,
        short_paths: Lint::Warn,
        warnings: Some(&warnings),
        ..PIPES
    };
    parse_bytes(b"[ x:y /a ~/b c/${d} ./e ../f \"x:y\" (x or) f or ]", &options).unwrap();
    let cursed = "This expression uses `or` as an identifier in a way that will change in a future \
                  Nix release.\nWrap this entire expression in parentheses to preserve its current \
                  meaning:\n    (f or)\nGive feedback at https://github.com/NixOS/nix/pull/11121";
    let portable = |kind, path| {
        format!(
            "{kind} path literals are not portable. Consider replacing path literal '{path}' by a \
             string, relative path, or parameter (lint-absolute-path-literals)"
        )
    };
    let expected = [
        "URL literals are discouraged. Consider using a string literal \"x:y\" instead (lint-url-literals)",
        &portable("absolute", "/a"),
        &portable("home", "~/b"),
        "relative path literal 'c/' should be prefixed with '.' for clarity: './c/' (lint-short-path-literals)",
        cursed,
    ];
    let found: Vec<_> = warnings.borrow().iter().map(|w| w.message.clone()).collect();
    assert_eq!(found, expected);
    assert!(warnings.borrow()[4].render().starts_with("warning: at «string»:1:43: This"));
    for (text, options) in [
        ("[ x:y ]", Options { url_literals: Lint::Fatal, ..PIPES }),
        ("[ /a ]", Options { absolute_paths: Lint::Fatal, ..PIPES }),
        ("[ a/b ]", Options { short_paths: Lint::Fatal, ..PIPES }),
    ] {
        let error = parse_bytes(text.as_bytes(), &options).unwrap_err();
        assert!(error.message.contains("(lint-"), "{error}");
        assert_eq!(error.pos.locate().unwrap().column, 3);
    }
}

#[test]
fn bytes_that_are_not_text() {
    let check = |text: &[u8], expected: Result<&str, &str>| {
        let found = parse_bytes(text, &PIPES);
        let found = found.as_deref().map_err(|error| error.message.as_str());
        assert_eq!(found, expected, "{:?}", text.as_bstr());
    };
    check(b"\"\xff\" # \xfe", Ok("\"\u{fffd}\""));
    check(b"''\xff''/* \xfe */", Ok("\"\u{fffd}\""));
    check(b"a \xff", Err("syntax error, unexpected invalid token, expecting end of file"));
    check(b"a\xff", Err("syntax error, unexpected invalid token, expecting end of file"));
    check("\u{e9}".as_bytes(), Err("syntax error, unexpected invalid token"));
    check(b"\0", Err("syntax error, unexpected invalid token"));
    check(b"1 # \0", Err("the source text contains a NUL byte"));
    let string =
        "input string 'a␀b' cannot be represented as Nix string because it contains null bytes";
    check(b"\"a\0b\"", Err(string));
    check(b"''a\0b''", Err(string));
    check(b"''a''\\\0''", Err("the source text contains a NUL byte"));
}

#[test]
fn rendering() {
    let cases = [
        (
            "{ x = 1;\n\n  x = 2;\n}\n",
            "error: attribute 'x' already defined at «string»:1:3\n       \
             at «string»:3:3:\n            2|\n            3|   x = 2;\n             |   ^\n            \
             4| }",
        ),
        (
            "a\r\n b )\rc",
            "error: syntax error, unexpected ')', expecting end of file\n       \
             at «string»:2:4:\n            1| a\n            2|  b )\n             |    ^\n            \
             3| c",
        ),
        (
            "",
            "error: syntax error, unexpected end of file\n       at «string»:1:1:\n            1|\n             | ^",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(parse_bytes(text.as_bytes(), &PIPES).unwrap_err().render(), expected);
    }
}
