//! Trees to Nix that parses to the same tree.

use super::{write_attr_name, write_escaped, write_string};
use crate::ast::{AttrName, Attrs, BinaryOp, BindingValue, Expr, ExprKind, Formals, Lambda, Part};
use crate::sym;

/// Returns Nix that parses to `expr`.
pub fn source(expr: &Expr<'_>) -> Vec<u8> {
    let mut printer = Printer { out: Vec::new() };
    printer.expr(expr, Level::Lowest);
    printer.out
}

/// How strongly a form binds; a form that binds less than its place asks for needs parentheses.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Lowest,
    Pipe,
    Implies,
    Or,
    And,
    Equal,
    Compare,
    Update,
    Not,
    Add,
    Mul,
    Concat,
    HasAttr,
    Negate,
    Call,
    Select,
    /// What may stand before an `or` that is a variable.
    Simple,
    /// What may stand before a dot; a number or path would take the dot for its own.
    Base,
}

impl Level {
    fn of(expr: &Expr<'_>) -> Self {
        match &expr.kind {
            ExprKind::Let(..)
            | ExprKind::With(..)
            | ExprKind::Assert(..)
            | ExprKind::If(..)
            | ExprKind::Lambda(_) => Self::Lowest,
            ExprKind::Binary(op, ..) => operator(*op).1,
            ExprKind::Not(_) => Self::Not,
            ExprKind::HasAttr(..) => Self::HasAttr,
            ExprKind::Negate(_) => Self::Negate,
            ExprKind::Call(..) => Self::Call,
            ExprKind::Select(..) => Self::Select,
            ExprKind::Int(_)
            | ExprKind::Float(_)
            | ExprKind::Path(_)
            | ExprKind::InterpolatedPath(_) => Self::Simple,
            _ => Self::Base,
        }
    }

    fn next(self) -> Self {
        match self {
            Self::Implies => Self::Or,
            Self::Or => Self::And,
            Self::And => Self::Equal,
            Self::Equal => Self::Compare,
            Self::Compare => Self::Update,
            Self::Update => Self::Not,
            Self::Add => Self::Mul,
            Self::Mul => Self::Concat,
            Self::Concat => Self::HasAttr,
            _ => Self::Implies,
        }
    }
}

fn operator(op: BinaryOp) -> (&'static str, Level) {
    match op {
        BinaryOp::Concat => ("++", Level::Concat),
        BinaryOp::Mul => ("*", Level::Mul),
        BinaryOp::Div => ("/", Level::Mul),
        BinaryOp::Add => ("+", Level::Add),
        BinaryOp::Sub => ("-", Level::Add),
        BinaryOp::Update => ("//", Level::Update),
        BinaryOp::Less => ("<", Level::Compare),
        BinaryOp::LessEq => ("<=", Level::Compare),
        BinaryOp::Greater => (">", Level::Compare),
        BinaryOp::GreaterEq => (">=", Level::Compare),
        BinaryOp::Eq => ("==", Level::Equal),
        BinaryOp::NotEq => ("!=", Level::Equal),
        BinaryOp::And => ("&&", Level::And),
        BinaryOp::Or => ("||", Level::Or),
        BinaryOp::Implies => ("->", Level::Implies),
        BinaryOp::PipeRight => ("|>", Level::Pipe),
        BinaryOp::PipeLeft => ("<|", Level::Pipe),
    }
}

struct Printer {
    out: Vec<u8>,
}

impl Printer {
    fn text(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
    }

    fn expr(&mut self, expr: &Expr<'_>, least: Level) {
        if Level::of(expr) < least {
            self.text("(");
            self.bare(expr);
            self.text(")");
        } else {
            self.bare(expr);
        }
    }

