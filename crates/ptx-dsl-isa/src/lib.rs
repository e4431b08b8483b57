//! PTX as data: the instruction table ([`isa`]), the ids made from it ([`opcode`], [`qualifier`]), and the typed module ([`hir`]),
//! and a kernel in bytes ([`image`]).
//! All other crates depend on this one.

pub mod constant;
pub mod diag;
pub mod hir;
mod ids;
pub mod image;
pub mod isa;
pub mod opcode;
pub mod origin;
pub mod qualifier;
pub mod span;
pub mod table;
pub mod ty;
mod visit;
pub mod written;
