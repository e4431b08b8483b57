//! Textures: manual 9.7.10. `check/texture.rs` has the rules that depend on the geometry or on the texturing mode.

use super::*;

macro_rules! geometry {
    ($forms:expr) => {
        concat!(
            $forms,
            "
            .geom = { .1d, .2d, .3d, .a1d, .a2d, .cube, .acube, .2dms, .a2dms }
            .dtype = { .u32, .s32, .f16, .f32 }
            .ctype = { .s32, .f32 }"
        )
    };
}

const A: OperandSpec = src("a", ty(Ty::Texref)).reg();
const B: OperandSpec = src("b", ty(Ty::Samplerref)).reg();
const C: OperandSpec = src("c", OpTy::Coords(".ctype"));
const E: OperandSpec = src("e", OpTy::PerAxis(Ty::S32));
const F: OperandSpec = src("f", ty(Ty::F32));
const D: OperandSpec = dst("d", OpTy::Vec(".dtype", 0)).or_sink();
const P: OperandSpec = dst("p", ty(Ty::Pred));

const ARRAYS: &[Qualifier] = &[q::a1d, q::a2d];
const CUBES: &[Qualifier] = &[q::cube, q::acube];
const MULTI_SAMPLE: &[Qualifier] = &[q::_2dms, q::a2dms];

const fn newer(when: &'static [When], since: Ptx, requires: u32) -> Gate {
    gate(when).since(since).requires(sm(requires))
}

const OFFSET: Gate = newer(&[operand("e")], ptx(4, 3), 30);
const DEPTH: Gate = newer(&[operand("f")], ptx(4, 3), 30);
const HALF: Gate = newer(&[any(&[q::f16, q::f16x2])], ptx(4, 2), 53);
const SAMPLES: Gate = newer(&[any(MULTI_SAMPLE)], ptx(3, 2), 30);

const DEPTH_3D: Rule = Rule::Never(
    &[operand("f"), has(q::_3d)],
    "a depth comparison takes `.1d`, `.2d`, `.a1d`, `.a2d`, `.cube` and `.acube`",
);
const DEPTH_SAMPLES: Rule =
    Rule::Never(&[operand("f"), any(MULTI_SAMPLE)], "multi-sample textures have no depth comparison");
const OFFSET_CUBE: Rule = Rule::Never(&[operand("e"), any(CUBES)], "cubemaps take no offset");
const CUBE_TYPE: Rule = Rule::Never(&[any(CUBES), not(q::f32)], "the coordinates of cubemaps are `.f32`");
const LEVELS: Rule = Rule::Never(&[any(MULTI_SAMPLE)], "multi-sample textures have no mipmaps");

/// The type of the coordinates follows that of the texels.
fn last_type(quals: &[Qualifier]) -> Option<Qualifier> {
    quals.iter().copied().rfind(|ty| matches!(*ty, q::s32 | q::f32))
}

/// A cubemap, a multi-sample texture or a depth comparison with coordinates of the other type.
fn coordinates(i: &crate::written::Written) -> Option<Violation> {
    let last = last_type(&i.quals)?;
    if i.operand("f").is_some() && last == q::s32 {
        return Some(Violation::of_opcode("a depth comparison needs `.f32` coordinates, not `.s32`"));
    }
    let (geometry, want) = match i.first_of(CUBES) {
        Some(cube) => (cube, q::f32),
        None => (i.first_of(MULTI_SAMPLE)?, q::s32),
    };
    (last != want).then(|| Violation::of_opcode(format!("the coordinates of `{geometry}` are `{want}`, not `{last}`")))
}

const TEX_RULES: &[Rule] = &[DEPTH_3D, DEPTH_SAMPLES, OFFSET_CUBE, Rule::Custom(coordinates)];
const MIPMAP_RULES: &[Rule] = &[LEVELS, DEPTH_3D, OFFSET_CUBE, Rule::Custom(coordinates)];

const NO_TEXTURES: Host = Host::NotYet("the host has no textures, and a launch cannot bind any");

