//! Nix source text to tree.
//!
//! [`parse`] turns the bytes of one [`Source`] into an [`ast`] in an arena; names become
//! [`Symbol`]s and places become [`Pos`]itions that [`source`] can turn back into file, line and
//! column. Any byte sequence is either parsed or rejected with a [`SyntaxError`]; no tree is
//! deeper than [`MAX_DEPTH`], so whoever walks one may recurse.
//!
//! ```
//! use bumpalo::Bump;
//! use raddle_nix_syntax::{Options, Origin, Source, parse, print};
//!
//! let source = Source::add(Origin::String, b"x: x.y or 1 + 2".to_vec())?;
//! let arena = Bump::new();
//! let tree = parse(&arena, source, &Options::default())?;
//! assert_eq!(print::source(tree), b"x: x.y or 1 + 2");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Not here: scopes (which variable means what is the evaluator's compile stage), values, files.

pub mod ast;
mod error;
mod lexer;
mod parser;
pub mod print;
pub mod source;
mod symbol;

pub use error::{SyntaxError, Warning};
pub use parser::{Lint, MAX_DEPTH, Options, parse};
pub use source::{Location, Origin, Pos, Source, SourceTooLarge};
pub use symbol::{Symbol, sym};
