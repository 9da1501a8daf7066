//! What all workers of a runtime share; how they find out about work is in `idlers`.
//!
//! Which task a worker finds is up to the policy. Under a dispatcher nobody searches: who starts a
//! task or is idle wakes the dispatcher, and that wakes whom it gives something.

#![expect(unsafe_code, reason = "looks at what concerns a running task")]

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use parking_lot::Mutex;

use super::blocking::SidePool;
use super::body::LargePlaces;
use super::counters::{Counters, WorkerCounters};
use super::idlers::Idlers;
use super::observe::Observer;
use super::policy::{Policy, Queues, Schedule, Seat};
use super::ready::Ready;
use super::record::Record;
use super::scope::ScopeCore;
use super::shutdown::Roots;
use super::timer::Timer;
use super::wait_graph::WaitGraph;
use super::worker::Worker;
use crate::memory::barrier;
use crate::memory::{CacheLine, Pool, Reservation};
use crate::sync::Wait;

/// How urgent a task is; a worker takes its own most urgent task first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Priority {
    /// Before all others.
    High,
    /// For most tasks.
    #[default]
    Normal,
    /// When nothing else is left.
    Low,
}

pub(super) const PRIORITIES: [Priority; 3] = [Priority::High, Priority::Normal, Priority::Low];

pub(super) struct Shared {
    pub(super) tasks: Pool<Record>,
    pub(super) large_places: LargePlaces,
    pub(super) scopes: Pool<ScopeCore>,
    pub(super) stacks: Reservation,
    pub(super) queues: Queues,
    pub(super) graph: WaitGraph,
    pub(super) idlers: Idlers,
    pub(super) desks: Box<[Arc<Desk>]>,
    pub(super) stopping: AtomicBool,
    /// Whether `observer` is to be told; read by all, seldom written.
    pub(super) observing: AtomicBool,
    pub(super) observer: Option<Arc<dyn Observer>>,
    /// Tasks from outside.
    injector: CacheLine<Mutex<VecDeque<u32>>>,
    injected: AtomicUsize,
    pub(super) roots: Roots,
    pub(super) side: Arc<SidePool>,
    pub(super) timer: Timer,
}

/// What a worker shows to the others.
pub(super) struct Desk {
    pub(super) counters: CacheLine<WorkerCounters>,
    /// Fibers to be resumed, put there by other threads.
    inbox: CacheLine<Mutex<Vec<(u32, Wait)>>>,
    mail: CacheLine<AtomicBool>,
}

impl Shared {
    pub(super) fn new(
        policy: Policy,
        workers: usize,
        nodes: usize,
        stacks: Reservation,
        side: Arc<SidePool>,
        observer: Option<Arc<dyn Observer>>,
    ) -> Self {
        barrier::register();
        Self {
            tasks: Pool::with_nodes(super::record::MOST_RECORDS, nodes),
            large_places: LargePlaces::new(),
            scopes: Pool::with_nodes(super::record::MOST_RECORDS, nodes),
            stacks,
            queues: Queues::new(policy, workers),
            graph: WaitGraph::new(),
            idlers: Idlers::new(workers),
            desks: (0..workers).map(|_| Arc::new(Desk::new())).collect(),
            stopping: AtomicBool::new(false),
            observing: AtomicBool::new(observer.is_some()),
            observer,
            injector: CacheLine::default(),
            injected: AtomicUsize::new(0),
            roots: Roots::new(),
            side,
            timer: Timer::new(),
        }
    }

    /// Queues a task from outside.
    pub(super) fn inject(&self, task: u32) {
        let mut injector = self.injector.lock();
        injector.push_back(task);
        self.injected.store(injector.len(), Ordering::SeqCst);
        drop(injector);
        match self.queues.dispatcher() {
            Some(dispatcher) => _ = self.idlers.events.notify(dispatcher),
            None => self.idlers.wake_searcher(),
        }
    }

    /// Takes a task that came from outside.
    pub(super) fn take_injected(&self) -> Option<u32> {
        if self.injected.load(Ordering::Relaxed) == 0 {
            return None;
        }
        let mut injector = self.injector.lock();
        let task = injector.pop_front();
        self.injected.store(injector.len(), Ordering::Relaxed);
        task
    }

