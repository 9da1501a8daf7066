//! Runs everything in turn, each in a process of its own, so that no runtime disturbs another.
//!
//! ```text
//! for each run: for each row: for each number of workers: every engine, each run beginning with another
//! ```
//!
//! So what else happens on the machine meets all engines alike.

use std::env;
use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use crate::arguments::Options;
use crate::measure::Measured;
use crate::peers;
use crate::plan::{Engine, Row};

/// A process that takes longer is taken to hang.
const TIME_LIMIT: Duration = Duration::from_mins(2);

/// What was measured of one engine at one row with one number of workers.
#[derive(Clone, Debug)]
pub struct Cell {
    /// The work.
    pub row: Row,
    /// The number of workers.
    pub workers: usize,
    /// Who did it.
    pub engine: Engine,
    /// The runs, in order.
    pub runs: Vec<Measured>,
    /// Why there are no more.
    pub failure: Option<String>,
}

/// What was measured, and who was left out.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// All cells, in the order of the report.
    pub cells: Vec<Cell>,
    /// Engines that cannot take part here, and why.
    pub absent: Vec<(Engine, String)>,
}

/// Measures what the options say.
///
/// # Errors
///
/// Fails if this program cannot find itself.
pub fn compare(options: &Options) -> io::Result<Comparison> {
    let this = env::current_exe()?;
    let folder = this.parent().unwrap_or(&this).join("peers");
    let mut programs = Programs { this, tbb: None, taskflow: None };
    let mut absent = Vec::new();
    for engine in [Engine::Taskflow, Engine::Tbb] {
        let is_asked =
            |row: &&Row| options.engines.contains(&engine) && row.engines().contains(&engine);
        if options.rows.iter().find(is_asked).is_none() {
            continue;
        }
        progress(&format!("building {engine}"));
        std::fs::create_dir_all(&folder)?;
        match (peers::build(engine, &folder), engine) {
            (Ok(program), Engine::Tbb) => programs.tbb = Some(program),
            (Ok(program), _) => programs.taskflow = Some(program),
            (Err(reason), _) => absent.push((engine, reason.0)),
        }
    }

    let mut cells = Vec::new();
    for &row in &options.rows {
        for &workers in &options.workers {
            for &engine in row.engines() {
                let is_absent = absent.iter().any(|&(other, _)| other == engine);
                if options.engines.contains(&engine) && !is_absent {
                    cells.push(Cell { row, workers, engine, runs: Vec::new(), failure: None });
                }
            }
        }
    }
    let total = cells.len() * options.runs;
    let mut done = 0;
    for run in 0..options.runs {
        for group in cells.chunk_by_mut(|a, b| (a.row, a.workers) == (b.row, b.workers)) {
            let first = run % group.len();
            group.rotate_left(first);
            for cell in group.iter_mut().filter(|cell| cell.failure.is_none()) {
                done += 1;
                let Cell { row, workers, engine, .. } = *cell;
                progress(&format!("{done}/{total} {row}, {engine}, {workers} workers"));
                match measure(&programs, options, cell) {
                    Ok(measured) => cell.runs.push(measured),
                    Err(failure) => cell.failure = Some(failure),
                }
            }
            group.rotate_right(first);
        }
    }
    progress("");
    Ok(Comparison { cells, absent })
}

/// Where the programs are that do the work.
struct Programs {
    this: PathBuf,
    taskflow: Option<PathBuf>,
    tbb: Option<PathBuf>,
}

fn measure(programs: &Programs, options: &Options, cell: &Cell) -> Result<Measured, String> {
    let mut command = match (cell.engine, &programs.taskflow, &programs.tbb) {
        (Engine::Taskflow, Some(program), _) | (Engine::Tbb, _, Some(program)) => {
            Command::new(program)
        }
        _ => {
            let mut command = Command::new(&programs.this);
            command.args(["child", cell.engine.name()]);
            command
        }
    };
    command.arg(cell.row.name()).arg(cell.workers.to_string());
    command.arg(cell.row.size(options.quick).to_string());
    command.arg(options.least.as_millis().to_string());
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().map_err(|error| format!("cannot be run: {error}"))?;
    let (output, errors) = wait(child)?;
    serde_json::from_str(&output).map_err(|_| match errors.lines().next_back() {
        Some(last) => last.to_owned(),
        None => "ended without a result".to_owned(),
    })
}

/// Waits for the process, not for ever, and returns what it wrote.
fn wait(mut child: Child) -> Result<(String, String), String> {
    let (sender, receiver) = mpsc::channel();
    let (mut output, mut errors) = (child.stdout.take(), child.stderr.take());
    let reader = thread::spawn(move || {
        let read = |stream: Option<&mut dyn io::Read>| {
            let mut text = String::new();
            stream.map_or(Ok(0), |stream| stream.read_to_string(&mut text)).map(|_| text)
        };
        let output = read(output.as_mut().map(|stream| stream as _));
        // The other side has gone if the time was up.
        let _too_late = sender.send((output, read(errors.as_mut().map(|stream| stream as _))));
    });
    let text = receiver.recv_timeout(TIME_LIMIT);
    if let Err(RecvTimeoutError::Timeout) = text {
        // It may just have ended by itself.
        let _already_gone = child.kill();
    }
    let status = child.wait().map_err(|error| error.to_string())?;
    reader.join().map_err(|_| "its output cannot be read".to_owned())?;
    match text {
        Ok((Ok(output), Ok(errors))) if status.success() || !errors.is_empty() => {
            Ok((output, errors))
        }
        Ok((Ok(_), Ok(_))) => Err(format!("ended with {status}")),
        Ok(_) => Err("its output cannot be read".to_owned()),
        Err(_) => Err(format!("took more than {} seconds", TIME_LIMIT.as_secs())),
    }
}

/// Says on a terminal what is going on; nothing clears the line.
fn progress(what: &str) {
    let mut stderr = io::stderr();
    if stderr.is_terminal() {
        // Only decoration: a terminal that is gone is no reason to stop.
        let _gone = write!(stderr, "\r\x1b[K{what}").and_then(|()| stderr.flush());
    }
}
