//! Operands, line by line with the verdicts of ptxas 13.5.

use super::errors;
use crate::lex::lex;

/// The code of the first error of this statement, for this target.
fn verdict(target: &str, text: &str) -> Option<u16> {
    let module = format!(
        ".version 9.5\n.target {target}\n.address_size 64\n\
         .global .align 128 .b8 gv[1024]; .shared .align 128 .b8 sv[1024]; .const .align 16 .b8 cv[64];\n\
         .global .texref tex;\n.visible .entry k(.param .b64 kp)\n{{\n\
         .reg .b8 %c<9>; .reg .b16 %h<9>; .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .f32 %f<9>; .reg .f64 %e<9>;\n\
         .reg .pred %p<9>; .reg .f16x2 %hx<3>; .reg .s32 %s<3>; .reg .u32 %u<3>; .reg .b128 %q<3>;\n{text}\nret;\n}}\n"
    );
    super::helps_hold(&module);
    let (lexed, _) = lex(&module);
    let found = errors(&crate::compile(&lexed.tokens).diagnostics);
    found.iter().map(|d| d.code.number).find(|code| !(600..700).contains(code))
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
        ("sm_80", "cvt.f32.bf16 %f1, %h1;", None),
        ("sm_80", "cvt.ftz.f32.bf16 %f1, %h1;", Some(302)),
        ("sm_80", "cvt.rn.ftz.f32.bf16 %f1, %h1;", Some(302)),
        ("sm_80", "cvt.rn.ftz.bf16.f32 %h1, %f1;", None),
        ("sm_90", "cvt.ftz.f32.bf16 %f1, %h1;", None),
        ("sm_107a", "cvt.rz.relu.pzo.f16.f32 %r1, %f2;", None),
        ("sm_107a", "cvt.rz.relu.pzo.bf16.f32 %r1, %f2;", Some(407)),
        ("sm_107a", "cvt.rz.pzo.tf32.f32 %d1, %f2;", Some(407)),
        ("sm_90", "ld.v2.b32 {%r1, _}, [%d1];", None),
        ("sm_90", "ld.v2.b32 _, [%d1];", Some(406)),
        ("sm_90", "atom.global.v2.f32.add _, [%d1], {%f1, %f2};", None),
        ("sm_90", "tex.1d.v2.f16x2.f32 {%r1, %r2}|%p1, [tex, {%f4}];", None),
        ("sm_90", "tex.1d.v2.f16x2.f32 {%r1, _}|%p1, [tex, {%f4}];", Some(418)),
        ("sm_107a", "tensormap.replace.tile.global_address.b64.b1024 [%d1], %d2;", None),
        ("sm_100a", "tcgen05.mma.cta_group::1.kind::f16 [%r1], %d2, %d3, %r4, %p5;", None),
        ("sm_100a", "tcgen05.mma.cta_group::1.kind::f16 [%u1], %d2, %d3, %r4, %p5;", Some(416)),
        ("sm_100a", "tcgen05.mma.cta_group::1.kind::f16 [%r1], %d2, %d3, %u1, %p5;", None),
        (
            "sm_107a",
            "tcgen05.commit.cta_group::2.mbarrier::arrive::one.multicast::cluster::32b.b64 [%d1], 4294967295;",
            None,
        ),
        (
            "sm_107a",
            "tcgen05.commit.cta_group::2.mbarrier::arrive::one.multicast::cluster::32b.b64 [%d1], -1;",
            Some(409),
        ),
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
        super::helps_hold(&text);
        let (lexed, _) = lex(&text);
        let found = errors(&crate::compile(&lexed.tokens).diagnostics);
        assert_eq!(found.first().map(|d| d.code.number), want, "{version} {words}");
    }
}

