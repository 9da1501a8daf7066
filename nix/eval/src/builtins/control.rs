//! Control of evaluation: strictness, errors, messages.

use raddle_nix_syntax::{Pos, sym};

use crate::eval::{Coerce, Cx, Error, ErrorKind, Result, Trace};
use crate::value::{AttrsBuilder, PrimOp, Value, View};

pub(super) const PRIMOPS: &[PrimOp] = &[
    PrimOp::new("seq", 2, seq).strict(0b1),
    PrimOp::new("deepSeq", 2, deep_seq),
    PrimOp::new("tryEval", 1, try_eval),
    PrimOp::new("throw", 1, throw).strict(0b1),
    PrimOp::new("abort", 1, abort).strict(0b1),
    PrimOp::new("addErrorContext", 2, add_error_context),
    PrimOp::new("trace", 2, trace).strict(0b1),
    PrimOp::new("traceVerbose", 2, trace_verbose),
    PrimOp::new("warn", 2, warn),
    PrimOp::new("break", 1, break_here),
];

fn seq(cx: &Cx<'_>, args: &[Value], _: Pos) -> Result<Value> {
    cx.force(args[0])?;
    cx.force(args[1])
}

fn deep_seq(cx: &Cx<'_>, args: &[Value], _: Pos) -> Result<Value> {
    cx.force_deep(args[0])?;
    cx.force(args[1])
}

fn try_eval(cx: &Cx<'_>, args: &[Value], _: Pos) -> Result<Value> {
    let (success, value) = match cx.force(args[0]) {
        Ok(value) => (Value::TRUE, value),
        Err(error) if error.is_catchable() => (Value::FALSE, Value::FALSE),
        Err(error) => return Err(error),
    };
    let mut builder = AttrsBuilder::with_capacity(2);
    builder.push(sym::SUCCESS, Pos::NONE, success);
    builder.push(sym::VALUE, Pos::NONE, value);
    Ok(cx.set(builder))
}

/// Makes text of a message for the user.
fn message(cx: &Cx<'_>, value: Value, how: Coerce, name: &str) -> Result<String> {
    let s = cx.coerce(value, how, Pos::NONE).trace(Pos::NONE, || {
        format!("while evaluating the error message passed to builtins.{name}")
    })?;
    Ok(String::from_utf8_lossy(s.as_bytes()).into_owned())
}

fn throw(cx: &Cx<'_>, args: &[Value], _: Pos) -> Result<Value> {
    let message = message(cx, args[0], Coerce::INTERPOLATE, "throw")?;
    Err(Error::new(ErrorKind::Thrown, Pos::NONE, message))
}

fn abort(cx: &Cx<'_>, args: &[Value], _: Pos) -> Result<Value> {
    let message = message(cx, args[0], Coerce::INTERPOLATE, "abort")?;
    let message = format!("evaluation aborted with the following error message: '{message}'");
    Err(Error::new(ErrorKind::Abort, Pos::NONE, message))
}

/// The context is evaluated only when there is an error to add it to.
fn add_error_context(cx: &Cx<'_>, args: &[Value], _: Pos) -> Result<Value> {
    match cx.force(args[1]) {
        Ok(value) => Ok(value),
        Err(error) if error.is_lasting() => {
            let context = message(cx, args[0], Coerce::PLAIN, "addErrorContext")?;
            Err(error.always_frame(Pos::NONE, context))
        }
        // Where such an error is met depends on where evaluation began. A failure of the context
        // must not take its place: that would be kept, and could be caught.
        Err(error) if error.kind() == ErrorKind::Abandoned => Err(error),
        Err(error) => match message(cx, args[0], Coerce::PLAIN, "addErrorContext") {
            Ok(context) => Err(error.always_frame(Pos::NONE, context)),
            Err(_) => Err(error),
        },
    }
}

fn trace(cx: &Cx<'_>, args: &[Value], _: Pos) -> Result<Value> {
    let value = cx.force(args[0])?;
    let text = match value.view() {
        View::Str(s) => String::from_utf8_lossy(s.as_bytes()).into_owned(),
        _ => cx.print_shallow(value),
    };
    cx.emit(format!("trace: {text}"));
    cx.force(args[1])
}

fn trace_verbose(cx: &Cx<'_>, args: &[Value], pos: Pos) -> Result<Value> {
    if cx.evaluator.settings.trace_verbose { trace(cx, args, pos) } else { cx.force(args[1]) }
}

fn warn(cx: &Cx<'_>, args: &[Value], _: Pos) -> Result<Value> {
    let text = "while evaluating the first argument; must be a string";
    let message = cx.force_string(args[0], Pos::NONE, text)?;
    cx.emit(warning(&String::from_utf8_lossy(message.as_bytes())));
    if cx.evaluator.settings.abort_on_warn {
        let message = "aborting to reveal stack trace of warning, as abort-on-warn is set";
        return Err(Error::new(ErrorKind::Abort, Pos::NONE, message));
    }
    cx.force(args[1])
}

/// Lays a warning out: further lines stand below the first, unless that is empty.
fn warning(message: &str) -> String {
    const PREFIX: &str = "evaluation warning: ";
    let message = message.trim_end();
    let indent = if message.starts_with('\n') { 0 } else { PREFIX.len() };
    let mut text = PREFIX.to_owned();
    for (i, line) in message.split('\n').enumerate() {
        if i > 0 {
            text.push('\n');
            text.extend(std::iter::repeat_n(' ', indent));
        }
        text.push_str(line);
        text.truncate(text.trim_end_matches([' ', '\t', '\r']).len());
    }
    text
}

/// Without a debugger there is nothing to stop for.
fn break_here(cx: &Cx<'_>, args: &[Value], _: Pos) -> Result<Value> {
    cx.force(args[0])
}

#[cfg(test)]
mod tests {
    use super::warning;

    #[test]
    fn warnings_are_indented() {
        for (message, expected) in [
            ("foo", "evaluation warning: foo"),
            ("foo\nbar", "evaluation warning: foo\n                    bar"),
            ("foo\n\nbar\n", "evaluation warning: foo\n\n                    bar"),
            ("\nfoo\nbar", "evaluation warning:\nfoo\nbar"),
            ("", "evaluation warning:"),
        ] {
            assert_eq!(warning(message), expected);
        }
    }
}