    /// Sees to it that somebody looks for the task that the worker has just queued.
    #[inline]
    pub(super) fn work_arrived(&self, seat: &Seat, priority: Priority) {
        if self.idlers.any_asleep() {
            self.wake_for(seat, priority);
        }
    }

    #[cold]
    fn wake_for(&self, seat: &Seat, priority: Priority) {
        if let Some(dispatcher) = self.queues.dispatcher() {
            self.idlers.events.notify(dispatcher);
        } else if self.idlers.nobody_searches() {
            Queues::share(seat, priority);
            self.idlers.wake_searcher();
        }
    }

    /// Tells the dispatcher, if there is one, that a worker has nothing to do.
    pub(super) fn tell_dispatcher(&self) {
        if let Some(dispatcher) = self.queues.dispatcher() {
            self.idlers.events.notify(dispatcher);
        }
    }

    /// Gives out what there is; for the dispatcher.
    pub(super) fn dispatch(&self) {
        let Queues::Dispatching(dispatcher) = &self.queues else { return };
        while let Some(task) = self.take_injected() {
            dispatcher.stock(Ready::Task(self.tasks.get(task)).into());
        }
        dispatcher.dispatch(|worker| _ = self.idlers.events.notify(worker));
    }

    /// Returns whether there may be something to do for the worker.
    pub(super) fn has_tasks(&self, worker: usize) -> bool {
        let is_mine = self.queues.dispatcher().is_none_or(|dispatcher| dispatcher == worker);
        (is_mine && self.injected.load(Ordering::SeqCst) > 0) || self.queues.has_tasks(worker)
    }

    /// Makes the suspended task `number` run again, on the worker where it is at home.
    ///
    /// The caller is the only one to wake the task from this wait. `worker` is the caller's own.
    pub(super) fn wake(&self, number: u32, wait: Wait, worker: Option<&Worker>) {
        // SAFETY: a task that is suspended has begun to run.
        let running = unsafe { self.tasks.get(number).body.running() };
        let (home, fiber) = (running.worker as usize, running.fiber);
        match worker {
            Some(worker) if worker.index == home => worker.make_resumable(fiber, wait),
            _ => self.post(home, fiber, wait),
        }
    }

    /// Has a suspended fiber of worker `home` resumed; for other threads.
    pub(super) fn post(&self, home: usize, fiber: u32, wait: Wait) {
        let desk = &self.desks[home];
        let mut inbox = desk.inbox.lock();
        inbox.push((fiber, wait));
        desk.mail.store(true, Ordering::Release);
        drop(inbox);
        self.idlers.events.notify(home);
    }

    pub(super) fn stop(&self) {
        self.side.close();
        self.timer.close();
        self.stopping.store(true, Ordering::SeqCst);
        for worker in 0..self.desks.len() {
            self.idlers.events.notify(worker);
        }
    }

    pub(super) fn counters(&self) -> Counters {
        let pool = self.tasks.counters();
        let mut counters = Counters {
            parks: (0..self.desks.len()).map(|worker| self.idlers.events.parks(worker)).sum(),
            wakes: (0..self.desks.len()).map(|worker| self.idlers.events.wakes(worker)).sum(),
            pool_refills: pool.refills,
            pool_spills: pool.spills,
            task_records: pool.objects,
            waits: self.graph.counters(),
            ..Counters::default()
        };
        for desk in &self.desks {
            counters += &*desk.counters;
        }
        counters
    }
}

impl Desk {
    fn new() -> Self {
        Self {
            counters: CacheLine::default(),
            inbox: CacheLine::default(),
            mail: CacheLine::default(),
        }
    }

    #[inline]
    pub(super) fn has_mail(&self) -> bool {
        self.mail.load(Ordering::Acquire)
    }

    /// Moves everything from the inbox to the end of `resumable`.
    pub(super) fn empty_inbox(&self, resumable: &mut VecDeque<(u32, Wait)>) {
        let mut inbox = self.inbox.lock();
        self.mail.store(false, Ordering::Relaxed);
        resumable.extend(inbox.drain(..));
    }
}
