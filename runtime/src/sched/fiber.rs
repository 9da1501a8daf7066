//! Fibers: stacks of their own on which tasks run, so that a task can wait without its worker.
//!
//! ```text
//! idle --Run(task)--> running --Blocked--> suspended --Continue--> running
//!   ^                    |
//!   '------- Idle -------'      idle --Exit--> finished
//! ```
//!
//! A fiber belongs to the worker that made it and is resumed by no other, so nothing in its frames
//! needs to be `Send` and no thread-local is carried to another thread.
//!
//! Invariant: a fiber's coroutine is in its place unless the fiber is running.

#![expect(unsafe_code, reason = "trims the stacks of idle fibers")]

use std::cell::RefCell;
use std::io;

use corosensei::{Coroutine, CoroutineResult, Yielder};

use super::waker::FiberWaker;
use crate::memory::{Bounds, FiberStack};
use crate::sync::Wait;

/// What the worker tells a fiber that it resumes.
pub(super) enum Resume {
    Run(u32),
    Continue(Wait),
    Exit,
}

/// Why a fiber returns to its worker.
pub(super) enum Yielded {
    Idle,
    Blocked,
}

pub(super) type FiberYielder = Yielder<Resume, Yielded>;
type FiberCoroutine = Coroutine<Resume, Yielded, (), FiberStack>;

/// How often an idle fiber's stack is looked at: looking is a system call.
const LOOK_EVERY: u32 = 64;

/// All fibers of one worker.
#[derive(Default)]
pub(super) struct Fibers {
    all: RefCell<Vec<Fiber>>,
    idle: RefCell<Vec<u32>>,
}

struct Fiber {
    coroutine: Option<FiberCoroutine>,
    /// What futures wake that the fiber waits for; made with the first wait.
    waker: Option<FiberWaker>,
    bounds: Bounds,
    idled: u32,
}

impl Fibers {
    /// Returns an idle fiber if there is one.
    pub(super) fn take_idle(&self) -> Option<u32> {
        self.idle.borrow_mut().pop()
    }

    /// Makes a fiber on `stack`; its body is `main`, which gets the fiber's number and stack limit.
    pub(super) fn make(
        &self,
        stack: io::Result<FiberStack>,
        main: impl FnOnce(&FiberYielder, Resume, u32, usize) + 'static,
    ) -> io::Result<u32> {
        let stack = stack?;
        let bounds = stack.bounds();
        let mut all = self.all.borrow_mut();
        let number = all.len() as u32;
        let coroutine = Coroutine::with_stack(stack, move |yielder: &FiberYielder, first| {
            main(yielder, first, number, bounds.limit());
        });
        all.push(Fiber { coroutine: Some(coroutine), waker: None, bounds, idled: 0 });
        Ok(number)
    }

    /// Runs fiber `number` until it waits or has nothing to do; returns whether its stack was
    /// trimmed.
    pub(super) fn resume(&self, number: u32, message: Resume) -> bool {
        let place = number as usize;
        let mut coroutine = self.all.borrow_mut()[place]
            .coroutine
            .take()
            .expect("a fiber is resumed when it waits");
        // Nothing is borrowed here: what runs on the fiber may make and wake others.
        let result = coroutine.resume(message);
        let fiber = &mut self.all.borrow_mut()[place];
        match result {
            CoroutineResult::Yield(Yielded::Blocked) => {
                fiber.coroutine = Some(coroutine);
                false
            }
            CoroutineResult::Yield(Yielded::Idle) => {
                fiber.coroutine = Some(coroutine);
                self.idle.borrow_mut().push(number);
                fiber.idled += 1;
                fiber.idled.is_multiple_of(LOOK_EVERY) && fiber.trim()
            }
            CoroutineResult::Return(()) => false,
        }
    }

    /// Takes the fiber's waker, unless there is none yet or a wait has it already.
    pub(super) fn take_waker(&self, number: u32) -> Option<FiberWaker> {
        self.all.borrow_mut()[number as usize].waker.take()
    }

    /// Keeps a waker for the fiber's next wait.
    pub(super) fn keep_waker(&self, number: u32, waker: FiberWaker) {
        self.all.borrow_mut()[number as usize].waker = Some(waker);
    }

    /// Trims the deeply used stacks of idle fibers and returns how many there were.
    pub(super) fn trim_idle(&self) -> usize {
        let mut all = self.all.borrow_mut();
        let idle = self.idle.borrow();
        let used = |&&number: &&u32| {
            let fiber = &mut all[number as usize];
            std::mem::take(&mut fiber.idled) > 0 && fiber.trim()
        };
        idle.iter().filter(used).count()
    }

    /// Lets every idle fiber finish.
    pub(super) fn exit_all(&self) {
        while let Some(number) = self.take_idle() {
            self.resume(number, Resume::Exit);
        }
    }
}

impl Fiber {
    /// Trims the stack of an idle fiber if it was used deeply.
    fn trim(&self) -> bool {
        let deep = self.bounds.was_used_deeply();
        if deep {
            // SAFETY: the fiber is idle: suspended in the loop at the very top of its stack,
            // whose frames take a small part of what trimming leaves. Its coroutine, here in
            // `self`, keeps the stack mapped.
            unsafe { self.bounds.trim() };
        }
        deep
    }
}
