//! Facts about a pattern that decide which engine may run it.
//!
//! All are safe approximations: a wrong "no" costs speed, never the result.
//!
//! Not here: the engines (`regex`, `regex_solve`).

use super::regex_parse::{ByteSet, Node};

/// How a node's matches look.
struct Shape {
    nullable: bool,
    /// The bytes a match can begin with.
    first: ByteSet,
    /// The length of every match, if they are all the same.
    length: Option<u64>,
}

impl Node {
    /// Returns whether the node can match without consuming anything.
    pub(super) fn is_nullable(&self) -> bool {
        match self {
            Self::Empty | Self::LineBegin | Self::LineEnd => true,
            Self::Set(_) => false,
            Self::Concat(nodes) => nodes.iter().all(Self::is_nullable),
            Self::Alternation(nodes) => nodes.iter().any(Self::is_nullable),
            Self::Group(_, body) => body.is_nullable(),
            Self::Repeat { min, body, .. } => *min == 0 || body.is_nullable(),
        }
    }

    /// Returns whether a round of some loop can consume nothing.
    pub(super) fn has_empty_loop(&self) -> bool {
        match self {
            Self::Empty | Self::LineBegin | Self::LineEnd | Self::Set(_) => false,
            Self::Concat(nodes) | Self::Alternation(nodes) => {
                nodes.iter().any(Self::has_empty_loop)
            }
            Self::Group(_, body) => body.has_empty_loop(),
            Self::Repeat { max, body, .. } => {
                max != &Some(1) && body.is_nullable() || body.has_empty_loop()
            }
        }
    }

    /// Returns whether taking the first matching alternative everywhere can differ from taking
    /// the one with the longest match.
    ///
    /// It cannot where the alternatives begin with different bytes or all have the same length.
    pub(super) fn has_length_choice(&self) -> bool {
        match self {
            Self::Empty | Self::LineBegin | Self::LineEnd | Self::Set(_) => false,
            Self::Concat(nodes) => nodes.iter().any(Self::has_length_choice),
            Self::Group(_, body) | Self::Repeat { body, .. } => body.has_length_choice(),
            Self::Alternation(nodes) => {
                nodes.iter().any(Self::has_length_choice) || !is_harmless(nodes)
            }
        }
    }

    /// Returns the bytes of a pattern that matches one string only and has no groups.
    pub(super) fn literal(&self) -> Option<Vec<u8>> {
        match self {
            Self::Empty => Some(Vec::new()),
            Self::Set(set) => set.single().map(|byte| vec![byte]),
            Self::Concat(nodes) => nodes
                .iter()
                .map(|node| match node {
                    Self::Set(set) => set.single(),
                    _ => None,
                })
                .collect(),
            _ => None,
        }
    }

    fn shape(&self) -> Shape {
        match self {
            Self::Empty | Self::LineBegin | Self::LineEnd => {
                Shape { nullable: true, first: ByteSet::default(), length: Some(0) }
            }
            Self::Set(set) => Shape { nullable: false, first: *set, length: Some(1) },
            Self::Group(_, body) => body.shape(),
            Self::Repeat { min, max, body } => {
                let body = body.shape();
                let fixed = *max == Some(*min);
                Shape {
                    nullable: *min == 0 || body.nullable,
                    first: body.first,
                    length: body
                        .length
                        .filter(|&length| fixed || length == 0)
                        .and_then(|length| length.checked_mul(u64::from(*min))),
                }
            }
            Self::Concat(nodes) => {
                let mut whole =
                    Shape { nullable: true, first: ByteSet::default(), length: Some(0) };
                for node in nodes {
                    let shape = node.shape();
                    if whole.nullable {
                        whole.first = whole.first.union(&shape.first);
                    }
                    whole.nullable &= shape.nullable;
                    whole.length = whole
                        .length
                        .zip(shape.length)
                        .and_then(|(left, right)| left.checked_add(right));
                }
                whole
            }
            Self::Alternation(nodes) => nodes
                .iter()
                .map(Self::shape)
                .reduce(|left, right| Shape {
                    nullable: left.nullable || right.nullable,
                    first: left.first.union(&right.first),
                    length: left.length.filter(|_| left.length == right.length),
                })
                .unwrap_or(Shape { nullable: true, first: ByteSet::default(), length: Some(0) }),
        }
    }
}

fn is_harmless(alternatives: &[Node]) -> bool {
    let shapes: Vec<Shape> = alternatives.iter().map(Node::shape).collect();
    let same_length =
        shapes.windows(2).all(|pair| pair[0].length.is_some() && pair[0].length == pair[1].length);
    let mut seen = ByteSet::default();
    same_length
        || shapes.iter().all(|shape| {
            let disjoint = !shape.nullable && seen.is_disjoint(&shape.first);
            seen = seen.union(&shape.first);
            disjoint
        })
}
