//! Checks of the source tree itself; nothing else uses this crate.
//!
//! `tests/tidy.rs` has the rules about crates and files. The examples in Rust of the README are
//! documentation tests of this crate; its commands are run by `.ci/readme`.

#![cfg_attr(doctest, doc = include_str!("../../README.md"))]
