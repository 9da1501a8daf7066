//! Tokens to tree.
//!
//! Recursive descent, one module per part of the grammar:
//!
//! - `expression`: what binds loosest (functions, `let`, `if`, …), operators, calls, selections;
//! - `simple`: literals, lists, parentheses;
//! - `string`, `path`: what is inside of quotes, `''` and paths;
//! - `function`: set patterns;
//! - `set`, `merge`: bindings, and how attribute paths become nested sets;
//! - `names`: symbols of names that repeat.
//!
//! Invariant: every recursion goes through [`Parser::nested`], which bounds the parser's stack,
//! and every node is made by [`Parser::node`], which bounds the tree's height (a long chain of a
//! left-associative operator is a deep tree although it is read in a loop).
//!
//! An error is kept in the parser while `Failed` travels up, so that results stay small.

mod expression;
mod function;
mod merge;
mod names;
mod path;
mod set;
mod simple;
mod string;

use std::cell::RefCell;

use bumpalo::Bump;

use crate::ast::{AttrName, Expr, ExprKind, Part};
use crate::lexer::{Kind, Lexer, Token};
use crate::{Pos, Source, Symbol, SyntaxError, Warning};

/// No tree is higher than this, counting nodes from the root to the deepest leaf, and nothing
/// nests deeper in the text. Parsing to this depth fits a stack of 2 MiB, or of 8 MiB in a debug
/// build.
pub const MAX_DEPTH: u32 = 2500;

/// What to do about a questionable literal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Lint {
    /// Nothing.
    #[default]
    Ignore,
    /// Add a [`Warning`].
    Warn,
    /// Reject the text.
    Fatal,
}

/// What the parser accepts, and where its warnings go.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options<'w> {
    /// Whether `|>` and `<|` are allowed.
    pub pipe_operators: bool,
    /// `https://x` without quotes.
    pub url_literals: Lint,
    /// `/x` and `~/x`.
    pub absolute_paths: Lint,
    /// `x/y` without `./`.
    pub short_paths: Lint,
    /// Collects the warnings, also those of a text that is rejected in the end.
    pub warnings: Option<&'w RefCell<Vec<Warning>>>,
}

/// Parses a text into a tree in `arena`.
///
/// # Errors
///
/// Fails at the first place where the text cannot be Nix.
pub fn parse<'a>(
    arena: &'a Bump,
    source: &'static Source,
    options: &Options<'_>,
) -> Result<&'a Expr<'a>, SyntaxError> {
    let text = source.text();
    let nul = memchr::memchr(0, text);
    let mut lexer = Lexer::new(text);
    let token = lexer.next();
    let mut parser = Parser {
        lexer,
        token,
        ahead: [token; 2],
        n_ahead: 0,
        source,
        arena,
        options: *options,
        depth: 0,
        cursed: None,
        has_nul: nul.is_some(),
        has_cr: memchr::memchr(b'\r', text).is_some(),
        error: None,
        trees: Vec::new(),
        names: Vec::new(),
        parts: Vec::new(),
        indented: Vec::new(),
        bytes: Vec::new(),
        symbols: names::Names::new(),
        spare: Vec::new(),
    };
    match (parser.file(), nul) {
        (Ok(tree), None) => Ok(tree.expr),
        (Ok(_), Some(offset)) => {
            let message = String::from("the source text contains a NUL byte");
            Err(SyntaxError { pos: source.pos(offset), message })
        }
        (Err(Failed), _) => Err(parser.error.take().expect("whoever fails leaves an error")),
    }
}

/// The parser has failed; the reason is in `Parser::error`.
#[derive(Debug, Clone, Copy)]
struct Failed;

/// A node and its height: 1 for a leaf.
#[derive(Debug, Clone, Copy)]
struct Tree<'a> {
    expr: &'a Expr<'a>,
    height: u32,
}

type Parsed<'a> = Result<Tree<'a>, Failed>;

struct Parser<'a, 'w> {
    lexer: Lexer<'static>,
    /// The token to be consumed next.
    token: Token,
    /// Tokens after it that were read already.
    ahead: [Token; 2],
    n_ahead: usize,
    source: &'static Source,
    arena: &'a Bump,
    options: Options<'w>,
    depth: u32,
    /// The end of the `or` if the selection read last was of the form `x or`.
    cursed: Option<usize>,
    /// Whether the text has a NUL byte, which is an error even in a comment.
    has_nul: bool,
    /// Whether the text has a carriage return, which strings must translate.
    has_cr: bool,
    error: Option<SyntaxError>,
    // Stacks for what is being collected; each rule leaves them as it found them.
    trees: Vec<&'a Expr<'a>>,
    names: Vec<AttrName<'a>>,
    parts: Vec<Part<'a>>,
    indented: Vec<string::Piece<'a>>,
    bytes: Vec<u8>,
    symbols: names::Names,
    /// Emptied builders, to use their memory again.
    #[expect(clippy::vec_box, reason = "a builder is too big to move around")]
    spare: Vec<Box<merge::SetBuilder<'a>>>,
}

