//! Ctrl-C: ends the process at once, with a clean terminal.

use std::io::Write;

use signal_hook::consts::SIGINT;
use signal_hook::iterator::Signals;

use crate::progress;

/// The exit code of a process that was interrupted.
const INTERRUPTED: i32 = 130;

/// Starts the thread that waits for an interrupt.
pub(crate) fn watch() {
    // Without it the signal ends the process just the same, only less tidily.
    let Ok(mut signals) = Signals::new([SIGINT]) else { return };
    let wait = move || {
        if signals.forever().next().is_some() {
            progress::close();
            // Nobody may be left to read it.
            let _ = std::io::stderr().write_all(b"error: interrupted by the user\n");
            // Evaluation has nothing to save, and its threads need not be waited for.
            signal_hook::low_level::exit(INTERRUPTED);
        }
    };
    let _ = std::thread::Builder::new().name("signals".to_owned()).spawn(wait);
}
