//! Naming store objects: sources, and files that evaluation writes.
//!
//! Nothing is copied or written: store paths are computed, and what they stand for is remembered
//! in [`StoreState`], so that evaluation can read it back and derivations can refer to it.
//!
//! Invariant: the same object has the same path, whoever names it first.

use std::borrow::Cow;
use std::collections::HashSet;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

use raddle::Wait;
use raddle::sync::OnceMap;
use raddle_nix_store::context::Element;
use raddle_nix_store::hash::{Algorithm, Hash, parse_allow_empty, sha256};
use raddle_nix_store::nar::{self, FileType, NarError};
use raddle_nix_store::path::{Method, StorePath};
use raddle_nix_syntax::{Pos, sym};

use super::by_path::ByPath;
use super::file_system::{FileSystem, Links, base_name, does_not_exist, lossy};
use super::known_derivations::KnownDerivation;
use super::search_path::SearchPlace;
use crate::eval::{Cx, Error, ErrorKind, Result, Trace};
use crate::value::{Context, PrimOp, Str, Value};

pub(super) const PRIMOPS: &[PrimOp] = &[
    PrimOp::new("toFile", 2, to_file),
    PrimOp::new("storePath", 1, store_path),
    PrimOp::new("path", 1, path),
    PrimOp::new("filterSource", 2, filter_source),
];

/// What evaluation knows about the store and the disk.
#[derive(Debug, Default)]
pub struct StoreState {
    pub(super) file_system: FileSystem,
    /// Where in the store a path goes when a string is made of it.
    copies: OnceMap<Box<[u8]>, Str>,
    /// The objects that this evaluation named, by store path.
    pub(super) objects: ByPath<Object>,
    /// The derivations met so far, by the path of their file.
    pub(super) derivations: ByPath<Arc<KnownDerivation>>,
    /// Where the entries of search paths are.
    pub(super) search_entries: ByPath<SearchPlace>,
}

/// What a store path that was only computed stands for.
#[derive(Debug, Clone)]
pub(super) enum Object {
    /// A file or tree somewhere else.
    Source {
        /// Where.
        root: Arc<[u8]>,
        /// The paths below `root`, each with a slash before it, that a filter let through.
        only: Option<Arc<HashSet<Box<[u8]>>>>,
    },
    /// A file in memory, with what it refers to as its context.
    Text(Str),
}

/// Why a value was not made.
enum Failure {
    /// Waiting for whoever makes it would never end.
    Circle,
    Error(Error),
}

impl From<Wait> for Failure {
    fn from(_: Wait) -> Failure {
        Failure::Circle
    }
}

