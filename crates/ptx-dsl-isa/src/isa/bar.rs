//! Barriers of the CTA, the warp and the cluster: manual 9.7.13.1 to 9.7.13.3.
//!
//! `bar{.cta}.sync`: `.cta` is inside of the opcode, so each of these has two entries.

use super::*;
use crate::written;

const ID: OperandSpec = src("a", ty(Ty::U32)).range(0, 15);
const THREADS: OperandSpec = src("b", ty(Ty::U32));
const SYNC: &[OperandSpec] = &[ID, THREADS];
const RED: &[OperandSpec] = &[dst("d", T), dst("p", ty(Ty::Pred)), ID, THREADS, src("c", ty(Ty::Pred))];

/// `.cta` needs 7.8; a thread count, and everything but `sync`, needs 2.0.
const BAR_GATES: &[Gate] = &[gate(&[operand("b")]).since(ptx(2, 0)).requires(sm(20))];
const WARPS: Rule =
    Rule::Multiple(Multiple { operand: "b", of: 32, what: "the number of threads", unit: "the warp size, 32" });
const RULES: &[Rule] = &[WARPS];
const ARRIVE_RULES: &[Rule] = &[Rule::Custom(nobody), WARPS];

/// Threads that arrive are at least a warp.
fn nobody(i: &written::Written) -> Option<Violation> {
    let n = i.position("b")?;
    matches!(i.operands[n].value, written::Operand::Imm(0)).then(|| {
        let text = "a barrier that 0 threads arrive at is never passed: the number of threads is not 0";
        Violation::of_operand(n, text)
    })
}

/// The family.
#[rustfmt::skip]
pub const LIST: &[Instr] = &[
    instr("barrier.sync").movable().section("9.7.13.1").since(ptx(6, 0)).requires(sm(30))
        .syntax("barrier.sync{.aligned} a{, b};")
        .operands(SYNC).rules(RULES)
        .host(Host::Block).meeting(Meeting::Both).barrier(Barrier::Cta),
    instr("barrier.cta.sync").movable().section("9.7.13.1").since(ptx(7, 8)).requires(sm(30))
        .syntax("barrier.cta.sync{.aligned} a{, b};")
        .operands(SYNC).rules(RULES)
        .host(Host::Block).meeting(Meeting::Both).barrier(Barrier::Cta),
    instr("barrier.arrive").section("9.7.13.1").since(ptx(6, 0)).requires(sm(30))
        .syntax("barrier.arrive{.aligned} a, b;")
        .operands(SYNC).rules(ARRIVE_RULES)
        .host(Host::Warp).meeting(Meeting::Arrive).barrier(Barrier::Cta),
    instr("barrier.cta.arrive").section("9.7.13.1").since(ptx(7, 8)).requires(sm(30))
        .syntax("barrier.cta.arrive{.aligned} a, b;")
        .operands(SYNC).rules(ARRIVE_RULES)
        .host(Host::Warp).meeting(Meeting::Arrive).barrier(Barrier::Cta),
    instr("barrier.red").section("9.7.13.1").since(ptx(6, 0)).requires(sm(30))
        .syntax(
            "barrier.red.popc{.aligned}.u32 d, a{, b}, {!}c;
             barrier.red.op{.aligned}.pred p, a{, b}, {!}c;
             .op = { .and, .or }",
        )
        .operands(RED).rules(RULES)
        .host(Host::Block).meeting(Meeting::Both).barrier(Barrier::Cta),
    instr("barrier.cta.red").section("9.7.13.1").since(ptx(7, 8)).requires(sm(30))
        .syntax(
            "barrier.cta.red.popc{.aligned}.u32 d, a{, b}, {!}c;
             barrier.cta.red.op{.aligned}.pred p, a{, b}, {!}c;
             .op = { .and, .or }",
        )
        .operands(RED).rules(RULES)
        .host(Host::Block).meeting(Meeting::Both).barrier(Barrier::Cta),
    instr("bar.sync").section("9.7.13.1")
        .syntax("bar.sync a{, b};")
        .operands(SYNC).gates(BAR_GATES).rules(RULES)
        .host(Host::Block).meeting(Meeting::Both).issue(Issue::Warp).barrier(Barrier::Cta),
    instr("bar.cta.sync").section("9.7.13.1").since(ptx(7, 8))
        .syntax("bar.cta.sync a{, b};")
        .operands(SYNC).gates(BAR_GATES).rules(RULES)
        .host(Host::Block).meeting(Meeting::Both).issue(Issue::Warp).barrier(Barrier::Cta),
    instr("bar.arrive").section("9.7.13.1").since(ptx(2, 0)).requires(sm(20))
        .syntax("bar.arrive a, b;")
        .operands(SYNC).rules(ARRIVE_RULES)
        .host(Host::Warp).meeting(Meeting::Arrive).issue(Issue::Warp).barrier(Barrier::Cta),
    instr("bar.cta.arrive").section("9.7.13.1").since(ptx(7, 8)).requires(sm(20))
        .syntax("bar.cta.arrive a, b;")
        .operands(SYNC).rules(ARRIVE_RULES)
        .host(Host::Warp).meeting(Meeting::Arrive).issue(Issue::Warp).barrier(Barrier::Cta),
    instr("bar.red").section("9.7.13.1").since(ptx(2, 0)).requires(sm(20))
        .syntax(
            "bar.red.popc.u32 d, a{, b}, {!}c;
             bar.red.op.pred p, a{, b}, {!}c;
             .op = { .and, .or }",
        )
        .operands(RED).rules(RULES)
        .host(Host::Block).meeting(Meeting::Both).issue(Issue::Warp).barrier(Barrier::Cta),
    instr("bar.cta.red").section("9.7.13.1").since(ptx(7, 8)).requires(sm(20))
        .syntax(
            "bar.cta.red.popc.u32 d, a{, b}, {!}c;
             bar.cta.red.op.pred p, a{, b}, {!}c;
             .op = { .and, .or }",
        )
        .operands(RED).rules(RULES)
        .host(Host::Block).meeting(Meeting::Both).issue(Issue::Warp).barrier(Barrier::Cta),
    instr("bar.warp.sync").section("9.7.13.2").since(ptx(6, 0)).requires(sm(30))
        .syntax("bar.warp.sync membermask;")
        .operands(&[src("membermask", ty(Ty::U32))])
        .host(Host::Block).issue(Issue::Lanes).barrier(Barrier::Warp),
    instr("barrier.cluster.arrive").section("9.7.13.3").since(ptx(7, 8)).requires(sm(90))
        .syntax(
            "barrier.cluster.arrive{.sem}{.aligned};
             .sem = { .release, .relaxed }",
        )
        .gates(&[gate(&[any(&[q::release, q::relaxed])]).since(ptx(8, 0))])
        .defaults(&[(".sem", q::release)])
        .host(Host::Warp).meeting(Meeting::Arrive).barrier(Barrier::Cluster),
    instr("barrier.cluster.wait").section("9.7.13.3").since(ptx(7, 8)).requires(sm(90))
        .syntax("barrier.cluster.wait{.acquire}{.aligned};")
        .gates(&[gate(&[has(q::acquire)]).since(ptx(8, 0))])
        .defaults(&[(".acquire", q::acquire)])
        .host(Host::Block).meeting(Meeting::Wait).barrier(Barrier::Cluster),
];
