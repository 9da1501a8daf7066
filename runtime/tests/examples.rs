//! The example programs: what they print, with several numbers of workers, and how they refuse.

#![expect(clippy::duplicate_mod, reason = "each example has its command line from one file")]

#[expect(dead_code, reason = "its `main` is not called here")]
#[path = "../examples/collatz.rs"]
mod collatz;
#[expect(dead_code, reason = "its `main` is not called here")]
#[path = "../examples/pipeline.rs"]
mod pipeline;
#[expect(dead_code, reason = "its `main` is not called here")]
#[path = "../examples/server.rs"]
mod server;
#[expect(dead_code, reason = "its `main` is not called here")]
#[path = "../examples/wavefront.rs"]
mod wavefront;
#[expect(dead_code, reason = "its `main` is not called here")]
#[path = "../examples/word_count.rs"]
mod word_count;

use std::error::Error;
use std::fs;
use std::path::PathBuf;

type Run = fn(std::vec::IntoIter<String>, &mut Vec<u8>) -> Result<(), Box<dyn Error>>;

fn run(program: Run, arguments: &[&str]) -> Result<String, String> {
    let arguments: Vec<String> = arguments.iter().map(|&argument| argument.into()).collect();
    let mut output = Vec::new();
    match program(arguments.into_iter(), &mut output) {
        Ok(()) => Ok(String::from_utf8(output).unwrap()),
        Err(error) => Err(error.to_string()),
    }
}

/// Checks the output with several numbers of workers.
fn prints(program: Run, arguments: &[&str], expected: &str) {
    for workers in ["1", "2", "4"] {
        let all = [&["--workers", workers], arguments].concat();
        assert_eq!(run(program, &all).as_deref(), Ok(expected), "{all:?}");
    }
}

fn refuses(program: Run, arguments: &[&str], expected: &str) {
    let error = run(program, arguments).unwrap_err();
    assert!(error.contains(expected), "{arguments:?}: {error}");
}

/// Makes a folder with files, of names and contents.
fn folder(name: &str, files: &[(&str, &[u8])]) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _old = fs::remove_dir_all(&folder);
    for (name, content) in files {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    folder
}

#[test]
fn every_program_helps_and_refuses_what_it_does_not_know() {
    let programs: [(&str, Run); 5] = [
        ("word_count", |arguments, output| word_count::run(arguments, output)),
        ("collatz", |arguments, output| collatz::run(arguments, output)),
        ("pipeline", |arguments, output| pipeline::run(arguments, output)),
        ("wavefront", |arguments, output| wavefront::run(arguments, output)),
        ("server", |arguments, output| server::run(arguments, output)),
    ];
    for (name, program) in programs {
        assert!(run(program, &["--help"]).unwrap().starts_with(&format!("usage: {name} ")));
        refuses(program, &["--frobnicate"], "unknown option `--frobnicate`");
        refuses(program, &["--workers"], "--workers needs a number");
        refuses(program, &["--workers", "many"], "--workers needs a number, not `many`");
        refuses(program, &["--workers", "99999999999999999999"], "--workers needs a number");
    }
}

#[test]
fn words_are_counted() {
    let folder = folder(
        "word_count",
        &[("a", b"The cat, the dog."), ("b/c", b"the end"), ("b/d", b""), ("b/e", b"\xff\xfe cat")],
    );
    let path = folder.to_str().unwrap();
    let expected = "       3  the\n       2  cat\n       8  words in 4 files, 5 different\n";
    let program: Run = |arguments, output| word_count::run(arguments, output);
    prints(program, &["--top", "2", path], expected);
    let missing = folder.join("missing");
    refuses(program, &[path, missing.to_str().unwrap()], &format!("`{}`", missing.display()));
    refuses(program, &[], "no path is given");
}

#[test]
fn the_longest_sequence_is_found() {
    let program: Run = |arguments, output| collatz::run(arguments, output);
    for (below, expected) in [
        ("2", "1 takes 0 steps to 1\n0 lengths were computed, once each\n"),
        ("4", "3 takes 7 steps to 1\n7 lengths were computed, once each\n"),
        ("100000", "77031 takes 350 steps to 1\n217211 lengths were computed, once each\n"),
    ] {
        prints(program, &["--below", below], expected);
    }
    refuses(program, &["--below", "1"], "there is no number");
    refuses(program, &["17"], "unexpected argument `17`");
}

#[test]
fn products_of_two_primes_are_found() {
    let program: Run = |arguments, output| pipeline::run(arguments, output);
    let expected = "4 = 2 * 2\n6 = 2 * 3\n9 = 3 * 3\n10 = 2 * 5\n14 = 2 * 7\n15 = 3 * 5\n";
    for lanes in ["1", "2", "7"] {
        prints(program, &["--above", "0", "--count", "6", "--lanes", lanes], expected);
    }
    prints(program, &["--count", "0"], "");
    prints(program, &["--above", &u64::MAX.to_string(), "--count", "1"], "");
    refuses(program, &["--lanes", "0"], "--lanes 0");
}

#[test]
fn distances_are_counted() {
    let long: Vec<u8> = (0..3000u32).map(|n| (n * n % 251) as u8).collect();
    let mut changed = long.clone();
    changed.remove(100);
    changed[2000] ^= 1;
    changed.insert(2500, 7);
    let folder = folder(
        "wavefront",
        &[
            ("kitten", b"kitten"),
            ("sitting", b"sitting"),
            ("empty", b""),
            ("long", &long),
            ("changed", &changed),
        ],
    );
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let program: Run = |arguments, output| wavefront::run(arguments, output);
    for (old, new, distance) in [
        ("kitten", "sitting", 3),
        ("kitten", "kitten", 0),
        ("kitten", "empty", 6),
        ("empty", "empty", 0),
        ("long", "changed", 3),
        ("changed", "long", 3),
    ] {
        for block in ["1", "2", "3", "64", "100000"] {
            // Blocks of a byte are for the short files.
            if block.len() > 1 || distance > 3 || new == "sitting" {
                let (old, new) = (path(old), path(new));
                let expected = format!("{distance} changes from `{old}` to `{new}`\n");
                prints(program, &["--block", block, &old, &new], &expected);
            }
        }
    }
    refuses(program, &[&path("kitten")], "two files are needed, not 1");
    refuses(program, &[&path("kitten"), &path("none")], "none`");
    refuses(program, &["--block", "0", &path("kitten"), &path("kitten")], "--block 0");
}

#[test]
fn numbers_are_factored() {
    let program: Run = |arguments, output| server::run(arguments, output);
    let expected = "12 = 2 * 2 * 3\n1 = 1\n0 = 0\n9999999967 = 9999999967\n\
                    `x` is no number below 2^64\n1000036000099 = 1000003 * 1000033\n";
    let numbers = ["12", "1", "0", "9999999967", "x", "1000036000099"];
    for _ in 0..3 {
        prints(program, &numbers, expected);
    }
    refuses(program, &["--port", "70000"], "--port needs a number up to 65535");
}
