//! Masks, elections, registers of warpgroups.

use super::{Case, Kernel, check};

const SHARED: &str = ".shared .align 16 .b8 sm[4096]; .shared .align 8 .b64 mb[4];";

const KERNEL_A: Kernel = Kernel { target: "sm_90a", version: "8.6", threads: "32", directives: "", shared: "" };
const KERNEL_B: Kernel = Kernel { target: "sm_90a", version: "8.6", threads: "128", directives: "", shared: "" };
const KERNEL_C: Kernel = Kernel { target: "sm_90a", version: "8.6", threads: "16", directives: "", shared: "" };
const KERNEL_D: Kernel = Kernel { target: "sm_90a", version: "8.6", threads: "48", directives: "", shared: "" };
const KERNEL_E: Kernel = Kernel { target: "sm_90a", version: "8.6", threads: "64", directives: "", shared: "" };
const KERNEL_F: Kernel = Kernel { target: "sm_90a", version: "8.6", threads: "128", directives: "", shared: SHARED };
const KERNEL_G: Kernel = Kernel { target: "sm_100a", version: "8.6", threads: "128", directives: "", shared: SHARED };
const KERNEL_H: Kernel = Kernel { target: "sm_90a", version: "8.6", threads: "32", directives: "", shared: SHARED };
const KERNEL_I: Kernel =
    Kernel { target: "sm_90a", version: "8.6", threads: "384", directives: ".maxnreg 152", shared: "" };
const KERNEL_J: Kernel = Kernel { target: "sm_90a", version: "8.6", threads: "512", directives: "", shared: "" };
const KERNEL_K: Kernel = Kernel { target: "sm_90a", version: "8.6", threads: "384", directives: "", shared: "" };
const KERNEL_L: Kernel = Kernel { target: "sm_90a", version: "8.6", threads: "256", directives: "", shared: "" };
const KERNEL_M: Kernel =
    Kernel { target: "sm_90a", version: "8.6", threads: "384", directives: ".maxnreg 168", shared: "" };
const KERNEL_N: Kernel =
    Kernel { target: "sm_90a", version: "8.6", threads: "384", directives: ".maxnreg 128", shared: "" };

