//! Errors of Rust constants: 0155 about their declarations, 0156 where the macro must know a value.

use crate::code;
use crate::diag::Diagnostic;
use crate::span::Span;
use ptx_dsl_isa::constant::RustType;
use ptx_dsl_isa::constant::{ConstId, Constants, Declaration};

fn declaration(span: Span, message: String, help: String) -> Diagnostic {
    Diagnostic::error(code::MALFORMED_CONSTANT, span, message).help(help)
}

pub(super) fn bad_name(span: Span, name: &str) -> Diagnostic {
    declaration(
        span,
        format!("`{name}` is not a valid name for a Rust constant"),
        "write a name of letters, digits and `_`, such as `TILE`".to_owned(),
    )
}

pub(super) fn predefined(span: Span) -> Diagnostic {
    declaration(span, "`WARP_SZ` is a PTX constant, 32".to_owned(), "write another name".to_owned())
        .note("see PTX ISA 4.4")
}

/// A register, a variable or a parameter with the name of a constant.
pub(super) fn constant_too(span: Span, name: &str, first: Span) -> Diagnostic {
    declaration(span, format!("`{name}` is a constant already"), "give one of them another name".to_owned())
        .label(first, format!("the constant `{name}` is declared here"))
}

/// `valued`: it has a value, and is not a parameter.
pub(super) fn no_type(span: Span, name: &str, valued: bool) -> Diagnostic {
    let help = match valued {
        true => format!("write `const {name}: u32 = {name};` with the type and the path of the Rust constant"),
        false => format!("write `const {name}: u32`"),
    };
    declaration(span, format!("the constant `{name}` has no type"), help)
}

pub(super) fn bad_type(span: Span, ty: &str) -> Diagnostic {
    let types: Vec<String> = RustType::ALL.iter().map(|ty| format!("`{ty}`")).collect();
    declaration(span, format!("a PTX constant cannot have the type `{ty}`"), format!("use one of {}", types.join(", ")))
}

pub(super) fn no_value(span: Span, name: &str, ty: &str) -> Diagnostic {
    let help = format!("write `const {name}: {ty} = {name};` with the path of a Rust constant, or a number");
    declaration(span, format!("the constant `{name}` has no value"), help)
}

/// A parameter of a piece whose argument is an expression.
pub(super) fn no_name_of_rust(span: Span, name: &str) -> Diagnostic {
    declaration(
        span,
        format!("a Rust expression cannot name `{name}`, which stands for an expression of constants here"),
        "declare a `const` with that expression, and give its name to the piece".to_owned(),
    )
}

pub(super) fn out_of_range(span: Span, ty: &str) -> Diagnostic {
    declaration(
        span,
        format!("the literal is out of range for `{ty}`"),
        "write a smaller number, or another type".into(),
    )
}

pub(in crate::parse) fn float_parameter(span: Span, ty: &str) -> Diagnostic {
    declaration(
        span,
        format!("a const parameter cannot have the type `{ty}`"),
        "Rust has const parameters of integers and `bool` only: declare a `const` with a value instead".to_owned(),
    )
}

pub(in crate::parse) fn shadows(span: Span, name: &str) -> Diagnostic {
    declaration(span, format!("there is a constant `{name}` already"), "give the parameter another name".to_owned())
}

pub(super) fn generic_function(span: Span) -> Diagnostic {
    declaration(
        span,
        "only an `.entry` has const parameters".to_owned(),
        "pass the value as a parameter of the function, or declare a `const` with a value".to_owned(),
    )
}

pub(super) fn no_operator(span: Span, operator: &str) -> Diagnostic {
    Diagnostic::error(code::MALFORMED_CONSTANT, span, format!("`{operator}` does not take constants of these types"))
        .note("operators take integers and `f64`; an `f32` cannot be an operand (PTX ISA 4.5)")
        .help("declare constants of one type: integers or `f64`")
}

pub(super) fn no_count(span: Span) -> Diagnostic {
    Diagnostic::error(code::MALFORMED_CONSTANT, span, "this must be a number that is not negative")
        .help("declare an unsigned integer constant")
}

/// The value of an expression of Rust constants is needed where only a number will do.
pub(crate) fn unknown_here(span: Span, what: &str, constants: &Constants, id: ConstId) -> Diagnostic {
    let text = format!("{what} must be known to the macro, and only rustc knows this value");
    let mut finding = Diagnostic::error(code::UNKNOWN_CONSTANT_VALUE, span, text)
        .note("a macro runs before rustc evaluates constants");
    for Declaration { name, ty, value, .. } in constants.declarations_of(id) {
        let ty = ty.name();
        let example = if ty == "bool" { "true" } else { "16" };
        finding = finding.help(match value {
            Some(_) => format!("declare `{name}` with a number: `const {name}: {ty} = {example};`"),
            None => format!("list the values of `{name}`: `<const {name}: {ty} in [{example}]>`"),
        });
    }
    finding
}

/// A Rust constant or a const parameter in a text that is not compiled by rustc, in a build script or at run time.
pub fn unknown_value(declaration: &Declaration) -> Diagnostic {
    let Declaration { name, ty, value, span, .. } = declaration;
    let example = match ty.name() {
        "bool" => "true",
        "f32" | "f64" => "1.0",
        _ => "16",
    };
    let ty = ty.name();
    let d = |message: String| Diagnostic::error(code::UNKNOWN_CONSTANT_VALUE, *span, message);
    match value {
        Some(_) => d(format!("the value of `{name}` is a Rust expression, which only rustc evaluates"))
            .note("`const _: () = assert!(...)` beside the `ptx!` compares a number with the Rust constant")
            .help(format!("declare `{name}` with a number: `const {name}: {ty} = {example};`")),
        None => d(format!("only rustc knows the values that `{name}` is given"))
            .help(format!("list the values of `{name}`: `<const {name}: {ty} in [{example}]>`")),
    }
}
