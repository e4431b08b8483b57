//! Statements with the verdict of ptxas 13.5 on each, and the error code if it refuses.

use crate::diag::Severity;
use crate::lex::lex;
use crate::lines::Lines;

/// Statements, each with its error code, or nothing.
type Cases = &'static [(&'static str, &'static str)];

fn check(target: &str, version: &str, cases: Cases) {
    let mut text = format!(".version {version}\n.target {target}\n.address_size 64\n");
    for (i, (statement, _)) in cases.iter().enumerate() {
        text += &format!(
            ".entry k{i}() {{ .reg .b32 %r<100>; .reg .b64 %d<4>; .reg .f32 %f<4>; .reg .s32 %s<4>; .reg .b16 %h<2>; \
             .reg .pred %p<2>; .shared .b32 slot; {statement} ret; }}\n"
        );
    }
    super::helps_hold(&text);
    let (lexed, _) = lex(&text);
    let mut got = vec![String::new(); cases.len()];
    // Single instructions in kernels that owe what the flow (06xx) asks for, such as `dealloc`.
    let errors = |d: &&crate::diag::Diagnostic| d.severity == Severity::Error && d.code.number < 600;
    for d in crate::compile(&lexed.tokens).diagnostics.iter().filter(errors) {
        let line = Lines::new(&text).line_column(lexed.bytes(d.span).start).0 as usize;
        assert!(line > 3, "{target} {version}: {}", d.message);
        if got[line - 4].is_empty() {
            got[line - 4] = format!("PTX{:04}", d.code.number);
        }
    }
    for ((statement, want), got) in cases.iter().zip(got) {
        assert_eq!(got, *want, "{target} {version}: {statement}");
    }
}

#[rustfmt::skip]
const ALLOC: Cases = &[
    ("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r1], 32;", ""),
    ("tcgen05.alloc.cta_group::2.sync.aligned.b32 [%d1], 512;", ""),
    ("tcgen05.alloc.sync.aligned.cta_group::1.b32 [%d1], %r2;", ""),
    ("tcgen05.alloc.cta_group::1.sync.aligned.b32 [%d1], 16;", "PTX0409"),
    ("tcgen05.alloc.cta_group::1.sync.aligned.b32 [%d1], 96;", "PTX0418"),
    ("tcgen05.alloc.cta_group::1.sync.aligned.b32 [%d1], 1024;", "PTX0409"),
    ("tcgen05.alloc.cta_group::1.sync.aligned.b32 [%d1], 0;", "PTX0409"),
    ("tcgen05.alloc.cta_group::1.sync.aligned.shared::cluster.b32 [%d1], 32;", "PTX0201"),
    ("tcgen05.alloc.cta_group::3.sync.aligned.b32 [%d1], 32;", "PTX0201"),
    ("tcgen05.alloc.sync.aligned.b32 [%d1], 32;", "PTX0202"),
    ("tcgen05.alloc.cta_group::1.sync.aligned.b32 [%d1], %f1;", "PTX0407"),
    ("tcgen05.alloc.cta_group::1.sync.aligned.u32 [%d1], 32;", "PTX0201"),
    ("tcgen05.alloc.exclusive.cta_group::1.sync.aligned.b32 [%d1], 96;", ""),
    ("tcgen05.alloc.exclusive.cta_group::1.sync.aligned.b32 [%d1], 33;", "PTX0418"),
    ("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r1, 64;", ""),
    ("tcgen05.dealloc.exclusive.cta_group::1.sync.aligned.b32 %r1, 544;", ""),
    ("tcgen05.dealloc.cta_group::1.sync.aligned.b32 [%r1], 64;", "PTX0405"),
    ("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %d1, 64;", "PTX0407"),
    ("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;", ""),
    ("tcgen05.relinquish_alloc_permit.sync.aligned;", "PTX0202"),
    ("tcgen05.relinquish_alloc_permit.exclusive.cta_group::1.sync.aligned;", "PTX0201"),
];

#[test]
fn alloc() {
    check("sm_100a", "9.4", ALLOC);
}

