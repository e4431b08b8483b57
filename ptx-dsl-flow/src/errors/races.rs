//! The catalogue of conflicts between warps in shared memory: 0690.

use super::{found, section};
use ptx_dsl_table::diag::Diagnostic;
use ptx_dsl_table::span::Span;

/// `writes`: does the first of the two write, and the second?
pub(crate) fn between_warps(span: Span, other: Span, name: &str, writes: [bool; 2], next_round: bool) -> Diagnostic {
    let round = if next_round { " in the round before" } else { "" };
    let (message, label) = match writes {
        [true, false] => (
            format!("this reads what other warps write into `{name}`{round}, and need not have written yet"),
            "written here",
        ),
        [false, _] => (
            format!("this writes over what other warps read of `{name}`{round}, and need not have read yet"),
            "read here",
        ),
        [true, true] => (
            format!("this changes what other warps write into `{name}`{round}, and need not have written yet"),
            "written here",
        ),
    };
    section(
        found(690, span, false, message).label(other, label),
        "accesses of different threads that conflict have an order only if something makes the threads meet",
        "8.7",
    )
    .help("put `bar.sync 0;` between the two")
}
