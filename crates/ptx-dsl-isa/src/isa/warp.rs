//! Warp-wide instructions: manual 9.7.9.5, 9.7.9.6, 9.7.13.8 to 9.7.13.12, 9.7.13.14.

use super::*;

/// An integer: ptxas accepts no `.f32` register for it.
const MASK: OperandSpec = src("membermask", ty(Ty::U32));
const REDUX: &[OperandSpec] = &[dst("dst", T), src("src", T), MASK];
/// ptxas accepts `.f16x2` registers for integers elsewhere, but not here.
const REDUX_INTEGERS: &[OperandSpec] = &[dst("dst", ty(Ty::U32)), src("src", ty(Ty::U32)), MASK];
/// Lane or delta: the low five bits count.
const LANE: OperandSpec = src("b", ty(Ty::B32));
/// Clamp in bits 0 to 4, segment mask in bits 8 to 12.
const CLAMP: OperandSpec = src("c", ty(Ty::B32));
/// `redux.sync` of `.f32`.
const F32_ONLY: Targets = Targets::Only(&[("sm_100a", Ptx(8, 6)), ("sm_100f", Ptx(8, 8))]);

/// The family.
#[rustfmt::skip]
pub const LIST: &[Instr] = &[
    instr("shfl").section("9.7.9.5").since(ptx(3, 0)).until(ptx(6, 4), sm(70)).requires(sm(30))
        .syntax(
            "shfl.mode.b32 d[|p], a, b, c;
             .mode = { .up, .down, .bfly, .idx }",
        )
        .operands(&[dst("d", ty(Ty::B32)), dst("p", ty(Ty::Pred)), src("a", ty(Ty::B32)), LANE, CLAMP])
        .host(Host::Block),
    instr("shfl.sync").movable().section("9.7.9.6").since(ptx(6, 0)).requires(sm(30))
        .syntax(
            "shfl.sync.mode.b32 d[|p], a, b, c, membermask;
             .mode = { .up, .down, .bfly, .idx }",
        )
        .operands(&[dst("d", ty(Ty::B32)), dst("p", ty(Ty::Pred)), src("a", ty(Ty::B32)), LANE, CLAMP, MASK])
        .host(Host::Block).issue(Issue::Lanes),
    instr("vote").section("9.7.13.8").since(ptx(1, 2)).until(ptx(6, 4), sm(70)).requires(sm(12))
        .syntax(
            "vote.mode.pred d, {!}a;
             .mode = { .all, .any, .uni }",
        )
        .operands(&[dst("d", ty(Ty::Pred)), src("a", ty(Ty::Pred))])
        .host(Host::Block),
    instr("vote").section("9.7.13.8").since(ptx(2, 0)).until(ptx(6, 4), sm(70)).requires(sm(20))
        .syntax("vote.ballot.b32 d, {!}a;")
        .operands(&[dst("d", ty(Ty::B32)), src("a", ty(Ty::Pred))])
        .host(Host::Block),
    instr("vote.sync").movable().section("9.7.13.9").since(ptx(6, 0)).requires(sm(30))
        .syntax(
            "vote.sync.mode.pred d, {!}a, membermask;
             .mode = { .all, .any, .uni }",
        )
        .operands(&[dst("d", ty(Ty::Pred)), src("a", ty(Ty::Pred)), MASK])
        .host(Host::Block).issue(Issue::Lanes),
    instr("vote.sync").movable().section("9.7.13.9").since(ptx(6, 0)).requires(sm(30))
        .syntax("vote.sync.ballot.b32 d, {!}a, membermask;")
        .operands(&[dst("d", ty(Ty::B32)), src("a", ty(Ty::Pred)), MASK])
        .host(Host::Block).issue(Issue::Lanes),
    instr("match").section("9.7.13.10").since(ptx(6, 0)).requires(sm(70))
        .syntax(
            "match.any.sync.type d, a, membermask;
             match.all.sync.type d[|p], a, membermask;
             .type = { .b32, .b64 }",
        )
        .operands(&[dst("d", ty(Ty::U32)), dst("p", ty(Ty::Pred)), src("a", T), MASK])
        .host(Host::Block).issue(Issue::Lanes),
    instr("activemask").section("9.7.13.11").since(ptx(6, 2)).requires(sm(30))
        .syntax("activemask.b32 d;")
        .operands(&[dst("d", ty(Ty::B32))])
        .host(Host::Warp),
    instr("redux.sync").movable().section("9.7.13.12").since(ptx(7, 0)).requires(sm(80))
        .syntax(
            "redux.sync.op.type dst, src, membermask;
             .op = { .add, .min, .max }
             .type = { .u32, .s32 }",
        )
        .operands(REDUX_INTEGERS)
        .host(Host::Block).issue(Issue::Lanes),
    instr("redux.sync").movable().section("9.7.13.12").since(ptx(7, 0)).requires(sm(80))
        .syntax(
            "redux.sync.op.b32 dst, src, membermask;
             .op = { .and, .or, .xor }",
        )
        .operands(REDUX_INTEGERS)
        .host(Host::Block).issue(Issue::Lanes),
    instr("redux.sync").movable().section("9.7.13.12").since(ptx(8, 6)).requires(F32_ONLY)
        .syntax(
            "redux.sync.op{.abs}{.NaN}.f32 dst, src, membermask;
             .op = { .min, .max }",
        )
        .operands(REDUX)
        .host(Host::Block).issue(Issue::Lanes),
    instr("elect.sync").section("9.7.13.14").since(ptx(8, 0)).requires(sm(90))
        .syntax("elect.sync d|p, membermask;")
        .operands(&[dst("d", ty(Ty::U32)).or_sink(), dst("p", ty(Ty::Pred)), MASK])
        .host(Host::Block).issue(Issue::Lanes),
];
