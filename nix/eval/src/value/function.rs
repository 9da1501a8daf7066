//! Functions: lambdas, built-ins, and either with some of their arguments.
//!
//! ```text
//! Lambda      header(kind, code address) environment
//! PrimOp      header(kind) and the fields of `PrimOp`
//! PartialApp  header(kind) function argument
//! ```
#![expect(unsafe_code, reason = "reads the words of function objects")]

use super::env::Env;
use super::heap::{Heap, Kind};
use super::{Tag, Value};
use crate::compile::LambdaCode;
use crate::eval::{Cx, Result};
use raddle_nix_syntax::Pos;

/// A function value, taken apart.
#[derive(Debug, Clone, Copy)]
pub enum Function {
    /// A lambda with its environment.
    Lambda(LambdaRef),
    /// A built-in.
    PrimOp(&'static PrimOp),
    /// A built-in with fewer arguments than it takes.
    PartialApp(PartialApp),
}

/// The code of a built-in: gets exactly as many arguments as its arity says, unevaluated.
pub type PrimOpFn = fn(&Cx<'_>, &[Value], Pos) -> Result<Value>;

/// A built-in function.
#[repr(C)]
pub struct PrimOp {
    header: u64,
    /// The name as `builtins` has it.
    pub name: &'static str,
    /// The number of arguments, at least 1.
    pub arity: usize,
    /// The arguments that are evaluated in any case before anything else happens, as bits: the
    /// caller may evaluate them at once instead of making thunks.
    pub(crate) strict: u8,
    pub(crate) function: PrimOpFn,
}

impl PrimOp {
    /// Describes a built-in.
    pub(crate) const fn new(name: &'static str, arity: usize, function: PrimOpFn) -> PrimOp {
        PrimOp { header: Kind::PrimOp as u64, name, arity, strict: 0, function }
    }

    /// Says which arguments are evaluated in any case; see [`PrimOp::strict`].
    pub(crate) const fn strict(mut self, strict: u8) -> PrimOp {
        self.strict = strict;
        self
    }
}

impl std::fmt::Debug for PrimOp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "PrimOp({})", self.name)
    }
}

/// A lambda value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct LambdaRef(*const u64);

/// A built-in with some arguments.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct PartialApp(*const u64);

// SAFETY: function objects are immutable and never freed.
unsafe impl Send for LambdaRef {}
// SAFETY: as above.
unsafe impl Sync for LambdaRef {}
// SAFETY: as above.
unsafe impl Send for PartialApp {}
// SAFETY: as above.
unsafe impl Sync for PartialApp {}

impl Function {
    #[inline(always)]
    pub(super) fn from_ptr(ptr: *const u64) -> Function {
        // SAFETY: a function word points at a function object; the header is its first word.
        let header = unsafe { *ptr };
        match header as u8 {
            k if k == Kind::Lambda as u8 => Function::Lambda(LambdaRef(ptr)),
            k if k == Kind::PartialApp as u8 => Function::PartialApp(PartialApp(ptr)),
            // SAFETY: the only other kind of function object is a `PrimOp`, which is `repr(C)`,
            // begins with its header and lives as long as the process.
            _ => Function::PrimOp(unsafe { &*ptr.cast::<PrimOp>() }),
        }
    }
}

impl LambdaRef {
    /// Allocates a lambda.
    #[inline]
    pub(crate) fn alloc(heap: &Heap, code: &'static LambdaCode, env: Env) -> Value {
        let ptr = heap.alloc(2);
        let code = std::ptr::from_ref(code).expose_provenance() as u64;
        // SAFETY: `alloc` returned two words that nobody else knows yet.
        unsafe {
            ptr.write(code << 16 | Kind::Lambda as u64);
            ptr.add(1).write(env.to_word());
        }
        Value::from_ptr(ptr, Tag::Function)
    }

    /// Returns the code.
    #[inline]
    pub(crate) fn code(self) -> &'static LambdaCode {
        // SAFETY: the upper bits of a lambda's header are the address of its code, which lives as
        // long as the process.
        unsafe { &*std::ptr::with_exposed_provenance((*self.0 >> 16) as usize) }
    }

    /// Returns the environment it was made in.
    #[inline]
    pub(crate) fn env(self) -> Env {
        // SAFETY: the second word of a lambda is its environment.
        Env::from_word(unsafe { *self.0.add(1) })
    }
}

impl PartialApp {
    /// Allocates a partial application; `function` is a built-in or a partial application.
    pub(crate) fn alloc(heap: &Heap, function: Value, arg: Value) -> Value {
        let ptr = heap.alloc(3);
        // SAFETY: `alloc` returned three words that nobody else knows yet.
        unsafe {
            ptr.write(Kind::PartialApp as u64);
            ptr.add(1).write(function.0);
            ptr.add(2).write(arg.0);
        }
        Value::from_ptr(ptr, Tag::Function)
    }

    fn word(self, index: usize) -> Value {
        // SAFETY: a partial application has three words, and `index` is 1 or 2.
        Value(unsafe { *self.0.add(index) })
    }

    /// Returns the built-in and the arguments so far, first one first.
    pub(crate) fn unwind(self) -> (&'static PrimOp, Vec<Value>) {
        let mut args = Vec::with_capacity(4);
        let mut app = self;
        loop {
            args.push(app.word(2));
            match Function::from_ptr(app.word(1).ptr()) {
                Function::PartialApp(inner) => app = inner,
                Function::PrimOp(primop) => {
                    args.reverse();
                    return (primop, args);
                }
                Function::Lambda(_) => unreachable!("partial applications are of built-ins"),
            }
        }
    }
}

impl From<&'static PrimOp> for Value {
    fn from(primop: &'static PrimOp) -> Value {
        Value::from_ptr(std::ptr::from_ref(primop).cast(), Tag::Function)
    }
}

impl std::fmt::Debug for LambdaRef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Lambda({:p})", self.0)
    }
}

impl std::fmt::Debug for PartialApp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "PartialApp({:p})", self.0)
    }
}
