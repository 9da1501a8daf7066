//! Memo entries are computed once, by whichever task comes first; the others suspend.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};

use raddle::sync::OnceMap;
use raddle::{Priority, Runtime, Task, Wait};

fn runtimes() -> impl Iterator<Item = Runtime> {
    [1, 2, 3, 4, 8, 16]
        .map(|workers| Runtime::builder().workers(workers).build().unwrap())
        .into_iter()
}

#[test]
fn every_value_is_computed_once() {
    for runtime in runtimes() {
        let map = OnceMap::<u64, String>::new();
        let computed = AtomicUsize::new(0);
        runtime.run(|task| {
            task.scope(|scope| {
                for n in 0..2000u64 {
                    let (map, computed) = (&map, &computed);
                    scope.spawn(task, Priority::Normal, move |task| {
                        let key = n % 100;
                        let value = map.get_or_init(task, &key, || {
                            computed.fetch_add(1, Ordering::Relaxed);
                            task.yield_now();
                            format!("value {key}")
                        });
                        assert_eq!(*value.unwrap(), format!("value {key}"));
                    });
                }
            });
        });
        assert_eq!((computed.into_inner(), map.len()), (100, 100));
        assert_eq!(map.get(&7).map(String::as_str), Some("value 7"));
        assert_eq!(map.get(&100), None);
    }
}

#[test]
fn an_entry_that_needs_itself_is_an_error() {
    fn depth(
        task: &Task<'_>,
        map: &OnceMap<u32, Result<u32, Wait>>,
        n: u32,
        end: u32,
    ) -> Result<u32, Wait> {
        let value = map.get_or_init(task, &n, || {
            if n == end {
                depth(task, map, 0, end)
            } else {
                depth(task, map, n + 1, end).map(|d| d + 1)
            }
        })?;
        *value
    }
    for runtime in runtimes() {
        let map = OnceMap::new();
        let result = runtime.run(|task| depth(task, &map, 0, 10));
        assert_eq!(result, Err(Wait::Recursion));
    }
}

#[test]
fn errors_are_not_kept_but_values_are() {
    for runtime in runtimes() {
        let map = OnceMap::<&str, u32>::new();
        runtime.run(|task| {
            let failed = map.get_or_try_init(task, &"a", || Err::<u32, Failure>(Failure::Own));
            assert_eq!(failed, Err(Failure::Own));
            assert_eq!(map.get(&"a"), None);
            assert_eq!(map.get_or_try_init(task, &"a", || Ok::<_, Failure>(1)), Ok(&1));
            assert_eq!(map.get_or_try_init(task, &"a", || Ok::<_, Failure>(2)), Ok(&1));
        });
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Failure {
    Own,
    Wait(Wait),
}

impl From<Wait> for Failure {
    fn from(wait: Wait) -> Self {
        Self::Wait(wait)
    }
}

#[test]
fn a_panic_frees_the_entry_for_the_next() {
    for runtime in runtimes() {
        let map = OnceMap::<u8, u32>::new();
        let tries = AtomicUsize::new(0);
        runtime.run(|task| {
            task.scope(|scope| {
                for _ in 0..50 {
                    let (map, tries) = (&map, &tries);
                    scope.spawn(task, Priority::Normal, move |task| {
                        let get = || {
                            map.get_or_init(task, &0, || {
                                task.yield_now();
                                assert!(tries.fetch_add(1, Ordering::Relaxed) >= 3, "too early");
                                42
                            })
                        };
                        if let Ok(value) = catch_unwind(AssertUnwindSafe(get)) {
                            assert_eq!(value, Ok(&42));
                        }
                    });
                }
            });
        });
        assert_eq!((tries.into_inner(), map.get(&0)), (4, Some(&42)));
    }
}

#[test]
fn two_entries_that_need_each_other_end_in_an_error() {
    for runtime in runtimes() {
        for _ in 0..20 {
            let map = OnceMap::<usize, u32>::new();
            runtime.run(|task| {
                task.scope(|scope| {
                    for n in 0..2 {
                        let map = &map;
                        scope.spawn(task, Priority::Normal, move |task| {
                            loop {
                                let result = map.get_or_try_init(task, &n, || {
                                    task.yield_now();
                                    map.get_or_try_init(task, &(1 - n), || {
                                        map.get_or_init(task, &n, || unreachable!()).copied()
                                    })
                                    .copied()
                                });
                                match result {
                                    Err(Wait::Abandon) => task.yield_now(),
                                    result => break assert_eq!(result, Err(Wait::Recursion)),
                                }
                            }
                        });
                    }
                });
            });
        }
    }
}
