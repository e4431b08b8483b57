//! More right kernels: copies, lanes, warpgroups, Tensor Memory, ways out.

use super::{Case, Kernel, check};

const SHARED: &str = ".shared .align 128 .b8 buf[8192]; .shared .align 128 .b8 buf2[8192]; .shared .align 8 .b64 mb[4]; .shared .align 4 .b32 x; .shared .align 4 .b32 y; .shared .align 4 .b32 slot;";

const KERNEL_A: Kernel = Kernel { target: "sm_90a", version: "8.6", threads: "128", directives: "", shared: SHARED };
const KERNEL_B: Kernel =
    Kernel { target: "sm_90a", version: "8.6", threads: "128", directives: ".reqnctapercluster 2", shared: SHARED };
const KERNEL_C: Kernel = Kernel { target: "sm_90a", version: "8.6", threads: "128", directives: "", shared: "" };
const KERNEL_D: Kernel = Kernel { target: "sm_90a", version: "8.6", threads: "40", directives: "", shared: "" };
const KERNEL_E: Kernel =
    Kernel { target: "sm_90a", version: "8.6", threads: "384", directives: ".maxnreg 168", shared: "" };
const KERNEL_F: Kernel =
    Kernel { target: "sm_90a", version: "8.6", threads: "256", directives: ".maxnreg 128", shared: "" };
const KERNEL_G: Kernel = Kernel { target: "sm_100a", version: "8.6", threads: "128", directives: "", shared: SHARED };
const KERNEL_H: Kernel = Kernel { target: "sm_100a", version: "8.6", threads: "32", directives: "", shared: SHARED };

#[test]
fn bulk_stores_in_order() {
    check(&[
        Case {
            name: "s1",
            kernel: &KERNEL_A,
            codes: &[],
            body: "shl.b32 %r2, %r0, 4; mov.u32 %r3, buf; add.u32 %r4, %r3, %r2; \
                   st.shared.v4.u32 [%r4], {%r0,%r0,%r0,%r0}; fence.proxy.async.shared::cta; bar.sync 0; \
                   setp.eq.u32 %p1, %r0, 0; @!%p1 bra E; \
                   cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%d4], [buf], 2048; \
                   cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; E:",
        },
        Case {
            name: "s2",
            kernel: &KERNEL_A,
            codes: &[],
            body: "setp.lt.u32 %p2, %r0, 32; @!%p2 bra E; elect.sync _|%p4, -1; @!%p4 bra E; mov.u32 %r9, 0; L: \
                   st.shared.u32 [buf], %r9; fence.proxy.async.shared::cta; \
                   cp.async.bulk.global.shared::cta.bulk_group [%d4], [buf], 16; cp.async.bulk.commit_group; \
                   cp.async.bulk.wait_group.read 0; add.u32 %r9, %r9, 1; setp.lt.u32 %p5, %r9, 4; @%p5 bra L; E:",
        },
        Case {
            name: "s3",
            kernel: &KERNEL_A,
            codes: &[],
            body: "setp.ne.u32 %p1, %r0, 0; @%p1 bra E; st.shared.u32 [buf], 3; st.shared.u32 [buf2], 4; \
                   fence.proxy.async.shared::cta; cp.async.bulk.global.shared::cta.bulk_group [%d4], [buf], 16; \
                   cp.async.bulk.commit_group; cp.async.bulk.global.shared::cta.bulk_group [%d3], [buf2], 16; \
                   cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 1; st.shared.u32 [buf], 5; \
                   cp.async.bulk.wait_group.read 0; st.shared.u32 [buf2], 5; E:",
        },
        Case {
            name: "s4",
            kernel: &KERNEL_A,
            codes: &[],
            body: "setp.ne.u32 %p1, %r0, 0; @%p1 bra E; st.shared.u32 [buf], 3; fence.proxy.async.shared::cta; \
                   cp.async.bulk.global.shared::cta.bulk_group [%d4], [buf], 16; cp.async.bulk.commit_group; \
                   cp.async.bulk.wait_group 0; fence.acq_rel.gpu; atom.global.add.u32 %r5, [%d3], 1; E:",
        },
        Case {
            name: "s5",
            kernel: &KERNEL_A,
            codes: &[],
            body: "setp.ne.u32 %p1, %r0, 0; @%p1 bra E; atom.release.gpu.global.add.u32 %r5, [%d3], 1; \
                   st.shared.u32 [buf], 3; fence.proxy.async.shared::cta; \
                   cp.async.bulk.global.shared::cta.bulk_group [%d4], [buf], 16; cp.async.bulk.commit_group; \
                   cp.async.bulk.wait_group.read 0; E:",
        },
        Case {
            name: "s6",
            kernel: &KERNEL_A,
            codes: &[],
            body: "setp.ne.u32 %p1, %r0, 0; @!%p1 st.shared.u32 [buf], 3; @!%p1 fence.proxy.async.shared::cta; \
                   @!%p1 cp.async.bulk.global.shared::cta.bulk_group [%d4], [buf], 16; \
                   @!%p1 cp.async.bulk.commit_group; @!%p1 cp.async.bulk.wait_group 0; bar.sync 0; \
                   ld.global.u32 %r5, [%d4]; st.global.u32 [%d3], %r5;",
        },
        Case {
            name: "s7",
            kernel: &KERNEL_A,
            codes: &[],
            body: "setp.ne.u32 %p1, %r0, 0; @%p1 ret; st.shared.u32 [buf], 3; fence.proxy.async.shared::cta; \
                   cp.async.bulk.global.shared::cta.bulk_group [%d4], [buf], 16; cp.async.bulk.commit_group; \
                   setp.eq.u32 %p2, %r59, 0; @%p2 bra A; st.global.u32 [%d3], 1; A: cp.async.bulk.wait_group.read 0;",
        },
    ]);
}

