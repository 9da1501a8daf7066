//! Fences of unequal cost, for protocols in which one side runs all the time and the other hardly
//! ever.
//!
//! ```text
//! often:   write A; light();  read B
//! rarely:  write B; heavy();  read A        one of them sees what the other wrote
//! ```
//!
//! Two sequentially consistent fences would do, at some 7 ns each. Here the side that runs often
//! pays nothing: `heavy` has the kernel run a full barrier on every processor that runs a thread
//! of this process (`membarrier`, private expedited; Linux 4.14). So at some moment between the
//! rare side's write and read the other side was interrupted: what it had written before is
//! visible to the rare side's read, and what it reads later comes after the rare side's write.
//!
//! (Dice, Huang and Yang, "Asymmetric Dekker synchronization", 2001, do the same by other means.)
//!
//! Where the kernel refuses, both are sequentially consistent fences; [`register`] finds out.
//!
//! Not here: publishing data. The writes and reads have the orderings for that themselves.

#![expect(unsafe_code, reason = "makes a system call")]

#[cfg(not(raddle_loom))]
use std::sync::atomic::{AtomicBool, Ordering, compiler_fence, fence};

/// Whether the kernel makes the barriers. Written before there are workers.
#[cfg(not(raddle_loom))]
static BY_KERNEL: AtomicBool = AtomicBool::new(false);

/// Asks the kernel to make this process's heavy barriers; before the first worker starts.
#[cfg(not(raddle_loom))]
pub(crate) fn register() {
    if call(libc::MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) {
        BY_KERNEL.store(true, Ordering::SeqCst);
    }
}

/// Keeps the caller's writes before this from passing its reads after it, provided that the
/// other side calls [`heavy`].
#[cfg(not(raddle_loom))]
#[inline(always)]
pub(crate) fn light() {
    if BY_KERNEL.load(Ordering::Relaxed) {
        // The compiler must not reorder either; the processor is kept in order by `heavy`.
        compiler_fence(Ordering::SeqCst);
    } else {
        fence(Ordering::SeqCst);
    }
}

/// The other side of [`light`].
#[cfg(not(raddle_loom))]
pub(crate) fn heavy() {
    fence(Ordering::SeqCst);
    if BY_KERNEL.load(Ordering::Relaxed) {
        let made = call(libc::MEMBARRIER_CMD_PRIVATE_EXPEDITED);
        assert!(made, "the kernel agreed to make barriers");
    }
}

#[cfg_attr(raddle_loom, allow(dead_code, reason = "models use fences"))]
fn call(command: libc::c_int) -> bool {
    // SAFETY: the call takes three integers and touches no memory of ours.
    unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) == 0 }
}

#[cfg(raddle_loom)]
pub(crate) fn light() {
    loom::sync::atomic::fence(loom::sync::atomic::Ordering::SeqCst);
}

#[cfg(raddle_loom)]
pub(crate) use light as heavy;

#[cfg(raddle_loom)]
pub(crate) fn register() {}