impl<'a> Parser<'a, '_> {
    fn file(&mut self) -> Parsed<'a> {
        let tree = self.expression()?;
        self.expect(Kind::End, "end of file")?;
        Ok(tree)
    }

    /// Consumes the current token.
    #[inline]
    fn advance(&mut self) {
        if self.n_ahead == 0 {
            self.token = self.lexer.next();
        } else {
            self.token = self.ahead[0];
            self.ahead[0] = self.ahead[1];
            self.n_ahead -= 1;
        }
    }

    /// Returns the kind of the token after the current one, or of that after that.
    ///
    /// Only for tokens that are wholly read by the lexer: not a quote, not a path.
    #[inline]
    fn peek(&mut self, distance: usize) -> Kind {
        while self.n_ahead <= distance {
            self.ahead[self.n_ahead] = self.lexer.next();
            self.n_ahead += 1;
        }
        self.ahead[distance].kind
    }

    /// Lets the lexer go on at `offset` after the inside of a string or path was read by hand, and
    /// reads the next token.
    fn resume(&mut self, offset: usize) {
        debug_assert_eq!(self.n_ahead, 0, "tokens inside of a string were read");
        self.lexer.skip_to(offset);
        self.token = self.lexer.next();
    }

    /// Consumes a token that must be of this kind; `expected` lists what could stand here.
    #[inline]
    fn expect(&mut self, kind: Kind, expected: &str) -> Result<(), Failed> {
        if self.token.kind != kind {
            return self.unexpected(expected);
        }
        self.advance();
        Ok(())
    }

    /// Runs a rule one level deeper.
    #[inline]
    fn nested<T>(
        &mut self,
        rule: impl FnOnce(&mut Self) -> Result<T, Failed>,
    ) -> Result<T, Failed> {
        if self.depth == MAX_DEPTH {
            return self.too_deep();
        }
        self.depth += 1;
        let result = rule(self);
        self.depth -= 1;
        result
    }

    /// Makes a node above children of the given height.
    #[inline]
    fn node(&mut self, pos: Pos, kind: ExprKind<'a>, children: u32) -> Parsed<'a> {
        if children >= MAX_DEPTH {
            return self.too_deep();
        }
        Ok(Tree { expr: self.arena.alloc(Expr { pos, kind }), height: children + 1 })
    }

    #[inline]
    fn leaf(&mut self, pos: Pos, kind: ExprKind<'a>) -> Tree<'a> {
        Tree { expr: self.arena.alloc(Expr { pos, kind }), height: 1 }
    }

    #[inline]
    fn pos(&self) -> Pos {
        self.source.pos(self.token.start)
    }

    #[inline]
    fn token_text(&self) -> &'static [u8] {
        &self.lexer.text()[self.token.start..self.token.end]
    }

    /// Returns the symbol of the current token, a name.
    #[inline]
    fn symbol(&mut self) -> Symbol {
        self.symbols.intern(self.lexer.text(), self.token.start, self.token.end)
    }

    #[cold]
    #[inline(never)]
    fn too_deep<T>(&mut self) -> Result<T, Failed> {
        let pos = self.pos();
        self.fail(pos, format!("nesting too deep: the limit is {MAX_DEPTH} levels"))
    }

    /// Fails with what the current token is and what could stand in its place.
    #[cold]
    #[inline(never)]
    fn unexpected<T>(&mut self, expected: &str) -> Result<T, Failed> {
        let found = self.token.kind.describe();
        self.unexpected_at(self.token.start, found, expected)
    }

    #[cold]
    #[inline(never)]
    fn unexpected_at<T>(
        &mut self,
        offset: usize,
        found: &str,
        expected: &str,
    ) -> Result<T, Failed> {
        let expecting = if expected.is_empty() { "" } else { ", expecting " };
        let message = format!("syntax error, unexpected {found}{expecting}{expected}");
        self.fail(self.source.pos(offset), message)
    }

    #[cold]
    fn fail<T>(&mut self, pos: Pos, message: String) -> Result<T, Failed> {
        self.error = Some(SyntaxError { pos, message });
        Err(Failed)
    }

    #[cold]
    fn warn(&mut self, warning: Warning) {
        if let Some(warnings) = self.options.warnings {
            warnings.borrow_mut().push(warning);
        }
    }

    /// Applies a lint to the literal at `pos`.
    #[cold]
    fn lint(
        &mut self,
        lint: Lint,
        pos: Pos,
        message: impl FnOnce(Lint) -> String,
    ) -> Result<(), Failed> {
        match lint {
            Lint::Ignore => Ok(()),
            Lint::Warn => {
                let message = message(lint);
                self.warn(Warning { pos, message, place_first: false });
                Ok(())
            }
            Lint::Fatal => self.fail(pos, message(lint)),
        }
    }
}

#[cfg(test)]
mod tests;
