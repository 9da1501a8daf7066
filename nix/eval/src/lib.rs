//! A parallel evaluator for the Nix language.
