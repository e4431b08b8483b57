//! Barriers, and who comes to them.

use super::{Case, Kernel, check};

const KERNEL_A: Kernel =
    Kernel { target: "sm_90a", version: "8.6", threads: "128", directives: ".reqnctapercluster 2", shared: "" };
const KERNEL_B: Kernel = Kernel { target: "sm_90a", version: "8.6", threads: "128", directives: "", shared: "" };
const KERNEL_C: Kernel = Kernel { target: "sm_90a", version: "8.6", threads: "64", directives: "", shared: "" };
const KERNEL_D: Kernel = Kernel { target: "sm_90a", version: "8.6", threads: "256", directives: "", shared: "" };
const KERNEL_E: Kernel = Kernel { target: "sm_90a", version: "8.6", threads: "32, 4", directives: "", shared: "" };
const KERNEL_F: Kernel = Kernel { target: "sm_90a", version: "8.6", threads: "384", directives: "", shared: "" };

#[test]
fn the_cluster_barrier() {
    check(&[
        Case {
            name: "cl_twice",
            kernel: &KERNEL_A,
            codes: &[611],
            body: "barrier.cluster.arrive; st.global.u32 [%d4], %r0; barrier.cluster.arrive; barrier.cluster.wait;",
        },
        Case {
            name: "cl_loop",
            kernel: &KERNEL_A,
            codes: &[611],
            body: "mov.u32 %r2, 0; L: barrier.cluster.arrive; add.u32 %r2, %r2, 1; setp.lt.u32 %p2, %r2, %r59; \
                   @%p2 bra L; barrier.cluster.wait;",
        },
        Case {
            name: "cl_waitfirst",
            kernel: &KERNEL_A,
            codes: &[612],
            body: "barrier.cluster.wait; barrier.cluster.arrive;",
        },
        Case {
            name: "cl_waittwice",
            kernel: &KERNEL_A,
            codes: &[612],
            body: "barrier.cluster.arrive; barrier.cluster.wait; st.global.u32 [%d4], %r0; barrier.cluster.wait;",
        },
        Case {
            name: "cl_armw",
            kernel: &KERNEL_A,
            codes: &[612],
            body: "setp.eq.u32 %p3, %r59, 0; @%p3 bra X; barrier.cluster.arrive; X: barrier.cluster.wait;",
        },
        Case {
            name: "cl_waitbranch",
            kernel: &KERNEL_A,
            codes: &[611],
            body: "setp.eq.u32 %p3, %r59, 0; barrier.cluster.arrive; @%p3 bra X; barrier.cluster.wait; X: \
                   barrier.cluster.arrive; barrier.cluster.wait;",
        },
        Case {
            name: "cl_split",
            kernel: &KERNEL_A,
            codes: &[],
            body: "barrier.cluster.arrive.release.aligned; st.global.u32 [%d4], %r0; \
                   barrier.cluster.wait.acquire.aligned; barrier.cluster.arrive.release.aligned; \
                   st.global.u32 [%d4], %r0; barrier.cluster.wait.acquire.aligned;",
        },
        Case {
            name: "cl_loop",
            kernel: &KERNEL_A,
            codes: &[],
            body: "mov.u32 %r2, 0; barrier.cluster.arrive; L: barrier.cluster.wait; st.global.u32 [%d4], %r0; \
                   barrier.cluster.arrive; add.u32 %r2, %r2, 1; setp.lt.u32 %p2, %r2, %r59; @%p2 bra L; \
                   barrier.cluster.wait;",
        },
        Case {
            name: "cl_roles",
            kernel: &KERNEL_A,
            codes: &[],
            body: "setp.lt.u32 %p2, %r0, 32; @%p2 bra X; barrier.cluster.arrive; st.global.u32 [%d4], %r0; \
                   barrier.cluster.wait; bra Y; X: barrier.cluster.arrive.relaxed; barrier.cluster.wait; Y: \
                   barrier.cluster.arrive; barrier.cluster.wait;",
        },
        Case {
            name: "cl_role_tail",
            kernel: &KERNEL_A,
            codes: &[],
            body: "barrier.cluster.arrive; setp.lt.u32 %p2, %r0, 32; @!%p2 bra Y; st.global.u32 [%d4], %r0; Y: \
                   barrier.cluster.wait;",
        },
        Case {
            name: "cl_elect_nonaligned",
            kernel: &KERNEL_A,
            codes: &[],
            body: "elect.sync _|%p4, -1; @!%p4 bra X; barrier.cluster.arrive; st.global.u32 [%d4], %r0; \
                   barrier.cluster.wait; bra Y; X: barrier.cluster.arrive; barrier.cluster.wait; Y:",
        },
        Case {
            name: "cl_inloopboth",
            kernel: &KERNEL_A,
            codes: &[],
            body: "mov.u32 %r2, 0; L: barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned; \
                   add.u32 %r2, %r2, 1; setp.lt.u32 %p2, %r2, %r59; @%p2 bra L;",
        },
    ]);
}