impl Cx<'_> {
    /// Returns the store path of the file or tree at a path, as a string that refers to it.
    pub(crate) fn copy_to_store(&self, path: &[u8], pos: Pos) -> Result<Str> {
        let copies = &self.evaluator.store.copies;
        let copied = copies.get_or_try_init(self.task, &Box::from(path), || {
            self.copy_new(path).map_err(Failure::Error)
        });
        match copied {
            Ok(copied) => Ok(*copied),
            Err(Failure::Error(error)) => Err(error.at(pos)),
            Err(Failure::Circle) => unreachable!("no value is evaluated while a file is copied"),
        }
    }

    fn copy_new(&self, path: &[u8]) -> Result<Str> {
        if path.ends_with(b".drv") {
            return Err(other("file names are not allowed to end in '.drv'"));
        }
        let place = self.follow(path.into(), Links::Ancestors)?;
        let source = Source { name: base_name(path), method: Method::Recursive, filter: None };
        let store_path = self.source_path(&place, source)?.0;
        Ok(self.store_path_string(&store_path))
    }

    /// Returns a store path as a string that refers to it.
    pub(crate) fn store_path_string(&self, path: &StorePath) -> Str {
        let context = Context::single(self.heap(), &Element::Opaque(path.clone()));
        Str::with_context(self.heap(), path.as_bytes(), context)
    }

    /// Returns whether a path is at or below a store path that this evaluation computed.
    pub(super) fn is_made_here(&self, path: &[u8]) -> bool {
        let store_dir = &self.evaluator.settings.store_dir;
        let Ok((object, _)) = store_dir.split(path) else { return false };
        let store = &self.evaluator.store;
        store.objects.get(object.as_bytes()).is_some()
            || store.derivations.get(object.as_bytes()).is_some()
    }

    /// Returns whether a store object exists, or was named by this evaluation.
    pub(super) fn is_valid(&self, path: &StorePath) -> bool {
        self.is_made_here(path.as_bytes()) || is_in_store(path)
    }

    /// Hashes the file or tree at a path without links in its folders.
    fn source_path(&self, place: &[u8], source: Source<'_>) -> Result<(StorePath, Hash)> {
        let Source { name, method, filter } = source;
        let file_type = self.existing_file_type(place)?;
        let Some(root) = self.on_disk(place) else {
            // A file in memory.
            let contents = self.file_contents(place)?;
            let hash = match method {
                Method::Flat => Hash::of(Algorithm::Sha256, &contents),
                _ => nar::hash_contents(&contents, false, Algorithm::Sha256),
            };
            let path = self.fixed_path(name, method, &hash)?;
            let text = Str::new(self.heap(), &contents);
            self.evaluator.store.objects.insert(path.as_bytes(), Object::Text(text));
            return Ok((path, hash));
        };
        let mut only = None;
        let hash = match (method, filter) {
            (Method::Flat, _) if file_type != FileType::Regular => {
                return Err(other(format!("'{}' is not a regular file", lossy(place))));
            }
            (Method::Flat, _) => nar::hash_file(crate::paths::os(&root), Algorithm::Sha256)
                .map_err(|error| nar_error(place, error))?,
            (_, None) => nar::hash_whole_path(crate::paths::os(&root), Algorithm::Sha256)
                .map_err(|error| nar_error(place, error))?,
            (_, Some(filter)) => {
                let mut kept = HashSet::new();
                let hash = self.hash_filtered(place, &root, filter, &mut kept)?;
                only = Some(Arc::new(kept));
                hash
            }
        };
        let path = self.fixed_path(name, method, &hash)?;
        let object = Object::Source { root: root.as_ref().into(), only };
        self.evaluator.store.objects.insert(path.as_bytes(), object);
        Ok((path, hash))
    }

    fn fixed_path(&self, name: &[u8], method: Method, hash: &Hash) -> Result<StorePath> {
        let name =
            raddle_nix_store::path::check_name(name).map_err(|error| other(error.to_string()))?;
        self.evaluator
            .settings
            .store_dir
            .fixed_output_path(name, method, hash)
            .map_err(|error| other(error.to_string()))
    }

    fn hash_filtered(
        &self,
        place: &[u8],
        root: &[u8],
        filter: Value,
        kept: &mut HashSet<Box<[u8]>>,
    ) -> Result<Hash> {
        let mut keep = |path: &std::path::Path, file_type: FileType| {
            let below = &path.as_os_str().as_bytes()[root.len().min(path.as_os_str().len())..];
            let seen_as = [place, below].concat();
            let args = [self.string(seen_as), self.type_name(file_type)];
            let text = "while evaluating the return value of the path filter function";
            let keep = self.call_bool(filter, &args, Pos::NONE, text).map_err(Dump::Eval)?;
            if keep {
                kept.insert(below.into());
            }
            Ok(keep)
        };
        nar::hash_path(crate::paths::os(root), Algorithm::Sha256, &mut keep).map_err(|error| {
            match error {
                Dump::Eval(error) => error,
                Dump::Nar(error) => nar_error(place, error),
            }
        })
    }

    /// Adds a source for `path` and `filterSource`.
    fn add_path(
        &self,
        path: Vec<u8>,
        context: Context,
        source: Source<'_>,
        expected: Option<Hash>,
    ) -> Result<Value> {
        let text = format!("while adding path '{}'", lossy(&path));
        let add = || {
            let Source { name, method, .. } = source;
            if self.evaluator.settings.store_dir.contains(&path) {
                self.realise(context)?;
            }
            let expected = match expected {
                None => None,
                Some(hash) => {
                    let path = self.fixed_path(name, method, &hash)?;
                    if is_in_store(&path) {
                        return Ok(self.store_path_string(&path).into());
                    }
                    Some(path)
                }
            };
            let place = self.follow(Cow::Borrowed(&path), Links::All)?;
            let (store_path, _) = self.source_path(&place, source)?;
            if expected.is_some_and(|expected| expected != store_path) {
                return Err(other(format!(
                    "store path mismatch in (possibly filtered) path added from '{}'",
                    lossy(&path)
                )));
            }
            Ok(self.store_path_string(&store_path).into())
        };
        add().trace(Pos::NONE, || text)
    }
}

/// Returns whether a store object lies on the disk.
pub(super) fn is_in_store(path: &StorePath) -> bool {
    std::fs::symlink_metadata(path.as_str()).is_ok()
}

/// How a tree becomes a store object.
#[derive(Clone, Copy)]
struct Source<'n> {
    name: &'n [u8],
    method: Method,
    filter: Option<Value>,
}

enum Dump {
    Nar(NarError),
    Eval(Error),
}

impl From<NarError> for Dump {
    fn from(error: NarError) -> Dump {
        Dump::Nar(error)
    }
}

#[cold]
fn nar_error(place: &[u8], error: NarError) -> Error {
    match error {
        NarError::File { error, .. } if error.kind() == std::io::ErrorKind::NotFound => {
            does_not_exist(place)
        }
        error => other(error.to_string()),
    }
}

#[cold]
fn other(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Other, Pos::NONE, message)
}

