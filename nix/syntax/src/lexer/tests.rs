//! The longest token wins, whatever follows.

use super::*;

fn check(text: &str, expected: &str) {
    let mut lexer = Lexer::new(text.as_bytes());
    let mut found = Vec::new();
    loop {
        let token = lexer.next();
        if token.kind == Kind::End {
            break;
        }
        found.push(format!("{:?}:{}", token.kind, &text[token.start..token.end]));
        assert!(token.end > token.start, "{text}");
    }
    assert_eq!(found.join(" "), expected, "{text}");
}

#[test]
fn names_and_keywords() {
    check(
        "a a' a-1 a_b _ or",
        "Identifier:a Identifier:a' Identifier:a-1 Identifier:a_b Identifier:_ Or:or",
    );
    check(
        "iff ifs in' inherited",
        "Identifier:iff Identifier:ifs Identifier:in' Identifier:inherited",
    );
    check("if then else", "If:if Then:then Else:else");
    check(
        "assert with let in rec inherit",
        "Assert:assert With:with Let:let In:in Rec:rec Inherit:inherit",
    );
}

#[test]
fn numbers() {
    check("1 007 1.5 1. .5 0.5", "Integer:1 Integer:007 Float:1.5 Float:1. Float:.5 Float:0.5");
    check("1.e3 1.5E-3 .5e+1", "Float:1.e3 Float:1.5E-3 Float:.5e+1");
    check(
        "1e6 1.5e 00.5 0.",
        "Integer:1 Identifier:e6 Float:1.5 Identifier:e Integer:00 Float:.5 Integer:0 Dot:.",
    );
    check("1.5.2 1..2 0..2", "Float:1.5 Float:.2 Float:1. Float:.2 Integer:0 Dot:. Float:.2");
    check("1a 1_", "Integer:1 Identifier:a Integer:1 Identifier:_");
}

#[test]
fn paths() {
    check("a/b ./a ../a /a ~/a", "Path:a/b Path:./a Path:../a Path:/a HomePath:~/a");
    check("a/ b", "Identifier:a Slash:/ Identifier:b");
    check("a /b a/b/ c", "Identifier:a Path:/b Path:a/b/ Identifier:c");
    check("1/2 1.5/2 -1/2 +/a -/a ./.", "Path:1/2 Path:1.5/2 Path:-1/2 Path:+/a Path:-/a Path:./.");
    check(
        "a//b //b ++/a .../a",
        "Identifier:a Update:// Identifier:b Update:// Identifier:b Path:++/a Path:.../a",
    );
    check("a.b/c a.b.c", "Path:a.b/c Identifier:a Dot:. Identifier:b Dot:. Identifier:c");
    check("a'/b", "Identifier:a' Path:/b");
    check(
        "<a> <a/b.c> <a/> <a",
        "LookupPath:<a> LookupPath:<a/b.c> Less:< Identifier:a Slash:/ Greater:> Less:< Identifier:a",
    );
    check("a<b>c", "Identifier:a LookupPath:<b> Identifier:c");
    check("~ ~a", "Invalid:~ Invalid:~ Identifier:a");
    check("./${", "Path:./ DollarBrace:${");
    check(
        "/${ a/${ ~/${",
        "Path:/ DollarBrace:${ Path:a/ DollarBrace:${ HomePath:~/ DollarBrace:${",
    );
    check(
        "a/b${ a/b/${ //${",
        "Path:a/b DollarBrace:${ Path:a/b/ DollarBrace:${ Update:// DollarBrace:${",
    );
}

#[test]
fn uris() {
    check(
        "x:x x: x x :x",
        "Uri:x:x Identifier:x Colon:: Identifier:x Identifier:x Colon:: Identifier:x",
    );
    check("http://a.b/c?d=e&f;", "Uri:http://a.b/c?d=e&f Semicolon:;");
    check(
        "a.b:c a+b:c a_b:c a/b:c",
        "Uri:a.b:c Uri:a+b:c Identifier:a_b Colon:: Identifier:c Path:a/b Colon:: Identifier:c",
    );
    check("1a:b", "Integer:1 Uri:a:b");
}

#[test]
fn operators() {
    check(
        "== = != ! <= < >= > && || -> // / ++ + - *",
        "Equal:== Assign:= NotEqual:!= Bang:! LessEqual:<= Less:< GreaterEqual:>= Greater:> AndAnd:&& OrOr:|| Arrow:-> Update:// Slash:/ Concat:++ Plus:+ Minus:- Star:*",
    );
    check(
        "<| |> | & $ ${ ... .. .",
        "PipeLeft:<| PipeRight:|> Invalid:| Invalid:& Invalid:$ DollarBrace:${ Ellipsis:... Dot:. Dot:. Dot:.",
    );
    check(
        "a.b->c a-->b",
        "Identifier:a Dot:. Identifier:b- Greater:> Identifier:c Identifier:a-- Greater:> Identifier:b",
    );
    check("<=a <-", "LessEqual:<= Identifier:a Less:< Minus:-");
    check("' '' '' \n", "Invalid:' IndentedOpen:'' IndentedOpen:'' \n");
}

#[test]
fn blanks() {
    check("a # b\nc #d\re", "Identifier:a Identifier:c Identifier:e");
    check("/**/a/* * / */b/***/c/* /* */", "Identifier:a Identifier:b Identifier:c");
    check("a /* b", "Identifier:a Slash:/ Star:* Identifier:b");
    check("/*/", "Slash:/ Star:* Slash:/");
}

#[test]
fn documentation() {
    let text = b"/** one */ /* x */ a /** two */ /** three */ b /***/ c /**/ d /*** e */ e";
    let mut lexer = Lexer::new(text);
    let mut docs = Vec::new();
    loop {
        let token = lexer.next();
        if token.kind == Kind::End {
            break;
        }
        docs.push(lexer.doc_before(token.start));
    }
    assert_eq!(docs, [Some(&b" one "[..]), Some(b" three "), None, None, None]);
}
