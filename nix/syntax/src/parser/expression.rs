//! Functions, `let`, `if`, `with`, `assert`, operators, calls and selections.

use bstr::ByteSlice;

use super::{Failed, Parsed, Parser, Tree};
use crate::ast::{AttrName, BinaryOp, Expr, ExprKind, Lambda};
use crate::lexer::{Kind, Kinds};
use crate::{Pos, Symbol, Warning, sym};

/// What may begin a list element or an argument.
const SIMPLE: Kinds = Kinds::of(&[
    Kind::Identifier,
    Kind::Integer,
    Kind::Float,
    Kind::Path,
    Kind::HomePath,
    Kind::LookupPath,
    Kind::Uri,
    Kind::Let,
    Kind::Rec,
    Kind::Quote,
    Kind::IndentedOpen,
    Kind::ParenOpen,
    Kind::BraceOpen,
    Kind::BracketOpen,
]);

/// What may stand in an attribute path.
pub(super) const ATTR: Kinds =
    Kinds::of(&[Kind::Identifier, Kind::Or, Kind::Quote, Kind::DollarBrace]);

/// How strongly an operator binds, and which way operators of the same strength associate.
struct Binding {
    op: BinaryOp,
    level: u8,
    side: Side,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Left,
    Right,
    Neither,
}

/// The strength of `!`; its operand extends over everything that binds more strongly.
const NOT: u8 = 8;
/// The strength of `?`.
const HAS_ATTR: u8 = 12;

#[inline]
fn binding(kind: Kind) -> Option<Binding> {
    let (op, level, side) = match kind {
        Kind::Arrow => (BinaryOp::Implies, 1, Side::Right),
        Kind::OrOr => (BinaryOp::Or, 2, Side::Left),
        Kind::AndAnd => (BinaryOp::And, 3, Side::Left),
        Kind::Equal => (BinaryOp::Eq, 4, Side::Neither),
        Kind::NotEqual => (BinaryOp::NotEq, 4, Side::Neither),
        Kind::Less => (BinaryOp::Less, 5, Side::Neither),
        Kind::LessEqual => (BinaryOp::LessEq, 5, Side::Neither),
        Kind::Greater => (BinaryOp::Greater, 5, Side::Neither),
        Kind::GreaterEqual => (BinaryOp::GreaterEq, 5, Side::Neither),
        Kind::Update => (BinaryOp::Update, 6, Side::Right),
        Kind::Plus => (BinaryOp::Add, 9, Side::Left),
        Kind::Minus => (BinaryOp::Sub, 9, Side::Left),
        Kind::Star => (BinaryOp::Mul, 10, Side::Left),
        Kind::Slash => (BinaryOp::Div, 10, Side::Left),
        Kind::Concat => (BinaryOp::Concat, 11, Side::Right),
        _ => return None,
    };
    Some(Binding { op, level, side })
}

