//! What evaluation sees of the disk.
//!
//! Types of files, listings and resolved folders are asked for once in a run. Store objects that
//! evaluation itself named are seen at their store path although nothing was copied: a source lies
//! where it came from, a file that `toFile` wrote is in memory. In pure and restricted mode only
//! what is allowed is seen.
//!
//! Invariant: all paths here are absolute and canonical.
//!
//! Not here: what builtins do with files, and how store paths come about.

use std::borrow::Cow;
use std::io::{self, Read};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::sync::OnceLock;

use parking_lot::RwLock;
use raddle_nix_store::nar::FileType;
use raddle_nix_syntax::{Pos, Symbol};

use super::by_path::ByPath;
use super::store::Object;
use crate::eval::{Cx, Error, ErrorKind, Result};
use crate::paths;
use crate::value::{Attrs, AttrsBuilder, Str, Value, View};

/// Devices and pipes are read up to this many bytes.
const ENDLESS: u64 = 1 << 27;
/// A path that leads through more symbolic links than this is taken to lead nowhere.
const MAX_LINKS: usize = 1024;

/// What has been asked of the disk so far.
#[derive(Debug, Default)]
pub(super) struct FileSystem {
    /// The type of the file at a path, if there is one; links are not followed.
    types: ByPath<Option<FileType>>,
    /// What `readDir` returns for a folder.
    listings: ByPath<Value>,
    /// Where a folder really is.
    folders: ByPath<&'static [u8]>,
    /// What may be read in restricted mode, besides the search path.
    allowed: RwLock<Vec<Box<[u8]>>>,
    search_path: OnceLock<Vec<Vec<u8>>>,
    /// The strings `readFileType` returns.
    type_names: OnceLock<[Value; 4]>,
}

/// Which symbolic links in a path are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Links {
    /// None.
    Keep,
    /// All but a last component that is one.
    Ancestors,
    /// All.
    All,
}

/// Where the bytes of a file are.
enum Place<'p> {
    Disk(Cow<'p, [u8]>),
    Memory(Str),
    Nowhere,
}

