//! Right kernels in shapes that resemble mistakes.

use super::{Case, Kernel, check};

const SHARED: &str =
    ".shared .align 128 .b8 buf[8192]; .shared .align 8 .b64 mb[4]; .shared .align 4 .b32 x; .shared .align 4 .b32 y;";

const KERNEL_A: Kernel = Kernel { target: "sm_90a", version: "8.6", threads: "128", directives: "", shared: "" };
const KERNEL_B: Kernel = Kernel { target: "sm_90a", version: "8.6", threads: "128", directives: "", shared: SHARED };
const KERNEL_C: Kernel =
    Kernel { target: "sm_90a", version: "8.6", threads: "128", directives: ".reqnctapercluster 2", shared: SHARED };
const KERNEL_D: Kernel =
    Kernel { target: "sm_90a", version: "8.6", threads: "128", directives: ".reqnctapercluster 2", shared: "" };
const KERNEL_E: Kernel = Kernel { target: "sm_90a", version: "8.6", threads: "40", directives: "", shared: "" };
const KERNEL_F: Kernel = Kernel { target: "sm_90a", version: "8.6", threads: "8, 16", directives: "", shared: "" };
const KERNEL_G: Kernel = Kernel { target: "sm_90a", version: "8.6", threads: "8, 4, 4", directives: "", shared: "" };

