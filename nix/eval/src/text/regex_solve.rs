//! Resolves matches whose choice is neither "first" nor "longest" but the mixture of
//! `std::regex`, in time and memory linear in pattern times subject.
//!
//! A match from a state at a position is chosen like this: at an alternation, the branch with the
//! longer match, the left one if they tie; at a repetition, one more round if that leads to any
//! match, else leaving. What is chosen depends on state and position alone, so each pair is
//! decided once and remembered. Rounds of a loop that consume nothing are allowed twice, which is
//! observable through the groups; pairs inside such loops also remember how often.
//!
//! Always holds: no recursion on the subject; at most `MAX_MEMORY` remembered decisions.
//!
//! Not here: finding where a match begins (`regex`).

use hashbrown::HashMap;

use super::regex_parse::{ByteSet, Node};

/// Decisions that may be remembered at once (about 100 MiB at worst).
const MAX_MEMORY: usize = 1 << 21;

/// Repetitions that rounds without progress may come by; each multiplies the work by up to three.
const MAX_COUNTERS: u32 = 10;

/// One automaton state.
#[derive(Clone, Copy, Debug)]
enum State {
    Byte { set: u32, next: u32 },
    Alternation { left: u32, right: u32 },
    Repeat { body: u32, next: u32, counter: Option<u32> },
    GroupBegin { group: u32, next: u32 },
    GroupEnd { group: u32, next: u32 },
    LineBegin { next: u32 },
    LineEnd { next: u32 },
    Accept,
}

/// A pattern as an automaton.
#[derive(Debug)]
pub(super) struct Program {
    states: Vec<State>,
    sets: Vec<ByteSet>,
    start: u32,
    counters: u32,
    groups: usize,
}

/// Group spans, `None` for a group that took no part.
pub(super) type Groups = Vec<Option<(usize, usize)>>;

impl Program {
    /// Translates a tree with `groups` groups.
    pub(super) fn new(node: &Node, groups: u32) -> Self {
        let mut program = Self {
            states: vec![State::Accept],
            sets: Vec::new(),
            start: 0,
            counters: 0,
            groups: groups as usize,
        };
        program.start = program.add(node, 0, false);
        program
    }

    /// Returns whether the program has few enough loops without progress to be solved.
    pub(super) fn is_solvable(&self) -> bool {
        self.counters <= MAX_COUNTERS
    }

    fn push(&mut self, state: State) -> u32 {
        self.states.push(state);
        self.states.len() as u32 - 1
    }

    /// Adds states for `node` that continue at `next` and returns the first.
    fn add(&mut self, node: &Node, next: u32, in_empty_loop: bool) -> u32 {
        match node {
            Node::Empty => next,
            Node::Set(set) => {
                let found = self.sets.iter().rev().take(64).position(|other| other == set);
                let set = match found {
                    Some(back) => self.sets.len() - 1 - back,
                    None => {
                        self.sets.push(*set);
                        self.sets.len() - 1
                    }
                };
                self.push(State::Byte { set: set as u32, next })
            }
            Node::LineBegin => self.push(State::LineBegin { next }),
            Node::LineEnd => self.push(State::LineEnd { next }),
            Node::Concat(nodes) => {
                nodes.iter().rev().fold(next, |next, node| self.add(node, next, in_empty_loop))
            }
            Node::Alternation(nodes) => {
                let mut starts = nodes.iter().rev().map(|node| self.add(node, next, in_empty_loop));
                let Some(last) = starts.next() else { return next };
                let starts: Vec<u32> = starts.collect();
                starts
                    .into_iter()
                    .fold(last, |right, left| self.push(State::Alternation { left, right }))
            }
            Node::Group(group, body) => {
                let end = self.push(State::GroupEnd { group: *group, next });
                let next = self.add(body, end, in_empty_loop);
                self.push(State::GroupBegin { group: *group, next })
            }
            Node::Repeat { min, max: None, body } => {
                let in_empty_loop = in_empty_loop || body.is_nullable();
                let repeat = self.repeat(next, in_empty_loop && body.is_nullable());
                let first = self.add(body, repeat, in_empty_loop);
                self.set_body(repeat, first);
                match min {
                    0 => repeat,
                    // `x+` enters the same copy that it repeats; `x{1,}` has a copy of its own,
                    // which cannot be told apart.
                    1 => first,
                    _ => (0..*min).fold(repeat, |next, _| self.add(body, next, in_empty_loop)),
                }
            }
            Node::Repeat { min, max: Some(max), body } => {
                let mut start = next;
                for _ in *min..*max {
                    let repeat = self.repeat(next, in_empty_loop && body.is_nullable());
                    let first = self.add(body, start, in_empty_loop);
                    self.set_body(repeat, first);
                    start = repeat;
                }
                (0..*min).fold(start, |next, _| self.add(body, next, in_empty_loop))
            }
        }
    }

