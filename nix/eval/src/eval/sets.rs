//! Set and `let` expressions: filling frames and sets from their bindings.

use raddle_nix_syntax::{Pos, Symbol};

use super::{Cx, Error, ErrorKind, Result};
use crate::compile::code::{Assert, AttrsCode, Bindings, Let, Scope};
use crate::value::env::Env;
use crate::value::{Attrs, AttrsBuilder, Value};

impl Cx<'_> {
    /// Makes the frame with the sources of `inherit (…)`, if there are any.
    fn sources_env(&self, bindings: &'static Bindings, inner: Env) -> Env {
        if bindings.from.is_empty() {
            return inner;
        }
        let env = self.new_env(inner, bindings.from.len());
        for (i, source) in bindings.from.iter().enumerate() {
            env.slot(i as u32).set(self.delay(source, inner));
        }
        env
    }

    pub(super) fn let_env(&self, code: &'static Let, outer: Env) -> Env {
        let inner = self.new_env(outer, code.bindings.values.len());
        let from = self.sources_env(&code.bindings, inner);
        for (i, (value, scope)) in code.bindings.values.iter().enumerate() {
            let env = match scope {
                Scope::Outer => outer,
                Scope::Inner => inner,
                Scope::From => from,
            };
            inner.slot(i as u32).set(self.delay(value, env));
        }
        inner
    }

    pub(super) fn attrs_code(&self, code: &'static AttrsCode, outer: Env) -> Result<Value> {
        let inner = if code.recursive { self.new_env(outer, code.shape.len()) } else { outer };
        let from = self.sources_env(&code.bindings, inner);
        let mut attrs = Attrs::with_shape(self.heap(), code.shape, |i| {
            let (value, scope) = &code.bindings.values[i];
            let env = match scope {
                Scope::Outer => outer,
                Scope::Inner => inner,
                Scope::From => from,
            };
            let value = self.delay(value, env);
            if code.recursive {
                inner.slot(i as u32).set(value);
            }
            value
        });
        self.count_set(attrs);
        if let Some(index) = code.overrides {
            attrs = self.override_bindings(code, index, attrs, inner)?;
        }
        if !code.dynamic.is_empty() {
            attrs = self.add_dynamic(code, attrs, inner)?;
        }
        Ok(attrs.into())
    }

    /// The ancient `__overrides`: its attributes replace bindings, also for their siblings.
    fn override_bindings(
        &self,
        code: &'static AttrsCode,
        index: usize,
        attrs: Attrs,
        inner: Env,
    ) -> Result<Attrs> {
        let value = self.force_slot(inner.slot(index as u32))?;
        let overrides = self.expect_attrs(value, Pos::NONE, || {
            "while evaluating the `__overrides` attribute".to_owned()
        })?;
        for attr in overrides.iter(self.heap()) {
            if let Some(slot) = code.shape.find(attr.name) {
                inner.slot(slot as u32).set(attr.value());
            }
        }
        Ok(attrs.update(self.heap(), overrides).0)
    }

    fn add_dynamic(&self, code: &'static AttrsCode, attrs: Attrs, inner: Env) -> Result<Attrs> {
        let mut builder = AttrsBuilder::with_capacity(attrs.len() + code.dynamic.len());
        let mut added: Vec<(Symbol, Pos)> = Vec::new();
        for attr in attrs.iter(self.heap()) {
            builder.push(attr.name, attr.pos, attr.value());
        }
        for binding in code.dynamic {
            let name = self.eval(&binding.name, inner)?;
            if name == Value::NULL {
                continue;
            }
            let name = self.expect_plain_string(name, binding.pos, || {
                "while evaluating the name of a dynamic attribute".to_owned()
            })?;
            let name = Symbol::intern(name);
            let first = added
                .iter()
                .find(|entry| entry.0 == name)
                .map(|entry| entry.1)
                .or_else(|| attrs.get_attr(name).map(|attr| attr.pos));
            if let Some(first) = first {
                return Err(duplicate(name, first, binding.pos));
            }
            added.push((name, binding.pos));
            builder.push(name, binding.pos, self.delay(&binding.value, inner));
        }
        Ok(self.attrs(builder))
    }

    pub(super) fn assert(&self, assert: &'static Assert, env: Env) -> Result<Value> {
        let condition = self.eval(&assert.condition, env);
        let text = "in the condition of the assert statement";
        if self.expect_condition(condition, assert.pos, text)? {
            return self.eval(&assert.body, env);
        }
        Err(self.assertion_failed(assert, env))
    }
}

#[cold]
fn duplicate(name: Symbol, first: Pos, pos: Pos) -> Error {
    let name = String::from_utf8_lossy(name.as_bytes());
    let at = first.locate().map_or(String::new(), |location| format!(" at {location}"));
    let message = format!("dynamic attribute '{name}' already defined{at}");
    Error::new(ErrorKind::Other, pos, message)
}
