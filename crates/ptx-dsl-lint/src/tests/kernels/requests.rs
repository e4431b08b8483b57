//! Cluster launch control: responses, what they say, and asking again.

use super::{Case, Kernel, check};

const SHARED: &str = ".shared .align 16 .b8 ans[32]; .shared .align 8 .b64 mb[2];";

const KERNEL_A: Kernel = Kernel { target: "sm_100a", version: "8.6", threads: "1", directives: "", shared: SHARED };
const KERNEL_B: Kernel = Kernel { target: "sm_100a", version: "8.6", threads: "128", directives: "", shared: SHARED };
const KERNEL_C: Kernel =
    Kernel { target: "sm_100a", version: "8.6", threads: "128", directives: ".reqnctapercluster 2", shared: SHARED };
const KERNEL_D: Kernel = Kernel { target: "sm_100a", version: "8.6", threads: "64", directives: "", shared: SHARED };

#[test]
fn loops_that_are_right() {
    check(&[
        Case {
            name: "basic",
            kernel: &KERNEL_A,
            codes: &[],
            body: "mbarrier.init.shared::cta.b64 [mb], 1; mov.u32 %r9, 0; L: \
                   mbarrier.arrive.expect_tx.relaxed.cluster.shared::cta.b64 _, [mb], 16; \
                   clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [ans], [mb]; WT: \
                   mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p15, [mb], %r9; @!%p15 bra WT; \
                   xor.b32 %r9, %r9, 1; ld.shared.b128 %q1, [ans]; \
                   clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p4, %q1; fence.proxy.async.shared::cta; \
                   @!%p4 bra DONE; clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r20, %q1; \
                   st.global.u32 [%d4], %r20; bra L; DONE:",
        },
        Case {
            name: "dowhile",
            kernel: &KERNEL_A,
            codes: &[],
            body: "mbarrier.init.shared::cta.b64 [mb], 1; mov.u32 %r9, 0; L: \
                   mbarrier.arrive.expect_tx.relaxed.cluster.shared::cta.b64 _, [mb], 16; \
                   clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [ans], [mb]; WT: \
                   mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p15, [mb], %r9; @!%p15 bra WT; \
                   xor.b32 %r9, %r9, 1; ld.shared.b128 %q1, [ans]; \
                   clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p4, %q1; \
                   @%p4 clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r20, %q1; \
                   @%p4 st.global.u32 [%d4], %r20; fence.proxy.async.shared::cta; @%p4 bra L;",
        },
        Case {
            name: "ret",
            kernel: &KERNEL_A,
            codes: &[],
            body: "mbarrier.init.shared::cta.b64 [mb], 1; mov.u32 %r9, 0; L: \
                   mbarrier.arrive.expect_tx.relaxed.cluster.shared::cta.b64 _, [mb], 16; \
                   clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [ans], [mb]; WT: \
                   mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p15, [mb], %r9; @!%p15 bra WT; \
                   xor.b32 %r9, %r9, 1; ld.shared.b128 %q1, [ans]; fence.proxy.async.shared::cta; \
                   clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p4, %q1; @!%p4 ret; \
                   clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {%r20,%r21,%r22,_}, %q1; \
                   st.global.u32 [%d4], %r20; bra.uni L;",
        },
        Case {
            name: "128",
            kernel: &KERNEL_B,
            codes: &[],
            body: "setp.eq.u32 %p1, %r0, 0; @%p1 mbarrier.init.shared::cta.b64 [mb], 1; bar.sync 0; mov.u32 %r9, 0; L: \
                   bar.sync 0; @!%p1 bra WT; fence.proxy.async.shared::cta; \
                   mbarrier.arrive.expect_tx.relaxed.cluster.shared::cta.b64 _, [mb], 16; \
                   clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [ans], [mb]; WT: \
                   mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p15, [mb], %r9; @!%p15 bra WT; \
                   xor.b32 %r9, %r9, 1; ld.shared.b128 %q1, [ans]; \
                   clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p4, %q1; @!%p4 bra DONE; \
                   clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r20, %q1; st.global.u32 [%d4], %r20; \
                   bra L; DONE:",
        },
        Case {
            name: "flag",
            kernel: &KERNEL_A,
            codes: &[],
            body: "mbarrier.init.shared::cta.b64 [mb], 1; mov.u32 %r9, 0; L: \
                   mbarrier.arrive.expect_tx.relaxed.cluster.shared::cta.b64 _, [mb], 16; \
                   clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [ans], [mb]; WT: \
                   mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p15, [mb], %r9; @!%p15 bra WT; \
                   xor.b32 %r9, %r9, 1; ld.shared.b128 %q1, [ans]; \
                   clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p4, %q1; fence.proxy.async.shared::cta; \
                   mov.u32 %r30, 0; @%p4 mov.u32 %r30, 1; @!%p4 bra SK; \
                   clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r20, %q1; st.global.u32 [%d4], %r20; \
                   SK: setp.ne.u32 %p5, %r30, 0; @%p5 bra L;",
        },
        Case {
            name: "selp",
            kernel: &KERNEL_A,
            codes: &[],
            body: "mbarrier.init.shared::cta.b64 [mb], 1; mov.u32 %r9, 0; L: \
                   mbarrier.arrive.expect_tx.relaxed.cluster.shared::cta.b64 _, [mb], 16; \
                   clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [ans], [mb]; WT: \
                   mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p15, [mb], %r9; @!%p15 bra WT; \
                   xor.b32 %r9, %r9, 1; ld.shared.b128 %q1, [ans]; \
                   clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p4, %q1; fence.proxy.async.shared::cta; \
                   selp.u32 %r30, 1, 0, %p4; setp.eq.u32 %p5, %r30, 0; @%p5 bra D; \
                   clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r20, %q1; st.global.u32 [%d4], %r20; \
                   bra L; D:",
        },
        Case {
            name: "once",
            kernel: &KERNEL_A,
            codes: &[],
            body: "mbarrier.init.shared::cta.b64 [mb], 1; \
                   mbarrier.arrive.expect_tx.relaxed.cluster.shared::cta.b64 _, [mb], 16; \
                   clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [ans], [mb]; WT: \
                   mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p15, [mb], 0; @!%p15 bra WT; \
                   ld.shared.b128 %q1, [ans]; clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p4, %q1; \
                   @!%p4 bra D; clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r20, %q1; \
                   st.global.u32 [%d4], %r20; D:",
        },
        Case {
            name: "ahead",
            kernel: &KERNEL_A,
            codes: &[],
            body: "mbarrier.init.shared::cta.b64 [mb], 1; mov.u32 %r9, 0; \
                   mbarrier.arrive.expect_tx.relaxed.cluster.shared::cta.b64 _, [mb], 16; \
                   clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [ans], [mb]; L: \
                   WT: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p15, [mb], %r9; @!%p15 bra WT; \
                   xor.b32 %r9, %r9, 1; ld.shared.b128 %q1, [ans]; \
                   clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p4, %q1; fence.proxy.async.shared::cta; \
                   @!%p4 bra D; mbarrier.arrive.expect_tx.relaxed.cluster.shared::cta.b64 _, [mb], 16; \
                   clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [ans], [mb]; \
                   clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r20, %q1; st.global.u32 [%d4], %r20; \
                   bra L; D:",
        },
        Case {
            name: "ahead_pred",
            kernel: &KERNEL_A,
            codes: &[],
            body: "mbarrier.init.shared::cta.b64 [mb], 1; mov.u32 %r9, 0; \
                   mbarrier.arrive.expect_tx.relaxed.cluster.shared::cta.b64 _, [mb], 16; \
                   clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [ans], [mb]; L: \
                   WT: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p15, [mb], %r9; @!%p15 bra WT; \
                   xor.b32 %r9, %r9, 1; ld.shared.b128 %q1, [ans]; \
                   clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p4, %q1; fence.proxy.async.shared::cta; \
                   @%p4 mbarrier.arrive.expect_tx.relaxed.cluster.shared::cta.b64 _, [mb], 16; \
                   @%p4 clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [ans], [mb]; \
                   @%p4 clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r20, %q1; \
                   @%p4 st.global.u32 [%d4], %r20; @%p4 bra L;",
        },
        Case {
            name: "counted",
            kernel: &KERNEL_A,
            codes: &[],
            body: "mbarrier.init.shared::cta.b64 [mb], 1; mov.u32 %r9, 0; mov.u32 %r40, 0; L: \
                   mbarrier.arrive.expect_tx.relaxed.cluster.shared::cta.b64 _, [mb], 16; \
                   clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [ans], [mb]; WT: \
                   mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p15, [mb], %r9; @!%p15 bra WT; \
                   xor.b32 %r9, %r9, 1; ld.shared.b128 %q1, [ans]; \
                   clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p4, %q1; fence.proxy.async.shared::cta; \
                   @!%p4 bra D; clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r20, %q1; \
                   st.global.u32 [%d4], %r20; add.u32 %r40, %r40, 1; setp.lt.u32 %p6, %r40, 10; @%p6 bra L; D:",
        },
        Case {
            name: "multi",
            kernel: &KERNEL_C,
            codes: &[],
            body: "setp.eq.u32 %p1, %r0, 0; @%p1 mbarrier.init.shared::cta.b64 [mb], 1; \
                   fence.mbarrier_init.release.cluster; barrier.cluster.arrive; barrier.cluster.wait; mov.u32 %r9, 0; \
                   mov.u32 %r31, %cluster_ctarank; setp.eq.u32 %p2, %r31, 0; L: \
                   @%p1 mbarrier.arrive.expect_tx.relaxed.cluster.shared::cta.b64 _, [mb], 16; and.pred %p3, %p1, %p2; \
                   @%p3 clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.multicast::cluster::all.b128 [ans], [mb]; \
                   WT: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p15, [mb], %r9; @!%p15 bra WT; \
                   xor.b32 %r9, %r9, 1; ld.shared.b128 %q1, [ans]; \
                   clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p4, %q1; fence.proxy.async.shared::cta; \
                   barrier.cluster.arrive.relaxed; barrier.cluster.wait; @!%p4 bra DONE; \
                   clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r20, %q1; st.global.u32 [%d4], %r20; \
                   bra L; DONE:",
        },
        Case {
            name: "newfence",
            kernel: &KERNEL_C,
            codes: &[],
            body: "setp.eq.u32 %p1, %r0, 0; @%p1 mbarrier.init.shared::cta.b64 [mb], 1; \
                   fence.mbarrier_init.release.cluster; barrier.cluster.arrive; barrier.cluster.wait; mov.u32 %r9, 0; \
                   mov.u32 %r31, %cluster_ctarank; setp.eq.u32 %p2, %r31, 0; L: \
                   @%p1 mbarrier.arrive.expect_tx.relaxed.cluster.shared::cta.b64 _, [mb], 16; and.pred %p3, %p1, %p2; \
                   @!%p3 bra NT; fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster; \
                   clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.multicast::cluster::all.b128 [ans], [mb]; \
                   NT: WT: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p15, [mb], %r9; @!%p15 bra WT; \
                   xor.b32 %r9, %r9, 1; ld.shared.b128 %q1, [ans]; \
                   clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p4, %q1; \
                   fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster; \
                   barrier.cluster.arrive.relaxed; barrier.cluster.wait; @!%p4 bra DONE; \
                   clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r20, %q1; st.global.u32 [%d4], %r20; \
                   bra L; DONE:",
        },
        // The answer leaves the loop in its next round, through a join.
        Case {
            name: "next_round",
            kernel: &KERNEL_A,
            codes: &[],
            body: "mbarrier.init.shared::cta.b64 [mb], 1; mov.u32 %r9, 0; mov.pred %p4, -1; L: not.pred %p6, %p4; \
                   @%p6 bra DONE; fence.proxy.async.shared::cta; \
                   mbarrier.arrive.expect_tx.relaxed.cluster.shared::cta.b64 _, [mb], 16; \
                   clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [ans], [mb]; WT: \
                   mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p15, [mb], %r9; @!%p15 bra WT; \
                   xor.b32 %r9, %r9, 1; ld.shared.b128 %q1, [ans]; \
                   clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p4, %q1; bra L; DONE:",
        },
        Case {
            name: "noguard2",
            kernel: &KERNEL_A,
            codes: &[610],
            body: "mbarrier.init.shared::cta.b64 [mb], 1; \
                   mbarrier.arrive.expect_tx.relaxed.cluster.shared::cta.b64 _, [mb], 16; \
                   clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [ans], [mb]; WT: \
                   mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p15, [mb], 0; @!%p15 bra WT; \
                   ld.shared.b128 %q1, [ans]; clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p4, %q1; \
                   clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r20, %q1; st.global.u32 [%d4], %r20; \
                   @!%p4 bra D; st.global.u32 [%d4+4], 1; D:",
        },
    ]);
}

