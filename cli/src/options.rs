//! Options that several subcommands share, and what the environment adds to them.

use std::io::Write;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use clap::Args;
use raddle_nix::{Error, Evaluator, SearchEntry, Settings};

use crate::output::{Color, Failure};

/// Options of everything that evaluates.
#[derive(Debug, Args)]
#[command(next_help_heading = "Evaluation options")]
pub(crate) struct Evaluation {
    /// Number of workers [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    workers: Option<u16>,
    /// Add an entry to the search path for <NAME>
    #[arg(short = 'I', long = "include", value_name = "[NAME=]PATH")]
    include: Vec<String>,
    /// Show the whole trace of an error
    #[arg(long)]
    pub(crate) show_trace: bool,
    /// Print statistics as JSON to standard error at the end
    #[arg(long)]
    pub(crate) stats: bool,
    /// When to use colours
    #[arg(long, value_name = "WHEN", value_enum, default_value_t)]
    pub(crate) color: Color,
}

impl Evaluation {
    /// Returns the evaluator's settings.
    pub(crate) fn settings(&self) -> Settings {
        let env: std::collections::HashMap<Vec<u8>, Vec<u8>> =
            std::env::vars_os().map(|(k, v)| (k.into_vec(), v.into_vec())).collect();
        let workers = self.workers.map_or_else(
            || std::thread::available_parallelism().map_or(1, Into::into),
            Into::into,
        );
        let mut search_path: Vec<SearchEntry> =
            self.include.iter().map(|entry| search_entry(entry.as_bytes())).collect();
        if let Some(path) = env.get(&b"NIX_PATH"[..]) {
            search_path.extend(
                path.split(|&b| b == b':').filter(|e| !e.is_empty()).map(search_entry),
            );
        }
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        Settings {
            workers,
            search_path,
            home: env.get(&b"HOME"[..]).cloned(),
            env,
            current_time: now.map_or(0, |now| now.as_secs() as i64),
            show_trace: self.show_trace,
            stats: self.stats,
            ..Settings::default()
        }
    }

    /// Returns an evaluator whose messages go to standard error.
    pub(crate) fn evaluator(&self) -> Result<Evaluator, Failure> {
        Evaluator::new(self.settings(), |message| {
            // A message that cannot be shown must not stop the evaluation.
            let _ = writeln!(std::io::stderr(), "{message}");
        })
        .map_err(|error| Failure::message(format_args!("cannot start the workers: {error}")))
    }

    /// Words an evaluation error for the user.
    pub(crate) fn failure(&self, error: Error) -> Failure {
        Failure::message(error)
    }
}

fn search_entry(entry: &[u8]) -> SearchEntry {
    match entry.iter().position(|&b| b == b'=') {
        Some(at) => SearchEntry { prefix: entry[..at].to_vec(), path: entry[at + 1..].to_vec() },
        None => SearchEntry { prefix: Vec::new(), path: entry.to_vec() },
    }
}

/// Returns the current directory.
pub(crate) fn current_dir() -> Result<Vec<u8>, Failure> {
    std::env::current_dir()
        .map(|dir: PathBuf| dir.into_os_string().into_vec())
        .map_err(|error| Failure::message(format_args!("cannot find the current directory: {error}")))
}
