//! A multicore runtime whose workers serve themselves first.
//!
//! A parallel program slows down where its workers touch something shared. So here each worker
//! owns a stock of what it needs (task records, fibers, queues), goes to a shared depot only for
//! whole batches, and to a neighbour only when it has nothing to do. Starting, running and joining
//! a task allocates nothing once the pools are warm.
//!
//! - [`Runtime`] owns the workers; [`Runtime::run`] runs a closure as a task and waits for it.
//! - [`Task`] is what running code has in hand: it opens scopes and waits for cells.
//! - [`Scope`] starts tasks that may borrow, and ends when all of them have.
//! - [`Handle`] is a future for a task that no scope waits for; a task [waits](Task::wait) for any
//!   future, makes [blocking](Task::blocking) calls, and [sleeps](Task::sleep).
//! - [`sync`] has what many tasks share: an [interner](sync::Interner), a
//!   [memo](sync::OnceMap), the places where threads and tasks wait.
//! - [`memory`] has the pools.
//!
//! Tasks run on fibers: a task that waits for another suspends, and its worker goes on with other
//! work. A wait that can never end is found when it begins, and a task of the circle is told.
//! Results never depend on the number of workers: of several panics, the one that comes first in
//! the order of spawning is passed on.
//!
//! # Examples
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
//!     let mut front_sum = 0;
//!     let back_sum = task.scope(|scope| {
//!         scope.spawn(task, Priority::Normal, |task| front_sum = sum(task, front));
//!         sum(task, back)
//!     });
//!     front_sum + back_sum
//! }
//!
//! let runtime = Runtime::builder().workers(4).build()?;
//! let numbers: Vec<u64> = (0..100_000).collect();
//! assert_eq!(runtime.run(|task| sum(task, &numbers)), 4_999_950_000);
//! # Ok::<(), std::io::Error>(())
//! ```
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
