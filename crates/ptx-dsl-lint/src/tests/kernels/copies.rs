//! Asynchronous copies: groups, what they are waited for with, and leaving before.

use super::{Case, Kernel, check};

const SHARED: &str = ".shared .align 128 .b8 buf[4096]; .shared .align 128 .b8 buf2[4096]; .shared .align 8 .b64 full[4]; .shared .align 8 .b64 empty[4];";

const KERNEL_A: Kernel = Kernel { target: "sm_80", version: "8.3", threads: "128", directives: "", shared: SHARED };
const KERNEL_B: Kernel = Kernel { target: "sm_90", version: "8.3", threads: "128", directives: "", shared: SHARED };
const KERNEL_C: Kernel = Kernel { target: "sm_90a", version: "8.6", threads: "128", directives: "", shared: SHARED };

#[test]
fn groups_of_cp_async() {
    check(&[
        Case {
            name: "ca_nowait",
            kernel: &KERNEL_A,
            codes: &[648],
            body: "shl.b32 %r2, %r0, 4; mov.u32 %r3, buf; add.u32 %r4, %r3, %r2; cvt.u64.u32 %d5, %r2; \
                   add.u64 %d3, %d3, %d5; mov.u32 %r6, buf2; add.u32 %r7, %r6, %r2; \
                   cp.async.ca.shared.global [%r4], [%d3], 16; cp.async.commit_group; ld.shared.u32 %r10, [%r4]; \
                   st.global.u32 [%d4], %r10;",
        },
        Case {
            name: "ca_nocommit",
            kernel: &KERNEL_A,
            codes: &[648],
            body: "shl.b32 %r2, %r0, 4; mov.u32 %r3, buf; add.u32 %r4, %r3, %r2; cvt.u64.u32 %d5, %r2; \
                   add.u64 %d3, %d3, %d5; mov.u32 %r6, buf2; add.u32 %r7, %r6, %r2; \
                   cp.async.ca.shared.global [%r4], [%d3], 16; cp.async.wait_group 0; ld.shared.u32 %r10, [%r4]; \
                   st.global.u32 [%d4], %r10;",
        },
        Case {
            name: "ca_wait1",
            kernel: &KERNEL_A,
            codes: &[648],
            body: "shl.b32 %r2, %r0, 4; mov.u32 %r3, buf; add.u32 %r4, %r3, %r2; cvt.u64.u32 %d5, %r2; \
                   add.u64 %d3, %d3, %d5; mov.u32 %r6, buf2; add.u32 %r7, %r6, %r2; \
                   cp.async.ca.shared.global [%r4], [%d3], 16; cp.async.commit_group; cp.async.wait_group 1; \
                   ld.shared.u32 %r10, [%r4]; st.global.u32 [%d4], %r10;",
        },
        Case {
            name: "ca_2stage",
            kernel: &KERNEL_A,
            codes: &[648],
            body: "shl.b32 %r2, %r0, 4; mov.u32 %r3, buf; add.u32 %r4, %r3, %r2; cvt.u64.u32 %d5, %r2; \
                   add.u64 %d3, %d3, %d5; mov.u32 %r6, buf2; add.u32 %r7, %r6, %r2; \
                   cp.async.ca.shared.global [%r4], [%d3], 16; cp.async.commit_group; \
                   cp.async.ca.shared.global [%r7], [%d3], 16; cp.async.commit_group; cp.async.wait_group 1; \
                   bar.sync 0; ld.shared.u32 %r10, [%r7]; st.global.u32 [%d4], %r10;",
        },
        Case {
            name: "ca_generic",
            kernel: &KERNEL_A,
            codes: &[648],
            body: "shl.b32 %r2, %r0, 4; mov.u32 %r3, buf; add.u32 %r4, %r3, %r2; cvt.u64.u32 %d5, %r2; \
                   add.u64 %d3, %d3, %d5; mov.u32 %r6, buf2; add.u32 %r7, %r6, %r2; cvt.u64.u32 %d6, %r4; \
                   cvta.shared.u64 %d6, %d6; cp.async.ca.shared.global [%r4], [%d3], 16; cp.async.commit_group; \
                   ld.u32 %r10, [%d6]; cp.async.wait_group 0; st.global.u32 [%d4], %r10;",
        },
        Case {
            name: "ca_exit",
            kernel: &KERNEL_A,
            codes: &[650],
            body: "shl.b32 %r2, %r0, 4; mov.u32 %r3, buf; add.u32 %r4, %r3, %r2; cvt.u64.u32 %d5, %r2; \
                   add.u64 %d3, %d3, %d5; mov.u32 %r6, buf2; add.u32 %r7, %r6, %r2; \
                   cp.async.ca.shared.global [%r4], [%d3], 16; cp.async.commit_group; cp.async.wait_group 0; \
                   ld.shared.u32 %r10, [%r4]; st.global.u32 [%d4], %r10; cp.async.ca.shared.global [%r7], [%d3], 16; \
                   cp.async.commit_group;",
        },
        Case {
            name: "ca_never",
            kernel: &KERNEL_A,
            codes: &[650],
            body: "shl.b32 %r2, %r0, 4; mov.u32 %r3, buf; add.u32 %r4, %r3, %r2; cvt.u64.u32 %d5, %r2; \
                   add.u64 %d3, %d3, %d5; mov.u32 %r6, buf2; add.u32 %r7, %r6, %r2; \
                   cp.async.ca.shared.global [%r4], [%d3], 16;",
        },
        Case {
            name: "ca_other",
            kernel: &KERNEL_A,
            codes: &[648],
            body: "shl.b32 %r2, %r0, 4; mov.u32 %r3, buf; add.u32 %r4, %r3, %r2; cvt.u64.u32 %d5, %r2; \
                   add.u64 %d3, %d3, %d5; mov.u32 %r6, buf2; add.u32 %r7, %r6, %r2; \
                   cp.async.ca.shared.global [%r4], [%d3], 16; cp.async.commit_group; bar.sync 0; \
                   ld.shared.u32 %r10, [buf+4]; st.global.u32 [%d4], %r10;",
        },
        Case {
            name: "ca_bulkwait",
            kernel: &KERNEL_B,
            codes: &[648],
            body: "shl.b32 %r2, %r0, 4; mov.u32 %r3, buf; add.u32 %r4, %r3, %r2; cvt.u64.u32 %d5, %r2; \
                   add.u64 %d3, %d3, %d5; mov.u32 %r6, buf2; add.u32 %r7, %r6, %r2; \
                   cp.async.ca.shared.global [%r4], [%d3], 16; cp.async.commit_group; cp.async.bulk.wait_group 0; \
                   ld.shared.u32 %r10, [%r4]; st.global.u32 [%d4], %r10;",
        },
        Case {
            name: "ca_one",
            kernel: &KERNEL_A,
            codes: &[],
            body: "shl.b32 %r2, %r0, 4; mov.u32 %r3, buf; add.u32 %r4, %r3, %r2; cvt.u64.u32 %d5, %r2; \
                   add.u64 %d3, %d3, %d5; mov.u32 %r6, buf2; add.u32 %r7, %r6, %r2; \
                   cp.async.ca.shared.global [%r4], [%d3], 16; cp.async.commit_group; cp.async.wait_group 0; \
                   bar.sync 0; ld.shared.u32 %r10, [%r4]; st.global.u32 [%d4], %r10;",
        },
        Case {
            name: "ca_all",
            kernel: &KERNEL_A,
            codes: &[],
            body: "shl.b32 %r2, %r0, 4; mov.u32 %r3, buf; add.u32 %r4, %r3, %r2; cvt.u64.u32 %d5, %r2; \
                   add.u64 %d3, %d3, %d5; mov.u32 %r6, buf2; add.u32 %r7, %r6, %r2; \
                   cp.async.ca.shared.global [%r4], [%d3], 16; cp.async.wait_all; bar.sync 0; \
                   ld.shared.u32 %r10, [buf+4]; st.global.u32 [%d4], %r10;",
        },
        Case {
            name: "ca_mb",
            kernel: &KERNEL_A,
            codes: &[],
            body: "shl.b32 %r2, %r0, 4; mov.u32 %r3, buf; add.u32 %r4, %r3, %r2; cvt.u64.u32 %d5, %r2; \
                   add.u64 %d3, %d3, %d5; mov.u32 %r6, buf2; add.u32 %r7, %r6, %r2; setp.eq.u32 %p1, %r0, 0; \
                   @%p1 mbarrier.init.shared.b64 [full], 128; bar.sync 0; cp.async.ca.shared.global [%r4], [%d3], 16; \
                   cp.async.mbarrier.arrive.noinc.shared.b64 [full]; \
                   W: mbarrier.test_wait.parity.shared.b64 %p2, [full], 0; @!%p2 bra W; ld.shared.u32 %r10, [buf+4]; \
                   st.global.u32 [%d4], %r10;",
        },
        Case {
            name: "ca_stages",
            kernel: &KERNEL_A,
            codes: &[],
            body: "shl.b32 %r2, %r0, 4; mov.u32 %r3, buf; add.u32 %r4, %r3, %r2; cvt.u64.u32 %d5, %r2; \
                   add.u64 %d3, %d3, %d5; mov.u32 %r6, buf2; add.u32 %r7, %r6, %r2; mov.u32 %r20, 0; mov.u32 %r21, %r4; \
                   cp.async.ca.shared.global [%r4], [%d3], 16; cp.async.commit_group; \
                   cp.async.ca.shared.global [%r7], [%d3], 16; cp.async.commit_group; L: cp.async.wait_group 1; \
                   bar.sync 0; and.b32 %r22, %r20, 1; shl.b32 %r23, %r22, 12; add.u32 %r24, %r4, %r23; \
                   ld.shared.u32 %r10, [%r24]; st.global.u32 [%d4], %r10; bar.sync 0; add.u32 %r20, %r20, 1; \
                   add.u32 %r26, %r20, 1; setp.ge.u32 %p3, %r26, %r59; @%p3 bra NOCOPY; \
                   cp.async.ca.shared.global [%r24], [%d3], 16; NOCOPY: cp.async.commit_group; \
                   setp.lt.u32 %p2, %r20, %r59; @%p2 bra L; cp.async.wait_group 0;",
        },
        Case {
            name: "ca_predfill",
            kernel: &KERNEL_A,
            codes: &[],
            body: "shl.b32 %r2, %r0, 4; mov.u32 %r3, buf; add.u32 %r4, %r3, %r2; cvt.u64.u32 %d5, %r2; \
                   add.u64 %d3, %d3, %d5; mov.u32 %r6, buf2; add.u32 %r7, %r6, %r2; setp.lt.u32 %p2, %r0, %r59; \
                   @%p2 cp.async.ca.shared.global [%r4], [%d3], 16; cp.async.commit_group; cp.async.wait_group 0; \
                   bar.sync 0; @%p2 ld.shared.u32 %r10, [%r4]; @%p2 st.global.u32 [%d4], %r10;",
        },
        Case {
            name: "ca_prefetch3",
            kernel: &KERNEL_A,
            codes: &[],
            body: "shl.b32 %r2, %r0, 4; mov.u32 %r3, buf; add.u32 %r4, %r3, %r2; cvt.u64.u32 %d5, %r2; \
                   add.u64 %d3, %d3, %d5; mov.u32 %r6, buf2; add.u32 %r7, %r6, %r2; \
                   cp.async.ca.shared.global [%r4], [%d3], 16; cp.async.commit_group; \
                   cp.async.ca.shared.global [%r7], [%d3], 16; cp.async.commit_group; cp.async.wait_group 1; \
                   bar.sync 0; ld.shared.u32 %r10, [%r4]; cp.async.wait_group 0; bar.sync 0; ld.shared.u32 %r11, [%r7]; \
                   add.u32 %r12, %r10, %r11; st.global.u32 [%d4], %r12;",
        },
    ]);
}

