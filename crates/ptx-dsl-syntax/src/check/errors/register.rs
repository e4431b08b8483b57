//! The catalogue of 04xx: registers, their types, and what belongs into one.

use crate::diag::{Diagnostic, Subject};
use crate::span::Span;
use ptx_dsl_isa::ty::{Class, Ty};

use super::*;

/// A help for several registers.
pub(crate) const OTHER_REGISTERS: &str = "name registers of that type, or convert these before it";

/// `helps`: ways to get a suitable register.
pub(crate) fn register_type(span: Span, reg: &str, have: Ty, want: Ty, wider: bool, helps: Vec<String>) -> Diagnostic {
    let bits = if wider { want.bits().max(16) } else { want.bits() };
    let message = format!("`{reg}` is a `.{}` register, but `.{}` is needed here", have.name(), want.name());
    let mut d = error(code::REGISTER_TYPE, span, message).about(Subject::RegisterType { have, want });
    d.helps = helps;
    let note = match want.class() {
        Class::Pred => "a predicate register is declared with `.reg .pred` (PTX ISA 5.2.1)".to_string(),
        Class::Unsigned | Class::Signed if wider => {
            format!("an integer or `.b` register of at least {bits} bits fits (PTX ISA 9.4.1)")
        }
        Class::Unsigned | Class::Signed => {
            format!("`.u{bits}`, `.s{bits}` and `.b{bits}` registers fit (PTX ISA 9.4)")
        }
        Class::Bits if wider => format!("any register of at least {bits} bits fits (PTX ISA 9.4.1)"),
        Class::Bits => format!("any register of {bits} bits fits (PTX ISA 9.4)"),
        Class::Float => format!("`.{}` and `.b{bits}` registers fit (PTX ISA 9.4)", want.name()),
        Class::Packed => format!("packed types live in `.b{bits}` registers (PTX ISA 5.2.5)"),
        Class::Opaque => return d,
    };
    d.note(note)
}

/// The type of a register for values of a type; `wider`: a 16-bit register holds a byte.
fn register_of(ty: Ty, wider: bool) -> String {
    let least = if wider { 16 } else { 8 };
    match ty {
        _ if ty.class() == Class::Packed
            || matches!(ty, Ty::Bf16 | Ty::Tf32)
            || ty.bits() < least && ty != Ty::Pred =>
        {
            format!("b{}", ty.bits().max(least))
        }
        _ => ty.name().to_string(),
    }
}

/// Adds a help that declares the register of this name.
pub(crate) fn with_declaration(mut d: Diagnostic, name: &str, ty: Ty) -> Diagnostic {
    if let Subject::Undeclared { declares, .. } = &mut d.subject {
        *declares = Some(ty);
    }
    d.help(declare_register(name, ty))
}

/// A register of this name.
fn declare_register(name: &str, ty: Ty) -> String {
    let register = register_of(ty, true);
    match name.split_once('.') {
        None => format!("put `.reg .{register} {name};` before it"),
        Some((vector, _)) if ty.bits() > 32 => format!("put `.reg .v2 .{register} {vector};` before it"),
        Some((vector, _)) => format!("put `.reg .v4 .{register} {vector};` before it"),
    }
}

/// A register of the type, for a result; `wider`: one with more bits is accepted.
pub(crate) fn another_register(ty: Ty, wider: bool, x: &str) -> String {
    format!("put `.reg .{} {x};` before it, and write `{x}`", register_of(ty, wider))
}

