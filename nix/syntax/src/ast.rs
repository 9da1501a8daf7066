//! The tree of one source file.
//!
//! Nodes live in a [`bumpalo::Bump`] arena and refer to each other by plain references, so a tree
//! is freed as a whole once it is compiled. The tree is *merged but not desugared*: attribute
//! paths on the left of `=` have become nested sets and duplicates are already rejected, but
//! operators, `inherit` and `with` are as written.
//!
//! Invariant: every node carries the position that an error about it should point at.
//!
//! Not here: what a name refers to, or what an operator does.

use crate::{Pos, Symbol};

/// An expression with its position.
#[derive(Debug, Clone, Copy)]
pub struct Expr<'a> {
    /// Where an error about this expression points.
    pub pos: Pos,
    /// What it is.
    pub kind: ExprKind<'a>,
}

/// The forms of an expression.
#[derive(Debug, Clone, Copy)]
pub enum ExprKind<'a> {
    /// An integer literal; never negative.
    Int(i64),
    /// A float literal.
    Float(f64),
    /// A variable, to be resolved lexically and then through the enclosing `with`s.
    Var(Symbol),
    /// A string without interpolation, escapes and indentation already processed.
    /// URI literals are strings too.
    Str(&'a [u8]),
    /// A string with at least one interpolation (`"a${b}"`, `''…${b}…''`).
    Interpolated(&'a [Part<'a>]),
    /// A path literal as written (`./x`, `../x`, `/x`, `a/b`, `~/x`), without interpolation.
    Path(&'a [u8]),
    /// A path with interpolation; the first part is a literal beginning as a path does.
    InterpolatedPath(&'a [Part<'a>]),
    /// `<nixpkgs/lib>`, without the angle brackets.
    LookupPath(&'a [u8]),
    /// `[ a b ]`.
    List(&'a [&'a Expr<'a>]),
    /// `{ … }` or `rec { … }`.
    Attrs(&'a Attrs<'a>),
    /// `let … in body`. The bindings are recursive and have no dynamic names.
    Let(&'a Attrs<'a>, &'a Expr<'a>),
    /// The ancient `let { …; body = e; }`: means `(rec { … }).body`.
    LegacyLet(&'a Attrs<'a>),
    /// `with scope; body`.
    With(&'a Expr<'a>, &'a Expr<'a>),
    /// `assert condition; body`.
    Assert(&'a Expr<'a>, &'a Expr<'a>),
    /// `if condition then yes else no`.
    If(&'a Expr<'a>, &'a Expr<'a>, &'a Expr<'a>),
    /// A function.
    Lambda(&'a Lambda<'a>),
    /// A call with one or more arguments, outermost call flattened: `f a b` is one node.
    Call(&'a Expr<'a>, &'a [&'a Expr<'a>]),
    /// `base.path` or `base.path or default`.
    Select(&'a Expr<'a>, &'a [AttrName<'a>], Option<&'a Expr<'a>>),
    /// `base ? path`.
    HasAttr(&'a Expr<'a>, &'a [AttrName<'a>]),
    /// `!e`.
    Not(&'a Expr<'a>),
    /// `-e`: the call `__sub 0 e`, with `__sub` looked up lexically.
    Negate(&'a Expr<'a>),
    /// A binary operator; the expression's position is the operator's.
    Binary(BinaryOp, &'a Expr<'a>, &'a Expr<'a>),
    /// `__curPos`.
    CurPos,
}

/// A piece of an interpolated string or path.
#[derive(Debug, Clone, Copy)]
pub enum Part<'a> {
    /// Literal bytes, escapes processed.
    Literal(&'a [u8]),
    /// `${e}`.
    Interpolation(&'a Expr<'a>),
}

/// One component of an attribute path in a selection (`a`, `"a"`, `${a}`).
#[derive(Debug, Clone, Copy)]
pub enum AttrName<'a> {
    /// A name known from the source; `${"a"}` with a plain literal counts.
    Static(Symbol, Pos),
    /// A computed name.
    Dynamic(&'a Expr<'a>),
}

/// Binary operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BinaryOp {
    /// `++`
    Concat,
    /// `*`: the call of `__mul`, looked up lexically.
    Mul,
    /// `/`: the call of `__div`, looked up lexically.
    Div,
    /// `+`: built in.
    Add,
    /// `-`: the call of `__sub`, looked up lexically.
    Sub,
    /// `//`
    Update,
    /// `<`: the call of `__lessThan`, looked up lexically.
    Less,
    /// `<=`: `!(b < a)`.
    LessEq,
    /// `>`: `b < a`.
    Greater,
    /// `>=`: `!(a < b)`.
    GreaterEq,
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
    /// `|>`: `a |> f` is `f a`.
    PipeRight,
    /// `<|`: `f <| a` is `f a`.
    PipeLeft,
}

/// The bindings of a set or a `let`, after merging of attribute paths.
#[derive(Debug, Clone, Copy)]
pub struct Attrs<'a> {
    /// The opening brace, `rec` or `let`.
    pub pos: Pos,
    /// Whether the bindings see each other (`rec` and both forms of `let`).
    pub recursive: bool,
    /// The sources of `inherit (e) …`, in order of appearance; evaluated at most once each.
    pub inherit_from: &'a [&'a Expr<'a>],
    /// The bindings with known names, in order of appearance; no name occurs twice.
    pub bindings: &'a [Binding<'a>],
    /// The bindings with computed names, in order of appearance.
    pub dynamic: &'a [DynamicBinding<'a>],
}

/// `name = value;`, or one name of an `inherit`.
#[derive(Debug, Clone, Copy)]
pub struct Binding<'a> {
    /// The name.
    pub name: Symbol,
    /// The name's position.
    pub pos: Pos,
    /// What it is bound to.
    pub value: BindingValue<'a>,
    /// The text of a `/** … */` comment right before it.
    pub doc: Option<&'a [u8]>,
}

/// What a name is bound to.
#[derive(Debug, Clone, Copy)]
pub enum BindingValue<'a> {
    /// `name = e;`
    Expr(&'a Expr<'a>),
    /// `inherit name;`: the variable of that name in the *enclosing* scope.
    Inherited,
    /// `inherit (e) name;`: index into [`Attrs::inherit_from`].
    InheritedFrom(u32),
}

/// `${name} = value;`
#[derive(Debug, Clone, Copy)]
pub struct DynamicBinding<'a> {
    /// The name; null drops the binding.
    pub name: &'a Expr<'a>,
    /// The value.
    pub value: &'a Expr<'a>,
    /// The position of the `${`.
    pub pos: Pos,
}

/// A function.
#[derive(Debug, Clone, Copy)]
pub struct Lambda<'a> {
    /// The name that takes the whole argument (`x: …`, `{ … }@x: …`).
    pub arg: Option<Symbol>,
    /// The pattern `{ a, b ? d, ... }`.
    pub formals: Option<Formals<'a>>,
    /// The body.
    pub body: &'a Expr<'a>,
    /// The text of a `/** … */` comment right before it.
    pub doc: Option<&'a [u8]>,
}

/// A set pattern.
#[derive(Debug, Clone, Copy)]
pub struct Formals<'a> {
    /// The names, in order of appearance, without duplicates.
    pub formals: &'a [Formal<'a>],
    /// Whether the pattern ends in `...`.
    pub ellipsis: bool,
}

/// One name of a set pattern.
#[derive(Debug, Clone, Copy)]
pub struct Formal<'a> {
    /// The name.
    pub name: Symbol,
    /// Its position.
    pub pos: Pos,
    /// The expression after `?`, which sees all names of the pattern.
    pub default: Option<&'a Expr<'a>>,
}
