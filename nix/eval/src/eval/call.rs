//! Calling functions.

use raddle_nix_syntax::{Pos, sym};
use smallvec::SmallVec;

use super::{Cx, Error, ErrorKind, Result};
use crate::compile::code::{Call, FormalsCode};
use crate::compile::{Code, LambdaCode};
use crate::value::env::Env;
use crate::value::function::{LambdaRef, PartialApp, PrimOp};
use crate::value::thunk::Thunk;
use crate::value::{Function, Value, View};

impl Cx<'_> {
    pub(super) fn call_code(&self, call: &'static Call, env: Env) -> Result<Value> {
        let function = self.eval(&call.function, env)?;
        let mut args: SmallVec<[Value; 4]> = SmallVec::new();
        let strict = match function.view() {
            View::Function(Function::Lambda(lambda)) => u8::from(lambda.code().formals.is_some()),
            View::Function(Function::PrimOp(primop)) if primop.arity <= call.args.len() => {
                primop.strict
            }
            _ => 0,
        };
        for (i, arg) in call.args.iter().enumerate() {
            args.push(if i < 8 && strict >> i & 1 == 1 {
                self.strict_argument(arg, env)
            } else {
                self.delay(arg, env)
            });
        }
        self.call(function, &args, call.pos)
    }

    /// Evaluates an argument that the callee will evaluate first of all. An error is left for the
    /// callee to find, so that it appears in the trace as always.
    #[inline]
    fn strict_argument(&self, arg: &'static Code, env: Env) -> Value {
        match arg {
            Code::Const(_) | Code::Var { .. } | Code::Lambda(_) => self.delay(arg, env),
            _ => match self.eval(arg, env) {
                Ok(value) => value,
                Err(error) => Thunk::failed(self.heap(), error),
            },
        }
    }

    /// Applies a function to one or more arguments and evaluates the result.
    pub fn call(&self, function: Value, args: &[Value], pos: Pos) -> Result<Value> {
        let mut function = self.force(function)?;
        let mut args = args;
        while let Some((&arg, rest)) = args.split_first() {
            match function.view() {
                View::Function(Function::Lambda(lambda)) => {
                    function = self.call_lambda(lambda, arg, pos)?;
                    args = rest;
                }
                View::Function(Function::PrimOp(primop)) => {
                    if args.len() < primop.arity {
                        for &arg in args {
                            function = PartialApp::alloc(self.heap(), function, arg);
                        }
                        return Ok(function);
                    }
                    function = self.call_primop(primop, &args[..primop.arity], pos)?;
                    args = &args[primop.arity..];
                }
                View::Function(Function::PartialApp(app)) => {
                    let (primop, mut all) = app.unwind();
                    let missing = primop.arity - all.len();
                    if args.len() < missing {
                        for &arg in args {
                            function = PartialApp::alloc(self.heap(), function, arg);
                        }
                        return Ok(function);
                    }
                    all.extend_from_slice(&args[..missing]);
                    function = self.call_primop(primop, &all, pos)?;
                    args = &args[missing..];
                }
                View::Attrs(attrs) => {
                    let Some(slot) = attrs.get(sym::FUNCTOR) else {
                        return Err(self.not_a_function(function, pos));
                    };
                    let functor = self.force_slot(slot).map_err(|error| {
                        error.frame(pos, "while calling a functor (an attribute set with a '__functor' attribute)")
                    })?;
                    self.enter(pos)?;
                    let called = self.call(functor, &[function], pos);
                    self.leave();
                    function = called?;
                }
                _ => return Err(self.not_a_function(function, pos)),
            }
        }
        Ok(function)
    }

    #[cold]
    fn not_a_function(&self, value: Value, pos: Pos) -> Error {
        let message = format!(
            "attempt to call something which is not a function but {}",
            super::expect::describe(value)
        );
        Error::new(ErrorKind::Type, pos, message)
    }

    /// Counts a nested call; the error for too many is at `pos`.
    #[inline(always)]
    fn enter(&self, pos: Pos) -> Result<()> {
        let depth = self.depth.get();
        if depth > self.depth_limit.get() || self.stack_is_full() {
            return Err(self.stack_overflow().too_deep_at(pos));
        }
        if let Some(needed) = self.needed
            && needed.is_gone()
        {
            return Err(Error::abandoned());
        }
        self.depth.set(depth + 1);
        Ok(())
    }

    #[inline(always)]
    fn leave(&self) {
        self.depth.set(self.depth.get() - 1);
    }

    /// Runs `work` one level deeper; the error for too many levels is at `pos`.
    pub(crate) fn nested<T>(&self, pos: Pos, work: impl FnOnce() -> Result<T>) -> Result<T> {
        self.enter(pos)?;
        let result = work();
        self.leave();
        result
    }

    #[inline]
    fn call_primop(&self, primop: &'static PrimOp, args: &[Value], pos: Pos) -> Result<Value> {
        self.worker.stats.primop_calls.add(1);
        self.enter(pos)?;
        let result = (primop.function)(self, args, pos).and_then(|value| self.force(value));
        self.leave();
        match result {
            Ok(value) => Ok(value),
            Err(error) => Err(primop_frame(error, primop, pos)),
        }
    }

    #[inline]
    fn call_lambda(&self, lambda: LambdaRef, arg: Value, pos: Pos) -> Result<Value> {
        self.worker.stats.function_calls.add(1);
        let code = lambda.code();
        self.enter(pos)?;
        let env = self.new_env(lambda.env(), code.slots);
        let bound = match &code.formals {
            None => {
                env.slot(0).set(arg);
                Ok(())
            }
            Some(formals) => self.bind(code, formals, env, arg),
        };
        let result = match bound {
            Ok(()) => match self.eval(&code.body, env) {
                Ok(value) => Ok(value),
                Err(error) => Err(self.lambda_frames(error, code, pos)),
            },
            Err(error) => Err(call_site_frame(error, pos)),
        };
        self.leave();
        result
    }

    /// Fills a frame from the attributes of the argument.
    #[inline(never)]
    fn bind(
        &self,
        code: &'static LambdaCode,
        formals: &'static FormalsCode,
        env: Env,
        arg: Value,
    ) -> Result<()> {
        let attrs = self.force_attrs(arg, code.pos, || {
            "while evaluating the value passed for the lambda argument".to_owned()
        })?;
        if !formals.ellipsis {
            // The attributes will be counted.
            let _ = attrs.flat(self.heap());
        }
        let mut slot = 0;
        if code.arg.is_some() {
            env.slot(0).set(attrs.into());
            slot = 1;
        }
        let mut found = 0;
        for formal in formals.formals {
            if let Some(value) = attrs.get(formal.name) {
                found += 1;
                env.slot(slot).set(value.get());
            } else if let Some(default) = &formal.default {
                env.slot(slot).set(self.delay(default, env));
            } else {
                return Err(missing_argument(code, formal.name));
            }
            slot += 1;
        }
        if !formals.ellipsis && found != attrs.len() {
            return Err(unexpected_argument(code, formals, attrs));
        }
        Ok(())
    }

    #[cold]
    #[inline(never)]
    fn lambda_frames(&self, error: Error, code: &'static LambdaCode, pos: Pos) -> Error {
        if !self.evaluator.settings.show_trace {
            return error;
        }
        let what = match code.name.get() {
            Some(name) => {
                format!("while calling '{}'", String::from_utf8_lossy(name.as_bytes()))
            }
            None => "while calling anonymous lambda".to_owned(),
        };
        call_site_frame(error.frame(code.pos, what), pos)
    }
}

