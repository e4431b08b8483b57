//! Mixed-precision arithmetic: manual 9.7.5. The sources are narrower than, or unlike, the result.

use super::*;

const NARROW: &[OperandSpec] = &[dst("d", T), src("a", slot(".atype")), src("b", slot(".atype")), src("c", T)];
const NARROW_FMA: &[OperandSpec] = &[dst("d", T), src("a", slot(".abtype")), src("b", slot(".abtype")), src("c", T)];
const NARROW_X2: &[OperandSpec] =
    &[dst("d", ty(Ty::F32x2)), src("a", slot(".atype")), src("b", ty(Ty::F32x2)), src("c", ty(Ty::F32x2))];
const TO_F16X2: &[OperandSpec] = &[dst("d", ty(Ty::F16x2)), src("a", ty(Ty::F32x2)), src("c", ty(Ty::F32x2))];
const TO_BF16X2: &[OperandSpec] = &[dst("d", ty(Ty::Bf16x2)), src("a", ty(Ty::F32x2)), src("c", ty(Ty::F32x2))];
const FP8: &[OperandSpec] =
    &[dst("d", slot(".cdtype")), src("a", slot(".atype")), src("b", slot(".btype")), src("c", slot(".cdtype"))];
const FROM_107: Targets = Targets::Only(&[("sm_107f", Ptx(9, 4))]);
const FP8_ONLY: Targets = Targets::Only(&[("sm_100a", Ptx(9, 4)), ("sm_103a", Ptx(9, 4))]);

