//! Hashes of strings and files.

use crate::{check, check_errors, check_with, warnings, with_features};

#[test]
fn hashes_strings() {
    check(&[
        (r#"builtins.hashString "md5" """#, r#""d41d8cd98f00b204e9800998ecf8427e""#),
        (r#"builtins.hashString "sha1" "text 1""#, r#""cd54e8568c1b37cf1e5badb0779bcbf382212189""#),
        (
            r#"builtins.hashString "sha256" "text 1""#,
            r#""900a4469df00ccbfd0c145c6d1e4b7953dd0afafadd7534e3a4019e8d38fc663""#,
        ),
        (r#"builtins.stringLength (builtins.hashString "sha512" "x")"#, "128"),
    ]);
    check_with(
        with_features(&["blake3-hashes"]),
        &[(
            r#"builtins.hashString "blake3" """#,
            r#""af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262""#,
        )],
    );
    check_errors(&[
        (
            "builtins.hashString 1 { }",
            &[
                "while evaluating the first argument passed to builtins.hashString",
                "expected a string but found an integer: 1",
            ],
        ),
        (
            r#"builtins.hashString "foo" "content""#,
            &[
                "unknown hash algorithm 'foo', expect 'blake3', 'md5', 'sha1', 'sha256', or 'sha512'",
            ],
        ),
        (
            r#"builtins.hashString "sha256" { }"#,
            &[
                "while evaluating the second argument passed to builtins.hashString",
                "expected a string but found a set: { }",
            ],
        ),
        (
            r#"builtins.hashString "blake3" """#,
            &["experimental Nix feature 'blake3-hashes' is disabled; add \
               '--extra-experimental-features blake3-hashes' to enable it"],
        ),
    ]);
}

#[test]
fn hashes_files() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/src/builtins/derivation.nix");
    let expression = format!(
        r#"builtins.hashFile "sha256" {file} == builtins.hashString "sha256" (builtins.readFile {file})"#
    );
    check(&[(&expression, "true")]);
}

#[test]
fn converts() {
    let convert = |attrs: &str| format!("builtins.convertHash {{ {attrs} }}");
    let sha256 = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=";
    let sri = format!("sha256-{sha256}");
    for (attrs, expected) in [
        (
            format!(r#"hash = "{sri}"; toHashFormat = "base16";"#),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        ),
        (
            format!(r#"hash = "sha256:{sha256}"; toHashFormat = "nix32";"#),
            "0mdqa9w1p6cmli6976v4wi0sw9r4p5prkj7lzfd1877wk11c9c73",
        ),
        (format!(r#"hash = "{sha256}"; hashAlgo = "sha256"; toHashFormat = "sri";"#), sri.as_str()),
        (format!(r#"hash = "{sri}"; hashAlgo = "sha256"; toHashFormat = "base64";"#), sha256),
    ] {
        check(&[(&convert(&attrs), &format!("\"{expected}\""))]);
    }
    check_errors(&[
        (
            r#"builtins.convertHash { toHashFormat = "sri"; }"#,
            &["while locating the attribute 'hash'", "attribute 'hash' missing"],
        ),
        (
            r#"builtins.convertHash { hash = "x"; }"#,
            &["while locating the attribute 'toHashFormat'", "attribute 'toHashFormat' missing"],
        ),
        (
            r#"builtins.convertHash { hash = 1; toHashFormat = "sri"; }"#,
            &["while evaluating the attribute 'hash'", "expected a string but found an integer: 1"],
        ),
        (
            r#"builtins.convertHash { hash = "x"; toHashFormat = "base10"; }"#,
            &["unknown hash format 'base10', expect 'base16', 'base32', 'base64', or 'sri'"],
        ),
        (
            r#"builtins.convertHash { hash = "x"; toHashFormat = "sri"; }"#,
            &["hash 'x' does not include a type, nor is the type otherwise known from context"],
        ),
    ]);
}

#[test]
fn warns_of_old_names() {
    let hash = r#"hashAlgo = "md5"; hash = "d41d8cd98f00b204e9800998ecf8427e";"#;
    let old = format!(r#"builtins.convertHash {{ {hash} toHashFormat = "base32"; }}"#);
    let warning = r#"warning: "base32" is a deprecated alias for hash format "nix32"."#;
    assert_eq!(warnings(&old), [warning]);
}
