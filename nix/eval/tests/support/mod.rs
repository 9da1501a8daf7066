//! Checks tables of expressions: each evaluates to a printed value or fails with a message.

#![allow(dead_code, reason = "each test program uses some of these")]

use std::sync::{Arc, Mutex};

use raddle_nix::eval::Error;
use raddle_nix::{Evaluator, Settings};

/// Evaluates `expression` all the way down and prints it.
pub(crate) fn evaluate(evaluator: &Evaluator, expression: &str) -> Result<String, Error> {
    evaluator.run(|cx| cx.print_plain(cx.eval_string(expression.as_bytes(), b"/")?, true))
}

/// Checks `(expression, expected)` cases; an expectation that begins with `error: ` goes on with a
/// part of the message.
#[track_caller]
pub(crate) fn check(cases: &[(&str, &str)]) {
    check_with(Settings::default(), cases);
}

/// Like [`check`], with these settings.
#[track_caller]
pub(crate) fn check_with(settings: Settings, cases: &[(&str, &str)]) {
    let evaluator = Evaluator::new(settings, |_| {}).unwrap();
    let mut wrong = Vec::new();
    for (expression, expected) in cases {
        let actual = match evaluate(&evaluator, expression) {
            Ok(text) => text,
            Err(error) => format!("error: {error}"),
        };
        let right = match expected.strip_prefix("error: ") {
            Some(part) => actual.starts_with("error: ") && actual.contains(part),
            None => actual == *expected,
        };
        if !right {
            wrong.push(format!("  {expression}\n    expected {expected}\n    but got  {actual}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

/// Checks the frames of failures, outermost first, and the message after them.
#[track_caller]
pub(crate) fn check_frames(cases: &[(&str, &[&str])]) {
    let evaluator = Evaluator::new(Settings::default(), |_| {}).unwrap();
    for (expression, expected) in cases {
        let error = evaluate(&evaluator, expression).unwrap_err();
        let mut lines: Vec<&str> = error.frames().map(|frame| frame.text.as_str()).collect();
        lines.push(&error.cause().message);
        assert_eq!(lines, *expected, "{expression}");
    }
}

/// Checks the messages that evaluation prints; the value or error is ignored.
#[track_caller]
pub(crate) fn check_messages(settings: &Settings, cases: &[(&str, &[&str])]) {
    for (expression, expected) in cases {
        let messages = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&messages);
        let print = move |message: &str| sink.lock().unwrap().push(message.to_owned());
        let evaluator = Evaluator::new(settings.clone(), print).unwrap();
        let _ = evaluate(&evaluator, expression);
        assert_eq!(*messages.lock().unwrap(), *expected, "{expression}");
    }
}
