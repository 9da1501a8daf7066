//! Thunks: values under way.
//!
//! ```text
//! state              header                        payload            extra
//! Suspended          code address                  environment
//! Apply                                            function           argument
//! ApplyNamed         name, whether placed          function           value
//! Busy, BusyWaited   task id
//! Done, DoneEffects                                result
//! Failed                                           error
//!
//! Suspended ─┐ claim          publish ┌─ Done        (for good)
//!            ├───────> Busy ──────────┼─ Failed      (for good)
//! Apply… ────┘     │ │    ↑           └─ Suspended/Apply again (the task gave up)
//!                  │ └────┘ a waiter marks it BusyWaited
//! ```
//!
//! The low byte of the header is the state, the next one the size in words, the upper 48 bits are
//! as above. Only the task that claimed a thunk writes its payload, before it publishes the header
//! with `Release`; a reader loads the header with `Acquire` before the payload. A claimer reads
//! code and payload *before* its compare-and-swap: they can only have changed if the header did.
#![expect(unsafe_code, reason = "reads and writes the words of thunks")]

use std::sync::atomic::{AtomicU64, Ordering};

use raddle_nix_syntax::Symbol;

use super::Value;
use super::env::Env;
use super::heap::Heap;
use crate::compile::Code;
use crate::eval::Error;

/// States, in the low byte of the header.
const SUSPENDED: u64 = 1;
const APPLY: u64 = 2;
const BUSY: u64 = 3;
const BUSY_WAITED: u64 = 4;
const DONE: u64 = 5;
const DONE_EFFECTS: u64 = 6;
const FAILED: u64 = 7;
const APPLY_NAMED: u64 = 8;

/// In the header of `ApplyNamed`, above the name: whether the call has a place in traces.
const PLACED: u64 = 1 << 63;

/// A thunk.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Thunk(*const AtomicU64);

/// What a thunk would evaluate.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Work {
    /// An expression in its environment.
    Code(&'static Code, Env),
    /// A call of a function with one argument.
    Apply(Value, Value),
    /// A call of a function with a name and a value; whether it has a place in traces.
    ApplyNamed(Value, Symbol, Value, bool),
}

/// A look at a thunk.
#[derive(Debug, Clone, Copy)]
pub(crate) enum State {
    /// Not evaluated: claim it with the header seen.
    Idle(u64, Work),
    /// Under evaluation by a task.
    Busy(u32),
    /// Evaluated.
    Done(Value),
    /// Evaluated, and its evaluation had effects.
    DoneEffects(Value),
    /// Evaluation failed.
    Failed(Error),
}

/// How a claimed thunk ends.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Outcome {
    /// With a value; the flag says that there were effects.
    Done(Value, bool),
    /// With an error that every later reader gets.
    Failed(Error),
    /// As if it had never been claimed, with the header it had.
    Restored(u64),
}

impl Thunk {
    #[inline(always)]
    pub(super) fn from_ptr(ptr: *const u64) -> Thunk {
        Thunk(ptr.cast())
    }

    /// Allocates a thunk that evaluates `code` in `env`.
    #[inline(always)]
    pub(crate) fn suspended(heap: &Heap, code: &'static Code, env: Env) -> Value {
        let ptr = heap.alloc(2);
        let code = std::ptr::from_ref(code).expose_provenance() as u64;
        // SAFETY: `alloc` returned two words that nobody else knows yet.
        unsafe {
            ptr.write(code << 16 | 2 << 8 | SUSPENDED);
            ptr.add(1).write(env.to_word());
        }
        Value(ptr.expose_provenance() as u64)
    }

    /// Allocates a thunk that calls `function` with one argument.
    pub(crate) fn apply(heap: &Heap, function: Value, arg: Value) -> Value {
        let ptr = heap.alloc(3);
        // SAFETY: `alloc` returned three words that nobody else knows yet.
        unsafe {
            ptr.write(3 << 8 | APPLY);
            ptr.add(1).write(function.0);
            ptr.add(2).write(arg.0);
        }
        Value(ptr.expose_provenance() as u64)
    }

    /// Allocates a thunk that calls `function` with a name and a value; `placed` says whether the
    /// call has a place in traces.
    pub(crate) fn apply_named(
        heap: &Heap,
        function: Value,
        name: Symbol,
        value: Value,
        placed: bool,
    ) -> Value {
        let placed = if placed { PLACED } else { 0 };
        let ptr = heap.alloc(3);
        // SAFETY: `alloc` returned three words that nobody else knows yet.
        unsafe {
            ptr.write(placed | u64::from(name.index()) << 16 | 3 << 8 | APPLY_NAMED);
            ptr.add(1).write(function.0);
            ptr.add(2).write(value.0);
        }
        Value(ptr.expose_provenance() as u64)
    }

    /// Allocates a thunk whose evaluation has failed.
    #[cold]
    pub(crate) fn failed(heap: &Heap, error: Error) -> Value {
        let ptr = heap.alloc(2);
        // SAFETY: `alloc` returned two words that nobody else knows yet.
        unsafe {
            ptr.write(2 << 8 | FAILED);
            ptr.add(1).write(error.to_word());
        }
        Value(ptr.expose_provenance() as u64)
    }