#[rustfmt::skip]
const LD_ST: Cases = &[
    ("tcgen05.ld.sync.aligned.32x32b.x4.b32 {%r0, %r1, %r2, %r3}, [%r99];", ""),
    ("tcgen05.ld.sync.aligned.32x32b.x4.b32 {%r0, %r1, %r2, %r3, %r4}, [%r99];", "PTX0414"),
    ("tcgen05.st.sync.aligned.32x32b.x2.unpack::16b.b32 [%r99], {%r0, %r1};", ""),
    ("tcgen05.st.sync.aligned.32x32b.x2.b32 [%r99], {%r0};", "PTX0414"),
    ("tcgen05.ld.sync.aligned.16x64b.x4.b32 {%r0, %r1, %r2, %r3}, [%r99];", ""),
    ("tcgen05.ld.sync.aligned.16x64b.x4.b32 {%r0, %r1, %r2, %r3, %r4}, [%r99];", "PTX0414"),
    ("tcgen05.st.sync.aligned.16x64b.x2.unpack::16b.b32 [%r99], {%r0, %r1};", ""),
    ("tcgen05.st.sync.aligned.16x64b.x2.b32 [%r99], {%r0};", "PTX0414"),
    ("tcgen05.ld.sync.aligned.16x128b.x4.b32 {%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7}, [%r99];", ""),
    ("tcgen05.ld.sync.aligned.16x128b.x4.b32 {%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, [%r99];", "PTX0414"),
    ("tcgen05.st.sync.aligned.16x128b.x2.unpack::16b.b32 [%r99], {%r0, %r1, %r2, %r3};", ""),
    ("tcgen05.st.sync.aligned.16x128b.x2.b32 [%r99], {%r0, %r1, %r2};", "PTX0414"),
    ("tcgen05.ld.sync.aligned.16x256b.x4.b32 {%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8, %r9, %r10, %r11, %r12, %r13, %r14, %r15}, [%r99];", ""),
    ("tcgen05.ld.sync.aligned.16x256b.x4.b32 {%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8, %r9, %r10, %r11, %r12, %r13, %r14, %r15, %r16}, [%r99];", "PTX0414"),
    ("tcgen05.st.sync.aligned.16x256b.x2.unpack::16b.b32 [%r99], {%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7};", ""),
    ("tcgen05.st.sync.aligned.16x256b.x2.b32 [%r99], {%r0, %r1, %r2, %r3, %r4, %r5, %r6};", "PTX0414"),
    ("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r1}, [slot];", "PTX0416"),
    ("tcgen05.ld.sync.aligned.16x128b.x128.b32 {%r1}, [%r99];", "PTX0414"),
    ("tcgen05.ld.sync.aligned.16x256b.x64.b32 {%r1}, [%r99];", "PTX0414"),
    ("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r1}, [%r2];", ""),
    ("tcgen05.ld.sync.aligned.32x32b.x1.b32 %r1, [%r2];", "PTX0414"),
    ("tcgen05.ld.32x32b.x1.b32.aligned.sync {%r1}, [%r2];", ""),
    ("tcgen05.ld.sync.aligned.16x32bx2.x1.b32 {%r1}, [%r2], 4;", ""),
    ("tcgen05.ld.sync.aligned.16x32bx2.x1.b32 {%r1}, [%r2];", "PTX0404"),
    ("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r1}, [%r2], 4;", "PTX0404"),
    ("tcgen05.ld.sync.aligned.16x32bx2.x1.b32 {%r1}, [%r2], %r3;", "PTX0415"),
    ("tcgen05.st.sync.aligned.16x32bx2.x1.b32 [%r2], 4, {%r1};", ""),
    ("tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r1, _}, [%r2];", "PTX0406"),
    ("tcgen05.st.sync.aligned.32x32b.x2.b32 [%r2], {%r1, _};", "PTX0406"),
    ("tcgen05.ld.sync.aligned.32x32b.x2.b32 {%f1, %s1}, [%r2];", "PTX0414"),
    ("tcgen05.ld.sync.aligned.32x32b.x2.b32 {%f1, %r1}, [%r2];", ""),
    ("tcgen05.ld.sync.aligned.32x32b.x2.b32 {%d1, %d2}, [%r2];", "PTX0407"),
    ("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r1}, [%d2];", "PTX0416"),
    ("tcgen05.st.sync.aligned.32x32b.x1.b32 [%r2], {1};", "PTX0415"),
    ("tcgen05.st.sync.aligned.32x32b.x1.b32 [%r2], {%tid.x};", "PTX0411"),
    ("tcgen05.ld.sync.aligned.32x32b.x1.u32 {%r1}, [%r2];", "PTX0201"),
    ("tcgen05.ld.sync.32x32b.x1.b32 {%r1}, [%r2];", "PTX0202"),
    ("tcgen05.ld.sync.aligned.32x32b.b32 {%r1}, [%r2];", "PTX0202"),
    ("tcgen05.ld.sync.aligned.32x32b.x1.unpack::16b.b32 {%r1}, [%r2];", "PTX0201"),
    ("tcgen05.ld.sync.aligned.32x32b.x1.pack::16b.b32 {%r1}, [%r2];", ""),
    ("tcgen05.wait::ld.sync.aligned;", ""),
    ("tcgen05.wait::st.sync.aligned;", ""),
    ("tcgen05.wait::ld.sync;", "PTX0202"),
    ("tcgen05.wait.sync.aligned;", "PTX0202"),
];

