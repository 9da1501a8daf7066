//! A worker: one thread that runs tasks on its own fibers.
//!
//! The loop runs on the thread's own stack. It resumes fibers that can go on, else starts a task
//! that the policy has for it, else one from outside or of another worker, else resumes a fiber
//! that let others go first, else sleeps. A fiber whose task has ended takes the next task itself,
//! without a switch, as long as no fiber waits to be resumed.
//!
//! Invariant: everything in [`Worker`] is used by its thread alone; what others need lies on its
//! desk. No borrow of a cell is held while a task runs.

#![expect(unsafe_code, reason = "consumes the closures of tasks")]

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process;
use std::ptr;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::current;
use super::fiber::{FiberYielder, Fibers, Resume, Yielded};
use super::join::Frame;
use super::observe::Event;
use super::policy::{Look, Schedule, Seat};
use super::ready::Ready;
use super::record::{JOINED, NONE, Origin, Record, TaskId, sequential_place};
use super::shared::{Desk, Priority, Shared};
use super::task::Task;
use crate::memory::Cache;
use crate::sync::{Cancelled, Notified, Progress, Wait};

/// Rounds of looking for work before sleeping: about one microsecond.
const SEARCHES: u32 = 8;
const PAUSES: u32 = 8;
/// Fibers that wake each other must not keep everybody else waiting.
const MOST_RESUMED: u32 = 64;

pub(super) struct Worker {
    pub(super) index: usize,
    pub(super) seat: Seat,
    /// This worker's desk among those of `shared`.
    pub(super) desk: Arc<Desk>,
    pub(super) shared: Arc<Shared>,
    pub(super) scopes: RefCell<Cache>,
    tasks: RefCell<Cache>,
    pub(super) fibers: Fibers,
    /// The task whose code is running; see `current`.
    pub(super) current: Cell<*const Task<'static>>,
    resumable: RefCell<VecDeque<(u32, Wait)>>,
    /// Fibers that were woken and resumed since others were served.
    resumed: Cell<u32>,
    /// Fibers whose tasks let others go first.
    yielded: RefCell<VecDeque<u32>>,
    searching: Cell<bool>,
    account: Account,
}

/// What this worker has with the scope whose tasks it runs: tasks that have completed here and are
/// not yet counted as such, or that were counted as started and are not.
struct Account {
    /// `JOINED` if there is none.
    scope: Cell<u32>,
    credit: Cell<u32>,
}

/// So many starts are counted at once when credit runs out.
const LOAN: u32 = 64;

/// Ends the process if it is dropped, which happens only in unwinding.
struct AbortOnUnwind;

impl Drop for AbortOnUnwind {
    fn drop(&mut self) {
        process::abort();
    }
}

impl Worker {
    /// Runs worker `index`, on a node of the machine, until the runtime stops.
    pub(super) fn main(index: usize, node: usize, shared: Arc<Shared>) {
        let worker = Rc::new(Self {
            index,
            seat: shared.queues.seat(index),
            desk: Arc::clone(&shared.desks[index]),
            shared,
            scopes: RefCell::new(Cache::on_node(node)),
            tasks: RefCell::new(Cache::on_node(node)),
            fibers: Fibers::default(),
            current: Cell::new(ptr::null()),
            resumable: RefCell::default(),
            resumed: Cell::new(0),
            yielded: RefCell::default(),
            searching: Cell::new(false),
            account: Account { scope: Cell::new(JOINED), credit: Cell::new(0) },
        });
        // Tasks' panics are caught where they run. One that arrives here is a defect of the
        // scheduler, which has printed its message; going on would leave waiters hanging.
        let work = || current::as_worker(&worker, || worker.work());
        if catch_unwind(AssertUnwindSafe(work)).is_err() {
            process::abort();
        }
        // Fibers hold the worker: letting them end frees it.
        worker.fibers.exit_all();
        worker.shared.tasks.drain(worker.tasks.take());
        worker.shared.scopes.drain(worker.scopes.take());
    }

    fn work(self: &Rc<Self>) {
        loop {
            if self.desk.has_mail() {
                self.desk.empty_inbox(&mut self.resumable.borrow_mut());
            }
            if self.resumed.get() >= MOST_RESUMED {
                self.resumed.set(0);
                self.serve_patient();
            }
            let resumable = self.resumable.borrow_mut().pop_front();
            if let Some((fiber, wait)) = resumable {
                self.found_work();
                self.resumed.set(self.resumed.get() + 1);
                self.resume(fiber, Resume::Continue(wait));
            } else if let Some(task) = self.own_task() {
                self.found_work();
                self.start(task);
            } else if !self.yielded.borrow().is_empty() {
                self.found_work();
                self.serve_patient();
            } else if let Some(task) = self.search() {
                self.start(task);
            } else if !self.sleep() {
                return;
            }
        }
    }

