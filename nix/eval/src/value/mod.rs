//! Values: one 64-bit word each.
//!
//! ```text
//! low 3 bits   rest of the word
//! 0 Thunk      address of a thunk, evaluated or not
//! 1 Int        61-bit integer
//! 2 Constant   null, true, false
//! 3 Attrs      address of a set
//! 4 List       address of a list
//! 5 Str        address of a string
//! 6 Function   address of a lambda, a built-in or a partial application
//! 7 Boxed      address of a wide integer, a float or a path
//! ```
//!
//! A word is plain data: it can be copied, compared and sent to other threads. Whatever it points
//! at lives as long as the process and is immutable, except for thunks (see `thunk`) and for
//! slots, in which a thunk may be replaced by its result.
//!
//! Not here: evaluation.
#![expect(unsafe_code, reason = "turns tagged words back into references to heap objects")]

pub mod attrs;
pub(crate) mod budget;
pub mod context;
pub(crate) mod env;
pub mod function;
pub(crate) mod heap;
pub mod list;
pub mod string;
pub(crate) mod thunk;

use std::sync::atomic::{AtomicU64, Ordering};

pub use attrs::{Attr, Attrs, AttrsBuilder, Shape};
pub use budget::OutOfMemory;
pub use context::Context;
pub use function::{Function, LambdaRef, PartialApp, PrimOp};
pub use list::List;
pub use string::Str;

use heap::{Heap, Kind};
use thunk::Thunk;

const TAG_BITS: u64 = 7;

/// What a word's low bits say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u64)]
pub(crate) enum Tag {
    Thunk = 0,
    Int = 1,
    Constant = 2,
    Attrs = 3,
    List = 4,
    Str = 5,
    Function = 6,
    Boxed = 7,
}

/// A value, evaluated or not.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub struct Value(pub(crate) u64);

/// The types of evaluated values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Type {
    /// A signed 64-bit integer.
    Int,
    /// A double.
    Float,
    /// `true` or `false`.
    Bool,
    /// Bytes with a context.
    String,
    /// An absolute path.
    Path,
    /// `null`.
    Null,
    /// An attribute set.
    Set,
    /// A list.
    List,
    /// A lambda, a built-in or a partial application.
    Function,
}

impl Type {
    /// Returns the name that `builtins.typeOf` gives.
    pub fn name(self) -> &'static str {
        match self {
            Type::Int => "int",
            Type::Float => "float",
            Type::Bool => "bool",
            Type::String => "string",
            Type::Path => "path",
            Type::Null => "null",
            Type::Set => "set",
            Type::List => "list",
            Type::Function => "lambda",
        }
    }

    /// Returns the type with its article, as error messages name it.
    pub fn with_article(self) -> &'static str {
        match self {
            Type::Int => "an integer",
            Type::Float => "a float",
            Type::Bool => "a Boolean",
            Type::String => "a string",
            Type::Path => "a path",
            Type::Null => "null",
            Type::Set => "a set",
            Type::List => "a list",
            Type::Function => "a function",
        }
    }
}

/// An evaluated value, taken apart for matching.
#[derive(Debug, Clone, Copy)]
pub enum View {
    /// An integer.
    Int(i64),
    /// A float.
    Float(f64),
    /// A Boolean.
    Bool(bool),
    /// A string.
    Str(Str),
    /// The bytes of a path.
    Path(&'static [u8]),
    /// Null.
    Null,
    /// A set.
    Attrs(Attrs),
    /// A list.
    List(List),
    /// A function.
    Function(Function),
    /// Not evaluated yet.
    Thunk,
}

impl Value {
    /// `null`
    pub const NULL: Value = Value(Tag::Constant as u64);
    /// `true`
    pub const TRUE: Value = Value(1 << 3 | Tag::Constant as u64);
    /// `false`
    pub const FALSE: Value = Value(2 << 3 | Tag::Constant as u64);

    /// Returns a Boolean.
    #[inline]
    pub fn bool(b: bool) -> Value {
        if b { Value::TRUE } else { Value::FALSE }
    }

    #[inline(always)]
    pub(crate) fn tag(self) -> Tag {
        match self.0 & TAG_BITS {
            0 => Tag::Thunk,
            1 => Tag::Int,
            2 => Tag::Constant,
            3 => Tag::Attrs,
            4 => Tag::List,
            5 => Tag::Str,
            6 => Tag::Function,
            _ => Tag::Boxed,
        }
    }

    #[inline(always)]
    pub(crate) fn from_ptr(ptr: *const u64, tag: Tag) -> Value {
        Value(ptr.expose_provenance() as u64 | tag as u64)
    }

    /// Returns the address of the object that this word points at.
    #[inline(always)]
    pub(crate) fn ptr(self) -> *mut u64 {
        std::ptr::with_exposed_provenance_mut((self.0 & !TAG_BITS) as usize)
    }