#[test]
fn ld_st() {
    check("sm_100a", "8.6", LD_ST);
}

#[rustfmt::skip]
const LD_RED: Cases = &[
    ("tcgen05.ld.red.sync.aligned.32x32b.x2.min.abs.NaN.f32 {%f1, %f2}, %f3, [%r2];", ""),
    ("tcgen05.ld.red.sync.aligned.32x32b.x2.max.s32 {%s1, %s2}, %s3, [%r2];", ""),
    ("tcgen05.ld.red.sync.aligned.16x32bx2.x2.max.u32 {%r1, %r2}, %r3, [%r2], 4;", ""),
    ("tcgen05.ld.red.sync.aligned.32x32b.x1.min.f32 {%f1}, %f3, [%r2];", "PTX0201"),
    ("tcgen05.ld.red.sync.aligned.32x32b.x2.min.abs.u32 {%r1, %r2}, %r3, [%r2];", "PTX0204"),
    ("tcgen05.ld.red.sync.aligned.16x64b.x2.min.u32 {%r1, %r2}, %r3, [%r2];", "PTX0201"),
    ("tcgen05.ld.red.sync.aligned.32x32b.x2.min.b32 {%r1, %r2}, %r3, [%r2];", "PTX0201"),
    ("tcgen05.ld.red.sync.aligned.32x32b.x2.min.u32 {%r1, %r2}, [%r2];", "PTX0404"),
];

#[test]
fn ld_red() {
    check("sm_103a", "8.8", LD_RED);
}

#[rustfmt::skip]
const SPCOMPRESS: Cases = &[
    ("tcgen05.ld.spcompress.sync.aligned.32x32b.x4.min.sp::2:4.abs.f32.b2 {%r1}, {%r3, %r4}, [%r4];", ""),
    ("tcgen05.ld.spcompress.sync.aligned.32x32b.x4.min.sp::2:4.f32.b2 {%r1}, {%r3}, [%r4];", "PTX0414"),
    ("tcgen05.ld.red.spcompress.sync.aligned.32x32b.x8.max.sp::2:4.NaN.f32.b2 {%r1}, {%r3, %r4, %r5, %r6}, %r7, [%r4];", ""),
];

#[test]
fn spcompress() {
    check("sm_107a", "9.4", SPCOMPRESS);
}

