//! Files of expressions: found, parsed and evaluated once.

use std::cell::RefCell;
use std::collections::HashMap;

use bumpalo::Bump;
use parking_lot::Mutex;
use raddle_nix_syntax::print::Paths;
use raddle_nix_syntax::{Options, Origin, Pos, Source, Symbol, SyntaxError};

use crate::builtins::is_remote;
use crate::compile::{self, Code};
use crate::eval::{Cx, Error, ErrorKind, Result};
use crate::paths;
use crate::value::env::Env;
use crate::value::thunk::Thunk;
use crate::value::{Attrs, Value, View};

/// The files met so far.
#[derive(Debug, Default)]
pub(crate) struct Files {
    /// The value of each file by the path it was imported by, and by its resolved path.
    values: Mutex<HashMap<Vec<u8>, Value>>,
}

/// Files that exist only in the evaluator, under a path that `<nix/…>` leads to.
const INTERNAL: &[(&[u8], &str)] =
    &[(b"/__corepkgs__/fetchurl.nix", include_str!("builtins/fetchurl.nix"))];

impl Cx<'_> {
    /// Returns the value of the file at an absolute, canonical path; `default.nix` in it if it is
    /// a folder.
    pub fn import(&self, path: &[u8], pos: Pos) -> Result<Value> {
        let known = self.evaluator.files.values.lock().get(path).copied();
        if let Some(value) = known {
            return self.force(value);
        }
        let resolved = self.resolve(path)?;
        let value = {
            let mut values = self.evaluator.files.values.lock();
            let heap = self.heap();
            let value = *values.entry(resolved.clone()).or_insert_with(|| {
                let path: &'static [u8] = resolved.leak();
                let code: &'static Code = Box::leak(Box::new(Code::File(path)));
                Thunk::suspended(heap, code, Env::root())
            });
            values.insert(path.to_vec(), value);
            value
        };
        self.force(value).map_err(|error| error.at(pos))
    }

    /// Returns the path of the file of expressions that a path stands for.
    fn resolve(&self, path: &[u8]) -> Result<Vec<u8>> {
        if is_internal(path) { Ok(path.to_vec()) } else { self.expression_file(path) }
    }

    fn source_text(&self, path: &[u8]) -> Result<Vec<u8>> {
        match INTERNAL.iter().find(|(internal, _)| *internal == path) {
            Some((_, text)) => Ok(text.as_bytes().to_vec()),
            None => self.expression_text(path),
        }
    }

    /// Parses and evaluates a resolved file.
    pub(crate) fn eval_file(&self, path: &'static [u8]) -> Result<Value> {
        let text = self.source_text(path)?;
        let source = self.add_source(Origin::File(paths::os(path).to_owned()), text)?;
        let code = self.compile(source, paths::parent(path), None)?;
        self.eval(code, Env::root())
    }

    /// Evaluates a file with more variables than the globals.
    pub(crate) fn import_scoped(&self, path: &[u8], scope: Attrs, pos: Pos) -> Result<Value> {
        let resolved = self.resolve(path).map_err(|error| error.at(pos))?;
        let text = self.source_text(&resolved)?;
        let source = self.add_source(Origin::File(paths::os(&resolved).to_owned()), text)?;
        let attrs = scope.attrs();
        let names: Vec<Symbol> = attrs.iter().map(|attr| attr.name).collect();
        let code = self.compile(source, paths::parent(&resolved), Some(&names))?;
        let env = self.new_env(Env::root(), attrs.len());
        for (i, attr) in attrs.iter().enumerate() {
            env.slot(i as u32).set(attr.value());
        }
        self.eval(code, env)
    }

    /// Evaluates an expression given as text; relative paths in it start from `base`.
    pub fn eval_string(&self, text: &[u8], base: &[u8]) -> Result<Value> {
        let source = self.add_source(Origin::String, text.to_vec())?;
        let code = self.compile(source, base, None)?;
        self.eval(code, Env::root())
    }

    /// Evaluates an expression read from standard input.
    pub fn eval_stdin(&self, text: Vec<u8>, base: &[u8]) -> Result<Value> {
        let source = self.add_source(Origin::Stdin, text)?;
        let code = self.compile(source, base, None)?;
        self.eval(code, Env::root())
    }

    fn add_source(&self, origin: Origin, text: Vec<u8>) -> Result<&'static Source> {
        self.worker.stats.files.add(1);
        self.worker.stats.source_bytes.add(text.len());
        Source::add(origin, text)
            .map_err(|error| Error::new(ErrorKind::Other, Pos::NONE, error.to_string()))
    }

    /// Returns an expression given as text without evaluating it yet; it must parse.
    pub fn delay_string(&self, text: &[u8], base: &[u8]) -> Result<Value> {
        let source = self.add_source(Origin::String, text.to_vec())?;
        let code = self.compile(source, base, None)?;
        self.worker.stats.thunks.add(1);
        Ok(Thunk::suspended(self.heap(), code, Env::root()))
    }

    /// Returns the value of a file as a command line names it: a path seen from the folder `base`,
    /// or `<name>` for one on the search path.
    pub fn import_argument(&self, name: &[u8], base: &[u8]) -> Result<Value> {
        let path = self.argument_path(name, base)?;
        self.import(&path, Pos::NONE)
    }

    /// Returns the path that a command line means by a file name.
    fn argument_path(&self, name: &[u8], base: &[u8]) -> Result<Vec<u8>> {
        if let Some(inner) = name.strip_prefix(b"<").and_then(|rest| rest.strip_suffix(b">")) {
            let found = self.lookup_path(inner, Pos::NONE)?;
            let View::Path(path) = found.view() else { unreachable!("lookups return paths") };
            return Ok(path.to_vec());
        }
        if is_remote(name) {
            let name = String::from_utf8_lossy(name);
            let message = format!("cannot fetch '{name}': fetching is not supported yet");
            return Err(Error::new(ErrorKind::Other, Pos::NONE, message));
        }
        Ok(paths::join(base, name))
    }

    /// Returns the text of a file as `nix-instantiate --parse` prints it; see
    /// [`import_argument`](Self::import_argument).
    pub fn parse_argument(&self, name: &[u8], base: &[u8]) -> Result<Vec<u8>> {
        let path = self.argument_path(name, base)?;
        let resolved = self.resolve(&path)?;
        let text = self.source_text(&resolved)?;
        let origin = Origin::File(paths::os(&resolved).to_owned());
        self.parse_text(origin, text, paths::parent(&resolved))
    }

    /// Returns an expression as `nix-instantiate --parse` prints it.
    pub fn parse_text(&self, origin: Origin, text: Vec<u8>, base: &[u8]) -> Result<Vec<u8>> {
        let source = self.add_source(origin, text)?;
        // Undefined variables are found here already.
        self.compile(source, base, None)?;
        let arena = Bump::new();
        let features = Options { pipe_operators: true, ..Options::default() };
        let tree = raddle_nix_syntax::parse(&arena, source, &features).map_err(syntax)?;
        let home = self.evaluator.settings.home.as_deref().unwrap_or(b"/");
        Ok(raddle_nix_syntax::print::desugared(tree, Paths { base, home }))
    }

    /// Parses and compiles a text.
    pub(crate) fn compile(
        &self,
        source: &'static Source,
        base: &[u8],
        outer: Option<&[Symbol]>,
    ) -> Result<&'static Code> {
        let settings = &self.evaluator.settings;
        let warnings = RefCell::default();
        let options = Options {
            pipe_operators: settings.has_feature("pipe-operators"),
            url_literals: settings.lint_url_literals,
            absolute_paths: settings.lint_absolute_path_literals,
            short_paths: settings.lint_short_path_literals,
            warnings: Some(&warnings),
        };
        let arena = Bump::new();
        let tree = raddle_nix_syntax::parse(&arena, source, &options);
        for warning in warnings.take() {
            self.emit(warning.render());
        }
        let context = compile::Context {
            arena: self.worker.code,
            heap: self.heap(),
            stats: &self.worker.stats,
            globals: &self.evaluator.globals,
            base,
            home: settings.home.as_deref().filter(|_| !settings.pure),
        };
        compile::compile(context, outer, tree.map_err(syntax)?)
    }
}

#[cold]
fn syntax(error: SyntaxError) -> Error {
    Error::new(ErrorKind::Syntax, error.pos, error.message)
}

/// Returns whether a path is one of a file that exists only in the evaluator.
pub(crate) fn is_internal(path: &[u8]) -> bool {
    INTERNAL.iter().any(|(internal, _)| *internal == path)
}

/// Returns the error for a failed operation on a file.
#[cold]
pub(crate) fn io_error(doing: &str, path: &[u8], error: &std::io::Error, pos: Pos) -> Error {
    let reason = match error.kind() {
        std::io::ErrorKind::NotFound => "No such file or directory".to_owned(),
        std::io::ErrorKind::PermissionDenied => "Permission denied".to_owned(),
        std::io::ErrorKind::IsADirectory => "Is a directory".to_owned(),
        std::io::ErrorKind::NotADirectory => "Not a directory".to_owned(),
        _ => error.to_string(),
    };
    let path = String::from_utf8_lossy(path);
    Error::new(ErrorKind::Other, pos, format!("{doing} '{path}': {reason}"))
}
