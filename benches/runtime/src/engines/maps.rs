//! Memo tables and interners; all are asked by tasks of Raddle, so that only the map differs.
//!
//! All hash alike. A map starts empty, so the first call for each key adds it. Maps whose read path
//! is cheaper are read first, and asked to add only what is not there. `papaya` may compute a value
//! twice and keep one.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use foldhash::fast::FixedState;
use raddle::sync::{Interner, OnceMap};
use raddle::{Priority, Runtime, Task};

use super::{Job, raddle as runtime};
use crate::measure::{Measured, Meter};
use crate::plan::{Engine, Row};
use crate::problems::keys::{self, Calls};

pub(super) fn run(job: Job, engine: Engine, meter: &Meter) -> Option<Measured> {
    let calls = match job.row {
        Row::MemoHot | Row::InternHot => Calls::hot(job.size),
        Row::MemoUniform | Row::InternUniform => Calls::uniform(job.size),
        _ => return None,
    };
    let runtime = runtime::start(job.workers);
    let bench = Bench { runtime, calls, meter };
    let is_memo = matches!(job.row, Row::MemoHot | Row::MemoUniform);
    Some(match (is_memo, engine) {
        (true, Engine::Raddle) => bench.memo::<OnceMap<String, u64>>(),
        (true, Engine::Dashmap) => bench.memo::<dashmap::DashMap<String, u64, FixedState>>(),
        (true, Engine::Papaya) => bench.memo::<papaya::HashMap<String, u64, FixedState>>(),
        (true, Engine::Scc) => bench.memo::<scc::HashIndex<String, u64, FixedState>>(),
        (false, Engine::Raddle) => bench.interner::<Interner>(),
        (false, Engine::Dashmap) => {
            bench.interner::<Numbered<dashmap::DashMap<String, u32, FixedState>>>()
        }
        (false, Engine::Papaya) => {
            bench.interner::<Numbered<papaya::HashMap<String, u32, FixedState>>>()
        }
        (false, Engine::Scc) => {
            bench.interner::<Numbered<scc::HashIndex<String, u32, FixedState>>>()
        }
        (false, Engine::Lasso) => bench.interner::<lasso::ThreadedRodeo<lasso::Spur, FixedState>>(),
        _ => return None,
    })
}

/// A memo table.
trait Memo: Sync {
    fn new() -> Self;

    /// Adds up the values of these keys, computing each that nobody has.
    fn sum(&self, task: &Task<'_>, keys: &[String], order: &[u32]) -> u64;
}

/// A set of strings with numbers.
trait Intern: Sync {
    fn new() -> Self;

    /// Adds up the numbers of these strings.
    fn sum(&self, keys: &[String], order: &[u32]) -> u64;

    /// Returns how many strings there are.
    fn count(&self) -> usize;
}

struct Bench<'a> {
    runtime: Runtime,
    calls: Calls,
    meter: &'a Meter,
}

impl Bench<'_> {
    fn memo<M: Memo>(&self) -> Measured {
        let expected = self.calls.sum_of_values();
        let work = |memo: &mut M| {
            let memo = &*memo;
            self.in_pieces(|task, order| memo.sum(task, &self.calls.keys, order))
        };
        self.meter.measure(self.calls.order.len() as u64, M::new, work, |_, sum| sum == expected)
    }

    fn interner<I: Intern>(&self) -> Measured {
        let expected = self.calls.distinct() as usize;
        let work = |interner: &mut I| {
            let interner = &*interner;
            self.in_pieces(|_, order| interner.sum(&self.calls.keys, order))
        };
        let is_right = |interner: &I, sum| {
            // Asking again must give the same numbers.
            interner.count() == expected && sum == interner.sum(&self.calls.keys, &self.calls.order)
        };
        self.meter.measure(self.calls.order.len() as u64, I::new, work, is_right)
    }

    fn in_pieces(&self, sum_piece: impl Fn(&Task<'_>, &[u32]) -> u64 + Sync) -> u64 {
        let sum = AtomicU64::new(0);
        let (sum_piece, total) = (&sum_piece, &sum);
        self.runtime.run(|task| {
            task.scope(|scope| {
                for piece in 0..keys::PIECES {
                    let order = self.calls.piece(piece);
                    scope.spawn(task, Priority::Normal, move |task| {
                        total.fetch_add(sum_piece(task, order), Ordering::Relaxed);
                    });
                }
            });
        });
        sum.into_inner()
    }
}

/// Returns the hash function that Raddle's maps use.
fn hasher() -> FixedState {
    FixedState::with_seed(1)
}

