//! Text algorithms of the language that know nothing of its values.
//!
//! Everything here works on bytes, is pure, keeps no global state and never recurses on the
//! length of its input. What the builtins do with the results is elsewhere.

pub mod escape;
pub mod json;
pub mod number;
pub mod regex;
pub mod replace;
pub mod sink;
pub mod suggest;
pub mod toml;
pub mod version;

mod json_lexer;
mod regex_bracket;
mod regex_facts;
mod regex_parse;
mod regex_solve;

#[cfg(test)]
mod regex_tests;