#[test]
fn aligned_and_together() {
    check(&[
        Case {
            name: "al_tid0",
            kernel: &KERNEL_A,
            codes: &[603],
            body: "setp.eq.u32 %p1, %r0, 0; @!%p1 bra X; barrier.cluster.arrive.release.aligned; \
                   barrier.cluster.wait.acquire.aligned; X:",
        },
        Case {
            name: "al_half",
            kernel: &KERNEL_B,
            codes: &[603],
            body: "and.b32 %r2, %r0, 1; setp.eq.u32 %p2, %r2, 0; @%p2 bra X; bar.sync 0; X: st.global.u32 [%d4], %r0;",
        },
        Case {
            name: "al_elect",
            kernel: &KERNEL_B,
            codes: &[603],
            body: "elect.sync _|%p4, -1; @%p4 bar.sync 0; @!%p4 bar.sync 0;",
        },
        Case {
            name: "al_bothsides",
            kernel: &KERNEL_C,
            codes: &[603],
            body: "setp.lt.u32 %p2, %r0, 16; @%p2 bra X; bar.sync 0; bra Y; X: bar.sync 0; Y: st.global.u32 [%d4], %r0;",
        },
        Case {
            name: "al_two_ids",
            kernel: &KERNEL_C,
            codes: &[603],
            body: "and.b32 %r2, %r0, 1; setp.eq.u32 %p2, %r2, 0; @%p2 bra X; barrier.sync.aligned 1; bra Y; X: \
                   barrier.sync.aligned 1; Y: st.global.u32 [%d4], %r0;",
        },
        Case {
            name: "al_red",
            kernel: &KERNEL_B,
            codes: &[603],
            body: "setp.lt.u32 %p2, %r0, 5; @%p2 bar.red.popc.u32 %r5, 0, %p2; st.global.u32 [%d4], %r0;",
        },
        Case {
            name: "al_brx",
            kernel: &KERNEL_B,
            codes: &[603],
            body: "and.b32 %r2, %r0, 1; TS: .branchtargets L0, L1; brx.idx %r2, TS; L0: bar.sync 0; bra E; L1: \
                   st.global.u32 [%d4], %r0; E:",
        },
        Case {
            name: "al_warp",
            kernel: &KERNEL_B,
            codes: &[],
            body: "shr.u32 %r2, %r0, 5; setp.eq.u32 %p2, %r2, 1; @!%p2 bra X; bar.sync 1, 32; st.global.u32 [%d4], %r0; \
                   X:",
        },
        Case {
            name: "al_shfl",
            kernel: &KERNEL_B,
            codes: &[],
            body: "shr.u32 %r2, %r0, 5; shfl.sync.idx.b32 %r3, %r2, 0, 31, -1; setp.eq.u32 %p2, %r3, 2; @!%p2 bra X; \
                   barrier.sync.aligned 1, 32; st.global.u32 [%d4], %r0; X:",
        },
        Case {
            name: "al_param",
            kernel: &KERNEL_B,
            codes: &[],
            body: "setp.eq.u32 %p3, %r59, 0; @%p3 bra X; bar.sync 0; st.global.u32 [%d4], %r0; X:",
        },
        Case {
            name: "al_ctaid",
            kernel: &KERNEL_B,
            codes: &[],
            body: "mov.u32 %r2, %ctaid.x; setp.eq.u32 %p2, %r2, 0; @%p2 bra X; bar.sync 0; st.global.u32 [%d4], %r0; X:",
        },
        Case {
            name: "al_vote",
            kernel: &KERNEL_B,
            codes: &[],
            body: "setp.lt.u32 %p2, %r0, %r59; vote.sync.any.pred %p3, %p2, -1; @!%p3 bra X; bar.sync 1, 128; X: \
                   st.global.u32 [%d4], %r0;",
        },
        Case {
            name: "al_redux",
            kernel: &KERNEL_B,
            codes: &[],
            body: "redux.sync.max.u32 %r2, %r0, -1; setp.eq.u32 %p2, %r2, 31; @!%p2 bra X; bar.sync 1, 32; X: \
                   st.global.u32 [%d4], %r0;",
        },
        Case {
            name: "al_wgid",
            kernel: &KERNEL_D,
            codes: &[],
            body: "shr.u32 %r2, %r0, 7; setp.eq.u32 %p2, %r2, 0; @%p2 bra P; bar.sync 1, 256; bra E; P: \
                   bar.arrive 1, 256; E:",
        },
        Case {
            name: "al_wgid2",
            kernel: &KERNEL_D,
            codes: &[],
            body: "shr.u32 %r2, %r0, 7; setp.eq.u32 %p2, %r2, 0; @%p2 bra P; bar.sync 1, 128; bra E; P: \
                   bar.sync 2, 128; E: bar.sync 0;",
        },
        Case {
            name: "al_switch",
            kernel: &KERNEL_B,
            codes: &[],
            body: "shr.u32 %r2, %r0, 5; TS: .branchtargets L0, L1, L2, L3; brx.idx %r2, TS; L0: bar.sync 1, 64; bra E; \
                   L1: bar.sync 1, 64; bra E; L2: bar.sync 2, 64; bra E; L3: bar.sync 2, 64; E: bar.sync 0;",
        },
        Case {
            name: "al_after_elect",
            kernel: &KERNEL_B,
            codes: &[],
            body: "elect.sync _|%p4, -1; @!%p4 bra X; st.global.u32 [%d4], %r0; X: bar.warp.sync -1; bar.sync 0;",
        },
        Case {
            name: "al_loop_uniform",
            kernel: &KERNEL_B,
            codes: &[],
            body: "mov.u32 %r2, 0; L: bar.sync 0; add.u32 %r2, %r2, 1; setp.lt.u32 %p2, %r2, %r59; @%p2 bra L;",
        },
        Case {
            name: "al_ldconst_loop",
            kernel: &KERNEL_B,
            codes: &[],
            body: "ld.global.u32 %r7, [%d3]; mov.u32 %r2, 0; L: bar.sync 0; add.u32 %r2, %r2, 1; \
                   setp.lt.u32 %p2, %r2, %r7; @%p2 bra L;",
        },
        Case {
            name: "al_warp_exit",
            kernel: &KERNEL_B,
            codes: &[],
            body: "setp.ge.u32 %p2, %r0, 96; @%p2 exit; bar.sync 1, 96; st.global.u32 [%d4], %r0;",
        },
        Case {
            name: "al_nonaligned_div",
            kernel: &KERNEL_C,
            codes: &[],
            body: "and.b32 %r2, %r0, 1; setp.eq.u32 %p2, %r2, 0; @%p2 bra X; barrier.sync 0; bra Y; X: barrier.sync 0; \
                   Y: st.global.u32 [%d4], %r0;",
        },
        Case {
            name: "al_tid_y",
            kernel: &KERNEL_E,
            codes: &[],
            body: "mov.u32 %r2, %tid.y; setp.eq.u32 %p2, %r2, 1; @!%p2 bra X; bar.sync 1, 32; X: \
                   st.global.u32 [%d4], %r0;",
        },
        Case {
            name: "al_xor",
            kernel: &KERNEL_B,
            codes: &[],
            body: "shr.u32 %r2, %r0, 5; xor.b32 %r3, %r2, 1; and.b32 %r3, %r3, 3; setp.gt.u32 %p2, %r3, 1; @%p2 bra X; \
                   bar.sync 2, 64; X: st.global.u32 [%d4], %r0;",
        },
    ]);
}

