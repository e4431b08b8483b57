//! The mbarrier object: manual 9.7.13.15.
//!
//! The forms of 9.3 and 9.4 (layout, phase type, reports, multicast) follow the older entry of the same opcode.

use super::*;

/// The object is 8 bytes, aligned (9.7.13.15.1).
const OBJECT: OperandSpec = addr("addr", object()).align(8).full_width();
/// An object of the executing CTA.
const OWN: OperandSpec = addr("addr", object().own_cta()).align(8).full_width();
/// An arrival on another CTA's object returns no state (9.7.13.15.13).
const ARRIVED_ON: OperandSpec = addr("addr", object().reach(Reach::OwnCtaForResult)).align(8).full_width();
/// Counts of the object: 9.7.13.15.2.
const MAX: i64 = (1 << 20) - 1;
const COUNT: OperandSpec = src("count", ty(Ty::U32)).range(1, MAX);
const TX_COUNT: OperandSpec = src("txCount", ty(Ty::U32)).range(0, MAX);
const MASK: OperandSpec = src("ctaMask", ty(Ty::U32));
/// An opaque value: ptxas accepts an integer or `.b64` register for it, no `.f64` one.
const STATE_TY: OpTy = ty(Ty::U64);
const STATE: OperandSpec = dst("state", STATE_TY).or_sink();

const CTA: Gate = gate(&[has(q::shared_cta)]).since(ptx(7, 8));
const CLUSTER: Gate = gate(&[has(q::shared_cluster)]).since(ptx(8, 0)).requires(sm(90));
const SCOPE: Gate = gate(&[any(&[q::cta, q::cluster])]).since(ptx(8, 0));
const CLUSTER_SCOPE: Gate = gate(&[has(q::cluster)]).requires(sm(90));
const RELAXED: Gate = gate(&[has(q::relaxed)]).since(ptx(8, 6)).requires(sm(90));

/// Notes of 9.7.13.15.13 and 9.7.13.15.14. On `sm_8x` a count needs `.noComplete`.
const ARRIVE: &[Gate] = &[
    CTA,
    gate(&[operand("count"), not(q::noComplete)]).since(ptx(7, 8)).requires(sm(90)),
    gate(&[has(q::expect_tx)]).since(ptx(8, 0)).requires(sm(90)),
    CLUSTER,
    SCOPE,
    CLUSTER_SCOPE,
    RELAXED,
];
/// The same, and `_` came later; ptxas always accepts it for `mbarrier.arrive_drop`.
const ARRIVE_TO_SINK: &[Gate] = &{
    let mut gates = [gate(&[sink("state")]).since(ptx(7, 1)); ARRIVE.len() + 2];
    // The forms without a state name their result `_`.
    gates[1] = gate(&[sink("_")]).since(ptx(7, 1));
    let mut i = 0;
    while i < ARRIVE.len() {
        gates[i + 2] = ARRIVE[i];
        i += 1;
    }
    gates
};
const WAIT: &[Gate] = &[CTA, SCOPE, CLUSTER_SCOPE, RELAXED];
const RELEASE_CTA: &[(&str, Qualifier)] = &[(".sem", q::release), (".scope", q::cta)];
const ACQUIRE_CTA: &[(&str, Qualifier)] = &[(".sem", q::acquire), (".scope", q::cta)];
const RELAXED_CTA: &[(&str, Qualifier)] = &[(".sem", q::relaxed), (".scope", q::cta)];

const LAYOUT: Ptx = ptx(9, 3);
/// `.multicast::cluster::32b`
const SM_107F: Targets = Targets::Only(&[("sm_107f", Ptx(9, 4))]);

const WAIT_OPERANDS: &[OperandSpec] = &[
    dst("waitComplete", ty(Ty::Pred)),
    dst("reportPredicate", ty(Ty::Pred)),
    // A register of 8 bits, nothing wider, says ptxas.
    dst("reportValue", ty(Ty::B8)),
    OWN,
    src("state", STATE_TY),
    src("phaseParity", ty(Ty::U32)).range(0, 1),
    src("timeHint", ty(Ty::U32)),
];