#[test]
fn bulk_stores() {
    check(&[
        Case {
            name: "bs_read_is_done",
            kernel: &KERNEL_C,
            codes: &[680],
            body: "shl.b32 %r2, %r0, 2; mov.u32 %r3, buf; add.u32 %r4, %r3, %r2; st.shared.u32 [%r4], %r0; \
                   fence.proxy.async.shared::cta; bar.sync 0; setp.ne.u32 %p1, %r0, 0; @%p1 bra E; \
                   cp.async.bulk.global.shared::cta.bulk_group [%d4], [buf], 512; cp.async.bulk.commit_group; \
                   cp.async.bulk.wait_group.read 0; ld.global.u32 %r10, [%d4]; st.global.u32 [%d3], %r10; E:",
        },
        Case {
            name: "bs_read_flag",
            kernel: &KERNEL_C,
            codes: &[680],
            body: "shl.b32 %r2, %r0, 2; mov.u32 %r3, buf; add.u32 %r4, %r3, %r2; st.shared.u32 [%r4], %r0; \
                   fence.proxy.async.shared::cta; bar.sync 0; setp.ne.u32 %p1, %r0, 0; @%p1 bra E; \
                   cp.async.bulk.global.shared::cta.bulk_group [%d4], [buf], 512; cp.async.bulk.commit_group; \
                   cp.async.bulk.wait_group.read 0; mov.u32 %r11, 1; st.release.gpu.global.u32 [%d3], %r11; E:",
        },
        Case {
            name: "bs_read_flag2",
            kernel: &KERNEL_C,
            codes: &[680],
            body: "shl.b32 %r2, %r0, 2; mov.u32 %r3, buf; add.u32 %r4, %r3, %r2; st.shared.u32 [%r4], %r0; \
                   fence.proxy.async.shared::cta; bar.sync 0; setp.ne.u32 %p1, %r0, 0; @%p1 bra E; \
                   cp.async.bulk.global.shared::cta.bulk_group [%d4], [buf], 512; cp.async.bulk.commit_group; \
                   cp.async.bulk.wait_group.read 0; fence.acq_rel.gpu; red.relaxed.gpu.global.add.u32 [%d3], 1; E:",
        },
        Case {
            name: "bs_read_atomic",
            kernel: &KERNEL_C,
            codes: &[680],
            body: "shl.b32 %r2, %r0, 2; mov.u32 %r3, buf; add.u32 %r4, %r3, %r2; st.shared.u32 [%r4], %r0; \
                   fence.proxy.async.shared::cta; bar.sync 0; setp.ne.u32 %p1, %r0, 0; @%p1 bra E; \
                   cp.async.bulk.global.shared::cta.bulk_group [%d4], [buf], 512; cp.async.bulk.commit_group; \
                   cp.async.bulk.wait_group.read 0; atom.add.release.gpu.global.u32 %r12, [%d3], 1; E:",
        },
        // Sums of data are no flags: in floating point, or in a place for each thread.
        Case {
            name: "bs_read_sum",
            kernel: &KERNEL_C,
            codes: &[],
            body: "shl.b32 %r2, %r0, 2; mov.u32 %r3, buf; add.u32 %r4, %r3, %r2; st.shared.u32 [%r4], %r0; \
                   fence.proxy.async.shared::cta; bar.sync 0; setp.ne.u32 %p1, %r0, 0; @%p1 bra E; \
                   cp.async.bulk.global.shared::cta.bulk_group [%d4], [buf], 512; cp.async.bulk.commit_group; \
                   cp.async.bulk.wait_group.read 0; atom.add.acq_rel.gpu.global.f32 %f1, [%d3], 0f3f800000; \
                   cp.async.bulk.wait_group 0; E:",
        },
        Case {
            name: "bs_read_histogram",
            kernel: &KERNEL_C,
            codes: &[],
            body: "shl.b32 %r2, %r0, 2; mov.u32 %r3, buf; add.u32 %r4, %r3, %r2; st.shared.u32 [%r4], %r0; \
                   fence.proxy.async.shared::cta; bar.sync 0; setp.ge.u32 %p1, %r0, 32; @%p1 bra E; \
                   cp.async.bulk.global.shared::cta.bulk_group [%d4], [buf], 512; cp.async.bulk.commit_group; \
                   cp.async.bulk.wait_group.read 0; mad.wide.u32 %d5, %r0, 4, %d3; \
                   atom.add.acq_rel.gpu.global.u32 %r6, [%d5], 1; cp.async.bulk.wait_group 0; E:",
        },
        Case {
            name: "bs_read_loadback_loop",
            kernel: &KERNEL_C,
            codes: &[680],
            body: "shl.b32 %r2, %r0, 2; mov.u32 %r3, buf; add.u32 %r4, %r3, %r2; st.shared.u32 [%r4], %r0; \
                   fence.proxy.async.shared::cta; bar.sync 0; setp.ne.u32 %p1, %r0, 0; @%p1 bra E; mov.u32 %r20, 0; L: \
                   cp.async.bulk.global.shared::cta.bulk_group [%d4], [buf], 512; cp.async.bulk.commit_group; \
                   cp.async.bulk.wait_group.read 0; ld.global.u32 %r10, [%d4+16]; st.global.u32 [%d3], %r10; \
                   add.u32 %r20, %r20, 1; setp.lt.u32 %p5, %r20, 4; @%p5 bra L; cp.async.bulk.wait_group 0; E:",
        },
        Case {
            name: "bs_overwrite",
            kernel: &KERNEL_C,
            codes: &[649],
            body: "shl.b32 %r2, %r0, 2; mov.u32 %r3, buf; add.u32 %r4, %r3, %r2; st.shared.u32 [%r4], %r0; \
                   fence.proxy.async.shared::cta; bar.sync 0; setp.ne.u32 %p1, %r0, 0; @%p1 bra E; \
                   cp.async.bulk.global.shared::cta.bulk_group [%d4], [buf], 512; cp.async.bulk.commit_group; \
                   st.shared.u32 [buf], 3; cp.async.bulk.wait_group 0; E:",
        },
        Case {
            name: "bs_nocommit",
            kernel: &KERNEL_C,
            codes: &[650],
            body: "shl.b32 %r2, %r0, 2; mov.u32 %r3, buf; add.u32 %r4, %r3, %r2; st.shared.u32 [%r4], %r0; \
                   fence.proxy.async.shared::cta; bar.sync 0; setp.ne.u32 %p1, %r0, 0; @%p1 bra E; \
                   cp.async.bulk.global.shared::cta.bulk_group [%d4], [buf], 512; cp.async.bulk.wait_group 0; E:",
        },
        Case {
            name: "bs_nocommit2",
            kernel: &KERNEL_C,
            codes: &[650],
            body: "shl.b32 %r2, %r0, 2; mov.u32 %r3, buf; add.u32 %r4, %r3, %r2; st.shared.u32 [%r4], %r0; \
                   fence.proxy.async.shared::cta; bar.sync 0; setp.ne.u32 %p1, %r0, 0; @%p1 bra E; \
                   cp.async.bulk.global.shared::cta.bulk_group [%d4], [buf], 512; E:",
        },
        Case {
            name: "bs_exit",
            kernel: &KERNEL_C,
            codes: &[650],
            body: "shl.b32 %r2, %r0, 2; mov.u32 %r3, buf; add.u32 %r4, %r3, %r2; st.shared.u32 [%r4], %r0; \
                   fence.proxy.async.shared::cta; bar.sync 0; setp.ne.u32 %p1, %r0, 0; @%p1 bra E; \
                   cp.async.bulk.global.shared::cta.bulk_group [%d4], [buf], 512; cp.async.bulk.commit_group; E:",
        },
        Case {
            name: "bs_exit2",
            kernel: &KERNEL_C,
            codes: &[650],
            body: "shl.b32 %r2, %r0, 2; mov.u32 %r3, buf; add.u32 %r4, %r3, %r2; st.shared.u32 [%r4], %r0; \
                   fence.proxy.async.shared::cta; bar.sync 0; setp.ne.u32 %p1, %r0, 0; \
                   @!%p1 cp.async.bulk.global.shared::cta.bulk_group [%d4], [buf], 512; \
                   @!%p1 cp.async.bulk.commit_group;",
        },
        Case {
            name: "bs_wait1",
            kernel: &KERNEL_C,
            codes: &[649],
            body: "shl.b32 %r2, %r0, 2; mov.u32 %r3, buf; add.u32 %r4, %r3, %r2; st.shared.u32 [%r4], %r0; \
                   fence.proxy.async.shared::cta; bar.sync 0; setp.ne.u32 %p1, %r0, 0; @%p1 bra E; \
                   cp.async.bulk.global.shared::cta.bulk_group [%d4], [buf], 512; cp.async.bulk.commit_group; \
                   cp.async.bulk.wait_group.read 1; st.shared.u32 [buf], 3; cp.async.bulk.wait_group 0; E:",
        },
        Case {
            name: "bs_cpasync_wait",
            kernel: &KERNEL_C,
            codes: &[649],
            body: "shl.b32 %r2, %r0, 2; mov.u32 %r3, buf; add.u32 %r4, %r3, %r2; st.shared.u32 [%r4], %r0; \
                   fence.proxy.async.shared::cta; bar.sync 0; setp.ne.u32 %p1, %r0, 0; @%p1 bra E; \
                   cp.async.bulk.global.shared::cta.bulk_group [%d4], [buf], 512; cp.async.bulk.commit_group; \
                   cp.async.wait_group 0; st.shared.u32 [buf], 3; cp.async.bulk.wait_group 0; E:",
        },
        Case {
            name: "bs",
            kernel: &KERNEL_C,
            codes: &[],
            body: "shl.b32 %r2, %r0, 2; mov.u32 %r3, buf; add.u32 %r4, %r3, %r2; st.shared.u32 [%r4], %r0; \
                   fence.proxy.async.shared::cta; bar.sync 0; setp.ne.u32 %p1, %r0, 0; @%p1 bra E; \
                   cp.async.bulk.global.shared::cta.bulk_group [%d4], [buf], 512; cp.async.bulk.commit_group; \
                   cp.async.bulk.wait_group 0; ld.global.u32 %r10, [%d4]; st.global.u32 [%d3], %r10; E:",
        },
        Case {
            name: "bs_read_reuse",
            kernel: &KERNEL_C,
            codes: &[],
            body: "shl.b32 %r2, %r0, 2; mov.u32 %r3, buf; add.u32 %r4, %r3, %r2; st.shared.u32 [%r4], %r0; \
                   fence.proxy.async.shared::cta; bar.sync 0; setp.ne.u32 %p1, %r0, 0; @%p1 bra E; \
                   cp.async.bulk.global.shared::cta.bulk_group [%d4], [buf], 512; cp.async.bulk.commit_group; \
                   cp.async.bulk.wait_group.read 0; st.shared.u32 [buf], 3; E:",
        },
        Case {
            name: "bs_flag",
            kernel: &KERNEL_C,
            codes: &[],
            body: "shl.b32 %r2, %r0, 2; mov.u32 %r3, buf; add.u32 %r4, %r3, %r2; st.shared.u32 [%r4], %r0; \
                   fence.proxy.async.shared::cta; bar.sync 0; setp.ne.u32 %p1, %r0, 0; @%p1 bra E; \
                   cp.async.bulk.global.shared::cta.bulk_group [%d4], [buf], 512; cp.async.bulk.commit_group; \
                   cp.async.bulk.wait_group 0; mov.u32 %r11, 1; st.release.gpu.global.u32 [%d3], %r11; E:",
        },
        Case {
            name: "bs_pred",
            kernel: &KERNEL_C,
            codes: &[],
            body: "shl.b32 %r2, %r0, 2; mov.u32 %r3, buf; add.u32 %r4, %r3, %r2; st.shared.u32 [%r4], %r0; \
                   fence.proxy.async.shared::cta; bar.sync 0; setp.ne.u32 %p1, %r0, 0; \
                   @!%p1 cp.async.bulk.global.shared::cta.bulk_group [%d4], [buf], 512; \
                   @!%p1 cp.async.bulk.commit_group; @!%p1 cp.async.bulk.wait_group.read 0;",
        },
        Case {
            name: "bs_two",
            kernel: &KERNEL_C,
            codes: &[],
            body: "shl.b32 %r2, %r0, 2; mov.u32 %r3, buf; add.u32 %r4, %r3, %r2; st.shared.u32 [%r4], %r0; \
                   fence.proxy.async.shared::cta; bar.sync 0; setp.ne.u32 %p1, %r0, 0; @%p1 bra E; mov.u32 %r20, 0; L: \
                   cp.async.bulk.global.shared::cta.bulk_group [%d4], [buf], 512; cp.async.bulk.commit_group; \
                   cp.async.bulk.wait_group.read 1; add.u32 %r20, %r20, 1; setp.lt.u32 %p5, %r20, 4; @%p5 bra L; \
                   cp.async.bulk.wait_group.read 0; E:",
        },
        Case {
            name: "bs_tail",
            kernel: &KERNEL_C,
            codes: &[],
            body: "shl.b32 %r2, %r0, 2; mov.u32 %r3, buf; add.u32 %r4, %r3, %r2; st.shared.u32 [%r4], %r0; \
                   fence.proxy.async.shared::cta; bar.sync 0; setp.ne.u32 %p1, %r0, 0; @%p1 bra E; \
                   cp.async.bulk.global.shared::cta.bulk_group [%d4], [buf], 512; cp.async.bulk.commit_group; \
                   cp.async.bulk.wait_group.read 0; E: bar.sync 0; st.shared.u32 [%r4], 1;",
        },
    ]);
}