#[test]
fn barriers_of_roles() {
    check(&[
        Case {
            name: "role0",
            kernel: &KERNEL_B,
            codes: &[615],
            body: "shr.u32 %r2, %r0, 5; setp.eq.u32 %p2, %r2, 0; @%p2 bra P; bar.sync 0; st.global.u32 [%d4], %r0; \
                   bra E; P: st.global.u32 [%d3], 1; E:",
        },
        Case {
            name: "role0_loop",
            kernel: &KERNEL_B,
            codes: &[615],
            body: "shr.u32 %r2, %r0, 5; setp.eq.u32 %p2, %r2, 0; @%p2 bra P; mov.u32 %r3, 0; L: bar.sync 0; \
                   add.u32 %r3, %r3, 1; setp.lt.u32 %p4, %r3, 4; @%p4 bra L; bra E; P: st.global.u32 [%d3], 1; E: \
                   bar.sync 1;",
        },
        Case {
            name: "role_wg",
            kernel: &KERNEL_F,
            codes: &[615],
            body: "setp.ge.u32 %p2, %r0, 128; @%p2 bra C; st.global.u32 [%d3], 1; bra E; C: barrier.sync.aligned 0; \
                   st.global.u32 [%d4], %r0; E:",
        },
        Case {
            name: "role_count",
            kernel: &KERNEL_F,
            codes: &[645],
            body: "setp.ge.u32 %p2, %r0, 128; @%p2 bra C; st.global.u32 [%d3], 1; bra E; C: bar.sync 1, 384; \
                   st.global.u32 [%d4], %r0; E:",
        },
        Case {
            name: "role_named",
            kernel: &KERNEL_F,
            codes: &[],
            body: "setp.ge.u32 %p2, %r0, 128; @%p2 bra C; st.global.u32 [%d3], 1; bra E; C: bar.sync 1, 256; \
                   st.global.u32 [%d4], %r0; E:",
        },
        Case {
            name: "role_both",
            kernel: &KERNEL_B,
            codes: &[],
            body: "shr.u32 %r2, %r0, 5; setp.eq.u32 %p2, %r2, 0; @%p2 bra P; bar.sync 0; st.global.u32 [%d4], %r0; \
                   bra E; P: st.global.u32 [%d3], 1; bar.sync 0; E:",
        },
        Case {
            name: "role_arrive",
            kernel: &KERNEL_F,
            codes: &[],
            body: "setp.ge.u32 %p2, %r0, 128; @%p2 bra C; bar.arrive 1, 384; st.global.u32 [%d3], 1; bra E; C: \
                   bar.sync 1, 384; st.global.u32 [%d4], %r0; E:",
        },
    ]);
}

