//! Errors as the user sees them: the trace, outermost frame first, then the cause.
//!
//! ```text
//! error:
//!        … while calling the 'throw' builtin
//!          at /etc/example.nix:2:3:
//!             1| {
//!             2|   throw "no"
//!              |   ^
//!             3| }
//!
//!        error: no
//! ```
//!
//! Without `show_trace` only the first few frames are shown, and those that are always shown.
//! A frame that was shown already is left out, unless only a few in a row were.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt::Write as _;

use raddle_nix_syntax::Pos;

use crate::eval::{Error, ErrorKind, Frame};

/// Without `show_trace`, frames are shown until their count (twice for those with a position)
/// exceeds this.
const SHORT_TRACE: usize = 3;
/// Up to this many repeated frames in a row are shown nevertheless.
const FEW: usize = 5;

/// Longer texts, in bytes, are cut.
const LONG: usize = 4000;
/// What is left at the end of such a text, where it often says what is wrong.
const TAIL: usize = 500;

const TRUNCATED: &str =
    "(stack trace truncated; use '--show-trace' to show the full, detailed trace)";

const NORMAL: &str = "\x1b[0m";
const BLUE: &str = "\x1b[34;1m";
const RED: &str = "\x1b[31;1m";
const WARNING: &str = "\x1b[35;1m";

/// How [`report`] shows an error.
#[derive(Debug, Clone)]
pub struct ReportOptions {
    /// Whether all frames are shown.
    pub show_trace: bool,
    /// Whether terminal colours are used.
    pub colour: bool,
    /// What the text begins with, without the colon.
    pub label: &'static str,
}

impl Default for ReportOptions {
    fn default() -> ReportOptions {
        ReportOptions { show_trace: false, colour: false, label: "error" }
    }
}

/// Returns an error with its trace as a terminal shows it, without a final line end.
pub fn report(error: Error, options: &ReportOptions) -> String {
    let mut report = Report { text: String::new(), options };
    let prefix = format!("{}: ", report.paint(RED, options.label));
    if report.trace(error) {
        report.text.push('\n');
        report.text.push_str(&prefix);
    }
    let cause = error.cause();
    // The program's own words are shown in full, names that it made up are not.
    report.text.push_str(&match cause.kind {
        ErrorKind::Thrown | ErrorKind::Abort => cause.message.as_str().into(),
        _ => cut(&cause.message),
    });
    report.text.push('\n');
    report.position("", cause.pos);
    report.text.push_str(&cause.hint);
    let text = indented(&prefix, options.label.len() + 2, report.text.trim_end());
    // Programs colour their own messages; without colours these are taken out as well.
    if options.colour { text } else { anstream::adapter::strip_str(&text).to_string() }
}

struct Report<'a> {
    text: String,
    options: &'a ReportOptions,
}

impl Report<'_> {
    /// Writes the frames; returns whether there are any.
    fn trace(&mut self, error: Error) -> bool {
        let mut shown: HashSet<(Pos, &str)> = HashSet::new();
        let mut repeated: Vec<&Frame> = Vec::new();
        let mut count = 0;
        let mut any = false;
        let mut truncated = false;
        for frame in error.frames() {
            any = true;
            if frame.text.is_empty() {
                continue;
            }
            truncated |= !self.options.show_trace && count > SHORT_TRACE;
            if truncated && !frame.always {
                continue;
            }
            if !shown.insert((frame.pos, &frame.text)) {
                repeated.push(frame);
                continue;
            }
            self.repeated(&mut repeated, &mut count);
            self.frame(frame, &mut count);
        }
        self.repeated(&mut repeated, &mut count);
        if truncated {
            let note = self.paint(WARNING, TRUNCATED);
            let _ = write!(self.text, "\n{note}\n");
        }
        any
    }

    /// Writes frames that were shown before, or how many there are.
    fn repeated(&mut self, frames: &mut Vec<&Frame>, count: &mut usize) {
        if frames.len() > FEW {
            let note = format!("({} duplicate frames omitted)", frames.len());
            let note = self.paint(WARNING, &note);
            let _ = write!(self.text, "\n{note}\n");
        } else {
            for frame in frames.iter() {
                self.frame(frame, count);
            }
        }
        frames.clear();
    }

    fn frame(&mut self, frame: &Frame, count: &mut usize) {
        let text = if frame.always { frame.text.as_str().into() } else { cut(&frame.text) };
        let _ = write!(self.text, "\n… {text}\n");
        *count += 1 + usize::from(self.position("  ", frame.pos));
    }

    /// Writes where something is and the lines around it; returns whether that is known.
    fn position(&mut self, indent: &str, pos: Pos) -> bool {
        let Some(location) = pos.locate() else { return false };
        let snippet = location.snippet();
        let (place, lines) = snippet.split_once('\n').unwrap_or((&snippet, ""));
        self.text.push_str(indent);
        if !self.options.colour {
            self.text.push_str(place);
        } else {
            let _ = write!(self.text, "{BLUE}at {WARNING}{location}{NORMAL}:");
        }
        for line in lines.lines() {
            self.text.push('\n');
            match line.trim_start().strip_prefix('|').map(str::trim_start) {
                Some("^") if self.options.colour => {
                    let _ = write!(self.text, "{}{RED}^{NORMAL}", &line[..line.len() - 1]);
                }
                _ => self.text.push_str(line),
            }
        }
        self.text.push('\n');
        true
    }

    fn paint(&self, colour: &str, text: &str) -> String {
        if self.options.colour { format!("{colour}{text}{NORMAL}") } else { text.to_owned() }
    }
}

/// Returns a text without what nobody would read.
fn cut(text: &str) -> Cow<'_, str> {
    if text.len() <= LONG {
        return text.into();
    }
    let start = text.floor_char_boundary(LONG - TAIL);
    let end = text.ceil_char_boundary(text.len() - TAIL);
    format!("{}…{}", &text[..start], &text[end..]).into()
}

/// Puts `prefix` before the first line and blanks before the others, without any at line ends.
fn indented(prefix: &str, width: usize, text: &str) -> String {
    let mut out = String::with_capacity(text.len() * 2);
    for (i, line) in text.split('\n').enumerate() {
        if i == 0 {
            out.push_str(prefix);
        } else {
            let _ = write!(out, "\n{:width$}", "");
        }
        out.push_str(line);
        out.truncate(out.trim_end_matches([' ', '\t', '\r']).len());
    }
    out
}