#[test]
fn registers_written_where_they_are_read() {
    check(&[
        Case {
            name: "u1",
            kernel: &KERNEL_A,
            codes: &[],
            body: "ld.global.u32 %r1, [%d3]; setp.gt.s32 %p2, %r1, 0; @%p2 bra A; bra B; A: mov.u32 %r5, 1; \
                   B: @%p2 st.global.u32 [%d4], %r5;",
        },
        Case {
            name: "u2",
            kernel: &KERNEL_A,
            codes: &[],
            body: "mov.u32 %r1, 0; mov.u32 %r9, 0; L: setp.eq.u32 %p2, %r1, 3; @%p2 mov.u32 %r5, %r1; \
                   @%p2 mov.u32 %r9, 1; add.u32 %r1, %r1, 1; setp.lt.u32 %p4, %r1, 8; @%p4 bra L; \
                   setp.ne.u32 %p5, %r9, 0; @%p5 st.global.u32 [%d4], %r5;",
        },
        Case {
            name: "u3",
            kernel: &KERNEL_A,
            codes: &[],
            body: "setp.lt.u32 %p2, %r0, 64; @%p2 ld.global.u32 %r5, [%d3]; bar.sync 0; setp.lt.u32 %p4, %r0, 64; \
                   @!%p4 bra E; st.global.u32 [%d4], %r5; E:",
        },
        Case {
            name: "u4",
            kernel: &KERNEL_A,
            codes: &[],
            body: "setp.lt.u32 %p2, %r0, 64; @%p2 ld.global.u32 %r5, [%d3]; setp.ge.u32 %p4, %r0, 64; @%p4 bra E; \
                   st.global.u32 [%d4], %r5; E:",
        },
        Case {
            name: "u5",
            kernel: &KERNEL_A,
            codes: &[],
            body: "setp.lt.u32 %p2, %r0, 64; @%p2 ld.global.u32 %r5, [%d3]; setp.lt.u32 %p4, %r0, 32; \
                   @%p4 st.global.u32 [%d4], %r5;",
        },
        Case {
            name: "u6",
            kernel: &KERNEL_A,
            codes: &[],
            body: "setp.gt.u32 %p2, %r59, 0; mov.u32 %r1, 0; @!%p2 bra E; L: mov.u32 %r5, %r1; add.u32 %r1, %r1, 1; \
                   setp.lt.u32 %p4, %r1, %r59; @%p4 bra L; E: @%p2 st.global.u32 [%d4], %r5;",
        },
        Case {
            name: "u7",
            kernel: &KERNEL_A,
            codes: &[],
            body: "setp.eq.u32 %p3, %r59, 0; @%p3 bra A; mov.u32 %r5, 1; bra.uni C; A: mov.u32 %r6, 2; \
                   C: selp.b32 %r7, %r6, %r5, %p3; st.global.u32 [%d4], %r7;",
        },
        Case {
            name: "u8",
            kernel: &KERNEL_A,
            codes: &[],
            body: "setp.eq.u32 %p3, %r59, 0; setp.lt.u32 %p4, %r0, 5; and.pred %p5, %p3, %p4; @%p3 mov.u32 %r5, 1; \
                   @%p5 st.global.u32 [%d4], %r5;",
        },
        Case {
            name: "u9",
            kernel: &KERNEL_A,
            codes: &[],
            body: "setp.eq.u32 %p3, %r59, 0; setp.lt.and.u32 %p5, %r0, 5, %p3; @%p3 mov.u32 %r5, 1; \
                   @%p5 st.global.u32 [%d4], %r5;",
        },
        Case {
            name: "u10",
            kernel: &KERNEL_A,
            codes: &[],
            body: "vote.sync.any.pred %p2, 1, -1; @%p2 mov.u32 %r5, 1; @%p2 bra A; ret; A: st.global.u32 [%d4], %r5;",
        },
        Case {
            name: "u11",
            kernel: &KERNEL_A,
            codes: &[],
            body: "setp.eq.u32 %p3|%p4, %r59, 0; @%p3 mov.u32 %r5, 1; @%p4 mov.u32 %r5, 2; st.global.u32 [%d4], %r5;",
        },
        Case {
            name: "u12",
            kernel: &KERNEL_A,
            codes: &[],
            body: "setp.ne.s64 %p2, %d1, 0; @%p2 ld.global.u32 %r5, [%d3]; setp.ne.s64 %p4, %d1, 0; \
                   @%p4 st.global.u32 [%d4], %r5;",
        },
        Case {
            name: "u13",
            kernel: &KERNEL_A,
            codes: &[],
            body: "setp.gt.f32 %p2, 0f3F800000, 0f00000000; ld.global.f32 %f1, [%d3]; setp.gt.f32 %p2, %f1, 0f00000000; \
                   @%p2 mov.u32 %r5, 1; setp.gt.f32 %p4, %f1, 0f00000000; @%p4 st.global.u32 [%d4], %r5;",
        },
        Case {
            name: "u14",
            kernel: &KERNEL_A,
            codes: &[],
            body: "shfl.sync.idx.b32 %r5|%p2, %r0, 3, 31, -1; @%p2 st.global.u32 [%d4], %r5;",
        },
        Case {
            name: "u15",
            kernel: &KERNEL_A,
            codes: &[],
            body: "mov.u32 %r1, 0; L: setp.ne.u32 %p2, %r1, 0; @!%p2 bra F; st.global.u32 [%d4], %r5; \
                   F: ld.global.u32 %r5, [%d3]; add.u32 %r1, %r1, 1; setp.lt.u32 %p4, %r1, 5; @%p4 bra L;",
        },
        Case {
            name: "u17",
            kernel: &KERNEL_A,
            codes: &[],
            body: "setp.eq.u32 %p3, %r59, 0; @%p3 bra A; setp.eq.u32 %p3, %r59, 1; @%p3 bra B; bra E; \
                   A: mov.u32 %r5, 1; bra J; B: mov.u32 %r5, 2; J: st.global.u32 [%d4], %r5; E:",
        },
        Case {
            name: "u19",
            kernel: &KERNEL_A,
            codes: &[],
            body: "mov.b64 {%r1, %r2}, %d1; mov.b64 %d10, {%r1, %r0}; st.global.u64 [%d4], %d10;",
        },
        Case {
            name: "u20",
            kernel: &KERNEL_A,
            codes: &[],
            body: "and.b32 %r1, %r0, 3; setp.eq.u32 %p2, %r1, 3; @%p2 st.global.u32 [%d4], %r0; \
                   setp.gt.u32 %p4, %r1, 2; @%p4 st.global.u32 [%d4], %r0;",
        },
        Case {
            name: "u21",
            kernel: &KERNEL_A,
            codes: &[],
            body: "rem.u32 %r1, %r59, 3; setp.eq.u32 %p2, %r1, 2; @%p2 st.global.u32 [%d4], %r0;",
        },
        Case {
            name: "u22",
            kernel: &KERNEL_A,
            codes: &[],
            body: "shr.u32 %r1, %r59, 31; setp.eq.u32 %p2, %r1, 1; @%p2 st.global.u32 [%d4], %r0;",
        },
        Case {
            name: "u23",
            kernel: &KERNEL_A,
            codes: &[],
            body: "and.b32 %r1, %r59, -8; setp.ge.s32 %p2, %r1, 8; @%p2 st.global.u32 [%d4], %r0;",
        },
    ]);
}

