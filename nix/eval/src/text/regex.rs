//! Regular expressions as the language has them: POSIX extended, over bytes, as GNU C++
//! `std::regex` decides them.
//!
//! [`Regex::match_whole`] is `builtins.match`, [`Regex::find_iter`] gives what `builtins.split`
//! and search need. Matching takes time linear in pattern times subject and never recurses on the
//! subject.
//!
//! Most patterns run on the `regex-automata` crate. Where the library's choice among several
//! matches is not "first alternative first", that crate finds only where a match begins and
//! `regex_solve` makes the choice.
//!
//! Always holds: a `Regex` is immutable but for engines built on first use, so any number of
//! threads may share one. Their scratch memory is pooled.

use std::sync::OnceLock;

use regex_automata::meta;
use regex_automata::nfa::thompson::WhichCaptures;
use regex_automata::util::captures::Captures;
use regex_automata::util::syntax;
use regex_automata::{Anchored, Input};
use regex_syntax::hir::{self, Hir, Look};

use super::regex_parse::{self, ByteSet, Node, Refusal};
use super::regex_solve::{Accept, Groups, Program, Solver};

/// A group capturing engine needs memory for states times groups; above this another is taken.
const MAX_CAPTURE_SLOTS: u64 = 1 << 20;

/// Why a pattern cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RegexError {
    /// The text is not a regular expression.
    #[error("invalid regular expression '{0}'")]
    Invalid(String),
    /// The pattern is valid but expands to too many states.
    #[error("memory limit exceeded by regular expression '{0}'")]
    MemoryLimit(String),
}

/// A compiled regular expression.
///
/// ```ignore
/// let regex = Regex::new(b"([a-z]+)-([0-9.]+)")?;
/// assert_eq!(regex.match_whole(b"hello-2.12"), Some(vec![Some((0, 5)), Some((6, 10))]));
/// ```
#[derive(Debug)]
pub struct Regex {
    node: Node,
    groups: u32,
    literal: Option<Vec<u8>>,
    /// The crate's engine can be asked for groups without using too much memory.
    with_groups: bool,
    /// The solver decides the groups of a match of everything.
    solve_whole: bool,
    /// The solver decides length and groups of a match inside the subject.
    solve_inside: bool,
    whole: OnceLock<Option<meta::Regex>>,
    inside: OnceLock<Option<meta::Regex>>,
    program: OnceLock<Program>,
}

/// One match inside a subject.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Match {
    /// Where the match begins.
    pub start: usize,
    /// Where the match ends.
    pub end: usize,
    /// The spans of the groups, `None` for those that took no part.
    pub groups: Vec<Option<(usize, usize)>>,
}

impl Regex {
    /// Compiles `pattern`.
    pub fn new(pattern: &[u8]) -> Result<Self, RegexError> {
        Self::compile(pattern, false)
    }

    /// Compiles `pattern` so that ASCII letters match in either case.
    pub fn new_ignore_case(pattern: &[u8]) -> Result<Self, RegexError> {
        Self::compile(pattern, true)
    }

    fn compile(pattern: &[u8], ignore_case: bool) -> Result<Self, RegexError> {
        let parsed = regex_parse::parse(pattern, ignore_case).map_err(|refusal| {
            let text = String::from_utf8_lossy(pattern).into_owned();
            match refusal {
                Refusal::Invalid => RegexError::Invalid(text),
                Refusal::TooComplex => RegexError::MemoryLimit(text),
            }
        })?;
        let node = parsed.node;
        let with_groups = parsed.states * u64::from(parsed.groups) <= MAX_CAPTURE_SLOTS;
        let program = OnceLock::new();
        let empty_loop = node.has_empty_loop();
        let solvable =
            !empty_loop || program.get_or_init(|| Program::new(&node, parsed.groups)).is_solvable();
        if !solvable && !with_groups {
            return Err(RegexError::MemoryLimit(String::from_utf8_lossy(pattern).into_owned()));
        }
        let solve_groups = solvable && parsed.groups > 0 && (empty_loop || !with_groups);
        Ok(Self {
            literal: node.literal(),
            with_groups,
            solve_whole: solve_groups,
            solve_inside: solve_groups || solvable && node.has_length_choice(),
            groups: parsed.groups,
            node,
            whole: OnceLock::new(),
            inside: OnceLock::new(),
            program,
        })
    }

    /// Returns the number of groups.
    pub fn group_count(&self) -> usize {
        self.groups as usize
    }

    /// Matches all of `subject` and returns the spans of the groups.
    pub fn match_whole(&self, subject: &[u8]) -> Option<Vec<Option<(usize, usize)>>> {
        if let Some(literal) = &self.literal {
            return (literal == subject).then(Vec::new);
        }
        let input = Input::new(subject).anchored(Anchored::Yes);
        let engine = self.whole.get_or_init(|| {
            let end = Hir::look(Look::End);
            build(Hir::concat(vec![to_hir(&self.node), end]), self.with_groups)
        });
        match engine {
            None => {
                let found = Solver::new(self.program(), subject).solve(0, Accept::AtEnd);
                found.ok().flatten().map(|(_, groups)| groups)
            }
            Some(engine) if self.groups == 0 => engine.is_match(input).then(Vec::new),
            Some(engine) => {
                if self.solve_whole {
                    if !engine.is_match(input.clone()) {
                        return None;
                    }
                    if let Ok(found) = Solver::new(self.program(), subject).solve(0, Accept::AtEnd)
                    {
                        return found.map(|(_, groups)| groups);
                    }
                }
                let mut captures = engine.create_captures();
                engine.search_captures(&input, &mut captures);
                captures.is_match().then(|| self.groups_of(&captures))
            }
        }
    }

