//! Whole kernels in other shapes of today: stages of copies, sums, turns, persistent kernels.

use super::{Case, Kernel, check};

const SHARED: &str = ".shared .align 128 .b8 tiles[24576];";
const SHARED2: &str = ".shared .align 16 .b8 part[512]; .shared .align 8 .b64 mb;";
const SHARED3: &str = ".shared .align 128 .b8 st[4096];";
const SHARED4: &str =
    ".shared .align 16 .b128 ans; .shared .align 8 .b64 clcf; .shared .align 8 .b64 clce; .shared .align 4 .b32 tile;";
const SHARED5: &str = ".shared .align 4 .b8 ws[128];";

const KERNEL_A: Kernel = Kernel { target: "sm_80", version: "8.3", threads: "256", directives: "", shared: SHARED };
const KERNEL_B: Kernel = Kernel { target: "sm_80", version: "8.3", threads: "", directives: "", shared: SHARED };
const KERNEL_C: Kernel =
    Kernel { target: "sm_90a", version: "8.6", threads: "128", directives: ".reqnctapercluster 4", shared: SHARED2 };
const KERNEL_D: Kernel = Kernel { target: "sm_90a", version: "8.6", threads: "128", directives: "", shared: SHARED3 };
const KERNEL_E: Kernel = Kernel { target: "sm_90a", version: "8.6", threads: "128", directives: "", shared: "" };
const KERNEL_F: Kernel = Kernel { target: "sm_90a", version: "8.6", threads: "256", directives: "", shared: "" };
const KERNEL_G: Kernel = Kernel { target: "sm_100a", version: "8.6", threads: "128", directives: "", shared: SHARED4 };
const KERNEL_H: Kernel = Kernel { target: "sm_90a", version: "8.6", threads: "128", directives: "", shared: SHARED5 };
const KERNEL_I: Kernel = Kernel { target: "sm_90a", version: "8.6", threads: "", directives: "", shared: SHARED5 };
const KERNEL_J: Kernel = Kernel { target: "sm_90a", version: "8.6", threads: "", directives: "", shared: SHARED3 };

