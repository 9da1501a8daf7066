//! `raddle instantiate`.

use std::io::Write;
use std::process::Stdio;

use crate::support::Folder;

const FILES: &[(&str, &[u8])] = &[
    ("default.nix", b"{ a = 1; b = [ (1 + 1) ]; f = { x ? 1 }: x; }"),
    ("function.nix", b"{ x ? 1 }: { r = x; }"),
    ("one.nix", b"1"),
    ("dir/x.nix", b"2"),
];

#[test]
fn evaluation() {
    Folder::new("instantiate-eval", FILES).succeed(&[
        ("instantiate --eval", "{ a = 1; b = <CODE>; f = <LAMBDA>; }\n"),
        ("instantiate --eval --strict", "{ a = 1; b = [ 2 ]; f = <LAMBDA>; }\n"),
        ("instantiate --eval . -A a", "1\n"),
        ("instantiate --eval -A a -A b.0", "1\n2\n"),
        ("instantiate --eval one.nix dir/x.nix", "1\n2\n"),
        ("instantiate --eval -E '1 + 1' --strict '[ 1 ]'", "2\n[ 1 ]\n"),
        ("instantiate --eval --strict --json -A b", "[2]\n"),
        ("instantiate --eval --raw -E '\"a b\"'", "a b"),
        (
            "instantiate --eval --xml --strict -A b",
            "<?xml version='1.0' encoding='utf-8'?>\n<expr>\n  <list>\n    <int value=\"2\" />\n  </list>\n</expr>\n",
        ),
        (
            "instantiate --eval --xml --no-location -E '{ a = x: x; }' --strict",
            "<?xml version='1.0' encoding='utf-8'?>\n<expr>\n  <attrs>\n    <attr name=\"a\">\n      <function>\n        <varpat name=\"x\" />\n      </function>\n    </attr>\n  </attrs>\n</expr>\n",
        ),
        ("instantiate --eval function.nix", "<LAMBDA>\n"),
        ("instantiate --eval function.nix --arg x 5", "{ r = <CODE>; }\n"),
        ("instantiate --eval function.nix --argstr x y -A r", "\"y\"\n"),
        ("instantiate --eval --strict -E '{ x = { }; } // { y = [ ]; }'", "{ x = { }; y = [ ]; }\n"),
        ("instantiate --readonly-mode --eval --read-write-mode one.nix", "1\n"),
        ("instantiate --parse -E 'a: (a.b or 1) - 2'", "(a: (__sub (a).b or (1) 2))\n"),
        ("instantiate --find-file -I . one.nix dir/x.nix", "DIR/one.nix\nDIR/dir/x.nix\n"),
        ("instantiate --find-file -I n=dir n/x.nix", "DIR/dir/x.nix\n"),
    ]);
}

#[test]
fn failures() {
    let folder = Folder::new("instantiate-fail", FILES);
    folder.fail(&[
        ("instantiate", "writing derivations to the store is not supported yet"),
        ("instantiate missing.nix", "path 'DIR/missing.nix' does not exist"),
        ("instantiate --eval dir", "path 'DIR/dir/default.nix' does not exist"),
        ("instantiate --eval -A c", "attribute 'c' in selection path 'c' not found"),
        ("instantiate --parse -E '{'", "syntax error, unexpected end of file"),
        ("instantiate --find-file -I . two.nix", "file 'two.nix' was not found"),
        ("instantiate --eval --json -E '[ (x: x) ]' --strict", "cannot convert a function to JSON"),
    ]);
    // What was printed before an error stays.
    folder.check("instantiate --eval -E 1 'throw \"x\"'", 1, "1\n", "error: x");
    folder.check("instantiate --eval -A a -A c", 1, "1\n", "not found");
}

#[test]
fn traces() {
    let folder = Folder::new("instantiate-trace", FILES);
    let line = "instantiate --eval -E 'let f = x: throw x; g = x: f x; in g \"no\"'";
    let short = folder.run(line);
    assert!(!short.err.contains("while calling 'g'"), "{short:?}");
    let long = folder.run(&format!("{line} --show-trace"));
    assert!(long.err.contains("… while calling 'g'"), "{long:?}");
    let overridden = folder.run(&format!("{line} --show-trace --no-show-trace"));
    assert_eq!(short.err, overridden.err);
    assert!(short.err.ends_with("       error: no\n"), "{short:?}");
}

#[test]
fn standard_input() {
    let folder = Folder::new("instantiate-stdin", FILES);
    for (line, input, out) in [
        ("instantiate --eval -", "1 + 1", "2\n"),
        ("instantiate --eval --strict -", "import ./one.nix", "1\n"),
        ("instantiate --parse -", "[ ./x ]", "[ (DIR/x) ]\n"),
        ("eval -f -", "{ a = 1; }", "{ a = 1; }\n"),
        ("eval -f - a", "{ a = 1; }", "1\n"),
        ("eval --arg-from-stdin x -f function.nix r", "text", "\"text\"\n"),
        ("search --file - json --json", "{ }", "{}\n"),
    ] {
        let mut command = folder.command(line);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        let done = child.wait_with_output().unwrap();
        let text = String::from_utf8(done.stdout).unwrap();
        let text = text.replace(&*folder.path().to_string_lossy(), "DIR");
        assert_eq!(text, out, "{line}\n{}", String::from_utf8_lossy(&done.stderr));
    }
}
