//! What ptxas 13.5 says of operands: each line was put before it.

use super::errors;
use crate::lex::lex;

/// The code of the first error of this statement, for this target.
fn verdict(target: &str, text: &str) -> Option<u16> {
    let module = format!(
        ".version 9.5\n.target {target}\n.address_size 64\n\
         .global .align 128 .b8 gv[1024]; .shared .align 128 .b8 sv[1024]; .const .align 16 .b8 cv[64];\n\
         .global .texref tex;\n.visible .entry k(.param .b64 kp)\n{{\n\
         .reg .b8 %c<9>; .reg .b16 %h<9>; .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .f32 %f<9>; .reg .f64 %e<9>;\n\
         .reg .pred %p<9>; .reg .f16x2 %hx<3>; .reg .s32 %s<3>; .reg .b128 %q<3>;\n{text}\nret;\n}}\n"
    );
    let (lexed, _) = lex(&module);
    let found = errors(&crate::compile(&lexed.tokens).diagnostics);
    found.iter().map(|d| d.code).find(|code| !(600..700).contains(code))
}

#[test]
fn state_spaces_of_variables() {
    for (target, text, want) in [
        ("sm_90", "mbarrier.init.b64 [sv], 1;", None),
        ("sm_90", "mbarrier.init.b64 [gv], 1;", Some(413)),
        ("sm_90", "prefetch.L1 [cv];", Some(413)),
        ("sm_90", "prefetchu.L1 [gv];", None),
        ("sm_90", "prefetchu.L1 [sv];", Some(413)),
        ("sm_90", "cvta.global.u64 %d1, gv;", None),
        ("sm_90", "cvta.global.u64 %d1, sv;", Some(413)),
        ("sm_90", "cvta.to.global.u64 %d1, gv;", Some(415)),
        ("sm_90", "mapa.u64 %d1, sv, %r1;", None),
        ("sm_90", "mapa.u64 %d1, gv, %r1;", Some(413)),
    ] {
        assert_eq!(verdict(target, text), want, "{text}");
    }
}

#[test]
fn parts_of_addresses_and_masks() {
    let copy = "cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes";
    for (tail, want) in [
        (" [%d1], [%d2, {%r1}], [%d3];", None),
        (" [%d1], [%d2, {1}], [%d3];", None),
        (" [%d1], [%d2+8, {%r1}], [%d3];", Some(416)),
        (".multicast::cluster [%d1], [%d2, {%r1}], [%d3], 65535;", None),
        (".multicast::cluster [%d1], [%d2, {%r1}], [%d3], 65536;", Some(409)),
        (".multicast::cluster [%d1], [%d2, {%r1}], [%d3], -1;", Some(409)),
    ] {
        assert_eq!(verdict("sm_90a", &format!("{copy}{tail}")), want, "{tail}");
    }
}

#[test]
fn types_of_registers() {
    for (target, text, want) in [
        ("sm_90", "redux.sync.and.b32 %r1, %r2, %r3;", None),
        ("sm_90", "redux.sync.and.b32 %f1, %r2, %r3;", Some(407)),
        ("sm_90", "bar.warp.sync 0f3f800000;", Some(408)),
        ("sm_90", "cvt.rn.bf16.f32 %h1, %f1;", None),
        ("sm_90", "cvt.rn.bf16.f32 %r1, %f1;", Some(407)),
        ("sm_90", "cvt.rn.f16.f32 %r1, %f1;", None),
        ("sm_100a", "cvt.rs.f16x2.f32 %r1, %f1, %f2, %r3;", None),
        ("sm_100a", "cvt.rs.f16x2.f32 %r1, %f1, %f2, %s1;", Some(407)),
        ("sm_90", "cvt.u16.u32 %h1, %clock64;", None),
        ("sm_90", "cvt.rn.f32.u32 %f1, %tid.x;", Some(411)),
        ("sm_100", "st.async.release.gpu.b32 [%d1], %r1;", None),
        ("sm_100", "st.async.release.gpu.b32 [%d1], %d1;", Some(407)),
        ("sm_90", "tex.1d.v4.f32.f32 {_, %f1, %f2, %f3}, [tex, {%f4}];", None),
        ("sm_90", "tex.1d.v4.f32.f32 _, [tex, {%f4}];", Some(406)),
        ("sm_90", "setp.eq.bf16 %p1, %h1, %h2;", None),
        ("sm_90", "setp.eq.and.bf16 %p1, %h1, %h2, 1;", Some(415)),
        ("sm_90", "barrier.arrive 0, 0;", Some(418)),
        ("sm_70", "ld.mmio.acquire.sys.u32 %r1, [%d1];", None),
    ] {
        assert_eq!(verdict(target, text), want, "{text}");
    }
}

/// `wmma` of half precision had no `.aligned` before PTX ISA 6.3, and `.satfinite` before 6.5.
#[test]
fn wmma_of_old() {
    let r8 = "{%r1, %r1, %r1, %r1, %r1, %r1, %r1, %r1}";
    let f8 = "{%f1, %f1, %f1, %f1, %f1, %f1, %f1, %f1}";
    for (version, words, want) in [
        ("6.2", "sync.row.col.m16n16k16.f32.f32", None),
        ("6.3", "sync.row.col.m16n16k16.f32.f32", Some(202)),
        ("6.2", "sync.aligned.row.col.m16n16k16.f32.f32", Some(301)),
        ("6.4", "sync.aligned.row.col.m16n16k16.f32.f32.satfinite", None),
        ("6.5", "sync.aligned.row.col.m16n16k16.f32.f32.satfinite", Some(303)),
    ] {
        let text = format!(
            ".version {version}\n.target sm_70\n.address_size 64\n.visible .entry k()\n{{\n.reg .b32 %r<9>; .reg .f32 %f<9>;\n\
             wmma.mma.{words} {f8}, {r8}, {r8}, {f8};\nret;\n}}\n"
        );
        let (lexed, _) = lex(&text);
        let found = errors(&crate::compile(&lexed.tokens).diagnostics);
        assert_eq!(found.first().map(|d| d.code), want, "{version} {words}");
    }
}
