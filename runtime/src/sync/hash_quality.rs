//! Whether keys are spread well over a sharded map, in numbers.
//!
//! A map is slow without being wrong when hashes have bits that never change, when some shards get
//! most keys, or when a search compares keys that only look alike. All three are counted here from
//! what a map holds. Comparisons are what counts most: each may be a cache miss.
//!
//! ```text
//! hit    a key is searched: how many keys are compared until it is found?      ideal: 1
//! miss   a key is searched as if it alone were absent: how many are compared?  ideal: 0
//! ```
//!
//! Not here: what to do about it. A map whose hashes fail the check wants another hash function.

use std::error::Error;
use std::fmt;

use hashbrown::HashTable;

/// Fewer keys tell nothing about bits that never change.
const FEW_KEYS: usize = 256;
/// A full table compares up to 1.06 keys for a hit and 0.13 for a miss if all bits are random.
const MOST_PER_HIT: f64 = 1.1;
const MOST_PER_MISS: f64 = 0.2;
/// So many standard deviations of the fill are not chance.
const MOST_DEVIATIONS: f64 = 6.0;

/// How well the keys of a map are spread.
///
/// # Examples
///
/// ```
/// use raddle::sync::ShardedMap;
///
/// let map = ShardedMap::<u64, ()>::new();
/// (0..10_000).for_each(|n| _ = map.insert(n * 4096, ()));
/// let quality = map.quality();
/// assert_eq!((quality.and, quality.or), (0, u64::MAX));
/// quality.check()?;
/// # Ok::<(), raddle::sync::HashFlaw>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HashQuality {
    /// How many keys there are.
    pub keys: usize,
    /// The bits that are set in all hashes; ideally none.
    pub and: u64,
    /// The bits that are set in any hash; ideally all.
    pub or: u64,
    /// How many shards there are.
    pub shards: usize,
    /// How many keys the emptiest shard has.
    pub min_fill: usize,
    /// How many keys a shard has on average.
    pub mean_fill: f64,
    /// How many keys the fullest shard has.
    pub max_fill: usize,
    /// How many keys are compared to find one that is there.
    pub compares_per_hit: f64,
    /// How many keys are compared to find that one is not there.
    pub compares_per_miss: f64,
}

/// What is wrong with the hashes of a map.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum HashFlaw {
    /// These bits are the same in all hashes.
    ConstantBits(u64),
    /// A shard's fill is further from the mean than chance would have it.
    UnevenShards {
        /// How many keys the emptiest shard has.
        min: usize,
        /// How many keys the fullest shard has.
        max: usize,
    },
    /// Searching a key that is there compares this many keys.
    ComparesPerHit(f64),
    /// Searching a key that is not there compares this many keys.
    ComparesPerMiss(f64),
}

impl HashQuality {
    /// Returns the first flaw that there is, if any.
    ///
    /// Maps with few keys have none.
    ///
    /// # Errors
    ///
    /// Returns bits that never change, shards filled unevenly, more than 1.1 comparisons per hit or
    /// 0.2 per miss.
    pub fn check(&self) -> Result<(), HashFlaw> {
        if self.keys < FEW_KEYS {
            return Ok(());
        }
        let constant = self.and | !self.or;
        if constant != 0 {
            return Err(HashFlaw::ConstantBits(constant));
        }
        let bound = MOST_DEVIATIONS * self.mean_fill.sqrt() + 1.0;
        let (min, max) = (self.min_fill, self.max_fill);
        if (min as f64) < self.mean_fill - bound || max as f64 > self.mean_fill + bound {
            return Err(HashFlaw::UnevenShards { min, max });
        }
        if self.compares_per_hit > MOST_PER_HIT {
            return Err(HashFlaw::ComparesPerHit(self.compares_per_hit));
        }
        if self.compares_per_miss > MOST_PER_MISS {
            return Err(HashFlaw::ComparesPerMiss(self.compares_per_miss));
        }
        Ok(())
    }
}

/// Adds up the quality, shard by shard.
#[derive(Debug)]
pub(super) struct Survey {
    keys: usize,
    and: u64,
    or: u64,
    shards: usize,
    min_fill: usize,
    max_fill: usize,
    hit_compares: u64,
    miss_compares: u64,
}

impl Survey {
    pub(super) const fn new() -> Self {
        Self {
            keys: 0,
            and: u64::MAX,
            or: 0,
            shards: 0,
            min_fill: usize::MAX,
            max_fill: 0,
            hit_compares: 0,
            miss_compares: 0,
        }
    }

