//! Writing to the user: results to standard output, everything else to standard error.

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use clap::ValueEnum;

/// When to use colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless `NO_COLOR` is set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl Color {
    /// Decides for standard output.
    pub(crate) fn for_stdout(self) -> bool {
        self.decide(io::stdout().is_terminal())
    }

    /// Decides for standard error.
    pub(crate) fn for_stderr(self) -> bool {
        self.decide(io::stderr().is_terminal())
    }

    fn decide(self, terminal: bool) -> bool {
        match self {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => terminal && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty()),
        }
    }
}

/// Why a command ended without success.
#[derive(Debug)]
pub(crate) enum Failure {
    /// A text for the user, complete with its `error:`.
    Report(String),
    /// Standard output could not be written.
    Output(io::Error),
}

impl Failure {
    /// Returns a failure with this message.
    pub(crate) fn message(text: impl std::fmt::Display) -> Failure {
        Failure::Report(format!("error: {text}"))
    }

    /// Tells the user and returns the exit code.
    pub(crate) fn report(self) -> ExitCode {
        let text = match self {
            Failure::Report(text) => text,
            // Whoever read our output has had enough, as in `| head`.
            Failure::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                return ExitCode::SUCCESS;
            }
            Failure::Output(error) => format!("error: cannot write to standard output: {error}"),
        };
        // If standard error is closed too, the exit code is all that is left to say.
        let _ = writeln!(io::stderr(), "{text}");
        ExitCode::FAILURE
    }
}

/// Writes a result to standard output.
pub(crate) fn write(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(bytes).and_then(|()| out.flush()).map_err(Failure::Output)
}
