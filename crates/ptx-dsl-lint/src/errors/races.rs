//! Messages about races between warps in shared memory, PTX0690, and between CTAs in global memory, PTX0699.

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

/// `step`: how far the stores of the next CTA are from those of a CTA, in bytes. `other`: the store that writes the bytes, if it is another one.
pub(crate) fn of_two_ctas(span: Span, step: u64, axis: &str, other: Option<Span>) -> Diagnostic {
    let message =
        format!("two CTAs write the same bytes here: those of the next `%ctaid.{axis}` begin {step} bytes further");
    let d = suspicious(code::STORES_OF_TWO_CTAS, span, message);
    let d = match other {
        Some(other) => d.label(other, "the other CTA writes them here"),
        None => d,
    };
    section(d, "stores of different CTAs to the same memory are in no order, so either value may remain", "8.7")
        .help(format!("multiply `%ctaid.{axis}` with the number of elements that a CTA writes"))
}
