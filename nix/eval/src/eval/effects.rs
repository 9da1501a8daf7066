//! Effects in program order: what `trace` and `warn` print.
//!
//! A message appears where sequential evaluation would have printed it. The task that goes through
//! the program in its order (the *direct* one) prints at once. Tasks that evaluate ahead of it
//! print nothing: what the evaluation of a thunk said is kept with the thunk, and the thunks that
//! needed it name it in their own record. When the direct task comes to a thunk that was evaluated
//! ahead, it prints the record of the thunk, and the records named there, each once.
//!
//! Invariant: the record of an evaluated thunk is complete, because every need for a thunk with
//! effects is noted; a thunk that is given up leaves no record, and says everything again.
//!
//! Not here: how a message is printed ([`Effects::new`] is told).

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;

use super::Cx;
use crate::value::thunk::Thunk;

/// A message, or a thunk whose evaluation had some.
#[derive(Debug)]
enum Effect {
    /// A line for the user.
    Message(String),
    /// What the evaluation of this thunk said, unless it has been printed before.
    Of(usize),
}

/// Prints a message.
type Printer = Box<dyn Fn(&str) + Send + Sync>;

/// The effects of all thunks so far that have not been printed.
pub struct Effects {
    printer: Printer,
    /// Whether a task had effects that it did not print at once.
    any: AtomicBool,
    of_thunk: Mutex<HashMap<usize, Vec<Effect>>>,
}

impl Effects {
    /// Creates the record; `printer` is called with each message, in program order.
    pub fn new(printer: impl Fn(&str) + Send + Sync + 'static) -> Effects {
        Effects {
            printer: Box::new(printer),
            any: AtomicBool::new(false),
            of_thunk: Mutex::default(),
        }
    }

    /// Prints what the evaluation of a thunk said, unless it has been printed before.
    fn print(&self, thunk: usize) {
        let take = |thunk| {
            let effects = self.of_thunk.lock().get_mut(&thunk).map(std::mem::take);
            effects.unwrap_or_default().into_iter()
        };
        let mut pending = vec![take(thunk)];
        while let Some(rest) = pending.last_mut() {
            match rest.next() {
                None => {
                    pending.pop();
                }
                Some(Effect::Message(text)) => (self.printer)(&text),
                Some(Effect::Of(thunk)) => pending.push(take(thunk)),
            }
        }
    }
}

impl std::fmt::Debug for Effects {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Effects")
    }
}

/// The effects of what a task is evaluating, apart from those of thunks that are evaluated.
#[derive(Debug)]
pub(super) struct Log {
    /// Whether messages are printed at once: the rest stays empty.
    direct: bool,
    entries: RefCell<Vec<Effect>>,
    /// The number of entries, apart from them because every evaluation of a thunk reads it.
    len: Cell<usize>,
}

impl Log {
    pub(super) fn new(direct: bool) -> Log {
        Log { direct, entries: RefCell::default(), len: Cell::new(0) }
    }

    /// Returns how many effects there are.
    #[inline(always)]
    pub(super) fn len(&self) -> usize {
        self.len.get()
    }
}

impl Cx<'_> {
    /// Prints a message in program order.
    pub(crate) fn emit(&self, message: String) {
        if self.effects.direct {
            (self.evaluator.effects.printer)(&message);
        } else {
            self.note(Effect::Message(message));
        }
    }

    /// Prints a message where `key`, an address that names nothing else, is met first in program
    /// order.
    pub(crate) fn emit_once(&self, key: usize, message: impl FnOnce() -> String) {
        let new = || vec![Effect::Message(message())];
        self.evaluator.effects.of_thunk.lock().entry(key).or_insert_with(new);
        self.use_effects_of(key);
    }

    fn note(&self, effect: Effect) {
        let any = &self.evaluator.effects.any;
        if !any.load(Ordering::Relaxed) {
            any.store(true, Ordering::Relaxed);
        }
        self.effects.entries.borrow_mut().push(effect);
        self.effects.len.set(self.effects.len() + 1);
    }

    /// Takes note that this task used a thunk that had effects.
    #[cold]
    pub(super) fn note_effects_of(&self, thunk: Thunk) {
        if self.evaluator.effects.of_thunk.lock().contains_key(&thunk.key()) {
            self.use_effects_of(thunk.key());
        }
    }

    fn use_effects_of(&self, key: usize) {
        if self.effects.direct {
            self.evaluator.effects.print(key);
        } else {
            self.note(Effect::Of(key));
        }
    }

    /// Moves the effects since `from` to the thunk whose evaluation had them; it was given up
    /// unless it is `finished`. Returns whether whoever uses the thunk must take note.
    #[cold]
    pub(super) fn settle_effects(&self, thunk: Thunk, from: usize, finished: bool) -> bool {
        let mut log = self.effects.entries.borrow_mut().split_off(from);
        self.effects.len.set(from);
        if !finished {
            return false;
        }
        // A thunk used in a loop is noted each time; once is enough.
        let mut seen = HashSet::new();
        log.retain(|effect| match effect {
            Effect::Of(thunk) => seen.insert(*thunk),
            Effect::Message(_) => true,
        });
        self.evaluator.effects.of_thunk.lock().insert(thunk.key(), log);
        self.note(Effect::Of(thunk.key()));
        true
    }

    /// Returns whether anything was said ahead of the direct task since this was asked last.
    pub(crate) fn have_others_spoken(&self) -> bool {
        self.evaluator.effects.any.swap(false, Ordering::Relaxed)
    }
}
