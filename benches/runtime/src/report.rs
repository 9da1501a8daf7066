//! Medians with their spread, ratios, and whether Raddle holds its bar.
//!
//! The bar: Raddle is the fastest, or within 5% of the fastest, by wall time and by CPU time. Each is
//! compared by the medians over all runs.

use std::fmt::{self, Write as _};

use serde_json::{Value, json};

use crate::driver::{Cell, Comparison};
use crate::measure::Measured;
use crate::plan::Engine;

const CLOSE: f64 = 1.05;

/// The middle one of some values, the smallest and the largest.
#[derive(Clone, Copy, Debug)]
pub struct Spread {
    /// The one in the middle, the mean of two if their number is even.
    pub median: f64,
    /// The smallest.
    pub smallest: f64,
    /// The largest.
    pub largest: f64,
}

impl Spread {
    /// Returns the spread of `value` over the runs of a cell; none if there are no values.
    pub fn of(cell: &Cell, value: impl Fn(&Measured) -> Option<f64>) -> Option<Self> {
        let mut values: Vec<f64> = cell.runs.iter().filter_map(value).collect();
        values.sort_by(f64::total_cmp);
        let (&smallest, &largest) = (values.first()?, values.last()?);
        let middle = values.len() / 2;
        let median = match values.len() % 2 {
            1 => values[middle],
            _ => f64::midpoint(values[middle - 1], values[middle]),
        };
        Some(Self { median, smallest, largest })
    }
}

impl fmt::Display for Spread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { median, smallest, largest } = *self;
        let text = format!("{} ({}–{})", digits(median), digits(smallest), digits(largest));
        f.pad(&text)
    }
}

/// How Raddle did in one row with one number of workers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict {
    /// No peer needs less of either.
    Fastest,
    /// Within 5% of the best.
    Close,
    /// Farther behind.
    Behind,
    /// It did not do the row, or nobody else did.
    Alone,
}

/// Raddle's times over those of the best peer, each of its own.
#[derive(Clone, Copy, Debug)]
struct Ratios {
    wall: f64,
    cpu: f64,
}

impl Ratios {
    fn of(group: &[Cell]) -> Option<Self> {
        let best = |is_raddle, value: fn(&Measured) -> f64| {
            group
                .iter()
                .filter(|cell| (cell.engine == Engine::Raddle) == is_raddle)
                .filter_map(|cell| Some(Spread::of(cell, |run| Some(value(run)))?.median))
                .min_by(f64::total_cmp)
        };
        let ratio = |value| Some(best(true, value)? / best(false, value)?);
        Some(Self { wall: ratio(|run| run.wall_ns)?, cpu: ratio(|run| run.cpu_ns)? })
    }

    fn verdict(ratios: Option<Self>) -> Verdict {
        match ratios.map(|ratios| ratios.wall.max(ratios.cpu)) {
            None => Verdict::Alone,
            Some(worst) if worst <= 1.0 => Verdict::Fastest,
            Some(worst) if worst <= CLOSE => Verdict::Close,
            Some(_) => Verdict::Behind,
        }
    }
}

/// Returns the tables.
pub fn tables(comparison: &Comparison) -> String {
    let mut text = String::new();
    for row in comparison.cells.chunk_by(|a, b| a.row == b.row) {
        table(&mut text, row).expect("writing to a string succeeds");
    }
    text.push_str(&summary(comparison));
    for (engine, reason) in &comparison.absent {
        writeln!(text, "{engine} is left out: {reason}").expect("writing to a string succeeds");
    }
    if comparison.cells.iter().flat_map(|cell| &cell.runs).any(|run| run.futexes.is_none()) {
        text.push_str(
            "Futex calls were not counted: no access to the tracepoint sys_enter_futex.\n",
        );
    }
    text
}

