//! The catalogue of the checker's errors, the only place with their texts: 02xx in `qualifier`, 03xx in `version`, 04xx in `name`, `shape`, `register`, `operand`
//! and `address`, 05xx in `kernel`, arguments of pieces in `piece`, Rust constants in `rust`. 01xx is in `parse::errors`.

use crate::code;
use crate::diag::{Class, Diagnostic};
use crate::edit::Help;
pub(crate) use crate::edit::{enumeration, one_of};
pub(crate) use crate::parse::errors::{explained_error, helped_error, noted_error};
use crate::span::Span;
use ptx_dsl_isa::code::Code;

mod address;
mod kernel;
mod name;
mod operand;
pub(super) mod piece;
mod qualifier;
mod register;
mod rust;
mod shape;
mod texture;
mod version;

pub(crate) use address::*;
pub(crate) use kernel::*;
pub(crate) use name::*;
pub(crate) use operand::*;
pub(crate) use qualifier::*;
pub(crate) use register::*;
pub(crate) use rust::*;
pub(crate) use shape::*;
pub(crate) use texture::*;
pub(crate) use version::*;

pub(crate) fn error(code: &'static Code, span: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic::error(code, span, message)
}

/// A warning of what is against the manual, although ptxas takes it.
fn against_the_manual(code: &'static Code, span: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic::new(Class::Protocol, code, span, message)
}

/// With a help, if there is one.
fn with_help(mut d: Diagnostic, help: Option<Help>) -> Diagnostic {
    if let Some(help) = help {
        d.add_help(help);
    }
    d
}

fn did_you_mean(d: Diagnostic, nearest: Option<&str>) -> Diagnostic {
    match nearest {
        Some(n) => d.help(Help::did_you_mean(n)),
        None => d,
    }
}
