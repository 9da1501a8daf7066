//! Where an idle worker sleeps: nobody pays for a wake-up that nobody waits for.
//!
//! Each waiter has a bit in a mask and a state of its own.
//!
//! ```text
//! waiter                                    notifier
//! prepare:  set bit          (1)            make the work visible   (3)
//!           look for work    (2)            read the mask           (4)
//! none ->   wait                            bit set -> clear it by an exchange: the waiter is
//! found ->  cancel: clear bit                          *claimed*; then change its state
//!
//! state:    Awake --wait--> Parked --notifier--> notified --waiter--> Awake
//!             `----------notifier, before `wait`----^
//! ```
//!
//! Everything rests on (1) before (2) and (3) before (4), each pair kept apart by a fence, a heavy
//! one for the waiter and at least a light one for the notifier: then either the waiter finds the
//! work, or the notifier sees the bit. The models fail if either fence, or the second look, is left
//! out.
//!
//! Clearing the bit is the claim, and only one party can clear it. So each `prepare` is notified
//! at most once, and the kernel is asked to wake a thread only if its state was `Parked`: wakes
//! never exceed parks.
//!
//! Not here: spinning before `prepare`, and whether waking someone is worthwhile.

use std::fmt;
use std::sync::OnceLock;

use crate::memory::CacheLine;
use crate::memory::barrier::heavy;
use crate::memory::model::atomic::{AtomicU32, AtomicU64, Ordering, fence};
use crate::memory::model::thread::{self, Thread};

const AWAKE: u32 = 0;
const PARKED: u32 = 1;
const NOTIFIED_ANY: u32 = 2;
const NOTIFIED_SELF: u32 = 3;

/// A place for a fixed number of threads to wait for events.
pub struct EventCount {
    /// Bit set: the waiter is prepared and nobody has claimed it.
    masks: Box<[CacheLine<AtomicU64>]>,
    waiters: Box<[CacheLine<Waiter>]>,
}

#[derive(Default)]
struct Waiter {
    state: AtomicU32,
    thread: OnceLock<Thread>,
    parks: AtomicU64,
    wakes: AtomicU64,
}

/// What a waiter was woken for.
#[must_use = "a notification for anyone must be acted upon or passed on"]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notified {
    /// By [`EventCount::notify_any`]: the notifier counts on this waiter to look for work.
    Any,
    /// By [`EventCount::notify`]: there is something for this waiter alone.
    Targeted,
}

/// How a waiter got out of its preparation.
#[must_use = "a claimed waiter has been notified"]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cancelled {
    /// Nobody had claimed it.
    Unclaimed,
    /// A notifier had claimed it already.
    Claimed(Notified),
}

impl EventCount {
    /// Creates a place for waiters `0..waiters`.
    pub fn new(waiters: usize) -> Self {
        Self {
            masks: (0..waiters.div_ceil(64)).map(|_| CacheLine::default()).collect(),
            waiters: (0..waiters).map(|_| CacheLine::default()).collect(),
        }
    }

    /// Returns whether a waiter is prepared. Costs a load for each 64 waiters.
    ///
    /// A caller that decides by this whether to notify has a sequentially consistent fence
    /// between making its work visible and this call. (Inside this crate a light one is enough.)
    #[inline]
    pub fn any_waiting(&self) -> bool {
        self.masks.iter().any(|mask| mask.load(Ordering::Relaxed) != 0)
    }

    /// Announces that the calling thread, as `waiter`, is about to wait.
    ///
    /// The caller then looks for work once more, and calls `cancel` or `wait`. A waiter is always
    /// the same thread.
    pub fn prepare(&self, waiter: usize) {
        self.waiters[waiter].thread.get_or_init(thread::current);
        self.masks[waiter / 64].fetch_or(1 << (waiter % 64), Ordering::SeqCst);
        // Between (1) and (2); pairs with the notifier's fence, which may be a light one.
        heavy();
    }

    /// Takes back what `prepare` announced.
    pub fn cancel(&self, waiter: usize) -> Cancelled {
        if self.claim(waiter) {
            return Cancelled::Unclaimed;
        }
        // The notifier that cleared the bit is about to change the state.
        loop {
            let state = self.waiters[waiter].state.load(Ordering::Acquire);
            if state != AWAKE {
                return Cancelled::Claimed(self.wake_up(waiter, state));
            }
            thread::yield_now();
        }
    }

