//! The catalogue of the checker's errors, the only place with their texts: 02xx in `qualifier`, 03xx in `version`, 04xx in `operand` and
//! `address`, 05xx in `kernel`, arguments of pieces in `piece`, Rust constants in `rust`. 01xx is in `parse::errors`.

use crate::code;
use crate::diag::{Class, Diagnostic};
pub(crate) use crate::parse::errors::{explained_error, helped_error, noted_error};
use crate::span::Span;
use ptx_dsl_isa::code::Code;

mod address;
mod kernel;
mod operand;
pub(super) mod piece;
mod qualifier;
mod rust;
mod version;

pub(crate) use address::*;
pub(crate) use kernel::*;
pub(crate) use operand::*;
pub(crate) use qualifier::*;
pub(crate) use rust::*;
pub(crate) use version::*;

pub(crate) fn error(code: &'static Code, span: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic::error(code, span, message)
}

/// A warning of what is against the manual, although ptxas takes it.
fn against_the_manual(code: &'static Code, span: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic::new(Class::Protocol, code, span, message)
}

/// With a help, if there is one.
fn with_help(mut d: Diagnostic, help: Option<String>) -> Diagnostic {
    d.helps.extend(help);
    d
}

fn did_you_mean(d: Diagnostic, nearest: Option<&str>) -> Diagnostic {
    match nearest {
        Some(n) => d.help(format!("did you mean `{n}`?")),
        None => d,
    }
}

/// "a, b or c", with `last` before the last one.
pub(crate) fn enumeration<S: AsRef<str>>(words: &[S], last: &str) -> String {
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    match words.as_slice() {
        [first @ .., end] if !first.is_empty() => format!("{} {last} {end}", first.join(", ")),
        _ => words.concat(),
    }
}

/// "`.a`, `.b` or `.c`"; at most eight.
pub(crate) fn one_of<S: AsRef<str>>(words: &[S]) -> String {
    let mut quoted: Vec<String> = words.iter().take(8).map(|word| format!("`{}`", word.as_ref())).collect();
    if words.len() > 8 {
        quoted.push(format!("{} more", words.len() - 8));
    }
    enumeration(&quoted, "or")
}
