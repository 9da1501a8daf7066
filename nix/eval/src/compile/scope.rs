//! The frames around an expression while it is compiled.

use raddle_nix_syntax::Symbol;

/// One frame.
#[derive(Debug)]
pub(super) struct Frame {
    /// The name in slot 0, and whether slot 0 is taken at all.
    first: Option<Symbol>,
    offset: u32,
    /// The names in the following slots, sorted by symbol.
    names: Vec<Symbol>,
    is_with: bool,
}

impl Frame {
    /// A `let` or a recursive set.
    pub(super) fn variables(names: Vec<Symbol>) -> Frame {
        Frame { first: None, offset: 0, names, is_with: false }
    }

    /// A function. Without a pattern, slot 0 is taken even if the argument has no name.
    pub(super) fn lambda(arg: Option<Symbol>, names: Vec<Symbol>) -> Frame {
        Frame { first: arg, offset: u32::from(arg.is_some()), names, is_with: false }
    }

    /// A `with`, whose set is in slot 0.
    pub(super) fn with() -> Frame {
        Frame { first: None, offset: 1, names: Vec::new(), is_with: true }
    }

    fn slot(&self, name: Symbol) -> Option<u32> {
        if self.first == Some(name) {
            return Some(0);
        }
        let index = self.names.binary_search(&name).ok()?;
        Some(self.offset + index as u32)
    }
}

/// What a name means.
#[derive(Debug)]
pub(super) enum Resolved {
    /// A variable of a frame.
    Variable {
        /// Frames outwards.
        level: u32,
        /// Slot in that frame.
        slot: u32,
    },
    /// No variable; the enclosing `with`s are that many frames outwards, innermost first.
    Missing {
        /// Their distances.
        withs: Vec<u32>,
    },
}

/// The frames, outermost first.
#[derive(Debug, Default)]
pub(super) struct Scopes(Vec<Frame>);

impl Scopes {
    pub(super) fn push(&mut self, frame: Frame) {
        self.0.push(frame);
    }

    pub(super) fn pop(&mut self) -> Option<Frame> {
        self.0.pop()
    }

    pub(super) fn extend(&mut self, frame: Option<Frame>) {
        self.0.extend(frame);
    }

    pub(super) fn resolve(&self, name: Symbol) -> Resolved {
        let mut withs = Vec::new();
        for (level, frame) in self.0.iter().rev().enumerate() {
            let level = level as u32;
            if let Some(slot) = frame.slot(name) {
                return Resolved::Variable { level, slot };
            }
            if frame.is_with {
                withs.push(level);
            }
        }
        Resolved::Missing { withs }
    }
}