    fn found_work(&self) {
        if self.searching.replace(false) {
            self.shared.idlers.end_search(|| self.shared.has_tasks(self.index));
        }
    }

    fn resume(&self, fiber: u32, message: Resume) {
        if self.fibers.resume(fiber, message) {
            self.desk.counters.stacks_trimmed.bump();
        }
    }

    /// Starts a task that somebody has for this worker, else resumes a fiber that let others go
    /// first.
    fn serve_patient(self: &Rc<Self>) {
        if let Some(task) = self.own_task().or_else(|| self.foreign_task(Look::Others)) {
            return self.start(task);
        }
        // It may sleep, and who does not is never seen to be idle by it.
        self.shared.tell_dispatcher();
        let fiber = self.yielded.borrow_mut().pop_front();
        if let Some(fiber) = fiber {
            self.resume(fiber, Resume::Continue(Wait::Woken));
        }
    }

    /// Runs a task, on an idle fiber if there is one.
    fn start(self: &Rc<Self>, task: &Record) {
        let fiber = match self.fibers.take_idle() {
            Some(fiber) => Ok(fiber),
            None => {
                let worker = Rc::clone(self);
                let main = move |yielder: &FiberYielder, first, number, stack_limit| {
                    worker.fiber_main(yielder, first, number, stack_limit);
                };
                let made = self.fibers.make(self.shared.stacks.cut(), main);
                if made.is_ok() {
                    self.desk.counters.fibers.bump();
                }
                made
            }
        };
        match fiber {
            Ok(fiber) => self.resume(fiber, Resume::Run(task.number())),
            Err(error) => {
                let text = format!("cannot start a task: no stack for it: {error}");
                // SAFETY: as in `run_tasks`.
                unsafe { task.body.consume(&self.shared.large_places, task.number(), None) };
                self.settle();
                self.finish(task, Some(Box::new(text)));
            }
        }
    }

    /// The body of a fiber: runs tasks until told to exit.
    fn fiber_main(&self, yielder: &FiberYielder, first: Resume, fiber: u32, stack_limit: usize) {
        let mut message = first;
        while let Resume::Run(first) = message {
            let first = self.shared.tasks.get(first);
            let task = Task::new(self, yielder, fiber, stack_limit, first);
            current::enter(&task);
            let mut next = Some(first);
            while let Some(first) = next {
                // One landing pad for many tasks.
                let run = AssertUnwindSafe(|| self.run_tasks(&task, first));
                next = match catch_unwind(run) {
                    Ok(()) => None,
                    Err(panic) => {
                        self.observe(|| Event::TaskEnded { task: task.id(), panicked: true });
                        self.finish(task.record(), Some(panic));
                        self.next_task()
                    }
                };
            }
            current::leave(self);
            self.settle();
            message = yielder.suspend(Yielded::Idle);
        }
    }