impl<'a> Parser<'a, '_> {
    /// Parses any expression.
    pub(super) fn expression(&mut self) -> Parsed<'a> {
        self.nested(|parser| {
            let kind = parser.token.kind;
            match kind {
                Kind::Identifier => match parser.peek(0) {
                    Kind::Colon => parser.simple_lambda(),
                    Kind::At => parser.pattern_lambda(),
                    _ => parser.operation(),
                },
                Kind::BraceOpen if parser.at_pattern() => parser.pattern_lambda(),
                Kind::Let if parser.peek(0) != Kind::BraceOpen => parser.let_in(),
                Kind::If => parser.if_then_else(),
                Kind::With => parser.with(),
                Kind::Assert => parser.assert(),
                _ => parser.operation(),
            }
        })
    }

    /// `x: body`
    fn simple_lambda(&mut self) -> Parsed<'a> {
        let pos = self.pos();
        let doc = self.lexer.doc_before(self.token.start);
        let arg = Some(self.symbol());
        self.advance();
        self.advance();
        let body = self.expression()?;
        let lambda = Lambda { arg, formals: None, body: body.expr, doc };
        let lambda = self.arena.alloc(lambda);
        self.node(pos, ExprKind::Lambda(lambda), body.height)
    }

    #[inline(never)]
    fn let_in(&mut self) -> Parsed<'a> {
        let pos = self.pos();
        self.advance();
        let mut set = self.new_set(pos, true);
        self.bindings(&mut set)?;
        self.expect(Kind::In, "'in' or 'inherit'")?;
        let (attrs, height) = self.finish_set(set)?;
        let body = self.expression()?;
        if !attrs.dynamic.is_empty() {
            return self.fail(pos, "dynamic attributes not allowed in let".into());
        }
        self.node(pos, ExprKind::Let(attrs, body.expr), height.max(body.height))
    }

    #[inline(never)]
    fn if_then_else(&mut self) -> Parsed<'a> {
        let pos = self.pos();
        self.advance();
        let condition = self.expression()?;
        self.expect(Kind::Then, "'then'")?;
        let yes = self.expression()?;
        self.expect(Kind::Else, "'else'")?;
        let no = self.expression()?;
        let height = condition.height.max(yes.height).max(no.height);
        self.node(pos, ExprKind::If(condition.expr, yes.expr, no.expr), height)
    }

    #[inline(never)]
    fn with(&mut self) -> Parsed<'a> {
        let pos = self.pos();
        let (scope, body) = self.prefixed()?;
        self.node(pos, ExprKind::With(scope.expr, body.expr), scope.height.max(body.height))
    }

    #[inline(never)]
    fn assert(&mut self) -> Parsed<'a> {
        let pos = self.pos();
        let (condition, body) = self.prefixed()?;
        let height = condition.height.max(body.height);
        self.node(pos, ExprKind::Assert(condition.expr, body.expr), height)
    }

    /// A keyword, an expression, `;` and an expression.
    fn prefixed(&mut self) -> Result<(Tree<'a>, Tree<'a>), Failed> {
        self.advance();
        let first = self.expression()?;
        self.expect(Kind::Semicolon, "';'")?;
        Ok((first, self.expression()?))
    }

    /// Parses operators, pipes included.
    #[inline]
    fn operation(&mut self) -> Parsed<'a> {
        let left = self.operators(0)?;
        match self.token.kind {
            Kind::PipeRight => self.pipe_right(left),
            Kind::PipeLeft => self.pipe_left(left),
            _ => Ok(left),
        }
    }

    #[inline(never)]
    fn pipe_right(&mut self, mut left: Tree<'a>) -> Parsed<'a> {
        while self.token.kind == Kind::PipeRight {
            let pos = self.pos();
            self.advance();
            let right = self.operators(0)?;
            self.require_pipes(pos)?;
            left = self.binary(pos, BinaryOp::PipeRight, left, right)?;
        }
        Ok(left)
    }

    #[inline(never)]
    fn pipe_left(&mut self, left: Tree<'a>) -> Parsed<'a> {
        let pos = self.pos();
        self.advance();
        let mut right = self.operators(0)?;
        if self.token.kind == Kind::PipeLeft {
            right = self.nested(|parser| parser.pipe_left(right))?;
        }
        self.require_pipes(pos)?;
        self.binary(pos, BinaryOp::PipeLeft, left, right)
    }

    fn require_pipes(&mut self, pos: Pos) -> Result<(), Failed> {
        if self.options.pipe_operators {
            return Ok(());
        }
        let message = "experimental Nix feature 'pipe-operators' is disabled; \
                       add '--extra-experimental-features pipe-operators' to enable it";
        self.fail(pos, message.into())
    }

    /// Parses operators that bind at least as strongly as `level`.
    fn operators(&mut self, level: u8) -> Parsed<'a> {
        let mut left = match self.token.kind {
            Kind::Bang | Kind::Minus => self.prefix_operator()?,
            _ => self.application()?,
        };
        let mut not_again = u8::MAX;
        loop {
            if self.token.kind == Kind::Question && HAS_ATTR >= level {
                left = self.has_attr(left)?;
                continue;
            }
            let Some(Binding { op, level: strength, side }) = binding(self.token.kind) else {
                return Ok(left);
            };
            if strength < level {
                return Ok(left);
            }
            if strength == not_again {
                return self.unexpected("");
            }
            if side == Side::Neither {
                not_again = strength;
            }
            let pos = self.pos();
            self.advance();
            let strength = if side == Side::Right { strength } else { strength + 1 };
            let right = self.nested(|parser| parser.operators(strength))?;
            left = self.binary(pos, op, left, right)?;
        }
    }

    #[inline]
    fn binary(&mut self, pos: Pos, op: BinaryOp, left: Tree<'a>, right: Tree<'a>) -> Parsed<'a> {
        let height = left.height.max(right.height);
        self.node(pos, ExprKind::Binary(op, left.expr, right.expr), height)
    }

    #[inline(never)]
    fn prefix_operator(&mut self) -> Parsed<'a> {
        let pos = self.pos();
        let not = self.token.kind == Kind::Bang;
        self.advance();
        let level = if not { NOT } else { u8::MAX };
        let operand = self.nested(|parser| parser.operators(level))?;
        let kind = if not { ExprKind::Not(operand.expr) } else { ExprKind::Negate(operand.expr) };
        self.node(pos, kind, operand.height)
    }

    #[inline(never)]
    fn has_attr(&mut self, base: Tree<'a>) -> Parsed<'a> {
        let pos = self.pos();
        self.advance();
        let (path, height) = self.attr_path()?;
        self.node(pos, ExprKind::HasAttr(base.expr, path), height.max(base.height))
    }

    /// `f x y`
    #[inline]
    fn application(&mut self) -> Parsed<'a> {
        let function = self.selection()?;
        if SIMPLE.contains(self.token.kind) { self.call(function) } else { Ok(function) }
    }

    #[inline(never)]
    fn call(&mut self, function: Tree<'a>) -> Parsed<'a> {
        let base = self.trees.len();
        let (mut pos, mut callee, mut height) = (function.expr.pos, function.expr, function.height);
        if let ExprKind::Call(inner, args) = callee.kind {
            pos = callee.pos;
            self.trees.extend_from_slice(args);
            callee = inner;
            // One more than needed, which does no harm.
            height = function.height;
        }
        while SIMPLE.contains(self.token.kind) {
            let arg = self.element()?;
            height = height.max(arg.height);
            self.trees.push(arg.expr);
        }
        let args = self.take_trees(base);
        self.node(pos, ExprKind::Call(callee, args), height)
    }

    /// Parses a list element or an argument, where `x or` means something else than it seems to.
    #[inline]
    pub(super) fn element(&mut self) -> Parsed<'a> {
        let start = self.token.start;
        let tree = self.selection()?;
        if let Some(end) = self.cursed {
            self.warn_cursed(start, end);
        }
        Ok(tree)
    }

    /// `x`, `x.y`, `x.y or z`, or the strange `x or`, a call of `x` with the variable `or`.
    #[inline]
    fn selection(&mut self) -> Parsed<'a> {
        let start = self.token.start;
        let base = self.simple()?;
        self.cursed = None;
        match self.token.kind {
            Kind::Dot => self.select(start, base),
            Kind::Or => self.cursed_or(start, base),
            _ => Ok(base),
        }
    }

    #[inline(never)]
    fn select(&mut self, start: usize, base: Tree<'a>) -> Parsed<'a> {
        self.advance();
        let (path, height) = self.attr_path()?;
        let mut height = height.max(base.height);
        let mut default = None;
        if self.token.kind == Kind::Or {
            self.advance();
            let tree = self.nested(|parser| parser.element())?;
            height = height.max(tree.height);
            default = Some(tree.expr);
        }
        self.cursed = None;
        self.node(self.source.pos(start), ExprKind::Select(base.expr, path, default), height)
    }

    #[cold]
    #[inline(never)]
    fn cursed_or(&mut self, start: usize, base: Tree<'a>) -> Parsed<'a> {
        let pos = self.source.pos(start);
        self.cursed = Some(self.token.end);
        self.advance();
        let or = self.leaf(pos, ExprKind::Var(sym::OR));
        // As with any call of a call, the arguments are those of one call.
        let n_trees = self.trees.len();
        let mut callee = base.expr;
        if let ExprKind::Call(inner, args) = callee.kind {
            self.trees.extend_from_slice(args);
            callee = inner;
        }
        self.trees.push(or.expr);
        let args = self.take_trees(n_trees);
        self.node(pos, ExprKind::Call(callee, args), base.height)
    }

    #[cold]
    fn warn_cursed(&mut self, start: usize, end: usize) {
        let text = self.lexer.text()[start..end].as_bstr();
        let message = format!(
            "This expression uses `or` as an identifier in a way that will change in a future \
             Nix release.\nWrap this entire expression in parentheses to preserve its current \
             meaning:\n    ({text})\nGive feedback at https://github.com/NixOS/nix/pull/11121"
        );
        self.warn(Warning { pos: self.source.pos(start), message, place_first: true });
    }

    /// Parses `a."b".${c}` and returns it with the height of its expressions.
    pub(super) fn attr_path(&mut self) -> Result<(&'a [AttrName<'a>], u32), Failed> {
        let base = self.names.len();
        let mut height = 0;
        loop {
            let (name, name_height) = self.attr_name()?;
            height = height.max(name_height);
            self.names.push(name);
            if self.token.kind != Kind::Dot {
                break;
            }
            self.advance();
        }
        let path = self.arena.alloc_slice_copy(&self.names[base..]);
        self.names.truncate(base);
        Ok((path, height))
    }

    #[inline]
    pub(super) fn attr_name(&mut self) -> Result<(AttrName<'a>, u32), Failed> {
        let pos = self.pos();
        if matches!(self.token.kind, Kind::Identifier | Kind::Or) {
            let name = self.symbol();
            self.advance();
            return Ok((AttrName::Static(name, pos), 0));
        }
        self.unusual_attr_name(pos)
    }

    #[inline(never)]
    fn unusual_attr_name(&mut self, pos: Pos) -> Result<(AttrName<'a>, u32), Failed> {
        let tree = match self.token.kind {
            Kind::Quote => self.string()?,
            Kind::DollarBrace => {
                self.advance();
                let tree = self.expression()?;
                self.expect(Kind::BraceClose, "'}'")?;
                tree
            }
            _ => return self.unexpected("identifier or 'or' or '${' or '\"'"),
        };
        Ok(match tree.expr.kind {
            ExprKind::Str(name) => (AttrName::Static(Symbol::intern(name), pos), 0),
            _ => (AttrName::Dynamic(tree.expr), tree.height),
        })
    }

    /// Moves the trees collected since `base` into the arena.
    #[inline]
    pub(super) fn take_trees(&mut self, base: usize) -> &'a [&'a Expr<'a>] {
        let trees = self.arena.alloc_slice_copy(&self.trees[base..]);
        self.trees.truncate(base);
        trees
    }
}
