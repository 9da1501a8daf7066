//! Who waits for whom, so that waiting which would never end is found when it begins.
//!
//! Two kinds of edges: a task that waits for a cell waits for the cell's owner; the owner of a
//! scope, once it has got to the scope's end, waits for every live task of the scope (and half of a
//! join, at its end, for the other half). Edges of
//! the first kind are kept here under one lock (waits are rare). Edges of the second kind are read
//! off the tasks' scopes: a search goes *backwards*, from a task to those who wait for it, and
//! the one who may be waiting for a task by way of a scope is that scope's owner.
//!
//! A circle can only be closed by a new edge, so it is looked for when a task begins to wait and
//! when a scope's owner gets to the end while others wait. These two cannot miss each other: the
//! waiter raises `waiting`, then reads `joins`; the owner sets `joins`, then reads `waiting`;
//! all four are sequentially consistent.
//!
//! A circle is a value that depends on itself, and somebody has to be told:
//!
//! 1. If a member only stepped aside, it is let go; it holds nothing.
//! 2. Of the members that wait for a cell while the one before them waits for a cell of *theirs*,
//!    all but the earliest in sequential order must abandon their evaluation; a single one must as
//!    well. The earliest then evaluates their cells on its own stack.
//! 3. If there is no such member, every cell is held by an owner of a scope, and evaluating them
//!    anew is impossible: the latest member that waits for a cell has met the recursion.
//!
//! So a circle of tasks that hold cells unwinds until the earliest meets the recursion on its own
//! stack, as it would have alone. The order is that of spawning, whatever the timing was. (Giving up
//! one member after the other would come to the same, but each would evaluate what the next one
//! gave up before it has to give way itself.)
//!
//! Invariant: a task in `waits` is suspended, or about to be and past all decisions; whoever
//! removes it wakes it, once.

#![expect(unsafe_code, reason = "looks at what concerns a running task")]

mod waits;

use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;
use smallvec::SmallVec;

use super::body::Joined;
use super::counters::WaitCounters;
use super::record::{JOINED, NONE, TaskId, sequential_place};
use super::shared::Shared;
use super::worker::Worker;
use crate::memory::CacheLine;
use crate::sync::Wait;
use waits::{Edge, Waits};

pub(super) struct WaitGraph {
    /// Tasks in `waits`, or about to be. It is raised, and read without the lock, as said above; and
    /// lowered under the lock.
    waiting: CacheLine<AtomicUsize>,
    state: CacheLine<Mutex<State>>,
}

struct State {
    waits: Waits,
    counters: WaitCounters,
}

/// Tasks that were taken out of their waits, to be woken when the lock is free again.
type Released = SmallVec<[(u32, Wait); 8]>;

/// What a task is about to wait for.
#[derive(Clone, Copy)]
enum Target {
    Task(u32),
    Scope(u32),
    Half(usize),
}

impl WaitGraph {
    pub(super) fn new() -> Self {
        let state = State { waits: Waits::new(), counters: WaitCounters::default() };
        Self { waiting: CacheLine::default(), state: CacheLine(Mutex::new(state)) }
    }

    /// Enters task `waiter` as waiting for `cell`, unless there is nothing to wait for.
    ///
    /// Returns `None` if the caller must suspend; it will be woken.
    pub(super) fn wait_for_cell(
        &self,
        shared: &Shared,
        worker: &Worker,
        waiter: u32,
        cell: usize,
        owner: TaskId,
        still_busy: impl FnOnce() -> bool,
    ) -> Option<Wait> {
        let mut released = Released::new();
        let mut state = self.state.lock();
        self.waiting.fetch_add(1, Ordering::SeqCst);
        let answer = if !still_busy() {
            state.counters.ready += 1;
            Some(Wait::Ready)
        } else if owner == shared.tasks.get(waiter).id() {
            state.counters.recursions += 1;
            Some(Wait::Recursion)
        } else if !is_live(shared, owner) {
            state.counters.orphaned += 1;
            Some(Wait::Orphaned)
        } else if is_joined_by(shared, waiter, owner.record()) {
            state.counters.recursions += 1;
            Some(Wait::Recursion)
        } else {
            let target = Target::Task(owner.record());
            state.waits.add(waiter, Edge { cell: Some(cell), owner: owner.record() });
            let verdict = self.break_circles(&mut state, shared, waiter, target, &mut released);
            if verdict.is_none() {
                state.counters.suspended += 1;
            }
            drop(state);
            wake(shared, Some(worker), released);
            return verdict;
        };
        self.lower_waiting();
        answer
    }

