//! How much memory some workers may take together.
//!
//! Counting costs an addition per chunk, so the workers share one counter. Who is refused is to
//! give up its work; from then on everybody is refused, so that all work ends soon.
//!
//! Not here: what a refused worker does, and memory that nobody counts.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// More than any machine has: refused even where there is no limit.
const ABSURD: u64 = 1 << 46;

/// A limit on bytes that several workers take.
///
/// # Examples
///
/// ```
/// use raddle::memory::Budget;
///
/// let budget = Budget::new(Some(1000));
/// assert_eq!(budget.take(600), Ok(()));
/// assert_eq!(budget.take(600).unwrap_err().limit, Some(1000));
/// assert!(budget.take(1).is_err(), "everybody is refused after one was");
/// budget.reopen();
/// assert_eq!(budget.take(400), Ok(()));
/// ```
#[derive(Debug)]
pub struct Budget {
    limit: Option<u64>,
    taken: AtomicU64,
    /// Whether somebody was refused.
    exhausted: AtomicBool,
}

/// There is no more memory to be had.
///
/// # Examples
///
/// See [`Budget`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refused {
    /// The limit; `None` if there is none and the system refused.
    pub limit: Option<u64>,
}

impl Budget {
    /// Creates a budget; without a limit the system decides.
    pub const fn new(limit: Option<u64>) -> Self {
        Self { limit, taken: AtomicU64::new(0), exhausted: AtomicBool::new(false) }
    }

    /// Returns the limit.
    pub fn limit(&self) -> Option<u64> {
        self.limit
    }

    /// Returns how many bytes are taken.
    pub fn taken(&self) -> u64 {
        self.taken.load(Ordering::Relaxed)
    }

    /// Counts bytes that are about to be taken.
    ///
    /// # Errors
    ///
    /// Fails if that is beyond the limit, or if somebody was refused before.
    pub fn take(&self, bytes: usize) -> Result<(), Refused> {
        // Only the sum matters, and other memory is not told by it.
        let before = self.taken.fetch_add(bytes as u64, Ordering::Relaxed);
        self.compare(before, bytes).inspect_err(|_| self.give(bytes))
    }

    /// Makes sure that so many bytes could be taken now.
    ///
    /// # Errors
    ///
    /// Like [`take`](Self::take).
    pub fn check(&self, bytes: usize) -> Result<(), Refused> {
        self.compare(self.taken(), bytes)
    }

    /// Uncounts bytes that were taken and are given back.
    pub fn give(&self, bytes: usize) {
        self.taken.fetch_sub(bytes as u64, Ordering::Relaxed);
    }

    /// Refuses everybody from now on, for a reason that the budget does not know.
    pub fn refuse(&self) -> Refused {
        self.exhausted.store(true, Ordering::Relaxed);
        Refused { limit: self.limit }
    }

    /// Forgets that somebody was refused, when all work has ended.
    pub fn reopen(&self) {
        self.exhausted.store(false, Ordering::Relaxed);
    }

    fn compare(&self, taken: u64, bytes: usize) -> Result<(), Refused> {
        let sum = taken.saturating_add(bytes as u64);
        let has_room = sum <= self.limit.unwrap_or(ABSURD);
        let exhausted = self.exhausted.load(Ordering::Relaxed);
        if has_room && !exhausted { Ok(()) } else { Err(self.refuse()) }
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.limit {
            Some(limit) => write!(f, "out of memory: the limit of {limit} bytes is reached"),
            None => f.write_str("out of memory: the system has no more"),
        }
    }
}

impl std::error::Error for Refused {}

#[cfg(test)]
mod tests {
    use super::Budget;

    #[test]
    fn counts() {
        let budget = Budget::new(Some(64));
        assert_eq!(budget.take(40), Ok(()));
        assert_eq!(budget.check(24), Ok(()));
        assert_eq!(budget.take(24), Ok(()));
        assert_eq!(budget.take(1).unwrap_err().limit, Some(64));
        assert_eq!(budget.taken(), 64, "what was refused does not count");
        budget.reopen();
        budget.give(10);
        assert_eq!(budget.take(10), Ok(()));
        assert!(budget.check(usize::MAX).is_err());
        assert!(budget.check(0).is_err(), "all are refused after one was");
    }

    #[test]
    fn absurd_sizes_without_a_limit() {
        let budget = Budget::new(None);
        assert_eq!(budget.take(1 << 40), Ok(()));
        assert_eq!(budget.take(usize::MAX).unwrap_err().limit, None);
    }
}
