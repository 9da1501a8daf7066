//! A worker: one thread that runs tasks on its own fibers.
//!
//! The loop runs on the thread's own stack. It resumes fibers that can go on, else starts a task
//! of its own (the youngest of the most urgent), else one from outside or of another worker, else
//! resumes a fiber that let others go first, else sleeps. A fiber whose task has ended takes the next task itself, without a switch, as long as
//! no fiber waits to be resumed.
//!
//! Invariant: everything in [`Worker`] is used by its thread alone; what others need lies on its
//! desk. No borrow of a cell is held while a task runs.

#![expect(unsafe_code, reason = "consumes the closures of tasks")]

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::deque::Steal;
use super::fiber::{FiberYielder, Fibers, Resume, Yielded};
use super::record::{NONE, Origin, sequential_place};
use super::shared::{Desk, PRIORITIES, Priority, Shared};
use super::task::Task;
use crate::memory::Cache;
use crate::sync::{Cancelled, Notified, Progress, Wait};

/// Rounds of looking for work before sleeping: about one microsecond.
const SEARCHES: u32 = 8;
const PAUSES: u32 = 8;
/// A thief takes half of what it finds, up to this many.
const LARGEST_LOOT: usize = 64;

pub(super) struct Worker {
    pub(super) index: usize,
    pub(super) shared: Arc<Shared>,
    pub(super) scopes: RefCell<Cache>,
    tasks: RefCell<Cache>,
    fibers: Fibers,
    resumable: RefCell<VecDeque<(u32, Wait)>>,
    /// Fibers whose tasks let others go first.
    yielded: RefCell<VecDeque<u32>>,
    searching: Cell<bool>,
    random: Cell<u64>,
}

thread_local! {
    static IS_WORKER: Cell<bool> = const { Cell::new(false) };
}

/// Returns whether the calling thread is a worker of some runtime.
pub(super) fn on_worker() -> bool {
    IS_WORKER.get()
}

impl Worker {
    /// Runs worker `index` until the runtime stops.
    pub(super) fn main(index: usize, shared: Arc<Shared>) {
        IS_WORKER.set(true);
        let worker = Rc::new(Self {
            index,
            shared,
            scopes: RefCell::default(),
            tasks: RefCell::default(),
            fibers: Fibers::default(),
            resumable: RefCell::default(),
            yielded: RefCell::default(),
            searching: Cell::new(false),
            random: Cell::new(0x9E37_79B9_7F4A_7C15 ^ (index as u64 + 1) << 32),
        });
        // Tasks' panics are caught where they run. One that arrives here is a defect of the
        // scheduler, which has printed its message; going on would leave waiters hanging.
        if catch_unwind(AssertUnwindSafe(|| worker.work())).is_err() {
            process::abort();
        }
        // Fibers hold the worker: letting them end frees it.
        worker.fibers.exit_all();
    }

    pub(super) fn desk(&self) -> &Desk {
        &self.shared.desks[self.index]
    }

    fn work(self: &Rc<Self>) {
        loop {
            if self.desk().has_mail() {
                self.desk().empty_inbox(&mut self.resumable.borrow_mut());
            }
            let resumable = self.resumable.borrow_mut().pop_front();
            if let Some((fiber, wait)) = resumable {
                self.found_work();
                self.resume(fiber, Resume::Continue(wait));
            } else if let Some(task) = self.own_task() {
                self.found_work();
                self.start(task);
            } else if !self.yielded.borrow().is_empty() {
                self.found_work();
                match self.foreign_task() {
                    Some(task) => self.start(task),
                    None => self.resume_yielded(),
                }
            } else if let Some(task) = self.search() {
                self.start(task);
            } else if !self.sleep() {
                return;
            }
        }
    }

    fn found_work(&self) {
        if self.searching.replace(false) {
            self.shared.end_search();
        }
    }

    fn resume(&self, fiber: u32, message: Resume) {
        if self.fibers.resume(fiber, message) {
            self.desk().counters.stacks_trimmed.bump();
        }
    }

    fn resume_yielded(&self) {
        let fiber = self.yielded.borrow_mut().pop_front();
        if let Some(fiber) = fiber {
            self.resume(fiber, Resume::Continue(Wait::Woken));
        }
    }

