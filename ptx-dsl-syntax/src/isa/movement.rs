//! `mov`: manual 9.7.9.3 and 9.7.9.4.
//!
//! The bit types are in the second entry only: with them `d` or `a` may be a vector of equal parts that are together as
//! wide as the type (an element of `d` may be `_`), and then the other one is a register of that type.

use super::*;

const PARTS: OpTy = OpTy::Parts(".type");

/// The family.
pub const LIST: &[Instr] = &[
    instr("mov")
        .section("9.7.9.3")
        .syntax(
            "mov.type d, a;
             .type = { .pred, .u16, .u32, .u64, .s16, .s32, .s64, .f32, .f64 }",
        )
        .operands(&[dst("d", T), src("a", T)])
        .gates(&[gate(&[has(".f64")]).requires(sm(13))])
        .host(Host::Control),
    instr("mov")
        .section("9.7.9.4")
        .syntax(
            "mov.type d, a;
             .type = { .b16, .b32, .b64, .b128 }",
        )
        .operands(&[dst("d", PARTS).or_sink(), src("a", PARTS)])
        .gates(&[gate(&[has(".b128")]).since(ptx(8, 3)).requires(sm(70))])
        .host(Host::Control),
];
