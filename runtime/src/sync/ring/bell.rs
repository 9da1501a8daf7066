//! How an end of a ring tells the other that something has changed, at next to no cost while the
//! other does not wait.
//!
//! ```text
//! listener                                 ringer
//! listen:  AWAITED            (1)          change something          (3)
//!          look for a change  (2)          ring: read the word       (4)
//! none ->  wait                            AWAITED -> QUIET, wake
//! found -> stop: QUIET
//!
//! word:    QUIET <----> AWAITED ----> GONE, for good
//! ```
//!
//! Everything rests on (1) before (2) and (3) before (4), each pair kept apart by a fence: then
//! either the listener finds the change, or the ringer sees the word.
//!
//! The ringer's fence is the dear one, for it rings with every value; and the listener's is dearer
//! still when the ringer has none (`memory::barrier`). So the ringer has two modes:
//!
//! ```text
//!               PATIENCE rings in a row, nobody waits
//! is_fenced: true ------------------------------------> false
//!       each ring a fence     <-----------------------  rings without a fence
//!                              somebody waits
//! ```
//!
//! In a steady stream a ring is one load. Ends that wait for each other all the time pay a fence
//! each, and no system call.
//!
//! Why the listener may trust `true`, read after its fence (a): (b) the ringer's change to `false` is
//! followed by a fence too. If that one comes after (a), every unfenced ring comes after it, and sees
//! AWAITED; if it came before (a), the listener would have read `false`, or a `true` that was stored
//! after all unfenced rings, with Release. In each case one of the two sees the other.
//!
//! Invariant: the word and the waker change under the lock; only the listener makes the word AWAITED
//! or GONE.

use std::task::Waker;

use crate::memory::barrier::{heavy, light};
use crate::memory::model::Mutex;
use crate::memory::model::atomic::{AtomicBool, AtomicU32, Ordering, fence};

const QUIET: u32 = 0;
const AWAITED: u32 = 1;
const GONE: u32 = 2;

/// How many fences cost about as much as one heavy barrier.
const PATIENCE: u32 = if cfg!(raddle_loom) { 1 } else { 64 };

/// What a listener hears, and its ringer rings.
pub(super) struct Bell {
    state: AtomicU32,
    is_fenced: AtomicBool,
    waker: Mutex<Option<Waker>>,
}

/// The ringer's own part.
#[derive(Debug, Default)]
pub(super) struct Ringer {
    /// Rings since somebody waited, up to `PATIENCE`.
    unheard: u32,
}

impl Bell {
    pub(super) fn new() -> Self {
        Self {
            state: AtomicU32::new(QUIET),
            is_fenced: AtomicBool::new(true),
            waker: Mutex::new(None),
        }
    }

    /// Announces that the listener is about to wait; it looks for changes once more.
    pub(super) fn listen(&self, waker: &Waker) {
        let old = self.set(AWAITED, Some(waker.clone()));
        drop(old);
        // Between (1) and (2); this is (a).
        fence(Ordering::SeqCst);
        // Acquire: pairs with the store in `answer`.
        if !self.is_fenced.load(Ordering::Acquire) {
            heavy();
        }
    }

    /// Takes back what `listen` announced.
    pub(super) fn stop(&self) {
        let old = self.set(QUIET, None);
        drop(old);
    }

    /// Says that nobody will listen any more.
    pub(super) fn leave(&self) {
        let old = self.set(GONE, None);
        drop(old);
    }

    #[inline]
    pub(super) fn listener_is_gone(&self) -> bool {
        // Acquire: pairs with the store in `set`; what the other end did last is visible.
        self.state.load(Ordering::Acquire) == GONE
    }

    fn set(&self, state: u32, waker: Option<Waker>) -> Option<Waker> {
        let mut own = self.waker.lock();
        // Release: pairs with the load in `listener_is_gone`.
        self.state.store(state, Ordering::Release);
        std::mem::replace(&mut *own, waker)
    }
}

