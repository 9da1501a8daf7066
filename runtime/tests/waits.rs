//! Waiting for cells: circles of all shapes, in all orders, over worker counts.

mod cells;

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use cells::{Cell, evaluate, evaluate_to_the_end};
use raddle::{Priority, Runtime, Task, Wait};

const WORKERS: [usize; 6] = [1, 2, 3, 4, 8, 16];

fn runtime(workers: usize) -> Runtime {
    Runtime::builder().workers(workers).stack_size(4 << 20).build().unwrap()
}

/// Lets other tasks run until `condition` holds, whatever the number of workers.
fn pause_until(task: &Task<'_>, condition: impl Fn() -> bool) {
    while !condition() {
        thread::yield_now();
        task.yield_now();
    }
}

fn cells(count: usize) -> Vec<Cell> {
    (0..count).map(|_| Cell::new(Vec::new())).collect()
}

/// Task `n` holds cell `n` and waits for the next one; they begin to wait in the given order.
/// Returns how each task's first wait ended.
fn circle(runtime: &Runtime, order: &[usize]) -> Vec<Wait> {
    let count = order.len();
    let cells = cells(count);
    let (taken, turn) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let endings = Mutex::new(vec![Wait::Ready; count]);
    runtime.run(|task| {
        task.scope(|scope| {
            for n in 0..count {
                let (cells, taken, turn, endings) = (&cells, &taken, &turn, &endings);
                scope.spawn(task, Priority::Normal, move |task| {
                    assert!(cells[n].claim(task));
                    taken.fetch_add(1, Ordering::SeqCst);
                    pause_until(task, || taken.load(Ordering::SeqCst) == count);
                    pause_until(task, || order[turn.load(Ordering::SeqCst)] == n);
                    let next = &cells[(n + 1) % count];
                    let ending = task.wait_cell(next.key(), next.owner().unwrap(), || {
                        // The graph is locked: the next task cannot begin before this one.
                        if turn.load(Ordering::SeqCst) + 1 < count {
                            turn.fetch_add(1, Ordering::SeqCst);
                        }
                        next.mark_waited()
                    });
                    endings.lock().unwrap()[n] = ending;
                    cells[n].leave(task, ending != Wait::Abandon);
                });
            }
        });
    });
    endings.into_inner().unwrap()
}

fn permutations(count: usize) -> Vec<Vec<usize>> {
    if count == 0 {
        return vec![Vec::new()];
    }
    let shorter = permutations(count - 1);
    (0..count)
        .flat_map(|place| {
            shorter.iter().map(move |rest| {
                let mut whole = rest.clone();
                whole.insert(place, count - 1);
                whole
            })
        })
        .collect()
}

#[test]
fn all_tasks_of_a_circle_but_the_earliest_abandon_whoever_closes_it() {
    for workers in WORKERS {
        let runtime = runtime(workers);
        for count in 2..=4 {
            for order in permutations(count) {
                let endings = circle(&runtime, &order);
                let mut expected = vec![Wait::Abandon; count];
                expected[0] = Wait::Woken;
                assert_eq!(endings, expected, "{workers} workers, order {order:?}");
            }
        }
        let waits = runtime.counters().waits;
        assert_eq!((waits.circles, waits.abandoned), (2 + 6 + 24, 2 + 2 * 6 + 3 * 24));
    }
}

#[test]
fn waiting_for_oneself_is_a_recursion() {
    let runtime = runtime(1);
    let cell = Cell::new(Vec::new());
    let ending = runtime.run(|task| {
        assert!(cell.claim(task));
        task.wait_cell(cell.key(), task.id(), || true)
    });
    assert_eq!(ending, Wait::Recursion);
}

/// ```text
/// parent: holds cell ---- scope end: joins child
///            ^-- waits -- child
/// ```
#[test]
fn a_child_that_needs_its_parent_s_cell_has_met_the_recursion() {
    for workers in WORKERS {
        let runtime = runtime(workers);
        for parent_joins_first in [true, false] {
            let cell = Cell::new(Vec::new());
            let (waiting, ending) = (AtomicBool::new(false), Mutex::new(None));
            runtime.run(|task| {
                assert!(cell.claim(task));
                task.scope(|scope| {
                    scope.spawn(task, Priority::Normal, |task| {
                        if parent_joins_first {
                            (0..100).for_each(|_| task.yield_now());
                        }
                        let got = task.wait_cell(cell.key(), cell.owner().unwrap(), || {
                            waiting.store(true, Ordering::SeqCst);
                            cell.mark_waited()
                        });
                        *ending.lock().unwrap() = Some(got);
                    });
                    if !parent_joins_first {
                        pause_until(task, || waiting.load(Ordering::SeqCst));
                    }
                });
                cell.leave(task, true);
            });
            let ending = ending.into_inner().unwrap();
            assert_eq!(ending, Some(Wait::Recursion), "{workers}, {parent_joins_first}");
        }
    }
}

