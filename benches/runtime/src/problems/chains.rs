//! Chains of cells that two tasks compute in turn, so that every step meets a cell of the other.
//!
//! ```text
//! even task   0 --> 2 --> 4 ...        cell n needs cell n - 1, which is always under evaluation
//!               \  / \  /              by the other task, or has just become ready
//! odd task       1     3  ...
//! ```

use std::sync::atomic::{AtomicU64, Ordering};

use super::scramble;

/// How many chains there are.
pub const CHAINS: u64 = 64;

const STEPS: u64 = 20;

/// Returns the value of the cell after the one with this value: twenty multiplications.
#[inline]
pub fn next(value: u64) -> u64 {
    (0..STEPS).fold(value, |value, step| value.wrapping_mul(value | 1).wrapping_add(step))
}

/// Returns the value of the first cell of a chain.
pub fn first(chain: u64) -> u64 {
    scramble(chain)
}

/// Returns the sum of the last cells of all chains.
pub fn expected(length: u64) -> u64 {
    let last = |chain| (1..length).fold(first(chain), |value, _| next(value));
    (0..CHAINS).map(last).fold(0, u64::wrapping_add)
}

/// Adds up the last cells.
#[derive(Debug, Default)]
pub struct Sum(AtomicU64);

impl Sum {
    /// Adds the last cell of a chain.
    pub fn add(&self, value: u64) {
        self.0.fetch_add(value, Ordering::Relaxed);
    }

    /// Returns the sum.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
