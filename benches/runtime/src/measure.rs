//! Wall time, CPU time, futex calls and allocations of a piece of work.
//!
//! ```text
//! warm up, checked --> timed, as often as fits in the least time, each checked --> allocations counted
//! ```
//!
//! Setting up and checking are outside of what is counted. Allocations are counted in a repetition
//! of its own, so that counting does not slow down the timed ones. The futex counter is a tracepoint
//! that all threads started later inherit, so it is opened before any engine; where the system
//! refuses, the column stays empty.

#![expect(unsafe_code, reason = "counts allocations, reads clocks and perf events")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::fs::{self, File};
use std::io::Read;
use std::os::fd::FromRawFd;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

/// What one child process measured; times are per operation.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Measured {
    /// How many operations one repetition makes.
    pub operations: u64,
    /// How often the work was repeated.
    pub repetitions: u64,
    /// Wall time of an operation.
    pub wall_ns: f64,
    /// CPU time of an operation, summed over all threads.
    pub cpu_ns: f64,
    /// Futex calls of a repetition.
    pub futexes: Option<f64>,
    /// Allocations of an operation.
    pub allocations: Option<f64>,
}

/// Measures work in this process.
#[derive(Debug)]
pub struct Meter {
    least: Duration,
    futexes: Option<File>,
}

/// What the clocks and counters say at one moment.
#[derive(Clone, Copy, Debug)]
struct Reading {
    wall: Instant,
    cpu_ns: u64,
    futexes: u64,
}

impl Meter {
    /// Creates a meter that repeats work until it has run for `least`.
    pub fn new(least: Duration) -> Self {
        Self { least, futexes: open_futex_counter() }
    }

    /// Measures `work` on what `set_up` makes; `is_right` looks at what came out.
    ///
    /// # Panics
    ///
    /// Panics if `is_right` says no.
    pub fn measure<S, R>(
        &self,
        operations: u64,
        mut set_up: impl FnMut() -> S,
        mut work: impl FnMut(&mut S) -> R,
        mut is_right: impl FnMut(&S, R) -> bool,
    ) -> Measured {
        let mut repeat = |count_allocations: bool| {
            let mut input = set_up();
            COUNTING.store(count_allocations, Ordering::SeqCst);
            let begin = self.begin();
            let result = work(&mut input);
            let end = self.end();
            COUNTING.store(false, Ordering::SeqCst);
            assert!(is_right(&input, result), "the result is wrong");
            (begin, end)
        };
        repeat(false);
        let (mut wall, mut cpu_ns, mut futexes, mut repetitions) = (Duration::ZERO, 0, 0, 0);
        while repetitions == 0 || wall < self.least {
            let (begin, end) = repeat(false);
            wall += end.wall - begin.wall;
            cpu_ns += end.cpu_ns - begin.cpu_ns;
            futexes += end.futexes - begin.futexes;
            repetitions += 1;
        }
        repeat(true);
        let done = (operations * repetitions) as f64;
        Measured {
            operations,
            repetitions,
            wall_ns: wall.as_nanos() as f64 / done,
            cpu_ns: cpu_ns as f64 / done,
            futexes: self.futexes.as_ref().map(|_| futexes as f64 / repetitions as f64),
            allocations: Some(ALLOCATIONS.load(Ordering::SeqCst) as f64 / operations as f64),
        }
    }

    /// Reads the clock last: reading the others takes time.
    fn begin(&self) -> Reading {
        let (futexes, cpu_ns) = (self.futex_calls(), cpu_time());
        Reading { wall: Instant::now(), cpu_ns, futexes }
    }

    /// Reads the clock first.
    fn end(&self) -> Reading {
        let wall = Instant::now();
        Reading { wall, cpu_ns: cpu_time(), futexes: self.futex_calls() }
    }

    fn futex_calls(&self) -> u64 {
        let Some(mut counter) = self.futexes.as_ref() else { return 0 };
        let mut count = [0; 8];
        counter.read_exact(&mut count).expect("an open counter can be read");
        u64::from_ne_bytes(count)
    }
}

/// Returns the CPU time of all threads of this process, in nanoseconds; `getrusage` adds up the
/// same in microseconds.
fn cpu_time() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is valid for the call.
    let status = unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) };
    assert_eq!(status, 0, "the process has a CPU clock");
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// The first version of the kernel's structure, which all later kernels accept.
#[repr(C)]
struct Attributes {
    kind: u32,
    size: u32,
    config: u64,
    sample_period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup: u32,
    breakpoint: u32,
    config1: u64,
}

/// Opens a counter of the futex calls of this thread and those that it will start.
fn open_futex_counter() -> Option<File> {
    const PERF_TYPE_TRACEPOINT: u32 = 2;
    const INHERIT: u64 = 1 << 1;
    let folders = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];
    let id = folders.iter().find_map(|folder| {
        fs::read_to_string(format!("{folder}/events/syscalls/sys_enter_futex/id")).ok()
    })?;

    let attributes = Attributes {
        kind: PERF_TYPE_TRACEPOINT,
        size: size_of::<Attributes>() as u32,
        config: id.trim().parse().ok()?,
        sample_period: 0,
        sample_type: 0,
        read_format: 0,
        flags: INHERIT,
        wakeup: 0,
        breakpoint: 0,
        config1: 0,
    };
    // SAFETY: the structure has the layout and the size that it says.
    let file =
        unsafe { libc::syscall(libc::SYS_perf_event_open, &raw const attributes, 0, -1, -1, 0u64) };
    let file = i32::try_from(file).ok().filter(|&file| file >= 0)?;
    // SAFETY: the descriptor was just opened, and nobody else has it.
    Some(unsafe { File::from_raw_fd(file) })
}

/// The system's allocator, which counts when asked to.
struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;
static COUNTING: AtomicBool = AtomicBool::new(false);
static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

fn note_allocation() {
    if COUNTING.load(Ordering::Relaxed) {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
    }
}

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note_allocation();
        // SAFETY: the caller's duties are the same.
        unsafe { System.alloc(layout) }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        note_allocation();
        // SAFETY: the caller's duties are the same.
        unsafe { System.alloc_zeroed(layout) }
    }

    #[inline]
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's duties are the same.
        unsafe { System.dealloc(pointer, layout) }
    }

    #[inline]
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        note_allocation();
        // SAFETY: the caller's duties are the same.
        unsafe { System.realloc(pointer, layout, size) }
    }
}
