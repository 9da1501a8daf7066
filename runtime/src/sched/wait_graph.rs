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
//! waiter raises `waiting`, then reads `joining`; the owner sets `joining`, then reads `waiting`;
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

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use parking_lot::Mutex;

use super::counters::WaitCounters;
use super::record::{JOINED, NONE, TaskId, sequential_place};
use super::shared::Shared;
use super::worker::Worker;
use crate::memory::CacheLine;
use crate::sync::Wait;

pub(super) struct WaitGraph {
    /// Tasks in `waits`, or about to be.
    waiting: CacheLine<AtomicUsize>,
    state: Mutex<State>,
}

struct State {
    /// By waiting task.
    waits: HashMap<u32, Edge, FixedState>,
    waiters_of_cell: HashMap<usize, Vec<u32>, FixedState>,
    waiters_of_task: HashMap<u32, Vec<u32>, FixedState>,
    spare: Vec<Vec<u32>>,
    counters: WaitCounters,
}

#[derive(Clone, Copy)]
struct Edge {
    /// The cell waited for; none for a task that stepped aside.
    cell: Option<usize>,
    owner: u32,
}

/// What a task is about to wait for.
#[derive(Clone, Copy)]
enum Target {
    Task(u32),
    Scope(u32),
    Half(usize),
}

impl WaitGraph {
    pub(super) fn new() -> Self {
        let state = State {
            waits: HashMap::with_hasher(FixedState::with_seed(2)),
            waiters_of_cell: HashMap::with_hasher(FixedState::with_seed(3)),
            waiters_of_task: HashMap::with_hasher(FixedState::with_seed(4)),
            spare: Vec::new(),
            counters: WaitCounters::default(),
        };
        Self { waiting: CacheLine::default(), state: Mutex::new(state) }
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
        let mut state = self.state.lock();
        self.waiting.fetch_add(1, Ordering::SeqCst);
        let answer = if !still_busy() {
            state.counters.ready += 1;
            Some(Wait::Ready)
        } else if owner == shared.tasks.get(waiter).id(waiter) {
            state.counters.recursions += 1;
            Some(Wait::Recursion)
        } else if !is_live(shared, owner) {
            state.counters.orphaned += 1;
            Some(Wait::Orphaned)
        } else if is_joined_by(shared, waiter, owner.record()) {
            state.counters.recursions += 1;
            Some(Wait::Recursion)
        } else {
            state.add(waiter, Edge { cell: Some(cell), owner: owner.record() });
            let verdict = self.break_circles(
                &mut state,
                shared,
                worker,
                waiter,
                Target::Task(owner.record()),
            );
            if verdict.is_none() {
                state.counters.suspended += 1;
            }
            return verdict;
        };
        self.waiting.fetch_sub(1, Ordering::SeqCst);
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
        let mut state = self.state.lock();
        self.waiting.fetch_add(1, Ordering::SeqCst);
        if owner == shared.tasks.get(waiter).id(waiter) || !is_live(shared, owner) {
            self.waiting.fetch_sub(1, Ordering::SeqCst);
            return false;
        }
        state.add(waiter, Edge { cell: None, owner: owner.record() });
        let target = Target::Task(owner.record());
        let suspend = self.break_circles(&mut state, shared, worker, waiter, target).is_none();
        state.counters.stepped_aside += u64::from(suspend);
        suspend
    }

    /// Looks for circles that `owner` closes by waiting for the tasks of `scope`.
    pub(super) fn joining(&self, shared: &Shared, worker: &Worker, owner: u32, scope: u32) {
        if self.waiting.load(Ordering::SeqCst) > 0 {
            let mut state = self.state.lock();
            let verdict =
                self.break_circles(&mut state, shared, worker, owner, Target::Scope(scope));
            debug_assert!(verdict.is_none(), "a scope's owner is never the one to give way");
        }
    }

    /// Looks for circles that `task` closes by waiting for the other half of its join.
    pub(super) fn awaiting_half(&self, shared: &Shared, worker: &Worker, task: u32, frame: usize) {
        if self.waiting.load(Ordering::SeqCst) > 0 {
            let mut state = self.state.lock();
            let verdict = self.break_circles(&mut state, shared, worker, task, Target::Half(frame));
            debug_assert!(verdict.is_none(), "who waits for its half is never the one to give way");
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
        let mut state = self.state.lock();
        let mut owner = owner;
        if let Some(waiters) = state.waiters_of_cell.get(&cell) {
            for waiter in waiters.clone() {
                owner = state.waits.get(&waiter).map(|edge| edge.owner);
                self.release(&mut state, shared, worker, waiter, Wait::Woken);
            }
        }
        if let Some(owner) = owner {
            self.release_aside(&mut state, shared, worker, owner);
        }
    }

    /// Wakes all who wait for a task that has ended.
    pub(super) fn owner_ended(&self, shared: &Shared, worker: Option<&Worker>, owner: u32) {
        let mut state = self.state.lock();
        if let Some(waiters) = state.waiters_of_task.get(&owner) {
            for waiter in waiters.clone() {
                self.release(&mut state, shared, worker, waiter, Wait::Woken);
            }
        }
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
        worker: &Worker,
        task: u32,
        target: Target,
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
                self.release(state, shared, Some(worker), victim, verdict);
            }
            if victims.contains(&task) {
                state.remove(task);
                self.waiting.fetch_sub(1, Ordering::SeqCst);
                return Some(verdict);
            }
        }
        None
    }

    /// Takes `waiter` out of its wait and wakes it, and who stepped aside for it.
    fn release(
        &self,
        state: &mut State,
        shared: &Shared,
        worker: Option<&Worker>,
        waiter: u32,
        wait: Wait,
    ) {
        let mut released = vec![(waiter, wait)];
        while let Some((waiter, wait)) = released.pop() {
            // It may be gone already: released as one who stepped aside for another.
            if state.remove(waiter) {
                self.waiting.fetch_sub(1, Ordering::SeqCst);
                shared.wake(waiter, wait, worker);
                released.extend(state.aside_for(waiter).map(|task| (task, Wait::Woken)));
            }
        }
    }

    fn release_aside(
        &self,
        state: &mut State,
        shared: &Shared,
        worker: Option<&Worker>,
        owner: u32,
    ) {
        let aside: Vec<u32> = state.aside_for(owner).collect();
        for task in aside {
            self.release(state, shared, worker, task, Wait::Woken);
        }
    }
}

