//! The catalogue of 06xx: the only place with their text.

use ptx_dsl_table::diag::{Diagnostic, Severity};
use ptx_dsl_table::span::Span;

pub(crate) mod completion;
pub(crate) mod flow;
pub(crate) mod order;
pub(crate) mod peers;
pub(crate) mod protocol;
pub(crate) mod races;
pub(crate) mod rings;

fn error(code: u16, span: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic::error(code, span, message)
}

/// An error if it is sure, else a warning.
fn found(code: u16, span: Span, sure: bool, message: impl Into<String>) -> Diagnostic {
    let mut d = error(code, span, message);
    if !sure {
        d.severity = Severity::Warning;
    }
    d
}

fn section(d: Diagnostic, rule: &str, section: &str) -> Diagnostic {
    d.note(format!("{rule} (PTX ISA {section})"))
}
