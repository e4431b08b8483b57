//! Bulk copies and reductions of the async proxy: manual 9.7.9.25.4 and 9.7.9.25.6.

use super::memory::HINT;
use super::*;

/// The largest multiple of 16 below 2^20.
const SIZE: OperandSpec = src("size", ty(Ty::U32)).range(0, (1 << 20) - 16);
const BYTES: Size = Size::Operand("size");
/// Bytes are left out.
const PARTLY: &[When] = &[has(q::ignore_oob), has(q::cp_mask)];
const DST: OperandSpec = addr("dstMem", writes(BYTES).partial(PARTLY)).align(16);
const SRC: OperandSpec =
    addr("srcMem", reads(BYTES).qualifier(1).partial(PARTLY).unaligned(&[has(q::ignore_oob)])).align(16);
/// The mbarrier is in the CTA of the destination.
const MBAR: OperandSpec =
    addr("mbar", object().in_space(AddressSpace::AnyShared).reach(Reach::LikeQualifier(0))).align(8);
const POLICY: OperandSpec = src("cache_policy", ty(Ty::U64));
const BYTE_MASK: OperandSpec = src("byteMask", ty(Ty::U16));
const RULES: &[Rule] = &[
    Rule::Multiple(Multiple { operand: "size", of: 16, what: "`size`", unit: "16" }),
    Rule::Never(&[any(VALIDITY), has(q::ignore_oob)], "bytes that are ignored have no validity to report"),
];

/// Everything of `sm_107`.
pub const RUBIN: Targets = Targets::Only(&[("sm_107f", Ptx(9, 4))]);

/// Targets of `.relaxed` from global to cluster shared memory.
const RELAXED: Targets = Targets::Only(&[("sm_90a", Ptx(9, 3)), ("sm_100f", Ptx(9, 3)), ("sm_110f", Ptx(9, 3))]);

/// The report of a copy into shared memory to its mbarrier.
pub const REPORT: Gate = gate(&[any(&[q::mbarrier_report_disabled])]).since(ptx(9, 4)).requires(RUBIN);
/// It can also report whether the bytes are valid.
pub const VALID: Gate = gate(&[any(VALIDITY)]).since(ptx(9, 4)).requires(RUBIN);
const VALIDITY: &[Qualifier] = &[
    q::mbarrier_report_validity_per_16bytes_80000000,
    q::mbarrier_report_validity_per_16bytes_8000,
    q::mbarrier_report_validity_per_16bytes_80,
    q::mbarrier_report_validity_per_16bytes_8,
    q::mbarrier_report_validity_per_element_ff,
];

/// The order of each operation of a reduction since PTX ISA 9.3. Before, it was `.relaxed.gpu`.
const RELAXED_SYS: &[(&str, Qualifier)] = &[(".sem", q::relaxed), (".scope", q::sys)];

