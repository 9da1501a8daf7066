//! The `raddle` command: one file per subcommand.
//!
//! Only this crate reads arguments, environment variables and the current directory, and prints.
//!
//! Exit codes: 0 for success, 1 for an error in the input or its evaluation, 2 for arguments that
//! make no sense, 130 when interrupted.

mod options;
mod output;
mod progress;
mod search;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

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
    /// Search for packages.
    Search(search::Search),
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let result = match cli.command {
        Command::Search(search) => search.run(),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
