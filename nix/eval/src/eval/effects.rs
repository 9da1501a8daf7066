//! Effects in program order: what `trace` and `warn` print.
//!
//! Tasks run in any order, but a message appears where sequential evaluation would have printed
//! it. A task that is *direct* (it runs in program order, with nothing pending before it) prints
//! at once. Any other task keeps a log; a thunk whose evaluation added to the log keeps that part
//! of it, and every task that uses the thunk notes it. When the results of tasks are joined in
//! program order, so are their logs, and each thunk's part is printed where it is met first.
//!
//! A thunk may be evaluated more than once, because it was given up for an earlier task or
//! failed with an error that is not kept. Each time it does the same, as far as it gets, so the
//! longest log is kept, and what was printed of it is not printed again.
//!
//! Not so yet: a member that is selected at once from an evaluated value does not note the effects
//! of that value, and messages of a thunk that was given up after a known error can be lost.
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
    of_thunk: Mutex<HashMap<usize, Record>>,
}

/// The effects of a thunk: those that have been printed are only counted.
#[derive(Default)]
struct Record {
    printed: usize,
    pending: Vec<Effect>,
}

impl Record {
    /// Takes over the log of another evaluation if it got further.
    fn extend_to(&mut self, mut log: Vec<Effect>) {
        if log.len() > self.printed + self.pending.len() {
            self.pending = log.split_off(self.printed);
        }
    }

    fn take(&mut self) -> Vec<Effect> {
        self.printed += self.pending.len();
        std::mem::take(&mut self.pending)
    }
}

impl Effects {
    /// Creates the record; `printer` is called with each message, in program order.
    pub fn new(printer: impl Fn(&str) + Send + Sync + 'static) -> Effects {
        Effects { printer: Box::new(printer), of_thunk: Mutex::default() }
    }

    /// Prints an effect, and what it leads to.
    fn print(&self, effect: Effect, direct: &Direct) {
        let mut pending = vec![effect];
        while let Some(effect) = pending.pop() {
            match effect {
                Effect::Message(text) => {
                    if direct.is_new() {
                        (self.printer)(&text);
                    }
                }
                Effect::Of(thunk) => {
                    let effects = self.of_thunk.lock().get_mut(&thunk).map(Record::take);
                    pending.extend(effects.unwrap_or_default().into_iter().rev());
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
    kept: Kept,
    /// The number of entries, 0 for a direct task: apart from them because every evaluation of a
    /// thunk reads it.
    len: Cell<usize>,
}

#[derive(Debug)]
enum Kept {
    Direct(Direct),
    Entries(RefCell<Vec<Effect>>),
}

/// How far a direct task has come, counted in messages.
#[derive(Debug, Default)]
struct Direct {
    met: Cell<usize>,
    /// The most that were ever met: a task that begins again meets the same.
    printed: Cell<usize>,
}

impl Direct {
    /// Counts a message; returns whether it has not been printed yet.
    fn is_new(&self) -> bool {
        self.met.set(self.met.get() + 1);
        let is_new = self.met.get() > self.printed.get();
        self.printed.set(self.printed.get().max(self.met.get()));
        is_new
    }
}

impl Log {
    pub(super) fn new(direct: bool) -> Log {
        let kept = if direct {
            Kept::Direct(Direct::default())
        } else {
            Kept::Entries(RefCell::default())
        };
        Log { kept, len: Cell::new(0) }
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

    /// Returns a place in the log to come back to.
    pub(super) fn mark(&self) -> usize {
        match &self.kept {
            Kept::Direct(direct) => direct.met.get(),
            Kept::Entries(entries) => entries.borrow().len(),
        }
    }

    /// Goes back to a place, to do again what came after it; returns what is taken back.
    pub(super) fn cut(&self, mark: usize) -> Vec<Effect> {
        match &self.kept {
            Kept::Direct(direct) => {
                direct.met.set(mark);
                Vec::new()
            }
            Kept::Entries(entries) => {
                let taken = entries.borrow_mut().split_off(mark);
                self.len.set(self.len.get() - taken.len());
                taken
            }
        }
    }

    /// Puts back what was taken.
    pub(super) fn restore(&self, log: Vec<Effect>) {
        if let Kept::Entries(entries) = &self.kept {
            self.len.set(self.len.get() + log.len());
            entries.borrow_mut().extend(log);
        }
    }

    /// Says that nothing will be done again.
    pub(super) fn go_on(&self) {
        if let Kept::Direct(direct) = &self.kept {
            direct.met.set(direct.printed.get());
        }
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
        let mut of_thunk = self.evaluator.effects.of_thunk.lock();
        of_thunk
            .entry(key)
            .or_insert_with(|| Record { printed: 0, pending: vec![Effect::Message(message())] });
        drop(of_thunk);
        self.note(Effect::Of(key));
    }

    fn note(&self, effect: Effect) {
        match &self.effects.kept {
            Kept::Direct(direct) => self.evaluator.effects.print(effect, direct),
            Kept::Entries(entries) => {
                entries.borrow_mut().push(effect);
                self.effects.len.set(self.effects.len.get() + 1);
            }
        }
    }

    /// Takes note that this task used a thunk that had effects.
    #[cold]
    pub(super) fn note_effects_of(&self, thunk: Thunk) {
        if self.evaluator.effects.of_thunk.lock().contains_key(&thunk.key()) {
            self.note(Effect::Of(thunk.key()));
        }
    }

    /// Moves what this task logged since `from` to the thunk whose evaluation caused it.
    #[cold]
    pub(super) fn record_effects(&self, thunk: Thunk, from: usize) {
        let Kept::Entries(entries) = &self.effects.kept else { return };
        let mut entries = entries.borrow_mut();
        let at = entries.len() - (self.effects.len.get() - from);
        let mut own = entries.split_off(at);
        // A thunk used in a loop is noted each time; once is enough.
        let mut seen = HashSet::new();
        own.retain(|effect| match effect {
            Effect::Of(thunk) => seen.insert(*thunk),
            Effect::Message(_) => true,
        });
        entries.push(Effect::Of(thunk.key()));
        self.effects.len.set(from + 1);
        drop(entries);
        self.evaluator.effects.of_thunk.lock().entry(thunk.key()).or_default().extend_to(own);
    }

    /// Returns what this task logged, for whoever joins it.
    pub(crate) fn take_effects(&self) -> Vec<Effect> {
        self.effects.cut(0)
    }

    /// Adds the log of a task that comes next in program order.
    pub(crate) fn join_effects(&self, log: Vec<Effect>) {
        for effect in log {
            self.note(effect);
        }
    }
}
