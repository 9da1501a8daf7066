//! Source tree to [`Code`]: the stage between parsing and evaluation.
//!
//! Every variable is resolved here, so an undefined one is an error before anything is evaluated.
//!
//! Not here: evaluation, or reading files.

pub(crate) mod code;
mod scope;

use bumpalo::Bump;
use raddle_nix_syntax::ast::{
    AttrName, Attrs, BinaryOp, Binding, BindingValue, Expr, ExprKind, Lambda, Part,
};
use raddle_nix_syntax::print::Paths;
use raddle_nix_syntax::{Pos, Symbol, sym};
use std::sync::OnceLock;
use std::sync::atomic::AtomicU64;

pub(crate) use code::{Code, LambdaCode};

use crate::eval::{Error, ErrorKind, Result, name_in_message};
use crate::paths;
use crate::stats::Counters;
use crate::value::heap::Heap;
use crate::value::{List, Shape, Str, Value, View};
use code::*;
use scope::{Frame, Resolved, Scopes};

/// The global names and their values.
pub(crate) type Globals = hashbrown::HashMap<Symbol, Value, foldhash::fast::FixedState>;

/// What the meaning of an expression depends on besides its text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Context<'c> {
    /// Where the code is allocated.
    pub(crate) arena: &'static Bump,
    /// Where constants are allocated.
    pub(crate) heap: &'c Heap,
    /// The names visible everywhere.
    pub(crate) globals: &'c Globals,
    /// Where expressions are counted.
    pub(crate) stats: &'c Counters,
    /// The folder that relative paths start from.
    pub(crate) base: &'c [u8],
    /// The folder that `~` stands for; `None` forbids it.
    pub(crate) home: Option<&'c [u8]>,
}

/// Compiles an expression whose outermost frame has the variables `outer`, sorted by symbol.
pub(crate) fn compile(
    context: Context<'_>,
    outer: Option<&[Symbol]>,
    expr: &Expr<'_>,
) -> Result<&'static Code> {
    let arena = context.arena;
    let mut scopes = Scopes::default();
    if let Some(names) = outer {
        scopes.push(Frame::variables(names.to_vec()));
    }
    let mut compiler = Compiler { context, arena, scopes, empty: None, exprs: 0 };
    let code = compiler.expr(expr);
    compiler.context.stats.exprs.add(compiler.exprs);
    Ok(arena.alloc(code?))
}

struct Compiler<'c> {
    context: Context<'c>,
    arena: &'static Bump,
    scopes: Scopes,
    /// The empty string.
    empty: Option<Value>,
    /// Expressions met so far.
    exprs: usize,
}