/// A separate sampler although the module is in unified mode: ptxas accepts it in some forms.
#[test]
fn samplers_in_unified_mode() {
    let v = "{%f1, %f2, %f3, %f4}";
    for (text, want) in [
        ("tex.2d.v4.f32.f32 D, [tex, %d1, {%f1, %f2}];", None),
        ("tex.cube.v4.f32.f32 D, [tex, %d1, D];", Some(418)),
        ("tex.3d.v4.f32.f32 D, [tex, %d1, D];", None),
        ("tex.a1d.v4.f32.f32 D, [tex, %d1, {%r1, %f2}];", Some(418)),
        ("tex.level.2d.v4.f32.f32 D, [tex, %d1, {%f1, %f2}], %f5, {%r1, %r2}, %f6;", None),
        ("tld4.r.2d.v4.f32.f32 D, [tex, %d1, {%f1, %f2}];", None),
        ("tld4.r.acube.v4.f32.f32 D, [tex, %d1, {%r1, %f2, %f3, %f4}];", Some(418)),
        ("tex.level.2d.v4.f32.f32 D, [tex, %d1, {%f1, %f2}], %f5;", None),
        ("tex.level.2d.v4.f32.f32 D, [tex, %d1, {%f1, %f2}], %f5, {%r1, %r2};", Some(418)),
        ("tex.level.3d.v4.f32.f32 D, [tex, %d1, D], %f5;", Some(418)),
        ("tex.level.3d.v4.f32.f32 D, [tex, D], %f5;", None),
        ("tex.grad.1d.v4.f32.f32 D, [tex, %d1, {%f1}], {%f2}, {%f3};", None),
        ("tex.grad.1d.v4.f32.f32 D, [tex, %d1, {%f1}], {%f2}, {%f3}, %f4;", Some(418)),
        ("tex.grad.a1d.v4.f32.f32 D, [tex, %d1, {%r1, %f1}], {%f2}, {%f3};", Some(418)),
    ] {
        assert_eq!(verdict("sm_90", &text.replace('D', v)), want, "{text}");
    }
}

/// Constants in fragments.
#[test]
fn constants_of_fragments() {
    for (text, want) in [
        ("wmma.store.d.sync.aligned.row.m16n16k16.f32 [%d1], {0f3F800000, %f2, %f3, %f4, %f5, %f6, %f7, %f8};", None),
        ("wmma.store.d.sync.aligned.row.m16n16k16.f32 [%d1], {%f1, %f2, %f3, %f4, %f5, %f6, %f7, 1.0};", Some(408)),
        ("wmma.store.d.sync.aligned.row.m8n8k4.f64 [%d1], {1.0, %e2};", None),
        (
            "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r1, %r2}, {%r3}, {1.0, %f2, %f3, %f4};",
            None,
        ),
    ] {
        assert_eq!(verdict("sm_90", text), want, "{text}");
    }
}

/// Pairs of halves that other instructions add up, and single elements that are read as registers.
#[test]
fn vectors_of_several_types() {
    let mma = "mma.sync.aligned.m16n8k32.row.col.f16.e4m3.e4m3.f16 D, {%r1, %r2, %r3, %r4}, {%r5, %r6}, C;";
    for (d, c, hopper, ada) in [
        ("{%r1, %r2}", "{%r3, %r4}", None, None),
        ("{%r1, %r2}", "{%r3, %f4}", Some(407), None),
        ("{%r1, %f2}", "{%r3, %r4}", Some(407), None),
        ("{%r1, %r2}", "{%r3, %hx1}", None, None),
        ("{_, %r2}", "{%r3, %r4}", Some(406), None),
    ] {
        let text = mma.replace('D', d).replace('C', c);
        assert_eq!((verdict("sm_90a", &text), verdict("sm_89", &text)), (hopper, ada), "{text}");
    }
    let get = "fabric.try_get.async.tensor.1d.shared::cta.mbarrier::complete_tx::bytes.mbarrier::report::fabric\
               .override::global_address.override::global_dim.relaxed.sys.b128 [%d1], [%d2, %r3, %d4, {V}, {%r6}], [%d7];";
    for (register, want) in [("%h1", None), ("%w", Some(418)), ("1", None)] {
        let text = format!(".reg .u16 %w; {}", get.replace('V', register));
        assert_eq!(verdict("sm_107a", &text), want, "{register}");
    }
}

