//! `raddle eval`: the value of an expression, as `nix eval` prints it.

use std::ffi::OsString;
use std::io::IsTerminal;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use clap::Args;
use raddle_nix::eval::{Ahead, Coerce, Trace};
use raddle_nix::print::PrintOptions;
use raddle_nix::print::json::{JsonOptions, to_json};
use raddle_nix::walk::AttrPath;
use raddle_nix::{Cx, Error, Value};
use raddle_nix_syntax::Pos;

use crate::options::{Evaluation, Purity, Session};
use crate::output::{self, Failure};
use crate::source::{Installable, Source};
use crate::write_to;

/// Arguments of `eval`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  raddle eval --expr '1 + 2'
  raddle eval -f ./packages hello.meta --json
  raddle eval --raw -f '<nixpkgs>' lib.version
  raddle eval .#packages --apply builtins.attrNames")]
pub(crate) struct Eval {
    /// Evaluate FILE
    #[arg(short, long, value_name = "FILE", conflicts_with = "expr")]
    file: Option<OsString>,
    /// Evaluate EXPR
    #[arg(short = 'E', long, value_name = "EXPR", allow_hyphen_values = true)]
    expr: Option<OsString>,
    /// A flake or a path, perhaps with '#' and an attribute path; with --file or --expr, only the
    /// attribute path
    #[arg(value_name = "INSTALLABLE")]
    installable: Option<OsString>,
    /// The attribute path to evaluate
    #[arg(short = 'A', long, value_name = "PATH")]
    attr: Option<OsString>,
    /// Apply this function to the value first
    #[arg(long, value_name = "EXPR", allow_hyphen_values = true)]
    apply: Option<OsString>,
    /// Print JSON
    #[arg(long, conflicts_with = "raw")]
    json: bool,
    /// Print a string as it is
    #[arg(long)]
    raw: bool,
    /// Print over several lines
    #[arg(long)]
    pretty: bool,
    /// Write strings to files and sets to folders, beginning at PATH, which must not exist
    #[arg(long, value_name = "PATH", conflicts_with_all = ["json", "raw"])]
    write_to: Option<PathBuf>,
    #[command(flatten)]
    evaluation: Evaluation,
}

impl Eval {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        self.evaluation.color.choose();
        let attr = || {
            let path = match (&self.attr, &self.installable) {
                (Some(_), Some(_)) => return Err(Failure::usage("give one attribute path only")),
                (path, None) | (None, path) => path,
            };
            // As in Nix, a dot is everything.
            let path = path.as_ref().map_or(&b""[..], |path| path.as_bytes());
            AttrPath::parse(if path == b"." { b"" } else { path }).map_err(Failure::message)
        };
        let source = match (&self.file, &self.expr) {
            (Some(file), _) => Some(Source::file(file)?),
            (None, Some(expr)) => Some(Source::Expression(expr.as_bytes().to_vec())),
            (None, None) => None,
        };
        if let Some(source) = source {
            let attr = attr()?;
            return self.evaluation.with_session(Purity::Impure, |session| {
                self.eval(session, |cx| from_source(cx, session, &source, &attr).map(Ok))
            });
        }
        let mut named = self.installable.clone().unwrap_or_else(|| ".".into());
        if let Some(attr) = &self.attr {
            named.push("#");
            named.push(attr);
        }
        let installable = Installable::parse(&named)?;
        self.evaluation.with_session(installable.purity(), |session| {
            self.eval(session, |cx| from_installable(cx, session, &installable))
        })
    }

    fn eval(
        &self,
        session: &Session,
        value: impl FnOnce(&Cx<'_>) -> Result<Result<Value, Failure>, Error> + Send,
    ) -> Result<(), Failure> {
        let out = session.run(|cx| match value(cx) {
            Ok(Ok(value)) => match self.print(cx, session, value) {
                Ok(out) => out,
                Err(error) => Err(session.failure(error)),
            },
            Ok(Err(failure)) => Err(failure),
            Err(error) => Err(session.failure(error)),
        })??;
        output::write(&out)
    }

    /// Returns what the user sees of a value.
    fn print(
        &self,
        cx: &Cx<'_>,
        session: &Session,
        value: Value,
    ) -> Result<Result<Vec<u8>, Failure>, Error> {
        let mut value = cx.force(value)?;
        if let Some(apply) = &self.apply {
            let function = cx.eval_string(apply.as_bytes(), session.base())?;
            value = cx.call(function, &[value], Pos::NONE)?;
        }
        if let Some(path) = &self.write_to {
            return write_to::write(cx, value, path).map(|result| result.map(|()| Vec::new()));
        }
        if self.raw {
            let text = cx
                .coerce(value, Coerce::INTERPOLATE, Pos::NONE)
                .trace(Pos::NONE, || "while generating the eval command output".to_owned())?;
            return Ok(Ok(text.as_bytes().to_vec()));
        }
        let mut out = Vec::new();
        if self.json {
            let pretty = self.pretty || std::io::stdout().is_terminal();
            let options = JsonOptions { pretty, ..JsonOptions::EVAL };
            out = cx
                .evaluate_ahead(value, Ahead::OutputPaths, |cx| {
                    to_json(cx, value, Pos::NONE, options)
                })?
                .0;
        } else {
            let indent = if self.pretty { 2 } else { 0 };
            cx.print_to(
                &mut cx.collector(&mut out),
                value,
                &PrintOptions { indent, ..PrintOptions::EVAL },
            )?;
        }
        out.push(b'\n');
        Ok(Ok(out))
    }
}

fn from_source(
    cx: &Cx<'_>,
    session: &Session,
    source: &Source,
    attr: &AttrPath,
) -> Result<Value, Error> {
    let root = source.evaluate(cx, session.base())?;
    cx.find_along_attr_path(root, attr, session.auto_args(cx)?)
}

fn from_installable(
    cx: &Cx<'_>,
    session: &Session,
    installable: &Installable,
) -> Result<Result<Value, Failure>, Error> {
    match installable {
        Installable::File(file, attr) => {
            from_source(cx, session, &Source::File(file.clone()), attr).map(Ok)
        }
        Installable::Flake(flake) => {
            let outputs = cx.flake(&flake.folder)?;
            let defaults = [&["packages", "SYSTEM", "default"][..], &["defaultPackage", "SYSTEM"]];
            let candidates = flake.candidates(&session.settings().system, &defaults);
            let found = cx.first_attr_path(outputs, &candidates)?;
            Ok(found.ok_or_else(|| flake.missing(&candidates)))
        }
    }
}