#[test]
fn stages_of_cp_async() {
    check(&[
        Case {
            name: "amp",
            kernel: &KERNEL_A,
            codes: &[],
            body: "shl.b32 %r2, %r0, 4; mov.u32 %r3, tiles; add.u32 %r4, %r3, %r2; cvt.u64.u32 %d7, %r2; \
                   add.u64 %d5, %d3, %d7; add.u64 %d6, %d4, %d7; shl.b32 %r10, 0, 13; add.u32 %r11, %r4, %r10; \
                   cp.async.cg.shared.global [%r11], [%d5], 16; cp.async.cg.shared.global [%r11+4096], [%d6], 16; \
                   add.u64 %d5, %d5, 64; add.u64 %d6, %d6, 64; cp.async.commit_group; shl.b32 %r10, 1, 13; \
                   add.u32 %r11, %r4, %r10; cp.async.cg.shared.global [%r11], [%d5], 16; \
                   cp.async.cg.shared.global [%r11+4096], [%d6], 16; add.u64 %d5, %d5, 64; add.u64 %d6, %d6, 64; \
                   cp.async.commit_group; mov.f32 %f0, 0f00000000; mov.f32 %f1, 0f00000000; mov.f32 %f2, 0f00000000; \
                   mov.f32 %f3, 0f00000000; mov.u32 %r20, 0; mov.u32 %r21, 0; mov.u32 %r22, 2; L: \
                   cp.async.wait_group 1; bar.sync 0; add.u32 %r23, %r20, 2; setp.ge.u32 %p1, %r23, %r59; @%p1 bra NC; \
                   shl.b32 %r10, %r22, 13; add.u32 %r11, %r4, %r10; cp.async.cg.shared.global [%r11], [%d5], 16; \
                   cp.async.cg.shared.global [%r11+4096], [%d6], 16; add.u64 %d5, %d5, 64; add.u64 %d6, %d6, 64; NC: \
                   cp.async.commit_group; shl.b32 %r24, %r21, 13; add.u32 %r25, %r3, %r24; and.b32 %r26, %r0, 31; \
                   shl.b32 %r26, %r26, 4; add.u32 %r25, %r25, %r26; \
                   ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r30,%r31,%r32,%r33}, [%r25]; \
                   ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r34,%r35}, [%r25+4096]; \
                   mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0,%f1,%f2,%f3}, {%r30,%r31,%r32,%r33}, {%r34,%r35}, {%f0,%f1,%f2,%f3}; \
                   add.u32 %r21, %r21, 1; setp.eq.u32 %p2, %r21, 3; selp.u32 %r21, 0, %r21, %p2; add.u32 %r22, %r22, 1; \
                   setp.eq.u32 %p2, %r22, 3; selp.u32 %r22, 0, %r22, %p2; add.u32 %r20, %r20, 1; \
                   setp.lt.u32 %p3, %r20, %r59; @%p3 bra L; cp.async.wait_group 0; bar.sync 0; \
                   st.shared.v4.f32 [%r4], {%f0,%f1,%f2,%f3}; bar.sync 0; ld.shared.f32 %f5, [%r3]; \
                   st.global.f32 [%d4], %f5;",
        },
        Case {
            name: "amp_wait_all",
            kernel: &KERNEL_A,
            codes: &[],
            body: "shl.b32 %r2, %r0, 4; mov.u32 %r3, tiles; add.u32 %r4, %r3, %r2; cvt.u64.u32 %d7, %r2; \
                   add.u64 %d5, %d3, %d7; add.u64 %d6, %d4, %d7; shl.b32 %r10, 0, 13; add.u32 %r11, %r4, %r10; \
                   cp.async.cg.shared.global [%r11], [%d5], 16; cp.async.cg.shared.global [%r11+4096], [%d6], 16; \
                   add.u64 %d5, %d5, 64; add.u64 %d6, %d6, 64; cp.async.commit_group; shl.b32 %r10, 1, 13; \
                   add.u32 %r11, %r4, %r10; cp.async.cg.shared.global [%r11], [%d5], 16; \
                   cp.async.cg.shared.global [%r11+4096], [%d6], 16; add.u64 %d5, %d5, 64; add.u64 %d6, %d6, 64; \
                   cp.async.commit_group; mov.f32 %f0, 0f00000000; mov.f32 %f1, 0f00000000; mov.f32 %f2, 0f00000000; \
                   mov.f32 %f3, 0f00000000; mov.u32 %r20, 0; mov.u32 %r21, 0; mov.u32 %r22, 2; L: \
                   cp.async.wait_group 1; bar.sync 0; add.u32 %r23, %r20, 2; setp.ge.u32 %p1, %r23, %r59; @%p1 bra NC; \
                   shl.b32 %r10, %r22, 13; add.u32 %r11, %r4, %r10; cp.async.cg.shared.global [%r11], [%d5], 16; \
                   cp.async.cg.shared.global [%r11+4096], [%d6], 16; add.u64 %d5, %d5, 64; add.u64 %d6, %d6, 64; NC: \
                   cp.async.commit_group; shl.b32 %r24, %r21, 13; add.u32 %r25, %r3, %r24; and.b32 %r26, %r0, 31; \
                   shl.b32 %r26, %r26, 4; add.u32 %r25, %r25, %r26; \
                   ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r30,%r31,%r32,%r33}, [%r25]; \
                   ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r34,%r35}, [%r25+4096]; \
                   mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0,%f1,%f2,%f3}, {%r30,%r31,%r32,%r33}, {%r34,%r35}, {%f0,%f1,%f2,%f3}; \
                   add.u32 %r21, %r21, 1; setp.eq.u32 %p2, %r21, 3; selp.u32 %r21, 0, %r21, %p2; add.u32 %r22, %r22, 1; \
                   setp.eq.u32 %p2, %r22, 3; selp.u32 %r22, 0, %r22, %p2; add.u32 %r20, %r20, 1; \
                   setp.lt.u32 %p3, %r20, %r59; @%p3 bra L; cp.async.wait_all; bar.sync 0; \
                   st.shared.v4.f32 [%r4], {%f0,%f1,%f2,%f3}; bar.sync 0; ld.shared.f32 %f5, [%r3]; \
                   st.global.f32 [%d4], %f5;",
        },
        Case {
            name: "amp_nosize",
            kernel: &KERNEL_B,
            codes: &[],
            body: "shl.b32 %r2, %r0, 4; mov.u32 %r3, tiles; add.u32 %r4, %r3, %r2; cvt.u64.u32 %d7, %r2; \
                   add.u64 %d5, %d3, %d7; add.u64 %d6, %d4, %d7; shl.b32 %r10, 0, 13; add.u32 %r11, %r4, %r10; \
                   cp.async.cg.shared.global [%r11], [%d5], 16; cp.async.cg.shared.global [%r11+4096], [%d6], 16; \
                   add.u64 %d5, %d5, 64; add.u64 %d6, %d6, 64; cp.async.commit_group; shl.b32 %r10, 1, 13; \
                   add.u32 %r11, %r4, %r10; cp.async.cg.shared.global [%r11], [%d5], 16; \
                   cp.async.cg.shared.global [%r11+4096], [%d6], 16; add.u64 %d5, %d5, 64; add.u64 %d6, %d6, 64; \
                   cp.async.commit_group; mov.f32 %f0, 0f00000000; mov.f32 %f1, 0f00000000; mov.f32 %f2, 0f00000000; \
                   mov.f32 %f3, 0f00000000; mov.u32 %r20, 0; mov.u32 %r21, 0; mov.u32 %r22, 2; L: \
                   cp.async.wait_group 1; bar.sync 0; add.u32 %r23, %r20, 2; setp.ge.u32 %p1, %r23, %r59; @%p1 bra NC; \
                   shl.b32 %r10, %r22, 13; add.u32 %r11, %r4, %r10; cp.async.cg.shared.global [%r11], [%d5], 16; \
                   cp.async.cg.shared.global [%r11+4096], [%d6], 16; add.u64 %d5, %d5, 64; add.u64 %d6, %d6, 64; NC: \
                   cp.async.commit_group; shl.b32 %r24, %r21, 13; add.u32 %r25, %r3, %r24; and.b32 %r26, %r0, 31; \
                   shl.b32 %r26, %r26, 4; add.u32 %r25, %r25, %r26; \
                   ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r30,%r31,%r32,%r33}, [%r25]; \
                   ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r34,%r35}, [%r25+4096]; \
                   mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0,%f1,%f2,%f3}, {%r30,%r31,%r32,%r33}, {%r34,%r35}, {%f0,%f1,%f2,%f3}; \
                   add.u32 %r21, %r21, 1; setp.eq.u32 %p2, %r21, 3; selp.u32 %r21, 0, %r21, %p2; add.u32 %r22, %r22, 1; \
                   setp.eq.u32 %p2, %r22, 3; selp.u32 %r22, 0, %r22, %p2; add.u32 %r20, %r20, 1; \
                   setp.lt.u32 %p3, %r20, %r59; @%p3 bra L; cp.async.wait_group 0; bar.sync 0; \
                   st.shared.v4.f32 [%r4], {%f0,%f1,%f2,%f3}; bar.sync 0; ld.shared.f32 %f5, [%r3]; \
                   st.global.f32 [%d4], %f5;",
        },
        Case {
            name: "amp_nowait",
            kernel: &KERNEL_A,
            codes: &[650],
            body: "shl.b32 %r2, %r0, 4; mov.u32 %r3, tiles; add.u32 %r4, %r3, %r2; cvt.u64.u32 %d7, %r2; \
                   add.u64 %d5, %d3, %d7; add.u64 %d6, %d4, %d7; shl.b32 %r10, 0, 13; add.u32 %r11, %r4, %r10; \
                   cp.async.cg.shared.global [%r11], [%d5], 16; cp.async.cg.shared.global [%r11+4096], [%d6], 16; \
                   add.u64 %d5, %d5, 64; add.u64 %d6, %d6, 64; cp.async.commit_group; shl.b32 %r10, 1, 13; \
                   add.u32 %r11, %r4, %r10; cp.async.cg.shared.global [%r11], [%d5], 16; \
                   cp.async.cg.shared.global [%r11+4096], [%d6], 16; add.u64 %d5, %d5, 64; add.u64 %d6, %d6, 64; \
                   cp.async.commit_group; mov.f32 %f0, 0f00000000; mov.f32 %f1, 0f00000000; mov.f32 %f2, 0f00000000; \
                   mov.f32 %f3, 0f00000000; mov.u32 %r20, 0; mov.u32 %r21, 0; mov.u32 %r22, 2; L: bar.sync 0; \
                   add.u32 %r23, %r20, 2; setp.ge.u32 %p1, %r23, %r59; @%p1 bra NC; shl.b32 %r10, %r22, 13; \
                   add.u32 %r11, %r4, %r10; cp.async.cg.shared.global [%r11], [%d5], 16; \
                   cp.async.cg.shared.global [%r11+4096], [%d6], 16; add.u64 %d5, %d5, 64; add.u64 %d6, %d6, 64; NC: \
                   cp.async.commit_group; shl.b32 %r24, %r21, 13; add.u32 %r25, %r3, %r24; and.b32 %r26, %r0, 31; \
                   shl.b32 %r26, %r26, 4; add.u32 %r25, %r25, %r26; \
                   ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r30,%r31,%r32,%r33}, [%r25]; \
                   ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r34,%r35}, [%r25+4096]; \
                   mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0,%f1,%f2,%f3}, {%r30,%r31,%r32,%r33}, {%r34,%r35}, {%f0,%f1,%f2,%f3}; \
                   add.u32 %r21, %r21, 1; setp.eq.u32 %p2, %r21, 3; selp.u32 %r21, 0, %r21, %p2; add.u32 %r22, %r22, 1; \
                   setp.eq.u32 %p2, %r22, 3; selp.u32 %r22, 0, %r22, %p2; add.u32 %r20, %r20, 1; \
                   setp.lt.u32 %p3, %r20, %r59; @%p3 bra L; bar.sync 0; st.shared.v4.f32 [%r4], {%f0,%f1,%f2,%f3}; \
                   bar.sync 0; ld.shared.f32 %f5, [%r3]; st.global.f32 [%d4], %f5;",
        },
    ]);
}

