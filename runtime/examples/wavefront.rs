//! Counts how many insertions, deletions and replacements make one file of another, block by block.
//!
//! ```text
//! cargo run --release --example wavefront -- [--workers N] [--block N] OLD NEW
//!
//!     .---.---.---.     a block needs the last row of the one above it and the last column of
//!     | 1 | 2 | 3 |     the one to its left; whoever finishes the second of the two starts it
//!     :---+---+---:
//!     | 2 | 3 | 4 |
//!     '---'---'---'
//! ```
//!
//! The distance is that of Levenshtein (1965), in bytes, by the recurrence of Wagner and Fischer
//! (1974). Only the borders of the blocks are kept.

use std::error::Error;
use std::fs;
use std::io::{self, Write};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU8, Ordering};

use raddle::{Priority, Runtime, Scope, Task};

#[path = "shared/options.rs"]
mod options;

const HELP: &str = "usage: wavefront [--workers N] [--block N] OLD NEW";

fn main() -> std::process::ExitCode {
    options::exit_code(run(std::env::args().skip(1), &mut io::stdout().lock()))
}

pub(crate) fn run(
    arguments: impl Iterator<Item = String>,
    output: &mut impl Write,
) -> Result<(), Box<dyn Error>> {
    let Some(options) = options::read(arguments, HELP, &["--workers", "--block"])? else {
        return Ok(writeln!(output, "{HELP}")?);
    };
    let [old, new] = &options.rest[..] else {
        return Err(format!("two files are needed, not {}; {HELP}", options.rest.len()).into());
    };
    let read = |path: &str| {
        let text = fs::read(path).map_err(|error| format!("cannot read `{path}`: {error}"))?;
        match u32::try_from(text.len()) {
            Ok(_) => Ok(text),
            Err(_) => Err(format!("`{path}` is too large: the most is 4 GiB")),
        }
    };
    let (old_text, new_text) = (read(old)?, read(new)?);
    let block = options.number("--block").unwrap_or(512);
    if block == 0 {
        return Err("--block 0: a block has at least one byte".into());
    }
    let runtime = Runtime::builder().workers(options.number("--workers").unwrap_or(0)).build()?;
    let distance = runtime.run(|task| distance(task, &old_text, &new_text, block));
    writeln!(output, "{distance} changes from `{old}` to `{new}`")?;
    Ok(())
}

/// The borders between blocks that are done and those that are not.
struct Blocks<'a> {
    rows: Vec<&'a [u8]>,
    columns: Vec<&'a [u8]>,
    /// Distances along the last row that is done, by column of blocks, and along the last column.
    /// The lock is never contended: only one block that needs a border can be started.
    bottom: Vec<Mutex<Vec<u32>>>,
    right: Vec<Mutex<Vec<u32>>>,
    /// How many of the blocks that it needs each block still waits for.
    missing: Vec<AtomicU8>,
}

fn distance(task: &Task<'_>, old: &[u8], new: &[u8], block: usize) -> u32 {
    if old.is_empty() || new.is_empty() {
        return (old.len() + new.len()) as u32;
    }
    let border = |index: usize, part: &[u8]| {
        let start = index * block;
        Mutex::new((start..=start + part.len()).map(|distance| distance as u32).collect())
    };
    let (rows, columns): (Vec<_>, Vec<_>) =
        (old.chunks(block).collect(), new.chunks(block).collect());
    let missing = (0..rows.len() * columns.len())
        .map(|n| (u8::from(n >= columns.len())) + u8::from(n % columns.len() > 0));
    let blocks = Blocks {
        bottom: columns.iter().enumerate().map(|(n, part)| border(n, part)).collect(),
        right: rows.iter().enumerate().map(|(n, part)| border(n, part)).collect(),
        missing: missing.map(AtomicU8::new).collect(),
        rows,
        columns,
    };
    task.scope(|scope| blocks.compute(scope, task, 0, 0));
    let last = blocks.bottom.last().expect("there is a column").lock().expect("no task panics");
    *last.last().expect("a border has a distance more than bytes")
}

impl Blocks<'_> {
    fn compute<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        task: &Task<'_>,
        row: usize,
        column: usize,
    ) {
        let mut above = self.bottom[column].lock().expect("no task panics");
        let mut left = self.right[row].lock().expect("no task panics");
        let end = above.len() - 1;
        let corner = above[end];
        for (index, old) in self.rows[row].iter().enumerate() {
            let mut diagonal = std::mem::replace(&mut above[0], left[index + 1]);
            for (index, new) in self.columns[column].iter().enumerate() {
                let changed = diagonal + u32::from(old != new);
                diagonal = above[index + 1];
                above[index + 1] = changed.min(diagonal.min(above[index]) + 1);
            }
            left[index + 1] = above[end];
        }
        left[0] = corner;
        drop((above, left));
        for (row, column) in [(row + 1, column), (row, column + 1)] {
            if row < self.rows.len() && column < self.columns.len() && self.is_ready(row, column) {
                scope.spawn(task, Priority::Normal, move |task| {
                    self.compute(scope, task, row, column);
                });
            }
        }
    }

    fn is_ready(&self, row: usize, column: usize) -> bool {
        let missing = &self.missing[row * self.columns.len() + column];
        // Acquire, Release: who starts the block sees both borders.
        missing.fetch_sub(1, Ordering::AcqRel) == 1
    }
}
