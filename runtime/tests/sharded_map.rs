//! The sharded map does what a plain one does, from many threads, and spreads its keys well.

use std::cell::Cell;
use std::collections::HashMap;
use std::fmt::Debug;
use std::hash::{BuildHasher, BuildHasherDefault, Hash, Hasher};
use std::thread;

use foldhash::fast::FixedState;
use raddle::sync::{HashFlaw, ShardedMap};

/// Returns numbers that look random.
fn numbers(seed: u64) -> impl Iterator<Item = u64> {
    let mut state = seed;
    std::iter::repeat_with(move || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 33
    })
}

#[test]
fn does_what_a_plain_map_does() {
    for shards in [0, 1, 3, 64, 1 << 20] {
        let map = ShardedMap::with_shards(shards, FixedState::default());
        let mut plain = HashMap::new();
        let mut random = numbers(shards as u64);
        let mut next = || random.next().unwrap();
        for _ in 0..20_000 {
            let (key, value) = (next() % 500, next());
            match next() % 8 {
                0 | 1 => assert_eq!(map.insert(key, value), plain.insert(key, value)),
                2 | 3 => assert_eq!(map.remove(&key), plain.remove(&key)),
                4 => assert_eq!(
                    map.get_or_insert_with(key, || value),
                    *plain.entry(key).or_insert(value)
                ),
                5 => assert_eq!(
                    map.update(&key, |old| std::mem::replace(old, value)),
                    plain.get_mut(&key).map(|old| std::mem::replace(old, value))
                ),
                6 => assert_eq!(map.read(&key, |value| value + 1), plain.get(&key).map(|v| v + 1)),
                _ => {
                    assert_eq!(map.get(&key), plain.get(&key).copied());
                    assert_eq!(map.contains_key(&key), plain.contains_key(&key));
                }
            }
        }
        assert_eq!(map.len(), plain.len());
        map.retain(|key, value| {
            *value += 1;
            key % 3 != 0
        });
        plain.retain(|key, value| {
            *value += 1;
            key % 3 != 0
        });
        let mut visited = HashMap::new();
        map.for_each(|&key, &value| assert_eq!(visited.insert(key, value), None));
        assert_eq!(visited, plain);
        assert_eq!(map.into_iter().collect::<HashMap<_, _>>(), plain);
    }
}

#[test]
fn a_cleared_map_is_empty() {
    let map = ShardedMap::<String, ()>::default();
    assert!(map.is_empty());
    map.insert(String::from("a"), ());
    assert!(!map.is_empty());
    map.clear();
    assert!(map.is_empty() && !map.contains_key("a"));
    assert_eq!(map.into_iter().next(), None);
}

#[test]
fn no_change_is_lost_among_threads() {
    const THREADS: u64 = 4;
    const KEYS: u64 = 100;
    const ROUNDS: u64 = 500;
    let map = ShardedMap::<u64, u64>::new();
    let made = ShardedMap::<u64, u64>::new();
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let (map, made) = (&map, &made);
            scope.spawn(move || {
                for step in 0..KEYS * ROUNDS {
                    let key = (step * 7 + thread * 31) % KEYS;
                    // Whoever comes first makes the value, once.
                    map.get_or_insert_with(key, || {
                        assert_eq!(made.insert(key, thread), None);
                        0
                    });
                    map.update(&key, |count| *count += 1).expect("the key is there");
                }
            });
        }
    });
    assert_eq!((map.len(), made.len()), (KEYS as usize, KEYS as usize));
    map.for_each(|_, &count| assert_eq!(count, THREADS * ROUNDS));
}

#[test]
fn a_panic_in_a_closure_leaves_the_map_usable() {
    let map = ShardedMap::<u32, u32>::new();
    let fail = || map.get_or_insert_with(1, || panic!("no value"));
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(fail)).is_err());
    assert_eq!(map.get(&1), None);
    assert_eq!(map.get_or_insert_with(1, || 2), 2);
}

/// A hasher that returns the number it was given, like those of some integer maps.
#[derive(Default)]
struct Identity(u64);

