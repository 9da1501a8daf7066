//! `raddle search`: packages whose path, name or description matches.

use clap::Args;
use raddle_nix::text::regex::Regex;
use raddle_nix::walk::search::Root;
use raddle_nix::walk::{Filter, Match, Progress};

use crate::options::{self, Evaluation};
use crate::output::{self, Failure};
use crate::progress;

/// Arguments of `search`.
#[derive(Debug, Args)]
pub(crate) struct Search {
    /// Search the set in FILE
    #[arg(short, long, value_name = "FILE")]
    file: Option<String>,
    /// [FLAKE] and regular expressions; all must match
    #[arg(value_name = "REGEX", required = true)]
    args: Vec<String>,
    /// Leave out what matches this regular expression
    #[arg(short, long, value_name = "REGEX")]
    exclude: Vec<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    evaluation: Evaluation,
}

fn regexes(patterns: &[String]) -> Result<Vec<Regex>, Failure> {
    patterns
        .iter()
        .map(|pattern| {
            Regex::new_ignore_case(pattern.as_bytes()).map_err(|error| {
                Failure::message(format_args!("invalid regular expression '{pattern}': {error}"))
            })
        })
        .collect()
}

impl Search {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        let Some(file) = &self.file else {
            return Err(Failure::message("flakes are not supported yet; use --file"));
        };
        let filter =
            Filter { include: regexes(&self.args)?, exclude: regexes(&self.exclude)? };
        let evaluator = self.evaluation.evaluator()?;
        let base = options::current_dir()?;
        let progress = Progress::new(evaluator.settings().workers);
        let line = || {
            let (seen, found) = progress.counts();
            format!("{seen} attributes, {found} found, evaluating {}", progress.current())
        };
        let (matches, error) = progress::with_line(true, line, || {
            evaluator.run(|cx| {
                let text = format!("import ({file})");
                match cx.eval_string(text.as_bytes(), &base) {
                    Ok(value) => cx.search(&[Root { path: vec![], value }], &filter, &progress),
                    Err(error) => (Vec::new(), Some(error)),
                }
            })
        });
        if let Some(error) = error {
            return Err(self.evaluation.failure(error));
        }
        if self.json { print_json(matches) } else { print_human(&matches) }
    }
}

fn print_json(mut matches: Vec<Match>) -> Result<(), Failure> {
    matches.sort_by(|a, b| a.path.cmp(&b.path));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let map: serde_json::Map<_, _> = matches
        .iter()
        .map(|m| {
            let value = serde_json::json!({
                "description": text(&m.description),
                "pname": text(m.pname),
                "version": text(m.version),
            });
            (text(&m.path), value)
        })
        .collect();
    let mut out = serde_json::Value::Object(map).to_string();
    out.push('\n');
    output::write(out.as_bytes())
}

fn print_human(matches: &[Match]) -> Result<(), Failure> {
    let mut out = Vec::new();
    for m in matches {
        out.extend_from_slice(b"* ");
        out.extend_from_slice(&m.path);
        out.push(b'\n');
    }
    output::write(&out)
}
