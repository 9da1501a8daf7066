//! Where the result of a closure arrives that runs elsewhere.
//!
//! ```text
//!          .--result arrives--> Landed --it is asked for--> Taken
//! Flying --|                       '--nobody will ask--> Abandoned
//!          '--nobody will ask--> Abandoned
//! ```
//!
//! An [`Errand`] is a closure with the duty to land: its result, its panic, or, if it is dropped
//! uncalled, the news of that. Landing is the last thing it does with anything it borrows.
//!
//! Invariant: each landing is delivered to once; a panic is either taken or noted as unseen.

use std::fmt;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use parking_lot::Mutex;

use super::failures::{CancelledEarly, Payload};
use super::shutdown::Unseen;

pub(super) struct Landing<R> {
    state: Mutex<State<R>>,
    /// Where a panic goes that nobody asks for, and as which of the root tasks; none if somebody
    /// will ask.
    unseen: Option<(Arc<Unseen>, u32)>,
}

enum State<R> {
    Flying(Option<Waker>),
    Landed(Result<R, Payload>),
    Taken,
    Abandoned,
}

impl<R> Landing<R> {
    pub(super) fn new(unseen: Option<(Arc<Unseen>, u32)>) -> Arc<Self> {
        Arc::new(Self { state: Mutex::new(State::Flying(None)), unseen })
    }

    /// Takes the result if it has arrived, else has the waker called when it does.
    pub(super) fn poll(&self, context: &mut Context<'_>) -> Poll<Result<R, Payload>> {
        let mut state = self.state.lock();
        match &mut *state {
            State::Flying(Some(waker)) => {
                waker.clone_from(context.waker());
                Poll::Pending
            }
            State::Flying(waker @ None) => {
                *waker = Some(context.waker().clone());
                Poll::Pending
            }
            State::Landed(_) => match mem::replace(&mut *state, State::Taken) {
                State::Landed(result) => Poll::Ready(result),
                _ => unreachable!("it was looked at under the same lock"),
            },
            State::Taken | State::Abandoned => panic!("the result of a task is taken only once"),
        }
    }

    /// Says that nobody will ask for the result.
    pub(super) fn abandon(&self) {
        let before = mem::replace(&mut *self.state.lock(), State::Abandoned);
        if let State::Landed(Err(panic)) = before {
            self.note_unseen(panic);
        }
    }

    pub(super) fn has_landed(&self) -> bool {
        !matches!(*self.state.lock(), State::Flying(_))
    }

    fn deliver(&self, result: Result<R, Payload>) {
        let mut state = self.state.lock();
        match mem::replace(&mut *state, State::Taken) {
            State::Flying(waker) => {
                *state = State::Landed(result);
                drop(state);
                // A foreign waker may panic; its message is printed, and the result has arrived.
                if let Some(waker) = waker {
                    let _woken = catch_unwind(AssertUnwindSafe(|| waker.wake()));
                }
            }
            _ => {
                drop(state);
                let seen =
                    result.and_then(|unwanted| catch_unwind(AssertUnwindSafe(|| drop(unwanted))));
                if let Err(panic) = seen {
                    self.note_unseen(panic);
                }
            }
        }
    }

    fn note_unseen(&self, panic: Payload) {
        if let Some((unseen, root)) = &self.unseen
            && !panic.is::<CancelledEarly>()
        {
            unseen.note(*root, panic);
        }
    }
}

impl<R> fmt::Debug for Landing<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Landing").field("landed", &self.has_landed()).finish_non_exhaustive()
    }
}

/// A closure whose result lands. If it is dropped uncalled, `function` goes first: delivering ends
/// its borrows.
pub(super) struct Errand<F, R> {
    function: F,
    flight: Flight<R>,
}

/// The duty to deliver.
struct Flight<R>(Option<Arc<Landing<R>>>);

impl<F, R> Errand<F, R> {
    pub(super) fn new(function: F, landing: &Arc<Landing<R>>) -> Self {
        Self { function, flight: Flight(Some(Arc::clone(landing))) }
    }

    /// Calls the closure by way of `call`, and returns whether it returned without a panic.
    pub(super) fn run(self, call: impl FnOnce(F) -> R) -> bool {
        let Self { function, mut flight } = self;
        let result = catch_unwind(AssertUnwindSafe(|| call(function)));
        let is_ok = result.is_ok();
        flight.deliver(result);
        is_ok
    }
}

impl<R> Flight<R> {
    fn deliver(&mut self, result: Result<R, Payload>) {
        if let Some(landing) = self.0.take() {
            landing.deliver(result);
        }
    }
}

impl<R> Drop for Flight<R> {
    fn drop(&mut self) {
        self.deliver(Err(Box::new("cannot start the task: no stack for it".to_owned())));
    }
}

#[cfg(all(test, not(raddle_loom)))]
mod tests {
    use super::*;

    fn poll<R>(landing: &Landing<R>) -> Poll<Result<R, Payload>> {
        landing.poll(&mut Context::from_waker(Waker::noop()))
    }

    #[test]
    fn results_and_panics_land_once() {
        let landing = Landing::new(None);
        let errand = Errand::new(|| 5, &landing);
        assert!(poll(&landing).is_pending() && poll(&landing).is_pending());
        assert!(errand.run(|function| function()));
        assert!(landing.has_landed());
        assert!(matches!(poll(&landing), Poll::Ready(Ok(5))));
        assert!(catch_unwind(AssertUnwindSafe(|| poll(&landing))).is_err());

        let landing = Landing::<()>::new(None);
        assert!(!Errand::new(|| panic!("expected"), &landing).run(|function| function()));
        assert!(matches!(poll(&landing), Poll::Ready(Err(_))));

        let landing = Landing::<()>::new(None);
        drop(Errand::new(|| (), &landing));
        assert!(matches!(poll(&landing), Poll::Ready(Err(_))), "dropped uncalled");
    }

    #[test]
    fn a_panic_that_nobody_asks_for_is_noted() {
        struct Bomb;
        impl Drop for Bomb {
            fn drop(&mut self) {
                panic!("dropping");
            }
        }

        let unseen = Arc::new(Unseen::default());
        for (root, abandoned_first) in [(3, true), (1, false), (2, true)] {
            let landing = Landing::<Bomb>::new(Some((Arc::clone(&unseen), root)));
            let errand = Errand::new(|| panic!("task {root}"), &landing);
            if abandoned_first {
                landing.abandon();
            }
            assert!(!errand.run(|function| function()));
            if !abandoned_first {
                landing.abandon();
            }
        }
        let landing = Landing::<Bomb>::new(Some((Arc::clone(&unseen), 4)));
        landing.abandon();
        assert!(Errand::new(|| Bomb, &landing).run(|function| function()));
        let failures = unseen.take().expect("four are noted");
        assert_eq!((failures.count(), failures.first().message()), (4, "task 1"));
        assert!(unseen.take().is_none());
    }
}
