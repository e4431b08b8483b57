//! Integer arithmetic: manual 9.7.1.
//!
//! If the manual has one form per group of types (`add.type1`, `add{.sat}.type2`), there is one form here and a rule, so that the
//! message names the types that take the qualifier.

use super::*;

const DA: &[OperandSpec] = &[dst("d", T), src("a", T)];
const DAB: &[OperandSpec] = &[dst("d", T), src("a", T), src("b", T)];
const DABC: &[OperandSpec] = &[dst("d", T), src("a", T), src("b", T), src("c", T)];
/// The result is a count or a position.
const COUNT: &[OperandSpec] = &[dst("d", ty(Ty::U32)), src("a", T)];
const W: OpTy = OpTy::Wide(".type");

/// Packed bytes and packed saturation.
const BYTES: Targets = Targets::Only(&[("sm_120f", Ptx(9, 2)), ("sm_107f", Ptx(9, 4))]);
const PACKED_BYTES: Gate = gate(&[any(&[q::u8x4, q::s8x4])]).since(ptx(9, 2)).requires(BYTES);
const PACKED_HALVES: Gate = gate(&[any(&[q::u16x2, q::s16x2])]).since(ptx(8, 0)).requires(sm(90));
const RELU: Gate = gate(&[has(q::relu)]).since(ptx(8, 0)).requires(sm(90));
const WIDE: Rule = Rule::Never(
    &[has(q::wide), any(&[q::u64, q::s64])],
    "`.wide` goes with 16-bit and 32-bit types: there is no 128-bit result",
);
const NO_RELU: Rule = Rule::Never(
    &[has(q::relu), any(&[q::u16, q::u32, q::u64, q::u16x2, q::u8x4, q::s16, q::s64])],
    "`.relu` goes with `.s32`, `.s16x2` and `.s8x4`",
);