    fn bare(&mut self, expr: &Expr<'_>) {
        match expr.kind {
            ExprKind::Int(value) => self.text(&value.to_string()),
            ExprKind::Float(value) => self.float(value),
            ExprKind::Var(name) => self.out.extend_from_slice(name.as_bytes()),
            ExprKind::Str(text) => write_string(&mut self.out, text),
            ExprKind::Interpolated(parts) => {
                self.text("\"");
                self.parts(parts);
                self.text("\"");
            }
            ExprKind::Path(path) => self.out.extend_from_slice(path),
            ExprKind::InterpolatedPath(parts) => self.parts(parts),
            ExprKind::LookupPath(path) => {
                self.text("<");
                self.out.extend_from_slice(path);
                self.text(">");
            }
            ExprKind::List(elements) => {
                self.text("[ ");
                for element in elements {
                    self.expr(element, Level::Select);
                    self.text(" ");
                }
                self.text("]");
            }
            ExprKind::Attrs(attrs) => {
                self.text(if attrs.recursive { "rec { " } else { "{ " });
                self.bindings(attrs);
                self.text("}");
            }
            ExprKind::Let(attrs, body) => {
                self.text("let ");
                self.bindings(attrs);
                self.text("in ");
                self.expr(body, Level::Lowest);
            }
            ExprKind::LegacyLet(attrs) => {
                self.text("let { ");
                self.bindings(attrs);
                self.text("}");
            }
            ExprKind::With(scope, body) => self.prefixed("with ", scope, body),
            ExprKind::Assert(condition, body) => self.prefixed("assert ", condition, body),
            ExprKind::If(condition, yes, no) => {
                self.text("if ");
                self.expr(condition, Level::Lowest);
                self.text(" then ");
                self.expr(yes, Level::Lowest);
                self.text(" else ");
                self.expr(no, Level::Lowest);
            }
            ExprKind::Lambda(lambda) => self.lambda(lambda),
            ExprKind::Call(function, args) => self.call(function, args),
            ExprKind::Select(base, path, default) => {
                self.expr(base, Level::Base);
                self.text(".");
                self.path(path);
                if let Some(default) = default {
                    self.text(" or ");
                    self.expr(default, Level::Select);
                }
            }
            ExprKind::HasAttr(base, path) => {
                self.expr(base, Level::HasAttr);
                self.text(" ? ");
                self.path(path);
            }
            ExprKind::Not(operand) => {
                self.text("!");
                self.expr(operand, Level::Not);
            }
            ExprKind::Negate(operand) => {
                // Without the blank, `-` would become part of a path.
                self.text("- ");
                self.expr(operand, Level::Negate);
            }
            ExprKind::Binary(op, left, right) => self.binary(op, left, right),
            ExprKind::CurPos => self.text("__curPos"),
        }
    }

    fn float(&mut self, value: f64) {
        let text = format!("{value:?}");
        match text.split_once('e') {
            Some((digits, exponent)) if !digits.contains('.') => {
                self.text(&format!("{digits}.0e{exponent}"));
            }
            _ => self.text(&text),
        }
    }

    fn parts(&mut self, parts: &[Part<'_>]) {
        for (index, part) in parts.iter().enumerate() {
            match part {
                Part::Literal(text) => match text.strip_suffix(b"$") {
                    // The dollar must not swallow that of the interpolation after it.
                    Some(text) if index + 1 < parts.len() => {
                        write_escaped(&mut self.out, text);
                        self.text("\\$");
                    }
                    _ => write_escaped(&mut self.out, text),
                },
                Part::Interpolation(expr) => self.interpolation(expr),
            }
        }
    }

    fn interpolation(&mut self, expr: &Expr<'_>) {
        self.text("${");
        self.expr(expr, Level::Lowest);
        self.text("}");
    }

    fn prefixed(&mut self, keyword: &str, first: &Expr<'_>, body: &Expr<'_>) {
        self.text(keyword);
        self.expr(first, Level::Lowest);
        self.text("; ");
        self.expr(body, Level::Lowest);
    }

    fn lambda(&mut self, lambda: &Lambda<'_>) {
        if let Some(formals) = &lambda.formals {
            self.formals(formals);
        }
        if let Some(arg) = lambda.arg {
            if lambda.formals.is_some() {
                self.text("@");
            }
            self.out.extend_from_slice(arg.as_bytes());
        }
        self.text(": ");
        self.expr(lambda.body, Level::Lowest);
    }

    fn formals(&mut self, formals: &Formals<'_>) {
        self.text("{");
        let mut separator = " ";
        for formal in formals.formals {
            self.text(separator);
            separator = ", ";
            self.out.extend_from_slice(formal.name.as_bytes());
            if let Some(default) = formal.default {
                self.text(" ? ");
                self.expr(default, Level::Lowest);
            }
        }
        if formals.ellipsis {
            self.text(separator);
            self.text("...");
        }
        self.text(" }");
    }

    fn call(&mut self, function: &Expr<'_>, args: &[&Expr<'_>]) {
        // A variable `or` can only be written right after something simple: `(f x) or`.
        let last_or = args.iter().rposition(|arg| matches!(arg.kind, ExprKind::Var(sym::OR)));
        let rest = match last_or {
            None => {
                self.expr(function, Level::Select);
                args
            }
            Some(index) => {
                if index == 0 {
                    self.expr(function, Level::Simple);
                } else {
                    self.text("(");
                    self.call(function, &args[..index]);
                    self.text(")");
                }
                self.text(" or");
                &args[index + 1..]
            }
        };
        for arg in rest {
            self.text(" ");
            self.expr(arg, Level::Select);
        }
    }

