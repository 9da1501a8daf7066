//! Whether the process was started with its standard output closed (`>&-`).
//!
//! Before `main`, Rust's runtime opens `/dev/null` in the place of a closed standard stream, so that
//! no file is taken for it later. Output would then vanish without an error; so this looks earlier.
#![expect(unsafe_code, reason = "runs before Rust's runtime")]

use std::sync::atomic::{AtomicBool, Ordering};

static WAS_CLOSED: AtomicBool = AtomicBool::new(false);

/// Returns whether standard output was closed when the process began.
pub(crate) fn stdout_was_closed() -> bool {
    WAS_CLOSED.load(Ordering::Relaxed)
}

extern "C" fn look() {
    // SAFETY: `fcntl` with `F_GETFD` takes any number and changes nothing.
    let flags = unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_GETFD) };
    WAS_CLOSED.store(flags == -1, Ordering::Relaxed);
}

// SAFETY: the functions listed in this section are called once, in the only thread, before `main`.
// `look` has the type they must have (what they are passed may be ignored) and uses nothing that
// Rust's runtime prepares.
#[unsafe(link_section = ".init_array")]
#[used]
static LOOK: extern "C" fn() = look;