#[test]
fn read_too_early() {
    check(&[
        Case {
            name: "early",
            kernel: &KERNEL_A,
            codes: &[609],
            body: "mbarrier.init.shared::cta.b64 [mb], 1; mov.u32 %r9, 0; L: \
                   mbarrier.arrive.expect_tx.relaxed.cluster.shared::cta.b64 _, [mb], 16; \
                   clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [ans], [mb]; \
                   ld.shared.b128 %q1, [ans]; clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p4, %q1; WT: \
                   mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p15, [mb], %r9; @!%p15 bra WT; \
                   xor.b32 %r9, %r9, 1; fence.proxy.async.shared::cta; @!%p4 bra DONE; \
                   clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r20, %q1; st.global.u32 [%d4], %r20; \
                   bra L; DONE:",
        },
        Case {
            name: "early_bar",
            kernel: &KERNEL_D,
            codes: &[609],
            body: "setp.eq.u32 %p1, %r0, 0; @%p1 mbarrier.init.shared::cta.b64 [mb], 1; bar.sync 0; \
                   @%p1 mbarrier.arrive.expect_tx.relaxed.cluster.shared::cta.b64 _, [mb], 16; \
                   @%p1 clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [ans], [mb]; \
                   bar.sync 0; ld.shared.b128 %q1, [ans]; \
                   clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p4, %q1; @!%p4 ret; \
                   clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r20, %q1; st.global.u32 [%d4], %r20;",
        },
        Case {
            name: "early_halves",
            kernel: &KERNEL_A,
            codes: &[609],
            body: "mbarrier.init.shared::cta.b64 [mb], 1; mov.u32 %r9, 0; L: \
                   mbarrier.arrive.expect_tx.relaxed.cluster.shared::cta.b64 _, [mb], 16; \
                   clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [ans], [mb]; \
                   ld.shared.v2.u64 {%d20,%d21}, [ans]; mov.b128 %q1, {%d20,%d21}; WT: \
                   mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p15, [mb], %r9; @!%p15 bra WT; \
                   xor.b32 %r9, %r9, 1; clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p4, %q1; \
                   fence.proxy.async.shared::cta; @!%p4 bra DONE; \
                   clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r20, %q1; st.global.u32 [%d4], %r20; \
                   bra L; DONE:",
        },
        Case {
            name: "early_v4",
            kernel: &KERNEL_A,
            codes: &[609],
            body: "mbarrier.init.shared::cta.b64 [mb], 1; mov.u32 %r9, 0; mov.u32 %r50, ans; \
                   mbarrier.arrive.expect_tx.relaxed.cluster.shared::cta.b64 _, [mb], 16; \
                   clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [ans], [mb]; \
                   ld.shared.v4.u32 {%r41,%r42,%r43,%r44}, [%r50]; WT: \
                   mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p15, [mb], %r9; @!%p15 bra WT; \
                   xor.b32 %r9, %r9, 1; mov.b64 %d20, {%r41,%r42}; mov.b64 %d21, {%r43,%r44}; \
                   mov.b128 %q1, {%d20,%d21}; clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p4, %q1; \
                   @!%p4 bra DONE; clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r20, %q1; \
                   st.global.u32 [%d4], %r20; DONE:",
        },
    ]);
}

