//! Counts the words of files, a task for each: the most frequent come first.
//!
//! ```text
//! cargo run --release --example word_count -- [--workers N] [--top N] PATH…
//! ```
//!
//! Folders are gone through. Each task counts for itself; the counts are added up in the order of the
//! paths, so the output does not depend on the number of workers.

use std::collections::HashMap;
use std::error::Error;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use raddle::{Priority, Runtime, Task};

#[path = "shared/options.rs"]
mod options;

type Counts = HashMap<Box<[u8]>, u64>;

const HELP: &str = "usage: word_count [--workers N] [--top N] PATH…";

fn main() -> std::process::ExitCode {
    options::exit_code(run(std::env::args().skip(1), &mut io::stdout().lock()))
}

pub(crate) fn run(
    arguments: impl Iterator<Item = String>,
    output: &mut impl Write,
) -> Result<(), Box<dyn Error>> {
    let Some(options) = options::read(arguments, HELP, &["--workers", "--top"])? else {
        return Ok(writeln!(output, "{HELP}")?);
    };
    if options.rest.is_empty() {
        return Err("no path is given; see --help".into());
    }
    let mut files = Vec::new();
    for path in &options.rest {
        collect_files(Path::new(path), &mut files)?;
    }
    let runtime = Runtime::builder().workers(options.number("--workers").unwrap_or(0)).build()?;
    let counts = runtime.run(|task| count_all(task, &files))?;

    let mut words: Vec<(&Box<[u8]>, &u64)> = counts.iter().collect();
    words.sort_by(|(a, many), (b, more)| more.cmp(many).then(a.cmp(b)));
    for (word, count) in words.iter().take(options.number("--top").unwrap_or(10)) {
        writeln!(output, "{count:>8}  {}", String::from_utf8_lossy(word))?;
    }
    let total: u64 = counts.values().sum();
    writeln!(output, "{total:>8}  words in {} files, {} different", files.len(), counts.len())?;
    Ok(())
}

/// Adds `path`, or the files below it, in the order of their names.
fn collect_files(path: &Path, files: &mut Vec<PathBuf>) -> Result<(), String> {
    let refused = |error: io::Error| format!("cannot read `{}`: {error}", path.display());
    if !fs::metadata(path).map_err(refused)?.is_dir() {
        files.push(path.to_owned());
        return Ok(());
    }
    let entries = fs::read_dir(path).map_err(refused)?;
    let mut below: Vec<PathBuf> =
        entries.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>().map_err(refused)?;
    below.sort();
    // A link to a folder above would never end.
    below.retain(|path| path.is_file() || (path.is_dir() && !path.is_symlink()));
    below.iter().try_for_each(|path| collect_files(path, files))
}

fn count_all(task: &Task<'_>, files: &[PathBuf]) -> Result<Counts, String> {
    let mut results: Vec<Option<Result<Counts, String>>> = Vec::new();
    results.resize_with(files.len(), || None);
    task.scope(|scope| {
        for (path, result) in files.iter().zip(&mut results) {
            scope.spawn(task, Priority::Normal, move |task| *result = Some(count(task, path)));
        }
    });
    let mut total = Counts::new();
    for result in results {
        // The scope has waited for all, and the first in order that failed is told.
        for (word, count) in result.expect("every task has stored its result")? {
            *total.entry(word).or_default() += count;
        }
    }
    Ok(total)
}

/// Reading blocks, so a thread beside the workers does it.
fn count(task: &Task<'_>, path: &Path) -> Result<Counts, String> {
    let text = task.blocking(|| fs::read(path));
    let text = text.map_err(|error| format!("cannot read `{}`: {error}", path.display()))?;
    let mut counts = Counts::new();
    let words = text.split(|byte| !(byte.is_ascii_alphanumeric() || *byte >= 0x80));
    for word in words.filter(|word| !word.is_empty()) {
        *counts.entry(word.to_ascii_lowercase().into()).or_default() += 1;
    }
    Ok(counts)
}
