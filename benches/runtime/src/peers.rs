//! Builds the C++ engines, each a program of its own, into the folder of this program.
//!
//! Their libraries are not part of this repository: oneTBB comes from the system, Taskflow is a
//! folder of headers. What is missing is left out, and the message says how to get it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::plan::Engine;

const SOURCES: &[(&str, &str)] = &[
    ("measure.hpp", include_str!("../cpp/measure.hpp")),
    ("problems.hpp", include_str!("../cpp/problems.hpp")),
    ("taskflow.cpp", include_str!("../cpp/taskflow.cpp")),
    ("tbb.cpp", include_str!("../cpp/tbb.cpp")),
];

/// Why an engine cannot take part.
#[derive(Clone, Debug)]
pub struct Absent(pub String);

/// Builds `engine`, one of those in C++, in `folder` and returns where its program is.
///
/// # Errors
///
/// Fails if its library or a compiler is missing.
pub fn build(engine: Engine, folder: &Path) -> Result<PathBuf, Absent> {
    let absent = |error: &dyn std::fmt::Display| Absent(error.to_string());
    let taskflow = folder.join("taskflow");
    if engine == Engine::Taskflow && !taskflow.join("taskflow/taskflow.hpp").exists() {
        let place = taskflow.display();
        return Err(Absent(format!(
            "no headers; get them with `git clone --depth 1 https://github.com/taskflow/taskflow {place}`"
        )));
    }
    let source = format!("{engine}.cpp");
    let stamp = folder.join(format!("{engine}.built"));
    let program = folder.join(format!("{engine}-peer"));
    let wanted: String = SOURCES
        .iter()
        .filter(|(name, _)| [source.as_str(), "measure.hpp", "problems.hpp"].contains(name))
        .map(|(_, text)| *text)
        .collect();
    if program.exists() && fs::read_to_string(&stamp).is_ok_and(|built| built == wanted) {
        return Ok(program);
    }
    for (name, text) in SOURCES {
        fs::write(folder.join(name), text).map_err(|error| absent(&error))?;
    }
    let compiler = "c++";
    let mut command = Command::new(compiler);
    command.current_dir(folder).args(["-std=c++20", "-O3", "-pthread", "-I", "taskflow", "-o"]);
    command.arg(&program).arg(&source);
    if engine == Engine::Tbb {
        command.arg("-ltbb");
    }
    let output = command
        .output()
        .map_err(|error| Absent(format!("cannot run the compiler `{compiler}`: {error}")))?;
    if !output.status.success() {
        let messages = String::from_utf8_lossy(&output.stderr);
        let first = messages.lines().find(|line| line.contains("error")).unwrap_or("no message");
        let hint = match engine {
            Engine::Tbb => "; oneTBB is in Debian's package `libtbb-dev`",
            _ => "",
        };
        return Err(Absent(format!("cannot be compiled: {first}{hint}")));
    }
    fs::write(stamp, wanted).map_err(|error| absent(&error))?;
    Ok(program)
}