    /// Enters task `waiter` as waiting until `owner` has got on, unless that would close a circle
    /// or `owner` has ended.
    ///
    /// Returns whether the caller must suspend; it will be woken.
    pub(super) fn step_aside(
        &self,
        shared: &Shared,
        worker: &Worker,
        waiter: u32,
        owner: TaskId,
    ) -> bool {
        let mut released = Released::new();
        let mut state = self.state.lock();
        self.waiting.fetch_add(1, Ordering::SeqCst);
        if owner == shared.tasks.get(waiter).id() || !is_live(shared, owner) {
            self.lower_waiting();
            return false;
        }
        state.waits.add(waiter, Edge { cell: None, owner: owner.record() });
        let target = Target::Task(owner.record());
        let verdict = self.break_circles(&mut state, shared, waiter, target, &mut released);
        state.counters.stepped_aside += u64::from(verdict.is_none());
        drop(state);
        wake(shared, Some(worker), released);
        verdict.is_none()
    }

    /// Looks for circles that `owner` closes by waiting for the tasks of `scope`.
    pub(super) fn joining(&self, shared: &Shared, worker: &Worker, owner: u32, scope: u32) {
        self.begin_to_join(shared, worker, owner, Target::Scope(scope));
    }

    /// Looks for circles that `task` closes by waiting for the other half of its join.
    pub(super) fn awaiting_half(&self, shared: &Shared, worker: &Worker, task: u32, frame: usize) {
        self.begin_to_join(shared, worker, task, Target::Half(frame));
    }

    fn begin_to_join(&self, shared: &Shared, worker: &Worker, task: u32, target: Target) {
        if self.waiting.load(Ordering::SeqCst) > 0 {
            let mut released = Released::new();
            let mut state = self.state.lock();
            let verdict = self.break_circles(&mut state, shared, task, target, &mut released);
            debug_assert!(verdict.is_none(), "who joins is never the one to give way");
            drop(state);
            wake(shared, Some(worker), released);
        }
    }

    /// Wakes all who wait for `cell`, and who stepped aside for its owner.
    pub(super) fn cell_changed(
        &self,
        shared: &Shared,
        worker: Option<&Worker>,
        cell: usize,
        owner: Option<u32>,
    ) {
        let mut released = Released::new();
        let mut state = self.state.lock();
        let mut owner = owner;
        while let Some(waiter) = state.waits.first_for_cell(cell) {
            owner = state.waits.edge(waiter).map(|edge| edge.owner);
            self.release(&mut state, waiter, Wait::Woken, &mut released);
        }
        if let Some(owner) = owner {
            while let Some(waiter) = state.waits.first_aside_for(owner) {
                self.release(&mut state, waiter, Wait::Woken, &mut released);
            }
        }
        drop(state);
        wake(shared, worker, released);
    }

    /// Wakes all who wait for a task that has ended.
    pub(super) fn owner_ended(&self, shared: &Shared, worker: Option<&Worker>, owner: u32) {
        let mut released = Released::new();
        let mut state = self.state.lock();
        while let Some(waiter) = state.waits.first_for_task(owner) {
            self.release(&mut state, waiter, Wait::Woken, &mut released);
        }
        drop(state);
        wake(shared, worker, released);
    }

    pub(super) fn counters(&self) -> WaitCounters {
        self.state.lock().counters
    }

    /// Breaks every circle through `task`, which is about to wait for `target`.
    ///
    /// Returns the verdict if `task` itself is the one to give way; it is then no longer entered.
    fn break_circles(
        &self,
        state: &mut State,
        shared: &Shared,
        task: u32,
        target: Target,
        released: &mut Released,
    ) -> Option<Wait> {
        while let Some(circle) = state.find_circle(shared, task, target) {
            let (victims, verdict) = state.judge(shared, &circle);
            state.counters.circles += 1;
            match verdict {
                Wait::Abandon => state.counters.abandoned += victims.len() as u64,
                Wait::Recursion => state.counters.recursions += victims.len() as u64,
                _ => {}
            }
            for &victim in victims.iter().filter(|&&victim| victim != task) {
                self.release(state, victim, verdict, released);
            }
            if victims.contains(&task) {
                state.waits.remove(task);
                self.lower_waiting();
                return Some(verdict);
            }
        }
        None
    }

    /// Takes `waiter` out of its wait, and who stepped aside for it.
    fn release(&self, state: &mut State, waiter: u32, wait: Wait, released: &mut Released) {
        let mut next = released.len();
        self.take_out(state, waiter, wait, released);
        while let Some(&(waiter, _)) = released.get(next) {
            next += 1;
            while let Some(aside) = state.waits.first_aside_for(waiter) {
                self.take_out(state, aside, Wait::Woken, released);
            }
        }
    }