    /// Blocks until notified.
    pub fn wait(&self, waiter: usize) -> Notified {
        let own = &self.waiters[waiter];
        // Acquire: what the notifier did before is visible afterwards.
        match own.state.compare_exchange(AWAKE, PARKED, Ordering::AcqRel, Ordering::Acquire) {
            Err(state) => self.wake_up(waiter, state),
            Ok(_) => {
                own.parks.fetch_add(1, Ordering::Relaxed);
                loop {
                    let state = own.state.load(Ordering::Acquire);
                    if state != PARKED {
                        return self.wake_up(waiter, state);
                    }
                    thread::park();
                }
            }
        }
    }

    /// Wakes one prepared waiter, if there is any, and returns whether there was.
    pub fn notify_any(&self) -> bool {
        // Between (3) and (4); pairs with the fence in `prepare`.
        fence(Ordering::SeqCst);
        for (index, mask) in self.masks.iter().enumerate() {
            loop {
                let seen = mask.load(Ordering::Relaxed);
                if seen == 0 {
                    break;
                }
                let waiter = index * 64 + seen.trailing_zeros() as usize;
                if self.claim(waiter) {
                    self.change_state(waiter, NOTIFIED_ANY);
                    return true;
                }
            }
        }
        false
    }

    /// Wakes `waiter` if it is prepared, and returns whether it was.
    pub fn notify(&self, waiter: usize) -> bool {
        // Between (3) and (4); pairs with the fence in `prepare`.
        fence(Ordering::SeqCst);
        let mask = self.masks[waiter / 64].load(Ordering::Relaxed);
        let claimed = mask & (1 << (waiter % 64)) != 0 && self.claim(waiter);
        if claimed {
            self.change_state(waiter, NOTIFIED_SELF);
        }
        claimed
    }

    /// Returns how often `waiter` blocked.
    pub fn parks(&self, waiter: usize) -> u64 {
        self.waiters[waiter].parks.load(Ordering::Relaxed)
    }

    /// Returns how often the kernel was asked to wake `waiter`; never more than its parks.
    pub fn wakes(&self, waiter: usize) -> u64 {
        self.waiters[waiter].wakes.load(Ordering::Relaxed)
    }

    /// Clears the bit of `waiter`; true for the one party that finds it set.
    fn claim(&self, waiter: usize) -> bool {
        let bit = 1 << (waiter % 64);
        self.masks[waiter / 64].fetch_and(!bit, Ordering::AcqRel) & bit != 0
    }

    /// Notifies a waiter that the caller has claimed.
    fn change_state(&self, waiter: usize, state: u32) {
        let other = &self.waiters[waiter];
        // Release: what the notifier did before is visible to the waiter.
        if other.state.swap(state, Ordering::AcqRel) == PARKED {
            // Counted first: who sees the waiter awake also sees this.
            other.wakes.fetch_add(1, Ordering::Relaxed);
            other.thread.get().expect("`prepare` noted the thread").unpark();
        }
    }

    fn wake_up(&self, waiter: usize, state: u32) -> Notified {
        self.waiters[waiter].state.store(AWAKE, Ordering::Relaxed);
        if state == NOTIFIED_ANY { Notified::Any } else { Notified::Targeted }
    }
}

impl fmt::Debug for EventCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventCount").field("waiters", &self.waiters.len()).finish_non_exhaustive()
    }
}

