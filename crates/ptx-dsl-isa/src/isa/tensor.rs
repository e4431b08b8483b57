//! Tensor copies of the async proxy, and tensor maps, which describe the tensors: manual 9.7.9.25.5, 9.7.9.26, 9.7.13.16.
//!
//! The dimensions and the mode determine the number of coordinates, and of the offsets of `im2col`.

use super::bulk::{REPORT, RUBIN, VALID};
use super::*;
use crate::written::{self, Operand};

fn dimensions(quals: &[Qualifier]) -> u32 {
    match written::first_of(quals, &[q::_2d, q::_3d, q::_4d, q::_5d]) {
        Some(q::_2d) => 2,
        Some(q::_3d) => 3,
        Some(q::_4d) => 4,
        Some(_) => 5,
        None => 1,
    }
}

/// One for each dimension; for four rows, a column and these.
fn coordinates(quals: &[Qualifier]) -> (Ty, u32) {
    let rows = written::has_any(quals, &[q::tile_gather4, q::tile_scatter4]);
    (Ty::S32, if rows { 5 } else { dimensions(quals) })
}

/// Offsets of the inner dimensions; for `im2col::w` the halo and the offset.
fn offsets(quals: &[Qualifier]) -> (Ty, u32) {
    let w = written::has_any(quals, &[q::im2col_w, q::im2col_w_128]);
    (Ty::U16, if w { 2 } else { dimensions(quals).saturating_sub(2).max(1) })
}

/// Strides of each dimension but the first: the lower 32 bits.
fn strides(quals: &[Qualifier]) -> (Ty, u32) {
    (Ty::B32, dimensions(quals).saturating_sub(1).max(1))
}

/// The size of each dimension.
fn attribute(quals: &[Qualifier]) -> (Ty, u32) {
    (Ty::U16, dimensions(quals))
}

const IM2COL: When = any(&[q::im2col, q::im2col_w, q::im2col_w_128, q::im2col_no_offs, q::im2col_no_offs_w]);
const IM2COL_DIMENSIONS: Rule =
    Rule::Never(&[IM2COL, any(&[q::_1d, q::_2d])], "`im2col` needs three dimensions or more");
const ROWS: Rule = Rule::Never(
    &[any(&[q::tile_gather4, q::tile_scatter4]), any(&[q::_1d, q::_3d, q::_4d, q::_5d])],
    "rows are of `.2d` tensors",
);
/// Only `.1d` tensors have `.override::global_dim`.
pub const DIM_ONE: Rule = Rule::Never(
    &[has(q::override_global_dim), any(&[q::_2d, q::_3d, q::_4d, q::_5d])],
    "`.override::global_dim` is for `.1d` tensors, others need `.override::global_dim_stride`",
);
/// `.1d` tensors have no `.override::global_dim_stride`.
pub const STRIDES: Rule = Rule::Never(
    &[has(q::override_global_dim_stride), has(q::_1d)],
    "a `.1d` tensor has no strides: `.override::global_dim`",
);
const RULES: &[Rule] = &[IM2COL_DIMENSIONS, ROWS, DIM_ONE, STRIDES, Rule::Custom(origin)];

/// With overridden dimensions, a box with constant coordinates begins at the origin (ptxas).
fn origin(i: &written::Written) -> Option<Violation> {
    if !i.has(q::override_global_dim) && !i.has(q::override_global_dim_stride) {
        return None;
    }
    for (at, operand) in i.operands.as_slice().iter().enumerate() {
        let Operand::Addresses(parts) = &operand.value else { continue };
        if let [_, _, .., last] = parts.as_slice() {
            let text = "constant coordinates are 0 where the dimensions are overridden";
            return moved(last).then(|| Violation::of_operand(at, text));
        }
    }
    None
}

/// Is there a constant other than 0 among the coordinates?
fn moved(coordinates: &Operand) -> bool {
    let Operand::Vector(coordinates) = coordinates else { return false };
    coordinates.iter().any(|coordinate| matches!(coordinate, Operand::Imm(1..)))
}

