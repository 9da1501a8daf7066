//! Searching ends at the first hit, in the order of the items, whoever hits something first.
//!
//! ```text
//!   . . . . | . . x . | . p . . | x . . .     x: found, p: panics
//!             ^ the result     what comes later is left out, or forgotten if it was too late for that
//! ```
//!
//! A panic counts as a hit: one that comes first is passed on; one that a loop would not have
//! come to is not, though another worker may have come to it. So it is caught where it happens.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use super::Source;
use super::divide::{Division, Leaves};
use crate::Task;

/// What comes of a part.
enum Search<R> {
    Nothing,
    Found(R),
    Panicked(Box<dyn Any + Send>),
}

/// Returns what `function` makes of the first item, in their order, of which it makes something.
///
/// The result is the one that a loop would come to. `function` may have been called with some of
/// the items after it; a panic there is lost.
///
/// # Panics
///
/// Passes on the panic of the first item, in their order, for which `function` panics, if
/// nothing is found before it.
///
/// # Examples
///
/// ```
/// use raddle::{Runtime, parallel};
///
/// let runtime = Runtime::builder().workers(2).build()?;
/// let words = ["self", "7", "served", "8"];
/// let number = runtime.run(|task| {
///     parallel::find_map(task, &words, |_task, word| word.parse::<u32>().ok())
/// });
/// assert_eq!(number, Some(7));
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn find_map<S: Source, R: Send>(
    task: &Task<'_>,
    source: S,
    function: impl Fn(&Task<'_>, S::Item) -> Option<R> + Sync,
) -> Option<R> {
    let leaf = |task: &Task<'_>, items: S::Parts| {
        let find = || items.into_iter().find_map(|item| function(task, item));
        match catch_unwind(AssertUnwindSafe(find)) {
            Ok(None) => Search::Nothing,
            Ok(Some(result)) => Search::Found(result),
            Err(panic) => Search::Panicked(panic),
        }
    };
    let first = |front, back| if let Search::Nothing = front { back } else { front };
    let is_end = |search: &Search<R>| !matches!(search, Search::Nothing);
    let search = Division::new(Leaves::Free, leaf, first, is_end).run(task, source.into_parts());
    match search {
        Search::Nothing => None,
        Search::Found(result) => Some(result),
        Search::Panicked(panic) => resume_unwind(panic),
    }
}

/// Returns the first item, in their order, for which `predicate` holds.
///
/// The result is the one that a loop would come to. `predicate` may have been called with some of
/// the items after it; a panic there is lost.
///
/// # Panics
///
/// Passes on the panic of the first item, in their order, for which `predicate` panics, if
/// nothing is found before it.
///
/// # Examples
///
/// ```
/// use raddle::{Runtime, parallel};
///
/// let runtime = Runtime::builder().workers(2).build()?;
/// let square = runtime.run(|task| parallel::find(task, 1..u64::MAX, |_task, n| n * n > 50));
/// assert_eq!(square, Some(8));
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn find<S: Source<Item: Send>>(
    task: &Task<'_>,
    source: S,
    predicate: impl Fn(&Task<'_>, &S::Item) -> bool + Sync,
) -> Option<S::Item> {
    find_map(task, source, |task, item| predicate(task, &item).then_some(item))
}

/// Returns whether `predicate` holds for one of the items.
///
/// # Panics
///
/// As [`find`] does.
///
/// # Examples
///
/// ```
/// use raddle::{Runtime, parallel};
///
/// let runtime = Runtime::builder().workers(2).build()?;
/// assert!(runtime.run(|task| parallel::any(task, &[1, 2, 3], |_task, &n| n > 2)));
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn any<S: Source>(
    task: &Task<'_>,
    source: S,
    predicate: impl Fn(&Task<'_>, S::Item) -> bool + Sync,
) -> bool {
    find_map(task, source, |task, item| predicate(task, item).then_some(())).is_some()
}
