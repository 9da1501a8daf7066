//! Parallel iteration comes to what a loop comes to, whoever runs which part of it.

mod channel;

use std::any::Any;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, AtomicU64, AtomicUsize, Ordering};

use channel::{Channel, each_runtime};
use raddle::{Runtime, Task, parallel};

/// Around every number at which something is cut otherwise.
const LENGTHS: [usize; 12] = [0, 1, 2, 3, 7, 8, 9, 1000, 1023, 2048, 65_537, 200_001];

fn runtime(workers: usize) -> Runtime {
    Runtime::builder().workers(workers).stack_size(1 << 20).build().unwrap()
}

/// Returns what a panic of `work` said; a message that is no number is a failure.
fn panic_of<R>(work: impl FnOnce() -> R) -> Option<usize> {
    let panic = catch_unwind(AssertUnwindSafe(work)).err()?;
    let text = |panic: &Box<dyn Any + Send>| {
        panic.downcast_ref::<String>().cloned().unwrap_or_else(|| "no text".to_owned())
    };
    let number = panic.downcast_ref::<usize>().copied();
    Some(number.unwrap_or_else(|| panic!("another panic: {}", text(&panic))))
}

#[test]
fn every_item_is_served_once_and_results_are_in_order() {
    each_runtime(|runtime| {
        for length in LENGTHS {
            let mut numbers: Vec<usize> = (0..length).collect();
            let (shared, changed, counted, chunked) = runtime.run(|task| {
                let visits: Vec<AtomicUsize> = (0..length).map(|_| AtomicUsize::new(0)).collect();
                parallel::for_each(task, &visits, |_, visit| {
                    visit.fetch_add(1, Ordering::Relaxed);
                });
                assert!(visits.iter().all(|visit| visit.load(Ordering::Relaxed) == 1));

                let shared = parallel::map(task, &numbers, |_, &number| number * 3);
                parallel::for_each(task, &mut numbers, |_, number| *number += 1);
                let changed = parallel::map(task, &mut numbers, |_, number| *number);
                let counted = parallel::map(task, 0..length, |_, number| Box::new(number));
                parallel::for_each(task, parallel::chunks_mut(&mut numbers, 7), |_, chunk| {
                    chunk.reverse();
                });
                let chunks = parallel::chunks(&numbers, 7);
                let chunked = parallel::map(task, chunks, |_, chunk| chunk.to_vec());
                (shared, changed, counted, chunked)
            });
            assert!(shared.into_iter().eq((0..length).map(|number| number * 3)), "{length}");
            assert!(changed.into_iter().eq(1..=length), "{length}");
            assert!(counted.into_iter().map(|number| *number).eq(0..length), "{length}");
            let mut expected: Vec<usize> = (1..=length).collect();
            let expected = expected.chunks_mut(7).map(|chunk| {
                chunk.reverse();
                chunk.to_vec()
            });
            assert!(chunked.into_iter().eq(expected), "{length}");
        }
    });
}

#[test]
fn arrays_ranges_and_huge_chunks() {
    let runtime = runtime(2);
    runtime.run(|task| {
        let mut array = [1, 2, 3];
        parallel::for_each(task, &mut array, |_, item| *item += 1);
        assert_eq!(parallel::map(task, &array, |_, &item| item), [2, 3, 4]);
        parallel::for_each(task, &mut array[1..], |_, item| *item = 0);
        assert_eq!(array, [2, 0, 0]);

        let all = parallel::map(task, i8::MIN..i8::MAX, |_, n| n);
        assert!(all.into_iter().eq(i8::MIN..i8::MAX));
        let few = parallel::map(task, i64::MAX - 5..i64::MAX, |_, n| n);
        assert!(few.into_iter().eq(i64::MAX - 5..i64::MAX));
        let backwards = Range { start: 5u8, end: 3 };
        assert_eq!(parallel::map(task, backwards, |_, n| n), []);

        let chunks = parallel::chunks(&array, usize::MAX);
        assert_eq!(parallel::map(task, chunks, |_, chunk| chunk.len()), [3]);
        assert_eq!(parallel::map(task, 0..100_000, |_, _| ()).len(), 100_000);
        let nothing = [(); 100_000];
        assert_eq!(parallel::reduce(task, &nothing, || 0, |_, ()| 1, |a, b| a + b), 100_000);
    });
}

/// Adding floating-point numbers in another order gives another sum, and joining texts the other
/// way round another text.
#[test]
fn reductions_do_not_depend_on_who_runs_what() {
    for length in LENGTHS {
        let number = |n: usize| 1.0 / (n as f64 + 0.1);
        let sums = Mutex::new(Vec::new());
        each_runtime(|runtime| {
            let sum = runtime.run(|task| {
                parallel::reduce(task, 0..length, || 0.0, |_, n| number(n), |a, b| a + b)
            });
            sums.lock().unwrap().push(sum.to_bits());
            let texts = runtime.run(|task| {
                let join = |a: String, b: String| a + &b;
                parallel::reduce(task, 0..length, String::new, |_, n| n.to_string(), join)
            });
            assert_eq!(texts, (0..length).map(|n| n.to_string()).collect::<String>());
        });
        let mut sums = sums.into_inner().unwrap();
        sums.dedup();
        assert_eq!(sums.len(), 1, "{length}");
    }
}

