//! Many numbers in no order.

use super::scramble;

/// Returns `count` numbers, always the same.
pub fn numbers(count: u64) -> Vec<u32> {
    (0..count).map(|n| scramble(n) as u32).collect()
}

/// Returns their sum.
pub fn sum(numbers: &[u32]) -> u64 {
    numbers.iter().map(|&number| u64::from(number)).sum()
}

/// Returns whether `sorted` are in order and have the sum of those before sorting.
pub fn is_sorted(sorted: &[u32], expected_sum: u64) -> bool {
    sorted.is_sorted() && sum(sorted) == expected_sum
}
