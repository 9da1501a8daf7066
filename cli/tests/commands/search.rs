//! `raddle search`.

use crate::support::Folder;

/// A function, as most package sets are.
const SET: &[u8] = br#"
{ extra ? { }, ... }:
let
  package = name: description: { type = "derivation"; inherit name; meta = { inherit description; }; };
in
{
  zlib = package "zlib-1.3.1" "Lossless compression";
  jq = package "jq-1.7.1" "Processor\nfor JSON";
  plain = { type = "derivation"; name = "plain"; };
  "dotted.name" = package "dotted-json-2" "";
  nested = { recurseForDerivations = true; jq2 = package "jq2-1" "JSON"; };
  number = 1;
} // extra
"#;

/// Laid out like a flake's outputs, so that sets inside are searched and errors swallowed.
const LEGACY: &[u8] = br#"
let
  package = name: { type = "derivation"; inherit name; meta.description = "about ${name}"; };
  many = builtins.listToAttrs (map
    (i: { name = "p${toString i}"; value = package "p${toString i}-1.${toString i}"; })
    (builtins.genList (i: i) 300));
in
{
  legacyPackages.x86_64-linux = many // {
    broken = throw "broken";
    brokenName = { type = "derivation"; name = throw "no"; };
    set = { recurseForDerivations = true; inner = package "inner-2"; set.inner = package "hidden-1"; };
    hidden = { inner = package "hidden-2"; };
  };
}
"#;

