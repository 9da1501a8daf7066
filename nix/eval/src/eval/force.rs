//! Making thunks values, each one once, whoever needs it first.
//!
//! The first task to need a thunk claims it and evaluates; others wait as tasks (their workers go
//! on with other work). The states are in `value::thunk`, the wait-for graph is the runtime's.
//!
//! Errors whose place depends on where evaluation began (infinite recursion, too deep) are not
//! kept: the thunk becomes what it was, and whoever needs it next meets the error from its own
//! side. A cycle of tasks that wait for each other's thunks is an infinite recursion for all of
//! them; what the user sees of it is what the task meets that goes through the program in order,
//! when all others have ended.
//!
//! How many calls may be nested is counted anew for each thunk: whether a value is too deep must not
//! depend on where it is needed first. All together are bounded by the task's stack.

use raddle::Wait;
use raddle_nix_syntax::Pos;

use super::{Cx, Error, ErrorKind, Result};
use crate::value::thunk::{Outcome, State, Thunk, Work};
use crate::value::{Function, Slot, Value, View};

impl Cx<'_> {
    /// Evaluates a value as far as its outermost constructor.
    #[inline(always)]
    pub fn force(&self, value: Value) -> Result<Value> {
        match value.as_thunk() {
            None => Ok(value),
            Some(thunk) => self.force_thunk(thunk),
        }
    }

    /// Forces the thunk `value`, which was read from `slot`, and remembers the result there.
    #[inline]
    pub(super) fn force_thunk_in(&self, value: Value, slot: &Slot) -> Result<Value> {
        let Some(thunk) = value.as_thunk() else { return Ok(value) };
        let effects = self.effects.len();
        let result = self.force_thunk(thunk)?;
        // A thunk with effects stays, so that every task that passes here takes note of them.
        if self.effects.len() == effects {
            slot.set(result);
        }
        Ok(result)
    }

    #[inline(never)]
    pub(super) fn force_thunk(&self, thunk: Thunk) -> Result<Value> {
        loop {
            match thunk.look() {
                State::Done(value) => return Ok(value),
                State::Idle(header, work) => {
                    if thunk.claim(header, self.id, self.alone) {
                        return self.run(thunk, header, work);
                    }
                }
                State::Busy(owner) if owner == self.id => {
                    self.recursive.set(thunk.key());
                    return Err(infinite_recursion());
                }
                State::Busy(owner) => self.wait(thunk, owner)?,
                State::DoneEffects(value) => {
                    self.note_effects_of(thunk);
                    return Ok(value);
                }
                State::Failed(error) => {
                    self.note_effects_of(thunk);
                    return Err(error);
                }
            }
        }
    }

    #[inline]
    fn run(&self, thunk: Thunk, claimed: u64, work: Work) -> Result<Value> {
        let effects = self.effects.len();
        let depth_limit = self.depth_limit.replace(self.depth.get().saturating_add(self.max_depth));
        let result = if self.stack_is_full() {
            Err(self.stack_overflow())
        } else {
            match work {
                Work::Code(code, env) => self.eval(code, env),
                Work::Apply(function, arg) => self
                    .force(function)
                    .and_then(|function| self.call(function, &[arg], delayed_call_pos(function))),
                Work::ApplyNamed(function, name, value, placed) => {
                    let pos = if placed { delayed_call_pos(function) } else { Pos::NONE };
                    self.call(function, &[self.symbol_string(name), value], pos)
                }
            }
        };
        self.depth_limit.set(depth_limit);
        let finished = result.as_ref().err().is_none_or(|error| error.is_lasting());
        let has_effects =
            self.effects.len() != effects && self.settle_effects(thunk, effects, finished);
        let outcome = match result {
            Ok(value) => Outcome::Done(value, has_effects),
            Err(error) if error.is_lasting() => Outcome::Failed(error),
            Err(_) => Outcome::Restored(claimed),
        };
        let result = match result {
            Err(error) if !error.is_lasting() => Err(self.passing(thunk, error)),
            result => result,
        };
        if thunk.finish(outcome, claimed, self.alone) {
            self.task.wake_cell(thunk.key());
        }
        result
    }

    /// Takes note of an error that leaves a thunk, but is not kept there. An infinite recursion is
    /// marked where its cycle begins: at the thunk that needed itself.
    #[cold]
    #[inline(never)]
    fn passing(&self, thunk: Thunk, error: Error) -> Error {
        if error.kind() != ErrorKind::InfiniteRecursion || self.recursive.get() != thunk.key() {
            return error;
        }
        self.recursive.set(0);
        error.frame(Pos::NONE, "entering the infinite recursion")
    }

    #[cold]
    #[inline(never)]
    fn wait(&self, thunk: Thunk, owner: u32) -> Result<()> {
        let Some(owner_id) = raddle::TaskId::from_u32(owner) else { return Ok(()) };
        match self.task.wait_cell(thunk.key(), owner_id, || thunk.mark_awaited(owner)) {
            Wait::Ready | Wait::Woken => Ok(()),
            Wait::Recursion | Wait::Abandon => Err(infinite_recursion()),
            Wait::Orphaned => {
                let message = "another task failed while it evaluated this value";
                Err(Error::new(ErrorKind::Other, Pos::NONE, message))
            }
        }
    }

    /// Returns whether the task's stack is nearly used up.
    #[inline(always)]
    pub(crate) fn stack_is_full(&self) -> bool {
        let marker = 0u8;
        (&raw const marker).addr() < self.stack_limit
    }

    /// Returns the error for a computation that is nested too deeply.
    #[cold]
    pub(crate) fn stack_overflow(&self) -> Error {
        let message = "stack overflow; max-call-depth exceeded";
        Error::new(ErrorKind::StackOverflow, Pos::NONE, message)
    }

    /// Returns an error where the task's stack is nearly used up: for recursion over data.
    #[inline]
    pub(crate) fn check_stack(&self) -> Result<()> {
        if self.stack_is_full() { Err(self.stack_overflow()) } else { Ok(()) }
    }
}

#[cold]
fn infinite_recursion() -> Error {
    Error::new(ErrorKind::InfiniteRecursion, Pos::NONE, "infinite recursion encountered")
}

/// Returns the place of a delayed call: where the function that it applies was written.
#[inline]
fn delayed_call_pos(function: Value) -> Pos {
    match function.view() {
        View::Function(Function::Lambda(lambda)) => lambda.code().pos,
        _ => Pos::NONE,
    }
}