/// Targets of the modes of `sm_100`.
const BLACKWELL: Targets = Targets::Only(&[
    ("sm_100a", Ptx(8, 6)),
    ("sm_101a", Ptx(8, 6)),
    ("sm_110a", Ptx(9, 0)),
    ("sm_100f", Ptx(8, 8)),
    ("sm_101f", Ptx(8, 8)),
    ("sm_110f", Ptx(9, 0)),
]);
const W: &[Qualifier] = &[q::im2col_w, q::im2col_w_128];

/// Boxes in shared memory are aligned to this many bytes, whatever their layout (5.5.7 and the guide of CUDA).
pub const BOX_ALIGN: u32 = 128;

/// A box; the tensor map has its size.
const DST: OperandSpec = addr("dstMem", writes(Size::Unknown)).align(BOX_ALIGN);
const SRC: OperandSpec = addr("srcMem", reads(Size::Unknown).qualifier(1)).align(BOX_ALIGN);
/// The tensor map.
pub const MAP: OperandSpec = addr("tensorMap", reads(Size::Bytes(128)).in_space(AddressSpace::TensorMap)).align(64);
const GLOBAL: OperandSpec = src("gAddrToOverride", ty(Ty::U64));
/// The replaced fields.
pub const INFO: OperandSpec = src("attributeOverrideInfo", OpTy::Fragment(attribute));
/// With strides, ptxas expects two more operands: their lower halves, and the upper four bits of each in one register.
pub const LOWER: OperandSpec = src("lowerStrides", OpTy::Fragment(strides));
/// The upper bits of all strides.
pub const UPPER: OperandSpec = src("upperStrides", ty(Ty::U16)).reg();
/// The position of the box.
pub const COORDS: OperandSpec = src("tensorCoords", OpTy::Fragment(coordinates));
const OFFSETS: OperandSpec = src("im2colInfo", OpTy::Fragment(offsets));
/// The mbarrier is in the CTA of the destination, or in its pair.
const MBAR: OperandSpec =
    addr("mbar", object().in_space(AddressSpace::AnyShared).reach(Reach::PairOrLikeQualifier(0))).align(8);
const POLICY: OperandSpec = src("cache_policy", ty(Ty::U64));
const OVERRIDE: Gate = gate(&[has(q::override_global_address)]).since(ptx(9, 4)).requires(RUBIN);

/// Targets of `tensormap.replace`.
const REPLACE: Targets = Targets::Only(&[
    ("sm_90a", Ptx(8, 3)),
    ("sm_100a", Ptx(8, 6)),
    ("sm_101a", Ptx(8, 6)),
    ("sm_110a", Ptx(9, 0)),
    ("sm_120a", Ptx(8, 7)),
    ("sm_100f", Ptx(8, 8)),
    ("sm_101f", Ptx(8, 8)),
    ("sm_110f", Ptx(9, 0)),
    ("sm_120f", Ptx(8, 8)),
]);

/// Targets of `.swizzle_atomicity` and of the newer element types: without Hopper.
const ATOMICITY: Targets = Targets::Only(&[
    ("sm_100a", Ptx(8, 6)),
    ("sm_101a", Ptx(8, 6)),
    ("sm_110a", Ptx(9, 0)),
    ("sm_120a", Ptx(8, 7)),
    ("sm_100f", Ptx(8, 8)),
    ("sm_101f", Ptx(8, 8)),
    ("sm_110f", Ptx(9, 0)),
    ("sm_120f", Ptx(8, 8)),
]);

/// Targets of the swizzle of 96 bytes; of the second one says ptxas.
const SWIZZLE_96: Targets = Targets::Only(&[("sm_103a", Ptx(8, 8)), ("sm_107a", Ptx(9, 4))]);

