//! `cvt` from and to formats of 8 bits and fewer, stochastic rounding, `.pzo`, scaling: manual 9.7.9.21.

use super::super::*;

const F32: OpTy = ty(Ty::F32);
/// Scale factors: one for both elements, or one each.
const N1: OpTy = ty(Ty::U8);
const N2: OpTy = ty(Ty::B16);

/// Targets of the narrow formats.
const LOW: Targets = Targets::Only(&[
    ("sm_100a", Ptx(8, 6)),
    ("sm_110a", Ptx(8, 6)),
    ("sm_120a", Ptx(8, 7)),
    ("sm_100f", Ptx(8, 8)),
    ("sm_110f", Ptx(8, 8)),
    ("sm_120f", Ptx(8, 8)),
]);
/// Targets of pairs of 8-bit floats.
const PAIRS_OF_8: Targets = Targets::Only(&[("sm_89", Ptx(8, 1)), ("sm_90", Ptx(7, 8))]);
/// Additions of PTX ISA 9.4.
const FROM_107: Targets = Targets::Only(&[("sm_107f", Ptx(9, 4))]);
/// Targets of stochastic rounding.
const STOCHASTIC: Targets = Targets::Only(&[("sm_100a", Ptx(8, 7)), ("sm_103a", Ptx(8, 8)), ("sm_107a", Ptx(9, 4))]);
/// Targets of `.s2f6x2`, and the version of its `.rz`.
const FIXED_POINT: Targets = Targets::Only(&[
    ("sm_100a", Ptx(9, 1)),
    ("sm_103a", Ptx(9, 1)),
    ("sm_107a", Ptx(9, 4)),
    ("sm_110a", Ptx(9, 1)),
    ("sm_120a", Ptx(9, 1)),
    ("sm_121a", Ptx(9, 1)),
]);
const FIXED_POINT_RZ: Gate = gate(&[has(q::rz)]).requires(Targets::Only(&[("sm_107a", Ptx(9, 4))]));
/// Additions of PTX ISA 9.4 to older forms.
const LATER: Gate = gate(&[any(&[q::rz, q::pzo, q::scaled_n1_ue8m0])]).since(ptx(9, 4)).requires(FROM_107);
const FROM_BF16X2: Gate = gate(&[has(q::bf16x2)]).since(ptx(9, 1)).requires(LOW);
const FROM_HALVES: Gate = gate(&[any(&[q::f16x2, q::bf16x2])]).since(ptx(9, 1)).requires(LOW);
const SCALED_N1: &[Rule] = &[
    Rule::Needs(has(q::scaled_n1_ue8m0), operand("scale_factor"), "`.scaled::n1::ue8m0` takes a scale factor"),
    Rule::Needs(operand("scale_factor"), has(q::scaled_n1_ue8m0), "a scale factor goes with `.scaled::n1::ue8m0`"),
];
const SCALED_N2: &[Rule] = &[
    Rule::Needs(has(q::scaled_n2_ue8m0), operand("scale_factor"), "`.scaled::n2::ue8m0` takes a scale factor"),
    Rule::Needs(operand("scale_factor"), has(q::scaled_n2_ue8m0), "a scale factor goes with `.scaled::n2::ue8m0`"),
];

