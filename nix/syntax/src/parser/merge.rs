//! Bindings to sets: attribute paths become nested sets, sets of the same name become one.
//!
//! A set is collected in a [`SetBuilder`]. A nested set that came from an attribute path, or that
//! met a second set of its name, is a builder in its parent until the outermost set is finished.
//! A merged set keeps the `rec` of its first part, whatever the others say.
//!
//! Invariant: no name occurs twice in a builder.

use std::fmt::Write as _;

use hashbrown::HashMap;

use super::{Failed, MAX_DEPTH, Parser, Tree};
use crate::ast::{AttrName, Attrs, Binding, BindingValue, DynamicBinding, Expr, ExprKind};
use crate::{Pos, Symbol, print};

/// Up to so many names are searched one by one.
const FEW: usize = 16;

/// A set that is being collected.
#[derive(Debug)]
pub(super) struct SetBuilder<'a> {
    pos: Pos,
    recursive: bool,
    /// The greatest height of computed names and values and of `inherit_from`.
    pub(super) height: u32,
    pub(super) inherit_from: Vec<&'a Expr<'a>>,
    entries: Vec<Entry<'a>>,
    dynamic: Vec<DynamicBinding<'a>>,
    /// Where in `entries` a name is; the last ones may be missing.
    index: HashMap<Symbol, u32, foldhash::fast::FixedState>,
}

#[derive(Debug)]
struct Entry<'a> {
    name: Symbol,
    pos: Pos,
    doc: Option<&'a [u8]>,
    value: Value<'a>,
}

/// What a name is bound to.
#[derive(Debug)]
pub(super) enum Value<'a> {
    Tree(Tree<'a>),
    Inherited,
    InheritedFrom(u32),
    Nested(Box<SetBuilder<'a>>),
}

impl SetBuilder<'_> {
    fn find(&mut self, name: Symbol) -> Option<usize> {
        if self.entries.len() <= FEW {
            return self.entries.iter().position(|entry| entry.name == name);
        }
        for index in self.index.len()..self.entries.len() {
            self.index.insert(self.entries[index].name, index as u32);
        }
        self.index.get(&name).map(|&index| index as usize)
    }
}

