//! Input of every kind that cannot be evaluated: a clear error, never a panic, a hang or a crash.

use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};

use crate::support::Folder;

#[test]
fn files() {
    let nested = [vec![b'['; 10_000], vec![b']'; 10_000]].concat();
    let folder = Folder::new(
        "bad-files",
        &[
            ("empty.nix", b""),
            ("self.nix", b"import ./self.nix"),
            ("even.nix", b"import ./odd.nix"),
            ("odd.nix", b"import ./even.nix"),
            ("binary.nix", b"\x7fELF\x02\x01\x01\0\0\0\0\xff\xfe"),
            ("nul.nix", b"\"a\0b\""),
            ("invalid.nix", b"a\xff"),
            ("invalid-string.nix", b"\"\xff\xfe\""),
            ("nested.nix", &nested),
            ("million.nix", &vec![b'['; 1_000_000]),
            ("parens.nix", &vec![b'('; 1_000_000]),
            ("braces.nix", &b"{a=".repeat(300_000)),
            ("lambdas.nix", &b"x: ".repeat(500_000)),
            ("minus.nix", &vec![b'-'; 1_000_000]),
            ("quotes.nix", &b"\"${".repeat(300_000)),
            ("comment.nix", b"/* never closed"),
            ("folder/file", b""),
            ("good/default.nix", b"1"),
        ],
    );
    symlink("b.nix", folder.path().join("a.nix")).unwrap();
    symlink("a.nix", folder.path().join("b.nix")).unwrap();
    symlink("gone", folder.path().join("dangling.nix")).unwrap();
    symlink(".", folder.path().join("here")).unwrap();
    for (file, error) in [
        ("missing.nix", "path 'DIR/missing.nix' does not exist"),
        ("missing/file.nix", "path 'DIR/missing/file.nix' does not exist"),
        ("empty.nix", "unexpected end of file"),
        ("empty.nix/x", "path 'DIR/empty.nix/x' does not exist"),
        ("folder", "path 'DIR/folder/default.nix' does not exist"),
        ("self.nix", "infinite recursion encountered"),
        ("even.nix", "infinite recursion encountered"),
        ("binary.nix", "syntax error"),
        ("nul.nix", "error: "),
        ("invalid.nix", "syntax error"),
        ("nested.nix", "nesting too deep"),
        ("million.nix", "nesting too deep"),
        ("parens.nix", "nesting too deep"),
        ("braces.nix", "nesting too deep"),
        ("lambdas.nix", "nesting too deep"),
        ("minus.nix", "nesting too deep"),
        ("quotes.nix", "nesting too deep"),
        ("comment.nix", "syntax error"),
        ("a.nix", "too many symbolic links"),
        ("dangling.nix", "does not exist"),
        ("/dev/null", "unexpected end of file"),
        ("/proc/self/mem", "error: "),
        ("'<gone>'", "file 'gone' was not found in the Nix search path"),
    ] {
        for line in [
            "instantiate --eval --strict FILE",
            "eval -f FILE",
            "search -f FILE x",
            "search -f FILE x --json",
        ] {
            let done = folder.run(&line.replace("FILE", file));
            assert_eq!(done.code, Some(1), "{line} {file}\n{}", start(&done.err));
            assert_eq!(done.out, "", "{line} {file}");
            assert!(done.err.contains(error), "{line} {file}\n{}", start(&done.err));
            assert!(!done.err.contains("panicked"), "{line} {file}\n{}", start(&done.err));
        }
    }
    folder.succeed(&[("eval -f here/here/here/good", "1\n"), ("eval -f good/default.nix", "1\n")]);
    folder.check("eval -f invalid-string.nix --json", 1, "", "invalid UTF-8");
}

/// Returns the part of a long text that a failed test should show.
fn start(text: &str) -> String {
    text.chars().take(2000).collect()
}

