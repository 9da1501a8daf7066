//! Hashes, store paths, derivations and archives of Nix.
