//! The `raddle` command: one file per subcommand.
//!
//! Only this crate reads arguments, environment variables and the current directory, and prints.
//!
//! | exit code | meaning                                                              |
//! |-----------|----------------------------------------------------------------------|
//! | 0         | success; also when nobody wants the rest of the output (`\| head`)     |
//! | 1         | an error in the input, its evaluation or the output; nothing found   |
//! | 2         | arguments that make no sense                                         |
//! | 130       | interrupted (Ctrl-C)                                                 |

mod closed;
mod environment;
mod eval;
mod highlight;
mod instantiate;
mod interrupt;
mod memory;
mod options;
mod output;
mod progress;
mod search;
mod settings;
mod source;
mod statistics;
mod write_to;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Search and evaluate Nix packages on all cores.
#[derive(Debug, Parser)]
#[command(name = "raddle", version, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Search for packages
    Search(Box<search::Search>),
    /// Print the value of an expression
    Eval(Box<eval::Eval>),
    /// Print values as nix-instantiate does
    Instantiate(Box<instantiate::Instantiate>),
}

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(other) => return tell(&other),
    };
    interrupt::watch();
    let result = match cli.command {
        Command::Search(search) => search.run(),
        Command::Eval(eval) => eval.run(),
        Command::Instantiate(instantiate) => instantiate.run(),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

/// Shows help, the version, or what is wrong with the arguments.
fn tell(text: &clap::Error) -> ExitCode {
    let shown =
        output::check_stdout().and_then(|()| text.print()).and_then(|()| io::stdout().flush());
    match shown {
        Err(error) if !text.use_stderr() => output::Failure::Output(error).report(),
        _ => ExitCode::from(u8::try_from(text.exit_code()).unwrap_or(1)),
    }
}
