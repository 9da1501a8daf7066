//! A multicore runtime whose workers serve themselves first.
//!
//! A parallel program slows down where its workers touch something shared. So here each worker owns
//! a stock of what it needs, goes to a shared depot only for whole batches, and to a neighbour only
//! when it has nothing to do. Tasks run on stacks of their own: one that waits is set aside, and its
//! worker goes on with others.
//!
//! ```text
//! Runtime   worker 0 ── worker 1 ── … ── worker n     a thread each, with its own
//!             queue       queue            queue        tasks that are ready
//!             fibers      fibers           fibers       stacks of tasks that run, wait or are to come
//!             stock       stock            stock        records for new tasks
//!                '── when it is empty: a depot (records), a neighbour (tasks) ──'
//!           beside them, while needed: threads for calls that block, one for timers
//! ```
//!
//! - [`Runtime`] owns the workers; [`Runtime::run`] runs a closure as a task and waits for it,
//!   [`Runtime::spawn`] returns a [`Handle`] instead: a future, for any async code.
//! - [`Task`] is what running code has in hand. It [joins](Task::join) two closures, opens a
//!   [`Scope`] of tasks that may borrow, and [waits](Task::wait) for any future.
//! - [`parallel`] iterates and sorts. [`sync`] has locks, rings, memos and tokens whose waiters
//!   suspend. [`memory`] has the pools, [`observe`] tells what happens. [`sched`] is where the rest of
//!   this page comes from.
//!
//! # A first program
//!
//! ```
//! use raddle::{Priority, Runtime, Task};
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
//! // As many tasks as one likes, each with something of its own to write to.
//! let mut squares = [0; 100];
//! runtime.run(|task| {
//!     task.scope(|scope| {
//!         for (n, square) in squares.iter_mut().enumerate() {
//!             scope.spawn(task, Priority::Normal, move |_task| *square = n * n);
//!         }
//!     });
//! });
//! assert_eq!(squares[99], 9801);
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! # What is guaranteed
//!
//! - **Results do not depend on the number of workers**, unless a program asks who runs what. What
//!   tasks return goes where the program says; of several panics the first in the order of spawning
//!   is passed on.
//! - **Waiting runs nobody else's task on the waiter's stack.** Its worker goes on with other tasks, but
//!   on other fibers. So what a task holds while it waits, such as a [`sync::Mutex`], is never wanted
//!   by something that sits on top of it.
//! - **Nothing is allocated per task** of a scope, or per join, once the pools are warm, for closures
//!   of up to 128 bytes. (`run` and `spawn` allocate a place for the result.)
//! - **A panic always surfaces**, unless one that comes before it does, or a [search](parallel::find)
//!   has ended before it. It goes to who waits for the task, else to who
//!   [shuts down](Runtime::shutdown) the runtime from outside.
//! - **No task is lost**: a runtime that is shut down, or dropped, completes its tasks first.
//! - **Tasks that wait for each other in a circle are told**, where they wait for scopes, joins and
//!   [cells](Task::wait_cell), such as those of a [`sync::OnceMap`]. Circles through futures, locks and
//!   rings are not found.
//!
//! # Failing, and giving up
//!
//! [`Task::try_scope`] returns the panics of a scope's tasks, in their order. Tasks with
//! [`Options`] may be [left out](Options::cancelled_by) once a [token](sync::CancelToken) is cancelled; one
//! that runs already looks at the token now and then, for nothing is stopped by force.
//!
//! ```
//! use raddle::sync::CancelToken;
//! use raddle::{Options, Priority, Runtime};
//!
//! let runtime = Runtime::builder().workers(1).build()?;
//! let search = CancelToken::new();
//! let options = Options::new().priority(Priority::Low).cancelled_by(&search);
//! let failures = runtime.run(|task| {
//!     task.try_scope(|scope| {
//!         scope.spawn_with(task, &options, |_task| unreachable!("nobody wants it any more"));
//!         for place in ["first", "second"] {
//!             let search = &search;
//!             scope.spawn(task, Priority::Normal, move |_task| {
//!                 search.cancel();
//!                 panic!("the {place} one");
//!             });
//!         }
//!     })
//! });
//! assert_eq!(failures.unwrap_err().to_string(), "a task panicked: the first one (and 1 more)");
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! # Waiting for the world
//!
//! A task must not keep its worker waiting. Futures, timers and calls that block suspend it instead:
//!
//! ```
//! use raddle::Runtime;
//! use std::time::Duration;
//!
//! let runtime = Runtime::builder().workers(1).build()?;
//! let handle = runtime.spawn(|task| {
//!     task.sleep(Duration::from_millis(1));
//!     let text = task.blocking(|| std::fs::read_to_string("Cargo.toml"))?;
//!     let is_there = async { text.contains("raddle") };
//!     let is_there = task.wait(task.timer().timeout(Duration::from_secs(60), is_there));
//!     Ok::<bool, std::io::Error>(is_there.expect("a minute is enough"))
//! });
//! // In async code `handle.await`, in a task `task.wait(handle)`, on a plain thread:
//! assert!(handle.join().expect("it does not panic")?);
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! # Settings
//!
//! [`Runtime::builder`] sets the number of workers, how tasks get to them ([`Policy`]), whether each is
//! bound to a processor ([`Builder::pinned`]), how far a task's stack may grow, how many blocking calls
//! are made at a time, and who is told what happens ([`observe::Observer`]). [`Runtime::counters`] counts
//! in any case:
//!
//! ```
//! use raddle::{Policy, Runtime, parallel};
//!
//! let builder = Runtime::builder().workers(2).policy(Policy::Pairs).pinned(true);
//! let runtime = builder.stack_size(1 << 20).build()?;
//! let total = |task: &raddle::Task<'_>| {
//!     parallel::reduce(task, 0..1000, || 0, |_task, n: u32| n, |a, b| a + b)
//! };
//! assert_eq!(runtime.run(total), 499_500);
//! let counters = runtime.counters();
//! assert!(counters.tasks_run >= 1 && counters.wakes <= counters.parks);
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! # Coming from rayon or tokio
//!
//! | there | here |
//! | --- | --- |
//! | `ThreadPoolBuilder`, `Builder::new_multi_thread` | [`Runtime::builder`]; there is no global runtime |
//! | `pool.install(…)`, `runtime.block_on(…)` | [`Runtime::run`], also from inside a task |
//! | `rayon::join`, `rayon::scope` | [`Task::join`], [`Task::scope`] |
//! | `par_iter().for_each`, `.map`, `.reduce`, `.find_first` | [`parallel::for_each`], [`map`](parallel::map), [`reduce`](parallel::reduce), [`find`](parallel::find) |
//! | `par_sort`, `par_sort_unstable` | [`parallel::sort`], [`sort_unstable`](parallel::sort_unstable) |
//! | `rayon::spawn`, `tokio::spawn` | [`Runtime::spawn`], of a closure; its [`Handle`] is a future |
//! | `future.await`, `sleep`, `timeout` | [`Task::wait`], [`Task::sleep`], [`Timer::timeout`] |
//! | `spawn_blocking(…).await` | [`Task::blocking`], whose closure may borrow |
//! | tokio's `Mutex`, `Notify`, `mpsc`, `CancellationToken` | [`sync::Mutex`], [`sync::Condition`], [`sync::ring()`] (one sender), [`sync::CancelToken`] |
//!
//! The running task is handed down as an argument and not found in a thread-local, so code says what it
//! may do (closures are `|task| …` and get theirs). From rayon: a task that waits for a scope does not run others meanwhile, its worker does;
//! so locks and channels may be waited for. From tokio: functions that wait need not be `async`, and
//! what they hold need not be `Send`.
//!
//! # When not to use it
//!
//! - **A task stays on the worker that starts it**; only tasks that nobody has started are taken by
//!   others. Suspended tasks of one worker that get ready together are not shared out, and a task that
//!   computes without waiting or [yielding](Task::yield_now) keeps those of its worker waiting.
//! - **What belongs to the thread is shared by its tasks.** A lock of the standard library must not be
//!   held across a wait, for another task of the worker may want it and would block the thread that has
//!   to release it; nor a borrow of a thread-local.
//! - **A task that waits keeps its stack**, a few pages of memory at least, and of address space
//!   256 MiB or what [`Builder::stack_size`] says: at 256 MiB some 500,000 stacks fit. For a million
//!   connections that mostly wait an async runtime needs less.
//! - **A task must know how deep it goes.** Who recurses without a bound dies at the end of the stack,
//!   unless it compares with [`Task::stack_limit`].
//! - **No task may wait while it unwinds**, that is, in a `drop` during a panic.
//! - **There is no reactor**: sockets are waited for by way of another runtime's futures (see
//!   `examples/server.rs`).
//! - It runs on Linux, and is tested on x86-64.
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

/// Has the example of the readme tested.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