    /// Returns whether this is a thunk, evaluated or not.
    #[inline(always)]
    pub(crate) fn is_thunk(self) -> bool {
        self.0 & TAG_BITS == 0
    }

    #[inline(always)]
    pub(crate) fn as_thunk(self) -> Option<Thunk> {
        self.is_thunk().then(|| Thunk::from_ptr(self.ptr()))
    }

    /// Returns an integer.
    #[inline]
    pub(crate) fn int(heap: &Heap, i: i64) -> Value {
        if i << 3 >> 3 == i {
            return Value((i as u64) << 3 | Tag::Int as u64);
        }
        Value::boxed(heap, Kind::Int, i as u64)
    }

    /// Returns a float.
    pub(crate) fn float(heap: &Heap, f: f64) -> Value {
        Value::boxed(heap, Kind::Float, f.to_bits())
    }

    fn boxed(heap: &Heap, kind: Kind, payload: u64) -> Value {
        let ptr = heap.alloc(2);
        // SAFETY: `alloc` returned two words that nobody else knows yet.
        unsafe {
            ptr.write(kind as u64);
            ptr.add(1).write(payload);
        }
        Value::from_ptr(ptr, Tag::Boxed)
    }

    /// Returns a path from its bytes, which must be absolute and canonical.
    pub(crate) fn path(heap: &Heap, bytes: &[u8]) -> Value {
        let ptr = string::alloc_bytes(heap, Kind::Path, 1, bytes);
        Value::from_ptr(ptr, Tag::Boxed)
    }

    /// Takes an evaluated value apart; an evaluated thunk is looked through.
    #[inline]
    pub fn view(self) -> View {
        match self.tag() {
            Tag::Thunk => match self.as_thunk().and_then(Thunk::result) {
                Some(value) if !value.is_thunk() => value.view(),
                _ => View::Thunk,
            },
            Tag::Int => View::Int((self.0 as i64) >> 3),
            Tag::Constant => match self {
                Value::TRUE => View::Bool(true),
                Value::FALSE => View::Bool(false),
                _ => View::Null,
            },
            Tag::Attrs => View::Attrs(Attrs::from_ptr(self.ptr())),
            Tag::List => View::List(List::from_ptr(self.ptr())),
            Tag::Str => View::Str(Str::from_ptr(self.ptr())),
            Tag::Function => View::Function(Function::from_ptr(self.ptr())),
            Tag::Boxed => self.view_boxed(),
        }
    }

    fn view_boxed(self) -> View {
        let ptr = self.ptr();
        // SAFETY: a boxed word points at an object of at least two words, immutable since it was
        // made; its header is the first.
        let (header, payload) = unsafe { (*ptr, *ptr.add(1)) };
        match header as u8 {
            k if k == Kind::Int as u8 => View::Int(payload as i64),
            k if k == Kind::Float as u8 => View::Float(f64::from_bits(payload)),
            _ => View::Path(string::bytes_at(ptr, 1)),
        }
    }

    /// Returns the type of an evaluated value; `None` for one that is not evaluated.
    pub fn type_of(self) -> Option<Type> {
        Some(match self.view() {
            View::Int(_) => Type::Int,
            View::Float(_) => Type::Float,
            View::Bool(_) => Type::Bool,
            View::Str(_) => Type::String,
            View::Path(_) => Type::Path,
            View::Null => Type::Null,
            View::Attrs(_) => Type::Set,
            View::List(_) => Type::List,
            View::Function(_) => Type::Function,
            View::Thunk => return None,
        })
    }

    /// Returns the value, looking through a thunk, if evaluating it now would do nothing at all: it
    /// cannot fail, and says nothing. Using it early is then unseen, whatever other tasks do.
    #[inline]
    pub(crate) fn settled(self) -> Option<Value> {
        match self.as_thunk() {
            None => Some(self),
            Some(thunk) => thunk.quiet_result(),
        }
    }

    /// Looks through an evaluated thunk.
    #[inline]
    #[must_use]
    pub fn resolved(self) -> Value {
        match self.as_thunk().and_then(Thunk::result) {
            Some(value) => value,
            None => self,
        }
    }
}

impl std::fmt::Debug for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.view().fmt(f)
    }
}

/// A place that holds a value and in which a thunk may be replaced by its result.
///
/// All writes after publication store an equivalent value, so readers on any thread may see the
/// old or the new word.
#[derive(Debug)]
#[repr(transparent)]
pub struct Slot(AtomicU64);

impl Slot {
    /// Returns the value.
    #[inline(always)]
    pub fn get(&self) -> Value {
        // `Acquire` pairs with the `Release` in `set`: whoever sees a result also sees the object.
        Value(self.0.load(Ordering::Acquire))
    }

    /// Replaces the value by an equivalent one, or fills the slot for the first time.
    #[inline(always)]
    pub(crate) fn set(&self, value: Value) {
        self.0.store(value.0, Ordering::Release);
    }
}