/// The family.
#[rustfmt::skip]
pub const LIST: &[Instr] = &[
    instr("tex").class(InstrClass::Memory).section("9.7.10.3")
        .host(NO_TEXTURES)
        .syntax(geometry!(
            "tex.geom.v4.dtype.ctype d[|p], [a, {b,} c]{, f};
             tex.geom.v4.dtype.ctype d[|p], [a, {b,} c], e{, f};
             tex.geom.v2.f16x2.ctype d[|p], [a, {b,} c]{, f};
             tex.geom.v2.f16x2.ctype d[|p], [a, {b,} c], e{, f};"
        ))
        .operands(&[dst("d", OpTy::Vec(".dtype", 0)).or_sink(), P, A, B, C, E, F])
        .gates(&[
            gate(&[any(ARRAYS)]).since(ptx(2, 3)),
            newer(&[any(CUBES)], ptx(3, 0), 20),
            SAMPLES, HALF, OFFSET, DEPTH,
        ])
        .rules(TEX_RULES),
    instr("tex.base").class(InstrClass::Memory).section("9.7.10.3").since(ptx(3, 1)).requires(sm(20))
        .host(NO_TEXTURES)
        .syntax(geometry!(
            "tex.base.geom.v4.dtype.ctype d[|p], [a, {b,} c]{, f};
             tex.base.geom.v4.dtype.ctype d[|p], [a, {b,} c], e{, f};
             tex.base.geom.v2.f16x2.ctype d[|p], [a, {b,} c]{, f};
             tex.base.geom.v2.f16x2.ctype d[|p], [a, {b,} c], e{, f};"
        ))
        .operands(&[D, P, A, B, C, E, F])
        .gates(&[SAMPLES, HALF, OFFSET, DEPTH])
        .rules(TEX_RULES),
    instr("tex.level").class(InstrClass::Memory).section("9.7.10.3").since(ptx(3, 1)).requires(sm(20))
        .host(NO_TEXTURES)
        .syntax(geometry!(
            "tex.level.geom.v4.dtype.ctype d[|p], [a, {b,} c], lod{, f};
             tex.level.geom.v4.dtype.ctype d[|p], [a, {b,} c], lod, e{, f};
             tex.level.geom.v2.f16x2.ctype d[|p], [a, {b,} c], lod{, f};
             tex.level.geom.v2.f16x2.ctype d[|p], [a, {b,} c], lod, e{, f};"
        ))
        .operands(&[D, P, A, B, C, src("lod", slot(".ctype")), E, F])
        .gates(&[HALF, OFFSET, DEPTH])
        .rules(MIPMAP_RULES),
    instr("tex.grad").class(InstrClass::Memory).section("9.7.10.3").since(ptx(3, 1)).requires(sm(20))
        .host(NO_TEXTURES)
        .syntax(geometry!(
            "tex.grad.geom.v4.dtype.ctype d[|p], [a, {b,} c], dPdx, dPdy{, f};
             tex.grad.geom.v4.dtype.ctype d[|p], [a, {b,} c], dPdx, dPdy, e{, f};
             tex.grad.geom.v2.f16x2.ctype d[|p], [a, {b,} c], dPdx, dPdy{, f};
             tex.grad.geom.v2.f16x2.ctype d[|p], [a, {b,} c], dPdx, dPdy, e{, f};"
        ))
        .operands(&[D, P, A, B, C, src("dPdx", OpTy::PerAxis(Ty::F32)), src("dPdy", OpTy::PerAxis(Ty::F32)), E, F])
        .gates(&[HALF, OFFSET, DEPTH, newer(&[any(CUBES)], ptx(4, 3), 20)])
        .rules(MIPMAP_RULES),
    instr("tld4").class(InstrClass::Memory).section("9.7.10.4").since(ptx(2, 2)).requires(sm(20))
        .host(NO_TEXTURES)
        .syntax(
            "tld4.comp.geom.v4.dtype.f32 d[|p], [a, {b,} c]{, f};
             tld4.comp.geom.v4.dtype.f32 d[|p], [a, {b,} c], e{, f};
             .comp = { .r, .g, .b, .a }
             .geom = { .2d, .a2d, .cube, .acube }
             .dtype = { .u32, .s32, .f32 }",
        )
        .operands(&[D, P, A, B, src("c", OpTy::Coords(".f32")), E, F])
        .gates(&[
            newer(&[any(&[q::a2d, q::cube, q::acube])], ptx(4, 3), 30),
            OFFSET, DEPTH,
        ])
        .rules(&[OFFSET_CUBE, CUBE_TYPE]),
    instr("txq").class(InstrClass::Memory).section("9.7.10.5").since(ptx(1, 5))
        .host(NO_TEXTURES)
        .syntax(
            "txq.tquery.b32 d, [a];
             txq.squery.b32 d, [a];
             .tquery = { .width, .height, .depth, .channel_data_type, .channel_order, .normalized_coords, .array_size, .num_mipmap_levels, .num_samples }
             .squery = { .force_unnormalized_coords, .filter_mode, .addr_mode_0, .addr_mode_1, .addr_mode_2 }",
        )
        .operands(&[dst("d", ty(Ty::B32)), A])
        .gates(&[
            gate(&[any(&[q::channel_data_type, q::channel_order])]).since(ptx(2, 1)),
            gate(&[has(q::force_unnormalized_coords)]).since(ptx(2, 2)),
            gate(&[has(q::array_size)]).since(ptx(4, 1)),
            newer(&[has(q::num_mipmap_levels)], ptx(4, 1), 20),
            newer(&[has(q::num_samples)], ptx(4, 1), 30),
        ]),
    instr("txq.level").class(InstrClass::Memory).section("9.7.10.5").since(ptx(4, 3)).requires(sm(30))
        .host(NO_TEXTURES)
        .syntax("txq.level.tlquery.b32 d, [a], lod;
             .tlquery = { .width, .height, .depth }")
        .operands(&[dst("d", ty(Ty::B32)), A, src("lod", ty(Ty::S32))]),
    instr("istypep").class(InstrClass::Memory).section("9.7.10.6").since(ptx(4, 0)).requires(sm(30))
        .host(NO_TEXTURES)
        .syntax("istypep.type p, a;
             .type = { .texref, .samplerref, .surfref }")
        .operands(&[dst("p", ty(Ty::Pred)), src("a", ty(Ty::U64))]),
];
