//! Tensor Memory and the fifth-generation tensor cores (PTX ISA 9.7.16), one file per kind of instruction.

pub mod alloc;
pub mod commit;
pub mod cp;
pub mod descriptor;
pub mod layout;
pub mod ld_st;
pub mod mma;
pub mod shift;

pub use alloc::{tcgen05_alloc, tcgen05_dealloc, tcgen05_relinquish_alloc_permit};
pub use commit::{tcgen05_commit, tcgen05_fence};
pub use cp::tcgen05_cp;
pub use ld_st::{tcgen05_ld, tcgen05_ld_red, tcgen05_st, tcgen05_wait};
pub use mma::{tcgen05_mma, tcgen05_mma_sp, tcgen05_mma_ws, tcgen05_mma_ws_sp};
pub use shift::tcgen05_shift;
