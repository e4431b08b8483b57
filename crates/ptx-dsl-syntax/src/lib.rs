//! PTX as written: tokens from text ([`lex`]), the module as a tree ([`ast`], [`parse`]), and text again ([`mod@print`]). Nothing here
//! knows an instruction, so that cargo compiles it beside the table.

pub mod ast;
pub mod check;
pub mod levels;
pub mod lex;
pub mod lines;
pub mod parse;
pub mod print;
pub mod rust_tokens;
pub mod token;

pub use ptx_dsl_isa::{diag, span};
