//! Whole commands: arguments in, output and exit code out.

#![cfg(unix)]

mod bad_input;
mod environment;
mod eval;
mod flakes;
mod instantiate;
mod output;
mod search;
mod support;
