//! Archives of file trees, and their hashes.

use std::os::unix::fs::{PermissionsExt, symlink};

use super::*;
use crate::hash::{Format, sha256};
use crate::path::{Method, StoreDir};

/// Makes a tree with everything that archives tell apart.
fn tree() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("tree");
    let file = |name: &str, contents: &[u8], mode: u32| {
        let path = root.join(name);
        fs::write(&path, contents).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    };
    fs::create_dir_all(root.join("empty")).unwrap();
    fs::create_dir_all(root.join("sub/deep")).unwrap();
    file("a", b"hello\n", 0o644);
    file("a.b", b"x", 0o711);
    file("exe", b"#!/bin/sh\n", 0o755);
    file("sub/zero", b"", 0o600);
    // Only the owner's permission counts.
    file("sub/B", b"12345678", 0o645);
    let big: Vec<u8> = (0..200_000u32).map(|i| (i % 251) as u8).collect();
    file("sub/deep/big", &big, 0o444);
    fs::write(root.join("sub").join(OsStr::from_bytes(b"\xff")), b"x").unwrap();
    symlink("../nowhere", root.join("link")).unwrap();
    dir
}

/// Hashes and lengths are those that Nix gives.
#[test]
fn known_archives() {
    let dir = tree();
    for (name, hash, len) in [
        ("tree", "18rvpk188g1a6855m9bw9c0x631qdm6zqkmfjgmrqsr5sixpj063", 202_200),
        ("tree/a", "04zwf782yjwnh3q6hz5izfd6jyip8kgw6g6yj43fiqhbyhdd0dqw", 120),
        ("tree/exe", "0m35wabrvlzjvv71f2xvca3vd91gh9mwvh4mm38h7yb0h9kc30v2", 160),
        ("tree/link", "06rn9hcxchrda0252ssm1aa5fixn2sxg0kg4xwynqhiwvcf3bckm", 128),
        ("tree/empty", "0sjjj9z1dhilhpc8pq4154czrb79z9cm044jvn75kxcjv6v5l2m5", 96),
        ("tree/sub", "14f1mjz040xp3wa95cm3bfh1p3z431jznrsfz2mv4l7x6jplzwvk", 201_016),
    ] {
        let path = dir.path().join(name);
        let mut archive = Vec::new();
        dump_path::<NarError>(&path, &mut archive, &mut |_, _| Ok(true)).unwrap();
        assert_eq!(archive.len(), len, "{name}");
        let digest = Hash::from(sha256(&[&archive]));
        assert_eq!(digest.to_text(Format::Nix32), hash, "{name}");
        assert_eq!(hash_whole_path(&path, Algorithm::Sha256).unwrap(), digest);
    }
}

/// Paths are those that `filterSource` and `path` give.
#[test]
fn filters() {
    type Predicate = fn(&Path, FileType) -> bool;
    let dir = tree();
    let cases: [(&str, Predicate); 3] = [
        ("p18bi45z886yym02x47qziqha8ms2ybi", |_, _| true),
        ("fn20hk2kanvwd9pds2z6sxir8azkk1gf", |path, file_type| {
            file_type != FileType::Symlink && !path.ends_with("sub")
        }),
        ("xh1gpl66bxx4g4jx65hjv4rylnh7sbs9", |_, file_type| file_type == FileType::Directory),
    ];
    for (digest, predicate) in cases {
        let root = dir.path().join("tree");
        let hash = hash_path::<NarError>(&root, Algorithm::Sha256, &mut |path, file_type| {
            Ok(predicate(path, file_type))
        });
        let path = StoreDir::default().source_path("tree", &hash.unwrap().sha256().unwrap(), []);
        assert_eq!(path.unwrap().digest(), digest);
    }
}

#[test]
fn filters_see_entries_in_order_and_can_fail() {
    #[derive(Debug)]
    enum Stop {
        Here,
        Nar(#[expect(dead_code, reason = "shown when the test fails")] NarError),
    }
    impl From<NarError> for Stop {
        fn from(error: NarError) -> Stop {
            Stop::Nar(error)
        }
    }
    let dir = tree();
    let root = dir.path().join("tree");
    let mut seen = Vec::new();
    let result = hash_path(&root, Algorithm::Sha256, &mut |path, file_type| {
        if path.ends_with("sub/zero") {
            return Err(Stop::Here);
        }
        let name = path.strip_prefix(&root).unwrap().display().to_string();
        seen.push(format!("{name} {}", file_type.name()));
        Ok(name != "sub/deep")
    });
    assert!(matches!(result, Err(Stop::Here)));
    assert_eq!(
        seen,
        [
            "a regular",
            "a.b regular",
            "empty directory",
            "exe regular",
            "link symlink",
            "sub directory",
            "sub/B regular",
            "sub/deep directory"
        ]
    );
}

#[test]
fn flat_files() {
    let dir = tree();
    let hash = hash_file(&dir.path().join("tree/a"), Algorithm::Sha256).unwrap();
    let path = StoreDir::default().fixed_output_path("a", Method::Flat, &hash).unwrap();
    assert_eq!(path.digest(), "dsnln8dzp7a38dkfhk9p6pldgsb5jpr5");
}

#[test]
fn contents_in_memory() {
    let dir = tree();
    for (name, contents, executable) in [
        ("a", &b"hello\n"[..], false),
        ("exe", b"#!/bin/sh\n", true),
        ("sub/B", b"12345678", false),
    ] {
        assert_eq!(
            hash_contents(contents, executable, Algorithm::Sha256),
            hash_whole_path(&dir.path().join("tree").join(name), Algorithm::Sha256).unwrap()
        );
    }
}

#[test]
fn errors_name_the_file() {
    let dir = tree();
    let check = |path: &Path, part: &str| {
        let error = hash_whole_path(path, Algorithm::Sha256).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    };
    let missing = dir.path().join("missing");
    check(&missing, &format!("cannot examine '{}': No such file", missing.display()));
    let socket = dir.path().join("tree/empty/socket");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    check(
        &dir.path().join("tree"),
        &format!("file '{}' has an unsupported type", socket.display()),
    );

    let mut deep = dir.path().join("deep");
    let root = deep.clone();
    for _ in 0..=MAX_DEPTH {
        deep.push("d");
    }
    fs::create_dir_all(&deep).unwrap();
    check(&root, "lies more than 64 directories deep");
    check(&root.join("d"), "lies more than 64 directories deep");
    hash_whole_path(&root.join("d/d"), Algorithm::Sha256).unwrap();
    check(&dir.path().join("tree/a/b"), "Not a directory");
}

#[test]
fn a_full_output_is_an_error() {
    struct Full;
    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let dir = tree();
    let result = dump_path::<NarError>(dir.path(), &mut Full, &mut |_, _| Ok(true));
    assert!(matches!(result, Err(NarError::Output(_))));
}
