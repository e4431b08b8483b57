//! Errors of repetitions: 0157.

use crate::diag::Diagnostic;
use crate::span::Span;

fn error(span: Span, message: impl Into<String>, help: impl Into<String>) -> Diagnostic {
    Diagnostic::error(157, span, message).help(help)
}

pub(super) fn no_body(span: Span, example: &str) -> Diagnostic {
    error(span, "a repetition or a condition has a body", format!("write `{example} {{ ... }}`"))
}

pub(super) fn unclosed(span: Span) -> Diagnostic {
    error(span, "this body is never closed", "add a `}` behind it")
}

pub(super) fn no_range(span: Span) -> Diagnostic {
    error(span, "a repetition runs over a range of integers", "write `@for I in 0..4 { ... }`")
}

pub(super) fn no_integer(span: Span, what: &str) -> Diagnostic {
    error(span, format!("{what} is a constant integer"), "write a number, or declare `const N: u32 = 4;` before it")
}

pub(super) fn too_long(span: Span, limit: usize) -> Diagnostic {
    error(span, format!("the repetition makes more than {limit} tokens"), "write a loop of PTX instead")
}
