//! Logic and shifts: manual 9.7.8, and `prmt` (9.7.9.7), which permutes bytes.

use super::*;

const DA: &[OperandSpec] = &[dst("d", T), src("a", T)];
const DAB: &[OperandSpec] = &[dst("d", T), src("a", T), src("b", T)];
const SHIFT: &[OperandSpec] = &[dst("d", T), src("a", T), src("b", ty(Ty::U32))];
const PRED: OpTy = ty(Ty::Pred);

/// The family.
pub const LIST: &[Instr] = &[
    instr("and")
        .section("9.7.8.1")
        .syntax(
            "and.type d, a, b;
             .type = { .pred, .b16, .b32, .b64 }",
        )
        .operands(DAB)
        .host(Host::Lane)
        .merges(),
    instr("or")
        .section("9.7.8.2")
        .syntax(
            "or.type d, a, b;
             .type = { .pred, .b16, .b32, .b64 }",
        )
        .operands(DAB)
        .host(Host::Lane)
        .merges(),
    instr("xor")
        .section("9.7.8.3")
        .syntax(
            "xor.type d, a, b;
             .type = { .pred, .b16, .b32, .b64 }",
        )
        .operands(DAB)
        .host(Host::Lane),
    instr("not")
        .section("9.7.8.4")
        .syntax(
            "not.type d, a;
             .type = { .pred, .b16, .b32, .b64 }",
        )
        .operands(DA)
        .host(Host::Lane),
    instr("cnot")
        .section("9.7.8.5")
        .syntax(
            "cnot.type d, a;
             .type = { .b16, .b32, .b64 }",
        )
        .operands(DA)
        .host(Host::Lane),
    instr("lop3")
        .section("9.7.8.6")
        .since(ptx(4, 3))
        .requires(sm(50))
        .syntax(
            "lop3.b32 d, a, b, c, immLut;
             lop3.BoolOp.b32 d|p, a, b, c, immLut, q;
             .BoolOp = { .or, .and }",
        )
        .operands(&[
            dst("d", T).or_sink(),
            dst("p", PRED),
            src("a", T),
            src("b", T),
            src("c", T),
            src("immLut", ty(Ty::U32)).range(0, 255).imm(),
            src("q", PRED),
        ])
        .gates(&[gate(&[any(&[q::or, q::and])]).since(ptx(8, 2)).requires(sm(70))])
        .host(Host::Lane)
        .merges(),
    instr("shf")
        .section("9.7.8.7")
        .since(ptx(3, 1))
        .requires(sm(32))
        .first(&["l", "r"])
        .syntax(
            "shf.l.mode.b32 d, a, b, c;
             shf.r.mode.b32 d, a, b, c;
             .mode = { .clamp, .wrap }",
        )
        .operands(&[dst("d", T), src("a", T), src("b", T), src("c", ty(Ty::U32))])
        .host(Host::Lane)
        .merges(),
    instr("shl")
        .section("9.7.8.8")
        .syntax(
            "shl.type d, a, b;
             .type = { .b16, .b32, .b64 }",
        )
        .operands(SHIFT)
        .host(Host::Lane),
    instr("shr")
        .section("9.7.8.9")
        .syntax(
            "shr.type d, a, b;
             .type = { .b16, .b32, .b64, .u16, .u32, .u64, .s16, .s32, .s64 }",
        )
        .operands(SHIFT)
        .host(Host::Lane),
    instr("prmt")
        .section("9.7.9.7")
        .since(ptx(2, 0))
        .requires(sm(20))
        .syntax(
            "prmt.b32{.mode} d, a, b, c;
             .mode = { .f4e, .b4e, .rc8, .ecl, .ecr, .rc16 }",
        )
        .operands(&[dst("d", T), src("a", T), src("b", T), src("c", T)])
        .host(Host::Lane)
        .merges(),
];
