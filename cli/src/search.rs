//! `raddle search`: packages whose path, name or description matches.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;

use clap::Args;
use raddle_nix::text::escape;
use raddle_nix::text::regex::Regex;
use raddle_nix::walk::search::Root;
use raddle_nix::walk::{AttrPath, Filter, Match, Progress};
use raddle_nix::{Cx, Error};

use crate::highlight;
use crate::options::{Evaluation, Purity, Session};
use crate::output::{self, Failure};
use crate::progress;
use crate::source::{Installable, Source};

/// Arguments of `search`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  raddle search NIXPKGS editor              search a checkout of nixpkgs
  raddle search -f ./packages '^' --json    list everything, as JSON
  raddle search . python -e documentation   search the flake in this folder")]
pub(crate) struct Search {
    /// Search the set in FILE; all other arguments are regular expressions
    #[arg(short, long, value_name = "FILE")]
    file: Option<OsString>,
    /// Begin at this attribute path
    #[arg(short = 'A', long, value_name = "PATH", default_value = "")]
    attr: OsString,
    /// Regular expressions, all of which must match; without --file, first a flake or a path
    #[arg(value_name = "REGEX", required = true)]
    args: Vec<OsString>,
    /// Leave out what matches this regular expression
    #[arg(short, long, value_name = "REGEX", allow_hyphen_values = true)]
    exclude: Vec<OsString>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    evaluation: Evaluation,
}

/// Where to search.
enum Place {
    File(Source, AttrPath),
    Installable(Installable),
}

fn regexes(patterns: &[OsString]) -> Result<Vec<Regex>, Failure> {
    patterns
        .iter()
        .map(|pattern| Regex::new_ignore_case(pattern.as_bytes()).map_err(Failure::message))
        .collect()
}

impl Search {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        self.evaluation.color.choose();
        let (place, patterns) = match (&self.file, &self.args[..]) {
            (Some(file), patterns) => {
                let attr = AttrPath::parse(self.attr.as_bytes()).map_err(Failure::message)?;
                (Place::File(Source::file(file)?, attr), patterns)
            }
            (None, [_]) => {
                return Err(Failure::usage(
                    "a regular expression is missing; to list everything, use \
                     'raddle search PATH ^'",
                ));
            }
            (None, [installable, patterns @ ..]) => {
                (Place::Installable(Installable::parse(installable)?), patterns)
            }
            (None, []) => unreachable!("clap wants at least one argument"),
        };
        let filter = Filter { include: regexes(patterns)?, exclude: regexes(&self.exclude)? };
        let purity = match &place {
            Place::File(..) => Purity::Impure,
            Place::Installable(installable) => installable.purity(),
        };
        self.evaluation.with_session(purity, |session| self.search(session, &place, &filter))
    }

    fn search(&self, session: &Session, place: &Place, filter: &Filter) -> Result<(), Failure> {
        let progress = Progress::new(session.settings().workers);
        let line = || {
            let (seen, found) = progress.counts();
            let text = format!("{seen} attributes, {found} found, evaluating ");
            progress::Line { text, place: progress.current() }
        };
        let (matches, error) = progress::with_line(line, || {
            session.run(|cx| match roots(cx, session, place) {
                Ok(Ok(roots)) => {
                    let (matches, error) = cx.search(&roots, filter, &progress);
                    (matches, error.map(|error| session.failure(error)))
                }
                Ok(Err(failure)) => (Vec::new(), Some(failure)),
                Err(error) => (Vec::new(), Some(session.failure(error))),
            })
        })?;
        if self.json {
            return match error {
                None => output::write(&json(matches)?),
                Some(error) => Err(error),
            };
        }
        output::write(&human(&matches, filter, output::coloured_stdout()))?;
        match error {
            Some(error) => Err(error),
            None if matches.is_empty() => {
                Err(Failure::message("no results for the given search term(s)!"))
            }
            None => Ok(()),
        }
    }
}

/// Returns where the search starts.
fn roots(
    cx: &Cx<'_>,
    session: &Session,
    place: &Place,
) -> Result<Result<Vec<Root>, Failure>, Error> {
    let (source, attr) = match place {
        Place::File(source, attr) => (source.clone(), attr),
        Place::Installable(Installable::File(file, attr)) => (Source::File(file.clone()), attr),
        Place::Installable(Installable::Flake(flake)) => {
            let outputs = cx.flake(&flake.folder)?;
            let system = &session.settings().system;
            let defaults = [&["packages", "SYSTEM"][..], &["legacyPackages", "SYSTEM"]];
            let candidates = flake.candidates(system, &defaults);
            let mut roots = Vec::new();
            for path in &candidates {
                if let Some(value) = cx.at_attr_path(outputs, path)? {
                    roots.push(Root { path: path.clone(), value });
                }
            }
            if roots.is_empty() {
                return Ok(Err(flake.missing(&candidates)));
            }
            return Ok(Ok(roots));
        }
    };
    let root = source.evaluate(cx, session.base())?;
    let args = session.auto_args(cx)?;
    let value = cx.find_along_attr_path(root, attr, args)?;
    let value = cx.auto_call(args, value)?;
    Ok(Ok(vec![Root { path: attr.symbols(), value }]))
}

/// Returns one JSON object, sorted by path.
fn json(mut matches: Vec<Match>) -> Result<Vec<u8>, Failure> {
    matches.sort_by(|a, b| a.path.cmp(&b.path));
    let mut out = b"{".to_vec();
    for (i, found) in matches.iter().enumerate() {
        if i > 0 {
            out.push(b',');
        }
        let mut text = |before: &str, text: &[u8]| {
            out.extend_from_slice(before.as_bytes());
            escape::write_json_string(&mut out, text)
        };
        text("", &found.path)
            .and_then(|()| text(":{\"description\":", &found.description))
            .and_then(|()| text(",\"pname\":", found.pname))
            .and_then(|()| text(",\"version\":", found.version))
            .map_err(|error| {
                let path = String::from_utf8_lossy(&found.path);
                Failure::message(format_args!("cannot write '{path}' as JSON: {error}"))
            })?;
        out.push(b'}');
    }
    out.extend_from_slice(b"}\n");
    Ok(out)
}

/// Returns a block of one or two lines for each match, with empty lines between them.
fn human(matches: &[Match], filter: &Filter, colour: bool) -> Vec<u8> {
    const BOLD: &[u8] = b"\x1b[0;1m";
    const NORMAL: &[u8] = b"\x1b[0m";
    let mut out = Vec::new();
    let marked = |out: &mut Vec<u8>, text: &[u8], normal| {
        if colour {
            highlight::write(out, text, &filter.include, normal);
        } else {
            out.extend_from_slice(text);
        }
    };
    for (i, found) in matches.iter().enumerate() {
        if i > 0 {
            out.push(b'\n');
        }
        out.extend_from_slice(b"* ");
        if colour {
            out.extend_from_slice(BOLD);
        }
        marked(&mut out, &found.path, BOLD);
        if colour {
            out.extend_from_slice(NORMAL);
        }
        if !found.version.is_empty() {
            out.extend_from_slice(b" (");
            out.extend_from_slice(found.version);
            out.push(b')');
        }
        out.push(b'\n');
        if !found.description.is_empty() {
            out.extend_from_slice(b"  ");
            marked(&mut out, &found.description, NORMAL);
            out.push(b'\n');
        }
    }
    out
}