#[rustfmt::skip]
const CP_FENCE_COMMIT: Cases = &[
    ("tcgen05.cp.cta_group::1.128x256b [%r1], %d2;", ""),
    ("tcgen05.cp.cta_group::2.4x256b [%r1], %d2;", ""),
    ("tcgen05.cp.cta_group::1.128x128b.b8x16.b6x16_p32 [%r1], %d2;", ""),
    ("tcgen05.cp.cta_group::1.64x128b.warpx2::02_13 [%r1], %d2;", ""),
    ("tcgen05.cp.cta_group::1.64x128b.warpx2::01_23.b8x16.b4x16_p64 [%r1], %d2;", ""),
    ("tcgen05.cp.cta_group::1.32x128b.warpx4 [%r1], %d2;", ""),
    ("tcgen05.cp.warpx4.32x128b.cta_group::1 [%r1], %d2;", ""),
    ("tcgen05.cp.cta_group::1.64x128b [%r1], %d2;", "PTX0202"),
    ("tcgen05.cp.cta_group::1.64x128b.warpx4 [%r1], %d2;", "PTX0204"),
    ("tcgen05.cp.cta_group::1.32x128b.warpx2::02_13 [%r1], %d2;", "PTX0204"),
    ("tcgen05.cp.cta_group::1.128x256b.warpx4 [%r1], %d2;", "PTX0204"),
    ("tcgen05.cp.cta_group::1.128x256b.b8x16 [%r1], %d2;", "PTX0207"),
    ("tcgen05.cp.cta_group::1.128x256b.b6x16_p32.b8x16 [%r1], %d2;", "PTX0204"),
    ("tcgen05.cp.128x256b [%r1], %d2;", "PTX0202"),
    ("tcgen05.cp.cta_group::1.128x256b [%r1], %r2;", "PTX0407"),
    ("tcgen05.shift.cta_group::1.down [%r1];", ""),
    ("tcgen05.shift.cta_group::1 [%r1];", "PTX0202"),
    ("tcgen05.cp.cta_group::1.128x256b [%d1], %d2;", "PTX0416"),
    ("tcgen05.cp.cta_group::1.128x256b [slot], %d2;", "PTX0416"),
    ("tcgen05.fence::before_thread_sync;", ""),
    ("tcgen05.fence::after_thread_sync;", ""),
    ("tcgen05.fence;", "PTX0202"),
    ("tcgen05.fence::before_thread_sync.sync;", "PTX0201"),
    ("tcgen05.commit.cta_group::1.mbarrier::arrive::one.b64 [%d1];", ""),
    ("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%d1], %h1;", ""),
    ("tcgen05.commit.cta_group::1.mbarrier::arrive::one.multicast::cluster::16b.b64 [%d1], 65535;", ""),
    ("tcgen05.commit.cta_group::1.mbarrier::arrive::one.multicast::cluster.b64 [%d1], 65536;", "PTX0409"),
    ("tcgen05.commit.cta_group::1.mbarrier::arrive::one.multicast::cluster.b64 [%d1], %r1;", "PTX0407"),
    ("tcgen05.commit.cta_group::1.mbarrier::arrive::one.multicast::cluster.b64 [%d1];", "PTX0417"),
    ("tcgen05.commit.cta_group::1.mbarrier::arrive::one.b64 [%d1], %h1;", "PTX0417"),
    ("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cta.b64 [%d1];", "PTX0201"),
    ("tcgen05.commit.cta_group::1.b64 [%d1];", "PTX0202"),
    ("tcgen05.commit.mbarrier::arrive::one.b64 [%d1];", "PTX0202"),
];

#[test]
fn cp_fence_commit() {
    check("sm_100a", "9.4", CP_FENCE_COMMIT);
}

