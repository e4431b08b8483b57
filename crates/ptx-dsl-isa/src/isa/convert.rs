//! `cvt` and `cvt.pack`: manual 9.7.9.21 and 9.7.9.22.
//!
//! `convert/narrow.rs` has what the host does not run yet (formats of 8 bits and fewer, `.rs`, `.pzo`, scaling).

use super::*;
use crate::ty::Class;
use crate::written;

pub mod narrow;

const F32: OpTy = ty(Ty::F32);
const SATFINITE: Gate = gate(&[has(q::satfinite)]).since(ptx(8, 1)).requires(sm(70));
const RELU: Gate = gate(&[has(q::relu)]).since(ptx(7, 0)).requires(sm(80));
const BF16: Gate = gate(&[has(q::bf16)]).since(ptx(7, 0)).requires(sm(80));
const TF32: &[Gate] = &[
    gate(&[any(&[q::rn, q::rz])]).since(ptx(7, 8)).requires(sm(90)),
    gate(&[has(q::rna), has(q::satfinite)]).since(ptx(8, 1)),
    gate(&[any(&[q::rn, q::rz]), has(q::satfinite)]).since(ptx(8, 6)).requires(sm(100)),
];
/// `.f16` is on every target: only its arithmetic needs `sm_53`.
const SCALAR: &[Gate] = &[
    gate(&[has(q::f64)]).requires(sm(13)),
    BF16,
    gate(&[has(q::bf16), not(q::f32)]).since(ptx(7, 8)).requires(sm(90)),
    // `.bf16` to `.f32`: the only one of the two that needs no rounding.
    gate(&[types(&[Ty::F32, Ty::Bf16])]).since(ptx(7, 1)),
    gate(&[types(&[Ty::F32, Ty::Bf16]), has(q::ftz)]).since(ptx(7, 8)).requires(sm(90)),
];

/// Which conversions round, and how, and which saturate: the manual's table of conversion precision.
fn conversion(instr: &written::Written) -> Option<Violation> {
    let &[to, from] = instr.types.as_slice() else { return None };
    let whole = instr.first_of(&[q::rni, q::rzi, q::rmi, q::rpi]);
    let nearby = instr.first_of(&[q::rn, q::rz, q::rm, q::rp]);
    let float = |t: Ty| t.class() == Class::Float;
    let (d, a) = (to.name(), from.name());
    let narrow = |t: Ty| t.bits() == 8;
    let rounding = whole.or(nearby);
    let written = rounding.map_or("", Qualifier::text);
    // In place of a rounding of the other kind.
    let with = |rounding: Qualifier| {
        Remedy::Spell(instr.spelling.replacen(&format!("cvt{written}"), &format!("cvt{rounding}"), 1))
    };
    let without = |wrong: Violation| rounding.map_or(wrong.clone(), |rounding| wrong.remove(rounding));
    let of_source = |text: String| Violation::of_qualifier(from.qualifier(), text);
    Some(match (float(to), float(from)) {
        // Those whose register has 8 bits are an entry of their own.
        _ if to == Ty::Bf16 && narrow(from) || from == Ty::Bf16 && narrow(to) => {
            let other = if narrow(to) { to } else { from };
            let by = Ty::from_name(&format!("{}32", &other.name()[..1])).unwrap_or(Ty::U32);
            let then = ", and convert between the two with a second `cvt`";
            let text = format!("`.bf16` converts from and to `.{}` in a register of 8 bits only", other.name());
            Violation::of_qualifier(q::bf16, text).remedy(Remedy::Replace(
                other.qualifier(),
                vec![by.qualifier()],
                then,
            ))
        }
        (false, true) if whole.is_none() => {
            of_source(format!("`.{a}` to `.{d}` needs an integer rounding: `.rni`, `.rzi`, `.rmi` or `.rpi`"))
                .remedy(with(q::rzi))
        }
        (true, false) if nearby.is_none() => {
            of_source(format!("`.{a}` to `.{d}` needs a floating-point rounding: `.rn`, `.rz`, `.rm` or `.rp`"))
                .remedy(with(q::rn))
        }
        (true, true) if to.bits() < from.bits() && nearby.is_none() => {
            of_source(format!("`.{a}` to `.{d}` loses precision and needs a rounding: `.rn`, `.rz`, `.rm` or `.rp`"))
                .remedy(with(q::rn))
        }
        (false, false) if rounding.is_some() => {
            without(Violation::of_opcode("integer to integer conversions do not round"))
        }
        // `.bf16` may be the source of any rounded conversion, exact ones too.
        (true, true) if nearby.is_some() && (to == from || to.bits() > from.bits() && from != Ty::Bf16) => {
            without(of_source(format!("`.{a}` to `.{d}` is exact and takes no floating-point rounding")))
        }
        (true, true) if whole.is_some() && to != from => without(Violation::of_opcode(format!(
            "an integer rounding goes with a conversion to an integer or within one type, not `.{a}` to `.{d}`"
        ))),
        _ if instr.has(q::ftz) && to != Ty::F32 && from != Ty::F32 => {
            Violation::of_qualifier(q::ftz, "`.ftz` needs `.f32` on one side").remove(q::ftz)
        }
        _ if instr.has(q::sat) && (to == Ty::Bf16 || from == Ty::Bf16) => {
            Violation::of_qualifier(q::sat, "`.sat` does not go with `.bf16`").remove(q::sat)
        }
        (false, false) if instr.has(q::sat) && holds(to, from) => {
            let text = format!("`.sat` has nothing to do: `.{d}` holds every value of `.{a}`");
            Violation::of_qualifier(q::sat, text).remove(q::sat)
        }
        _ => return None,
    })
}

