//! Finds the first numbers above a start that are the product of two primes, in a pipeline.
//!
//! ```text
//! cargo run --release --example pipeline -- [--workers N] [--above N] [--count N] [--lanes N]
//!
//!             ring      ring
//!            .----> test ----.
//! generate --+----> test ----+--> collect        the ends of a ring: one task each
//!            '----> test ----'
//! ```
//!
//! Candidates go to the lanes in turn and come back in turn, so the output does not depend on who is
//! fast. The rings are short: who is ahead waits. When enough is found the collector cancels, and the
//! others end.

use std::error::Error;
use std::io::{self, Write};

use raddle::sync::{CancelToken, ring};
use raddle::{Priority, Runtime, Task};

#[path = "shared/options.rs"]
mod options;

const HELP: &str = "usage: pipeline [--workers N] [--above N] [--count N] [--lanes N]";
/// How far a task may be ahead of the next.
const AHEAD: usize = 4;

fn main() -> std::process::ExitCode {
    options::exit_code(run(std::env::args().skip(1), &mut io::stdout().lock()))
}

pub(crate) fn run(
    arguments: impl Iterator<Item = String>,
    output: &mut impl Write,
) -> Result<(), Box<dyn Error>> {
    let known = ["--workers", "--above", "--count", "--lanes"];
    let Some(options) = options::read(arguments, HELP, &known)? else {
        return Ok(writeln!(output, "{HELP}")?);
    };
    if let Some(argument) = options.rest.first() {
        return Err(format!("unexpected argument `{argument}`; {HELP}").into());
    }
    let lanes = options.number("--lanes").unwrap_or(4);
    if !(1..=1000).contains(&lanes) {
        return Err(format!("--lanes {lanes}: from 1 to 1000 are possible").into());
    }
    let above = options.number("--above").unwrap_or(1_000_000_000) as u64;
    let count = options.number("--count").unwrap_or(10);
    let runtime = Runtime::builder().workers(options.number("--workers").unwrap_or(0)).build()?;
    for (number, factor) in runtime.run(|task| search(task, above, count, lanes)) {
        writeln!(output, "{number} = {factor} * {}", number / factor)?;
    }
    Ok(())
}

fn search(task: &Task<'_>, above: u64, count: usize, lanes: usize) -> Vec<(u64, u64)> {
    let enough = CancelToken::new();
    let (mut to_lanes, mut from_lanes) = (Vec::new(), Vec::new());
    task.scope(|scope| {
        for _ in 0..lanes {
            let (to_lane, mut candidates) = ring::<u64>(AHEAD);
            let (mut tested, from_lane) = ring(AHEAD);
            to_lanes.push(to_lane);
            from_lanes.push(from_lane);
            scope.spawn(task, Priority::Normal, move |task| {
                while let Some(number) = task.wait(candidates.recv()) {
                    if task.wait(tested.send((number, semiprime_factor(number)))).is_err() {
                        break; // Nobody collects any more.
                    }
                }
            });
        }
        let enough = &enough;
        scope.spawn(task, Priority::Normal, move |task| {
            for (number, lane) in (above.saturating_add(1)..=u64::MAX).zip((0..lanes).cycle()) {
                if enough.is_cancelled() || task.wait(to_lanes[lane].send(number)).is_err() {
                    break;
                }
            }
        });
        let mut found = Vec::new();
        for lane in (0..lanes).cycle() {
            if found.len() >= count {
                break;
            }
            match task.wait(from_lanes[lane].recv()) {
                Some((number, Some(factor))) => found.push((number, factor)),
                Some((_, None)) => {}
                None => break, // There are no more numbers.
            }
        }
        enough.cancel();
        // Closes the rings, so that whoever waits in one ends.
        from_lanes.clear();
        found
    })
}

/// Returns the smaller factor if the number is a product of two primes.
fn semiprime_factor(number: u64) -> Option<u64> {
    let factor = smallest_factor(number)?;
    let other = number / factor;
    (other > 1 && smallest_factor(other) == Some(other)).then_some(factor)
}

/// Returns the smallest prime factor of a number above 1.
fn smallest_factor(number: u64) -> Option<u64> {
    if number < 2 {
        return None;
    }
    let candidates = std::iter::once(2).chain((3..).step_by(2));
    let mut possible = candidates.take_while(|&c: &u64| c <= number / c);
    Some(possible.find(|c| number.is_multiple_of(*c)).unwrap_or(number))
}
