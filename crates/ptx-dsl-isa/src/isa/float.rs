//! Floating-point arithmetic on `.f32`, `.f64` and `.f32x2`: manual 9.7.3.

use super::*;

const DA: &[OperandSpec] = &[dst("d", T), src("a", T)];
const DAB: &[OperandSpec] = &[dst("d", T), src("a", T), src("b", T)];
const DABC: &[OperandSpec] = &[dst("d", T), src("a", T), src("b", T), src("c", T)];

const DOUBLE: Gate = gate(&[has(q::f64)]).requires(sm(13));
const PACKED: Gate = gate(&[has(q::f32x2)]).since(ptx(8, 6)).requires(sm(100));
/// Rounding other than to nearest in `div`, `rcp` and `sqrt`.
const DIRECTED: Gate = gate(&[any(&[q::rz, q::rm, q::rp])]).since(ptx(1, 4)).requires(sm(20));
/// `.rn` and `.rz` were the first roundings of `add`, `sub`, `mul`.
const UP_DOWN: Gate = gate(&[has(q::f32), any(&[q::rm, q::rp])]).requires(sm(20));
const ROUNDED: Gate = gate(&[has(q::f32), any(&[q::rn, q::rz, q::rm, q::rp])]).requires(sm(20));
const MIN_MAX: &[Gate] = &[
    DOUBLE,
    gate(&[has(q::NaN)]).since(ptx(7, 0)).requires(sm(80)),
    gate(&[has(q::xorsign)]).since(ptx(7, 2)).requires(sm(86)),
    gate(&[operand("c")]).since(ptx(8, 8)).requires(sm(100)),
];

