//! Cluster launch control: manual 9.7.13.17 and 9.7.13.18.

use super::*;

/// Targets of `.multicast::cluster::all`: the notes of 9.7.13.17.
pub const MULTICAST: Targets = Targets::Only(&[
    ("sm_100a", Ptx(8, 6)),
    ("sm_101a", Ptx(8, 6)),
    ("sm_110a", Ptx(9, 0)),
    ("sm_120a", Ptx(8, 6)),
    ("sm_100f", Ptx(8, 8)),
    ("sm_101f", Ptx(8, 8)),
    ("sm_110f", Ptx(8, 8)),
    ("sm_120f", Ptx(8, 8)),
]);

const RESPONSE: OperandSpec = src("try_cancel_response", ty(Ty::B128)).reg();

/// The family.
#[rustfmt::skip]
pub const LIST: &[Instr] = &[
    instr("clusterlaunchcontrol.try_cancel").class(InstrClass::Synchronisation).section("9.7.13.17").since(ptx(8, 6)).requires(sm(100))
        .first(&["async"])
        .syntax(
            "clusterlaunchcontrol.try_cancel.async{.space}.completion_mechanism{.multicast::cluster::all}.b128 [addr], [mbar];
             .completion_mechanism = { .mbarrier::complete_tx::bytes }
             .space = { .shared::cta }",
        )
        .operands(&[addr("addr", writes(Size::Bytes(16)).shared().own_cta()).align(16), addr("mbar", object().own_cta()).align(8)])
        .gates(&[gate(&[has(q::multicast_cluster_all)]).requires(MULTICAST)])
        .host(Host::Warp).asynchronous(MemoryOp::Store, Proxy::Async),
    // The fourth value of `.v4` is unspecified; the manual writes `_`, the assembler takes a register too.
    instr("clusterlaunchcontrol.query_cancel").class(InstrClass::Synchronisation).section("9.7.13.18").since(ptx(8, 6)).requires(sm(100))
        .syntax(
            "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 pred, try_cancel_response;
             clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {xdim, ydim, zdim, rest}, try_cancel_response;
             clusterlaunchcontrol.query_cancel.get_first_ctaid::dimension.b32.b128 reg, try_cancel_response;
             .get_first_ctaid::dimension = { .get_first_ctaid::x, .get_first_ctaid::y, .get_first_ctaid::z }",
        )
        .operands(&[
            dst("pred", ty(Ty::Pred)),
            dst("xdim", ty(Ty::B32)).or_sink(),
            dst("ydim", ty(Ty::B32)).or_sink(),
            dst("zdim", ty(Ty::B32)).or_sink(),
            dst("rest", ty(Ty::B32)).or_sink(),
            dst("reg", ty(Ty::B32)),
            RESPONSE,
        ])
        .host(Host::Warp).pure(),
];
