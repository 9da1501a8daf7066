//! Settings, the search path and statistics.

use crate::support::Folder;

const FILES: &[(&str, &[u8])] = &[
    ("a/x.nix", b"1"),
    ("b/x.nix", b"2"),
    ("b/y.nix", b"3"),
    ("warn.nix", b"builtins.warn \"careful\" 1"),
];

#[test]
fn variables() {
    let folder = Folder::new("environment", FILES);
    for (variable, value, line, code, out, err) in [
        (
            "NIX_PATH",
            "a:b",
            "eval --expr '[ (import <x.nix>) (import <y.nix>) ]'",
            0,
            "[ 1 3 ]\n",
            "",
        ),
        ("NIX_PATH", "a", "eval -I b --expr 'import <x.nix>'", 0, "2\n", ""),
        ("NIX_PATH", "n=a", "eval --expr 'import <n/x.nix>'", 0, "1\n", ""),
        ("NIX_PATH", "n=a", "eval --expr '<nn/x.nix>'", 1, "", "file 'nn/x.nix' was not found"),
        (
            "NIX_PATH",
            "n=/no/such/place:b",
            "eval --expr '[ (import <y.nix>) (builtins.tryEval <n>).success (builtins.tryEval <n>).success ]'",
            0,
            "[ 3 false false ]\n",
            "warning: Nix search path entry '/no/such/place' does not exist, ignoring\n",
        ),
        (
            "NIX_PATH",
            "n=https://x.org/y.tar.gz:b",
            "eval --expr '(builtins.tryEval <n>).success'",
            0,
            "false\n",
            "'https://x.org/y.tar.gz' cannot be downloaded",
        ),
        (
            "NIX_PATH",
            "n=https://x.org/y:b",
            "eval --json --expr builtins.nixPath",
            0,
            "[{\"path\":\"https://x.org/y\",\"prefix\":\"n\"},{\"path\":\"b\",\"prefix\":\"\"}]\n",
            "",
        ),
        ("NIX_PATH", ":::", "eval --json --expr builtins.nixPath", 0, "[]\n", ""),
        ("NIX_CONFIG", "nix-path = n=a", "eval --expr 'import <n/x.nix>'", 0, "1\n", ""),
        ("NIX_CONFIG", "system = s-t", "eval --expr builtins.currentSystem", 0, "\"s-t\"\n", ""),
        (
            "NIX_CONFIG",
            "nonsense = 1",
            "eval --expr 1",
            0,
            "1\n",
            "warning: unknown setting 'nonsense'",
        ),
        ("NIX_CONFIG", "sandbox = false\ncores = 3", "eval --expr 1", 0, "1\n", ""),
        ("NIX_CONFIG", "nonsense", "eval --expr 1", 1, "", "illegal configuration line 'nonsense'"),
        ("NIX_CONFIG", "max-call-depth = x", "eval --expr 1", 1, "", "expected a number"),
        (
            "NIX_CONFIG",
            "experimental-features = nix-command pipe-operators",
            "eval --expr '1 |> builtins.toString'",
            0,
            "\"1\"\n",
            "",
        ),
        ("NIX_STORE_DIR", "/my/store", "eval --expr builtins.storeDir", 0, "\"/my/store\"\n", ""),
        ("NIX_STORE_DIR", "relative", "eval --expr 1", 1, "", "a store needs an absolute path"),
        ("NIX_ABORT_ON_WARN", "1", "eval -f warn.nix", 1, "", "error"),
        ("NIX_REMOTE", "daemon", "eval --expr 1", 0, "1\n", ""),
        ("GREETING", "hello", "eval --expr 'builtins.getEnv \"GREETING\"'", 0, "\"hello\"\n", ""),
        ("HOME", "/here", "eval --expr '~/x'", 0, "/here/x\n", ""),
    ] {
        let mut command = folder.command(line);
        command.env(variable, value);
        let done = folder.finish(command);
        let context = format!("{variable}={value} {line}\n{done:?}");
        assert_eq!(done.code, Some(code), "{context}");
        assert_eq!(done.out, out, "{context}");
        assert_eq!(done.err.is_empty(), err.is_empty(), "{context}");
        assert!(done.err.contains(err), "{context}");
        assert_eq!(
            done.err.matches("does not exist, ignoring").count().min(2),
            err.matches("does not exist, ignoring").count(),
            "{context}"
        );
    }
}

#[test]
fn flags() {
    let folder = Folder::new("environment-flags", FILES);
    folder.succeed(&[
        ("eval --expr builtins.currentSystem --system x-y", "\"x-y\"\n"),
        ("eval --expr builtins.currentSystem --option system x-y", "\"x-y\"\n"),
        ("eval --expr '1 |> toString' --extra-experimental-features pipe-operators", "\"1\"\n"),
        ("eval --expr 1 --store dummy:// --eval-store dummy:// --offline --refresh -L", "1\n"),
        ("eval --expr 1 --no-eval-cache --substituters x --option cores 3 -v", "1\n"),
        ("eval --expr 'builtins ? currentTime' --pure-eval", "false\n"),
    ]);
    folder.fail(&[
        ("eval --expr '1 |> toString'", "pipe"),
        ("eval --expr 'let f = x: f x; in f 1' --max-call-depth 50", "max-call-depth exceeded"),
        ("eval --expr 'let f = x: f x; in f 1'", "max-call-depth exceeded"),
        ("eval --expr 'https://x.org' --lint-url-literals fatal", "URL"),
        ("eval --expr 'import ./a/x.nix' --restrict-eval", "is forbidden in restricted mode"),
    ]);
    folder.check("eval -f warn.nix", 0, "1\n", "evaluation warning: careful\n");
    folder.check("eval --expr '/x' --lint-absolute-path-literals warn", 0, "/x\n", "warning: ");
    folder.check("eval --expr 1 --option nonsense 1", 0, "1\n", "unknown setting 'nonsense'");
}

#[test]
fn statistics() {
    let folder = Folder::new("environment-stats", FILES);
    let check = |text: &str| {
        let stats: serde_json::Value = serde_json::from_str(text).unwrap();
        for key in [
            "cpuTime",
            "time",
            "envs",
            "list",
            "values",
            "symbols",
            "sets",
            "sizes",
            "nrExprs",
            "nrOpUpdates",
            "nrOpUpdateValuesCopied",
            "nrThunks",
            "nrAvoided",
            "nrLookups",
            "nrPrimOpCalls",
            "nrFunctionCalls",
            "gc",
            "runtime",
        ] {
            assert!(stats.get(key).is_some(), "{key}: {text}");
        }
        assert!(stats["runtime"]["tasks"].as_u64() > Some(0));
        assert!(stats["nrFunctionCalls"].as_u64() > Some(0));
        // The call, the function, its body and the number; and what is written in the language
        // itself, which is read at the start.
        assert!(stats["nrExprs"].as_u64() > Some(4));
    };
    let line = "eval --expr '(x: x) 1'";
    let done = folder.run(&format!("{line} --stats"));
    assert_eq!(done.out, "1\n");
    check(&done.err);
    let mut command = folder.command(line);
    command.env("NIX_SHOW_STATS", "1").env("NIX_SHOW_STATS_PATH", "stats.json");
    assert_eq!(folder.finish(command).err, "");
    check(&std::fs::read_to_string(folder.path().join("stats.json")).unwrap());
    let mut command = folder.command(line);
    command.env("NIX_SHOW_STATS", "0");
    assert_eq!(folder.finish(command).err, "");
}
