//! What the caller decides about an evaluation. Nothing below this reads the environment.

use std::collections::HashMap;

use raddle_nix_store::path::StoreDir;
use raddle_nix_syntax::Lint;

/// An entry of the search path for `<name>`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchEntry {
    /// The first component that a looked-up name must have; empty for none.
    pub prefix: Vec<u8>,
    /// A folder or a URL.
    pub path: Vec<u8>,
}

/// The options of an [`Evaluator`](crate::Evaluator).
#[derive(Debug, Clone)]
pub struct Settings {
    /// The number of workers, at least 1.
    pub workers: usize,
    /// What `builtins.currentSystem` is.
    pub system: String,
    /// Where store paths are.
    pub store_dir: StoreDir,
    /// The search path for `<name>`.
    pub search_path: Vec<SearchEntry>,
    /// The variables that `builtins.getEnv` sees.
    pub env: HashMap<Vec<u8>, Vec<u8>>,
    /// The folder that `~/` stands for.
    pub home: Option<Vec<u8>>,
    /// Seconds since 1970 for `builtins.currentTime`.
    pub current_time: i64,
    /// Whether impure constants are hidden.
    pub pure: bool,
    /// Whether only the search path may be read.
    pub restricted: bool,
    /// The number of nested calls, within the evaluation of one value, that is too many.
    pub max_call_depth: u32,
    /// The most bytes that all values may take together, at least
    /// [`SMALLEST_HEAP_LIMIT`](Self::SMALLEST_HEAP_LIMIT); see
    /// [`Evaluator::try_run`](crate::Evaluator::try_run).
    pub heap_limit: Option<u64>,
    /// Whether errors get a frame for every function call.
    pub show_trace: bool,
    /// Whether `traceVerbose` prints.
    pub trace_verbose: bool,
    /// Whether `warn` aborts.
    pub abort_on_warn: bool,
    /// Names of experimental features that are on.
    pub experimental_features: Vec<String>,
    /// What to do about URL literals, absolute and short paths.
    pub lint_url_literals: Lint,
    /// See `lint_url_literals`.
    pub lint_absolute_path_literals: Lint,
    /// See `lint_url_literals`.
    pub lint_short_path_literals: Lint,
    /// Whether evaluation counts what it does; see [`Stats`](crate::Stats).
    pub stats: bool,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            workers: 1,
            system: format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS),
            store_dir: StoreDir::default(),
            search_path: Vec::new(),
            env: HashMap::new(),
            home: None,
            current_time: 0,
            pure: false,
            restricted: false,
            max_call_depth: 10_000,
            heap_limit: None,
            show_trace: false,
            trace_verbose: false,
            abort_on_warn: false,
            experimental_features: Vec::new(),
            lint_url_literals: Lint::Ignore,
            lint_absolute_path_literals: Lint::Ignore,
            lint_short_path_literals: Lint::Ignore,
            stats: false,
        }
    }
}

impl Settings {
    /// The smallest limit on memory in bytes: a smaller one leaves no room for anything.
    pub const SMALLEST_HEAP_LIMIT: u64 = 16 << 20;

    /// Returns whether an experimental feature is on.
    pub fn has_feature(&self, name: &str) -> bool {
        self.experimental_features.iter().any(|feature| feature == name)
    }
}
