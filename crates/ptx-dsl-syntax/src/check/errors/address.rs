//! The catalogue of 04xx: addresses, parameters of calls, and operands that only ptxas has (0521).

use crate::diag::{Constant, Diagnostic};
use crate::span::Span;
use ptx_dsl_isa::ty::Ty;

use super::*;

pub(crate) fn misaligned(span: Span, name: &str, offset: i64, align: u32) -> Diagnostic {
    let step = i64::from(align);
    let rest = offset.rem_euclid(step);
    explained_error(
        code::MISALIGNED_OPERAND,
        span,
        format_args!("`{name}` plus {offset} is not a multiple of {align} bytes"),
        format_args!("this access must be aligned to {align} bytes (PTX ISA 6.4.1)"),
        format_args!("the nearest aligned offsets are {} and {}", offset - rest, offset.saturating_add(step - rest)),
    )
}

/// `takes`: can the instruction name the variable's state space in place of the written one? `x`: a free name.
pub(crate) fn space_mismatch(span: Span, name: &str, is: &str, want: &str, takes: bool, x: &str) -> Diagnostic {
    let d = noted_error(
        code::STATE_SPACE,
        span,
        format_args!("`{name}` is a `.{is}` variable, but the instruction accesses `.{want}`"),
        format_args!(
            "a variable is accessed in the state space it is declared in, or by a generic address (PTX ISA 5.1)"
        ),
    );
    match is {
        _ if takes => d.help(format!("write `.{is}` in place of `.{want}`")),
        // A tensor map.
        "param" if want == "global" => d.help(format!(
            "put `.reg .b64 {x}; mov.b64 {x}, {name}; cvta.param.u64 {x}, {x};` before it, and write `{x}`"
        )),
        _ => d.help(format!("name a `.{want}` variable")),
    }
}

/// `takes`: can the instruction name the state space? `x`: a free name.
pub(crate) fn generic_space(span: Span, name: &str, is: &str, takes: bool, x: &str) -> Diagnostic {
    let d =
        error(code::STATE_SPACE, span, format!("`{name}` is a `.{is}` variable, but a generic address cannot name it"));
    match is {
        _ if takes => d.help(format!("add `.{is}`")),
        "const" => d.help(format!("put `.reg .u64 {x}; cvta.const.u64 {x}, {name};` before it, and write `{x}`")),
        _ => d.help("copy it into a variable of another state space"),
    }
}

pub(crate) fn address_register(span: Span, name: &str, ty: Ty) -> Diagnostic {
    explained_error(
        code::MALFORMED_ADDRESS,
        span,
        format_args!(
            "`{name}` is a `.{}` register, but an address is an integer or `.b` register of 32 or 64 bits",
            ty.name()
        ),
        format_args!("see PTX ISA 6.4.1"),
        format_args!("keep the address in a `.b64` or `.u64` register"),
    )
}

/// `shared`: can the instruction name shared memory?
pub(crate) fn narrow_address(span: Span, name: &str, generic: bool, shared: bool) -> Diagnostic {
    let what = if generic { "a generic address" } else { "an address in `.global`" };
    let d = noted_error(
        code::MALFORMED_ADDRESS,
        span,
        format_args!("`{name}` has 32 bits, but {what} has 64"),
        format_args!("32 bits suffice in other state spaces, such as `.shared` (PTX ISA 6.4.1)"),
    );
    match shared {
        true => d.help("add `.shared` if it is an address in shared memory; keep any other one in a `.b64` register"),
        false => d.help("keep the address in a `.b64` register"),
    }
}

/// The address of a `.global` variable as a value of 32 bits.
pub(crate) fn narrow_variable(span: Span, name: &str) -> Diagnostic {
    explained_error(
        code::MALFORMED_ADDRESS,
        span,
        format_args!("the address of `{name}` has 64 bits, but this value has 32"),
        format_args!("32 bits suffice in other state spaces, such as `.shared` (PTX ISA 6.4.1)"),
        format_args!("keep the address in a `.b64` register"),
    )
}

/// `help`: the address in a legal form, or code that computes it.
pub(crate) fn bad_address(span: Span, help: Option<Help>) -> Diagnostic {
    let d = noted_error(
        code::MALFORMED_ADDRESS,
        span,
        format_args!("this is not an address"),
        format_args!("an address is `[reg]`, `[reg+imm]`, `[var]` or `[var+imm]` (PTX ISA 6.4.1)"),
    );
    d.help(help.unwrap_or_else(|| "compute the address with instructions, and name the register".into()))
        .wants(Constant::Value, true)
}

/// `value`: as written; `bits`: of an address; `x`: a free name.
pub(crate) fn absolute_address(span: Span, value: i64, bits: u32, x: &str) -> Diagnostic {
    explained_error(
        code::MALFORMED_ADDRESS,
        span,
        format_args!("a constant address is allowed in `.local` only"),
        format_args!("see PTX ISA 6.4.1"),
        format_args!("put `.reg .b{bits} {x}; mov.b{bits} {x}, {value};` before it, and write `{x}`"),
    )
}

/// `value`: the subtrahend, if it is a constant.
pub(crate) fn offset_form(span: Span, name: &str, value: Option<i64>) -> Diagnostic {
    let d = error(code::MALFORMED_ADDRESS, span, format!("an offset is added after the name `{name}`"))
        .wants(Constant::Value, true);
    match value {
        Some(n) => d.help(Help::write(format!("{name}+{}", n.wrapping_neg()))),
        None => d.help("put the name first, and add a constant after it"),
    }
}

pub(crate) fn load_before_call(span: Span, name: &str) -> Diagnostic {
    explained_error(
        code::PARAMETER_ACCESS,
        span,
        format_args!("no call before this `ld.param` returns `{name}`"),
        format_args!("outside of a call sequence ptxas refuses to read a `.param` variable of a body (PTX ISA 5.1.6)"),
        format_args!("keep the value in a register, or in a `.local` variable"),
    )
}

pub(crate) fn guarded_param(span: Span, opcode: &str, name: &str) -> Diagnostic {
    explained_error(
        code::PARAMETER_ACCESS,
        span,
        format_args!("`{opcode}.param` of `{name}`, a variable of a call, cannot have a guard"),
        format_args!("ptxas refuses a guard in a call sequence (PTX ISA 5.1.6)"),
        format_args!("branch around the whole call"),
    )
}

/// A warning: `%r1+1` as a source.
pub(crate) fn register_sum(span: Span, help: Option<String>) -> Diagnostic {
    against_the_manual(code::UNDOCUMENTED_OPERAND, span, "the manual has no sum of a register and a number as an operand")
        .note("ptxas adds the number to the register, and the instruction takes the sum; PTX ISA 6.4 has such sums in addresses only")
        .help(help.unwrap_or_else(|| "compute it with an instruction first".to_string()))
}

/// A warning: `%p1|_` where there is one result.
pub(crate) fn second_sink(span: Span, opcode: &str) -> Diagnostic {
    against_the_manual(
        code::UNDOCUMENTED_OPERAND,
        span,
        format!("`{opcode}` has one result, and the manual has no `|_` after it"),
    )
    .note("ptxas ignores the `|_`")
    .help("remove the `|_`")
}
