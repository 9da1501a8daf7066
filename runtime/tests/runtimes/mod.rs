//! The runtimes that tests of waiting go through.

use raddle::{Policy, Runtime};

/// Gives `test` runtimes of several numbers of workers, under every policy.
pub(crate) fn each_runtime(test: impl Fn(Runtime)) {
    for policy in [Policy::Stealing, Policy::Dispatching, Policy::Pairs] {
        for workers in [1, 2, 4, 8] {
            let builder = Runtime::builder().workers(workers).policy(policy);
            test(builder.stack_size(1 << 20).build().unwrap());
        }
    }
}
