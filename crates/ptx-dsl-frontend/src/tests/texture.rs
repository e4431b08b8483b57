//! Textures and surfaces: geometry, handles, modes.

use crate::lex::lex;

/// The error codes of a statement; ptxas 13.5 gave the same verdicts.
fn codes(mode: &str, statement: &str) -> Vec<u16> {
    let text = format!(
        ".version 9.0\n.target sm_90{mode}\n.address_size 64\n.global .texref t;\n.global .surfref s;\n.global .texref l[4];\n\
         .visible .entry k()\n{{\n.reg .f32 %f<4>; .reg .b32 %b<4>; .reg .s32 %s<4>; .reg .u32 %u<4>; .reg .u64 %t<2>; .reg .pred %p;\n\
         {statement}\nret;\n}}\n"
    );
    super::helps_hold(&text);
    let (lexed, _) = lex(&text);
    let diagnostics = crate::compile(&lexed.tokens).diagnostics;
    diagnostics.iter().filter(|d| d.severity == crate::diag::Severity::Error).map(|d| d.code.number).collect()
}

const UNIFIED: &str = "";
const INDEPENDENT: &str = ", texmode_independent";

#[test]
fn geometry_says_how_many() {
    let good = [
        "tex.1d.v4.f32.s32 {%f0, %f1, %f2, %f3}, [t, %s0];",
        "tex.2d.v4.f32.f32 {%f0, _, %f2, %f3}|%p, [%t0, {%f0, 1.0}], {%s0, 1}, %f1;",
        "tex.a1d.v4.s32.f32 {%s0, %s1, %s2, %s3}, [t, {%u0, %f1}];",
        "tex.acube.v4.f32.f32 {%f0, %f1, %f2, %f3}, [t, {%u0, %f1, %f2, %f3}], %f0;",
        "tex.level.2d.v4.f32.s32 {%f0, %f1, %f2, %f3}, [t, {%s0, %s1}], %s2;",
        "suld.b.a2d.v2.b32.trap {%b0, %b1}, [s, {%u0, %s1, %s2, %s3}];",
    ];
    for statement in good {
        assert_eq!(codes(UNIFIED, statement), [], "{statement}");
    }
    let bad = [
        ("tex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [t, {%f1}];", 418),
        ("tex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [t, {%f1, %f1, %f1}];", 418),
        ("tex.a1d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [t, {%f0, %f1}];", 407),
        ("tex.cube.v4.f32.s32 {%f0, %f1, %f2, %f3}, [t, {%s0, %s1, %s2, %s3}];", 418),
        ("tex.3d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [t, {%f0, %f1, %f2, %f3}], %f0;", 208),
        ("tex.grad.1d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [t, {%f0}], %f1, %f2;", 418),
        ("tex.level.2dms.v4.f32.s32 {%f0, %f1, %f2, %f3}, [t, {%s0, %s1, %s2, %s3}], %s0;", 208),
        ("tex.2d.v4.f32.f32 {_, _, _, _}, [t, {%f0, %f1}];", 418),
        ("suld.b.1d.v4.b64.trap {%t0, %t0, %t0, %t0}, [s, {%s0}];", 418),
        ("sured.b.min.1d.b32.trap [s, {%s0}], %b0;", 204),
    ];
    for (statement, code) in bad {
        assert!(codes(UNIFIED, statement).contains(&code), "{statement}: {:?}", codes(UNIFIED, statement));
    }
}

#[test]
fn handles_have_their_type() {
    for (statement, code) in [
        ("tex.1d.v4.f32.s32 {%f0, %f1, %f2, %f3}, [s, {%s0}];", 403),
        ("tex.1d.v4.f32.s32 {%f0, %f1, %f2, %f3}, [l, {%s0}];", 403),
        ("tex.1d.v4.f32.s32 {%f0, %f1, %f2, %f3}, [%u0, {%s0}];", 407),
        ("suq.width.b32 %b0, [t];", 403),
        ("ld.global.u64 %t0, [t];", 418),
        ("mov.b64 %t0, t;", 418),
        (".global .texref inner;", 509),
        (".shared .surfref inner;", 509),
    ] {
        assert!(codes(UNIFIED, statement).contains(&code), "{statement}: {:?}", codes(UNIFIED, statement));
    }
    assert_eq!(codes(UNIFIED, "mov.u64 %t0, t;"), []);
}

#[test]
fn samplers_are_apart_in_one_mode_only() {
    let without = "tex.1d.v4.f32.s32 {%f0, %f1, %f2, %f3}, [t, {%s0}];";
    let with = "tex.1d.v4.f32.s32 {%f0, %f1, %f2, %f3}, [t, %t1, {%s0}];";
    assert_eq!(codes(UNIFIED, without), []);
    assert_eq!(codes(INDEPENDENT, without), [418]);
    assert_eq!(codes(INDEPENDENT, with), []);
    assert_eq!(codes(UNIFIED, "txq.filter_mode.b32 %b0, [t];"), []);
    assert_eq!(codes(INDEPENDENT, "txq.filter_mode.b32 %b0, [t];"), [403]);
}
