//! Extended-precision arithmetic: manual 9.7.2. The carry is a hidden register of the thread, one bit, `CC.CF`.

use super::*;

const DAB: &[OperandSpec] = &[dst("d", T), src("a", T), src("b", T)];
const DABC: &[OperandSpec] = &[dst("d", T), src("a", T), src("b", T), src("c", T)];
/// ptxas has no further requirements for those that only read the carry.
const LONG_AND_CARRY: &[Gate] = &[gate(&[has(q::cc), any(&[q::u64, q::s64])]).since(ptx(4, 3)).requires(sm(20))];
const LONG: &[Gate] = &[gate(&[any(&[q::u64, q::s64])]).since(ptx(4, 3)).requires(sm(20))];

/// The family.
pub const LIST: &[Instr] = &[
    instr("add.cc")
        .movable()
        .section("9.7.2.1")
        .since(ptx(1, 2))
        .syntax(
            "add.cc.type d, a, b;
             .type = { .u32, .s32, .u64, .s64 }",
        )
        .operands(DAB)
        .gates(LONG)
        .host(Host::Lane)
        .carry(Carry::Out),
    instr("addc")
        .section("9.7.2.2")
        .since(ptx(1, 2))
        .syntax(
            "addc{.cc}.type d, a, b;
             .type = { .u32, .s32, .u64, .s64 }",
        )
        .operands(DAB)
        .gates(LONG_AND_CARRY)
        .host(Host::Lane)
        .carry(Carry::In),
    instr("sub.cc")
        .movable()
        .section("9.7.2.3")
        .since(ptx(1, 2))
        .syntax(
            "sub.cc.type d, a, b;
             .type = { .u32, .s32, .u64, .s64 }",
        )
        .operands(DAB)
        .gates(LONG)
        .host(Host::Lane)
        .carry(Carry::Out),
    instr("subc")
        .section("9.7.2.4")
        .since(ptx(1, 2))
        .syntax(
            "subc{.cc}.type d, a, b;
             .type = { .u32, .s32, .u64, .s64 }",
        )
        .operands(DAB)
        .gates(LONG_AND_CARRY)
        .host(Host::Lane)
        .carry(Carry::In),
    // The manual's heading is `mad.cc`, but the mode stands between the two: `mad.lo.cc.u32`.
    instr("mad")
        .section("9.7.2.5")
        .since(ptx(3, 0))
        .requires(sm(20))
        .first(&["hi", "lo"])
        .syntax(
            "mad.mode.cc.type d, a, b, c;
             .mode = { .hi, .lo }
             .type = { .u32, .s32, .u64, .s64 }",
        )
        .operands(DABC)
        .gates(LONG)
        .host(Host::Lane)
        .carry(Carry::Out),
    instr("madc")
        .section("9.7.2.6")
        .since(ptx(3, 0))
        .requires(sm(20))
        .first(&["hi", "lo"])
        .syntax(
            "madc.mode{.cc}.type d, a, b, c;
             .mode = { .hi, .lo }
             .type = { .u32, .s32, .u64, .s64 }",
        )
        .operands(DABC)
        .gates(LONG_AND_CARRY)
        .host(Host::Lane)
        .carry(Carry::In),
];
