//! Interned strings keep their numbers, whichever thread comes first.

use std::thread;

use raddle::sync::Interner;

#[test]
fn numbers_are_dense_and_bytes_come_back() {
    let interner = Interner::new();
    assert!(interner.is_empty());
    for round in 0..2 {
        for n in 0..20_000u32 {
            let text = format!("name-{n}");
            assert_eq!(interner.intern(text.as_bytes()), n, "round {round}");
        }
    }
    assert_eq!(interner.len(), 20_000);
    for n in 0..20_000u32 {
        assert_eq!(interner.get(n), format!("name-{n}").as_bytes());
        assert_eq!(interner.lookup(format!("name-{n}").as_bytes()), Some(n));
        assert_eq!(interner.lookup(format!("other-{n}").as_bytes()), None);
    }
}

#[test]
fn any_bytes_will_do() {
    let interner = Interner::new();
    let long = vec![b'x'; 100_000];
    for (n, bytes) in [&b""[..], b"\0", b"\0\0", b"\xff\xfe", &long].into_iter().enumerate() {
        assert_eq!(interner.intern(bytes), n as u32);
        assert_eq!(interner.get(n as u32), bytes);
    }
}

#[test]
#[should_panic(expected = "no string has the number 3")]
fn an_unknown_number_panics() {
    let interner = Interner::new();
    interner.intern(b"a");
    interner.get(3);
}

#[test]
fn threads_agree() {
    const NAMES: u32 = 30_000;
    let interner = Interner::new();
    let ids: Vec<Vec<u32>> = thread::scope(|scope| {
        let threads: Vec<_> = (0..4u32)
            .map(|thread| {
                let interner = &interner;
                scope.spawn(move || {
                    let mut ids = vec![0; NAMES as usize];
                    for step in 0..NAMES {
                        // Threads walk the same names in different orders.
                        let n = (step * 7919 + thread * 4001) % NAMES;
                        let text = n.to_le_bytes();
                        let id = interner.intern(&text);
                        assert_eq!(interner.get(id), text);
                        ids[n as usize] = id;
                    }
                    ids
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(ids.iter().all(|others| *others == ids[0]));
    assert_eq!(interner.len(), NAMES as usize);
    let mut sorted = ids[0].clone();
    sorted.sort_unstable();
    assert!(sorted.into_iter().eq(0..NAMES));
}
