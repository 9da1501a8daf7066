//! Parses every `.nix` file below the given folders and says how fast.
//!
//! ```text
//! cargo run --release --example parse_tree -- nixpkgs
//! cargo run --example parse_tree -- --print file.nix    # what `nix-instantiate --parse` prints
//! cargo run --example parse_tree -- --round-trip nixpkgs # print, parse again, compare
//! ```

#![expect(clippy::print_stdout, reason = "an example talks to its user")]

use std::cell::RefCell;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use bstr::ByteSlice;
use bumpalo::Bump;
use raddle_nix_syntax::{Options, Origin, Source, parse, print};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let mode = arguments.first().filter(|first| first.starts_with("--")).cloned();
    if mode.is_some() {
        arguments.remove(0);
    }
    let mut files = Vec::new();
    for argument in &arguments {
        collect(Path::new(argument), &mut files)?;
    }
    if mode.as_deref() == Some("--print") {
        return files.iter().try_for_each(|file| show(file));
    }
    let (mut parsing, mut bytes, mut failures) = (Duration::ZERO, 0, 0);
    let mut arena = Bump::new();
    for file in &files {
        let text = std::fs::read(file)?;
        bytes += text.len();
        let source = Source::add(Origin::File(file.clone()), text)?;
        let start = Instant::now();
        let result = parse(&arena, source, &Options::default());
        parsing += start.elapsed();
        match result {
            Ok(tree) if mode.is_some() => {
                let once = print::source(tree);
                let again = Source::add(Origin::String, once.clone())?;
                match parse(&arena, again, &Options::default()) {
                    Ok(tree) if print::source(tree) == once => {}
                    Ok(_) => println!("{}: printed differently", file.display()),
                    Err(error) => println!("{}: {}", file.display(), error.render()),
                }
            }
            Ok(_) => {}
            Err(error) => {
                failures += 1;
                println!("{}", error.render());
            }
        }
        arena.reset();
    }
    let seconds = parsing.as_secs_f64();
    println!(
        "{} files, {failures} failures, {:.1} MB in {seconds:.2} s: {:.0} files/s, {:.1} MB/s",
        files.len(),
        bytes as f64 / 1e6,
        files.len() as f64 / seconds,
        bytes as f64 / 1e6 / seconds,
    );
    Ok(())
}

fn show(file: &Path) -> Result<(), Box<dyn Error>> {
    let warnings = RefCell::default();
    let options = Options { warnings: Some(&warnings), ..Options::default() };
    let source = Source::add(Origin::File(file.to_owned()), std::fs::read(file)?)?;
    let arena = Bump::new();
    let result = parse(&arena, source, &options);
    for warning in warnings.borrow().iter() {
        println!("{}", warning.render());
    }
    match result {
        Ok(tree) => {
            let base = std::path::absolute(file)?;
            let base = base.parent().unwrap_or(Path::new("/")).as_os_str().as_encoded_bytes();
            let text = print::desugared(tree, print::Paths { base, home: b"/home" });
            println!("{}", text.as_bstr());
        }
        Err(error) => println!("{}", error.render()),
    }
    Ok(())
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) -> Result<(), Box<dyn Error>> {
    if !path.is_dir() {
        files.push(path.to_owned());
        return Ok(());
    }
    let mut entries = std::fs::read_dir(path)?.collect::<Result<Vec<_>, _>>()?;
    entries.sort_by_key(|entry| entry.file_name());
    for entry in entries {
        let kind = entry.file_type()?;
        let path = entry.path();
        if kind.is_dir() || kind.is_file() && path.extension().is_some_and(|ext| ext == "nix") {
            collect(&path, files)?;
        }
    }
    Ok(())
}