impl Hasher for Identity {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = self.0.wrapping_mul(31).wrapping_add(u64::from(byte));
        }
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = number;
    }
}

type IdentityState = BuildHasherDefault<Identity>;

/// A hasher of which nothing can be made: it knows sixteen hashes.
#[derive(Default)]
struct Blind(Identity);

impl Hasher for Blind {
    fn finish(&self) -> u64 {
        self.0.finish() % 16
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0.write(bytes);
    }
}

thread_local! {
    static COMPARES: Cell<u64> = const { Cell::new(0) };
}

/// A key that counts how often keys are compared.
#[derive(Debug, Eq)]
struct Counted<K>(K);

impl<K: Hash> Hash for Counted<K> {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.0.hash(hasher);
    }
}

impl<K: PartialEq> PartialEq for Counted<K> {
    fn eq(&self, other: &Self) -> bool {
        COMPARES.set(COMPARES.get() + 1);
        self.0 == other.0
    }
}

/// Checks a family of keys with a hash function; the odd ones stay outside of the map.
fn check_family<S: BuildHasher + Default, K: Hash + Eq + Debug>(
    name: &str,
    shards: usize,
    key: impl Fn(u64) -> K,
) {
    const KEYS: u64 = 100_000;
    let map = ShardedMap::with_shards(shards, S::default());
    for n in 0..KEYS {
        map.insert(Counted(key(2 * n)), n);
    }
    let compares_per_call = |odd: u64| {
        COMPARES.set(0);
        let found = (0..KEYS).filter(|n| map.contains_key(&Counted(key(2 * n + odd)))).count();
        (found as u64, COMPARES.get() as f64 / KEYS as f64)
    };
    let (found, per_hit) = compares_per_call(0);
    let (not_absent, per_miss) = compares_per_call(1);
    assert_eq!((found, not_absent), (KEYS, 0));

    let quality = map.quality();
    let about = format!("{name}, {shards} shards: {per_hit} and {per_miss} counted, {quality:?}");
    assert_eq!(quality.check(), Ok(()), "{about}");
    assert_eq!((quality.and, quality.or), (0, u64::MAX), "{about}");
    assert_eq!((quality.keys, quality.shards), (KEYS as usize, shards), "{about}");
    assert!(per_hit <= 1.05 && per_miss <= 0.2, "{about}");
    // What the map says of itself is what was counted.
    assert!((quality.compares_per_hit - per_hit).abs() < 1e-9, "{about}");
    assert!((quality.compares_per_miss - per_miss).abs() < 0.05, "{about}");
    let spread = 6.0 * quality.mean_fill.sqrt() + 1.0;
    assert!(quality.min_fill as f64 >= quality.mean_fill - spread, "{about}");
    assert!(quality.max_fill as f64 <= quality.mean_fill + spread, "{about}");
}

#[test]
fn keys_are_spread_well_whatever_they_look_like() {
    for shards in [64, 1024] {
        check_family::<FixedState, _>("numbers", shards, |n| n);
        check_family::<FixedState, _>("pointers", shards, |n| 0x7f3a_5c00_0000 + n * 64);
        check_family::<FixedState, _>("strings", shards, |n| format!("/nix/store/package-{n}"));
        check_family::<FixedState, _>("pairs", shards, |n| (n % 300, n / 300));
        check_family::<IdentityState, _>("numbers as they are", shards, |n| n);
        check_family::<IdentityState, _>("pointers as they are", shards, |n| {
            0x7f3a_5c00_0000 + n * 64
        });
        check_family::<IdentityState, _>("high bits as they are", shards, |n| n << 40);
    }
}

#[test]
fn a_blind_hash_function_is_found_out() {
    let map = ShardedMap::with_shards(4, BuildHasherDefault::<Blind>::default());
    (0..1000u32).for_each(|n| _ = map.insert(n, ()));
    assert_eq!(map.len(), 1000);
    let flaw = map.quality().check().unwrap_err();
    assert!(matches!(flaw, HashFlaw::ConstantBits(_) | HashFlaw::UnevenShards { .. }), "{flaw}");
}