    /// Returns the address, which names this thunk in the wait-for graph.
    pub(crate) fn key(self) -> usize {
        self.0.addr()
    }

    #[inline(always)]
    fn word(self, index: usize) -> &'static AtomicU64 {
        // SAFETY: a thunk has at least two words, and its size byte admits the indices used in
        // `look`; it is never freed, and all its words are accessed atomically once published.
        unsafe { &*self.0.add(index) }
    }

    /// Returns the result of an evaluated thunk.
    #[inline(always)]
    pub(crate) fn result(self) -> Option<Value> {
        // `Acquire` pairs with the `Release` of `finish`.
        match self.word(0).load(Ordering::Acquire) & 0xff {
            DONE | DONE_EFFECTS => Some(Value(self.word(1).load(Ordering::Relaxed))),
            _ => None,
        }
    }

    /// Returns the result of an evaluated thunk without effects.
    #[inline(always)]
    pub(crate) fn quiet_result(self) -> Option<Value> {
        // `Acquire` pairs with the `Release` of `finish`.
        match self.word(0).load(Ordering::Acquire) & 0xff {
            DONE => Some(Value(self.word(1).load(Ordering::Relaxed))),
            _ => None,
        }
    }

    /// Returns whether some task is evaluating this thunk right now.
    pub(crate) fn is_busy(self) -> bool {
        matches!(self.word(0).load(Ordering::Acquire) & 0xff, BUSY | BUSY_WAITED)
    }

    /// Looks at the state.
    #[inline]
    pub(crate) fn look(self) -> State {
        // `Acquire` pairs with the `Release` of `finish`.
        let header = self.word(0).load(Ordering::Acquire);
        let payload = self.word(1).load(Ordering::Relaxed);
        match header & 0xff {
            DONE => State::Done(Value(payload)),
            SUSPENDED => {
                let code = std::ptr::with_exposed_provenance((header >> 16) as usize);
                // SAFETY: the upper bits of a suspended header are the address of a `Code`, which
                // lives as long as the process.
                State::Idle(header, Work::Code(unsafe { &*code }, Env::from_word(payload)))
            }
            APPLY => {
                let arg = Value(self.word(2).load(Ordering::Relaxed));
                State::Idle(header, Work::Apply(Value(payload), arg))
            }
            APPLY_NAMED => {
                let name = Symbol::from_index((header >> 16) as u32);
                let value = Value(self.word(2).load(Ordering::Relaxed));
                let placed = header & PLACED != 0;
                State::Idle(header, Work::ApplyNamed(Value(payload), name, value, placed))
            }
            BUSY | BUSY_WAITED => State::Busy((header >> 16) as u32),
            DONE_EFFECTS => State::DoneEffects(Value(payload)),
            _ => State::Failed(Error::from_word(payload)),
        }
    }

    /// Claims an idle thunk for `task`, given the header that [`look`](Self::look) saw; `false`
    /// when another task was faster. With `alone`, no other worker exists and no interlocked
    /// instruction is needed.
    #[inline(always)]
    #[must_use]
    pub(crate) fn claim(self, seen: u64, task: u32, alone: bool) -> bool {
        let busy = u64::from(task) << 16 | seen & 0xff00 | BUSY;
        if alone {
            self.word(0).store(busy, Ordering::Relaxed);
            return true;
        }
        // `Acquire`: the code and environment were published by whoever restored this thunk, if
        // anybody did; nothing is released by claiming.
        self.word(0).compare_exchange(seen, busy, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Marks a thunk under evaluation by `task` as awaited; `false` when it is not any more.
    pub(crate) fn mark_awaited(self, task: u32) -> bool {
        let mut header = self.word(0).load(Ordering::Acquire);
        loop {
            if (header >> 16) as u32 != task {
                return false;
            }
            match header & 0xff {
                BUSY_WAITED => return true,
                BUSY => {}
                _ => return false,
            }
            let awaited = header & !0xff | BUSY_WAITED;
            match self.word(0).compare_exchange(
                header,
                awaited,
                Ordering::AcqRel,
                Ordering::Acquire,
            ) {
                Ok(_) => return true,
                Err(now) => header = now,
            }
        }
    }

    /// Ends the evaluation of a claimed thunk; returns whether somebody waits for it.
    #[inline(always)]
    #[must_use]
    pub(crate) fn finish(self, outcome: Outcome, claimed: u64, alone: bool) -> bool {
        let header = match outcome {
            Outcome::Done(value, effects) => {
                self.word(1).store(value.0, Ordering::Relaxed);
                claimed & 0xff00 | if effects { DONE_EFFECTS } else { DONE }
            }
            Outcome::Failed(error) => {
                self.word(1).store(error.to_word(), Ordering::Relaxed);
                claimed & 0xff00 | FAILED
            }
            Outcome::Restored(header) => header,
        };
        if alone {
            let old = self.word(0).load(Ordering::Relaxed);
            self.word(0).store(header, Ordering::Release);
            return old & 0xff == BUSY_WAITED;
        }
        // `Release` publishes the payload and all that the result points at.
        self.word(0).swap(header, Ordering::AcqRel) & 0xff == BUSY_WAITED
    }
}

impl std::fmt::Debug for Thunk {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Thunk({:#x})", self.key())
    }
}
