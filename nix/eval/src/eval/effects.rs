//! Effects in program order: what `trace` and `warn` print.
//!
//! Tasks run in any order, but a message appears where sequential evaluation would have printed
//! it. A task that is *direct* (it runs in program order, with nothing pending before it) prints
//! at once. Any other task keeps a log; a thunk whose evaluation added to the log keeps that part
//! of it, and every task that uses the thunk notes it. When the results of tasks are joined in
//! program order, so are their logs, and each thunk's part is printed where it is met first.
//!
//! Not so yet: a thunk that was given up is evaluated again and its messages may come again, or not,
//! depending on which task met it; and a walk that swallows errors keeps their messages.
//!
//! Not here: how a message is printed ([`Effects::new`] is told).

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};

use parking_lot::Mutex;

use super::Cx;
use crate::value::thunk::Thunk;

/// A message, or a thunk whose evaluation had some.
#[derive(Debug, Clone)]
pub enum Effect {
    /// A line for the user.
    Message(String),
    /// What the evaluation of this thunk printed, unless it has been printed before.
    Of(usize),
}

/// Prints a message.
type Printer = Box<dyn Fn(&str) + Send + Sync>;

/// The effects of all thunks so far, and which have been printed.
pub struct Effects {
    printer: Printer,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    of_thunk: HashMap<usize, Vec<Effect>>,
    printed: HashSet<usize>,
}

impl Effects {
    /// Creates the record; `printer` is called with each message, in program order.
    pub fn new(printer: impl Fn(&str) + Send + Sync + 'static) -> Effects {
        Effects { printer: Box::new(printer), state: Mutex::default() }
    }

    /// Prints a log.
    fn print(&self, log: Vec<Effect>) {
        let mut pending: Vec<Effect> = log.into_iter().rev().collect();
        while let Some(effect) = pending.pop() {
            match effect {
                Effect::Message(text) => (self.printer)(&text),
                Effect::Of(thunk) => {
                    let mut state = self.state.lock();
                    if state.printed.insert(thunk)
                        && let Some(effects) = state.of_thunk.remove(&thunk)
                    {
                        pending.extend(effects.into_iter().rev());
                    }
                }
            }
        }
    }
}

impl std::fmt::Debug for Effects {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Effects")
    }
}

/// The effects of one task.
#[derive(Debug)]
pub(super) struct Log {
    /// `None` for a direct task.
    entries: Option<RefCell<Vec<Effect>>>,
    /// The number of entries ever added.
    len: Cell<usize>,
}

impl Log {
    pub(super) fn new(direct: bool) -> Log {
        Log { entries: (!direct).then(RefCell::default), len: Cell::new(0) }
    }

    /// Returns how many effects the task has had that thunks must remember.
    #[inline(always)]
    pub(super) fn len(&self) -> usize {
        self.len.get()
    }

    /// Returns whether the task has had no such effects.
    #[inline(always)]
    pub(super) fn is_quiet(&self) -> bool {
        self.len.get() == 0
    }
}

impl Cx<'_> {
    /// Prints a message in program order.
    pub(crate) fn emit(&self, message: String) {
        self.note(Effect::Message(message));
    }

    /// Prints a message where `key`, an address that names nothing else, is met first in program
    /// order.
    pub(crate) fn emit_once(&self, key: usize, message: impl FnOnce() -> String) {
        let mut state = self.evaluator.effects.state.lock();
        if !state.printed.contains(&key) {
            state.of_thunk.entry(key).or_insert_with(|| vec![Effect::Message(message())]);
        }
        drop(state);
        self.note(Effect::Of(key));
    }

    fn note(&self, effect: Effect) {
        match &self.effects.entries {
            None => self.evaluator.effects.print(vec![effect]),
            Some(entries) => {
                entries.borrow_mut().push(effect);
                self.effects.len.set(self.effects.len.get() + 1);
            }
        }
    }

    /// Takes note that this task used a thunk that may have had effects.
    #[cold]
    pub(super) fn note_effects_of(&self, thunk: Thunk) {
        let known = self.evaluator.effects.state.lock().of_thunk.contains_key(&thunk.key());
        if known {
            self.note(Effect::Of(thunk.key()));
        }
    }

    /// Moves what this task logged since `from` to the thunk whose evaluation caused it.
    #[cold]
    pub(super) fn record_effects(&self, thunk: Thunk, from: usize) {
        let Some(entries) = &self.effects.entries else { return };
        let mut entries = entries.borrow_mut();
        let at = entries.len() - (self.effects.len.get() - from).min(entries.len());
        let own: Vec<Effect> = entries.drain(at..).collect();
        entries.push(Effect::Of(thunk.key()));
        self.effects.len.set(from + 1);
        drop(entries);
        self.evaluator.effects.state.lock().of_thunk.insert(thunk.key(), own);
    }

    /// Returns what this task logged, for whoever joins it.
    pub(crate) fn take_effects(&self) -> Vec<Effect> {
        self.effects.entries.as_ref().map_or(Vec::new(), |entries| entries.take())
    }

    /// Adds the log of a task that comes next in program order.
    pub(crate) fn join_effects(&self, log: Vec<Effect>) {
        for effect in log {
            self.note(effect);
        }
    }
}