    /// Adds a repetition whose body is set later. Only one that can be come by again without
    /// progress while inside its body has to count.
    fn repeat(&mut self, next: u32, counts: bool) -> u32 {
        let counter = counts.then(|| {
            self.counters += 1;
            (self.counters - 1).min(MAX_COUNTERS)
        });
        self.push(State::Repeat { body: 0, next, counter })
    }

    fn set_body(&mut self, repeat: u32, first: u32) {
        if let State::Repeat { body, .. } = &mut self.states[repeat as usize] {
            *body = first;
        }
    }
}

/// A point of decision: the state, the position, and the rounds without progress so far, two bits
/// for each counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Point {
    state: u32,
    counts: u64,
    position: usize,
}

/// What is to be done with the outcome of the point last evaluated.
enum Pending {
    /// It was the left branch; the right one follows.
    Left { point: Point, right: u32 },
    /// It was the right branch.
    Right { point: Point, left: Option<usize> },
    /// It was one more round.
    Round { point: Point, next: u32 },
    /// It decides `point`.
    Decide { point: Point },
}

/// Which matches count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Accept {
    /// Any match.
    Any,
    /// Only matches up to the end of the subject.
    AtEnd,
    /// Only matches that consume something.
    NonEmpty,
}

/// Raised when a decision would need more memory than is allowed.
#[derive(Debug)]
pub(super) struct OutOfMemory;

/// Decides matches of one program in one subject.
#[derive(Debug)]
pub(super) struct Solver<'a> {
    program: &'a Program,
    subject: &'a [u8],
    /// Ends of the chosen matches, for `Accept::Any` (or always `AtEnd`).
    memory: Memory,
}

impl<'a> Solver<'a> {
    pub(super) fn new(program: &'a Program, subject: &'a [u8]) -> Self {
        Self { program, subject, memory: HashMap::default() }
    }

    /// Returns the end and the groups of the chosen match that begins at `begin`.
    ///
    /// One solver must be asked either always or never with [`Accept::AtEnd`].
    pub(super) fn solve(
        &mut self,
        begin: usize,
        accept: Accept,
    ) -> Result<Option<(usize, Groups)>, OutOfMemory> {
        let start = Point { counts: 0, position: begin, state: self.program.start };
        let mut first_points = HashMap::default();
        let mut run = Run { solver: self, begin, accept, at_begin: &mut first_points };
        let Some(end) = run.evaluate(start)? else { return Ok(None) };
        let groups = run.walk(start)?;
        Ok(Some((end, groups)))
    }
}

type Memory = HashMap<Point, Option<usize>, foldhash::fast::FixedState>;

/// One question to a solver.
struct Run<'r, 'a> {
    solver: &'r mut Solver<'a>,
    begin: usize,
    accept: Accept,
    /// Decisions at `begin` when an empty match does not count; valid for this question only.
    at_begin: &'r mut Memory,
}

impl Run<'_, '_> {
    fn memory(&mut self, point: &Point) -> &mut Memory {
        if self.accept == Accept::NonEmpty && point.position == self.begin {
            self.at_begin
        } else {
            &mut self.solver.memory
        }
    }

    fn decide(&mut self, point: Point, end: Option<usize>) -> Result<(), OutOfMemory> {
        let memory = self.memory(&point);
        if memory.len() >= MAX_MEMORY {
            return Err(OutOfMemory);
        }
        memory.insert(point, end);
        Ok(())
    }