#[test]
fn a_sum_over_the_cluster() {
    check(&[
        Case {
            name: "clred",
            kernel: &KERNEL_C,
            codes: &[],
            body: "shl.b32 %r1, %r0, 2; mov.u32 %r2, part; add.u32 %r3, %r2, %r1; st.shared.u32 [%r3], %r0; \
                   barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned; mov.u32 %r4, %cluster_nctarank; \
                   mov.u32 %r5, 0; mov.u32 %r6, 0; L: mapa.shared::cluster.u32 %r7, %r3, %r5; \
                   ld.shared::cluster.u32 %r8, [%r7]; add.u32 %r6, %r6, %r8; add.u32 %r5, %r5, 1; \
                   setp.lt.u32 %p1, %r5, %r4; @%p1 bra L; barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned; \
                   mul.wide.u32 %d10, %r0, 4; add.u64 %d10, %d4, %d10; st.global.u32 [%d10], %r6;",
        },
        Case {
            name: "clred_split",
            kernel: &KERNEL_C,
            codes: &[],
            body: "shl.b32 %r1, %r0, 2; mov.u32 %r2, part; add.u32 %r3, %r2, %r1; st.shared.u32 [%r3], %r0; \
                   barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned; mov.u32 %r4, %cluster_nctarank; \
                   mov.u32 %r5, 0; mov.u32 %r6, 0; L: mapa.shared::cluster.u32 %r7, %r3, %r5; \
                   ld.shared::cluster.u32 %r8, [%r7]; add.u32 %r6, %r6, %r8; add.u32 %r5, %r5, 1; \
                   setp.lt.u32 %p1, %r5, %r4; @%p1 bra L; barrier.cluster.arrive; mul.wide.u32 %d10, %r0, 4; \
                   add.u64 %d10, %d4, %d10; st.global.u32 [%d10], %r6; barrier.cluster.wait;",
        },
        Case {
            name: "clred",
            kernel: &KERNEL_C,
            codes: &[656],
            body: "shl.b32 %r1, %r0, 2; mov.u32 %r2, part; add.u32 %r3, %r2, %r1; st.shared.u32 [%r3], %r0; \
                   barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned; mov.u32 %r4, %cluster_nctarank; \
                   mov.u32 %r5, 0; mov.u32 %r6, 0; L: mapa.shared::cluster.u32 %r7, %r3, %r5; \
                   ld.shared::cluster.u32 %r8, [%r7]; add.u32 %r6, %r6, %r8; add.u32 %r5, %r5, 1; \
                   setp.lt.u32 %p1, %r5, %r4; @%p1 bra L; mul.wide.u32 %d10, %r0, 4; add.u64 %d10, %d4, %d10; \
                   st.global.u32 [%d10], %r6;",
        },
    ]);
}

