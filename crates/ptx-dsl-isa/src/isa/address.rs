//! Addresses and their windows: manual 9.7.9.19, 9.7.9.20, 9.7.9.23, 9.7.9.24.

use super::*;
use crate::written;

const SUB: &[Qualifier] = &[q::shared_cta, q::shared_cluster];
const PARAM: &[Qualifier] = &[q::param, q::param_entry];
const GATES: &[Gate] = &[
    gate(&[has(q::_const)]).since(ptx(3, 1)),
    gate(&[any(PARAM)]).since(ptx(7, 7)).requires(sm(70)),
    gate(&[any(SUB)]).since(ptx(7, 8)).requires(sm(30)),
    gate(&[has(q::shared_cluster)]).requires(sm(90)),
    gate(&[has(q::param_entry)]).since(ptx(8, 3)),
];

/// ptxas no longer compiles for addresses of 32 bits.
fn full_width(i: &written::Written) -> Option<Violation> {
    i.has(q::u32).then(|| {
        let text = "`.u32` is for modules of 32-bit addresses, and a generic address has 64 bits";
        Violation::of_qualifier(q::u32, text).rewrite("keep both addresses in `.b64` registers, with `.u64`")
    })
}

const ISSPACEP: &str = "isspacep.space p, a;
    .space = { .const, .global, .local, .shared, .shared::cta, .shared::cluster, .param, .param::entry }";

/// The family.
#[rustfmt::skip]
pub const LIST: &[Instr] = &[
    instr("isspacep").class(InstrClass::Conversion).section("9.7.9.19").since(ptx(2, 0)).requires(sm(20))
        .syntax(ISSPACEP)
        .operands(&[dst("p", ty(Ty::Pred)), src("a", ty(Ty::U64))])
        .gates(GATES)
        .host(Host::Warp).pure(),
    // An address of 32 bits, which no page shows and ptxas takes.
    instr("isspacep").class(InstrClass::Conversion).section("9.7.9.19").since(ptx(2, 0)).requires(sm(20))
        .syntax(ISSPACEP)
        .operands(&[dst("p", ty(Ty::Pred)), src("a", ty(Ty::U32))])
        .gates(GATES)
        .host(Host::Warp).pure(),
    instr("cvta").class(InstrClass::Conversion).section("9.7.9.20").since(ptx(2, 0)).requires(sm(20))
        .syntax(
            "cvta.space.size p, a;
             .space = { .const, .global, .local, .shared, .shared::cta, .shared::cluster, .param, .param::entry }
             .size = { .u32, .u64 }",
        )
        .operands(&[dst("p", slot(".size")), src("a", slot(".size"))])
        .gates(GATES)
        .rules(&[Rule::Custom(full_width)])
        .host(Host::Warp).translates(),
    // A variable's address is converted to generic only: here `a` is a register.
    instr("cvta").class(InstrClass::Conversion).section("9.7.9.20").since(ptx(2, 0)).requires(sm(20))
        .first(&["to"])
        .syntax(
            "cvta.to.space.size p, a;
             .space = { .const, .global, .local, .shared, .shared::cta, .shared::cluster, .param, .param::entry }
             .size = { .u32, .u64 }",
        )
        .operands(&[dst("p", slot(".size")), src("a", slot(".size")).reg()])
        .gates(GATES)
        .rules(&[Rule::Custom(full_width)])
        .host(Host::Warp).translates(),
    instr("mapa").class(InstrClass::Conversion).section("9.7.9.23").since(ptx(7, 8)).requires(sm(90))
        .syntax(
            "mapa{.space}.type d, a, b;
             .space = { .shared::cluster }
             .type = { .u32, .u64 }",
        )
        .operands(&[dst("d", T), src("a", T), src("b", ty(Ty::U32))])
        .host(Host::Warp).translates(),
    instr("getctarank").class(InstrClass::Conversion).section("9.7.9.24").since(ptx(7, 8)).requires(sm(90))
        .syntax(
            "getctarank{.space}.type d, a;
             .space = { .shared::cluster }
             .type = { .u32, .u64 }",
        )
        .operands(&[dst("d", ty(Ty::U32)), src("a", T)])
        .host(Host::Warp).pure(),
];