/// The family.
pub const LIST: &[Instr] = &[
    instr("testp")
        .section("9.7.3.1")
        .since(ptx(2, 0))
        .requires(sm(20))
        .syntax(
            "testp.op.type p, a;
             .op = { .finite, .infinite, .number, .notanumber, .normal, .subnormal }
             .type = { .f32, .f64 }",
        )
        .operands(&[dst("p", ty(Ty::Pred)), src("a", T)])
        .host(Host::Lane),
    // ptxas takes it without an operation too.
    instr("testp")
        .section("9.7.3.1")
        .since(ptx(2, 0))
        .requires(sm(20))
        .syntax(
            "testp.type p, a;
             .type = { .f32, .f64 }",
        )
        .operands(&[dst("p", ty(Ty::Pred)), src("a", T)])
        .host(Host::NotYet("without an operation it has no result")),
    instr("copysign")
        .section("9.7.3.2")
        .since(ptx(2, 0))
        .requires(sm(20))
        .syntax(
            "copysign.type d, a, b;
             .type = { .f32, .f64 }",
        )
        .operands(DAB)
        .host(Host::Lane),
    instr("add")
        .flops(1)
        .section("9.7.3.3")
        .syntax(
            "add{.rnd}{.ftz}{.sat}.f32 d, a, b;
             add{.rnd}{.ftz}.f32x2 d, a, b;
             add{.rnd}.f64 d, a, b;
             .rnd = { .rn, .rz, .rm, .rp }",
        )
        .operands(DAB)
        .gates(&[DOUBLE, UP_DOWN, PACKED])
        .host(Host::Lane),
    instr("sub")
        .flops(1)
        .section("9.7.3.4")
        .syntax(
            "sub{.rnd}{.ftz}{.sat}.f32 d, a, b;
             sub{.rnd}{.ftz}.f32x2 d, a, b;
             sub{.rnd}.f64 d, a, b;
             .rnd = { .rn, .rz, .rm, .rp }",
        )
        .operands(DAB)
        .gates(&[DOUBLE, UP_DOWN, PACKED])
        .host(Host::Lane),
    instr("mul")
        .flops(1)
        .section("9.7.3.5")
        .syntax(
            "mul{.rnd}{.ftz}{.sat}.f32 d, a, b;
             mul{.rnd}{.ftz}.f32x2 d, a, b;
             mul{.rnd}.f64 d, a, b;
             .rnd = { .rn, .rz, .rm, .rp }",
        )
        .operands(DAB)
        .gates(&[DOUBLE, UP_DOWN, PACKED])
        .host(Host::Lane),
    instr("fma")
        .flops(2)
        .section("9.7.3.6")
        .since(ptx(1, 4))
        .syntax(
            "fma.rnd{.ftz}{.sat}.f32 d, a, b, c;
             fma.rnd{.ftz}.f32x2 d, a, b, c;
             fma.rnd.f64 d, a, b, c;
             .rnd = { .rn, .rz, .rm, .rp }",
        )
        .operands(DABC)
        .gates(&[DOUBLE, gate(&[has(q::f32)]).since(ptx(2, 0)).requires(sm(20)), PACKED])
        .host(Host::Lane),
    // Without a rounding: before PTX 3.2, or on sm_1x.
    instr("mad")
        .flops(2)
        .section("9.7.3.7")
        .until(ptx(3, 2), sm(20))
        .syntax("mad{.ftz}{.sat}.f32 d, a, b, c;")
        .operands(DABC)
        .host(Host::Lane),
    instr("mad")
        .flops(2)
        .section("9.7.3.7")
        .syntax(
            "mad.rnd{.ftz}{.sat}.f32 d, a, b, c;
             mad.rnd.f64 d, a, b, c;
             .rnd = { .rn, .rz, .rm, .rp }",
        )
        .operands(DABC)
        .gates(&[DOUBLE, ROUNDED])
        .host(Host::Lane),
    instr("div")
        .section("9.7.3.8")
        .since(ptx(1, 4))
        .first(&["full"])
        .syntax(
            "div.approx{.ftz}.f32 d, a, b;
             div.full{.ftz}.f32 d, a, b;
             div.rnd{.ftz}.f32 d, a, b;
             div.rnd.f64 d, a, b;
             .rnd = { .rn, .rz, .rm, .rp }",
        )
        .operands(DAB)
        .gates(&[DOUBLE, ROUNDED, DIRECTED])
        .host(Host::Lane)
        .slow(),
    instr("abs")
        .section("9.7.3.9")
        .syntax(
            "abs{.ftz}.f32 d, a;
             abs.f64 d, a;",
        )
        .operands(DA)
        .gates(&[DOUBLE])
        .host(Host::Lane),
    instr("neg")
        .section("9.7.3.10")
        .syntax(
            "neg{.ftz}.f32 d, a;
             neg.f64 d, a;",
        )
        .operands(DA)
        .gates(&[DOUBLE])
        .host(Host::Lane),
    instr("min")
        .section("9.7.3.11")
        .syntax(
            "min{.ftz}{.NaN}{.xorsign.abs}.f32 d, a, b;
             min{.ftz}{.NaN}{.abs}.f32 d, a, b, c;
             min.f64 d, a, b;",
        )
        .operands(DABC)
        .gates(MIN_MAX)
        .host(Host::Lane),
    instr("max")
        .section("9.7.3.12")
        .syntax(
            "max{.ftz}{.NaN}{.xorsign.abs}.f32 d, a, b;
             max{.ftz}{.NaN}{.abs}.f32 d, a, b, c;
             max.f64 d, a, b;",
        )
        .operands(DABC)
        .gates(MIN_MAX)
        .host(Host::Lane),
    instr("rcp")
        .section("9.7.3.13")
        .since(ptx(1, 4))
        .syntax(
            "rcp.approx{.ftz}.f32 d, a;
             rcp.rnd{.ftz}.f32 d, a;
             rcp.rnd.f64 d, a;
             .rnd = { .rn, .rz, .rm, .rp }",
        )
        .operands(DA)
        .gates(&[DOUBLE, ROUNDED, DIRECTED])
        .host(Host::Lane)
        .slow(),
    instr("rcp")
        .section("9.7.3.14")
        .since(ptx(2, 1))
        .requires(sm(20))
        .syntax("rcp.approx.ftz.f64 d, a;")
        .operands(DA)
        .host(Host::Lane)
        .slow(),
    instr("sqrt")
        .section("9.7.3.15")
        .since(ptx(1, 4))
        .syntax(
            "sqrt.approx{.ftz}.f32 d, a;
             sqrt.rnd{.ftz}.f32 d, a;
             sqrt.rnd.f64 d, a;
             .rnd = { .rn, .rz, .rm, .rp }",
        )
        .operands(DA)
        .gates(&[DOUBLE, ROUNDED, DIRECTED])
        .host(Host::Lane)
        .slow(),
    instr("rsqrt")
        .section("9.7.3.16")
        .since(ptx(1, 4))
        .syntax(
            "rsqrt.approx{.ftz}.f32 d, a;
             rsqrt.approx.f64 d, a;",
        )
        .operands(DA)
        .gates(&[DOUBLE])
        .host(Host::Lane)
        .slow(),
    instr("rsqrt")
        .section("9.7.3.17")
        .since(ptx(4, 0))
        .requires(sm(20))
        .syntax("rsqrt.approx.ftz.f64 d, a;")
        .operands(DA)
        .host(Host::Lane)
        .slow(),
    instr("sin")
        .section("9.7.3.18")
        .since(ptx(1, 4))
        .syntax("sin.approx{.ftz}.f32 d, a;")
        .operands(DA)
        .host(Host::Lane)
        .slow(),
    instr("cos")
        .section("9.7.3.19")
        .since(ptx(1, 4))
        .syntax("cos.approx{.ftz}.f32 d, a;")
        .operands(DA)
        .host(Host::Lane)
        .slow(),
    instr("lg2")
        .section("9.7.3.20")
        .since(ptx(1, 4))
        .syntax("lg2.approx{.ftz}.f32 d, a;")
        .operands(DA)
        .host(Host::Lane)
        .slow(),
    instr("ex2")
        .section("9.7.3.21")
        .since(ptx(1, 4))
        .syntax("ex2.approx{.ftz}.f32 d, a;")
        .operands(DA)
        .host(Host::Lane)
        .slow(),
    instr("tanh")
        .section("9.7.3.22")
        .since(ptx(7, 0))
        .requires(sm(75))
        .syntax("tanh.approx.f32 d, a;")
        .operands(DA)
        .host(Host::Lane)
        .slow(),
];
