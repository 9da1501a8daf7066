//! What a record holds of its task: first the closure, then what concerns a running task.
//!
//! ```text
//!             store              consume: the closure moves to the stack and is called
//! (nothing) --------> waiting ----------------------------------------------------------> running
//! ```
//!
//! The two never exist at the same time, so they share their place, and a task with a small closure
//! fits a cache line. A closure of up to three words lies in the record, a larger one in an array
//! of its own at the record's number; a very large one is boxed.
//!
//! Invariant: a stored closure is called or dropped exactly once, by whoever took the number from
//! a queue; `running` is looked at only after that.

#![expect(unsafe_code, reason = "stores closures of any type and lifetime inline")]

use std::cell::UnsafeCell;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::join::Frame;
use super::record::NONE;
use super::task::Task;
use crate::memory::Segments;

/// How large a closure may be to lie in the record, and in its larger place.
const SMALL: usize = 24;
const LARGE: usize = 128;

pub(super) struct Body(UnsafeCell<Contents>);

/// Places for larger closures, by the number of the record.
pub(super) type LargePlaces = Segments<LargePlace>;

/// Room for one larger closure.
pub(super) struct LargePlace(UnsafeCell<MaybeUninit<LargeBytes>>);

#[repr(align(128))]
#[derive(Clone, Copy)]
struct LargeBytes {
    _bytes: [u8; LARGE],
}

#[repr(C)]
union Contents {
    waiting: Waiting,
    running: ManuallyDrop<Running>,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct Waiting {
    call: Call,
    small: MaybeUninit<[usize; SMALL / size_of::<usize>()]>,
}

/// Moves the closure of a body out, and calls it with the task or drops it.
type Call = unsafe fn(&Body, &LargePlaces, u32, Option<&Task<'_>>);

/// What concerns a task whose closure was called.
pub(super) struct Running {
    pub(super) worker: u32,
    pub(super) fiber: u32,
    /// The frame whose half the task is; null if it is none.
    pub(super) frame: *const Frame,
    pub(super) joins: Joins,
}

/// What a running task waits for, or is about to, that it has started itself.
pub(super) struct Joins(AtomicUsize);

/// What a task can wait for that it has started itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Joined {
    /// The tasks of the scope with this number.
    Scope(u32),
    /// The other half of its join, by the address of the frame.
    Half(usize),
}

const _: () = assert!(size_of::<Body>() == 32, "half a cache line");

// SAFETY: `store` and `consume`, which write, require that one thread at a time uses the body; what
// they move between threads is `Send`. `running` gives out what is atomic or written before the
// task's code runs, and whoever names a running task has heard of it from that code.
unsafe impl Sync for Body {}

// SAFETY: as above; the pointer is only an address until who runs the half follows it.
unsafe impl Send for Body {}

// SAFETY: as above: the place with a record's number is used for that record alone.
unsafe impl Sync for LargePlace {}

impl Default for Body {
    fn default() -> Self {
        let running = Running::new(0, NONE, ptr::null());
        Self(UnsafeCell::new(Contents { running: ManuallyDrop::new(running) }))
    }
}

impl Default for LargePlace {
    fn default() -> Self {
        Self(UnsafeCell::new(MaybeUninit::uninit()))
    }
}

impl Running {
    fn new(worker: u32, fiber: u32, frame: *const Frame) -> Self {
        Self { worker, fiber, frame, joins: Joins(AtomicUsize::new(0)) }
    }
}

impl Joins {
    const NOTHING: usize = 0;

    /// Announces that the task is about to wait.
    pub(super) fn begin(&self, joined: Joined) {
        // SeqCst: before the graph's count of waiting tasks is read; see `wait_graph`.
        self.0.store(joined.into(), Ordering::SeqCst);
    }

    /// Says that the task has waited.
    pub(super) fn end(&self) {
        self.0.store(Self::NOTHING, Ordering::Relaxed);
    }

    /// Returns whether the task waits.
    pub(super) fn any(&self) -> bool {
        // SeqCst: after the graph's count of waiting tasks was raised; see `wait_graph`.
        self.0.load(Ordering::SeqCst) != Self::NOTHING
    }

    /// Returns what the task waits for.
    pub(super) fn what(&self) -> Option<Joined> {
        match self.0.load(Ordering::SeqCst) {
            Self::NOTHING => None,
            scope if scope & 1 != 0 => Some(Joined::Scope((scope >> 1) as u32)),
            frame => Some(Joined::Half(frame)),
        }
    }
}

impl From<Joined> for usize {
    fn from(joined: Joined) -> Self {
        match joined {
            Joined::Scope(scope) => (scope as Self) << 1 | 1,
            // Frames are aligned, so their addresses are even.
            Joined::Half(frame) => frame,
        }
    }
}

impl Body {
    /// Stores `function`, the closure of task `number`, and returns whether it had to be boxed.
    ///
    /// # Safety
    ///
    /// - Nobody else uses this body at the same time, and it holds no closure.
    /// - `consume` is called before anything that `function` borrows goes away.
    #[inline]
    pub(super) unsafe fn store<F: FnOnce(&Task<'_>) + Send>(
        &self,
        places: &LargePlaces,
        number: u32,
        function: F,
    ) -> bool {
        if size_of::<F>() <= SMALL && align_of::<F>() <= align_of::<usize>() {
            // SAFETY: the caller has exclusive use; size and alignment were compared above.
            unsafe { self.write(call_small::<F>, function) };
            false
        } else if size_of::<F>() <= LARGE && align_of::<F>() <= align_of::<LargeBytes>() {
            let place = places.get_or_grow(number).0.get();
            // SAFETY: as above; the place with a record's number is used for that record alone.
            unsafe { place.cast::<F>().write(function) };
            // SAFETY: the caller has exclusive use, and nothing fits.
            unsafe { self.write(call_large::<F>, ()) };
            false
        } else {
            // SAFETY: the caller has exclusive use, and a pointer fits.
            unsafe { self.write(call_boxed::<F>, Box::new(function)) };
            true
        }
    }

