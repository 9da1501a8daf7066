//! How much memory the evaluator may use, and the process.
//!
//! The evaluator counts what its values take, and ends with an error when the limit is reached.
//! Everything else (traces of errors, texts of files, stacks, buffers) is seen by a thread that looks at
//! the size of the process now and then, more often the less is left, and ends the process.
//!
//! Not here: what happens when the evaluator's limit is reached; that is its own business.

use std::io::Write;
use std::path::Path;
use std::time::Duration;

use raddle_nix::Settings;

use crate::progress;

/// The exit code of any failed evaluation.
const FAILED: i32 = 1;
/// Bytes that the threads together touch in a millisecond at most, estimated generously.
const BYTES_PER_MILLISECOND: u64 = 8 << 20;
/// The times between two looks.
const SOONEST: Duration = Duration::from_millis(5);
const LATEST: Duration = Duration::from_secs(1);

/// Watches the size of the process, which may be a sixth more than what the values may take.
pub(crate) fn watch(heap_limit: u64) {
    let limit = heap_limit.saturating_add((heap_limit / 6).max(256 << 20));
    let watch = move || {
        while let Some(size) = resident() {
            let Some(left) = limit.checked_sub(size) else { give_up(limit) };
            let soon = Duration::from_millis(left / BYTES_PER_MILLISECOND);
            std::thread::sleep(soon.clamp(SOONEST, LATEST));
        }
    };
    // Without this thread the values are limited just the same.
    let _ = std::thread::Builder::new().name("memory".to_owned()).spawn(watch);
}

/// Returns the bytes of memory that the process holds.
fn resident() -> Option<u64> {
    let sizes = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = sizes.split(' ').nth(1)?.parse().ok()?;
    pages.checked_mul(rustix::param::page_size() as u64)
}

fn give_up(limit: u64) -> ! {
    progress::close();
    let mib = limit >> 20;
    let message =
        format!("error: out of memory: the process needs more than {mib} MiB (see --max-heap)\n");
    // Nobody may be left to read it.
    let _ = std::io::stderr().write_all(message.as_bytes());
    // Evaluation has nothing to save, and its threads need not be waited for.
    signal_hook::low_level::exit(FAILED)
}

/// Returns three quarters of the memory that this process may use, if that is known: the rest is
/// for what is not counted, and for others.
pub(crate) fn default_limit() -> Option<u64> {
    let read = |path: &Path| std::fs::read_to_string(path).ok();
    available(read).map(|bytes| (bytes / 4 * 3).max(Settings::SMALLEST_HEAP_LIMIT))
}

/// Reads a size in bytes: a number, which may have a fraction, and perhaps `K`, `M`, `G` or `T`,
/// which count in steps of 1024 and may be followed by `B` or `iB`.
pub(crate) fn parse_size(text: &str) -> Option<u64> {
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let unit = unit.trim_start().to_ascii_lowercase();
    let shift = match &*unit {
        "" | "b" => 0,
        "k" | "kb" | "kib" => 10,
        "m" | "mb" | "mib" => 20,
        "g" | "gb" | "gib" => 30,
        "t" | "tb" | "tib" => 40,
        _ => return None,
    };
    let unit = 1_u64 << shift;
    if let Ok(whole) = number.parse::<u64>() {
        return whole.checked_mul(unit);
    }
    let bytes = number.parse::<f64>().ok()? * unit as f64;
    (bytes < u64::MAX as f64).then_some(bytes as u64)
}

/// Returns the least of the machine's memory and the limits of the control groups.
fn available(read: impl Fn(&Path) -> Option<String>) -> Option<u64> {
    let machine = read(Path::new("/proc/meminfo")).and_then(|text| total(&text));
    let groups = read(Path::new("/proc/self/cgroup")).unwrap_or_default();
    let limits = groups.lines().flat_map(|line| group_limits(line, &read));
    machine.into_iter().chain(limits).min()
}

/// Returns `MemTotal` in bytes.
fn total(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim_end().parse().ok()?;
    kib.checked_mul(1024)
}

/// Returns the limits that hold for a group and those above it, given its line
/// `number:controllers:path`.
fn group_limits(line: &str, read: &impl Fn(&Path) -> Option<String>) -> Vec<u64> {
    let mut fields = line.splitn(3, ':').skip(1);
    let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else {
        return Vec::new();
    };
    let (root, file) = match controllers {
        // Version 2 of control groups.
        "" => ("/sys/fs/cgroup", "memory.max"),
        _ if controllers.split(',').any(|name| name == "memory") => {
            ("/sys/fs/cgroup/memory", "memory.limit_in_bytes")
        }
        _ => return Vec::new(),
    };
    // The word for no limit is no number.
    Path::new(path)
        .ancestors()
        .filter_map(|group| {
            let group = Path::new(root).join(group.strip_prefix("/").unwrap_or(group));
            read(&group.join(file))?.trim().parse().ok()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{available, parse_size};
    use std::path::Path;

    #[test]
    fn sizes() {
        for (text, expected) in [
            ("0", Some(0)),
            ("1234", Some(1234)),
            ("512M", Some(512 << 20)),
            ("20G", Some(20 << 30)),
            ("20 GiB", Some(20 << 30)),
            ("64mb", Some(64 << 20)),
            ("1.5g", Some(3 << 29)),
            ("2T", Some(2 << 40)),
            ("18446744073709551615", Some(u64::MAX)),
            ("18446744073709551616", None),
            ("99999999T", None),
            ("99999999.5T", None),
            ("", None),
            ("G", None),
            (".", None),
            ("-1", None),
            ("1X", None),
            ("1e9", None),
        ] {
            assert_eq!(parse_size(text), expected, "{text:?}");
        }
    }

    #[test]
    fn the_least_limit_counts() {
        const MEMINFO: (&str, &str) = ("/proc/meminfo", "MemTotal:    1000 kB\nMemFree: 1 kB\n");
        let kib = |n: u64| Some(n * 1024);
        let cases: &[(&[(&str, &str)], _)] = &[
            (&[], None),
            (&[MEMINFO], kib(1000)),
            (&[("/proc/meminfo", "MemTotal: many\n")], None),
            (&[MEMINFO, ("/proc/self/cgroup", "nonsense\n\n0:x\n")], kib(1000)),
            (
                &[
                    MEMINFO,
                    ("/proc/self/cgroup", "0::/a/b\n"),
                    ("/sys/fs/cgroup/a/b/memory.max", "max\n"),
                    ("/sys/fs/cgroup/a/memory.max", "307200\n"),
                ],
                kib(300),
            ),
            (
                &[
                    MEMINFO,
                    ("/proc/self/cgroup", "5:cpu:/x\n3:hugetlb,memory:/docker/1\n"),
                    ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "204800\n"),
                    (
                        "/sys/fs/cgroup/memory/docker/1/memory.limit_in_bytes",
                        "9223372036854771712\n",
                    ),
                ],
                kib(200),
            ),
        ];
        for (files, expected) in cases {
            let read = |path: &Path| {
                let file = files.iter().find(|(name, _)| Path::new(name) == path)?;
                Some(file.1.to_owned())
            };
            assert_eq!(available(read), *expected, "{files:?}");
        }
    }
}
