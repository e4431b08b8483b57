//! `cvt` and `cvt.pack`: manual 9.7.9.21 and 9.7.9.22.
//!
//! What the host does not run yet (formats of 8 bits and fewer, `.rs`, `.pzo`, scaling) has entries of its own.

use super::*;
use crate::hir;
use crate::ty::Class;

const F32: OpTy = ty(Ty::F32);
/// Scale factors: one for both elements, or one each.
const N1: OpTy = ty(Ty::B8);
const N2: OpTy = ty(Ty::B16);

/// Where the narrow formats are.
const LOW: Targets = Targets::Only(&[
    ("sm_100a", Ptx(8, 6)),
    ("sm_110a", Ptx(8, 6)),
    ("sm_120a", Ptx(8, 7)),
    ("sm_100f", Ptx(8, 8)),
    ("sm_110f", Ptx(8, 8)),
    ("sm_120f", Ptx(8, 8)),
]);
/// What PTX ISA 9.4 added.
const FROM_107: Targets = Targets::Only(&[("sm_107f", Ptx(9, 4))]);
/// Where stochastic rounding is.
const STOCHASTIC: Targets = Targets::Only(&[("sm_100a", Ptx(8, 7)), ("sm_103a", Ptx(8, 8)), ("sm_107a", Ptx(9, 4))]);
/// Where `.s2f6x2` is, and since when it is there with `.rz`.
const FIXED_POINT: Targets = Targets::Only(&[
    ("sm_100a", Ptx(9, 1)),
    ("sm_103a", Ptx(9, 1)),
    ("sm_107a", Ptx(9, 4)),
    ("sm_110a", Ptx(9, 1)),
    ("sm_120a", Ptx(9, 1)),
    ("sm_121a", Ptx(9, 1)),
]);
const FIXED_POINT_RZ: Gate = gate(&[has(".rz")]).requires(Targets::Only(&[("sm_107a", Ptx(9, 4))]));
/// What PTX ISA 9.4 added to older forms.
const LATER: Gate = gate(&[any(&[".rz", ".pzo", ".scaled::n1::ue8m0"])]).since(ptx(9, 4)).requires(FROM_107);
const FROM_BF16X2: Gate = gate(&[has(".bf16x2")]).since(ptx(9, 1)).requires(LOW);
const FROM_HALVES: Gate = gate(&[any(&[".f16x2", ".bf16x2"])]).since(ptx(9, 1)).requires(LOW);
const SATFINITE: Gate = gate(&[has(".satfinite")]).since(ptx(8, 1));
const RELU: Gate = gate(&[has(".relu")]).since(ptx(7, 0)).requires(sm(80));
const BF16: Gate = gate(&[has(".bf16")]).since(ptx(7, 0)).requires(sm(80));
const TF32: &[Gate] = &[
    gate(&[any(&[".rn", ".rz"])]).since(ptx(7, 8)).requires(sm(90)),
    gate(&[has(".rna"), has(".satfinite")]).since(ptx(8, 1)),
    gate(&[any(&[".rn", ".rz"]), has(".satfinite")]).since(ptx(8, 6)).requires(sm(100)),
];
const SCALAR: &[Gate] = &[
    gate(&[has(".f64")]).requires(sm(13)),
    gate(&[has(".f16")]).requires(sm(53)),
    BF16,
    gate(&[has(".bf16"), not(".f32")]).since(ptx(7, 8)).requires(sm(90)),
    // `.bf16` to `.f32`: the only one of the two that needs no rounding.
    gate(&[has(".bf16"), not(".rn"), not(".rz"), not(".rm"), not(".rp")]).since(ptx(7, 1)),
    gate(&[has(".bf16"), has(".ftz"), not(".rn"), not(".rz"), not(".rm"), not(".rp")])
        .since(ptx(7, 8))
        .requires(sm(90)),
];