    /// Stores the right half of a join.
    ///
    /// # Safety
    ///
    /// As for `store`; and `frame` came out of a queue.
    pub(super) unsafe fn store_half(&self, frame: *const Frame) {
        // SAFETY: as required of the caller; a pointer fits.
        unsafe { self.write(call_half, frame) };
    }

    /// Calls the stored closure with `task`, or only drops it if there is none; before that the
    /// contents become those of a running task.
    ///
    /// # Safety
    ///
    /// Nobody else uses this body at the same time, and it holds a closure, which was stored with
    /// the same `places` and `number`.
    #[inline]
    pub(super) unsafe fn consume(
        &self,
        places: &LargePlaces,
        number: u32,
        task: Option<&Task<'_>>,
    ) {
        // SAFETY: the body holds a closure.
        let call = unsafe { (*self.0.get()).waiting.call };
        // SAFETY: `store` wrote a closure of the type that `call` was made for. `call` replaces the
        // contents, so it is read once.
        unsafe { call(self, places, number, task) };
    }

    /// Returns what concerns the running task.
    ///
    /// # Safety
    ///
    /// The closure was consumed, and none was stored since.
    #[inline]
    pub(super) unsafe fn running(&self) -> &Running {
        // SAFETY: `consume` has replaced the closure.
        unsafe { &(*self.0.get()).running }
    }

    /// # Safety
    ///
    /// Nobody else uses this body, and a `T` fits the small place.
    #[inline]
    unsafe fn write<T>(&self, call: Call, value: T) {
        let contents = self.0.get();
        // SAFETY: the caller has exclusive use.
        let waiting = unsafe { &mut (*contents).waiting };
        waiting.call = call;
        // SAFETY: as required of the caller.
        unsafe { waiting.small.as_mut_ptr().cast::<T>().write(value) };
    }

    /// Moves out what `write` has stored, and makes these the contents of a running task.
    ///
    /// # Safety
    ///
    /// Nobody else uses this body, and a `T` was written and not taken.
    #[inline]
    unsafe fn take<T>(&self, task: Option<&Task<'_>>, frame: impl FnOnce(&T) -> *const Frame) -> T {
        let contents = self.0.get();
        // SAFETY: as required of the caller.
        let value = unsafe { (&raw const (*contents).waiting.small).cast::<T>().read() };
        let (worker, fiber) = task.map_or((0, NONE), |task| (task.worker() as u32, task.fiber()));
        let running = ManuallyDrop::new(Running::new(worker, fiber, frame(&value)));
        // SAFETY: the caller has exclusive use.
        unsafe { contents.write(Contents { running }) };
        value
    }
}

fn no_frame<T>(_: &T) -> *const Frame {
    ptr::null()
}

/// # Safety
///
/// As for `consume`, of a body into which an `F` was written.
unsafe fn call_small<F: FnOnce(&Task<'_>)>(
    body: &Body,
    _: &LargePlaces,
    _: u32,
    task: Option<&Task<'_>>,
) {
    // SAFETY: as required of the caller.
    let function = unsafe { body.take::<F>(task, no_frame) };
    if let Some(task) = task {
        function(task);
    }
}

/// # Safety
///
/// As for `consume`, and an `F` was written into the large place.
unsafe fn call_large<F: FnOnce(&Task<'_>)>(
    body: &Body,
    places: &LargePlaces,
    number: u32,
    task: Option<&Task<'_>>,
) {
    // SAFETY: as required of the caller.
    unsafe { body.take::<()>(task, no_frame) };
    let place = places.get_or_grow(number).0.get();
    // SAFETY: as required of the caller.
    let function = unsafe { place.cast::<F>().read() };
    if let Some(task) = task {
        function(task);
    }
}

/// # Safety
///
/// As for `consume`, of a body into which a `Box<F>` was written.
unsafe fn call_boxed<F: FnOnce(&Task<'_>)>(
    body: &Body,
    _: &LargePlaces,
    _: u32,
    task: Option<&Task<'_>>,
) {
    // SAFETY: as required of the caller.
    let function = unsafe { body.take::<Box<F>>(task, no_frame) };
    if let Some(task) = task {
        function(task);
    }
}

/// # Safety
///
/// As for `consume`, of a body into which a frame was written.
unsafe fn call_half(body: &Body, _: &LargePlaces, _: u32, task: Option<&Task<'_>>) {
    // SAFETY: as required of the caller.
    let frame = unsafe { body.take::<*const Frame>(task, |&frame| frame) };
    if let Some(task) = task {
        // SAFETY: the frame came out of a queue; a closure is called once.
        unsafe { Frame::run(frame, task) };
    }
}
