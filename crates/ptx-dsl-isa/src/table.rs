//! The table: every family of instructions.

use crate::isa::*;

/// The table: each family with its name, which is that of its file, in the manual's order.
#[rustfmt::skip]
pub static FAMILIES: &[(&str, &[Instr])] = &[
    ("integer", integer::LIST),
    ("extended", extended::LIST),
    ("float", float::LIST),
    ("half", half::LIST),
    ("mixed", mixed::LIST),
    ("compare", compare::LIST),
    ("logic", logic::LIST),
    ("movement", movement::LIST),
    ("convert", convert::LIST),
    ("convert", convert::narrow::LIST),
    ("ld_st", ld_st::LIST),
    ("prefetch", prefetch::LIST),
    ("address", address::LIST),
    ("atom", atom::LIST),
    ("texture", texture::LIST),
    ("surface", surface::LIST),
    ("fence", fence::LIST),
    ("bar", bar::LIST),
    ("mbarrier", mbarrier::LIST),
    ("clusterlaunchcontrol", clusterlaunchcontrol::LIST),
    ("warp", warp::LIST),
    ("async_store", async_store::LIST),
    ("async_copy", async_copy::LIST),
    ("bulk", bulk::LIST),
    ("tensor", tensor::LIST),
    ("multimem", multimem::LIST),
    ("fabric", fabric::LIST),
    ("compress", compress::LIST),
    ("wmma", wmma::LIST),
    ("mma", mma::LIST),
    ("ldmatrix", ldmatrix::LIST),
    ("wgmma", wgmma::LIST),
    ("control", control::LIST),
    ("video", video::LIST),
    ("tcgen05", tcgen05::alloc::LIST),
    ("tcgen05", tcgen05::ld_st::LIST),
    ("tcgen05", tcgen05::cp::LIST),
    ("tcgen05", tcgen05::mma::LIST),
    ("tcgen05", tcgen05::commit::LIST),
    ("misc", misc::LIST),
];

/// Functions of CUDA's device runtime that the host runs. PTX calls them: `.extern .func vprintf`. The opcode is the name of the
/// function, and no PTX statement has it.
pub static SYSTEM: (&str, &[Instr]) = ("system", system::LIST);
