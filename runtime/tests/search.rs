//! A search in parallel comes to what a loop comes to: the first hit or panic, and nothing later.

use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};

use raddle::{Runtime, Task, parallel};

/// Around numbers at which something is cut otherwise.
const LENGTHS: [usize; 8] = [0, 1, 2, 9, 64, 1000, 2048, 65_537];

/// Gives `test` runtimes of several numbers of workers.
fn each_runtime(test: impl Fn(Runtime)) {
    for workers in [1, 2, 4, 8] {
        test(Runtime::builder().workers(workers).stack_size(1 << 20).build().unwrap());
    }
}

/// What an item does when it is asked.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Item {
    Miss,
    Hit,
    Panics,
}

/// Returns the number of the item that ends the search: as a hit, or as a panic.
fn search(runtime: &Runtime, items: &[Item]) -> Result<Option<usize>, usize> {
    let numbers = 0..items.len();
    let ask = |_: &Task<'_>, number: usize| match items[number] {
        Item::Miss => None,
        Item::Hit => Some(number),
        Item::Panics => panic_any(number),
    };
    let find = || runtime.run(|task| parallel::find_map(task, numbers, ask));
    catch_unwind(AssertUnwindSafe(find)).map_err(|panic| *panic.downcast().unwrap())
}

#[test]
fn the_first_hit_or_panic_counts() {
    use Item::{Hit, Miss, Panics};
    each_runtime(|runtime| {
        for length in LENGTHS {
            assert_eq!(search(&runtime, &vec![Miss; length]), Ok(None));
            if length == 0 {
                continue;
            }
            for (first, later) in [(Hit, Miss), (Hit, Hit), (Hit, Panics), (Panics, Hit)] {
                for place in [0, length / 3, length - 1] {
                    let mut items = vec![later; length];
                    items[..place].fill(Miss);
                    items[place] = first;
                    let expected = if first == Hit { Ok(Some(place)) } else { Err(place) };
                    assert_eq!(search(&runtime, &items), expected, "{length}, {later:?}");
                }
            }
        }
    });
}

/// Without leaving out what comes after the hit this takes centuries.
#[test]
fn huge_ranges_end_at_a_hit() {
    each_runtime(|runtime| {
        for first in [0, 1, 5000] {
            let found =
                runtime.run(|task| parallel::find(task, 0..u64::MAX, |_, &n| n % 7_001 == first));
            assert_eq!(found, Some(first));
            assert!(runtime.run(|task| parallel::any(task, 0..u64::MAX, |_, n| n == first)));
        }
    });
}

#[test]
fn items_of_slices_and_chunks_are_found() {
    each_runtime(|runtime| {
        let mut numbers: Vec<u32> = (0..10_000).collect();
        runtime.run(|task| {
            let found = parallel::find(task, &mut numbers, |_, n| **n >= 4321);
            *found.unwrap() = 0;
            let chunk =
                parallel::find(task, parallel::chunks(&numbers, 10), |_, chunk| !chunk.is_sorted());
            assert_eq!(chunk.unwrap()[0..3], [4320, 0, 4322]);
            assert!(!parallel::any(task, &numbers, |_, &n| n == 4321));
        });
    });
}

/// Hits that come too late are dropped, and so is one that is returned, once.
#[test]
fn hits_are_dropped_once() {
    struct Counted<'a>(&'a AtomicI64, usize);

    impl Drop for Counted<'_> {
        fn drop(&mut self) {
            self.0.fetch_sub(1, Ordering::Relaxed);
        }
    }

    each_runtime(|runtime| {
        let (alive, made) = (AtomicI64::new(0), AtomicUsize::new(0));
        let found = runtime.run(|task| {
            parallel::find_map(task, 0..10_000, |task, n| {
                if n == 3000 {
                    // Gives others time to find something later in order.
                    task.yield_now();
                }
                (n >= 3000).then(|| {
                    alive.fetch_add(1, Ordering::Relaxed);
                    made.fetch_add(1, Ordering::Relaxed);
                    Counted(&alive, n)
                })
            })
        });
        assert_eq!(found.as_ref().map(|found| found.1), Some(3000));
        assert_eq!(alive.load(Ordering::Relaxed), 1);
        drop(found);
        assert_eq!(alive.load(Ordering::Relaxed), 0);
        assert!(made.into_inner() >= 1);
    });
}

#[test]
fn searches_inside_searches() {
    each_runtime(|runtime| {
        let found = runtime.run(|task| {
            parallel::find(task, 0..1000_u64, |task, &outer| {
                parallel::any(task, 0..outer, |task, inner| {
                    parallel::find(task, 0..inner, |_, &n| n * outer * inner == 30 * 29 * 28)
                        .is_some()
                })
            })
        });
        let holds = |outer: &u64| {
            (0..*outer).any(|inner| (0..inner).any(|n| n * outer * inner == 30 * 29 * 28))
        };
        assert_eq!(found, (0..1000).find(holds));
    });
}
