//! The front end of `ptx-dsl`: PTX tokens, the module as written, the instruction table, the checks, and the printer.
//!
//! Everything here works on plain data and reports findings as [`diag::Diagnostic`]s; nothing panics on any input.

pub mod ast;
// pub mod check;
pub mod diag;
// pub mod errors;
pub mod hir;
pub mod isa;
pub mod lex;
pub mod parse;
pub mod print;
pub mod span;
pub mod token;
pub mod ty;