#[test]
fn masks_of_lanes() {
    check(&[
        Case {
            name: "m_shfl16",
            kernel: &KERNEL_A,
            codes: &[604],
            body: "setp.lt.u32 %p2, %r0, 16; @!%p2 bra X; shfl.sync.down.b32 %r3, %r0, 8, 31, -1; \
                   st.global.u32 [%d4], %r3; X: bar.sync 0;",
        },
        Case {
            name: "m_vote",
            kernel: &KERNEL_B,
            codes: &[604],
            body: "mov.u32 %r2, %laneid; setp.ge.u32 %p2, %r2, 8; @%p2 bra X; vote.sync.ballot.b32 %r3, %p2, -1; \
                   st.global.u32 [%d4], %r3; X: bar.sync 0;",
        },
        Case {
            name: "m_tid0",
            kernel: &KERNEL_B,
            codes: &[604],
            body: "setp.eq.u32 %p1, %r0, 0; @%p1 shfl.sync.idx.b32 %r3, %r0, 0, 31, -1; bar.sync 0;",
        },
        Case {
            name: "m_reg",
            kernel: &KERNEL_B,
            codes: &[604],
            body: "mov.u32 %r9, -1; setp.eq.u32 %p1, %r0, 0; @%p1 shfl.sync.idx.b32 %r3, %r0, 0, 31, %r9; bar.sync 0;",
        },
        Case {
            name: "m_elect",
            kernel: &KERNEL_B,
            codes: &[604],
            body: "elect.sync _|%p4, -1; @!%p4 bra X; redux.sync.add.u32 %r3, %r0, -1; st.global.u32 [%d4], %r0; X: \
                   bar.sync 0;",
        },
        Case {
            name: "m_missing",
            kernel: &KERNEL_B,
            codes: &[604],
            body: "shfl.sync.bfly.b32 %r3, %r0, 1, 31, 0x0000ffff; st.global.u32 [%d4], %r3;",
        },
        Case {
            name: "m_reg_missing",
            kernel: &KERNEL_B,
            codes: &[604],
            body: "mov.u32 %r9, 0xffff; shfl.sync.bfly.b32 %r3, %r0, 1, 31, %r9; st.global.u32 [%d4], %r3;",
        },
        Case {
            name: "m_16",
            kernel: &KERNEL_C,
            codes: &[604],
            body: "elect.sync _|%p4, -1; @%p4 st.global.u32 [%d4], %r0;",
        },
        Case {
            name: "m_48",
            kernel: &KERNEL_D,
            codes: &[604],
            body: "setp.lt.u32 %p2, %r0, 32; @%p2 bra X; elect.sync _|%p4, -1; @%p4 st.global.u32 [%d4], %r0; X:",
        },
        Case {
            name: "m_srclane",
            kernel: &KERNEL_C,
            codes: &[687],
            body: "shfl.sync.idx.b32 %r3, %r0, 20, 31, 0xffff; st.global.u32 [%d4], %r3;",
        },
        Case {
            name: "m_srclane2",
            kernel: &KERNEL_B,
            codes: &[687],
            body: "mov.u32 %r2, %laneid; setp.lt.u32 %p2, %r2, 8; @!%p2 bra X; \
                   shfl.sync.idx.b32 %r3, %r0, 20, 31, 0xff; st.global.u32 [%d4], %r3; X:",
        },
        Case {
            name: "m_syncwarp",
            kernel: &KERNEL_B,
            codes: &[604],
            body: "setp.eq.u32 %p1, %r0, 0; @!%p1 bra X; bar.warp.sync -1; st.global.u32 [%d4], %r0; X: \
                   bar.warp.sync -1;",
        },
        Case {
            name: "m_full",
            kernel: &KERNEL_B,
            codes: &[],
            body: "shfl.sync.bfly.b32 %r3, %r0, 1, 31, -1; vote.sync.any.pred %p5, 1, -1; st.global.u32 [%d4], %r3;",
        },
        Case {
            name: "m_half",
            kernel: &KERNEL_B,
            codes: &[],
            body: "mov.u32 %r2, %laneid; setp.lt.u32 %p2, %r2, 16; @!%p2 bra X; \
                   shfl.sync.down.b32 %r3, %r0, 8, 31, 0xffff; st.global.u32 [%d4], %r3; X:",
        },
        Case {
            name: "m_halves",
            kernel: &KERNEL_B,
            codes: &[],
            body: "mov.u32 %r2, %laneid; setp.lt.u32 %p2, %r2, 16; @!%p2 bra X; \
                   shfl.sync.down.b32 %r3, %r0, 8, 31, 0xffff; st.global.u32 [%d4], %r3; bra Y; X: \
                   shfl.sync.down.b32 %r3, %r0, 8, 31, 0xffff0000; st.global.u32 [%d4], %r3; Y:",
        },
        Case {
            name: "m_active",
            kernel: &KERNEL_B,
            codes: &[],
            body: "setp.lt.u32 %p2, %r0, %r59; @!%p2 bra X; activemask.b32 %r9; shfl.sync.idx.b32 %r3, %r0, 0, 31, %r9; \
                   st.global.u32 [%d4], %r3; X:",
        },
        Case {
            name: "m_ballot",
            kernel: &KERNEL_B,
            codes: &[],
            body: "setp.lt.u32 %p2, %r0, 40; vote.sync.ballot.b32 %r9, %p2, -1; @!%p2 bra X; \
                   shfl.sync.idx.b32 %r3, %r0, 0, 31, %r9; st.global.u32 [%d4], %r3; X:",
        },
        Case {
            name: "m_w1",
            kernel: &KERNEL_B,
            codes: &[],
            body: "setp.lt.u32 %p2, %r0, 32; @!%p2 bra X; shfl.sync.bfly.b32 %r3, %r0, 16, 31, -1; \
                   st.global.u32 [%d4], %r3; X:",
        },
        Case {
            name: "m_16",
            kernel: &KERNEL_C,
            codes: &[],
            body: "shfl.sync.bfly.b32 %r3, %r0, 4, 31, 0xffff; st.global.u32 [%d4], %r3;",
        },
        Case { name: "m_16w", kernel: &KERNEL_C, codes: &[], body: "bar.warp.sync -1; st.global.u32 [%d4], %r0;" },
        Case {
            name: "m_48",
            kernel: &KERNEL_E,
            codes: &[],
            body: "elect.sync _|%p4, -1; @%p4 st.global.u32 [%d4], %r0;",
        },
        Case {
            name: "m_elect1",
            kernel: &KERNEL_B,
            codes: &[],
            body: "elect.sync _|%p4, -1; @!%p4 bra X; activemask.b32 %r9; bar.warp.sync %r9; st.global.u32 [%d4], %r0; \
                   X: bar.warp.sync -1;",
        },
    ]);
}

