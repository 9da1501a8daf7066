//! Built-in functions of strings, regular expressions, versions, hashes and data formats, as tables
//! of expressions with what they print.

mod hash;
mod json;
mod regex;
mod strings;
mod toml;
mod versions;
mod xml;

use std::sync::Mutex;

use raddle_nix::{Evaluator, Settings};

/// Checks what expressions print when evaluated all the way down.
fn check(cases: &[(&str, &str)]) {
    check_with(Settings::default(), cases);
}

fn check_with(settings: Settings, cases: &[(&str, &str)]) {
    let evaluator = Evaluator::new(settings, |_| {}).unwrap();
    let mut wrong = Vec::new();
    for (text, expected) in cases {
        let printed = evaluator.run(|cx| {
            let value = cx.eval_string(text.as_bytes(), b"/base")?;
            cx.print(value)
        });
        let printed = printed.unwrap_or_else(|error| format!("error: {error}"));
        if printed != *expected {
            wrong.push(format!("{text}\n    is {printed}\n   not {expected}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Checks the strings that expressions evaluate to, as they are.
fn check_text(cases: &[(&str, &str)]) {
    let evaluator = Evaluator::new(Settings::default(), |_| {}).unwrap();
    for (text, expected) in cases {
        let printed = evaluator.run(|cx| {
            let value = cx.eval_string(text.as_bytes(), b"/base")?;
            cx.print(value)
        });
        let literal = evaluator.run(|cx| cx.print(cx.string(expected)));
        assert_eq!(printed.unwrap(), literal.unwrap(), "{text}");
    }
}

/// Checks the frames of errors, outermost first and without those of calls, and their message.
fn check_errors(cases: &[(&str, &[&str])]) {
    check_errors_with(Settings::default(), cases);
}

fn check_errors_with(settings: Settings, cases: &[(&str, &[&str])]) {
    let evaluator = Evaluator::new(settings, |_| {}).unwrap();
    for (text, expected) in cases {
        let result = evaluator.run(|cx| {
            let value = cx.eval_string(text.as_bytes(), b"/base")?;
            cx.print(value)
        });
        let Err(error) = result else { panic!("{text} is {result:?}") };
        let mut lines: Vec<&str> = error
            .frames()
            .map(|frame| frame.text.as_str())
            .filter(|text| !text.starts_with("while calling the '"))
            .collect();
        let message = error.to_string();
        lines.push(&message);
        assert_eq!(lines, *expected, "{text}");
    }
}

/// Returns what evaluating an expression printed by the way.
fn warnings(text: &str) -> Vec<String> {
    static PRINTED: Mutex<Vec<String>> = Mutex::new(Vec::new());
    let print = |message: &str| PRINTED.lock().unwrap().push(message.to_owned());
    let evaluator = Evaluator::new(Settings::default(), print).unwrap();
    let result = evaluator.run(|cx| {
        let value = cx.eval_string(text.as_bytes(), b"/base")?;
        cx.force_deep(value)
    });
    result.unwrap();
    PRINTED.lock().unwrap().drain(..).collect()
}

/// Returns settings with experimental features.
fn with_features(features: &[&str]) -> Settings {
    let experimental_features = features.iter().map(|&feature| feature.to_owned()).collect();
    Settings { experimental_features, ..Settings::default() }
}
