//! Asynchronous matrices of a warpgroup: manual 9.7.15.

use super::fragment::{Matrix, registers, types};
use super::*;
use crate::written;

/// Four warps share the accumulator.
fn d(quals: &[Qualifier]) -> (Ty, u32) {
    registers(quals, Matrix::C, types(quals).first().copied().unwrap_or(q::f32), 128)
}
/// `a` takes four registers in every shape.
fn a(quals: &[Qualifier]) -> (Ty, u32) {
    let ty = match types(quals).get(1) {
        // The assembler takes `.f16x2` for both.
        Some(&(q::f16 | q::bf16)) => Ty::F16x2,
        Some(&q::tf32) => Ty::Tf32,
        _ => Ty::B32,
    };
    (ty, 4)
}

/// A factor of a matrix is 1 or -1.
fn factors(i: &written::Written) -> Option<Violation> {
    let wrong = |o: &written::Arg| {
        matches!(o.name, "imm-scale-a" | "imm-scale-b")
            && matches!(o.value, written::Operand::Imm(v) if !matches!(v as i64, 1 | -1))
    };
    let number = i.operands.iter().position(wrong)?;
    let text = format!("`{}` is 1 or -1", i.operands[number].name);
    Some(Violation::of_operand(number, text).remedy(Remedy::Write(vec!["1".into(), "-1".into()], "")))
}

/// The threads with the metadata of types of 8 bits or fewer are fixed (manual 9.7.15.6.1).
fn selector(i: &written::Written) -> Option<Violation> {
    let number = i.position("sp-sel")?;
    let narrow = i.first_of(&[q::e4m3, q::e5m2, q::s8, q::u8]).is_some();
    let chosen = matches!(i.operands[number].value, written::Operand::Imm(value) if value != 0);
    (narrow && chosen).then(|| Violation::of_operand(number, "the selector is 0 for types of 8 bits"))
}

const SELECTOR: Rule = Rule::Custom(selector);
const FACTORS: Rule = Rule::Custom(factors);
const HOPPER: Targets = Targets::Only(&[("sm_90a", Ptx(8, 0))]);
const MIXED: Gate = gate(&[has(q::s8), has(q::u8)]).since(ptx(8, 4));

const OPERANDS: &[OperandSpec] = &[
    // It is read, too, and so never `_`.
    dst("d", OpTy::Fragment(d)),
    src("a", OpTy::Fragment(a)),
    src("a-desc", ty(Ty::U64)),
    src("b-desc", ty(Ty::U64)),
    src("sp-meta", ty(Ty::B32)).reg(),
    src("sp-sel", ty(Ty::U32)).imm().range(0, 1),
    src("scale-d", ty(Ty::Pred)).range(0, 1),
    src("imm-scale-a", ty(Ty::S32)).imm(),
    src("imm-scale-b", ty(Ty::S32)).imm(),
    src("imm-trans-a", ty(Ty::S32)).imm().range(0, 1),
    src("imm-trans-b", ty(Ty::S32)).imm().range(0, 1),
];

