//! Nix archives: the byte form of a file tree, from which the hashes of sources are taken.
//!
//! Only what matters to a build is in it: contents, the executable bit, the targets of symbolic links
//! and names. Entries are sorted by the bytes of their names, so equal trees give equal archives.
//! An archive is written in one pass with bounded memory; one directory is listed at a time for
//! each level. Reading archives is not done here.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use crate::hash::{Algorithm, Hash, Hasher};

/// How deep directories may lie within each other.
pub const MAX_DEPTH: usize = 64;

/// What a directory entry is, as far as archives care.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FileType {
    /// A file with contents.
    Regular,
    /// A directory.
    Directory,
    /// A symbolic link, wherever it leads.
    Symlink,
    /// Anything else: archives cannot hold it.
    Unknown,
}

impl FileType {
    /// Returns what Nix calls it.
    pub const fn name(self) -> &'static str {
        match self {
            FileType::Regular => "regular",
            FileType::Directory => "directory",
            FileType::Symlink => "symlink",
            FileType::Unknown => "unknown",
        }
    }
}

impl From<fs::FileType> for FileType {
    fn from(file_type: fs::FileType) -> FileType {
        if file_type.is_file() {
            FileType::Regular
        } else if file_type.is_dir() {
            FileType::Directory
        } else if file_type.is_symlink() {
            FileType::Symlink
        } else {
            FileType::Unknown
        }
    }
}

/// Why an archive could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NarError {
    /// The operating system refused something.
    #[error("cannot {action} '{}': {error}", path.display())]
    File {
        /// What was tried.
        action: &'static str,
        /// On which file.
        path: PathBuf,
        /// Its answer.
        error: io::Error,
    },
    /// The file is a socket, device or the like.
    #[error("file '{}' has an unsupported type", .0.display())]
    UnsupportedType(PathBuf),
    /// The file became shorter while it was read.
    #[error("file '{}' changed while it was read", .0.display())]
    Changed(PathBuf),
    /// Directories lie more than [`MAX_DEPTH`] deep.
    #[error("'{}' lies more than {MAX_DEPTH} directories deep, which archives do not allow", .0.display())]
    TooDeep(PathBuf),
    /// The archive could not be written.
    #[error("cannot write the archive: {0}")]
    Output(io::Error),
}

/// Decides about the entries below the root: called with the full path and the type before the
/// entry is looked at, in the order of the archive. What is refused is left out with all below it.
pub type Filter<'f, E> = dyn FnMut(&Path, FileType) -> Result<bool, E> + 'f;

/// Writes the archive of the tree at `root` to `out`.
///
/// A symbolic link at `root` is archived as a link.
pub fn dump_path<E: From<NarError>>(
    root: &Path,
    out: &mut dyn Write,
    filter: &mut Filter<'_, E>,
) -> Result<(), E> {
    let mut dump = Dump { sink: Sink { out, buffer: Vec::with_capacity(BUFFER) }, filter };
    dump.sink.string(b"nix-archive-1")?;
    let file_type = fs::symlink_metadata(root).map_err(failed("examine", root))?.file_type();
    dump.node(&mut root.to_owned(), file_type.into(), 0)?;
    dump.sink.flush()?;
    Ok(())
}

/// Returns the digest of the archive of the tree at `root`.
pub fn hash_path<E: From<NarError>>(
    root: &Path,
    algorithm: Algorithm,
    filter: &mut Filter<'_, E>,
) -> Result<Hash, E> {
    let mut hasher = Hasher::new(algorithm);
    dump_path(root, &mut hasher, filter)?;
    Ok(hasher.finish())
}

/// Returns the digest of the archive of the whole tree at `root`.
pub fn hash_whole_path(root: &Path, algorithm: Algorithm) -> Result<Hash, NarError> {
    hash_path(root, algorithm, &mut |_, _| Ok::<_, NarError>(true))
}

/// Returns the digest of the archive of a regular file with `contents`, which need not exist.
pub fn hash_contents(contents: &[u8], executable: bool, algorithm: Algorithm) -> Hash {
    let mut text = Vec::with_capacity(contents.len() + 256);
    append_string(&mut text, b"nix-archive-1");
    append_regular(&mut text, executable, contents.len() as u64);
    text.extend_from_slice(contents);
    append_padding(&mut text, contents.len() as u64);
    append_string(&mut text, b")");
    Hash::of(algorithm, &text)
}

/// Returns the digest of the contents of the file at `path`, following symbolic links.
pub fn hash_file(path: &Path, algorithm: Algorithm) -> Result<Hash, NarError> {
    let mut file = File::open(path).map_err(failed("open", path))?;
    let mut hasher = Hasher::new(algorithm);
    let mut buffer = vec![0; BUFFER];
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok(hasher.finish()),
            Ok(len) => hasher.update(&buffer[..len]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(failed("read", path)(error)),
        }
    }
}

/// How many bytes are handed over at a time.
const BUFFER: usize = 64 << 10;

struct Dump<'d, 'f, E> {
    sink: Sink<'d>,
    filter: &'d mut Filter<'f, E>,
}

