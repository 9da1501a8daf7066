//! Evaluation ahead: the workers evaluate what one task is about to go through in order.
//!
//! That task then finds values, and where it finds none, it evaluates as if it were alone. It alone
//! prints messages, chooses the error and writes its trace, so none of these depends on timing or
//! on the number of workers. What the others met is forgotten, but for the values and the errors
//! that their thunks keep. When an item fails, whatever comes after it is surely not needed: it is
//! not begun, or it stops at its next call.
//!
//! With one worker, nothing is evaluated ahead.

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;
use raddle::Priority;
use raddle_nix_syntax::{Pos, sym};

use super::{Cx, Error, Result};
use crate::value::{Value, View};

/// Tells a task whether it is still needed.
#[derive(Debug)]
pub(super) struct Needed<'p> {
    /// The first item known to have failed.
    failed: &'p AtomicUsize,
    /// The item of this task.
    index: usize,
    /// The same for the task that started this one.
    parent: Option<&'p Needed<'p>>,
    /// How many tasks that makes.
    level: u32,
}

/// The most tasks within each other. Deeper data is evaluated by the task that has come so far:
/// there is enough to do for the others, and every call asks all tasks around it whether they are
/// still needed.
const DEEPEST: u32 = 24;
/// The most tasks for the members of one value.
const MOST: usize = 1 << 12;

impl Needed<'_> {
    #[inline]
    pub(super) fn is_gone(&self) -> bool {
        // Seeing a failure late costs time only, so no ordering is needed.
        self.failed.load(Ordering::Relaxed) < self.index || self.parent.is_some_and(Needed::is_gone)
    }
}

/// What is to be evaluated ahead of a printer that goes through a value in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ahead {
    /// Everything.
    Everything,
    /// Of derivations only the path of the derivation.
    Derivations,
    /// Of sets with an output path only that, as JSON does.
    OutputPaths,
}

impl Cx<'_> {
    /// Calls `work` with every item, each in a task, and returns the results in order; what comes
    /// after one for which `failed` says so means nothing.
    ///
    /// Must be called where no thunk is under evaluation by this task, or `work` must not need
    /// it: a need for it is reported as infinite recursion.
    pub(crate) fn spread<T: Sync, R: Send>(
        &self,
        items: &[T],
        priority: impl Fn(&T) -> Priority,
        failed: impl Fn(&Result<R>) -> bool + Sync,
        work: impl Fn(&Cx<'_>, &T) -> Result<R> + Sync,
    ) -> Vec<Result<R>> {
        let level = self.needed.map_or(0, |needed| needed.level);
        if items.len() < 2 || level >= DEEPEST {
            let mut stopped = false;
            return items
                .iter()
                .map_while(|item| {
                    let result = (!stopped).then(|| work(self, item))?;
                    stopped = failed(&result);
                    Some(result)
                })
                .collect();
        }
        let (evaluator, depth, parent) = (self.evaluator, self.depth.get(), self.needed);
        let first_failed = AtomicUsize::new(usize::MAX);
        let (first_failed, failed, work) = (&first_failed, &failed, &work);
        let mut results: Vec<Option<Result<R>>> = Vec::new();
        results.resize_with(items.len(), || None);
        self.task.scope(|scope| {
            // A worker takes the task that it was given last: the first item, so that a failure
            // there saves the others.
            for (index, (item, result)) in items.iter().zip(&mut results).enumerate().rev() {
                scope.spawn(self.task, priority(item), move |task| {
                    let needed = Needed { failed: first_failed, index, parent, level: level + 1 };
                    let mut cx = Cx::new(evaluator, task, false);
                    cx.depth.set(depth);
                    cx.needed = Some(&needed);
                    let outcome =
                        if needed.is_gone() { Err(Error::abandoned()) } else { work(&cx, item) };
                    if failed(&outcome) {
                        first_failed.fetch_min(index, Ordering::Relaxed);
                    }
                    *result = Some(outcome);
                });
            }
        });
        results
            .into_iter()
            .map(|result| {
                result.unwrap_or_else(|| {
                    unreachable!("the scope ends when every task has stored its result")
                })
            })
            .collect()
    }

    /// Evaluates, on all workers, what `print` is about to go through in order, and calls it.
    ///
    pub fn evaluate_ahead<R>(
        &self,
        value: Value,
        what: Ahead,
        print: impl FnOnce(&Self) -> Result<R>,
    ) -> Result<R> {
        // Within a call, thunks may be under evaluation by this task.
        if self.depth.get() == 0 && !self.alone {
            // Errors and messages are left for `print` to meet.
            let _ = self.ahead_of_itself().ahead(value, what, &Mutex::default());
        }
        print(self)
    }

    fn ahead(&self, value: Value, what: Ahead, seen: &Mutex<HashSet<u64>>) -> Result<()> {
        let value = self.force(value)?;
        let members: Vec<Value> = match value.view() {
            View::Attrs(attrs) if seen.lock().insert(value.0) => {
                let only = match what {
                    Ahead::Everything => None,
                    Ahead::Derivations if self.is_derivation(attrs)? => Some(sym::DRV_PATH),
                    Ahead::OutputPaths if attrs.get(sym::TO_STRING).is_some() => return Ok(()),
                    Ahead::OutputPaths => Some(sym::OUT_PATH),
                    Ahead::Derivations => None,
                };
                if let Some(slot) = only.and_then(|name| attrs.get(name)) {
                    return self.force_slot(slot).map(drop);
                }
                attrs.sorted(self.heap()).into_iter().map(|attr| attr.value()).collect()
            }
            View::List(list) if seen.lock().insert(value.0) => list.iter().collect(),
            // The printer ends here with an error of its own.
            View::Function(_) if what == Ahead::OutputPaths => return Err(Error::abandoned()),
            _ => return Ok(()),
        };
        self.nested(Pos::NONE, || self.ahead_of_members(&members, what, seen))
    }

    fn ahead_of_members(
        &self,
        members: &[Value],
        what: Ahead,
        seen: &Mutex<HashSet<u64>>,
    ) -> Result<()> {
        let all = |cx: &Cx<'_>, members: &[Value]| {
            members.iter().try_for_each(|member| cx.ahead(*member, what, seen))
        };
        let blocks: Vec<&[Value]> = members.chunks(members.len().div_ceil(MOST).max(1)).collect();
        let results =
            self.spread(&blocks, |_| Priority::Normal, Result::is_err, |cx, block| all(cx, block));
        results.into_iter().collect()
    }
}
