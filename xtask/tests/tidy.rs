//! The rules about crates and files that a reviewer would otherwise have to remember.
//!
//! Each test lists everything that breaks its rule, so that one run is enough to mend it all.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Which of our crates each crate may use. A new edge is a decision: see ARCHITECTURE.md.
const EDGES: &[(&str, &[&str])] = &[
    ("runtime", &[]),
    ("nix/syntax", &["raddle"]),
    ("nix/store", &[]),
    ("nix/eval", &["raddle", "raddle-nix-store", "raddle-nix-syntax"]),
    ("cli", &["raddle-nix", "raddle-nix-store", "raddle-nix-syntax"]),
    ("benches/runtime", &["raddle"]),
    ("fuzz", &["raddle-nix-syntax"]),
    ("xtask", &["raddle", "raddle-nix"]),
];

/// The modules of the runtime; each uses only those before it.
const RUNTIME_MODULES: &[&str] = &["memory", "sync", "sched", "parallel"];

/// Longer files are too long to read.
const MAX_LINES: usize = 800;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask is in the root").to_owned()
}

/// Returns all files of the repository as (path from the root, text), but for what is built.
fn files() -> Vec<(String, String)> {
    fn collect(root: &Path, folder: &Path, files: &mut Vec<(String, String)>) {
        let entries = fs::read_dir(folder).expect("folders of the repository can be read");
        for entry in entries {
            let path = entry.expect("folders of the repository can be read").path();
            let name = path.strip_prefix(root).expect("it is below the root");
            let name = name.to_str().expect("our names are UTF-8").to_owned();
            if path.is_symlink() {
                continue;
            }
            if path.is_dir() {
                let built = matches!(
                    &*name,
                    ".git"
                        | "target"
                        | "fuzz/target"
                        | "benches/runtime/target"
                        | "fuzz/corpus"
                        | "fuzz/artifacts"
                );
                if !built {
                    collect(root, &path, files);
                }
            } else if let Ok(text) = fs::read_to_string(&path) {
                files.push((name, text));
            }
        }
    }

    let mut files = Vec::new();
    collect(&root(), &root(), &mut files);
    files.sort();
    files
}

fn rust_files() -> Vec<(String, String)> {
    let is_rust = |name: &str| Path::new(name).extension().is_some_and(|ext| ext == "rs");
    files().into_iter().filter(|(name, _)| is_rust(name)).collect()
}

#[track_caller]
fn nothing_breaks(rule: &str, breaks: &[String]) {
    assert!(breaks.is_empty(), "{rule}:\n  {}", breaks.join("\n  "));
}

/// Returns the text without comments and what is in quotes, as far as a line tells.
fn code_of(line: &str) -> String {
    let mut code = String::new();
    let mut quoted = false;
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' if quoted => {
                chars.next();
            }
            '"' => quoted = !quoted,
            '/' if !quoted && chars.peek() == Some(&'/') => break,
            c if !quoted => code.push(c),
            _ => {}
        }
    }
    code
}

#[test]
fn crates_use_only_those_below_them() {
    let mut breaks = Vec::new();
    let mut known = BTreeSet::new();
    for (name, text) in files() {
        let Some(folder) = name.strip_suffix("/Cargo.toml") else { continue };
        let Some((_, allowed)) = EDGES.iter().find(|(crate_folder, _)| *crate_folder == folder)
        else {
            breaks.push(format!("{folder} is not in the table of edges"));
            continue;
        };
        known.insert(folder.to_owned());
        let mut dependencies = false;
        for line in text.lines() {
            if line.starts_with('[') {
                dependencies = line.contains("dependencies");
            }
            let used = line.split(['=', '.', ' ']).next().unwrap_or_default();
            if dependencies && used.starts_with("raddle") && !allowed.contains(&used) {
                breaks.push(format!("{folder} uses {used}"));
            }
        }
    }
    for (folder, _) in EDGES {
        if !known.contains(*folder) {
            breaks.push(format!("{folder} is in the table of edges, but not there"));
        }
    }
    nothing_breaks("edges between crates that ARCHITECTURE.md does not have", &breaks);
}

