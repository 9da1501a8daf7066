//! Flakes in local folders.

use crate::support::Folder;

const FLAKE: &[u8] = br#"
{
  description = "an example";
  outputs = { self }:
    let
      package = name: { type = "derivation"; inherit name; meta.description = "the ${name}"; };
    in
    {
      packages.x86_64-linux = { default = package "main-1"; tool = package "tool-2"; };
      legacyPackages.x86_64-linux.old = package "old-3";
      number = 1;
      again = self.number;
      kind = self._type;
      inputs' = self.inputs;
      source = builtins.readFile ./data;
      same = builtins.readFile "${self}/data";
      time = builtins ? currentTime;
      outside = builtins.pathExists /etc/passwd;
      variable = builtins.getEnv "HOME";
    };
}
"#;

const FILES: &[(&str, &[u8])] = &[
    ("flake.nix", FLAKE),
    ("data", b"text"),
    ("sub/empty", b""),
    (
        "inputs/flake.nix",
        b"{ inputs.nixpkgs.url = \"nixpkgs\"; outputs = { self, nixpkgs }: { }; }",
    ),
    ("implicit/flake.nix", b"{ outputs = { self, nixpkgs }: { }; }"),
    ("computed/flake.nix", b"let x = 1; in { outputs = { self }: { }; }"),
    ("lazy/flake.nix", b"{ description = \"a\" + \"b\"; outputs = { self }: { }; }"),
    ("odd/flake.nix", b"{ outputs = { self }: { }; more = 1; }"),
    ("none/flake.nix", b"{ description = \"\"; }"),
    ("value/flake.nix", b"{ outputs = { }; }"),
    ("number/flake.nix", b"{ outputs = { self }: 1; }"),
    ("broken/flake.nix", b"{ outputs = "),
];

#[test]
fn evaluation() {
    Folder::new("flakes-eval", FILES).succeed(&[
        ("eval .#number", "1\n"),
        ("eval .#again", "1\n"),
        ("eval path:.#number", "1\n"),
        ("eval ./sub#number", "1\n"),
        ("eval .#kind --raw", "flake"),
        ("eval .#inputs%27", "{ }\n"),
        ("eval .#source", "\"text\"\n"),
        ("eval .#same", "\"text\"\n"),
        ("eval .#time", "false\n"),
        ("eval .#time --impure", "true\n"),
        ("eval .#variable", "\"\"\n"),
        ("eval .#variable --impure", "\"/no-such-home\"\n"),
        ("eval .#outside", "false\n"),
        ("eval .#tool.name --raw --system x86_64-linux", "tool-2"),
        ("eval .#old.name --raw --system x86_64-linux", "old-3"),
        ("eval --apply 'p: p.name' --system x86_64-linux", "\"main-1\"\n"),
    ]);
}

#[test]
fn search() {
    Folder::new("flakes-search", FILES).succeed(&[
        (
            "search . '^' --system x86_64-linux",
            "* packages.x86_64-linux.default (1)\n  the main-1\n\n\
             * packages.x86_64-linux.tool (2)\n  the tool-2\n\n\
             * legacyPackages.x86_64-linux.old (3)\n  the old-3\n",
        ),
        (
            "search .#tool '^' --system x86_64-linux",
            "* packages.x86_64-linux.tool (2)\n  the tool-2\n",
        ),
    ]);
}

#[test]
fn failures() {
    Folder::new("flakes-fail", FILES).fail(&[
        ("eval ./inputs#x", "has the input 'nixpkgs', and flakes with inputs are not supported yet"),
        ("eval ./implicit#x", "has the input 'nixpkgs', and flakes with inputs are not supported yet"),
        ("eval ./computed#x", "file 'DIR/computed/flake.nix' must be an attribute set"),
        ("eval ./lazy#x", "the attribute 'description' of a flake must be written out"),
        ("eval ./odd#x", "flake 'DIR/odd' has an unsupported attribute 'more'"),
        ("eval ./none#x", "flake 'DIR/none' lacks attribute 'outputs'"),
        ("eval ./value#x", "expected a function but found a set"),
        ("eval ./number#x", "the outputs of a flake must be a set"),
        ("eval ./broken#x", "syntax error, unexpected end of file"),
        (
            "eval .#nothing --system s",
            "does not provide attribute 'packages.s.nothing', 'legacyPackages.s.nothing' or 'nothing'",
        ),
        ("search . x --system s", "does not provide attribute 'packages.s' or 'legacyPackages.s'"),
        ("eval ./data#x", "undefined variable 'text'"),
        ("eval .#source.x", "does not provide attribute"),
    ]);
}
