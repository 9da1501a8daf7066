//! Every policy gives out each task once, and the own ones by priority.

use super::*;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

const POLICIES: [Policy; 3] = [Policy::Stealing, Policy::Dispatching, Policy::Pairs];

/// Takes as a worker does, running the dispatcher's rounds in between.
fn take(queues: &Queues, seat: &Seat) -> Option<u64> {
    for look in [Look::Own, Look::Others, Look::Hard] {
        if let Some(task) = queues.take(seat, look) {
            return Some(task);
        }
        if let Queues::Dispatching(dispatcher) = queues {
            dispatcher.dispatch(|_| {});
        }
    }
    None
}

#[test]
fn a_worker_finds_its_own_by_priority() {
    for policy in POLICIES {
        let queues = Queues::new(policy, 2);
        let seat = queues.seat(1);
        queues.queue(&seat, Priority::Low, 1);
        queues.queue(&seat, Priority::Normal, 2);
        queues.queue(&seat, Priority::High, 3);
        let order: Vec<u64> = std::iter::from_fn(|| take(&queues, &seat)).collect();
        assert_eq!(order, [3, 2, 1], "{policy:?}");
        assert!(!queues.has_tasks(1), "{policy:?}");
    }
}

#[test]
fn the_last_task_can_be_taken_back_unless_it_is_gone() {
    for policy in POLICIES {
        let queues = Queues::new(policy, 4);
        let (seat, other) = (queues.seat(1), queues.seat(2));
        queues.queue(&seat, Priority::Normal, 1);
        queues.queue(&seat, Priority::Normal, 2);
        assert!(!queues.take_back(&seat, Priority::Normal, 1), "{policy:?}");
        assert!(queues.take_back(&seat, Priority::Normal, 2), "{policy:?}");
        assert_eq!(take(&queues, &other), Some(1), "{policy:?}");
        assert!(!queues.take_back(&seat, Priority::Normal, 1), "{policy:?}");
    }
}

#[test]
fn others_get_what_one_worker_started() {
    for policy in POLICIES {
        let queues = Queues::new(policy, 4);
        let seats: Vec<Seat> = (0..4).map(|worker| queues.seat(worker)).collect();
        (0..100).for_each(|task| queues.queue(&seats[1], Priority::Normal, task));
        assert!(queues.has_tasks(3), "to look for it, or to ask for it: {policy:?}");
        let mut taken: Vec<u64> = std::iter::from_fn(|| take(&queues, &seats[3])).collect();
        taken.sort_unstable();
        assert!(taken.into_iter().eq(0..100), "{policy:?}");
        assert!(seats[3].stolen.get() > 0, "{policy:?}");
    }
}

#[test]
fn each_task_is_given_out_once() {
    const EACH: u64 = 20_000;
    for policy in POLICIES {
        let queues = Queues::new(policy, 4);
        let taken = Mutex::new(Vec::new());
        let left = AtomicUsize::new(3 * EACH as usize);
        std::thread::scope(|scope| {
            if let Queues::Dispatching(dispatcher) = &queues {
                let left = &left;
                scope.spawn(move || {
                    while left.load(Ordering::Relaxed) > 0 {
                        dispatcher.dispatch(|_| {});
                        std::thread::yield_now();
                    }
                });
            }
            for worker in 1..4u64 {
                let (queues, taken, left) = (&queues, &taken, &left);
                scope.spawn(move || {
                    let seat = queues.seat(worker as usize);
                    let mut mine = Vec::new();
                    let mut queued = 0;
                    let mut looks = [Look::Own, Look::Others, Look::Hard].into_iter().cycle();
                    while left.load(Ordering::Relaxed) > 0 {
                        if queued < EACH {
                            queues.queue(&seat, Priority::Normal, worker * EACH + queued);
                            queued += 1;
                        }
                        let look = looks.next().expect("the looks have no end");
                        match queues.take(&seat, look) {
                            Some(task) => {
                                mine.push(task);
                                left.fetch_sub(1, Ordering::Relaxed);
                            }
                            None if queued == EACH => std::thread::yield_now(),
                            None => {}
                        }
                    }
                    taken.lock().unwrap().extend(mine);
                });
            }
        });
        let mut taken = taken.into_inner().unwrap();
        taken.sort_unstable();
        assert!(taken.into_iter().eq(EACH..4 * EACH), "{policy:?}");
    }
}
