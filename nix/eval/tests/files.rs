//! Files, sources, the search path and string contexts.

mod support;

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;

use raddle_nix::{SearchEntry, Settings};
use support::{check_messages, check_with};

/// Makes a folder with a file, a program, links and a subfolder.
fn folder(name: &str) -> PathBuf {
    let root = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&root);
    let dir = root.join("dir1");
    fs::create_dir_all(dir.join("sub")).unwrap();
    fs::create_dir_all(dir.join("imp")).unwrap();
    for (file, text) in [
        ("x.txt", "hello\n"),
        ("run.sh", "#!/bin/sh\n"),
        ("sub/y", "deep\n"),
        ("imp/default.nix", "{ a = 1; p = ./q; }\n"),
        ("scoped.nix", "z + 1\n"),
        ("fn.nix", "x: x\n"),
        ("../nul", "a\0b"),
    ] {
        fs::write(dir.join(file), text).unwrap();
    }
    fs::set_permissions(dir.join("run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    for (target, link) in
        [("x.txt", "link"), ("sub", "dlink"), ("nowhere", "dangling"), ("loop", "loop")]
    {
        symlink(target, dir.join(link)).unwrap();
    }
    symlink("dir1/imp/default.nix", root.join("implink")).unwrap();
    symlink("dir1/imp", root.join("dlink2")).unwrap();
    root
}

/// Checks cases in which `@` stands for the folder.
#[track_caller]
fn check_in(root: &std::path::Path, settings: Settings, cases: &[(&str, &str)]) {
    let place = |text: &str| text.replace('@', root.to_str().unwrap());
    let cases: Vec<(String, String)> = cases.iter().map(|(a, b)| (place(a), place(b))).collect();
    let cases: Vec<(&str, &str)> = cases.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
    check_with(settings, &cases);
}

#[test]
fn sources() {
    let root = folder("sources");
    check_in(
        &root,
        Settings::default(),
        &[
            (r#""${@/dir1}""#, r#""/nix/store/z5k56jqhdgj6xnw3dyllv6ay08z451z1-dir1""#),
            (
                r#"builtins.getContext "${@/dir1}""#,
                r#"{ "/nix/store/z5k56jqhdgj6xnw3dyllv6ay08z451z1-dir1" = { path = true; }; }"#,
            ),
            (
                r#"builtins.path { path = "${@/dir1}/x.txt"; }"#,
                r#""/nix/store/iy6y8aqh7ifzgn1jnkf2v1fp10szjvky-x.txt""#,
            ),
            (
                r#"builtins.path { path = "${@/dir1}/sub"; name = "q"; }"#,
                r#""/nix/store/qxfqfzcxd2g7gw645jpak6jp77nal93m-q""#,
            ),
            (r#"builtins.readFile "${@/dir1}/x.txt""#, r#""hello\n""#),
            (r#"builtins.readFile "${@/dir1}/link""#, r#""hello\n""#),
            (r#"builtins.readFileType "${@/dir1}/link""#, r#""symlink""#),
            (
                r#"builtins.readDir (builtins.filterSource (p: t: t == "regular") @/dir1)"#,
                r#"{ "fn.nix" = "regular"; "run.sh" = "regular"; "scoped.nix" = "regular"; "x.txt" = "regular"; }"#,
            ),
            (
                r#"builtins.pathExists "${builtins.filterSource (p: t: t == "regular") @/dir1}/sub""#,
                "false",
            ),
            (
                r#"builtins.pathExists "${builtins.filterSource (p: t: t == "regular") @/dir1}/x.txt""#,
                "true",
            ),
            (
                r#"(import "${@/dir1}/imp").p"#,
                "/nix/store/z5k56jqhdgj6xnw3dyllv6ay08z451z1-dir1/imp/q",
            ),
            (r#""${@/missing}""#, "error: path '@/missing' does not exist"),
            (r#""${@/x.drv}""#, "error: file names are not allowed to end in '.drv'"),
            (r#"builtins.path { name = "x"; }"#, "error: missing required 'path' attribute"),
            (
                "builtins.path { path = @/dir1; foo = 1; }",
                "error: unsupported argument 'foo' to 'builtins.path'",
            ),
            ("builtins.path { path = @/dir1; recursive = false; }", "error: is not a regular file"),
            (
                r#"builtins.path { path = @/dir1; sha256 = "0000000000000000000000000000000000000000000000000000"; }"#,
                "error: store path mismatch in (possibly filtered) path added from '@/dir1'",
            ),
            (
                "builtins.filterSource (_: _: 1) @/dir1",
                "error: expected a Boolean but found an integer: 1",
            ),
            (
                r#"builtins.filterSource [ ] "foo""#,
                "error: string 'foo' doesn't represent an absolute path",
            ),
        ],
    );
}

#[test]
fn written_files() {
    check_with(
        Settings::default(),
        &[
            (r#"builtins.readFile (builtins.toFile "x" "hi")"#, r#""hi""#),
            (
                r#"builtins.getContext (builtins.readFile (builtins.toFile "x" "hi ${builtins.toFile "y" "ho"}"))
               == builtins.getContext (builtins.toFile "y" "ho")"#,
                "true",
            ),
            (r#"import (builtins.toFile "e.nix" "1 + 1")"#, "2"),
            (r#"scopedImport { z = 1; } (builtins.toFile "e.nix" "1 + z")"#, "2"),
            (r#"builtins.toFile "a b" """#, "error: name 'a b' contains illegal character ' '"),
            (r#"builtins.toFile "" """#, "error: name must not be empty"),
            (
                r#"builtins.toFile "a" "${derivation { name = "a"; builder = "b"; system = "s"; }}""#,
                "error: files created by builtins.toFile may not reference derivations",
            ),
        ],
    );
}

#[test]
fn reading() {
    let root = folder("reading");
    check_in(
        &root,
        Settings::default(),
        &[
            ("builtins.readDir @/dir1/dlink", r#"{ y = "regular"; }"#),
            ("builtins.readDir @/dir1/link", "error: '@/dir1/x.txt' is not a directory"),
            ("builtins.readDir @/nope", "error: path '@/nope' does not exist"),
            ("builtins.readFile @/dir1/link", r#""hello\n""#),
            (
                "builtins.readFile @/nul",
                "error: the contents of the file '@/nul' cannot be represented as a Nix string",
            ),
            ("builtins.readFile @/nope", "error: path '@/nope' does not exist"),
            ("builtins.readFile @", "error: Is a directory"),
            ("builtins.readFile /dev/zero", "error: it has no end"),
            ("builtins.readFileType @/dir1", r#""directory""#),
            ("builtins.readFileType @/dir1/dlink", r#""symlink""#),
            ("builtins.readFileType @/dir1/dlink/y", r#""regular""#),
            ("builtins.pathExists @/dir1/dangling", "true"),
            ("builtins.pathExists @/dir1/dlink", "true"),
            (r#"builtins.pathExists "@/dir1/x.txt/""#, "false"),
            (r#"builtins.pathExists "@/dir1/dlink/""#, "true"),
            ("builtins.pathExists @/dir1/x.txt/foo", "false"),
            ("builtins.pathExists @/dir1/loop", "true"),
            (r#"builtins.pathExists "@/dir1/loop/""#, "false"),
            ("builtins.pathExists @/dir1/loop/x", "false"),
            (r#"builtins.pathExists "@/dir1/dangling/""#, "false"),
            (
                "builtins.pathExists (@/dir1 + \"/${toString (builtins.genList (i: 100000) 50)}\")",
                "false",
            ),
            (
                "builtins.readFile @/dir1/loop",
                "error: infinite symlink recursion in path '@/dir1/loop'",
            ),
            (
                "builtins.seq (builtins.readDir @/dir1) [ (builtins.pathExists @/dir1/x.txt) (builtins.pathExists @/dir1/no) ]",
                "[ true false ]",
            ),
            (
                r#"builtins.pathExists "zorglub""#,
                "error: string 'zorglub' doesn't represent an absolute path",
            ),
            (r#"builtins.toPath "/a/../b""#, r#""/b""#),
            (r#"builtins.toPath "a""#, "error: string 'a' doesn't represent an absolute path"),
        ],
    );
}

#[test]
fn importing() {
    let root = folder("importing");
    check_in(
        &root,
        Settings::default(),
        &[
            ("import @/dir1/imp", "{ a = 1; p = @/dir1/imp/q; }"),
            ("import @/implink", "{ a = 1; p = @/dir1/imp/q; }"),
            ("import @/dlink2", "{ a = 1; p = @/dir1/imp/q; }"),
            ("scopedImport { z = 5; } @/dir1/scoped.nix", "6"),
            ("scopedImport 1 @/dir1/scoped.nix", "error: expected a set but found an integer: 1"),
            ("import @/dir1/fn.nix 3", "3"),
            ("import @/nope.nix", "error: path '@/nope.nix' does not exist"),
            ("import @/dir1", "error: path '@/dir1/default.nix' does not exist"),
            (r#"import "relative""#, "error: string 'relative' doesn't represent an absolute path"),
            (
                r#"(import <nix/fetchurl.nix> { url = "http://x.org/a.tar"; sha256 = "0000000000000000000000000000000000000000000000000000"; }).name"#,
                r#""a.tar""#,
            ),
        ],
    );
}

#[test]
fn builds_are_refused() {
    let build = r#"(derivation { name = "a"; builder = "b"; system = "s"; })"#;
    let refused = "error: cannot build '/nix/store/pn5w9v350w6b152fg17i8iinyi3g0di4-a.drv^out' \
                   during evaluation because the option 'allow-import-from-derivation' is disabled";
    let texts: Vec<String> =
        ["import", "builtins.readFile", "builtins.readDir", "builtins.pathExists"]
            .iter()
            .map(|builtin| format!("{builtin} {build}"))
            .collect();
    let cases: Vec<(&str, &str)> = texts.iter().map(|text| (text.as_str(), refused)).collect();
    check_with(Settings::default(), &cases);
}

#[test]
fn search_path() {
    let root = folder("search");
    let entry = |prefix: &str, path: &str| SearchEntry {
        prefix: prefix.into(),
        path: root.join(path).to_str().unwrap().into(),
    };
    let search_path = vec![entry("p", "dir1"), entry("", "dir1"), entry("", "gone")];
    let settings = Settings { search_path, ..Settings::default() };
    check_in(
        &root,
        settings.clone(),
        &[
            ("<p>", "@/dir1"),
            ("<p/x.txt>", "@/dir1/x.txt"),
            ("<x.txt>", "@/dir1/x.txt"),
            ("<dlink/y>", "@/dir1/sub/y"),
            ("(builtins.tryEval <nope>).success", "false"),
            (
                "<nope>",
                "error: file 'nope' was not found in the Nix search path (add it using $NIX_PATH or -I)",
            ),
            (r#"builtins.findFile [ { path = @/dir1; prefix = "q"; } ] "q/x.txt""#, "@/dir1/x.txt"),
            (r#"builtins.findFile [ { path = @/dir1; prefix = "q"; } ] "q""#, "@/dir1"),
            (
                r#"builtins.findFile [ { path = @/dir1; prefix = "q"; } ] "qx.txt""#,
                "error: was not found",
            ),
            (r#"builtins.findFile [ { } ] "x""#, "error: attribute 'path' missing"),
            ("let __nixPath = [ { path = @/dir1/sub; } ]; in <y>", "@/dir1/sub/y"),
        ],
    );
    let gone = format!(
        "warning: Nix search path entry '{}' does not exist, ignoring",
        root.join("gone").display()
    );
    let expression = "map builtins.tryEval [ <nope> <nope2> <nope> ]";
    check_messages(&settings, &[(expression, &[&gone])]);
    let pure = Settings { pure: true, ..settings };
    check_with(pure, &[("<p>", "error: cannot look up '<p>' in pure evaluation mode")]);
}

#[test]
fn limits() {
    let root = folder("limits");
    let pure = Settings { pure: true, ..Settings::default() };
    let forbidden = "is forbidden in pure evaluation mode (use '--impure' to override)";
    check_in(
        &root,
        pure,
        &[
            (
                "import @/dir1/imp",
                &format!("error: access to absolute path '@/dir1/imp' {forbidden}"),
            ),
            (
                "builtins.readFile @/dir1/x.txt",
                &format!("error: access to absolute path '@/dir1/x.txt' {forbidden}"),
            ),
            ("builtins.pathExists @/dir1", "false"),
            (r#"builtins.readFile (builtins.toFile "x" "hi")"#, r#""hi""#),
            (r#"builtins.getEnv "HOME""#, r#""""#),
            (
                r#"builtins.storePath "/nix/store/pmif2b12nn699asgyhdxsbar2hi735fl-x""#,
                "error: 'builtins.storePath' is not allowed in pure evaluation mode",
            ),
            (
                r#"builtins.fetchurl "https://example.com/a""#,
                "error: in pure evaluation mode, 'fetchurl' requires a 'sha256' argument",
            ),
        ],
    );
    let path = root.join("dir1/sub").to_str().unwrap().into();
    let search_path = vec![SearchEntry { prefix: b"s".to_vec(), path }];
    let restricted = Settings { restricted: true, search_path, ..Settings::default() };
    check_in(
        &root,
        restricted,
        &[
            ("builtins.readFile <s/y>", r#""deep\n""#),
            (
                // A link that must not be seen is not followed either.
                "builtins.readFile @/dir1/dlink/y",
                "error: access to absolute path '@/dir1/dlink/y' is forbidden in restricted mode",
            ),
            (
                "builtins.readFile @/dir1/x.txt",
                "error: access to absolute path '@/dir1/x.txt' is forbidden in restricted mode",
            ),
            ("builtins.pathExists @/dir1/x.txt", "false"),
            ("builtins.readDir @/dir1", r#"{ sub = "directory"; }"#),
            (
                "[ (builtins.pathExists @/dir1/sub/y) (builtins.pathExists @/dir1/sub/z) ]",
                "[ true false ]",
            ),
        ],
    );
}

#[test]
fn contexts() {
    let drv = "/nix/store/pmif2b12nn699asgyhdxsbar2hi735fl-x.drv";
    let path = "/nix/store/pmif2b12nn699asgyhdxsbar2hi735fl-x";
    let with = |expression: &str| expression.replace("DRV", drv).replace("PATH", path);
    let cases: Vec<(String, String)> = [
        (r#"builtins.hasContext "a""#, "false"),
        (r#"builtins.hasContext (builtins.toFile "a" "")"#, "true"),
        (r#"builtins.hasContext (builtins.unsafeDiscardStringContext (builtins.toFile "a" ""))"#, "false"),
        (
            r#"builtins.getContext (builtins.appendContext "a" { "DRV" = { path = true; allOutputs = true; outputs = [ "b" "a" ]; }; })"#,
            r#"{ "DRV" = { allOutputs = true; outputs = [ "a" "b" ]; path = true; }; }"#,
        ),
        (r#"builtins.appendContext "a" { "/x" = { }; }"#, "error: context key '/x' is not a store path"),
        (
            r#"builtins.appendContext "a" { "PATH" = { allOutputs = true; }; }"#,
            "error: tried to add all-outputs context of PATH, which is not a derivation, to a string",
        ),
        (
            r#"builtins.appendContext "a" { "PATH" = { outputs = [ "a" ]; }; }"#,
            "error: tried to add derivation output context of PATH, which is not a derivation, to a string",
        ),
        (
            r#"builtins.getContext (builtins.unsafeDiscardOutputDependency (builtins.appendContext "a" { "DRV".allOutputs = true; }))"#,
            r#"{ "DRV" = { path = true; }; }"#,
        ),
        (
            r#"builtins.getContext (builtins.addDrvOutputDependencies (builtins.appendContext "a" { "DRV".path = true; }))"#,
            r#"{ "DRV" = { allOutputs = true; }; }"#,
        ),
        (r#"builtins.addDrvOutputDependencies """#, "error: context of string '' must have exactly one element, but has 0"),
        (
            r#"builtins.addDrvOutputDependencies (builtins.appendContext "a" { "DRV".outputs = [ "out" ]; })"#,
            "error: `addDrvOutputDependencies` can only act on derivations, not on a derivation output such as 'out'",
        ),
        (r#"builtins.addDrvOutputDependencies (builtins.storePath "PATH")"#, "error: path 'PATH' is not a derivation"),
        (r#"builtins.getContext (builtins.storePath "PATH/foo")"#, r#"{ "PATH" = { path = true; }; }"#),
        ("builtins.storePath /tmp", "error: path '/tmp' is not in the Nix store"),
    ]
    .into_iter()
    .map(|(expression, expected)| (with(expression), with(expected)))
    .collect();
    let cases: Vec<(&str, &str)> = cases.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
    check_with(Settings::default(), &cases);
}

#[test]
fn fetchers() {
    let features = ["flakes", "fetch-tree", "fetch-closure"];
    let experimental_features = features.iter().map(|&feature| feature.to_owned()).collect();
    let settings = Settings { experimental_features, ..Settings::default() };
    check_with(
        settings,
        &[
            (
                r#"builtins.fetchurl "https://example.com/a.tar""#,
                "error: 'fetchurl' cannot fetch 'https://example.com/a.tar': fetching is not supported yet",
            ),
            (
                r#"builtins.fetchurl "https://example.com/~a""#,
                "error: invalid store path name when fetching URL 'https://example.com/~a': name '~a' contains illegal character '~'. Please pass an attribute set",
            ),
            (
                r#"builtins.fetchurl { url = "https://example.com/~a"; }"#,
                "error: Please add a valid 'name' attribute",
            ),
            (
                r#"builtins.fetchurl { url = "https://example.com/a"; name = "~"; }"#,
                "error: Please change the value for the 'name' attribute",
            ),
            ("builtins.fetchurl { }", "error: 'url' argument required"),
            (
                r#"builtins.fetchTarball { url = "x"; foo = 1; }"#,
                "error: unsupported argument 'foo' to 'fetchTarball'",
            ),
            (r#"builtins.fetchTarball { url = "x"; sha256 = "zz"; }"#, "error: has wrong length"),
            (
                r#"builtins.fetchGit { url = "/x"; type = "git"; }"#,
                "error: unexpected argument 'type'",
            ),
            ("builtins.fetchGit /x", "error: 'fetchGit' cannot fetch '/x'"),
            ("builtins.fetchTree { }", "error: argument 'type' is missing in call to 'fetchTree'"),
            (
                r#"builtins.fetchTree { type = "file"; url = "u"; owner = -1; }"#,
                "error: negative value given for 'fetchTree' argument 'owner': -1",
            ),
            (
                r#"builtins.fetchTree { type = "file"; url = [ ]; }"#,
                "error: argument 'url' to 'fetchTree' is a list while a string, Boolean or integer is expected",
            ),
            (
                "builtins.fetchMercurial { foo = 1; }",
                "error: unsupported argument 'foo' to 'fetchMercurial'",
            ),
            (
                "builtins.fetchClosure { }",
                "error: attribute 'fromPath' is missing in call to 'fetchClosure'",
            ),
            (r#"builtins.getFlake "nixpkgs""#, "error: 'getFlake' cannot fetch 'nixpkgs'"),
        ],
    );
    check_with(
        Settings::default(),
        &[
            ("builtins ? fetchTree", "false"),
            ("builtins ? getFlake", "false"),
            ("builtins ? fetchGit", "true"),
        ],
    );
}

#[test]
fn flake_references() {
    let settings =
        Settings { experimental_features: vec!["flakes".to_owned()], ..Settings::default() };
    let rev = "0123456789012345678901234567890123456789";
    let cases: Vec<(String, String)> = [
        (
            r#"parseFlakeRef "github:NixOS/nixpkgs/23.05?dir=lib""#,
            r#"{ dir = "lib"; owner = "NixOS"; ref = "23.05"; repo = "nixpkgs"; type = "github"; }"#,
        ),
        (r#"parseFlakeRef "github:a/b/REV""#, r#"{ owner = "a"; repo = "b"; rev = "REV"; type = "github"; }"#),
        (r#"parseFlakeRef "nixpkgs/x/REV""#, r#"{ id = "nixpkgs"; ref = "x"; rev = "REV"; type = "indirect"; }"#),
        (r#"parseFlakeRef "/a/b""#, r#"{ path = "/a/b"; type = "path"; }"#),
        (r#"parseFlakeRef "path:/a/b?lastModified=5""#, r#"{ lastModified = 5; path = "/a/b"; type = "path"; }"#),
        (r#"parseFlakeRef "git+https://x.org/y?ref=main&shallow=1""#, r#"{ ref = "main"; shallow = true; type = "git"; url = "https://x.org/y"; }"#),
        (r#"parseFlakeRef "https://x.org/y.tar.gz?q=1&dir=d""#, r#"{ dir = "d"; type = "tarball"; url = "https://x.org/y.tar.gz?q=1"; }"#),
        (r#"parseFlakeRef "github:a""#, "error: URL 'github:a' is invalid"),
        (r#"parseFlakeRef "./x""#, "error: is not an absolute path"),
        (r#"parseFlakeRef "nixpkgs#x""#, "error: unexpected fragment 'x' in flake reference 'nixpkgs#x'"),
        (
            r#"flakeRefToString { type = "github"; owner = "NixOS"; repo = "nixpkgs"; ref = "23.05"; dir = "lib"; }"#,
            r#""github:NixOS/nixpkgs/23.05?dir=lib""#,
        ),
        (r#"flakeRefToString { type = "path"; path = "/a b"; }"#, r#""path:/a%20b""#),
        (r#"flakeRefToString { type = "git"; url = "https://x.org/y"; ref = "main"; }"#, r#""git+https://x.org/y?ref=main""#),
        (r#"flakeRefToString { type = "github"; repo = -1; }"#, "error: negative value given for flake ref attr repo: -1"),
        ("flakeRefToString { type = [ ]; }", "error: but attribute 'type' is a list"),
    ]
    .into_iter()
    .map(|(a, b)| (format!("builtins.{}", a.replace("REV", rev)), b.replace("REV", rev)))
    .collect();
    let cases: Vec<(&str, &str)> = cases.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
    check_with(settings, &cases);
}