const SCALED_N1: &[Rule] = &[
    Rule::Needs(has(".scaled::n1::ue8m0"), operand("scale_factor"), "`.scaled::n1::ue8m0` takes a scale factor"),
    Rule::Needs(operand("scale_factor"), has(".scaled::n1::ue8m0"), "a scale factor goes with `.scaled::n1::ue8m0`"),
];
const SCALED_N2: &[Rule] = &[
    Rule::Needs(has(".scaled::n2::ue8m0"), operand("scale_factor"), "`.scaled::n2::ue8m0` takes a scale factor"),
    Rule::Needs(operand("scale_factor"), has(".scaled::n2::ue8m0"), "a scale factor goes with `.scaled::n2::ue8m0`"),
];

/// Which conversions round, how, and which saturate: the manual's table of conversion precision.
fn conversion(instr: &hir::Instr) -> Option<(String, Option<usize>)> {
    let &[to, from] = instr.types.as_slice() else { return None };
    let any_of = |names: &[&'static str]| names.iter().copied().find(|n| instr.has(n));
    let whole = any_of(&[".rni", ".rzi", ".rmi", ".rpi"]);
    let nearby = any_of(&[".rn", ".rz", ".rm", ".rp"]);
    let float = |t: Ty| t.class() == Class::Float;
    let (d, a) = (to.name(), from.name());
    let message = match (float(to), float(from)) {
        (false, true) if whole.is_none() => {
            format!("`.{a}` to `.{d}` needs an integer rounding: `.rni`, `.rzi`, `.rmi` or `.rpi`")
        }
        (true, false) if nearby.is_none() => {
            format!("`.{a}` to `.{d}` needs a floating-point rounding: `.rn`, `.rz`, `.rm` or `.rp`")
        }
        (true, true) if to.bits() < from.bits() && nearby.is_none() => {
            format!("`.{a}` to `.{d}` loses precision and needs a rounding: `.rn`, `.rz`, `.rm` or `.rp`")
        }
        (false, false) if whole.or(nearby).is_some() => "integer to integer conversions do not round".to_string(),
        // `.bf16` may be the source of any rounded conversion, exact ones too.
        (true, true) if nearby.is_some() && (to == from || to.bits() > from.bits() && from != Ty::Bf16) => {
            format!("`.{a}` to `.{d}` is exact and takes no floating-point rounding")
        }
        (true, true) if whole.is_some() && to != from => {
            format!("an integer rounding goes with a conversion to an integer or within one type, not `.{a}` to `.{d}`")
        }
        _ if instr.has(".ftz") && to != Ty::F32 && from != Ty::F32 => "`.ftz` needs `.f32` on one side".to_string(),
        _ if instr.has(".sat") && (to == Ty::Bf16 || from == Ty::Bf16) => "`.sat` does not go with `.bf16`".to_string(),
        (false, false) if instr.has(".sat") && holds(to, from) => {
            format!("`.sat` has nothing to do: `.{d}` holds every value of `.{a}`")
        }
        _ => return None,
    };
    Some((message, None))
}

/// Does an integer type hold every value of another?
fn holds(to: Ty, from: Ty) -> bool {
    match (to.class(), from.class()) {
        (Class::Signed, Class::Unsigned) => to.bits() > from.bits(),
        (Class::Unsigned, Class::Signed) => false,
        _ => to.bits() >= from.bits(),
    }
}

/// The family.
pub const LIST: &[Instr] = &[
    instr("cvt")
        .section("9.7.9.21")
        .syntax(
            "cvt{.irnd}{.ftz}{.sat}.dtype.atype d, a;
             cvt{.frnd}{.ftz}{.sat}.dtype.atype d, a;
             .irnd = { .rni, .rzi, .rmi, .rpi }
             .frnd = { .rn, .rz, .rm, .rp }
             .dtype = { .u8, .u16, .u32, .u64, .s8, .s16, .s32, .s64, .bf16, .f16, .f32, .f64 }
             .atype = { .u8, .u16, .u32, .u64, .s8, .s16, .s32, .s64, .bf16, .f16, .f32, .f64 }",
        )
        .operands(&[dst("d", slot(".dtype")).wider(), src("a", slot(".atype")).wider()])
        .gates(SCALAR)
        .rules(&[Rule::Custom(conversion)])
        .host(Host::Lane),
    // Halves and pairs of halves from `.f32`.
    instr("cvt")
        .section("9.7.9.21")
        .requires(sm(53))
        .syntax(
            "cvt.frnd2{.relu}{.satfinite}.dtype.f32 d, a;
             .frnd2 = { .rn, .rz }
             .dtype = { .f16, .bf16 }",
        )
        .operands(&[dst("d", slot(".dtype")).wider(), src("a", F32)])
        .gates(&[SATFINITE, RELU, BF16])
        .host(Host::Lane),
    instr("cvt")
        .section("9.7.9.21")
        .since(ptx(7, 0))
        .requires(sm(80))
        .syntax(
            "cvt.frnd2{.relu}{.satfinite}.dtype.f32 d, a, b;
             .frnd2 = { .rn, .rz }
             .dtype = { .f16x2, .bf16x2 }",
        )
        .operands(&[dst("d", slot(".dtype")), src("a", F32), src("b", F32)])
        .gates(&[SATFINITE])
        .host(Host::Lane),
    instr("cvt")
        .section("9.7.9.21")
        .since(ptx(7, 0))
        .requires(sm(80))
        .syntax(
            "cvt.rna{.satfinite}.tf32.f32 d, a;
             cvt.frnd2{.satfinite}{.relu}.tf32.f32 d, a;
             .frnd2 = { .rn, .rz }",
        )
        .operands(&[dst("d", ty(Ty::Tf32)), src("a", F32)])
        .gates(TF32)
        .host(Host::Lane),
    instr("cvt")
        .section("9.7.9.21")
        .since(ptx(9, 4))
        .requires(FROM_107)
        .syntax(
            "cvt.frnd2{.relu}{.satfinite}.pzo.dtype.f32 d, a;
             .frnd2 = { .rn, .rz }
             .dtype = { .f16, .bf16, .tf32 }",
        )
        .operands(&[dst("d", slot(".dtype")), src("a", F32)]),
    instr("cvt")
        .section("9.7.9.21")
        .since(ptx(9, 4))
        .requires(FROM_107)
        .syntax(
            "cvt.frnd2{.relu}{.satfinite}.pzo.dtype.f32 d, a, b;
             .frnd2 = { .rn, .rz }
             .dtype = { .f16x2, .bf16x2 }",
        )
        .operands(&[dst("d", slot(".dtype")), src("a", F32), src("b", F32)]),
    instr("cvt")
        .section("9.7.9.21")
        .since(ptx(8, 7))
        .requires(STOCHASTIC)
        .syntax(
            "cvt.rs{.relu}{.satfinite}.dtype.f32 d, a, b, rbits;
             .dtype = { .f16x2, .bf16x2 }",
        )
        .operands(&[dst("d", slot(".dtype")), src("a", F32), src("b", F32), src("rbits", ty(Ty::B32)).reg()]),
    // Pairs of 8-bit floats.
    instr("cvt")
        .section("9.7.9.21")
        .since(ptx(7, 8))
        .requires(sm(89))
        .syntax(
            "cvt.frnd2.satfinite{.relu}{.pzo}{.scaled::n1::ue8m0}.f8x2type.f32 d, a, b{, scale_factor};
             .frnd2 = { .rn, .rz }
             .f8x2type = { .e4m3x2, .e5m2x2 }",
        )
        .operands(&[dst("d", slot(".f8x2type")), src("a", F32), src("b", F32), src("scale_factor", N1)])
        .gates(&[LATER])
        .rules(SCALED_N1),
    instr("cvt")
        .section("9.7.9.21")
        .since(ptx(7, 8))
        .requires(sm(89))
        .syntax(
            "cvt.frnd2.satfinite{.relu}{.pzo}{.scaled::n1::ue8m0}.f8x2type.fp16x2type d, a{, scale_factor};
             .frnd2 = { .rn, .rz }
             .f8x2type = { .e4m3x2, .e5m2x2 }
             .fp16x2type = { .f16x2, .bf16x2 }",
        )
        .operands(&[dst("d", slot(".f8x2type")), src("a", slot(".fp16x2type")), src("scale_factor", N1)])
        .gates(&[LATER, FROM_BF16X2])
        .rules(SCALED_N1),
    instr("cvt")
        .section("9.7.9.21")
        .since(ptx(7, 8))
        .requires(sm(89))
        .syntax(
            "cvt.rn{.relu}.f16x2.f8x2type d, a;
             .f8x2type = { .e4m3x2, .e5m2x2 }",
        )
        .operands(&[dst("d", ty(Ty::F16x2)), src("a", slot(".f8x2type"))]),
    instr("cvt")
        .section("9.7.9.21")
        .since(ptx(9, 2))
        .requires(LOW)
        .syntax(
            "cvt.rn{.relu}{.satfinite}{.scaled::n2::ue8m0}.bf16x2.f8x2type d, a{, scale_factor};
             .f8x2type = { .e4m3x2, .e5m2x2 }",
        )
        .operands(&[dst("d", ty(Ty::Bf16x2)), src("a", slot(".f8x2type")), src("scale_factor", N2)])
        .rules(SCALED_N2),
    instr("cvt")
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
            src("rbits", ty(Ty::B32)).reg(),
        ]),
    // Pairs of 4-bit and 6-bit floats.
    instr("cvt")
        .section("9.7.9.21")
        .since(ptx(8, 6))
        .requires(LOW)
        .syntax(
            "cvt.frnd2.satfinite{.relu}{.pzo}{.scaled::n1::ue8m0}.e2m1x2.f32 d, a, b{, scale_factor};
             .frnd2 = { .rn, .rz }",
        )
        .operands(&[dst("d", ty(Ty::E2m1x2)), src("a", F32), src("b", F32), src("scale_factor", N1)])
        .gates(&[LATER])
        .rules(SCALED_N1),
    instr("cvt")
        .section("9.7.9.21")
        .since(ptx(8, 6))
        .requires(LOW)
        .syntax(
            "cvt.frnd2.satfinite{.relu}{.pzo}{.scaled::n1::ue8m0}.e2m1x2.fp16x2type d, a{, scale_factor};
             .frnd2 = { .rn, .rz }
             .fp16x2type = { .f16x2, .bf16x2 }",
        )
        .operands(&[dst("d", ty(Ty::E2m1x2)), src("a", slot(".fp16x2type")), src("scale_factor", N1)])
        .gates(&[LATER, FROM_HALVES])
        .rules(SCALED_N1),
    instr("cvt")
        .section("9.7.9.21")
        .since(ptx(8, 6))
        .requires(LOW)
        .syntax("cvt.rn{.relu}.f16x2.e2m1x2 d, a;")
        .operands(&[dst("d", ty(Ty::F16x2)), src("a", ty(Ty::E2m1x2))]),
    instr("cvt")
        .section("9.7.9.21")
        .since(ptx(9, 2))
        .requires(LOW)
        .syntax("cvt.rn{.relu}{.satfinite}{.scaled::n2::ue8m0}.bf16x2.e2m1x2 d, a{, scale_factor};")
        .operands(&[dst("d", ty(Ty::Bf16x2)), src("a", ty(Ty::E2m1x2)), src("scale_factor", N2)])
        .rules(SCALED_N2),
    instr("cvt")
        .section("9.7.9.21")
        .since(ptx(8, 6))
        .requires(LOW)
        .syntax(
            "cvt.frnd2.satfinite{.relu}{.pzo}{.scaled::n1::ue8m0}.f6x2type.f32 d, a, b{, scale_factor};
             .frnd2 = { .rn, .rz }
             .f6x2type = { .e2m3x2, .e3m2x2 }",
        )
        .operands(&[dst("d", slot(".f6x2type")), src("a", F32), src("b", F32), src("scale_factor", N1)])
        .gates(&[LATER])
        .rules(SCALED_N1),
    instr("cvt")
        .section("9.7.9.21")
        .since(ptx(8, 6))
        .requires(LOW)
        .syntax(
            "cvt.frnd2.satfinite{.relu}{.pzo}{.scaled::n1::ue8m0}.f6x2type.fp16x2type d, a{, scale_factor};
             .frnd2 = { .rn, .rz }
             .f6x2type = { .e2m3x2, .e3m2x2 }
             .fp16x2type = { .f16x2, .bf16x2 }",
        )
        .operands(&[dst("d", slot(".f6x2type")), src("a", slot(".fp16x2type")), src("scale_factor", N1)])
        .gates(&[LATER, FROM_HALVES])
        .rules(SCALED_N1),
    instr("cvt")
        .section("9.7.9.21")
        .since(ptx(8, 6))
        .requires(LOW)
        .syntax(
            "cvt.rn{.relu}.f16x2.f6x2type d, a;
             .f6x2type = { .e2m3x2, .e3m2x2 }",
        )
        .operands(&[dst("d", ty(Ty::F16x2)), src("a", slot(".f6x2type"))]),
    instr("cvt")
        .section("9.7.9.21")
        .since(ptx(9, 2))
        .requires(LOW)
        .syntax(
            "cvt.rn{.relu}{.satfinite}{.scaled::n2::ue8m0}.bf16x2.f6x2type d, a{, scale_factor};
             .f6x2type = { .e2m3x2, .e3m2x2 }",
        )
        .operands(&[dst("d", ty(Ty::Bf16x2)), src("a", slot(".f6x2type")), src("scale_factor", N2)])
        .rules(SCALED_N2),
    // Pairs of scale factors.
    instr("cvt")
        .section("9.7.9.21")
        .since(ptx(8, 6))
        .requires(LOW)
        .syntax(
            "cvt.frnd3{.satfinite}.ue8m0x2.f32 d, a, b;
             .frnd3 = { .rz, .rp }",
        )
        .operands(&[dst("d", ty(Ty::Ue8m0x2)), src("a", F32), src("b", F32)]),
    instr("cvt")
        .section("9.7.9.21")
        .since(ptx(8, 6))
        .requires(LOW)
        .syntax(
            "cvt.frnd3{.satfinite}.ue8m0x2.bf16x2 d, a;
             .frnd3 = { .rz, .rp }",
        )
        .operands(&[dst("d", ty(Ty::Ue8m0x2)), src("a", ty(Ty::Bf16x2))]),
    instr("cvt")
        .section("9.7.9.21")
        .since(ptx(8, 6))
        .requires(LOW)
        .syntax("cvt.rn.bf16x2.ue8m0x2 d, a;")
        .operands(&[dst("d", ty(Ty::Bf16x2)), src("a", ty(Ty::Ue8m0x2))]),
    instr("cvt")
        .section("9.7.9.21")
        .since(ptx(9, 1))
        .requires(FIXED_POINT)
        .syntax(
            "cvt.frnd2.satfinite{.relu}{.scaled::n2::ue8m0}.s2f6x2.f32 d, a, b{, scale_factor};
             .frnd2 = { .rn, .rz }",
        )
        .operands(&[dst("d", ty(Ty::S2f6x2)), src("a", F32), src("b", F32), src("scale_factor", N2)])
        .gates(&[FIXED_POINT_RZ])
        .rules(SCALED_N2),
    instr("cvt")
        .section("9.7.9.21")
        .since(ptx(9, 1))
        .requires(FIXED_POINT)
        .syntax(
            "cvt.frnd2.satfinite{.relu}{.scaled::n2::ue8m0}.s2f6x2.bf16x2 d, a{, scale_factor};
             .frnd2 = { .rn, .rz }",
        )
        .operands(&[dst("d", ty(Ty::S2f6x2)), src("a", ty(Ty::Bf16x2)), src("scale_factor", N2)])
        .gates(&[FIXED_POINT_RZ])
        .rules(SCALED_N2),
    instr("cvt")
        .section("9.7.9.21")
        .since(ptx(9, 1))
        .requires(FIXED_POINT)
        .syntax("cvt.rn{.satfinite}{.relu}{.scaled::n2::ue8m0}.bf16x2.s2f6x2 d, a{, scale_factor};")
        .operands(&[dst("d", ty(Ty::Bf16x2)), src("a", ty(Ty::S2f6x2)), src("scale_factor", N2)])
        .rules(SCALED_N2),
    instr("cvt")
        .section("9.7.9.21")
        .since(ptx(9, 4))
        .requires(FROM_107)
        .syntax(
            "cvt.frnd4{.satfinite}.ue5m3x2.f32 d, a, b;
             cvt.frnd2{.satfinite}.scaled::n1::ue8m0.ue5m3x2.f32 d, a, b, scale_factor;
             .frnd2 = { .rn, .rz }
             .frnd4 = { .rn, .rz, .rp }",
        )
        .operands(&[dst("d", ty(Ty::Ue5m3x2)), src("a", F32), src("b", F32), src("scale_factor", N1)]),
    instr("cvt")
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
        .operands(&[dst("d", ty(Ty::Ue5m3x2)), src("a", slot(".fp16x2type")), src("scale_factor", N1)]),
    instr("cvt")
        .section("9.7.9.21")
        .since(ptx(9, 4))
        .requires(FROM_107)
        .syntax("cvt.rn.f16x2.ue5m3x2 d, a;")
        .operands(&[dst("d", ty(Ty::F16x2)), src("a", ty(Ty::Ue5m3x2))]),
    instr("cvt")
        .section("9.7.9.21")
        .since(ptx(9, 4))
        .requires(FROM_107)
        .syntax("cvt.rn{.satfinite}{.scaled::n2::ue8m0}.bf16x2.ue5m3x2 d, a{, scale_factor};")
        .operands(&[dst("d", ty(Ty::Bf16x2)), src("a", ty(Ty::Ue5m3x2)), src("scale_factor", N2)])
        .rules(SCALED_N2),
    instr("cvt.pack")
        .section("9.7.9.22")
        .since(ptx(6, 5))
        .requires(sm(72))
        .syntax(
            "cvt.pack.sat.convertType.abType d, a, b;
             .convertType = { .u16, .s16 }
             .abType = { .s32 }",
        )
        .operands(&[dst("d", ty(Ty::B32)), src("a", slot(".abType")), src("b", slot(".abType"))])
        .host(Host::Lane),
    instr("cvt.pack")
        .section("9.7.9.22")
        .since(ptx(6, 5))
        .requires(sm(72))
        .syntax(
            "cvt.pack.sat.convertType.abType.cType d, a, b, c;
             .convertType = { .u2, .s2, .u4, .s4, .u8, .s8 }
             .abType = { .s32 }
             .cType = { .b32 }",
        )
        .operands(&[
            dst("d", ty(Ty::B32)),
            src("a", slot(".abType")),
            src("b", slot(".abType")),
            src("c", slot(".cType")),
        ])
        .gates(&[gate(&[any(&[".u2", ".s2", ".u4", ".s4"])]).requires(sm(75))])
        .host(Host::Lane),
];