fn to_file(cx: &Cx<'_>, args: &[Value], _: Pos) -> Result<Value> {
    let text = "while evaluating the first argument passed to builtins.toFile";
    let name = cx.force_plain_string(args[0], Pos::NONE, text)?;
    let text = "while evaluating the second argument passed to builtins.toFile";
    let contents = cx.force_string(args[1], Pos::NONE, text)?;
    let mut references = Vec::new();
    for element in contents.context().elements() {
        let Element::Opaque(path) = element else {
            return Err(other(format!(
                "files created by builtins.toFile may not reference derivations, but {} references {element}",
                lossy(name)
            )));
        };
        references.push(path);
    }
    let name =
        raddle_nix_store::path::check_name(name).map_err(|error| other(error.to_string()))?;
    let path = cx
        .evaluator
        .settings
        .store_dir
        .text_path(name, &sha256(&[contents.as_bytes()]), references)
        .map_err(|error| other(error.to_string()))?;
    cx.evaluator.store.objects.insert(path.as_bytes(), Object::Text(contents));
    Ok(cx.store_path_string(&path).into())
}

fn store_path(cx: &Cx<'_>, args: &[Value], _: Pos) -> Result<Value> {
    if cx.evaluator.settings.pure {
        return Err(other("'builtins.storePath' is not allowed in pure evaluation mode"));
    }
    let text = "while evaluating the first argument passed to 'builtins.storePath'";
    let (mut path, context) = cx.coerce_to_path(args[0], Pos::NONE, text)?;
    let store_dir = &cx.evaluator.settings.store_dir;
    if !store_dir.is_store_path(&path) {
        path = cx.follow(path.into(), Links::All)?.into_owned();
    }
    if !store_dir.contains(&path) {
        return Err(other(format!("path '{}' is not in the Nix store", lossy(&path))));
    }
    let (object, _) = store_dir.split(&path).map_err(|error| other(error.to_string()))?;
    let own = Context::single(cx.heap(), &Element::Opaque(object));
    Ok(cx.string_with(path, context.union(cx.heap(), own)))
}

fn filter_source(cx: &Cx<'_>, args: &[Value], _: Pos) -> Result<Value> {
    let text = "while evaluating the second argument (the path to filter) passed to \
                'builtins.filterSource'";
    let (path, context) = cx.coerce_to_path(args[1], Pos::NONE, text)?;
    let text = "while evaluating the first argument passed to builtins.filterSource";
    let filter = Some(cx.force_function(args[0], Pos::NONE, text)?);
    let name = base_name(&path).to_owned();
    cx.add_path(path, context, Source { name: &name, method: Method::Recursive, filter }, None)
}

fn path(cx: &Cx<'_>, args: &[Value], _: Pos) -> Result<Value> {
    let text = "while evaluating the argument passed to 'builtins.path'";
    let attrs = cx.force_attrs(args[0], Pos::NONE, text)?;
    let mut path = None;
    let mut name: &[u8] = b"";
    let mut filter = None;
    let mut method = Method::Recursive;
    let mut expected = None;
    for attr in attrs.sorted(cx.heap()) {
        let value = attr.value();
        match attr.name {
            sym::PATH => {
                let text = "while evaluating the 'path' attribute passed to 'builtins.path'";
                path = Some(cx.coerce_to_path(value, attr.pos, text)?);
            }
            sym::NAME => {
                let text = "while evaluating the `name` attribute passed to builtins.path";
                name = cx.force_plain_string(value, attr.pos, text)?;
            }
            sym::FILTER => {
                let text = "while evaluating the `filter` parameter passed to builtins.path";
                filter = Some(cx.force_function(value, attr.pos, text)?);
            }
            sym::RECURSIVE => {
                let text = "while evaluating the `recursive` attribute passed to builtins.path";
                let recursive = cx.force_bool(value, attr.pos, text)?;
                method = if recursive { Method::Recursive } else { Method::Flat };
            }
            sym::SHA256 => {
                let text = "while evaluating the `sha256` attribute passed to builtins.path";
                let hash = cx.force_plain_string(value, attr.pos, text)?;
                expected = Some(cx.expected_hash(hash, attr.pos)?);
            }
            name => {
                let message = format!("unsupported argument '{name}' to 'builtins.path'");
                return Err(Error::new(ErrorKind::Other, attr.pos, message));
            }
        }
    }
    let Some((path, context)) = path else {
        return Err(other(
            "missing required 'path' attribute in the first argument to 'builtins.path'",
        ));
    };
    let name = if name.is_empty() { base_name(&path) } else { name }.to_owned();
    cx.add_path(path, context, Source { name: &name, method, filter }, expected)
}

impl Cx<'_> {
    /// Reads a SHA-256 hash that contents are expected to have.
    pub(super) fn expected_hash(&self, text: &[u8], pos: Pos) -> Result<Hash> {
        let read = parse_allow_empty(text, Some(Algorithm::Sha256))
            .map_err(|error| Error::new(ErrorKind::Other, pos, error.to_string()))?;
        if let Some(warning) = read.warning() {
            self.emit(format!("warning: {warning}"));
        }
        Ok(read.hash())
    }
}