impl Ringer {
    /// Wakes the listener if it waits. The caller has made its change before.
    #[inline]
    pub(super) fn ring(&mut self, bell: &Bell) {
        if self.unheard == PATIENCE {
            light();
        } else {
            self.fence(bell);
        }
        if bell.state.load(Ordering::Relaxed) == AWAITED {
            self.answer(bell);
        }
    }

    /// Keeps (3) before (4); pairs with the fence in `listen`.
    fn fence(&mut self, bell: &Bell) {
        self.unheard += 1;
        if self.unheard == PATIENCE {
            bell.is_fenced.store(false, Ordering::Relaxed);
        }
        // This is (b).
        fence(Ordering::SeqCst);
    }

    #[cold]
    fn answer(&mut self, bell: &Bell) {
        self.unheard = 0;
        // Release: who sees this also sees what was changed before rings without a fence.
        bell.is_fenced.store(true, Ordering::Release);
        let mut waker = bell.waker.lock();
        if bell.state.load(Ordering::Relaxed) == AWAITED {
            bell.state.store(QUIET, Ordering::Relaxed);
        }
        let waiting = waker.take();
        drop(waker);
        if let Some(waiting) = waiting {
            waiting.wake();
        }
    }
}

#[cfg(all(test, raddle_loom))]
mod models {
    use super::*;
    use loom::thread;
    use std::future::poll_fn;
    use std::sync::Arc;
    use std::task::Poll;

    use crate::memory::model::explore;
    use crate::sync::block::block_on;

    type Shared = Arc<(Bell, AtomicU32)>;

    /// Waits, as an end of a ring does, until there were `count` changes.
    fn wait_for(shared: &Shared, count: u32, listen: fn(&Bell, &Waker)) {
        let (bell, changes) = &**shared;
        let seen = || changes.load(Ordering::Relaxed) >= count;
        block_on(poll_fn(|context| {
            if seen() {
                return Poll::Ready(());
            }
            listen(bell, context.waker());
            if seen() {
                bell.stop();
                return Poll::Ready(());
            }
            Poll::Pending
        }));
    }

    /// A lost wake-up shows as a deadlock of the model.
    fn changes_are_heard(
        count: u32,
        listen: fn(&Bell, &Waker),
        ring: fn(&mut Ringer, bell: &Bell),
    ) {
        explore(move || {
            let shared: Shared = Arc::new((Bell::new(), AtomicU32::new(0)));
            let other = Arc::clone(&shared);
            let listening = thread::spawn(move || {
                (1..=count).for_each(|change| wait_for(&other, change, listen));
            });
            let mut ringer = Ringer::default();
            for change in 1..=count {
                shared.1.store(change, Ordering::Relaxed);
                ring(&mut ringer, &shared.0);
            }
            listening.join().unwrap();
        });
    }

    /// The second ring is one without a fence, unless somebody waited for the first.
    #[test]
    fn no_ring_is_lost() {
        changes_are_heard(1, Bell::listen, Ringer::ring);
        changes_are_heard(2, Bell::listen, Ringer::ring);
    }

    /// The planted bug: nothing keeps the ringer's change before its look at the word.
    #[test]
    #[should_panic(expected = "deadlock")]
    fn a_ring_without_a_fence_is_caught() {
        changes_are_heard(1, Bell::listen, |ringer, bell| {
            if bell.state.load(Ordering::Relaxed) == AWAITED {
                ringer.answer(bell);
            }
        });
    }

    /// The planted bug: the listener's announcement may come after its look.
    #[test]
    #[should_panic(expected = "deadlock")]
    fn listening_without_a_fence_is_caught() {
        let listen = |bell: &Bell, waker: &Waker| drop(bell.set(AWAITED, Some(waker.clone())));
        changes_are_heard(1, listen, Ringer::ring);
    }
}