/// The family.
pub const LIST: &[Instr] = &[
    instr("add")
        .section("9.7.1.1")
        .syntax(
            "add{.sat}.type d, a, b;
             .type = { .u16, .u32, .u64, .s16, .s32, .s64, .u16x2, .s16x2, .u8x4, .s8x4 }",
        )
        .operands(DAB)
        .gates(&[
            PACKED_HALVES,
            PACKED_BYTES,
            gate(&[has(q::sat), any(&[q::u16x2, q::s16x2, q::u32])]).since(ptx(9, 2)).requires(BYTES),
        ])
        .rules(&[Rule::Never(
            &[has(q::sat), any(&[q::u16, q::u64, q::s16, q::s64])],
            "`.sat` goes with `.s32`, `.u32` and packed types",
        )])
        .host(Host::Lane),
    instr("sub")
        .section("9.7.1.2")
        .syntax(
            "sub{.sat}.type d, a, b;
             .type = { .u16, .u32, .u64, .s16, .s32, .s64, .u8x4, .s8x4 }",
        )
        .operands(DAB)
        .gates(&[PACKED_BYTES])
        .rules(&[Rule::Never(
            &[has(q::sat), any(&[q::u16, q::u32, q::u64, q::s16, q::s64])],
            "`.sat` goes with `.s32`, `.u8x4` and `.s8x4`",
        )])
        .host(Host::Lane),
    instr("mul")
        .section("9.7.1.3")
        .first(&["hi", "lo", "wide"])
        .syntax(
            "mul.mode.type d, a, b;
             .mode = { .hi, .lo, .wide }
             .type = { .u16, .u32, .u64, .s16, .s32, .s64 }",
        )
        .operands(&[dst("d", W), src("a", T), src("b", T)])
        .rules(&[WIDE])
        .host(Host::Lane),
    instr("mad")
        .section("9.7.1.4")
        .first(&["hi", "lo", "wide"])
        .syntax(
            "mad.mode.type d, a, b, c;
             mad.hi.sat.s32 d, a, b, c;
             .mode = { .hi, .lo, .wide }
             .type = { .u16, .u32, .u64, .s16, .s32, .s64 }",
        )
        .operands(&[dst("d", W), src("a", T), src("b", T), src("c", W)])
        .rules(&[WIDE])
        .host(Host::Lane),
    instr("mul24")
        .section("9.7.1.5")
        .first(&["hi", "lo"])
        .syntax(
            "mul24.mode.type d, a, b;
             .mode = { .hi, .lo }
             .type = { .u32, .s32 }",
        )
        .operands(DAB)
        .host(Host::Lane),
    instr("mad24")
        .section("9.7.1.6")
        .first(&["hi", "lo"])
        .syntax(
            "mad24.mode.type d, a, b, c;
             mad24.hi.sat.s32 d, a, b, c;
             .mode = { .hi, .lo }
             .type = { .u32, .s32 }",
        )
        .operands(DABC)
        .host(Host::Lane),
    instr("sad")
        .section("9.7.1.7")
        .syntax(
            "sad.type d, a, b, c;
             .type = { .u16, .u32, .u64, .s16, .s32, .s64 }",
        )
        .operands(DABC)
        .host(Host::Lane),
    instr("div")
        .section("9.7.1.8")
        .syntax(
            "div.type d, a, b;
             .type = { .u16, .u32, .u64, .s16, .s32, .s64 }",
        )
        .operands(DAB)
        .host(Host::Lane)
        .slow(),
    instr("rem")
        .section("9.7.1.9")
        .syntax(
            "rem.type d, a, b;
             .type = { .u16, .u32, .u64, .s16, .s32, .s64 }",
        )
        .operands(DAB)
        .host(Host::Lane)
        .slow(),
    instr("abs")
        .section("9.7.1.10")
        .syntax(
            "abs.type d, a;
             .type = { .s16, .s32, .s64 }",
        )
        .operands(DA)
        .host(Host::Lane),
    instr("neg")
        .section("9.7.1.11")
        .syntax(
            "neg.type d, a;
             .type = { .s16, .s32, .s64, .s8x4 }",
        )
        .operands(DA)
        .gates(&[PACKED_BYTES])
        .host(Host::Lane),
    instr("min")
        .section("9.7.1.12")
        .syntax(
            "min{.relu}.type d, a, b;
             .type = { .u16, .u32, .u64, .u16x2, .u8x4, .s16, .s64, .s16x2, .s32, .s8x4 }",
        )
        .operands(DAB)
        .gates(&[PACKED_HALVES, PACKED_BYTES, RELU])
        .rules(&[NO_RELU])
        .host(Host::Lane),
    instr("max")
        .section("9.7.1.13")
        .syntax(
            "max{.relu}.type d, a, b;
             .type = { .u16, .u32, .u64, .u16x2, .u8x4, .s16, .s64, .s16x2, .s32, .s8x4 }",
        )
        .operands(DAB)
        .gates(&[PACKED_HALVES, PACKED_BYTES, RELU])
        .rules(&[NO_RELU])
        .host(Host::Lane),
    instr("popc")
        .section("9.7.1.14")
        .since(ptx(2, 0))
        .requires(sm(20))
        .syntax(
            "popc.type d, a;
             .type = { .b32, .b64 }",
        )
        .operands(COUNT)
        .host(Host::Lane),
    instr("clz")
        .section("9.7.1.15")
        .since(ptx(2, 0))
        .requires(sm(20))
        .syntax(
            "clz.type d, a;
             .type = { .b32, .b64 }",
        )
        .operands(COUNT)
        .host(Host::Lane),
    instr("bfind")
        .section("9.7.1.16")
        .since(ptx(2, 0))
        .requires(sm(20))
        .syntax(
            "bfind{.shiftamt}.type d, a;
             .type = { .u32, .u64, .s32, .s64 }",
        )
        .operands(COUNT)
        .host(Host::Lane),
    instr("fns")
        .section("9.7.1.17")
        .since(ptx(6, 0))
        .requires(sm(30))
        .syntax("fns.b32 d, mask, base, offset;")
        .operands(&[dst("d", T), src("mask", T), src("base", T), src("offset", ty(Ty::S32))])
        .host(Host::Lane),
    instr("brev")
        .section("9.7.1.18")
        .since(ptx(2, 0))
        .requires(sm(20))
        .syntax(
            "brev.type d, a;
             .type = { .b32, .b64 }",
        )
        .operands(DA)
        .host(Host::Lane),
    instr("bfe")
        .section("9.7.1.19")
        .since(ptx(2, 0))
        .requires(sm(20))
        .syntax(
            "bfe.type d, a, b, c;
             .type = { .u32, .u64, .s32, .s64 }",
        )
        .operands(&[dst("d", T), src("a", T), src("b", ty(Ty::U32)).range(0, 255), src("c", ty(Ty::U32)).range(0, 255)])
        .host(Host::Lane),
    instr("bfi")
        .section("9.7.1.20")
        .since(ptx(2, 0))
        .requires(sm(20))
        .syntax(
            "bfi.type f, a, b, c, d;
             .type = { .b32, .b64 }",
        )
        .operands(&[
            dst("f", T),
            src("a", T),
            src("b", T),
            src("c", ty(Ty::U32)).range(0, 255),
            src("d", ty(Ty::U32)).range(0, 255),
        ])
        .host(Host::Lane)
        .merges(),
    instr("szext")
        .section("9.7.1.21")
        .since(ptx(7, 6))
        .requires(sm(70))
        .syntax(
            "szext.mode.type d, a, b;
             .mode = { .clamp, .wrap }
             .type = { .u32, .s32 }",
        )
        .operands(&[dst("d", T), src("a", T), src("b", ty(Ty::U32))])
        .host(Host::Lane),
    instr("bmsk")
        .section("9.7.1.22")
        .since(ptx(7, 6))
        .requires(sm(70))
        .syntax(
            "bmsk.mode.b32 d, a, b;
             .mode = { .clamp, .wrap }",
        )
        .operands(&[dst("d", ty(Ty::U32)), src("a", ty(Ty::U32)), src("b", ty(Ty::U32))])
        .host(Host::Lane),
    // The result is signed as soon as one of the sources is; either way it is a 32-bit integer.
    instr("dp4a")
        .section("9.7.1.23")
        .since(ptx(5, 0))
        .requires(sm(61))
        .syntax(
            "dp4a.atype.btype d, a, b, c;
             .atype = { .u32, .s32 }
             .btype = { .u32, .s32 }",
        )
        .operands(&[dst("d", ty(Ty::S32)), src("a", slot(".atype")), src("b", slot(".btype")), src("c", ty(Ty::S32))])
        .host(Host::Lane),
    instr("dp2a")
        .section("9.7.1.24")
        .since(ptx(5, 0))
        .requires(sm(61))
        .first(&["lo", "hi"])
        .syntax(
            "dp2a.mode.atype.btype d, a, b, c;
             .atype = { .u32, .s32 }
             .btype = { .u32, .s32 }
             .mode = { .lo, .hi }",
        )
        .operands(&[dst("d", ty(Ty::S32)), src("a", slot(".atype")), src("b", slot(".btype")), src("c", ty(Ty::S32))])
        .host(Host::Lane),
    instr("clmad")
        .section("9.7.1")
        .since(ptx(9, 3))
        .requires(sm(80))
        .first(&["lo", "hi"])
        .syntax(
            "clmad.mode.u64 d, a, b, c;
             .mode = { .lo, .hi }",
        )
        .operands(DABC)
        .host(Host::Lane),
];
