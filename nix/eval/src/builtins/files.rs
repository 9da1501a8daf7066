//! Files and folders: importing, reading, asking.

use std::borrow::Cow;

use raddle_nix_store::context::Element;
use raddle_nix_store::path::StorePath;
use raddle_nix_syntax::Pos;

use super::file_system::{Links, lossy};
use super::store::Object;
use crate::eval::{Cx, Error, ErrorKind, Result};
use crate::value::{Context, PrimOp, Value, View};

pub(super) const PRIMOPS: &[PrimOp] = &[
    PrimOp::new("import", 1, import).strict(0b1),
    PrimOp::new("scopedImport", 2, scoped_import),
    PrimOp::new("pathExists", 1, path_exists).strict(0b1),
    PrimOp::new("readFile", 1, read_file).strict(0b1),
    PrimOp::new("readDir", 1, read_dir).strict(0b1),
    PrimOp::new("readFileType", 1, read_file_type).strict(0b1),
    PrimOp::new("toPath", 1, to_path).strict(0b1),
    PrimOp::new("getEnv", 1, get_env),
];

impl Cx<'_> {
    /// Makes a path of a value, sees to what it depends on, and follows links.
    fn realise_path(&self, value: Value, links: Links, pos: Pos) -> Result<Cow<'static, [u8]>> {
        let text = "while realising the context of a path";
        let (path, context) = match self.force(value)?.view() {
            View::Path(path) => (Cow::Borrowed(path), Context::EMPTY),
            _ => {
                let (path, context) = self.coerce_to_path(value, Pos::NONE, text)?;
                (Cow::Owned(path), context)
            }
        };
        if context.is_empty() && links == Links::Keep {
            return Ok(path);
        }
        match self.realise(context).and_then(|()| self.follow(path.clone(), links)) {
            Ok(path) => Ok(path),
            Err(error) => {
                let path = lossy(&path);
                Err(error.frame(pos, format!("while realising the context of path '{path}'")))
            }
        }
    }

    /// Returns the contents of the file that a value is the path of.
    pub(crate) fn read_file(&self, value: Value, pos: Pos) -> Result<Vec<u8>> {
        let path = self.realise_path(value, Links::All, pos)?;
        self.file_contents(&path)
    }
}

fn import(cx: &Cx<'_>, args: &[Value], pos: Pos) -> Result<Value> {
    let path = cx.realise_path(args[0], Links::Keep, pos)?;
    match cx.import_derivation(&path)? {
        Some(derivation) => Ok(derivation),
        None => cx.import(&path, pos),
    }
}

fn scoped_import(cx: &Cx<'_>, args: &[Value], pos: Pos) -> Result<Value> {
    let path = cx.realise_path(args[1], Links::Keep, pos)?;
    if let Some(derivation) = cx.import_derivation(&path)? {
        return Ok(derivation);
    }
    let text = "while evaluating the first argument passed to builtins.scopedImport";
    let scope = cx.force_attrs(args[0], Pos::NONE, text)?;
    cx.import_scoped(&path, scope, pos)
}

fn path_exists(cx: &Cx<'_>, args: &[Value], pos: Pos) -> Result<Value> {
    let value = cx.force(args[0])?;
    // A path value does not know whether it was written with a slash.
    let folder = match value.view() {
        View::Str(s) => s.as_bytes().ends_with(b"/") || s.as_bytes().ends_with(b"/."),
        _ => false,
    };
    let links = if folder { Links::All } else { Links::Ancestors };
    let path = cx.realise_path(value, Links::Keep, pos)?;
    // What cannot be reached, for whatever reason, is not there.
    let Ok(path) = cx.follow(path, links) else { return Ok(Value::bool(false)) };
    if !folder && let Some(exists) = cx.listed(&path) {
        return Ok(Value::bool(exists));
    }
    let file_type = cx.file_type(&path).unwrap_or_default();
    Ok(Value::bool(match file_type {
        None => false,
        Some(file_type) => !folder || file_type == raddle_nix_store::nar::FileType::Directory,
    }))
}

fn read_file(cx: &Cx<'_>, args: &[Value], pos: Pos) -> Result<Value> {
    let path = cx.realise_path(args[0], Links::All, pos)?;
    let contents = cx.file_contents(&path)?;
    if memchr::memchr(0, &contents).is_some() {
        let message = format!(
            "the contents of the file '{}' cannot be represented as a Nix string",
            lossy(&path)
        );
        return Err(Error::new(ErrorKind::Other, Pos::NONE, message));
    }
    let context = cx.references_in(&path, &contents);
    Ok(cx.string_with(contents, context))
}

impl Cx<'_> {
    /// Returns the references of a store object that really occur in a file of it.
    fn references_in(&self, path: &[u8], contents: &[u8]) -> Context {
        let Ok((object, _)) = self.evaluator.settings.store_dir.split(path) else {
            return Context::EMPTY;
        };
        let occurs = |path: &StorePath| memchr::memmem::find(contents, path.digest().as_bytes());
        let references: Vec<Element> = match self.evaluator.store.objects.get(object.as_bytes()) {
            Some(Object::Text(text)) => text
                .context()
                .elements()
                .into_iter()
                .filter(|element| occurs(element.path()).is_some())
                .cloned()
                .collect(),
            _ => Vec::new(),
        };
        Context::from_elements(self.heap(), &references)
    }
}

fn read_dir(cx: &Cx<'_>, args: &[Value], pos: Pos) -> Result<Value> {
    let path = cx.realise_path(args[0], Links::All, pos)?;
    cx.listing(&path)
}

fn read_file_type(cx: &Cx<'_>, args: &[Value], pos: Pos) -> Result<Value> {
    let path = cx.realise_path(args[0], Links::Ancestors, pos)?;
    Ok(cx.type_name(cx.existing_file_type(&path)?))
}

fn to_path(cx: &Cx<'_>, args: &[Value], _: Pos) -> Result<Value> {
    let text = "while evaluating the first argument passed to builtins.toPath";
    let (path, context) = cx.coerce_to_path(args[0], Pos::NONE, text)?;
    Ok(cx.string_with(path, context))
}

fn get_env(cx: &Cx<'_>, args: &[Value], _: Pos) -> Result<Value> {
    let text = "while evaluating the first argument passed to builtins.getEnv";
    let name = cx.force_plain_string(args[0], Pos::NONE, text)?;
    let settings = &cx.evaluator.settings;
    let value = match settings.env.get(name) {
        Some(value) if !settings.pure && !settings.restricted => value,
        _ => &Vec::new(),
    };
    Ok(cx.string(value))
}
