//! Roots: a collector finds exactly what is held.

use std::num::NonZeroU64;

use raddle::memory::{Cache, Root, RootWord, Roots};

/// A reference into some heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Reference(NonZeroU64);

impl RootWord for Reference {
    fn to_word(self) -> NonZeroU64 {
        self.0
    }

    fn from_word(word: NonZeroU64) -> Self {
        Self(word)
    }
}

fn reference(address: u64) -> Reference {
    Reference(NonZeroU64::new(address).unwrap())
}

fn held(roots: &Roots<Reference>) -> Vec<u64> {
    let mut addresses: Vec<u64> = roots.iter().map(|reference| reference.0.get()).collect();
    addresses.sort_unstable();
    addresses
}

#[test]
fn what_is_held_is_found() {
    let roots = Roots::new(1 << 20);
    let mut cache = Cache::new();
    let mut guards: Vec<Root<'_, Reference>> =
        (1..=1000).map(|address| roots.hold(&mut cache, reference(address)).unwrap()).collect();
    assert_eq!(held(&roots), (1..=1000).collect::<Vec<_>>());

    // Some are dropped, some released, some stay.
    let mut stay = Vec::new();
    for (index, root) in guards.drain(..).enumerate() {
        match index % 3 {
            0 => drop(root),
            1 => root.release(&mut cache),
            _ => stay.push(root),
        }
    }
    let expected: Vec<u64> = (1..=1000).filter(|address| address % 3 == 0).collect();
    assert_eq!(held(&roots), expected);

    let shared = roots.hold_shared(reference(5000)).unwrap();
    assert_eq!(held(&roots).last(), Some(&5000));
    drop((stay, shared));
    assert_eq!(held(&roots), []);
}

#[test]
fn a_collector_may_move_what_is_held() {
    let roots = Roots::new(10);
    let mut cache = Cache::new();
    let guards = [1, 2, 3].map(|address| roots.hold(&mut cache, reference(address)).unwrap());
    roots.update(|Reference(address)| reference(address.get() * 10));
    assert_eq!(guards.map(|root| root.get().0.get()), [10, 20, 30]);
    assert_eq!(held(&roots), [], "the guards are gone");
}

#[test]
fn slots_come_back() {
    let roots = Roots::new(64);
    let mut cache = Cache::new();
    for round in 1..=100_000 {
        let root = roots.hold(&mut cache, reference(round)).expect("the last one was let go");
        if round % 2 == 0 { drop(root) } else { root.release(&mut cache) }
    }
    roots.drain(cache);
    let all: Vec<_> = std::iter::from_fn(|| roots.hold_shared(reference(1))).collect();
    assert_eq!(all.len(), 64);
}
