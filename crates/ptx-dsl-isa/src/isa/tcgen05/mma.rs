//! Matrix multiply and accumulate on Tensor Memory: manual 9.7.16.10.9.

use super::*;

/// Lanes of D that are not written: 128 bits, or 256 for a CTA pair.
const LANES: OpTy = OpTy::Many(Ty::B32, &[(q::cta_group_1, 4), (q::cta_group_2, 8)]);

const OPERANDS: &[OperandSpec] = &[
    tmem("d-tmem"),
    src("a-desc", ty(Ty::U64)),
    tmem("a-tmem"),
    src("b-desc", ty(Ty::U64)),
    tmem("b-decompress-metadata"),
    tmem("sp-meta-tmem"),
    src("idesc", ty(Ty::U32)),
    tmem("scale-A-tmem"),
    tmem("scale-B-tmem"),
    src("disable-output-lane", LANES),
    src("enable-input-d", ty(Ty::Pred)),
    src("scale-input-d", ty(Ty::S64)).imm().range(0, 15),
    src("zero-column-mask-desc", ty(Ty::U64)),
];

const ALL_COLLECTOR_B: &[Qualifier] =
    &[q::collector_b_fill, q::collector_b_use, q::collector_b_lastuse, q::collector_b_discard];
const COLLECTOR_B: Gate = gate(&[any(ALL_COLLECTOR_B)]).since(NEW).requires(SM_107F);
const KIND_I8: Gate = gate(&[has(q::kind_i8)]).requires(INT8);
const KIND_TI16: Gate = gate(&[has(q::kind_ti16)]).since(NEW).requires(SM_107F);
const SCALE_INPUT_D: Gate = gate(&[operand("scale-input-d")]).requires(SCALE_D);
const NVF4: Gate = gate(&[has(q::kind_mxf4nvf4)]).since(ptx(8, 7));
const BLOCKS: Gate = gate(&[any(&[q::block16, q::block32])]).since(ptx(8, 8));
/// Without a size the older targets need PTX ISA 8.8 if named by their family.
const SCALE_VEC: Gate = gate(&[any(&[q::scale_vec_1X, q::scale_vec_2X, q::scale_vec_4X])]).requires(EXACT);
/// Families do not have sparse 4-bit kinds.
const SPARSE_FOUR_BITS: Gate = gate(&[any(&[q::kind_mxf4, q::kind_mxf4nvf4])]).requires(EXACT);

/// `.ashift` moves the rows of A: the collector gets the moved rows.
const ASHIFT: Rule = Rule::Never(
    &[has(q::ashift), any(&[q::collector_a_fill, q::collector_a_use])],
    "`.ashift` goes with `.collector::a::lastuse` and `.collector::a::discard` only",
);
/// ptxas accepts it for `.kind::i8` and `.kind::ti16` too; the manual gives it no meaning there.
const SCALE_KINDS: Rule = Rule::Never(
    &[any(&[q::kind_f8f6f4, q::kind_i8, q::kind_ti16]), operand("scale-input-d")],
    "`scale-input-d` is for `.kind::f16` and `.kind::tf32` only",
);
const BLOCK_RULES: &[Rule] = &[
    Rule::Never(
        &[has(q::kind_mxf8f6f4), any(&[q::scale_vec_2X, q::scale_vec_4X, q::block16])],
        "`.kind::mxf8f6f4` has `.scale_vec::1X`, which is `.block32`",
    ),
    Rule::Never(
        &[has(q::kind_mxf4), any(&[q::scale_vec_1X, q::scale_vec_4X, q::block16])],
        "`.kind::mxf4` has `.scale_vec::2X`, which is `.block32`",
    ),
    Rule::Never(
        &[has(q::kind_mxf4nvf4), has(q::scale_vec_1X)],
        "`.kind::mxf4nvf4` has `.scale_vec::2X`, `.scale_vec::4X`, `.block16` and `.block32`",
    ),
    Rule::Needs(
        has(q::kind_mxf4nvf4),
        any(&[q::scale_vec_1X, q::scale_vec_2X, q::scale_vec_4X, q::block16, q::block32]),
        "`.kind::mxf4nvf4` needs `.scale_vec::2X`, `.scale_vec::4X`, `.block16` or `.block32`",
    ),
];
const ONE_CTA: Rule = Rule::Never(&[has(q::cta_group_2)], "the weight-stationary form is for `.cta_group::1` only");

/// The sets of a syntax block.
macro_rules! block {
    ($forms:literal) => {
        concat!(
            $forms,
            " .cta_group = { .cta_group::1, .cta_group::2 }
             .collector_a_usage = { .collector::a::fill, .collector::a::use, .collector::a::lastuse, .collector::a::discard }
             .collector_b_usage = { .collector::b::fill, .collector::b::use, .collector::b::lastuse, .collector::b::discard }
             .scale_vectorsize = { .scale_vec::1X, .scale_vec::2X, .scale_vec::4X, .block16, .block32 }
             .collector_usage = { .collector::b0::fill, .collector::b0::use, .collector::b0::lastuse, .collector::b0::discard,
                                  .collector::b1::fill, .collector::b1::use, .collector::b1::lastuse, .collector::b1::discard,
                                  .collector::b2::fill, .collector::b2::use, .collector::b2::lastuse, .collector::b2::discard,
                                  .collector::b3::fill, .collector::b3::use, .collector::b3::lastuse, .collector::b3::discard }
             .kind2 = { .kind::mxf8f6f4, .kind::mxf4, .kind::mxf4nvf4 }"
        )
    };
}

