//! What the host runs.

use super::{
    address, arith, async_copy, async_store, atom, bar, bulk, clusterlaunchcontrol, compare, cvt, fence, ld_st,
    ldmatrix, logic, mbarrier, misc, mma, prefetch, system, tcgen05, tensor, video, warp, wgmma, wmma,
};

use super::Call;
use crate::Monitor;
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
pub(crate) fn calls<M: Monitor>() -> Vec<(Opcode, Call<M>)> {
    let mut all = Vec::new();
    all.extend(address::calls::<M>());
    all.extend(arith::calls::<M>());
    all.extend(async_copy::calls::<M>());
    all.extend(async_store::calls::<M>());
    all.extend(atom::calls::<M>());
    all.extend(bar::calls::<M>());
    all.extend(bulk::calls::<M>());
    all.extend(clusterlaunchcontrol::calls::<M>());
    all.extend(compare::calls::<M>());
    all.extend(cvt::calls::<M>());
    all.extend(fence::calls::<M>());
    all.extend(ld_st::calls::<M>());
    all.extend(ldmatrix::calls::<M>());
    all.extend(logic::calls::<M>());
    all.extend(mbarrier::calls::<M>());
    all.extend(misc::calls::<M>());
    all.extend(mma::calls::<M>());
    all.extend(prefetch::calls::<M>());
    all.extend(system::calls::<M>());
    all.extend(tcgen05::alloc::calls::<M>());
    all.extend(tcgen05::commit::calls::<M>());
    all.extend(tcgen05::cp::calls::<M>());
    all.extend(tcgen05::ld_st::calls::<M>());
    all.extend(tcgen05::mma::calls::<M>());
    all.extend(tcgen05::shift::calls::<M>());
    all.extend(tensor::calls::<M>());
    all.extend(video::calls::<M>());
    all.extend(warp::calls::<M>());
    all.extend(wgmma::calls::<M>());
    all.extend(wmma::calls::<M>());
    all
}
