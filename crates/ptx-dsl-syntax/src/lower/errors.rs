//! Errors of expressions: 0162, and of control: 0163.

use super::names::Kind;
use crate::code;
use crate::diag::{Constant, Diagnostic};
use crate::edit::Help;
use crate::span::Span;

fn error(span: Span, message: impl Into<String>, help: impl Into<Help>) -> Diagnostic {
    Diagnostic::error(code::MALFORMED_EXPRESSION, span, message).help(help)
}

pub(super) fn mixed(span: Span, found: Kind, other: Kind, first: Span) -> Diagnostic {
    let (found, other) = (found.name(), other.name());
    error(
        span,
        format!("this is `{found}`, but the other operand is `{other}`"),
        format!("convert one of them: write `as {other}` after it, or `as {found}` after the other one"),
    )
    .label(first, format!("this is `{other}`"))
}

pub(super) fn other_type(span: Span, found: Kind, wanted: Kind) -> Diagnostic {
    let (found, wanted) = (found.name(), wanted.name());
    error(
        span,
        format!("the value is `{found}`, but the register is `{wanted}`"),
        format!("put parentheses around the value, and `as {wanted}` after them"),
    )
}

pub(super) fn no_integer(span: Span, name: &str, ty: &str) -> Diagnostic {
    error(
        span,
        format!("`{name}` is `{ty}`, and expressions have integers of 32 and 64 bits, and predicates"),
        "write an instruction of PTX for it, or `cvt` it into a register before",
    )
}

pub(super) fn no_type(span: Span, ty: &str) -> Diagnostic {
    error(span, format!("`{ty}` is not a type of an expression"), "write `u32`, `s32`, `u64`, `s64` or `pred`")
}

pub(super) fn undeclared(span: Span, name: &str) -> Diagnostic {
    let d = Diagnostic::error(code::UNDECLARED, span, format!("`{name}` is not declared"));
    if name.starts_with('%') {
        return d.help(format!("declare it where it is first written: `let {name} = ...;`"));
    }
    d.help("name a register, a parameter, a variable or a constant").wants(Constant::Value, true)
}

pub(super) fn not_declared_yet(span: Span, name: &str) -> Diagnostic {
    Diagnostic::error(code::UNDECLARED, span, format!("`{name}` is not declared"))
        .help(format!("write `let {name} = ...;`"))
}

pub(super) fn declared_twice(span: Span, name: &str) -> Diagnostic {
    error(
        span,
        format!("`{name}` is a register already"),
        format!("write `{name} = ...;` to change it, or give the new one another name"),
    )
}

pub(super) fn division(span: Span, operator: &str, divisor: Option<u64>, kind: Kind) -> Diagnostic {
    let by = match divisor {
        Some(divisor) => format!("by {divisor}, which is no power of two,"),
        None => "by a value that is not a constant".to_owned(),
    };
    let cost = match (divisor, kind.width()) {
        (Some(_), 32) => "some 4 instructions: a multiplication by the inverse, and shifts",
        (Some(_), _) => "some 20 instructions: multiplications by the inverse, and shifts",
        (None, 32) => "some 15 instructions",
        (None, _) => "a function of some 100 instructions",
    };
    let instruction = if operator == "/" { "div" } else { "rem" };
    error(
        span,
        format!("`{operator}` {by} costs {cost}"),
        format!("write the instruction, `{instruction}.{} %x, a, b;`, where this cost is meant", kind.name()),
    )
}

pub(super) fn signed_division(span: Span, operator: &str) -> Diagnostic {
    let (instruction, other) = if operator == "/" { ("div", ">>") } else { ("rem", "&") };
    error(
        span,
        format!("`{operator}` of a signed integer rounds towards zero, which is more than one instruction"),
        format!("write `{other}`, convert the operand with `as u32`, or write `{instruction}.s32`"),
    )
}

pub(super) fn by_zero(span: Span) -> Diagnostic {
    error(span, "this divides by zero", "divide by a power of two")
}

pub(super) fn range(span: Span, value: i128, kind: Kind) -> Diagnostic {
    error(
        span,
        format!("{value} is out of range for `{}`", kind.name()),
        "write a number that fits, or convert with `as`",
    )
}

pub(super) fn unknown_amount(span: Span) -> Diagnostic {
    error(
        span,
        "only rustc knows this constant, so the macro cannot tell whether it is a power of two",
        "declare it with a number, or as a const parameter with a list of values; or shift by a constant with `>>`",
    )
}

pub(super) fn no_operator(span: Span, operator: &str, kind: Kind) -> Diagnostic {
    let help = match kind {
        Kind::Pred => "predicates have `&&`, `||` and `!`",
        _ => "compare integers first: `%x != 0`",
    };
    error(span, format!("`{operator}` is not an operator of `{}`", kind.name()), help)
}

pub(super) fn other_index(span: Span, found: Kind) -> Diagnostic {
    let found = found.name();
    error(span, format!("rows and columns of a layout are `u32`, and this is `{found}`"), "write `as u32` after it")
}

pub(super) fn no_expression(span: Span) -> Diagnostic {
    error(
        span,
        "this is not part of an integer expression",
        "write registers, parameters, numbers, and operators such as `+`, `*` and `<<`",
    )
}

pub(super) fn subtracted(span: Span) -> Diagnostic {
    error(
        span,
        "an address of 64 bits minus an unsigned integer of 32 bits",
        "convert it: write `as u64` or `as s32` after it",
    )
}

fn control(span: Span, message: impl Into<String>, help: impl Into<Help>) -> Diagnostic {
    Diagnostic::error(code::MALFORMED_CONTROL, span, message).help(help)
}

pub(super) fn outside_loop(span: Span, word: &str) -> Diagnostic {
    control(span, format!("`{word}` is outside of a loop"), "put it into `while` or `loop`, or branch to a label")
}

pub(super) fn no_loop_of_name(span: Span, name: &str) -> Diagnostic {
    control(
        span,
        format!("no loop around this is called `{name}`"),
        format!("write `{name}: loop {{ ... }}` or `{name}: while ... {{ ... }}` around it"),
    )
}

pub(super) fn loop_named_twice(span: Span, name: &str) -> Diagnostic {
    control(span, format!("a loop around this is called `{name}`, too"), "give one of them another name")
}

pub(super) fn constant_condition(span: Span, loops: bool) -> Diagnostic {
    let help =
        if loops { "write `loop { ... }`, or `@if` around it" } else { "write `@if`, which keeps one of its bodies" };
    control(span, "the condition is a constant, so nothing is decided when the kernel runs", help)
}

pub(super) fn no_condition(span: Span, kind: Kind) -> Diagnostic {
    control(
        span,
        format!("the condition is `{}`, not a predicate", kind.name()),
        "compare it: write `%x != 0` or `%x < %n`",
    )
}
