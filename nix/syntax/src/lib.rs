//! Nix source text to tree.
//!
//! [`parse`](parser) turns the bytes of one file into an [`ast`] in an arena; names become
//! [`Symbol`]s and places become [`Pos`]itions that [`source`] can turn back into file, line and
//! column. Any byte sequence is either parsed or rejected with a [`SyntaxError`].
//!
//! Not here: scopes (which variable means what is the evaluator's compile stage), values, files.

pub mod ast;