/// The family.
pub const LIST: &[Instr] = &[
    instr("add")
        .flops(1)
        .section("9.7.5.1")
        .since(ptx(8, 6))
        .requires(sm(100))
        .syntax(
            "add{.rnd}{.sat}.f32.atype d, a, c;
             .atype = { .f16, .bf16 }
             .rnd = { .rn, .rz, .rm, .rp }",
        )
        .operands(NARROW)
        .host(Host::Lane),
    instr("add")
        .flops(1)
        .section("9.7.5.1")
        .since(ptx(9, 4))
        .requires(FROM_107)
        .syntax(
            "add{.rnd}.f32x2.atype.f32x2 d, a, c;
             .atype = { .f16x2, .bf16x2 }
             .rnd = { .rn, .rz, .rm, .rp }",
        )
        .operands(NARROW_X2)
        .host(Host::Lane),
    instr("add")
        .flops(1)
        .section("9.7.5.1")
        .since(ptx(9, 4))
        .requires(FROM_107)
        .syntax("add.rz.ftz.f16x2.f32x2.f32x2 d, a, c;")
        .operands(TO_F16X2)
        .host(Host::Lane),
    instr("add")
        .flops(1)
        .section("9.7.5.1")
        .since(ptx(9, 4))
        .requires(FROM_107)
        .syntax("add.rz.bf16x2.f32x2.f32x2 d, a, c;")
        .operands(TO_BF16X2)
        .host(Host::Lane),
    instr("add")
        .flops(1)
        .section("9.7.5.1")
        .since(ptx(9, 4))
        .requires(FP8_ONLY)
        .syntax(
            "add{.rn}{.satfinite}.cdtype.atype d, a, c;
             .cdtype = { .e5m2x4, .e4m3x4 }
             .atype = { .e5m2x4, .e4m3x4, .e3m2x4, .e2m3x4, .e2m1x4, .e2m1p4x4, .ue8m0x4 }",
        )
        .operands(FP8)
        .host(Host::Lane),
    instr("sub")
        .flops(1)
        .section("9.7.5.2")
        .since(ptx(8, 6))
        .requires(sm(100))
        .syntax(
            "sub{.rnd}{.sat}.f32.atype d, a, c;
             .atype = { .f16, .bf16 }
             .rnd = { .rn, .rz, .rm, .rp }",
        )
        .operands(NARROW)
        .host(Host::Lane),
    instr("sub")
        .flops(1)
        .section("9.7.5.2")
        .since(ptx(9, 4))
        .requires(FROM_107)
        .syntax(
            "sub{.rnd}.f32x2.atype.f32x2 d, a, c;
             .atype = { .f16x2, .bf16x2 }
             .rnd = { .rn, .rz, .rm, .rp }",
        )
        .operands(NARROW_X2)
        .host(Host::Lane),
    instr("sub")
        .flops(1)
        .section("9.7.5.2")
        .since(ptx(9, 4))
        .requires(FROM_107)
        .syntax("sub.rz.ftz.f16x2.f32x2.f32x2 d, a, c;")
        .operands(TO_F16X2)
        .host(Host::Lane),
    instr("sub")
        .flops(1)
        .section("9.7.5.2")
        .since(ptx(9, 4))
        .requires(FROM_107)
        .syntax("sub.rz.bf16x2.f32x2.f32x2 d, a, c;")
        .operands(TO_BF16X2)
        .host(Host::Lane),
    instr("sub")
        .flops(1)
        .section("9.7.5.2")
        .since(ptx(9, 4))
        .requires(FP8_ONLY)
        .syntax(
            "sub{.rn}{.satfinite}.cdtype.atype d, a, c;
             .cdtype = { .e5m2x4, .e4m3x4 }
             .atype = { .e5m2x4, .e4m3x4, .e3m2x4, .e2m3x4, .e2m1x4, .e2m1p4x4, .ue8m0x4 }",
        )
        .operands(FP8)
        .host(Host::Lane),
    instr("fma")
        .flops(2)
        .section("9.7.5.3")
        .since(ptx(8, 6))
        .requires(sm(100))
        .syntax(
            "fma.rnd{.sat}.f32.abtype d, a, b, c;
             .abtype = { .f16, .bf16 }
             .rnd = { .rn, .rz, .rm, .rp }",
        )
        .operands(NARROW_FMA)
        .host(Host::Lane),
    instr("fma")
        .flops(2)
        .section("9.7.5.3")
        .since(ptx(9, 4))
        .requires(FROM_107)
        .syntax(
            "fma.rnd.f32x2.atype.f32x2.f32x2 d, a, b, c;
             .atype = { .f16x2, .bf16x2 }
             .rnd = { .rn, .rz, .rm, .rp }",
        )
        .operands(NARROW_X2)
        .host(Host::Lane),
    instr("fma")
        .flops(2)
        .section("9.7.5.3")
        .since(ptx(9, 4))
        .requires(FP8_ONLY)
        .syntax(
            "fma{.rn}{.satfinite}.cdtype.atype.btype d, a, b, c;
             .cdtype = { .e5m2x4, .e4m3x4 }
             .atype = { .e5m2x4, .e4m3x4, .e3m2x4, .e2m3x4, .e2m1x4, .e2m1p4x4, .ue8m0x4 }
             .btype = { .e5m2x4, .e4m3x4, .e3m2x4, .e2m3x4, .e2m1x4, .e2m1p4x4, .ue8m0x4 }",
        )
        .operands(FP8)
        .host(Host::Lane),
    instr("mul")
        .flops(1)
        .section("9.7.5")
        .since(ptx(9, 4))
        .requires(FROM_107)
        .syntax("mul.rz.ftz.f16x2.f32x2.f32x2 d, a, c;")
        .operands(TO_F16X2)
        .host(Host::Lane),
    instr("mul")
        .flops(1)
        .section("9.7.5")
        .since(ptx(9, 4))
        .requires(FROM_107)
        .syntax("mul.rz.bf16x2.f32x2.f32x2 d, a, c;")
        .operands(TO_BF16X2)
        .host(Host::Lane),
    instr("mul")
        .flops(1)
        .section("9.7.5")
        .since(ptx(9, 4))
        .requires(FROM_107)
        .syntax("mul.bf16x2.bf16x2.f16x2 d, a, c;")
        .operands(&[dst("d", ty(Ty::Bf16x2)), src("a", ty(Ty::Bf16x2)), src("c", ty(Ty::F16x2))])
        .host(Host::Lane),
    instr("mul")
        .flops(1)
        .section("9.7.5")
        .since(ptx(9, 4))
        .requires(FROM_107)
        .syntax("mul.f16x2.f16x2.bf16x2 d, a, c;")
        .operands(&[dst("d", ty(Ty::F16x2)), src("a", ty(Ty::F16x2)), src("c", ty(Ty::Bf16x2))])
        .host(Host::Lane),
    instr("mul")
        .flops(1)
        .section("9.7.5")
        .since(ptx(9, 4))
        .requires(FP8_ONLY)
        .syntax(
            "mul{.rn}{.satfinite}.dtype.atype.ctype d, a, c;
             .dtype = { .e5m2x4, .e4m3x4 }
             .atype = { .e5m2x4, .e4m3x4, .e3m2x4, .e2m3x4, .e2m1x4, .e2m1p4x4, .ue8m0x4 }
             .ctype = { .e5m2x4, .e4m3x4, .e3m2x4, .e2m3x4, .e2m1x4, .e2m1p4x4, .ue8m0x4 }",
        )
        .operands(&[dst("d", slot(".dtype")), src("a", slot(".atype")), src("c", slot(".ctype"))])
        .host(Host::Lane),
];
