//! The catalogue of 04xx: the number, the order and the shape of operands.

use crate::diag::{Diagnostic, Subject};
use crate::span::Span;

use super::*;

/// A help about further operands of an instruction.
pub(crate) const TOO_MUCH: &str = "remove the extra operands";

pub(crate) fn operand_count(
    span: Span,
    opcode: &str,
    low: usize,
    high: usize,
    have: usize,
    line: &str,
    sec: &str,
) -> Diagnostic {
    let s = if high == 1 { "" } else { "s" };
    let verb = if have == 1 { "is" } else { "are" };
    let note = format_args!("its form is `{line}` (PTX ISA {sec})");
    if low == high {
        return noted_error(
            code::OPERAND_COUNT,
            span,
            format_args!("`{opcode}` takes {low} operand{s}, but {have} {verb} given"),
            note,
        );
    }
    let to = if low + 1 == high { "or" } else { "to" };
    noted_error(
        code::OPERAND_COUNT,
        span,
        format_args!("`{opcode}` takes {low} {to} {high} operand{s}, but {have} {verb} given"),
        note,
    )
}

/// An operand that the form has not; it and its section are `form`.
pub(crate) fn superfluous(span: Span, operand: &str, form: (&str, &str)) -> Diagnostic {
    noted_error(
        code::OPERAND_COUNT,
        span,
        format_args!("`{operand}` is one operand too many"),
        format_args!("the form is `{}` (PTX ISA {})", form.0, form.1),
    )
}

/// Operands of another order or in other brackets than those of the form; it and its section are `form`.
pub(crate) fn misshapen(span: Span, form: (&str, &str)) -> Diagnostic {
    noted_error(
        code::OPERAND_SHAPE,
        span,
        format_args!("these operands have another order, or other brackets, than those of the form"),
        format_args!("the form is `{}` (PTX ISA {})", form.0, form.1),
    )
}

/// Operands that are missing. `place`: where, after or before which one.
pub(crate) fn lacks(span: Span, names: &[String], place: &str, form: (&str, &str)) -> Diagnostic {
    let (s, verb) = if names.len() > 1 { ("s", "are") } else { ("", "is") };
    let names = names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" and ");
    explained_error(
        code::OPERAND_COUNT,
        span,
        format_args!("operand{s} {names} {verb} missing"),
        format_args!("the form is `{}` (PTX ISA {})", form.0, form.1),
        format_args!("add operand{s} {names} {place}"),
    )
}

pub(crate) fn wrong_shape(span: Span, operand: &str, want: &str) -> Diagnostic {
    let d = noted_error(
        code::OPERAND_SHAPE,
        span,
        format_args!("operand `{operand}` must be {want}"),
        format_args!("the kinds of operands are described in PTX ISA 6"),
    );
    if want.starts_with("a pair") {
        d.help("put two here, with `|` between them")
    } else {
        d.help(format!("put {want} here"))
    }
}

pub(crate) fn must_be_sink(span: Span, operand: &str, line: &str, sec: &str) -> Diagnostic {
    let note = format_args!("the form is `{line}` (PTX ISA {sec})");
    let help = Help::write("_");
    match operand {
        "_" => explained_error(code::SINK, span, format_args!("the result must be `_` here"), note, help),
        _ => explained_error(code::SINK, span, format_args!("operand `{operand}` must be `_` here"), note, help),
    }
}

pub(crate) fn no_sink(span: Span, operand: &str) -> Diagnostic {
    explained_error(
        code::SINK,
        span,
        format_args!("operand `{operand}` cannot be `_`"),
        format_args!("`_` is allowed only where the syntax of an instruction shows it (PTX ISA 9.2)"),
        format_args!("name a register"),
    )
}

pub(crate) fn all_sinks(span: Span) -> Diagnostic {
    explained_error(
        code::SINK,
        span,
        format_args!("no part of this result is kept"),
        format_args!("`_` leaves out a part of a result, never all of it (PTX ISA 6.4.3)"),
        format_args!("name a register for one part"),
    )
}

