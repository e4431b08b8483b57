//! The instructions that the host runs.

use super::{
    address, arith, async_copy, async_store, atom, bar, bulk, clusterlaunchcontrol, compare, cvt, fence, ld_st,
    ldmatrix, logic, mbarrier, misc, mma, multimem, prefetch, system, tcgen05, tensor, video, warp, wgmma, wmma,
};

use super::Call;
use ptx_dsl_isa::opcode::Opcode;

/// Every opcode that the host runs, with the name of its function, family by family.
pub const SEMANTICS: &[&[(Opcode, &str)]] = &[
    address::SEMANTICS,
    arith::SEMANTICS,
    async_copy::SEMANTICS,
    async_store::SEMANTICS,
    atom::SEMANTICS,
    bar::SEMANTICS,
    bulk::SEMANTICS,
    clusterlaunchcontrol::SEMANTICS,
    compare::SEMANTICS,
    cvt::SEMANTICS,
    fence::SEMANTICS,
    ld_st::SEMANTICS,
    ldmatrix::SEMANTICS,
    logic::SEMANTICS,
    mbarrier::SEMANTICS,
    misc::SEMANTICS,
    mma::SEMANTICS,
    multimem::SEMANTICS,
    prefetch::SEMANTICS,
    system::SEMANTICS,
    tcgen05::alloc::SEMANTICS,
    tcgen05::commit::SEMANTICS,
    tcgen05::cp::SEMANTICS,
    tcgen05::ld_st::SEMANTICS,
    tcgen05::mma::SEMANTICS,
    tcgen05::shift::SEMANTICS,
    tensor::SEMANTICS,
    video::SEMANTICS,
    warp::SEMANTICS,
    wgmma::SEMANTICS,
    wmma::SEMANTICS,
];

/// Every opcode that the host runs, with its function.
pub(crate) fn calls() -> Vec<(Opcode, Call)> {
    let mut all = Vec::new();
    all.extend(address::calls());
    all.extend(arith::calls());
    all.extend(async_copy::calls());
    all.extend(async_store::calls());
    all.extend(atom::calls());
    all.extend(bar::calls());
    all.extend(bulk::calls());
    all.extend(clusterlaunchcontrol::calls());
    all.extend(compare::calls());
    all.extend(cvt::calls());
    all.extend(fence::calls());
    all.extend(ld_st::calls());
    all.extend(ldmatrix::calls());
    all.extend(logic::calls());
    all.extend(mbarrier::calls());
    all.extend(misc::calls());
    all.extend(mma::calls());
    all.extend(multimem::calls());
    all.extend(prefetch::calls());
    all.extend(system::calls());
    all.extend(tcgen05::alloc::calls());
    all.extend(tcgen05::commit::calls());
    all.extend(tcgen05::cp::calls());
    all.extend(tcgen05::ld_st::calls());
    all.extend(tcgen05::mma::calls());
    all.extend(tcgen05::shift::calls());
    all.extend(tensor::calls());
    all.extend(video::calls());
    all.extend(warp::calls());
    all.extend(wgmma::calls());
    all.extend(wmma::calls());
    all
}
