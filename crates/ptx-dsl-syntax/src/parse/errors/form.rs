//! Errors in forms of `ptx!`: assertions 0155 and 0164, descriptors 0165, regions 0166.

use super::helped_error;
use crate::code;
use crate::diag::Diagnostic;
use crate::span::Span;

pub(crate) fn no_assertion(span: Span) -> Diagnostic {
    helped_error(
        code::MALFORMED_CONSTANT,
        span,
        format_args!("this is not an assertion over constants"),
        format_args!("an assertion is `const _: () = assert!(N % 16 == 0, \"why\");`"),
    )
}

pub(crate) fn assertion(span: Span, shown: &str, message: Option<&str>) -> Diagnostic {
    let d = Diagnostic::error(code::ASSERTION, span, format!("the assertion `{shown}` does not hold"));
    let d = match message {
        Some(message) => d.note(message),
        None => d,
    };
    d.help("change the constants in it")
}

pub(crate) fn wrong_descriptor(span: Span, message: &str, help: &str) -> Diagnostic {
    helped_error(code::DESCRIPTOR, span, format_args!("{message}"), format_args!("{help}"))
}

pub(crate) fn no_variable_of_regions(span: Span, name: &str) -> Diagnostic {
    helped_error(
        code::REGION,
        span,
        format_args!("`{name}` is not a variable in shared memory that is declared before"),
        format_args!("declare it before: `.extern .shared .align 1024 .b8 {name}[];`"),
    )
}

pub(crate) fn alignment_of_region(span: Span, align: u64, most: u64, base: &str) -> Diagnostic {
    let message = format_args!("a region cannot be aligned to {align} bytes, because `{base}` is aligned to {most}");
    helped_error(code::REGION, span, message, format_args!("use powers of two, and align `{base}` as its regions"))
}

pub(crate) fn too_large_region(span: Span, name: &str) -> Diagnostic {
    helped_error(
        code::REGION,
        span,
        format_args!("`{name}` ends behind 4 GiB"),
        format_args!("make it or the regions before it smaller"),
    )
}

pub(crate) fn no_size(span: Span, what: &str) -> Diagnostic {
    helped_error(
        code::REGION,
        span,
        format_args!("{what} is a number that the macro knows"),
        format_args!("name a constant that is declared with a number, or a listed const parameter"),
    )
}
