//! `sort`: a stable merge sort whose comparator may fail, suspend, or contradict itself.
//!
//! Any comparator gives some permutation of the list; one that is an order gives the sorted list,
//! equal elements in their original order. A list that is sorted already costs one comparison per
//! element.

use raddle_nix_syntax::Pos;

use crate::eval::{Cx, Result};
use crate::value::{Function, PrimOp, Value, View};

pub(super) const PRIMOPS: &[PrimOp] = &[PrimOp::new("sort", 2, sort).strict(0b10)];

fn sort(cx: &Cx<'_>, args: &[Value], _: Pos) -> Result<Value> {
    let text = "while evaluating the second argument passed to builtins.sort";
    let list = cx.force_list(args[1], Pos::NONE, text)?;
    if list.is_empty() {
        return Ok(list.into());
    }
    let text = "while evaluating the first argument passed to builtins.sort";
    let comparator = cx.force_function(args[0], Pos::NONE, text)?;
    // The values, half of them again for merging, and the result.
    cx.room_for::<Value>(list.len().saturating_mul(3));
    let mut values = Vec::with_capacity(list.len());
    for slot in list.slots() {
        values.push(cx.force_slot(slot)?);
    }
    if is_less_than(comparator) {
        if !sort_simple(&mut values) {
            merge_sort(&mut values, |a, b| Ok(cx.compare(a, b, Pos::NONE)?.is_lt()))?;
        }
    } else {
        let text =
            "while evaluating the return value of the sorting function passed to builtins.sort";
        merge_sort(&mut values, |a, b| cx.call_bool(comparator, &[a, b], Pos::NONE, text))?;
    }
    Ok(cx.list(&values))
}

fn is_less_than(comparator: Value) -> bool {
    matches!(comparator.view(), View::Function(Function::PrimOp(primop)) if primop.name == "lessThan")
}

/// Sorts values that are all strings or all integers; `false` for any others.
fn sort_simple(values: &mut [Value]) -> bool {
    let bytes = |value: Value| match value.view() {
        View::Str(s) => Some(s.as_bytes()),
        _ => None,
    };
    let int = |value: Value| match value.view() {
        View::Int(i) => Some(i),
        _ => None,
    };
    if values.iter().all(|&value| bytes(value).is_some()) {
        values.sort_by(|&a, &b| bytes(a).cmp(&bytes(b)));
        return true;
    }
    if values.iter().all(|&value| int(value).is_some()) {
        values.sort_by_key(|&value| int(value));
        return true;
    }
    false
}

/// Sorts by `less`, which is asked whether a later element belongs before an earlier one.
fn merge_sort<T: Copy, E>(
    values: &mut [T],
    mut less: impl FnMut(T, T) -> Result<bool, E>,
) -> Result<(), E> {
    let mut left = Vec::with_capacity(values.len().div_ceil(2));
    merge_sort_with(values, &mut left, &mut less)
}

/// Sorts `values`; `left` is empty and has room for the larger half.
fn merge_sort_with<T: Copy, E>(
    values: &mut [T],
    left: &mut Vec<T>,
    less: &mut impl FnMut(T, T) -> Result<bool, E>,
) -> Result<(), E> {
    if values.len() < 2 {
        return Ok(());
    }
    let middle = values.len().div_ceil(2);
    merge_sort_with(&mut values[..middle], left, less)?;
    merge_sort_with(&mut values[middle..], left, less)?;
    if !less(values[middle], values[middle - 1])? {
        return Ok(());
    }
    left.extend_from_slice(&values[..middle]);
    // What is still in `left` fits exactly between `to` and `right`.
    let (mut to, mut from, mut right) = (0, 0, middle);
    while from < left.len() && right < values.len() {
        if less(values[right], left[from])? {
            values[to] = values[right];
            right += 1;
        } else {
            values[to] = left[from];
            from += 1;
        }
        to += 1;
    }
    values[to..right].copy_from_slice(&left[from..]);
    left.clear();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::merge_sort;

    /// Returns pseudo-random numbers.
    fn numbers(mut seed: u64, len: usize, limit: u64) -> Vec<u64> {
        (0..len)
            .map(|_| {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (seed >> 33) % limit
            })
            .collect()
    }

    #[test]
    fn agrees_with_a_stable_sort() {
        for len in 0..70 {
            let keys = numbers(len as u64, len, 10);
            let mut values: Vec<(u64, usize)> = keys.into_iter().zip(0..).collect();
            let mut expected = values.clone();
            expected.sort_by_key(|value| value.0);
            merge_sort(&mut values, |a, b| Ok::<_, ()>(a.0 < b.0)).unwrap();
            assert_eq!(values, expected);
        }
    }

    #[test]
    fn permutes_whatever_the_comparator_says() {
        for seed in 0..50 {
            let mut values: Vec<u64> = (0..61).collect();
            let mut coin = numbers(seed, 100_000, 2).into_iter();
            merge_sort(&mut values, |_, _| Ok::<_, ()>(coin.next() == Some(1))).unwrap();
            values.sort_unstable();
            assert_eq!(values, (0..61).collect::<Vec<_>>());
        }
    }

    #[test]
    fn compares_sorted_elements_once() {
        let mut values: Vec<u64> = (0..1000).collect();
        let mut comparisons = 0;
        merge_sort(&mut values, |a, b| {
            comparisons += 1;
            Ok::<_, ()>(a < b)
        })
        .unwrap();
        assert_eq!(comparisons, 999);
    }

    #[test]
    fn stops_at_the_first_failure() {
        let mut comparisons = 0;
        let result = merge_sort(&mut [3, 2, 1], |_, _| {
            comparisons += 1;
            Err::<bool, _>("no order")
        });
        assert_eq!((result, comparisons), (Err("no order"), 1));
    }
}