#[test]
fn decoded_unasked() {
    check(&[
        Case {
            name: "noguard",
            kernel: &KERNEL_A,
            codes: &[610],
            body: "mbarrier.init.shared::cta.b64 [mb], 1; \
                   mbarrier.arrive.expect_tx.relaxed.cluster.shared::cta.b64 _, [mb], 16; \
                   clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [ans], [mb]; WT: \
                   mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p15, [mb], 0; @!%p15 bra WT; \
                   ld.shared.b128 %q1, [ans]; clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r20, %q1; \
                   st.global.u32 [%d4], %r20;",
        },
        Case {
            name: "wrongside",
            kernel: &KERNEL_A,
            codes: &[610],
            body: "mbarrier.init.shared::cta.b64 [mb], 1; \
                   mbarrier.arrive.expect_tx.relaxed.cluster.shared::cta.b64 _, [mb], 16; \
                   clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [ans], [mb]; WT: \
                   mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p15, [mb], 0; @!%p15 bra WT; \
                   ld.shared.b128 %q1, [ans]; clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p4, %q1; \
                   @%p4 bra D; clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r20, %q1; \
                   st.global.u32 [%d4], %r20; D:",
        },
    ]);
}

#[test]
fn asked_again() {
    check(&[
        Case {
            name: "reask",
            kernel: &KERNEL_A,
            codes: &[684],
            body: "mbarrier.init.shared::cta.b64 [mb], 1; mov.u32 %r9, 0; mov.u32 %r40, 0; L: \
                   mbarrier.arrive.expect_tx.relaxed.cluster.shared::cta.b64 _, [mb], 16; \
                   clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [ans], [mb]; WT: \
                   mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p15, [mb], %r9; @!%p15 bra WT; \
                   xor.b32 %r9, %r9, 1; ld.shared.b128 %q1, [ans]; \
                   clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p4, %q1; fence.proxy.async.shared::cta; \
                   @!%p4 bra SK; clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r20, %q1; \
                   st.global.u32 [%d4], %r20; SK: add.u32 %r40, %r40, 1; setp.lt.u32 %p6, %r40, %r59; @%p6 bra L;",
        },
        Case {
            name: "reask_ahead",
            kernel: &KERNEL_A,
            codes: &[684],
            body: "mbarrier.init.shared::cta.b64 [mb], 1; mov.u32 %r9, 0; \
                   mbarrier.arrive.expect_tx.relaxed.cluster.shared::cta.b64 _, [mb], 16; \
                   clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [ans], [mb]; L: \
                   WT: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p15, [mb], %r9; @!%p15 bra WT; \
                   xor.b32 %r9, %r9, 1; ld.shared.b128 %q1, [ans]; \
                   clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p4, %q1; fence.proxy.async.shared::cta; \
                   mbarrier.arrive.expect_tx.relaxed.cluster.shared::cta.b64 _, [mb], 16; \
                   clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [ans], [mb]; \
                   @!%p4 bra D; clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r20, %q1; \
                   st.global.u32 [%d4], %r20; bra L; D:",
        },
        Case {
            name: "reask_retry",
            kernel: &KERNEL_A,
            codes: &[684],
            body: "mbarrier.init.shared::cta.b64 [mb], 1; mov.u32 %r9, 0; L: \
                   mbarrier.arrive.expect_tx.relaxed.cluster.shared::cta.b64 _, [mb], 16; \
                   clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [ans], [mb]; WT: \
                   mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p15, [mb], %r9; @!%p15 bra WT; \
                   xor.b32 %r9, %r9, 1; ld.shared.b128 %q1, [ans]; \
                   clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p4, %q1; fence.proxy.async.shared::cta; \
                   @!%p4 bra L; clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r20, %q1; \
                   st.global.u32 [%d4], %r20;",
        },
        Case {
            name: "reask_nocheck",
            kernel: &KERNEL_A,
            codes: &[684],
            body: "mbarrier.init.shared::cta.b64 [mb], 1; mov.u32 %r9, 0; mov.u32 %r40, 0; L: \
                   mbarrier.arrive.expect_tx.relaxed.cluster.shared::cta.b64 _, [mb], 16; \
                   clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [ans], [mb]; WT: \
                   mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p15, [mb], %r9; @!%p15 bra WT; \
                   xor.b32 %r9, %r9, 1; ld.shared.b128 %q1, [ans]; \
                   clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p4, %q1; fence.proxy.async.shared::cta; \
                   @%p4 clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r20, %q1; \
                   @%p4 st.global.u32 [%d4], %r20; add.u32 %r40, %r40, 1; setp.lt.u32 %p6, %r40, 4; @%p6 bra L;",
        },
        Case {
            name: "reask_twice",
            kernel: &KERNEL_A,
            codes: &[684],
            body: "mbarrier.init.shared::cta.b64 [mb], 1; \
                   mbarrier.arrive.expect_tx.relaxed.cluster.shared::cta.b64 _, [mb], 16; \
                   clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [ans], [mb]; WT: \
                   mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p15, [mb], 0; @!%p15 bra WT; \
                   ld.shared.b128 %q1, [ans]; clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p4, %q1; \
                   fence.proxy.async.shared::cta; @!%p4 bra F; \
                   clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r20, %q1; st.global.u32 [%d4], %r20; \
                   bra D; F: mbarrier.arrive.expect_tx.relaxed.cluster.shared::cta.b64 _, [mb], 16; \
                   clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [ans], [mb]; WU: \
                   mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p15, [mb], 1; @!%p15 bra WU; D:",
        },
    ]);
}