const FILES: &[(&str, &[u8])] = &[
    ("default.nix", SET),
    ("legacy.nix", LEGACY),
    ("broken.nix", br#"{ a = { type = "derivation"; name = "a-1"; }; b = throw "b is broken"; c = { type = "derivation"; name = "c-1"; }; }"#),
];

#[test]
fn human_output() {
    Folder::new("search-human", FILES).succeed(&[
        ("search -f . json", "* dotted.name (2)\n\n* jq (1.7.1)\n  Processor for JSON\n"),
        ("search -f . '^plain$'", "* plain\n"),
        ("search -f default.nix LOSS", "* zlib (1.3.1)\n  Lossless compression\n"),
        ("search . 'zlib|plain'", "* plain\n\n* zlib (1.3.1)\n  Lossless compression\n"),
        ("search ./default.nix JSON processor", "* jq (1.7.1)\n  Processor for JSON\n"),
        ("search -f . json -e dotted", "* jq (1.7.1)\n  Processor for JSON\n"),
    ]);
}

#[test]
fn errors_say_where() {
    const STRING: &str = "error: expected a string but found an integer: 1";
    for (package, attribute, column, error) in [
        ("name = 1;", "a.b.name", 3, STRING),
        ("name = throw \"no\";", "a.b.name", 3, "error: no"),
        ("type = 1;", "a.b.type", 3, STRING),
        ("type = throw \"no\";", "a.b.type", 3, "error: no"),
        ("name = \"n\"; meta = throw \"no\";", "a.b.meta", 15, "error: no"),
        ("name = \"n\"; meta.description = 1;", "a.b.meta.description", 15, STRING),
        ("name = \"n\"; meta.description = throw \"no\";", "a.b.meta.description", 15, "error: no"),
        ("", "a.b", 0, "error: attribute 'name' missing"),
    ] {
        let file =
            format!("{{ packages.a.b = {{ type = \"derivation\"; }} // {{\n  {package} }}; }}");
        let folder = Folder::new("search-errors", &[("default.nix", file.as_bytes())]);
        let done = folder.run("search -f . x");
        assert_eq!(done.code, Some(1), "{package}\n{done:?}");
        let frame = format!("… while evaluating the attribute 'packages.{attribute}'");
        let place = if column == 0 {
            String::new()
        } else {
            format!("\n         at DIR/default.nix:2:{column}:\n")
        };
        for part in [&format!("{frame}{place}"), error] {
            assert!(done.err.contains(part), "{package}: no {part:?} in\n{}", done.err);
        }
    }
}

#[test]
fn marks_matches() {
    Folder::new("search-colour", FILES).succeed(&[
        (
            "search -f . jq --color always",
            "* \x1b[0;1m\x1b[32;1mjq\x1b[0;1m\x1b[0m (1.7.1)\n  Processor for JSON\n",
        ),
        (
            "search -f . json son --color always -e dotted",
            "* \x1b[0;1mjq\x1b[0m (1.7.1)\n  Processor for \x1b[32;1mJSON\x1b[0m\n",
        ),
        (
            "search -f . '^' -e json -e zlib --color=always",
            "* \x1b[0;1m\x1b[32;1m\x1b[0;1mplain\x1b[0m\n",
        ),
    ]);
}

#[test]
fn json_output() {
    Folder::new("search-json", FILES).succeed(&[
        (
            "search -f . '^' --json",
            "{\"dotted.name\":{\"description\":\"\",\"pname\":\"dotted-json\",\"version\":\"2\"},\
             \"jq\":{\"description\":\"Processor for JSON\",\"pname\":\"jq\",\"version\":\"1.7.1\"},\
             \"plain\":{\"description\":\"\",\"pname\":\"plain\",\"version\":\"\"},\
             \"zlib\":{\"description\":\"Lossless compression\",\"pname\":\"zlib\",\"version\":\"1.3.1\"}}\n",
        ),
        ("search -f . nothing-like-this --json", "{}\n"),
        (
            "search -f . -A nested '^' --json",
            "{\"nested.jq2\":{\"description\":\"JSON\",\"pname\":\"jq2\",\"version\":\"1\"}}\n",
        ),
        (
            "search -f . zlib --json --arg extra '{ zlib = { type = \"derivation\"; name = \"zlib-2\"; }; }'",
            "{\"zlib\":{\"description\":\"\",\"pname\":\"zlib\",\"version\":\"2\"}}\n",
        ),
    ]);
}

#[test]
fn failures() {
    let folder = Folder::new("search-failures", FILES);
    folder.fail(&[
        ("search -f . json --exclude jq --exclude '^dotted'", "no results"),
        ("search -f . nothing-like-this", "error: no results for the given search term(s)!"),
        ("search -f . '['", "invalid regular expression '['"),
        ("search -f . x -e '*'", "invalid regular expression '*'"),
        ("search -f . 'a{2,1}'", "invalid regular expression 'a{2,1}'"),
        ("search -f . '('", "invalid regular expression '('"),
        ("search -f missing.nix x", "path 'DIR/missing.nix' does not exist"),
        ("search -f broken.nix '^' --json", "b is broken"),
        ("search nixpkgs hello", "cannot find flake 'nixpkgs'"),
        ("search github:NixOS/nixpkgs hello", "only local paths"),
        ("search ./missing hello", "cannot use './missing'"),
    ]);
    folder.check("search -f broken.nix '^'", 1, "* a (1)\n", "b is broken");
    folder.check("search .", 2, "", "a regular expression is missing");
    folder.check("search", 2, "", "<REGEX>");
}

#[test]
fn any_number_of_workers() {
    let folder = Folder::new("search-workers", FILES);
    let one = folder.run("search -f legacy.nix '^' --json --workers 1");
    assert_eq!(one.code, Some(0), "{one:?}");
    assert_eq!(one.out.matches("\"pname\"").count(), 301);
    assert!(one.out.contains("legacyPackages.x86_64-linux.set.inner"));
    assert!(!one.out.contains("hidden"));
    for workers in [2, 3, 4, 8, 16] {
        let many = folder.run(&format!("search -f legacy.nix '^' --json --workers {workers}"));
        assert_eq!((many.code, many.out, many.err), (one.code, one.out.clone(), one.err.clone()));
        folder.check(
            &format!("search -f broken.nix '^' --workers {workers}"),
            1,
            "* a (1)\n",
            "b is broken",
        );
    }
}