#[test]
fn a_child_may_wait_for_a_cell_that_its_parent_finishes_within_the_scope() {
    for workers in WORKERS {
        let runtime = runtime(workers);
        let cell = Cell::new(Vec::new());
        let (waiting, ending) = (AtomicBool::new(false), Mutex::new(None));
        runtime.run(|task| {
            task.scope(|scope| {
                assert!(cell.claim(task));
                scope.spawn(task, Priority::Normal, |task| {
                    let got = task.wait_cell(cell.key(), cell.owner().unwrap(), || {
                        waiting.store(true, Ordering::SeqCst);
                        cell.mark_waited()
                    });
                    *ending.lock().unwrap() = Some(got);
                });
                pause_until(task, || waiting.load(Ordering::SeqCst));
                cell.leave(task, true);
            });
        });
        assert_eq!(ending.into_inner().unwrap(), Some(Wait::Woken), "{workers} workers");
    }
}

/// ```text
/// other: holds b, waits for a          owner: holds a, joins child
///            ^                                            |
///            '------------- waits ------------------------'
/// ```
/// Only `other` can give up a cell that the circle waits for, whichever comes first.
#[test]
fn a_circle_through_a_join_is_broken_where_a_cell_can_be_given_up() {
    for workers in WORKERS {
        let runtime = runtime(workers);
        for other_is_earlier in [true, false] {
            let cells = cells(2);
            let endings = Mutex::new(Vec::new());
            let note = |who, ending| endings.lock().unwrap().push((who, ending));
            let (cells, note) = (&cells, &note);
            let wait = |task: &Task<'_>, cell: &Cell| match cell.owner() {
                Some(owner) => task.wait_cell(cell.key(), owner, || cell.mark_waited()),
                None => Wait::Ready,
            };
            let both_taken = || cells.iter().all(|cell| cell.owner().is_some());
            let other = |task: &Task<'_>| {
                assert!(cells[1].claim(task));
                pause_until(task, both_taken);
                let ending = wait(task, &cells[0]);
                note("other", ending);
                cells[1].leave(task, ending != Wait::Abandon);
            };
            let owner = |task: &Task<'_>| {
                assert!(cells[0].claim(task));
                pause_until(task, both_taken);
                task.scope(|scope| {
                    scope.spawn(task, Priority::Normal, |task| {
                        let ending = wait(task, &cells[1]);
                        note("child", ending);
                        note("child", wait(task, &cells[0]));
                    });
                });
                cells[0].leave(task, true);
            };
            runtime.run(|task| {
                task.scope(|scope| {
                    if other_is_earlier {
                        scope.spawn(task, Priority::Normal, other);
                    }
                    scope.spawn(task, Priority::Normal, owner);
                    if !other_is_earlier {
                        scope.spawn(task, Priority::Normal, other);
                    }
                });
            });
            let endings = endings.into_inner().unwrap();
            let of = |who| {
                endings.iter().filter(move |(name, _)| *name == who).map(|(_, ending)| *ending)
            };
            assert!(of("other").eq([Wait::Abandon]), "{workers} workers: {endings:?}");
            assert!(of("child").eq([Wait::Woken, Wait::Recursion]), "{workers}: {endings:?}");
        }
    }
}

#[test]
fn two_owners_whose_children_need_each_other_s_cells() {
    for workers in WORKERS {
        let runtime = runtime(workers);
        let cells = cells(2);
        let endings = Mutex::new(vec![None; 2]);
        let (cells, endings) = (&cells, &endings);
        runtime.run(|task| {
            task.scope(|scope| {
                for n in 0..2 {
                    scope.spawn(task, Priority::Normal, move |task| {
                        assert!(cells[n].claim(task));
                        pause_until(task, || cells.iter().all(|cell| cell.owner().is_some()));
                        task.scope(|scope| {
                            scope.spawn(task, Priority::Normal, move |task| {
                                let cell = &cells[1 - n];
                                let ending = cell.owner().map(|owner| {
                                    task.wait_cell(cell.key(), owner, || cell.mark_waited())
                                });
                                endings.lock().unwrap()[n] = ending;
                            });
                        });
                        cells[n].leave(task, true);
                    });
                }
            });
        });
        let endings = endings.lock().unwrap();
        assert_eq!(*endings, [Some(Wait::Woken), Some(Wait::Recursion)], "{workers} workers");
    }
}

#[test]
fn waiters_outlive_an_owner_that_forgets_its_cell() {
    for workers in WORKERS {
        let runtime = runtime(workers);
        let cell = Cell::new(Vec::new());
        let endings = Mutex::new(Vec::new());
        let waits = || runtime.counters().waits.suspended > 0;
        runtime.run(|task| {
            task.scope(|scope| {
                scope.spawn(task, Priority::Normal, |task| {
                    assert!(cell.claim(task));
                    // Not before the other is entered: else it finds its owner gone at once.
                    pause_until(task, waits);
                });
                scope.spawn(task, Priority::Normal, |task| {
                    pause_until(task, || cell.owner().is_some());
                    let owner = cell.owner().unwrap();
                    for _ in 0..2 {
                        let ending = task.wait_cell(cell.key(), owner, || cell.mark_waited());
                        endings.lock().unwrap().push(ending);
                    }
                    task.step_aside(owner);
                });
            });
        });
        assert_eq!(endings.into_inner().unwrap(), [Wait::Woken, Wait::Orphaned], "{workers}");
    }
}