#[test]
fn long_line() {
    let text = [b"\"".as_slice(), &vec![b'x'; 8 << 20], b"\" + y"].concat();
    let folder = Folder::new("bad-long-line", &[("long.nix", &text)]);
    let done = folder.run("eval -f long.nix");
    assert_eq!(done.code, Some(1));
    assert!(done.err.contains("undefined variable 'y'"), "{}", start(&done.err));
    // Nobody wants to see all of it.
    assert!(done.err.len() < 20_000, "{} bytes", done.err.len());
}

#[test]
fn long_names() {
    let name = "x".repeat(1 << 20);
    let shown = "x".repeat(1000);
    let texts = [
        name.clone(),
        format!("with {{ }}; {name}"),
        format!("{{ }}.{name}"),
        format!("({{ {name} }}: 1) {{ }}"),
        format!("({{ }}: 1) {{ {name} = 1; }}"),
        format!("{{ {name} = 1; {name} = 2; }}"),
        format!("{{ {name} = 1; ${{\"{name}\"}} = 2; }}"),
        format!("{{ {name}, {name} }}: 1"),
        format!("(rec {{ {name} = throw \"no\"; }}).{name}"),
        format!("{{ {name}1 = 1; }}.{name}2"),
        format!("let {name}1 = 1; in {name}2"),
        format!("<{name}>"),
        format!("import /{name}"),
    ];
    for text in texts {
        let folder = Folder::new("bad-long-name", &[("long.nix", text.as_bytes())]);
        let done = folder.run("eval -f long.nix");
        assert_eq!(done.code, Some(1));
        assert!(
            done.err.contains(&shown) && done.err.contains('…') && done.err.len() < 20_000,
            "{}",
            start(&done.err)
        );
    }
}

#[test]
fn bytes_for_the_terminal() {
    let folder = Folder::new(
        "bad-bytes",
        &[
            ("raw.nix", b"# \x1b[31m \xff\n1 \x07 2"),
            ("trace.nix", b"builtins.trace \"\x1b[31mred\" 1"),
        ],
    );
    let done = folder.run("eval -f raw.nix");
    assert!(done.err.contains("␛[31m") && done.err.contains("1 ␇ 2"), "{done:?}");
    let done = folder.run("eval -f trace.nix");
    assert_eq!((&*done.out, &*done.err), ("1\n", "trace: red\n"));
    let done = folder.run("eval --color always -f trace.nix");
    assert_eq!((&*done.out, &*done.err), ("1\n", "trace: \x1b[31mred\n"));
}

#[test]
fn fifos() {
    let folder = Folder::new("bad-fifo", &[]);
    let fifo = folder.path().join("fifo");
    let status = std::process::Command::new("mkfifo").arg(&fifo).status();
    assert!(status.is_ok_and(|status| status.success()), "mkfifo is part of coreutils");
    folder.fail(&[
        ("eval -f fifo", "'DIR/fifo': it is a FIFO that nobody writes to"),
        ("instantiate --eval fifo", "it is a FIFO that nobody writes to"),
        ("eval --impure --expr 'builtins.readFile ./fifo'", "it is a FIFO that nobody writes to"),
        ("eval --impure --expr 'import ./fifo'", "it is a FIFO that nobody writes to"),
    ]);
    // With a writer it is read to its end.
    let writer = std::thread::spawn(move || {
        // Who comes just when a reader has given up writes to nobody.
        while std::fs::write(&fifo, "1 + 2").is_err() {}
        // Left behind, it would be in the way of whoever copies the folder of the project.
        std::fs::remove_file(&fifo).unwrap();
    });
    let done = loop {
        let done = folder.run("eval -f fifo");
        if done.code == Some(0) {
            break done;
        }
        assert!(done.err.contains("nobody writes to"), "{done:?}");
    };
    assert_eq!(done.out, "3\n");
    writer.join().unwrap();
}

#[test]
fn unreadable_file() {
    let folder = Folder::new("bad-unreadable", &[("secret.nix", b"1")]);
    let file = folder.path().join("secret.nix");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o000)).unwrap();
    if std::fs::read(&file).is_ok() {
        // For the superuser nothing is unreadable.
        return;
    }
    folder.fail(&[("eval -f secret.nix", "opening file 'DIR/secret.nix': Permission denied")]);
}

