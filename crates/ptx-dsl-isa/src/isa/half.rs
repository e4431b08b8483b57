//! Half-precision arithmetic on `.f16`, `.f16x2`, `.bf16` and `.bf16x2`: manual 9.7.4. Their sources are registers:
//! PTX has no constants of these types.

use super::*;

const DA: &[OperandSpec] = &[dst("d", T), src("a", T).reg()];
const DAB: &[OperandSpec] = &[dst("d", T), src("a", T).reg(), src("b", T).reg()];
const DABC: &[OperandSpec] = &[dst("d", T), src("a", T).reg(), src("b", T).reg(), src("c", T).reg()];

const BF16_90: &[Gate] = &[gate(&[any(&[q::bf16, q::bf16x2])]).since(ptx(7, 8)).requires(sm(90))];
const BF16_80: &[Gate] = &[gate(&[any(&[q::bf16, q::bf16x2])]).since(ptx(7, 0)).requires(sm(80))];
const XORSIGN: &[Gate] = &[gate(&[has(q::xorsign)]).since(ptx(7, 2)).requires(sm(86))];

/// The family.
pub const LIST: &[Instr] = &[
    instr("add")
        .flops(1)
        .section("9.7.4.1")
        .since(ptx(4, 2))
        .requires(sm(53))
        .syntax(
            "add{.rn}{.ftz}{.sat}.f16 d, a, b;
             add{.rn}{.ftz}{.sat}.f16x2 d, a, b;
             add{.rn}.bf16 d, a, b;
             add{.rn}.bf16x2 d, a, b;",
        )
        .operands(DAB)
        .gates(BF16_90)
        .host(Host::Lane),
    instr("sub")
        .flops(1)
        .section("9.7.4.2")
        .since(ptx(4, 2))
        .requires(sm(53))
        .syntax(
            "sub{.rn}{.ftz}{.sat}.f16 d, a, b;
             sub{.rn}{.ftz}{.sat}.f16x2 d, a, b;
             sub{.rn}.bf16 d, a, b;
             sub{.rn}.bf16x2 d, a, b;",
        )
        .operands(DAB)
        .gates(BF16_90)
        .host(Host::Lane),
    instr("mul")
        .flops(1)
        .section("9.7.4.3")
        .since(ptx(4, 2))
        .requires(sm(53))
        .syntax(
            "mul{.rn}{.ftz}{.sat}.f16 d, a, b;
             mul{.rn}{.ftz}{.sat}.f16x2 d, a, b;
             mul{.rn}.bf16 d, a, b;
             mul{.rn}.bf16x2 d, a, b;",
        )
        .operands(DAB)
        .gates(BF16_90)
        .host(Host::Lane),
    instr("fma")
        .flops(2)
        .section("9.7.4.4")
        .since(ptx(4, 2))
        .requires(sm(53))
        .syntax(
            "fma.rn{.ftz}{.sat}.f16 d, a, b, c;
             fma.rn{.ftz}{.sat}.f16x2 d, a, b, c;
             fma.rn{.ftz}.relu.f16 d, a, b, c;
             fma.rn{.ftz}.relu.f16x2 d, a, b, c;
             fma.rn{.relu}.bf16 d, a, b, c;
             fma.rn{.relu}.bf16x2 d, a, b, c;
             fma.rn.oob{.relu}.type d, a, b, c;
             .type = { .f16, .f16x2, .bf16, .bf16x2 }",
        )
        .operands(DABC)
        .gates(&[
            gate(&[has(q::relu)]).since(ptx(7, 0)).requires(sm(80)),
            gate(&[any(&[q::bf16, q::bf16x2])]).since(ptx(7, 0)).requires(sm(80)),
            gate(&[has(q::oob)]).since(ptx(8, 1)).requires(sm(90)),
        ])
        .host(Host::Lane),
    instr("neg")
        .section("9.7.4.5")
        .since(ptx(6, 0))
        .requires(sm(53))
        .syntax(
            "neg{.ftz}.f16 d, a;
             neg{.ftz}.f16x2 d, a;
             neg.bf16 d, a;
             neg.bf16x2 d, a;",
        )
        .operands(DA)
        .gates(BF16_80)
        .host(Host::Lane),
    instr("abs")
        .section("9.7.4.6")
        .since(ptx(6, 5))
        .requires(sm(53))
        .syntax(
            "abs{.ftz}.f16 d, a;
             abs{.ftz}.f16x2 d, a;
             abs.bf16 d, a;
             abs.bf16x2 d, a;",
        )
        .operands(DA)
        .gates(BF16_80)
        .host(Host::Lane),
    instr("min")
        .section("9.7.4.7")
        .since(ptx(7, 0))
        .requires(sm(80))
        .syntax(
            "min{.ftz}{.NaN}{.xorsign.abs}.f16 d, a, b;
             min{.ftz}{.NaN}{.xorsign.abs}.f16x2 d, a, b;
             min{.NaN}{.xorsign.abs}.bf16 d, a, b;
             min{.NaN}{.xorsign.abs}.bf16x2 d, a, b;",
        )
        .operands(DAB)
        .gates(XORSIGN)
        .host(Host::Lane),
    instr("max")
        .section("9.7.4.8")
        .since(ptx(7, 0))
        .requires(sm(80))
        .syntax(
            "max{.ftz}{.NaN}{.xorsign.abs}.f16 d, a, b;
             max{.ftz}{.NaN}{.xorsign.abs}.f16x2 d, a, b;
             max{.NaN}{.xorsign.abs}.bf16 d, a, b;
             max{.NaN}{.xorsign.abs}.bf16x2 d, a, b;",
        )
        .operands(DAB)
        .gates(XORSIGN)
        .host(Host::Lane),
    instr("tanh")
        .section("9.7.4.9")
        .since(ptx(7, 0))
        .requires(sm(75))
        .syntax(
            "tanh.approx.type d, a;
             .type = { .f16, .f16x2, .bf16, .bf16x2 }",
        )
        .operands(DA)
        .gates(BF16_90)
        .host(Host::Lane)
        .slow(),
    instr("ex2")
        .section("9.7.4.10")
        .since(ptx(7, 0))
        .requires(sm(75))
        .syntax(
            "ex2.approx.f16 d, a;
             ex2.approx.f16x2 d, a;
             ex2.approx.ftz.bf16 d, a;
             ex2.approx.ftz.bf16x2 d, a;",
        )
        .operands(DA)
        .gates(BF16_90)
        .host(Host::Lane)
        .slow(),
];