/// The family.
#[rustfmt::skip]
pub const LIST: &[Instr] = &[
    instr("cp.async.bulk").section("9.7.9.25.4.1").since(ptx(8, 0)).requires(sm(90))
        .syntax(
            "cp.async.bulk{.weak}.shared::cta.global.mbarrier::complete_tx::bytes{.report_mechanism}{.L2::cache_hint} [dstMem], [srcMem], size, [mbar]{, cache_policy};
             cp.async.bulk{.weak}.shared::cta.global.mbarrier::complete_tx::bytes{.report_mechanism}{.L2::cache_hint}.ignore_oob [dstMem], [srcMem], size, ignoreBytesLeft, ignoreBytesRight, [mbar]{, cache_policy};
             cp.async.bulk.relaxed.scope.shared::cta.global.mbarrier::complete_tx::bytes{.report_mechanism}{.L2::cache_hint}.b128 [dstMem], [srcMem], size, [mbar]{, cache_policy};
             cp.async.bulk.relaxed.scope.shared::cta.global.mbarrier::complete_tx::bytes{.report_mechanism}{.L2::cache_hint}.ignore_oob.b128 [dstMem], [srcMem], size, ignoreBytesLeft, ignoreBytesRight, [mbar]{, cache_policy};
             cp.async.bulk{.weak}.shared::cluster.global.mbarrier::complete_tx::bytes{.report_mechanism}{.multicast}{.L2::cache_hint} [dstMem], [srcMem], size, [mbar]{, ctaMask}{, cache_policy};
             cp.async.bulk.relaxed.scope.shared::cluster.global.mbarrier::complete_tx::bytes{.report_mechanism}{.multicast}{.L2::cache_hint}.b128 [dstMem], [srcMem], size, [mbar]{, ctaMask}{, cache_policy};
             cp.async.bulk{.weak}.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [dstMem], [srcMem], size, [mbar];
             cp.async.bulk.relaxed.scope2.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.b128 [dstMem], [srcMem], size, [mbar];
             cp.async.bulk{.weak}.global.shared::cta.bulk_group{.L2::cache_hint} [dstMem], [srcMem], size{, cache_policy};
             cp.async.bulk{.weak}.global.shared::cta.bulk_group{.L2::cache_hint}.cp_mask [dstMem], [srcMem], size{, cache_policy}, byteMask;
             cp.async.bulk.relaxed.scope.global.shared::cta.bulk_group{.L2::cache_hint}.b128 [dstMem], [srcMem], size{, cache_policy};
             cp.async.bulk.relaxed.scope.global.shared::cta.bulk_group{.L2::cache_hint}.cp_mask.b128 [dstMem], [srcMem], size{, cache_policy}, byteMask;
             .scope = { .cta, .cluster, .gpu, .sys }
             .scope2 = { .cta, .cluster }
             .multicast = { .multicast::cluster, .multicast::cluster::16b }
             .report_mechanism = { .mbarrier::report::disabled, .mbarrier::report::validity::per_16bytes::{80000000, 8000, 80, 8}, .mbarrier::report::validity::per_element::ff }",
        )
        .operands(&[
            DST,
            SRC,
            SIZE,
            src("ignoreBytesLeft", ty(Ty::U32)).range(0, 15),
            src("ignoreBytesRight", ty(Ty::U32)).range(0, 15),
            MBAR,
            src("ctaMask", ty(Ty::U16)),
            POLICY,
            BYTE_MASK,
        ])
        .gates(&[
            gate(&[has(q::shared_cta), has(q::mbarrier_complete_tx_bytes), has(q::global)]).since(ptx(8, 6)),
            gate(&[has(q::cp_mask)]).since(ptx(8, 6)).requires(sm(100)),
            gate(&[has(q::ignore_oob)]).since(ptx(9, 2)),
            gate(&[any(&[q::weak, q::relaxed])]).since(ptx(9, 3)),
            gate(&[has(q::shared_cluster), has(q::global), has(q::relaxed)]).requires(RELAXED),
            REPORT,
            VALID,
            gate(&[has(q::multicast_cluster_16b)]).since(ptx(9, 4)),
        ])
        .rules(RULES).host(Host::Warp).group(Group::Bulk(Step::Start)).asynchronous(MemoryOp::Copy, Proxy::Async),
    instr("cp.async.bulk").section("9.7.9.25.4.1").since(ptx(9, 4)).requires(RUBIN)
        .syntax(
            "cp.async.bulk{.weak}.shared::cluster.global.mbarrier::complete_tx::bytes{.report_mechanism}.multicast::cluster::32b{.L2::cache_hint} [dstMem], [srcMem], size, [mbar], ctaMask{, cache_policy};
             cp.async.bulk.relaxed.scope.shared::cluster.global.mbarrier::complete_tx::bytes{.report_mechanism}.multicast::cluster::32b{.L2::cache_hint}.b128 [dstMem], [srcMem], size, [mbar], ctaMask{, cache_policy};
             .scope = { .cta, .cluster, .gpu, .sys }
             .report_mechanism = { .mbarrier::report::disabled, .mbarrier::report::validity::per_16bytes::{80000000, 8000, 80, 8}, .mbarrier::report::validity::per_element::ff }",
        )
        .operands(&[DST, SRC, SIZE, MBAR, src("ctaMask", ty(Ty::U32)), POLICY])
        .rules(RULES).host(Host::Warp).group(Group::Bulk(Step::Start)).asynchronous(MemoryOp::Copy, Proxy::Async),
    instr("cp.reduce.async.bulk").section("9.7.9.25.4.2").since(ptx(8, 0)).requires(sm(90))
        .syntax(
            "cp.reduce.async.bulk{.relaxed.scope2}.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.sum [dstMem], [srcMem], size, [mbar];
             cp.reduce.async.bulk{.relaxed.scope2}.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.minmax.int [dstMem], [srcMem], size, [mbar];
             cp.reduce.async.bulk{.relaxed.scope2}.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.incdec.u32 [dstMem], [srcMem], size, [mbar];
             cp.reduce.async.bulk{.relaxed.scope2}.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.bitop.b32 [dstMem], [srcMem], size, [mbar];
             .scope2 = { .cta, .cluster }
             .minmax = { .min, .max }
             .incdec = { .inc, .dec }
             .bitop = { .and, .or, .xor }
             .sum = { .u32, .s32, .u64 }
             .int = { .u32, .s32 }",
        )
        .defaults(RELAXED_SYS)
        .operands(&[DST, SRC, SIZE, MBAR])
        .gates(&[gate(&[has(q::relaxed)]).since(ptx(9, 3))])
        .rules(RULES).host(Host::Warp).group(Group::Bulk(Step::Start)).asynchronous(MemoryOp::Reduction, Proxy::Async),
    instr("cp.reduce.async.bulk").section("9.7.9.25.4.2").since(ptx(8, 0)).requires(sm(90))
        .syntax(
            "cp.reduce.async.bulk{.relaxed.scope}.global.shared::cta.bulk_group{.L2::cache_hint}.add.sum [dstMem], [srcMem], size{, cache_policy};
             cp.reduce.async.bulk{.relaxed.scope}.global.shared::cta.bulk_group{.L2::cache_hint}.add.noftz.half [dstMem], [srcMem], size{, cache_policy};
             cp.reduce.async.bulk{.relaxed.scope}.global.shared::cta.bulk_group{.L2::cache_hint}.minmax.ordered [dstMem], [srcMem], size{, cache_policy};
             cp.reduce.async.bulk{.relaxed.scope}.global.shared::cta.bulk_group{.L2::cache_hint}.incdec.u32 [dstMem], [srcMem], size{, cache_policy};
             cp.reduce.async.bulk{.relaxed.scope}.global.shared::cta.bulk_group{.L2::cache_hint}.bitop.bits [dstMem], [srcMem], size{, cache_policy};
             .scope = { .cta, .cluster, .gpu, .sys }
             .minmax = { .min, .max }
             .incdec = { .inc, .dec }
             .bitop = { .and, .or, .xor }
             .sum = { .u32, .s32, .u64, .f32, .f64 }
             .half = { .f16, .bf16, .f32 }
             .ordered = { .u32, .s32, .u64, .s64, .f16, .bf16 }
             .bits = { .b32, .b64 }",
        )
        .defaults(RELAXED_SYS)
        .operands(&[DST, SRC, SIZE, POLICY])
        .gates(&[
            gate(&[has(q::relaxed)]).since(ptx(9, 3)),
            gate(&[has(q::noftz), has(q::f32)]).since(ptx(9, 4)),
        ])
        .rules(RULES).host(Host::Warp).group(Group::Bulk(Step::Start)).asynchronous(MemoryOp::Reduction, Proxy::Async),
    instr("cp.async.bulk.prefetch").class(InstrClass::Memory).section("9.7.9.25.4.3").since(ptx(8, 0)).requires(sm(90))
        .syntax(
            "cp.async.bulk.prefetch.L2.global{.L2::cache_hint} [srcMem], size{, cache_policy};
             cp.async.bulk.prefetch.L2.global.L2::evict_last [srcMem], size;",
        )
        .operands(&[addr("srcMem", HINT).align(16), SIZE, POLICY])
        .gates(&[gate(&[has(q::L2_evict_last)]).since(ptx(9, 4)).requires(RUBIN)])
        .rules(RULES).host(Host::Warp).group(Group::Bulk(Step::Hint)),
    instr("applypriority.async.bulk").class(InstrClass::Memory).section("9.7.9.25.4").since(ptx(9, 4)).requires(RUBIN)
        .syntax("applypriority.async.bulk{.global}.bulk_group.L2::evict_normal [a], size;")
        .operands(&[addr("a", HINT).align(16), SIZE])
        .rules(RULES).host(Host::Warp).group(Group::Bulk(Step::Hint)),
    instr("multimem.cp.async.bulk").section("9.7.9.25.4.4").since(ptx(9, 1)).requires(sm(90))
        .host(Host::NotYet("the host is one GPU without multicast memory"))
        .syntax(
            "multimem.cp.async.bulk{.weak}.global.shared::cta.bulk_group [dstMem], [srcMem], size;
             multimem.cp.async.bulk{.weak}.global.shared::cta.bulk_group.cp_mask [dstMem], [srcMem], size, byteMask;
             multimem.cp.async.bulk.relaxed.scope.global.shared::cta.bulk_group.b128 [dstMem], [srcMem], size;
             multimem.cp.async.bulk.relaxed.scope.global.shared::cta.bulk_group.cp_mask.b128 [dstMem], [srcMem], size, byteMask;
             .scope = { .cta, .cluster, .gpu, .sys }",
        )
        .operands(&[DST, SRC, SIZE, BYTE_MASK])
        .gates(&[
            gate(&[has(q::cp_mask)]).requires(sm(100)),
            gate(&[any(&[q::weak, q::relaxed])]).since(ptx(9, 3)),
        ])
        .rules(RULES).group(Group::Bulk(Step::Start)).asynchronous(MemoryOp::Copy, Proxy::Alias),
    instr("multimem.cp.reduce.async.bulk").section("9.7.9.25.4.5").since(ptx(9, 1)).requires(sm(90))
        .host(Host::NotYet("the host is one GPU without multicast memory"))
        .syntax(
            "multimem.cp.reduce.async.bulk{.relaxed.scope}.global.shared::cta.bulk_group.add.sum [dstMem], [srcMem], size;
             multimem.cp.reduce.async.bulk{.relaxed.scope}.global.shared::cta.bulk_group.add.noftz.half [dstMem], [srcMem], size;
             multimem.cp.reduce.async.bulk{.relaxed.scope}.global.shared::cta.bulk_group.minmax.ordered [dstMem], [srcMem], size;
             multimem.cp.reduce.async.bulk{.relaxed.scope}.global.shared::cta.bulk_group.incdec.u32 [dstMem], [srcMem], size;
             multimem.cp.reduce.async.bulk{.relaxed.scope}.global.shared::cta.bulk_group.bitop.bits [dstMem], [srcMem], size;
             .scope = { .cta, .cluster, .gpu, .sys }
             .minmax = { .min, .max }
             .incdec = { .inc, .dec }
             .bitop = { .and, .or, .xor }
             .sum = { .u32, .s32, .u64, .f32, .f64 }
             .half = { .f16, .bf16, .f32 }
             .ordered = { .u32, .s32, .u64, .s64, .f16, .bf16 }
             .bits = { .b32, .b64 }",
        )
        .defaults(RELAXED_SYS)
        .operands(&[DST, SRC, SIZE])
        .gates(&[
            gate(&[has(q::relaxed)]).since(ptx(9, 3)),
            gate(&[has(q::noftz), has(q::f32)]).since(ptx(9, 4)),
        ])
        .rules(RULES).group(Group::Bulk(Step::Start)).asynchronous(MemoryOp::Reduction, Proxy::Alias),
    instr("cp.async.bulk.commit_group").section("9.7.9.25.6.1").since(ptx(8, 0)).requires(sm(90))
        .syntax("cp.async.bulk.commit_group;").host(Host::Warp).group(Group::Bulk(Step::Commit)),
    instr("cp.async.bulk.wait_group").section("9.7.9.25.6.2").since(ptx(8, 0)).requires(sm(90))
        .syntax(
            "cp.async.bulk.wait_group{.read} N;
             cp.async.bulk.wait_group.sync_restrict::proxy::async N;",
        )
        .operands(&[src("N", ty(Ty::U64)).imm()])
        .gates(&[gate(&[has(q::sync_restrict_proxy_async)]).since(ptx(9, 5))]).host(Host::Warp).group(Group::Bulk(Step::Wait)),
];