impl Cx<'_> {
    fn files(&self) -> &FileSystem {
        &self.evaluator.store.file_system
    }

    fn place<'p>(&self, path: &'p [u8]) -> Place<'p> {
        let store_dir = &self.evaluator.settings.store_dir;
        if !store_dir.contains(path) {
            return Place::Disk(path.into());
        }
        let len = store_dir.as_str().len() + 1;
        let end = memchr::memchr(b'/', &path[len..]).map_or(path.len(), |end| len + end);
        let (object, rest) = path.split_at(end);
        match self.evaluator.store.objects.get(object) {
            None => Place::Disk(path.into()),
            Some(Object::Text(text)) if rest.is_empty() => Place::Memory(text),
            Some(Object::Text(_)) => Place::Nowhere,
            Some(Object::Source { root, only }) => match only {
                Some(only) if !rest.is_empty() && !only.contains(rest) => Place::Nowhere,
                _ => Place::Disk([&root, rest].concat().into()),
            },
        }
    }

    /// Returns the type of a file, if it exists and may be seen. Links are not followed.
    pub(super) fn file_type(&self, path: &[u8]) -> Result<Option<FileType>> {
        if !self.may_see(path) {
            return Ok(None);
        }
        if let Some(known) = self.files().types.get(path) {
            return Ok(known);
        }
        let file_type = match self.place(path) {
            Place::Memory(_) => Some(FileType::Regular),
            Place::Nowhere => return Ok(None),
            Place::Disk(real) => match std::fs::symlink_metadata(paths::os(&real)) {
                Ok(metadata) => Some(metadata.file_type().into()),
                Err(error) if is_absent(&error) => None,
                Err(error) => return Err(io_error("getting status of", path, &error)),
            },
        };
        // What is in the store may still come into being.
        if file_type.is_some() || !self.evaluator.settings.store_dir.contains(path) {
            self.files().types.insert(path, file_type);
        }
        Ok(file_type)
    }

    /// Returns the type of a file that must exist.
    pub(super) fn existing_file_type(&self, path: &[u8]) -> Result<FileType> {
        self.check_access(path)?;
        self.file_type(path)?.ok_or_else(|| does_not_exist(path))
    }

    /// Follows symbolic links. A path may lead to nothing.
    pub(super) fn follow<'p>(&self, path: Cow<'p, [u8]>, links: Links) -> Result<Cow<'p, [u8]>> {
        if links == Links::Keep || *path == *b"/" {
            return Ok(path);
        }
        let parent = paths::parent(&path);
        let folder = self.folder(parent)?;
        let path = if folder == parent {
            path
        } else {
            let name = &path[path.len() - base_name(&path).len()..];
            Cow::Owned(paths::join(folder, name))
        };
        if links == Links::All && self.file_type(&path)? == Some(FileType::Symlink) {
            return Ok(Cow::Owned(self.follow_all(&path)?));
        }
        Ok(path)
    }

    /// Returns where a folder really is.
    fn folder(&self, path: &[u8]) -> Result<&'static [u8]> {
        if let Some(known) = self.files().folders.get(path) {
            return Ok(known);
        }
        let real: &'static [u8] = self.follow_all(path)?.leak();
        self.files().folders.insert(path, real);
        Ok(real)
    }

    /// Returns what a symbolic link says.
    fn link_target(&self, link: &[u8]) -> Result<Vec<u8>> {
        let Place::Disk(place) = self.place(link) else { return Err(does_not_exist(link)) };
        match std::fs::read_link(paths::os(&place)) {
            Ok(target) => Ok(target.into_os_string().into_vec()),
            Err(error) => Err(io_error("reading symbolic link", link, &error)),
        }
    }

    fn follow_all(&self, path: &[u8]) -> Result<Vec<u8>> {
        let mut links = 0;
        let mut real = Vec::new();
        let mut open: Vec<Vec<u8>> = vec![path.to_vec()];
        while let Some(rest) = open.pop() {
            let (component, rest) = match memchr::memchr(b'/', &rest) {
                Some(slash) => (&rest[..slash], Some(rest[slash + 1..].to_vec())),
                None => (&rest[..], None),
            };
            open.extend(rest);
            match component {
                b"" | b"." => continue,
                b".." => {
                    real.truncate(paths::parent(&real).len());
                    if real == b"/" {
                        real.clear();
                    }
                    continue;
                }
                name => {
                    real.push(b'/');
                    real.extend_from_slice(name);
                }
            }
            if self.file_type(&real)? != Some(FileType::Symlink) {
                continue;
            }
            links += 1;
            if links > MAX_LINKS {
                let message = format!("infinite symlink recursion in path '{}'", lossy(path));
                return Err(Error::new(ErrorKind::Other, Pos::NONE, message));
            }
            let target = self.link_target(&real)?;
            if target.first() == Some(&b'/') {
                real.clear();
            } else {
                let parent = paths::parent(&real).len();
                real.truncate(if parent == 1 { 0 } else { parent });
            }
            open.push(target);
        }
        if real.is_empty() {
            real.push(b'/');
        }
        Ok(real)
    }

    /// Returns the path of the file of expressions that a path stands for: links that are the last
    /// component are followed, so that relative paths in the file mean what they say, and a folder
    /// stands for its `default.nix`.
    pub(crate) fn expression_file(&self, path: &[u8]) -> Result<Vec<u8>> {
        let mut path = path.to_vec();
        for _ in 0..MAX_LINKS {
            let place = self.follow((&path[..]).into(), Links::Ancestors)?;
            match self.existing_file_type(&place)? {
                FileType::Symlink => {
                    let target = self.link_target(&place)?;
                    path = paths::join(paths::parent(&path), &target);
                }
                FileType::Directory => return Ok(paths::join(&path, b"default.nix")),
                _ => return Ok(path),
            }
        }
        let message = format!(
            "too many symbolic links encountered while traversing the path '{}'",
            lossy(&path)
        );
        Err(Error::new(ErrorKind::Other, Pos::NONE, message))
    }

    /// Returns the contents of a file of expressions.
    pub(crate) fn expression_text(&self, path: &[u8]) -> Result<Vec<u8>> {
        let real = self.follow(path.into(), Links::All)?;
        self.file_contents(&real)
    }

    /// Returns the contents of the file at a path without links.
    pub(crate) fn file_contents(&self, path: &[u8]) -> Result<Vec<u8>> {
        self.check_access(path)?;
        let real = match self.place(path) {
            Place::Disk(real) => real,
            Place::Memory(text) => return Ok(text.as_bytes().to_vec()),
            Place::Nowhere => return Err(does_not_exist(path)),
        };
        read(paths::os(&real)).map_err(|error| match error.kind() {
            _ if is_absent(&error) => does_not_exist(path),
            io::ErrorKind::IsADirectory => io_error("reading from file", path, &error),
            _ => io_error("opening file", path, &error),
        })
    }

    /// Returns where a file or tree lies on the disk, for hashing it.
    pub(super) fn on_disk<'p>(&self, path: &'p [u8]) -> Option<Cow<'p, [u8]>> {
        match self.place(path) {
            Place::Disk(real) => Some(real),
            _ => None,
        }
    }

    /// Returns a set of the names in a folder, at a path without links, and their types.
    pub(super) fn listing(&self, path: &[u8]) -> Result<Value> {
        if let Some(known) = self.files().listings.get(path) {
            return Ok(known);
        }
        let limited = self.is_limited();
        match self.existing_file_type(path)? {
            FileType::Directory => {}
            _ => {
                let message = format!("'{}' is not a directory", lossy(path));
                return Err(Error::new(ErrorKind::Other, Pos::NONE, message));
            }
        }
        let Place::Disk(real) = self.place(path) else { return Err(does_not_exist(path)) };
        let failed = |error: io::Error| io_error("opening directory", path, &error);
        let in_store = self.evaluator.settings.store_dir.contains(path);
        let mut names = AttrsBuilder::default();
        for entry in std::fs::read_dir(paths::os(&real)).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let name = entry.file_name();
            let file_type = FileType::from(entry.file_type().map_err(failed)?);
            if limited || in_store {
                let path = paths::join(path, name.as_bytes());
                if self.file_type(&path)?.is_none() {
                    continue;
                }
            }
            let symbol = Symbol::intern(name.as_bytes());
            names.push(symbol, Pos::NONE, self.type_name(file_type));
        }
        let listing = self.set(names);
        if !limited {
            self.files().listings.insert(path, listing);
        }
        Ok(listing)
    }

    /// Returns the string that names a type.
    pub(super) fn type_name(&self, file_type: FileType) -> Value {
        let names = self.files().type_names.get_or_init(|| {
            [FileType::Regular, FileType::Directory, FileType::Symlink, FileType::Unknown]
                .map(|file_type| self.string(file_type.name()))
        });
        names[match file_type {
            FileType::Regular => 0,
            FileType::Directory => 1,
            FileType::Symlink => 2,
            FileType::Unknown => 3,
        }]
    }

    /// Returns whether a path without links exists, if its folder was listed before.
    pub(super) fn listed(&self, path: &[u8]) -> Option<bool> {
        let listing = self.files().listings.get(paths::parent(path))?;
        let View::Attrs(names) = listing.view() else { return None };
        let name = Symbol::lookup(base_name(path));
        Some(name.is_some_and(|name| Attrs::get(names, name).is_some()))
    }

    /// Returns whether not everything may be read.
    fn is_limited(&self) -> bool {
        let settings = &self.evaluator.settings;
        settings.pure || settings.restricted
    }

    /// Lets evaluation read a path and all below it in pure and restricted mode.
    pub(crate) fn allow_path(&self, path: &[u8]) {
        if self.is_limited() {
            self.files().allowed.write().push(path.into());
        }
    }

    fn may_see(&self, path: &[u8]) -> bool {
        !self.is_limited() || self.is_allowed(path)
    }

    /// Returns whether a path is one that is allowed, below one, or on the way to one.
    fn is_allowed(&self, path: &[u8]) -> bool {
        let related = |allowed: &[u8]| is_below(path, allowed) || is_below(allowed, path);
        let settings = &self.evaluator.settings;
        let search_path = self.files().search_path.get_or_init(|| {
            let entries = if settings.pure { &[][..] } else { &settings.search_path };
            entries.iter().filter_map(|entry| super::search_path::absolute(&entry.path)).collect()
        });
        search_path.iter().any(|allowed| related(allowed))
            || crate::files::is_internal(path)
            || self.is_made_here(path)
            || self.files().allowed.read().iter().any(|allowed| related(allowed))
    }

    /// Returns an error for a path that must not be read.
    pub(crate) fn check_access(&self, path: &[u8]) -> Result<()> {
        if self.may_see(path) {
            return Ok(());
        }
        let mode = if self.evaluator.settings.pure {
            "in pure evaluation mode (use '--impure' to override)"
        } else {
            "in restricted mode"
        };
        let message = format!("access to absolute path '{}' is forbidden {mode}", lossy(path));
        Err(Error::new(ErrorKind::Other, Pos::NONE, message))
    }
}

