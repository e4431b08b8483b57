//! Cache hints: manual 9.7.9.15 to 9.7.9.18.

use super::memory::HINT;
use super::*;
use crate::written;

const HINTED: OperandSpec = addr("a", HINT).align(1).full_width();
const SIZE_128: OperandSpec = src("size", ty(Ty::U32)).imm().range(128, 128);
const PRIMARY: &str = "`primary_size` must not exceed `total_size`";

/// A constant fraction is in (0, 1].
fn fraction(i: &written::Written) -> Option<Violation> {
    let n = i.position("fraction")?;
    let written::Operand::Imm(bits) = i.operands[n].value else { return None };
    let value = f32::from_bits(bits as u32);
    let inside = value > 0.0 && value <= 1.0;
    (!inside).then(|| {
        let text = format!("`fraction` is {value}, but must be greater than 0.0 and at most 1.0");
        Violation::of_operand(n, text).remedy(Remedy::Write(vec!["0f3F800000".into()], ", which is 1.0"))
    })
}

/// Constant sizes are ordered.
fn sizes(i: &written::Written) -> Option<Violation> {
    let n = i.position("primary_size")?;
    let written::Operand::Imm(primary) = i.operands[n].value else { return None };
    let written::Operand::Imm(total) = i.operand("total_size")?.value else { return None };
    (primary > total).then(|| Violation::of_operand(n, format!("{PRIMARY}: {primary} > {total}")).write_at_most(total))
}

/// The family.
#[rustfmt::skip]
pub const LIST: &[Instr] = &[
    instr("prefetch").class(InstrClass::Memory).section("9.7.9.15").since(ptx(2, 0)).requires(sm(20))
        .syntax(
            "prefetch{.space}.level [a];
             prefetch{.global}.level::eviction_priority [a];
             .space = { .global, .local }
             .level = { .L1, .L2 }
             .level::eviction_priority = { .L2::evict_last, .L2::evict_normal }",
        )
        .operands(&[HINTED])
        .gates(&[gate(&[any(&[q::L2_evict_last, q::L2_evict_normal])]).since(ptx(7, 4)).requires(sm(80))])
        .host(Host::Warp),
    // Here ptxas takes an address of 32 bits too.
    instr("prefetch").class(InstrClass::Memory).section("9.7.9.15").since(ptx(8, 0)).requires(sm(90))
        .syntax(
            "prefetch{.tensormap_space}.tensormap [a];
             .tensormap_space = { .const, .param }",
        )
        .operands(&[addr("a", HINT).align(1)])
        .host(Host::Warp),
    instr("prefetch").class(InstrClass::Memory).section("9.7.9.15").since(ptx(9, 4)).requires(sm(90))
        .syntax("prefetch{.global}.L1::32B.valid_addr [a];")
        .operands(&[HINTED])
        .host(Host::Warp),
    instr("prefetchu").class(InstrClass::Memory).section("9.7.9.15").since(ptx(2, 0)).requires(sm(20))
        .syntax("prefetchu.L1 [a];")
        .operands(&[HINTED])
        .host(Host::Warp),
    instr("applypriority").class(InstrClass::Memory).section("9.7.9.16").since(ptx(7, 4)).requires(sm(80))
        .syntax(
            "applypriority{.global}.level::eviction_priority [a], size;
             .level::eviction_priority = { .L2::evict_normal }",
        )
        .operands(&[addr("a", HINT).align(128).full_width(), SIZE_128])
        .host(Host::Warp),
    instr("discard").class(InstrClass::Memory).section("9.7.9.17").since(ptx(7, 4)).requires(sm(80))
        .syntax("discard{.global}.level [a], size;
             .level = { .L2 }")
        .operands(&[addr("a", writes(Size::Operand("size"))).align(128).full_width(), SIZE_128])
        .host(Host::Warp).memory(MemoryOp::Store),
    instr("createpolicy").class(InstrClass::Memory).section("9.7.9.18").since(ptx(7, 4)).requires(sm(80))
        .first(&["range", "fractional", "cvt"])
        .syntax(
            "createpolicy.range{.global}.level::primary_priority{.level::secondary_priority}.b64 cache_policy, [a], primary_size, total_size;
             createpolicy.fractional.level::primary_priority{.level::secondary_priority}.b64 cache_policy{, fraction};
             createpolicy.cvt.L2.b64 cache_policy, access_property;
             .level::primary_priority = { .L2::evict_last, .L2::evict_normal, .L2::evict_first, .L2::evict_unchanged }
             .level::secondary_priority = { .L2::evict_first, .L2::evict_unchanged }",
        )
        .operands(&[
            dst("cache_policy", ty(Ty::U64)),
            addr("a", HINT).align(1),
            src("primary_size", ty(Ty::U32)),
            src("total_size", ty(Ty::U32)),
            src("fraction", ty(Ty::F32)),
            src("access_property", ty(Ty::U64)),
        ])
        .rules(&[Rule::Custom(fraction), Rule::Custom(sizes)])
        .host(Host::Warp),
    instr("createpolicy").class(InstrClass::Memory).section("9.7.9.18").since(ptx(9, 4)).requires(sm(100))
        .first(&["range"])
        .syntax(
            "createpolicy.range.fabric.level::primary_priority{.level::secondary_priority}.b64 cache_policy, [aLe, aOff], primary_size, total_size;
             .level::primary_priority = { .L2::evict_last, .L2::evict_normal, .L2::evict_first, .L2::evict_unchanged }
             .level::secondary_priority = { .L2::evict_first, .L2::evict_unchanged }",
        )
        .operands(&[
            dst("cache_policy", ty(Ty::U64)),
            src("aLe", ty(Ty::U32)).reg(),
            src("aOff", ty(Ty::U64)),
            src("primary_size", ty(Ty::U32)),
            src("total_size", ty(Ty::U32)),
        ])
        .host(Host::NotYet("the host is one GPU without a fabric")),
];