#[test]
fn names_that_are_not_text() {
    let folder = Folder::new("bad-names", &[]);
    let name = std::ffi::OsStr::from_bytes(b"a\xffb.nix");
    std::fs::write(folder.path().join(name), "1").unwrap();
    let mut command = folder.command("eval -f");
    command.arg(name);
    let done = folder.finish(command);
    assert_eq!((done.code, &*done.out), (Some(0), "1\n"), "{done:?}");
    let mut command = folder.command("eval --expr");
    command.arg(std::ffi::OsStr::from_bytes(b"\xff"));
    let done = folder.finish(command);
    assert_eq!(done.code, Some(1), "{done:?}");
    assert!(done.err.contains("syntax error"), "{done:?}");
}

#[test]
fn programs_that_need_too_much_memory() {
    let quadratic = "builtins.foldl' (x: _: x ++ [ 1 ]) [ ] (builtins.genList (i: i) 1000000)";
    let many = format!(
        "builtins.listToAttrs (builtins.genList (i: {{ name = \"a${{toString i}}\"; value = builtins.length ({quadratic}); }}) 20)"
    );
    let folder = Folder::new(
        "bad-memory",
        &[("one.nix", quadratic.as_bytes()), ("many.nix", many.as_bytes())],
    );
    let expected =
        "out of memory: the evaluation needs more than the heap limit of 64.0 MiB (see --max-heap)";
    for workers in [1, 2, 8] {
        let options = format!("--max-heap 64M --workers {workers}");
        folder.fail(&[
            (&format!("eval {options} -f one.nix"), expected),
            (&format!("eval {options} --json -f many.nix"), expected),
            (&format!("instantiate --eval --strict {options} many.nix"), expected),
            (&format!("search {options} -f many.nix x"), expected),
        ]);
    }
    folder.check("eval --max-heap 1 --expr 1", 2, "", "'max-heap'");
}

#[test]
fn programs_that_do_not_end_well() {
    Folder::new("bad-programs", &[("deep.nix", b"n: import ./deep.nix (n + 1)")]).fail(&[
        ("eval --expr 'let x = x; in x'", "infinite recursion encountered"),
        (
            "eval --expr 'let f = x: 1 + f x; in f 1'",
            "max-call-depth exceeded\n       at «string»:1:16",
        ),
        (
            "eval --expr 'let f = x: builtins.elemAt [ (f x) ] 0; in f 1'",
            "max-call-depth exceeded\n       at «string»:1:",
        ),
        (
            "eval --expr 'let f = x: builtins.filter f [ x ]; in f 1'",
            "max-call-depth exceeded\n       at «string»:1:12",
        ),
        (
            "eval --expr 'let s = { __functor = s; }; in s 1'",
            "max-call-depth exceeded\n       at «string»:1:32",
        ),
        (
            "eval --impure --expr 'import ./deep.nix 1'",
            "max-call-depth exceeded\n       at DIR/deep.nix:1:4",
        ),
        ("eval --expr 'let x = { y = x; }; in builtins.deepSeq x (throw \"end\")'", "error: end"),
        ("eval --json --expr 'let x = { y = x; }; in x'", "error: "),
        ("eval --expr 'builtins.match \"(\" \"\"'", "invalid regular expression '('"),
        (
            "eval --expr 'abort \"stop\"'",
            "evaluation aborted with the following error message: 'stop'",
        ),
        ("eval --expr 'assert 1 == 2; 3'", "assertion"),
    ]);
}

#[test]
fn no_name() {
    let folder = Folder::new("bad-no-name", &[("default.nix", b"1")]);
    for line in ["search -f '' x", "eval -f ''", "instantiate --eval ''"] {
        folder.check(line, 2, "", "the name of a file must not be empty");
    }
}