#[test]
fn copies_into_peers() {
    check(&[
        Case {
            name: "m1",
            kernel: &KERNEL_B,
            codes: &[],
            body: "setp.eq.u32 %p1, %r0, 0; @%p1 mbarrier.init.shared::cta.b64 [mb], 1; \
                   @%p1 fence.mbarrier_init.release.cluster; barrier.cluster.arrive; barrier.cluster.wait; @!%p1 bra W; \
                   mbarrier.arrive.expect_tx.shared::cta.b64 _, [mb], 2048; mov.u32 %r1, %cluster_ctarank; \
                   shl.b32 %r2, %r1, 10; mov.u32 %r3, buf; add.u32 %r4, %r3, %r2; mov.u16 %h1, 3; cvt.u64.u32 %d9, %r2; \
                   add.u64 %d9, %d3, %d9; \
                   cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r4], [%d9], 1024, [mb], %h1; \
                   W: mbarrier.try_wait.parity.shared::cta.b64 %p15, [mb], 0; @!%p15 bra W; \
                   ld.shared.u32 %r5, [buf+1024]; st.global.u32 [%d4], %r5; barrier.cluster.arrive; \
                   barrier.cluster.wait;",
        },
        Case {
            name: "m2",
            kernel: &KERNEL_B,
            codes: &[],
            body: "setp.eq.u32 %p1, %r0, 0; @%p1 mbarrier.init.shared::cta.b64 [mb], 1; \
                   @%p1 fence.mbarrier_init.release.cluster; barrier.cluster.arrive; barrier.cluster.wait; @!%p1 bra W; \
                   mov.u32 %r1, %cluster_ctarank; xor.b32 %r1, %r1, 1; mov.u32 %r3, buf; \
                   mapa.shared::cluster.u32 %r4, %r3, %r1; mov.u32 %r6, mb; mapa.shared::cluster.u32 %r7, %r6, %r1; \
                   mbarrier.arrive.expect_tx.shared::cta.b64 _, [mb], 4; \
                   st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r4], %r0, [%r7]; \
                   W: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p15, [mb], 0; @!%p15 bra W; \
                   ld.shared.u32 %r5, [buf]; st.global.u32 [%d4], %r5; barrier.cluster.arrive; barrier.cluster.wait;",
        },
    ]);
}

