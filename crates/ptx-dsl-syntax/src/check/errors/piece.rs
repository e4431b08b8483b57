//! Errors in the arguments of a piece: 0160, and their types: 0159.

use crate::ast::{Argument, Word};
use crate::code;
use crate::diag::Diagnostic;
use ptx_dsl_isa::ty::Ty;

fn wrong(argument: &Argument, message: impl Into<String>) -> Diagnostic {
    Diagnostic::error(code::PIECE_USE, argument.given.span, message)
}

/// The same with what the piece is called, if it says nothing of pieces yet.
pub(in crate::check) fn of(d: Diagnostic, piece: &str) -> Diagnostic {
    if d.code == code::PIECE_USE { d } else { d.note(format!("it is an argument of `{piece}`")) }
}

pub(in crate::check) fn no_type(word: &Word) -> Diagnostic {
    let message = format!("`{}` is not a type of a register", word.text);
    Diagnostic::error(code::MALFORMED_PART, word.span, message).help("write a type such as `.b32`")
}

pub(in crate::check) fn not_a(argument: &Argument, what: &str) -> Diagnostic {
    wrong(argument, format!("the argument `{}` is {what}", argument.name)).help(format!("write {what} here"))
}

pub(in crate::check) fn not_a_register(argument: &Argument, name: &str, what: &str) -> Diagnostic {
    wrong(argument, format!("the argument `{}` is a register, and `{name}` is {what}", argument.name))
        .help("`mov` the value into a register, and give that")
}

pub(in crate::check) fn special_register(argument: &Argument, name: &str) -> Diagnostic {
    wrong(argument, format!("the special register `{name}` is not an argument: most instructions do not take it"))
        .help(format!("`mov` it into a register, and give that as `{}`", argument.name))
}

pub(in crate::check) fn another_type(argument: &Argument, given: Ty, wanted: Ty) -> Diagnostic {
    let (given, wanted) = (given.name(), wanted.name());
    wrong(
        argument,
        format!("the argument `{}` must be a register of type `.{wanted}`, but this one is `.{given}`", argument.name),
    )
    .help(format!("give a register that is declared `.{wanted}`"))
}

pub(in crate::check) fn another_space(argument: &Argument, variable: &str, space: &str) -> Diagnostic {
    wrong(
        argument,
        format!("the argument `{}` must be an address in `{space}`, but `{variable}` is not", argument.name),
    )
    .help(format!("give a variable that is declared `{space}`"))
}

pub(in crate::check) fn another_size(argument: &Argument, variable: &str, given: u32, wanted: Ty) -> Diagnostic {
    let message = format!(
        "the argument `{}` is the address of `.{}` elements, but those of `{variable}` have {given} bytes",
        argument.name,
        wanted.name()
    );
    wrong(argument, message).help("declare the parameter `.b8` if it takes any variable")
}

pub(in crate::check) fn no_address(argument: &Argument, given: Ty) -> Diagnostic {
    wrong(
        argument,
        format!("the argument `{}` must be an address, but this register is `.{}`", argument.name, given.name()),
    )
    .help("give an integer register of 32 or 64 bits")
}
