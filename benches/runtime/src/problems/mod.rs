//! The work itself, as far as it is the same for every engine; `cpp/problems.hpp` has it in C++.

pub mod chains;
pub mod grid;
pub mod keys;
pub mod numbers;
pub mod tree;

/// Returns the `n`th Fibonacci number.
pub fn fibonacci(n: u64) -> u64 {
    (0..n).fold((0, 1), |(a, b), _| (b, a + b)).0
}

/// Returns how many forks `fib(n)` makes: all calls but those for 0 and 1.
pub fn forks(n: u64) -> u64 {
    fibonacci(n + 1) - 1
}

/// Scrambles a number (splitmix64, Vigna 2015).
pub fn scramble(number: u64) -> u64 {
    let mut z = number.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}