/// The largest constants of the fields on all targets, and on any (manual 9.7.9.26).
const FIELDS: &[(Qualifier, u64, u64)] = &[
    (q::elemtype, 12, 15),
    (q::interleave_layout, 2, 2),
    (q::swizzle_mode, 3, 4),
    (q::swizzle_atomicity, 3, 3),
    (q::fill_mode, 1, 1),
];

fn field(i: &written::Written) -> Option<Violation> {
    let number = i.position("imm")?;
    let written::Operand::Imm(value) = i.operands[number].value else { return None };
    for (name, everywhere, most) in FIELDS {
        if i.has(*name) && value > *everywhere {
            let text = format!("`{name}` is at most {most}, not {}", value as i64);
            return Some(Violation::of_operand(number, text).write_at_most(*everywhere));
        }
    }
    None
}

/// The family.
#[rustfmt::skip]
pub const LIST: &[Instr] = &[
    instr("cp.async.bulk.tensor").section("9.7.9.25.5.2").since(ptx(8, 0)).requires(sm(90))
        .syntax(
            "cp.async.bulk.tensor.dim.shared::cta.global{.tile_mode}.mbarrier::complete_tx::bytes{.report_mechanism}{.cta_group}{.L2::cache_hint} [dstMem], [tensorMap, tensorCoords], [mbar]{, cache_policy};
             cp.async.bulk.tensor.dim.shared::cta.global.im2col_mode.mbarrier::complete_tx::bytes{.report_mechanism}{.cta_group}{.L2::cache_hint} [dstMem], [tensorMap, tensorCoords], [mbar], im2colInfo{, cache_policy};
             cp.async.bulk.tensor.dim.shared::cta.global{.tile_mode}.mbarrier::complete_tx::bytes{.report_mechanism}{.cta_group}{.L2::cache_hint}.override::global_address [dstMem], [tensorMap, gAddrToOverride, tensorCoords], [mbar]{, cache_policy};
             cp.async.bulk.tensor.dim.shared::cta.global.im2col_mode.mbarrier::complete_tx::bytes{.report_mechanism}{.cta_group}{.L2::cache_hint}.override::global_address [dstMem], [tensorMap, gAddrToOverride, tensorCoords], [mbar], im2colInfo{, cache_policy};
             cp.async.bulk.tensor.dim.shared::cta.global{.tile}.mbarrier::complete_tx::bytes{.report_mechanism}{.cta_group}{.L2::cache_hint}.override::global_address.override::global_dim [dstMem], [tensorMap, gAddrToOverride, attributeOverrideInfo, tensorCoords], [mbar]{, cache_policy};
             cp.async.bulk.tensor.dim.shared::cta.global{.tile}.mbarrier::complete_tx::bytes{.report_mechanism}{.cta_group}{.L2::cache_hint}.override::global_address.override::global_dim_stride [dstMem], [tensorMap, gAddrToOverride, attributeOverrideInfo, lowerStrides, upperStrides, tensorCoords], [mbar]{, cache_policy};
             .dim = { .1d, .2d, .3d, .4d, .5d }
             .tile_mode = { .tile, .tile::gather4 }
             .im2col_mode = { .im2col, .im2col::w, .im2col::w::128 }
             .cta_group = { .cta_group::1, .cta_group::2 }
             .report_mechanism = { .mbarrier::report::disabled, .mbarrier::report::validity::per_16bytes::{80000000, 8000, 80, 8}, .mbarrier::report::validity::per_element::ff }",
        )
        .operands(&[DST, MAP, GLOBAL, INFO, LOWER, UPPER, COORDS, MBAR, OFFSETS, POLICY])
        .gates(&[
            gate(&[has(q::shared_cta)]).since(ptx(8, 6)),
            gate(&[has(q::tile_gather4)]).since(ptx(8, 6)).requires(sm(100)),
            gate(&[has(q::im2col_w)]).since(ptx(8, 6)).requires(sm(100)),
            gate(&[has(q::im2col_w_128)]).since(ptx(8, 6)).requires(BLACKWELL),
            gate(&[any(&[q::cta_group_1, q::cta_group_2])]).since(ptx(8, 6)).requires(BLACKWELL),
            REPORT,
            VALID,
            OVERRIDE,
        ])
        .defaults(&[(".tile_mode", q::tile)])
        .rules(RULES).host(Host::Warp).group(Group::Bulk(Step::Start)).asynchronous(MemoryOp::Copy, Proxy::Async),
    instr("cp.async.bulk.tensor").section("9.7.9.25.5.2").since(ptx(8, 0)).requires(sm(90))
        .syntax(
            "cp.async.bulk.tensor.dim.shared::cluster.global{.tile_mode}.mbarrier::complete_tx::bytes{.report_mechanism}{.multicast}{.cta_group}{.L2::cache_hint} [dstMem], [tensorMap, tensorCoords], [mbar]{, ctaMask}{, cache_policy};
             cp.async.bulk.tensor.dim.shared::cluster.global.im2col_mode.mbarrier::complete_tx::bytes{.report_mechanism}{.multicast}{.cta_group}{.L2::cache_hint} [dstMem], [tensorMap, tensorCoords], [mbar], im2colInfo{, ctaMask}{, cache_policy};
             cp.async.bulk.tensor.dim.shared::cluster.global{.tile_mode}.mbarrier::complete_tx::bytes{.report_mechanism}{.multicast}{.cta_group}{.L2::cache_hint}.override::global_address [dstMem], [tensorMap, gAddrToOverride, tensorCoords], [mbar]{, ctaMask}{, cache_policy};
             cp.async.bulk.tensor.dim.shared::cluster.global.im2col_mode.mbarrier::complete_tx::bytes{.report_mechanism}{.multicast}{.cta_group}{.L2::cache_hint}.override::global_address [dstMem], [tensorMap, gAddrToOverride, tensorCoords], [mbar], im2colInfo{, ctaMask}{, cache_policy};
             cp.async.bulk.tensor.dim.shared::cluster.global{.tile}.mbarrier::complete_tx::bytes{.report_mechanism}{.cta_group}{.L2::cache_hint}.override::global_address.override::global_dim [dstMem], [tensorMap, gAddrToOverride, attributeOverrideInfo, tensorCoords], [mbar]{, cache_policy};
             cp.async.bulk.tensor.dim.shared::cluster.global{.tile}.mbarrier::complete_tx::bytes{.report_mechanism}{.cta_group}{.L2::cache_hint}.override::global_address.override::global_dim_stride [dstMem], [tensorMap, gAddrToOverride, attributeOverrideInfo, lowerStrides, upperStrides, tensorCoords], [mbar]{, cache_policy};
             .dim = { .1d, .2d, .3d, .4d, .5d }
             .tile_mode = { .tile, .tile::gather4 }
             .im2col_mode = { .im2col, .im2col::w, .im2col::w::128 }
             .multicast = { .multicast::cluster, .multicast::cluster::16b }
             .cta_group = { .cta_group::1, .cta_group::2 }
             .report_mechanism = { .mbarrier::report::disabled, .mbarrier::report::validity::per_16bytes::{80000000, 8000, 80, 8}, .mbarrier::report::validity::per_element::ff }",
        )
        .operands(&[DST, MAP, GLOBAL, INFO, LOWER, UPPER, COORDS, MBAR, OFFSETS, src("ctaMask", ty(Ty::U16)), POLICY])
        .gates(&[
            gate(&[has(q::tile_gather4)]).since(ptx(8, 6)).requires(BLACKWELL),
            gate(&[any(W)]).since(ptx(8, 6)).requires(BLACKWELL),
            gate(&[any(&[q::cta_group_1, q::cta_group_2])]).since(ptx(8, 6)).requires(BLACKWELL),
            gate(&[has(q::multicast_cluster_16b)]).since(ptx(9, 4)),
            REPORT,
            VALID,
            OVERRIDE,
        ])
        .defaults(&[(".tile_mode", q::tile)])
        .rules(RULES).host(Host::Warp).group(Group::Bulk(Step::Start)).asynchronous(MemoryOp::Copy, Proxy::Async),
    instr("cp.async.bulk.tensor").section("9.7.9.25.5.2").since(ptx(9, 4)).requires(RUBIN)
        .syntax(
            "cp.async.bulk.tensor.dim.shared::cluster.global{.tile_mode}.mbarrier::complete_tx::bytes{.report_mechanism}.multicast::cluster::32b{.cta_group}{.L2::cache_hint} [dstMem], [tensorMap, tensorCoords], [mbar], ctaMask{, cache_policy};
             cp.async.bulk.tensor.dim.shared::cluster.global.im2col_mode.mbarrier::complete_tx::bytes{.report_mechanism}.multicast::cluster::32b{.cta_group}{.L2::cache_hint} [dstMem], [tensorMap, tensorCoords], [mbar], im2colInfo, ctaMask{, cache_policy};
             cp.async.bulk.tensor.dim.shared::cluster.global{.tile_mode}.mbarrier::complete_tx::bytes{.report_mechanism}.multicast::cluster::32b{.cta_group}{.L2::cache_hint}.override::global_address [dstMem], [tensorMap, gAddrToOverride, tensorCoords], [mbar], ctaMask{, cache_policy};
             cp.async.bulk.tensor.dim.shared::cluster.global.im2col_mode.mbarrier::complete_tx::bytes{.report_mechanism}.multicast::cluster::32b{.cta_group}{.L2::cache_hint}.override::global_address [dstMem], [tensorMap, gAddrToOverride, tensorCoords], [mbar], im2colInfo, ctaMask{, cache_policy};
             cp.async.bulk.tensor.dim.shared::cluster.global{.tile}.mbarrier::complete_tx::bytes{.report_mechanism}.multicast::cluster::32b{.cta_group}{.L2::cache_hint}.override::global_address.override::global_dim [dstMem], [tensorMap, gAddrToOverride, attributeOverrideInfo, tensorCoords], [mbar], ctaMask{, cache_policy};
             cp.async.bulk.tensor.dim.shared::cluster.global{.tile}.mbarrier::complete_tx::bytes{.report_mechanism}.multicast::cluster::32b{.cta_group}{.L2::cache_hint}.override::global_address.override::global_dim_stride [dstMem], [tensorMap, gAddrToOverride, attributeOverrideInfo, lowerStrides, upperStrides, tensorCoords], [mbar], ctaMask{, cache_policy};
             .dim = { .1d, .2d, .3d, .4d, .5d }
             .tile_mode = { .tile, .tile::gather4 }
             .im2col_mode = { .im2col, .im2col::w, .im2col::w::128 }
             .cta_group = { .cta_group::1, .cta_group::2 }
             .report_mechanism = { .mbarrier::report::disabled, .mbarrier::report::validity::per_16bytes::{80000000, 8000, 80, 8}, .mbarrier::report::validity::per_element::ff }",
        )
        .operands(&[DST, MAP, GLOBAL, INFO, LOWER, UPPER, COORDS, MBAR, OFFSETS, src("ctaMask", ty(Ty::U32)), POLICY])
        .defaults(&[(".tile_mode", q::tile)])
        .rules(RULES).host(Host::Warp).group(Group::Bulk(Step::Start)).asynchronous(MemoryOp::Copy, Proxy::Async),
    instr("cp.async.bulk.tensor").section("9.7.9.25.5.2").since(ptx(8, 0)).requires(sm(90))
        .syntax(
            "cp.async.bulk.tensor.dim.global.shared::cta{.st_mode}.bulk_group{.L2::cache_hint} [tensorMap, tensorCoords], [srcMem]{, cache_policy};
             cp.async.bulk.tensor.dim.global.shared::cta{.st_mode}.bulk_group{.L2::cache_hint}.override::global_address [tensorMap, gAddrToOverride, tensorCoords], [srcMem]{, cache_policy};
             cp.async.bulk.tensor.dim.global.shared::cta{.tile}.bulk_group{.L2::cache_hint}.override::global_address.override::global_dim [tensorMap, gAddrToOverride, attributeOverrideInfo, tensorCoords], [srcMem]{, cache_policy};
             cp.async.bulk.tensor.dim.global.shared::cta{.tile}.bulk_group{.L2::cache_hint}.override::global_address.override::global_dim_stride [tensorMap, gAddrToOverride, attributeOverrideInfo, lowerStrides, upperStrides, tensorCoords], [srcMem]{, cache_policy};
             .dim = { .1d, .2d, .3d, .4d, .5d }
             .st_mode = { .tile, .tile::scatter4, .im2col_no_offs, .im2col_no_offs::w }",
        )
        .operands(&[MAP, GLOBAL, INFO, LOWER, UPPER, COORDS, SRC, POLICY])
        .gates(&[
            gate(&[has(q::tile_scatter4)]).since(ptx(8, 6)).requires(BLACKWELL),
            gate(&[has(q::im2col_no_offs_w)]).since(ptx(9, 4)).requires(RUBIN),
            OVERRIDE,
        ])
        .defaults(&[(".st_mode", q::tile)])
        .rules(RULES).host(Host::Warp).group(Group::Bulk(Step::Start)).asynchronous(MemoryOp::Copy, Proxy::Async),
    instr("cp.reduce.async.bulk.tensor").section("9.7.9.25.5.3").since(ptx(8, 0)).requires(sm(90))
        .syntax(
            "cp.reduce.async.bulk.tensor.dim.global.shared::cta.redOp{.load_mode}.bulk_group{.L2::cache_hint} [tensorMap, tensorCoords], [srcMem]{, cache_policy};
             cp.reduce.async.bulk.tensor.dim.global.shared::cta.redOp{.load_mode}.bulk_group{.L2::cache_hint}.override::global_address [tensorMap, gAddrToOverride, tensorCoords], [srcMem]{, cache_policy};
             cp.reduce.async.bulk.tensor.dim.global.shared::cta.redOp{.tile}.bulk_group{.L2::cache_hint}.override::global_address.override::global_dim [tensorMap, gAddrToOverride, attributeOverrideInfo, tensorCoords], [srcMem]{, cache_policy};
             cp.reduce.async.bulk.tensor.dim.global.shared::cta.redOp{.tile}.bulk_group{.L2::cache_hint}.override::global_address.override::global_dim_stride [tensorMap, gAddrToOverride, attributeOverrideInfo, lowerStrides, upperStrides, tensorCoords], [srcMem]{, cache_policy};
             .dim = { .1d, .2d, .3d, .4d, .5d }
             .load_mode = { .tile, .im2col_no_offs, .im2col_no_offs::w }
             .redOp = { .add, .min, .max, .inc, .dec, .and, .or, .xor }",
        )
        .operands(&[MAP, GLOBAL, INFO, LOWER, UPPER, COORDS, SRC, POLICY])
        .gates(&[gate(&[has(q::im2col_no_offs_w)]).since(ptx(9, 4)).requires(RUBIN), OVERRIDE])
        .defaults(&[(".load_mode", q::tile), (".sem", q::relaxed), (".scope", q::gpu)])
        .rules(RULES).host(Host::Warp).group(Group::Bulk(Step::Start)).asynchronous(MemoryOp::Reduction, Proxy::Async),
    instr("cp.async.bulk.prefetch.tensor").class(InstrClass::Memory).section("9.7.9.25.5.4").since(ptx(8, 0)).requires(sm(90))
        .syntax(
            "cp.async.bulk.prefetch.tensor.dim.L2.global{.tile_mode}{.L2::cache_hint} [tensorMap, tensorCoords]{, cache_policy};
             cp.async.bulk.prefetch.tensor.dim.L2.global.im2col_mode{.L2::cache_hint} [tensorMap, tensorCoords], im2colInfo{, cache_policy};
             cp.async.bulk.prefetch.tensor.dim.L2.global{.tile_mode}{.L2::cache_hint}.override::global_address [tensorMap, gAddrToOverride, tensorCoords]{, cache_policy};
             cp.async.bulk.prefetch.tensor.dim.L2.global.im2col_mode{.L2::cache_hint}.override::global_address [tensorMap, gAddrToOverride, tensorCoords], im2colInfo{, cache_policy};
             cp.async.bulk.prefetch.tensor.dim.L2.global{.tile}{.L2::cache_hint}.override::global_address.override::global_dim [tensorMap, gAddrToOverride, attributeOverrideInfo, tensorCoords]{, cache_policy};
             cp.async.bulk.prefetch.tensor.dim.L2.global{.tile}{.L2::cache_hint}.override::global_address.override::global_dim_stride [tensorMap, gAddrToOverride, attributeOverrideInfo, lowerStrides, upperStrides, tensorCoords]{, cache_policy};
             cp.async.bulk.prefetch.tensor.dim.L2.global{.tile_mode}.L2::evict_last [tensorMap, tensorCoords];
             cp.async.bulk.prefetch.tensor.dim.L2.global.im2col_mode.L2::evict_last [tensorMap, tensorCoords], im2colInfo;
             cp.async.bulk.prefetch.tensor.dim.L2.global{.tile_mode}.L2::evict_last.override::global_address [tensorMap, gAddrToOverride, tensorCoords];
             cp.async.bulk.prefetch.tensor.dim.L2.global.im2col_mode.L2::evict_last.override::global_address [tensorMap, gAddrToOverride, tensorCoords], im2colInfo;
             cp.async.bulk.prefetch.tensor.dim.L2.global{.tile}.L2::evict_last.override::global_address.override::global_dim [tensorMap, gAddrToOverride, attributeOverrideInfo, tensorCoords];
             cp.async.bulk.prefetch.tensor.dim.L2.global{.tile}.L2::evict_last.override::global_address.override::global_dim_stride [tensorMap, gAddrToOverride, attributeOverrideInfo, lowerStrides, upperStrides, tensorCoords];
             .dim = { .1d, .2d, .3d, .4d, .5d }
             .tile_mode = { .tile, .tile::gather4 }
             .im2col_mode = { .im2col, .im2col::w, .im2col::w::128 }",
        )
        .operands(&[MAP, GLOBAL, INFO, LOWER, UPPER, COORDS, OFFSETS, POLICY])
        .gates(&[
            gate(&[has(q::tile_gather4)]).since(ptx(8, 6)).requires(BLACKWELL),
            gate(&[any(W)]).since(ptx(8, 6)).requires(BLACKWELL),
            gate(&[has(q::L2_evict_last)]).since(ptx(9, 4)).requires(RUBIN),
            OVERRIDE,
        ])
        .defaults(&[(".tile_mode", q::tile)])
        .rules(RULES).host(Host::Warp).group(Group::Bulk(Step::Hint)),
    instr("applypriority.async.bulk.tensor").class(InstrClass::Memory).section("9.7.9.25.5").since(ptx(9, 4)).requires(RUBIN)
        .syntax(
            "applypriority.async.bulk.tensor.dim{.global}.bulk_group{.tile_mode}.L2::evict_normal [tensorMap, tensorCoords];
             applypriority.async.bulk.tensor.dim{.global}.bulk_group.im2col_mode.L2::evict_normal [tensorMap, tensorCoords], im2colInfo;
             applypriority.async.bulk.tensor.dim{.global}.bulk_group{.tile_mode}.L2::evict_normal.override::global_address [tensorMap, gAddrToOverride, tensorCoords];
             applypriority.async.bulk.tensor.dim{.global}.bulk_group.im2col_mode.L2::evict_normal.override::global_address [tensorMap, gAddrToOverride, tensorCoords], im2colInfo;
             applypriority.async.bulk.tensor.dim{.global}.bulk_group{.tile}.L2::evict_normal.override::global_address.override::global_dim [tensorMap, gAddrToOverride, attributeOverrideInfo, tensorCoords];
             applypriority.async.bulk.tensor.dim{.global}.bulk_group{.tile}.L2::evict_normal.override::global_address.override::global_dim_stride [tensorMap, gAddrToOverride, attributeOverrideInfo, lowerStrides, upperStrides, tensorCoords];
             .dim = { .1d, .2d, .3d, .4d, .5d }
             .tile_mode = { .tile, .tile::gather4 }
             .im2col_mode = { .im2col, .im2col::w, .im2col::w::128 }",
        )
        .operands(&[MAP, GLOBAL, INFO, LOWER, UPPER, COORDS, OFFSETS])
        .defaults(&[(".tile_mode", q::tile)])
        .rules(&[IM2COL_DIMENSIONS, DIM_ONE, STRIDES, Rule::Custom(origin)]).host(Host::Warp).group(Group::Bulk(Step::Hint)),
    instr("tensormap.replace").class(InstrClass::Memory).section("9.7.9.26").since(ptx(8, 3)).requires(REPLACE)
        .syntax(
            "tensormap.replace.tile.global_address{.ss}.b1024.b64 [addr], value64;
             tensormap.replace.tile.rank{.ss}.b1024.b32 [addr], new_val;
             tensormap.replace.tile.dimension{.ss}.b1024.b32 [addr], ord, new_val;
             tensormap.replace.tile.global_stride{.ss}.b1024.b64 [addr], ord, value64;
             tensormap.replace.tile.field3{.ss}.b1024.b32 [addr], imm;
             .dimension = { .box_dim, .global_dim, .element_stride }
             .ss = { .global, .shared::cta }
             .field3 = { .elemtype, .interleave_layout, .swizzle_mode, .swizzle_atomicity, .fill_mode }",
        )
        .operands(&[
            addr("addr", writes(Size::Bytes(128))).align(128),
            src("ord", ty(Ty::U32)).imm().range(0, 4),
            src("new_val", ty(Ty::B32)),
            src("value64", ty(Ty::B64)),
            src("imm", ty(Ty::U32)).imm(),
        ])
        .gates(&[gate(&[has(q::swizzle_atomicity)]).requires(ATOMICITY)])
        .rules(&[Rule::Custom(field)]).host(Host::Warp),
    // The constants that not all of these targets have.
    instr("tensormap.replace").class(InstrClass::Memory).section("9.7.9.26").since(ptx(8, 7)).requires(ATOMICITY)
        .syntax(
            "tensormap.replace.tile.elemtype{.ss}.b1024.b32 [addr], 13;
             tensormap.replace.tile.elemtype{.ss}.b1024.b32 [addr], 14;
             tensormap.replace.tile.elemtype{.ss}.b1024.b32 [addr], 15;
             .ss = { .global, .shared::cta }",
        )
        .operands(&[addr("addr", writes(Size::Bytes(128))).align(128)]).host(Host::Warp),
    instr("tensormap.replace").class(InstrClass::Memory).section("9.7.9.26").since(ptx(8, 8)).requires(SWIZZLE_96)
        .syntax(
            "tensormap.replace.tile.swizzle_mode{.ss}.b1024.b32 [addr], 4;
             .ss = { .global, .shared::cta }",
        )
        .operands(&[addr("addr", writes(Size::Bytes(128))).align(128)]).host(Host::Warp),
    instr("tensormap.cp_fenceproxy").class(InstrClass::Memory).section("9.7.13.16").since(ptx(8, 3)).requires(sm(90))
        .syntax(
            "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.scope.sync.aligned [dst], [src], size;
             .scope = { .cta, .cluster, .gpu, .sys }",
        )
        .operands(&[addr("dst", writes(Size::Bytes(128))).align(128), addr("src", reads(Size::Bytes(128)).qualifier(1)).align(128), src("size", ty(Ty::U32)).imm().range(128, 128)]).host(Host::Warp),
];