#[rustfmt::skip]
const MMA: Cases = &[
    ("tcgen05.mma.cta_group::1.kind::f16 [%r1], %d1, %d2, %r2, %p1;", ""),
    ("tcgen05.mma.cta_group::1.kind::tf32 [%r1], %d1, %d2, %r2, %p1;", ""),
    ("tcgen05.mma.cta_group::1.kind::f8f6f4 [%r1], %d1, %d2, %r2, %p1;", ""),
    ("tcgen05.mma.cta_group::1.kind::i8 [%r1], %d1, %d2, %r2, %p1;", ""),
    ("tcgen05.mma.kind::f16.cta_group::2 [%r1], [%r3], %d2, %r2, !%p1;", ""),
    ("tcgen05.mma.cta_group::1.kind::f16 [%r1], %d1, %d2, %r2, {%r0, %r1, %r2, %r3}, %p1, 15;", ""),
    ("tcgen05.mma.cta_group::2.kind::tf32 [%r1], %d1, %d2, %r2, {%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7}, %p1;", ""),
    ("tcgen05.mma.cta_group::1.kind::f16 [%r1], %d1, %d2, %r2, {%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7}, %p1;", "PTX0414"),
    ("tcgen05.mma.cta_group::2.kind::f16 [%r1], %d1, %d2, %r2, {%r0, %r1, %r2, %r3}, %p1;", "PTX0414"),
    ("tcgen05.mma.cta_group::1.kind::f16 [%r1], %d1, %d2, %r2, %p1, 16;", "PTX0409"),
    ("tcgen05.mma.cta_group::1.kind::f16 [%r1], %d1, %d2, %r2, %p1, %r1;", "PTX0415"),
    ("tcgen05.mma.cta_group::1.kind::f8f6f4 [%r1], %d1, %d2, %r2, %p1, 1;", "PTX0208"),
    ("tcgen05.mma.cta_group::1.kind::f16 [%r1], %d1, %d2, %r2, 1;", ""),
    ("tcgen05.mma.cta_group::1.kind::f16 [%r1], %d1, %d2, %r2, %r1;", "PTX0407"),
    ("tcgen05.mma.cta_group::1.kind::f16 [%r1], %r3, %d2, %r2, %p1;", "PTX0407"),
    ("tcgen05.mma.cta_group::1.kind::f16 [%d1], %d1, %d2, %r2, %p1;", "PTX0416"),
    ("tcgen05.mma.cta_group::1.kind::f16 [%r1], [%d3], %d2, %r2, %p1;", "PTX0416"),
    ("tcgen05.mma.cta_group::1.kind::f16 [%r1], %d1, %d2, %f1, %p1;", "PTX0407"),
    ("tcgen05.mma.cta_group::1.kind::f16.collector::a::use [%r1], %d1, %d2, %r2, %p1;", ""),
    ("tcgen05.mma.cta_group::1.kind::f16.collector::a [%r1], %d1, %d2, %r2, %p1;", "PTX0201"),
    ("tcgen05.mma.cta_group::1.kind::f16.ashift [%r1], [%r3], %d2, %r2, %p1;", ""),
    ("tcgen05.mma.cta_group::1.kind::f16.ashift [%r1], %d1, %d2, %r2, %p1;", "PTX0405"),
    ("tcgen05.mma.cta_group::1.kind::f16.ashift.collector::a::lastuse [%r1], [%r3], %d2, %r2, %p1;", ""),
    ("tcgen05.mma.cta_group::1.kind::f16.ashift.collector::a::fill [%r1], [%r3], %d2, %r2, %p1;", "PTX0208"),
    ("tcgen05.mma.cta_group::1.kind::f16.ashift.collector::a::use [%r1], [%r3], %d2, %r2, %p1;", "PTX0208"),
    ("tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale [%r1], %d1, %d2, %r2, [%r3], [%r4], %p1;", ""),
    ("tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.scale_vec::1X [%r1], [%r3], %d2, %r2, [%r3], [%r4], %p1;", ""),
    ("tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.scale_vec::2X [%r1], [%r3], %d2, %r2, [%r3], [%r4], %p1;", "PTX0208"),
    ("tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.block16 [%r1], %d1, %d2, %r2, [%r3], [%r4], %p1;", "PTX0208"),
    ("tcgen05.mma.cta_group::1.kind::mxf4.block_scale.block32 [%r1], %d1, %d2, %r2, [%r3], [%r4], %p1;", ""),
    ("tcgen05.mma.cta_group::1.kind::mxf4.block_scale.scale_vec::4X [%r1], %d1, %d2, %r2, [%r3], [%r4], %p1;", "PTX0208"),
    ("tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.scale_vec::4X [%r1], %d1, %d2, %r2, [%r3], [%r4], %p1;", ""),
    ("tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale [%r1], %d1, %d2, %r2, [%r3], [%r4], %p1;", "PTX0208"),
    ("tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.scale_vec::1X [%r1], %d1, %d2, %r2, [%r3], [%r4], %p1;", "PTX0208"),
    ("tcgen05.mma.cta_group::1.kind::mxf8f6f4 [%r1], %d1, %d2, %r2, [%r3], [%r4], %p1;", "PTX0202"),
    ("tcgen05.mma.cta_group::1.kind::f16.block_scale [%r1], %d1, %d2, %r2, [%r3], [%r4], %p1;", "PTX0204"),
    ("tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale [%r1], %d1, %d2, %r2, %p1;", "PTX0404"),
    ("tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.ashift [%r1], [%r3], %d2, %r2, [%r3], [%r4], %p1;", "PTX0204"),
    ("tcgen05.mma.sp.cta_group::1.kind::f16 [%r1], %d1, %d2, [%r5], %r2, {%r0, %r1, %r2, %r3}, %p1, 3;", ""),
    ("tcgen05.mma.sp.cta_group::1.kind::i8.ashift [%r1], [%r3], %d2, [%r5], %r2, %p1;", ""),
    ("tcgen05.mma.sp.cta_group::1.kind::mxf4.block_scale [%r1], %d1, %d2, [%r5], %r2, [%r3], [%r4], %p1;", ""),
    ("tcgen05.mma.sp.cta_group::1.kind::f16 [%r1], %d1, %d2, %r2, %p1;", "PTX0404"),
    ("tcgen05.mma.cta_group::1.kind::f16 [%r1], %d1, %d2, [%r5], %r2, %p1;", "PTX0404"),
    ("tcgen05.mma.ws.cta_group::1.kind::f16.collector::b2::lastuse [%r1], %d1, %d2, %r2, %p1, %d3;", ""),
    ("tcgen05.mma.ws.cta_group::1.kind::i8 [%r1], [%r3], %d2, %r2, %p1;", ""),
    ("tcgen05.mma.ws.cta_group::2.kind::f16 [%r1], %d1, %d2, %r2, %p1;", "PTX0208"),
    ("tcgen05.mma.ws.cta_group::1.kind::f16.collector::a::fill [%r1], %d1, %d2, %r2, %p1;", "PTX0201"),
    ("tcgen05.mma.ws.cta_group::1.kind::mxf4 [%r1], %d1, %d2, %r2, %p1;", "PTX0201"),
    ("tcgen05.mma.ws.cta_group::1.kind::f16 [%r1], %d1, %d2, %r2, {%r0, %r1, %r2, %r3}, %p1;", "PTX0404"),
    ("tcgen05.mma.ws.sp.cta_group::1.kind::f8f6f4 [%r1], [%r3], %d2, [%r5], %r2, %p1, %d3;", ""),
    ("tcgen05.mma.ws.sp.cta_group::1.kind::tf32 [%r1], %d1, %d2, %r2, %p1;", "PTX0404"),
    ("tcgen05.mma.sp.ws.cta_group::1.kind::tf32 [%r1], %d1, %d2, [%r5], %r2, %p1;", "PTX0201"),
];