fn table(text: &mut String, cells: &[Cell]) -> fmt::Result {
    writeln!(text, "{}: {}\n", cells[0].row, cells[0].row.title())?;
    writeln!(
        text,
        "workers  {:<10} {:>26} {:>26} {:>10} {:>10}",
        "engine", "wall ns", "CPU ns", "futexes", "allocs/op"
    )?;
    for group in cells.chunk_by(|a, b| a.workers == b.workers) {
        for cell in group {
            write!(text, "{:>7}  {:<10}", cell.workers, cell.engine)?;
            let spreads = (
                Spread::of(cell, |run| Some(run.wall_ns)),
                Spread::of(cell, |run| Some(run.cpu_ns)),
            );
            if let (Some(wall), Some(cpu)) = spreads {
                let column = |value: Option<Spread>| {
                    value.map_or_else(|| "-".to_owned(), |spread| digits(spread.median))
                };
                let futexes = column(Spread::of(cell, |run| run.futexes));
                let allocations = column(Spread::of(cell, |run| run.allocations));
                write!(text, " {wall:>26} {cpu:>26} {futexes:>10} {allocations:>10}")?;
            }
            match &cell.failure {
                Some(failure) => writeln!(text, "  failed: {failure}")?,
                None => writeln!(text)?,
            }
        }
    }
    writeln!(text)
}

/// Says for each row and number of workers where Raddle stands.
fn summary(comparison: &Comparison) -> String {
    let mut text = String::from("Raddle against the best peer, wall / CPU:\n\n");
    for row in comparison.cells.chunk_by(|a, b| a.row == b.row) {
        let _infallible = write!(text, "{:<15}", row[0].row);
        for group in row.chunk_by(|a, b| a.workers == b.workers) {
            let ratios = Ratios::of(group);
            let verdict = match Ratios::verdict(ratios) {
                Verdict::Fastest => "fastest",
                Verdict::Close => "within 5%",
                Verdict::Behind => "BEHIND",
                Verdict::Alone => "alone",
            };
            let workers = group[0].workers;
            let ratios = match ratios {
                Some(Ratios { wall, cpu }) => format!("{wall:.2} / {cpu:.2}"),
                None => "-".to_owned(),
            };
            let _infallible = write!(text, "  {workers}: {ratios:<11} {verdict:<9}");
        }
        text.truncate(text.trim_end().len());
        text.push('\n');
    }
    text
}

/// Returns everything as JSON.
pub fn document(comparison: &Comparison) -> Value {
    let spread = |spread: Option<Spread>| {
        spread.map(|spread| {
            json!({
                "median": spread.median,
                "smallest": spread.smallest,
                "largest": spread.largest,
            })
        })
    };
    let cell = |cell: &Cell| {
        json!({
            "row": cell.row.name(),
            "workers": cell.workers,
            "engine": cell.engine.name(),
            "wall_ns": spread(Spread::of(cell, |run| Some(run.wall_ns))),
            "cpu_ns": spread(Spread::of(cell, |run| Some(run.cpu_ns))),
            "runs": cell.runs,
            "failure": cell.failure,
        })
    };
    let groups = comparison.cells.chunk_by(|a, b| (a.row, a.workers) == (b.row, b.workers));
    let verdict = |group: &[Cell]| {
        let ratios = Ratios::of(group);
        json!({
            "row": group[0].row.name(),
            "workers": group[0].workers,
            "wall_ratio": ratios.map(|ratios| ratios.wall),
            "cpu_ratio": ratios.map(|ratios| ratios.cpu),
            "verdict": format!("{:?}", Ratios::verdict(ratios)).to_lowercase(),
        })
    };
    json!({
        "cells": comparison.cells.iter().map(cell).collect::<Vec<_>>(),
        "verdicts": groups.map(verdict).collect::<Vec<_>>(),
        "absent": comparison
            .absent
            .iter()
            .map(|(engine, reason)| json!({ "engine": engine.name(), "reason": reason }))
            .collect::<Vec<_>>(),
    })
}

/// Returns a number with about three digits.
fn digits(value: f64) -> String {
    match value {
        _ if value >= 100.0 => format!("{value:.0}"),
        _ if value >= 10.0 => format!("{value:.1}"),
        _ if value >= 0.01 || value == 0.0 => format!("{value:.2}"),
        _ => format!("{value:.1e}"),
    }
}
