//! What evaluation did, counted per worker and summed on demand.
//!
//! A counter is written by one worker only, so counting costs an addition and no shared line.

use std::cell::Cell;

/// A counter of one worker.
#[derive(Debug, Default)]
pub(crate) struct Counter(Cell<u64>);

impl Counter {
    #[inline(always)]
    pub(crate) fn add(&self, n: usize) {
        self.0.set(self.0.get() + n as u64);
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.get()
    }
}

macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// The counters of one worker.
        #[derive(Debug, Default)]
        pub(crate) struct Counters {
            $(pub(crate) $name: Counter,)*
        }

        /// What evaluation did.
        #[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
        pub struct Stats {
            $($(#[$doc])* pub $name: u64,)*
            /// Bytes of the heap in use.
            pub heap_bytes: u64,
        }

        impl Stats {
            pub(crate) fn add(&mut self, counters: &Counters) {
                $(self.$name += counters.$name.get();)*
            }
        }
    };
}

counters! {
    /// Expressions in the texts that were read.
    exprs,
    /// Thunks made.
    thunks,
    /// Thunks not made because the value was cheap and there already.
    avoided,
    /// Environments made.
    envs,
    /// Variables in them.
    env_elements,
    /// Sets made.
    sets,
    /// Attributes in them.
    set_elements,
    /// Elements of the lists made.
    list_elements,
    /// Lists concatenated.
    list_concats,
    /// `//` evaluated.
    updates,
    /// Attributes copied by them.
    update_copies,
    /// Attributes looked up.
    lookups,
    /// Calls of lambdas.
    function_calls,
    /// Calls of built-ins.
    primop_calls,
    /// Files parsed.
    files,
    /// Bytes of source text parsed.
    source_bytes,
}
