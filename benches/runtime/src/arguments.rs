//! The command line.

use std::fmt::Display;
use std::str::FromStr;
use std::time::Duration;

use crate::engines::Job;
use crate::plan::{Engine, Row};

/// What `--help` prints.
pub const HELP: &str = "\
Compares Raddle's runtime with its peers: everything in turn, each in a process of its own.

Usage: raddle-runtime-bench [OPTIONS]

Options:
  --rows A,B       Only these rows of work
  --engines A,B    Only these engines
  --workers 1,2    Numbers of workers [default: 1,2,4,8]
  --runs N         How often each is run [default: 5]
  --least MS       Least time that a run measures, in milliseconds [default: 300]
  --quick          Small sizes: to see that everything works, not to compare
  --json           Print one JSON document instead of tables
  --list           Print the rows and who takes part in them
  --help           Print this
";

/// What the program is to do.
#[derive(Clone, Debug)]
pub enum Command {
    /// Print the help.
    Help,
    /// Print the rows.
    List,
    /// Compare.
    Compare(Options),
    /// Do one piece of work in this process.
    Child(Engine, Job, Duration),
}

/// What to compare, and how.
#[derive(Clone, Debug)]
pub struct Options {
    /// The rows, in the order of the report.
    pub rows: Vec<Row>,
    /// The engines.
    pub engines: Vec<Engine>,
    /// The numbers of workers.
    pub workers: Vec<usize>,
    /// How often each is run.
    pub runs: usize,
    /// The least time that a run measures.
    pub least: Duration,
    /// Whether sizes are small.
    pub quick: bool,
    /// Whether the report is JSON.
    pub json: bool,
}

/// Reads the arguments, without the program's name.
///
/// # Errors
///
/// Fails with a sentence that says what is wrong.
pub fn parse(arguments: impl IntoIterator<Item = String>) -> Result<Command, String> {
    let mut arguments = arguments.into_iter().peekable();
    if arguments.next_if(|first| first == "child").is_some() {
        return child(&arguments.collect::<Vec<_>>());
    }
    let mut options = Options {
        rows: Row::ALL.to_vec(),
        engines: Engine::ALL.to_vec(),
        workers: vec![1, 2, 4, 8],
        runs: 5,
        least: Duration::from_millis(300),
        quick: false,
        json: false,
    };
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or_else(|| format!("`{argument}` needs a value"));
        match &*argument {
            "--rows" => options.rows = list(&value()?, "row", Row::from_name)?,
            "--engines" => options.engines = list(&value()?, "engine", Engine::from_name)?,
            "--workers" => {
                let positive = |text: &str| text.parse().ok().filter(|&workers| workers > 0);
                options.workers = list(&value()?, "number of workers", positive)?;
            }
            "--runs" => options.runs = number::<usize>(&value()?)?.max(1),
            "--least" => options.least = Duration::from_millis(number(&value()?)?),
            "--quick" => options.quick = true,
            "--json" => options.json = true,
            "--list" => return Ok(Command::List),
            "--help" | "-h" => return Ok(Command::Help),
            _ => return Err(format!("unknown argument `{argument}`")),
        }
    }
    Ok(Command::Compare(options))
}

fn child(arguments: &[String]) -> Result<Command, String> {
    let [engine, row, workers, size, least] = arguments else {
        return Err("`child` needs ENGINE ROW WORKERS SIZE LEAST".to_owned());
    };
    let engine = Engine::from_name(engine).ok_or_else(|| format!("no engine `{engine}`"))?;
    let row = Row::from_name(row).ok_or_else(|| format!("no row `{row}`"))?;
    let job = Job { row, workers: number(workers)?, size: number(size)? };
    Ok(Command::Child(engine, job, Duration::from_millis(number(least)?)))
}

fn list<T>(text: &str, what: &str, item: impl Fn(&str) -> Option<T>) -> Result<Vec<T>, String> {
    let items = text.split(',').map(|name| item(name).ok_or_else(|| format!("no {what} `{name}`")));
    items.collect()
}

fn number<T: FromStr<Err: Display>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|error| format!("`{text}`: {error}"))
}