pub(crate) fn whole_vector_sreg(span: Span, name: &str) -> Diagnostic {
    helped_error(
        code::ELEMENT_COUNT,
        span,
        format_args!("`{name}` is a vector"),
        Help::write_one_of(&[".x", ".y", ".z"].map(|part| format!("{name}{part}"))),
    )
}

pub(crate) fn no_vector(span: Span, operand: &str) -> Diagnostic {
    explained_error(
        code::ELEMENT_COUNT,
        span,
        format_args!("operand `{operand}` is one value, but it is in braces"),
        format_args!("a vector is an operand only with `.v2`, `.v4` or `.v8` (PTX ISA 6.4.3)"),
        format_args!("remove the braces"),
    )
}

pub(crate) fn arity(span: Span, operand: &str, want: u32, have: usize) -> Diagnostic {
    let given = match have {
        1 => "one value is given".to_string(),
        n => format!("{n} values are given"),
    };
    if want == 1 {
        return noted_error(
            code::ELEMENT_COUNT,
            span,
            format_args!("operand `{operand}` is one register, but {given}"),
            format_args!("a vector is an operand only with `.v2`, `.v4` or `.v8` (PTX ISA 6.4.3)"),
        )
        .about(Subject::OneRegister);
    }
    let d = noted_error(
        code::ELEMENT_COUNT,
        span,
        format_args!("operand `{operand}` is a vector of {want}, but {given}"),
        format_args!("the vector qualifier asks for {want} elements (PTX ISA 6.4.3)"),
    );
    match have {
        _ if want == 0 => d,
        2 | 4 | 8 => d.help(format!("write `.v{have}` in place of `.v{want}`, or give {want} elements")),
        _ => d.help(format!("give {want} elements in `{{ }}`")),
    }
}

pub(crate) fn uneven_vector(span: Span) -> Diagnostic {
    explained_error(
        code::ELEMENT_COUNT,
        span,
        format_args!("the registers of this vector differ in width"),
        format_args!("the elements of a vector have the same size (PTX ISA 6.4.3)"),
        format_args!("declare all of them with one type"),
    )
}

/// `by`: the qualifiers that determine the number.
pub(crate) fn how_many(span: Span, operand: &str, want: u32, have: usize, by: &[&str], sec: &str) -> Diagnostic {
    let s = if want == 1 { "" } else { "s" };
    let given = match have {
        0 => "this is not a vector".to_string(),
        1 => "1 is given".to_string(),
        n => format!("{n} are given"),
    };
    let mut why = String::new();
    for (i, q) in by.iter().enumerate() {
        why += if i > 0 { "` and `" } else { "`" };
        why += q;
    }
    why += if by.is_empty() { "the smallest count" } else { "`" };
    why += if by.len() > 1 { " ask for" } else { " asks for" };
    explained_error(
        code::ELEMENT_COUNT,
        span,
        format_args!("operand `{operand}` takes {want} register{s} in `{{ }}`, but {given}"),
        format_args!("that is what {why} (PTX ISA {sec})"),
        format_args!("put a vector of {want} register{s} here"),
    )
}

pub(crate) fn mixed_kinds(span: Span) -> Diagnostic {
    explained_error(
        code::ELEMENT_COUNT,
        span,
        format_args!("this vector mixes floating-point and integer registers"),
        format_args!("the elements of a vector have the same type, and `.b32` goes with each (PTX ISA 6.4.3)"),
        format_args!("declare them with one type, or as bits, such as `.b32`"),
    )
}

pub(crate) fn mixed_vector(span: Span) -> Diagnostic {
    explained_error(
        code::ELEMENT_COUNT,
        span,
        format_args!("the widths of these elements do not add up to the width of the type"),
        format_args!("packing and unpacking take two or four equal parts (PTX ISA 9.7.9.4)"),
        format_args!("give two or four registers whose widths add up to it"),
    )
}

pub(crate) fn vector_of_one(span: Span, sec: &str) -> Diagnostic {
    operand_value(span, "a vector of one `.u16` register is read as the register itself", sec).help("declare it `.b16`")
}
