//! Options that several subcommands share, and the session that they describe.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use clap::{ArgAction, Args};
use raddle_nix::print::{ReportOptions, report};
use raddle_nix::value::{Attrs, AttrsBuilder};
use raddle_nix::{Cx, Error, Evaluator, Settings};
use raddle_nix_syntax::{Pos, Symbol};

use crate::environment::{self, Environment};
use crate::memory;
use crate::output::{self, Color, Failure};
use crate::settings::{self, SettingArgs, SettingError};
use crate::statistics::{self, Destination};

/// Options of everything that evaluates.
#[derive(Debug, Args)]
#[command(next_help_heading = "Evaluation options")]
pub(crate) struct Evaluation {
    /// Number of workers [default: one per core]
    #[arg(long, short = 'j', value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    workers: Option<u16>,
    /// Add an entry to the search path for <NAME>
    #[arg(short = 'I', long = "include", value_name = "[NAME=]PATH")]
    include: Vec<OsString>,
    /// Pass an expression as the argument NAME of functions on the way
    #[arg(long, num_args = 2, value_names = ["NAME", "EXPR"], action = ArgAction::Append, allow_hyphen_values = true)]
    arg: Vec<String>,
    /// Pass a string as the argument NAME of functions on the way
    #[arg(long, num_args = 2, value_names = ["NAME", "STRING"], action = ArgAction::Append, allow_hyphen_values = true)]
    argstr: Vec<String>,
    /// Pass the contents of a file as the argument NAME of functions on the way
    #[arg(long, num_args = 2, value_names = ["NAME", "PATH"], action = ArgAction::Append)]
    arg_from_file: Vec<OsString>,
    /// Pass standard input as the argument NAME of functions on the way
    #[arg(long, value_name = "NAME")]
    arg_from_stdin: Vec<String>,
    /// Let a flake see the environment, the time and all files
    #[arg(long)]
    pub(crate) impure: bool,
    /// Print statistics as JSON to standard error at the end
    #[arg(long)]
    stats: bool,
    /// When to use colours
    #[arg(long, value_name = "WHEN", value_enum, default_value_t)]
    pub(crate) color: Color,
    #[command(flatten)]
    settings: SettingArgs,
    #[command(flatten)]
    no_effect: NoEffect,
}

/// Flags of Nix's commands that mean nothing here; accepted so that scripts go on working.
#[derive(Debug, Args)]
struct NoEffect {
    #[arg(long, alias = "readonly-mode", hide = true)]
    read_only: bool,
    #[arg(long, hide = true)]
    offline: bool,
    #[arg(long, hide = true)]
    refresh: bool,
    #[arg(long, hide = true)]
    repair: bool,
    #[arg(long, hide = true)]
    debugger: bool,
    #[arg(long, hide = true)]
    no_update_lock_file: bool,
    #[arg(long, hide = true)]
    no_write_lock_file: bool,
    #[arg(long, hide = true)]
    no_registries: bool,
    #[arg(long, hide = true)]
    commit_lock_file: bool,
    #[arg(long, hide = true)]
    debug: bool,
    #[arg(long, hide = true)]
    quiet: bool,
    #[arg(short = 'L', long, hide = true)]
    print_build_logs: bool,
    #[arg(short, long, hide = true, action = ArgAction::Count)]
    verbose: u8,
    #[arg(long, hide = true)]
    log_format: Option<String>,
}

/// Whether the outside world may be seen unless the user says otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purity {
    /// Everything may be seen.
    Impure,
    /// Only what cannot change the result.
    Pure,
}

/// An evaluator with what its user asked for.
pub(crate) struct Session {
    evaluator: Evaluator,
    base: Vec<u8>,
    args: Vec<(String, Argument)>,
}

/// A value for arguments of functions.
enum Argument {
    Expression(String),
    Text(Vec<u8>),
}

impl Evaluation {
    fn settings(&self, environment: &Environment, purity: Purity) -> Result<Settings, Failure> {
        let mut made = environment.settings()?;
        made.pure |= purity == Purity::Pure;
        for (name, value) in &self.settings.0 {
            match settings::apply(&mut made, name, value) {
                Ok(()) => {}
                Err(SettingError::Unknown) => {
                    output::message(&format!("warning: unknown setting '{name}'"));
                }
                Err(SettingError::Invalid(expected)) => {
                    return Err(Failure::usage(settings::invalid(name, value, &expected)));
                }
            }
        }
        if self.impure {
            made.pure = false;
        }
        let included = self.include.iter().map(|e| environment::search_entry(e.as_bytes()));
        made.search_path.splice(0..0, included);
        made.workers = self
            .workers
            .map_or_else(|| std::thread::available_parallelism().map_or(1, Into::into), Into::into);
        Ok(made)
    }

