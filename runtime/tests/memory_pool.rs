//! Pools: every object is in one place, gets home, and is found again when a worker ends.

use std::collections::HashSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use raddle::memory::{Cache, Pool, PoolCounters};

type Numbers = Pool<AtomicU32>;

/// What can be out of reach in one worker's stock and mailbox.
const PER_WORKER: u64 = 128 + 512;

fn take(pool: &Numbers, cache: &mut Cache, count: usize) -> Vec<u32> {
    (0..count).map(|_| pool.take(cache).expect("the limit is higher")).collect()
}

fn give(pool: &Numbers, cache: &mut Cache, numbers: impl IntoIterator<Item = u32>) {
    numbers.into_iter().for_each(|number| pool.give(cache, number));
}

/// Returns all that can be taken.
fn exhaust(pool: &Numbers, cache: &mut Cache) -> Vec<u32> {
    let numbers: Vec<u32> = std::iter::from_fn(|| pool.take(cache)).collect();
    let distinct: HashSet<_> = numbers.iter().collect();
    assert_eq!(distinct.len(), numbers.len(), "a number was out twice");
    numbers
}

fn counters(pool: &Numbers, caches: &mut [&mut Cache]) -> PoolCounters {
    for cache in caches {
        cache.publish();
    }
    pool.counters()
}

#[test]
fn no_number_is_out_twice() {
    let pool = Numbers::new(1 << 20);
    let mut caches = [Cache::new(), Cache::new()];
    let mut out = HashSet::new();
    for round in 0..20_000u32 {
        let number = pool.take(&mut caches[0]).unwrap();
        assert!(out.insert(number), "round {round}");
        if round % 3 != 0 {
            let number = *out.iter().next().unwrap();
            out.remove(&number);
            pool.give(&mut caches[1], number);
        }
    }
    let counters = pool.counters();
    assert!(counters.freed_away > 5_000, "{counters:?}");
    assert!(counters.objects < 7_000, "given numbers come back: {counters:?}");
}

#[test]
fn the_limit_holds() {
    for limit in [0, 1, 63, 64, 65, 100, 1000] {
        let pool = Numbers::new(limit);
        let mut cache = Cache::new();
        assert_eq!(exhaust(&pool, &mut cache).len(), limit as usize);
        assert_eq!(pool.take_shared(), None);
        if limit > 17 {
            pool.give(&mut cache, 17);
            assert_eq!(pool.take(&mut cache), Some(17));
        }
        assert_eq!(pool.counters().objects, u64::from(limit));
    }
}

#[test]
fn an_object_keeps_what_was_left_in_it() {
    let pool = Numbers::new(10);
    let mut cache = Cache::new();
    let number = pool.take(&mut cache).unwrap();
    pool.get(number).store(5, Ordering::Relaxed);
    pool.give(&mut cache, number);
    let again = pool.take(&mut cache).unwrap();
    assert_eq!(pool.get(again).load(Ordering::Relaxed), 5);
    assert_eq!(pool.iter().filter(|(_, object)| object.load(Ordering::Relaxed) == 5).count(), 1);
    assert_eq!(pool.iter().count(), 10);
}

#[test]
fn objects_freed_elsewhere_go_home_in_batches() {
    let pool = Numbers::new(1 << 20);
    let (mut maker, mut freer) = (Cache::new(), Cache::new());
    let numbers = take(&pool, &mut maker, 64 * 10);
    give(&pool, &mut freer, numbers);
    let after = counters(&pool, &mut [&mut maker, &mut freer]);
    // Two batches stay with the one who freed them, for its own use.
    assert_eq!((after.freed_away, after.freed_home), (64 * 8, 64 * 2));
    assert_eq!((after.spills, after.objects), (0, 640), "nothing passed through the depot");

    take(&pool, &mut maker, 64 * 8);
    let after = counters(&pool, &mut [&mut maker, &mut freer]);
    assert_eq!((after.collected, after.objects), (8, 640), "all eight batches are found");
    take(&pool, &mut freer, 64 * 2);
    assert_eq!(pool.counters().objects, 640);
}

#[test]
fn objects_for_a_full_mailbox_are_there_for_all() {
    let pool = Numbers::new(2048);
    let (mut maker, mut freer) = (Cache::new(), Cache::new());
    let numbers = exhaust(&pool, &mut maker);
    give(&pool, &mut freer, numbers);
    let mut third = Cache::new();
    assert_eq!(exhaust(&pool, &mut third).len() as u64, 2048 - PER_WORKER);
}

#[test]
fn a_worker_that_ends_leaves_nothing_behind() {
    const LIMIT: u32 = 1000;
    for returned in [0, 1, 64, 129, 1000] {
        let pool = Numbers::new(LIMIT);
        let (mut leaving, mut freer) = (Cache::new(), Cache::new());
        let numbers = exhaust(&pool, &mut leaving);
        let (own, others) = numbers.split_at(returned);
        give(&pool, &mut leaving, own.iter().copied());
        give(&pool, &mut freer, others.iter().copied());
        pool.drain(leaving);
        // The mailbox is closed; what is given now goes where everybody finds it.
        pool.drain(freer);
        assert_eq!(exhaust(&pool, &mut Cache::new()).len(), LIMIT as usize, "{returned}");
    }
}

