//! Reads POSIX extended regular expressions as strictly as GNU C++ `std::regex` does.
//!
//! The result is a small tree over byte sets. Every corner of acceptance follows that library:
//! which escapes exist, where `-` may stand in a bracket expression, that bytes compare as signed
//! in ranges, and how many automaton states a pattern may cost.
//!
//! Always holds: a returned tree is at most `MAX_DEPTH` levels deep and expands to fewer than
//! `MAX_STATES` states, so recursion over it and expansion of counted repetitions are bounded.
//!
//! Not here: matching (`regex`, `regex_solve`).

use super::regex_bracket::parse_bracket;

/// Levels of nesting a pattern may have; deeper ones count as too complex.
const MAX_DEPTH: u32 = 250;

/// Automaton states a pattern may expand to, counted as `std::regex` counts them.
const MAX_STATES: u64 = 100_000;

/// A set of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ByteSet([u64; 4]);

impl ByteSet {
    /// Builds the set of bytes for which `holds` is true.
    pub(super) fn of(holds: impl Fn(u8) -> bool) -> Self {
        let mut set = Self::default();
        for byte in 0..=255 {
            if holds(byte) {
                set.insert(byte);
            }
        }
        set
    }

    fn insert(&mut self, byte: u8) {
        self.0[usize::from(byte >> 6)] |= 1 << (byte & 63);
    }

    /// Returns whether `byte` is a member.
    pub(super) fn contains(&self, byte: u8) -> bool {
        self.0[usize::from(byte >> 6)] >> (byte & 63) & 1 == 1
    }

    /// Returns the members of either set.
    pub(super) fn union(&self, other: &Self) -> Self {
        Self(std::array::from_fn(|i| self.0[i] | other.0[i]))
    }

    /// Returns whether no byte is in both sets.
    pub(super) fn is_disjoint(&self, other: &Self) -> bool {
        (0..4).all(|i| self.0[i] & other.0[i] == 0)
    }

    /// Returns the only member, if there is exactly one.
    pub(super) fn single(&self) -> Option<u8> {
        let count: u32 = self.0.iter().map(|word| word.count_ones()).sum();
        (count == 1).then(|| (0..=255).find(|&byte| self.contains(byte)).unwrap_or(0))
    }
}

/// A parsed pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Node {
    Empty,
    Set(ByteSet),
    LineBegin,
    LineEnd,
    Concat(Vec<Node>),
    /// Alternatives in preference order.
    Alternation(Vec<Node>),
    /// A capturing group with its number, counted from zero.
    Group(u32, Box<Node>),
    /// `min` to `max` repetitions, as many as possible.
    Repeat {
        min: u32,
        max: Option<u32>,
        body: Box<Node>,
    },
}

/// Why a pattern was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    Invalid,
    TooComplex,
}

/// A tree, the number of groups in it, and the number of states it expands to.
#[derive(Debug)]
pub(super) struct Parsed {
    pub(super) node: Node,
    pub(super) groups: u32,
    pub(super) states: u64,
}

/// A finished part of the pattern with its cost.
struct Part {
    node: Node,
    states: u64,
    depth: u32,
}

/// An open parenthesis (or the whole pattern): the alternatives so far and the current one.
struct Open {
    group: Option<u32>,
    alternatives: Vec<Part>,
    sequence: Vec<Part>,
}

/// Parses `pattern`; with `ignore_case` ASCII letters match either case.
pub(super) fn parse(pattern: &[u8], ignore_case: bool) -> Result<Parsed, Refusal> {
    let mut parser = Parser { rest: pattern, ignore_case, states: 3, groups: 0 };
    let mut stack = vec![Open { group: None, alternatives: Vec::new(), sequence: Vec::new() }];
    while let Some(byte) = parser.next() {
        // The stack always holds the whole pattern's entry: `)` pops only when another is below.
        let depth = stack.len();
        let Some(open) = stack.last_mut() else { return Err(Refusal::Invalid) };
        let set = match byte {
            b'(' => {
                parser.add_states(2)?;
                if depth as u32 >= MAX_DEPTH {
                    return Err(Refusal::TooComplex);
                }
                let group = parser.groups;
                parser.groups += 1;
                stack.push(Open {
                    group: Some(group),
                    alternatives: Vec::new(),
                    sequence: Vec::new(),
                });
                continue;
            }
            b')' => {
                if depth == 1 {
                    return Err(Refusal::Invalid);
                }
                let Some(closed) = stack.pop() else { return Err(Refusal::Invalid) };
                let mut part = parser.close(closed)?;
                parser.quantifiers(&mut part)?;
                if let Some(outer) = stack.last_mut() {
                    outer.sequence.push(part);
                }
                continue;
            }
            b'|' => {
                // The join of two alternatives costs two states.
                parser.add_states(2)?;
                let sequence = std::mem::take(&mut open.sequence);
                open.alternatives.push(parser.concat(sequence)?);
                continue;
            }
            b'^' | b'$' => {
                parser.add_states(1)?;
                let node = if byte == b'^' { Node::LineBegin } else { Node::LineEnd };
                open.sequence.push(Part { node, states: 1, depth: 1 });
                continue;
            }
            b'*' | b'+' | b'?' | b'{' | 0 => return Err(Refusal::Invalid),
            b'.' => ByteSet::of(|byte| byte != 0),
            b'[' => {
                let (set, rest) = parse_bracket(parser.rest, ignore_case)?;
                parser.rest = rest;
                set
            }
            b'\\' => {
                let escaped = parser.next().ok_or(Refusal::Invalid)?;
                if !b".[\\()*+?{|^$".contains(&escaped) {
                    return Err(Refusal::Invalid);
                }
                parser.literal(escaped)
            }
            other => parser.literal(other),
        };
        parser.add_states(1)?;
        let mut part = Part { node: Node::Set(set), states: 1, depth: 1 };
        parser.quantifiers(&mut part)?;
        open.sequence.push(part);
    }
    match stack.pop() {
        Some(whole) if stack.is_empty() => {
            let part = parser.close(whole)?;
            Ok(Parsed { node: part.node, groups: parser.groups, states: parser.states })
        }
        _ => Err(Refusal::Invalid),
    }
}

