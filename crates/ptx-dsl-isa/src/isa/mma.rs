//! Matrices of a warp with fragments that the manual specifies: `mma` (9.7.14.5.14) and `mma.sp` (9.7.14.6.3).

use super::fragment::{Matrix, bits, registers, shape, types};
use super::*;
use crate::written;

/// The types are those of `d`, `a`, `b` and `c`. With `.m8n8k4` and `.f16` the warp computes four products at once.
fn fragment(quals: &[Qualifier], matrix: Matrix, number: usize) -> (Ty, u32) {
    let types = types(quals);
    let (ty, count) = registers(quals, matrix, types.get(number).copied().unwrap_or(q::f16), 32);
    let four = shape(quals) == Some([8, 8, 4]) && types.get(1) == Some(&q::f16);
    // Half of `a` and of `b` for a thread would be half a register: 2 for a quarter of the warp.
    match (four, matrix) {
        (true, Matrix::C) => (ty, count * 4),
        (true, _) => (ty, 2),
        // The assembler takes any registers of 64 bits.
        _ if ty == Ty::F64 => (Ty::B64, count),
        _ => (ty, count),
    }
}
fn d(quals: &[Qualifier]) -> (Ty, u32) {
    fragment(quals, Matrix::C, 0)
}
/// Scale factors are integers (ptxas); otherwise it accepts any register of the width.
fn factor(quals: &[Qualifier], matrix: Matrix, number: usize) -> (Ty, u32) {
    let (ty, count) = fragment(quals, matrix, number);
    (if quals.contains(&q::block_scale) { Ty::U32 } else { ty }, count)
}
fn a(quals: &[Qualifier]) -> (Ty, u32) {
    factor(quals, Matrix::A, 1)
}
fn b(quals: &[Qualifier]) -> (Ty, u32) {
    factor(quals, Matrix::B, 2)
}
fn c(quals: &[Qualifier]) -> (Ty, u32) {
    fragment(quals, Matrix::C, 3)
}
/// Half of a sparse `a` is omitted.
fn sparse_a(quals: &[Qualifier]) -> (Ty, u32) {
    let (ty, count) = a(quals);
    (ty, count / 2)
}

/// The selector names the threads of a quad that hold the metadata: one pair of bits for two elements, and a register of them
/// for 16 pairs, 32 of those of a byte or less (manual 9.7.14.6.1).
fn selector(i: &written::Written) -> Option<Violation> {
    let number = i.position("f")?;
    let written::Operand::Imm(value) = i.operands[number].value else { return None };
    let element = types(&i.quals).get(1).copied()?;
    let row = shape(&i.quals)?[2] * bits(&i.quals, element);
    let most = if bits(&i.quals, element) >= 16 { 1024 / row } else { 512 / row };
    (value >= u64::from(most.max(1))).then(|| {
        let most = most.max(1) - 1;
        let text = format!("the selector is {value}, but of this shape and type at most {most}");
        Violation::of_operand(number, text).write(most)
    })
}

/// `c` and `d` have one type, except that `.m8n8k4` adds `.f16` to `.f32`.
fn accumulators(i: &written::Written) -> Option<Violation> {
    let types = types(&i.quals);
    let (d, c) = (types.first()?, types.get(3)?);
    let adds_up = shape(&i.quals) == Some([8, 8, 4]) && (*d, *c) == (q::f32, q::f16);
    (d != c && !adds_up)
        .then(|| Violation::of_opcode(format!("`d` is of `{d}` and `c` of `{c}`, but both have one type here")))
}

