//! `raddle eval`.

use crate::support::Folder;

const FILES: &[(&str, &[u8])] = &[
    (
        "default.nix",
        b"{ a.b = [ 1 { c = \"deep\"; } ]; s = \"te\\\"xt\"; f = x: x; p = ./default.nix; }",
    ),
    ("function.nix", b"{ x ? 1, y }: { sum = x + y; }"),
    ("options.nix", b"{ ... }@args: args"),
    ("sub/file.nix", b"1"),
    ("text", b"from a file"),
];

#[test]
fn values() {
    Folder::new("eval-values", FILES).succeed(&[
        ("eval --expr '1 + 2'", "3\n"),
        ("eval -E '{ b = 1; a = [ ]; c = { }; }'", "{ a = [ ]; b = 1; c = { }; }\n"),
        ("eval --expr 'x: x'", "«lambda @ «string»:1:1»\n"),
        ("eval --expr 'map'", "«primop map»\n"),
        ("eval --raw --expr '\"a\" + \"b\"'", "ab"),
        ("eval --json --expr '{ b = 1.5; a = [ null true ]; }'", "{\"a\":[null,true],\"b\":1.5}\n"),
        ("eval --json --pretty --expr '[ 1 ]'", "[\n  1\n]\n"),
        ("eval --pretty --expr '{ a = 1; b = 2; }'", "{\n  a = 1;\n  b = 2;\n}\n"),
        ("eval --apply 'x: x * 2' --expr 21", "42\n"),
        ("eval --apply builtins.attrNames -f .", "[ \"a\" \"f\" \"p\" \"s\" ]\n"),
        ("eval --expr '{ a.b = 1; }' a.b", "1\n"),
        ("eval --expr 'let x = 1; in x' --show-trace", "1\n"),
        ("eval --expr ./sub/file.nix", "DIR/sub/file.nix\n"),
        ("eval --expr 'import ./sub/file.nix'", "1\n"),
    ]);
}

#[test]
fn files_and_paths() {
    Folder::new("eval-files", FILES).succeed(&[
        ("eval -f default.nix a", "{ b = [ 1 { c = \"deep\"; } ]; }\n"),
        ("eval -f . a.b.1.c", "\"deep\"\n"),
        ("eval -f . -A a.b.0", "1\n"),
        ("eval -f . '\"a\".b.0'", "1\n"),
        ("eval --file ./default.nix s --raw", "te\"xt"),
        ("eval -f . s --json", "\"te\\\"xt\"\n"),
        ("eval -f . p --json", "\"DIR/default.nix\"\n"),
        ("eval . -A s", "\"te\\\"xt\"\n"),
        ("eval ./default.nix#a.b.0", "1\n"),
        ("eval path:.#a.b.0", "1\n"),
        ("eval -I lib=sub --expr 'import <lib/file.nix>'", "1\n"),
        ("eval -I . -f '<sub/file.nix>'", "1\n"),
    ]);
}

#[test]
fn arguments() {
    Folder::new("eval-arguments", FILES).succeed(&[
        ("eval -f function.nix sum --arg y 2", "3\n"),
        ("eval -f function.nix sum --arg y 2 --arg x 40", "42\n"),
        ("eval -f function.nix sum --arg y -1", "0\n"),
        ("eval -f function.nix sum --arg y 1 --arg y 5", "6\n"),
        ("eval -f options.nix s --argstr s text", "\"text\"\n"),
        ("eval -f options.nix s --arg s 'throw \"unused\"' --arg s 1", "1\n"),
        ("eval -f options.nix t --arg-from-file t text", "\"from a file\"\n"),
    ]);
}

#[test]
fn failures() {
    let folder = Folder::new("eval-failures", FILES);
    folder.fail(&[
        ("eval --expr 'throw \"no\"'", "error: no\n"),
        ("eval --expr '1 +'", "error: syntax error, unexpected end of file"),
        ("eval --expr x", "undefined variable 'x'"),
        ("eval --json --expr 'x: x'", "cannot convert a function to JSON"),
        ("eval --raw --expr 1", "cannot coerce an integer to a string"),
        ("eval -f function.nix sum", "an argument without a value ('y')"),
        ("eval -f function.nix sum --arg y '('", "syntax error"),
        ("eval -f . nothing", "attribute 'nothing' in selection path 'nothing' not found"),
        ("eval -f . a.c", "Did you mean b?"),
        ("eval -f . a.b.2", "list index 2 in selection path 'a.b.2' is out of range"),
        ("eval -f . s.t", "should be a set but is a string"),
        ("eval -f . a..b", "empty attribute name"),
        ("eval -f . 'a.\"b'", "missing closing quote in selection path"),
        ("eval --expr '<nothing>'", "file 'nothing' was not found in the Nix search path"),
        ("eval -f https://x.org/y", "fetching is not supported yet"),
        ("eval --arg-from-file x missing --expr 1", "cannot read 'missing'"),
    ]);
    for line in [
        "eval --json --raw --expr 1",
        "eval -f . --expr 1",
        "eval -f . a -A s",
        "eval --workers 0 --expr 1",
        "eval --expr 1 --max-call-depth many",
        "eval --no-such-flag",
        "no-such-command",
    ] {
        let done = folder.run(line);
        assert_eq!(done.code, Some(2), "{line}\n{done:?}");
        assert!(done.err.starts_with("error: "), "{line}\n{done:?}");
    }
}

#[test]
fn writing_files() {
    let folder = Folder::new("eval-write", FILES);
    folder.succeed(&[("eval --write-to out --expr '{ a = \"x\"; b.c = \"y\"; }'", "")]);
    assert_eq!(std::fs::read(folder.path().join("out/a")).unwrap(), b"x");
    assert_eq!(std::fs::read(folder.path().join("out/b/c")).unwrap(), b"y");
    folder.fail(&[
        ("eval --write-to out --expr '\"x\"'", "path 'out' already exists"),
        ("eval --write-to out1 --expr '{ \"..\" = \"x\"; }'", "invalid file name '..'"),
        ("eval --write-to out2 --expr '{ \"a/b\" = \"x\"; }'", "invalid file name 'a/b'"),
        ("eval --write-to out3 --expr '1'", "only strings and attribute sets"),
    ]);
}
