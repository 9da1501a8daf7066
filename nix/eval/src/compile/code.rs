//! The compiled form of expressions.
//!
//! Variables are resolved to (frames outwards, slot), globals to constants, static sets to shapes.
//! Code lives as long as the process: thunks and lambdas point at it.
//!
//! Invariant: the frames that [`Code`] counts are exactly those that the `eval` module makes: one
//! per `let`, recursive set, `with`, lambda, and per set with computed `inherit (…)` sources.

use std::sync::OnceLock;
use std::sync::atomic::AtomicU64;

use raddle_nix_syntax::{Pos, Symbol};

use crate::value::{List, Shape, Value};

/// An expression.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Code {
    /// A literal or a global.
    Const(Value),
    /// A variable in a frame.
    Var {
        /// Frames outwards.
        level: u32,
        /// Slot in that frame.
        slot: u32,
        /// Where it is mentioned.
        pos: Pos,
    },
    /// Like `Var`, where the slot may still be empty while the expression's frame is being filled,
    /// so it must be delayed.
    DelayedVar(u32, u32, Pos),
    /// A variable that enclosing `with`s provide.
    WithVar(&'static WithVar),
    /// `base.path or default`
    Select(&'static Select),
    /// `base ? path`
    HasAttr(&'static HasAttr),
    /// `{ … }`
    Attrs(&'static AttrsCode),
    /// `let … in …`
    Let(&'static Let),
    /// `with …; …`
    With(&'static With),
    /// A function.
    Lambda(&'static LambdaCode),
    /// A call.
    Call(&'static Call),
    /// `if … then … else …`
    If(&'static If),
    /// `assert …; …`
    Assert(&'static Assert),
    /// `[ … ]`, not empty.
    List(&'static [Code]),
    /// A list of constants.
    ConstList(List),
    /// `!e`
    Not(&'static Unary),
    /// Operators that are not calls of globals.
    Binary(&'static Binary),
    /// Additions and concatenations `a + b + …`.
    Add(&'static Concat),
    /// `"…${…}…"`
    Interpolate(&'static Concat),
    /// `./a/${b}`: the first part is a path.
    InterpolatePath(&'static Concat),
    /// `<name>` with the standard lookup function.
    Lookup(&'static [u8], Pos),
    /// The contents of the file at a resolved path.
    File(&'static [u8]),
}

/// See [`Code::WithVar`].
#[derive(Debug)]
pub(crate) struct WithVar {
    /// The name.
    pub name: Symbol,
    /// Where it is mentioned.
    pub pos: Pos,
    /// Frames outwards of each enclosing `with`, innermost first.
    pub levels: &'static [u32],
}

/// One component of an attribute path.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Name {
    /// A name known from the source.
    Static(Symbol),
    /// A computed name.
    Dynamic(Code, Pos),
}

/// See [`Code::Select`].
#[derive(Debug)]
pub(crate) struct Select {
    /// The set.
    pub base: Code,
    /// At least one component.
    pub path: &'static [Name],
    /// After `or`.
    pub default: Option<Code>,
    /// Where it is.
    pub pos: Pos,
    /// Shape address and index of the last hit for the first component; see `eval::select`.
    pub cache: AtomicU64,
}

/// See [`Code::HasAttr`].
#[derive(Debug)]
pub(crate) struct HasAttr {
    /// The set.
    pub base: Code,
    /// Where the set is.
    pub pos: Pos,
    /// At least one component.
    pub path: &'static [Name],
}

/// The frame in which the value of a binding is evaluated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    /// The one around the set.
    Outer,
    /// The set's own (the same as the outer one unless it is recursive).
    Inner,
    /// The frame with the sources of `inherit (…)`.
    From,
}

/// The bindings of a set or a `let`.
#[derive(Debug)]
pub(crate) struct Bindings {
    /// The value of each name, in the order of the shape, with the frame it is evaluated in.
    pub values: &'static [(Code, Scope)],
    /// The sources of `inherit (…)` that need a frame of their own.
    pub from: &'static [Code],
}

/// See [`Code::Attrs`].
#[derive(Debug)]
pub(crate) struct AttrsCode {
    /// The static names.
    pub shape: Shape,
    /// Their values.
    pub bindings: Bindings,
    /// Whether the bindings have a frame, with the slots in the order of the shape.
    pub recursive: bool,
    /// The index of `__overrides` in a recursive set.
    pub overrides: Option<usize>,
    /// The computed names.
    pub dynamic: &'static [Dynamic],
}

/// A binding with a computed name.
#[derive(Debug)]
pub(crate) struct Dynamic {
    /// The name; null drops the binding.
    pub name: Code,
    /// The value.
    pub value: Code,
    /// Where it is.
    pub pos: Pos,
}

/// See [`Code::Let`].
#[derive(Debug)]
pub(crate) struct Let {
    /// The bindings, in the order of the frame's slots.
    pub bindings: Bindings,
    /// The body.
    pub body: Code,
}

/// See [`Code::With`].
#[derive(Debug)]
pub(crate) struct With {
    /// The set.
    pub scope: Code,
    /// The body.
    pub body: Code,
}

/// See [`Code::Lambda`].
#[derive(Debug)]
pub(crate) struct LambdaCode {
    /// The name that takes the whole argument: slot 0.
    pub arg: Option<Symbol>,
    /// The set pattern.
    pub formals: Option<FormalsCode>,
    /// The body.
    pub body: Code,
    /// Where it is.
    pub pos: Pos,
    /// The name of the binding that it is the value of, if it is one.
    pub name: OnceLock<Symbol>,
    /// The number of slots of its frame.
    pub slots: usize,
}

/// A set pattern.
#[derive(Debug)]
pub(crate) struct FormalsCode {
    /// The names, sorted by symbol; the slots follow those of `arg` in this order.
    pub formals: &'static [FormalCode],
    /// Whether other attributes are allowed.
    pub ellipsis: bool,
}

/// A name of a set pattern.
#[derive(Debug)]
pub(crate) struct FormalCode {
    /// The name.
    pub name: Symbol,
    /// Where it is.
    pub pos: Pos,
    /// Evaluated in the lambda's frame.
    pub default: Option<Code>,
}

/// See [`Code::Call`].
#[derive(Debug)]
pub(crate) struct Call {
    /// The function.
    pub function: Code,
    /// At least one argument.
    pub args: &'static [Code],
    /// Where it is.
    pub pos: Pos,
}

/// See [`Code::If`].
#[derive(Debug)]
pub(crate) struct If {
    /// The condition.
    pub condition: Code,
    /// Taken when it holds.
    pub yes: Code,
    /// Taken when it does not.
    pub no: Code,
    /// Where it is.
    pub pos: Pos,
}

/// See [`Code::Assert`].
#[derive(Debug)]
pub(crate) struct Assert {
    /// The condition.
    pub condition: Code,
    /// The condition's source, as the desugared printer gives it.
    pub text: &'static str,
    /// The body.
    pub body: Code,
    /// Where it is.
    pub pos: Pos,
}

/// See [`Code::Not`].
#[derive(Debug)]
pub(crate) struct Unary {
    /// The operand.
    pub operand: Code,
    /// Where the operand is.
    pub pos: Pos,
}

/// The operators of [`Code::Binary`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Op {
    /// `==`
    Eq,
    /// `!=`
    NotEq,
    /// `&&`
    And,
    /// `||`
    Or,
    /// `->`
    Implies,
    /// `//`
    Update,
    /// `++`
    Concat,
    /// `-` with the standard `__sub`
    Sub,
    /// `*` with the standard `__mul`
    Mul,
    /// `/` with the standard `__div`
    Div,
    /// `<` with the standard `__lessThan`
    Less,
    /// `>`
    Greater,
    /// `<=`
    LessEq,
    /// `>=`
    GreaterEq,
}

/// See [`Code::Binary`].
#[derive(Debug)]
pub(crate) struct Binary {
    /// The operator.
    pub op: Op,
    /// Left operand.
    pub lhs: Code,
    /// Right operand.
    pub rhs: Code,
    /// Where the left operand is.
    pub lhs_pos: Pos,
    /// Where the right operand is.
    pub rhs_pos: Pos,
    /// Where the operator is.
    pub pos: Pos,
}

/// See [`Code::Add`], [`Code::Interpolate`] and [`Code::InterpolatePath`].
#[derive(Debug)]
pub(crate) struct Concat {
    /// The parts with their positions.
    pub parts: &'static [(Code, Pos)],
}