#[test]
fn barriers_for_nobody() {
    check(&[
        Case {
            name: "dead_arrive",
            kernel: &KERNEL_B,
            codes: &[688],
            body: "setp.lt.u32 %p2, %r0, 64; @!%p2 bra P; bar.arrive 3, 128; P: st.global.u32 [%d4], %r0;",
        },
        Case {
            name: "dead_sync_fewer",
            kernel: &KERNEL_B,
            codes: &[645],
            body: "setp.lt.u32 %p2, %r0, 64; @!%p2 bra P; bar.sync 3, 128; P: st.global.u32 [%d4], %r0;",
        },
        Case {
            name: "dead_mixup",
            kernel: &KERNEL_B,
            codes: &[645, 688],
            body: "setp.lt.u32 %p2, %r0, 64; @!%p2 bra P; bar.arrive 3, 128; bra E; P: bar.sync 4, 128; E: \
                   st.global.u32 [%d4], %r0;",
        },
        Case {
            name: "dead_pair",
            kernel: &KERNEL_B,
            codes: &[],
            body: "setp.lt.u32 %p2, %r0, 64; @!%p2 bra P; bar.arrive 3, 128; bra E; P: bar.sync 3, 128; E: \
                   st.global.u32 [%d4], %r0;",
        },
        Case {
            name: "dead_reg",
            kernel: &KERNEL_B,
            codes: &[],
            body: "setp.lt.u32 %p2, %r0, 64; mov.u32 %r9, 3; @!%p2 bra P; bar.arrive 3, 128; bra E; P: \
                   bar.sync %r59, 128; E: st.global.u32 [%d4], %r0;",
        },
    ]);
}

