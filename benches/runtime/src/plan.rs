//! The rows of the comparison and who takes part in which.
//!
//! An engine is left out of a row whose work it has no means for: a pool that cannot suspend a task
//! would block a thread, or for ever.

use std::fmt;

macro_rules! names {
    ($(#[$doc:meta])* $kind:ident { $($(#[$variant_doc:meta])* $variant:ident = $name:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $kind { $($(#[$variant_doc])* $variant,)* }

        impl $kind {
            /// All of them, in the order of the report.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// Returns the name on the command line and in the report.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// Returns the one with this name.
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|item| item.name() == name)
            }
        }

        impl fmt::Display for $kind {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.name())
            }
        }
    };
}

names! {
    /// What takes part.
    Engine {
        /// Raddle.
        Raddle = "raddle",
        /// rayon.
        Rayon = "rayon",
        /// A small executor on `crossbeam-deque`.
        Crossbeam = "crossbeam",
        /// tokio's runtime of many threads.
        Tokio = "tokio",
        /// Taskflow (C++).
        Taskflow = "taskflow",
        /// oneTBB (C++).
        Tbb = "tbb",
        /// A thread of the system for each task, which waits by parking.
        Threads = "threads",
        /// dashmap.
        Dashmap = "dashmap",
        /// papaya.
        Papaya = "papaya",
        /// The read-mostly map of `scc`.
        Scc = "scc",
        /// lasso.
        Lasso = "lasso",
    }
}

names! {
    /// A piece of work.
    Row {
        /// Tasks that do nothing.
        Spawn = "spawn",
        /// Fork and join without a cut-off.
        Fib = "fib",
        /// A task for each cell of a square, after those above and to the left.
        Wavefront = "wavefront",
        /// The sum of many numbers.
        Sum = "sum",
        /// Sorting many numbers.
        Sort = "sort",
        /// Unbalanced tree search.
        Tree = "tree",
        /// A message to and fro between two tasks.
        PingPong = "ping-pong",
        /// Every step of a task waits for a step of another.
        Collisions = "collisions",
        /// The same, and waiting in a circle would be found.
        Cells = "cells",
        /// A memo table asked for few keys.
        MemoHot = "memo-hot",
        /// A memo table asked for many keys.
        MemoUniform = "memo-uniform",
        /// An interner asked for few strings.
        InternHot = "intern-hot",
        /// An interner asked for many strings.
        InternUniform = "intern-uniform",
    }
}

impl Row {
    /// Returns what the row does at its full size.
    pub fn title(self) -> &'static str {
        match self {
            Self::Spawn => "1M empty tasks, started by one task; per task",
            Self::Fib => "fork-join fib(30), no cut-off; per join",
            Self::Wavefront => "wavefront 1000x1000, a task per cell; per cell",
            Self::Sum => "parallel sum of 50M integers; per integer",
            Self::Sort => "parallel sort of 50M integers; per integer",
            Self::Tree => "unbalanced tree search, UTS T1, 4,130,071 nodes, SHA-1; per node",
            Self::PingPong => "a message to and fro over two channels; per round trip",
            Self::Collisions => "64 pairs of tasks that wait for each other's cells; per cell",
            Self::Cells => "as above, but Raddle would find a circle of waiting tasks; per cell",
            Self::MemoHot => "single-flight memo, 95% of the calls for 500 keys; per call",
            Self::MemoUniform => "single-flight memo, 100k keys alike; per call",
            Self::InternHot => "interner, 95% of the calls for 500 strings; per call",
            Self::InternUniform => "interner, 100k strings alike; per call",
        }
    }

    /// Returns the size that is handed to the programs.
    pub fn size(self, quick: bool) -> u64 {
        let (full, short) = match self {
            Self::Spawn => (1_000_000, 100_000),
            Self::Fib => (30, 24),
            Self::Wavefront => (1000, 300),
            Self::Sum | Self::Sort => (50_000_000, 2_000_000),
            Self::Tree => (10, 7),
            Self::PingPong => (100_000, 10_000),
            Self::Collisions | Self::Cells => (2000, 200),
            Self::MemoHot | Self::MemoUniform | Self::InternHot | Self::InternUniform => {
                (2_000_000, 200_000)
            }
        };
        if quick { short } else { full }
    }

    /// Returns who takes part.
    pub fn engines(self) -> &'static [Engine] {
        use Engine::*;
        match self {
            Self::Spawn | Self::Fib | Self::Wavefront | Self::Tree => {
                &[Raddle, Rayon, Crossbeam, Tokio, Taskflow, Tbb]
            }
            Self::Sum | Self::Sort => &[Raddle, Rayon, Tbb],
            Self::PingPong => &[Raddle, Tokio, Threads],
            Self::Collisions | Self::Cells => &[Raddle, Tokio, Tbb, Threads],
            Self::MemoHot | Self::MemoUniform => &[Raddle, Dashmap, Papaya, Scc],
            Self::InternHot | Self::InternUniform => &[Raddle, Dashmap, Papaya, Scc, Lasso],
        }
    }
}
