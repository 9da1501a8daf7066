//! Evaluation: code in an environment to a value.
//!
//! Everything here takes a [`Cx`], the view that one task has of the shared [`Evaluator`].
//! `force` makes a thunk a value, `call` applies functions, `ops` compares and combines values,
//! `coerce` makes strings of them, `expect` checks types and words the complaints.
//!
//! Invariant: what `eval` and `force` return is never a thunk.

mod call;
mod coerce;
mod deep;
mod effects;
mod error;
mod expect;
mod force;
mod ops;
mod parallel;
mod select;
mod sets;

use std::cell::Cell;

use raddle::Task;
use raddle_nix_syntax::{Pos, Symbol, sym};

pub use coerce::Coerce;
pub use effects::Effects;
pub use error::{Cause, Error, ErrorKind, Frame, Result, Trace};
pub(crate) use expect::{describe, hint, name_in_message, show_type};
pub use parallel::Ahead;

use crate::compile::Code;
use crate::compile::code::{Binary, Op};
use crate::evaluator::{Evaluator, Worker};
use crate::value::attrs::Shape;
use crate::value::env::Env;
use crate::value::function::LambdaRef;
use crate::value::heap::Heap;
use crate::value::thunk::Thunk;
use crate::value::{Attrs, AttrsBuilder, Context, List, Slot, Str, Value};

/// What one task needs to evaluate.
///
/// Lives on the task's own stack; a task stays on the worker that started it.
#[derive(Debug)]
pub struct Cx<'e> {
    /// What all tasks share.
    pub(crate) evaluator: &'e Evaluator,
    /// What this task's worker owns.
    pub(crate) worker: &'e Worker,
    /// The runtime's view of this task.
    pub(crate) task: &'e Task<'e>,
    id: u32,
    /// Whether there is only one worker.
    alone: bool,
    stack_limit: usize,
    /// How many calls are nested.
    depth: Cell<u32>,
    /// How many may be: so many more than when the thunk at hand began to be evaluated.
    depth_limit: Cell<u32>,
    max_depth: u32,
    /// The thunk that was last found to need itself.
    recursive: Cell<usize>,
    /// Whether this task is still needed; `None` for the first one.
    needed: Option<&'e parallel::Needed<'e>>,
    effects: effects::Log,
}

impl<'e> Cx<'e> {
    /// Returns the view of `task`, which is `direct` if it goes through the program in its order
    /// and prints its effects at once.
    pub(crate) fn new(evaluator: &'e Evaluator, task: &'e Task<'e>, direct: bool) -> Cx<'e> {
        Cx {
            evaluator,
            worker: evaluator.worker(task),
            task,
            id: task.id().get(),
            alone: task.workers() == 1,
            stack_limit: task.stack_limit(),
            depth: Cell::new(0),
            depth_limit: Cell::new(evaluator.settings.max_call_depth),
            max_depth: evaluator.settings.max_call_depth,
            recursive: Cell::new(0),
            needed: None,
            effects: effects::Log::new(direct),
        }
    }

    /// Returns another view of the same task, for what is evaluated ahead: it prints nothing.
    pub(crate) fn ahead_of_itself(&self) -> Cx<'e> {
        let mut cx = Cx::new(self.evaluator, self.task, false);
        cx.needed = self.needed;
        cx
    }

    /// Returns whether there is only one worker.
    pub(crate) fn is_alone(&self) -> bool {
        self.alone
    }