#[test]
fn the_first_panic_in_the_order_of_items_is_passed_on() {
    each_runtime(|runtime| {
        for length in LENGTHS.into_iter().filter(|&length| length > 0) {
            for first in [0, length / 3, length - 1] {
                let served = AtomicUsize::new(0);
                let serve = |n: usize| {
                    if n < first {
                        served.fetch_add(1, Ordering::Relaxed);
                    }
                    if n == first || (n > first && n.is_multiple_of(5)) {
                        panic_any(n);
                    }
                    n
                };
                let of_each = panic_of(|| {
                    runtime.run(|task| parallel::for_each(task, 0..length, |_, n| _ = serve(n)));
                });
                assert_eq!(of_each, Some(first), "{length}");
                assert_eq!(served.swap(0, Ordering::Relaxed), first, "those before are served");
                let of_map = panic_of(|| {
                    runtime.run(|task| parallel::map(task, 0..length, |_, n| serve(n)))
                });
                assert_eq!(of_map, Some(first), "{length}");
                let of_reduce = panic_of(|| {
                    let reduce = |task: &Task<'_>| {
                        parallel::reduce(task, 0..length, || 0, |_, n| serve(n), |a, b| a ^ b)
                    };
                    runtime.run(reduce)
                });
                assert_eq!(of_reduce, Some(first), "{length}");
            }
        }
    });
}

/// What comes after a panic is left out, however much it is.
#[test]
fn huge_ranges_end_at_a_panic() {
    each_runtime(|runtime| {
        for first in [0, 5000] {
            let stop = |n: u64| {
                if n == first {
                    panic_any(n as usize)
                }
            };
            let of_each = panic_of(|| {
                runtime.run(|task| parallel::for_each(task, 0..u64::MAX, |_, n| stop(n)));
            });
            assert_eq!(of_each, Some(first as usize));
            let of_map = panic_of(|| {
                runtime.run(|task| parallel::map(task, 0..u64::MAX >> 1, |_, n| stop(n)))
            });
            assert_eq!(of_map, Some(first as usize));
            let of_reduce = panic_of(|| {
                let reduce = |task: &Task<'_>| {
                    parallel::reduce(task, 0..u64::MAX, || (), |_, n| stop(n), |(), ()| ());
                };
                runtime.run(reduce);
            });
            assert_eq!(of_reduce, Some(first as usize));
        }
    });
}

/// Counts how many of it there are.
struct Counted<'a>(&'a AtomicI64);

impl<'a> Counted<'a> {
    fn new(alive: &'a AtomicI64) -> Self {
        alive.fetch_add(1, Ordering::Relaxed);
        Self(alive)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[test]
fn results_are_dropped_once() {
    each_runtime(|runtime| {
        for length in LENGTHS {
            let alive = AtomicI64::new(0);
            let made =
                runtime.run(|task| parallel::map(task, 0..length, |_, _| Counted::new(&alive)));
            assert_eq!(alive.load(Ordering::Relaxed), length as i64);
            drop(made);
            assert_eq!(alive.load(Ordering::Relaxed), 0);
            for panics in [0, length / 2, length.saturating_sub(1)] {
                let make = |n: usize| {
                    let counted = Counted::new(&alive);
                    if n == panics {
                        panic_any(n);
                    }
                    counted
                };
                let panic = panic_of(|| {
                    runtime.run(|task| drop(parallel::map(task, 0..length, |_, n| make(n))));
                });
                assert_eq!(panic, (length > 0).then_some(panics));
                assert_eq!(alive.load(Ordering::Relaxed), 0, "{length}");
                let panic = panic_of(|| {
                    let identity = || Counted::new(&alive);
                    let last = |_, b| b;
                    runtime.run(|task| {
                        drop(parallel::reduce(task, 0..length, identity, |_, n| make(n), last));
                    });
                });
                assert_eq!(panic, (length > 0).then_some(panics));
                assert_eq!(alive.load(Ordering::Relaxed), 0, "{length}");
            }
        }
    });
}

#[test]
fn iteration_inside_iteration() {
    each_runtime(|runtime| {
        let sums = runtime.run(|task| {
            parallel::map(task, 0..50u64, |task, outer| {
                let inner = parallel::map(task, 0..outer * 10, |task, n| {
                    parallel::reduce(task, 0..n % 4, || 0, |_, n| n, |a, b| a + b)
                });
                inner.into_iter().sum::<u64>()
            })
        });
        let expected =
            (0..50).map(|outer| (0..outer * 10).map(|n| (0..n % 4).sum::<u64>()).sum::<u64>());
        assert!(sums.into_iter().eq(expected));
    });
}

/// Those who pass a lock to and fro wait inside their items, which other items must survive.
#[test]
fn items_wait() {
    each_runtime(|runtime| {
        let lock = Channel::new(1);
        let inside = AtomicU64::new(0);
        let most = runtime.run(|task| {
            let serve = |task: &Task<'_>, _| {
                task.wait(lock.send(()));
                let others = inside.fetch_add(1, Ordering::SeqCst);
                task.yield_now();
                inside.fetch_sub(1, Ordering::SeqCst);
                task.wait(lock.receive());
                others
            };
            parallel::reduce(task, 0..200, || 0, serve, u64::max)
        });
        assert_eq!(most, 0);
    });
}

/// Each item waits until all have begun; so none may be behind another on the same stack.
#[test]
fn few_items_are_parts_of_their_own() {
    each_runtime(|runtime| {
        for length in 1..=8 {
            let begun = AtomicUsize::new(0);
            runtime.run(|task| {
                parallel::for_each(task, 0..length, |task, _| {
                    begun.fetch_add(1, Ordering::SeqCst);
                    while begun.load(Ordering::SeqCst) < length {
                        task.yield_now();
                    }
                });
            });
        }
    });
}
