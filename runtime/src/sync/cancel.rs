//! Telling many who work on something that the result is no longer wanted.
//!
//! ```text
//!            cancel, of this token or one above it
//! LIVE ---------------------------------------------> CANCELLED, for good
//! ```
//!
//! A token knows its children, weakly, and each child keeps its parent alive: a token that is
//! cancelled cancels all below it, also through tokens that nobody has in hand any more. A child
//! that ends takes itself out of its parent's list, so a parent of many short-lived children stays
//! small.
//!
//! What always holds: the word changes under the token's lock, and so do the lists; after it has
//! changed nothing is added to them. So who gets in line is found there by the one who cancels, or
//! sees the word. Neither cancelling nor the end of a long chain of tokens recurses.
//!
//! Not here: stopping anything. Tasks look at their token now and then, or wait for it.

use std::fmt;
use std::mem;
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll};

use super::waiters::{Place, Seen, Waiters};
use crate::memory::model::Mutex as ShortLock;
use crate::memory::model::atomic::{AtomicU32, Ordering};

const LIVE: u32 = 0;
const CANCELLED: u32 = 1;

/// Says whether work is to be given up; clones are the same token.
///
/// Looking costs one load. A token is one allocation; its lists begin with the first child and the
/// first waiter.
///
/// # Examples
///
/// ```
/// use raddle::sync::CancelToken;
/// use raddle::{Priority, Runtime};
///
/// let runtime = Runtime::builder().workers(2).build()?;
/// let search = CancelToken::new();
/// let found = runtime.run(|task| {
///     let mut found = None;
///     task.scope(|scope| {
///         let (branch, found) = (search.child(), &mut found);
///         scope.spawn(task, Priority::Normal, move |task| {
///             *found = (0..).find(|&n| branch.is_cancelled() || n * n == 1764);
///         });
///         scope.spawn(task, Priority::Normal, |task| {
///             task.wait(search.cancelled()); // Suspends.
///         });
///         search.cancel();
///     });
///     found
/// });
/// assert!(found.is_some());
/// assert!(search.is_cancelled());
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone)]
pub struct CancelToken {
    node: Arc<Node>,
}

/// The future of [`CancelToken::cancelled`].
#[must_use = "futures do nothing unless they are polled"]
pub struct Cancellation<'a> {
    node: &'a Node,
    place: Option<Place>,
}

struct Node {
    state: AtomicU32,
    parent: Option<Parent>,
    lists: ShortLock<Lists>,
}

struct Parent {
    node: Arc<Node>,
    /// The child's place in its parent's list.
    place: usize,
}

/// Who is to be told.
struct Lists {
    children: Children,
    waiters: Waiters,
}

/// A list with places that are used again.
#[derive(Default)]
struct Children {
    places: Vec<Child>,
    free: Option<usize>,
    len: usize,
}

enum Child {
    Here(Weak<Node>),
    /// The place is free; the next free one.
    Gone(Option<usize>),
}

impl CancelToken {
    /// Creates a token that is not cancelled.
    pub fn new() -> Self {
        Self { node: Arc::new(Node::new(LIVE, None)) }
    }

    /// Creates a token that is cancelled with this one, or before.
    #[must_use]
    pub fn child(&self) -> Self {
        let parent = &self.node;
        let mut lists = parent.lists.lock();
        if parent.is_cancelled() {
            return Self { node: Arc::new(Node::new(CANCELLED, None)) };
        }
        let place = lists.children.next_place();
        let parent = Parent { node: Arc::clone(parent), place };
        let node = Arc::new(Node::new(LIVE, Some(parent)));
        lists.children.add(Arc::downgrade(&node));
        Self { node }
    }

    /// Cancels this token and all below it, and then wakes who waits for that.
    pub fn cancel(&self) {
        let mut nodes = vec![Arc::clone(&self.node)];
        let mut cancelled = 0;
        while let Some(node) = nodes.get(cancelled) {
            let children = node.cancel();
            nodes.extend(children.iter().filter_map(Weak::upgrade));
            cancelled += 1;
        }
        for node in nodes {
            node.wake_waiters();
        }
    }