impl State {
    fn add(&mut self, waiter: u32, edge: Edge) {
        self.waits.insert(waiter, edge);
        let spare = &mut self.spare;
        let mut new_list = || spare.pop().unwrap_or_default();
        self.waiters_of_task.entry(edge.owner).or_insert_with(&mut new_list).push(waiter);
        if let Some(cell) = edge.cell {
            self.waiters_of_cell.entry(cell).or_insert_with(&mut new_list).push(waiter);
        }
    }

    /// Removes a waiter from all lists; false if it was in none.
    fn remove(&mut self, waiter: u32) -> bool {
        let Some(edge) = self.waits.remove(&waiter) else { return false };
        let mut emptied = remove_from(&mut self.waiters_of_task, edge.owner, waiter);
        self.spare.extend(emptied.take());
        if let Some(cell) = edge.cell {
            self.spare.extend(remove_from(&mut self.waiters_of_cell, cell, waiter));
        }
        true
    }

    fn aside_for(&self, owner: u32) -> impl Iterator<Item = u32> + '_ {
        let waiters = self.waiters_of_task.get(&owner).map_or(&[][..], |waiters| waiters);
        waiters.iter().copied().filter(|waiter| self.waits[waiter].cell.is_none())
    }

    /// Searches backwards from `task` for somebody whom it is about to wait for.
    ///
    /// Returns the members in the order of waiting: each waits for the next, the last is `task`,
    /// and `task` waits for the first.
    fn find_circle(&self, shared: &Shared, task: u32, target: Target) -> Option<Vec<u32>> {
        let is_target = |member: u32| match target {
            Target::Task(owner) => member == owner,
            Target::Scope(scope) => scope_of(shared, member) == scope,
            Target::Half(frame) => frame_of(shared, member) == Some(frame),
        };
        // Maps each task found to the one it waits for.
        let mut towards: HashMap<u32, u32, FixedState> =
            HashMap::with_hasher(FixedState::with_seed(5));
        towards.insert(task, task);
        let mut found = VecDeque::from([task]);
        while let Some(member) = found.pop_front() {
            let waiters = self.waiters_of_task.get(&member).map_or(&[][..], |waiters| waiters);
            let joiner = joiner_of(shared, member);
            for waiter in waiters.iter().copied().chain(joiner) {
                if towards.contains_key(&waiter) {
                    continue;
                }
                towards.insert(waiter, member);
                if is_target(waiter) {
                    let mut circle = vec![waiter];
                    let mut member = waiter;
                    while member != task {
                        member = towards[&member];
                        circle.push(member);
                    }
                    return Some(circle);
                }
                found.push_back(waiter);
            }
        }
        None
    }

    /// Returns which members of a circle give way, and what they are told.
    fn judge(&self, shared: &Shared, circle: &[u32]) -> (Vec<u32>, Wait) {
        let is_aside = |task: &u32| self.waits.get(task).is_some_and(|edge| edge.cell.is_none());
        let waits_for_cell =
            |task: &u32| self.waits.get(task).is_some_and(|edge| edge.cell.is_some());
        let holds_awaited_cell = |place: usize| {
            let before = if place == 0 { circle.len() - 1 } else { place - 1 };
            waits_for_cell(&circle[place]) && waits_for_cell(&circle[before])
        };
        let place_of = |&member: &u32| sequential_place(shared, member);
        let aside = circle.iter().copied().filter(is_aside);
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

fn remove_from<K: std::hash::Hash + Eq>(
    lists: &mut HashMap<K, Vec<u32>, FixedState>,
    key: K,
    waiter: u32,
) -> Option<Vec<u32>> {
    let list = lists.get_mut(&key).expect("an entered waiter is in its lists");
    list.retain(|&other| other != waiter);
    if list.is_empty() { lists.remove(&key) } else { None }
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

/// Returns the owner of the scope that `task` is in, if it has got to the scope's end, or the other
/// half of its join, if that waits.
fn joiner_of(shared: &Shared, task: u32) -> Option<u32> {
    let scope = scope_of(shared, task);
    if scope == NONE {
        return None;
    }
    if scope == JOINED {
        let frame = frame_of(shared, task)?;
        let other = shared.tasks.get(task).lineage.load(Ordering::Relaxed);
        // SAFETY: the other half has begun to run: it called `join`.
        let running = unsafe { shared.tasks.get(other).body.running() };
        return running.awaits_half(frame).then_some(other);
    }
    let core = shared.scopes.get(scope);
    core.is_joining().then(|| core.owner())
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
