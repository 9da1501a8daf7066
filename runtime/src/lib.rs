//! A multicore runtime whose workers serve themselves first.
//!
//! A parallel program slows down where its workers touch something shared. So here each worker
//! owns a stock of what it needs (task records, fibers, queues), goes to a shared depot only for
//! whole batches, and to a neighbour only when it has nothing to do. Starting, running and joining
//! a task allocates nothing once the pools are warm, and asks the kernel for nothing.
//!
//! ```text
//!  Runtime ─┬─ worker 0 ── deque of tasks ── fibers, each running or waiting ── pools' stocks
//!           ├─ worker 1 ──   ^ steals             ^ resumed by its own worker      ^ batches
//!           ├─ …                                                                   v
//!           ├─ side threads for calls that block, a timer                        depots
//! ```
//!
//! # A tour
//!
//! - [`Runtime`] owns the workers; [`Runtime::run`] runs a closure as a task and waits for it. The
//!   [`Builder`] sets the number of workers, the [`Policy`] by which tasks get to them, and whether
//!   they are [pinned](Builder::pinned).
//! - [`Task`] is what running code has in hand, and hands on to what it calls: nothing is found in
//!   thread-local variables.
//! - [`Task::join`] runs two closures, the second one elsewhere if somebody has time.
//! - [`Task::scope`] opens a [`Scope`], which starts any number of tasks that may borrow, with a
//!   [`Priority`] or more [`Options`], and ends when all of them have.
//!   [`try_scope`](Task::try_scope) returns all [`Failures`] instead of passing on the first panic.
//! - [`parallel`] iterates over slices and ranges, and sorts.
//! - [`Task::spawn`] and [`Runtime::spawn`] start tasks that no scope waits for. A [`Handle`] is a
//!   future, so other async code can wait for it; and a task [waits](Task::wait) for any future.
//! - [`Task::blocking`] makes calls that block on side threads; [`Task::sleep`] and the [`Timer`]
//!   wait for a time.
//! - [`sync`] has what tasks share: locks, conditions and [rings](sync::ring()) that suspend who waits,
//!   a [cancellation token](sync::CancelToken), an [interner](sync::Interner), a
//!   [memo](sync::OnceMap) that computes each value once, a [map](sync::ShardedMap).
//! - [`memory`] has the pools, the machine's topology, and stacks.
//! - [`observe`] tells an observer what happens, at the price of a branch when nobody listens.
//!
//! # What always holds
//!
//! - **Results do not depend on the number of workers**: of several panics, the one passed on is first
//!   in an order that the program alone determines; iteration combines in a fixed tree.
//! - **Waiting never runs a stranger on the waiter's stack.** Tasks run on fibers: one that waits
//!   suspends, and its worker goes on with others. A pool that helps while it waits can meet a lock
//!   that its own stack holds; here that cannot happen.
//! - **A wait that can never end is found when it begins**, if it is for a scope, a join, a memo entry
//!   or a [cell](Task::wait_cell), and a task of the circle is told.
//! - **No failure is lost**: a panic reaches who joins, else [`Runtime::shutdown`].
//! - **No task is lost**: a runtime that is dropped completes its tasks first.
//!
//! # Coming from elsewhere
//!
//! | there | here |
//! |---|---|
//! | `rayon::join(a, b)` | `task.join(\|task\| …, \|task\| …)` |
//! | `rayon::scope`, `s.spawn(\|s\| …)` | `task.scope(\|scope\| scope.spawn(task, Priority::Normal, \|task\| …))` |
//! | `items.par_iter().for_each(f)` | `parallel::for_each(task, &items, \|task, item\| …)` |
//! | `pool.install(f)` | `runtime.run(\|task\| …)` |
//! | `tokio::spawn(future)` | `runtime.spawn(\|task\| task.wait(future))` |
//! | `future.await` | `task.wait(future)` |
//! | `tokio::task::spawn_blocking(f)` | `task.blocking(f)`, which may borrow |
//!
//! # When to take something else
//!
//! - A fiber stays on the worker that began it. Two tasks that talk to each other all the time are not
//!   brought together.
//! - Each waiting task has a stack: address space of 256 MiB unless set otherwise, memory as it is
//!   used, a page at least. A million idle connections are cheaper as plain futures.
//! - A lock of the standard library must not be held across a wait; [`sync::Mutex`] may.
//! - Circles through futures, handles and locks are not found.
//! - It runs on Linux, and is tested on x86-64.
//!
//! # Examples
//!
//! ```
//! use raddle::{Priority, Runtime, Task, parallel};
//!
//! /// Adds numbers, in parallel while there are many.
//! fn sum(task: &Task<'_>, numbers: &[u64]) -> u64 {
//!     if numbers.len() <= 1000 {
//!         return numbers.iter().sum();
//!     }
//!     let (front, back) = numbers.split_at(numbers.len() / 2);
//!     let (front, back) = task.join(|task| sum(task, front), |task| sum(task, back));
//!     front + back
//! }
//!
//! let runtime = Runtime::builder().workers(4).build()?;
//! let numbers: Vec<u64> = (0..100_000).collect();
//! assert_eq!(runtime.run(|task| sum(task, &numbers)), 4_999_950_000);
//!
//! // The same by iteration.
//! let same = |task: &Task<'_>| {
//!     parallel::reduce(task, &numbers, || 0, |_, &number| number, |a, b| a + b)
//! };
//! assert_eq!(runtime.run(same), 4_999_950_000);
//!
//! // Tasks may borrow what outlives their scope, and start others in it.
//! let (mut evens, mut odds) = (0, 0);
//! runtime.run(|task| {
//!     let count = |rest| numbers.iter().filter(|&&number| number % 2 == rest).count();
//!     task.scope(|scope| {
//!         scope.spawn(task, Priority::Normal, |_| evens = count(0));
//!         scope.spawn(task, Priority::Normal, |_| odds = count(1));
//!     });
//! });
//! assert_eq!((evens, odds), (50_000, 50_000));
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! Five programs are in the folder `examples`: a parallel word count, a memoised recursive search, a
//! pipeline over rings, a wavefront, and the pool of an async server.
//!
//! # What does not compile
//!
//! A task's closure cannot borrow what ends before its scope:
//!
//! ```compile_fail,E0597
//! # use raddle::{Priority, Runtime};
//! # let runtime = Runtime::builder().build().unwrap();
//! runtime.run(|task| {
//!     task.scope(|scope| {
//!         let local = 1;
//!         scope.spawn(task, Priority::Normal, |_| assert_eq!(local, 1));
//!     });
//! });
//! ```
//!
//! A [`Task`] stays with its own code:
//!
//! ```compile_fail,E0277
//! # use raddle::{Priority, Runtime};
//! # let runtime = Runtime::builder().build().unwrap();
//! runtime.run(|task| {
//!     task.scope(|scope| {
//!         scope.spawn(task, Priority::Normal, |_| assert_eq!(task.worker(), 0));
//!     });
//! });
//! ```
//!
//! Two tasks cannot write the same thing:
//!
//! ```compile_fail,E0499
//! # use raddle::{Priority, Runtime};
//! # let runtime = Runtime::builder().build().unwrap();
//! let mut number = 0;
//! runtime.run(|task| {
//!     task.scope(|scope| {
//!         scope.spawn(task, Priority::Normal, |_| number += 1);
//!         scope.spawn(task, Priority::Normal, |_| number += 2);
//!     });
//! });
//! ```

pub mod memory;
pub mod parallel;
pub mod sched;
pub mod sync;

pub use sched::observe;
pub use sched::{
    Builder, Counters, Elapsed, Failures, Handle, Options, Policy, Priority, Runtime, Scope, Sleep,
    Task, TaskError, TaskId, Timer, WaitCounters,
};
pub use sync::Wait;
