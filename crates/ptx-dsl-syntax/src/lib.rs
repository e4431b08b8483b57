//! PTX text: the lexer ([`lex`]), the parser and its syntax tree ([`parse`], [`ast`]), the printer ([`mod@print`]), and the checker,
//! which makes the typed module ([`check`]). Only the checker knows instructions.

pub mod ast;
pub mod check;
pub mod levels;
pub mod lex;
pub mod lines;
mod lower;
pub mod notes;
pub mod parse;
pub mod print;
pub mod rust_tokens;
pub mod token;

pub(crate) use ptx_dsl_catalogue as code;
pub use ptx_dsl_isa::{diag, edit, span};