const ACCUMULATORS: Rule = Rule::Custom(accumulators);
const D: OperandSpec = dst("d", OpTy::Fragment(d)).or_sink();
const A: OperandSpec = src("a", OpTy::Fragment(a));
const B: OperandSpec = src("b", OpTy::Fragment(b));
const C: OperandSpec = src("c", OpTy::Fragment(c));
const DENSE: &[OperandSpec] = &[D, A, B, C];
const SPARSE_A: OperandSpec = src("a", OpTy::Fragment(sparse_a));
const E: OperandSpec = src("e", ty(Ty::B32)).reg();
const F: OperandSpec = src("f", ty(Ty::U32)).imm();
const SPARSE: &[OperandSpec] = &[D, SPARSE_A, B, C, E, F];
const SCALE_A: OperandSpec = src("scale-a-data", ty(Ty::B32)).reg();
const SCALE_B: OperandSpec = src("scale-b-data", ty(Ty::B32)).reg();
const BYTE_A: OperandSpec = src("byte-id-a", ty(Ty::U16)).range(0, 3);
const BYTE_B: OperandSpec = src("byte-id-b", ty(Ty::U16)).range(0, 3);
const THREAD_A: OperandSpec = src("thread-id-a", ty(Ty::U16)).range(0, 1);
const THREAD_B: OperandSpec = src("thread-id-b", ty(Ty::U16)).range(0, 3);

/// A factor for 32 bits of a row is one byte of four, for 64 bits one of two, for all of it the register (manual 9.7.14.3).
fn bytes(i: &written::Written) -> Option<Violation> {
    let step = match written::after(&i.quals, ".scale_vec::") {
        Some("2X") => 2,
        Some("4X") => 4,
        None if i.has(q::kind_mxf4) => 2,
        _ => 1,
    };
    for (n, o) in i.operands.as_slice().iter().enumerate() {
        if let (written::Operand::Vector(parts), "byte-id-a" | "byte-id-b") = (&o.value, o.name)
            && let Some(written::Operand::Imm(value)) = parts.first()
            && value % step != 0
        {
            let text = format!("a factor of this size does not begin at byte {value} of a register");
            return Some(Violation::of_operand(n, text));
        }
    }
    None
}

/// Targets of `.kind::f8f6f4` with 8-bit types in the assembler; the manual names only those of `KINDS`.
const KINDS_OF_8: Targets = Targets::Only(&[
    ("sm_100a", Ptx(8, 6)),
    ("sm_101a", Ptx(8, 6)),
    ("sm_110a", Ptx(9, 0)),
    ("sm_120a", Ptx(8, 7)),
    ("sm_100f", Ptx(8, 8)),
    ("sm_101f", Ptx(8, 8)),
    ("sm_110f", Ptx(9, 0)),
    ("sm_120f", Ptx(8, 8)),
]);
/// Types of six and four bits.
const NARROW: Gate = gate(&[any(&[q::e3m2, q::e2m3, q::e2m1])]).since(ptx(8, 7)).requires(KINDS);
/// Targets of narrower types, and of `.kind::mxf8f6f4`.
const KINDS: Targets = Targets::Only(&[("sm_120a", Ptx(8, 7)), ("sm_120f", Ptx(8, 8))]);
/// Targets of the 4-bit kinds.
const KINDS_OF_4: Targets = KINDS;
/// Targets of sparse 4-bit matrices.
const SPARSE_KINDS_OF_4: Targets = Targets::Only(&[("sm_120a", Ptx(8, 7)), ("sm_121a", Ptx(8, 8))]);

