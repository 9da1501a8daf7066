//! Work that is surely needed, spread over the workers.
//!
//! The results come back in the order of the items, and so do the effects, whatever the number of
//! workers: with one worker there are no tasks at all. When an item fails, whatever comes after it
//! in that order is not needed any more: it is not begun, or it stops at its next call.

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;
use raddle::Priority;
use raddle_nix_syntax::{Pos, sym};

use super::{Cx, Effect, ErrorKind, Result};
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
}

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
    /// Calls `work` with every item and returns the results in order, up to the first for which
    /// `failed` says so; what comes after that means nothing.
    ///
    /// Must be called where no thunk is under evaluation by this task, or `work` must not need
    /// it: a need for it is reported as infinite recursion.
    pub(crate) fn parallel<T: Sync, R: Send>(
        &self,
        items: &[T],
        priority: impl Fn(&T) -> Priority,
        failed: impl Fn(&Result<R>) -> bool + Sync,
        work: impl Fn(&Cx<'_>, &T) -> Result<R> + Sync,
    ) -> Vec<Result<R>> {
        let mut stopped = false;
        if self.alone || items.len() < 2 {
            return items
                .iter()
                .map_while(|item| {
                    let result = (!stopped).then(|| work(self, item))?;
                    stopped = failed(&result);
                    Some(result)
                })
                .collect();
        }
        self.spread(items, priority, &failed, work)
            .into_iter()
            .map(|(result, effects)| {
                if !stopped {
                    self.join_effects(effects);
                    stopped = failed(&result);
                }
                result
            })
            .collect()
    }

    /// Runs a task for each item and waits for all.
    fn spread<T: Sync, R: Send>(
        &self,
        items: &[T],
        priority: impl Fn(&T) -> Priority,
        failed: impl Fn(&Result<R>) -> bool + Sync,
        work: impl Fn(&Cx<'_>, &T) -> Result<R> + Sync,
    ) -> Vec<(Result<R>, Vec<Effect>)> {
        let evaluator = self.evaluator;
        let depth = self.depth.get();
        let parent = self.needed;
        let first_failed = AtomicUsize::new(usize::MAX);
        let (first_failed, failed, work) = (&first_failed, &failed, &work);
        let mut results: Vec<Option<(Result<R>, Vec<Effect>)>> = Vec::new();
        results.resize_with(items.len(), || None);
        self.task.scope(|scope| {
            for (index, (item, result)) in items.iter().zip(&mut results).enumerate() {
                scope.spawn(self.task, priority(item), move |task| {
                    let needed = Needed { failed: first_failed, index, parent };
                    *result = Some(loop {
                        let mut cx = Cx::new(evaluator, task, false);
                        cx.depth.set(depth);
                        cx.needed = Some(&needed);
                        let outcome = if needed.is_gone() {
                            Err(super::Error::abandoned())
                        } else {
                            work(&cx, item)
                        };
                        let abandoned =
                            matches!(&outcome, Err(error) if error.kind() == ErrorKind::Abandoned);
                        if abandoned && !needed.is_gone() {
                            // An earlier task needs what this one was evaluating: let it go
                            // first, then begin again.
                            match cx.gave_way_to.get() {
                                Some(owner) => task.step_aside(owner),
                                None => task.yield_now(),
                            }
                            continue;
                        }
                        if failed(&outcome) {
                            first_failed.fetch_min(index, Ordering::Relaxed);
                        }
                        break (outcome, cx.take_effects());
                    });
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
    /// Errors and messages are left for `print` to meet: it finds them in the thunks, in the
    /// order in which it would have met them alone. It is called again, and has to begin anew, if
    /// something was nested too deeply at first.
    pub fn evaluate_ahead<R>(
        &self,
        value: Value,
        what: Ahead,
        print: impl FnMut(&Self) -> Result<R>,
    ) -> Result<R> {
        // Within a call, thunks may be under evaluation by this task.
        if self.depth.get() != 0 {
            let mut print = print;
            return print(self);
        }
        if !self.alone {
            let seen = Mutex::default();
            let _ = self.ahead(value, what, &seen);
        }
        self.rescued(print)
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
            _ => return Ok(()),
        };
        self.nested(Pos::NONE, || {
            if let [only] = members[..] {
                return self.ahead(only, what, seen);
            }
            let results = self.spread(
                &members,
                |_| Priority::Normal,
                Result::is_err,
                |cx, member| cx.ahead(*member, what, seen),
            );
            results.into_iter().try_for_each(|(result, _)| result)
        })
    }
}
