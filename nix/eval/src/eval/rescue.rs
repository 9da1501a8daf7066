//! Nesting that is too deep only because of where evaluation began.
//!
//! How deep a chain of values is when it is evaluated depends on which of them were evaluated
//! before. On several workers that is a matter of timing: whoever begins in the middle makes the
//! chain short for the others. So that a result is never a matter of timing, evaluation that
//! could be shared among tasks begins again further down by itself when it was too deep: of the
//! thunks under evaluation at that moment, one at three quarters of the depth is evaluated first,
//! from where the stack is empty, then the whole is tried again. A chain of values succeeds this
//! way for every number of workers; a function that calls itself without end fails as it did at
//! first.
//!
//! The error, and the messages that came before it, are those of the first attempt.
//!
//! This is for calls, of which a limit is set (and is reached soon). Values that need each other
//! without any call may use the whole stack; evaluating that again and again would take too long.
//!
//! Invariant: at most [`LEVELS`] thunks are pending and [`ATTEMPTS`] are tried, so a failure costs
//! a bounded number of the first one.

use std::cell::Cell;

use super::{Cx, ErrorKind, Result};
use crate::value::thunk::Thunk;

/// The most thunks that wait for one further down. Each covers three quarters of the depth allowed.
const LEVELS: usize = 32;
/// The most thunks tried for one value.
const ATTEMPTS: usize = 4 * LEVELS;
/// The stack that an attempt may use, in bytes: the same wherever on a task's stack it begins, as
/// long as what is left allows it.
const ROOM: usize = 224 << 20;

/// Finds the thunk to begin again with while the error unwinds.
///
/// Places on the stack are addresses; it grows downwards.
#[derive(Debug, Default)]
pub(super) struct Rescue {
    /// Where the attempt began, or 0: nobody would begin again.
    base: Cell<usize>,
    /// Whether this is for a thunk further down: nobody will see how it failed.
    second: Cell<bool>,
    /// Where the upper three quarters of the stack in use end.
    limit: Cell<usize>,
    /// The innermost thunk in these.
    found: Cell<Option<Thunk>>,
}

impl Rescue {
    /// Notes how deep the stack is where the calls became too many.
    pub(super) fn begin_unwinding(&self) {
        self.found.set(None);
        let base = self.base.get();
        let in_use = base.saturating_sub(here());
        self.limit.set(if base == 0 { usize::MAX } else { base - in_use / 4 * 3 });
    }

    pub(super) fn is_second(&self) -> bool {
        self.second.get()
    }

    /// Notes that beginning again is no use.
    pub(super) fn give_up(&self) {
        self.found.set(None);
        self.limit.set(usize::MAX);
    }

    /// Notes a thunk that the error passes, innermost first.
    pub(super) fn pass(&self, thunk: Thunk) {
        if self.found.get().is_none() && here() > self.limit.get() {
            self.found.set(Some(thunk));
        }
    }
}

/// Returns the address of the top of the stack, nearly.
#[inline(never)]
fn here() -> usize {
    let marker = 0u8;
    std::hint::black_box(&raw const marker).addr()
}

impl Cx<'_> {
    /// Calls `attempt`, and again after what was too deep for it has been evaluated in parts.
    ///
    /// The last attempt's messages count, or the first one's if none succeeds. What the first
    /// attempt printed is not printed again.
    pub(crate) fn rescued<R>(&self, mut attempt: impl FnMut(&Self) -> Result<R>) -> Result<R> {
        let outer = (self.rescue.base.replace(here()), self.stack_limit.get());
        self.stack_limit.set(outer.1.max(here().saturating_sub(ROOM)));
        let effects = self.effects.len();
        let mut result = attempt(self);
        if let Err(first) = result
            && is_too_deep(&result)
        {
            let again = self.effects.begin_again(effects);
            let mut attempts = 0;
            while is_too_deep(&result) && self.evaluate_deeper(&mut attempts) {
                self.effects.repeat(&again);
                result = attempt(self);
            }
            if is_too_deep(&result) {
                result = Err(first);
            }
            self.end_attempt(again, !is_too_deep(&result));
        }
        self.rescue.base.set(outer.0);
        self.stack_limit.set(outer.1);
        result
    }

    /// Evaluates the thunk found further down, for which others may have to be evaluated first.
    /// Returns whether it is of use to try again.
    fn evaluate_deeper(&self, attempts: &mut usize) -> bool {
        let cx = self.ahead_of_itself();
        cx.rescue.base.set(here());
        cx.rescue.second.set(true);
        let mut pending = Vec::from_iter(self.rescue.found.take());
        let any = !pending.is_empty();
        while let Some(&thunk) = pending.last() {
            *attempts += 1;
            if *attempts > ATTEMPTS {
                return false;
            }
            match cx.force_thunk(thunk) {
                Err(error) if error.kind() == ErrorKind::Deeper => match cx.rescue.found.take() {
                    Some(deeper) if deeper != thunk && pending.len() < LEVELS => {
                        pending.push(deeper);
                    }
                    _ => return false,
                },
                Err(error) if error.kind() == ErrorKind::StackOverflow => return false,
                // Evaluated, or a failure that the next attempt meets in its own way.
                _ => {
                    pending.pop();
                }
            }
        }
        any
    }
}

fn is_too_deep<R>(result: &Result<R>) -> bool {
    matches!(result, Err(error) if error.kind() == ErrorKind::StackOverflow)
}
