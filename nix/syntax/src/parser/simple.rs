//! Literals, variables, lists, sets and parentheses.

use bstr::ByteSlice;

use super::{Failed, Lint, Parsed, Parser, Tree};
use crate::ast::ExprKind;
use crate::lexer::Kind;
use crate::sym;

impl<'a> Parser<'a, '_> {
    /// Parses what may stand before a dot.
    #[inline]
    pub(super) fn simple(&mut self) -> Parsed<'a> {
        match self.token.kind {
            Kind::Identifier => Ok(self.variable()),
            Kind::Quote => self.string(),
            Kind::ParenOpen => self.parentheses(),
            Kind::BraceOpen | Kind::Rec => self.set(),
            Kind::BracketOpen => self.list(),
            Kind::IndentedOpen => self.indented_string(),
            Kind::Path | Kind::HomePath => self.path(),
            _ => self.unusual_simple(),
        }
    }

    #[inline(never)]
    fn variable(&mut self) -> Tree<'a> {
        let pos = self.pos();
        let kind = match self.symbol() {
            sym::CUR_POS => ExprKind::CurPos,
            name => ExprKind::Var(name),
        };
        self.advance();
        self.leaf(pos, kind)
    }

    #[inline(never)]
    fn parentheses(&mut self) -> Parsed<'a> {
        self.advance();
        let tree = self.expression()?;
        self.expect(Kind::ParenClose, "')'")?;
        Ok(tree)
    }

    #[inline(never)]
    fn list(&mut self) -> Parsed<'a> {
        let pos = self.pos();
        self.advance();
        let base = self.trees.len();
        let height = self.nested(|parser| {
            let mut height = 0;
            while parser.token.kind != Kind::BracketClose {
                let element = parser.element()?;
                height = height.max(element.height);
                parser.trees.push(element.expr);
            }
            Ok(height)
        })?;
        self.advance();
        let elements = self.take_trees(base);
        self.node(pos, ExprKind::List(elements), height)
    }

    #[inline(never)]
    fn unusual_simple(&mut self) -> Parsed<'a> {
        let pos = self.pos();
        let kind = match self.token.kind {
            Kind::Integer => ExprKind::Int(self.integer()?),
            Kind::Float => ExprKind::Float(self.float()?),
            Kind::LookupPath => {
                let text = self.token_text();
                ExprKind::LookupPath(&text[1..text.len() - 1])
            }
            Kind::Uri => {
                self.lint_uri()?;
                ExprKind::Str(self.token_text())
            }
            Kind::Let => return self.legacy_let(),
            _ => return self.unexpected(""),
        };
        self.advance();
        Ok(self.leaf(pos, kind))
    }

    fn integer(&mut self) -> Result<i64, Failed> {
        let text = self.token_text();
        let digits = text.iter().skip_while(|&&digit| digit == b'0');
        let value = digits.clone().take(20).try_fold(0i64, |value, digit| {
            value.checked_mul(10)?.checked_add(i64::from(digit - b'0'))
        });
        match value {
            Some(value) if digits.count() < 20 => Ok(value),
            _ => self.invalid("integer"),
        }
    }

    fn float(&mut self) -> Result<f64, Failed> {
        let text = self.token_text();
        let value = text.to_str().ok().and_then(|text| text.parse::<f64>().ok());
        let digits = text.iter().take_while(|byte| !matches!(byte, b'e' | b'E'));
        let zero = digits.filter(|byte| byte.is_ascii_digit()).all(|&digit| digit == b'0');
        match value {
            Some(value) if value.is_normal() || zero => Ok(value),
            _ => self.invalid("float"),
        }
    }

    #[cold]
    fn invalid<T>(&mut self, what: &str) -> Result<T, Failed> {
        let text = self.token_text();
        let shown = text[..text.len().min(100)].as_bstr();
        let more = if text.len() > 100 { "…" } else { "" };
        let pos = self.pos();
        self.fail(pos, format!("invalid {what} '{shown}{more}'"))
    }

    fn lint_uri(&mut self) -> Result<(), Failed> {
        let (pos, text) = (self.pos(), self.token_text().as_bstr());
        self.lint(self.options.url_literals, pos, |lint| {
            let verdict = if lint == Lint::Fatal { "disallowed" } else { "discouraged" };
            format!(
                "URL literals are {verdict}. Consider using a string literal \"{text}\" instead \
                 (lint-url-literals)"
            )
        })
    }
}
