//! The built-in functions and constants.
//!
//! Each file holds the functions of one area and a table `PRIMOPS` of them. A function gets its
//! arguments unevaluated, exactly as many as the table says, and evaluates what it needs in the
//! order that Nix does: that order decides which error a program sees first.

mod arithmetic;
mod attrs;
mod by_path;
mod closure;
mod context;
mod control;
mod data;
mod derivation;
mod fetch;
mod file_system;
mod files;
mod flake_ref;
mod hash;
mod json;
mod known_derivations;
mod lists;
mod regex;
mod search_path;
mod sort;
mod store;
mod strings;
mod toml;
mod types;
mod versions;
mod xml;

use raddle_nix_syntax::{Pos, Symbol, sym};

use crate::compile::Globals;
use crate::evaluator::Evaluator;
use crate::settings::Settings;
use crate::value::heap::Heap;
use crate::value::{Attrs, AttrsBuilder, List, PrimOp, Str, Value};

pub(crate) use search_path::is_remote;
pub use store::StoreState;

/// The tables of all areas.
const TABLES: &[&[PrimOp]] = &[
    arithmetic::PRIMOPS,
    attrs::PRIMOPS,
    closure::PRIMOPS,
    context::PRIMOPS,
    control::PRIMOPS,
    derivation::PRIMOPS,
    fetch::PRIMOPS,
    files::PRIMOPS,
    flake_ref::PRIMOPS,
    hash::PRIMOPS,
    json::PRIMOPS,
    known_derivations::PRIMOPS,
    lists::PRIMOPS,
    regex::PRIMOPS,
    search_path::PRIMOPS,
    sort::PRIMOPS,
    store::PRIMOPS,
    strings::PRIMOPS,
    toml::PRIMOPS,
    types::PRIMOPS,
    versions::PRIMOPS,
    xml::PRIMOPS,
];

/// Names that are visible without `builtins.`; all others also are, as `__name`.
const GLOBAL: &[&str] = &[
    "abort",
    "baseNameOf",
    "break",
    "derivation",
    "derivationStrict",
    "dirOf",
    "fetchGit",
    "fetchMercurial",
    "fetchTarball",
    "fetchTree",
    "fromTOML",
    "import",
    "isNull",
    "map",
    "placeholder",
    "removeAttrs",
    "scopedImport",
    "throw",
    "toString",
];

/// Built-ins that exist only with an experimental feature.
const GATED: &[(&str, &str)] = &[
    ("outputOf", "dynamic-derivations"),
    ("fetchClosure", "fetch-closure"),
    ("fetchTree", "fetch-tree"),
    ("getFlake", "flakes"),
    ("parseFlakeRef", "flakes"),
    ("flakeRefToString", "flakes"),
];

/// `derivation`, in terms of `derivationStrict`.
const DERIVATION: &str = include_str!("derivation.nix");

/// Returns the global names with their values, and the value of `builtins`.
pub(crate) fn globals(heap: &Heap, settings: &Settings) -> (Globals, Value) {
    let mut globals = Globals::default();
    let mut all = AttrsBuilder::default();
    let mut define = |name: &str, value: Value| {
        all.push(Symbol::intern(name.as_bytes()), Pos::NONE, value);
        let global = if GLOBAL.contains(&name) { name.to_owned() } else { format!("__{name}") };
        globals.insert(Symbol::intern(global.as_bytes()), value);
    };
    for primop in TABLES.iter().copied().flatten() {
        let gate = GATED.iter().find(|(name, _)| *name == primop.name);
        if gate.is_none_or(|(_, feature)| settings.has_feature(feature)) {
            define(primop.name, Value::from(primop));
        }
    }
    let string = |text: &str| Value::from(Str::new(heap, text.as_bytes()));
    define("nixVersion", string("2.34.0"));
    define("langVersion", Value::int(heap, 6));
    define("storeDir", string(settings.store_dir.as_str()));
    define("nixPath", search_path(heap, settings));
    if !settings.pure {
        define("currentSystem", string(&settings.system));
        define("currentTime", Value::int(heap, settings.current_time));
    }
    for (name, value) in [("true", Value::TRUE), ("false", Value::FALSE), ("null", Value::NULL)] {
        let name = Symbol::intern(name.as_bytes());
        all.push(name, Pos::NONE, value);
        globals.insert(name, value);
    }
    // Filled in once the evaluator can evaluate: see `define_in_nix`.
    all.push(sym::BUILTINS, Pos::NONE, Value::NULL);
    all.push(sym::DERIVATION, Pos::NONE, Value::NULL);
    let builtins = Value::from(all.finish(heap));
    globals.insert(sym::BUILTINS, builtins);
    (globals, builtins)
}

/// Returns the value of `builtins.nixPath`.
fn search_path(heap: &Heap, settings: &Settings) -> Value {
    let entries: Vec<Value> = settings
        .search_path
        .iter()
        .map(|entry| {
            let mut builder = AttrsBuilder::with_capacity(2);
            builder.push(sym::PREFIX, Pos::NONE, Str::new(heap, &entry.prefix).into());
            builder.push(sym::PATH, Pos::NONE, Str::new(heap, &entry.path).into());
            builder.finish(heap).into()
        })
        .collect();
    List::new(heap, &entries).into()
}

/// Defines what is written in the language itself, and closes the cycle `builtins.builtins`.
pub(crate) fn define_in_nix(evaluator: &mut Evaluator) {
    let builtins = evaluator.builtins;
    let derivation = evaluator.run(|cx| cx.eval_string(DERIVATION.as_bytes(), b"/"));
    let Ok(derivation) = derivation else { unreachable!("the definition of `derivation` is ours") };
    let crate::value::View::Attrs(attrs) = builtins.view() else {
        unreachable!("`builtins` is a set")
    };
    for (name, value) in [(sym::BUILTINS, builtins), (sym::DERIVATION, derivation)] {
        if let Some(slot) = Attrs::get(attrs, name) {
            slot.set(value);
        }
    }
    evaluator.globals.insert(sym::DERIVATION, derivation);
}