#[test]
fn mma() {
    check("sm_100a", "8.8", MMA);
}

#[rustfmt::skip]
const NEW_ON_107: Cases = &[
    ("tcgen05.mma.cta_group::1.kind::ti16.collector::b::fill.collector::a::use [%r1], %d1, %d2, %r2, %p1;", ""),
    ("tcgen05.mma.cta_group::1.kind::ti16.ashift [%r1], [%r3], %d2, %r2, {%r0, %r1, %r2, %r3}, %p1;", ""),
    ("tcgen05.mma.cta_group::1.kind::f8f6f4.decompress::lut::b [%r1], %d1, %d2, [%r5], %r2, %p1;", ""),
    ("tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.decompress::lut::b.block32 [%r1], [%r3], %d2, [%r5], %r2, [%r3], [%r4], %p1;", ""),
    ("tcgen05.mma.cta_group::1.kind::f16.decompress::lut::b [%r1], %d1, %d2, [%r5], %r2, %p1;", "PTX0204"),
    ("tcgen05.mma.cta_group::1.kind::f8f6f4.decompress::lut::b.ashift [%r1], [%r3], %d2, [%r5], %r2, %p1;", "PTX0204"),
    ("tcgen05.mma.sp.cta_group::1.kind::f8f6f4.decompress::lut::b [%r1], %d1, %d2, [%r5], [%r6], %r2, %p1;", "PTX0201"),
    ("tcgen05.mma.cta_group::1.kind::i8 [%r1], %d1, %d2, %r2, %p1;", "PTX0302"),
    ("tcgen05.mma.ws.cta_group::1.kind::ti16 [%r1], %d1, %d2, %r2, %p1;", ""),
    ("tcgen05.commit.cta_group::1.mbarrier::arrive::one.multicast::cluster::32b.b64 [%d1], %r1;", ""),
    ("tcgen05.commit.cta_group::1.mbarrier::arrive::one.multicast::cluster::32b.b64 [%d1], %h1;", "PTX0407"),
    ("tcgen05.commit.cta_group::1.mbarrier::arrive::one.sync_restrict::shared::read::mma::a.b64 [%d1];", ""),
];