#[test]
fn two_stages_of_stores() {
    check(&[
        Case {
            name: "ms",
            kernel: &KERNEL_D,
            codes: &[],
            body: "mov.u32 %r1, 0; mov.u32 %r2, st; setp.eq.u32 %p1, %r0, 0; shl.b32 %r3, %r0, 4; L: \
                   and.b32 %r4, %r1, 1; shl.b32 %r5, %r4, 11; add.u32 %r6, %r2, %r5; add.u32 %r7, %r6, %r3; \
                   @%p1 cp.async.bulk.wait_group.read 1; bar.sync 0; st.shared.u32 [%r7], %r1; \
                   fence.proxy.async.shared::cta; bar.sync 0; @!%p1 bra N; \
                   cp.async.bulk.global.shared::cta.bulk_group [%d4], [%r6], 2048; cp.async.bulk.commit_group; N: \
                   add.u64 %d4, %d4, 2048; add.u32 %r1, %r1, 1; setp.lt.u32 %p2, %r1, %r59; @%p2 bra L; \
                   @%p1 cp.async.bulk.wait_group 0;",
        },
        Case {
            name: "ms_read",
            kernel: &KERNEL_D,
            codes: &[],
            body: "mov.u32 %r1, 0; mov.u32 %r2, st; setp.eq.u32 %p1, %r0, 0; shl.b32 %r3, %r0, 4; L: \
                   and.b32 %r4, %r1, 1; shl.b32 %r5, %r4, 11; add.u32 %r6, %r2, %r5; add.u32 %r7, %r6, %r3; \
                   @%p1 cp.async.bulk.wait_group.read 1; bar.sync 0; st.shared.u32 [%r7], %r1; \
                   fence.proxy.async.shared::cta; bar.sync 0; @!%p1 bra N; \
                   cp.async.bulk.global.shared::cta.bulk_group [%d4], [%r6], 2048; cp.async.bulk.commit_group; N: \
                   add.u64 %d4, %d4, 2048; add.u32 %r1, %r1, 1; setp.lt.u32 %p2, %r1, %r59; @%p2 bra L; \
                   @%p1 cp.async.bulk.wait_group.read 0; bar.sync 0;",
        },
        Case {
            name: "ms_end",
            kernel: &KERNEL_D,
            codes: &[650],
            body: "mov.u32 %r1, 0; mov.u32 %r2, st; setp.eq.u32 %p1, %r0, 0; shl.b32 %r3, %r0, 4; L: \
                   and.b32 %r4, %r1, 1; shl.b32 %r5, %r4, 11; add.u32 %r6, %r2, %r5; add.u32 %r7, %r6, %r3; \
                   @%p1 cp.async.bulk.wait_group.read 1; bar.sync 0; st.shared.u32 [%r7], %r1; \
                   fence.proxy.async.shared::cta; bar.sync 0; @!%p1 bra N; \
                   cp.async.bulk.global.shared::cta.bulk_group [%d4], [%r6], 2048; cp.async.bulk.commit_group; N: \
                   add.u64 %d4, %d4, 2048; add.u32 %r1, %r1, 1; setp.lt.u32 %p2, %r1, %r59; @%p2 bra L;",
        },
    ]);
}

