//! Tests and models of the deque.

use super::*;

const LARGEST_LOOT: usize = 32;

fn steal_with(steal: impl Fn(&Deque, &mut [u64]) -> Steal, deque: &Deque) -> Vec<u64> {
    let mut loot = [0; LARGEST_LOOT];
    match steal(deque, &mut loot) {
        Steal::Taken(count) => loot[..count].to_vec(),
        Steal::Empty | Steal::Lost => Vec::new(),
    }
}

fn steal(deque: &Deque) -> Vec<u64> {
    steal_with(Deque::steal, deque)
}

fn break_in(deque: &Deque) -> Vec<u64> {
    steal_with(Deque::break_in, deque)
}

#[cfg(not(raddle_loom))]
mod plain {
    use super::*;
    use std::sync::atomic::AtomicBool;

    #[test]
    fn the_owner_shares_half_when_asked() {
        let deque = Deque::new();
        assert_eq!((deque.pop(), steal(&deque)), (None, vec![]));
        (0..1000).for_each(|item| deque.push(item));
        assert_eq!(deque.len(), 1000);
        assert!(!deque.is_wanted());
        assert_eq!(steal(&deque), []);
        assert!(deque.is_wanted());
        assert!(!deque.share(), "only some are shared");
        assert!(!deque.is_wanted());
        // 128 are public now; a thief takes 32 at most.
        assert_eq!(steal(&deque), (0..32).collect::<Vec<_>>());
        assert!((128..1000).rev().all(|item| deque.pop() == Some(item)));
        // The owner takes back what nobody took.
        assert_eq!(deque.pop(), Some(127));
        assert_eq!((steal(&deque), deque.len()), (vec![], 95));
        assert!(!deque.share());
        assert_eq!(steal(&deque), (32..56).collect::<Vec<_>>());
        assert!((56..127).rev().all(|item| deque.pop() == Some(item)));
        assert_eq!((deque.pop(), steal(&deque), deque.len()), (None, vec![], 0));
        assert!(!deque.is_wanted(), "nobody asks an empty deque");
    }

    #[test]
    fn a_thief_can_break_in() {
        let deque = Deque::new();
        assert_eq!(break_in(&deque), []);
        for count in 1..100u64 {
            (0..count).for_each(|item| deque.push(item));
            let half = count.div_ceil(2);
            let taken = half.min(LARGEST_LOOT as u64);
            assert_eq!(break_in(&deque), (0..taken).collect::<Vec<_>>());
            assert!((taken..count).rev().all(|item| deque.pop() == Some(item)), "{count}");
            assert_eq!(deque.pop(), None);
        }
    }

    #[test]
    fn positions_wrap() {
        let deque = Deque::new();
        let start = u32::MAX - 21;
        deque.owner.head.store(start, Ordering::Relaxed);
        deque.owner.floor.store(start, Ordering::Relaxed);
        let word = Word { top: Position(start), split: Position(start), unproven: false };
        deque.shared.store(word.into(), Ordering::Relaxed);
        (0..600).for_each(|item| deque.push(item));
        deque.share();
        assert_eq!(steal(&deque), (0..32).collect::<Vec<_>>());
        assert!((32..600).rev().all(|item| deque.pop() == Some(item)));
        assert_eq!(deque.pop(), None);
    }

    #[test]
    fn every_item_is_taken_once() {
        const ITEMS: u64 = 200_000;
        let deque = Deque::new();
        let done = AtomicBool::new(false);
        let mut taken: Vec<u64> = std::thread::scope(|scope| {
            let thieves: Vec<_> = (0..3)
                .map(|thief| {
                    let (deque, done) = (&deque, &done);
                    scope.spawn(move || {
                        let mut taken = Vec::new();
                        for round in 0.. {
                            let break_in = thief == 0 && round % 8 == 0;
                            let loot = if break_in { super::break_in(deque) } else { steal(deque) };
                            if loot.is_empty() {
                                if done.load(Ordering::Acquire) && deque.len() == 0 {
                                    break;
                                }
                                std::thread::yield_now();
                            }
                            taken.extend(loot);
                        }
                        taken
                    })
                })
                .collect();
            let mut taken = Vec::new();
            for item in 0..ITEMS {
                deque.push(item);
                if deque.is_wanted() {
                    deque.share();
                }
                if item % 3 == 0 {
                    taken.extend(deque.pop());
                }
            }
            taken.extend(std::iter::from_fn(|| deque.pop()));
            done.store(true, Ordering::Release);
            for thief in thieves {
                taken.extend(thief.join().unwrap());
            }
            taken
        });
        taken.sort_unstable();
        assert!(taken.into_iter().eq(0..ITEMS));
    }
}

#[cfg(raddle_loom)]
mod models {
    use super::*;
    use loom::sync::Arc;
    use loom::thread;

    use crate::memory::model::explore as model;

    fn finish(deque: &Deque, mut taken: Vec<u64>, items: std::ops::RangeInclusive<u64>) {
        taken.extend(std::iter::from_fn(|| deque.pop()));
        taken.sort_unstable();
        assert!(taken.iter().copied().eq(items), "{taken:?}");
    }

    /// The owner pops, takes items back and grows the ring while a thief steals.
    #[test]
    fn the_owner_and_a_thief_take_every_item_once() {
        model(|| {
            let deque = Arc::new(Deque::new());
            deque.push(1);
            deque.push(2);
            deque.share();
            deque.share();
            let thief = thread::spawn({
                let deque = Arc::clone(&deque);
                move || [steal(&deque), steal(&deque)].concat()
            });
            let mut taken: Vec<u64> = deque.pop().into_iter().collect();
            deque.push(3);
            deque.push(4);
            deque.share();
            taken.extend(thief.join().unwrap());
            finish(&deque, taken, 1..=4);
        });
    }

    /// A thief breaks in while the owner pops and pushes where it does.
    #[test]
    fn breaking_in_takes_every_item_once() {
        model(|| {
            let deque = Arc::new(Deque::new());
            deque.push(1);
            deque.push(2);
            let thief = thread::spawn({
                let deque = Arc::clone(&deque);
                move || break_in(&deque)
            });
            let mut taken: Vec<u64> = deque.pop().into_iter().collect();
            deque.push(3);
            taken.extend(deque.pop());
            taken.extend(deque.pop());
            taken.extend(thief.join().unwrap());
            finish(&deque, taken, 1..=3);
        });
    }

    #[test]
    fn two_thieves_and_the_owner_share_one_item() {
        model(|| {
            let deque = Arc::new(Deque::new());
            deque.push(1);
            let thieves = [steal as fn(&Deque) -> Vec<u64>, break_in].map(|steal| {
                let deque = Arc::clone(&deque);
                thread::spawn(move || steal(&deque))
            });
            deque.share();
            let mut taken: Vec<u64> = deque.pop().into_iter().collect();
            taken.extend(thieves.into_iter().flat_map(|thief| thief.join().unwrap()));
            finish(&deque, taken, 1..=1);
        });
    }
}