#[test]
fn memory_in_order() {
    check(&[
        Case {
            name: "r1",
            kernel: &KERNEL_B,
            codes: &[],
            body: "setp.eq.u32 %p1, %r0, 0; @%p1 st.shared.u32 [x], 5; bar.sync 0; ld.shared.u32 %r5, [x]; \
                   setp.gt.u32 %p2, %r5, 0; @%p2 bra A; @%p1 st.shared.u32 [y], 1; A: bar.sync 0; \
                   ld.shared.u32 %r6, [y]; st.global.u32 [%d4], %r6;",
        },
        Case {
            name: "r2",
            kernel: &KERNEL_B,
            codes: &[],
            body: "setp.eq.u32 %p1, %r0, 0; mov.u32 %r8, 0; L: @%p1 st.shared.u32 [x], %r8; bar.sync 0; \
                   ld.shared.u32 %r5, [x]; bar.sync 0; add.u32 %r8, %r8, %r5; setp.lt.u32 %p2, %r8, 9; @%p2 bra L;",
        },
        Case {
            name: "r3",
            kernel: &KERNEL_B,
            codes: &[],
            body: "setp.lt.u32 %p1, %r0, 32; @%p1 st.shared.u32 [x], 5; barrier.sync 1, 128; ld.shared.u32 %r5, [x]; \
                   st.global.u32 [%d4], %r5;",
        },
        Case {
            name: "r4",
            kernel: &KERNEL_B,
            codes: &[],
            body: "setp.ge.u32 %p1, %r0, 32; @%p1 bra C; st.shared.u32 [x], 5; bar.arrive 1, 128; bra E; \
                   C: bar.sync 1, 128; ld.shared.u32 %r5, [x]; st.global.u32 [%d4], %r5; E:",
        },
        Case {
            name: "r5",
            kernel: &KERNEL_B,
            codes: &[],
            body: "setp.eq.u32 %p1, %r0, 0; @%p1 mbarrier.init.shared::cta.b64 [mb], 1; bar.sync 0; \
                   @%p1 st.shared.u32 [x], 5; @%p1 mbarrier.arrive.shared::cta.b64 _, [mb]; \
                   W: mbarrier.try_wait.parity.shared::cta.b64 %p15, [mb], 0; @!%p15 bra W; ld.shared.u32 %r5, [x]; \
                   st.global.u32 [%d4], %r5;",
        },
        Case {
            name: "r6",
            kernel: &KERNEL_B,
            codes: &[],
            body: "setp.eq.u32 %p1, %r0, 0; @%p1 st.shared.u32 [x], 5; @!%p1 st.shared.u32 [y], 6; bar.sync 0; \
                   ld.shared.u32 %r5, [x];",
        },
        Case {
            name: "r7",
            kernel: &KERNEL_B,
            codes: &[],
            body: "setp.lt.u32 %p1, %r0, 32; @!%p1 bra O; st.shared.u32 [x], 5; bar.warp.sync -1; \
                   ld.shared.u32 %r5, [x]; st.global.u32 [%d4], %r5; O:",
        },
        Case {
            name: "r8",
            kernel: &KERNEL_B,
            codes: &[],
            body: "setp.eq.u32 %p1, %r0, 0; @%p1 st.shared.u32 [buf], 5; @%p1 st.shared.u32 [buf+4], 5; \
                   ld.shared.u32 %r5, [buf+8]; st.global.u32 [%d4], %r5;",
        },
        Case {
            name: "r9",
            kernel: &KERNEL_C,
            codes: &[],
            body: "setp.eq.u32 %p1, %r0, 0; @%p1 st.shared.u32 [x], 5; barrier.cluster.arrive; barrier.cluster.wait; \
                   ld.shared.u32 %r5, [x]; st.global.u32 [%d4], %r5;",
        },
        Case {
            name: "r10",
            kernel: &KERNEL_B,
            codes: &[],
            body: "setp.eq.u32 %p1, %r0, 0; @%p1 st.shared.u32 [x], 5; bar.red.popc.u32 %r9, 0, %p1; \
                   ld.shared.u32 %r5, [x]; st.global.u32 [%d4], %r5;",
        },
    ]);
}

