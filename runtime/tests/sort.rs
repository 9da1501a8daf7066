//! Parallel sorting puts everything in order and loses nothing, whatever the elements are and
//! however they are compared.

use std::cmp::Ordering;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use raddle::{Runtime, parallel};

/// From what one worker sorts alone to what several partition together.
const LENGTHS: [usize; 8] = [0, 1, 2, 100, 16_385, 40_000, 70_001, 300_000];

/// Gives `test` runtimes of several numbers of workers.
fn each_runtime(test: impl Fn(Runtime)) {
    for workers in [1, 2, 4, 8] {
        test(Runtime::builder().workers(workers).stack_size(1 << 20).build().unwrap());
    }
}

/// Returns a number that is hard to guess from `n` (splitmix64, Vigna 2015).
fn scramble(n: usize) -> u64 {
    let z = (n as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

type Pattern = fn(usize, usize) -> u64;

/// Each gives the `n`th of `length` elements.
const PATTERNS: [(&str, Pattern); 12] = [
    ("random", |n, _| scramble(n)),
    ("sorted", |n, _| n as u64),
    ("reversed", |n, length| (length - n) as u64),
    ("equal", |_, _| 1),
    ("all but one equal", |n, length| u64::from(n == length / 3)),
    ("two values", |n, _| scramble(n) % 2),
    ("few values", |n, _| scramble(n) % 17),
    ("organ pipe", |n, length| n.min(length - n) as u64),
    ("saw teeth", |n, _| n as u64 % 1000),
    ("two sorted halves", |n, length| (n * 2 % length.max(1)) as u64),
    ("sorted but for the end", |n, length| if n + 10 < length { n as u64 } else { scramble(n) }),
    ("mostly small", |n, _| scramble(n).leading_zeros() as u64),
];

#[test]
fn every_pattern_gets_sorted() {
    each_runtime(|runtime| {
        for (name, pattern) in PATTERNS {
            for length in LENGTHS {
                let mut numbers: Vec<u64> = (0..length).map(|n| pattern(n, length)).collect();
                let mut expected = numbers.clone();
                expected.sort_unstable();
                runtime.run(|task| parallel::sort_unstable(task, &mut numbers));
                assert!(numbers == expected, "{name}, {length}");
            }
        }
    });
}

/// Texts own memory, and blocks are so large that they are moved only where they must be.
#[test]
fn elements_of_all_sizes() {
    each_runtime(|runtime| {
        for length in LENGTHS.into_iter().filter(|&length| length < 100_000) {
            runtime.run(|task| {
                let mut texts: Vec<String> = (0..length).map(|n| scramble(n).to_string()).collect();
                let mut expected = texts.clone();
                expected.sort_unstable_by(|a, b| b.cmp(a));
                parallel::sort_unstable_by(task, &mut texts, |a, b| b.cmp(a));
                assert!(texts == expected, "{length}");

                let mut blocks: Vec<[u64; 9]> = (0..length).map(|n| [scramble(n); 9]).collect();
                parallel::sort_unstable_by_key(task, &mut blocks, |block| block[8]);
                assert!(blocks.is_sorted(), "{length}");
                let mut bytes: Vec<u8> = (0..length).map(|n| scramble(n) as u8).collect();
                parallel::sort_unstable(task, &mut bytes);
                assert!(bytes.is_sorted(), "{length}");
                parallel::sort_unstable(task, &mut vec![(); length]);
            });
        }
    });
}

#[test]
fn the_order_of_equal_elements_is_the_same_in_every_run() {
    let first = Mutex::new(None);
    each_runtime(|runtime| {
        let mut pairs: Vec<(u32, usize)> =
            (0..300_000).map(|n| (scramble(n) as u32 % 1000, n)).collect();
        runtime.run(|task| parallel::sort_unstable_by_key(task, &mut pairs, |pair| pair.0));
        let mut first = first.lock().unwrap();
        assert!(&pairs == first.get_or_insert_with(|| pairs.clone()));
    });
}

/// Returns the numbers below `length` in no order.
fn mixed(length: usize) -> Vec<usize> {
    let mut numbers: Vec<usize> = (0..length).collect();
    numbers.sort_unstable_by_key(|&n| scramble(n));
    numbers
}

/// Sorts boxed numbers by `compare` and finds all of them afterwards, be there a panic or not;
/// returns whether there was.
fn panics(
    runtime: &Runtime,
    length: usize,
    compare: impl Fn(usize, usize) -> Ordering + Sync,
) -> bool {
    let mut items: Vec<Box<usize>> = mixed(length).into_iter().map(Box::new).collect();
    let sort = AssertUnwindSafe(|| {
        runtime.run(|task| {
            parallel::sort_unstable_by(task, &mut items, |a, b| compare(**a, **b));
        });
    });
    let panics = catch_unwind(sort).is_err();
    let mut numbers: Vec<usize> = items.into_iter().map(|item| *item).collect();
    numbers.sort_unstable();
    assert!(numbers.into_iter().eq(0..length), "all are there");
    panics
}

#[test]
fn a_comparison_that_panics_loses_nothing() {
    each_runtime(|runtime| {
        for length in [100, 40_000, 300_000] {
            for after in [0, length / 2, length * 2, length * 5] {
                let calls = AtomicU64::new(0);
                let is_passed_on = panics(&runtime, length, |a, b| {
                    assert!(calls.fetch_add(1, Relaxed) < after as u64);
                    a.cmp(&b)
                });
                assert!(is_passed_on);
            }
        }
    });
}

#[test]
fn a_comparison_that_contradicts_itself_loses_nothing() {
    const ANSWERS: [Ordering; 3] = [Ordering::Less, Ordering::Equal, Ordering::Greater];
    each_runtime(|runtime| {
        for length in [100, 40_000, 300_000] {
            for answer in ANSWERS {
                let _may_panic = panics(&runtime, length, |_, _| answer);
            }
            let calls = AtomicU64::new(0);
            let _may_panic = panics(&runtime, length, |_, _| {
                ANSWERS[scramble(calls.fetch_add(1, Relaxed) as usize) as usize % 3]
            });
            let _may_panic = panics(&runtime, length, |a, b| {
                if a % 3 == b % 3 { a.cmp(&b) } else { ((a + 1) % 3).cmp(&(b % 3)) }
            });
        }
    });
}

/// An adversary that decides on the order while it is asked, so that every pivot turns out to be
/// among the least (McIlroy, A Killer Adversary for Quicksort, 1999).
#[test]
fn an_adversary_gets_no_quadratic_time() {
    struct Adversary {
        values: Vec<usize>,
        solid: usize,
        candidate: usize,
        calls: u64,
    }

    const LENGTH: usize = 100_000;
    for workers in [1, 2] {
        let runtime = Runtime::builder().workers(workers).stack_size(1 << 20).build().unwrap();
        let (values, gas) = (vec![LENGTH; LENGTH], LENGTH);
        let adversary = Mutex::new(Adversary { values, solid: 0, candidate: 0, calls: 0 });
        let compare = |a: usize, b: usize| {
            let this = &mut *adversary.lock().unwrap();
            this.calls += 1;
            if this.values[a] == gas && this.values[b] == gas {
                let freezes = if a == this.candidate { a } else { b };
                this.values[freezes] = this.solid;
                this.solid += 1;
            }
            if this.values[a] == gas {
                this.candidate = a;
            } else if this.values[b] == gas {
                this.candidate = b;
            }
            this.values[a].cmp(&this.values[b])
        };
        assert!(!panics(&runtime, LENGTH, compare));
        let calls = adversary.into_inner().unwrap().calls;
        let levels = u64::from(LENGTH.ilog2());
        assert!(calls < 6 * LENGTH as u64 * levels, "{calls}");
    }
}