    /// Does nothing if `waiter` is not entered: it was released as one who stepped aside.
    fn take_out(&self, state: &mut State, waiter: u32, wait: Wait, released: &mut Released) {
        if state.waits.remove(waiter).is_some() {
            self.lower_waiting();
            released.push((waiter, wait));
        }
    }

    /// Notes that one task less waits; under the lock.
    fn lower_waiting(&self) {
        let waiting = self.waiting.load(Ordering::Relaxed);
        self.waiting.store(waiting - 1, Ordering::Relaxed);
    }
}

fn wake(shared: &Shared, worker: Option<&Worker>, released: Released) {
    for (task, wait) in released {
        shared.wake(task, wait, worker);
    }
}

impl State {
    /// Returns the members of a circle that `task` closes by waiting for `target`, in the order of
    /// waiting: each waits for the next, the last is `task`, and `task` waits for the first.
    fn find_circle(&mut self, shared: &Shared, task: u32, target: Target) -> Option<Vec<u32>> {
        if let Target::Task(owner) = target
            && self.waits.edge(owner).is_none()
            && !joins(shared, owner)
        {
            // It waits for nothing, as is mostly so.
            return None;
        }
        let is_target = |member: u32| match target {
            Target::Task(owner) => member == owner,
            Target::Scope(scope) => scope_of(shared, member) == scope,
            Target::Half(frame) => frame_of(shared, member) == Some(frame),
        };
        self.waits.find_backwards(task, |member| joiner_of(shared, member), is_target)
    }

    /// Returns which members of a circle give way, and what they are told.
    fn judge(&self, shared: &Shared, circle: &[u32]) -> (Vec<u32>, Wait) {
        let waits_for_cell = |&task: &u32| self.waits.waits_for_cell(task);
        let holds_awaited_cell = |place: usize| {
            let before = if place == 0 { circle.len() - 1 } else { place - 1 };
            waits_for_cell(&circle[place]) && waits_for_cell(&circle[before])
        };
        let place_of = |&member: &u32| sequential_place(shared, member);
        let aside = circle.iter().copied().filter(|&task| self.waits.is_aside(task));
        if let Some(task) = aside.max_by_key(place_of) {
            return (vec![task], Wait::Woken);
        }
        let places = 0..circle.len();
        let mut holders: Vec<u32> =
            places.filter(|&place| holds_awaited_cell(place)).map(|p| circle[p]).collect();
        if holders.len() > 1 {
            let earliest = holders.iter().copied().min_by_key(place_of);
            holders.retain(|&holder| Some(holder) != earliest);
        }
        if !holders.is_empty() {
            return (holders, Wait::Abandon);
        }
        let latest = circle.iter().copied().filter(waits_for_cell).max_by_key(place_of);
        let task = latest.expect("a scope's owner is no task of the scope: scopes form no circle");
        (vec![task], Wait::Recursion)
    }
}

fn is_live(shared: &Shared, task: TaskId) -> bool {
    shared.tasks.find(task.record()).is_some_and(|record| record.mark_waited_for(task))
}

fn scope_of(shared: &Shared, task: u32) -> u32 {
    shared.tasks.get(task).scope.load(Ordering::Relaxed)
}

/// Returns the address of the frame of a task that is half of a join, and has begun to run.
fn frame_of(shared: &Shared, task: u32) -> Option<usize> {
    // SAFETY: who waits, or is waited for, has begun to run.
    let frame = || unsafe { shared.tasks.get(task).body.running() }.frame.addr();
    (scope_of(shared, task) == JOINED).then(frame)
}

/// Returns whether the task waits, or is about to, for the tasks of a scope or the other half of
/// its join.
fn joins(shared: &Shared, task: u32) -> bool {
    // SAFETY: a task that is waited for has begun to run.
    unsafe { shared.tasks.get(task).body.running() }.joins.any()
}

/// Returns the owner of the scope that `task` is in, or the other half of its join, if that waits
/// for it.
fn joiner_of(shared: &Shared, task: u32) -> Option<u32> {
    let (joiner, joined) = match scope_of(shared, task) {
        NONE => return None,
        JOINED => {
            let other = shared.tasks.get(task).lineage.load(Ordering::Relaxed);
            (other, Joined::Half(frame_of(shared, task)?))
        }
        scope => (shared.scopes.get(scope).owner(), Joined::Scope(scope)),
    };
    // SAFETY: it has begun to run: it has opened the scope, or called `join`.
    let running = unsafe { shared.tasks.get(joiner).body.running() };
    (running.joins.what() == Some(joined)).then_some(joiner)
}

/// Returns whether `owner` waits for `task` by way of scopes alone.
fn is_joined_by(shared: &Shared, mut task: u32, owner: u32) -> bool {
    while let Some(joiner) = joiner_of(shared, task) {
        if joiner == owner {
            return true;
        }
        task = joiner;
    }
    false
}