    /// Returns whether the token is cancelled.
    ///
    /// What the one who cancelled did before is then visible.
    #[inline]
    pub fn is_cancelled(&self) -> bool {
        self.node.is_cancelled()
    }

    /// Returns a future that is ready once the token is cancelled.
    pub fn cancelled(&self) -> Cancellation<'_> {
        Cancellation { node: &self.node, place: None }
    }
}

impl Node {
    fn new(state: u32, parent: Option<Parent>) -> Self {
        let lists = Lists { children: Children::default(), waiters: Waiters::new() };
        Self { state: AtomicU32::new(state), parent, lists: ShortLock::new(lists) }
    }

    #[inline]
    fn is_cancelled(&self) -> bool {
        // Acquire: pairs with the store in `cancel`.
        self.state.load(Ordering::Acquire) == CANCELLED
    }

    /// Cancels this node alone, and returns its children.
    #[must_use = "the children are to be cancelled too"]
    fn cancel(&self) -> Vec<Weak<Node>> {
        let mut lists = self.lists.lock();
        // Release: pairs with the load in `is_cancelled`.
        self.state.store(CANCELLED, Ordering::Release);
        let children = mem::take(&mut lists.children);
        drop(lists);
        children.places.into_iter().filter_map(Child::here).collect()
    }

    /// Wakes all who wait. Nobody gets in line any more.
    fn wake_waiters(&self) {
        loop {
            let waker = self.lists.lock().waiters.notify_first();
            match waker {
                Some(waker) => waker.wake(),
                None => return,
            }
        }
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        let mut parent = self.parent.take();
        while let Some(Parent { node, place }) = parent {
            let mut lists = node.lists.lock();
            // A cancelled parent has forgotten its children.
            let left = if node.is_cancelled() { None } else { lists.children.remove(place) };
            drop(lists);
            drop(left);
            // The chain upwards ends here, node by node, rather than each within its child's end.
            parent = Arc::into_inner(node).and_then(|mut node| node.parent.take());
        }
    }
}

impl Children {
    /// Returns where the next child is added.
    fn next_place(&self) -> usize {
        self.free.unwrap_or(self.places.len())
    }

    fn add(&mut self, child: Weak<Node>) {
        let place = self.next_place();
        self.len += 1;
        match self.places.get_mut(place) {
            None => self.places.push(Child::Here(child)),
            Some(free) => {
                if let Child::Gone(next) = mem::replace(free, Child::Here(child)) {
                    self.free = next;
                }
            }
        }
    }

    /// Takes a child out, and gives the memory of the list back with the last one.
    fn remove(&mut self, place: usize) -> Option<Weak<Node>> {
        let child = mem::replace(&mut self.places[place], Child::Gone(self.free));
        self.free = Some(place);
        self.len -= 1;
        if self.len == 0 {
            *self = Self::default();
        }
        child.here()
    }
}

impl Child {
    fn here(self) -> Option<Weak<Node>> {
        match self {
            Self::Here(child) => Some(child),
            Self::Gone(_) => None,
        }
    }
}

impl Future for Cancellation<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let node = self.node;
        if self.place.is_some() {
            let seen = node.lists.lock().waiters.look(&mut self.place, context.waker());
            return match seen {
                Seen::Notified => Poll::Ready(()),
                Seen::Waiting(old) => {
                    drop(old);
                    Poll::Pending
                }
            };
        }
        if node.is_cancelled() {
            return Poll::Ready(());
        }
        let mut lists = node.lists.lock();
        if node.is_cancelled() {
            return Poll::Ready(());
        }
        self.place = Some(lists.waiters.push(context.waker()));
        Poll::Pending
    }
}

