//! The work in the words of each engine; the C++ ones are in `cpp/`.
//!
//! Every engine does a row in the way its own documentation recommends, without cut-offs; all start
//! from inside a worker.

mod cells;
mod crossbeam;
mod executor;
mod maps;
mod raddle;
mod rayon;
mod threads;
mod tokio;

use crate::measure::{Measured, Meter};
use crate::plan::{Engine, Row};

/// What a child process is asked to do.
#[derive(Clone, Copy, Debug)]
pub struct Job {
    /// The work.
    pub row: Row,
    /// How many workers the engine has.
    pub workers: usize,
    /// The size of the work; see [`Row::size`].
    pub size: u64,
}

impl Job {
    /// Does the work with `engine` and returns what it took; `None` if the engine cannot do it.
    ///
    /// # Panics
    ///
    /// Panics if the engine comes to a wrong result.
    pub fn run(self, engine: Engine, meter: &Meter) -> Option<Measured> {
        match (engine, self.row) {
            (_, Row::MemoHot | Row::MemoUniform | Row::InternHot | Row::InternUniform) => {
                maps::run(self, engine, meter)
            }
            (Engine::Raddle, _) => raddle::run(self, meter),
            (Engine::Rayon, _) => rayon::run(self, meter),
            (Engine::Crossbeam, _) => crossbeam::run(self, meter),
            (Engine::Tokio, _) => tokio::run(self, meter),
            (Engine::Threads, _) => threads::run(self, meter),
            _ => None,
        }
    }
}
