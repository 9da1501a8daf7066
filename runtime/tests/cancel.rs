//! Cancellation reaches everything below a token, and leaves nothing behind.

mod runtimes;

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;

use raddle::Priority;
use raddle::sync::CancelToken;
use runtimes::each_runtime;

#[test]
fn cancelling_reaches_what_is_below_and_nothing_else() {
    // Each token's parent; the tokens that are cancelled with it.
    let parents = [None, Some(0), Some(0), Some(1), Some(1), Some(3)];
    let below = [&[0, 1, 2, 3, 4, 5][..], &[1, 3, 4, 5], &[2], &[3, 5], &[4], &[5]];
    for (cancelled, expected) in below.iter().enumerate() {
        let mut tokens: Vec<CancelToken> = Vec::new();
        for parent in parents {
            tokens
                .push(parent.map_or_else(CancelToken::new, |parent: usize| tokens[parent].child()));
        }
        // A clone is the same token.
        tokens[cancelled].clone().cancel();
        let found: Vec<_> = (0..6).filter(|&n| tokens[n].is_cancelled()).collect();
        assert_eq!(found, *expected);
        assert!(tokens[cancelled].child().is_cancelled(), "born cancelled");
    }
}

#[test]
fn a_token_that_nobody_has_still_passes_cancellation_on() {
    let root = CancelToken::new();
    let leaf = root.child().child().child();
    assert!(!leaf.is_cancelled());
    root.cancel();
    root.cancel();
    assert!(leaf.is_cancelled());
}

#[test]
fn tasks_wait_for_cancellation() {
    each_runtime(|runtime| {
        let (root, woken) = (CancelToken::new(), AtomicU64::new(0));
        runtime.run(|task| {
            task.scope(|scope| {
                for n in 0..50 {
                    let (token, woken) =
                        (if n % 2 == 0 { root.child() } else { root.clone() }, &woken);
                    scope.spawn(task, Priority::Normal, move |task| {
                        task.wait(token.cancelled());
                        assert!(token.is_cancelled());
                        woken.fetch_add(1, Ordering::Relaxed);
                        // Now it is ready at once.
                        task.wait(token.cancelled());
                    });
                }
                task.yield_now();
                assert_eq!(woken.load(Ordering::Relaxed), 0);
                root.cancel();
            });
        });
        assert_eq!(woken.into_inner(), 50);
    });
}

#[test]
fn children_come_and_go_while_their_parent_is_cancelled() {
    for _ in 0..100 {
        let root = CancelToken::new();
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    let mut kept = Vec::new();
                    while !root.is_cancelled() {
                        kept.push(root.child());
                        drop(root.child());
                    }
                    // The word was set, so the children are found by the one who cancels.
                    while kept.iter().any(|child| !child.is_cancelled()) {
                        thread::yield_now();
                    }
                });
            }
            thread::yield_now();
            root.cancel();
        });
    }
}

#[derive(Default)]
struct Wakes(AtomicU64);

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn only_those_who_still_wait_are_woken() {
    let (parent, wakes) = (CancelToken::new(), Arc::new(Wakes::default()));
    let token = parent.child();
    let waker = Waker::from(Arc::clone(&wakes));
    let mut context = Context::from_waker(&waker);
    for _ in 0..1000 {
        let mut dropped = Box::pin(token.cancelled());
        assert!(dropped.as_mut().poll(&mut context).is_pending());
    }
    let mut waits = pin!(token.cancelled());
    assert!(waits.as_mut().poll(&mut context).is_pending());
    assert!(waits.as_mut().poll(&mut context).is_pending(), "polled again");
    assert_eq!(Arc::strong_count(&wakes), 3, "one waker is kept");
    parent.cancel();
    parent.cancel();
    assert_eq!(wakes.0.load(Ordering::Relaxed), 1);
    assert_eq!(waits.as_mut().poll(&mut context), Poll::Ready(()));
    assert_eq!(Arc::strong_count(&wakes), 2);
}
