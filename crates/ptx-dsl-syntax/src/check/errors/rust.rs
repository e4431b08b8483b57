//! Findings about values that rustc alone knows. `shown` is the expression as written, `value` the mark of its value.

use super::{directive_section, error, explained_error};
use crate::diag::Diagnostic;
use crate::span::Span;

/// `shown` with its value, if it is not the value itself.
fn is(shown: &str, value: &str) -> String {
    if shown.bytes().all(|b| b.is_ascii_digit()) {
        format!("`{shown}` is")
    } else {
        format!("`{shown}` is {value}, which is")
    }
}

pub(crate) fn rust_range(
    span: Span,
    shown: &str,
    value: &str,
    operand: &str,
    (low, high): (i64, i64),
    section: &str,
) -> Diagnostic {
    error(409, span, format!("{} out of range for operand `{operand}`", is(shown, value)))
        .note(format!("it lies between {low} and {high} (PTX ISA {section})"))
}

pub(crate) fn rust_generic(span: Span, name: &str, space: &str) -> Diagnostic {
    error(156, span, format!("the generic address of `{name}` plus a constant of Rust cannot be written here"))
        .note(format!("without a state space the address is generic, and `{name}` lies in `.{space}`"))
        .help("compute the address into a register before it, with `mov` and `cvta`, or name the state space")
}

pub(crate) fn several_kernels(span: Span, name: &str, other: Span) -> Diagnostic {
    error(155, span, format!("`{name}` has const parameters, and is not the only kernel of the module"))
        .label(other, "another kernel is here")
        .note("each instance has a PTX text of its own")
        .help("put the kernels into invocations of `ptx!` of their own")
}

/// `shown`: the offset as written, and its value.
pub(crate) fn rust_misaligned(span: Span, name: &str, (shown, value): (&str, &str), align: u32) -> Diagnostic {
    error(412, span, format!("`{name} + {shown}` is `{name}+{value}`, which is not a multiple of {align} bytes"))
        .note(format!("this access must be aligned to {align} bytes (PTX ISA 6.4.1)"))
}

pub(crate) fn rust_past_the_end(
    span: Span,
    name: &str,
    (shown, value): (&str, &str),
    access: u32,
    size: &str,
) -> Diagnostic {
    let bytes = if access == 1 { "1 byte".to_owned() } else { format!("{access} bytes") };
    let place = if shown == value {
        format!("`{name}+{value}`")
    } else {
        format!("`{name} + {shown}`, which is `{name}+{value}`")
    };
    error(633, span, format!("this accesses {bytes} at {place}, outside of `{name}`"))
        .note(format!("`{name}` has {size} bytes, and what lies next to a variable is not defined (PTX ISA 5.4)"))
}

pub(crate) fn rust_dimension(span: Span, shown: &str, value: &str) -> Diagnostic {
    error(509, span, format!("{} no size of an array", is(shown, value)))
        .note("it has at least 1 element (PTX ISA 5.4.3)")
}

pub(crate) fn rust_alignment(span: Span, shown: &str, value: &str) -> Diagnostic {
    error(509, span, format!("{} no alignment", is(shown, value)))
        .note("an alignment is a power of two (PTX ISA 5.4.5)")
}

pub(crate) fn rust_shared_size(span: Span, kernel: &str, value: &str, limit: u64) -> Diagnostic {
    error(507, span, format!("`{kernel}` has {value} bytes of static shared memory, and at most {limit} are allowed"))
        .help("make an array `.extern` and leave its size open, and give the size at launch")
}

pub(crate) fn rust_directive(
    span: Span,
    name: &str,
    shown: &str,
    value: &str,
    (limit, unit): (u64, &str),
) -> Diagnostic {
    explained_error(
        504,
        span,
        format_args!("{} out of range for `{name}`", is(shown, value)),
        format_args!("there are 1 to {limit} {unit} (PTX ISA {})", directive_section(name)),
        format_args!("choose sizes whose product is {limit} at most"),
    )
}