#[test]
fn elections_for_one() {
    check(&[
        Case {
            name: "e1",
            kernel: &KERNEL_B,
            codes: &[],
            body: "shr.u32 %r1, %r0, 5; shfl.sync.idx.b32 %r1, %r1, 0, 31, -1; setp.eq.u32 %p1, %r0, 0; \
                   @%p1 mbarrier.init.shared::cta.b64 [mb], 4; bar.sync 0; elect.sync _|%p4, -1; @!%p4 bra X; \
                   mbarrier.arrive.expect_tx.shared::cta.b64 _, [mb], 512; mul.lo.u32 %r2, %r1, 512; mov.u32 %r3, buf; \
                   add.u32 %r3, %r3, %r2; cvt.u64.u32 %d10, %r2; add.u64 %d10, %d3, %d10; \
                   cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%d10], 512, [mb]; X: \
                   W: mbarrier.try_wait.parity.shared::cta.b64 %p15, [mb], 0; @!%p15 bra W; ld.shared.u32 %r5, [buf]; \
                   st.global.u32 [%d4], %r5;",
        },
        Case {
            name: "e2",
            kernel: &KERNEL_B,
            codes: &[],
            body: "setp.eq.u32 %p1, %r0, 0; @%p1 mbarrier.init.shared::cta.b64 [mb], 1; bar.sync 0; \
                   shr.u32 %r1, %r0, 5; setp.ne.u32 %p2, %r1, 1; @%p2 bra X; elect.sync %r2|%p4, -1; @!%p4 bra X; \
                   mbarrier.arrive.expect_tx.shared::cta.b64 _, [mb], 512; \
                   cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [buf], [%d3], 512, [mb]; X: \
                   W: mbarrier.try_wait.parity.shared::cta.b64 %p15, [mb], 0; @!%p15 bra W; ld.shared.u32 %r5, [buf]; \
                   st.global.u32 [%d4], %r5;",
        },
        Case {
            name: "e3",
            kernel: &KERNEL_B,
            codes: &[],
            body: "elect.sync _|%p4, -1; setp.lt.u32 %p5, %r0, 32; and.pred %p6, %p4, %p5; \
                   @%p6 mbarrier.init.shared::cta.b64 [mb], 1; bar.sync 0; \
                   @%p6 mbarrier.arrive.expect_tx.shared::cta.b64 _, [mb], 512; \
                   @%p6 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [buf], [%d3], 512, [mb]; \
                   W: mbarrier.try_wait.parity.shared::cta.b64 %p15, [mb], 0; @!%p15 bra W; ld.shared.u32 %r5, [buf]; \
                   st.global.u32 [%d4], %r5;",
        },
        Case {
            name: "e4",
            kernel: &KERNEL_B,
            codes: &[],
            body: "setp.eq.u32 %p1, %r0, 0; @%p1 mbarrier.init.shared::cta.b64 [mb], 1; bar.sync 0; \
                   mov.u32 %r1, %warpid; setp.eq.u32 %p5, %r1, 0; elect.sync _|%p4, -1; and.pred %p6, %p4, %p5; \
                   @%p6 mbarrier.arrive.expect_tx.shared::cta.b64 _, [mb], 512; \
                   @%p6 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [buf], [%d3], 512, [mb]; \
                   W: mbarrier.try_wait.parity.shared::cta.b64 %p15, [mb], 0; @!%p15 bra W; ld.shared.u32 %r5, [buf]; \
                   st.global.u32 [%d4], %r5;",
        },
        Case {
            name: "e5",
            kernel: &KERNEL_B,
            codes: &[],
            body: "setp.eq.u32 %p1, %r0, 0; @%p1 mbarrier.init.shared::cta.b64 [mb], 1; bar.sync 0; \
                   ld.global.u32 %r1, [%d3]; shr.u32 %r2, %r0, 5; setp.eq.u32 %p5, %r1, %r2; @!%p5 bra X; \
                   elect.sync _|%p4, -1; @!%p4 bra X; mbarrier.arrive.expect_tx.shared::cta.b64 _, [mb], 512; \
                   cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [buf], [%d3], 512, [mb]; X: \
                   W: mbarrier.try_wait.parity.shared::cta.b64 %p15, [mb], 0; @!%p15 bra W; ld.shared.u32 %r5, [buf]; \
                   st.global.u32 [%d4], %r5;",
        },
    ]);
}

