//! Errors of declarations.

use super::*;

pub(crate) fn unknown_type(span: Span, name: &str, nearest: Option<&str>) -> Diagnostic {
    let d = error(code::UNKNOWN_TYPE, span, format!("unknown type or attribute `.{name}` in a declaration"));
    match nearest {
        Some(n) => d.help(Help::did_you_mean(format!(".{n}"))),
        None => d.help("put a fundamental type here, such as `.b32`"),
    }
}

/// `head`: the text before the name.
pub(crate) fn missing_type(span: Span, space: &str, head: &str) -> Diagnostic {
    helped_error(
        code::DECLARATION_WITHOUT_TYPE,
        span,
        format_args!("this `{space}` declaration has no type"),
        Help::write(format!("{head} .b32")).then(", or another type"),
    )
}

/// `.align(16)`, `.align = 16`
pub(crate) fn alignment_in_brackets(span: Span, number: &str) -> Diagnostic {
    helped_error(
        code::UNEXPECTED_TOKEN,
        span,
        format_args!("`.align` takes a plain number, without `( )` or `=`"),
        Help::write(format!(".align {number}")),
    )
}

/// Parts of a declaration before its name. `late`: of a parameter of a kernel; `right`: in the right order.
pub(crate) fn declaration_order(span: Span, space: &str, late: bool, right: &str) -> Diagnostic {
    let note = match (space, late) {
        (".param", true) => {
            "a parameter of a kernel is `.param .align N .type .ptr .space .align N name` (PTX ISA 5.1.6.3)"
        }
        _ => "a declaration is `.space .align N .vec .type name` (PTX ISA 5.4)",
    };
    explained_error(
        code::DECLARATION_ORDER,
        span,
        format_args!("the parts of this declaration are in the wrong order"),
        format_args!("{note}"),
        Help::write(right),
    )
}
