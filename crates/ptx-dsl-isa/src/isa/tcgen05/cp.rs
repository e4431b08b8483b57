//! Copies from shared memory to Tensor Memory, and shifts within it: manual 9.7.16.9.

use super::*;

/// The family's copies and shifts.
#[rustfmt::skip]
pub const LIST: &[Instr] = &[
    instr("tcgen05.cp").section("9.7.16.9.2").since(SINCE).requires(TENSOR_MEMORY)
        .syntax(
            "tcgen05.cp.cta_group.shape{.dst_fmt.src_fmt} [taddr], s-desc;
             tcgen05.cp.cta_group.64x128b.warpx2{.dst_fmt.src_fmt} [taddr], s-desc;
             tcgen05.cp.cta_group.32x128b.warpx4{.dst_fmt.src_fmt} [taddr], s-desc;
             .cta_group = { .cta_group::1, .cta_group::2 }
             .shape = { .128x256b, .4x256b, .128x128b }
             .warpx2 = { .warpx2::02_13, .warpx2::01_23 }
             .dst_fmt = { .b8x16 }
             .src_fmt = { .b6x16_p32, .b4x16_p64 }",
        )
        .operands(&[tmem("taddr"), src("s-desc", ty(Ty::U64))])
        .host(CP).tensor(Tensor::Copy).asynchronous(MemoryOp::Load, Proxy::Async),
    instr("tcgen05.shift").section("9.7.16.9.3").since(SINCE).requires(EXACT)
        .syntax(
            "tcgen05.shift.cta_group.down [taddr];
             .cta_group = { .cta_group::1, .cta_group::2 }",
        )
        .operands(&[tmem("taddr")])
        .host(SHIFT).tensor(Tensor::Copy),
];
