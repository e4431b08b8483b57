//! Matrices of a warp with opaque fragments: manual 9.7.14.4.

use super::fragment::{Matrix, registers, types};
use super::*;
use crate::written;

/// A fragment. Those of `a` and `b` in `.f16` have eight registers in every shape, each element twice (manual 9.7.14.4.1).
fn fragment(quals: &[Qualifier], matrix: Matrix, element: Qualifier) -> (Ty, u32) {
    let (ty, count) = registers(quals, matrix, element, 32);
    match element {
        q::f16 if matrix != Matrix::C => (ty, 8),
        q::s8 | q::u8 => (Ty::U32, count),
        _ => (ty, count),
    }
}

/// A load or store has one type.
fn moved(quals: &[Qualifier], matrix: Matrix) -> (Ty, u32) {
    fragment(quals, matrix, types(quals).first().copied().unwrap_or(q::f16))
}
fn moved_a(quals: &[Qualifier]) -> (Ty, u32) {
    moved(quals, Matrix::A)
}
fn moved_b(quals: &[Qualifier]) -> (Ty, u32) {
    moved(quals, Matrix::B)
}
fn moved_c(quals: &[Qualifier]) -> (Ty, u32) {
    moved(quals, Matrix::C)
}

/// `.f16` and `.f32` types of `d` and `c` are written alone: `a` and `b` are then `.f16`.
fn operand_of(quals: &[Qualifier], matrix: Matrix, number: usize) -> (Ty, u32) {
    let element = match (types(quals).as_slice(), number) {
        ([d, _], 0) => *d,
        ([_, c], 3) => *c,
        ([_, _], _) => q::f16,
        (four, n) => four.get(n).copied().unwrap_or(q::f16),
    };
    match element {
        // The product takes integers alone; loads take any register of 32 bits.
        q::s4 | q::u4 | q::b1 => (Ty::U32, fragment(quals, matrix, element).1),
        _ => fragment(quals, matrix, element),
    }
}
fn d(quals: &[Qualifier]) -> (Ty, u32) {
    operand_of(quals, Matrix::C, 0)
}
fn a(quals: &[Qualifier]) -> (Ty, u32) {
    operand_of(quals, Matrix::A, 1)
}
fn b(quals: &[Qualifier]) -> (Ty, u32) {
    operand_of(quals, Matrix::B, 2)
}
fn c(quals: &[Qualifier]) -> (Ty, u32) {
    operand_of(quals, Matrix::C, 3)
}

/// Integers of `a` and `b` have one type.
fn same_integers(i: &written::Written) -> Option<Violation> {
    let types = types(&i.quals);
    let [_, a, b, _] = types.as_slice() else { return None };
    (a != b).then(|| {
        Violation::of_qualifier(*b, format!("`{b}` is the type of `b`, but `a` is of `{a}`: both have one type"))
    })
}

const LOADED: OperandSpec = addr("p", reads(Size::Unknown));
const STORED: OperandSpec = addr("p", writes(Size::Unknown));
const ALIGNED: Gate = gate(&[has(q::aligned)]).since(ptx(6, 3));
const SHAPES: Gate = gate(&[any(&[q::m32n8k16, q::m8n32k16])]).since(ptx(6, 1));
const INTEGERS: Gate = gate(&[any(&[q::s8, q::u8, q::s32])]).since(ptx(6, 3)).requires(sm(72));
const BITS: Gate = gate(&[any(&[q::m8n8k32, q::m8n8k128])]).since(ptx(6, 3)).requires(sm(75));
const FLOATS: Gate = gate(&[any(&[q::bf16, q::tf32, q::f64])]).since(ptx(7, 0)).requires(sm(80));
const TF32_SHAPE: Gate = gate(&[has(q::m16n16k8)]).since(ptx(7, 0)).requires(sm(80));
const CTA: Gate = gate(&[has(q::shared_cta)]).since(ptx(7, 8));
const GATES: &[Gate] = &[ALIGNED, SHAPES, INTEGERS, BITS, FLOATS, TF32_SHAPE, CTA];
const AND: Gate = gate(&[has(q::and)]).since(ptx(7, 1)).requires(sm(80));
const STRIDE: OperandSpec = src("stride", ty(Ty::U32));

const MMA: &[OperandSpec] = &[
    dst("d", OpTy::Fragment(d)).or_sink(),
    src("a", OpTy::Fragment(a)),
    src("b", OpTy::Fragment(b)),
    src("c", OpTy::Fragment(c)),
];

