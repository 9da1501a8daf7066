//! Functions with set patterns.

use std::collections::HashSet;

use super::{Failed, Parsed, Parser};
use crate::ast::{ExprKind, Formal, Formals, Lambda};
use crate::lexer::Kind;
use crate::{Pos, Symbol};

/// Up to so many names are compared with each other one by one.
const FEW: usize = 16;

impl<'a> Parser<'a, '_> {
    /// Returns whether the current brace opens a pattern rather than a set.
    #[inline]
    pub(super) fn at_pattern(&mut self) -> bool {
        match self.peek(0) {
            Kind::Ellipsis => true,
            Kind::BraceClose => matches!(self.peek(1), Kind::Colon | Kind::At),
            Kind::Identifier => {
                matches!(self.peek(1), Kind::Comma | Kind::Question | Kind::BraceClose)
            }
            _ => false,
        }
    }

    /// `{ … }: body`, `{ … }@x: body` or `x@{ … }: body`
    #[inline(never)]
    pub(super) fn pattern_lambda(&mut self) -> Parsed<'a> {
        let pos = self.pos();
        let doc = self.lexer.doc_before(self.token.start);
        let mut arg = None;
        let mut expected = "':' or '@'";
        if self.token.kind == Kind::Identifier {
            arg = Some(self.name()?);
            self.advance();
            expected = "':'";
        }
        let (formals, height) = self.formals()?;
        if arg.is_none() && self.token.kind == Kind::At {
            self.advance();
            arg = Some(self.name()?);
            expected = "':'";
        }
        self.expect(Kind::Colon, expected)?;
        if let Some(name) = arg
            && formals.formals.iter().any(|formal| formal.name == name)
        {
            return self.duplicate_formal(pos, name);
        }
        let body = self.expression()?;
        let lambda = Lambda { arg, formals: Some(formals), body: body.expr, doc };
        let lambda = self.arena.alloc(lambda);
        self.node(pos, ExprKind::Lambda(lambda), height.max(body.height))
    }

    fn name(&mut self) -> Result<Symbol, Failed> {
        if self.token.kind != Kind::Identifier {
            return self.unexpected("identifier");
        }
        let name = self.symbol();
        self.advance();
        Ok(name)
    }

    /// Parses a pattern in braces and returns it with the height of its defaults.
    fn formals(&mut self) -> Result<(Formals<'a>, u32), Failed> {
        self.expect(Kind::BraceOpen, "'{'")?;
        let mut formals: Vec<Formal<'a>> = Vec::new();
        let mut many = HashSet::new();
        let (mut height, mut ellipsis) = (0, false);
        while self.token.kind != Kind::BraceClose {
            if self.token.kind == Kind::Ellipsis {
                ellipsis = true;
                self.advance();
                break;
            }
            let pos = self.pos();
            if self.token.kind != Kind::Identifier {
                return self.unexpected("identifier or '...' or '}'");
            }
            let name = self.name()?;
            let seen = if formals.len() < FEW {
                formals.iter().any(|formal| formal.name == name)
            } else {
                if many.is_empty() {
                    many.extend(formals.iter().map(|formal| formal.name));
                }
                !many.insert(name)
            };
            if seen {
                return self.duplicate_formal(pos, name);
            }
            let mut default = None;
            if self.token.kind == Kind::Question {
                self.advance();
                let tree = self.expression()?;
                height = height.max(tree.height);
                default = Some(tree.expr);
            }
            formals.push(Formal { name, pos, default });
            if self.token.kind == Kind::BraceClose {
                break;
            }
            self.expect(Kind::Comma, "'}' or ','")?;
        }
        self.expect(Kind::BraceClose, "'}'")?;
        let formals = self.arena.alloc_slice_copy(&formals);
        Ok((Formals { formals, ellipsis }, height))
    }

    #[cold]
    fn duplicate_formal<T>(&mut self, pos: Pos, name: Symbol) -> Result<T, Failed> {
        self.fail(pos, format!("duplicate formal function argument '{name}'"))
    }
}
