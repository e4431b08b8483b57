//! Constructors of diagnostics by class: error, against the manual, suspicious.

use ptx_dsl_isa::code::Code;
use ptx_dsl_isa::diag::{Class, Diagnostic};
use ptx_dsl_isa::span::Span;

/// What goes wrong on hardware.
pub(crate) fn error(code: &'static Code, span: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic::new(Class::Broken, code, span, message)
}

/// What is against the manual, and works with the machine code of today's ptxas.
pub(crate) fn against_the_manual(code: &'static Code, span: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic::new(Class::Protocol, code, span, message)
}

/// What is likely a mistake, or one on some path.
pub(crate) fn suspicious(code: &'static Code, span: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic::new(Class::Suspicious, code, span, message)
}

/// What goes wrong on hardware if it is `sure`, else suspicious.
pub(crate) fn found(code: &'static Code, span: Span, sure: bool, message: impl Into<String>) -> Diagnostic {
    if sure { error(code, span, message) } else { suspicious(code, span, message) }
}

pub(crate) fn section(d: Diagnostic, rule: &str, section: &str) -> Diagnostic {
    d.note(format!("{rule} (PTX ISA {section})"))
}

pub(super) fn at(d: Diagnostic, span: Option<Span>, text: &str) -> Diagnostic {
    match span {
        Some(s) => d.label(s, text),
        None => d,
    }
}

pub(super) fn here(one: bool) -> &'static str {
    if one { "at most one lane of a warp reaches it" } else { "some lanes of the warp never reach it" }
}
