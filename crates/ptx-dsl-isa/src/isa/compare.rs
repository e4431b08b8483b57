//! Comparison and selection: manual 9.7.6 and, for half precision, 9.7.7.

use super::*;
use crate::ty::Class;
use crate::written;

const SETP: &[OperandSpec] =
    &[dst("p", PRED).or_sink(), dst("q", PRED).or_sink(), src("a", T), src("b", T), src("c", PRED)];
const SET: &[OperandSpec] =
    &[dst("d", slot(".dtype")), src("a", slot(".stype")), src("b", slot(".stype")), src("c", PRED)];
/// The result's type is the literal of the form.
const SET_TO: &[OperandSpec] = &[dst("d", T), src("a", slot(".stype")), src("b", slot(".stype")), src("c", PRED)];
/// The sources' type is the literal of the form.
const SET_OF: &[OperandSpec] = &[dst("d", slot(".dtype")), src("a", T).reg(), src("b", T).reg(), src("c", PRED)];
const SETP_HALF: &[OperandSpec] =
    &[dst("p", PRED).or_sink(), dst("q", PRED).or_sink(), src("a", T).reg(), src("b", T).reg(), src("c", PRED)];
const PRED: OpTy = ty(Ty::Pred);

const RULES: &[Rule] = &[Rule::Custom(comparison)];
const BF16: &[Gate] = &[gate(&[any(&[q::bf16, q::bf16x2])]).since(ptx(7, 8)).requires(sm(90))];

/// The comparison operators of each type, and `.ftz`, which only types with subnormals have.
fn comparison(instr: &written::Written) -> Option<Violation> {
    let source = *instr.types.last()?;
    let of_unsigned = instr.first_of(&[q::lo, q::ls, q::hi, q::hs]);
    let of_float = instr.first_of(&[q::equ, q::neu, q::ltu, q::leu, q::gtu, q::geu, q::num, q::nan]);
    let ordered = instr.first_of(&[q::lt, q::le, q::gt, q::ge]).or(of_unsigned);
    let name = source.name();
    let float = source.class() == Class::Float || matches!(source, Ty::F16x2 | Ty::Bf16x2);
    let signed = source.class() == Class::Signed || matches!(source, Ty::S8x4 | Ty::S16x2);
    Some(if let (Some(op), false) = (of_float, float) {
        let wrong = Violation::of_qualifier(op, format!("`{op}` compares floating-point values, not `.{name}`"));
        // `.num` and `.nan` have no counterpart.
        match op.text().strip_suffix('u') {
            Some(plain) => wrong.write(plain),
            None => wrong,
        }
    } else if let (Some(op), Class::Bits) = (ordered, source.class()) {
        let text = format!("`{op}` needs an order, and `.{name}` has none: bit types compare with `.eq` and `.ne`");
        let integers = ["u", "s"].into_iter().filter_map(|kind| Ty::from_name(&format!("{kind}{}", source.bits())));
        let remedy = Remedy::Replace(source.qualifier(), integers.map(Ty::qualifier).collect(), "");
        Violation::of_qualifier(op, text).remedy(remedy)
    } else if let (Some(op), true) = (of_unsigned, signed || float) {
        let plain = match op {
            q::lo => q::lt,
            q::ls => q::le,
            q::hi => q::gt,
            _ => q::ge,
        };
        Violation::of_qualifier(op, format!("`{op}` compares unsigned integers, not `.{name}`")).write(plain)
    } else if instr.has(q::ftz) && !matches!(source, Ty::F32 | Ty::F16 | Ty::F16x2) {
        let text = format!("`.ftz` flushes `.f32`, `.f16` and `.f16x2` sources, not `.{name}`");
        Violation::of_qualifier(q::ftz, text).remove(q::ftz)
    } else {
        return None;
    })
}

