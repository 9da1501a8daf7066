//! The walk of `nix search`: every package below some roots whose path, name or description
//! matches.

use raddle::Priority;
use raddle_nix_syntax::{Pos, Symbol, sym};

use super::Progress;
use crate::eval::{Cx, Error, ErrorKind, Result, Trace, describe};
use crate::text::regex::Regex;
use crate::text::version;
use crate::value::{Attr, Attrs, Type, Value, View};

/// What a search looks for.
#[derive(Debug, Default)]
pub struct Filter {
    /// Each must be found in the path, the name or the description.
    pub include: Vec<Regex>,
    /// None may be found in any of them.
    pub exclude: Vec<Regex>,
}

/// A package that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Match {
    /// The attribute path, joined with dots.
    pub path: Vec<u8>,
    /// The name without its version.
    pub pname: &'static [u8],
    /// The version, perhaps empty.
    pub version: &'static [u8],
    /// The description, perhaps empty, on one line.
    pub description: Vec<u8>,
}

/// A place where a search starts.
#[derive(Debug, Clone)]
pub struct Root {
    /// The attribute path.
    pub path: Vec<Symbol>,
    /// The value there.
    pub value: Value,
}

/// What was found, in order, up to the first error.
pub type Found = (Vec<Match>, Option<Error>);

impl Filter {
    fn matches(&self, fields: [&[u8]; 3]) -> bool {
        let found = |regex: &Regex| fields.iter().any(|field| regex.is_match_anywhere(field));
        !self.exclude.iter().any(found) && self.include.iter().all(found)
    }
}

/// An attribute to visit.
struct Node {
    path: Vec<Symbol>,
    value: Value,
    /// Whether to look into it whatever it is.
    start: bool,
}

/// What an attribute turned out to be.
enum Look {
    /// Nothing to look into; a package if it matches.
    Leaf(Option<Match>),
    /// A set to look into.
    Set(Vec<Node>),
}

impl Cx<'_> {
    /// Searches below `roots`. Children are visited in the order of their names, and what was
    /// found comes in that order for any number of workers.
    ///
    /// With several workers everything below the first set of more than one member is visited at
    /// once. If there is anything to say then, an error or a message, it is visited again in order,
    /// by this task alone, which finds most of it evaluated.
    pub fn search(&self, roots: &[Root], filter: &Filter, progress: &Progress) -> Found {
        let walk = Walk { filter, progress, pace: Pace::InOrder };
        up_to_error(roots.iter().map(|root| {
            let node = Node { path: root.path.clone(), value: root.value, start: true };
            walk.visit(self, &node)
        }))
    }
}

/// Puts together what was found, up to the first error.
fn up_to_error(parts: impl Iterator<Item = Found>) -> Found {
    let mut found = Vec::new();
    for (mut more, error) in parts {
        found.append(&mut more);
        if error.is_some() {
            return (found, error);
        }
    }
    (found, None)
}

/// The most sets within each other; a set that contains itself would have no end.
const DEEPEST: usize = 500;

#[cold]
fn too_deep(path: &[Symbol]) -> Error {
    let message = format!(
        "more than {DEEPEST} attribute sets are nested within each other, beginning with '{}'",
        text(&path[..10])
    );
    Error::new(ErrorKind::Other, Pos::NONE, message)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Pace {
    /// In order.
    InOrder,
    /// Ahead of the others, in tasks.
    Ahead,
    /// In order, where everything was visited ahead.
    Behind,
}

struct Walk<'w> {
    filter: &'w Filter,
    progress: &'w Progress,
    pace: Pace,
}