/// The family.
#[rustfmt::skip]
pub const LIST: &[Instr] = &[
    instr("mma").section("9.7.14.5.14").since(ptx(6, 4)).requires(sm(70))
        .syntax(
            "mma.sync.aligned.m8n8k4.alayout.blayout.dtype.f16.f16.ctype d, a, b, c;
             mma.sync.aligned.shape.row.col.dtype.f16.f16.ctype d, a, b, c;
             .shape = { .m16n8k8, .m16n8k16 }
             .alayout = { .row, .col }
             .blayout = { .row, .col }
             .dtype = { .f16, .f32 }
             .ctype = { .f16, .f32 }",
        )
        .operands(DENSE)
        .gates(&[
            gate(&[has(q::m16n8k8)]).since(ptx(6, 5)).requires(sm(75)),
            gate(&[has(q::m16n8k16)]).since(ptx(7, 0)).requires(sm(80)),
        ])
        .rules(&[ACCUMULATORS]).host(Host::Registers).issue(Issue::FullWarp),
    instr("mma").section("9.7.14.5.14").since(ptx(7, 0)).requires(sm(80))
        .syntax(
            "mma.sync.aligned.tf32shape.row.col.f32.tf32.tf32.f32 d, a, b, c;
             mma.sync.aligned.bf16shape.row.col.f32.bf16.bf16.f32 d, a, b, c;
             .tf32shape = { .m16n8k4, .m16n8k8 }
             .bf16shape = { .m16n8k8, .m16n8k16 }",
        )
        .operands(DENSE).host(Host::Registers).issue(Issue::FullWarp),
    instr("mma").section("9.7.14.5.14").since(ptx(8, 4)).requires(sm(89))
        .syntax(
            "mma.sync.aligned.shape.row.col.dtype.f8type.f8type.ctype d, a, b, c;
             .shape = { .m16n8k16, .m16n8k32 }
             .f8type = { .e4m3, .e5m2 }
             .dtype = { .f16, .f32 }
             .ctype = { .f16, .f32 }",
        )
        .operands(DENSE)
        .gates(&[
            gate(&[has(q::m16n8k16)]).since(ptx(8, 7)),
            gate(&[has(q::f16)]).since(ptx(8, 7)),
        ])
        .rules(&[ACCUMULATORS]).host(Host::Registers).issue(Issue::FullWarp),
    instr("mma").section("9.7.14.5.14").since(ptx(8, 6)).requires(KINDS_OF_8)
        .syntax(
            "mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.dtype.f8f6f4type.f8f6f4type.ctype d, a, b, c;
             .f8f6f4type = { .e4m3, .e5m2, .e3m2, .e2m3, .e2m1 }
             .dtype = { .f16, .f32 }
             .ctype = { .f16, .f32 }",
        )
        .operands(DENSE)
        .gates(&[NARROW, gate(&[has(q::f16)]).since(ptx(8, 7))])
        .rules(&[ACCUMULATORS]).host(Host::Registers).issue(Issue::FullWarp),
    instr("mma").section("9.7.14.5.14").since(ptx(8, 7)).requires(KINDS)
        .syntax(
            "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale{.scale_vec::1X}.f32.f8f6f4type.f8f6f4type.f32.ue8m0 d, a, b, c, scale-a-data, {byte-id-a, thread-id-a}, scale-b-data, {byte-id-b, thread-id-b};
             .f8f6f4type = { .e4m3, .e5m2, .e3m2, .e2m3, .e2m1 }",
        )
        .operands(&[D, A, B, C, SCALE_A, BYTE_A, THREAD_A, SCALE_B, BYTE_B, THREAD_B]).host(Host::Registers).issue(Issue::FullWarp),
    instr("mma").section("9.7.14.5.14").since(ptx(8, 7)).requires(KINDS_OF_4)
        .syntax(
            "mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale{.scale_vec::2X}.f32.e2m1.e2m1.f32.ue8m0 d, a, b, c, scale-a-data, {byte-id-a, thread-id-a}, scale-b-data, {byte-id-b, thread-id-b};
             mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec_size.f32.e2m1.e2m1.f32.stype d, a, b, c, scale-a-data, {byte-id-a, thread-id-a}, scale-b-data, {byte-id-b, thread-id-b};
             .scale_vec_size = { .scale_vec::2X, .scale_vec::4X }
             .stype = { .ue8m0, .ue4m3 }",
        )
        .operands(&[D, A, B, C, SCALE_A, BYTE_A, THREAD_A, SCALE_B, BYTE_B, THREAD_B])
        .gates(&[gate(&[has(q::scale_vec_4X), has(q::ue8m0)]).since(ptx(9, 1))])
        .rules(&[
            Rule::Never(&[has(q::scale_vec_2X), has(q::ue4m3)], "scales of `.ue4m3` are for 16 elements: `.scale_vec::4X`"),
            Rule::Custom(bytes),
        ]).host(Host::Registers).issue(Issue::FullWarp),
    instr("mma").section("9.7.14.5.14").since(ptx(7, 0)).requires(sm(80))
        .syntax(
            "mma.sync.aligned.shape.row.col{.rnd}.f64.f64.f64.f64 d, a, b, c;
             .shape = { .m8n8k4, .m16n8k4, .m16n8k8, .m16n8k16 }
             .rnd = { .rn, .rz, .rm, .rp }",
        )
        .operands(DENSE)
        .gates(&[gate(&[any(&[q::m16n8k4, q::m16n8k8, q::m16n8k16])]).since(ptx(7, 8)).requires(sm(90))])
        .defaults(&[(".rnd", q::rn)]).host(Host::Registers).issue(Issue::FullWarp),
    instr("mma").section("9.7.14.5.14").since(ptx(6, 5)).requires(sm(75))
        .syntax(
            "mma.sync.aligned.shape.row.col{.satfinite}.s32.int.int.s32 d, a, b, c;
             mma.sync.aligned.subshape.row.col{.satfinite}.s32.subbyte.subbyte.s32 d, a, b, c;
             mma.sync.aligned.bitshape.row.col.s32.b1.b1.s32.bitOp.popc d, a, b, c;
             .shape = { .m8n8k16, .m16n8k16, .m16n8k32 }
             .int = { .u8, .s8 }
             .subshape = { .m8n8k32, .m16n8k32, .m16n8k64 }
             .subbyte = { .u4, .s4 }
             .bitshape = { .m8n8k128, .m16n8k128, .m16n8k256 }
             .bitOp = { .xor, .and }",
        )
        .operands(DENSE)
        .gates(&[
            gate(&[any(&[q::m16n8k16, q::m16n8k32, q::m16n8k64, q::m16n8k128, q::m16n8k256])]).since(ptx(7, 0)).requires(sm(80)),
            gate(&[has(q::b1)]).since(ptx(7, 0)),
            gate(&[has(q::and)]).since(ptx(7, 1)).requires(sm(80)),
        ]).host(Host::Registers).issue(Issue::FullWarp),
    instr("mma.sp").movable().section("9.7.14.6.3").since(ptx(7, 1)).requires(sm(80))
        .syntax(
            "mma.sp{::ordered_metadata}.sync.aligned.f16shape.row.col.dtype.f16.f16.ctype d, a, b, c, e, f;
             mma.sp{::ordered_metadata}.sync.aligned.f16shape.row.col.f32.bf16.bf16.f32 d, a, b, c, e, f;
             mma.sp{::ordered_metadata}.sync.aligned.tf32shape.row.col.f32.tf32.tf32.f32 d, a, b, c, e, f;
             mma.sp{::ordered_metadata}.sync.aligned.shape.row.col{.satfinite}.s32.int.int.s32 d, a, b, c, e, f;
             mma.sp{::ordered_metadata}.sync.aligned.subshape.row.col{.satfinite}.s32.subbyte.subbyte.s32 d, a, b, c, e, f;
             .f16shape = { .m16n8k16, .m16n8k32 }
             .dtype = { .f16, .f32 }
             .ctype = { .f16, .f32 }
             .tf32shape = { .m16n8k8, .m16n8k16 }
             .shape = { .m16n8k32, .m16n8k64 }
             .int = { .u8, .s8 }
             .subshape = { .m16n8k64, .m16n8k128 }
             .subbyte = { .u4, .s4 }",
        )
        .operands(SPARSE)
        .gates(&[gate(&[has(q::ordered_metadata)]).since(ptx(8, 5))])
        .rules(&[ACCUMULATORS, Rule::Custom(selector)]).host(Host::Registers).issue(Issue::FullWarp),
    instr("mma.sp").movable().section("9.7.14.6.3").since(ptx(8, 4)).requires(sm(89))
        .syntax(
            "mma.sp{::ordered_metadata}.sync.aligned.m16n8k64.row.col.dtype.f8type.f8type.ctype d, a, b, c, e, f;
             .f8type = { .e4m3, .e5m2 }
             .dtype = { .f16, .f32 }
             .ctype = { .f16, .f32 }",
        )
        .operands(SPARSE)
        .gates(&[
            gate(&[has(q::ordered_metadata)]).since(ptx(8, 5)),
            gate(&[has(q::f16)]).since(ptx(8, 7)).requires(KINDS),
        ])
        .rules(&[
            ACCUMULATORS,
            Rule::Custom(selector),
            Rule::Needs(has(q::f16), has(q::ordered_metadata), "accumulators of `.f16` are for `.sp::ordered_metadata`"),
        ]).host(Host::Registers).issue(Issue::FullWarp),
    instr("mma.sp").movable().section("9.7.14.6.3").since(ptx(8, 6)).requires(KINDS_OF_8)
        .syntax(
            "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4.dtype.f8f6f4type.f8f6f4type.ctype d, a, b, c, e, f;
             .f8f6f4type = { .e4m3, .e5m2, .e3m2, .e2m3, .e2m1 }
             .dtype = { .f16, .f32 }
             .ctype = { .f16, .f32 }",
        )
        .operands(SPARSE)
        // Accumulators of half precision: ptxas has them on fewer targets.
        .gates(&[NARROW, gate(&[has(q::f16)]).since(ptx(8, 7)).requires(KINDS)])
        .rules(&[ACCUMULATORS, Rule::Custom(selector)]).host(Host::Registers).issue(Issue::FullWarp),
    instr("mma.sp").movable().section("9.7.14.6.3").since(ptx(8, 7)).requires(KINDS)
        .syntax(
            "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::mxf8f6f4.block_scale{.scale_vec::1X}.f32.f8f6f4type.f8f6f4type.f32.ue8m0 d, a, b, c, e, f, scale-a-data, {byte-id-a, thread-id-a}, scale-b-data, {byte-id-b, thread-id-b};
             .f8f6f4type = { .e4m3, .e5m2, .e3m2, .e2m3, .e2m1 }",
        )
        .operands(&[D, SPARSE_A, B, C, E, F, SCALE_A, BYTE_A, THREAD_A, SCALE_B, BYTE_B, THREAD_B])
        .rules(&[ACCUMULATORS, Rule::Custom(selector)]).host(Host::Registers).issue(Issue::FullWarp),
    instr("mma.sp").movable().section("9.7.14.6.3").since(ptx(8, 7)).requires(SPARSE_KINDS_OF_4)
        .syntax(
            "mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.kind::mxf4.block_scale{.scale_vec::2X}.f32.e2m1.e2m1.f32.ue8m0 d, a, b, c, e, f, scale-a-data, {byte-id-a, thread-id-a}, scale-b-data, {byte-id-b, thread-id-b};
             mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.kind::mxf4nvf4.block_scale.scale_vec_size.f32.e2m1.e2m1.f32.stype d, a, b, c, e, f, scale-a-data, {byte-id-a, thread-id-a}, scale-b-data, {byte-id-b, thread-id-b};
             .scale_vec_size = { .scale_vec::2X, .scale_vec::4X }
             .stype = { .ue8m0, .ue4m3 }",
        )
        .operands(&[D, SPARSE_A, B, C, E, F, SCALE_A, BYTE_A, THREAD_A, SCALE_B, BYTE_B, THREAD_B])
        .gates(&[gate(&[has(q::scale_vec_4X), has(q::ue8m0)]).since(ptx(9, 1))])
        .rules(&[
            Rule::Custom(selector),
            Rule::Custom(bytes),
            Rule::Never(&[has(q::scale_vec_2X), has(q::ue4m3)], "scales of `.ue4m3` are for 16 elements: `.scale_vec::4X`"),
        ]).host(Host::Registers).issue(Issue::FullWarp),
];
