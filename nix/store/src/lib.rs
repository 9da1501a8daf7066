//! Hashes, store paths, derivations and archives of Nix.
//!
//! Everything an evaluator needs in order to name what it wants built, byte for byte as Nix does:
//!
//! - [`hash`]: digests and their four spellings (base 16, Nix base 32, base 64, SRI);
//! - [`path`]: the store directory, store paths and the rules that make them;
//! - [`derivation`]: the derivation term, its file format and its output paths;
//! - [`nar`]: the archive format in which file trees are hashed;
//! - [`context`]: which store objects a string refers to.
//!
//! Nothing here opens a store, talks to a daemon or knows the language: paths are computed, not
//! made. There is no global state.
//!
//! ```
//! use raddle_nix_store::{derivation::Draft, path::StoreDir};
//!
//! let store = StoreDir::default();
//! let mut draft = Draft::new("a");
//! draft.platform = b"x".into();
//! draft.builder = b"b".into();
//! for (name, value) in [("name", "a"), ("system", "x"), ("builder", "b")] {
//!     draft.env.insert(name.into(), value.into());
//! }
//! let finished = draft.finish(&store, |_| None)?;
//! assert_eq!(finished.drv_path.as_str(), "/nix/store/nnqh7675wghd0xmrywqm2yh9psrkk13q-a.drv");
//! assert_eq!(finished.output("out"), Some("/nix/store/mx735vk17fbgvrjr0zk0wqfylg1i1996-a"));
//! # Ok::<(), raddle_nix_store::derivation::DerivationError>(())
//! ```

pub mod base32;
pub mod context;
pub mod derivation;
pub mod hash;
pub mod nar;
pub mod path;
