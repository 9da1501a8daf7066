//! Control of evaluation: errors, tracing, strictness.

use raddle_nix_syntax::{Pos, sym};

use crate::eval::{Coerce, Cx, Error, ErrorKind, Result, Trace};
use crate::value::{AttrsBuilder, PrimOp, Value, View};

pub(super) const PRIMOPS: &[PrimOp] = &[
    PrimOp::new("abort", 1, abort),
    PrimOp::new("throw", 1, throw),
    PrimOp::new("seq", 2, seq),
    PrimOp::new("deepSeq", 2, deep_seq),
    PrimOp::new("tryEval", 1, try_eval),
    PrimOp::new("addErrorContext", 2, add_error_context),
    PrimOp::new("trace", 2, trace),
];

fn message(cx: &Cx<'_>, value: Value, pos: Pos, name: &str) -> Result<String> {
    let s = cx
        .coerce(value, Coerce::PLAIN, pos)
        .trace(pos, || format!("while evaluating the error message passed to builtins.{name}"))?;
    Ok(String::from_utf8_lossy(s.as_bytes()).into_owned())
}

fn abort(cx: &Cx<'_>, args: &[Value], pos: Pos) -> Result<Value> {
    let message = message(cx, args[0], pos, "abort")?;
    let message = format!("evaluation aborted with the following error message: '{message}'");
    Err(Error::new(ErrorKind::Abort, Pos::NONE, message))
}

fn throw(cx: &Cx<'_>, args: &[Value], pos: Pos) -> Result<Value> {
    Err(Error::new(ErrorKind::Thrown, Pos::NONE, message(cx, args[0], pos, "throw")?))
}

fn seq(cx: &Cx<'_>, args: &[Value], pos: Pos) -> Result<Value> {
    cx.force_for(args[0], pos, "while evaluating the first argument passed to builtins.seq")?;
    cx.force_for(args[1], pos, "while evaluating the second argument passed to builtins.seq")
}

fn deep_seq(cx: &Cx<'_>, args: &[Value], pos: Pos) -> Result<Value> {
    cx.force_deep(args[0])?;
    cx.force_for(args[1], pos, "while evaluating the second argument passed to builtins.deepSeq")
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

fn add_error_context(cx: &Cx<'_>, args: &[Value], pos: Pos) -> Result<Value> {
    match cx.force(args[1]) {
        Ok(value) => Ok(value),
        Err(error) => {
            let text = cx.coerce(args[0], Coerce::PLAIN, pos).trace(pos, || {
                "while evaluating the error message passed to builtins.addErrorContext".to_owned()
            })?;
            let text = String::from_utf8_lossy(text.as_bytes()).into_owned();
            Err(error.always_frame(Pos::NONE, text))
        }
    }
}

fn trace(cx: &Cx<'_>, args: &[Value], pos: Pos) -> Result<Value> {
    let value = cx.force(args[0])?;
    let text = match value.view() {
        View::Str(s) => String::from_utf8_lossy(s.as_bytes()).into_owned(),
        _ => cx.print_shallow(value),
    };
    cx.emit(format!("trace: {text}"));
    cx.force_for(args[1], pos, "while evaluating the second argument passed to builtins.trace")
}
