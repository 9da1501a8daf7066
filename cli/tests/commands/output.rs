//! What happens to the output: readers that go away, full disks, interrupts.

use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;

use crate::support::Folder;

#[test]
fn reader_goes_away() {
    let folder = Folder::new("output-closed", &[]);
    // More than fits into a pipe, so that the writer notices.
    let line = "eval --raw --expr 'builtins.concatStringsSep \"\" (builtins.genList (i: \"0123456789\") 100000)'";
    let mut command = folder.command(line);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    drop(child.stdout.take());
    let done = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&done.stderr), "");
    assert_eq!(done.status.code(), Some(0));
}

#[test]
fn disk_is_full() {
    let Ok(full) = std::fs::OpenOptions::new().write(true).open("/dev/full") else { return };
    let folder = Folder::new("output-full", &[]);
    for line in ["eval --expr 1", "--help", "search --help", "--version"] {
        let mut command = folder.command(line);
        command.stdout(full.try_clone().unwrap()).stderr(Stdio::piped());
        let done = command.spawn().unwrap().wait_with_output().unwrap();
        let err = String::from_utf8_lossy(&done.stderr);
        assert!(err.contains("error: cannot write to standard output: No space left"), "{err}");
        assert_eq!(done.status.code(), Some(1), "{line}");
    }
}

#[test]
fn closed_from_the_beginning() {
    let folder = Folder::new("output-none", &[]);
    let mut command = std::process::Command::new("sh");
    command.args(["-c", "exec \"$0\" eval --expr 1 >&-", env!("CARGO_BIN_EXE_raddle")]);
    let done = command.current_dir(folder.path()).output().unwrap();
    let err = String::from_utf8_lossy(&done.stderr);
    assert_eq!(err, "error: cannot write to standard output: Bad file descriptor (os error 9)\n");
    assert_eq!(done.status.code(), Some(1));
}

#[test]
fn interrupt_ends_it() {
    let folder = Folder::new("output-interrupt", &[]);
    // As good as endless: two to the power of 200 calls.
    let endless = "let f = n: if n == 0 then 0 else f (n - 1) + f (n - 1); in builtins.trace \"begun\" (f 200)";
    for workers in [1, 4] {
        let line = format!("eval --workers {workers} --expr '{endless}'");
        let mut command = folder.command(&line);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut err = BufReader::new(child.stderr.take().unwrap());
        let mut begun = String::new();
        err.read_line(&mut begun).unwrap();
        assert_eq!(begun, "trace: begun\n");
        let pid = rustix::process::Pid::from_child(&child);
        rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
        let mut rest = String::new();
        err.read_to_string(&mut rest).unwrap();
        assert_eq!(rest, "error: interrupted by the user\n");
        assert_eq!(child.wait().unwrap().code(), Some(130));
    }
}

#[test]
fn help_and_version() {
    let folder = Folder::new("output-help", &[]);
    for (line, expected) in [
        ("--version", "raddle "),
        ("--help", "Usage: raddle <COMMAND>"),
        ("search --help", "Examples:"),
        ("eval --help", "Examples:"),
        ("instantiate --help", "Examples:"),
    ] {
        let done = folder.run(line);
        assert_eq!(done.code, Some(0), "{line}");
        assert!(done.out.contains(expected), "{line}\n{}", done.out);
    }
    assert_eq!(folder.run("").code, Some(2));
}
