//! Environments: frames of variables, each with a pointer to the enclosing one.
//!
//! ```text
//! header(kind 8 bits, slots 8 bits, address of the enclosing frame 48 bits) slots…
//! ```
//!
//! A frame with 255 slots or more says 255 and has the true number in the word before its header.
#![expect(unsafe_code, reason = "reads the words of frames")]

use super::heap::{Heap, Kind};
use super::{Slot, Value};

/// The slots beyond which a frame needs an extra word for its size.
const MANY: usize = 255;

/// A frame of variables.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Env(*const u64);

static ROOT: u64 = Kind::Env as u64;

impl Env {
    /// Returns the frame in which files are evaluated: it has no variables.
    pub(crate) fn root() -> Env {
        Env(&raw const ROOT)
    }

    /// Allocates a frame of empty slots inside `up`.
    #[inline]
    pub(crate) fn new(heap: &Heap, up: Env, slots: usize) -> Env {
        let ptr = if slots < MANY {
            heap.alloc(1 + slots)
        } else {
            let ptr = heap.alloc(2 + slots);
            // SAFETY: the object has `2 + slots` words that nobody else knows yet.
            unsafe {
                ptr.write(slots as u64);
                ptr.add(1)
            }
        };
        let header = up.to_word() << 16 | (slots.min(MANY) as u64) << 8 | Kind::Env as u64;
        // SAFETY: `ptr` is the first of at least `1 + slots` words that nobody else knows yet.
        unsafe { ptr.write(header) };
        Env(ptr)
    }

    /// Returns the frame `levels` further out.
    #[inline(always)]
    pub(crate) fn up(self, levels: u32) -> Env {
        let mut env = self;
        for _ in 0..levels {
            // SAFETY: the compile stage counted the enclosing frames, so `env` is not the root;
            // a frame's header never changes.
            let header = unsafe { *env.0 };
            env = Env::from_word(header >> 16);
        }
        env
    }

    /// Returns the slot of a variable.
    #[inline(always)]
    pub(crate) fn slot(self, index: u32) -> &'static Slot {
        // SAFETY: the compile stage numbers the variables of a scope from 0 and makes frames of
        // that many slots; `Slot` is a transparent wrapper around a word.
        unsafe { &*self.0.add(1 + index as usize).cast::<Slot>() }
    }

    /// Returns the value of a variable.
    #[inline(always)]
    pub(crate) fn get(self, levels: u32, index: u32) -> Value {
        self.up(levels).slot(index).get()
    }

    #[inline(always)]
    pub(crate) fn to_word(self) -> u64 {
        self.0.expose_provenance() as u64
    }

    #[inline(always)]
    pub(crate) fn from_word(word: u64) -> Env {
        Env(std::ptr::with_exposed_provenance(word as usize))
    }
}

impl std::fmt::Debug for Env {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Env({:#x})", self.to_word())
    }
}