    fn args(&self) -> Result<Vec<(String, Argument)>, Failure> {
        let mut args = Vec::new();
        for pair in self.arg.chunks_exact(2) {
            args.push((pair[0].clone(), Argument::Expression(pair[1].clone())));
        }
        for pair in self.argstr.chunks_exact(2) {
            args.push((pair[0].clone(), Argument::Text(pair[1].clone().into_bytes())));
        }
        for pair in self.arg_from_file.chunks_exact(2) {
            let contents = std::fs::read(&pair[1]).map_err(|error| {
                Failure::message(format_args!("cannot read '{}': {error}", pair[1].display()))
            })?;
            args.push((pair[0].to_string_lossy().into_owned(), Argument::Text(contents)));
        }
        for name in &self.arg_from_stdin {
            args.push((name.clone(), Argument::Text(read_stdin()?)));
        }
        Ok(args)
    }

    /// Runs `work` with an evaluator, then prints statistics if they are wanted.
    pub(crate) fn with_session(
        &self,
        purity: Purity,
        work: impl FnOnce(&Session) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let environment = Environment::read();
        let mut settings = self.settings(&environment, purity)?;
        let stats =
            if self.stats { Some(Destination::StandardError) } else { environment.statistics() };
        settings.stats = stats.is_some();
        let started = std::time::Instant::now();
        if let Some(limit) = settings.heap_limit {
            memory::watch(limit);
        }
        let evaluator = Evaluator::new(settings, output::message)
            .map_err(|error| Failure::message(format_args!("cannot start the workers: {error}")))?;
        let base = environment::current_dir()?;
        let mut session = Session { evaluator, base, args: self.args()? };
        let result = work(&session);
        if let Some(destination) = stats {
            statistics::show(&mut session.evaluator, started.elapsed(), &destination)?;
        }
        // Taking the heap apart would take longer than the system does at the end.
        std::mem::forget(session);
        result
    }
}

impl Session {
    /// Returns the settings.
    pub(crate) fn settings(&self) -> &Settings {
        self.evaluator.settings()
    }

    /// Returns the folder that relative paths start from.
    pub(crate) fn base(&self) -> &[u8] {
        &self.base
    }

    /// Returns whether the user gave arguments for functions.
    pub(crate) fn has_args(&self) -> bool {
        !self.args.is_empty()
    }

    /// Runs `work` as the first task of the evaluator; running out of memory is a failure.
    pub(crate) fn run<R: Send>(
        &self,
        work: impl FnOnce(&Cx<'_>) -> R + Send,
    ) -> Result<R, Failure> {
        self.evaluator.try_run(work).map_err(|error| match error.limit {
            Some(_) => Failure::message(format_args!("{error} (see --max-heap)")),
            None => Failure::message(error),
        })
    }

    /// Returns the arguments for functions on the way.
    pub(crate) fn auto_args(&self, cx: &Cx<'_>) -> Result<Attrs, Error> {
        let mut args = AttrsBuilder::default();
        for (i, (name, arg)) in self.args.iter().enumerate() {
            // The last one of a name counts.
            if self.args[i + 1..].iter().any(|(later, _)| later == name) {
                continue;
            }
            let value = match arg {
                Argument::Expression(text) => cx.delay_string(text.as_bytes(), &self.base)?,
                Argument::Text(text) => cx.string(text),
            };
            args.push(Symbol::intern(name.as_bytes()), Pos::NONE, value);
        }
        Ok(cx.attrs(args))
    }

    /// Words an evaluation error for the user.
    pub(crate) fn failure(&self, error: Error) -> Failure {
        let options = ReportOptions {
            show_trace: self.settings().show_trace,
            colour: output::coloured_stderr(),
            ..ReportOptions::default()
        };
        Failure::Report(report(error, &options))
    }
}

/// Reads all of standard input.
pub(crate) fn read_stdin() -> Result<Vec<u8>, Failure> {
    let mut text = Vec::new();
    match std::io::Read::read_to_end(&mut std::io::stdin().lock(), &mut text) {
        Ok(_) => Ok(text),
        Err(error) => Err(Failure::message(format_args!("cannot read standard input: {error}"))),
    }
}

/// Returns an argument as bytes.
pub(crate) fn bytes(argument: &OsString) -> Vec<u8> {
    argument.clone().into_vec()
}