#[test]
fn a_turn_for_each_cta() {
    check(&[Case {
        name: "sk",
        kernel: &KERNEL_E,
        codes: &[],
        body: "mov.u32 %r1, %ctaid.x; setp.eq.u32 %p1, %r0, 0; @!%p1 bra B; SP: \
                   ld.acquire.gpu.global.u32 %r2, [%d3]; setp.ne.u32 %p2, %r2, %r1; @%p2 bra SP; B: bar.sync 0; \
                   mul.wide.u32 %d10, %r0, 4; add.u64 %d10, %d4, %d10; ld.global.u32 %r3, [%d10]; add.u32 %r3, %r3, 1; \
                   st.global.u32 [%d10], %r3; bar.sync 0; @!%p1 bra E; add.u32 %r4, %r1, 1; fence.acq_rel.gpu; \
                   st.release.gpu.global.u32 [%d3], %r4; E:",
    }]);
}

#[test]
fn sk256() {
    check(&[Case {
        name: "sk256",
        kernel: &KERNEL_F,
        codes: &[],
        body: "mov.u32 %r1, %ctaid.x; setp.eq.u32 %p1, %r0, 0; @!%p1 bra B; SP: \
                   ld.acquire.gpu.global.u32 %r2, [%d3]; setp.ne.u32 %p2, %r2, %r1; @%p2 bra SP; B: bar.sync 0; \
                   mul.wide.u32 %d10, %r0, 4; add.u64 %d10, %d4, %d10; ld.global.u32 %r3, [%d10]; add.u32 %r3, %r3, 1; \
                   st.global.u32 [%d10], %r3; bar.sync 0; @!%p1 bra E; add.u32 %r4, %r1, 1; fence.acq_rel.gpu; \
                   st.release.gpu.global.u32 [%d3], %r4; E:",
    }]);
}

#[test]
fn a_persistent_kernel() {
    check(&[Case {
        name: "clcp",
        kernel: &KERNEL_G,
        codes: &[],
        body: "setp.eq.u32 %p1, %r0, 0; @!%p1 bra I; mbarrier.init.shared::cta.b64 [clcf], 1; \
                   mbarrier.init.shared::cta.b64 [clce], 128; fence.mbarrier_init.release.cluster; I: bar.sync 0; \
                   mov.u32 %r9, 0; mov.u32 %r10, 1; mov.u32 %r20, %ctaid.x; L: @!%p1 bra W; \
                   PE: mbarrier.try_wait.parity.shared::cta.b64 %p15, [clce], %r10; @!%p15 bra PE; \
                   mbarrier.arrive.expect_tx.relaxed.cluster.shared::cta.b64 _, [clcf], 16; \
                   clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [ans], [clcf]; \
                   W: mul.wide.u32 %d10, %r20, 512; add.u64 %d11, %d4, %d10; mul.wide.u32 %d12, %r0, 4; \
                   add.u64 %d11, %d11, %d12; st.global.u32 [%d11], %r20; \
                   CW: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p15, [clcf], %r9; @!%p15 bra CW; \
                   ld.shared.b128 %q1, [ans]; clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p4, %q1; \
                   @%p4 clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {%r20, %r21, %r22, _}, %q1; \
                   fence.proxy.async.shared::cta; mbarrier.arrive.shared::cta.b64 _, [clce]; xor.b32 %r9, %r9, 1; \
                   xor.b32 %r10, %r10, 1; @%p4 bra L;",
    }]);
}

