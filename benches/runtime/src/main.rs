//! Compares Raddle's runtime with its peers; `README.md` says how to use it.
//!
//! Read in this order: `plan` (the rows, and who takes part), `problems` (the work), `engines` (the
//! work in the words of each engine), `measure` (what one process counts), `driver` (all processes in
//! turn), `peers` (the engines in C++), `report`.
//!
//! What always holds: a result that is wrong is a failure, not a time.

mod arguments;
mod driver;
mod engines;
mod measure;
mod peers;
mod plan;
mod problems;
mod report;

use std::env;
use std::io::{self, Write};
use std::process::ExitCode;

use arguments::{Command, HELP};
use measure::Meter;
use plan::Row;

fn main() -> ExitCode {
    match arguments::parse(env::args().skip(1)).and_then(obey) {
        Ok(text) => match io::stdout().write_all(text.as_bytes()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(_) => ExitCode::FAILURE,
        },
        Err(error) => {
            // Without a place for the message, the status still tells.
            let _gone = writeln!(io::stderr(), "error: {error}");
            ExitCode::from(2)
        }
    }
}

/// Does what was asked and returns what is to be printed.
fn obey(command: Command) -> Result<String, String> {
    match command {
        Command::Help => Ok(HELP.to_owned()),
        Command::List => {
            let line = |row: &Row| {
                let engines: Vec<_> = row.engines().iter().map(|engine| engine.name()).collect();
                format!("{row:<15} {}\n{:15} {}\n", row.title(), "", engines.join(", "))
            };
            Ok(Row::ALL.iter().map(line).collect())
        }
        Command::Child(engine, job, least) => {
            // The futex counter must be there before the first thread.
            let meter = Meter::new(least);
            let measured = job.run(engine, &meter).ok_or("the engine cannot do this row yet")?;
            serde_json::to_string(&measured).map(|line| line + "\n").map_err(|e| e.to_string())
        }
        Command::Compare(options) => {
            let comparison = driver::compare(&options).map_err(|error| error.to_string())?;
            Ok(if options.json {
                format!("{:#}\n", report::document(&comparison))
            } else {
                report::tables(&comparison)
            })
        }
    }
}
