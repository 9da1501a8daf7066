//! Values as text.

use crate::value::{Value, View};

/// Returns a short form of a value for an error message, without evaluating anything.
pub(crate) fn short(value: Value) -> String {
    match value.view() {
        View::Int(i) => i.to_string(),
        View::Str(s) => format!("{s:?}"),
        other => format!("{other:?}"),
    }
}