#[test]
fn modules_of_the_runtime_use_only_those_before_them() {
    let mut breaks = Vec::new();
    for (name, text) in rust_files() {
        let Some(path) = name.strip_prefix("runtime/src/") else { continue };
        let Some(place) = RUNTIME_MODULES.iter().position(|m| path.starts_with(&format!("{m}/")))
        else {
            continue;
        };
        for (i, line) in text.lines().enumerate() {
            for later in &RUNTIME_MODULES[place + 1..] {
                if code_of(line).contains(&format!("crate::{later}")) {
                    breaks.push(format!("{name}:{}: uses {later}", i + 1));
                }
            }
        }
    }
    nothing_breaks("uses against the order memory, sync, sched", &breaks);
}

#[test]
fn files_say_what_they_are_for() {
    let breaks: Vec<String> = rust_files()
        .into_iter()
        .filter(|(_, text)| !text.starts_with("//! "))
        .map(|(name, _)| name)
        .collect();
    nothing_breaks("files that do not open with `//!`", &breaks);
}

#[test]
fn files_are_short() {
    let breaks: Vec<String> = rust_files()
        .into_iter()
        .filter(|(_, text)| text.lines().count() > MAX_LINES)
        .map(|(name, text)| format!("{name}: {} lines", text.lines().count()))
        .collect();
    nothing_breaks("files that are too long", &breaks);
}

#[test]
fn unsafe_code_is_where_the_list_says() {
    let architecture = fs::read_to_string(root().join("ARCHITECTURE.md")).expect("it is there");
    let listed: BTreeSet<String> = architecture
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split_once('`'))
        .map(|(name, _)| name.to_owned())
        .filter(|name| Path::new(name).extension().is_some_and(|ext| ext == "rs"))
        .collect();
    let mut breaks = Vec::new();
    let mut found = BTreeSet::new();
    for (name, text) in rust_files() {
        let uses = text.lines().any(|line| {
            code_of(line).split(|c: char| !c.is_alphanumeric() && c != '_').any(|w| w == "unsafe")
        });
        if !uses {
            continue;
        }
        if !text.contains("#![expect(unsafe_code, reason = ") {
            breaks.push(format!("{name}: has unsafe code without `#![expect(unsafe_code, …)]`"));
        }
        if !listed.contains(&name) {
            breaks.push(format!("{name}: is not in the list of ARCHITECTURE.md"));
        }
        found.insert(name);
    }
    for name in listed.difference(&found) {
        breaks.push(format!("{name}: is in the list of ARCHITECTURE.md, but has no unsafe code"));
    }
    nothing_breaks("unsafe code", &breaks);
}

#[test]
fn only_the_command_looks_around() {
    // What only the `cli` crate may do: read arguments, the environment, the current folder.
    let banned =
        ["env::args", "env::var", "env::current_dir", "env::home_dir", "println!", "eprintln!"];
    let mut breaks = Vec::new();
    for (name, text) in rust_files() {
        if !(name.starts_with("runtime/src/") || name.starts_with("nix/"))
            || !name.contains("/src/")
        {
            continue;
        }
        for (i, line) in text.lines().enumerate() {
            if banned.iter().any(|word| code_of(line).contains(word)) {
                breaks.push(format!("{name}:{}: {}", i + 1, line.trim()));
            }
        }
    }
    nothing_breaks("libraries that look at the environment or print", &breaks);
}

#[test]
fn no_test_is_ignored() {
    let mark = concat!("#[ig", "nore");
    let breaks: Vec<String> = rust_files()
        .into_iter()
        .filter(|(_, text)| text.contains(mark))
        .map(|(name, _)| name)
        .collect();
    nothing_breaks("ignored tests", &breaks);
}

#[test]
fn no_file_names_the_machine_it_was_written_on() {
    let machine_folders = [concat!("/wo", "rk/"), concat!(" /ro", "ot/"), concat!("\"/ro", "ot/")];
    let mut breaks = Vec::new();
    for (name, text) in files() {
        for (i, line) in text.lines().enumerate() {
            if machine_folders.iter().any(|folder| line.contains(folder)) {
                breaks.push(format!("{name}:{}: {}", i + 1, line.trim()));
            }
        }
    }
    nothing_breaks("absolute paths of a machine", &breaks);
}
