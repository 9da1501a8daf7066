//! Lists: taking them apart, mapping, searching, folding.
//!
//! Elements are carried over unevaluated; only what a predicate, a comparison or a fold needs is
//! evaluated. A result that equals an argument is that argument.
//!
//! Not here: `sort` and `genericClosure`.

use raddle_nix_syntax::Pos;
use smallvec::SmallVec;

use crate::eval::{Cx, Error, ErrorKind, Result, Trace};
use crate::value::{AttrsBuilder, Function, List, PrimOp, Value, View};

pub(super) const PRIMOPS: &[PrimOp] = &[
    PrimOp::new("head", 1, head).strict(0b1),
    PrimOp::new("tail", 1, tail).strict(0b1),
    PrimOp::new("elemAt", 2, elem_at).strict(0b11),
    PrimOp::new("length", 1, length).strict(0b1),
    PrimOp::new("elem", 2, elem).strict(0b10),
    PrimOp::new("filter", 2, filter).strict(0b10),
    PrimOp::new("map", 2, map).strict(0b10),
    PrimOp::new("concatLists", 1, concat_lists).strict(0b1),
    PrimOp::new("concatMap", 2, concat_map).strict(0b10),
    PrimOp::new("foldl'", 3, foldl).strict(0b100),
    PrimOp::new("genList", 2, gen_list).strict(0b10),
    PrimOp::new("all", 2, all).strict(0b10),
    PrimOp::new("any", 2, any).strict(0b10),
    PrimOp::new("partition", 2, partition).strict(0b10),
];

/// The length of the longest list that `genList` makes: a larger number is a mistake, and the
/// error is better than running out of memory.
const MAX_GENERATED: i64 = 1 << 28;

fn empty_list(message: &str) -> Error {
    Error::new(ErrorKind::Other, Pos::NONE, message)
}

fn head(cx: &Cx<'_>, args: &[Value], _: Pos) -> Result<Value> {
    let text = "while evaluating the first argument passed to 'builtins.head'";
    let list = cx.force_list(args[0], Pos::NONE, text)?;
    match list.slots().first() {
        Some(slot) => cx.force_slot(slot),
        None => Err(empty_list("'builtins.head' called on an empty list")),
    }
}

fn tail(cx: &Cx<'_>, args: &[Value], _: Pos) -> Result<Value> {
    let text = "while evaluating the first argument passed to 'builtins.tail'";
    let list = cx.force_list(args[0], Pos::NONE, text)?;
    match list.slots().split_first() {
        Some((_, rest)) => Ok(cx.list_from_fn(rest.len(), |i| rest[i].get())),
        None => Err(empty_list("'builtins.tail' called on an empty list")),
    }
}

fn elem_at(cx: &Cx<'_>, args: &[Value], _: Pos) -> Result<Value> {
    let text = "while evaluating the second argument passed to 'builtins.elemAt'";
    let index = cx.force_int(args[1], Pos::NONE, text)?;
    let text = "while evaluating the first argument passed to 'builtins.elemAt'";
    let list = cx.force_list(args[0], Pos::NONE, text)?;
    match usize::try_from(index).ok().and_then(|index| list.slots().get(index)) {
        Some(slot) => cx.force_slot(slot),
        None => {
            let len = list.len();
            let message =
                format!("'builtins.elemAt' called with index {index} on a list of size {len}");
            Err(Error::new(ErrorKind::Other, Pos::NONE, message))
        }
    }
}

fn length(cx: &Cx<'_>, args: &[Value], _: Pos) -> Result<Value> {
    let text = "while evaluating the first argument passed to builtins.length";
    let list = cx.force_list(args[0], Pos::NONE, text)?;
    Ok(cx.int(list.len() as i64))
}

fn elem(cx: &Cx<'_>, args: &[Value], _: Pos) -> Result<Value> {
    let text = "while evaluating the second argument passed to builtins.elem";
    let list = cx.force_list(args[1], Pos::NONE, text)?;
    for element in list.iter() {
        let equal = cx.equal_members(args[0], element, Pos::NONE).trace(Pos::NONE, || {
            "while searching for the presence of the given element in the list".to_owned()
        })?;
        if equal {
            return Ok(Value::TRUE);
        }
    }
    Ok(Value::FALSE)
}

fn filter(cx: &Cx<'_>, args: &[Value], _: Pos) -> Result<Value> {
    let text = "while evaluating the second argument passed to builtins.filter";
    let list = cx.force_list(args[1], Pos::NONE, text)?;
    if list.is_empty() {
        return Ok(list.into());
    }
    let text = "while evaluating the first argument passed to builtins.filter";
    let predicate = cx.force_function(args[0], Pos::NONE, text)?;
    let text =
        "while evaluating the return value of the filtering function passed to builtins.filter";
    cx.room_for::<Value>(list.len());
    let mut kept: SmallVec<[Value; 64]> = SmallVec::new();
    for element in list.iter() {
        if cx.call_bool(predicate, &[element], Pos::NONE, text)? {
            kept.push(element);
        }
    }
    if kept.len() == list.len() {
        return Ok(list.into());
    }
    Ok(cx.list(&kept))
}

fn map(cx: &Cx<'_>, args: &[Value], _: Pos) -> Result<Value> {
    let text = "while evaluating the second argument passed to builtins.map";
    let list = cx.force_list(args[1], Pos::NONE, text)?;
    if list.is_empty() {
        return Ok(list.into());
    }
    let text = "while evaluating the first argument passed to builtins.map";
    let function = cx.force_function(args[0], Pos::NONE, text)?;
    let slots = list.slots();
    Ok(cx.list_from_fn(slots.len(), |i| cx.apply_later(function, slots[i].get())))
}