#[cfg(all(test, not(raddle_loom)))]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;
    use std::thread;

    #[test]
    fn a_notification_before_the_wait_is_not_lost() {
        let events = EventCount::new(2);
        assert!(!events.any_waiting() && !events.notify_any() && !events.notify(1));
        events.prepare(1);
        assert!(events.any_waiting());
        assert!(events.notify_any());
        assert!(!events.notify_any(), "claimed once");
        assert_eq!(events.wait(1), Notified::Any);
        events.prepare(1);
        assert!(!events.notify(0));
        assert!(events.notify(1));
        assert_eq!(events.cancel(1), Cancelled::Claimed(Notified::Targeted));
        events.prepare(1);
        assert_eq!(events.cancel(1), Cancelled::Unclaimed);
        assert_eq!((events.parks(1), events.wakes(1)), (0, 0), "nobody slept");
    }

    /// Consumers take numbers one by one and sleep when there are none; none may be left behind.
    #[test]
    fn no_wake_up_is_lost_and_wakes_stay_below_parks() {
        const CONSUMERS: usize = 3;
        const ITEMS: usize = 20_000;
        let events = EventCount::new(CONSUMERS);
        let (items, taken) = (AtomicUsize::new(0), AtomicUsize::new(0));
        thread::scope(|scope| {
            for waiter in 0..CONSUMERS {
                let (events, items, taken) = (&events, &items, &taken);
                scope.spawn(move || {
                    let take = |n: usize| n.checked_sub(1);
                    let all_taken = || taken.load(Ordering::SeqCst) == ITEMS;
                    while !all_taken() {
                        if items.fetch_update(Ordering::SeqCst, Ordering::SeqCst, take).is_ok() {
                            if taken.fetch_add(1, Ordering::SeqCst) + 1 == ITEMS {
                                (0..CONSUMERS).for_each(|other| {
                                    events.notify(other);
                                });
                            }
                            continue;
                        }
                        events.prepare(waiter);
                        if items.load(Ordering::SeqCst) > 0 || all_taken() {
                            if let Cancelled::Claimed(Notified::Any) = events.cancel(waiter) {
                                events.notify_any();
                            }
                        } else {
                            let _woken = events.wait(waiter);
                        }
                    }
                });
            }
            for item in 0..ITEMS {
                items.fetch_add(1, Ordering::SeqCst);
                events.notify_any();
                if item % 64 == 0 {
                    thread::yield_now();
                }
            }
        });
        for waiter in 0..CONSUMERS {
            assert!(events.wakes(waiter) <= events.parks(waiter));
        }
    }
}

#[cfg(all(test, raddle_loom))]
mod models {
    use super::*;
    use loom::sync::Arc;
    use loom::sync::atomic::AtomicU32;
    use loom::thread;

    use crate::memory::model::explore as model;

    /// Waits until `work` has something, the way a worker does, and takes one.
    fn consume(events: &EventCount, waiter: usize, work: &AtomicU32) {
        let take = || work.fetch_update(Ordering::AcqRel, Ordering::Acquire, |n| n.checked_sub(1));
        while take().is_err() {
            events.prepare(waiter);
            if work.load(Ordering::Relaxed) > 0 {
                if let Cancelled::Claimed(Notified::Any) = events.cancel(waiter) {
                    events.notify_any();
                }
            } else {
                let _woken = events.wait(waiter);
            }
        }
    }

    fn check_counts(events: &EventCount, waiters: usize) {
        for waiter in 0..waiters {
            assert!(events.wakes(waiter) <= events.parks(waiter));
        }
    }

    /// A lost wake-up shows as a deadlock of the model.
    #[test]
    fn one_waiter_gets_what_arrives() {
        model(|| {
            let shared = Arc::new((EventCount::new(1), AtomicU32::new(0)));
            let consumer = thread::spawn({
                let shared = Arc::clone(&shared);
                move || consume(&shared.0, 0, &shared.1)
            });
            shared.1.store(1, Ordering::Relaxed);
            shared.0.notify_any();
            consumer.join().unwrap();
            check_counts(&shared.0, 1);
        });
    }

    #[test]
    fn a_producer_may_look_before_it_notifies() {
        model(|| {
            let shared = Arc::new((EventCount::new(1), AtomicU32::new(0)));
            let consumer = thread::spawn({
                let shared = Arc::clone(&shared);
                move || consume(&shared.0, 0, &shared.1)
            });
            shared.1.store(1, Ordering::Relaxed);
            fence(Ordering::SeqCst);
            if shared.0.any_waiting() {
                shared.0.notify_any();
            }
            consumer.join().unwrap();
        });
    }

    #[test]
    fn two_notifiers_claim_a_waiter_once() {
        model(|| {
            let shared = Arc::new((EventCount::new(1), AtomicU32::new(0)));
            // The consumer waits for nothing else: loom does not allow a late `unpark` there.
            let consumer = thread::spawn({
                let shared = Arc::clone(&shared);
                move || consume(&shared.0, 0, &shared.1)
            });
            let other = thread::spawn({
                let shared = Arc::clone(&shared);
                move || {
                    shared.0.notify_any();
                }
            });
            shared.1.store(1, Ordering::Relaxed);
            shared.0.notify(0);
            consumer.join().unwrap();
            other.join().unwrap();
            check_counts(&shared.0, 1);
        });
    }

