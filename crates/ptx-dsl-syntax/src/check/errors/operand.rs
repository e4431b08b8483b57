//! The catalogue of 04xx: constants, and rules about the values of operands.

use crate::diag::{Constant, Diagnostic};
use crate::span::Span;
use ptx_dsl_isa::isa::{Instr, Multiple, Remedy, Violation};
use ptx_dsl_isa::qualifier::Qualifier;
use ptx_dsl_isa::ty::Ty;

use super::*;

pub(crate) fn constant_type(span: Span, have: &str, want: Ty, help: Option<Help>) -> Diagnostic {
    let d = noted_error(
        code::CONSTANT_TYPE,
        span,
        format_args!("{have} cannot be a `.{}` operand", want.name()),
        format_args!("constants are not converted between integer and floating point (PTX ISA 4.5)"),
    );
    with_help(d, help)
}

pub(crate) fn not_constant(span: Span) -> Diagnostic {
    explained_error(
        code::CONSTANT_TYPE,
        span,
        format_args!("this is not a constant expression"),
        format_args!(
            "constant expressions have integers or floating-point numbers, not both, and never divide by zero (PTX ISA 4.5)"
        ),
        format_args!("put the value here as one number"),
    )
    .wants(Constant::Value, true)
}

pub(crate) fn range(span: Span, operand: &str, value: i64, low: i64, high: i64, sec: &str) -> Diagnostic {
    let message = format_args!("`{value}` is out of range for operand `{operand}`");
    if low == high {
        let (note, help) = (format_args!("it must be {low} (PTX ISA {sec})"), Help::write(low.to_string()));
        return explained_error(code::CONSTANT_RANGE, span, message, note, help);
    }
    explained_error(
        code::CONSTANT_RANGE,
        span,
        message,
        format_args!("it must be between {low} and {high} (PTX ISA {sec})"),
        format_args!("the nearest allowed value is `{}`", value.clamp(low, high.max(low))),
    )
}

pub(crate) fn needs_constant(span: Span, operand: &str, sec: &str) -> Diagnostic {
    explained_error(
        code::REGISTER_OR_CONSTANT,
        span,
        format_args!("operand `{operand}` must be a constant"),
        format_args!("see PTX ISA {sec}"),
        format_args!("put a number here"),
    )
}

pub(crate) fn goes_with(span: Span, operand: &str, qualifier: &str, operand_given: bool) -> Diagnostic {
    let d = if operand_given {
        error(code::OPERAND_DEPENDENCE, span, format!("operand `{operand}` needs the qualifier `{qualifier}`"))
    } else {
        error(code::OPERAND_DEPENDENCE, span, format!("`{qualifier}` needs the operand `{operand}`"))
    };
    let help = match operand_given {
        true => Help::remove().worded(format!("add `{qualifier}`, or remove it")),
        false => Help::remove().worded("add the operand, or remove it"),
    };
    d.help(help).note(format!("`{qualifier}` and `{operand}` are given together"))
}

/// A value or a form that an operand cannot have here.
pub(super) fn operand_value(span: Span, text: &str, sec: &str) -> Diagnostic {
    noted_error(code::OPERAND_VALUE, span, format_args!("{text}"), format_args!("see PTX ISA {sec}"))
}

/// A register where a parameter of a function is named.
pub(crate) fn parameter_in_register(span: Span, name: &str) -> Diagnostic {
    operand_value(span, &format!("a parameter of a function is named: `{name}` is a register"), "5.1.6")
}

pub(crate) fn no_selector(span: Span, selector: &str, operand: &str, entry: &Instr) -> Diagnostic {
    let text = format!("operand `{operand}` of `{}` takes no selector `.{selector}`", entry.opcode);
    operand_value(span, &text, entry.section)
}

/// A rule of the table that is a function. `place`: where a qualifier is written.
pub(crate) fn violation(
    span: Span,
    violation: Violation,
    place: impl Fn(Qualifier) -> Option<Span>,
    sec: &str,
) -> Diagnostic {
    let Violation { text, remedy, .. } = violation;
    let d = operand_value(span, &text, sec);
    let Some(remedy) = remedy else { return d };
    d.help(match remedy {
        Remedy::Write(texts, then) => Help::write_one_of(&texts).then(then),
        Remedy::Spell(opcode) => Help::write(opcode).whole_opcode(),
        Remedy::Replace(old, new, then) => {
            let new: Vec<&str> = new.iter().map(|q| q.text()).collect();
            let help = Help::write_one_of(&new).then(&format!(" in place of `{old}`{then}"));
            match place(old) {
                Some(at) => help.at(at),
                None => Help::from(help.text),
            }
        }
        Remedy::Remove(qualifier) => match place(qualifier) {
            Some(at) => Help::remove_word(qualifier.text(), at),
            None => format!("remove `{qualifier}`").into(),
        },
        Remedy::Rewrite(text) => text.into(),
    })
}

pub(crate) fn multiple(span: Span, rule: &Multiple, value: u64, sec: &str) -> Diagnostic {
    let Multiple { what, unit, of, .. } = rule;
    let near = value.checked_next_multiple_of(*of).unwrap_or(*of);
    let text = format!("{what} is {value}, but must be a multiple of {unit}");
    operand_value(span, &text, sec).help(Help::write(near.to_string()))
}

/// `help`: code that negates it.
pub(crate) fn no_negation(span: Span, operand: &str, help: Option<String>) -> Diagnostic {
    let d = noted_error(
        code::NEGATION,
        span,
        format_args!("operand `{operand}` cannot be negated with `!`"),
        format_args!("`!` negates only predicates that are read (PTX ISA 9.3)"),
    );
    d.help(help.unwrap_or_else(|| "remove the `!`".to_string()))
}

pub(crate) fn param_write(span: Span, name: &str) -> Diagnostic {
    explained_error(
        code::PARAMETER_ACCESS,
        span,
        format_args!("`{name}` is an input parameter and cannot be written"),
        format_args!("input parameters are read with `ld.param` only (PTX ISA 5.1.6)"),
        format_args!("keep the value in a register, or in a `.local` variable"),
    )
}

/// `help`: the instruction that computes it.
pub(crate) fn bad_operand_expression(span: Span, help: Option<String>) -> Diagnostic {
    noted_error(
        code::CONSTANT_TYPE,
        span,
        format_args!("an expression cannot contain a register"),
        format_args!("only an address adds a constant to a register"),
    )
    .help(help.unwrap_or_else(|| "compute it with an instruction first".to_string()))
    .wants(Constant::Value, true)
}