#[test]
fn conditions_that_lanes_may_not_share() {
    check(&[
        Case {
            name: "uneven_tid_n",
            kernel: &KERNEL_B,
            codes: &[603],
            body: "setp.lt.u32 %p2, %r0, %r59; @!%p2 bra X; bar.sync 0; X: st.global.u32 [%d4], %r0;",
        },
        Case {
            name: "uneven_pred",
            kernel: &KERNEL_B,
            codes: &[603],
            body: "setp.lt.u32 %p2, %r0, %r59; @%p2 bar.sync 0; st.global.u32 [%d4], %r0;",
        },
        Case {
            name: "uneven_ret",
            kernel: &KERNEL_B,
            codes: &[],
            body: "setp.ge.u32 %p2, %r0, %r59; @%p2 ret; bar.sync 0; st.global.u32 [%d4], %r0;",
        },
        Case {
            name: "uneven_skip",
            kernel: &KERNEL_B,
            codes: &[],
            body: "setp.ge.u32 %p2, %r0, %r59; @%p2 bra E; bar.sync 0; st.global.u32 [%d4], %r0; E:",
        },
        Case {
            name: "uneven_warp",
            kernel: &KERNEL_B,
            codes: &[],
            body: "shr.u32 %r2, %r0, 5; setp.lt.u32 %p2, %r2, %r59; @!%p2 bra X; bar.sync 1, 64; X: \
                   st.global.u32 [%d4], %r0;",
        },
        Case {
            name: "uneven_after",
            kernel: &KERNEL_B,
            codes: &[],
            body: "setp.lt.u32 %p2, %r0, %r59; @!%p2 bra X; st.global.u32 [%d4], %r0; X: bar.sync 0; \
                   st.global.u32 [%d4], %r0;",
        },
        Case {
            name: "uneven_after2",
            kernel: &KERNEL_B,
            codes: &[],
            body: "setp.lt.u32 %p2, %r0, %r59; @%p2 st.global.u32 [%d4], 1; bar.sync 0; st.global.u32 [%d4], %r0;",
        },
        Case {
            name: "uneven_loop",
            kernel: &KERNEL_B,
            codes: &[],
            body: "mov.u32 %r2, 0; L: setp.lt.u32 %p2, %r0, %r59; @!%p2 bra X; st.global.u32 [%d4], %r0; X: bar.sync 0; \
                   add.u32 %r2, %r2, 1; setp.le.u32 %p2, %r2, %r59; @%p2 bra L; st.global.u32 [%d4], %r0;",
        },
    ]);
}
