//! `mov`: manual 9.7.9.3, 9.7.9.4 and 6.4.3.
//!
//! Bit types are in the second entry only. With them `d` or `a` can be a vector of equal parts that together are as wide as the
//! type (an element of `d` may be `_`); the other operand is then a register of that type.

use super::*;

const PARTS: OpTy = OpTy::Parts(".type");

/// The family.
pub const LIST: &[Instr] = &[
    instr("mov")
        .class(InstrClass::Other)
        .section("9.7.9.3")
        .syntax(
            "mov.type d, a;
             .type = { .pred, .u16, .u32, .u64, .s16, .s32, .s64, .f32, .f64 }",
        )
        .operands(&[dst("d", T), src("a", T)])
        .gates(&[gate(&[has(q::f64)]).requires(sm(13))])
        .host(Host::Control),
    instr("mov")
        .class(InstrClass::Other)
        .section("9.7.9.4")
        .syntax(
            "mov.type d, a;
             .type = { .b16, .b32, .b64, .b128 }",
        )
        .operands(&[dst("d", PARTS).or_sink(), src("a", PARTS)])
        .gates(&[gate(&[has(q::b128)]).since(ptx(8, 3)).requires(sm(70))])
        .host(Host::Control),
    // Only an example shows it: `mov.v4.f32 {a,b,c,d}, V;`. The widths are those that ptxas takes.
    instr("mov")
        .class(InstrClass::Other)
        .section("6.4.3")
        .syntax(
            "mov.v2.type  d, a;
             mov.v4.type4 d, a;
             .type  = { .b16, .b32, .b64, .u16, .u32, .u64, .s16, .s32, .s64, .f32, .f64 }
             .type4 = { .b16, .b32, .u16, .u32, .s16, .s32, .f32 }",
        )
        .operands(&[dst("d", OpTy::Vec(".type", 0)).or_sink(), src("a", OpTy::Vec(".type", 0))])
        .host(Host::Control),
];