impl Compiler<'_> {
    fn alloc<T>(&self, value: T) -> &'static T {
        self.arena.alloc(value)
    }

    fn slice<T: Copy>(&self, values: &[T]) -> &'static [T] {
        self.arena.alloc_slice_copy(values)
    }

    fn string(&mut self, bytes: &[u8]) -> Value {
        let heap = self.context.heap;
        if bytes.is_empty() {
            return *self.empty.get_or_insert_with(|| Str::new(heap, b"").into());
        }
        Str::new(heap, bytes).into()
    }

    fn path(&self, text: &[u8], pos: Pos) -> Result<Vec<u8>> {
        if let Some(rest) = text.strip_prefix(b"~/") {
            let Some(home) = self.context.home else {
                return Err(Error::new(
                    ErrorKind::Other,
                    pos,
                    format!(
                        "the path '{}' can not be resolved in pure mode",
                        String::from_utf8_lossy(text)
                    ),
                ));
            };
            return Ok(paths::join(home, rest));
        }
        Ok(paths::join(self.context.base, text))
    }

    fn exprs(&mut self, exprs: &[&Expr<'_>]) -> Result<&'static [Code]> {
        let codes = exprs.iter().map(|expr| self.expr(expr)).collect::<Result<Vec<_>>>()?;
        Ok(self.slice(&codes))
    }

    /// Compiles a list; one of constants is made at once.
    fn list(&mut self, items: &[&Expr<'_>]) -> Result<Code> {
        let codes = self.exprs(items)?;
        let constants: Option<Vec<Value>> = codes
            .iter()
            .map(|code| match code {
                Code::Const(value) if is_plain(*value) => Some(*value),
                _ => None,
            })
            .collect();
        let Some(constants) = constants else { return Ok(Code::List(codes)) };
        Ok(Code::ConstList(List::of_constants(self.context.heap, &constants)))
    }

    fn expr(&mut self, expr: &Expr<'_>) -> Result<Code> {
        self.exprs += 1;
        let pos = expr.pos;
        Ok(match expr.kind {
            ExprKind::Int(i) => Code::Const(Value::int(self.context.heap, i)),
            ExprKind::Float(f) => Code::Const(Value::float(self.context.heap, f)),
            ExprKind::Str(bytes) => Code::Const(self.string(bytes)),
            ExprKind::Var(name) => self.variable(name, pos)?,
            ExprKind::Interpolated(parts) => {
                let parts = self.parts(parts, pos)?;
                Code::Interpolate(self.alloc(Concat { parts }))
            }
            ExprKind::Path(text) => {
                let path = self.path(text, pos)?;
                Code::Const(Value::path(self.context.heap, &path))
            }
            ExprKind::InterpolatedPath(parts) => self.interpolated_path(parts, pos)?,
            ExprKind::LookupPath(name) => self.lookup_path(name, pos)?,
            ExprKind::List([]) => Code::Const(List::empty().into()),
            ExprKind::List(items) => self.list(items)?,
            ExprKind::Attrs(attrs) => self.attrs(attrs)?,
            ExprKind::Let(attrs, body) => self.let_in(attrs, body)?,
            ExprKind::LegacyLet(attrs) => {
                let base = self.attrs(attrs)?;
                let path = self.slice(&[Name::Static(sym::BODY)]);
                self.select(base, path, None, pos)
            }
            ExprKind::With(scope, body) => {
                let scope = self.expr(scope)?;
                self.scopes.push(Frame::with());
                let body = self.expr(body);
                self.scopes.pop();
                Code::With(self.alloc(With { scope, body: body? }))
            }
            ExprKind::Assert(condition, body) => {
                let text = raddle_nix_syntax::print::desugared(condition, paths_of(self.context));
                let text = self.arena.alloc_str(&String::from_utf8_lossy(&text));
                let condition = self.expr(condition)?;
                let body = self.expr(body)?;
                Code::Assert(self.alloc(Assert { condition, text, body, pos }))
            }
            ExprKind::If(condition, yes, no) => {
                let condition = self.expr(condition)?;
                let (yes, no) = (self.expr(yes)?, self.expr(no)?);
                Code::If(self.alloc(If { condition, yes, no, pos }))
            }
            ExprKind::Lambda(lambda) => Code::Lambda(self.lambda(lambda, pos)?),
            ExprKind::Call(function, args) => {
                let function = self.expr(function)?;
                let args = self.exprs(args)?;
                Code::Call(self.alloc(Call { function, args, pos }))
            }
            ExprKind::Select(base, path, default) => {
                let base = self.expr(base)?;
                let path = self.attr_path(path)?;
                let default = default.map(|default| self.expr(default)).transpose()?;
                self.select(base, path, default, pos)
            }
            ExprKind::HasAttr(base, path) => {
                let pos = base.pos;
                let base = self.expr(base)?;
                let path = self.attr_path(path)?;
                Code::HasAttr(self.alloc(HasAttr { base, pos, path }))
            }
            ExprKind::Not(operand) => {
                let pos = operand.pos;
                let operand = self.expr(operand)?;
                Code::Not(self.alloc(Unary { operand, pos }))
            }
            ExprKind::Negate(operand) => {
                let zero = Code::Const(Value::int(self.context.heap, 0));
                let operand = self.expr(operand)?;
                self.arithmetic(Op::Sub, sym::SUB, zero, operand, pos)?
            }
            ExprKind::Binary(op, lhs, rhs) => self.binary(op, lhs, rhs, pos)?,
            ExprKind::CurPos => Code::Const(self.cur_pos(pos)),
        })
    }

    fn cur_pos(&mut self, pos: Pos) -> Value {
        crate::eval::position_value(self.context.heap, pos)
    }

    fn variable(&mut self, name: Symbol, pos: Pos) -> Result<Code> {
        Ok(match self.scopes.resolve(name) {
            Resolved::Variable { level, slot } => Code::Var { level, slot, pos },
            Resolved::Missing { withs } => match self.context.globals.get(&name) {
                Some(&value) => Code::Const(value),
                None if withs.is_empty() => {
                    let name = name_in_message(name.as_bytes());
                    let message = format!("undefined variable '{name}'");
                    return Err(Error::new(ErrorKind::UndefinedVariable, pos, message));
                }
                None => {
                    let levels = self.slice(&withs);
                    Code::WithVar(self.alloc(WithVar { name, pos, levels }))
                }
            },
        })
    }

    /// Returns whether a name means the global of that name here.
    fn is_global(&self, name: Symbol) -> bool {
        matches!(self.scopes.resolve(name), Resolved::Missing { .. })
            && self.context.globals.contains_key(&name)
    }

    fn parts(&mut self, parts: &[Part<'_>], pos: Pos) -> Result<&'static [(Code, Pos)]> {
        let mut codes = Vec::with_capacity(parts.len());
        for part in parts {
            codes.push(match part {
                Part::Literal(bytes) => (Code::Const(self.string(bytes)), pos),
                Part::Interpolation(expr) => (self.expr(expr)?, expr.pos),
            });
        }
        Ok(self.slice(&codes))
    }

    fn interpolated_path(&mut self, parts: &[Part<'_>], pos: Pos) -> Result<Code> {
        let Some((Part::Literal(first), rest)) = parts.split_first() else {
            unreachable!("the first part of a path is a literal")
        };
        let mut path = self.path(first, pos)?;
        if first.ends_with(b"/") && !path.ends_with(b"/") {
            path.push(b'/');
        }
        let mut codes = vec![(Code::Const(self.string(&path)), pos)];
        codes.extend_from_slice(self.parts(rest, pos)?);
        let parts = self.slice(&codes);
        Ok(Code::InterpolatePath(self.alloc(Concat { parts })))
    }

    fn lookup_path(&mut self, name: &[u8], pos: Pos) -> Result<Code> {
        if self.is_global(sym::FIND_FILE) && self.is_global(sym::NIX_PATH) {
            return Ok(Code::Lookup(self.slice(name), pos));
        }
        let function = self.variable(sym::FIND_FILE, pos)?;
        let search_path = self.variable(sym::NIX_PATH, pos)?;
        let name = Code::Const(self.string(name));
        let args = self.slice(&[search_path, name]);
        Ok(Code::Call(self.alloc(Call { function, args, pos })))
    }

    fn attr_path(&mut self, path: &[AttrName<'_>]) -> Result<&'static [Name]> {
        let mut names = Vec::with_capacity(path.len());
        for name in path {
            names.push(match name {
                AttrName::Static(name, _) => Name::Static(*name),
                AttrName::Dynamic(expr) => Name::Dynamic(self.expr(expr)?, expr.pos),
            });
        }
        Ok(self.slice(&names))
    }

    fn select(&self, base: Code, path: &'static [Name], default: Option<Code>, pos: Pos) -> Code {
        if let (Code::Const(value), [Name::Static(name)]) = (base, path)
            && let View::Attrs(attrs) = value.view()
            && let Some(slot) = attrs.get(*name)
            && !slot.get().is_thunk()
        {
            return Code::Const(slot.get());
        }
        Code::Select(self.alloc(Select { base, path, default, pos, cache: AtomicU64::new(0) }))
    }

    /// Compiles the values of bindings; the frame of a recursive set has been pushed.
    fn bindings(&mut self, attrs: &Attrs<'_>, sorted: &[&Binding<'_>]) -> Result<Bindings> {
        let own_frame = attrs.recursive;
        let mut from = Vec::with_capacity(attrs.inherit_from.len());
        for source in attrs.inherit_from {
            from.push(delayed(self.expr(source)?));
        }
        // A source that is a variable or a constant can be mentioned by every name itself.
        let simple = from
            .iter()
            .all(|code| matches!(code, Code::Var { .. } | Code::DelayedVar(..) | Code::Const(_)));
        let mut values = Vec::with_capacity(sorted.len());
        for binding in sorted {
            values.push(match binding.value {
                BindingValue::Expr(expr) => {
                    let code = self.expr(expr)?;
                    if let Code::Lambda(lambda) = code {
                        name_lambda(lambda, binding.name);
                    }
                    (if own_frame { delayed(code) } else { code }, Scope::Inner)
                }
                BindingValue::Inherited => {
                    let inner = if own_frame { self.scopes.pop() } else { None };
                    let code = self.variable(binding.name, binding.pos);
                    self.scopes.extend(inner);
                    (code?, Scope::Outer)
                }
                BindingValue::InheritedFrom(index) => {
                    let path = self.slice(&[Name::Static(binding.name)]);
                    if simple {
                        let base = match from[index as usize] {
                            Code::DelayedVar(level, slot, pos) => Code::Var { level, slot, pos },
                            code => code,
                        };
                        (self.select(base, path, None, binding.pos), Scope::Inner)
                    } else {
                        let base = Code::Var { level: 0, slot: index, pos: binding.pos };
                        (self.select(base, path, None, binding.pos), Scope::From)
                    }
                }
            });
        }
        let from = if simple { &[] } else { self.slice(&from) };
        Ok(Bindings { values: self.slice(&values), from })
    }

    fn attrs(&mut self, attrs: &Attrs<'_>) -> Result<Code> {
        if attrs.bindings.is_empty() && attrs.dynamic.is_empty() {
            // The sources of an empty `inherit (e)` must still make sense.
            for source in attrs.inherit_from {
                self.expr(source)?;
            }
            return Ok(Code::Const(crate::value::Attrs::empty().into()));
        }
        let sorted = sorted(attrs);
        if attrs.recursive {
            self.scopes.push(Frame::variables(sorted.iter().map(|b| b.name).collect()));
        }
        let compiled = self.attrs_inside(attrs, &sorted);
        if attrs.recursive {
            self.scopes.pop();
        }
        compiled
    }

    fn attrs_inside(&mut self, attrs: &Attrs<'_>, sorted: &[&Binding<'_>]) -> Result<Code> {
        let bindings = self.bindings(attrs, sorted)?;
        let mut dynamic = Vec::with_capacity(attrs.dynamic.len());
        for binding in attrs.dynamic {
            let name = self.expr(binding.name)?;
            let value = self.expr(binding.value)?;
            dynamic.push(Dynamic { name, value, pos: binding.pos });
        }
        let shape = Shape::new(self.context.heap, sorted.iter().map(|b| (b.name, b.pos)));
        let overrides =
            sorted.iter().position(|b| b.name == sym::OVERRIDES).filter(|_| attrs.recursive);
        Ok(Code::Attrs(self.alloc(AttrsCode {
            shape,
            bindings,
            recursive: attrs.recursive,
            overrides,
            dynamic: self.arena.alloc_slice_fill_iter(dynamic),
        })))
    }

    fn let_in(&mut self, attrs: &Attrs<'_>, body: &Expr<'_>) -> Result<Code> {
        let sorted = sorted(attrs);
        self.scopes.push(Frame::variables(sorted.iter().map(|b| b.name).collect()));
        let compiled =
            self.bindings(attrs, &sorted).and_then(|bindings| Ok((bindings, self.expr(body)?)));
        self.scopes.pop();
        let (bindings, body) = compiled?;
        Ok(Code::Let(self.alloc(Let { bindings, body })))
    }

    fn lambda(&mut self, lambda: &Lambda<'_>, pos: Pos) -> Result<&'static LambdaCode> {
        let mut formals: Vec<_> = lambda.formals.map_or(Vec::new(), |f| f.formals.iter().collect());
        formals.sort_by_key(|formal| formal.name);
        let names = formals.iter().map(|formal| formal.name).collect();
        // A function without a pattern takes its argument in slot 0 even if it has no name.
        let takes_whole = lambda.arg.is_some() || lambda.formals.is_none();
        let slots = usize::from(takes_whole) + formals.len();
        self.scopes.push(Frame::lambda(lambda.arg, names));
        let compiled = self.lambda_inside(lambda, &formals);
        self.scopes.pop();
        let (formals, body) = compiled?;
        Ok(self.alloc(LambdaCode {
            arg: lambda.arg,
            formals,
            body,
            pos,
            name: OnceLock::new(),
            slots,
        }))
    }

    fn lambda_inside(
        &mut self,
        lambda: &Lambda<'_>,
        sorted: &[&raddle_nix_syntax::ast::Formal<'_>],
    ) -> Result<(Option<FormalsCode>, Code)> {
        let mut codes = Vec::with_capacity(sorted.len());
        for formal in sorted {
            let default =
                formal.default.map(|default| self.expr(default).map(delayed)).transpose()?;
            codes.push(FormalCode { name: formal.name, pos: formal.pos, default });
        }
        let formals = lambda.formals.map(|formals| FormalsCode {
            formals: self.arena.alloc_slice_fill_iter(codes),
            ellipsis: formals.ellipsis,
        });
        Ok((formals, self.expr(lambda.body)?))
    }

    fn arithmetic(
        &mut self,
        op: Op,
        global: Symbol,
        lhs: Code,
        rhs: Code,
        pos: Pos,
    ) -> Result<Code> {
        if self.is_global(global) {
            // Errors of operands are those of a call: their own positions are not shown.
            let binary = Binary { op, lhs, rhs, lhs_pos: pos, rhs_pos: pos, pos };
            return Ok(Code::Binary(self.alloc(binary)));
        }
        let function = self.variable(global, pos)?;
        let swapped = matches!(op, Op::Greater | Op::LessEq);
        let args = self.slice(&if swapped { [rhs, lhs] } else { [lhs, rhs] });
        let call = Code::Call(self.alloc(Call { function, args, pos }));
        Ok(match op {
            Op::LessEq | Op::GreaterEq => Code::Not(self.alloc(Unary { operand: call, pos })),
            _ => call,
        })
    }

    fn binary(&mut self, op: BinaryOp, lhs: &Expr<'_>, rhs: &Expr<'_>, pos: Pos) -> Result<Code> {
        if op == BinaryOp::Add {
            return self.add(lhs, rhs);
        }
        if op == BinaryOp::PipeRight || op == BinaryOp::PipeLeft {
            let (function, arg) = if op == BinaryOp::PipeRight { (rhs, lhs) } else { (lhs, rhs) };
            let function = self.expr(function)?;
            let args = [self.expr(arg)?];
            let args = self.slice(&args);
            return Ok(Code::Call(self.alloc(Call { function, args, pos })));
        }
        let (lhs_pos, rhs_pos) = (lhs.pos, rhs.pos);
        let (lhs, rhs) = (self.expr(lhs)?, self.expr(rhs)?);
        let op = match op {
            BinaryOp::Sub => return self.arithmetic(Op::Sub, sym::SUB, lhs, rhs, pos),
            BinaryOp::Mul => return self.arithmetic(Op::Mul, sym::MUL, lhs, rhs, pos),
            BinaryOp::Div => return self.arithmetic(Op::Div, sym::DIV, lhs, rhs, pos),
            BinaryOp::Less => return self.arithmetic(Op::Less, sym::LESS_THAN, lhs, rhs, pos),
            BinaryOp::Greater => {
                return self.arithmetic(Op::Greater, sym::LESS_THAN, lhs, rhs, pos);
            }
            BinaryOp::LessEq => {
                return self.arithmetic(Op::LessEq, sym::LESS_THAN, lhs, rhs, pos);
            }
            BinaryOp::GreaterEq => {
                return self.arithmetic(Op::GreaterEq, sym::LESS_THAN, lhs, rhs, pos);
            }
            BinaryOp::Concat => Op::Concat,
            BinaryOp::Update => Op::Update,
            BinaryOp::Eq => Op::Eq,
            BinaryOp::NotEq => Op::NotEq,
            BinaryOp::And => Op::And,
            BinaryOp::Or => Op::Or,
            BinaryOp::Implies => Op::Implies,
            BinaryOp::Add | BinaryOp::PipeRight | BinaryOp::PipeLeft => {
                unreachable!("handled above")
            }
        };
        Ok(Code::Binary(self.alloc(Binary { op, lhs, rhs, lhs_pos, rhs_pos, pos })))
    }

    /// Flattens `a + b + c`: one pass over the parts instead of one string per operator.
    fn add(&mut self, lhs: &Expr<'_>, rhs: &Expr<'_>) -> Result<Code> {
        let mut reversed = vec![rhs];
        let mut first = lhs;
        while let ExprKind::Binary(BinaryOp::Add, left, right) = first.kind {
            reversed.push(right);
            first = left;
        }
        let mut parts = vec![(self.expr(first)?, start(first))];
        for expr in reversed.into_iter().rev() {
            parts.push((self.expr(expr)?, start(expr)));
        }
        let parts = self.slice(&parts);
        Ok(Code::Add(self.alloc(Concat { parts })))
    }
}

/// Returns where the text of an expression begins, but for parentheses.
fn start(expr: &Expr<'_>) -> Pos {
    let mut first = expr;
    while let ExprKind::Binary(_, inner, _) | ExprKind::HasAttr(inner, _) = first.kind {
        first = inner;
    }
    first.pos
}

/// Makes sure that a variable of the frame being filled is not read while it is.
fn delayed(code: Code) -> Code {
    match code {
        Code::Var { level: 0, slot, pos } => Code::DelayedVar(0, slot, pos),
        code => code,
    }
}

fn name_lambda(lambda: &LambdaCode, name: Symbol) {
    // A lambda is the value of one binding only, so the name is set once.
    if lambda.name.set(name).is_ok()
        && let Code::Lambda(inner) = lambda.body
    {
        name_lambda(inner, name);
    }
}

fn sorted<'b, 'a>(attrs: &Attrs<'a>) -> Vec<&'b Binding<'a>>
where
    'a: 'b,
{
    let mut sorted: Vec<&Binding<'_>> = attrs.bindings.iter().collect();
    sorted.sort_by_key(|binding| binding.name);
    sorted
}

/// Returns what the desugared printer needs to show paths as they are.
/// Returns whether a constant is a number, a text or the like, not a function: these are equal or
/// not by where they are.
fn is_plain(value: Value) -> bool {
    !matches!(value.view(), View::Function(_) | View::Attrs(_) | View::List(_) | View::Thunk)
}

fn paths_of(context: Context<'_>) -> Paths<'_> {
    Paths { base: context.base, home: context.home.unwrap_or(b"~") }
}
