//! Writing to the user: results to standard output, everything else to standard error.

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;
use std::sync::OnceLock;

use clap::ValueEnum;

use crate::{closed, progress};

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

/// The choice for this process; it is made once, before anything is written.
static CHOICE: OnceLock<Color> = OnceLock::new();

impl Color {
    /// Makes this the choice for the process.
    pub(crate) fn choose(self) {
        // Only the first choice counts, and there is only one command line.
        let _ = CHOICE.set(self);
    }

    fn decide(terminal: bool) -> bool {
        match CHOICE.get().copied().unwrap_or_default() {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => {
                let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
                terminal && !set("NO_COLOR") && std::env::var_os("TERM").is_none_or(|t| t != "dumb")
            }
        }
    }
}

/// Returns whether standard output gets colours.
pub(crate) fn coloured_stdout() -> bool {
    Color::decide(io::stdout().is_terminal())
}

/// Returns whether standard error is a terminal that understands more than text.
pub(crate) fn is_smart_terminal() -> bool {
    io::stderr().is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// Returns whether standard error gets colours.
pub(crate) fn coloured_stderr() -> bool {
    Color::decide(io::stderr().is_terminal())
}

/// Why a command ended without success.
#[derive(Debug)]
pub(crate) enum Failure {
    /// A text for the user, complete with its `error:`.
    Report(String),
    /// The arguments make no sense together.
    Usage(String),
    /// Standard output could not be written.
    Output(io::Error),
}

impl Failure {
    /// Returns a failure with this message.
    pub(crate) fn message(text: impl std::fmt::Display) -> Failure {
        Failure::Report(format!("error: {text}"))
    }

    /// Returns a failure of the command line.
    pub(crate) fn usage(text: impl std::fmt::Display) -> Failure {
        Failure::Usage(format!("error: {text}"))
    }

    /// Tells the user and returns the exit code.
    pub(crate) fn report(self) -> ExitCode {
        let (text, code) = match self {
            Failure::Report(text) => (text, 1),
            Failure::Usage(text) => (text + "\n\nFor more information, try '--help'.", 2),
            // Whoever read our output has had enough, as in `| head`.
            Failure::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                return ExitCode::SUCCESS;
            }
            Failure::Output(error) => {
                (format!("error: cannot write to standard output: {error}"), 1)
            }
        };
        message(&text);
        ExitCode::from(code)
    }
}

/// Writes a message to standard error.
pub(crate) fn message(text: &str) {
    const LABELS: [(&str, &str); 4] = [
        ("error:", "\x1b[31;1m"),
        ("warning:", "\x1b[35;1m"),
        ("evaluation warning:", "\x1b[35;1m"),
        ("note:", "\x1b[35;1m"),
    ];
    let label = LABELS.iter().find(|(label, _)| text.starts_with(label));
    let line = match label {
        Some((label, colour)) if coloured_stderr() => {
            format!("{colour}{label}\x1b[0m{}\n", &text[label.len()..])
        }
        _ if coloured_stderr() => format!("{text}\n"),
        // Programs colour their own messages.
        _ => format!("{}\n", anstream::adapter::strip_str(text)),
    };
    progress::around(|| {
        // A message that cannot be shown must not stop anything: the exit code still tells.
        let _ = io::stderr().write_all(line.as_bytes());
    });
}

/// Writes a result to standard output.
pub(crate) fn write(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    let written = check_stdout().and_then(|()| out.write_all(bytes)).and_then(|()| out.flush());
    written.map_err(Failure::Output)
}

/// Fails if standard output was closed from the beginning.
pub(crate) fn check_stdout() -> io::Result<()> {
    if closed::stdout_was_closed() { Err(rustix::io::Errno::BADF.into()) } else { Ok(()) }
}
