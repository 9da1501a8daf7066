//! The progress line on a terminal.
//!
//! It is the last line on the screen, or not there: whatever else is written to standard error
//! goes through [`around`], which takes it away first. The next update brings it back.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::output;

/// Time between two updates.
const PERIOD: Duration = Duration::from_millis(100);

const CLEAR: &[u8] = b"\r\x1b[2K";

/// Whether the line is on the screen.
static SHOWN: Mutex<bool> = Mutex::new(false);

fn lock() -> MutexGuard<'static, bool> {
    SHOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes the line away while `write` writes to standard error.
pub(crate) fn around(write: impl FnOnce()) {
    let mut shown = lock();
    if std::mem::take(&mut *shown) {
        // A progress line that cannot be shown or cleared is not worth a complaint.
        let _ = io::stderr().write_all(CLEAR);
    }
    write();
}

/// Takes the line away, keeping everybody else from writing for as long as the process lives.
pub(crate) fn close() {
    let mut shown = lock();
    if std::mem::take(&mut *shown) {
        // As above.
        let _ = io::stderr().write_all(CLEAR);
    }
    std::mem::forget(shown);
}

/// What the line says.
#[derive(Debug, Default)]
pub(crate) struct Line {
    /// What comes first; it is cut at the end where the terminal is narrow.
    pub(crate) text: String,
    /// What follows if there is room; it is cut at the front.
    pub(crate) place: String,
}

impl Line {
    /// Returns the line for a terminal with this many columns.
    fn fit(&self, columns: usize) -> String {
        let text = self.text.chars().take(columns);
        let mut line: String = text.map(|c| if c.is_control() { ' ' } else { c }).collect();
        let room = columns.saturating_sub(line.chars().count());
        let place: Vec<char> = self.place.chars().filter(|c| !c.is_control()).collect();
        if place.len() <= room {
            line.extend(place);
        } else if room > 1 {
            line.push('…');
            line.extend(&place[place.len() - (room - 1)..]);
        }
        line
    }
}

fn show(line: &Line) {
    let width = terminal_size::terminal_size_of(io::stderr()).map_or(80, |(width, _)| width.0);
    // One column less, because some terminals break a line that is exactly as wide as they are.
    let line = line.fit((width as usize).saturating_sub(1));
    let mut shown = lock();
    // As above.
    let _ = io::stderr().write_all(&[CLEAR, line.as_bytes()].concat());
    *shown = true;
}

/// Runs `work` while a line on standard error, if that is a terminal, shows what `line` returns.
pub(crate) fn with_line<R>(line: impl Fn() -> Line + Sync, work: impl FnOnce() -> R) -> R {
    if !output::is_smart_terminal() {
        return work();
    }
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let watcher = scope.spawn(|| {
            loop {
                std::thread::park_timeout(PERIOD);
                if done.load(Ordering::Relaxed) {
                    break;
                }
                show(&line());
            }
            around(|| {});
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

#[cfg(test)]
mod tests {
    use super::Line;

    #[test]
    fn lines_fit() {
        for (columns, expected) in [
            (80, "12 found, in a.b.c"),
            (18, "12 found, in a.b.c"),
            (17, "12 found, in …b.c"),
            (14, "12 found, in "),
            (5, "12 fo"),
            (0, ""),
        ] {
            let line = Line { text: "12 found, in ".to_owned(), place: "a.b\n.c".to_owned() };
            assert_eq!(line.fit(columns), expected);
        }
    }
}