struct Parser<'a> {
    rest: &'a [u8],
    ignore_case: bool,
    states: u64,
    groups: u32,
}

impl Parser<'_> {
    fn peek(&self) -> Option<u8> {
        self.rest.first().copied()
    }

    fn next(&mut self) -> Option<u8> {
        let (&first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(first)
    }

    fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        if found {
            self.rest = &self.rest[1..];
        }
        found
    }

    fn add_states(&mut self, count: u64) -> Result<(), Refusal> {
        self.states = self.states.saturating_add(count);
        if self.states > MAX_STATES { Err(Refusal::TooComplex) } else { Ok(()) }
    }

    fn literal(&self, byte: u8) -> ByteSet {
        ByteSet::of(|other| other == byte || self.ignore_case && other.eq_ignore_ascii_case(&byte))
    }

    /// Joins a sequence; its end costs one state.
    fn concat(&mut self, mut sequence: Vec<Part>) -> Result<Part, Refusal> {
        self.add_states(1)?;
        let states = 1 + sequence.iter().map(|part| part.states).sum::<u64>();
        let depth = u32::from(sequence.len() != 1)
            + sequence.iter().map(|part| part.depth).max().unwrap_or(0);
        let node = match sequence.len() {
            0 => Node::Empty,
            1 => sequence.remove(0).node,
            _ => Node::Concat(sequence.into_iter().map(|part| part.node).collect()),
        };
        Ok(Part { node, states, depth })
    }

    /// Finishes what an open parenthesis, or the whole pattern, contains.
    fn close(&mut self, open: Open) -> Result<Part, Refusal> {
        let mut alternatives = open.alternatives;
        alternatives.push(self.concat(open.sequence)?);
        let mut states = alternatives.iter().map(|part| part.states).sum::<u64>()
            + 2 * (alternatives.len() as u64 - 1);
        let mut depth = u32::from(alternatives.len() != 1)
            + alternatives.iter().map(|part| part.depth).max().unwrap_or(0);
        let mut node = alternation(alternatives.into_iter().map(|part| part.node).collect());
        if let Some(group) = open.group {
            node = Node::Group(group, Box::new(node));
            states += 2;
            depth += 1;
        }
        if depth > MAX_DEPTH {
            return Err(Refusal::TooComplex);
        }
        Ok(Part { node, states, depth })
    }

    /// Applies the quantifiers that follow `part`.
    fn quantifiers(&mut self, part: &mut Part) -> Result<(), Refusal> {
        loop {
            let (min, max) = match self.peek() {
                Some(b'*') => (0, None),
                Some(b'+') => (1, None),
                Some(b'?') => (0, Some(1)),
                Some(b'{') => {
                    self.next();
                    let (min, max) = self.interval()?;
                    let copies = match max {
                        None => 2 + (u64::from(min) + 1) * part.states,
                        Some(max) => {
                            let optional = u64::from(max - min);
                            2 + u64::from(min) * part.states + optional * (part.states + 1)
                        }
                    };
                    self.add_states(copies)?;
                    part.states = copies;
                    wrap(part, min, max)?;
                    continue;
                }
                _ => return Ok(()),
            };
            self.next();
            let cost = if max.is_some() { 2 } else { 1 };
            self.add_states(cost)?;
            part.states += cost;
            wrap(part, min, max)?;
        }
    }

    /// Reads the inside of `{…}` and its closing brace.
    fn interval(&mut self) -> Result<(u32, Option<u32>), Refusal> {
        let min = self.count()?;
        let max = if self.eat(b',') {
            if self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
                Some(self.count()?)
            } else {
                None
            }
        } else {
            Some(min)
        };
        if !self.eat(b'}') || max.is_some_and(|max| max < min) {
            return Err(Refusal::Invalid);
        }
        Ok((min, max))
    }

    /// Reads a repetition count; an absurdly large one is kept only as "very large".
    fn count(&mut self) -> Result<u32, Refusal> {
        let mut value = None;
        while let Some(digit) = self.peek().filter(u8::is_ascii_digit) {
            self.next();
            let next =
                value.unwrap_or(0u32).saturating_mul(10).saturating_add(u32::from(digit - b'0'));
            value = Some(next);
        }
        value.ok_or(Refusal::Invalid)
    }
}

/// Wraps `part` into a repetition.
fn wrap(part: &mut Part, min: u32, max: Option<u32>) -> Result<(), Refusal> {
    part.depth += 1;
    if part.depth > MAX_DEPTH {
        return Err(Refusal::TooComplex);
    }
    let body = std::mem::replace(&mut part.node, Node::Empty);
    part.node = Node::Repeat { min, max, body: Box::new(body) };
    Ok(())
}

/// Joins alternatives; alternatives that are all single bytes become one set.
fn alternation(mut alternatives: Vec<Node>) -> Node {
    if alternatives.len() == 1 {
        return alternatives.remove(0);
    }
    let mut union = ByteSet::default();
    for alternative in &alternatives {
        let Node::Set(set) = alternative else { return Node::Alternation(alternatives) };
        union = union.union(set);
    }
    Node::Set(union)
}