#[test]
fn one_thread_of_the_cta() {
    check(&[
        Case {
            name: "el_init",
            kernel: &KERNEL_F,
            codes: &[614],
            body: "elect.sync _|%p4, -1; @%p4 mbarrier.init.shared::cta.b64 [mb], 1; bar.sync 0; \
                   setp.eq.u32 %p1, %r0, 0; @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [mb], 1024; \
                   @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [sm], [%d3], 1024, [mb]; W: \
                   mbarrier.try_wait.parity.shared::cta.b64 %p15, [mb], 0; @!%p15 bra W; ld.shared.u32 %r30, [sm]; \
                   st.global.u32 [%d4], %r30;",
        },
        Case {
            name: "el_bulk",
            kernel: &KERNEL_F,
            codes: &[686],
            body: "setp.eq.u32 %p1, %r0, 0; @%p1 mbarrier.init.shared::cta.b64 [mb], 1; bar.sync 0; \
                   elect.sync _|%p4, -1; @!%p4 bra X; mbarrier.arrive.expect_tx.shared::cta.b64 _, [mb], 1024; \
                   cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [sm], [%d3], 1024, [mb]; X: W: \
                   mbarrier.try_wait.parity.shared::cta.b64 %p15, [mb], 0; @!%p15 bra W; ld.shared.u32 %r30, [sm]; \
                   st.global.u32 [%d4], %r30;",
        },
        Case {
            name: "el_bulk2",
            kernel: &KERNEL_F,
            codes: &[686],
            body: "setp.eq.u32 %p1, %r0, 0; @%p1 mbarrier.init.shared::cta.b64 [mb], 4; bar.sync 0; \
                   elect.sync _|%p4, -1; @%p4 mbarrier.arrive.expect_tx.shared::cta.b64 _, [mb], 1024; \
                   @%p4 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [sm], [%d3], 1024, [mb]; W: \
                   mbarrier.try_wait.parity.shared::cta.b64 %p15, [mb], 0; @!%p15 bra W; ld.shared.u32 %r30, [sm]; \
                   st.global.u32 [%d4], %r30;",
        },
        Case {
            name: "el_mma",
            kernel: &KERNEL_G,
            codes: &[686],
            body: "setp.eq.u32 %p1, %r0, 0; elect.sync _|%p4, -1; mov.u32 %r10, 0; mov.u32 %r11, 0x8100490; \
                   setp.ne.u32 %p9, %r59, 0; @!%p4 bra X; \
                   tcgen05.mma.cta_group::1.kind::f16 [%r10], %d1, %d2, %r11, %p9; \
                   tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [mb]; X:",
        },
        Case {
            name: "el_clc",
            kernel: &KERNEL_G,
            codes: &[686],
            body: "setp.eq.u32 %p1, %r0, 0; @%p1 mbarrier.init.shared::cta.b64 [mb], 1; bar.sync 0; \
                   elect.sync _|%p4, -1; @!%p4 bra X; \
                   mbarrier.arrive.expect_tx.relaxed.cluster.shared::cta.b64 _, [mb], 16; \
                   clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [sm], [mb]; X: \
                   W: mbarrier.try_wait.parity.shared::cta.b64 %p15, [mb], 0; @!%p15 bra W; ld.shared.b128 %q1, [sm]; \
                   clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p5, %q1; @%p5 st.global.u32 [%d4], %r0;",
        },
        // The number of the warp, from one of its lanes.
        Case {
            name: "el_shuffled",
            kernel: &KERNEL_F,
            codes: &[],
            body: "setp.eq.u32 %p1, %r0, 0; @%p1 mbarrier.init.shared::cta.b64 [mb], 1; bar.sync 0; \
                   shr.u32 %r1, %r0, 5; shfl.sync.idx.b32 %r2, %r1, 0, 31, -1; setp.ne.u32 %p3, %r2, 0; \
                   @%p3 bra X; elect.sync _|%p4, -1; @!%p4 bra X; \
                   mbarrier.arrive.expect_tx.shared::cta.b64 _, [mb], 1024; \
                   cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [sm], [%d3], 1024, [mb]; X: W: \
                   mbarrier.try_wait.parity.shared::cta.b64 %p15, [mb], 0; @!%p15 bra W; ld.shared.u32 %r30, [sm]; \
                   st.global.u32 [%d4], %r30;",
        },
        Case {
            name: "el_shuffled_and",
            kernel: &KERNEL_F,
            codes: &[],
            body: "setp.eq.u32 %p1, %r0, 0; @%p1 mbarrier.init.shared::cta.b64 [mb], 1; bar.sync 0; \
                   shr.u32 %r1, %r0, 5; shfl.sync.idx.b32 %r2, %r1, 0, 31, -1; setp.eq.u32 %p3, %r2, 0; \
                   elect.sync _|%p4, -1; and.pred %p5, %p3, %p4; @!%p5 bra X; \
                   mbarrier.arrive.expect_tx.shared::cta.b64 _, [mb], 1024; \
                   cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [sm], [%d3], 1024, [mb]; X: W: \
                   mbarrier.try_wait.parity.shared::cta.b64 %p15, [mb], 0; @!%p15 bra W; ld.shared.u32 %r30, [sm]; \
                   st.global.u32 [%d4], %r30;",
        },
        Case {
            name: "el_shuffled_or",
            kernel: &KERNEL_F,
            codes: &[],
            body: "setp.eq.u32 %p1, %r0, 0; @%p1 mbarrier.init.shared::cta.b64 [mb], 1; bar.sync 0; \
                   shr.u32 %r1, %r0, 5; shfl.sync.idx.b32 %r2, %r1, 0, 31, -1; or.b32 %r3, %r2, %r59; \
                   and.b32 %r3, %r2, 3; setp.ne.u32 %p3, %r3, 0; elect.sync _|%p4, -1; not.pred %p5, %p4; \
                   or.pred %p5, %p5, %p3; @%p5 bra X; \
                   mbarrier.arrive.expect_tx.shared::cta.b64 _, [mb], 1024; \
                   cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [sm], [%d3], 1024, [mb]; X: W: \
                   mbarrier.try_wait.parity.shared::cta.b64 %p15, [mb], 0; @!%p15 bra W; ld.shared.u32 %r30, [sm]; \
                   st.global.u32 [%d4], %r30;",
        },
        Case {
            name: "el_shuffled_two",
            kernel: &KERNEL_F,
            codes: &[686],
            body: "setp.eq.u32 %p1, %r0, 0; @%p1 mbarrier.init.shared::cta.b64 [mb], 1; bar.sync 0; \
                   shr.u32 %r1, %r0, 5; shfl.sync.idx.b32 %r2, %r1, 0, 31, -1; setp.gt.u32 %p3, %r2, 1; \
                   @%p3 bra X; elect.sync _|%p4, -1; @!%p4 bra X; \
                   mbarrier.arrive.expect_tx.shared::cta.b64 _, [mb], 1024; \
                   cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [sm], [%d3], 1024, [mb]; X: W: \
                   mbarrier.try_wait.parity.shared::cta.b64 %p15, [mb], 0; @!%p15 bra W; ld.shared.u32 %r30, [sm]; \
                   st.global.u32 [%d4], %r30;",
        },
        // What never runs breaks no rule.
        Case {
            name: "el_never",
            kernel: &KERNEL_F,
            codes: &[],
            body: "setp.eq.u32 %p1, %r0, 0; @%p1 mbarrier.init.shared::cta.b64 [mb], 1; bar.sync 0; \
                   mov.u32 %r1, 1; setp.ne.u32 %p3, %r1, 1; @!%p3 bra E; elect.sync _|%p4, -1; @!%p4 bra X; \
                   mbarrier.arrive.expect_tx.shared::cta.b64 _, [mb], 1024; \
                   cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [sm], [%d3], 1024, [mb]; X: W: \
                   mbarrier.try_wait.parity.shared::cta.b64 %p15, [mb], 0; @!%p15 bra W; ld.shared.u32 %r30, [sm]; \
                   st.global.u32 [%d4], %r30; E:",
        },
        Case {
            name: "el_warp0",
            kernel: &KERNEL_F,
            codes: &[],
            body: "setp.eq.u32 %p1, %r0, 0; @%p1 mbarrier.init.shared::cta.b64 [mb], 1; bar.sync 0; \
                   setp.ge.u32 %p5, %r0, 32; @%p5 bra X; elect.sync _|%p4, -1; @!%p4 bra X; \
                   mbarrier.arrive.expect_tx.shared::cta.b64 _, [mb], 1024; \
                   cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [sm], [%d3], 1024, [mb]; X: W: \
                   mbarrier.try_wait.parity.shared::cta.b64 %p15, [mb], 0; @!%p15 bra W; ld.shared.u32 %r30, [sm]; \
                   st.global.u32 [%d4], %r30;",
        },
        Case {
            name: "el_shflwarp",
            kernel: &KERNEL_F,
            codes: &[],
            body: "setp.eq.u32 %p1, %r0, 0; @%p1 mbarrier.init.shared::cta.b64 [mb], 1; bar.sync 0; \
                   shr.u32 %r2, %r0, 5; shfl.sync.idx.b32 %r2, %r2, 0, 31, -1; setp.eq.u32 %p5, %r2, 3; \
                   elect.sync _|%p4, -1; and.pred %p6, %p4, %p5; \
                   @%p6 mbarrier.arrive.expect_tx.shared::cta.b64 _, [mb], 1024; \
                   @%p6 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [sm], [%d3], 1024, [mb]; W: \
                   mbarrier.try_wait.parity.shared::cta.b64 %p15, [mb], 0; @!%p15 bra W; ld.shared.u32 %r30, [sm]; \
                   st.global.u32 [%d4], %r30;",
        },
        Case {
            name: "el_each",
            kernel: &KERNEL_F,
            codes: &[],
            body: "setp.eq.u32 %p1, %r0, 0; @%p1 mbarrier.init.shared::cta.b64 [mb], 4; bar.sync 0; \
                   elect.sync _|%p4, -1; shr.u32 %r2, %r0, 5; shl.b32 %r3, %r2, 10; mov.u32 %r4, sm; \
                   add.u32 %r4, %r4, %r3; @%p4 mbarrier.arrive.expect_tx.shared::cta.b64 _, [mb], 1024; \
                   @%p4 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r4], [%d3], 1024, [mb]; W: \
                   mbarrier.try_wait.parity.shared::cta.b64 %p15, [mb], 0; @!%p15 bra W; ld.shared.u32 %r30, [sm]; \
                   st.global.u32 [%d4], %r30;",
        },
        Case {
            name: "el_arrive",
            kernel: &KERNEL_F,
            codes: &[],
            body: "setp.eq.u32 %p1, %r0, 0; @%p1 mbarrier.init.shared::cta.b64 [mb], 4; bar.sync 0; \
                   elect.sync _|%p4, -1; @%p4 mbarrier.arrive.shared::cta.b64 _, [mb]; W: \
                   mbarrier.try_wait.parity.shared::cta.b64 %p15, [mb], 0; @!%p15 bra W;",
        },
        Case {
            name: "el_32",
            kernel: &KERNEL_H,
            codes: &[],
            body: "elect.sync _|%p4, -1; @%p4 mbarrier.init.shared::cta.b64 [mb], 1; bar.sync 0; \
                   @%p4 mbarrier.arrive.expect_tx.shared::cta.b64 _, [mb], 1024; \
                   @%p4 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [sm], [%d3], 1024, [mb]; W: \
                   mbarrier.try_wait.parity.shared::cta.b64 %p15, [mb], 0; @!%p15 bra W; ld.shared.u32 %r30, [sm]; \
                   st.global.u32 [%d4], %r30;",
        },
    ]);
}