/// The family's products.
#[rustfmt::skip]
pub const LIST: &[Instr] = &[
    instr("tcgen05.mma").section("9.7.16.10.9.1").since(SINCE).requires(TENSOR_MEMORY)
        .syntax(block!(
            "tcgen05.mma.cta_group.kind{.collector_a_usage}{.collector_b_usage} [d-tmem], a-desc, b-desc, idesc, {disable-output-lane}, {!}enable-input-d{, scale-input-d};
             tcgen05.mma.cta_group.kind{.ashift}{.collector_a_usage}{.collector_b_usage} [d-tmem], [a-tmem], b-desc, idesc, {disable-output-lane}, {!}enable-input-d{, scale-input-d};
             .kind = { .kind::f16, .kind::tf32, .kind::f8f6f4, .kind::i8 }"
        ))
        .operands(OPERANDS)
        .gates(&[KIND_I8, SCALE_INPUT_D, COLLECTOR_B])
        .rules(&[ASHIFT, SCALE_KINDS])
        .host(MMA).tensor(Tensor::Mma).asynchronous(MemoryOp::Load, Proxy::Async),
    instr("tcgen05.mma").section("9.7.16.10.9.1").since(NEW).requires(SM_107F)
        .syntax(block!(
            "tcgen05.mma.cta_group.kind::ti16{.collector_a_usage}{.collector_b_usage} [d-tmem], a-desc, b-desc, idesc, {disable-output-lane}, {!}enable-input-d{, scale-input-d};
             tcgen05.mma.cta_group.kind::ti16{.ashift}{.collector_a_usage}{.collector_b_usage} [d-tmem], [a-tmem], b-desc, idesc, {disable-output-lane}, {!}enable-input-d{, scale-input-d};"
        ))
        .operands(OPERANDS)
        .rules(&[ASHIFT, SCALE_KINDS])
        .host(MMA_TI16).tensor(Tensor::Mma).asynchronous(MemoryOp::Load, Proxy::Async),
    instr("tcgen05.mma").section("9.7.16.10.9.1").since(SINCE).requires(TENSOR_MEMORY)
        .syntax(block!(
            "tcgen05.mma.cta_group.kind2.block_scale{.scale_vectorsize}{.collector_a_usage}{.collector_b_usage} [d-tmem], a-desc, b-desc, idesc, [scale-A-tmem], [scale-B-tmem], {!}enable-input-d;
             tcgen05.mma.cta_group.kind2.block_scale{.scale_vectorsize}{.collector_a_usage}{.collector_b_usage} [d-tmem], [a-tmem], b-desc, idesc, [scale-A-tmem], [scale-B-tmem], {!}enable-input-d;"
        ))
        .operands(OPERANDS)
        .gates(&[NVF4, BLOCKS, SCALE_VEC, COLLECTOR_B])
        .rules(BLOCK_RULES)
        .host(MMA_BLOCK_SCALE).tensor(Tensor::Mma).asynchronous(MemoryOp::Load, Proxy::Async),
    instr("tcgen05.mma").section("9.7.16.10.9.1").since(NEW).requires(SM_107F)
        .syntax(block!(
            "tcgen05.mma.cta_group.kind::f8f6f4.decompress::lut::b{.collector_a_usage}{.collector_b_usage} [d-tmem], a-desc, b-desc, [b-decompress-metadata], idesc, {disable-output-lane}, {!}enable-input-d;
             tcgen05.mma.cta_group.kind::f8f6f4.decompress::lut::b{.collector_a_usage}{.collector_b_usage} [d-tmem], [a-tmem], b-desc, [b-decompress-metadata], idesc, {disable-output-lane}, {!}enable-input-d;
             tcgen05.mma.cta_group.kind::mxf8f6f4.block_scale.decompress::lut::b{.scale_size}{.collector_a_usage}{.collector_b_usage} [d-tmem], a-desc, b-desc, [b-decompress-metadata], idesc, [scale-A-tmem], [scale-B-tmem], {!}enable-input-d;
             tcgen05.mma.cta_group.kind::mxf8f6f4.block_scale.decompress::lut::b{.scale_size}{.collector_a_usage}{.collector_b_usage} [d-tmem], [a-tmem], b-desc, [b-decompress-metadata], idesc, [scale-A-tmem], [scale-B-tmem], {!}enable-input-d;
             .scale_size = { .block32, .scale_vec::1X }"
        ))
        .operands(OPERANDS)
        .gates(&[gate(&[has(q::scale_vec_1X)]).requires(EXACT)])
        .host(MMA_DECOMPRESS).tensor(Tensor::Mma).asynchronous(MemoryOp::Load, Proxy::Async),
    instr("tcgen05.mma.sp").movable().section("9.7.16.10.9.2").since(SINCE).requires(TENSOR_MEMORY)
        .syntax(block!(
            "tcgen05.mma.sp.cta_group.kind{.collector_a_usage}{.collector_b_usage} [d-tmem], a-desc, b-desc, [sp-meta-tmem], idesc, {disable-output-lane}, {!}enable-input-d{, scale-input-d};
             tcgen05.mma.sp.cta_group.kind{.ashift}{.collector_a_usage}{.collector_b_usage} [d-tmem], [a-tmem], b-desc, [sp-meta-tmem], idesc, {disable-output-lane}, {!}enable-input-d{, scale-input-d};
             .kind = { .kind::f16, .kind::tf32, .kind::f8f6f4, .kind::i8 }"
        ))
        .operands(OPERANDS)
        .gates(&[KIND_I8, SCALE_INPUT_D, COLLECTOR_B])
        .rules(&[ASHIFT, SCALE_KINDS])
        .host(MMA_SP).tensor(Tensor::Mma).asynchronous(MemoryOp::Load, Proxy::Async),
    instr("tcgen05.mma.sp").movable().section("9.7.16.10.9.2").since(NEW).requires(SM_107F)
        .syntax(block!(
            "tcgen05.mma.sp.cta_group.kind::ti16{.collector_a_usage}{.collector_b_usage} [d-tmem], a-desc, b-desc, [sp-meta-tmem], idesc, {disable-output-lane}, {!}enable-input-d{, scale-input-d};
             tcgen05.mma.sp.cta_group.kind::ti16{.ashift}{.collector_a_usage}{.collector_b_usage} [d-tmem], [a-tmem], b-desc, [sp-meta-tmem], idesc, {disable-output-lane}, {!}enable-input-d{, scale-input-d};"
        ))
        .operands(OPERANDS)
        .rules(&[ASHIFT, SCALE_KINDS])
        .host(MMA_SP_TI16).tensor(Tensor::Mma).asynchronous(MemoryOp::Load, Proxy::Async),
    instr("tcgen05.mma.sp").movable().section("9.7.16.10.9.2").since(SINCE).requires(TENSOR_MEMORY)
        .syntax(block!(
            "tcgen05.mma.sp.cta_group.kind2.block_scale{.scale_vectorsize}{.collector_a_usage}{.collector_b_usage} [d-tmem], a-desc, b-desc, [sp-meta-tmem], idesc, [scale-A-tmem], [scale-B-tmem], {!}enable-input-d;
             tcgen05.mma.sp.cta_group.kind2.block_scale{.scale_vectorsize}{.collector_a_usage}{.collector_b_usage} [d-tmem], [a-tmem], b-desc, [sp-meta-tmem], idesc, [scale-A-tmem], [scale-B-tmem], {!}enable-input-d;"
        ))
        .operands(OPERANDS)
        .gates(&[NVF4, BLOCKS, SCALE_VEC, SPARSE_FOUR_BITS, COLLECTOR_B])
        .rules(BLOCK_RULES)
        .host(MMA_SP_BLOCK_SCALE).tensor(Tensor::Mma).asynchronous(MemoryOp::Load, Proxy::Async),
    instr("tcgen05.mma.ws").section("9.7.16.10.9.3").since(SINCE).requires(TENSOR_MEMORY)
        .syntax(block!(
            "tcgen05.mma.ws.cta_group.kind{.collector_usage} [d-tmem], a-desc, b-desc, idesc, {!}enable-input-d{, zero-column-mask-desc};
             tcgen05.mma.ws.cta_group.kind{.collector_usage} [d-tmem], [a-tmem], b-desc, idesc, {!}enable-input-d{, zero-column-mask-desc};
             .kind = { .kind::f16, .kind::tf32, .kind::f8f6f4, .kind::i8, .kind::ti16 }"
        ))
        .operands(OPERANDS)
        .gates(&[KIND_I8, KIND_TI16])
        .rules(&[ONE_CTA])
        .host(MMA_WS).tensor(Tensor::Mma).asynchronous(MemoryOp::Load, Proxy::Async),
    instr("tcgen05.mma.ws.sp").movable().section("9.7.16.10.9.4").since(SINCE).requires(TENSOR_MEMORY)
        .syntax(block!(
            "tcgen05.mma.ws.sp.cta_group.kind{.collector_usage} [d-tmem], a-desc, b-desc, [sp-meta-tmem], idesc, {!}enable-input-d{, zero-column-mask-desc};
             tcgen05.mma.ws.sp.cta_group.kind{.collector_usage} [d-tmem], [a-tmem], b-desc, [sp-meta-tmem], idesc, {!}enable-input-d{, zero-column-mask-desc};
             .kind = { .kind::f16, .kind::tf32, .kind::f8f6f4, .kind::i8, .kind::ti16 }"
        ))
        .operands(OPERANDS)
        .gates(&[KIND_I8, KIND_TI16])
        .rules(&[ONE_CTA])
        .host(MMA_WS_SP).tensor(Tensor::Mma).asynchronous(MemoryOp::Load, Proxy::Async),
];
