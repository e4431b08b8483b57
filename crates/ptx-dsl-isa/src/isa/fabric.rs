//! Transfers between devices of a fabric, PTX ISA 9.3 and 9.4.

use super::bulk::RUBIN;
use super::tensor::{COORDS, DIM_ONE, INFO, LOWER, MAP, STRIDES, UPPER};
use super::*;

const SIZE: OperandSpec = src("size", ty(Ty::U32));
const BYTES: Size = Size::Operand("size");
const BAR: OperandSpec = addr("bar", object()).align(8);
const DST: OperandSpec = addr("dst", writes(BYTES)).align(16);
const SRC: OperandSpec = addr("src", reads(BYTES).partial(&[has(q::cp_mask)])).align(16);
const POLICY: OperandSpec = src("cache_policy", ty(Ty::U64));
/// A location in the fabric: endpoint and offset.
const DST_LE: OperandSpec = src("dstLeId", ty(Ty::U32));
const DST_OFF: OperandSpec = src("dstDataOff", ty(Ty::U64));
const COUNTER: OperandSpec = src("dstCounterOff", ty(Ty::U64));
const SRC_LE: OperandSpec = src("srcLeId", ty(Ty::U32));
const SRC_OFF: OperandSpec = src("srcDataOff", ty(Ty::U64));

/// Targets of `fabric.try_pullred` with 8-bit types or wider sums.
const REDUCED: Targets = Targets::Only(&[("sm_100f", Ptx(8, 8)), ("sm_110f", Ptx(9, 0)), ("sm_120f", Ptx(8, 8))]);
const TENSOR: &[OperandSpec] = &[
    addr("dstMem", writes(Size::Unknown)).align(16),
    MAP,
    src("tensorMapLeId", ty(Ty::U32)),
    src("tensorMapOff", ty(Ty::U64)),
    src("counterOff", ty(Ty::U64)),
    INFO,
    LOWER,
    UPPER,
    COORDS,
    addr("src", reads(Size::Operand("sizeBytes"))).align(16),
    src("sizeBytes", ty(Ty::U32)),
    addr("mbar", object()).align(8),
    POLICY,
];

const ONE_GPU: Host = Host::NotYet("the host is one GPU without a fabric");