#[test]
fn lanes_that_are_there() {
    check(&[
        Case {
            name: "l1",
            kernel: &KERNEL_C,
            codes: &[],
            body: "mov.u32 %r1, %lanemask_lt; vote.sync.ballot.b32 %r2, 1, -1; and.b32 %r3, %r2, %r1; \
                   popc.b32 %r4, %r3; st.global.u32 [%d4], %r4;",
        },
        Case {
            name: "l2",
            kernel: &KERNEL_C,
            codes: &[],
            body: "and.b32 %r1, %r0, 15; shr.u32 %r2, %r0, 4; and.b32 %r2, %r2, 1; setp.eq.u32 %p2, %r2, 0; \
                   selp.b32 %r3, 0xffff, 0xffff0000, %p2; shfl.sync.bfly.b32 %r4, %r0, 8, 0x101f, %r3; \
                   st.global.u32 [%d4], %r4;",
        },
        Case {
            name: "l3",
            kernel: &KERNEL_C,
            codes: &[],
            body: "setp.lt.u32 %p2, %r0, 16; @%p2 bra A; bra B; A: shfl.sync.bfly.b32 %r4, %r0, 8, 31, 0xffff; \
                   st.global.u32 [%d4], %r4; B:",
        },
        Case {
            name: "l4",
            kernel: &KERNEL_C,
            codes: &[],
            body: "setp.ge.u32 %p2, %r0, %r59; @%p2 exit; shfl.sync.bfly.b32 %r4, %r0, 8, 31, -1; \
                   st.global.u32 [%d4], %r4;",
        },
        Case {
            name: "l5",
            kernel: &KERNEL_C,
            codes: &[],
            body: "match.any.sync.b32 %r1, %r0, -1; redux.sync.add.u32 %r2, %r0, %r1; st.global.u32 [%d4], %r2;",
        },
        Case {
            name: "l6",
            kernel: &KERNEL_C,
            codes: &[],
            body: "mov.u32 %r1, %laneid; setp.lt.u32 %p2, %r1, 4; @!%p2 bra E; \
                   shfl.sync.idx.b32 %r4, %r0, 2, 0x1c1f, 0xf; st.global.u32 [%d4], %r4; E:",
        },
        Case {
            name: "l7",
            kernel: &KERNEL_D,
            codes: &[],
            body: "activemask.b32 %r1; elect.sync %r2|%p2, %r1; @%p2 st.global.u32 [%d4], %r2;",
        },
    ]);
}

#[test]
fn registers_handed_over() {
    check(&[
        Case {
            name: "n1",
            kernel: &KERNEL_E,
            codes: &[],
            body: "shr.u32 %r1, %r0, 7; shfl.sync.idx.b32 %r1, %r1, 0, 31, -1; setp.eq.u32 %p2, %r1, 0; @!%p2 bra C; \
                   setmaxnreg.dec.sync.aligned.u32 24; bra E; C: setmaxnreg.inc.sync.aligned.u32 240; E: \
                   st.global.u32 [%d4], %r1;",
        },
        Case {
            name: "n2",
            kernel: &KERNEL_E,
            codes: &[],
            body: "shr.u32 %r1, %r0, 7; setp.eq.u32 %p2, %r1, 2; @%p2 bra P; setp.eq.u32 %p3, %r1, 0; @%p3 bra C0; \
                   setmaxnreg.inc.sync.aligned.u32 232; bra E; C0: setmaxnreg.inc.sync.aligned.u32 232; bra E; P: \
                   setmaxnreg.dec.sync.aligned.u32 40; E: st.global.u32 [%d4], %r1;",
        },
        Case {
            name: "n3",
            kernel: &KERNEL_F,
            codes: &[],
            body: "setmaxnreg.dec.sync.aligned.u32 96; bar.sync 0; setmaxnreg.inc.sync.aligned.u32 128; \
                   st.global.u32 [%d4], %r0;",
        },
    ]);
}

#[test]
fn tensor_memory_in_order() {
    check(&[
        Case {
            name: "t1",
            kernel: &KERNEL_G,
            codes: &[],
            body: "setp.lt.u32 %p2, %r0, 32; @!%p2 bra A; \
                   tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 64; \
                   tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned; A: bar.sync 0; \
                   ld.shared.u32 %r10, [slot]; shr.u32 %r11, %r0, 5; shl.b32 %r11, %r11, 21; add.u32 %r12, %r10, %r11; \
                   mov.u32 %r20, %r0; tcgen05.st.sync.aligned.32x32b.x1.b32 [%r12], {%r20}; \
                   tcgen05.wait::st.sync.aligned; tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r21}, [%r12]; \
                   tcgen05.wait::ld.sync.aligned; st.global.u32 [%d4], %r21; bar.sync 0; \
                   @%p2 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r10, 64;",
        },
        Case {
            name: "t2",
            kernel: &KERNEL_H,
            codes: &[],
            body: "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 64; bar.sync 0; \
                   ld.shared.u32 %r10, [slot]; setp.eq.u32 %p2, %r59, 0; @%p2 bra F; \
                   tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r21}, [%r10]; tcgen05.wait::ld.sync.aligned; \
                   st.global.u32 [%d4], %r21; F: tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r10, 64;",
        },
    ]);
}

