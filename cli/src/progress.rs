//! The progress line on a terminal.

use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Time between two updates.
const PERIOD: Duration = Duration::from_millis(100);

/// Runs `work` while a line on standard error, if that is a terminal, shows what `line` returns.
pub(crate) fn with_line<R>(
    enabled: bool,
    line: impl Fn() -> String + Sync,
    work: impl FnOnce() -> R,
) -> R {
    if !enabled || !io::stderr().is_terminal() {
        return work();
    }
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let watcher = scope.spawn(|| {
            let mut err = io::stderr();
            while !done.load(Ordering::Relaxed) {
                std::thread::park_timeout(PERIOD);
                // A progress line that cannot be shown is not worth a complaint.
                let _ = write!(err, "\r\x1b[2K{}", line());
                let _ = err.flush();
            }
            let _ = write!(err, "\r\x1b[2K");
            let _ = err.flush();
        });
        // The line must also go away when `work` panics.
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
        done.store(true, Ordering::Relaxed);
        watcher.thread().unpark();
        match result {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}