    /// Follows states without a choice; returns the next choice, or the outcome.
    fn advance(
        &self,
        mut point: Point,
        mut on_group: impl FnMut(u32, bool, usize),
    ) -> Result<(Point, State), Option<usize>> {
        let program = self.solver.program;
        loop {
            let state = program.states[point.state as usize];
            let next = match state {
                State::Byte { set, next } => {
                    match self.solver.subject.get(point.position) {
                        Some(&byte) if program.sets[set as usize].contains(byte) => {}
                        _ => return Err(None),
                    }
                    point.position += 1;
                    point.counts = 0;
                    next
                }
                State::GroupBegin { group, next } => {
                    on_group(group, false, point.position);
                    next
                }
                State::GroupEnd { group, next } => {
                    on_group(group, true, point.position);
                    next
                }
                State::LineBegin { next } if point.position == 0 => next,
                State::LineEnd { next } if point.position == self.solver.subject.len() => next,
                State::LineBegin { .. } | State::LineEnd { .. } => return Err(None),
                State::Accept => {
                    let counts = match self.accept {
                        Accept::Any => true,
                        Accept::AtEnd => point.position == self.solver.subject.len(),
                        Accept::NonEmpty => point.position != self.begin,
                    };
                    return Err(counts.then_some(point.position));
                }
                State::Alternation { .. } | State::Repeat { .. } => return Ok((point, state)),
            };
            point.state = next;
        }
    }

    /// Returns the end of the chosen match from `point`.
    fn evaluate(&mut self, point: Point) -> Result<Option<usize>, OutOfMemory> {
        let mut stack: Vec<Pending> = Vec::new();
        let mut task = Some(point);
        let mut outcome = None;
        loop {
            if let Some(point) = task.take() {
                match self.advance(point, |_, _, _| {}) {
                    Err(end) => outcome = end,
                    Ok((point, state)) => {
                        if let Some(&end) = self.memory(&point).get(&point) {
                            outcome = end;
                        } else {
                            if stack.len() >= MAX_MEMORY {
                                return Err(OutOfMemory);
                            }
                            task = Some(enter(point, state, &mut stack));
                        }
                    }
                }
            }
            if task.is_some() {
                continue;
            }
            match stack.pop() {
                None => return Ok(outcome),
                Some(Pending::Left { point, right }) => {
                    if outcome.is_some() && self.accept == Accept::AtEnd {
                        self.decide(point, outcome)?;
                    } else {
                        stack.push(Pending::Right { point, left: outcome });
                        task = Some(Point { state: right, ..point });
                    }
                }
                Some(Pending::Right { point, left }) => {
                    outcome = if outcome > left { outcome } else { left };
                    self.decide(point, outcome)?;
                }
                Some(Pending::Round { point, next }) => {
                    if outcome.is_some() {
                        self.decide(point, outcome)?;
                    } else {
                        stack.push(Pending::Decide { point });
                        task = Some(Point { state: next, ..point });
                    }
                }
                Some(Pending::Decide { point }) => self.decide(point, outcome)?,
            }
        }
    }

    /// Repeats the choices of an evaluated match and returns its groups.
    fn walk(&mut self, mut point: Point) -> Result<Groups, OutOfMemory> {
        let count = self.solver.program.groups;
        let mut begins = vec![0; count];
        let mut groups: Groups = vec![None; count];
        while let Ok((at, state)) = self.advance(point, |group, is_end, position| {
            let group = group as usize;
            if is_end {
                groups[group] = Some((begins[group], position));
            } else {
                begins[group] = position;
            }
        }) {
            point = match state {
                State::Alternation { left, right } => {
                    let left = Point { state: left, ..at };
                    let right = Point { state: right, ..at };
                    let left_end = self.evaluate(left)?;
                    if left_end.is_some() && left_end >= self.evaluate(at)? { left } else { right }
                }
                State::Repeat { next, .. } => {
                    let mut stack = Vec::new();
                    let round = enter(at, state, &mut stack);
                    let more = matches!(stack.pop(), Some(Pending::Round { .. }))
                        && self.evaluate(round)?.is_some();
                    if more { round } else { Point { state: next, ..at } }
                }
                _ => break,
            };
        }
        Ok(groups)
    }
}

/// Returns what to evaluate first at a choice and notes what comes after.
fn enter(point: Point, state: State, stack: &mut Vec<Pending>) -> Point {
    let (state, counts) = match state {
        State::Alternation { left, right } => {
            stack.push(Pending::Left { point, right });
            (left, point.counts)
        }
        State::Repeat { body, next, counter } => {
            let shift = 2 * counter.unwrap_or(0);
            if counter.is_some() && point.counts >> shift & 3 == 2 {
                stack.push(Pending::Decide { point });
                (next, point.counts)
            } else {
                stack.push(Pending::Round { point, next });
                (body, point.counts + (u64::from(counter.is_some()) << shift))
            }
        }
        _ => (point.state, point.counts),
    };
    Point { state, counts, ..point }
}
