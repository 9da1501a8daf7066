//! Work that is surely needed, spread over the workers.
//!
//! The results come back in the order of the items, and so do the effects, whatever the number of
//! workers: with one worker there are no tasks at all. When an item fails, whatever comes after it
//! in that order is not needed any more: it is not begun, or it stops at its next call.

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;
use raddle::Priority;
use raddle_nix_syntax::sym;

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
    /// How many tasks that makes.
    level: u32,
}

/// The most tasks within each other. Deeper data is evaluated by the task that has come so far:
/// there is enough to do for the others, and every call asks all tasks around it whether they are
/// still needed.
const DEEPEST: u32 = 24;
/// By how many calls a member is deeper than what it is in, ahead of a printer: more than any printer
/// needs. What is evaluated here is not too deep for a printer that comes alone.
const MEMBER_DEPTH: u32 = 4;
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
        if self.alone || items.len() < 2 || self.level() >= DEEPEST {
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

    /// Returns how many tasks there are around the work at hand.
    fn level(&self) -> u32 {
        self.needed.map_or(0, |needed| needed.level)
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
        let (parent, level) = (self.needed, self.level() + 1);
        let first_failed = AtomicUsize::new(usize::MAX);
        let (first_failed, failed, work) = (&first_failed, &failed, &work);
        let mut results: Vec<Option<(Result<R>, Vec<Effect>)>> = Vec::new();
        results.resize_with(items.len(), || None);
        self.task.scope(|scope| {
            for (index, (item, result)) in items.iter().zip(&mut results).enumerate() {
                scope.spawn(self.task, priority(item), move |task| {
                    let needed = Needed { failed: first_failed, index, parent, level };
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
        mut print: impl FnMut(&Self) -> Result<R>,
    ) -> Result<R> {
        // Within a call, thunks may be under evaluation by this task.
        if self.depth.get() != 0 {
            return print(self);
        }
        if !self.alone {
            let seen = Mutex::default();
            self.depth.set(MEMBER_DEPTH);
            let _ = self.ahead(value, what, &seen);
            self.depth.set(0);
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
        if self.stack_is_full() {
            return Err(self.stack_overflow());
        }
        let depth = self.depth.get();
        self.depth.set(depth + MEMBER_DEPTH);
        let result = self.ahead_of_members(&members, what, seen);
        self.depth.set(depth);
        result
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
        if members.len() < 2 || self.level() >= DEEPEST {
            return all(self, members);
        }
        let blocks: Vec<&[Value]> = members.chunks(members.len().div_ceil(MOST)).collect();
        let results =
            self.spread(&blocks, |_| Priority::Normal, Result::is_err, |cx, block| all(cx, block));
        results.into_iter().try_for_each(|(result, _)| result)
    }
}
