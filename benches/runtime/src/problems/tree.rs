//! The tree of the unbalanced tree search benchmark (Olivier et al., 2006): geometric, of fixed shape.
//!
//! A node is 20 bytes of SHA-1; from them follow how many children it has, and each child. Nobody
//! knows the size of a subtree before searching it.

use std::ops::Range;

const BRANCHING: f64 = 4.0;
const SEED: u32 = 19;
const MAX_CHILDREN: usize = 100;

/// A node of the tree.
#[derive(Clone, Copy, Debug)]
pub struct Node {
    state: [u32; 5],
    depth: u32,
}

/// How deep the tree goes; 10 is the tree named T1.
#[derive(Clone, Copy, Debug)]
pub struct Tree {
    /// Nodes at this depth have no children.
    pub depth: u32,
}

impl Tree {
    /// Returns how many nodes there are, if that is known.
    pub fn nodes(self) -> u64 {
        match self.depth {
            10 => 4_130_071,
            _ => self.search(&Node::root()),
        }
    }

    /// Returns the children's numbers.
    #[inline]
    pub fn children(self, node: &Node) -> Range<usize> {
        if node.depth >= self.depth {
            return 0..0;
        }
        let uniform = f64::from(node.state[4] & 0x7FFF_FFFF) / f64::from(0x8000_0000u32);
        let probability: f64 = 1.0 / (1.0 + BRANCHING);
        let count = ((1.0 - uniform).ln() / (1.0 - probability).ln()).floor() as usize;
        0..count.min(MAX_CHILDREN)
    }

    fn search(self, node: &Node) -> u64 {
        let children = self.children(node);
        1 + children.map(|index| self.search(&node.child(index))).sum::<u64>()
    }
}

impl Node {
    /// Returns the root of the tree.
    pub fn root() -> Self {
        Self { state: sha1(&[0, 0, 0, 0, SEED]), depth: 0 }
    }

    /// Returns the child with this number.
    #[inline]
    pub fn child(&self, index: usize) -> Self {
        let [a, b, c, d, e] = self.state;
        Self { state: sha1(&[a, b, c, d, e, index as u32]), depth: self.depth + 1 }
    }
}

/// Returns the SHA-1 of up to 13 words, each taken as four bytes, the highest first.
fn sha1(words: &[u32]) -> [u32; 5] {
    let mut schedule = [0; 80];
    schedule[..words.len()].copy_from_slice(words);
    schedule[words.len()] = 1 << 31;
    schedule[15] = words.len() as u32 * 32;
    for i in 16..80 {
        let mixed = schedule[i - 3] ^ schedule[i - 8] ^ schedule[i - 14] ^ schedule[i - 16];
        schedule[i] = u32::rotate_left(mixed, 1);
    }
    let start = [0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476, 0xC3D2_E1F0u32];
    let [mut a, mut b, mut c, mut d, mut e] = start;
    for (i, &word) in schedule.iter().enumerate() {
        let (mixed, constant) = match i / 20 {
            0 => ((b & c) | (!b & d), 0x5A82_7999),
            1 => (b ^ c ^ d, 0x6ED9_EBA1),
            2 => ((b & c) | (b & d) | (c & d), 0x8F1B_BCDC),
            _ => (b ^ c ^ d, 0xCA62_C1D6),
        };
        let next = a
            .rotate_left(5)
            .wrapping_add(mixed)
            .wrapping_add(e)
            .wrapping_add(constant)
            .wrapping_add(word);
        (e, d, c, b, a) = (d, c, b.rotate_left(30), a, next);
    }
    let end = [a, b, c, d, e];
    std::array::from_fn(|i| start[i].wrapping_add(end[i]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sha1_of_abcd_is_the_known_one() {
        let digest = sha1(&[u32::from_be_bytes(*b"abcd")]);
        assert_eq!(digest, [0x81FE_8BFE, 0x8757_6C3E, 0xCB22_426F, 0x8E57_8473, 0x8291_7ACF]);
    }

    #[test]
    fn the_tree_has_the_published_size() {
        let tree = Tree { depth: 10 };
        assert_eq!(tree.search(&Node::root()), 4_130_071);
    }
}