#[test]
fn workers_come_and_go() {
    let pool = Numbers::new(1 << 20);
    for round in 0..10_000 {
        let mut cache = Cache::new();
        let numbers = take(&pool, &mut cache, 1 + round % 100);
        give(&pool, &mut cache, numbers);
        pool.drain(cache);
    }
    assert_eq!(pool.counters().objects, 128);
}

#[test]
fn callers_without_a_cache() {
    let pool = Numbers::new(100);
    let numbers: Vec<u32> = std::iter::from_fn(|| pool.take_shared()).collect();
    assert_eq!(numbers.len(), 100);
    for number in numbers {
        pool.give_shared(number);
    }
    let counters = pool.counters();
    assert_eq!((counters.from_system, counters.from_depot, counters.private), (2, 98, 0));
    assert_eq!(counters.freed_home, 100);
    assert_eq!(exhaust(&pool, &mut Cache::new()).len(), 100);
}

#[test]
#[should_panic(expected = "a cache serves one pool")]
fn a_cache_of_another_pool_is_refused() {
    let (pool, other) = (Numbers::new(100), Numbers::new(100));
    let mut cache = Cache::new();
    exhaust(&pool, &mut cache);
    let _found = other.take(&mut cache);
}

#[test]
fn each_node_has_its_own_objects() {
    let pool = Numbers::with_nodes(1 << 20, 3);
    for node in [2, 0, 1, 5] {
        let numbers = take(&pool, &mut Cache::on_node(node), 100);
        assert!(numbers.iter().all(|number| number % 4 == node as u32 % 3), "node {node}");
    }
    let (mut here, mut there) = (Cache::on_node(0), Cache::on_node(1));
    let numbers = take(&pool, &mut here, 2000);
    give(&pool, &mut there, numbers);
    pool.drain(there);
    let again = take(&pool, &mut Cache::on_node(1), 500);
    assert!(again.iter().all(|number| number % 4 == 1), "memory of node 0 went back there");
    assert!(pool.find(3).is_none(), "there is no fourth node");
}

#[test]
fn a_node_without_free_objects_borrows() {
    let pool = Numbers::with_nodes(2048, 2);
    assert_eq!(exhaust(&pool, &mut Cache::on_node(1)).len(), 2048);
}

/// 10,000,000 takes and as many gives; half of the objects are given back by another worker.
#[test]
fn memory_stays_bounded() {
    const WORKERS: usize = 4;
    const TAKES: usize = 10_000_000 / WORKERS;
    const LENT: usize = 1000;
    const FREE: u32 = 0;

    let pool = Numbers::new(1 << 20);
    let lent: [Mutex<Vec<u32>>; WORKERS] = [const { Mutex::new(Vec::new()) }; WORKERS];
    thread::scope(|scope| {
        for worker in 0..WORKERS {
            let (pool, lent) = (&pool, &lent);
            scope.spawn(move || {
                let mut cache = Cache::new();
                let (mut kept, mut passed) = (Vec::new(), Vec::new());
                let give = |cache: &mut Cache, number| {
                    pool.get(number).store(FREE, Ordering::Relaxed);
                    pool.give(cache, number);
                };
                for round in 0..TAKES {
                    let number = pool.take(&mut cache).expect("objects come back");
                    let before = pool.get(number).swap(worker as u32 + 1, Ordering::Relaxed);
                    assert_eq!(before, FREE, "two have {number}");
                    if round % 2 == 0 { &mut kept } else { &mut passed }.push(number);
                    if kept.len() == 50 {
                        kept.drain(..).for_each(|number| give(&mut cache, number));
                        let mut next = lent[(worker + 1) % WORKERS].lock().unwrap();
                        if next.len() < LENT {
                            next.append(&mut passed);
                        }
                        drop(next);
                        let mine = std::mem::take(&mut *lent[worker].lock().unwrap());
                        mine.into_iter().chain(passed.drain(..)).for_each(|n| give(&mut cache, n));
                    }
                }
                kept.into_iter().chain(passed).for_each(|number| give(&mut cache, number));
                pool.drain(cache);
            });
        }
    });
    let left: Vec<u32> =
        lent.iter().flat_map(|lent| std::mem::take(&mut *lent.lock().unwrap())).collect();
    for number in left {
        pool.give_shared(number);
    }

    let counters = pool.counters();
    assert_eq!(counters.taken(), 10_000_000);
    assert_eq!(counters.freed_home + counters.freed_away, 10_000_000);
    assert!(counters.objects < WORKERS as u64 * (PER_WORKER + 2 * LENT as u64), "{counters:?}");
    assert_eq!(exhaust(&pool, &mut Cache::new()).len(), 1 << 20, "none is lost");
    assert!(counters.private_share() > 0.97, "{counters:?}");
}
