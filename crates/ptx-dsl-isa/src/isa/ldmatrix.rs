//! Matrices between shared memory and registers: manual 9.7.14.5.15 to 9.7.14.5.17.

use super::*;
use crate::written::first_of;

/// A matrix of 8x8 elements of 16 bits fills a register of each thread; one of `.m16n16` or `.m8n16` bytes takes registers by its
/// size.
fn loaded(quals: &[Qualifier]) -> (Ty, u32) {
    let wide = quals.contains(&q::m16n16);
    (Ty::B32, stored(quals).1 * if wide { 2 } else { 1 })
}
fn stored(quals: &[Qualifier]) -> (Ty, u32) {
    let count = match first_of(quals, &[q::x2, q::x4]) {
        Some(q::x2) => 2,
        Some(_) => 4,
        None => 1,
    };
    (Ty::B32, count)
}

/// Targets of the shapes and types of a byte or less.
const NARROW: Targets = Targets::Only(&[
    ("sm_100a", Ptx(8, 6)),
    ("sm_101a", Ptx(8, 6)),
    ("sm_110a", Ptx(9, 0)),
    ("sm_120a", Ptx(8, 7)),
    ("sm_100f", Ptx(8, 8)),
    ("sm_101f", Ptx(8, 8)),
    ("sm_110f", Ptx(9, 0)),
    ("sm_120f", Ptx(8, 8)),
]);
/// Targets of `.s8.s4`, which Hopper has too.
const SIGNED: Targets =
    Targets::Only(&[("sm_90a", Ptx(9, 4)), ("sm_100f", Ptx(9, 4)), ("sm_110f", Ptx(9, 4)), ("sm_120f", Ptx(9, 4))]);
const CTA: Gate = gate(&[has(q::shared_cta)]).since(ptx(7, 8));
/// The address of a row, from each lane.
const LOADED: OperandSpec = addr("p", reads(Size::Bytes(16))).align(16);
const STORED: OperandSpec = addr("p", writes(Size::Bytes(16))).align(16);

/// The family.
#[rustfmt::skip]
pub const LIST: &[Instr] = &[
    instr("ldmatrix").section("9.7.14.5.15").since(ptx(6, 5)).requires(sm(75))
        .syntax(
            "ldmatrix.sync.aligned.m8n8.num{.trans}{.ss}.b16 r, [p];
             .num = { .x1, .x2, .x4 }
             .ss = { .shared{::cta} }",
        )
        .operands(&[dst("r", OpTy::Fragment(loaded)).or_sink(), LOADED])
        .gates(&[CTA])
        .host(Host::Registers).issue(Issue::FullWarp).memory(MemoryOp::Load),
    instr("ldmatrix").section("9.7.14.5.15").since(ptx(8, 6)).requires(NARROW)
        .syntax(
            "ldmatrix.sync.aligned.m16n16.pair.trans{.ss}.b8 r, [p];
             ldmatrix.sync.aligned.m16n16.pair.trans{.ss}.b8x16.src_fmt r, [p];
             ldmatrix.sync.aligned.m8n16.num{.ss}.b8x16.src_fmt r, [p];
             .pair = { .x1, .x2 }
             .num = { .x1, .x2, .x4 }
             .ss = { .shared{::cta} }
             .src_fmt = { .b6x16_p32, .b4x16_p64 }",
        )
        .operands(&[dst("r", OpTy::Fragment(loaded)).or_sink(), LOADED]).host(Host::Registers).issue(Issue::FullWarp).memory(MemoryOp::Load),
    instr("ldmatrix").section("9.7.14.5.15").since(ptx(9, 4)).requires(SIGNED)
        .syntax(
            "ldmatrix.sync.aligned.m8n16.num{.ss}.s8.s4 r, [p];
             .num = { .x1, .x2, .x4 }
             .ss = { .shared{::cta} }",
        )
        .operands(&[dst("r", OpTy::Fragment(loaded)).or_sink(), LOADED]).host(Host::Registers).issue(Issue::FullWarp).memory(MemoryOp::Load),
    instr("stmatrix").section("9.7.14.5.16").since(ptx(7, 8)).requires(sm(90))
        .syntax(
            "stmatrix.sync.aligned.m8n8.num{.trans}{.ss}.b16 [p], r;
             stmatrix.sync.aligned.m16n8.num.trans{.ss}.b8 [p], r;
             .num = { .x1, .x2, .x4 }
             .ss = { .shared{::cta} }",
        )
        .operands(&[STORED, src("r", OpTy::Fragment(stored))])
        .gates(&[gate(&[has(q::m16n8)]).since(ptx(8, 6)).requires(NARROW)]).host(Host::Registers).issue(Issue::FullWarp).memory(MemoryOp::Store),
    instr("movmatrix").section("9.7.14.5.17").since(ptx(7, 8)).requires(sm(75))
        .syntax("movmatrix.sync.aligned.m8n8.trans.b16 d, a;")
        .operands(&[dst("d", ty(Ty::B32)), src("a", ty(Ty::B32)).reg()])
        .host(Host::Registers).issue(Issue::FullWarp),
];
