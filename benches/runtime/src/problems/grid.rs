//! A square in which each cell needs the one above it and the one to its left.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

/// The cells; each holds the sum of the two that it needs, those at the border 1.
#[derive(Debug)]
pub struct Grid {
    side: usize,
    values: Vec<AtomicU64>,
    /// How many of the needed cells are not there yet.
    missing: Vec<AtomicU8>,
}

impl Grid {
    /// Creates a square of `side` times `side` cells.
    pub fn new(side: u64) -> Self {
        let side = side as usize;
        let cells = 0..side * side;
        Self {
            side,
            values: cells.clone().map(|_| AtomicU64::new(0)).collect(),
            missing: cells
                .map(|cell| AtomicU8::new(u8::from(cell >= side) + u8::from(cell % side > 0)))
                .collect(),
        }
    }

    /// Computes a cell and returns those that can be computed now: to the right, below.
    #[inline]
    pub fn compute(&self, cell: usize) -> [Option<usize>; 2] {
        let (row, column) = (cell / self.side, cell % self.side);
        let value = if row == 0 || column == 0 {
            1
        } else {
            let above = self.values[cell - self.side].load(Ordering::Relaxed);
            above.wrapping_add(self.values[cell - 1].load(Ordering::Relaxed))
        };
        self.values[cell].store(value, Ordering::Relaxed);
        let mut ready = [None; 2];
        if column + 1 < self.side && self.is_ready(cell + 1) {
            ready[0] = Some(cell + 1);
        }
        if row + 1 < self.side && self.is_ready(cell + self.side) {
            ready[1] = Some(cell + self.side);
        }
        ready
    }

    /// Returns the value of the last cell, on which all others have a share.
    pub fn last(&self) -> u64 {
        self.values[self.side * self.side - 1].load(Ordering::Relaxed)
    }

    /// Returns whether `cell` is the last one.
    pub fn is_last(&self, cell: usize) -> bool {
        cell + 1 == self.side * self.side
    }

    /// Returns what the last cell should hold.
    pub fn expected(side: u64) -> u64 {
        let mut row = vec![1u64; side as usize];
        for _ in 1..side {
            for column in 1..row.len() {
                row[column] = row[column].wrapping_add(row[column - 1]);
            }
        }
        row[row.len() - 1]
    }

    fn is_ready(&self, cell: usize) -> bool {
        // Both needed cells are visible to the one who sees the count at its end.
        self.missing[cell].fetch_sub(1, Ordering::AcqRel) == 1
    }
}
