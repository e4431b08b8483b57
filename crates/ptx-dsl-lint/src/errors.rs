//! The catalogue of 06xx: the only place with their text.

use ptx_dsl_isa::diag::{Class, Diagnostic};
use ptx_dsl_isa::span::Span;

pub(crate) mod completion;
pub(crate) mod flow;
pub(crate) mod order;
pub(crate) mod peers;
pub(crate) mod protocol;
pub(crate) mod races;
pub(crate) mod rings;
pub(crate) mod tensor;

/// What goes wrong on hardware.
fn error(code: u16, span: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic::new(Class::Broken, code, span, message)
}

/// What is against the manual, and works with the machine code of today's ptxas.
fn against_the_manual(code: u16, span: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic::new(Class::Protocol, code, span, message)
}

/// What is likely a mistake, or one on some path.
fn suspicious(code: u16, span: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic::new(Class::Suspicious, code, span, message)
}

/// What goes wrong on hardware if it is `sure`, else suspicious.
fn found(code: u16, span: Span, sure: bool, message: impl Into<String>) -> Diagnostic {
    if sure { error(code, span, message) } else { suspicious(code, span, message) }
}

fn section(d: Diagnostic, rule: &str, section: &str) -> Diagnostic {
    d.note(format!("{rule} (PTX ISA {section})"))
}