#[test]
fn braces_around_one() {
    for (text, want) in [
        ("add.u32 {%r1}, %r2, %r3;", Some(414)),
        ("add.u32 %r1, {%r2}, %r3;", Some(414)),
        ("selp.b32 %r1, {%r2}, %r3, %p1;", Some(414)),
        ("cvt.u32.u64 {%r1}, %d1;", Some(414)),
        ("mov.u32 {%r1}, %r2;", Some(414)),
        ("shfl.sync.idx.b32 {%r1}, %r2, %r3, %r4, %r5;", Some(414)),
        ("movmatrix.sync.aligned.m8n8.trans.b16 {%r1}, %r2;", Some(414)),
        ("atom.global.add.u32 {%r2}, [%d1], %r1;", Some(414)),
        ("red.global.add.u32 [%d1], {%r1};", Some(414)),
        ("multimem.st.global.u32 [%d1], {%r1};", Some(414)),
        ("sured.b.add.1d.u32.trap [%d1, {%r2}], {%r1};", Some(414)),
        ("st.async.release.gpu.global.b8 [%d1], {%c1};", Some(414)),
        ("st.async.mbarrier::complete_tx::bytes.b128 [%d1], {%q2}, [%d3];", Some(414)),
        ("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%d1], {%r1}, [%d2];", None),
        ("ld.global.u32 {%r1}, [%d1];", None),
        ("multimem.st.relaxed.cta.global.f32 [%d1], {%f2};", None),
        ("multimem.ld_reduce.relaxed.cta.global.add.f64 {%e1}, [%d1];", None),
        ("mbarrier.arrive.b64 %d1, [%d2], {%r3};", None),
        ("mbarrier.init.b64 [%d2], {%r3};", Some(414)),
        ("tex.level.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [tex, {%f6, %f7}], {%f1};", None),
        ("ldu.global.u32 {%r1}, [%d1];", None),
        ("st.global.u32 [%d1], {%r1};", None),
        ("suld.b.1d.b32.trap {%r1}, [%d1, {%r2}];", None),
        ("sust.b.1d.b32.trap [%d1, {%r2}], {%r1};", None),
        ("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%d1];", None),
        ("mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%r1, %r2}, {%r3}, {%r4}, {%r5, %r6};", None),
    ] {
        assert_eq!(verdict("sm_100a", text), want, "{text}");
    }
    let sparse = "mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r5, %r6}, \
        {%r7, %r8}, {%f1, %f2, %f3, %f4}, {%r1}, 0;";
    assert_eq!(verdict("sm_90", sparse), None);
    let integers = "mma.sp.sync.aligned.m16n8k64.row.col.satfinite.s32.u8.s8.s32 {%r1, %r2, %r3, %r4}, {%r5, %r6, %r7, %r8}, \
        {%r1, %r2, %r3, %r4}, {%r1, %r2, %r3, %r4}, {%r1}, 0;";
    assert_eq!(verdict("sm_120a", integers), Some(414));
    let ordered = integers.replacen("mma.sp", "mma.sp::ordered_metadata", 1);
    assert_eq!(verdict("sm_120a", &ordered), None);
    // As the headers of nvcc have it.
    let scaled = "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e5m2.e2m1.f32.ue8m0 {%f1, %f2, %f3, %f4}, \
        {%r5, %r6, %r7, %r8}, {%r1, %r2}, {%f5, %f6, %f7, %f8}, {%r3}, {0, 0}, {%r4}, {0, 0};";
    assert_eq!(verdict("sm_120a", scaled), None);
}
