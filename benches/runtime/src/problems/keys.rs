//! Strings, and the order in which maps are asked for them.

use std::ops::Range;

use super::scramble;

const KEYS: u64 = 100_000;
const HOT: u64 = 500;

/// In how many pieces the calls are made.
pub const PIECES: usize = 64;

/// Strings, and the numbers of those asked for.
#[derive(Debug)]
pub struct Calls {
    /// The strings; all are different.
    pub keys: Vec<String>,
    /// Which one each call asks for.
    pub order: Vec<u32>,
}

impl Calls {
    /// Makes `count` calls, 95% of them for the same few keys.
    pub fn hot(count: u64) -> Self {
        Self::new(count, |random| {
            let among = if random % 20 < 19 { HOT } else { KEYS };
            (random >> 8) % among
        })
    }

    /// Makes `count` calls for all keys alike.
    pub fn uniform(count: u64) -> Self {
        Self::new(count, |random| (random >> 8) % KEYS)
    }

    fn new(count: u64, choose: impl Fn(u64) -> u64) -> Self {
        Self {
            keys: (0..KEYS).map(|n| format!("name-{}-{n}", scramble(n) % 1000)).collect(),
            order: (0..count).map(|n| choose(scramble(n)) as u32).collect(),
        }
    }

    /// Returns the calls of a piece.
    pub fn piece(&self, piece: usize) -> &[u32] {
        let share = self.order.len().div_ceil(PIECES);
        let range: Range<usize> = piece * share..self.order.len().min((piece + 1) * share);
        &self.order[range]
    }

    /// Returns the sum of the values of all calls.
    pub fn sum_of_values(&self) -> u64 {
        let values: Vec<u64> = self.keys.iter().map(|key| value(key)).collect();
        self.order.iter().map(|&key| values[key as usize]).fold(0, u64::wrapping_add)
    }

    /// Returns how many different keys are asked for.
    pub fn distinct(&self) -> u64 {
        let mut asked = vec![false; self.keys.len()];
        self.order.iter().for_each(|&key| asked[key as usize] = true);
        asked.into_iter().filter(|&asked| asked).count() as u64
    }
}

/// Computes what the memo keeps for a key.
pub fn value(key: &str) -> u64 {
    key.bytes().fold(0, |value, byte| scramble(value ^ u64::from(byte)))
}
