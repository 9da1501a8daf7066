//! `--stats`: what evaluation and the runtime did, under the names that Nix gives its counters.

use std::path::PathBuf;
use std::time::Duration;

use raddle_nix::Evaluator;
use raddle_nix_syntax::Symbol;
use serde_json::{Value, json};

use crate::output::{self, Failure};

/// Size of a value in a set, a list or an environment.
const WORD: u64 = 8;
/// Size of an attribute: its name, position and value.
const ATTR: u64 = 16;

/// Where statistics go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Destination {
    StandardError,
    File(PathBuf),
}

/// Shows what the evaluator has done since it began `elapsed` ago.
pub(crate) fn show(
    evaluator: &mut Evaluator,
    elapsed: Duration,
    destination: &Destination,
) -> Result<(), Failure> {
    let text = json(evaluator, elapsed);
    match destination {
        Destination::StandardError => output::message(&text),
        Destination::File(path) => std::fs::write(path, text + "\n").map_err(|error| {
            Failure::message(format_args!("cannot write '{}': {error}", path.display()))
        })?,
    }
    Ok(())
}

/// Returns the statistics as JSON.
fn json(evaluator: &mut Evaluator, elapsed: Duration) -> String {
    let stats = evaluator.stats();
    let cpu = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    let cpu = cpu.tv_sec as f64 + cpu.tv_nsec as f64 / 1e9;
    let values = stats.env_elements + stats.set_elements + stats.list_elements;
    let names = names();
    let name_bytes: usize = names.iter().map(|name| name.len()).sum();
    let text = json!({
        "cpuTime": cpu,
        "time": { "cpu": cpu, "wall": elapsed.as_secs_f64(), "gc": 0, "gcFraction": 0 },
        "envs": {
            "number": stats.envs,
            "elements": stats.env_elements,
            "bytes": WORD * (stats.envs + stats.env_elements),
        },
        "list": {
            "elements": stats.list_elements,
            "bytes": WORD * stats.list_elements,
            "concats": stats.list_concats,
        },
        "values": { "number": values, "bytes": WORD * values },
        "symbols": { "number": names.len(), "bytes": name_bytes },
        "sets": {
            "number": stats.sets,
            "elements": stats.set_elements,
            "bytes": WORD * (stats.sets + stats.set_elements),
        },
        "sizes": { "Env": WORD, "Value": WORD, "Bindings": 2 * WORD, "Attr": ATTR },
        "nrExprs": stats.exprs,
        "nrOpUpdates": stats.updates,
        "nrOpUpdateValuesCopied": stats.update_copies,
        "nrThunks": stats.thunks,
        "nrAvoided": stats.avoided,
        "nrLookups": stats.lookups,
        "nrPrimOpCalls": stats.primop_calls,
        "nrFunctionCalls": stats.function_calls,
        "gc": { "heapSize": stats.heap_bytes, "totalBytes": stats.heap_bytes, "cycles": 0 },
        "files": { "number": stats.files, "bytes": stats.source_bytes },
        "runtime": runtime(evaluator, stats.heap_bytes),
    });
    format!("{text:#}")
}

/// Returns what the runtime did.
fn runtime(evaluator: &Evaluator, heap_bytes: u64) -> Value {
    let runtime = evaluator.runtime().counters();
    json!({
        "workers": evaluator.settings().workers,
        "tasks": runtime.tasks_run,
        "tasksSpawned": runtime.tasks_spawned,
        "steals": runtime.steals,
        "suspensions": runtime.suspensions,
        "parks": runtime.parks,
        "wakes": runtime.wakes,
        "fibers": runtime.fibers,
        "allocations": runtime.closures_boxed + runtime.fibers + runtime.task_records,
        "closuresBoxed": runtime.closures_boxed,
        "taskRecords": runtime.task_records,
        "poolRefills": runtime.pool_refills,
        "poolSpills": runtime.pool_spills,
        "stacksTrimmed": runtime.stacks_trimmed,
        "bytes": heap_bytes,
        "peakBytes": peak_memory(),
        "waits": {
            "suspended": runtime.waits.suspended,
            "ready": runtime.waits.ready,
            "recursions": runtime.waits.recursions,
            "abandoned": runtime.waits.abandoned,
            "orphaned": runtime.waits.orphaned,
            "circles": runtime.waits.circles,
        },
    })
}

/// Returns all names met so far.
fn names() -> Vec<&'static [u8]> {
    // Symbols are numbered in the order in which they were met.
    let met = Symbol::intern(b"\0").index();
    (0..met).map(|index| Symbol::from_index(index).as_bytes()).collect()
}

/// Returns the most memory that the process has used, in bytes, if the system tells.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kib| kib * 1024)
}