#[cold]
fn call_site_frame(error: Error, pos: Pos) -> Error {
    if pos == Pos::NONE { error } else { error.frame(pos, "from call site") }
}

#[cold]
#[inline(never)]
fn primop_frame(error: Error, primop: &PrimOp, pos: Pos) -> Error {
    // Its whole point is to add a frame of its own.
    if primop.name == "addErrorContext" {
        return error;
    }
    // A function that it called was too deep.
    error.too_deep_at(pos).frame(pos, format!("while calling the '{}' builtin", primop.name))
}

fn lambda_name(code: &LambdaCode) -> String {
    code.name.get().map_or("anonymous lambda".to_owned(), |name| {
        String::from_utf8_lossy(name.as_bytes()).into_owned()
    })
}

#[cold]
fn missing_argument(code: &LambdaCode, name: raddle_nix_syntax::Symbol) -> Error {
    let name = String::from_utf8_lossy(name.as_bytes());
    let message =
        format!("function '{}' called without required argument '{name}'", lambda_name(code));
    Error::new(ErrorKind::Type, code.pos, message)
}

#[cold]
fn unexpected_argument(
    code: &LambdaCode,
    formals: &FormalsCode,
    attrs: crate::value::Attrs,
) -> Error {
    let expected: Vec<&[u8]> =
        formals.formals.iter().map(|formal| formal.name.as_bytes()).collect();
    let mut names: Vec<&[u8]> = attrs.attrs().iter().map(|attr| attr.name.as_bytes()).collect();
    names.sort_unstable();
    let unexpected = names.into_iter().find(|name| !expected.contains(name)).unwrap_or_default();
    let hint = super::expect::hint(unexpected, &expected);
    let message = format!(
        "function '{}' called with unexpected argument '{}'",
        lambda_name(code),
        String::from_utf8_lossy(unexpected)
    );
    Error::with_hint(ErrorKind::Type, code.pos, message, hint)
}

impl Cx<'_> {
    /// Calls a function for its Boolean result.
    pub(crate) fn call_bool(
        &self,
        function: Value,
        args: &[Value],
        pos: Pos,
        at: &'static str,
    ) -> Result<bool> {
        let value = self.call(function, args, pos)?;
        self.force_bool(value, pos, at)
    }
}