    /// Adds a shard, whose entries have these hashes. No two of its keys are equal.
    pub(super) fn add<T>(&mut self, table: &HashTable<T>, hash: impl Fn(&T) -> u64) {
        self.shards += 1;
        self.keys += table.len();
        self.min_fill = self.min_fill.min(table.len());
        self.max_fill = self.max_fill.max(table.len());
        for searched in table {
            let hash = hash(searched);
            self.and &= hash;
            self.or |= hash;
            let _found = table.find(hash, |candidate| {
                self.hit_compares += 1;
                std::ptr::eq(candidate, searched)
            });
            // Finds nothing, but looks at everything that looks like the key, and at the key.
            let _nothing = table.find(hash, |candidate| {
                self.miss_compares += u64::from(!std::ptr::eq(candidate, searched));
                false
            });
        }
    }

    pub(super) fn finish(self) -> HashQuality {
        let per_key = |count| if self.keys == 0 { 0.0 } else { count as f64 / self.keys as f64 };
        HashQuality {
            keys: self.keys,
            and: self.and,
            or: self.or,
            shards: self.shards,
            min_fill: if self.shards == 0 { 0 } else { self.min_fill },
            mean_fill: self.keys as f64 / self.shards.max(1) as f64,
            max_fill: self.max_fill,
            compares_per_hit: per_key(self.hit_compares),
            compares_per_miss: per_key(self.miss_compares),
        }
    }
}

impl fmt::Display for HashFlaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ConstantBits(bits) => write!(f, "all hashes agree in the bits {bits:#x}"),
            Self::UnevenShards { min, max } => {
                write!(f, "shards are filled unevenly, with {min} to {max} keys")
            }
            Self::ComparesPerHit(count) => {
                write!(f, "{count:.2} keys are compared to find one that is there")
            }
            Self::ComparesPerMiss(count) => {
                write!(f, "{count:.2} keys are compared to find that one is not there")
            }
        }
    }
}

impl Error for HashFlaw {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sync::sharded_map::{SHARD_SHIFT, mix};

    const SHARD_BITS: u32 = 6;

    /// Spreads numbers over shards that are chosen by the bits from `shift` on.
    fn quality_with_shards_at(shift: u32) -> HashQuality {
        let mut shards: Vec<HashTable<u64>> = Vec::new();
        shards.resize_with(1 << SHARD_BITS, HashTable::new);
        for key in 0..100_000 {
            let shard = (mix(key) >> shift) as usize % shards.len();
            shards[shard].insert_unique(mix(key), key, |&key| mix(key));
        }
        let mut survey = Survey::new();
        for shard in &shards {
            survey.add(shard, |&key| mix(key));
        }
        survey.finish()
    }

    #[test]
    fn middle_bits_choose_shards_well() {
        let quality = quality_with_shards_at(SHARD_SHIFT);
        assert_eq!(quality.check(), Ok(()), "{quality:?}");
        assert_eq!((quality.and, quality.or), (0, u64::MAX));
    }

    #[test]
    fn bits_that_the_table_uses_choose_shards_badly() {
        // The top bits are the table's tags, the lowest its buckets.
        for (shift, per_miss) in [(64 - SHARD_BITS, 5.0), (0, 0.3)] {
            let quality = quality_with_shards_at(shift);
            assert!(quality.check().is_err(), "{quality:?}");
            assert!(quality.compares_per_miss > per_miss, "{quality:?}");
        }
    }

    #[test]
    fn each_flaw_is_found() {
        let good = quality_with_shards_at(SHARD_SHIFT);
        let flaws = [
            (HashQuality { and: 4, ..good }, HashFlaw::ConstantBits(4)),
            (HashQuality { or: !8, ..good }, HashFlaw::ConstantBits(8)),
            (
                HashQuality { min_fill: 1000, max_fill: 1600, ..good },
                HashFlaw::UnevenShards { min: 1000, max: 1600 },
            ),
            (HashQuality { compares_per_hit: 1.2, ..good }, HashFlaw::ComparesPerHit(1.2)),
            (HashQuality { compares_per_miss: 0.3, ..good }, HashFlaw::ComparesPerMiss(0.3)),
        ];
        for (quality, flaw) in flaws {
            assert_eq!(quality.check(), Err(flaw), "{flaw}");
        }
        assert_eq!(HashQuality { keys: 10, and: 1, ..good }.check(), Ok(()));
    }

    #[test]
    fn an_empty_map_has_no_flaw() {
        let quality = Survey::new().finish();
        assert_eq!((quality.keys, quality.min_fill, quality.max_fill), (0, 0, 0));
        assert_eq!(quality.check(), Ok(()));
    }
}