/// The family.
#[rustfmt::skip]
pub const LIST: &[Instr] = &[
    instr("fabric.try_get").class(InstrClass::Memory).section("9.7.9.25").since(ptx(9, 3)).requires(sm(100))
        .host(ONE_GPU)
        .first(&["async"])
        .syntax("fabric.try_get.async.shared::cta.mbarrier::complete_tx::bytes.mbarrier::report::fabric{.L2::cache_hint}.relaxed.sys.b128 [dst], [srcLeId, srcDataOff], size, [bar]{, cache_policy};")
        .operands(&[DST, SRC_LE, SRC_OFF, SIZE, BAR, POLICY]).asynchronous(MemoryOp::Copy, Proxy::Fabric),
    instr("fabric.try_put").class(InstrClass::Memory).section("9.7.9.25").since(ptx(9, 3)).requires(sm(100))
        .host(ONE_GPU)
        .first(&["async"])
        .syntax(
            "fabric.try_put.async{.multimem}.shared::cta.mbarrier::complete_tx::16B.mbarrier::report::fabric{.L2::cache_hint}.relaxed.sys.b128 [dstLeId, dstDataOff], [src], size, [bar]{, cache_policy};
             fabric.try_put.async{.multimem}.shared::cta.mbarrier::complete_tx::16B.mbarrier::report::fabric{.L2::cache_hint}.cp_mask.relaxed.sys.b128 [dstLeId, dstDataOff], [src], size, [bar], bytemask{, cache_policy};
             fabric.try_put.async{.multimem}.shared::cta.mbarrier::complete_tx::16B.mbarrier::report::fabric.counted::bytes{.L2::cache_hint}.relaxed.sys.b128 [dstLeId, dstDataOff, dstCounterOff], [src], size, [bar]{, cache_policy};",
        )
        .operands(&[DST_LE, DST_OFF, COUNTER, SRC, SIZE, BAR, src("bytemask", ty(Ty::U16)), POLICY]).asynchronous(MemoryOp::Copy, Proxy::Fabric),
    instr("fabric.try_red").class(InstrClass::Memory).section("9.7.9.25").since(ptx(9, 3)).requires(sm(100))
        .host(ONE_GPU)
        .first(&["async"])
        .syntax(
            "fabric.try_red.async{.multimem}.shared::cta.mbarrier::complete_tx::16B.mbarrier::report::fabric{.L2::cache_hint}.relaxed.sys.redOpBit.typeBit [dstLeId, dstDataOff], [src], size, [bar]{, cache_policy};
             fabric.try_red.async{.multimem}.shared::cta.mbarrier::complete_tx::16B.mbarrier::report::fabric{.L2::cache_hint}.relaxed.sys.redOpMinMax.typeMinMax [dstLeId, dstDataOff], [src], size, [bar]{, cache_policy};
             fabric.try_red.async{.multimem}.shared::cta.mbarrier::complete_tx::16B.mbarrier::report::fabric{.L2::cache_hint}.relaxed.sys.add.typeAdd [dstLeId, dstDataOff], [src], size, [bar]{, cache_policy};
             fabric.try_red.async{.multimem}.shared::cta.mbarrier::complete_tx::16B.mbarrier::report::fabric.counted::bytes{.L2::cache_hint}.relaxed.sys.redOpBit.typeBit [dstLeId, dstDataOff, dstCounterOff], [src], size, [bar]{, cache_policy};
             fabric.try_red.async{.multimem}.shared::cta.mbarrier::complete_tx::16B.mbarrier::report::fabric.counted::bytes{.L2::cache_hint}.relaxed.sys.redOpMinMax.typeMinMax [dstLeId, dstDataOff, dstCounterOff], [src], size, [bar]{, cache_policy};
             fabric.try_red.async{.multimem}.shared::cta.mbarrier::complete_tx::16B.mbarrier::report::fabric.counted::bytes{.L2::cache_hint}.relaxed.sys.add.typeAdd [dstLeId, dstDataOff, dstCounterOff], [src], size, [bar]{, cache_policy};
             .redOpBit = { .and, .xor, .or }
             .typeBit = { .b32, .b64 }
             .redOpMinMax = { .min, .max }
             .typeMinMax = { .u32, .s32, .u64, .s64, .f16, .bf16 }
             .typeAdd = { .u32, .u64, .f16, .bf16, .f32, .f64 }",
        )
        .operands(&[DST_LE, DST_OFF, COUNTER, SRC, SIZE, BAR, POLICY]).asynchronous(MemoryOp::Reduction, Proxy::Fabric),
    instr("fabric.try_pullred").class(InstrClass::Memory).section("9.7.9.25").since(ptx(9, 3)).requires(sm(100))
        .host(ONE_GPU)
        .first(&["async"])
        .syntax(
            "fabric.try_pullred.async.multimem.shared::cta.mbarrier::complete_tx::bytes.mbarrier::report::fabric.relaxed.sys.redOpBit.typeBit.sync [dst], [srcLeId, srcDataOff], size, [bar], mask;
             fabric.try_pullred.async.multimem.shared::cta.mbarrier::complete_tx::bytes.mbarrier::report::fabric.relaxed.sys.redOpMinMax.typeMinMax2.sync [dst], [srcLeId, srcDataOff], size, [bar], mask;
             fabric.try_pullred.async.multimem.shared::cta.mbarrier::complete_tx::bytes.mbarrier::report::fabric.relaxed.sys.add.typeAdd2.sync [dst], [srcLeId, srcDataOff], size, [bar], mask;
             fabric.try_pullred.async.multimem.shared::cta.mbarrier::complete_tx::bytes.mbarrier::report::fabric.relaxed.sys.add.acc::f16.fp8type.sync [dst], [srcLeId, srcDataOff], size, [bar], mask;
             fabric.try_pullred.async.multimem.shared::cta.mbarrier::complete_tx::bytes.mbarrier::report::fabric.relaxed.sys.add.acc::f32.narrow.sync [dst], [srcLeId, srcDataOff], size, [bar], mask;
             .redOpBit = { .and, .xor, .or }
             .typeBit = { .b32, .b64 }
             .redOpMinMax = { .min, .max }
             .typeMinMax2 = { .u32, .s32, .u64, .s64, .bf16, .f16, .e4m3, .e5m2 }
             .typeAdd2 = { .u32, .u64, .f16, .bf16, .f32 }
             .fp8type = { .e4m3, .e5m2 }
             .narrow = { .f16, .bf16, .e4m3, .e5m2 }",
        )
        .operands(&[DST, SRC_LE, SRC_OFF, SIZE, BAR, src("mask", ty(Ty::U32)).imm().range(0xFFFF_FFFF, 0xFFFF_FFFF)])
        .gates(&[gate(&[any(&[q::acc_f16, q::acc_f32, q::e4m3, q::e5m2])]).requires(REDUCED)]).asynchronous(MemoryOp::Copy, Proxy::Fabric),
    instr("fabric.submit").class(InstrClass::Memory).section("9.7.9.25").since(ptx(9, 3)).requires(sm(100))
        .host(ONE_GPU)
        .syntax("fabric.submit{.op_restrict::fetching};"),
    instr("fabric.submit").class(InstrClass::Memory).section("9.7.9.25").since(ptx(9, 5)).requires(sm(100))
        .host(ONE_GPU)
        .syntax("fabric.submit.commit_group;"),
    instr("fabric.wait").class(InstrClass::Memory).section("9.7.9.25").since(ptx(9, 3)).requires(sm(100))
        .host(ONE_GPU)
        .syntax("fabric.wait.sync_restrict::reads;"),
    instr("fabric.wait").class(InstrClass::Memory).section("9.7.9.25").since(ptx(9, 5)).requires(sm(100))
        .host(ONE_GPU)
        .syntax("fabric.wait.sync_restrict::read N;")
        .operands(&[src("N", ty(Ty::U64)).imm()]),
    instr("fabric.try_atom").class(InstrClass::Memory).section("9.7.9.25").since(ptx(9, 4)).requires(sm(100))
        .host(ONE_GPU)
        .first(&["async"])
        .syntax(
            "fabric.try_atom.async.shared::cta.mbarrier::complete_tx::16B.mbarrier::report::fabric{.L2::cache_hint}.relaxed.sys.redOpBit.typeBit [dstLeId, dstDataOff], [smem_dst], [smem_src], [mbar]{, cache_policy};
             fabric.try_atom.async.shared::cta.mbarrier::complete_tx::16B.mbarrier::report::fabric{.L2::cache_hint}.relaxed.sys.redOpExchCas.typeExchCas [dstLeId, dstDataOff], [smem_dst], [smem_src], [mbar]{, cache_policy};
             fabric.try_atom.async.shared::cta.mbarrier::complete_tx::16B.mbarrier::report::fabric{.L2::cache_hint}.relaxed.sys.redOpMinMax.typeMinMax3 [dstLeId, dstDataOff], [smem_dst], [smem_src], [mbar]{, cache_policy};
             fabric.try_atom.async.shared::cta.mbarrier::complete_tx::16B.mbarrier::report::fabric{.L2::cache_hint}.relaxed.sys.add.typeAdd3 [dstLeId, dstDataOff], [smem_dst], [smem_src], [mbar]{, cache_policy};
             .redOpBit = { .and, .xor, .or }
             .typeBit = { .b32, .b64 }
             .redOpExchCas = { .exch, .cas }
             .typeExchCas = { .b32, .b64, .b128 }
             .redOpMinMax = { .min, .max }
             .typeMinMax3 = { .u32, .u64, .f16x2, .bf16x2 }
             .typeAdd3 = { .u32, .u64, .f16x2, .bf16x2, .f32, .f64 }",
        )
        .operands(&[DST_LE, DST_OFF, addr("smem_dst", writes(Size::Type)), addr("smem_src", reads(Size::Unknown)), addr("mbar", object()).align(8), POLICY]).asynchronous(MemoryOp::Atomic, Proxy::Fabric),
    instr("fabric.try_get.async.tensor").class(InstrClass::Memory).section("9.7.9.25").since(ptx(9, 4)).requires(RUBIN)
        .host(ONE_GPU)
        .syntax(
            "fabric.try_get.async.tensor.dim.shared::cta{.tile}.mbarrier::complete_tx::bytes.mbarrier::report::fabric{.L2::cache_hint}.override::global_address.relaxed.sys.b128 [dstMem], [tensorMap, tensorMapLeId, tensorMapOff, tensorCoords], [mbar]{, cache_policy};
             fabric.try_get.async.tensor.dim.shared::cta{.tile}.mbarrier::complete_tx::bytes.mbarrier::report::fabric{.L2::cache_hint}.override::global_address.override::global_dim.relaxed.sys.b128 [dstMem], [tensorMap, tensorMapLeId, tensorMapOff, attributeOverrideInfo, tensorCoords], [mbar]{, cache_policy};
             fabric.try_get.async.tensor.dim.shared::cta{.tile}.mbarrier::complete_tx::bytes.mbarrier::report::fabric{.L2::cache_hint}.override::global_address.override::global_dim_stride.relaxed.sys.b128 [dstMem], [tensorMap, tensorMapLeId, tensorMapOff, attributeOverrideInfo, lowerStrides, upperStrides, tensorCoords], [mbar]{, cache_policy};
             .dim = { .1d, .2d, .3d, .4d, .5d }",
        )
        .operands(TENSOR)
        .rules(&[DIM_ONE, STRIDES]).asynchronous(MemoryOp::Copy, Proxy::Fabric),
    instr("fabric.try_put.async.tensor").class(InstrClass::Memory).section("9.7.9.25").since(ptx(9, 4)).requires(RUBIN)
        .host(ONE_GPU)
        .syntax(
            "fabric.try_put.async.tensor{.multimem}.dim.shared::cta{.tile}.mbarrier::complete_tx::16B.mbarrier::report::fabric{.L2::cache_hint}.override::global_address.relaxed.sys.b128 [tensorMap, tensorMapLeId, tensorMapOff, tensorCoords], [src], sizeBytes, [mbar]{, cache_policy};
             fabric.try_put.async.tensor{.multimem}.dim.shared::cta{.tile}.mbarrier::complete_tx::16B.mbarrier::report::fabric{.L2::cache_hint}.override::global_address.override::global_dim.relaxed.sys.b128 [tensorMap, tensorMapLeId, tensorMapOff, attributeOverrideInfo, tensorCoords], [src], sizeBytes, [mbar]{, cache_policy};
             fabric.try_put.async.tensor{.multimem}.dim.shared::cta{.tile}.mbarrier::complete_tx::16B.mbarrier::report::fabric{.L2::cache_hint}.override::global_address.override::global_dim_stride.relaxed.sys.b128 [tensorMap, tensorMapLeId, tensorMapOff, attributeOverrideInfo, lowerStrides, upperStrides, tensorCoords], [src], sizeBytes, [mbar]{, cache_policy};
             fabric.try_put.async.tensor{.multimem}.dim.shared::cta{.tile}.mbarrier::complete_tx::16B.mbarrier::report::fabric.counted::bytes{.L2::cache_hint}.override::global_address.relaxed.sys.b128 [tensorMap, tensorMapLeId, tensorMapOff, counterOff, tensorCoords], [src], sizeBytes, [mbar]{, cache_policy};
             fabric.try_put.async.tensor{.multimem}.dim.shared::cta{.tile}.mbarrier::complete_tx::16B.mbarrier::report::fabric.counted::bytes{.L2::cache_hint}.override::global_address.override::global_dim.relaxed.sys.b128 [tensorMap, tensorMapLeId, tensorMapOff, counterOff, attributeOverrideInfo, tensorCoords], [src], sizeBytes, [mbar]{, cache_policy};
             fabric.try_put.async.tensor{.multimem}.dim.shared::cta{.tile}.mbarrier::complete_tx::16B.mbarrier::report::fabric.counted::bytes{.L2::cache_hint}.override::global_address.override::global_dim_stride.relaxed.sys.b128 [tensorMap, tensorMapLeId, tensorMapOff, counterOff, attributeOverrideInfo, lowerStrides, upperStrides, tensorCoords], [src], sizeBytes, [mbar]{, cache_policy};
             .dim = { .1d, .2d, .3d, .4d, .5d }",
        )
        .operands(TENSOR)
        .rules(&[DIM_ONE, STRIDES]).asynchronous(MemoryOp::Copy, Proxy::Fabric),
    instr("fabric.try_red.async.tensor").class(InstrClass::Memory).section("9.7.9.25").since(ptx(9, 4)).requires(RUBIN)
        .host(ONE_GPU)
        .syntax(
            "fabric.try_red.async.tensor{.multimem}.dim.shared::cta{.tile}.mbarrier::complete_tx::16B.mbarrier::report::fabric{.L2::cache_hint}.override::global_address.relaxed.sys.redOp [tensorMap, tensorMapLeId, tensorMapOff, tensorCoords], [src], sizeBytes, [mbar]{, cache_policy};
             fabric.try_red.async.tensor{.multimem}.dim.shared::cta{.tile}.mbarrier::complete_tx::16B.mbarrier::report::fabric{.L2::cache_hint}.override::global_address.override::global_dim.relaxed.sys.redOp [tensorMap, tensorMapLeId, tensorMapOff, attributeOverrideInfo, tensorCoords], [src], sizeBytes, [mbar]{, cache_policy};
             fabric.try_red.async.tensor{.multimem}.dim.shared::cta{.tile}.mbarrier::complete_tx::16B.mbarrier::report::fabric{.L2::cache_hint}.override::global_address.override::global_dim_stride.relaxed.sys.redOp [tensorMap, tensorMapLeId, tensorMapOff, attributeOverrideInfo, lowerStrides, upperStrides, tensorCoords], [src], sizeBytes, [mbar]{, cache_policy};
             fabric.try_red.async.tensor{.multimem}.dim.shared::cta{.tile}.mbarrier::complete_tx::16B.mbarrier::report::fabric.counted::bytes{.L2::cache_hint}.override::global_address.relaxed.sys.redOp [tensorMap, tensorMapLeId, tensorMapOff, counterOff, tensorCoords], [src], sizeBytes, [mbar]{, cache_policy};
             fabric.try_red.async.tensor{.multimem}.dim.shared::cta{.tile}.mbarrier::complete_tx::16B.mbarrier::report::fabric.counted::bytes{.L2::cache_hint}.override::global_address.override::global_dim.relaxed.sys.redOp [tensorMap, tensorMapLeId, tensorMapOff, counterOff, attributeOverrideInfo, tensorCoords], [src], sizeBytes, [mbar]{, cache_policy};
             fabric.try_red.async.tensor{.multimem}.dim.shared::cta{.tile}.mbarrier::complete_tx::16B.mbarrier::report::fabric.counted::bytes{.L2::cache_hint}.override::global_address.override::global_dim_stride.relaxed.sys.redOp [tensorMap, tensorMapLeId, tensorMapOff, counterOff, attributeOverrideInfo, lowerStrides, upperStrides, tensorCoords], [src], sizeBytes, [mbar]{, cache_policy};
             .dim = { .1d, .2d, .3d, .4d, .5d }
             .redOp = { .and, .xor, .or, .add, .min, .max }",
        )
        .operands(TENSOR)
        .rules(&[DIM_ONE, STRIDES]).asynchronous(MemoryOp::Reduction, Proxy::Fabric),
];