/// The family.
pub const LIST: &[Instr] = &[
    instr("set")
        .section("9.7.6.1")
        .syntax(
            "set.CmpOp{.ftz}.dtype.stype d, a, b;
             set.CmpOp.BoolOp{.ftz}.dtype.stype d, a, b, {!}c;
             .CmpOp = { .eq, .ne, .lt, .le, .gt, .ge, .lo, .ls, .hi, .hs,
                       .equ, .neu, .ltu, .leu, .gtu, .geu, .num, .nan }
             .BoolOp = { .and, .or, .xor }
             .dtype = { .u32, .s32, .f32 }
             .stype = { .b16, .b32, .b64, .u16, .u32, .u64, .s16, .s32, .s64, .f32, .f64 }",
        )
        .operands(SET)
        .gates(&[gate(&[has(q::f64)]).requires(sm(13))])
        .rules(RULES)
        .host(Host::Lane),
    instr("set")
        .section("9.7.6.1")
        .since(ptx(9, 4))
        .requires(Targets::Only(&[("sm_107f", Ptx(9, 4))]))
        .syntax(
            "set.CmpOp.type d, a, b;
             .CmpOp = { .eq, .ne, .lt, .le, .gt, .ge, .lo, .ls, .hi, .hs }
             .type = { .u8x4, .s8x4, .u16x2, .s16x2 }",
        )
        .operands(&[dst("d", T), src("a", T), src("b", T)])
        .rules(RULES)
        .host(Host::Lane),
    instr("setp")
        .section("9.7.6.2")
        .syntax(
            "setp.CmpOp{.ftz}.type p[|q], a, b;
             setp.CmpOp.BoolOp{.ftz}.type p[|q], a, b, {!}c;
             .CmpOp = { .eq, .ne, .lt, .le, .gt, .ge, .lo, .ls, .hi, .hs,
                       .equ, .neu, .ltu, .leu, .gtu, .geu, .num, .nan }
             .BoolOp = { .and, .or, .xor }
             .type = { .b16, .b32, .b64, .u16, .u32, .u64, .s16, .s32, .s64, .f32, .f64 }",
        )
        .operands(SETP)
        .gates(&[gate(&[has(q::f64)]).requires(sm(13))])
        .rules(RULES)
        .host(Host::Lane),
    instr("selp")
        .section("9.7.6.3")
        .syntax(
            "selp.type d, a, b, c;
             .type = { .b16, .b32, .b64, .u16, .u32, .u64, .s16, .s32, .s64, .f32, .f64 }",
        )
        .operands(&[dst("d", T), src("a", T), src("b", T), src("c", PRED)])
        .gates(&[gate(&[has(q::f64)]).requires(sm(13))])
        .host(Host::Lane),
    instr("slct")
        .section("9.7.6.4")
        .syntax(
            "slct.dtype.s32 d, a, b, c;
             slct{.ftz}.dtype.f32 d, a, b, c;
             .dtype = { .b16, .b32, .b64, .u16, .u32, .u64, .s16, .s32, .s64, .f32, .f64 }",
        )
        .operands(&[dst("d", slot(".dtype")), src("a", slot(".dtype")), src("b", slot(".dtype")), src("c", T)])
        .gates(&[gate(&[has(q::f64)]).requires(sm(13))])
        .host(Host::Lane)
        .merges(),
    instr("set")
        .section("9.7.7.1")
        .since(ptx(4, 2))
        .requires(sm(53))
        .syntax(
            "set.CmpOp{.ftz}.f16.stype d, a, b;
             set.CmpOp.BoolOp{.ftz}.f16.stype d, a, b, {!}c;
             .CmpOp = { .eq, .ne, .lt, .le, .gt, .ge, .lo, .ls, .hi, .hs,
                       .equ, .neu, .ltu, .leu, .gtu, .geu, .num, .nan }
             .BoolOp = { .and, .or, .xor }
             .stype = { .b16, .b32, .b64, .u16, .u32, .u64, .s16, .s32, .s64, .f16, .f32, .f64 }",
        )
        .operands(SET_TO)
        .rules(RULES)
        .host(Host::Lane),
    instr("set")
        .section("9.7.7.1")
        .since(ptx(7, 8))
        .requires(sm(90))
        .syntax(
            "set.CmpOp.bf16.stype d, a, b;
             set.CmpOp.BoolOp.bf16.stype d, a, b, {!}c;
             .CmpOp = { .eq, .ne, .lt, .le, .gt, .ge, .lo, .ls, .hi, .hs,
                       .equ, .neu, .ltu, .leu, .gtu, .geu, .num, .nan }
             .BoolOp = { .and, .or, .xor }
             .stype = { .b16, .b32, .b64, .u16, .u32, .u64, .s16, .s32, .s64, .f16, .bf16, .f32, .f64 }",
        )
        .operands(SET_TO)
        .rules(RULES)
        .host(Host::Lane),
    instr("set")
        .section("9.7.7.1")
        .since(ptx(6, 5))
        .requires(sm(53))
        .syntax(
            "set.CmpOp{.ftz}.dtype.f16 d, a, b;
             set.CmpOp.BoolOp{.ftz}.dtype.f16 d, a, b, {!}c;
             set.CmpOp.dtype.bf16 d, a, b;
             set.CmpOp.BoolOp.dtype.bf16 d, a, b, {!}c;
             .CmpOp = { .eq, .ne, .lt, .le, .gt, .ge,
                       .equ, .neu, .ltu, .leu, .gtu, .geu, .num, .nan }
             .BoolOp = { .and, .or, .xor }
             .dtype = { .u16, .s16, .u32, .s32 }",
        )
        .operands(SET_OF)
        .gates(&[gate(&[any(&[q::bf16, q::bf16x2])]).since(ptx(7, 8)).requires(sm(90))])
        .host(Host::Lane),
    instr("set")
        .section("9.7.7.1")
        .since(ptx(4, 2))
        .requires(sm(53))
        .syntax(
            "set.CmpOp{.ftz}.dtype.f16x2 d, a, b;
             set.CmpOp.BoolOp{.ftz}.dtype.f16x2 d, a, b, {!}c;
             .CmpOp = { .eq, .ne, .lt, .le, .gt, .ge,
                       .equ, .neu, .ltu, .leu, .gtu, .geu, .num, .nan }
             .BoolOp = { .and, .or, .xor }
             .dtype = { .f16x2, .u32, .s32 }",
        )
        .operands(SET_OF)
        .gates(&[gate(&[any(&[q::u32, q::s32])]).since(ptx(6, 5))])
        .host(Host::Lane),
    instr("set")
        .section("9.7.7.1")
        .since(ptx(7, 8))
        .requires(sm(90))
        .syntax(
            "set.CmpOp.dtype.bf16x2 d, a, b;
             set.CmpOp.BoolOp.dtype.bf16x2 d, a, b, {!}c;
             .CmpOp = { .eq, .ne, .lt, .le, .gt, .ge,
                       .equ, .neu, .ltu, .leu, .gtu, .geu, .num, .nan }
             .BoolOp = { .and, .or, .xor }
             .dtype = { .bf16x2, .u32, .s32 }",
        )
        .operands(SET_OF)
        .host(Host::Lane),
    instr("setp")
        .section("9.7.7.2")
        .since(ptx(4, 2))
        .requires(sm(53))
        .syntax(
            "setp.CmpOp{.ftz}.f16 p, a, b;
             setp.CmpOp.BoolOp{.ftz}.f16 p, a, b, {!}c;
             setp.CmpOp{.ftz}.f16x2 p|q, a, b;
             setp.CmpOp.BoolOp{.ftz}.f16x2 p|q, a, b, {!}c;
             setp.CmpOp.bf16 p, a, b;
             setp.CmpOp.BoolOp.bf16 p, a, b, {!}c;
             setp.CmpOp.bf16x2 p|q, a, b;
             setp.CmpOp.BoolOp.bf16x2 p|q, a, b, {!}c;
             .CmpOp = { .eq, .ne, .lt, .le, .gt, .ge,
                       .equ, .neu, .ltu, .leu, .gtu, .geu, .num, .nan }
             .BoolOp = { .and, .or, .xor }",
        )
        .operands(SETP_HALF)
        .gates(BF16)
        .host(Host::Lane),
];