fn concat_lists(cx: &Cx<'_>, args: &[Value], _: Pos) -> Result<Value> {
    let text = "while evaluating the first argument passed to builtins.concatLists";
    let list = cx.force_list(args[0], Pos::NONE, text)?;
    cx.room_for::<List>(list.len());
    let mut lists: SmallVec<[List; 16]> = SmallVec::with_capacity(list.len());
    for element in list.iter() {
        let text = "while evaluating a value of the list passed to builtins.concatLists";
        lists.push(cx.force_list(element, Pos::NONE, text)?);
    }
    Ok(cx.concat_lists(&lists))
}

fn concat_map(cx: &Cx<'_>, args: &[Value], _: Pos) -> Result<Value> {
    let text = "while evaluating the first argument passed to builtins.concatMap";
    let function = cx.force_function(args[0], Pos::NONE, text)?;
    let text = "while evaluating the second argument passed to builtins.concatMap";
    let list = cx.force_list(args[1], Pos::NONE, text)?;
    cx.room_for::<List>(list.len());
    let mut lists: SmallVec<[List; 16]> = SmallVec::with_capacity(list.len());
    for element in list.iter() {
        let result = cx.call(function, &[element], Pos::NONE)?;
        let View::List(result) = result.view() else {
            let pos = match function.view() {
                View::Function(Function::Lambda(lambda)) => lambda.code().pos,
                _ => Pos::NONE,
            };
            let text =
                "while evaluating the return value of the function passed to builtins.concatMap";
            let error = cx.type_error(crate::value::Type::List, result, Pos::NONE);
            return Err(error.frame(pos, text));
        };
        lists.push(result);
    }
    Ok(cx.concat_lists(&lists))
}

/// Each step is evaluated before the next; the initial value only when it is needed.
fn foldl(cx: &Cx<'_>, args: &[Value], _: Pos) -> Result<Value> {
    let text = "while evaluating the first argument passed to builtins.foldlStrict";
    let step = cx.force_function(args[0], Pos::NONE, text)?;
    let text = "while evaluating the third argument passed to builtins.foldlStrict";
    let list = cx.force_list(args[2], Pos::NONE, text)?;
    let mut result = args[1];
    for element in list.iter() {
        result = cx.call(step, &[result, element], Pos::NONE)?;
    }
    cx.force(result)
}

fn gen_list(cx: &Cx<'_>, args: &[Value], _: Pos) -> Result<Value> {
    let text = "while evaluating the second argument passed to builtins.genList";
    let len = cx.force_int(args[1], Pos::NONE, text)?;
    if !(0..=MAX_GENERATED).contains(&len) {
        let message = format!("cannot create list of size {len}");
        return Err(Error::new(ErrorKind::Other, Pos::NONE, message));
    }
    let text = "while evaluating the first argument passed to builtins.genList";
    let function = cx.force_function(args[0], Pos::NONE, text)?;
    Ok(cx.list_from_fn(len as usize, |i| cx.apply_later(function, cx.int(i as i64))))
}

/// Returns whether the predicate gives `wanted` for some element, evaluating no more than needed.
fn some(cx: &Cx<'_>, args: &[Value], name: &str, wanted: bool) -> Result<bool> {
    let text =
        |which| move || format!("while evaluating the {which} argument passed to builtins.{name}");
    let predicate = cx.force_function(args[0], Pos::NONE, text("first"))?;
    let list = cx.force_list(args[1], Pos::NONE, text("second"))?;
    for element in list.iter() {
        let answer = cx.call(predicate, &[element], Pos::NONE)?;
        let answer = cx.force_bool(answer, Pos::NONE, || {
            format!("while evaluating the return value of the function passed to builtins.{name}")
        })?;
        if answer == wanted {
            return Ok(true);
        }
    }
    Ok(false)
}

fn all(cx: &Cx<'_>, args: &[Value], _: Pos) -> Result<Value> {
    Ok(Value::bool(!some(cx, args, "all", false)?))
}

fn any(cx: &Cx<'_>, args: &[Value], _: Pos) -> Result<Value> {
    Ok(Value::bool(some(cx, args, "any", true)?))
}

fn partition(cx: &Cx<'_>, args: &[Value], _: Pos) -> Result<Value> {
    use raddle_nix_syntax::sym;
    let text = "while evaluating the first argument passed to builtins.partition";
    let predicate = cx.force_function(args[0], Pos::NONE, text)?;
    let text = "while evaluating the second argument passed to builtins.partition";
    let list = cx.force_list(args[1], Pos::NONE, text)?;
    let text =
        "while evaluating the return value of the partition function passed to builtins.partition";
    cx.room_for::<Value>(list.len());
    let (mut right, mut wrong) = (Vec::new(), Vec::new());
    for slot in list.slots() {
        let element = cx.force_slot(slot)?;
        if cx.call_bool(predicate, &[element], Pos::NONE, text)? {
            right.push(element);
        } else {
            wrong.push(element);
        }
    }
    let mut builder = AttrsBuilder::with_capacity(2);
    builder.push(sym::RIGHT, Pos::NONE, cx.list(&right));
    builder.push(sym::WRONG, Pos::NONE, cx.list(&wrong));
    Ok(cx.set(builder))
}