/// The rest of the family.
pub const LIST: &[Instr] = &[
    instr("cvt")
        .class(InstrClass::Conversion)
        .section("9.7.9.21")
        .since(ptx(9, 4))
        .requires(FROM_107)
        .syntax(
            "cvt.frnd2{.relu}{.satfinite}.pzo.dtype.f32 d, a;
             .frnd2 = { .rn, .rz }
             .dtype = { .f16, .bf16, .tf32 }",
        )
        .operands(&[dst("d", slot(".dtype")).wider(), src("a", F32)])
        .host(Host::Lane),
    instr("cvt")
        .class(InstrClass::Conversion)
        .section("9.7.9.21")
        .since(ptx(9, 4))
        .requires(FROM_107)
        .syntax(
            "cvt.frnd2{.relu}{.satfinite}.pzo.dtype.f32 d, a, b;
             .frnd2 = { .rn, .rz }
             .dtype = { .f16x2, .bf16x2 }",
        )
        .operands(&[dst("d", slot(".dtype")), src("a", F32), src("b", F32)])
        .host(Host::Lane),
    instr("cvt")
        .class(InstrClass::Conversion)
        .section("9.7.9.21")
        .since(ptx(8, 7))
        .requires(STOCHASTIC)
        .syntax(
            "cvt.rs{.relu}{.satfinite}.dtype.f32 d, a, b, rbits;
             .dtype = { .f16x2, .bf16x2 }",
        )
        .operands(&[dst("d", slot(".dtype")), src("a", F32), src("b", F32), src("rbits", ty(Ty::B32)).reg().exact()])
        .host(Host::Lane),
    // Pairs of 8-bit floats.
    instr("cvt")
        .class(InstrClass::Conversion)
        .section("9.7.9.21")
        .since(ptx(7, 8))
        .requires(PAIRS_OF_8)
        .syntax(
            "cvt.frnd2.satfinite{.relu}{.pzo}{.scaled::n1::ue8m0}.f8x2type.f32 d, a, b{, scale_factor};
             .frnd2 = { .rn, .rz }
             .f8x2type = { .e4m3x2, .e5m2x2 }",
        )
        .operands(&[dst("d", slot(".f8x2type")), src("a", F32), src("b", F32), src("scale_factor", N1).reg()])
        .gates(&[LATER])
        .rules(SCALED_N1)
        .host(Host::Lane),
    instr("cvt")
        .class(InstrClass::Conversion)
        .section("9.7.9.21")
        .since(ptx(7, 8))
        .requires(PAIRS_OF_8)
        .syntax(
            "cvt.frnd2.satfinite{.relu}{.pzo}{.scaled::n1::ue8m0}.f8x2type.fp16x2type d, a{, scale_factor};
             .frnd2 = { .rn, .rz }
             .f8x2type = { .e4m3x2, .e5m2x2 }
             .fp16x2type = { .f16x2, .bf16x2 }",
        )
        .operands(&[dst("d", slot(".f8x2type")), src("a", slot(".fp16x2type")), src("scale_factor", N1).reg()])
        .gates(&[LATER, FROM_BF16X2])
        .rules(SCALED_N1)
        .host(Host::Lane),
    instr("cvt")
        .class(InstrClass::Conversion)
        .section("9.7.9.21")
        .since(ptx(7, 8))
        .requires(PAIRS_OF_8)
        .syntax(
            "cvt.rn{.relu}.f16x2.f8x2type d, a;
             .f8x2type = { .e4m3x2, .e5m2x2 }",
        )
        .operands(&[dst("d", ty(Ty::F16x2)), src("a", slot(".f8x2type"))])
        .host(Host::Lane),
    instr("cvt")
        .class(InstrClass::Conversion)
        .section("9.7.9.21")
        .since(ptx(9, 2))
        .requires(LOW)
        .syntax(
            "cvt.rn{.relu}{.satfinite}{.scaled::n2::ue8m0}.bf16x2.f8x2type d, a{, scale_factor};
             .f8x2type = { .e4m3x2, .e5m2x2 }",
        )
        .operands(&[dst("d", ty(Ty::Bf16x2)), src("a", slot(".f8x2type")), src("scale_factor", N2).reg().exact()])
        .rules(SCALED_N2)
        .host(Host::Lane),
    instr("cvt")
        .class(InstrClass::Conversion)
        .section("9.7.9.21")
        .since(ptx(8, 7))
        .requires(STOCHASTIC)
        .syntax(
            "cvt.rs{.relu}.satfinite.x4type.f32 d, {a, b, e, f}, rbits;
             .x4type = { .e4m3x4, .e5m2x4, .e2m1x4, .e2m3x4, .e3m2x4 }",
        )
        .operands(&[
            dst("d", slot(".x4type")),
            src("a", F32),
            src("b", F32),
            src("e", F32),
            src("f", F32),
            src("rbits", ty(Ty::B32)).reg().exact(),
        ])
        .host(Host::Lane),
    // Pairs of 4-bit and 6-bit floats.
    instr("cvt")
        .class(InstrClass::Conversion)
        .section("9.7.9.21")
        .since(ptx(8, 6))
        .requires(LOW)
        .syntax(
            "cvt.frnd2.satfinite{.relu}{.pzo}{.scaled::n1::ue8m0}.e2m1x2.f32 d, a, b{, scale_factor};
             .frnd2 = { .rn, .rz }",
        )
        .operands(&[dst("d", ty(Ty::E2m1x2)), src("a", F32), src("b", F32), src("scale_factor", N1).reg()])
        .gates(&[LATER])
        .rules(SCALED_N1)
        .host(Host::Lane),
    instr("cvt")
        .class(InstrClass::Conversion)
        .section("9.7.9.21")
        .since(ptx(8, 6))
        .requires(LOW)
        .syntax(
            "cvt.frnd2.satfinite{.relu}{.pzo}{.scaled::n1::ue8m0}.e2m1x2.fp16x2type d, a{, scale_factor};
             .frnd2 = { .rn, .rz }
             .fp16x2type = { .f16x2, .bf16x2 }",
        )
        .operands(&[dst("d", ty(Ty::E2m1x2)), src("a", slot(".fp16x2type")), src("scale_factor", N1).reg()])
        .gates(&[LATER, FROM_HALVES])
        .rules(SCALED_N1)
        .host(Host::Lane),
    instr("cvt")
        .class(InstrClass::Conversion)
        .section("9.7.9.21")
        .since(ptx(8, 6))
        .requires(LOW)
        .syntax("cvt.rn{.relu}.f16x2.e2m1x2 d, a;")
        .operands(&[dst("d", ty(Ty::F16x2)), src("a", ty(Ty::E2m1x2))])
        .host(Host::Lane),
    instr("cvt")
        .class(InstrClass::Conversion)
        .section("9.7.9.21")
        .since(ptx(9, 2))
        .requires(LOW)
        .syntax("cvt.rn{.relu}{.satfinite}{.scaled::n2::ue8m0}.bf16x2.e2m1x2 d, a{, scale_factor};")
        .operands(&[dst("d", ty(Ty::Bf16x2)), src("a", ty(Ty::E2m1x2)), src("scale_factor", N2).reg().exact()])
        .rules(SCALED_N2)
        .host(Host::Lane),
    instr("cvt")
        .class(InstrClass::Conversion)
        .section("9.7.9.21")
        .since(ptx(8, 6))
        .requires(LOW)
        .syntax(
            "cvt.frnd2.satfinite{.relu}{.pzo}{.scaled::n1::ue8m0}.f6x2type.f32 d, a, b{, scale_factor};
             .frnd2 = { .rn, .rz }
             .f6x2type = { .e2m3x2, .e3m2x2 }",
        )
        .operands(&[dst("d", slot(".f6x2type")), src("a", F32), src("b", F32), src("scale_factor", N1).reg()])
        .gates(&[LATER])
        .rules(SCALED_N1)
        .host(Host::Lane),
    instr("cvt")
        .class(InstrClass::Conversion)
        .section("9.7.9.21")
        .since(ptx(8, 6))
        .requires(LOW)
        .syntax(
            "cvt.frnd2.satfinite{.relu}{.pzo}{.scaled::n1::ue8m0}.f6x2type.fp16x2type d, a{, scale_factor};
             .frnd2 = { .rn, .rz }
             .f6x2type = { .e2m3x2, .e3m2x2 }
             .fp16x2type = { .f16x2, .bf16x2 }",
        )
        .operands(&[dst("d", slot(".f6x2type")), src("a", slot(".fp16x2type")), src("scale_factor", N1).reg()])
        .gates(&[LATER, FROM_HALVES])
        .rules(SCALED_N1)
        .host(Host::Lane),
    instr("cvt")
        .class(InstrClass::Conversion)
        .section("9.7.9.21")
        .since(ptx(8, 6))
        .requires(LOW)
        .syntax(
            "cvt.rn{.relu}.f16x2.f6x2type d, a;
             .f6x2type = { .e2m3x2, .e3m2x2 }",
        )
        .operands(&[dst("d", ty(Ty::F16x2)), src("a", slot(".f6x2type"))])
        .host(Host::Lane),
    instr("cvt")
        .class(InstrClass::Conversion)
        .section("9.7.9.21")
        .since(ptx(9, 2))
        .requires(LOW)
        .syntax(
            "cvt.rn{.relu}{.satfinite}{.scaled::n2::ue8m0}.bf16x2.f6x2type d, a{, scale_factor};
             .f6x2type = { .e2m3x2, .e3m2x2 }",
        )
        .operands(&[dst("d", ty(Ty::Bf16x2)), src("a", slot(".f6x2type")), src("scale_factor", N2).reg().exact()])
        .rules(SCALED_N2)
        .host(Host::Lane),
    // Pairs of scale factors.
    instr("cvt")
        .class(InstrClass::Conversion)
        .section("9.7.9.21")
        .since(ptx(8, 6))
        .requires(LOW)
        .syntax(
            "cvt.frnd3{.satfinite}.ue8m0x2.f32 d, a, b;
             .frnd3 = { .rz, .rp }",
        )
        .operands(&[dst("d", ty(Ty::Ue8m0x2)), src("a", F32), src("b", F32)])
        .host(Host::Lane),
    instr("cvt")
        .class(InstrClass::Conversion)
        .section("9.7.9.21")
        .since(ptx(8, 6))
        .requires(LOW)
        .syntax(
            "cvt.frnd3{.satfinite}.ue8m0x2.bf16x2 d, a;
             .frnd3 = { .rz, .rp }",
        )
        .operands(&[dst("d", ty(Ty::Ue8m0x2)), src("a", ty(Ty::Bf16x2))])
        .host(Host::Lane),
    instr("cvt")
        .class(InstrClass::Conversion)
        .section("9.7.9.21")
        .since(ptx(8, 6))
        .requires(LOW)
        .syntax("cvt.rn.bf16x2.ue8m0x2 d, a;")
        .operands(&[dst("d", ty(Ty::Bf16x2)), src("a", ty(Ty::Ue8m0x2))])
        .host(Host::Lane),
    instr("cvt")
        .class(InstrClass::Conversion)
        .section("9.7.9.21")
        .since(ptx(9, 1))
        .requires(FIXED_POINT)
        .syntax(
            "cvt.frnd2.satfinite{.relu}{.scaled::n2::ue8m0}.s2f6x2.f32 d, a, b{, scale_factor};
             .frnd2 = { .rn, .rz }",
        )
        .operands(&[dst("d", ty(Ty::S2f6x2)), src("a", F32), src("b", F32), src("scale_factor", N2).reg().exact()])
        .gates(&[FIXED_POINT_RZ])
        .rules(SCALED_N2)
        .host(Host::Lane),
    instr("cvt")
        .class(InstrClass::Conversion)
        .section("9.7.9.21")
        .since(ptx(9, 1))
        .requires(FIXED_POINT)
        .syntax(
            "cvt.frnd2.satfinite{.relu}{.scaled::n2::ue8m0}.s2f6x2.bf16x2 d, a{, scale_factor};
             .frnd2 = { .rn, .rz }",
        )
        .operands(&[dst("d", ty(Ty::S2f6x2)), src("a", ty(Ty::Bf16x2)), src("scale_factor", N2).reg().exact()])
        .gates(&[FIXED_POINT_RZ])
        .rules(SCALED_N2)
        .host(Host::Lane),
    instr("cvt")
        .class(InstrClass::Conversion)
        .section("9.7.9.21")
        .since(ptx(9, 1))
        .requires(FIXED_POINT)
        .syntax("cvt.rn{.satfinite}{.relu}{.scaled::n2::ue8m0}.bf16x2.s2f6x2 d, a{, scale_factor};")
        .operands(&[dst("d", ty(Ty::Bf16x2)), src("a", ty(Ty::S2f6x2)), src("scale_factor", N2).reg().exact()])
        .rules(SCALED_N2)
        .host(Host::Lane),
    instr("cvt")
        .class(InstrClass::Conversion)
        .section("9.7.9.21")
        .since(ptx(9, 4))
        .requires(FROM_107)
        .syntax(
            "cvt.frnd4{.satfinite}.ue5m3x2.f32 d, a, b;
             cvt.frnd2{.satfinite}.scaled::n1::ue8m0.ue5m3x2.f32 d, a, b, scale_factor;
             .frnd2 = { .rn, .rz }
             .frnd4 = { .rn, .rz, .rp }",
        )
        .operands(&[dst("d", ty(Ty::Ue5m3x2)), src("a", F32), src("b", F32), src("scale_factor", N1).reg()])
        .host(Host::Lane),
    instr("cvt")
        .class(InstrClass::Conversion)
        .section("9.7.9.21")
        .since(ptx(9, 4))
        .requires(FROM_107)
        .syntax(
            "cvt.frnd4{.satfinite}.ue5m3x2.fp16x2type d, a;
             cvt.frnd2{.satfinite}.scaled::n1::ue8m0.ue5m3x2.fp16x2type d, a, scale_factor;
             .frnd2 = { .rn, .rz }
             .frnd4 = { .rn, .rz, .rp }
             .fp16x2type = { .f16x2, .bf16x2 }",
        )
        .operands(&[dst("d", ty(Ty::Ue5m3x2)), src("a", slot(".fp16x2type")), src("scale_factor", N1).reg()])
        .host(Host::Lane),
    instr("cvt")
        .class(InstrClass::Conversion)
        .section("9.7.9.21")
        .since(ptx(9, 4))
        .requires(FROM_107)
        .syntax("cvt.rn.f16x2.ue5m3x2 d, a;")
        .operands(&[dst("d", ty(Ty::F16x2)), src("a", ty(Ty::Ue5m3x2))])
        .host(Host::Lane),
    instr("cvt")
        .class(InstrClass::Conversion)
        .section("9.7.9.21")
        .since(ptx(9, 4))
        .requires(FROM_107)
        .syntax("cvt.rn{.satfinite}{.scaled::n2::ue8m0}.bf16x2.ue5m3x2 d, a{, scale_factor};")
        .operands(&[dst("d", ty(Ty::Bf16x2)), src("a", ty(Ty::Ue5m3x2)), src("scale_factor", N2).reg().exact()])
        .rules(SCALED_N2)
        .host(Host::Lane),
];
