//! Parallel sorting that keeps the order of equal elements comes to what the standard library's
//! does, and loses nothing, however elements are compared.

use std::cell::Cell;
use std::cmp::Ordering;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use raddle::{Runtime, parallel};

/// From what one worker sorts alone to what is cut several times, and lengths that cut unevenly.
const LENGTHS: [usize; 8] = [0, 1, 100, 4096, 8193, 40_001, 70_001, 300_003];

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

/// Each gives the key of the `n`th of `length` elements.
const PATTERNS: [(&str, Pattern); 9] = [
    ("random", |n, _| scramble(n)),
    ("sorted", |n, _| n as u64),
    ("reversed", |n, length| (length - n) as u64),
    ("equal", |_, _| 1),
    ("all but one equal", |n, length| u64::from(n == length / 3)),
    ("few values", |n, _| scramble(n) % 17),
    ("organ pipe", |n, length| n.min(length - n) as u64),
    ("saw teeth", |n, _| n as u64 % 1000),
    ("halves exchanged", |n, length| ((n + length / 2) % length.max(1)) as u64),
];

#[test]
fn every_pattern_gets_sorted_and_equal_elements_keep_their_order() {
    each_runtime(|runtime| {
        for (name, pattern) in PATTERNS {
            for length in LENGTHS {
                let mut pairs: Vec<(u64, usize)> =
                    (0..length).map(|n| (pattern(n, length), n)).collect();
                let mut expected = pairs.clone();
                expected.sort_by_key(|pair| pair.0);
                runtime.run(|task| parallel::sort_by_key(task, &mut pairs, |pair| pair.0));
                assert!(pairs == expected, "{name}, {length}");
            }
        }
    });
}

/// Texts own memory; blocks are large; elements without size are only counted.
#[test]
fn elements_of_all_sizes() {
    each_runtime(|runtime| {
        for length in LENGTHS.into_iter().filter(|&length| length < 100_000) {
            runtime.run(|task| {
                let mut texts: Vec<String> = (0..length).map(|n| scramble(n).to_string()).collect();
                let mut expected = texts.clone();
                expected.sort_by(|a, b| b.cmp(a));
                parallel::sort_by(task, &mut texts, |a, b| b.cmp(a));
                assert!(texts == expected, "{length}");

                let mut blocks: Vec<[u64; 9]> = (0..length).map(|n| [scramble(n); 9]).collect();
                parallel::sort(task, &mut blocks);
                assert!(blocks.is_sorted(), "{length}");
                let mut bytes: Vec<u8> = (0..length).map(|n| scramble(n) as u8).collect();
                parallel::sort(task, &mut bytes);
                assert!(bytes.is_sorted(), "{length}");
                parallel::sort(task, &mut vec![(); length]);
            });
        }
    });
}

/// Sorts boxed numbers by `compare` and finds all of them afterwards, be there a panic or not;
/// returns whether there was.
fn panics(
    runtime: &Runtime,
    length: usize,
    compare: impl Fn(usize, usize) -> Ordering + Sync,
) -> bool {
    let mut items: Vec<Box<usize>> = (0..length).map(Box::new).collect();
    items.sort_unstable_by_key(|item| scramble(**item));
    let sort = AssertUnwindSafe(|| {
        runtime.run(|task| {
            parallel::sort_by(task, &mut items, |a, b| compare(**a, **b));
        });
    });
    let panics = catch_unwind(sort).is_err();
    let mut numbers: Vec<usize> = items.into_iter().map(|item| *item).collect();
    numbers.sort_unstable();
    assert!(numbers.into_iter().eq(0..length), "all are there");
    panics
}

/// The last comparisons are those of the last merge, which has the elements elsewhere.
#[test]
fn a_comparison_that_panics_loses_nothing() {
    each_runtime(|runtime| {
        for length in [100, 9000, 70_000] {
            let calls = AtomicU64::new(0);
            let count = |a: usize, b: usize| {
                calls.fetch_add(1, Relaxed);
                a.cmp(&b)
            };
            assert!(!panics(&runtime, length, count));
            let total = calls.into_inner();
            for after in (0..6).map(|n| total * n / 6).chain([total - 10, total - 1]) {
                let calls = AtomicU64::new(0);
                let is_passed_on = panics(&runtime, length, |a, b| {
                    assert!(calls.fetch_add(1, Relaxed) < after);
                    a.cmp(&b)
                });
                assert!(is_passed_on, "after {after} of {total}");
            }
        }
    });
}

#[test]
fn a_comparison_that_contradicts_itself_loses_nothing() {
    const ANSWERS: [Ordering; 3] = [Ordering::Less, Ordering::Equal, Ordering::Greater];
    each_runtime(|runtime| {
        for length in [100, 9000, 70_000] {
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

/// A comparison may change its elements, and no change gets lost with a copy of one.
#[test]
fn changes_made_by_comparisons_are_kept() {
    each_runtime(|runtime| {
        for panic_after in [u64::MAX, 600_000] {
            let mut items: Vec<(u64, Cell<u64>)> =
                (0..50_000).map(|n| (scramble(n), Cell::new(0))).collect();
            let calls = AtomicU64::new(0);
            let sort = AssertUnwindSafe(|| {
                runtime.run(|task| {
                    parallel::sort_by(task, &mut items, |a, b| {
                        assert!(calls.fetch_add(1, Relaxed) < panic_after);
                        a.1.set(a.1.get() + 1);
                        b.1.set(b.1.get() + 1);
                        a.0.cmp(&b.0)
                    });
                });
            });
            let panics = catch_unwind(sort).is_err();
            assert_eq!(panics, panic_after < u64::MAX);
            // Elsewhere comparisons may go on until they end or panic too; all that did not panic
            // have changed two elements.
            let counted = calls.into_inner().min(panic_after);
            let changes: u64 = items.iter().map(|item| item.1.get()).sum();
            assert_eq!(changes, 2 * counted);
        }
    });
}
