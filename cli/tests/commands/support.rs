//! A folder of files to work on, and a way to run the command in it.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A fresh folder, which is where commands run.
pub(crate) struct Folder(PathBuf);

/// What a command did.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Folder {
    /// Makes a folder with these files; `name` must be unique among all tests.
    pub(crate) fn new(name: &str, files: &[(&str, &[u8])]) -> Folder {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        // Left over from an earlier run.
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        for (file, contents) in files {
            let file = path.join(file);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, contents).unwrap();
        }
        Folder(path.canonicalize().unwrap())
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Returns the command with these arguments, in an environment without surprises.
    pub(crate) fn command(&self, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_raddle"));
        command
            .args(words(line))
            .current_dir(&self.0)
            .env_clear()
            .env("HOME", "/no-such-home")
            .stdin(Stdio::null());
        command
    }

    /// Runs a command line.
    pub(crate) fn run(&self, line: &str) -> Done {
        self.finish(self.command(line))
    }

    /// Runs a command; the folder's path is written as `DIR` in what it prints.
    pub(crate) fn finish(&self, mut command: Command) -> Done {
        let output = command.output().unwrap();
        let text = |bytes: &[u8]| {
            String::from_utf8_lossy(bytes).replace(&*self.0.to_string_lossy(), "DIR")
        };
        Done { code: output.status.code(), out: text(&output.stdout), err: text(&output.stderr) }
    }

    /// Runs a command line and compares: all of standard output, a part of standard error.
    #[track_caller]
    pub(crate) fn check(&self, line: &str, code: i32, out: &str, err: &str) {
        let done = self.run(line);
        assert_eq!(done.code, Some(code), "{line}\n{done:?}");
        assert_eq!(done.out, out, "{line}\n{done:?}");
        if err.is_empty() {
            assert_eq!(done.err, "", "{line}");
        } else {
            assert!(done.err.contains(err), "{line}: no {err:?} in\n{}", done.err);
        }
    }

    /// Checks that command lines succeed with these outputs and nothing on standard error.
    #[track_caller]
    pub(crate) fn succeed(&self, cases: &[(&str, &str)]) {
        for (line, out) in cases {
            self.check(line, 0, out, "");
        }
    }

    /// Checks that command lines fail with exit code 1, no output, and this in the error.
    #[track_caller]
    pub(crate) fn fail(&self, cases: &[(&str, &str)]) {
        for (line, err) in cases {
            assert!(!err.is_empty(), "{line}: a failure has a message");
            self.check(line, 1, "", err);
        }
    }
}

/// Splits a command line at blanks, except in single quotes.
fn words(line: &str) -> Vec<std::ffi::OsString> {
    let mut words = Vec::new();
    for (i, part) in line.split('\'').enumerate() {
        if i % 2 == 1 {
            words.push(std::ffi::OsStr::from_bytes(part.as_bytes()).to_owned());
        } else {
            words.extend(part.split_ascii_whitespace().map(Into::into));
        }
    }
    words
}