impl<'a> Parser<'a, '_> {
    #[expect(clippy::unnecessary_box_returns, reason = "a builder is too big to move around")]
    pub(super) fn new_set(&mut self, pos: Pos, recursive: bool) -> Box<SetBuilder<'a>> {
        if let Some(mut set) = self.spare.pop() {
            (set.pos, set.recursive, set.height) = (pos, recursive, 0);
            return set;
        }
        Box::new(SetBuilder {
            pos,
            recursive,
            height: 0,
            inherit_from: Vec::new(),
            entries: Vec::new(),
            dynamic: Vec::new(),
            index: HashMap::default(),
        })
    }

    /// Adds the binding of the path in `self.names[base..]`.
    pub(super) fn add(
        &mut self,
        mut set: &mut SetBuilder<'a>,
        base: usize,
        pos: Pos,
        value: Value<'a>,
        doc: Option<&'a [u8]>,
    ) -> Result<(), Failed> {
        let end = self.names.len();
        if end - base >= MAX_DEPTH as usize {
            return self.too_deep();
        }
        for index in base..end - 1 {
            set = match self.names[index] {
                AttrName::Static(name, _) => self.open(set, base, index, name, pos)?,
                AttrName::Dynamic(name) => {
                    let value = self.chain(index + 1, pos, value, doc)?;
                    set.push_dynamic(name, pos, value);
                    return Ok(());
                }
            };
        }
        match self.names[end - 1] {
            AttrName::Static(name, _) => self.insert(set, base, Entry { name, pos, doc, value }),
            AttrName::Dynamic(name) => {
                let Value::Tree(tree) = value else { unreachable!("only names are inherited") };
                set.push_dynamic(name, pos, tree);
                Ok(())
            }
        }
    }

    /// Returns the nested set `name`, which is made if it does not exist.
    fn open<'s>(
        &mut self,
        set: &'s mut SetBuilder<'a>,
        base: usize,
        last: usize,
        name: Symbol,
        pos: Pos,
    ) -> Result<&'s mut SetBuilder<'a>, Failed> {
        let index = match set.find(name) {
            Some(index) => {
                let defined = set.entries[index].pos;
                if !self.reopen(&mut set.entries[index].value) {
                    self.names.truncate(last + 1);
                    return self.duplicate(base, pos, defined);
                }
                index
            }
            None => {
                let value = Value::Nested(self.new_set(pos, false));
                set.entries.push(Entry { name, pos, doc: None, value });
                set.entries.len() - 1
            }
        };
        match &mut set.entries[index].value {
            Value::Nested(nested) => Ok(nested),
            _ => unreachable!("it was opened above"),
        }
    }

    /// Adds an entry; `self.names[base..]` is its path.
    fn insert(
        &mut self,
        set: &mut SetBuilder<'a>,
        base: usize,
        entry: Entry<'a>,
    ) -> Result<(), Failed> {
        let Some(index) = set.find(entry.name) else {
            set.entries.push(entry);
            return Ok(());
        };
        let old = &mut set.entries[index];
        let defined = old.pos;
        if let Value::Tree(tree) = entry.value
            && let ExprKind::Attrs(attrs) = tree.expr.kind
            && self.reopen(&mut old.value)
            && let Value::Nested(nested) = &mut old.value
        {
            return self.merge(nested, base, attrs, tree.height - 1);
        }
        self.duplicate(base, entry.pos, defined)
    }

    /// Adds all bindings of `attrs`, none of them higher than `height`.
    fn merge(
        &mut self,
        set: &mut SetBuilder<'a>,
        base: usize,
        attrs: &'a Attrs<'a>,
        height: u32,
    ) -> Result<(), Failed> {
        let offset = set.inherit_from.len() as u32;
        set.height = set.height.max(height);
        set.inherit_from.extend_from_slice(attrs.inherit_from);
        for binding in attrs.bindings {
            self.names.push(AttrName::Static(binding.name, binding.pos));
            self.insert(set, base, entry(binding, offset, height))?;
            self.names.pop();
        }
        set.dynamic.extend_from_slice(attrs.dynamic);
        Ok(())
    }

    /// Turns a value that is a set into a builder. Returns false if it is no set.
    fn reopen(&mut self, value: &mut Value<'a>) -> bool {
        let tree = match value {
            Value::Nested(_) => return true,
            Value::Tree(tree) => *tree,
            Value::Inherited | Value::InheritedFrom(_) => return false,
        };
        let ExprKind::Attrs(attrs) = tree.expr.kind else { return false };
        let mut set = self.new_set(attrs.pos, attrs.recursive);
        let height = tree.height - 1;
        set.height = height;
        set.inherit_from.extend_from_slice(attrs.inherit_from);
        set.entries.extend(attrs.bindings.iter().map(|binding| entry(binding, 0, height)));
        set.dynamic.extend_from_slice(attrs.dynamic);
        *value = Value::Nested(set);
        true
    }

    /// Makes the nested sets for the names from `first` on.
    fn chain(
        &mut self,
        first: usize,
        pos: Pos,
        value: Value<'a>,
        doc: Option<&'a [u8]>,
    ) -> Result<Tree<'a>, Failed> {
        let Value::Tree(mut tree) = value else { unreachable!("only names are inherited") };
        let mut doc = doc;
        for index in (first..self.names.len()).rev() {
            let mut set = self.new_set(pos, false);
            match self.names[index] {
                AttrName::Static(name, _) => {
                    let value = Value::Tree(tree);
                    set.entries.push(Entry { name, pos, doc: doc.take(), value });
                }
                AttrName::Dynamic(name) => set.push_dynamic(name, pos, tree),
            }
            let (attrs, height) = self.finish_set(set)?;
            tree = self.node(pos, ExprKind::Attrs(attrs), height)?;
        }
        Ok(tree)
    }

    /// Moves a set into the arena and returns it with the greatest height in it.
    pub(super) fn finish_set(
        &mut self,
        mut set: Box<SetBuilder<'a>>,
    ) -> Result<(&'a Attrs<'a>, u32), Failed> {
        let mut height = set.height;
        for entry in &mut set.entries {
            match &entry.value {
                Value::Tree(tree) => height = height.max(tree.height),
                Value::Nested(_) => {
                    let Value::Nested(nested) =
                        std::mem::replace(&mut entry.value, Value::Inherited)
                    else {
                        unreachable!("it was matched above")
                    };
                    let pos = nested.pos;
                    let (attrs, nested_height) = self.finish_set(nested)?;
                    let tree = self.node(pos, ExprKind::Attrs(attrs), nested_height)?;
                    height = height.max(tree.height);
                    entry.value = Value::Tree(tree);
                }
                _ => {}
            }
        }
        let bindings = set.entries.iter().map(|entry| {
            let value = match &entry.value {
                Value::Tree(tree) => BindingValue::Expr(tree.expr),
                Value::Inherited => BindingValue::Inherited,
                Value::InheritedFrom(from) => BindingValue::InheritedFrom(*from),
                Value::Nested(_) => unreachable!("nested sets were finished above"),
            };
            Binding { name: entry.name, pos: entry.pos, value, doc: entry.doc }
        });
        let attrs = self.arena.alloc(Attrs {
            pos: set.pos,
            recursive: set.recursive,
            inherit_from: self.arena.alloc_slice_copy(&set.inherit_from),
            bindings: self.arena.alloc_slice_fill_iter(bindings),
            dynamic: self.arena.alloc_slice_copy(&set.dynamic),
        });
        set.inherit_from.clear();
        set.entries.clear();
        set.dynamic.clear();
        set.index.clear();
        self.spare.push(set);
        Ok((attrs, height))
    }

    #[cold]
    fn duplicate<T>(&mut self, base: usize, pos: Pos, defined: Pos) -> Result<T, Failed> {
        let mut path = String::new();
        for name in &self.names[base..] {
            if !path.is_empty() {
                path.push('.');
            }
            if let AttrName::Static(name, _) = name {
                path.push_str(&print::attr_name(*name));
            }
        }
        let mut message = format!("attribute '{path}' already defined");
        if let Some(place) = defined.locate() {
            let _ = write!(message, " at {place}");
        }
        self.fail(pos, message)
    }
}

impl<'a> SetBuilder<'a> {
    fn push_dynamic(&mut self, name: &'a Expr<'a>, pos: Pos, value: Tree<'a>) {
        self.height = self.height.max(value.height);
        self.dynamic.push(DynamicBinding { name, value: value.expr, pos });
    }
}

/// Turns a finished binding back into an entry, of which only a bound for the height is known.
fn entry<'a>(binding: &Binding<'a>, offset: u32, height: u32) -> Entry<'a> {
    let value = match binding.value {
        BindingValue::Expr(expr) => Value::Tree(Tree { expr, height }),
        BindingValue::Inherited => Value::Inherited,
        BindingValue::InheritedFrom(from) => Value::InheritedFrom(from + offset),
    };
    Entry { name: binding.name, pos: binding.pos, doc: binding.doc, value }
}