#[test]
fn answers_through_shared_memory() {
    check(&[Case {
        name: "clcb",
        kernel: &KERNEL_G,
        codes: &[],
        body: "setp.eq.u32 %p1, %r0, 0; @!%p1 bra I; mbarrier.init.shared::cta.b64 [clcf], 1; I: bar.sync 0; \
                   mov.u32 %r9, 0; L: @!%p1 bra W; \
                   mbarrier.arrive.expect_tx.relaxed.cluster.shared::cta.b64 _, [clcf], 16; \
                   clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [ans], [clcf]; \
                   CW: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p15, [clcf], %r9; @!%p15 bra CW; \
                   ld.shared.b128 %q1, [ans]; fence.proxy.async.shared::cta; \
                   clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p4, %q1; mov.u32 %r21, -1; \
                   @%p4 clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r21, %q1; \
                   st.shared.u32 [tile], %r21; W: bar.sync 0; ld.shared.u32 %r22, [tile]; bar.sync 0; \
                   xor.b32 %r9, %r9, 1; setp.eq.s32 %p5, %r22, -1; @%p5 bra E; st.global.u32 [%d4], %r22; bra L; E:",
    }]);
}

#[test]
fn a_sum_over_the_cta() {
    check(&[
        Case {
            name: "br",
            kernel: &KERNEL_H,
            codes: &[],
            body: "ld.global.u32 %r1, [%d3]; shfl.sync.bfly.b32 %r2, %r1, 16, 31, -1; add.u32 %r1, %r1, %r2; \
                   shfl.sync.bfly.b32 %r2, %r1, 8, 31, -1; add.u32 %r1, %r1, %r2; \
                   shfl.sync.bfly.b32 %r2, %r1, 4, 31, -1; add.u32 %r1, %r1, %r2; \
                   shfl.sync.bfly.b32 %r2, %r1, 2, 31, -1; add.u32 %r1, %r1, %r2; \
                   shfl.sync.bfly.b32 %r2, %r1, 1, 31, -1; add.u32 %r1, %r1, %r2; and.b32 %r3, %r0, 31; \
                   shr.u32 %r4, %r0, 5; setp.eq.u32 %p1, %r3, 0; shl.b32 %r5, %r4, 2; mov.u32 %r6, ws; \
                   add.u32 %r7, %r6, %r5; @%p1 st.shared.u32 [%r7], %r1; bar.sync 0; setp.ge.u32 %p2, %r0, 32; \
                   @%p2 bra E; setp.lt.u32 %p3, %r0, 4; mov.u32 %r8, 0; shl.b32 %r9, %r0, 2; add.u32 %r9, %r6, %r9; \
                   @%p3 ld.shared.u32 %r8, [%r9]; shfl.sync.down.b32 %r10, %r8, 2, 31, -1; add.u32 %r8, %r8, %r10; \
                   shfl.sync.down.b32 %r10, %r8, 1, 31, -1; add.u32 %r8, %r8, %r10; setp.eq.u32 %p4, %r0, 0; \
                   @%p4 st.global.u32 [%d4], %r8; E:",
        },
        Case {
            name: "br_nosize",
            kernel: &KERNEL_I,
            codes: &[],
            body: "ld.global.u32 %r1, [%d3]; shfl.sync.bfly.b32 %r2, %r1, 16, 31, -1; add.u32 %r1, %r1, %r2; \
                   shfl.sync.bfly.b32 %r2, %r1, 8, 31, -1; add.u32 %r1, %r1, %r2; \
                   shfl.sync.bfly.b32 %r2, %r1, 4, 31, -1; add.u32 %r1, %r1, %r2; \
                   shfl.sync.bfly.b32 %r2, %r1, 2, 31, -1; add.u32 %r1, %r1, %r2; \
                   shfl.sync.bfly.b32 %r2, %r1, 1, 31, -1; add.u32 %r1, %r1, %r2; and.b32 %r3, %r0, 31; \
                   shr.u32 %r4, %r0, 5; setp.eq.u32 %p1, %r3, 0; shl.b32 %r5, %r4, 2; mov.u32 %r6, ws; \
                   add.u32 %r7, %r6, %r5; @%p1 st.shared.u32 [%r7], %r1; bar.sync 0; setp.ge.u32 %p2, %r0, 32; \
                   @%p2 bra E; setp.lt.u32 %p3, %r0, 4; mov.u32 %r8, 0; shl.b32 %r9, %r0, 2; add.u32 %r9, %r6, %r9; \
                   @%p3 ld.shared.u32 %r8, [%r9]; shfl.sync.down.b32 %r10, %r8, 2, 31, -1; add.u32 %r8, %r8, %r10; \
                   shfl.sync.down.b32 %r10, %r8, 1, 31, -1; add.u32 %r8, %r8, %r10; setp.eq.u32 %p4, %r0, 0; \
                   @%p4 st.global.u32 [%d4], %r8; E:",
        },
        Case {
            name: "br_ret",
            kernel: &KERNEL_H,
            codes: &[],
            body: "ld.global.u32 %r1, [%d3]; shfl.sync.bfly.b32 %r2, %r1, 16, 31, -1; add.u32 %r1, %r1, %r2; \
                   shfl.sync.bfly.b32 %r2, %r1, 8, 31, -1; add.u32 %r1, %r1, %r2; \
                   shfl.sync.bfly.b32 %r2, %r1, 4, 31, -1; add.u32 %r1, %r1, %r2; \
                   shfl.sync.bfly.b32 %r2, %r1, 2, 31, -1; add.u32 %r1, %r1, %r2; \
                   shfl.sync.bfly.b32 %r2, %r1, 1, 31, -1; add.u32 %r1, %r1, %r2; and.b32 %r3, %r0, 31; \
                   shr.u32 %r4, %r0, 5; setp.eq.u32 %p1, %r3, 0; shl.b32 %r5, %r4, 2; mov.u32 %r6, ws; \
                   add.u32 %r7, %r6, %r5; @%p1 st.shared.u32 [%r7], %r1; bar.sync 0; setp.ge.u32 %p2, %r0, 32; \
                   @%p2 ret; setp.lt.u32 %p3, %r0, 4; mov.u32 %r8, 0; shl.b32 %r9, %r0, 2; add.u32 %r9, %r6, %r9; \
                   @%p3 ld.shared.u32 %r8, [%r9]; shfl.sync.down.b32 %r10, %r8, 2, 31, -1; add.u32 %r8, %r8, %r10; \
                   shfl.sync.down.b32 %r10, %r8, 1, 31, -1; add.u32 %r8, %r8, %r10; setp.eq.u32 %p4, %r0, 0; \
                   @%p4 st.global.u32 [%d4], %r8; E:",
        },
        Case {
            name: "br_mask4",
            kernel: &KERNEL_H,
            codes: &[],
            body: "ld.global.u32 %r1, [%d3]; shfl.sync.bfly.b32 %r2, %r1, 16, 31, -1; add.u32 %r1, %r1, %r2; \
                   shfl.sync.bfly.b32 %r2, %r1, 8, 31, -1; add.u32 %r1, %r1, %r2; \
                   shfl.sync.bfly.b32 %r2, %r1, 4, 31, -1; add.u32 %r1, %r1, %r2; \
                   shfl.sync.bfly.b32 %r2, %r1, 2, 31, -1; add.u32 %r1, %r1, %r2; \
                   shfl.sync.bfly.b32 %r2, %r1, 1, 31, -1; add.u32 %r1, %r1, %r2; and.b32 %r3, %r0, 31; \
                   shr.u32 %r4, %r0, 5; setp.eq.u32 %p1, %r3, 0; shl.b32 %r5, %r4, 2; mov.u32 %r6, ws; \
                   add.u32 %r7, %r6, %r5; @%p1 st.shared.u32 [%r7], %r1; bar.sync 0; setp.ge.u32 %p2, %r0, 4; \
                   @%p2 bra E; setp.lt.u32 %p3, %r0, 4; mov.u32 %r8, 0; shl.b32 %r9, %r0, 2; add.u32 %r9, %r6, %r9; \
                   @%p3 ld.shared.u32 %r8, [%r9]; shfl.sync.down.b32 %r10, %r8, 2, 31, 0xf; add.u32 %r8, %r8, %r10; \
                   shfl.sync.down.b32 %r10, %r8, 1, 31, 0xf; add.u32 %r8, %r8, %r10; setp.eq.u32 %p4, %r0, 0; \
                   @%p4 st.global.u32 [%d4], %r8; E:",
        },
        Case {
            name: "br_mask",
            kernel: &KERNEL_H,
            codes: &[604],
            body: "ld.global.u32 %r1, [%d3]; shfl.sync.bfly.b32 %r2, %r1, 16, 31, -1; add.u32 %r1, %r1, %r2; \
                   shfl.sync.bfly.b32 %r2, %r1, 8, 31, -1; add.u32 %r1, %r1, %r2; \
                   shfl.sync.bfly.b32 %r2, %r1, 4, 31, -1; add.u32 %r1, %r1, %r2; \
                   shfl.sync.bfly.b32 %r2, %r1, 2, 31, -1; add.u32 %r1, %r1, %r2; \
                   shfl.sync.bfly.b32 %r2, %r1, 1, 31, -1; add.u32 %r1, %r1, %r2; and.b32 %r3, %r0, 31; \
                   shr.u32 %r4, %r0, 5; setp.eq.u32 %p1, %r3, 0; shl.b32 %r5, %r4, 2; mov.u32 %r6, ws; \
                   add.u32 %r7, %r6, %r5; @%p1 st.shared.u32 [%r7], %r1; bar.sync 0; setp.ge.u32 %p2, %r0, 4; \
                   @%p2 bra E; setp.lt.u32 %p3, %r0, 4; mov.u32 %r8, 0; shl.b32 %r9, %r0, 2; add.u32 %r9, %r6, %r9; \
                   @%p3 ld.shared.u32 %r8, [%r9]; shfl.sync.down.b32 %r10, %r8, 2, 31, -1; add.u32 %r8, %r8, %r10; \
                   shfl.sync.down.b32 %r10, %r8, 1, 31, -1; add.u32 %r8, %r8, %r10; setp.eq.u32 %p4, %r0, 0; \
                   @%p4 st.global.u32 [%d4], %r8; E:",
        },
    ]);
}

