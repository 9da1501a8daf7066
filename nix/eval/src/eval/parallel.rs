//! Work that is surely needed, spread over the workers.
//!
//! The results come back in the order of the items, and so do the effects, whatever the number of
//! workers: with one worker there are no tasks at all.

use raddle::Priority;

use super::{Cx, Effect, ErrorKind, Result};

impl Cx<'_> {
    /// Calls `work` with every item and returns the results in order.
    ///
    /// Must be called where no thunk is under evaluation by this task, or `work` must not need
    /// it: a need for it is reported as infinite recursion.
    pub(crate) fn parallel<T: Sync, R: Send>(
        &self,
        items: &[T],
        priority: impl Fn(&T) -> Priority,
        work: impl Fn(&Cx<'_>, &T) -> Result<R> + Sync,
    ) -> Vec<Result<R>> {
        if self.alone || items.len() < 2 {
            return items.iter().map(|item| work(self, item)).collect();
        }
        let evaluator = self.evaluator;
        let depth = self.depth.get();
        let work = &work;
        let mut results: Vec<Option<(Result<R>, Vec<Effect>)>> = Vec::new();
        results.resize_with(items.len(), || None);
        self.task.scope(|scope| {
            for (item, result) in items.iter().zip(&mut results) {
                scope.spawn(self.task, priority(item), move |task| {
                    *result = Some(loop {
                        let cx = Cx::new(evaluator, task, false);
                        cx.depth.set(depth);
                        let outcome = work(&cx, item);
                        match outcome {
                            // An earlier task needs what this one was evaluating: let it go
                            // first, then begin again.
                            Err(error) if error.kind() == ErrorKind::Abandoned => {
                                if let Some(owner) = cx.gave_way_to.get() {
                                    task.step_aside(owner);
                                }
                            }
                            outcome => break (outcome, cx.take_effects()),
                        }
                    });
                });
            }
        });
        results
            .into_iter()
            .map(|result| {
                let Some((result, effects)) = result else {
                    unreachable!("the scope ends when every task has stored its result")
                };
                self.join_effects(effects);
                result
            })
            .collect()
    }
}
