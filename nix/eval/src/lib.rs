//! A parallel evaluator for the Nix language.
//!
//! An [`Evaluator`] holds what all workers share; [`Evaluator::run`] starts the first task, which
//! gets a [`Cx`] to evaluate with.
//!
//! ```text
//! files ── raddle_nix_syntax ──> tree ── compile ──> code ── eval ──> value ── print, walk
//!                                                             │ builtins ── raddle_nix_store
//! ```
//!
//! Not here: arguments, environment variables, the current directory, and printing to the user.

pub mod builtins;
mod compile;
pub mod eval;
mod evaluator;
mod files;
pub mod flake;
mod paths;
pub mod print;
pub mod settings;
mod stats;
pub mod text;
pub mod value;
pub mod walk;

pub use eval::{Cx, Error, ErrorKind};
pub use evaluator::Evaluator;
pub use settings::{SearchEntry, Settings};
pub use stats::Stats;
pub use value::{OutOfMemory, Value};
