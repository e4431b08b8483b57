//! Tensor Memory and the fifth-generation tensor cores (PTX ISA 9.7.16), one file per kind of instruction.

pub mod alloc;
pub mod commit;
pub mod cp;
pub mod descriptor;
pub mod format;
pub mod layout;
pub mod ld_st;
pub mod mma;
pub mod shift;

pub use alloc::*;
pub use commit::*;
pub use cp::*;
pub use ld_st::*;
pub use mma::*;
pub use shift::*;