    /// Returns this worker's heap.
    #[inline(always)]
    pub(crate) fn heap(&self) -> &'e Heap {
        &self.worker.heap
    }

    /// Makes sure that there is room for a buffer of `len` elements outside of the heap; see
    /// [`Heap::room_for`].
    #[inline]
    pub(crate) fn room_for<T>(&self, len: usize) {
        self.heap().room_for(len.saturating_mul(size_of::<T>()));
    }

    /// Makes sure that there is room for a text of `len` bytes and for a copy of it in the heap.
    #[inline]
    pub(crate) fn room_for_text(&self, len: usize) {
        self.heap().room_for(len.saturating_mul(2));
    }

    /// Returns an integer value.
    pub fn int(&self, i: i64) -> Value {
        Value::int(self.heap(), i)
    }

    /// Returns a float value.
    pub fn float(&self, f: f64) -> Value {
        Value::float(self.heap(), f)
    }

    /// Returns a string value without context.
    pub fn string(&self, bytes: impl AsRef<[u8]>) -> Value {
        Str::new(self.heap(), bytes.as_ref()).into()
    }

    /// Returns a string value with a context.
    pub fn string_with(&self, bytes: impl AsRef<[u8]>, context: Context) -> Value {
        Str::with_context(self.heap(), bytes.as_ref(), context).into()
    }

    /// Returns a path value; the bytes are absolute and canonical.
    pub fn path(&self, bytes: impl AsRef<[u8]>) -> Value {
        Value::path(self.heap(), bytes.as_ref())
    }

    /// Returns a list value.
    pub fn list(&self, values: &[Value]) -> Value {
        self.worker.stats.list_elements.add(values.len());
        List::new(self.heap(), values).into()
    }

    /// Returns a list value whose elements `value` gives by index.
    pub fn list_from_fn(&self, len: usize, value: impl FnMut(usize) -> Value) -> Value {
        self.worker.stats.list_elements.add(len);
        List::from_fn(self.heap(), len, value).into()
    }

    /// Returns the set that a builder collected.
    pub fn set(&self, builder: AttrsBuilder) -> Value {
        self.attrs(builder).into()
    }

    /// Returns the set that a builder collected, as a set.
    pub fn attrs(&self, builder: AttrsBuilder) -> Attrs {
        let attrs = builder.finish(self.heap());
        self.count_set(attrs);
        attrs
    }

    pub(crate) fn count_set(&self, attrs: Attrs) {
        self.worker.stats.sets.add(1);
        self.worker.stats.set_elements.add(attrs.len());
    }

    /// Returns the delayed call `function arg`.
    pub fn apply_later(&self, function: Value, arg: Value) -> Value {
        self.worker.stats.thunks.add(1);
        Thunk::apply(self.heap(), function, arg)
    }

    /// Returns the delayed call `function "name" value`; `placed` says whether it has a place in
    /// traces: that of the function, which must be evaluated.
    pub fn apply_named_later(
        &self,
        function: Value,
        name: Symbol,
        value: Value,
        placed: bool,
    ) -> Value {
        self.worker.stats.thunks.add(1);
        Thunk::apply_named(self.heap(), function, name, value, placed)
    }

    /// Evaluates `code` in `env`.
    pub(crate) fn eval(&self, code: &'static Code, env: Env) -> Result<Value> {
        match *code {
            Code::Const(value) => self.force(value),
            Code::Var { level, slot, pos } | Code::DelayedVar(level, slot, pos) => {
                self.force_variable(env.up(level).slot(slot), pos)
            }
            Code::Select(select) => self.select(select, env),
            Code::Call(call) => self.call_code(call, env),
            Code::WithVar(var) => self.with_variable(var, env),
            Code::Lambda(lambda) => Ok(LambdaRef::alloc(self.heap(), lambda, env)),
            Code::Attrs(attrs) => self.attrs_code(attrs, env),
            Code::Let(code) => {
                let inner = self.let_env(code, env);
                self.eval(&code.body, inner)
            }
            Code::With(with) => {
                let inner = self.new_env(env, 1);
                inner.slot(0).set(self.delay(&with.scope, env));
                self.eval(&with.body, inner)
            }
            Code::If(code) => {
                let condition = self.eval(&code.condition, env);
                if self.expect_condition(
                    condition,
                    code.pos,
                    "while evaluating a branch condition",
                )? {
                    self.eval(&code.yes, env)
                } else {
                    self.eval(&code.no, env)
                }
            }
            Code::Assert(assert) => self.assert(assert, env),
            Code::ConstList(list) => Ok(list.into()),
            Code::List(items) => Ok(self.list_from_fn(items.len(), |i| self.delay(&items[i], env))),
            Code::HasAttr(code) => self.has_attr(code, env),
            Code::Not(not) => {
                let operand = self.eval(&not.operand, env);
                let text = "in the argument of '!'";
                Ok(Value::bool(!self.expect_condition(operand, not.pos, text)?))
            }
            Code::Binary(binary) => self.binary(binary, env),
            Code::Add(parts) => self.add_code(parts, env),
            Code::Interpolate(parts) => self.interpolate(parts, env),
            Code::InterpolatePath(parts) => self.interpolate_path(parts, env),
            Code::Lookup(name, pos) => self.lookup_path(name, pos),
            Code::File(path) => self.eval_file(path),
        }
    }

    /// Returns a value for `code` without evaluating more than a constant amount: a thunk, unless
    /// it is cheap and cannot fail.
    #[inline]
    pub(crate) fn delay(&self, code: &'static Code, env: Env) -> Value {
        match *code {
            Code::Const(value) => return value,
            Code::Var { level, slot, .. } => return env.get(level, slot),
            Code::Lambda(lambda) => return LambdaRef::alloc(self.heap(), lambda, env),
            Code::Select(select) => {
                if let Some(value) = self.select_evaluated(select, env) {
                    self.worker.stats.avoided.add(1);
                    return value;
                }
            }
            Code::WithVar(var) => {
                if let Some(value) = self.with_evaluated(var, env) {
                    self.worker.stats.avoided.add(1);
                    return value;
                }
            }
            _ => {}
        }
        self.worker.stats.thunks.add(1);
        Thunk::suspended(self.heap(), code, env)
    }

    #[inline(always)]
    pub(crate) fn new_env(&self, up: Env, slots: usize) -> Env {
        self.worker.stats.envs.add(1);
        self.worker.stats.env_elements.add(slots);
        Env::new(self.heap(), up, slots)
    }

    fn binary(&self, binary: &'static Binary, env: Env) -> Result<Value> {
        let Binary { op, lhs, rhs, lhs_pos, rhs_pos, pos } = binary;
        let left = |text| self.expect_condition(self.eval(lhs, env), *lhs_pos, text);
        let right = |text| self.expect_condition(self.eval(rhs, env), *rhs_pos, text);
        Ok(Value::bool(match op {
            Op::And => {
                left("in the left operand of '&&'")? && right("in the right operand of '&&'")?
            }
            Op::Or => {
                left("in the left operand of '||'")? || right("in the right operand of '||'")?
            }
            Op::Implies => {
                !left("in the left operand of '->'")? || right("in the right operand of '->'")?
            }
            Op::Eq | Op::NotEq => {
                let sign = if *op == Op::Eq { "==" } else { "!=" };
                let a = self
                    .eval(lhs, env)
                    .trace(*lhs_pos, || format!("in the left operand of '{sign}'"))?;
                let b = self
                    .eval(rhs, env)
                    .trace(*rhs_pos, || format!("in the right operand of '{sign}'"))?;
                self.equal_direct(a, b, *pos)? == (*op == Op::Eq)
            }
            Op::Update => return self.update_code(binary, env),
            Op::Concat => return self.concat_code(binary, env),
            _ => return self.arithmetic_code(binary, env),
        }))
    }

    /// Replaces a thunk in `slot` by its result, and returns that.
    #[inline(always)]
    pub(crate) fn force_slot(&self, slot: &Slot) -> Result<Value> {
        let value = slot.get();
        if !value.is_thunk() {
            return Ok(value);
        }
        self.force_thunk_in(value, slot)
    }

    /// Like [`force_slot`](Self::force_slot) for a variable mentioned at `pos`.
    #[inline(always)]
    fn force_variable(&self, slot: &Slot, pos: Pos) -> Result<Value> {
        let value = slot.get();
        if !value.is_thunk() {
            return Ok(value);
        }
        match self.force_thunk_in(value, slot) {
            Ok(value) => Ok(value),
            Err(error) => Err(error.at(pos)),
        }
    }
}

/// Returns `{ file; line; column; }` for a position, or null for an unknown one.
pub(crate) fn position_value(heap: &Heap, pos: Pos) -> Value {
    let Some(location) = pos.locate() else { return Value::NULL };
    let file = Str::new(heap, location.name().as_bytes());
    let mut fields = [
        (sym::FILE, file.into()),
        (sym::LINE, Value::int(heap, location.line as i64)),
        (sym::COLUMN, Value::int(heap, location.column as i64)),
    ];
    fields.sort_by_key(|field| field.0);
    let shape = Shape::new(heap, fields.iter().map(|field| (field.0, Pos::NONE)));
    Attrs::with_shape(heap, shape, |i| fields[i].1).into()
}
