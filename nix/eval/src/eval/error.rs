//! Errors: what went wrong, and the frames it passed through on its way out.
//!
//! An [`Error`] is one word, because every evaluation step returns one or a value; it points at a
//! list of frames that ends in the cause. Like all that thunks may point at, it is never freed: a
//! failed thunk keeps its error for every later reader.
#![expect(unsafe_code, reason = "keeps errors in the words of failed thunks")]

use raddle_nix_syntax::Pos;

/// The result of an evaluation step.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The kinds of causes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// `throw`, or a search-path lookup that found nothing: `tryEval` catches it.
    Thrown,
    /// A failed `assert`: `tryEval` catches it.
    Assertion,
    /// `abort`.
    Abort,
    /// A value of the wrong type.
    Type,
    /// A variable that is not defined.
    UndefinedVariable,
    /// An attribute that is not there.
    MissingAttribute,
    /// A value that needs itself. Not kept in thunks: where it is noticed depends on where
    /// evaluation began.
    InfiniteRecursion,
    /// Too deep. Not kept in thunks for the same reason.
    StackOverflow,
    /// A file that does not parse.
    Syntax,
    /// Something that needs a build.
    ImportFromDerivation,
    /// Anything else.
    Other,
    /// Not an error of the program: what the task evaluates is not needed any more.
    Abandoned,
}

impl ErrorKind {
    /// Returns whether no user ever sees it.
    fn is_pseudo(self) -> bool {
        self == ErrorKind::Abandoned
    }
}

/// An error with its trace.
#[derive(Clone, Copy)]
pub struct Error(&'static Node);

/// A frame of a trace, or the cause at its end.
#[derive(Debug)]
enum Node {
    Cause(Cause),
    /// A frame, what it is around, and the cause at the end: asking for it must not cost a walk.
    Frame(Frame, Error, &'static Cause),
}

/// What went wrong.
#[derive(Debug)]
pub struct Cause {
    /// The kind.
    pub kind: ErrorKind,
    /// The text, without `error:`.
    pub message: String,
    /// Where.
    pub pos: Pos,
    /// A text such as ``Did you mean `x`?``, or empty.
    pub hint: String,
}

/// A step of evaluation that an error passed through.
#[derive(Debug)]
pub struct Frame {
    /// A text such as `while evaluating …`.
    pub text: String,
    /// Where.
    pub pos: Pos,
    /// Whether it is shown even where a trace is cut short.
    pub always: bool,
}

impl Cause {
    const fn pseudo(kind: ErrorKind) -> Cause {
        Cause { kind, message: String::new(), pos: Pos::NONE, hint: String::new() }
    }
}

impl Error {
    /// Returns an error without frames.
    #[cold]
    pub fn new(kind: ErrorKind, pos: Pos, message: impl Into<String>) -> Error {
        Error::with_hint(kind, pos, message, String::new())
    }

    /// Returns an error with a hint.
    #[cold]
    pub fn with_hint(kind: ErrorKind, pos: Pos, message: impl Into<String>, hint: String) -> Error {
        let cause = Cause { kind, message: message.into(), pos, hint };
        Error(Box::leak(Box::new(Node::Cause(cause))))
    }

    /// Returns the pseudo-error of a task that is not needed any more.
    #[cold]
    pub(crate) fn abandoned() -> Error {
        static ABANDONED: Node = Node::Cause(Cause::pseudo(ErrorKind::Abandoned));
        Error(&ABANDONED)
    }

    /// Adds a frame.
    #[cold]
    #[must_use]
    pub fn frame(self, pos: Pos, text: impl Into<String>) -> Error {
        self.push(Frame { text: text.into(), pos, always: false })
    }

    /// Adds a frame that is always shown.
    #[cold]
    #[must_use]
    pub fn always_frame(self, pos: Pos, text: impl Into<String>) -> Error {
        self.push(Frame { text: text.into(), pos, always: true })
    }

    fn push(self, frame: Frame) -> Error {
        // A frame without a text says nothing: the caller adds its own.
        if self.kind().is_pseudo() || frame.text.is_empty() {
            return self;
        }
        Error(Box::leak(Box::new(Node::Frame(frame, self, self.cause()))))
    }

    /// Gives an infinite recursion a position as long as it has no frames: where the thunk that
    /// needs itself leads into the cycle.
    #[cold]
    #[must_use]
    pub(crate) fn at(self, pos: Pos) -> Error {
        match self.0 {
            Node::Cause(cause) if cause.kind == ErrorKind::InfiniteRecursion => {
                Error::with_hint(cause.kind, pos, cause.message.clone(), cause.hint.clone())
            }
            _ => self,
        }
    }

    /// Gives a call that is too deep a position as long as it has neither that nor frames.
    #[cold]
    #[must_use]
    pub(crate) fn too_deep_at(self, pos: Pos) -> Error {
        match self.0 {
            Node::Cause(cause)
                if cause.kind == ErrorKind::StackOverflow && !cause.pos.is_known() =>
            {
                Error::new(cause.kind, pos, cause.message.clone())
            }
            _ => self,
        }
    }

    /// Returns the cause.
    pub fn cause(self) -> &'static Cause {
        match self.0 {
            Node::Cause(cause) => cause,
            Node::Frame(_, _, cause) => cause,
        }
    }

    /// Returns the kind of the cause.
    pub fn kind(self) -> ErrorKind {
        self.cause().kind
    }

    /// Returns the frames, outermost first.
    pub fn frames(self) -> impl Iterator<Item = &'static Frame> {
        let mut error = self;
        std::iter::from_fn(move || match error.0 {
            Node::Cause(_) => None,
            Node::Frame(frame, inner, _) => {
                error = *inner;
                Some(frame)
            }
        })
    }

    /// Returns whether `tryEval` catches it.
    pub fn is_catchable(self) -> bool {
        matches!(self.kind(), ErrorKind::Thrown | ErrorKind::Assertion)
    }

    /// Returns whether a thunk may keep it.
    pub(crate) fn is_lasting(self) -> bool {
        !matches!(
            self.kind(),
            ErrorKind::InfiniteRecursion | ErrorKind::StackOverflow | ErrorKind::Abandoned
        )
    }

    pub(crate) fn to_word(self) -> u64 {
        std::ptr::from_ref(self.0).expose_provenance() as u64
    }

    pub(crate) fn from_word(word: u64) -> Error {
        let node = std::ptr::with_exposed_provenance(word as usize);
        // SAFETY: the word of a failed thunk was made by `to_word`, and nodes are never freed.
        Error(unsafe { &*node })
    }
}

impl std::fmt::Debug for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.cause().message)
    }
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.cause().message)
    }
}

impl std::error::Error for Error {}

/// Adds frames to failures.
pub trait Trace<T> {
    /// Adds a frame on the way out.
    fn trace(self, pos: Pos, text: impl FnOnce() -> String) -> Result<T>;
}

impl<T> Trace<T> for Result<T> {
    #[inline(always)]
    fn trace(self, pos: Pos, text: impl FnOnce() -> String) -> Result<T> {
        match self {
            Ok(value) => Ok(value),
            Err(error) => Err(add(error, pos, text)),
        }
    }
}

#[cold]
#[inline(never)]
fn add(error: Error, pos: Pos, text: impl FnOnce() -> String) -> Error {
    error.frame(pos, text())
}
