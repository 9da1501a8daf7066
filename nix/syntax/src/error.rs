//! What a text is rejected for, or warned about.

use std::fmt::Write as _;

use crate::Pos;

/// Why a text is not Nix.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SyntaxError {
    /// Where.
    pub pos: Pos,
    /// What is wrong, without the position.
    pub message: String,
}

impl SyntaxError {
    /// Returns the error as a terminal shows it, with the place and the lines around it.
    pub fn render(&self) -> String {
        render("error: ", &self.message, self.pos)
    }
}

/// Something legal that should be written otherwise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// Where.
    pub pos: Pos,
    /// What and why, without the position.
    pub message: String,
    /// Whether the place is shown in front of the message, and no lines with it.
    pub place_first: bool,
}

impl Warning {
    /// Returns the warning as a terminal shows it.
    pub fn render(&self) -> String {
        match self.pos.locate() {
            Some(place) if self.place_first => format!("warning: at {place}: {}", self.message),
            _ => render("warning: ", &self.message, self.pos),
        }
    }
}

/// Writes a message and its snippet, all lines but the first indented by the width of `label`.
fn render(label: &str, message: &str, pos: Pos) -> String {
    let mut out = String::from(label);
    let snippet = pos.locate().map(|place| place.snippet());
    for (index, line) in message.lines().chain(snippet.iter().flat_map(|s| s.lines())).enumerate() {
        if index > 0 {
            let _ = write!(out, "\n{:1$}", "", label.len());
        }
        out.push_str(line);
    }
    out
}
