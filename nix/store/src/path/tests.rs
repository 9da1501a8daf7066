//! Names and digests of store paths.

use super::*;
use crate::hash::{Algorithm, Hash, sha256};

const DIGEST: &str = "nnqh7675wghd0xmrywqm2yh9psrkk13q";

fn store() -> StoreDir {
    StoreDir::default()
}

#[test]
fn good_names() {
    let longest = "a".repeat(211);
    for name in ["a", "A-z_0.9+?=", "-", "...", "...-x", ".a", "..a", "a.drv", &longest] {
        assert_eq!(check_name(name.as_bytes()), Ok(name));
    }
}

#[test]
fn bad_names() {
    let long = "a".repeat(212);
    let too_long = format!("name '{long}' must be no longer than 211 characters");
    for (name, message) in [
        (&b""[..], "name must not be empty"),
        (long.as_bytes(), &too_long),
        (b".", "name '.' is not valid"),
        (b"..", "name '..' is not valid"),
        (b".-x", "name '.-x' is not valid: first dash-separated component must not be '.'"),
        (b"..-x", "name '..-x' is not valid: first dash-separated component must not be '..'"),
        (b"a/b", "name 'a/b' contains illegal character '/'"),
        (b"a b", "name 'a b' contains illegal character ' '"),
        ("aé".as_bytes(), "name 'aé' contains illegal character 'é'"),
        (b"a\xff", "name 'a\u{fffd}' contains illegal character '\u{fffd}'"),
    ] {
        assert_eq!(check_name(name).unwrap_err().to_string(), message);
    }
}

#[test]
fn parts() {
    let text = format!("/nix/store/{DIGEST}-hello-1.0.drv");
    let path = store().parse(text.as_bytes()).unwrap();
    assert_eq!(path.as_str(), text);
    assert_eq!(path.digest(), DIGEST);
    assert_eq!(path.name(), "hello-1.0.drv");
    assert_eq!(path.base_name(), &text["/nix/store/".len()..]);
    assert!(path.is_derivation());
}

#[test]
fn splitting() {
    for (path, rest) in [
        ("/nix/store/#-a", Some("")),
        ("/nix/store/#-a/", Some("/")),
        ("/nix/store/#-a/b/c", Some("/b/c")),
        ("/nix/store/", None),
        ("/nix/store", None),
        ("/nix/storeX/#-a", None),
        ("/nix/store/#", None),
        ("/nix/store/#-", None),
        ("nix/store/#-a", None),
        ("", None),
    ] {
        let path = path.replace('#', DIGEST);
        let split = store().split(path.as_bytes());
        let expected = format!("/nix/store/{DIGEST}-a");
        assert_eq!(
            split.as_ref().ok().map(|(path, rest)| (path.as_str(), *rest)),
            rest.map(|rest| (expected.as_str(), rest.as_bytes())),
            "{path}"
        );
        assert_eq!(store().is_store_path(path.as_bytes()), rest == Some(""), "{path}");
    }
    assert!(store().contains(b"/nix/store/x"));
    assert!(!store().contains(b"/nix/store/"));
}

#[test]
fn bad_paths() {
    for (path, message) in [
        ("/tmp/x", "path '/tmp/x' is not in the Nix store"),
        ("/nix/store/x", "'x' is too short to be a valid store path"),
        ("/nix/store/#-a/b", "path '/nix/store/#-a/b' is not a store path: it lies inside one"),
        (
            "/nix/store/enqh7675wghd0xmrywqm2yh9psrkk13q-a",
            "store path 'enqh7675wghd0xmrywqm2yh9psrkk13q-a' contains illegal base-32 character 'e'",
        ),
        ("/nix/store/#a", "path '#a' is not a valid store path: its digest is not followed by '-'"),
        ("/nix/store/#-", "path '#-' is not a valid store path: name must not be empty"),
        (
            "/nix/store/#-a b",
            "path '#-a b' is not a valid store path: name 'a b' contains illegal character ' '",
        ),
    ] {
        let error = store().parse(path.replace('#', DIGEST).as_bytes()).unwrap_err();
        assert_eq!(error.to_string(), message.replace('#', DIGEST));
    }
}

#[test]
fn text_paths() {
    let x = store().text_path("x", &sha256(&[b"hi"]), []).unwrap();
    assert_eq!(x.as_str(), "/nix/store/pmif2b12nn699asgyhdxsbar2hi735fl-x");
    let y = store().text_path("y", &sha256(&[b"see ", x.as_bytes()]), [&x]).unwrap();
    assert_eq!(y.as_str(), "/nix/store/80hbbviy2i439wlf4yb8n99j78lflpg6-y");
}

#[test]
fn fixed_output_paths() {
    for (method, algorithm, path) in [
        (Method::Flat, Algorithm::Sha256, "dsnln8dzp7a38dkfhk9p6pldgsb5jpr5"),
        (Method::Flat, Algorithm::Md5, "b65n360zzwp7x2m9yvl661wijv4hm9g2"),
        (Method::Recursive, Algorithm::Sha256, "n9r1g41fsc6dprdv9yiamxmdjd532z36"),
        (Method::Recursive, Algorithm::Sha1, "q82hy3wrmp8rd0skj785d0y236vg758k"),
        (Method::Recursive, Algorithm::Sha512, "5zrca3rsbl75y6vb92llkxwx10yalhy8"),
    ] {
        let hash = Hash::of(algorithm, b"hello\n");
        let made = store().fixed_output_path("a", method, &hash).unwrap();
        assert_eq!(made.digest(), path, "{method:?} {algorithm}");
    }
    let hash = Hash::of(Algorithm::Sha256, b"hi");
    assert_eq!(
        store().fixed_output_path("x", Method::Text, &hash),
        Ok(store().text_path("x", &sha256(&[b"hi"]), []).unwrap())
    );
    let hash = Hash::of(Algorithm::Sha1, b"hi");
    let error = store().fixed_output_path("x", Method::Text, &hash).unwrap_err();
    assert!(error.to_string().contains("only 'sha256'"));
}

#[test]
fn placeholders() {
    assert_eq!(placeholder(b"out"), "/1rz4g4znpzjwh1xymhjpm42vipw92pr73vdgl6xs1hycac8kf2n9");
    let drv = store().parse_base_name(b"nib4ky4z374kc8n1x9q1wf9v4pmvrf9j-a.drv").unwrap();
    let out = upstream_placeholder(&drv, "out");
    assert_eq!(out, "/1jgc3frv1z1i3k3928h80vhi9m7kcx618ipwmsjkz8z4gvlfpwm9");
}

#[test]
fn other_store_directories() {
    let other = StoreDir::new("/gnu/store/");
    assert_eq!(other.as_str(), "/gnu/store");
    let path = other.text_path("x", &sha256(&[b"hi"]), []).unwrap();
    assert!(path.starts_with("/gnu/store/"));
    assert_ne!(path.digest(), "pmif2b12nn699asgyhdxsbar2hi735fl");
    assert!(other.is_store_path(path.as_bytes()));
    assert!(!store().is_store_path(path.as_bytes()));
}

proptest::proptest! {
    #[test]
    fn taking_apart_never_panics(path: Vec<u8>, tail in "[0-9a-z/.-]{30,40}") {
        let _ = store().split(&path);
        let _ = store().split(&[b"/nix/store/", &path[..]].concat());
        if let Ok((path, _)) = store().split(format!("/nix/store/{tail}").as_bytes()) {
            let _ = (path.digest(), path.name(), path.base_name());
        }
    }
}
