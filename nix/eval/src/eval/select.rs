//! Attributes and `with`: looking names up in sets.

use std::sync::atomic::Ordering;

use raddle_nix_syntax::{Pos, Symbol};

use super::{Cx, Error, ErrorKind, Result, Trace, name_in_message};
use crate::compile::Code;
use crate::compile::code::{HasAttr, Name, Select, WithVar};
use crate::text::escape;
use crate::value::env::Env;
use crate::value::{Attrs, Slot, Type, Value, View};

const SELECTING: &str = "while selecting an attribute";

impl Cx<'_> {
    /// Looks up the first name of `select`, remembering where sets of that shape have it.
    #[inline(always)]
    fn lookup(&self, select: &Select, attrs: Attrs, name: Symbol) -> Option<&'static Slot> {
        self.worker.stats.lookups.add(1);
        let Some((shape, slots)) = attrs.as_flat() else { return attrs.get(name) };
        let cache = select.cache.load(Ordering::Relaxed);
        if cache >> 16 == shape.key() {
            // The entry was made for this shape, so the index is in range for this set.
            return slots.get((cache & 0xffff) as usize);
        }
        let index = shape.find(name)?;
        // Writing on every miss would make workers fight for the line at mixed sites.
        if index <= 0xffff && (cache == 0 || self.worker.one_in_sixteen()) {
            select.cache.store(shape.key() << 16 | index as u64, Ordering::Relaxed);
        }
        Some(&slots[index])
    }

    /// Selects without evaluating: only where set and member are there already, so that nothing
    /// can tell (see [`Value::settled`]).
    #[inline]
    pub(super) fn select_evaluated(&self, select: &'static Select, env: Env) -> Option<Value> {
        let Code::Var { level, slot, .. } = select.base else { return None };
        let [Name::Static(name)] = select.path else { return None };
        let base = env.get(level, slot);
        if base.0 == 0 {
            // The frame is being filled.
            return None;
        }
        let View::Attrs(attrs) = base.settled()?.view() else { return None };
        settled_member(self.lookup(select, attrs, *name)?)
    }

    pub(super) fn select(&self, select: &'static Select, env: Env) -> Result<Value> {
        let mut value = match self.eval(&select.base, env) {
            Ok(value) => value,
            Err(error) => return Err(error.frame(select.pos, SELECTING)),
        };
        // The attribute that led to `value`.
        let mut definition = None;
        for (i, name) in select.path.iter().enumerate() {
            let symbol = match name {
                Name::Static(symbol) => *symbol,
                Name::Dynamic(code, pos) => match self.attr_name(code, *pos, env) {
                    Ok(symbol) => symbol,
                    Err(error) => return Err(self.select_frames(select, definition, error, env)),
                },
            };
            let View::Attrs(attrs) = value.view() else {
                if let Some(default) = &select.default {
                    return self.eval(default, env);
                }
                let error = self.type_error(Type::Set, value, select.pos);
                let error = error.frame(select.pos, SELECTING);
                return Err(self.select_frames(select, definition, error, env));
            };
            // The cache knows shapes, not names: it is for a first name that is always the same.
            let slot = match name {
                Name::Static(..) if i == 0 => self.lookup(select, attrs, symbol),
                _ => attrs.get(symbol),
            };
            let Some(slot) = slot else {
                if let Some(default) = &select.default {
                    return self.eval(default, env);
                }
                let error = self.missing_attribute(attrs, symbol, Pos::NONE);
                return Err(self.select_frames(select, definition, error, env));
            };
            definition = Some((attrs, symbol));
            value = match self.force_slot(slot) {
                Ok(value) => value,
                Err(error) => {
                    let error = error.at(select.pos);
                    return Err(self.select_frames(select, definition, error, env));
                }
            };
        }
        Ok(value)
    }

    /// Adds what was selected and where its value comes from.
    #[cold]
    #[inline(never)]
    fn select_frames(
        &self,
        select: &'static Select,
        definition: Option<(Attrs, Symbol)>,
        error: Error,
        env: Env,
    ) -> Error {
        let mut path = Vec::new();
        for (i, name) in select.path.iter().enumerate() {
            if i > 0 {
                path.push(b'.');
            }
            match name {
                Name::Static(symbol) => {
                    escape::write_attribute_name(&mut path, symbol.as_bytes());
                }
                Name::Dynamic(code, pos) => match self.attr_name(code, *pos, env) {
                    Ok(symbol) => escape::write_attribute_name(&mut path, symbol.as_bytes()),
                    Err(_) => path.extend_from_slice("${…}".as_bytes()),
                },
            }
        }
        let path = String::from_utf8_lossy(&path);
        let definition = definition.and_then(|(attrs, symbol)| attrs.get_attr(symbol));
        let error = match definition.filter(|attr| attr.pos.is_known()) {
            Some(attr) => {
                let name = String::from_utf8_lossy(attr.name.as_bytes());
                error.frame(attr.pos, format!("from the definition of '{name}'"))
            }
            None => error,
        };
        error.frame(select.pos, format!("while evaluating the attribute '{path}'"))
    }

    /// Returns the error for an attribute that is not there, with suggestions.
    #[cold]
    #[inline(never)]
    pub(crate) fn missing_attribute(&self, attrs: Attrs, name: Symbol, pos: Pos) -> Error {
        let names: Vec<&[u8]> = attrs.attrs().iter().map(|a| a.name.as_bytes()).collect();
        let hint = super::expect::hint(name.as_bytes(), &names);
        let message = format!("attribute '{}' missing", name_in_message(name.as_bytes()));
        Error::with_hint(ErrorKind::MissingAttribute, pos, message, hint)
    }

    /// Evaluates a computed attribute name.
    pub(super) fn attr_name(&self, code: &'static Code, pos: Pos, env: Env) -> Result<Symbol> {
        let value = self.eval(code, env)?;
        let name = self
            .expect_plain_string(value, pos, || "while evaluating an attribute name".to_owned())?;
        Ok(Symbol::intern(name))
    }

    pub(super) fn has_attr(&self, code: &'static HasAttr, env: Env) -> Result<Value> {
        let mut value =
            self.eval(&code.base, env).trace(code.pos, || "in the argument of '?'".to_owned())?;
        let (last, front) = code.path.split_last().unwrap_or_else(|| {
            unreachable!("the parser makes attribute paths of at least one name")
        });
        for name in front {
            match self.step(name, value, env)? {
                Some(slot) => value = self.force_slot(slot)?,
                None => return Ok(Value::FALSE),
            }
        }
        Ok(Value::bool(self.step(last, value, env)?.is_some()))
    }

    fn step(&self, name: &'static Name, value: Value, env: Env) -> Result<Option<&'static Slot>> {
        let symbol = match name {
            Name::Static(symbol) => *symbol,
            Name::Dynamic(code, pos) => self.attr_name(code, *pos, env)?,
        };
        Ok(match value.view() {
            View::Attrs(attrs) => attrs.get(symbol),
            _ => None,
        })
    }

    pub(super) fn with_variable(&self, var: &'static WithVar, env: Env) -> Result<Value> {
        for &level in var.levels {
            let scope = self.force_slot(env.up(level).slot(0)).map_err(|e| e.at(var.pos))?;
            let attrs = self.expect_attrs(scope, var.pos, || {
                "while evaluating the first subexpression of a with expression".to_owned()
            })?;
            self.worker.stats.lookups.add(1);
            if let Some(slot) = attrs.get(var.name) {
                return self.force_slot(slot).map_err(|error| error.at(var.pos));
            }
        }
        Err(undefined(var.name, var.pos))
    }

    /// Looks a name up in the enclosing `with`s as long as everything is there already, like
    /// [`select_evaluated`](Self::select_evaluated).
    pub(super) fn with_evaluated(&self, var: &'static WithVar, env: Env) -> Option<Value> {
        for &level in var.levels {
            let View::Attrs(attrs) = env.get(level, 0).settled()?.view() else { return None };
            if let Some(slot) = attrs.get(var.name) {
                return settled_member(slot);
            }
        }
        None
    }
}

fn settled_member(slot: &Slot) -> Option<Value> {
    let value = slot.get();
    // The set may be being filled.
    if value.0 == 0 { None } else { value.settled() }
}

#[cold]
fn undefined(name: Symbol, pos: Pos) -> Error {
    let message = format!("undefined variable '{}'", name_in_message(name.as_bytes()));
    Error::new(ErrorKind::UndefinedVariable, pos, message)
}

/// Adds the position of an attribute to errors from its value.
impl Cx<'_> {
    /// Forces an attribute's value, naming the attribute in errors.
    pub fn force_attr(&self, attr: crate::value::Attr) -> Result<Value> {
        self.force_slot(attr.slot).trace(attr.pos, || {
            let name = String::from_utf8_lossy(attr.name.as_bytes());
            format!("while evaluating the attribute '{name}'")
        })
    }
}
