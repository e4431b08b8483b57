//! Findings about values that rustc alone knows. `shown` is the expression as written, `value` the mark of its value.

use super::{directive_section, error, explained_error};
use crate::code;
use crate::diag::Diagnostic;
use crate::span::Span;
use ptx_dsl_isa::isa::Multiple;

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
    error(code::CONSTANT_RANGE, span, format!("{} out of range for operand `{operand}`", is(shown, value)))
        .note(format!("it must be between {low} and {high} (PTX ISA {section})"))
}

pub(crate) fn rust_multiple(span: Span, rule: &Multiple, (shown, value): (&str, &str), section: &str) -> Diagnostic {
    let text = format!("{} is {value}, but must be a multiple of {}", rule.what, rule.unit);
    error(code::OPERAND_VALUE, span, text).note(format!("it is `{shown}` (PTX ISA {section})"))
}

pub(crate) fn rust_generic(span: Span, name: &str, space: &str) -> Diagnostic {
    error(
        code::UNKNOWN_CONSTANT_VALUE,
        span,
        format!("the generic address of `{name}` plus a Rust constant cannot be written here"),
    )
    .note(format!("without a state space the address is generic, and `{name}` lies in `.{space}`"))
    .help("compute the address into a register before it, with `mov` and `cvta`, or name the state space")
}

pub(crate) fn several_kernels(span: Span, name: &str, parameters: &[String], other: Span) -> Diagnostic {
    let lists: Vec<String> = parameters.iter().map(|n| format!("const {n}: .. in [..]")).collect();
    error(code::MALFORMED_CONSTANT, span, format!("`{name}` has const parameters without lists, and is not the only kernel of the module"))
        .label(other, "another kernel is here")
        .note("each instance has a PTX text of its own, which only rustc can write: a module with two such kernels has none")
        .help(format!(
            "list the values, `{name}<{}>`, or give it a `ptx!` of its own; functions and variables that both need go into a part, \
             `part common {{ .. }}`, that both `use`",
            lists.join(", ")
        ))
}

/// `shown`: the offset as written, and its value.
pub(crate) fn rust_misaligned(span: Span, name: &str, (shown, value): (&str, &str), align: u32) -> Diagnostic {
    error(
        code::MISALIGNED_OPERAND,
        span,
        format!("`{name} + {shown}` is `{name}+{value}`, which is not a multiple of {align} bytes"),
    )
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
    error(code::OUT_OF_BOUNDS, span, format!("this accesses {bytes} at {place}, outside of `{name}`"))
        .note(format!("`{name}` has {size} bytes, and what lies next to a variable is not defined (PTX ISA 5.4)"))
}

pub(crate) fn rust_dimension(span: Span, shown: &str, value: &str) -> Diagnostic {
    error(code::MALFORMED_VARIABLE, span, format!("{} not a size of an array", is(shown, value)))
        .note("it has at least 1 element (PTX ISA 5.4.3), and a variable 64 MiB at most")
}

pub(crate) fn rust_size(span: Span, name: &str, value: &str, unit: &str) -> Diagnostic {
    error(code::MALFORMED_VARIABLE, span, format!("`{name}` has {value} {unit}, and a variable 64 MiB at most"))
        .note("the host machine has no more")
        .help("allocate it in the host program, and pass its address")
}

pub(crate) fn rust_values(span: Span, shown: &str, value: &str, values: usize) -> Diagnostic {
    error(
        code::INITIAL_VALUE,
        span,
        format!("{} less than the {values} initial values of this array", is(shown, value)),
    )
    .note("an array has at least as many elements as values (PTX ISA 5.4.4)")
}

/// `largest`: of the registers that are used.
pub(crate) fn rust_registers(span: Span, prefix: &str, shown: &str, value: &str, largest: Option<i64>) -> Diagnostic {
    match largest {
        Some(n) => error(
            code::UNDECLARED,
            span,
            format!("`{prefix}{n}` is used, and `{prefix}<{shown}>` has {value} registers"),
        )
        .note("they are numbered from 0 (PTX ISA 5.4.6)"),
        None => error(code::MALFORMED_VARIABLE, span, format!("{} not a number of registers", is(shown, value)))
            .note("it is not negative, and has 32 bits (PTX ISA 5.4.6)"),
    }
}

/// All variables of a space that rustc sizes.
pub(crate) fn rust_space(span: Span, space: &str, value: &str) -> Diagnostic {
    error(
        code::MALFORMED_VARIABLE,
        span,
        format!("the `.{space}` variables have {value} bytes, and the host machine has 64 MiB for them"),
    )
    .help("allocate memory in the host program, and pass its address")
}

pub(crate) fn rust_const_size(span: Span, value: &str, limit: u64) -> Diagnostic {
    error(
        code::MALFORMED_VARIABLE,
        span,
        format!("the module has {value} bytes of `.const` variables, but at most {limit} are allowed (PTX ISA 5.1.3)"),
    )
    .help("declare a variable `.global`")
}

pub(crate) fn rust_alignment(span: Span, shown: &str, value: &str) -> Diagnostic {
    error(code::MALFORMED_VARIABLE, span, format!("{} not an alignment", is(shown, value)))
        .note("an alignment is a power of two (PTX ISA 5.4.5)")
}

pub(crate) fn rust_shared_size(span: Span, kernel: &str, value: &str, limit: u64) -> Diagnostic {
    error(
        code::TOO_MUCH_SHARED,
        span,
        format!("`{kernel}` has {value} bytes of static shared memory, but at most {limit} are allowed"),
    )
    .help("make an array `.extern` and leave its size open, and give the size at launch")
}

pub(crate) fn rust_directive(
    span: Span,
    name: &str,
    shown: &str,
    value: &str,
    (low, high, unit): (i64, i64, &str),
) -> Diagnostic {
    let text = format!("{} out of range for `{name}`", is(shown, value));
    let section = directive_section(name);
    if high == i64::from(u32::MAX) {
        let rule = format!("it takes {low} or more, a number of 32 bits (PTX ISA {section})");
        return error(code::DIRECTIVE_ARGUMENT, span, text).note(rule).help("choose a number in this range");
    }
    explained_error(
        code::DIRECTIVE_ARGUMENT,
        span,
        format_args!("{text}"),
        format_args!("there are {low} to {high} {unit} (PTX ISA {section})"),
        format_args!("choose sizes whose product is {high} at most"),
    )
}
