//! Surfaces: manual 9.7.11. `check/texture.rs` has the rules that depend on the geometry.

use super::*;
use crate::written;

const A: OperandSpec = src("a", ty(Ty::Surfref)).reg();
const B: OperandSpec = src("b", OpTy::Coords(".s32"));

/// At most 128 bits a thread.
fn width(i: &written::Written) -> Option<Violation> {
    (i.has(q::v4) && i.has(q::b64))
        .then(|| Violation::of_qualifier(q::v4, "`.v4` of `.b64` is 256 bits, and an access has at most 128"))
}

const LATER_1D: Gate = gate(&[any(&[q::_3d, q::a1d, q::a2d])]).since(ptx(3, 0)).requires(sm(20));

const NO_SURFACES: Host = Host::NotYet("the host has no surfaces, and a launch cannot bind any");

/// The family.
#[rustfmt::skip]
pub const LIST: &[Instr] = &[
    instr("suld.b").class(InstrClass::Memory).section("9.7.11.1").since(ptx(1, 5))
        .host(NO_SURFACES)
        .syntax(
            "suld.b.geom{.cop}{.vec}.dtype.mode d, [a, b];
             .geom = { .1d, .2d, .3d, .a1d, .a2d }
             .cop = { .ca, .cg, .cs, .cv }
             .vec = { .v2, .v4 }
             .dtype = { .b8, .b16, .b32, .b64 }
             .mode = { .trap, .clamp, .zero }",
        )
        .operands(&[dst("d", OpTy::Vec(".dtype", 0)).or_sink().wider(), A, B])
        .gates(&[
            LATER_1D,
            gate(&[any(&[q::clamp, q::zero])]).since(ptx(2, 0)).requires(sm(20)),
            gate(&[any(&[q::ca, q::cg, q::cs, q::cv])]).since(ptx(2, 0)).requires(sm(20)),
        ])
        .rules(&[Rule::Custom(width)]),
    instr("sust.b").class(InstrClass::Memory).section("9.7.11.2").since(ptx(1, 5))
        .host(NO_SURFACES)
        .syntax(
            "sust.b.geom{.cop}{.vec}.ctype.mode [a, b], c;
             .geom = { .1d, .2d, .3d, .a1d, .a2d }
             .cop = { .wb, .cg, .cs, .wt }
             .vec = { .v2, .v4 }
             .ctype = { .b8, .b16, .b32, .b64 }
             .mode = { .trap, .clamp, .zero }",
        )
        .operands(&[A, B, src("c", OpTy::Vec(".ctype", 0)).wider()])
        .gates(&[
            LATER_1D,
            gate(&[any(&[q::clamp, q::zero])]).requires(sm(20)),
            gate(&[any(&[q::wb, q::cg, q::cs, q::wt])]).requires(sm(20)),
        ])
        .rules(&[Rule::Custom(width)]),
    instr("sust.p").class(InstrClass::Memory).section("9.7.11.2").since(ptx(1, 5)).requires(sm(20))
        .host(NO_SURFACES)
        .syntax(
            "sust.p.geom{.cop}{.vec}.b32.mode [a, b], c;
             .geom = { .1d, .2d, .3d, .a1d, .a2d }
             .cop = { .wb, .cg, .cs, .wt }
             .vec = { .v2, .v4 }
             .mode = { .trap, .clamp, .zero }",
        )
        .operands(&[A, B, src("c", OpTy::Vec(".b32", 0))])
        .gates(&[LATER_1D]),
    instr("sured.b").class(InstrClass::Memory).section("9.7.11.3").since(ptx(2, 0)).requires(sm(20))
        .host(NO_SURFACES)
        .syntax(
            "sured.b.add.geom.addtype.mode [a, b], c;
             sured.b.order.geom.ordertype.mode [a, b], c;
             sured.b.bitop.geom.b32.mode [a, b], c;
             .order = { .min, .max }
             .bitop = { .and, .or }
             .geom = { .1d, .2d, .3d }
             .addtype = { .u32, .s32, .u64 }
             .ordertype = { .u32, .s32, .u64, .s64 }
             .mode = { .trap, .clamp, .zero }",
        )
        .operands(&[A, B, src("c", T)])
        .gates(&[
            gate(&[has(q::_3d)]).since(ptx(3, 0)),
            gate(&[any(&[q::min, q::max]), any(&[q::u64, q::s64])]).since(ptx(8, 1)).requires(sm(50)),
        ]),
    instr("sured.p").class(InstrClass::Memory).section("9.7.11.3").since(ptx(2, 0)).requires(sm(20))
        .host(NO_SURFACES)
        .syntax(
            "sured.p.op.geom.b32.mode [a, b], c;
             sured.p.order.geom.b64.mode [a, b], c;
             .op = { .add, .min, .max, .and, .or }
             .order = { .min, .max }
             .geom = { .1d, .2d, .3d }
             .mode = { .trap, .clamp, .zero }",
        )
        .operands(&[A, B, src("c", T)])
        .gates(&[
            gate(&[has(q::_3d)]).since(ptx(3, 0)),
            gate(&[has(q::b64)]).since(ptx(8, 1)).requires(sm(50)),
        ]),
    instr("suq").class(InstrClass::Memory).section("9.7.11.4").since(ptx(1, 5))
        .host(NO_SURFACES)
        .syntax(
            "suq.query.b32 d, [a];
             .query = { .width, .height, .depth, .channel_data_type, .channel_order, .array_size, .memory_layout }",
        )
        .operands(&[dst("d", ty(Ty::B32)), A])
        .gates(&[
            gate(&[any(&[q::channel_data_type, q::channel_order])]).since(ptx(2, 1)),
            gate(&[has(q::array_size)]).since(ptx(4, 1)),
            gate(&[has(q::memory_layout)]).since(ptx(4, 2)),
        ]),
];