/// The family.
#[rustfmt::skip]
pub const LIST: &[Instr] = &[
    instr("wmma.load.a").section("9.7.14.4.3").since(ptx(6, 0)).requires(sm(70))
        .syntax(
            "wmma.load.a.sync.aligned.layout.shape{.ss}.atype r, [p]{, stride};
             wmma.load.a.sync.aligned.layout.m16n16k8{.ss}.tf32 r, [p]{, stride};
             wmma.load.a.sync.aligned.layout.m8n8k4{.ss}.f64 r, [p]{, stride};
             wmma.load.a.sync.aligned.row.m8n8k32{.ss}.subbyte r, [p]{, stride};
             wmma.load.a.sync.aligned.row.m8n8k128{.ss}.b1 r, [p]{, stride};
             .layout = { .row, .col }
             .shape = { .m16n16k16, .m8n32k16, .m32n8k16 }
             .ss = { .global, .shared{::cta} }
             .atype = { .f16, .bf16, .s8, .u8 }
             .subbyte = { .s4, .u4 }",
        )
        .operands(&[dst("r", OpTy::Fragment(moved_a)).or_sink(), LOADED, STRIDE])
        .gates(GATES).host(Host::Block).issue(Issue::FullWarp).memory(MemoryOp::Load),
    instr("wmma.load.b").section("9.7.14.4.3").since(ptx(6, 0)).requires(sm(70))
        .syntax(
            "wmma.load.b.sync.aligned.layout.shape{.ss}.btype r, [p]{, stride};
             wmma.load.b.sync.aligned.layout.m16n16k8{.ss}.tf32 r, [p]{, stride};
             wmma.load.b.sync.aligned.layout.m8n8k4{.ss}.f64 r, [p]{, stride};
             wmma.load.b.sync.aligned.col.m8n8k32{.ss}.subbyte r, [p]{, stride};
             wmma.load.b.sync.aligned.col.m8n8k128{.ss}.b1 r, [p]{, stride};
             .layout = { .row, .col }
             .shape = { .m16n16k16, .m8n32k16, .m32n8k16 }
             .ss = { .global, .shared{::cta} }
             .btype = { .f16, .bf16, .s8, .u8 }
             .subbyte = { .s4, .u4 }",
        )
        .operands(&[dst("r", OpTy::Fragment(moved_b)).or_sink(), LOADED, STRIDE])
        .gates(GATES).host(Host::Block).issue(Issue::FullWarp).memory(MemoryOp::Load),
    instr("wmma.load.c").section("9.7.14.4.3").since(ptx(6, 0)).requires(sm(70))
        .syntax(
            "wmma.load.c.sync.aligned.layout.shape{.ss}.ctype r, [p]{, stride};
             wmma.load.c.sync.aligned.layout.m16n16k8{.ss}.f32 r, [p]{, stride};
             wmma.load.c.sync.aligned.layout.m8n8k4{.ss}.f64 r, [p]{, stride};
             wmma.load.c.sync.aligned.layout.intshape{.ss}.s32 r, [p]{, stride};
             .layout = { .row, .col }
             .shape = { .m16n16k16, .m8n32k16, .m32n8k16 }
             .intshape = { .m8n8k32, .m8n8k128 }
             .ss = { .global, .shared{::cta} }
             .ctype = { .f16, .f32, .s32 }",
        )
        .operands(&[dst("r", OpTy::Fragment(moved_c)).or_sink(), LOADED, STRIDE])
        .gates(GATES).host(Host::Block).issue(Issue::FullWarp).memory(MemoryOp::Load),
    instr("wmma.store.d").section("9.7.14.4.4").since(ptx(6, 0)).requires(sm(70))
        .syntax(
            "wmma.store.d.sync.aligned.layout.shape{.ss}.type [p], r{, stride};
             wmma.store.d.sync.aligned.layout.m16n16k8{.ss}.f32 [p], r{, stride};
             wmma.store.d.sync.aligned.layout.m8n8k4{.ss}.f64 [p], r{, stride};
             wmma.store.d.sync.aligned.layout.intshape{.ss}.s32 [p], r{, stride};
             .layout = { .row, .col }
             .shape = { .m16n16k16, .m8n32k16, .m32n8k16 }
             .intshape = { .m8n8k32, .m8n8k128 }
             .ss = { .global, .shared{::cta} }
             .type = { .f16, .f32, .s32 }",
        )
        .operands(&[STORED, src("r", OpTy::Fragment(moved_c)), STRIDE])
        .gates(GATES).host(Host::Block).issue(Issue::FullWarp).memory(MemoryOp::Store),
    instr("wmma.mma").section("9.7.14.4.5").since(ptx(6, 0)).requires(sm(70))
        .syntax(
            "wmma.mma.sync.aligned.alayout.blayout.shape.dtype.ctype d, a, b, c;
             wmma.mma.sync.aligned.alayout.blayout.shape.s32.int.int.s32{.satfinite} d, a, b, c;
             wmma.mma.sync.aligned.alayout.blayout.shape.f32.bf16.bf16.f32 d, a, b, c;
             wmma.mma.sync.aligned.alayout.blayout.m16n16k8.f32.tf32.tf32.f32 d, a, b, c;
             wmma.mma.sync.aligned.alayout.blayout.m8n8k4{.rnd}.f64.f64.f64.f64 d, a, b, c;
             wmma.mma.sync.aligned.row.col.m8n8k32.s32.subbyte.subbyte.s32{.satfinite} d, a, b, c;
             wmma.mma.op.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32 d, a, b, c;
             .alayout = { .row, .col }
             .blayout = { .row, .col }
             .shape = { .m16n16k16, .m8n32k16, .m32n8k16 }
             .dtype = { .f16, .f32 }
             .ctype = { .f16, .f32 }
             .int = { .s8, .u8 }
             .subbyte = { .s4, .u4 }
             .rnd = { .rn, .rz, .rm, .rp }
             .op = { .xor, .and }",
        )
        .operands(MMA)
        .gates(&[ALIGNED, SHAPES, INTEGERS, BITS, FLOATS, TF32_SHAPE, AND])
        .rules(&[Rule::Custom(same_integers)])
        .defaults(&[(".rnd", q::rn)]).host(Host::Registers).issue(Issue::FullWarp),
    // As it was before 6.3: half precision without `.aligned`.
    instr("wmma.load.a").section("9.7.14.4.3").since(ptx(6, 0)).until(ptx(6, 3), ANY).requires(sm(70))
        .syntax(
            "wmma.load.a.sync.layout.shape{.ss}.f16 r, [p]{, stride};
             .layout = { .row, .col }
             .shape = { .m16n16k16, .m8n32k16, .m32n8k16 }
             .ss = { .global, .shared }",
        )
        .operands(&[dst("r", OpTy::Fragment(moved_a)).or_sink(), LOADED, STRIDE])
        .gates(&[SHAPES]).host(Host::Block).issue(Issue::FullWarp).memory(MemoryOp::Load),
    instr("wmma.load.b").section("9.7.14.4.3").since(ptx(6, 0)).until(ptx(6, 3), ANY).requires(sm(70))
        .syntax(
            "wmma.load.b.sync.layout.shape{.ss}.f16 r, [p]{, stride};
             .layout = { .row, .col }
             .shape = { .m16n16k16, .m8n32k16, .m32n8k16 }
             .ss = { .global, .shared }",
        )
        .operands(&[dst("r", OpTy::Fragment(moved_b)).or_sink(), LOADED, STRIDE])
        .gates(&[SHAPES]).host(Host::Block).issue(Issue::FullWarp).memory(MemoryOp::Load),
    instr("wmma.load.c").section("9.7.14.4.3").since(ptx(6, 0)).until(ptx(6, 3), ANY).requires(sm(70))
        .syntax(
            "wmma.load.c.sync.layout.shape{.ss}.ctype r, [p]{, stride};
             .layout = { .row, .col }
             .shape = { .m16n16k16, .m8n32k16, .m32n8k16 }
             .ss = { .global, .shared }
             .ctype = { .f16, .f32 }",
        )
        .operands(&[dst("r", OpTy::Fragment(moved_c)).or_sink(), LOADED, STRIDE])
        .gates(&[SHAPES]).host(Host::Block).issue(Issue::FullWarp).memory(MemoryOp::Load),
    instr("wmma.store.d").section("9.7.14.4.4").since(ptx(6, 0)).until(ptx(6, 3), ANY).requires(sm(70))
        .syntax(
            "wmma.store.d.sync.layout.shape{.ss}.type [p], r{, stride};
             .layout = { .row, .col }
             .shape = { .m16n16k16, .m8n32k16, .m32n8k16 }
             .ss = { .global, .shared }
             .type = { .f16, .f32 }",
        )
        .operands(&[STORED, src("r", OpTy::Fragment(moved_c)), STRIDE])
        .gates(&[SHAPES]).host(Host::Block).issue(Issue::FullWarp).memory(MemoryOp::Store),
    instr("wmma.mma").section("9.7.14.4.5").since(ptx(6, 0)).until(ptx(6, 3), ANY).requires(sm(70))
        .syntax(
            "wmma.mma.sync.alayout.blayout.shape.dtype.ctype{.satfinite} d, a, b, c;
             .alayout = { .row, .col }
             .blayout = { .row, .col }
             .shape = { .m16n16k16, .m8n32k16, .m32n8k16 }
             .dtype = { .f16, .f32 }
             .ctype = { .f16, .f32 }",
        )
        .operands(MMA)
        .gates(&[SHAPES]).host(Host::Registers).issue(Issue::FullWarp),
    // `.satfinite` of floating point went with 6.5.
    instr("wmma.mma").section("9.7.14.4.5").since(ptx(6, 3)).until(ptx(6, 5), ANY).requires(sm(70))
        .syntax(
            "wmma.mma.sync.aligned.alayout.blayout.shape.dtype.ctype.satfinite d, a, b, c;
             .alayout = { .row, .col }
             .blayout = { .row, .col }
             .shape = { .m16n16k16, .m8n32k16, .m32n8k16 }
             .dtype = { .f16, .f32 }
             .ctype = { .f16, .f32 }",
        )
        .operands(MMA)
        .gates(&[SHAPES]).host(Host::Registers).issue(Issue::FullWarp),
];