    fn binary(&mut self, op: BinaryOp, left: &Expr<'_>, right: &Expr<'_>) {
        let (text, level) = operator(op);
        let (left_level, right_level) = match op {
            BinaryOp::Implies | BinaryOp::Update | BinaryOp::Concat => (level.next(), level),
            BinaryOp::And | BinaryOp::Or | BinaryOp::Add | BinaryOp::Sub => (level, level.next()),
            BinaryOp::Mul | BinaryOp::Div => (level, level.next()),
            _ => (level.next(), level.next()),
        };
        self.expr(left, left_level);
        self.text(" ");
        self.text(text);
        self.text(" ");
        self.expr(right, right_level);
    }

    fn path(&mut self, path: &[AttrName<'_>]) {
        for (index, name) in path.iter().enumerate() {
            if index > 0 {
                self.text(".");
            }
            match name {
                AttrName::Static(name, _) => write_attr_name(&mut self.out, *name),
                AttrName::Dynamic(expr) => self.interpolation(expr),
            }
        }
    }

    fn bindings(&mut self, attrs: &Attrs<'_>) {
        // Sources without names must keep their places, too.
        let mut n_from = 0;
        let mut open = false;
        for binding in attrs.bindings {
            let from = match binding.value {
                BindingValue::InheritedFrom(from) => Some(from as usize),
                _ => None,
            };
            if open && from.is_none_or(|from| from >= n_from) {
                self.text("; ");
                open = false;
            }
            if let Some(from) = from {
                if from >= n_from {
                    self.sources(&attrs.inherit_from[n_from..=from]);
                    (n_from, open) = (from + 1, true);
                }
                self.text(" ");
                write_attr_name(&mut self.out, binding.name);
                continue;
            }
            if let BindingValue::Expr(expr) = binding.value {
                write_attr_name(&mut self.out, binding.name);
                self.text(" = ");
                self.expr(expr, Level::Lowest);
            } else {
                self.text("inherit ");
                write_attr_name(&mut self.out, binding.name);
            }
            self.text("; ");
        }
        if open {
            self.text("; ");
        }
        if n_from < attrs.inherit_from.len() {
            self.sources(&attrs.inherit_from[n_from..]);
            self.text("; ");
        }
        for binding in attrs.dynamic {
            self.interpolation(binding.name);
            self.text(" = ");
            self.expr(binding.value, Level::Lowest);
            self.text("; ");
        }
    }

    /// Writes `inherit (e)` for each source, and closes all but the last.
    fn sources(&mut self, sources: &[&Expr<'_>]) {
        for (index, source) in sources.iter().enumerate() {
            self.text(if index > 0 { "; inherit (" } else { "inherit (" });
            self.expr(source, Level::Lowest);
            self.text(")");
        }
    }
}
