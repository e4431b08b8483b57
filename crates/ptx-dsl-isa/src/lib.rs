//! PTX as data: the instruction table ([`table`], in the vocabulary of [`isa`]), ids derived from it ([`opcode`], [`qualifier`]), the typed
//! module ([`hir`]), what instructions mean where several crates must agree ([`meaning`]), a kernel as bytes ([`image`]), constants ([`constant`]), and diagnostics ([`diag`]) with their
//! codes ([`code`]). All other crates depend on this one.

pub mod code;
pub mod constant;
pub mod descriptor;
pub mod diag;
pub mod edit;
pub mod hir;
mod ids;
pub mod image;
pub mod isa;
pub mod layout;
pub mod meaning;
pub mod opcode;
pub mod origin;
pub mod qualifier;
pub mod span;
pub mod table;
pub mod ty;
mod visit;
pub mod written;