/// The family.
#[rustfmt::skip]
pub const LIST: &[Instr] = &[
    instr("wgmma.mma_async").section("9.7.15.5.2").since(ptx(8, 0)).requires(HOPPER)
        .syntax(
            "wgmma.mma_async.sync.aligned.k16.dtype.f16.f16 d, a-desc, b-desc, scale-d, imm-scale-a, imm-scale-b, imm-trans-a, imm-trans-b;
             wgmma.mma_async.sync.aligned.k16.dtype.f16.f16 d, a, b-desc, scale-d, imm-scale-a, imm-scale-b, imm-trans-b;
             wgmma.mma_async.sync.aligned.k16.f32.bf16.bf16 d, a-desc, b-desc, scale-d, imm-scale-a, imm-scale-b, imm-trans-a, imm-trans-b;
             wgmma.mma_async.sync.aligned.k16.f32.bf16.bf16 d, a, b-desc, scale-d, imm-scale-a, imm-scale-b, imm-trans-b;
             wgmma.mma_async.sync.aligned.k8.f32.tf32.tf32 d, a-desc, b-desc, scale-d, imm-scale-a, imm-scale-b;
             wgmma.mma_async.sync.aligned.k8.f32.tf32.tf32 d, a, b-desc, scale-d, imm-scale-a, imm-scale-b;
             wgmma.mma_async.sync.aligned.k32.dtype.f8.f8 d, a-desc, b-desc, scale-d, imm-scale-a, imm-scale-b;
             wgmma.mma_async.sync.aligned.k32.dtype.f8.f8 d, a, b-desc, scale-d, imm-scale-a, imm-scale-b;
             wgmma.mma_async.sync.aligned.int{.satfinite}.s32.i8.i8 d, a-desc, b-desc, scale-d;
             wgmma.mma_async.sync.aligned.int{.satfinite}.s32.i8.i8 d, a, b-desc, scale-d;
             wgmma.mma_async.sync.aligned.k256.s32.b1.b1.and.popc d, a-desc, b-desc, scale-d;
             wgmma.mma_async.sync.aligned.k256.s32.b1.b1.and.popc d, a, b-desc, scale-d;
             .k8 = { .m64n{8..256/8}k8 }
             .k16 = { .m64n{8..256/8}k16 }
             .k32 = { .m64n{8..256/8}k32 }
             .int = { .m64n{8..24/8}k32, .m64n{32..256/16}k32 }
             .k256 = { .m64n{8..24/8}k256, .m64n{32..256/16}k256 }
             .dtype = { .f16, .f32 }
             .f8 = { .e4m3, .e5m2 }
             .i8 = { .s8, .u8 }",
        )
        .operands(OPERANDS)
        .gates(&[MIXED])
        .rules(&[FACTORS]).host(Host::Registers).issue(Issue::FullWarp).group(Group::Wgmma(Step::Start)).asynchronous(MemoryOp::Load, Proxy::Async),
    instr("wgmma.mma_async.sp").movable().section("9.7.15.6.3").since(ptx(8, 2)).requires(HOPPER)
        .syntax(
            "wgmma.mma_async.sp.sync.aligned.k32.dtype.f16.f16 d, a-desc, b-desc, sp-meta, sp-sel, scale-d, imm-scale-a, imm-scale-b, imm-trans-a, imm-trans-b;
             wgmma.mma_async.sp.sync.aligned.k32.dtype.f16.f16 d, a, b-desc, sp-meta, sp-sel, scale-d, imm-scale-a, imm-scale-b, imm-trans-b;
             wgmma.mma_async.sp.sync.aligned.k32.f32.bf16.bf16 d, a-desc, b-desc, sp-meta, sp-sel, scale-d, imm-scale-a, imm-scale-b, imm-trans-a, imm-trans-b;
             wgmma.mma_async.sp.sync.aligned.k32.f32.bf16.bf16 d, a, b-desc, sp-meta, sp-sel, scale-d, imm-scale-a, imm-scale-b, imm-trans-b;
             wgmma.mma_async.sp.sync.aligned.k16.f32.tf32.tf32 d, a-desc, b-desc, sp-meta, sp-sel, scale-d, imm-scale-a, imm-scale-b;
             wgmma.mma_async.sp.sync.aligned.k16.f32.tf32.tf32 d, a, b-desc, sp-meta, sp-sel, scale-d, imm-scale-a, imm-scale-b;
             wgmma.mma_async.sp.sync.aligned.k64.dtype.f8.f8 d, a-desc, b-desc, sp-meta, sp-sel, scale-d, imm-scale-a, imm-scale-b;
             wgmma.mma_async.sp.sync.aligned.k64.dtype.f8.f8 d, a, b-desc, sp-meta, sp-sel, scale-d, imm-scale-a, imm-scale-b;
             wgmma.mma_async.sp.sync.aligned.int{.satfinite}.s32.i8.i8 d, a-desc, b-desc, sp-meta, sp-sel, scale-d;
             wgmma.mma_async.sp.sync.aligned.int{.satfinite}.s32.i8.i8 d, a, b-desc, sp-meta, sp-sel, scale-d;
             .k16 = { .m64n{8..256/8}k16 }
             .k32 = { .m64n{8..256/8}k32 }
             .k64 = { .m64n{8..256/8}k64 }
             .int = { .m64n{8..24/8}k64, .m64n{32..256/16}k64 }
             .dtype = { .f16, .f32 }
             .f8 = { .e4m3, .e5m2 }
             .i8 = { .s8, .u8 }",
        )
        .operands(OPERANDS)
        .gates(&[MIXED])
        .rules(&[SELECTOR, FACTORS]).host(Host::Registers).issue(Issue::FullWarp).group(Group::Wgmma(Step::Start)).asynchronous(MemoryOp::Load, Proxy::Async),
    instr("wgmma.fence").section("9.7.15.7.1").since(ptx(8, 0)).requires(HOPPER)
        .syntax("wgmma.fence.sync.aligned;").host(Host::Warp).issue(Issue::FullWarp),
    instr("wgmma.commit_group").section("9.7.15.7.2").since(ptx(8, 0)).requires(HOPPER)
        .syntax("wgmma.commit_group.sync.aligned;").host(Host::Block).issue(Issue::FullWarp).group(Group::Wgmma(Step::Commit)),
    instr("wgmma.wait_group").section("9.7.15.7.3").since(ptx(8, 0)).requires(HOPPER)
        .syntax("wgmma.wait_group.sync.aligned N;")
        .operands(&[src("N", ty(Ty::U64)).imm().range(0, i64::MAX)]).host(Host::Block).issue(Issue::FullWarp).group(Group::Wgmma(Step::Wait)),
];
