//! The same work on many items: iteration and sorting, on nothing but [`Task::join`].
//!
//! [`for_each`], [`map`] and [`reduce`] take a [`Source`]: a slice, a mutable slice, [chunks] of
//! one, or a range of integers. Each halves it again and again, and offers the second halves to
//! other workers as long as some have nothing to do; how far is decided while the work runs, so
//! a few expensive items are shared out as well as many cheap ones, and nobody chooses a size.
//!
//! What always holds: what comes out does not depend on the number of workers, nor on which of them
//! had time. [`map`] keeps the order, [`reduce`] combines in a tree that the number of items alone
//! determines, and of several panics the first in the order of items is passed on. Iterating
//! allocates nothing but the result of [`map`].
//!
//! The closures get the task that runs them, so they may open scopes, iterate in parallel again,
//! and wait. What they must not wait for is another item: it may be next in line on the same stack.
//! As in the halves of a [join](Task::join), tasks are started only in scopes opened inside.
//!
//! Read in this order: `source` (what can be halved), `divide` (how it is shared out), `output`
//! (where the results of [`map`] arrive), `search`; `sort` and `partition` (unstable), `merge` (stable).
//!
//! Not here: how a half gets to another worker (see [`sched`](crate::sched)).

mod divide;
mod merge;
mod output;
mod partition;
mod search;
mod sort;
mod source;

pub use merge::{sort, sort_by, sort_by_key};
pub use search::{any, find, find_map};
pub use sort::{sort_unstable, sort_unstable_by, sort_unstable_by_key};
pub use source::{Chunks, ChunksMut, Source, chunks, chunks_mut};

use crate::Task;
use divide::{Division, Leaves};
use output::Filling;

/// Calls `body` with every item, on as many workers as have time.
///
/// A `&mut` slice gives its items as `&mut`.
///
/// # Panics
///
/// Passes on the panic of the first item, in their order, for which `body` panics. Items before
/// it have all been served; those after it may have been or not.
///
/// # Examples
///
/// ```
/// use raddle::{Runtime, parallel};
///
/// let runtime = Runtime::builder().workers(2).build()?;
/// let mut numbers = vec![1, 2, 3];
/// runtime.run(|task| parallel::for_each(task, &mut numbers, |_task, number| *number *= 10));
/// assert_eq!(numbers, [10, 20, 30]);
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn for_each<S: Source>(task: &Task<'_>, source: S, body: impl Fn(&Task<'_>, S::Item) + Sync) {
    let leaf =
        |task: &Task<'_>, items: S::Parts| items.into_iter().for_each(|item| body(task, item));
    Division::new(Leaves::Free, leaf, |(), ()| (), |()| false).run(task, source.into_parts());
}

/// Returns what `function` makes of every item, in the order of the items.
///
/// # Panics
///
/// Passes on the panic of the first item, in their order, for which `function` panics; results of
/// others are dropped. Panics if memory cannot hold the results.
///
/// # Examples
///
/// ```
/// use raddle::{Runtime, parallel};
///
/// let runtime = Runtime::builder().workers(2).build()?;
/// let squares = runtime.run(|task| parallel::map(task, 1..5, |_task, n: u64| n * n));
/// assert_eq!(squares, [1, 4, 9, 16]);
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn map<S: Source, R: Send>(
    task: &Task<'_>,
    source: S,
    function: impl Fn(&Task<'_>, S::Item) -> R + Sync,
) -> Vec<R> {
    output::collect(source.into_parts(), |filling| {
        let leaf = |task: &Task<'_>, part| Filling::fill(part, |item| function(task, item));
        Division::new(Leaves::Free, leaf, output::Made::append, |_| false).run(task, filling)
    })
}

/// Combines what `map` makes of every item.
///
/// The items are cut into parts; `combine` is applied from the left to `identity()` and what `map`
/// makes of the items of a part, and then to the results of neighbouring parts. How many parts there
/// are and who is combined with whom depends on the number of items alone. So the result is the
/// same in every run, also where the order of operations matters, as with sums of floating-point numbers.
///
/// # Panics
///
/// Passes on the panic that comes first in the order of items.
///
/// # Examples
///
/// ```
/// use raddle::{Runtime, parallel};
///
/// let runtime = Runtime::builder().workers(2).build()?;
/// let words = ["served", "by", "itself"];
/// let letters = runtime.run(|task| {
///     parallel::reduce(task, &words, || 0, |_task, word| word.len(), |a, b| a + b)
/// });
/// assert_eq!(letters, 14);
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn reduce<S: Source, R: Send>(
    task: &Task<'_>,
    source: S,
    identity: impl Fn() -> R + Sync,
    map: impl Fn(&Task<'_>, S::Item) -> R + Sync,
    combine: impl Fn(R, R) -> R + Sync,
) -> R {
    let leaf = |task: &Task<'_>, items: S::Parts| {
        items.into_iter().map(|item| map(task, item)).fold(identity(), &combine)
    };
    Division::new(Leaves::Fixed, leaf, &combine, |_| false).run(task, source.into_parts())
}