#[test]
fn new_on_107() {
    check("sm_107f", "9.4", NEW_ON_107);
}

/// Targets and versions of parts: `1` for each of `GATED` that is legal.
#[rustfmt::skip]
const GATED: &[&str] = &[
    "tcgen05.wait::ld.sync.aligned;",
    "tcgen05.alloc.exclusive.cta_group::1.sync.aligned.b32 [%d1], 64;",
    "tcgen05.shift.cta_group::1.down [%r1];",
    "tcgen05.ld.red.sync.aligned.32x32b.x2.max.s32 {%s1, %s2}, %s3, [%r2];",
    "tcgen05.ld.spcompress.sync.aligned.32x32b.x4.min.sp::2:4.abs.f32.b2 {%r1}, {%r3, %r4}, [%r4];",
    "tcgen05.mma.cta_group::1.kind::f16 [%r1], %d1, %d2, %r2, %p1;",
    "tcgen05.mma.cta_group::1.kind::i8 [%r1], %d1, %d2, %r2, %p1;",
    "tcgen05.mma.cta_group::1.kind::ti16 [%r1], %d1, %d2, %r2, %p1;",
    "tcgen05.mma.cta_group::1.kind::f16 [%r1], %d1, %d2, %r2, %p1, 1;",
    "tcgen05.mma.cta_group::1.kind::f16.collector::b::fill [%r1], %d1, %d2, %r2, %p1;",
    "tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale [%r1], %d1, %d2, %r2, [%r3], [%r4], %p1;",
    "tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.scale_vec::1X [%r1], %d1, %d2, %r2, [%r3], [%r4], %p1;",
    "tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.block32 [%r1], %d1, %d2, %r2, [%r3], [%r4], %p1;",
    "tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.scale_vec::4X [%r1], %d1, %d2, %r2, [%r3], [%r4], %p1;",
    "tcgen05.mma.sp.cta_group::1.kind::mxf4.block_scale.block32 [%r1], %d1, %d2, [%r5], %r2, [%r3], [%r4], %p1;",
    "tcgen05.commit.cta_group::1.mbarrier::arrive::one.multicast::cluster::16b.b64 [%d1], %h1;",
    "tcgen05.commit.cta_group::1.mbarrier::arrive::one.multicast::cluster::32b.b64 [%d1], %r1;",
    "tcgen05.commit.cta_group::1.mbarrier::arrive::one.sync_restrict::shared::read::mma::a.b64 [%d1];",
    "tcgen05.mma.cta_group::1.kind::f8f6f4.decompress::lut::b [%r1], %d1, %d2, [%r5], %r2, %p1;",
];
#[rustfmt::skip]
const THERE: &[(&str, &str, &str)] = &[
    ("sm_100a", "8.6", "1010011010110000000"),
    ("sm_100a", "8.7", "1010011010110100000"),
    ("sm_100a", "8.8", "1010011010111110000"),
    ("sm_100a", "9.4", "1110011010111111000"),
    ("sm_100f", "8.8", "1000010010101000000"),
    ("sm_100f", "9.4", "1100010010101001000"),
    ("sm_101a", "8.6", "1010011000110000000"),
    ("sm_101f", "8.8", "1001010000101000000"),
    ("sm_103a", "8.8", "1011010010111110000"),
    ("sm_103f", "8.8", "1001010010101000000"),
    ("sm_103a", "9.4", "1111010010111111000"),
    ("sm_107a", "9.4", "1111110111111111111"),
    ("sm_107f", "9.4", "1101010111101001111"),
    ("sm_110a", "9.0", "1011011000111110000"),
    ("sm_110f", "9.0", "1001010000101000000"),
    ("sm_110a", "9.4", "1111011000111111000"),
    ("sm_120a", "9.4", "0000000000000000000"),
    ("sm_121f", "9.4", "0000000000000000000"),
    ("sm_90a", "9.4", "0000000000000000000"),
    ("sm_100", "9.4", "0000000000000000000"),
    ("sm_103", "9.4", "0000000000000000000"),
];

