//! What the host runs.

use super::{
    address, arith, atom, bar, clusterlaunchcontrol, compare, cvt, fence, ld_st, ldmatrix, logic, mbarrier, misc,
    prefetch, tcgen05, warp,
};

/// Every opcode that the host runs, with the name of its function, family by family.
pub const SEMANTICS: &[&[(ptx_dsl_isa::opcode::Opcode, &str)]] = &[
    address::SEMANTICS,
    arith::SEMANTICS,
    atom::SEMANTICS,
    bar::SEMANTICS,
    clusterlaunchcontrol::SEMANTICS,
    compare::SEMANTICS,
    cvt::SEMANTICS,
    fence::SEMANTICS,
    ld_st::SEMANTICS,
    ldmatrix::SEMANTICS,
    logic::SEMANTICS,
    mbarrier::SEMANTICS,
    misc::SEMANTICS,
    prefetch::SEMANTICS,
    tcgen05::alloc::SEMANTICS,
    tcgen05::commit::SEMANTICS,
    tcgen05::cp::SEMANTICS,
    tcgen05::ld_st::SEMANTICS,
    tcgen05::mma::SEMANTICS,
    tcgen05::shift::SEMANTICS,
    warp::SEMANTICS,
];