#[test]
fn wgmma_in_order() {
    check(&[
        Case {
            name: "w1",
            kernel: &KERNEL_C,
            codes: &[],
            body: "setp.ne.u32 %p9, %r59, 0; ld.param.u64 %d10, [a]; ld.param.u64 %d11, [b]; mov.f32 %f0, 0f00000000; \
                   mov.f32 %f1, 0f00000000; mov.f32 %f2, 0f00000000; mov.f32 %f3, 0f00000000; mov.f32 %f4, 0f00000000; \
                   mov.f32 %f5, 0f00000000; mov.f32 %f6, 0f00000000; mov.f32 %f7, 0f00000000; wgmma.fence.sync.aligned; \
                   wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0,%f1,%f2,%f3}, %d10, %d11, %p9, 1, 1, 0, 0; \
                   wgmma.commit_group.sync.aligned; st.global.f32 [%d4], %f4; wgmma.wait_group.sync.aligned 0; \
                   st.global.f32 [%d4], %f0;",
        },
        Case {
            name: "w2",
            kernel: &KERNEL_C,
            codes: &[],
            body: "setp.ne.u32 %p9, %r59, 0; ld.param.u64 %d10, [a]; ld.param.u64 %d11, [b]; mov.f32 %f0, 0f00000000; \
                   mov.f32 %f1, 0f00000000; mov.f32 %f2, 0f00000000; mov.f32 %f3, 0f00000000; mov.f32 %f4, 0f00000000; \
                   mov.f32 %f5, 0f00000000; mov.f32 %f6, 0f00000000; mov.f32 %f7, 0f00000000; mov.u32 %r1, 0; L: \
                   wgmma.fence.sync.aligned; \
                   wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0,%f1,%f2,%f3}, %d10, %d11, %p9, 1, 1, 0, 0; \
                   wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f4,%f5,%f6,%f7}, %d10, %d11, %p9, 1, 1, 0, 0; \
                   wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0; add.f32 %f8, %f0, %f4; \
                   st.global.f32 [%d4], %f8; mov.f32 %f0, 0f00000000; add.u32 %r1, %r1, 1; setp.lt.u32 %p2, %r1, %r59; \
                   @%p2 bra L;",
        },
        Case {
            name: "w3",
            kernel: &KERNEL_C,
            codes: &[],
            body: "setp.ne.u32 %p9, %r59, 0; ld.param.u64 %d10, [a]; ld.param.u64 %d11, [b]; mov.f32 %f0, 0f00000000; \
                   mov.f32 %f1, 0f00000000; mov.f32 %f2, 0f00000000; mov.f32 %f3, 0f00000000; mov.f32 %f4, 0f00000000; \
                   mov.f32 %f5, 0f00000000; mov.f32 %f6, 0f00000000; mov.f32 %f7, 0f00000000; wgmma.fence.sync.aligned; \
                   wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0,%f1,%f2,%f3}, %d10, %d11, %p9, 1, 1, 0, 0; \
                   wgmma.commit_group.sync.aligned; setp.eq.u32 %p2, %r59, 0; @%p2 bra A; \
                   wgmma.wait_group.sync.aligned 0; st.global.f32 [%d4], %f0; ret; A: wgmma.wait_group.sync.aligned 0; \
                   st.global.f32 [%d4], %f1;",
        },
    ]);
}

#[test]
fn ways_out() {
    check(&[
        Case {
            name: "x1",
            kernel: &KERNEL_C,
            codes: &[],
            body: "setp.eq.u32 %p2, %r59, 0; @%p2 exit; bar.sync 0; setp.eq.u32 %p3, %r59, 1; @%p3 bra A; bar.sync 0; \
                   A: st.global.u32 [%d4], %r0;",
        },
        Case {
            name: "x2",
            kernel: &KERNEL_C,
            codes: &[],
            body: "setp.ge.u32 %p2, %r0, 64; @%p2 bra E; barrier.sync 1, 64; st.global.u32 [%d4], %r0; E: ret;",
        },
        Case {
            name: "x3",
            kernel: &KERNEL_C,
            codes: &[],
            body: "L: ld.global.u32 %r1, [%d3]; setp.eq.u32 %p2, %r1, 0; @%p2 bra E; bar.sync 0; add.u64 %d3, %d3, 4; \
                   bra L; E:",
        },
        Case {
            name: "x4",
            kernel: &KERNEL_A,
            codes: &[],
            body: "mov.u32 %r1, 0; L: bar.sync 0; ld.shared.u32 %r2, [x]; setp.eq.u32 %p2, %r2, 7; @%p2 bra E; \
                   bar.sync 0; setp.eq.u32 %p1, %r0, 0; @%p1 st.shared.u32 [x], %r1; add.u32 %r1, %r1, 1; bra L; E:",
        },
    ]);
}