    /// Runs tasks, one after the other, until there is something else to do. A panic of a task
    /// ends this.
    #[inline]
    fn run_tasks<'fiber>(&'fiber self, task: &Task<'fiber>, first: &'fiber Record) {
        let shared = &*self.shared;
        let account = &self.account;
        let mut record = first;
        loop {
            let number = record.number();
            let scope = record.scope.load(Ordering::Relaxed);
            if account.scope.get() != scope {
                self.settle();
            }
            self.desk.counters.tasks_run.bump();
            task.begin(record);
            self.observe(|| Event::TaskStarted { task: task.id() });
            // SAFETY: the number came out of a queue, which gives each out once, and `spawn`, `run`
            // or `record_half` stored a closure before it queued the number.
            unsafe { record.body.consume(&shared.large_places, number, Some(task)) };
            self.observe(|| Event::TaskEnded {
                task: task.id(),
                panicked: task.has_panicked.get(),
            });
            if account.scope.get() == scope && scope < JOINED && !record.end() {
                shared.tasks.give(&mut self.tasks.borrow_mut(), number);
                account.credit.set(account.credit.get() + 1);
            } else {
                self.finish(record, None);
            }
            match self.next_task() {
                Some(next) => record = next,
                None => return,
            }
        }
    }

    /// Returns the task that the fiber of an ended one goes on with.
    #[inline]
    fn next_task(&self) -> Option<&Record> {
        if self.desk.has_mail() || !self.resumable.borrow().is_empty() {
            return None;
        }
        self.own_task()
    }

    #[inline]
    fn own_task(&self) -> Option<&Record> {
        self.shared.queues.take(&self.seat, Look::Own).map(|word| self.record_of(word))
    }

    /// Looks for tasks elsewhere, for a short time.
    fn search(&self) -> Option<&Record> {
        if self.shared.queues.dispatcher().is_some() {
            return self.await_dispatcher();
        }
        if !self.searching.replace(true) {
            self.shared.idlers.begin_search();
        }
        for round in 0..SEARCHES {
            let look = if round + 1 < SEARCHES { Look::Others } else { Look::Hard };
            if let Some(task) = self.foreign_task(look) {
                self.found_work();
                return Some(task);
            }
            if self.desk.has_mail() {
                return None;
            }
            (0..PAUSES).for_each(|_| std::hint::spin_loop());
        }
        None
    }

    /// Waits a short time for something from the dispatcher, or is the dispatcher.
    fn await_dispatcher(&self) -> Option<&Record> {
        if self.shared.queues.dispatcher() == Some(self.index) {
            self.shared.dispatch();
        } else {
            self.shared.tell_dispatcher();
        }
        for _ in 0..SEARCHES {
            if let Some(task) = self.foreign_task(Look::Others) {
                return Some(task);
            }
            if self.desk.has_mail() {
                return None;
            }
            (0..PAUSES).for_each(|_| std::hint::spin_loop());
        }
        None
    }

    fn foreign_task(&self, look: Look) -> Option<&Record> {
        let shared = &*self.shared;
        if shared.queues.dispatcher().is_none()
            && let Some(task) = shared.take_injected()
        {
            return Some(shared.tasks.get(task));
        }
        let word = shared.queues.take(&self.seat, look);
        let stolen = self.seat.stolen.take();
        if stolen > 0 {
            self.desk.counters.steals.add(stolen);
            self.observe(|| Event::TasksStolen { count: stolen as usize });
        }
        word.map(|word| self.record_of(word))
    }

    /// Sleeps until there may be work; false when the runtime stops.
    fn sleep(&self) -> bool {
        if self.desk.has_mail() {
            return true;
        }
        for _ in 0..self.fibers.trim_idle() {
            self.desk.counters.stacks_trimmed.bump();
        }
        if self.searching.replace(false) {
            self.shared.idlers.give_up_search();
        }
        let events = &self.shared.idlers.events;
        events.prepare(self.index);
        let stopping = self.shared.stopping.load(Ordering::SeqCst);
        let notified = if stopping || self.desk.has_mail() || self.shared.has_tasks(self.index) {
            match events.cancel(self.index) {
                Cancelled::Unclaimed => None,
                Cancelled::Claimed(notified) => Some(notified),
            }
        } else {
            self.tasks.borrow_mut().publish();
            self.scopes.borrow_mut().publish();
            self.observe(|| Event::WorkerParked);
            let notified = events.wait(self.index);
            self.observe(|| Event::WorkerWoken);
            Some(notified)
        };
        if notified == Some(Notified::Any) && self.shared.queues.dispatcher().is_none() {
            // The notifier counted us as searching.
            self.searching.set(true);
        }
        !(stopping && !self.desk.has_mail() && !self.shared.has_tasks(self.index))
    }

    pub(super) fn make_resumable(&self, fiber: u32, wait: Wait) {
        self.resumable.borrow_mut().push_back((fiber, wait));
    }

    /// Has `fiber`, which is about to suspend, resumed when there is nothing else to do.
    pub(super) fn make_yielded(&self, fiber: u32) {
        self.yielded.borrow_mut().push_back(fiber);
    }

    /// Tells the observer, if there is one and it listens.
    #[inline]
    pub(super) fn observe<'a>(&self, event: impl FnOnce() -> Event<'a>) {
        if self.shared.observing.load(Ordering::Relaxed) {
            self.tell(event());
        }
    }

    #[cold]
    fn tell(&self, event: Event<'_>) {
        let Some(observer) = &self.shared.observer else { return };
        if catch_unwind(AssertUnwindSafe(|| observer.event(self.index, event))).is_err() {
            self.shared.observing.store(false, Ordering::Relaxed);
        }
    }

    /// Queues a task of a scope; on credit, unless the scope's owner counts it. The observer is told
    /// what `announce` says.
    ///
    /// # Safety
    ///
    /// Whatever `function` borrows stays until the task is complete: `origin.scope` is joined
    /// before it goes away, and the caller's task is the owner of that scope, or in it, or in a
    /// scope or join inside it.
    #[inline]
    pub(super) unsafe fn spawn<'a, F>(
        &self,
        origin: Origin,
        on_credit: bool,
        priority: Priority,
        announce: impl FnOnce(TaskId) -> Event<'a>,
        function: F,
    ) where
        F: FnOnce(&Task<'_>) + Send,
    {
        let observing = self.shared.observing.load(Ordering::Relaxed);
        if observing && self.tasks.borrow().is_empty() {
            self.tell(Event::PoolRefilled);
        }
        self.desk.counters.tasks_spawned.bump();
        let record = self.new_record(origin);
        if on_credit {
            self.start_on_credit(origin.scope);
        }
        // SAFETY: the number was just taken from the pool, so nobody else uses the record, and
        // its last closure was consumed before it was given back. The caller vouches for borrows.
        let boxed =
            unsafe { record.body.store(&self.shared.large_places, record.number(), function) };
        if boxed {
            self.desk.counters.closures_boxed.bump();
        }
        if observing {
            self.tell(announce(record.id()));
        }
        self.shared.queues.queue(&self.seat, priority, Ready::Task(record).into());
        self.shared.work_arrived(&self.seat, priority);
    }

    #[inline(always)]
    fn new_record(&self, origin: Origin) -> &Record {
        let tasks = &self.shared.tasks;
        let number = tasks.take(&mut self.tasks.borrow_mut()).expect("too many live tasks");
        let record = tasks.get(number);
        record.begin(number, origin);
        record
    }

    /// Returns the record of a task that came out of a queue.
    #[inline]
    fn record_of(&self, word: u64) -> &Record {
        match Ready::from(word) {
            // SAFETY: records stay where they are as long as `shared`, whose queues this came from.
            Ready::Task(record) => unsafe { &*record },
            Ready::Half(frame) => self.record_half(frame),
        }
    }

    #[cold]
    fn record_half(&self, frame: *const Frame) -> &Record {
        // SAFETY: the frame came out of a queue.
        let record = self.new_record(unsafe { Frame::origin(frame) });
        // SAFETY: as in `spawn`.
        unsafe { record.body.store_half(frame) };
        self.observe(|| {
            let other = self.shared.tasks.get(record.lineage.load(Ordering::Relaxed));
            let (task, parent) = (record.id(), other.known_id());
            Event::TaskSpawned { task, parent, name: None, priority: Priority::Normal }
        });
        record
    }

    /// Ends a task: tells those who wait for it, its scope, and gives records back.
    #[inline(never)]
    fn finish(&self, record: &Record, panic: Option<Box<dyn Any + Send>>) {
        // What unwinds from here is no task's panic.
        let defect = AbortOnUnwind;
        let shared = &*self.shared;
        let number = record.number();
        let scope = record.scope.load(Ordering::Relaxed);
        if let Some(panic) = panic
            && scope < JOINED
        {
            let place = sequential_place(shared, number);
            shared.scopes.get(scope).failures.note(place, panic);
        }
        if record.end() {
            shared.graph.owner_ended(shared, Some(self), number);
        }
        match scope {
            JOINED => self.finish_half(record),
            NONE => {
                shared.tasks.give(&mut self.tasks.borrow_mut(), number);
                shared.leave_root();
            }
            _ => {
                shared.tasks.give(&mut self.tasks.borrow_mut(), number);
                self.account_for(scope);
                self.account.credit.set(self.account.credit.get() + 1);
            }
        }
        mem::forget(defect);
    }

    #[cold]
    fn finish_half(&self, record: &Record) {
        let other = record.lineage.load(Ordering::Relaxed);
        // SAFETY: the half was run just now, or dropped because there was no stack for it.
        let frame = unsafe { record.body.running() }.frame;
        self.shared.tasks.give(&mut self.tasks.borrow_mut(), record.number());
        // SAFETY: as above.
        if unsafe { Frame::open_latch(frame) } {
            self.shared.wake(other, Wait::Woken, Some(self));
        }
    }

    /// Counts the tasks that have completed here, and tells the scope's owner if they were the last.
    ///
    /// That must happen before this worker does anything but run a task of the same scope: while
    /// it does that the scope is not done anyway.
    #[inline]
    pub(super) fn settle(&self) {
        let credit = self.account.credit.replace(0);
        let scope = self.account.scope.replace(JOINED);
        if credit > 0 {
            let core = self.shared.scopes.get(scope);
            // Read before: the scope may be gone when all is counted.
            let owner = core.owner();
            if core.pending.complete(credit) == Progress::Done {
                self.shared.wake(owner, Wait::Woken, Some(self));
            }
        }
    }

    /// Makes the account that of `scope`.
    fn account_for(&self, scope: u32) {
        if self.account.scope.get() != scope {
            self.settle();
            self.account.scope.set(scope);
        }
    }

    /// Counts a task that a task of the scope, or of one inside it, is about to start there.
    #[inline]
    fn start_on_credit(&self, scope: u32) {
        if self.account.scope.get() != scope || self.account.credit.get() == 0 {
            self.take_loan(scope);
        }
        self.account.credit.set(self.account.credit.get() - 1);
    }

    #[cold]
    fn take_loan(&self, scope: u32) {
        self.account_for(scope);
        if self.account.credit.get() == 0 {
            self.shared.scopes.get(scope).pending.start_more(LOAN);
            self.account.credit.set(LOAN);
        }
    }
}
