//! Order between threads, and completion on an mbarrier: manual 9.7.16.11 and 9.7.16.12.

use super::*;

/// 9.7.13.15.1: an mbarrier object is 8 bytes, aligned.
const OBJECT: OperandSpec = addr("mbar", object()).align(8);
const SYNC_RESTRICT: Gate = gate(&[has(q::sync_restrict_shared_read_mma_a)]).since(NEW).requires(SM_107F);

/// The family's instructions for order and completion.
#[rustfmt::skip]
pub const LIST: &[Instr] = &[
    instr("tcgen05.fence").section("9.7.16.11.1").since(SINCE).requires(TENSOR_MEMORY)
        .syntax(
            "tcgen05.fence::before_thread_sync;
             tcgen05.fence::after_thread_sync;",
        )
        .host(FENCE).tensor(Tensor::Fence),
    instr("tcgen05.commit").section("9.7.16.12.1").since(SINCE).requires(TENSOR_MEMORY)
        .syntax(
            "tcgen05.commit.cta_group.completion_mechanism{.sync_restrict}{.shared::cluster}{.multicast}.b64 [mbar]{, ctaMask};
             .cta_group = { .cta_group::1, .cta_group::2 }
             .completion_mechanism = { .mbarrier::arrive::one }
             .sync_restrict = { .sync_restrict::shared::read::mma::a }
             .multicast = { .multicast::cluster, .multicast::cluster::16b }",
        )
        .operands(&[OBJECT, src("ctaMask", ty(Ty::U16)).range(0, 0xffff)])
        .gates(&[gate(&[has(q::multicast_cluster_16b)]).since(NEW), SYNC_RESTRICT])
        .host(COMMIT).tensor(Tensor::Commit),
    instr("tcgen05.commit").section("9.7.16.12.1").since(NEW).requires(SM_107F)
        .syntax(
            "tcgen05.commit.cta_group.completion_mechanism{.sync_restrict}{.shared::cluster}.multicast::cluster::32b.b64 [mbar], ctaMask;
             .cta_group = { .cta_group::1, .cta_group::2 }
             .completion_mechanism = { .mbarrier::arrive::one }
             .sync_restrict = { .sync_restrict::shared::read::mma::a }",
        )
        .operands(&[OBJECT, src("ctaMask", ty(Ty::U32)).range(0, 0xffff_ffff)])
        .host(COMMIT).tensor(Tensor::Commit),
];
