//! The command line of the examples: options with a number each, then other arguments.
//!
//! Real programs take a library for this; here it would be most of the code.

#![expect(clippy::print_stderr, reason = "this is where the examples tell errors")]

use std::collections::HashMap;
use std::error::Error;
use std::process::ExitCode;

#[derive(Debug)]
pub(crate) struct Options {
    numbers: HashMap<String, usize>,
    pub(crate) rest: Vec<String>,
}

/// Reads arguments; `None` if help is wanted.
pub(crate) fn read(
    mut arguments: impl Iterator<Item = String>,
    help: &str,
    known: &[&str],
) -> Result<Option<Options>, String> {
    let mut options = Options { numbers: HashMap::new(), rest: Vec::new() };
    while let Some(argument) = arguments.next() {
        if argument == "--help" {
            return Ok(None);
        } else if known.contains(&&*argument) {
            let value = arguments.next().ok_or(format!("{argument} needs a number"))?;
            let number =
                value.parse().map_err(|_| format!("{argument} needs a number, not `{value}`"))?;
            options.numbers.insert(argument, number);
        } else if argument.starts_with("--") {
            return Err(format!("unknown option `{argument}`; {help}"));
        } else {
            options.rest.push(argument);
        }
    }
    Ok(Some(options))
}

impl Options {
    pub(crate) fn number(&self, name: &str) -> Option<usize> {
        self.numbers.get(name).copied()
    }
}

/// Prints the error, if there is one.
pub(crate) fn exit_code(result: Result<(), Box<dyn Error>>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
