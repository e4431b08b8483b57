//! PTX as data: the instruction table ([`isa`]), the ids made from it ([`opcode`], [`qualifier`]), and the typed module ([`hir`]).
//! All other crates depend on this one.

pub mod diag;
pub mod hir;
pub mod isa;
pub mod opcode;
pub mod qualifier;
pub mod span;
pub mod ty;
mod visit;
