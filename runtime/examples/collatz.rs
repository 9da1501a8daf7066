//! Finds the number below a limit whose Collatz sequence is the longest, with a memo that all tasks
//! share.
//!
//! ```text
//! cargo run --release --example collatz -- [--workers N] [--below N]
//! ```
//!
//! Halve an even number, triple an odd one and add one, until it is 1. Sequences run into each other,
//! so each length is kept in a memo; who asks for one that another task computes just then waits for
//! it as a task.

use std::error::Error;
use std::io::{self, Write};
use std::ops::Range;

use raddle::sync::OnceMap;
use raddle::{Runtime, Task};

#[path = "shared/options.rs"]
mod options;

const HELP: &str = "usage: collatz [--workers N] [--below N]";
/// Fewer numbers are not worth a task.
const GRAIN: usize = 256;

fn main() -> std::process::ExitCode {
    options::exit_code(run(std::env::args().skip(1), &mut io::stdout().lock()))
}

pub(crate) fn run(
    arguments: impl Iterator<Item = String>,
    output: &mut impl Write,
) -> Result<(), Box<dyn Error>> {
    let Some(options) = options::read(arguments, HELP, &["--workers", "--below"])? else {
        return Ok(writeln!(output, "{HELP}")?);
    };
    if let Some(argument) = options.rest.first() {
        return Err(format!("unexpected argument `{argument}`; {HELP}").into());
    }
    let below = options.number("--below").unwrap_or(100_000);
    if below < 2 {
        return Err(format!("--below {below}: there is no number to look at below 2").into());
    }
    let runtime = Runtime::builder().workers(options.number("--workers").unwrap_or(0)).build()?;
    let memo = OnceMap::new();
    let (length, number) = runtime.run(|task| longest(task, &memo, 1..below))?;
    writeln!(output, "{number} takes {} steps to 1", length - 1)?;
    writeln!(output, "{} lengths were computed, once each", memo.len())?;
    Ok(())
}

/// Returns the longest length in the range and the first number that has it.
fn longest(
    task: &Task<'_>,
    memo: &OnceMap<u64, u32>,
    range: Range<usize>,
) -> Result<(u32, usize), String> {
    if range.len() <= GRAIN {
        let mut best = (0, 0);
        for number in range {
            let length = length(task, memo, number as u64)?;
            if length > best.0 {
                best = (length, number);
            }
        }
        return Ok(best);
    }
    let middle = range.start + range.len() / 2;
    let (front, back) = task.join(
        |task| longest(task, memo, range.start..middle),
        |task| longest(task, memo, middle..range.end),
    );
    let (front, back) = (front?, back?);
    Ok(if back.0 > front.0 { back } else { front })
}

/// Returns how many numbers the sequence has.
fn length(task: &Task<'_>, memo: &OnceMap<u64, u32>, number: u64) -> Result<u32, String> {
    if number == 1 {
        return Ok(1);
    }
    let next = if number.is_multiple_of(2) {
        Some(number / 2)
    } else {
        number.checked_mul(3).and_then(|triple| triple.checked_add(1))
    };
    let next = next.ok_or_else(|| format!("the sequence from {number} leaves 64 bits"))?;
    let length = memo.get_or_try_init(task, &number, || Ok(1 + length(task, memo, next)?));
    length.copied().map_err(|error: Failure| error.0)
}

/// Why a length is not known.
struct Failure(String);

impl From<String> for Failure {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl From<raddle::Wait> for Failure {
    fn from(wait: raddle::Wait) -> Self {
        Self(format!("a sequence comes back to where it was: {wait:?}"))
    }
}
