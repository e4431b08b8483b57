//! Messages about races between warps in shared memory: PTX0690.

use crate::errors::class::{section, suspicious};
use ptx_dsl_catalogue as code;
use ptx_dsl_isa::diag::Diagnostic;
use ptx_dsl_isa::span::Span;

/// `writes`: whether the first access writes, and the second. `next_iteration`: the first is of the previous iteration of a loop.
pub(crate) fn between_warps(
    span: Span,
    other: Span,
    name: &str,
    writes: [bool; 2],
    next_iteration: bool,
) -> Diagnostic {
    let (does, label) = match writes {
        [true, false] => ("reads what other warps write to", "written here"),
        [false, _] => ("overwrites what other warps read from", "read here"),
        [true, true] => ("updates what other warps write to", "written here"),
    };
    let when = if next_iteration { " in the previous iteration" } else { "" };
    section(
        suspicious(code::SHARED_MEMORY_RACE, span, format!("this {does} `{name}`{when}, with no barrier in between"))
            .label(other, label),
        "conflicting accesses of different threads are ordered only by synchronisation",
        "8.7",
    )
    .help("put `bar.sync 0;` between the two")
}
