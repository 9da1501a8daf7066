//! `eval --write-to`: strings as files, sets as folders.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use raddle_nix::eval::{ErrorKind, Trace};
use raddle_nix::value::View;
use raddle_nix::{Cx, Error, Value};
use raddle_nix_syntax::Pos;

use crate::output::Failure;

/// Writes `value` at `path`, where nothing may be yet.
pub(crate) fn write(cx: &Cx<'_>, value: Value, path: &Path) -> Result<Result<(), Failure>, Error> {
    if path.symlink_metadata().is_ok() {
        let message = format!("path '{}' already exists", path.display());
        return Ok(Err(Failure::message(message)));
    }
    write_part(cx, value, Pos::NONE, path).map(Ok)
}

fn write_part(cx: &Cx<'_>, value: Value, pos: Pos, path: &Path) -> Result<(), Error> {
    let fail = |message: String| Error::new(ErrorKind::Other, pos, message);
    let value = cx.force(value)?;
    match value.view() {
        View::Str(text) => std::fs::write(path, text.as_bytes())
            .map_err(|error| fail(format!("cannot write '{}': {error}", path.display()))),
        View::Attrs(attrs) => {
            std::fs::create_dir(path).map_err(|error| {
                fail(format!("creating directory '{}': {error}", path.display()))
            })?;
            let mut members = attrs.attrs();
            members.sort_by_key(|attr| attr.name.as_bytes());
            for attr in members {
                let name = attr.name.as_bytes();
                if matches!(name, b"" | b"." | b"..") || name.contains(&b'/') || name.contains(&0) {
                    let message = format!("invalid file name '{}'", attr.name);
                    return Err(Error::new(ErrorKind::Other, attr.pos, message));
                }
                write_part(cx, attr.value(), attr.pos, &path.join(OsStr::from_bytes(name)))
                    .trace(attr.pos, || {
                        format!("while evaluating the attribute '{}'", attr.name)
                    })?;
            }
            Ok(())
        }
        _ => Err(Error::new(
            ErrorKind::Type,
            pos,
            "only strings and attribute sets can be written to files".to_owned(),
        )),
    }
}
