//! The tasks that wait, each in the lists of what it waits for.
//!
//! ```text
//! waits of task 7, in the order in which they began:   3 <--> 9 <--> 4
//! waits for the cell 0x5ac0:                           3 <--> 4
//! ```
//!
//! Everything lies in one array by the number of the task's record, and is linked by numbers; so
//! waiting allocates nothing once the array has grown.
//!
//! Invariant: a task with an edge is in the list of the edge's owner, and in that of its cell if it
//! has one; a task without is in none.

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use crate::sched::record::NONE;

pub(super) struct Waits {
    nodes: Vec<Node>,
    cells: HashMap<usize, List, FixedState>,
    /// Tasks that stepped aside.
    aside: usize,
    /// Tells this search's marks from those of earlier ones.
    search: u32,
}

/// What a task waits for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    /// The cell waited for; none for a task that stepped aside.
    pub(super) cell: Option<usize>,
    pub(super) owner: u32,
}

#[derive(Clone)]
struct Node {
    edge: Option<Edge>,
    /// Places in the lists of the edge's owner and cell.
    links: [Links; 2],
    /// Who waits for this task.
    waiters: List,
    found: Found,
}

const OF_OWNER: usize = 0;
const OF_CELL: usize = 1;

#[derive(Clone, Copy)]
struct Links {
    before: u32,
    after: u32,
}

#[derive(Clone, Copy)]
struct List {
    first: u32,
    last: u32,
}

/// How a search has come to a task.
#[derive(Clone, Copy, Default)]
struct Found {
    search: u32,
    /// The task found before that this one waits for.
    towards: u32,
    /// The task found next.
    next: u32,
}

const EMPTY: List = List { first: NONE, last: NONE };
const UNLINKED: Links = Links { before: NONE, after: NONE };

impl Default for Node {
    fn default() -> Self {
        Self { edge: None, links: [UNLINKED; 2], waiters: EMPTY, found: Found::default() }
    }
}

impl Waits {
    pub(super) fn new() -> Self {
        let cells = HashMap::with_hasher(FixedState::with_seed(3));
        Self { nodes: Vec::new(), cells, aside: 0, search: 0 }
    }

    /// Returns what a task waits for.
    pub(super) fn edge(&self, task: u32) -> Option<Edge> {
        self.nodes.get(task as usize).and_then(|node| node.edge)
    }

    /// Enters a task that is not entered yet.
    pub(super) fn add(&mut self, waiter: u32, edge: Edge) {
        self.make_room(waiter.max(edge.owner));
        self.nodes[waiter as usize].edge = Some(edge);
        let waiters = self.nodes[edge.owner as usize].waiters;
        self.nodes[edge.owner as usize].waiters = self.append(waiters, OF_OWNER, waiter);
        match edge.cell {
            None => self.aside += 1,
            Some(cell) => {
                let waiters = self.cells.get(&cell).copied().unwrap_or(EMPTY);
                let waiters = self.append(waiters, OF_CELL, waiter);
                self.cells.insert(cell, waiters);
            }
        }
    }

    /// Removes a task and returns what it waited for; none if it is not entered.
    pub(super) fn remove(&mut self, waiter: u32) -> Option<Edge> {
        let edge = self.nodes.get_mut(waiter as usize)?.edge.take()?;
        let waiters = self.nodes[edge.owner as usize].waiters;
        self.nodes[edge.owner as usize].waiters = self.unlink(waiters, OF_OWNER, waiter);
        match edge.cell {
            None => self.aside -= 1,
            Some(cell) => {
                let waiters = self.cells[&cell];
                let waiters = self.unlink(waiters, OF_CELL, waiter);
                if waiters.first == NONE {
                    self.cells.remove(&cell);
                } else {
                    self.cells.insert(cell, waiters);
                }
            }
        }
        Some(edge)
    }

    /// Returns the task that has waited for the cell for the longest time.
    pub(super) fn first_for_cell(&self, cell: usize) -> Option<u32> {
        self.cells.get(&cell).map(|waiters| waiters.first)
    }

    /// Returns the task that has waited for `task` for the longest time.
    pub(super) fn first_for_task(&self, task: u32) -> Option<u32> {
        self.waiters_of(task).next()
    }

    /// Returns the task that has stepped aside for `task` for the longest time.
    pub(super) fn first_aside_for(&self, task: u32) -> Option<u32> {
        if self.aside == 0 {
            return None;
        }
        self.waiters_of(task).find(|&waiter| self.is_aside(waiter))
    }

    /// Returns whether the task is one that stepped aside.
    pub(super) fn is_aside(&self, task: u32) -> bool {
        self.edge(task).is_some_and(|edge| edge.cell.is_none())
    }

    /// Returns whether the task waits for a cell.
    pub(super) fn waits_for_cell(&self, task: u32) -> bool {
        self.edge(task).is_some_and(|edge| edge.cell.is_some())
    }