#[test]
fn cluster_barriers_in_step() {
    check(&[
        Case {
            name: "c1",
            kernel: &KERNEL_D,
            codes: &[],
            body: "setp.eq.u32 %p3, %r59, 0; @%p3 bra A; barrier.cluster.arrive; bra B; \
                   A: barrier.cluster.arrive.relaxed; B: barrier.cluster.wait;",
        },
        Case {
            name: "c2",
            kernel: &KERNEL_D,
            codes: &[],
            body: "setp.eq.u32 %p3, %r59, 0; @%p3 barrier.cluster.arrive; setp.ne.u32 %p4, %r59, 0; \
                   @%p4 barrier.cluster.arrive; barrier.cluster.wait;",
        },
        Case {
            name: "c3",
            kernel: &KERNEL_D,
            codes: &[],
            body: "setp.lt.u32 %p3, %r0, 32; @%p3 bra A; barrier.cluster.arrive; barrier.cluster.wait; bra B; \
                   A: barrier.cluster.arrive; barrier.cluster.wait; B: barrier.cluster.arrive; barrier.cluster.wait;",
        },
        Case {
            name: "c4",
            kernel: &KERNEL_D,
            codes: &[],
            body: "barrier.cluster.arrive; mov.u32 %r1, 0; L: setp.eq.u32 %p2, %r1, 0; @%p2 barrier.cluster.wait; \
                   add.u32 %r1, %r1, 1; setp.lt.u32 %p4, %r1, 4; @%p4 bra L;",
        },
        Case {
            name: "c5",
            kernel: &KERNEL_D,
            codes: &[],
            body: "ld.global.u32 %r1, [%d3]; setp.ne.u32 %p2, %r1, 0; @%p2 bra A; barrier.cluster.arrive; A: \
                   st.global.u32 [%d4], %r0; @!%p2 barrier.cluster.wait;",
        },
        Case {
            name: "c6",
            kernel: &KERNEL_D,
            codes: &[],
            body: "setp.eq.u32 %p3, %r59, 0; mov.u32 %r1, 0; @%p3 bra A; barrier.cluster.arrive; mov.u32 %r1, 1; \
                   A: setp.eq.u32 %p4, %r1, 1; @%p4 barrier.cluster.wait;",
        },
        Case {
            name: "c7",
            kernel: &KERNEL_D,
            codes: &[],
            body: "setp.ge.u32 %p2, %r0, %r59; @%p2 exit; barrier.cluster.arrive; barrier.cluster.wait;",
        },
        Case {
            name: "c8",
            kernel: &KERNEL_D,
            codes: &[],
            body: "barrier.cluster.arrive; setp.eq.u32 %p3, %r59, 0; @%p3 bra E; barrier.cluster.wait; \
                   barrier.cluster.arrive; E: barrier.cluster.wait;",
        },
    ]);
}

#[test]
fn dependent_grids() {
    check(&[
        Case {
            name: "g2",
            kernel: &KERNEL_A,
            codes: &[],
            body: "griddepcontrol.launch_dependents; ld.global.u32 %r1, [%d3]; st.global.u32 [%d4], %r1;",
        },
        Case {
            name: "g3",
            kernel: &KERNEL_A,
            codes: &[],
            body: "prefetch.global.L2 [%d3]; griddepcontrol.wait; ld.global.u32 %r1, [%d3]; st.global.u32 [%d4], %r1;",
        },
    ]);
}

