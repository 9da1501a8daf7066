//! Sets and their bindings.

use super::merge::{SetBuilder, Value};
use super::{Failed, Parsed, Parser};
use crate::ast::{AttrName, Attrs, ExprKind};
use crate::lexer::Kind;

impl<'a> Parser<'a, '_> {
    /// `{ … }` or `rec { … }`
    #[inline(never)]
    pub(super) fn set(&mut self) -> Parsed<'a> {
        let pos = self.pos();
        let recursive = self.token.kind == Kind::Rec;
        if recursive {
            self.advance();
        }
        self.expect(Kind::BraceOpen, "'{'")?;
        if self.token.kind == Kind::BraceClose {
            self.advance();
            let attrs = Attrs { pos, recursive, inherit_from: &[], bindings: &[], dynamic: &[] };
            let attrs = self.arena.alloc(attrs);
            return Ok(self.leaf(pos, ExprKind::Attrs(attrs)));
        }
        let mut set = self.new_set(pos, recursive);
        self.bindings(&mut set)?;
        self.expect(Kind::BraceClose, if recursive { "'inherit' or '}'" } else { "'inherit'" })?;
        let (attrs, height) = self.finish_set(set)?;
        self.node(pos, ExprKind::Attrs(attrs), height)
    }

    /// `let { … }`
    #[inline(never)]
    pub(super) fn legacy_let(&mut self) -> Parsed<'a> {
        let pos = self.pos();
        self.advance();
        self.expect(Kind::BraceOpen, "'{'")?;
        let mut set = self.new_set(pos, true);
        self.bindings(&mut set)?;
        self.expect(Kind::BraceClose, "'inherit' or '}'")?;
        let (attrs, height) = self.finish_set(set)?;
        self.node(pos, ExprKind::LegacyLet(attrs), height)
    }

    /// Parses bindings up to the first token that begins none.
    pub(super) fn bindings(&mut self, set: &mut SetBuilder<'a>) -> Result<(), Failed> {
        loop {
            match self.token.kind {
                Kind::Identifier | Kind::Or | Kind::Quote | Kind::DollarBrace => {
                    self.binding(set)?;
                }
                Kind::Inherit => self.inherit(set)?,
                _ => return Ok(()),
            }
        }
    }

    /// `a.b.c = e;`
    fn binding(&mut self, set: &mut SetBuilder<'a>) -> Result<(), Failed> {
        let pos = self.pos();
        let doc = self.lexer.doc_before(self.token.start);
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
        if height > 0 {
            // A computed name is as deep in nested sets as it is far to the right.
            set.height = set.height.max(height + (self.names.len() - base) as u32);
        }
        self.expect(Kind::Assign, "'.' or '='")?;
        let value = self.expression()?;
        self.expect(Kind::Semicolon, "';'")?;
        self.add(set, base, pos, Value::Tree(value), doc)?;
        self.names.truncate(base);
        Ok(())
    }

    /// `inherit a b;` or `inherit (e) a b;`
    #[inline(never)]
    fn inherit(&mut self, set: &mut SetBuilder<'a>) -> Result<(), Failed> {
        self.advance();
        let mut from = None;
        if self.token.kind == Kind::ParenOpen {
            self.advance();
            let tree = self.expression()?;
            self.expect(Kind::ParenClose, "')'")?;
            set.height = set.height.max(tree.height);
            from = Some(set.inherit_from.len() as u32);
            set.inherit_from.push(tree.expr);
        }
        while self.token.kind != Kind::Semicolon {
            let pos = self.pos();
            if !super::expression::ATTR.contains(self.token.kind) {
                return self.unexpected("");
            }
            let (name, _) = self.attr_name()?;
            let AttrName::Static(..) = name else {
                return self.fail(pos, "dynamic attributes not allowed in inherit".into());
            };
            let base = self.names.len();
            self.names.push(name);
            self.add(set, base, pos, from.map_or(Value::Inherited, Value::InheritedFrom), None)?;
            self.names.truncate(base);
        }
        self.advance();
        Ok(())
    }
}