/// The family.
#[rustfmt::skip]
pub const LIST: &[Instr] = &[
    instr("mbarrier.init").section("9.7.13.15.9").since(ptx(7, 0)).requires(sm(80))
        .syntax("mbarrier.init{.shared{::cta}}.b64 [addr], count;")
        .operands(&[OWN, COUNT])
        .gates(&[CTA])
        .host(Host::Warp).mbarrier(Mbarrier::Init),
    instr("mbarrier.init").section("9.7.13.15.9").since(LAYOUT).requires(sm(90))
        .syntax(
            "mbarrier.init.layout{.shared{::cta}}.b64 [addr], count;
             .layout = { .layout::v0, .layout::v1 }",
        )
        .operands(&[OWN, COUNT])
        .host(Host::Warp).mbarrier(Mbarrier::Init),
    instr("mbarrier.inval").section("9.7.13.15.10").since(ptx(7, 0)).requires(sm(80))
        .syntax("mbarrier.inval{.shared{::cta}}.b64 [addr];")
        .operands(&[OWN])
        .gates(&[CTA])
        .host(Host::Warp).mbarrier(Mbarrier::Inval),
    instr("mbarrier.expect_tx").section("9.7.13.15.11").since(ptx(8, 0)).requires(sm(90))
        .syntax(
            "mbarrier.expect_tx{.relaxed.scope}{.shared{::cta}}.b64 [addr], txCount;
             mbarrier.expect_tx{.relaxed.scope}{.shared::cluster}.b64 [addr], txCount;
             .scope = { .cta, .cluster }",
        )
        .operands(&[OBJECT, TX_COUNT])
        .defaults(RELAXED_CTA)
        .host(Host::Warp).mbarrier(Mbarrier::ExpectTx),
    instr("mbarrier.expect_tx").section("9.7.13.15.11").since(ptx(9, 4)).requires(SM_107F)
        .syntax(
            "mbarrier.expect_tx{.relaxed.scope}{.shared::cluster}.multicast::cluster::32b.b64 [addr], txCount, ctaMask;
             .scope = { .cta, .cluster }",
        )
        .operands(&[OBJECT, TX_COUNT, MASK])
        .defaults(RELAXED_CTA)
        .host(Host::Warp).mbarrier(Mbarrier::ExpectTx),
    instr("mbarrier.complete_tx").section("9.7.13.15.12").since(ptx(8, 0)).requires(sm(90))
        .syntax(
            "mbarrier.complete_tx{.relaxed.scope}{.shared{::cta}}.b64 [addr], txCount;
             mbarrier.complete_tx{.relaxed.scope}{.shared::cluster}.b64 [addr], txCount;
             .scope = { .cta, .cluster }",
        )
        .operands(&[OBJECT, TX_COUNT])
        .defaults(RELAXED_CTA)
        .host(Host::Warp).mbarrier(Mbarrier::CompleteTx),
    instr("mbarrier.complete_tx").section("9.7.13.15.12").since(ptx(9, 4)).requires(SM_107F)
        .syntax(
            "mbarrier.complete_tx{.relaxed.scope}{.shared::cluster}.multicast::cluster::32b.b64 [addr], txCount, ctaMask;
             .scope = { .cta, .cluster }",
        )
        .operands(&[OBJECT, TX_COUNT, MASK])
        .defaults(RELAXED_CTA)
        .host(Host::Warp).mbarrier(Mbarrier::CompleteTx),
    instr("mbarrier.arrive").section("9.7.13.15.13").since(ptx(7, 0)).requires(sm(80))
        .first(&["expect_tx"])
        .syntax(
            "mbarrier.arrive{.sem.scope}{.shared{::cta}}.b64 state, [addr]{, count};
             mbarrier.arrive{.sem.scope}{.shared::cluster}.b64 _, [addr]{, count};
             mbarrier.arrive.expect_tx{.sem.scope}{.shared{::cta}}.b64 state, [addr], txCount;
             mbarrier.arrive.expect_tx{.sem.scope}{.shared::cluster}.b64 _, [addr], txCount;
             mbarrier.arrive.noComplete{.release.cta}{.shared{::cta}}.b64 state, [addr], count;
             .sem = { .release, .relaxed }
             .scope = { .cta, .cluster }",
        )
        .operands(&[STATE, ARRIVED_ON, COUNT, TX_COUNT])
        .gates(ARRIVE_TO_SINK)
        .defaults(RELEASE_CTA)
        .host(Host::Warp).meeting(Meeting::Arrive).mbarrier(Mbarrier::Arrive),
    instr("mbarrier.arrive").section("9.7.13.15.13").since(ptx(9, 4)).requires(SM_107F)
        .first(&["expect_tx"])
        .syntax(
            "mbarrier.arrive{.sem.scope}{.shared::cluster}.multicast::cluster::32b.b64 _, [addr]{, count}, ctaMask;
             mbarrier.arrive.expect_tx{.sem.scope}{.shared::cluster}.multicast::cluster::32b.b64 _, [addr], txCount, ctaMask;
             .sem = { .release, .relaxed }
             .scope = { .cta, .cluster }",
        )
        .operands(&[ARRIVED_ON, COUNT, TX_COUNT, MASK])
        .defaults(RELEASE_CTA)
        .host(Host::Warp).meeting(Meeting::Arrive).mbarrier(Mbarrier::Arrive),
    instr("mbarrier.arrive_drop").section("9.7.13.15.14").since(ptx(7, 0)).requires(sm(80))
        .first(&["expect_tx"])
        .syntax(
            "mbarrier.arrive_drop{.sem.scope}{.shared{::cta}}.b64 state, [addr]{, count};
             mbarrier.arrive_drop{.sem.scope}{.shared::cluster}.b64 _, [addr]{, count};
             mbarrier.arrive_drop.expect_tx{.sem.scope}{.shared{::cta}}.b64 state, [addr], tx_count;
             mbarrier.arrive_drop.expect_tx{.sem.scope}{.shared::cluster}.b64 _, [addr], tx_count;
             mbarrier.arrive_drop.noComplete{.release.cta}{.shared{::cta}}.b64 state, [addr], count;
             .sem = { .release, .relaxed }
             .scope = { .cta, .cluster }",
        )
        .operands(&[STATE, ARRIVED_ON, COUNT, src("tx_count", ty(Ty::U32)).range(0, MAX)])
        .gates(ARRIVE)
        .defaults(RELEASE_CTA)
        .host(Host::Warp).meeting(Meeting::Arrive).mbarrier(Mbarrier::Drop),
    instr("mbarrier.arrive_drop").section("9.7.13.15.14").since(ptx(9, 4)).requires(SM_107F)
        .first(&["expect_tx"])
        .syntax(
            "mbarrier.arrive_drop{.sem.scope}{.shared::cluster}.multicast::cluster::32b.b64 _, [addr]{, count}, ctaMask;
             mbarrier.arrive_drop.expect_tx{.sem.scope}{.shared::cluster}.multicast::cluster::32b.b64 _, [addr], tx_count, ctaMask;
             .sem = { .release, .relaxed }
             .scope = { .cta, .cluster }",
        )
        .operands(&[ARRIVED_ON, COUNT, src("tx_count", ty(Ty::U32)).range(0, MAX), MASK])
        .defaults(RELEASE_CTA)
        .host(Host::Warp).meeting(Meeting::Arrive).mbarrier(Mbarrier::Drop),
    instr("cp.async.mbarrier.arrive").section("9.7.13.15.15").since(ptx(7, 0)).requires(sm(80))
        .syntax("cp.async.mbarrier.arrive{.noinc}{.shared{::cta}}.b64 [addr];")
        // Here ptxas takes a generic address of 32 bits too.
        .operands(&[addr("addr", object().own_cta()).align(8)])
        .gates(&[CTA])
        .host(Host::Warp),
    instr("mbarrier.test_wait").section("9.7.13.15.16").since(ptx(7, 0)).requires(sm(80))
        .first(&["parity"])
        .syntax(
            "mbarrier.test_wait{.sem.scope}{.shared{::cta}}.b64 waitComplete, [addr], state;
             mbarrier.test_wait.parity{.sem.scope}{.shared{::cta}}.b64 waitComplete, [addr], phaseParity;
             .sem = { .acquire, .relaxed }
             .scope = { .cta, .cluster }",
        )
        .operands(WAIT_OPERANDS)
        .gates(&[CTA, SCOPE, CLUSTER_SCOPE, RELAXED, gate(&[has(q::parity)]).since(ptx(7, 1))])
        .defaults(ACQUIRE_CTA)
        .host(Host::Warp).meeting(Meeting::Wait).mbarrier(Mbarrier::Wait),
    instr("mbarrier.test_wait").section("9.7.13.15.16").since(LAYOUT).requires(sm(90))
        .first(&["parity"])
        .syntax(
            "mbarrier.test_wait.phase_type::primary{.sem.scope}{.shared{::cta}}.b64 waitComplete, [addr], state;
             mbarrier.test_wait.phase_type::primary{.sem.scope}{.shared{::cta}}.b64 waitComplete|reportPredicate{, reportValue}, [addr], state;
             mbarrier.test_wait.parity.phase_type{.sem.scope}{.shared{::cta}}.b64 waitComplete, [addr], phaseParity;
             mbarrier.test_wait.parity.phase_type::primary{.sem.scope}{.shared{::cta}}.b64 waitComplete|reportPredicate{, reportValue}, [addr], phaseParity;
             .sem = { .acquire, .relaxed }
             .scope = { .cta, .cluster }
             .phase_type = { .phase_type::primary, .phase_type::conditional }",
        )
        .operands(WAIT_OPERANDS)
        .defaults(ACQUIRE_CTA)
        .host(Host::Warp).meeting(Meeting::Wait).mbarrier(Mbarrier::Wait),
    instr("mbarrier.try_wait").section("9.7.13.15.16").since(ptx(7, 8)).requires(sm(90))
        .first(&["parity"])
        .syntax(
            "mbarrier.try_wait{.sem.scope}{.shared{::cta}}.b64 waitComplete, [addr], state{, timeHint};
             mbarrier.try_wait.parity{.sem.scope}{.shared{::cta}}.b64 waitComplete, [addr], phaseParity{, timeHint};
             .sem = { .acquire, .relaxed }
             .scope = { .cta, .cluster }",
        )
        .operands(WAIT_OPERANDS)
        .gates(WAIT)
        .defaults(ACQUIRE_CTA)
        .host(Host::Block).meeting(Meeting::Wait).mbarrier(Mbarrier::Wait),
    instr("mbarrier.try_wait").section("9.7.13.15.16").since(LAYOUT).requires(sm(90))
        .first(&["parity"])
        .syntax(
            "mbarrier.try_wait.phase_type::primary{.sem.scope}{.shared{::cta}}.b64 waitComplete, [addr], state{, timeHint};
             mbarrier.try_wait.phase_type::primary{.sem.scope}{.shared{::cta}}.b64 waitComplete|reportPredicate{, reportValue}, [addr], state{, timeHint};
             mbarrier.try_wait.parity.phase_type{.sem.scope}{.shared{::cta}}.b64 waitComplete, [addr], phaseParity{, timeHint};
             mbarrier.try_wait.parity.phase_type::primary{.sem.scope}{.shared{::cta}}.b64 waitComplete|reportPredicate{, reportValue}, [addr], phaseParity{, timeHint};
             .sem = { .acquire, .relaxed }
             .scope = { .cta, .cluster }
             .phase_type = { .phase_type::primary, .phase_type::conditional }",
        )
        .operands(WAIT_OPERANDS)
        .defaults(ACQUIRE_CTA)
        .host(Host::Block).meeting(Meeting::Wait).mbarrier(Mbarrier::Wait),
    instr("mbarrier.pending_count").section("9.7.13.15.17").since(ptx(7, 0)).requires(sm(80))
        .syntax("mbarrier.pending_count.b64 count, state;")
        .operands(&[dst("count", ty(Ty::U32)), src("state", STATE_TY)])
        .host(Host::Warp).mbarrier(Mbarrier::Query),
    instr("mbarrier.pending_count").section("9.7.13.15.17").since(LAYOUT).requires(sm(90))
        .syntax("mbarrier.pending_count.layout::v0.b64 count, state;")
        .operands(&[dst("count", ty(Ty::U32)), src("state", STATE_TY)])
        .host(Host::Warp).mbarrier(Mbarrier::Query),
    instr("mbarrier.check_layout").section("9.7.13.15.18").since(LAYOUT).requires(sm(90))
        .syntax(
            "mbarrier.check_layout.layout{.shared::cta}.b64 p, [addr];
             .layout = { .layout::v0, .layout::v1 }",
        )
        .operands(&[dst("p", ty(Ty::Pred)), OWN])
        .host(Host::Warp).mbarrier(Mbarrier::Query),
];