#[test]
fn barriers_of_those_who_come() {
    check(&[
        Case {
            name: "b1",
            kernel: &KERNEL_E,
            codes: &[],
            body: "setp.lt.u32 %p1, %r0, 40; @!%p1 bra X; barrier.sync 1, 64; X:",
        },
        Case { name: "b2", kernel: &KERNEL_E, codes: &[], body: "bar.sync 0;" },
        Case {
            name: "b3",
            kernel: &KERNEL_A,
            codes: &[],
            body: "setp.lt.u32 %p1, %r0, 96; @%p1 bar.sync 1, 96; @!%p1 bar.sync 2, 32;",
        },
        Case {
            name: "b4",
            kernel: &KERNEL_F,
            codes: &[],
            body: "mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; mad.lo.u32 %r3, %r2, 8, %r1; shr.u32 %r4, %r3, 5; \
                   setp.eq.u32 %p1, %r4, 1; @%p1 bar.sync 1, 32;",
        },
        Case {
            name: "b5",
            kernel: &KERNEL_G,
            codes: &[],
            body: "mov.u32 %r2, %tid.z; setp.eq.u32 %p1, %r2, 1; @%p1 bar.sync 1, 32;",
        },
        Case {
            name: "b6",
            kernel: &KERNEL_A,
            codes: &[],
            body: "mov.u32 %r1, %ntid.x; shr.u32 %r2, %r1, 1; setp.lt.u32 %p1, %r0, %r2; @%p1 bar.sync 1, 64;",
        },
        Case {
            name: "b7",
            kernel: &KERNEL_A,
            codes: &[],
            body: "mov.u32 %r1, %warpid; setp.eq.u32 %p1, %r1, 0; @%p1 bar.sync 1, 32;",
        },
        Case {
            name: "b8",
            kernel: &KERNEL_A,
            codes: &[],
            body: "bar.sync 0; setp.ge.u32 %p1, %r0, 64; @%p1 exit; bar.sync 0;",
        },
        Case {
            name: "b9",
            kernel: &KERNEL_B,
            codes: &[],
            body: "mov.u32 %r1, 64; L: setp.lt.u32 %p1, %r0, %r1; @!%p1 bra N; st.shared.u32 [x], %r0; N: bar.sync 0; \
                   shr.u32 %r1, %r1, 1; setp.ne.u32 %p2, %r1, 0; @%p2 bra L;",
        },
    ]);
}

#[test]
fn copies_waited_for() {
    check(&[
        Case {
            name: "a1",
            kernel: &KERNEL_B,
            codes: &[],
            body: "shl.b32 %r2, %r0, 4; mov.u32 %r3, buf; add.u32 %r4, %r3, %r2; setp.lt.u32 %p2, %r0, %r59; \
                   selp.u32 %r5, 16, 0, %p2; cp.async.cg.shared.global [%r4], [%d3], 16, %r5; cp.async.commit_group; \
                   cp.async.wait_group 0; bar.sync 0; ld.shared.u32 %r6, [buf]; st.global.u32 [%d4], %r6;",
        },
        Case {
            name: "a2",
            kernel: &KERNEL_B,
            codes: &[],
            body: "setp.eq.u32 %p3, %r59, 0; shl.b32 %r2, %r0, 4; mov.u32 %r3, buf; add.u32 %r4, %r3, %r2; @%p3 bra SK; \
                   cp.async.cg.shared.global [%r4], [%d3], 16; cp.async.commit_group; SK: cp.async.wait_all; \
                   bar.sync 0; @!%p3 ld.shared.u32 %r6, [buf]; @!%p3 st.global.u32 [%d4], %r6;",
        },
        Case {
            name: "a3",
            kernel: &KERNEL_B,
            codes: &[],
            body: "setp.eq.u32 %p3, %r59, 0; shl.b32 %r2, %r0, 4; mov.u32 %r3, buf; add.u32 %r4, %r3, %r2; \
                   cp.async.cg.shared.global [%r4], [%d3], 16; cp.async.commit_group; @%p3 bra FAST; \
                   cp.async.wait_group 0; bar.sync 0; ld.shared.u32 %r6, [buf]; st.global.u32 [%d4], %r6; ret; \
                   FAST: cp.async.wait_all;",
        },
    ]);
}