    /// Returns whether `subject` has a match anywhere.
    pub fn is_match_anywhere(&self, subject: &[u8]) -> bool {
        match self.inside() {
            Some(engine) => engine.is_match(Input::new(subject)),
            None => self.find_iter(subject).next().is_some(),
        }
    }

    /// Returns the matches in `subject` from left to right, as `std::regex_iterator` steps: after
    /// an empty match it tries for a non-empty one in the same place, else one byte further.
    pub fn find_iter<'a>(&'a self, subject: &'a [u8]) -> Matches<'a> {
        let engine = self.inside();
        let solver =
            (self.solve_inside || engine.is_none()).then(|| Solver::new(self.program(), subject));
        Matches {
            regex: self,
            engine,
            solver,
            subject,
            at: Some(0),
            after_empty: false,
            captures: None,
        }
    }

    fn program(&self) -> &Program {
        self.program.get_or_init(|| Program::new(&self.node, self.groups))
    }

    fn inside(&self) -> Option<&meta::Regex> {
        self.inside.get_or_init(|| build(to_hir(&self.node), self.with_groups)).as_ref()
    }

    fn groups_of(&self, captures: &Captures) -> Groups {
        (1..=self.group_count())
            .map(|group| captures.get_group(group).map(|span| (span.start, span.end)))
            .collect()
    }
}

/// The matches inside a subject; see [`Regex::find_iter`].
#[derive(Debug)]
pub struct Matches<'a> {
    regex: &'a Regex,
    engine: Option<&'a meta::Regex>,
    solver: Option<Solver<'a>>,
    subject: &'a [u8],
    /// Where to go on; `None` at the end.
    at: Option<usize>,
    after_empty: bool,
    captures: Option<Captures>,
}

impl Iterator for Matches<'_> {
    type Item = Match;

    fn next(&mut self) -> Option<Match> {
        let mut at = self.at?;
        let mut found = None;
        if self.after_empty {
            if at == self.subject.len() {
                self.at = None;
                return None;
            }
            found = self.solve(at, Accept::NonEmpty);
            at += usize::from(found.is_none());
        }
        let found = found.or_else(|| self.find(at));
        self.after_empty = found.as_ref().is_some_and(|found| found.start == found.end);
        self.at = found.as_ref().map(|found| found.end);
        found
    }
}

impl Matches<'_> {
    /// Finds the next match at or after `at`.
    fn find(&mut self, at: usize) -> Option<Match> {
        let Some(engine) = self.engine else {
            return (at..=self.subject.len()).find_map(|at| self.solve(at, Accept::Any));
        };
        let mut input = Input::new(self.subject).range(at..);
        if self.solver.is_some() {
            let first = engine.search(&input)?;
            if let Some(found) = self.solve(first.start(), Accept::Any) {
                return Some(found);
            }
            input.set_start(first.start());
        }
        if self.regex.groups == 0 {
            let found = engine.search(&input)?;
            return Some(Match { start: found.start(), end: found.end(), groups: Vec::new() });
        }
        let captures = self.captures.get_or_insert_with(|| engine.create_captures());
        engine.search_captures(&input, captures);
        let span = captures.get_match()?;
        let groups = self.regex.groups_of(captures);
        Some(Match { start: span.start(), end: span.end(), groups })
    }

    fn solve(&mut self, at: usize, accept: Accept) -> Option<Match> {
        // Without a solver an empty match is chosen only where no other is possible.
        let solver = self.solver.as_mut()?;
        match solver.solve(at, accept) {
            Ok(found) => found.map(|(end, groups)| Match { start: at, end, groups }),
            Err(_) => {
                *solver = Solver::new(self.regex.program(), self.subject);
                let (end, groups) = solver.solve(at, accept).ok().flatten()?;
                Some(Match { start: at, end, groups })
            }
        }
    }
}

/// Builds the crate's engine; `None` if the pattern is beyond it.
fn build(hir: Hir, with_groups: bool) -> Option<meta::Regex> {
    let captures = if with_groups { WhichCaptures::All } else { WhichCaptures::Implicit };
    let config = meta::Config::new()
        .utf8_empty(false)
        .which_captures(captures)
        .nfa_size_limit(None)
        .hybrid_cache_capacity(1 << 20);
    meta::Builder::new()
        .configure(config)
        .syntax(syntax::Config::new().utf8(false))
        .build_from_hir(&hir)
        .ok()
}

fn to_hir(node: &Node) -> Hir {
    match node {
        Node::Empty => Hir::empty(),
        Node::LineBegin => Hir::look(Look::Start),
        Node::LineEnd => Hir::look(Look::End),
        Node::Set(set) => match set.single() {
            Some(byte) => Hir::literal([byte]),
            None => Hir::class(hir::Class::Bytes(class(set))),
        },
        Node::Concat(nodes) => Hir::concat(nodes.iter().map(to_hir).collect()),
        Node::Alternation(nodes) => Hir::alternation(nodes.iter().map(to_hir).collect()),
        Node::Group(group, body) => {
            Hir::capture(hir::Capture { index: group + 1, name: None, sub: Box::new(to_hir(body)) })
        }
        Node::Repeat { min, max, body } => Hir::repetition(hir::Repetition {
            min: *min,
            max: *max,
            greedy: true,
            sub: Box::new(to_hir(body)),
        }),
    }
}

fn class(set: &ByteSet) -> hir::ClassBytes {
    let bytes = (0..=255).filter(|&byte| set.contains(byte));
    hir::ClassBytes::new(bytes.map(|byte| hir::ClassBytesRange::new(byte, byte)))
}
