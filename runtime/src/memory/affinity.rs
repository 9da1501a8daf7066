//! On which processors threads run.

#![expect(unsafe_code, reason = "makes system calls")]

use std::io;
use std::mem;

/// Binds the calling thread to one processor.
///
/// # Errors
///
/// Fails if the machine has no such processor, or the process may not use it.
///
/// # Examples
///
/// ```
/// use raddle::memory::{Topology, pin_to};
///
/// let cpu = Topology::of_this_machine().cpus().next().unwrap();
/// std::thread::spawn(move || pin_to(cpu)).join().unwrap()?;
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn pin_to(cpu: usize) -> io::Result<()> {
    let mut set = empty_set();
    if cpu >= 8 * size_of_val(&set) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    // SAFETY: the bit lies within the set, as compared above.
    unsafe { libc::CPU_SET(cpu, &mut set) };
    // SAFETY: the set is valid for reads of its size; 0 means the calling thread.
    let result = unsafe { libc::sched_setaffinity(0, size_of_val(&set), &raw const set) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Returns the processors that the calling thread may run on, in ascending order.
///
/// If the kernel does not say, they are numbered from 0, as many as the standard library knows of.
pub(super) fn allowed_cpus() -> Vec<usize> {
    let mut set = empty_set();
    // SAFETY: the set is valid for writes of its size; 0 means the calling thread.
    let result = unsafe { libc::sched_getaffinity(0, size_of_val(&set), &raw mut set) };
    if result != 0 {
        return (0..std::thread::available_parallelism().map_or(1, usize::from)).collect();
    }
    let is_set = |&cpu: &usize| {
        // SAFETY: the bit lies within the set, by the range below.
        unsafe { libc::CPU_ISSET(cpu, &set) }
    };
    (0..8 * size_of_val(&set)).filter(is_set).collect()
}

fn empty_set() -> libc::cpu_set_t {
    // SAFETY: the type is an array of integers, for which all zeros are a value.
    unsafe { mem::zeroed() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pinned_thread_stays_where_it_is() {
        for cpu in allowed_cpus() {
            let pinned = std::thread::spawn(move || pin_to(cpu).map(|()| allowed_cpus()));
            assert_eq!(pinned.join().unwrap().unwrap(), [cpu]);
        }
    }

    #[test]
    fn processors_that_are_not_there() {
        for cpu in [1000, 1023, 1024, usize::MAX] {
            if !allowed_cpus().contains(&cpu) {
                assert!(pin_to(cpu).is_err(), "{cpu}");
            }
        }
    }
}
