//! PTX as data: the instruction table ([`isa`]), the typed module that is made of its forms ([`hir`]). All stages that know
//! instructions stand on this crate and none of them is in it, so that they compile side by side.

pub mod diag;
pub mod hir;
pub mod isa;
pub mod list;
pub mod span;
pub mod ty;