impl<E: From<NarError>> Dump<'_, '_, E> {
    fn node(&mut self, path: &mut PathBuf, file_type: FileType, depth: usize) -> Result<(), E> {
        match file_type {
            FileType::Regular => self.sink.regular(path)?,
            FileType::Symlink => {
                let target = fs::read_link(&*path).map_err(failed("read the link", path))?;
                self.sink.strings(&[b"(", b"type", b"symlink", b"target"])?;
                self.sink.strings(&[target.as_os_str().as_bytes(), b")"])?;
            }
            FileType::Directory if depth == MAX_DEPTH => {
                return Err(NarError::TooDeep(path.clone()).into());
            }
            FileType::Directory => self.directory(path, depth)?,
            FileType::Unknown => return Err(NarError::UnsupportedType(path.clone()).into()),
        }
        Ok(())
    }

    fn directory(&mut self, path: &mut PathBuf, depth: usize) -> Result<(), E> {
        let mut entries = Vec::new();
        for entry in fs::read_dir(&*path).map_err(failed("list", path))? {
            let entry = entry.map_err(failed("list", path))?;
            let file_type = entry.file_type().map_err(failed("examine", &entry.path()))?;
            entries.push((entry.file_name(), FileType::from(file_type)));
        }
        entries.sort_unstable_by(|(a, _), (b, _)| a.as_bytes().cmp(b.as_bytes()));

        self.sink.strings(&[b"(", b"type", b"directory"])?;
        for (name, file_type) in entries {
            path.push(&name);
            if (self.filter)(path, file_type)? {
                self.entry(&name, path, file_type, depth)?;
            }
            path.pop();
        }
        self.sink.string(b")")?;
        Ok(())
    }

    fn entry(
        &mut self,
        name: &OsStr,
        path: &mut PathBuf,
        file_type: FileType,
        depth: usize,
    ) -> Result<(), E> {
        self.sink.strings(&[b"entry", b"(", b"name", name.as_bytes(), b"node"])?;
        self.node(path, file_type, depth + 1)?;
        self.sink.string(b")")?;
        Ok(())
    }
}

/// Gathers small pieces, so that the output sees large ones.
struct Sink<'d> {
    out: &'d mut dyn Write,
    buffer: Vec<u8>,
}

impl Sink<'_> {
    fn regular(&mut self, path: &Path) -> Result<(), NarError> {
        // A path may become something else after it was listed. Not following links and not waiting
        // for the other end of a pipe keeps that harmless.
        let mut file = File::options()
            .read(true)
            .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
            .open(path)
            .map_err(failed("open", path))?;
        let metadata = file.metadata().map_err(failed("examine", path))?;
        if !metadata.is_file() {
            return Err(NarError::Changed(path.to_owned()));
        }
        append_regular(&mut self.buffer, metadata.mode() & 0o100 != 0, metadata.len());
        let mut left = metadata.len();
        while left > 0 {
            self.flush_if_full()?;
            let room = (BUFFER - self.buffer.len()) as u64;
            let read = (&mut file).take(room.min(left)).read_to_end(&mut self.buffer);
            match read.map_err(failed("read", path))? {
                0 => return Err(NarError::Changed(path.to_owned())),
                read => left -= read as u64,
            }
        }
        append_padding(&mut self.buffer, metadata.len());
        self.string(b")")
    }

    fn strings(&mut self, strings: &[&[u8]]) -> Result<(), NarError> {
        strings.iter().try_for_each(|string| self.string(string))
    }

    fn string(&mut self, string: &[u8]) -> Result<(), NarError> {
        append_string(&mut self.buffer, string);
        self.flush_if_full()
    }

    /// Makes sure that there is some room in the buffer.
    fn flush_if_full(&mut self) -> Result<(), NarError> {
        if self.buffer.len() >= BUFFER / 2 { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), NarError> {
        self.out.write_all(&self.buffer).map_err(NarError::Output)?;
        self.buffer.clear();
        Ok(())
    }
}

/// Appends what stands before the contents of a regular file.
fn append_regular(text: &mut Vec<u8>, executable: bool, len: u64) {
    let marks: &[&[u8]] = if executable {
        &[b"(", b"type", b"regular", b"executable", b"", b"contents"]
    } else {
        &[b"(", b"type", b"regular", b"contents"]
    };
    for mark in marks {
        append_string(text, mark);
    }
    text.extend_from_slice(&len.to_le_bytes());
}

fn append_string(text: &mut Vec<u8>, string: &[u8]) {
    text.extend_from_slice(&(string.len() as u64).to_le_bytes());
    text.extend_from_slice(string);
    append_padding(text, string.len() as u64);
}

/// Appends zeros after `len` bytes, up to a multiple of 8.
fn append_padding(text: &mut Vec<u8>, len: u64) {
    let zeros = len.next_multiple_of(8) - len;
    text.extend_from_slice(&[0; 8][..zeros as usize]);
}

fn failed(action: &'static str, path: &Path) -> impl Fn(io::Error) -> NarError {
    let path = path.to_owned();
    move |error| NarError::File { action, path: path.clone(), error }
}

#[cfg(test)]
mod tests;
