//! `raddle instantiate`: what `nix-instantiate` does, as far as it concerns evaluation.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;

use clap::Args;
use raddle_nix::eval::{Ahead, Coerce, Trace};
use raddle_nix::print::json::{JsonOptions, to_json};
use raddle_nix::print::xml::{XmlOptions, to_xml};
use raddle_nix::value::{Attrs, View};
use raddle_nix::walk::AttrPath;
use raddle_nix::{Cx, Error, Value};
use raddle_nix_syntax::{Origin, Pos};

use crate::options::{self, Evaluation, Purity, Session};
use crate::output::{self, Failure};
use crate::source::Source;

/// Arguments of `instantiate`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  raddle instantiate --eval -E '1 + 2'
  raddle instantiate --eval --strict --json ./packages -A hello.meta
  raddle instantiate --parse ./default.nix
  raddle instantiate --find-file nixpkgs")]
pub(crate) struct Instantiate {
    /// Files, '<NAME>', or '-' for standard input [default: ./default.nix]
    #[arg(value_name = "FILE")]
    files: Vec<OsString>,
    /// Print the value
    #[arg(long, alias = "eval-only")]
    eval: bool,
    /// The arguments are expressions, not files
    #[arg(short = 'E', long)]
    expr: bool,
    /// Evaluate only what is at this attribute path
    #[arg(short = 'A', long, value_name = "PATH")]
    attr: Vec<OsString>,
    /// Evaluate everything inside the value, too
    #[arg(long)]
    strict: bool,
    /// Print the syntax tree instead of evaluating it
    #[arg(long, conflicts_with_all = ["eval", "find_file"])]
    parse: bool,
    /// Print where the search path has these files
    #[arg(long, conflicts_with = "eval")]
    find_file: bool,
    /// Print JSON
    #[arg(long, conflicts_with_all = ["xml", "raw"])]
    json: bool,
    /// Print XML
    #[arg(long, conflicts_with = "raw")]
    xml: bool,
    /// Print a string as it is
    #[arg(long)]
    raw: bool,
    /// Leave positions out of XML
    #[arg(long)]
    no_location: bool,
    #[arg(long, hide = true)]
    read_write_mode: bool,
    #[command(flatten)]
    evaluation: Evaluation,
}

/// What was printed before evaluation went wrong, if it did.
type Output = (Vec<u8>, Result<(), Error>);

impl Instantiate {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        self.evaluation.color.choose();
        self.evaluation.with_session(Purity::Impure, |session| {
            if self.find_file {
                return finish(session, session.run(|cx| collect(|out| self.find(cx, out)))?);
            }
            let sources = self.sources()?;
            if self.parse {
                return finish(
                    session,
                    session.run(|cx| collect(|out| parse(cx, session, &sources, out)))?,
                );
            }
            let attrs = self
                .attr
                .iter()
                .map(|path| AttrPath::parse(path.as_bytes()).map_err(Failure::message))
                .collect::<Result<Vec<_>, _>>()?;
            let attrs = if attrs.is_empty() { vec![AttrPath::default()] } else { attrs };
            finish(
                session,
                session.run(|cx| {
                    collect(|out| {
                        let args = session.auto_args(cx)?;
                        for source in &sources {
                            let root = source.evaluate(cx, session.base())?;
                            for path in &attrs {
                                self.one(cx, session, (root, path, args), out)?;
                            }
                        }
                        Ok(())
                    })
                })?,
            )?;
            if self.eval {
                return Ok(());
            }
            Err(Failure::message(
                "writing derivations to the store is not supported yet; use --eval to print values",
            ))
        })
    }

    fn sources(&self) -> Result<Vec<Source>, Failure> {
        if self.expr {
            let expression = |text: &OsString| Source::Expression(options::bytes(text));
            return Ok(self.files.iter().map(expression).collect());
        }
        if self.files.is_empty() {
            return Ok(vec![Source::File(b"./default.nix".to_vec())]);
        }
        self.files.iter().map(|file| Source::file(file)).collect()
    }

    fn find(&self, cx: &Cx<'_>, out: &mut Vec<u8>) -> Result<(), Error> {
        for name in &self.files {
            let found = cx.lookup_path(name.as_bytes(), Pos::NONE)?;
            if let View::Path(path) = found.view() {
                out.extend_from_slice(path);
                out.push(b'\n');
            }
        }
        Ok(())
    }

    fn one(
        &self,
        cx: &Cx<'_>,
        session: &Session,
        (root, path, args): (Value, &AttrPath, Attrs),
        out: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let mut value = cx.force(cx.find_along_attr_path(root, path, args)?)?;
        if session.has_args() || !self.eval {
            value = cx.auto_call(args, value)?;
        }
        if self.eval { self.print(cx, value, out) } else { Ok(()) }
    }

    fn print(&self, cx: &Cx<'_>, value: Value, out: &mut Vec<u8>) -> Result<(), Error> {
        if self.raw {
            let text = cx
                .coerce(value, Coerce::INTERPOLATE, Pos::NONE)
                .trace(Pos::NONE, || "while generating the nix-instantiate output".to_owned())?;
            out.extend_from_slice(text.as_bytes());
            return Ok(());
        }
        if self.json {
            let options = JsonOptions { copy_paths: true, strict: self.strict, pretty: false };
            let print = |cx: &Cx<'_>| to_json(cx, value, Pos::NONE, options);
            out.extend(if options.strict {
                cx.evaluate_ahead(value, Ahead::OutputPaths, print)?.0
            } else {
                print(cx)?.0
            });
        } else if self.xml {
            let options = XmlOptions { strict: self.strict, locations: !self.no_location };
            out.extend(to_xml(cx, value, Pos::NONE, options)?.0);
            return Ok(());
        } else {
            cx.print_plain_to(&mut cx.collector(out), value, self.strict)?;
        }
        out.push(b'\n');
        Ok(())
    }
}

fn parse(
    cx: &Cx<'_>,
    session: &Session,
    sources: &[Source],
    out: &mut Vec<u8>,
) -> Result<(), Error> {
    for source in sources {
        out.extend(match source {
            Source::File(file) => cx.parse_argument(file, session.base())?,
            Source::Stdin(text) => cx.parse_text(Origin::Stdin, text.clone(), session.base())?,
            Source::Expression(text) => {
                cx.parse_text(Origin::String, text.clone(), session.base())?
            }
        });
        out.push(b'\n');
    }
    Ok(())
}

fn collect(work: impl FnOnce(&mut Vec<u8>) -> Result<(), Error>) -> Output {
    let mut out = Vec::new();
    let result = work(&mut out);
    (out, result)
}

/// Prints what there is, then the error.
fn finish(session: &Session, (out, result): Output) -> Result<(), Failure> {
    output::write(&out)?;
    result.map_err(|error| session.failure(error))
}
