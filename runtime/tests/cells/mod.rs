//! Cells evaluated once by whoever comes first, the way a lazy language's runtime does it.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use raddle::{Priority, Task, TaskId, Wait};

const EMPTY: u64 = 0;
const DONE: u64 = u64::MAX;
const FAILED: u64 = u64::MAX - 1;
const WAITED: u64 = 1 << 32;

/// A cell whose evaluation needs other cells.
pub(crate) struct Cell {
    state: AtomicU64,
    needs: Vec<usize>,
}

/// Why an evaluation ended without a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    Recursion,
    Abandon,
}

impl Cell {
    pub(crate) fn new(needs: Vec<usize>) -> Self {
        Self { state: AtomicU64::new(EMPTY), needs }
    }

    pub(crate) fn key(&self) -> usize {
        (&raw const self.state).addr()
    }

    pub(crate) fn owner(&self) -> Option<TaskId> {
        let state = self.state.load(Ordering::SeqCst);
        if state >= FAILED { None } else { TaskId::from_u32(state as u32) }
    }

    pub(crate) fn claim(&self, task: &Task<'_>) -> bool {
        let owner = u64::from(task.id().get());
        self.state.compare_exchange(EMPTY, owner, Ordering::SeqCst, Ordering::SeqCst).is_ok()
    }

    pub(crate) fn mark_waited(&self) -> bool {
        let mark = |state| {
            if state == EMPTY || state >= FAILED { None } else { Some(state | WAITED) }
        };
        self.state.fetch_update(Ordering::SeqCst, Ordering::SeqCst, mark).is_ok()
    }

    pub(crate) fn leave(&self, task: &Task<'_>, done: bool) {
        self.change(task, if done { DONE } else { EMPTY });
    }

    fn change(&self, task: &Task<'_>, state: u64) {
        if self.state.swap(state, Ordering::SeqCst) & WAITED != 0 {
            task.wake_cell(self.key());
        }
    }
}

/// Evaluates cell `cell`; with `parallel`, what it needs is evaluated by tasks of a scope.
pub(crate) fn evaluate(
    task: &Task<'_>,
    cells: &[Cell],
    cell: usize,
    parallel: bool,
) -> Result<(), Stop> {
    let this = &cells[cell];
    loop {
        if this.claim(task) {
            let result = if parallel && this.needs.len() > 1 {
                evaluate_all(task, cells, &this.needs)
            } else {
                this.needs.iter().try_for_each(|&need| evaluate(task, cells, need, parallel))
            };
            this.change(
                task,
                match result {
                    Ok(()) => DONE,
                    Err(Stop::Recursion) => FAILED,
                    Err(Stop::Abandon) => EMPTY,
                },
            );
            return result;
        }
        match this.state.load(Ordering::SeqCst) {
            DONE => return Ok(()),
            FAILED => return Err(Stop::Recursion),
            EMPTY => continue,
            _ => {}
        }
        let Some(owner) = this.owner() else { continue };
        match task.wait_cell(this.key(), owner, || this.mark_waited()) {
            Wait::Ready | Wait::Woken => {}
            Wait::Recursion => return Err(Stop::Recursion),
            Wait::Abandon => return Err(Stop::Abandon),
            Wait::Orphaned => panic!("an owner forgot its cell"),
        }
    }
}

fn evaluate_all(task: &Task<'_>, cells: &[Cell], needs: &[usize]) -> Result<(), Stop> {
    let results: Vec<Mutex<Result<(), Stop>>> = needs.iter().map(|_| Mutex::new(Ok(()))).collect();
    task.scope(|scope| {
        for (&need, result) in needs.iter().zip(&results) {
            scope.spawn(task, Priority::Normal, move |task| {
                *result.lock().unwrap() = evaluate_to_the_end(task, cells, need, true);
            });
        }
    });
    results.into_iter().try_for_each(|result| result.into_inner().unwrap())
}

/// Evaluates a cell in a task of its own: starts over whenever the task must give way.
pub(crate) fn evaluate_to_the_end(
    task: &Task<'_>,
    cells: &[Cell],
    cell: usize,
    parallel: bool,
) -> Result<(), Stop> {
    loop {
        match evaluate(task, cells, cell, parallel) {
            Err(Stop::Abandon) => match cells[cell].owner() {
                Some(owner) => task.step_aside(owner),
                None => task.yield_now(),
            },
            result => return result,
        }
    }
}