/// Adds up what `value` returns for the keys in order.
fn add_up<'a>(keys: &'a [String], order: &[u32], value: impl Fn(&'a String) -> u64) -> u64 {
    order.iter().map(|&key| value(&keys[key as usize])).fold(0, u64::wrapping_add)
}

impl Memo for OnceMap<String, u64> {
    fn new() -> Self {
        Self::new()
    }

    fn sum(&self, task: &Task<'_>, keys: &[String], order: &[u32]) -> u64 {
        add_up(keys, order, |key| {
            *self.get_or_init(task, key, || keys::value(key)).expect("nothing waits in a circle")
        })
    }
}

impl Intern for Interner {
    fn new() -> Self {
        Self::new()
    }

    fn sum(&self, keys: &[String], order: &[u32]) -> u64 {
        add_up(keys, order, |key| u64::from(self.intern(key.as_bytes())))
    }

    fn count(&self) -> usize {
        self.len()
    }
}

impl Intern for lasso::ThreadedRodeo<lasso::Spur, FixedState> {
    fn new() -> Self {
        Self::with_hasher(hasher())
    }

    fn sum(&self, keys: &[String], order: &[u32]) -> u64 {
        add_up(keys, order, |key| u64::from(self.get_or_intern(key).into_inner().get()))
    }

    fn count(&self) -> usize {
        self.len()
    }
}

/// What the maps have in common.
trait Map<V>: Sync {
    fn new() -> Self;

    /// Adds up what `number` says of the values of the keys, which `init` makes.
    fn sum(
        &self,
        keys: &[String],
        order: &[u32],
        init: impl Fn(&str) -> V,
        number: impl Fn(&V) -> u64,
    ) -> u64;

    fn count(&self) -> usize;
}

impl<V: Copy + Send + Sync + 'static> Map<V> for dashmap::DashMap<String, V, FixedState> {
    fn new() -> Self {
        Self::with_hasher(hasher())
    }

    fn sum(
        &self,
        keys: &[String],
        order: &[u32],
        init: impl Fn(&str) -> V,
        number: impl Fn(&V) -> u64,
    ) -> u64 {
        add_up(keys, order, |key| {
            if let Some(value) = self.get(key) {
                return number(&value);
            }
            number(&self.entry(key.clone()).or_insert_with(|| init(key)))
        })
    }

    fn count(&self) -> usize {
        self.len()
    }
}

impl<V: Copy + Send + Sync + 'static> Map<V> for papaya::HashMap<String, V, FixedState> {
    fn new() -> Self {
        // Growing bit by bit, as it does unless told otherwise, takes several times as long here.
        let growing = papaya::ResizeMode::Blocking;
        papaya::HashMap::builder().hasher(hasher()).resize_mode(growing).build()
    }

    fn sum(
        &self,
        keys: &[String],
        order: &[u32],
        init: impl Fn(&str) -> V,
        number: impl Fn(&V) -> u64,
    ) -> u64 {
        // One guard for many calls.
        let map = self.pin();
        add_up(keys, order, |key| match map.get(key) {
            Some(value) => number(value),
            None => number(map.get_or_insert_with(key.clone(), || init(key))),
        })
    }

    fn count(&self) -> usize {
        self.len()
    }
}

impl<V: Copy + Send + Sync + 'static> Map<V> for scc::HashIndex<String, V, FixedState> {
    fn new() -> Self {
        Self::with_hasher(hasher())
    }

    fn sum(
        &self,
        keys: &[String],
        order: &[u32],
        init: impl Fn(&str) -> V,
        number: impl Fn(&V) -> u64,
    ) -> u64 {
        add_up(keys, order, |key| match self.peek_with(key, |_, value| number(value)) {
            Some(number) => number,
            None => number(self.entry_sync(key.clone()).or_insert_with(|| init(key)).get()),
        })
    }

    fn count(&self) -> usize {
        self.len()
    }
}

impl<M: Map<u64>> Memo for M {
    fn new() -> Self {
        Map::new()
    }

    fn sum(&self, _task: &Task<'_>, keys: &[String], order: &[u32]) -> u64 {
        Map::sum(self, keys, order, keys::value, |&value| value)
    }
}

/// A map as an interner: the numbers come from a counter.
struct Numbered<M> {
    map: M,
    next: AtomicU32,
}

impl<M: Map<u32>> Intern for Numbered<M> {
    fn new() -> Self {
        Self { map: M::new(), next: AtomicU32::new(0) }
    }

    fn sum(&self, keys: &[String], order: &[u32]) -> u64 {
        let number = |_: &str| self.next.fetch_add(1, Ordering::Relaxed);
        self.map.sum(keys, order, number, |&number| u64::from(number))
    }

    fn count(&self) -> usize {
        self.map.count()
    }
}
