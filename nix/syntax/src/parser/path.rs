//! Path literals.
//!
//! The lexer has read the first part of the path; this reads the interpolations and what follows
//! them.

use bstr::ByteSlice;

use super::{Failed, Parsed, Parser};
use crate::ast::{ExprKind, Part};
use crate::lexer::{Kind, is_path};

impl<'a> Parser<'a, '_> {
    #[inline(never)]
    pub(super) fn path(&mut self) -> Parsed<'a> {
        let start = self.token.start;
        let pos = self.pos();
        self.lint_path()?;
        let text = self.lexer.text();
        let mut end = self.path_run(self.token.end);
        let rest = &text[self.token.end..end];
        let interpolated = text[end..].starts_with(b"${");
        if !rest.is_empty() {
            // `a//b` is no path, but `./a//b${c}` is.
            if rest.contains_str(b"//") {
                return self.unexpected_at(self.token.end, "string", "'${'");
            }
            if !interpolated {
                return self.unexpected_at(end, "end of path", "'${'");
            }
        }
        if !interpolated {
            self.no_trailing_slash(end)?;
            self.resume(end);
            return Ok(self.leaf(pos, ExprKind::Path(&text[start..end])));
        }
        let base = self.parts.len();
        self.parts.push(Part::Literal(&text[start..end]));
        let mut height = 0;
        while text[end..].starts_with(b"${") {
            self.resume(end + 2);
            let tree = self.expression()?;
            height = height.max(tree.height);
            self.parts.push(Part::Interpolation(tree.expr));
            if self.token.kind != Kind::BraceClose {
                return self.unexpected("'}'");
            }
            let literal = self.token.end;
            end = self.path_run(literal);
            if end > literal {
                self.parts.push(Part::Literal(&text[literal..end]));
            }
        }
        self.no_trailing_slash(end)?;
        self.resume(end);
        let parts = self.arena.alloc_slice_copy(&self.parts[base..]);
        self.parts.truncate(base);
        self.node(pos, ExprKind::InterpolatedPath(parts), height)
    }

    /// Returns the end of the path characters and slashes from `at` on.
    fn path_run(&self, at: usize) -> usize {
        let rest = &self.lexer.text()[at..];
        at + rest.iter().take_while(|&&byte| is_path(byte) || byte == b'/').count()
    }

    fn no_trailing_slash(&mut self, end: usize) -> Result<(), Failed> {
        if self.lexer.text()[end - 1] != b'/' {
            return Ok(());
        }
        self.fail(self.source.pos(end), "path has a trailing slash".into())
    }

    fn lint_path(&mut self) -> Result<(), Failed> {
        let (pos, text) = (self.pos(), self.token_text().as_bstr());
        let absolute = match (self.token.kind, text[0]) {
            (Kind::HomePath, _) => "home",
            (_, b'/') => "absolute",
            (_, b'.') => return Ok(()),
            _ => {
                return self.lint(self.options.short_paths, pos, |_| {
                    format!(
                        "relative path literal '{text}' should be prefixed with '.' for clarity: \
                         './{text}' (lint-short-path-literals)"
                    )
                });
            }
        };
        self.lint(self.options.absolute_paths, pos, |_| {
            format!(
                "{absolute} path literals are not portable. Consider replacing path literal \
                 '{text}' by a string, relative path, or parameter (lint-absolute-path-literals)"
            )
        })
    }
}