    /// What a waiter does before it blocks. Returns whether it will block, with nobody knowing of
    /// work that it would find.
    type Prepare = fn(&EventCount, &AtomicU32) -> bool;

    fn prepare(events: &EventCount, work: &AtomicU32) -> bool {
        events.prepare(0);
        work.load(Ordering::Relaxed) == 0
    }

    fn notify(events: &EventCount) -> bool {
        events.notify_any()
    }

    /// One waiter prepares while one piece of work arrives. Instead of blocking for ever, which
    /// loom's own types do not survive, it is checked who knows of the work.
    fn the_work_is_known(prepare: Prepare, notify: fn(&EventCount) -> bool) {
        model(move || {
            let shared = std::sync::Arc::new((EventCount::new(1), AtomicU32::new(0)));
            let waiter = thread::spawn({
                let shared = std::sync::Arc::clone(&shared);
                move || prepare(&shared.0, &shared.1)
            });
            shared.1.store(1, Ordering::Relaxed);
            let notified = notify(&shared.0);
            let blocks = waiter.join().unwrap();
            assert!(notified || !blocks, "a wake-up is lost");
        });
    }

    #[test]
    fn the_waiter_or_the_notifier_knows() {
        the_work_is_known(prepare, notify);
    }

    /// The planted bug: the waiter does not look for work after it has set its bit.
    #[test]
    #[should_panic(expected = "a wake-up is lost")]
    fn a_missing_second_look_is_caught() {
        let looks_first = |events: &EventCount, work: &AtomicU32| {
            let blocks = work.load(Ordering::Relaxed) == 0;
            events.prepare(0);
            blocks
        };
        the_work_is_known(looks_first, notify);
    }

    /// The planted bug: the waiter's second look may come before its bit is visible.
    #[test]
    #[should_panic(expected = "a wake-up is lost")]
    fn a_waiter_without_a_fence_is_caught() {
        let prepare = |events: &EventCount, work: &AtomicU32| {
            events.masks[0].fetch_or(1, Ordering::AcqRel);
            work.load(Ordering::Relaxed) == 0
        };
        the_work_is_known(prepare, notify);
    }

    /// The planted bug: the notifier may read the mask before its work is visible.
    #[test]
    #[should_panic(expected = "a wake-up is lost")]
    fn a_notifier_without_a_fence_is_caught() {
        let notify = |events: &EventCount| events.any_waiting() && events.notify_any();
        the_work_is_known(prepare, notify);
    }

    /// Two tasks end, and the main thread waits for both. The one that `ends` returns true for is
    /// to wake it.
    fn the_main_thread_is_woken(ends: fn(&AtomicU32) -> bool) {
        model(move || {
            let shared = std::sync::Arc::new((EventCount::new(1), AtomicU32::new(2)));
            let tasks: Vec<_> = (0..2)
                .map(|_| {
                    let shared = std::sync::Arc::clone(&shared);
                    thread::spawn(move || ends(&shared.1) && shared.0.notify(0))
                })
                .collect();
            shared.0.prepare(0);
            let blocks = shared.1.load(Ordering::Relaxed) > 0;
            // All tasks' ends, so that none has to be noticed twice.
            let woken = tasks.into_iter().fold(false, |woken, task| woken | task.join().unwrap());
            assert!(woken || !blocks, "the main thread sleeps for ever");
        });
    }

    #[test]
    fn the_last_task_wakes_the_main_thread() {
        the_main_thread_is_woken(|pending| pending.fetch_sub(1, Ordering::AcqRel) == 1);
    }

    /// The planted bug: a task reads the counter and then lowers it, so that each of the two that
    /// end last may take the other for the last.
    #[test]
    #[should_panic(expected = "the main thread sleeps for ever")]
    fn a_last_task_that_does_not_know_it_is_caught() {
        the_main_thread_is_woken(|pending| {
            let is_last = pending.load(Ordering::Acquire) == 1;
            pending.fetch_sub(1, Ordering::AcqRel);
            is_last
        });
    }
}