impl Walk<'_> {
    fn visit(&self, cx: &Cx<'_>, node: &Node) -> Found {
        if self.pace != Pace::Behind {
            self.progress.see(cx.task.worker(), || text(&node.path));
        }
        let (found, error) = match self.look(cx, node) {
            Ok(Look::Leaf(package)) => (Vec::from_iter(package), None),
            Ok(Look::Set(_)) if node.path.len() >= DEEPEST => {
                (Vec::new(), Some(too_deep(&node.path)))
            }
            Ok(Look::Set(children)) => self.visit_children(cx, &children),
            Err(error) => (Vec::new(), Some(error)),
        };
        let lenient = node.path.first() == Some(&sym::LEGACY_PACKAGES);
        let swallowed = |error: &Error| lenient && error.kind() != ErrorKind::Abandoned;
        (found, error.filter(|error| !swallowed(error)))
    }

    fn visit_children(&self, cx: &Cx<'_>, children: &[Node]) -> Found {
        match self.pace {
            Pace::InOrder if children.len() > 1 && !cx.is_alone() => {
                let ahead = Walk { pace: Pace::Ahead, ..*self };
                let (found, error) = ahead.visit_at_once(&cx.ahead_of_itself(), children);
                if error.is_none() && !cx.have_others_spoken() {
                    return (found, None);
                }
                Walk { pace: Pace::Behind, ..*self }.visit_in_order(cx, children)
            }
            Pace::Ahead => self.visit_at_once(cx, children),
            Pace::InOrder | Pace::Behind => self.visit_in_order(cx, children),
        }
    }

    fn visit_at_once(&self, cx: &Cx<'_>, children: &[Node]) -> Found {
        let failed = |result: &Result<Found>| !matches!(result, Ok((_, None)));
        let visit = |cx: &Cx<'_>, child: &Node| Ok(self.visit(cx, child));
        let results = cx.spread(children, priority, failed, visit);
        up_to_error(results.into_iter().map(|result| match result {
            Ok(found) => found,
            Err(error) => (Vec::new(), Some(error)),
        }))
    }

    fn visit_in_order(&self, cx: &Cx<'_>, children: &[Node]) -> Found {
        up_to_error(children.iter().map(|child| self.visit(cx, child)))
    }

    /// Finds out what a node is.
    fn look(&self, cx: &Cx<'_>, node: &Node) -> Result<Look> {
        let path = &node.path;
        let value = cx.force(node.value).trace(Pos::NONE, || within(path, &[]))?;
        let attrs = match value.view() {
            View::Attrs(attrs) => Some(attrs),
            _ => None,
        };
        if let Some(attrs) = attrs
            && self.is_derivation(cx, path, attrs)?
        {
            return Ok(Look::Leaf(self.package(cx, path, attrs)?));
        }
        let first = path.first().copied();
        let in_legacy = first == Some(sym::LEGACY_PACKAGES);
        let recurse = if path.is_empty()
            || node.start
            || (path.len() <= 2 && (in_legacy || first == Some(sym::PACKAGES)))
        {
            true
        } else if in_legacy {
            match attrs.and_then(|attrs| attrs.get_attr(sym::RECURSE_FOR_DERIVATIONS)) {
                Some(attr) => {
                    cx.force_bool(attr.value(), attr.pos, || within(path, &[attr.name]))?
                }
                None => false,
            }
        } else {
            false
        };
        if !recurse {
            return Ok(Look::Leaf(None));
        }
        let Some(attrs) = attrs else {
            let what = match &path[..] {
                [] => "the value to search".to_owned(),
                path => format!("'{}'", text(path)),
            };
            let message = format!("{what} is not an attribute set but {}", describe(value));
            return Err(Error::new(ErrorKind::Type, Pos::NONE, message));
        };
        let children = attrs
            .sorted(cx.heap())
            .into_iter()
            .map(|attr| {
                let mut path = path.clone();
                path.push(attr.name);
                Node { path, value: attr.value(), start: false }
            })
            .collect();
        Ok(Look::Set(children))
    }

    fn is_derivation(&self, cx: &Cx<'_>, path: &[Symbol], attrs: Attrs) -> Result<bool> {
        match attrs.get_attr(sym::TYPE) {
            None => Ok(false),
            Some(attr) => {
                Ok(self.string(cx, attr, || within(path, &[attr.name]))? == b"derivation")
            }
        }
    }

    fn package(&self, cx: &Cx<'_>, path: &[Symbol], attrs: Attrs) -> Result<Option<Match>> {
        let Some(name) = attrs.get_attr(sym::NAME) else {
            return Err(cx
                .missing_attribute(attrs, sym::NAME, Pos::NONE)
                .frame(Pos::NONE, within(path, &[])));
        };
        let name = self.string(cx, name, || within(path, &[sym::NAME]))?;
        let (pname, version) = version::parse_drv_name(name);
        let mut description = Vec::new();
        if let Some(meta) = attrs.get_attr(sym::META)
            && let View::Attrs(meta) =
                cx.force(meta.value()).trace(meta.pos, || within(path, &[sym::META]))?.view()
            && let Some(attr) = meta.get_attr(sym::DESCRIPTION)
        {
            let at = || within(path, &[sym::META, sym::DESCRIPTION]);
            description = self.string(cx, attr, at)?.to_vec();
            for byte in &mut description {
                if *byte == b'\n' {
                    *byte = b' ';
                }
            }
        }
        let path = text(path).into_bytes();
        if !self.filter.matches([&path, pname, &description]) {
            return Ok(None);
        }
        if self.pace != Pace::Behind {
            self.progress.find(cx.task.worker());
        }
        Ok(Some(Match { path, pname, version, description }))
    }

    /// Returns an attribute that must be a string; `at` says which it is.
    fn string(
        &self,
        cx: &Cx<'_>,
        attr: Attr,
        at: impl FnOnce() -> String,
    ) -> Result<&'static [u8]> {
        let checked = cx.force(attr.value()).and_then(|value| match value.view() {
            View::Str(s) => Ok(s.as_bytes()),
            View::Path(path) => Ok(path),
            _ => Err(cx.type_error(Type::String, value, attr.pos)),
        });
        checked.trace(attr.pos, at)
    }
}

/// Words that an attribute below `path` is being evaluated.
fn within(path: &[Symbol], below: &[Symbol]) -> String {
    format!("while evaluating the attribute '{}'", text(&[path, below].concat()))
}

/// Sets of packages take longest, so they start first.
fn priority(node: &Node) -> Priority {
    let name = node.path.last().map_or(&b""[..], |name| name.as_bytes());
    if memchr::memmem::find(name, b"Packages").is_some() {
        Priority::High
    } else {
        Priority::Normal
    }
}

fn text(path: &[Symbol]) -> String {
    let names: Vec<_> = path.iter().map(|name| String::from_utf8_lossy(name.as_bytes())).collect();
    names.join(".")
}
