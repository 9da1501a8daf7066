//! Attributes and `with`: looking names up in sets.

use std::sync::atomic::Ordering;

use raddle_nix_syntax::{Pos, Symbol};

use super::{Cx, Error, ErrorKind, Result, Trace};
use crate::compile::Code;
use crate::compile::code::{HasAttr, Name, Select, WithVar};
use crate::value::env::Env;
use crate::value::{Attrs, Slot, Value, View};

impl Cx<'_> {
    /// Looks up the first name of `select`, remembering where sets of that shape have it.
    #[inline(always)]
    fn lookup(&self, select: &Select, attrs: Attrs, name: Symbol) -> Option<&'static Slot> {
        self.worker.stats.lookups.add(1);
        let (shape, slots) = attrs.top();
        let cache = select.cache.load(Ordering::Relaxed);
        if cache >> 16 == shape.key() {
            // The entry was made for this shape, so the index is in range for this set.
            return slots.get((cache & 0xffff) as usize);
        }
        if let Some(index) = shape.find(name) {
            // Writing on every miss would make workers fight for the line at mixed sites.
            if index <= 0xffff && (cache == 0 || self.worker.one_in_sixteen()) {
                select.cache.store(shape.key() << 16 | index as u64, Ordering::Relaxed);
            }
            return Some(&slots[index]);
        }
        attrs.base()?.get(name)
    }

    /// Selects without evaluating: only where the set is there already.
    #[inline]
    pub(super) fn select_evaluated(&self, select: &'static Select, env: Env) -> Option<Value> {
        let Code::Var { level, slot, .. } = select.base else { return None };
        let [Name::Static(name, _)] = select.path else { return None };
        let base = env.get(level, slot);
        if base.0 == 0 {
            // The frame is being filled.
            return None;
        }
        let View::Attrs(attrs) = base.view() else { return None };
        let value = self.lookup(select, attrs, *name)?.get();
        (value.0 != 0).then_some(value)
    }

    pub(super) fn select(&self, select: &'static Select, env: Env) -> Result<Value> {
        let mut value = match self.eval(&select.base, env) {
            Ok(value) => value,
            Err(error) => return Err(self.select_frame(select, select.pos, error)),
        };
        for (i, name) in select.path.iter().enumerate() {
            let (symbol, name_pos) = match name {
                Name::Static(symbol, pos) => (*symbol, *pos),
                Name::Dynamic(code, pos) => (self.attr_name(code, *pos, env)?, *pos),
            };
            let View::Attrs(attrs) = value.view() else {
                if let Some(default) = &select.default {
                    return self.eval(default, env);
                }
                let error = self.type_error(crate::value::Type::Set, value, select.pos);
                return Err(self.select_frame(select, select.pos, error));
            };
            let slot = if i == 0 { self.lookup(select, attrs, symbol) } else { attrs.get(symbol) };
            let Some(slot) = slot else {
                if let Some(default) = &select.default {
                    return self.eval(default, env);
                }
                let error = self.missing_attribute(attrs, symbol, name_pos);
                return Err(if i == 0 {
                    error
                } else {
                    self.select_frame(select, name_pos, error)
                });
            };
            value = match self.force_slot(slot) {
                Ok(value) => value,
                Err(error) => {
                    let pos = attrs.get_attr(symbol).map_or(Pos::NONE, |attr| attr.pos);
                    let error = error.at(select.pos);
                    return Err(self.select_frame(select, pos, error));
                }
            };
        }
        Ok(value)
    }

    #[cold]
    #[inline(never)]
    fn select_frame(&self, select: &Select, pos: Pos, error: Error) -> Error {
        let mut path = String::new();
        for name in select.path {
            if !path.is_empty() {
                path.push('.');
            }
            match name {
                Name::Static(symbol, _) => {
                    path.push_str(&String::from_utf8_lossy(symbol.as_bytes()));
                }
                Name::Dynamic(..) => path.push_str("${…}"),
            }
        }
        error.frame(pos, format!("while evaluating the attribute '{path}'"))
    }

    /// Returns the error for an attribute that is not there, with suggestions.
    #[cold]
    #[inline(never)]
    pub(crate) fn missing_attribute(&self, attrs: Attrs, name: Symbol, pos: Pos) -> Error {
        let names: Vec<&[u8]> = attrs.attrs().iter().map(|a| a.name.as_bytes()).collect();
        let hint = super::expect::hint(name.as_bytes(), &names);
        let message = format!("attribute '{}' missing", String::from_utf8_lossy(name.as_bytes()));
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
        let mut value = self.eval(&code.base, env)?;
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
            Name::Static(symbol, _) => *symbol,
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

    /// Looks a name up in the enclosing `with`s as long as their sets are there already.
    pub(super) fn with_evaluated(&self, var: &'static WithVar, env: Env) -> Option<Value> {
        for &level in var.levels {
            let View::Attrs(attrs) = env.get(level, 0).view() else { return None };
            if let Some(slot) = attrs.get(var.name) {
                return Some(slot.get()).filter(|value| value.0 != 0);
            }
        }
        None
    }
}

#[cold]
fn undefined(name: Symbol, pos: Pos) -> Error {
    let name = String::from_utf8_lossy(name.as_bytes());
    Error::new(ErrorKind::UndefinedVariable, pos, format!("undefined variable '{name}'"))
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