impl Drop for Cancellation<'_> {
    fn drop(&mut self) {
        if let Some(place) = self.place.take() {
            // Everybody is notified, so there is nothing to pass on.
            let _seen = self.node.lists.lock().waiters.leave(place);
        }
    }
}

impl Default for CancelToken {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for CancelToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CancelToken").field("is_cancelled", &self.is_cancelled()).finish()
    }
}

impl fmt::Debug for Cancellation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_cancelled = self.node.is_cancelled();
        f.debug_struct("Cancellation").field("is_cancelled", &is_cancelled).finish()
    }
}

#[cfg(all(test, not(raddle_loom)))]
mod tests {
    use super::*;

    fn list_size(token: &CancelToken) -> (usize, usize) {
        let lists = token.node.lists.lock();
        (lists.children.len, lists.children.places.len())
    }

    #[test]
    fn ended_children_leave_no_trace() {
        let parent = CancelToken::new();
        let kept = parent.child();
        for _ in 0..100_000 {
            let child = parent.child();
            assert!(!child.is_cancelled());
        }
        assert_eq!(list_size(&parent), (1, 2));
        let many: Vec<_> = (0..100_000).map(|_| parent.child()).collect();
        assert_eq!(list_size(&parent).0, 100_001);
        drop(many);
        assert_eq!(list_size(&parent).0, 1);
        drop(kept);
        assert_eq!(list_size(&parent), (0, 0));
        assert_eq!((Arc::strong_count(&parent.node), Arc::weak_count(&parent.node)), (1, 0));
    }

    #[test]
    fn a_long_chain_is_cancelled_and_ends_without_recursion() {
        for cancel in [false, true] {
            let root = CancelToken::new();
            let mut leaf = root.child();
            for _ in 0..200_000 {
                leaf = leaf.child();
            }
            assert_eq!(list_size(&root).0, 1);
            if cancel {
                root.cancel();
            }
            assert_eq!(leaf.is_cancelled(), cancel);
            drop(leaf);
            assert_eq!(list_size(&root).0, 0);
            assert_eq!(Arc::strong_count(&root.node), 1);
        }
    }
}

#[cfg(all(test, raddle_loom))]
mod models {
    use super::*;
    use loom::sync::atomic::AtomicBool;
    use loom::thread;
    use std::task::Waker;

    use crate::memory::model::explore;
    use crate::sync::block::block_on;

    /// A lost wake-up shows as a deadlock of the model.
    #[test]
    fn a_waiter_is_woken_and_sees_what_came_before() {
        explore(|| {
            let (token, before) = (CancelToken::new(), Arc::new(AtomicBool::new(false)));
            let waiting = thread::spawn({
                let (token, before) = (token.clone(), Arc::clone(&before));
                move || {
                    block_on(token.cancelled());
                    assert!(token.is_cancelled() && before.load(Ordering::Relaxed));
                }
            });
            before.store(true, Ordering::Relaxed);
            token.cancel();
            waiting.join().unwrap();
        });
    }

    #[test]
    fn a_child_is_born_before_or_after_its_parent_is_cancelled() {
        explore(|| {
            let token = CancelToken::new();
            let other = token.clone();
            let waiting = thread::spawn(move || block_on(other.child().cancelled()));
            token.cancel();
            waiting.join().unwrap();
        });
    }

    /// One of two children ends, and a waiter gives up, while the parent is cancelled.
    #[test]
    fn children_and_waiters_leave_meanwhile() {
        explore(|| {
            let token = CancelToken::new();
            let (leaving, staying) = (token.child(), token.child());
            let other = thread::spawn(move || {
                let mut wait = leaving.cancelled();
                let mut context = Context::from_waker(Waker::noop());
                let _ = Pin::new(&mut wait).poll(&mut context).is_ready();
                drop(wait);
                drop(leaving);
            });
            token.cancel();
            assert!(staying.is_cancelled());
            other.join().unwrap();
        });
    }
}