    /// Runs a task, on an idle fiber if there is one.
    fn start(self: &Rc<Self>, task: u32) {
        let fiber = match self.fibers.take_idle() {
            Some(fiber) => Ok(fiber),
            None => {
                let worker = Rc::clone(self);
                let main = move |yielder: &FiberYielder, first, number, stack_limit| {
                    worker.fiber_main(yielder, first, number, stack_limit);
                };
                let made = self.fibers.make(self.shared.stacks.cut(), main);
                if made.is_ok() {
                    self.desk().counters.fibers.bump();
                }
                made
            }
        };
        match fiber {
            Ok(fiber) => self.resume(fiber, Resume::Run(task)),
            Err(error) => {
                let text = format!("cannot start a task: no stack for it: {error}");
                // SAFETY: as in `run_task`.
                unsafe { self.shared.tasks.get(task).closure.consume(None) };
                self.finish(task, Err(Box::new(text)));
            }
        }
    }

    /// The body of a fiber: runs tasks until told to exit.
    fn fiber_main(&self, yielder: &FiberYielder, first: Resume, fiber: u32, stack_limit: usize) {
        let mut message = first;
        while let Resume::Run(mut task) = message {
            loop {
                self.run_task(yielder, task, fiber, stack_limit);
                if self.desk().has_mail() || !self.resumable.borrow().is_empty() {
                    break;
                }
                match self.own_task() {
                    Some(next) => task = next,
                    None => break,
                }
            }
            message = yielder.suspend(Yielded::Idle);
        }
    }

    fn run_task(&self, yielder: &FiberYielder, number: u32, fiber: u32, stack_limit: usize) {
        let record = self.shared.tasks.get(number);
        record.worker.store(self.index as u32, Ordering::Relaxed);
        record.fiber.store(fiber, Ordering::Relaxed);
        self.desk().counters.tasks_run.bump();
        let task = Task::new(self, yielder, record, number, stack_limit);
        // SAFETY: the number came out of a queue, which gives each out once, and `spawn` or `run`
        // stored a closure before it queued the number.
        let call = || unsafe { record.closure.consume(Some(&task)) };
        let result = catch_unwind(AssertUnwindSafe(call));
        self.finish(number, result);
    }

    /// Takes the youngest of the most urgent own tasks.
    #[inline]
    fn own_task(&self) -> Option<u32> {
        PRIORITIES.into_iter().find_map(|priority| self.desk().queue(priority).pop())
    }

    /// Looks for tasks elsewhere, for a short time.
    fn search(&self) -> Option<u32> {
        if !self.searching.replace(true) {
            self.shared.begin_search();
        }
        for _ in 0..SEARCHES {
            if let Some(task) = self.foreign_task() {
                self.found_work();
                return Some(task);
            }
            if self.desk().has_mail() {
                return None;
            }
            (0..PAUSES).for_each(|_| std::hint::spin_loop());
        }
        None
    }

    fn foreign_task(&self) -> Option<u32> {
        self.shared.take_injected().or_else(|| self.steal())
    }

    /// Takes tasks from other workers: returns one and queues the rest of the loot as own.
    fn steal(&self) -> Option<u32> {
        let desks = &self.shared.desks;
        let first = self.next_random() as usize % desks.len();
        for priority in PRIORITIES {
            for offset in 0..desks.len() {
                let victim = (first + offset) % desks.len();
                if victim == self.index {
                    continue;
                }
                let queue = desks[victim].queue(priority);
                let Some(task) = steal_one(queue) else { continue };
                self.desk().counters.steals.bump();
                for _ in 1..(queue.len().div_ceil(2)).min(LARGEST_LOOT) {
                    let Some(task) = steal_one(queue) else { break };
                    self.desk().counters.steals.bump();
                    self.desk().queue(priority).push(task);
                }
                return Some(task);
            }
        }
        None
    }

    fn next_random(&self) -> u64 {
        // Xorshift, Marsaglia 2003.
        let mut state = self.random.get();
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        self.random.set(state);
        state
    }