/// Returns whether `path` is `folder` or lies below it.
fn is_below(path: &[u8], folder: &[u8]) -> bool {
    path.strip_prefix(folder)
        .is_some_and(|rest| rest.is_empty() || rest[0] == b'/' || folder == b"/")
}

/// Returns the last component of a canonical path.
pub(super) fn base_name(path: &[u8]) -> &[u8] {
    let slash = memchr::memrchr(b'/', path).map_or(0, |slash| slash + 1);
    &path[slash..]
}

pub(super) fn lossy(bytes: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}

/// Reads a file; one that is not regular has no size and perhaps no end.
fn read(path: &std::path::Path) -> io::Result<Vec<u8>> {
    // Opening a FIFO would wait for somebody who writes to it.
    let mut file =
        std::fs::OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path)?;
    let metadata = file.metadata()?;
    let limit = if metadata.is_file() { u64::MAX } else { ENDLESS };
    let mut contents = Vec::with_capacity(metadata.len().min(ENDLESS) as usize + 1);
    if !metadata.is_file() {
        let mut first = [0];
        match file.read(&mut first) {
            Ok(0) if metadata.file_type().is_fifo() => {
                return Err(io::Error::other("it is a FIFO that nobody writes to"));
            }
            Ok(count) => contents.extend_from_slice(&first[..count]),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
        // From here on there is somebody to wait for.
        let flags = rustix::fs::fcntl_getfl(&file)? - rustix::fs::OFlags::NONBLOCK;
        rustix::fs::fcntl_setfl(&file, flags)?;
    }
    file.take(limit).read_to_end(&mut contents)?;
    if contents.len() as u64 >= limit {
        return Err(io::Error::other("it has no end"));
    }
    Ok(contents)
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

#[cold]
pub(super) fn does_not_exist(path: &[u8]) -> Error {
    let message = format!("path '{}' does not exist", lossy(path));
    Error::new(ErrorKind::Other, Pos::NONE, message)
}

#[cold]
fn io_error(doing: &str, path: &[u8], error: &io::Error) -> Error {
    crate::files::io_error(doing, path, error, Pos::NONE)
}