#[test]
fn registers_of_warpgroups() {
    check(&[
        Case {
            name: "sm_budget",
            kernel: &KERNEL_I,
            codes: &[659],
            body: "shr.u32 %r2, %r0, 7; setp.eq.u32 %p2, %r2, 0; @%p2 bra P; setmaxnreg.inc.sync.aligned.u32 240; \
                   st.global.u32 [%d4], %r0; bra E; P: setmaxnreg.dec.sync.aligned.u32 40; E:",
        },
        Case {
            name: "sm_budget2",
            kernel: &KERNEL_J,
            codes: &[659],
            body: "setp.ge.u32 %p2, %r0, 256; @%p2 bra P; setmaxnreg.inc.sync.aligned.u32 240; \
                   st.global.u32 [%d4], %r0; bra E; P: setmaxnreg.dec.sync.aligned.u32 40; E:",
        },
        Case {
            name: "sm_nodec",
            kernel: &KERNEL_K,
            codes: &[659],
            body: "setmaxnreg.inc.sync.aligned.u32 240; st.global.u32 [%d4], %r0;",
        },
        Case {
            name: "sm_warp",
            kernel: &KERNEL_K,
            codes: &[660],
            body: "setp.lt.u32 %p2, %r0, 32; @!%p2 bra P; setmaxnreg.dec.sync.aligned.u32 40; P: \
                   st.global.u32 [%d4], %r0;",
        },
        Case {
            name: "sm_two",
            kernel: &KERNEL_L,
            codes: &[660],
            body: "setp.lt.u32 %p2, %r0, 64; @!%p2 bra P; setmaxnreg.dec.sync.aligned.u32 40; bra E; P: \
                   setmaxnreg.inc.sync.aligned.u32 232; E: st.global.u32 [%d4], %r0;",
        },
        Case {
            name: "sm_div",
            kernel: &KERNEL_K,
            codes: &[603, 660],
            body: "setp.eq.u32 %p1, %r0, 0; @%p1 setmaxnreg.dec.sync.aligned.u32 40; st.global.u32 [%d4], %r0;",
        },
        Case {
            name: "sm_hop",
            kernel: &KERNEL_M,
            codes: &[],
            body: "shr.u32 %r2, %r0, 7; setp.eq.u32 %p2, %r2, 0; @%p2 bra P; setmaxnreg.inc.sync.aligned.u32 240; \
                   st.global.u32 [%d4], %r0; bra E; P: setmaxnreg.dec.sync.aligned.u32 24; E:",
        },
        Case {
            name: "sm_hop2",
            kernel: &KERNEL_K,
            codes: &[],
            body: "shr.u32 %r2, %r0, 7; setp.eq.u32 %p2, %r2, 0; @%p2 bra P; setmaxnreg.inc.sync.aligned.u32 240; \
                   st.global.u32 [%d4], %r0; bra E; P: setmaxnreg.dec.sync.aligned.u32 24; E:",
        },
        Case {
            name: "sm_dec",
            kernel: &KERNEL_L,
            codes: &[],
            body: "setmaxnreg.dec.sync.aligned.u32 64; st.global.u32 [%d4], %r0;",
        },
        Case {
            name: "sm_min",
            kernel: &KERNEL_N,
            codes: &[],
            body: "shr.u32 %r2, %r0, 7; setp.eq.u32 %p2, %r2, 0; @%p2 bra P; setmaxnreg.inc.sync.aligned.u32 160; \
                   st.global.u32 [%d4], %r0; bra E; P: setmaxnreg.dec.sync.aligned.u32 32; E:",
        },
    ]);
}
