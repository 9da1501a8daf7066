//! A million tasks cost no allocation each and no futex call each.
//!
//! Futex calls are counted by the kernel's tracepoint where this process may open it (root, or a low
//! `perf_event_paranoid`, and a mounted tracefs). Elsewhere that is said, and what the runtime counts
//! itself is taken: one call for each time a worker parks or wakes another.

#![expect(unsafe_code, reason = "counts allocations and system calls")]
#![expect(clippy::print_stderr, reason = "says what could be counted, and how much it was")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::fs::{self, File};
use std::io::Read;
use std::os::fd::FromRawFd;
use std::sync::atomic::{AtomicU64, Ordering};

use raddle::{Priority, Runtime};

const TASKS: u64 = 1_000_000;
/// The fewest of so many rounds count: other programs on the machine make threads wait.
const ROUNDS: usize = 7;

struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;
static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's duties are the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's duties are the same.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's duties are the same.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

/// The first version of the kernel's structure, which all later kernels accept.
#[repr(C)]
struct Attributes {
    kind: u32,
    size: u32,
    config: u64,
    sampling: [u64; 2],
    read_format: u64,
    flags: u64,
    wakeup: u32,
    breakpoint: u32,
    config1: u64,
}

/// Counts the futex calls of this thread and of those that it starts.
struct FutexCalls(File);

impl FutexCalls {
    fn open() -> Option<Self> {
        const TRACEPOINT: u32 = 2;
        const INHERIT: u64 = 1 << 1;
        let folders = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];
        let id = folders.iter().find_map(|folder| {
            fs::read_to_string(format!("{folder}/events/syscalls/sys_enter_futex/id")).ok()
        })?;
        let attributes = Attributes {
            kind: TRACEPOINT,
            size: size_of::<Attributes>() as u32,
            config: id.trim().parse().ok()?,
            sampling: [0; 2],
            read_format: 0,
            flags: INHERIT,
            wakeup: 0,
            breakpoint: 0,
            config1: 0,
        };
        let call = libc::SYS_perf_event_open;
        // SAFETY: the structure has the layout and the size that it says.
        let file = unsafe { libc::syscall(call, &raw const attributes, 0, -1, -1, 0u64) };
        let file = i32::try_from(file).ok().filter(|&file| file >= 0)?;
        // SAFETY: the descriptor was just opened, and nobody else has it.
        Some(Self(unsafe { File::from_raw_fd(file) }))
    }

    fn count(&mut self) -> u64 {
        let mut count = [0; 8];
        self.0.read_exact(&mut count).expect("the kernel tells its count");
        u64::from_ne_bytes(count)
    }
}

/// Returns the fewest futex calls and the fewest allocations of a round.
fn measure(workers: usize) -> (u64, u64) {
    let mut calls = FutexCalls::open();
    if calls.is_none() {
        eprintln!(
            "NOTICE: futex calls cannot be counted here; the runtime's own counters are taken"
        );
    }
    let runtime = Runtime::builder().workers(workers).build().unwrap();
    let ran = AtomicU64::new(0);
    let mut count = || {
        let counters = runtime.counters();
        assert!(counters.wakes <= counters.parks, "{counters:?}");
        let futex = calls.as_mut().map_or(counters.parks + counters.wakes, FutexCalls::count);
        (futex, ALLOCATIONS.load(Ordering::SeqCst))
    };
    let mut rounds = Vec::new();
    for round in 0..=ROUNDS {
        let before = count();
        runtime.run(|task| {
            task.scope(|scope| {
                for _ in 0..TASKS {
                    let ran = &ran;
                    scope.spawn(task, Priority::Normal, move |_| {
                        ran.fetch_add(1, Ordering::Relaxed);
                    });
                }
            });
        });
        let after = count();
        // The first round warms up.
        if round > 0 {
            rounds.push((after.0 - before.0, after.1 - before.1));
        }
    }
    assert_eq!(ran.load(Ordering::Relaxed), TASKS * (ROUNDS as u64 + 1));
    let fewest = |of: fn(&(u64, u64)) -> u64| rounds.iter().map(of).min().unwrap();
    eprintln!("{workers} workers: futex calls and allocations of each round: {rounds:?}");
    (fewest(|round| round.0), fewest(|round| round.1))
}

/// Handing the root task to a worker and its result back allocates a few times for each round.
const FOR_THE_ROOT: u64 = 8;

#[test]
fn a_million_tasks() {
    for (workers, most) in [(1, 50), (2, 50), (8, 2000)] {
        let (futex, allocations) = measure(workers);
        assert!(futex <= most, "{workers} workers: {futex} futex calls");
        assert!(allocations <= FOR_THE_ROOT, "{workers} workers: {allocations} allocations");
    }
}
