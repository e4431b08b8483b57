//! Loads and stores of Tensor Memory: manual 9.7.16.8.

use super::*;

/// Registers of a thread: the count, once for each 64 bits of a row of the shape, at least one (9.7.16.2.3).
const REGISTERS: OpTy = OpTy::Many(
    Ty::B32,
    &[
        (q::x2, 2),
        (q::x4, 4),
        (q::x8, 8),
        (q::x16, 16),
        (q::x32, 32),
        (q::x64, 64),
        (q::x128, 128),
        (q::_16x128b, 2),
        (q::_16x256b, 4),
    ],
);
/// `.sp::2:4` keeps two of four values, with two bits of metadata for each of them.
const KEPT: OpTy =
    OpTy::Many(Ty::B32, &[(q::x4, 2), (q::x8, 4), (q::x16, 8), (q::x32, 16), (q::x64, 32), (q::x128, 64)]);
const METADATA: OpTy = OpTy::Many(Ty::B32, &[(q::x64, 2), (q::x128, 4)]);

const ADDRESS: OperandSpec = tmem("taddr");
const SPLIT: OperandSpec = src("immHalfSplitoff", ty(Ty::S64)).imm();

/// At most 128 registers.
const RULES: &[Rule] = &[
    Rule::Never(&[has(q::_16x128b), has(q::x128)], "`.16x128b` goes up to `.x64`, which is 128 registers"),
    Rule::Never(&[has(q::_16x256b), any(&[q::x64, q::x128])], "`.16x256b` goes up to `.x32`, which is 128 registers"),
];

/// The family's loads and stores.
#[rustfmt::skip]
pub const LIST: &[Instr] = &[
    instr("tcgen05.ld").section("9.7.16.8.3").since(SINCE).requires(TENSOR_MEMORY)
        .syntax(
            "tcgen05.ld.sync.aligned.shape1.num{.pack}.b32 r, [taddr];
             tcgen05.ld.sync.aligned.shape2.num{.pack}.b32 r, [taddr], immHalfSplitoff;
             .shape1 = { .16x64b, .16x128b, .16x256b, .32x32b }
             .shape2 = { .16x32bx2 }
             .num = { .x1, .x2, .x4, .x8, .x16, .x32, .x64, .x128 }
             .pack = { .pack::16b }",
        )
        .operands(&[dst("r", REGISTERS), ADDRESS, SPLIT])
        .rules(RULES)
        .host(LD).tensor(Tensor::Load),
    instr("tcgen05.ld").section("9.7.16.8.3").since(NEW).requires(SM_107A)
        .first(&["spcompress"])
        .syntax(
            "tcgen05.ld.spcompress.sync.aligned.32x32b.num.rowop.sp::2:4{.abs}.f32.b2 mdata, cdata, [taddr];
             .num = { .x4, .x8, .x16, .x32, .x64, .x128 }
             .rowop = { .min, .max }",
        )
        .operands(&[dst("mdata", METADATA), dst("cdata", KEPT), ADDRESS])
        .host(LD_SPCOMPRESS).tensor(Tensor::Load),
    instr("tcgen05.ld.red").section("9.7.16.8.3").since(ptx(8, 8)).requires(REDUCE)
        .syntax(
            "tcgen05.ld.red.sync.aligned.shape3.num.redOp{.abs}{.NaN}.f32 r, redval, [taddr];
             tcgen05.ld.red.sync.aligned.shape4.num.redOp{.abs}{.NaN}.f32 r, redval, [taddr], immHalfSplitoff;
             tcgen05.ld.red.sync.aligned.shape3.num.redOp.type r, redval, [taddr];
             tcgen05.ld.red.sync.aligned.shape4.num.redOp.type r, redval, [taddr], immHalfSplitoff;
             .shape3 = { .32x32b }
             .shape4 = { .16x32bx2 }
             .num = { .x2, .x4, .x8, .x16, .x32, .x64, .x128 }
             .redOp = { .min, .max }
             .type = { .u32, .s32 }",
        )
        .operands(&[dst("r", REGISTERS), dst("redval", ty(Ty::B32)), ADDRESS, SPLIT])
        .host(LD_RED).tensor(Tensor::Load),
    instr("tcgen05.ld.red").section("9.7.16.8.3").since(NEW).requires(SM_107A)
        .first(&["spcompress"])
        .syntax(
            "tcgen05.ld.red.spcompress.sync.aligned.32x32b.num.rowop.sp::2:4{.abs}{.NaN}.f32.b2 mdata, cdata, redval, [taddr];
             .num = { .x4, .x8, .x16, .x32, .x64, .x128 }
             .rowop = { .min, .max }",
        )
        .operands(&[
            dst("mdata", METADATA), dst("cdata", KEPT), dst("redval", ty(Ty::B32)), ADDRESS,
        ])
        .host(LD_SPCOMPRESS).tensor(Tensor::Load),
    instr("tcgen05.st").section("9.7.16.8.4").since(SINCE).requires(TENSOR_MEMORY)
        .syntax(
            "tcgen05.st.sync.aligned.shape1.num{.unpack}.b32 [taddr], r;
             tcgen05.st.sync.aligned.shape2.num{.unpack}.b32 [taddr], immHalfSplitoff, r;
             .shape1 = { .16x64b, .16x128b, .16x256b, .32x32b }
             .shape2 = { .16x32bx2 }
             .num = { .x1, .x2, .x4, .x8, .x16, .x32, .x64, .x128 }
             .unpack = { .unpack::16b }",
        )
        .operands(&[ADDRESS, SPLIT, src("r", REGISTERS)])
        .rules(RULES)
        .host(ST).tensor(Tensor::Store),
    instr("tcgen05.wait").section("9.7.16.8.5").since(SINCE).requires(TENSOR_MEMORY)
        .syntax(
            "tcgen05.wait::ld.sync.aligned;
             tcgen05.wait::st.sync.aligned;",
        )
        .host(WAIT).tensor(Tensor::Wait),
];
