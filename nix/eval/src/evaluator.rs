//! The state that all tasks of an evaluation share.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bumpalo::Bump;
use raddle::memory::Segments;
use raddle::{Runtime, Task};
use raddle_nix_syntax::Symbol;

use crate::builtins;
use crate::compile::Globals;
use crate::eval::{Cx, Effects};
use crate::files::Files;
use crate::settings::Settings;
use crate::stats::{Counters, Stats};
use crate::value::budget::Budget;
use crate::value::heap::Heap;
use crate::value::{OutOfMemory, Str, Value};

/// A Nix evaluator: settings, workers, and everything evaluated so far.
///
/// ```
/// use raddle_nix::{Evaluator, Settings};
///
/// let evaluator = Evaluator::new(Settings::default(), |message| eprintln!("{message}"))?;
/// let sum = evaluator.run(|cx| {
///     let value = cx.eval_string(b"1 + 2", b"/")?;
///     cx.print(value)
/// });
/// assert_eq!(sum.unwrap(), "3");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Evaluator {
    pub(crate) settings: Settings,
    pub(crate) runtime: Runtime,
    pub(crate) effects: Effects,
    pub(crate) files: Files,
    pub(crate) store: builtins::StoreState,
    pub(crate) globals: Globals,
    /// The value of `builtins`.
    pub(crate) builtins: Value,
    budget: Arc<Budget>,
    workers: PerWorker,
    symbols: SymbolStrings,
}

/// What one worker owns. Aligned so that no two workers write to the same cache line.
#[derive(Debug)]
#[repr(align(128))]
pub(crate) struct Worker {
    pub(crate) heap: Heap,
    /// Where the code of the files that this worker reads is kept, as long as the process lives.
    pub(crate) code: &'static Bump,
    pub(crate) stats: Counters,
    ticks: Cell<u32>,
}

impl Worker {
    fn new(budget: Arc<Budget>) -> Worker {
        Worker {
            heap: Heap::new(budget),
            code: Box::leak(Box::default()),
            stats: Counters::default(),
            ticks: Cell::default(),
        }
    }

    /// Returns true once in sixteen calls.
    pub(crate) fn one_in_sixteen(&self) -> bool {
        self.ticks.set(self.ticks.get().wrapping_add(1));
        self.ticks.get().is_multiple_of(16)
    }
}

mod per_worker {
    #![expect(unsafe_code, reason = "shares workers' own state under the runtime's promise")]

    use std::sync::Arc;

    use super::{Budget, Worker};
    use raddle::Task;

    /// The workers' own state.
    #[derive(Debug)]
    pub(super) struct PerWorker(Box<[Worker]>);

    // SAFETY: a `Worker` is only reached through `of`, which hands out the one of the thread that
    // the task runs on (a task never changes its worker), and through `all`, which is called
    // while no task runs.
    unsafe impl Sync for PerWorker {}
    // SAFETY: `Worker` holds plain cells and addresses of memory that is never freed.
    unsafe impl Send for PerWorker {}

    impl PerWorker {
        pub(super) fn new(workers: usize, budget: &Arc<Budget>) -> PerWorker {
            // The last one belongs to whoever builds the evaluator.
            PerWorker((0..=workers).map(|_| Worker::new(Arc::clone(budget))).collect())
        }

        pub(super) fn of(&self, task: &Task<'_>) -> &Worker {
            &self.0[task.worker()]
        }

        /// The state used while the evaluator is being built, by that thread only.
        pub(super) fn builder(&self) -> &Worker {
            &self.0[self.0.len() - 1]
        }

        /// All of them; called while no task runs.
        pub(super) fn all(&mut self) -> &[Worker] {
            &self.0
        }
    }
}
use per_worker::PerWorker;

/// The string value of every symbol that was asked for, or 0, so that names cost no allocation.
struct SymbolStrings(Segments<AtomicU64>);

impl std::fmt::Debug for SymbolStrings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SymbolStrings")
    }
}

impl Evaluator {
    /// Starts the workers. `print` is called with each message of `trace` and `warn`, in program
    /// order.
    ///
    /// # Errors
    ///
    /// When the threads or their stacks cannot be had.
    pub fn new(
        settings: Settings,
        print: impl Fn(&str) + Send + Sync + 'static,
    ) -> std::io::Result<Evaluator> {
        let runtime = Runtime::builder().workers(settings.workers).build()?;
        let budget = Arc::new(Budget::new(settings.heap_limit, settings.workers + 1));
        let workers = PerWorker::new(settings.workers, &budget);
        let heap = &workers.builder().heap;
        let (globals, builtins) = builtins::globals(heap, &settings);
        let mut evaluator = Evaluator {
            settings,
            runtime,
            effects: Effects::new(print),
            files: Files::default(),
            store: builtins::StoreState::default(),
            globals,
            builtins,
            budget,
            workers,
            symbols: SymbolStrings(Segments::new()),
        };
        builtins::define_in_nix(&mut evaluator);
        Ok(evaluator)
    }

    /// Runs `work` as the first task and returns what it returned.
    ///
    /// # Panics
    ///
    /// When `work` or a task that it started panics, or needs more memory than
    /// [`Settings::heap_limit`]; see [`try_run`](Self::try_run).
    pub fn run<R: Send>(&self, work: impl FnOnce(&Cx<'_>) -> R + Send) -> R {
        self.runtime.run(|task| work(&Cx::new(self, task, true)))
    }

    /// Runs `work` as the first task and returns what it returned.
    ///
    /// # Errors
    ///
    /// When evaluation needs more memory than [`Settings::heap_limit`]. Values that were under
    /// evaluation then are lost: whoever asks for one gets an error.
    ///
    /// # Panics
    ///
    /// When `work` or a task that it started panics.
    pub fn try_run<R: Send>(
        &self,
        work: impl FnOnce(&Cx<'_>) -> R + Send,
    ) -> Result<R, OutOfMemory> {
        catch_unwind(AssertUnwindSafe(|| self.run(work))).map_err(|payload| {
            match payload.downcast::<OutOfMemory>() {
                Ok(out_of_memory) => {
                    self.budget.reopen();
                    *out_of_memory
                }
                Err(payload) => resume_unwind(payload),
            }
        })
    }

    /// Returns the settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Returns the runtime, for its counters.
    pub fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    /// Returns what evaluation has done so far.
    pub fn stats(&mut self) -> Stats {
        let mut stats = Stats::default();
        for worker in self.workers.all() {
            stats.add(&worker.stats);
            stats.heap_bytes += worker.heap.allocated() as u64;
        }
        stats
    }

    pub(crate) fn worker(&self, task: &Task<'_>) -> &Worker {
        self.workers.of(task)
    }
}

impl Cx<'_> {
    /// Returns a name as a string value.
    pub(crate) fn symbol_string(&self, symbol: Symbol) -> Value {
        let word = self.evaluator.symbols.0.get_or_grow(symbol.index());
        // `Acquire` pairs with the `Release` below: the string is complete.
        match word.load(Ordering::Acquire) {
            0 => {
                let string = Value::from(Str::new(self.heap(), symbol.as_bytes()));
                // Two workers may both get here; either string will do.
                word.store(string.0, Ordering::Release);
                string
            }
            string => Value(string),
        }
    }
}