#[test]
fn a_dependent_grid() {
    check(&[Case {
        name: "pdl",
        kernel: &KERNEL_E,
        codes: &[],
        body: "griddepcontrol.wait; mov.u32 %r1, %ctaid.x; mad.lo.u32 %r2, %r1, 128, %r0; \
                   setp.ge.u32 %p1, %r2, %r59; @%p1 ret; mul.wide.u32 %d10, %r2, 4; add.u64 %d11, %d3, %d10; \
                   ld.global.u32 %r3, [%d11]; griddepcontrol.launch_dependents; add.u64 %d12, %d4, %d10; \
                   st.global.u32 [%d12], %r3;",
    }]);
}

#[test]
fn a_tree_of_sums() {
    check(&[
        Case {
            name: "tree",
            kernel: &KERNEL_D,
            codes: &[],
            body: "shl.b32 %r1, %r0, 2; mov.u32 %r2, st; add.u32 %r3, %r2, %r1; st.shared.u32 [%r3], %r0; bar.sync 0; \
                   mov.u32 %r4, 64; L: setp.lt.u32 %p1, %r0, %r4; @!%p1 bra N; shl.b32 %r5, %r4, 2; \
                   add.u32 %r6, %r3, %r5; ld.shared.u32 %r7, [%r6]; ld.shared.u32 %r8, [%r3]; add.u32 %r7, %r7, %r8; \
                   st.shared.u32 [%r3], %r7; N: bar.sync 0; shr.u32 %r4, %r4, 1; setp.gt.u32 %p2, %r4, 0; @%p2 bra L; \
                   setp.eq.u32 %p3, %r0, 0; @%p3 ld.shared.u32 %r9, [st]; @%p3 st.global.u32 [%d4], %r9;",
        },
        Case {
            name: "tree_nosize",
            kernel: &KERNEL_J,
            codes: &[],
            body: "shl.b32 %r1, %r0, 2; mov.u32 %r2, st; add.u32 %r3, %r2, %r1; st.shared.u32 [%r3], %r0; bar.sync 0; \
                   mov.u32 %r4, 64; L: setp.lt.u32 %p1, %r0, %r4; @!%p1 bra N; shl.b32 %r5, %r4, 2; \
                   add.u32 %r6, %r3, %r5; ld.shared.u32 %r7, [%r6]; ld.shared.u32 %r8, [%r3]; add.u32 %r7, %r7, %r8; \
                   st.shared.u32 [%r3], %r7; N: bar.sync 0; shr.u32 %r4, %r4, 1; setp.gt.u32 %p2, %r4, 0; @%p2 bra L; \
                   setp.eq.u32 %p3, %r0, 0; @%p3 ld.shared.u32 %r9, [st]; @%p3 st.global.u32 [%d4], %r9;",
        },
        Case {
            name: "tree",
            kernel: &KERNEL_D,
            codes: &[603],
            body: "shl.b32 %r1, %r0, 2; mov.u32 %r2, st; add.u32 %r3, %r2, %r1; st.shared.u32 [%r3], %r0; bar.sync 0; \
                   mov.u32 %r4, 64; L: setp.lt.u32 %p1, %r0, %r4; @!%p1 bra N; shl.b32 %r5, %r4, 2; \
                   add.u32 %r6, %r3, %r5; ld.shared.u32 %r7, [%r6]; ld.shared.u32 %r8, [%r3]; add.u32 %r7, %r7, %r8; \
                   st.shared.u32 [%r3], %r7; bar.sync 0; N: shr.u32 %r4, %r4, 1; setp.gt.u32 %p2, %r4, 0; @%p2 bra L; \
                   setp.eq.u32 %p3, %r0, 0; @%p3 ld.shared.u32 %r9, [st]; @%p3 st.global.u32 [%d4], %r9;",
        },
    ]);
}