/// Can an integer type represent every value of another?
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
        .class(InstrClass::Conversion)
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
    // ptxas takes these with registers of 8 bits alone; nvcc's header of `.bf16` writes them.
    instr("cvt")
        .class(InstrClass::Conversion)
        .section("9.7.9.21")
        .since(ptx(7, 8))
        .requires(sm(90))
        .syntax("cvt.irnd.byte.bf16 d, a; .irnd = { .rni, .rzi, .rmi, .rpi } .byte = { .u8, .s8 }")
        .operands(&[dst("d", slot(".byte")), src("a", ty(Ty::Bf16))])
        .host(Host::Lane),
    instr("cvt")
        .class(InstrClass::Conversion)
        .section("9.7.9.21")
        .since(ptx(7, 8))
        .requires(sm(90))
        .syntax("cvt.frnd.bf16.byte d, a; .frnd = { .rn, .rz, .rm, .rp } .byte = { .u8, .s8 }")
        .operands(&[dst("d", ty(Ty::Bf16)), src("a", slot(".byte"))])
        .host(Host::Lane),
    // Halves and pairs of halves from `.f32`.
    instr("cvt")
        .class(InstrClass::Conversion)
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
        .class(InstrClass::Conversion)
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
        .class(InstrClass::Conversion)
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
    instr("cvt.pack")
        .class(InstrClass::Conversion)
        .section("9.7.9.22")
        .since(ptx(6, 5))
        .requires(sm(72))
        .syntax(
            "cvt.pack.sat.convertType.abType d, a, b;
             .convertType = { .u16, .s16 }
             .abType = { .s32 }",
        )
        .operands(&[dst("d", slot(".abType")), src("a", slot(".abType")), src("b", slot(".abType"))])
        .host(Host::Lane)
        .merges(),
    instr("cvt.pack")
        .class(InstrClass::Conversion)
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
            dst("d", slot(".abType")),
            src("a", slot(".abType")),
            src("b", slot(".abType")),
            src("c", slot(".cType")),
        ])
        .gates(&[gate(&[any(&[q::u2, q::s2, q::u4, q::s4])]).requires(sm(75))])
        .host(Host::Lane)
        .merges(),
];