/// Statements that make a register `x` of the type `want` from `given`, each with what it keeps.
pub(crate) fn conversions(given: &str, have: Ty, want: Ty, x: &str) -> Vec<(&'static str, String)> {
    let (from, to) = (have.name(), want.name());
    let number = |ty: Ty| matches!(ty, Ty::F16 | Ty::F32 | Ty::F64);
    let integer = |ty: Ty| matches!(ty.class(), Class::Unsigned | Class::Signed | Class::Bits);
    let plain = |bits: u32| matches!(bits, 16 | 32 | 64);
    let reg = format!(".reg .{} {x};", register_of(want, true));
    let mut out = Vec::new();
    match () {
        _ if have == Ty::Pred && integer(want) && want.bits() <= 64 => {
            let bits = want.bits().max(16);
            out.push(("", format!(".reg .b{bits} {x}; selp.b{bits} {x}, 1, 0, {given};")));
        }
        _ if have == Ty::Pred && matches!(want, Ty::F32 | Ty::F64) => {
            out.push(("", format!("{reg} selp.{to} {x}, 1.0, 0.0, {given};")));
        }
        _ if want == Ty::Pred && integer(have) && plain(have.bits()) => {
            out.push(("", format!("{reg} setp.ne.b{} {x}, {given}, 0;", have.bits())));
        }
        _ if want == Ty::Pred && matches!(have, Ty::F32 | Ty::F64) => {
            out.push(("", format!("{reg} setp.neu.{from} {x}, {given}, 0.0;")));
        }
        _ if number(have) && integer(want) && plain(want.bits()) && want.class() != Class::Bits => {
            out.push(("for its value, ", format!("{reg} cvt.rzi.{to}.{from} {x}, {given};")));
        }
        _ if number(want) && matches!(have.class(), Class::Unsigned | Class::Signed) && plain(have.bits()) => {
            out.push(("for its value, ", format!("{reg} cvt.rn.{to}.{from} {x}, {given};")));
        }
        _ if number(have) && number(want) => {
            let round = if have.bits() > want.bits() { "rn." } else { "" };
            out.push(("", format!("{reg} cvt.{round}{to}.{from} {x}, {given};")));
        }
        _ if integer(have)
            && integer(want)
            && have.bits() != want.bits()
            && plain(have.bits())
            && plain(want.bits()) =>
        {
            let sign = if want.class() == Class::Signed { "s" } else { "u" };
            let (w, h) = (want.bits(), have.bits());
            out.push(("", format!("{reg} cvt.{sign}{w}.{sign}{h} {x}, {given};")));
        }
        _ => {}
    }
    if want.bits() == have.bits() && plain(want.bits()) {
        let purpose = if out.is_empty() { "" } else { "for its bits, " };
        out.push((purpose, format!(".reg .b{0} {x}; mov.b{0} {x}, {given};", want.bits())));
    }
    out
}

pub(crate) fn not_predicate(span: Span, name: &str, helps: Vec<String>) -> Diagnostic {
    let mut d = noted_error(
        code::GUARD_TYPE,
        span,
        format_args!("`{name}` is not a predicate register"),
        format_args!("guards are `@p` and `@!p` with a `.pred` register (PTX ISA 9.3)"),
    );
    d.helps = helps;
    d
}

/// `x`: a free name.
pub(crate) fn special_register(span: Span, name: &str, ty: Ty, opcode: &str, x: &str) -> Diagnostic {
    let ty = ty.name();
    explained_error(
        code::SPECIAL_REGISTER,
        span,
        format_args!("the special register `{name}` cannot be an operand of `{opcode}`"),
        format_args!("special registers are read with `mov` or `cvt` (PTX ISA 10)"),
        format_args!("put `.reg .{ty} {x}; mov.{ty} {x}, {name};` before it, and write `{x}`"),
    )
}

pub(crate) fn read_only(span: Span, name: &str) -> Diagnostic {
    explained_error(
        code::SPECIAL_REGISTER,
        span,
        format_args!("the special register `{name}` is read-only"),
        format_args!("no instruction writes a special register (PTX ISA 10)"),
        format_args!("name a register declared with `.reg`"),
    )
}

/// `help`: how to get one.
pub(crate) fn needs_register(span: Span, operand: &str, help: Option<String>) -> Diagnostic {
    let d = noted_error(
        code::REGISTER_OR_CONSTANT,
        span,
        format_args!("operand `{operand}` must be a register"),
        format_args!(
            "destinations, and operands that the syntax does not mark as constants, are registers (PTX ISA 6.3)"
        ),
    );
    d.help(help.unwrap_or_else(|| "name a register declared with `.reg`".to_string()))
}

/// `bits`: of its address; `x`: a free name.
pub(crate) fn variable_operand(span: Span, name: &str, opcode: &str, bits: u32, x: &str) -> Diagnostic {
    explained_error(
        code::REGISTER_OR_CONSTANT,
        span,
        format_args!("the address of `{name}` cannot be an operand of `{opcode}`"),
        format_args!("the address of a variable is taken with `mov` or `cvta` (PTX ISA 6.4.2)"),
        format_args!("put `.reg .u{bits} {x}; mov.u{bits} {x}, {name};` before it, and write `{x}`"),
    )
}

pub(crate) fn tensor_memory_register(span: Span, name: &str, ty: Ty) -> Diagnostic {
    let want = if ty.bits() == 32 { "is without a type here" } else { "has 32 bits" };
    explained_error(
        code::MALFORMED_ADDRESS,
        span,
        format_args!("`{name}` is a `.{}` register, but an address in Tensor Memory {want}", ty.name()),
        format_args!("it is a lane in the upper and a column in the lower half (PTX ISA 9.7.16.1.1)"),
        format_args!("use the `.b32` register that holds what `tcgen05.alloc` wrote"),
    )
}

pub(crate) fn tensor_memory_variable(span: Span, name: &str) -> Diagnostic {
    explained_error(
        code::MALFORMED_ADDRESS,
        span,
        format_args!("`{name}` is a variable, but an address in Tensor Memory is needed here"),
        format_args!("no variable lives in Tensor Memory (PTX ISA 9.7.16.1)"),
        format_args!("load what `tcgen05.alloc` wrote into a `.b32` register, and name that"),
    )
}