#[test]
fn targets_and_versions() {
    for (target, version, there) in THERE {
        let mut got = String::new();
        for statement in GATED {
            let text = format!(
                ".version {version}\n.target {target}\n.address_size 64\n.entry k() {{ .reg .b32 %r<9>; .reg .b64 %d<4>; \
                 .reg .s32 %s<4>; .reg .b16 %h<2>; .reg .pred %p<2>; {statement} ret; }}\n"
            );
            super::helps_hold(&text);
            let (lexed, _) = lex(&text);
            let mut found = crate::compile(&lexed.tokens).diagnostics;
            found.retain(|d| d.code.number < 600);
            let refused = found.iter().any(|d| d.severity == Severity::Error);
            assert!(
                found.iter().all(|d| matches!(d.code.number, 301 | 302)),
                "{target} {version}: {statement} {found:?}"
            );
            got.push(if refused { '0' } else { '1' });
        }
        assert_eq!(got, *there, "{target} {version}");
    }
}

/// A kernel and the functions that it calls use one group (PTX ISA 9.7.16.5.1); other kernels may use the other one.
#[test]
fn one_cta_group() {
    const ONE: &str = "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;";
    const TWO: &str = "tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned;";
    let codes = |text: String| -> Vec<(u16, usize)> {
        let text = format!(".version 8.6\n.target sm_100a\n.address_size 64\n{text}");
        let found = crate::compile(&lex(&text).0.tokens).diagnostics;
        found.iter().map(|d| (d.code.number, d.labels.len())).collect()
    };
    assert_eq!(codes(format!(".entry a() {{ {ONE} {ONE} ret; }} .entry b() {{ {TWO} ret; }}")), []);
    assert_eq!(codes(format!(".entry a() {{ {ONE} {{ {TWO} }} {TWO} ret; }}")), [(518, 1)]);
    assert_eq!(codes(format!(".func f() {{ {ONE} ret; }} .entry a() {{ {TWO} call f; ret; }}")), [(518, 1)]);
    let calls = ".entry a() { call f; ret; } .entry b() { call f; ret; }";
    assert_eq!(codes(format!(".func g() {{ {ONE} ret; }} .func f() {{ {TWO} call g; ret; }} {calls}")), [(518, 1)]);
    assert_eq!(codes(format!(".func g() {{ {ONE} ret; }} .func f() {{ {TWO} ret; }} {calls}")), []);
}