    /// Sleeps until there may be work; false when the runtime stops.
    fn sleep(&self) -> bool {
        if self.desk().has_mail() {
            return true;
        }
        for _ in 0..self.fibers.trim_idle() {
            self.desk().counters.stacks_trimmed.bump();
        }
        let events = &self.shared.events;
        events.prepare(self.index);
        if self.searching.replace(false) {
            self.shared.give_up_search();
        }
        let stopping = self.shared.stopping.load(Ordering::SeqCst);
        let notified = if stopping || self.desk().has_mail() || self.shared.has_queued_tasks() {
            match events.cancel(self.index) {
                Cancelled::Unclaimed => None,
                Cancelled::Claimed(notified) => Some(notified),
            }
        } else {
            Some(events.wait(self.index))
        };
        if notified == Some(Notified::Any) {
            // The notifier counted us as searching.
            self.searching.set(true);
        }
        !(stopping && !self.desk().has_mail() && !self.shared.has_queued_tasks())
    }

    pub(super) fn make_resumable(&self, fiber: u32, wait: Wait) {
        self.resumable.borrow_mut().push_back((fiber, wait));
    }

    /// Has `fiber`, which is about to suspend, resumed when there is nothing else to do.
    pub(super) fn make_yielded(&self, fiber: u32) {
        self.yielded.borrow_mut().push_back(fiber);
    }

    /// Queues a task.
    ///
    /// # Safety
    ///
    /// Whatever `function` borrows stays until the task is complete: `origin.scope` is joined
    /// before it goes away, and the task `origin.parent` was started, directly or not, by the
    /// owner of that scope.
    pub(super) unsafe fn spawn<F>(&self, origin: Origin, priority: Priority, function: F)
    where
        F: FnOnce(&Task<'_>) + Send,
    {
        let tasks = &self.shared.tasks;
        let number = tasks.take(&mut self.tasks.borrow_mut()).expect("too many live tasks");
        let record = tasks.get(number);
        record.begin(number, origin);
        // SAFETY: the number was just taken from the pool, so nobody else uses the record, and
        // its last closure was consumed before it was given back. The caller vouches for borrows.
        let boxed = unsafe { record.closure.store(function) };
        let desk = self.desk();
        desk.counters.tasks_spawned.bump();
        if boxed {
            desk.counters.closures_boxed.bump();
        }
        desk.queue(priority).push(number);
        self.shared.work_arrived();
    }

    /// Ends a task: tells those who wait for it, its scope, and gives records back.
    fn finish(&self, number: u32, result: Result<(), Box<dyn Any + Send>>) {
        let shared = &*self.shared;
        let record = shared.tasks.get(number);
        let scope = record.scope.load(Ordering::Relaxed);
        if let Err(panic) = result
            && scope != NONE
        {
            let place = sequential_place(&shared.tasks, number);
            shared.scopes.get(scope).note_panic(place, panic);
        }
        if record.end() {
            shared.graph.owner_ended(shared, Some(self), number);
        }
        let abroad = record.spawned_abroad.load(Ordering::Relaxed);
        if abroad > 0 && record.subtree.close(abroad) == Progress::Pending {
            return;
        }
        self.complete(number);
    }

    /// Gives back the record of a task whose subtree is complete, and tells who counts it.
    fn complete(&self, mut number: u32) {
        let shared = &*self.shared;
        loop {
            let record = shared.tasks.get(number);
            let parent = record.parent.load(Ordering::Relaxed);
            let scope = record.scope.load(Ordering::Relaxed);
            shared.tasks.give(&mut self.tasks.borrow_mut(), number);
            if scope == NONE {
                return;
            }
            // The scope stays open until it has counted this task.
            let core = shared.scopes.get(scope);
            if core.owner() == parent {
                if core.pending.complete_one() == Progress::Done {
                    shared.wake(parent, Wait::Woken, Some(self));
                }
                return;
            }
            if shared.tasks.get(parent).subtree.complete_one() == Progress::Pending {
                return;
            }
            number = parent;
        }
    }
}

fn steal_one(queue: &super::deque::Deque) -> Option<u32> {
    loop {
        match queue.steal() {
            Steal::Item(task) => return Some(task),
            Steal::Empty => return None,
            Steal::Lost => {}
        }
    }
}
