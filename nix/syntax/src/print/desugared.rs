//! Trees to what `nix-instantiate --parse` prints.

use super::{write_attr_name, write_string};
use crate::ast::{AttrName, Attrs, BinaryOp, Binding, BindingValue, Expr, ExprKind, Formals, Part};

/// What relative paths are relative to.
#[derive(Debug, Clone, Copy)]
pub struct Paths<'p> {
    /// The folder of the file: `./x` is in it.
    pub base: &'p [u8],
    /// The folder that `~` stands for.
    pub home: &'p [u8],
}

/// Returns `expr` with operators as calls, sorted names and absolute paths.
pub fn desugared(expr: &Expr<'_>, paths: Paths<'_>) -> Vec<u8> {
    let mut printer = Printer { out: Vec::new(), paths };
    printer.expr(expr);
    printer.out
}

struct Printer<'p> {
    out: Vec<u8>,
    paths: Paths<'p>,
}

impl Printer<'_> {
    fn text(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
    }

    fn expr(&mut self, expr: &Expr<'_>) {
        match expr.kind {
            ExprKind::Int(value) => self.text(&value.to_string()),
            ExprKind::Float(value) => self.text(&general(value)),
            ExprKind::Var(name) => self.out.extend_from_slice(name.as_bytes()),
            ExprKind::Str(text) => write_string(&mut self.out, text),
            ExprKind::Interpolated(parts) => self.parts(parts),
            ExprKind::Path(path) => self.path(path),
            ExprKind::InterpolatedPath(parts) => self.path_parts(parts),
            ExprKind::LookupPath(path) => {
                self.text("(__findFile __nixPath ");
                write_string(&mut self.out, path);
                self.text(")");
            }
            ExprKind::List(elements) => {
                self.text("[ ");
                for element in elements {
                    self.text("(");
                    self.expr(element);
                    self.text(") ");
                }
                self.text("]");
            }
            ExprKind::Attrs(attrs) => self.attrs(attrs),
            ExprKind::Let(attrs, body) => {
                self.text("(let ");
                self.bindings(attrs);
                self.text("in ");
                self.expr(body);
                self.text(")");
            }
            ExprKind::LegacyLet(attrs) => {
                self.text("(");
                self.attrs(attrs);
                self.text(").body");
            }
            ExprKind::With(scope, body) => {
                self.text("(with ");
                self.expr(scope);
                self.text("; ");
                self.expr(body);
                self.text(")");
            }
            ExprKind::Assert(condition, body) => {
                self.text("assert ");
                self.expr(condition);
                self.text("; ");
                self.expr(body);
            }
            ExprKind::If(condition, yes, no) => {
                self.text("(if ");
                self.expr(condition);
                self.text(" then ");
                self.expr(yes);
                self.text(" else ");
                self.expr(no);
                self.text(")");
            }
            ExprKind::Lambda(lambda) => {
                self.text("(");
                if let Some(formals) = &lambda.formals {
                    self.formals(formals);
                }
                if let Some(arg) = lambda.arg {
                    self.text(if lambda.formals.is_some() { " @ " } else { "" });
                    self.out.extend_from_slice(arg.as_bytes());
                }
                self.text(": ");
                self.expr(lambda.body);
                self.text(")");
            }
            ExprKind::Call(function, args) => {
                self.text("(");
                self.expr(function);
                for arg in args {
                    self.text(" ");
                    self.expr(arg);
                }
                self.text(")");
            }
            ExprKind::Select(base, path, default) => {
                self.text("(");
                self.expr(base);
                self.text(").");
                self.attr_path(path);
                if let Some(default) = default {
                    self.text(" or (");
                    self.expr(default);
                    self.text(")");
                }
            }
            ExprKind::HasAttr(base, path) => {
                self.text("((");
                self.expr(base);
                self.text(") ? ");
                self.attr_path(path);
                self.text(")");
            }
            ExprKind::Not(operand) => {
                self.text("(! ");
                self.expr(operand);
                self.text(")");
            }
            ExprKind::Negate(operand) => {
                self.text("(__sub 0 ");
                self.expr(operand);
                self.text(")");
            }
            ExprKind::Binary(op, left, right) => self.binary(op, left, right),
            ExprKind::CurPos => self.text("__curPos"),
        }
    }

    fn binary(&mut self, op: BinaryOp, left: &Expr<'_>, right: &Expr<'_>) {
        match op {
            BinaryOp::Mul => self.triple("(__mul ", left, " ", right, ")"),
            BinaryOp::Div => self.triple("(__div ", left, " ", right, ")"),
            BinaryOp::Sub => self.triple("(__sub ", left, " ", right, ")"),
            BinaryOp::Less => self.triple("(__lessThan ", left, " ", right, ")"),
            BinaryOp::Greater => self.triple("(__lessThan ", right, " ", left, ")"),
            BinaryOp::LessEq => self.triple("(! (__lessThan ", right, " ", left, "))"),
            BinaryOp::GreaterEq => self.triple("(! (__lessThan ", left, " ", right, "))"),
            BinaryOp::PipeRight => self.triple("(", right, " ", left, ")"),
            BinaryOp::PipeLeft => self.triple("(", left, " ", right, ")"),
            BinaryOp::Concat => self.triple("(", left, " ++ ", right, ")"),
            BinaryOp::Add => self.triple("(", left, " + ", right, ")"),
            BinaryOp::Update => self.triple("(", left, " // ", right, ")"),
            BinaryOp::Eq => self.triple("(", left, " == ", right, ")"),
            BinaryOp::NotEq => self.triple("(", left, " != ", right, ")"),
            BinaryOp::And => self.triple("(", left, " && ", right, ")"),
            BinaryOp::Or => self.triple("(", left, " || ", right, ")"),
            BinaryOp::Implies => self.triple("(", left, " -> ", right, ")"),
        }
    }

    fn triple(
        &mut self,
        open: &str,
        first: &Expr<'_>,
        between: &str,
        second: &Expr<'_>,
        close: &str,
    ) {
        self.text(open);
        self.expr(first);
        self.text(between);
        self.expr(second);
        self.text(close);
    }

    fn parts(&mut self, parts: &[Part<'_>]) {
        let mut separator = "(";
        for part in parts {
            self.text(separator);
            separator = " + ";
            match part {
                Part::Literal(text) => write_string(&mut self.out, text),
                Part::Interpolation(expr) => self.expr(expr),
            }
        }
        self.text(")");
    }

    fn path_parts(&mut self, parts: &[Part<'_>]) {
        let mut separator = "(";
        for (index, part) in parts.iter().enumerate() {
            self.text(separator);
            separator = " + ";
            match part {
                Part::Literal(text) if index == 0 => {
                    self.path(text);
                    if text.ends_with(b"/") && self.out.last() != Some(&b'/') {
                        self.text("/");
                    }
                }
                Part::Literal(text) => write_string(&mut self.out, text),
                Part::Interpolation(expr) => self.expr(expr),
            }
        }
        self.text(")");
    }

    /// Writes a path without `.`, `..` and doubled slashes.
    fn path(&mut self, path: &[u8]) {
        let (base, path) = match path {
            [b'/', ..] => (&b""[..], path),
            [b'~', rest @ ..] => (self.paths.home, rest),
            _ => (self.paths.base, path),
        };
        let mut components: Vec<&[u8]> = Vec::new();
        for component in base.split(|&byte| byte == b'/').chain(path.split(|&byte| byte == b'/')) {
            match component {
                b"" | b"." => {}
                b".." => {
                    components.pop();
                }
                name => components.push(name),
            }
        }
        if components.is_empty() {
            self.text("/");
        }
        for component in components {
            self.text("/");
            self.out.extend_from_slice(component);
        }
    }

    fn attr_path(&mut self, path: &[AttrName<'_>]) {
        for (index, name) in path.iter().enumerate() {
            if index > 0 {
                self.text(".");
            }
            match name {
                AttrName::Static(name, _) => write_attr_name(&mut self.out, *name),
                AttrName::Dynamic(expr) => self.dynamic_name(expr),
            }
        }
    }

    fn dynamic_name(&mut self, name: &Expr<'_>) {
        self.text("\"${");
        self.expr(name);
        self.text("}\"");
    }

    fn formals(&mut self, formals: &Formals<'_>) {
        let mut sorted: Vec<_> = formals.formals.iter().collect();
        sorted.sort_by_key(|formal| formal.name.as_bytes());
        self.text("{ ");
        let mut separator = "";
        for formal in sorted {
            self.text(separator);
            separator = ", ";
            self.out.extend_from_slice(formal.name.as_bytes());
            if let Some(default) = formal.default {
                self.text(" ? ");
                self.expr(default);
            }
        }
        if formals.ellipsis {
            self.text(separator);
            self.text("...");
        }
        self.text(" }");
    }

    fn attrs(&mut self, attrs: &Attrs<'_>) {
        self.text(if attrs.recursive { "rec { " } else { "{ " });
        self.bindings(attrs);
        self.text("}");
    }

    fn bindings(&mut self, attrs: &Attrs<'_>) {
        let mut sorted: Vec<&Binding<'_>> = attrs.bindings.iter().collect();
        sorted.sort_by_key(|binding| binding.name.as_bytes());
        self.inherited(&sorted, "inherit", |value| matches!(value, BindingValue::Inherited));
        for (index, from) in attrs.inherit_from.iter().enumerate() {
            let names = |value: BindingValue<'_>| match value {
                BindingValue::InheritedFrom(from) => from as usize == index,
                _ => false,
            };
            if sorted.iter().any(|binding| names(binding.value)) {
                self.text("inherit (");
                self.expr(from);
                self.inherited(&sorted, ")", names);
            }
        }
        for binding in sorted {
            if let BindingValue::Expr(expr) = binding.value {
                write_attr_name(&mut self.out, binding.name);
                self.text(" = ");
                self.expr(expr);
                self.text("; ");
            }
        }
        for binding in attrs.dynamic {
            self.dynamic_name(binding.name);
            self.text(" = ");
            self.expr(binding.value);
            self.text("; ");
        }
    }

    /// Writes `lead` and the names whose values satisfy `test`, if there are any.
    fn inherited(
        &mut self,
        bindings: &[&Binding<'_>],
        lead: &str,
        test: impl Fn(BindingValue<'_>) -> bool,
    ) {
        let mut names = bindings.iter().filter(|binding| test(binding.value)).peekable();
        if names.peek().is_none() {
            return;
        }
        self.text(lead);
        for binding in names {
            self.text(" ");
            write_attr_name(&mut self.out, binding.name);
        }
        self.text("; ");
    }
}

/// Writes a float with six significant digits, as C's `%g` does.
fn general(value: f64) -> String {
    let scientific = format!("{value:.5e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let trim = |text: &str| {
        let text = if text.contains('.') { text.trim_end_matches('0') } else { text };
        text.trim_end_matches('.').to_owned()
    };
    if (-4..6).contains(&exponent) {
        return trim(&format!("{value:.*}", (5 - exponent) as usize));
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{}e{sign}{:02}", trim(digits), exponent.abs())
}