    /// Searches backwards from `task` for somebody who waits for it, directly or not, and is a
    /// target; `joiner_of` returns who else waits for a task.
    ///
    /// Returns how it waits: each member waits for the next, the last is `task`.
    pub(super) fn find_backwards(
        &mut self,
        task: u32,
        joiner_of: impl Fn(u32) -> Option<u32>,
        is_target: impl Fn(u32) -> bool,
    ) -> Option<Vec<u32>> {
        self.begin_search();
        self.mark(task, task);
        let (mut member, mut last) = (task, task);
        while member != NONE {
            let mut waiter = self.first_for_task(member).unwrap_or(NONE);
            let mut joiner = joiner_of(member);
            loop {
                let found = if waiter != NONE {
                    let found = waiter;
                    waiter = self.nodes[waiter as usize].links[OF_OWNER].after;
                    found
                } else if let Some(found) = joiner.take() {
                    found
                } else {
                    break;
                };
                if self.is_marked(found) {
                    continue;
                }
                self.mark(found, member);
                if is_target(found) {
                    return Some(self.way(found, task));
                }
                self.nodes[last as usize].found.next = found;
                last = found;
            }
            member = self.nodes[member as usize].found.next;
        }
        None
    }

    fn waiters_of(&self, task: u32) -> impl Iterator<Item = u32> {
        let mut waiter = self.nodes.get(task as usize).map_or(NONE, |node| node.waiters.first);
        std::iter::from_fn(move || {
            let next = self.nodes.get(waiter as usize)?.links[OF_OWNER].after;
            Some(std::mem::replace(&mut waiter, next))
        })
    }

    fn make_room(&mut self, task: u32) {
        if self.nodes.len() <= task as usize {
            self.nodes.resize(task as usize + 1, Node::default());
        }
    }

    fn begin_search(&mut self) {
        self.search = self.search.wrapping_add(1);
        if self.search == 0 {
            self.nodes.iter_mut().for_each(|node| node.found.search = 0);
            self.search = 1;
        }
    }

    fn mark(&mut self, task: u32, towards: u32) {
        self.make_room(task);
        let search = self.search;
        self.nodes[task as usize].found = Found { search, towards, next: NONE };
    }

    fn is_marked(&self, task: u32) -> bool {
        self.nodes.get(task as usize).is_some_and(|node| node.found.search == self.search)
    }

    fn way(&self, mut member: u32, end: u32) -> Vec<u32> {
        let mut way = vec![member];
        while member != end {
            member = self.nodes[member as usize].found.towards;
            way.push(member);
        }
        way
    }

    /// Returns the list with `waiter` at its end.
    fn append(&mut self, list: List, kind: usize, waiter: u32) -> List {
        self.nodes[waiter as usize].links[kind] = Links { before: list.last, after: NONE };
        if list.first == NONE {
            return List { first: waiter, last: waiter };
        }
        self.nodes[list.last as usize].links[kind].after = waiter;
        List { last: waiter, ..list }
    }

    /// Returns the list without `waiter`.
    fn unlink(&mut self, mut list: List, kind: usize, waiter: u32) -> List {
        let Links { before, after } = self.nodes[waiter as usize].links[kind];
        match before {
            NONE => list.first = after,
            _ => self.nodes[before as usize].links[kind].after = after,
        }
        match after {
            NONE => list.last = before,
            _ => self.nodes[after as usize].links[kind].before = before,
        }
        list
    }
}

#[cfg(all(test, not(raddle_loom)))]
mod tests {
    use super::*;

    fn waits(edges: &[(u32, Option<usize>, u32)]) -> Waits {
        let mut waits = Waits::new();
        for &(waiter, cell, owner) in edges {
            waits.add(waiter, Edge { cell, owner });
        }
        waits
    }

    #[test]
    fn waiters_keep_their_order() {
        let mut waits = waits(&[
            (3, Some(8), 7),
            (9, Some(16), 7),
            (4, Some(8), 7),
            (5, None, 7),
            (6, None, 7),
        ]);
        assert_eq!((waits.first_for_cell(8), waits.first_for_cell(24)), (Some(3), None));
        assert_eq!(waits.first_aside_for(7), Some(5));
        let order: Vec<u32> = waits.waiters_of(7).collect();
        assert_eq!(order, [3, 9, 4, 5, 6]);
        for (removed, left) in
            [(9, vec![3, 4, 5, 6]), (3, vec![4, 5, 6]), (6, vec![4, 5]), (4, vec![5]), (5, vec![])]
        {
            assert!(waits.remove(removed).is_some() && waits.remove(removed).is_none());
            assert_eq!(waits.waiters_of(7).collect::<Vec<u32>>(), left);
        }
        assert_eq!((waits.first_for_cell(8), waits.first_for_cell(16)), (None, None));
        assert_eq!((waits.first_for_task(7), waits.first_aside_for(7)), (None, None));
        assert_eq!((waits.aside, waits.cells.len()), (0, 0));
    }

    #[test]
    fn ways_are_found_backwards() {
        // 1 waits for 2, 2 for 3; 4 and 5 for 3; who has the number + 10 joins a task.
        let mut waits = waits(&[(1, Some(8), 2), (2, Some(16), 3), (4, Some(16), 3), (5, None, 3)]);
        let nobody = |_| None;
        assert_eq!(waits.find_backwards(3, nobody, |task| task == 1), Some(vec![1, 2, 3]));
        assert_eq!(waits.find_backwards(3, nobody, |task| task == 5), Some(vec![5, 3]));
        assert_eq!(waits.find_backwards(3, nobody, |task| task == 3), None);
        assert_eq!(waits.find_backwards(2, nobody, |task| task == 4), None);
        let joiner = |task: u32| (task == 4).then_some(14);
        assert_eq!(waits.find_backwards(3, joiner, |task| task == 14), Some(vec![14, 4, 3]));
        waits.add(20, Edge { cell: None, owner: 14 });
        assert_eq!(waits.find_backwards(3, joiner, |task| task == 20), Some(vec![20, 14, 4, 3]));
    }
}
