//! What queues hold: tasks that are ready to run, in a word each.
//!
//! Most are tasks with a record, named by its address. The right half of a join is named by the
//! address of a *frame* on the stack of the left half, and becomes a task with a record only when
//! somebody else takes it: that is what makes a join cheap where nobody does.
//!
//! ```text
//! word   63 ………………………………………………… 1 | 0
//!                address of the record   | 1
//!                address of the frame    | 0
//! ```

use super::join::Frame;
use super::record::Record;

/// A task that is ready to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ready {
    Task(*const Record),
    Half(*const Frame),
}

const _: () = assert!(align_of::<Frame>() >= 2, "the lowest bit of an address is 0");
const _: () = assert!(align_of::<Record>() >= 2, "the lowest bit of an address is 0");

impl From<Ready> for u64 {
    #[inline]
    fn from(ready: Ready) -> Self {
        match ready {
            Ready::Task(record) => record.expose_provenance() as Self | 1,
            Ready::Half(frame) => frame.expose_provenance() as Self,
        }
    }
}

impl From<u64> for Ready {
    #[inline]
    fn from(word: u64) -> Self {
        if word & 1 != 0 {
            Self::Task(std::ptr::with_exposed_provenance((word & !1) as usize))
        } else {
            Self::Half(std::ptr::with_exposed_provenance(word as usize))
        }
    }
}
