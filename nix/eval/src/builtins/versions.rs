//! Version strings and package names that end in one.

use std::cmp::Ordering;

use raddle_nix_syntax::{Pos, sym};

use crate::eval::{Cx, Result};
use crate::text::version;
use crate::value::{AttrsBuilder, PrimOp, Value};

pub(super) const PRIMOPS: &[PrimOp] = &[
    PrimOp::new("compareVersions", 2, compare_versions).strict(0b11),
    PrimOp::new("parseDrvName", 1, parse_drv_name).strict(0b1),
    PrimOp::new("splitVersion", 1, split_version).strict(0b1),
];

fn compare_versions(cx: &Cx<'_>, args: &[Value], _: Pos) -> Result<Value> {
    let text = "while evaluating the first argument passed to builtins.compareVersions";
    let left = cx.force_plain_string(args[0], Pos::NONE, text)?;
    let text = "while evaluating the second argument passed to builtins.compareVersions";
    let right = cx.force_plain_string(args[1], Pos::NONE, text)?;
    Ok(cx.int(match version::compare_versions(left, right) {
        Ordering::Less => -1,
        Ordering::Equal => 0,
        Ordering::Greater => 1,
    }))
}

fn parse_drv_name(cx: &Cx<'_>, args: &[Value], _: Pos) -> Result<Value> {
    let text = "while evaluating the first argument passed to builtins.parseDrvName";
    let (name, version) =
        version::parse_drv_name(cx.force_plain_string(args[0], Pos::NONE, text)?);
    let mut set = AttrsBuilder::with_capacity(2);
    set.push(sym::NAME, Pos::NONE, cx.string(name));
    set.push(sym::VERSION, Pos::NONE, cx.string(version));
    Ok(cx.set(set))
}

fn split_version(cx: &Cx<'_>, args: &[Value], _: Pos) -> Result<Value> {
    let text = "while evaluating the first argument passed to builtins.splitVersion";
    let version = cx.force_plain_string(args[0], Pos::NONE, text)?;
    let components: Vec<Value> =
        version::split_version(version).map(|component| cx.string(component)).collect();
    Ok(cx.list(&components))
}