#[test]
fn cells_can_be_woken_from_outside() {
    let runtime = runtime(2);
    let cell = Cell::new(Vec::new());
    let waiting = AtomicBool::new(false);
    thread::scope(|threads| {
        threads.spawn(|| {
            while !waiting.load(Ordering::SeqCst) {
                thread::yield_now();
            }
            runtime.wake_cell(cell.key());
        });
        let ending = runtime.run(|task| {
            let (cell, waiting) = (&cell, &waiting);
            let ending = Mutex::new(None);
            task.scope(|scope| {
                let woken = &ending;
                scope.spawn(task, Priority::Normal, move |task| {
                    assert!(cell.claim(task));
                    pause_until(task, || woken.lock().unwrap().is_some());
                });
                scope.spawn(task, Priority::Normal, move |task| {
                    pause_until(task, || cell.owner().is_some());
                    let got = task.wait_cell(cell.key(), cell.owner().unwrap(), || {
                        waiting.store(true, Ordering::SeqCst);
                        true
                    });
                    *woken.lock().unwrap() = Some(got);
                });
            });
            ending.into_inner().unwrap()
        });
        assert_eq!(ending, Some(Wait::Woken));
    });
}

/// A small generator, so that every run checks the same graphs.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 33) as usize % end
    }
}

/// Which cells lead into a circle, found the plain way.
fn lead_into_circles(needs: &[Vec<usize>]) -> Vec<bool> {
    let mut bad = vec![true; needs.len()];
    loop {
        let before = bad.clone();
        for (cell, needs) in needs.iter().enumerate() {
            bad[cell] = needs.iter().any(|&need| bad[need]);
        }
        if bad == before {
            return bad;
        }
    }
}

#[test]
fn random_graphs_fail_exactly_where_they_have_circles() {
    let mut random = Random(0x1234_5678_9ABC_DEF1);
    for round in 0..60 {
        let count = 3 + random.below(60);
        let backward_only = round % 3 == 0;
        let needs: Vec<Vec<usize>> = (0..count)
            .map(|cell| {
                let range = if backward_only || random.below(20) > 0 { cell } else { count };
                let degree = if range == 0 { 0 } else { random.below(4) };
                (0..degree).map(|_| random.below(range)).collect()
            })
            .collect();
        let expected = lead_into_circles(&needs);
        for workers in [1, 2, 4, 8] {
            let runtime = runtime(workers);
            let cells: Vec<Cell> = needs.iter().cloned().map(Cell::new).collect();
            let parallel = round % 2 == 0;
            let failed = Mutex::new(vec![false; count]);
            runtime.run(|task| {
                task.scope(|scope| {
                    for cell in 0..count {
                        let (cells, failed) = (&cells, &failed);
                        scope.spawn(task, Priority::Normal, move |task| {
                            let result = evaluate_to_the_end(task, cells, cell, parallel);
                            failed.lock().unwrap()[cell] = result.is_err();
                        });
                    }
                });
            });
            let failed = failed.into_inner().unwrap();
            assert_eq!(failed, expected, "round {round}, {workers} workers, {needs:?}");
        }
    }
}

#[test]
fn chains_that_collide_at_every_step() {
    const CHAINS: usize = 64;
    const LENGTH: usize = 200;
    for workers in [1, 2, 4] {
        let runtime = runtime(workers);
        let needs = |cell: usize| if cell < CHAINS { vec![] } else { vec![cell - CHAINS] };
        let cells: Vec<Cell> = (0..CHAINS * LENGTH).map(|cell| Cell::new(needs(cell))).collect();
        runtime.run(|task| {
            task.scope(|scope| {
                for cell in 0..cells.len() {
                    let cells = &cells;
                    scope.spawn(task, Priority::Normal, move |task| {
                        assert_eq!(evaluate(task, cells, cell, false), Ok(()));
                    });
                }
            });
        });
        let counters = runtime.counters();
        assert_eq!(counters.waits.circles, 0, "{counters:?}");
        assert!(counters.wakes <= counters.parks, "{counters:?}");
        assert!(cells.iter().all(|cell| cell.owner().is_none()));
    }
}

/// On one worker, a task that may not wait must still not keep those from running that it gave way
/// to: they could never get on.
#[test]
fn stepping_aside_in_a_circle_lets_others_run() {
    let runtime = runtime(1);
    let (mut ran, mut tries) = (false, 0);
    runtime.run(|task| {
        let owner = task.id();
        let other = AtomicBool::new(false);
        let tries = &mut tries;
        task.scope(|scope| {
            let other = &other;
            scope.spawn(task, Priority::Normal, move |_| other.store(true, Ordering::SeqCst));
            // The youngest task runs first; `owner` waits for it at the end of the scope.
            scope.spawn(task, Priority::Normal, move |task| {
                while !other.load(Ordering::SeqCst) && *tries < 1000 {
                    *tries += 1;
                    task.step_aside(owner);
                }
            });
        });
        ran = other.load(Ordering::SeqCst);
    });
    assert!(ran);
    assert_eq!(tries, 1);
}
