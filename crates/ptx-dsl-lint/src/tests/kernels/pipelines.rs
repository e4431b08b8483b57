//! Whole kernels of Hopper and Blackwell: a ring of TMA and wgmma, roles around Tensor Memory.

use super::{Case, Kernel, check};

const SHARED: &str = ".shared .align 128 .b8 tiles[65536]; .shared .align 128 .b8 outt[8192]; .shared .align 8 .b64 full[4]; .shared .align 8 .b64 empty[4];";
const SHARED2: &str = ".shared .align 1024 .b8 tiles[32768]; .shared .align 8 .b64 full[2]; .shared .align 8 .b64 empty[2]; .shared .align 8 .b64 accf[2]; .shared .align 8 .b64 acce[2]; .shared .align 4 .b32 slot;";

const KERNEL_A: Kernel =
    Kernel { target: "sm_90a", version: "8.6", threads: "384", directives: ".maxnreg 168", shared: SHARED };
const KERNEL_B: Kernel = Kernel { target: "sm_100a", version: "8.6", threads: "256", directives: "", shared: SHARED2 };

#[test]
fn a_ring_of_wgmma() {
    check(&[
        Case {
            name: "hopper",
            kernel: &KERNEL_A,
            codes: &[],
            body: "setp.ne.u32 %p1, %r0, 0; @%p1 bra INITED; mov.u32 %r1, 0; INIT: shl.b32 %r2, %r1, 3; \
                   mov.u32 %r3, full; add.u32 %r3, %r3, %r2; mbarrier.init.shared::cta.b64 [%r3], 1; \
                   mov.u32 %r4, empty; add.u32 %r4, %r4, %r2; mbarrier.init.shared::cta.b64 [%r4], 2; \
                   add.u32 %r1, %r1, 1; setp.lt.u32 %p2, %r1, 4; @%p2 bra INIT; fence.mbarrier_init.release.cluster; \
                   fence.proxy.async; INITED: bar.sync 0; shr.u32 %r5, %r0, 7; setp.eq.u32 %p3, %r5, 0; \
                   @!%p3 bra CONSUMER; setmaxnreg.dec.sync.aligned.u32 40; shr.u32 %r6, %r0, 5; \
                   setp.ne.u32 %p4, %r6, 0; @%p4 bra DONE; elect.sync _|%p5, -1; @!%p5 bra DONE; mov.u32 %r10, 0; \
                   mov.u32 %r11, 0; mov.u32 %r12, 1; PLOOP: shl.b32 %r13, %r11, 3; mov.u32 %r14, full; \
                   add.u32 %r14, %r14, %r13; mov.u32 %r15, empty; add.u32 %r15, %r15, %r13; \
                   PW: mbarrier.try_wait.parity.shared::cta.b64 %p15, [%r15], %r12; @!%p15 bra PW; \
                   mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r14], 16384; shl.b32 %r16, %r11, 14; \
                   mov.u32 %r17, tiles; add.u32 %r17, %r17, %r16; \
                   cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r17], [%d1, {%r10, %r10}], [%r14]; \
                   add.u32 %r18, %r17, 8192; \
                   cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r18], [%d2, {%r10, %r10}], [%r14]; \
                   add.u32 %r10, %r10, 1; add.u32 %r11, %r11, 1; setp.eq.u32 %p6, %r11, 4; @%p6 mov.u32 %r11, 0; \
                   @%p6 xor.b32 %r12, %r12, 1; setp.lt.u32 %p7, %r10, %r59; @%p7 bra PLOOP; bra DONE; CONSUMER: \
                   setmaxnreg.inc.sync.aligned.u32 232; mov.u32 %r20, 0; mov.u32 %r21, 0; mov.u32 %r22, 0; \
                   and.b32 %r23, %r0, 127; setp.eq.u32 %p8, %r23, 0; mov.f32 %f0, 0f00000000; mov.f32 %f1, 0f00000000; \
                   mov.f32 %f2, 0f00000000; mov.f32 %f3, 0f00000000; setp.ne.u32 %p9, 1, 0; CLOOP: \
                   shl.b32 %r24, %r21, 3; mov.u32 %r25, full; add.u32 %r25, %r25, %r24; \
                   CW: mbarrier.try_wait.parity.shared::cta.b64 %p15, [%r25], %r22; @!%p15 bra CW; \
                   shl.b32 %r26, %r21, 10; cvt.u64.u32 %d10, %r26; wgmma.fence.sync.aligned; \
                   wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0,%f1,%f2,%f3}, %d10, %d10, %p9, 1, 1, 0, 0; \
                   wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0; mov.u32 %r27, empty; \
                   add.u32 %r27, %r27, %r24; @%p8 mbarrier.arrive.shared::cta.b64 _, [%r27]; add.u32 %r20, %r20, 1; \
                   add.u32 %r21, %r21, 1; setp.eq.u32 %p6, %r21, 4; @%p6 mov.u32 %r21, 0; @%p6 xor.b32 %r22, %r22, 1; \
                   setp.lt.u32 %p7, %r20, %r59; @%p7 bra CLOOP; shl.b32 %r30, %r23, 4; sub.u32 %r31, %r5, 1; \
                   shl.b32 %r32, %r31, 11; mov.u32 %r33, outt; add.u32 %r34, %r33, %r32; add.u32 %r35, %r34, %r30; \
                   st.shared.v4.f32 [%r35], {%f0,%f1,%f2,%f3}; fence.proxy.async.shared::cta; add.u32 %r36, %r5, 7; \
                   barrier.sync %r36, 128; @!%p8 bra DONE; \
                   cp.async.bulk.global.shared::cta.bulk_group [%d4], [%r34], 2048; cp.async.bulk.commit_group; \
                   cp.async.bulk.wait_group.read 0; DONE:",
        },
        Case {
            name: "hopper_mmawait",
            kernel: &KERNEL_A,
            codes: &[651],
            body: "setp.ne.u32 %p1, %r0, 0; @%p1 bra INITED; mov.u32 %r1, 0; INIT: shl.b32 %r2, %r1, 3; \
                   mov.u32 %r3, full; add.u32 %r3, %r3, %r2; mbarrier.init.shared::cta.b64 [%r3], 1; \
                   mov.u32 %r4, empty; add.u32 %r4, %r4, %r2; mbarrier.init.shared::cta.b64 [%r4], 2; \
                   add.u32 %r1, %r1, 1; setp.lt.u32 %p2, %r1, 4; @%p2 bra INIT; fence.mbarrier_init.release.cluster; \
                   fence.proxy.async; INITED: bar.sync 0; shr.u32 %r5, %r0, 7; setp.eq.u32 %p3, %r5, 0; \
                   @!%p3 bra CONSUMER; setmaxnreg.dec.sync.aligned.u32 40; shr.u32 %r6, %r0, 5; \
                   setp.ne.u32 %p4, %r6, 0; @%p4 bra DONE; elect.sync _|%p5, -1; @!%p5 bra DONE; mov.u32 %r10, 0; \
                   mov.u32 %r11, 0; mov.u32 %r12, 1; PLOOP: shl.b32 %r13, %r11, 3; mov.u32 %r14, full; \
                   add.u32 %r14, %r14, %r13; mov.u32 %r15, empty; add.u32 %r15, %r15, %r13; \
                   PW: mbarrier.try_wait.parity.shared::cta.b64 %p15, [%r15], %r12; @!%p15 bra PW; \
                   mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r14], 16384; shl.b32 %r16, %r11, 14; \
                   mov.u32 %r17, tiles; add.u32 %r17, %r17, %r16; \
                   cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r17], [%d1, {%r10, %r10}], [%r14]; \
                   add.u32 %r18, %r17, 8192; \
                   cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r18], [%d2, {%r10, %r10}], [%r14]; \
                   add.u32 %r10, %r10, 1; add.u32 %r11, %r11, 1; setp.eq.u32 %p6, %r11, 4; @%p6 mov.u32 %r11, 0; \
                   @%p6 xor.b32 %r12, %r12, 1; setp.lt.u32 %p7, %r10, %r59; @%p7 bra PLOOP; bra DONE; CONSUMER: \
                   setmaxnreg.inc.sync.aligned.u32 232; mov.u32 %r20, 0; mov.u32 %r21, 0; mov.u32 %r22, 0; \
                   and.b32 %r23, %r0, 127; setp.eq.u32 %p8, %r23, 0; mov.f32 %f0, 0f00000000; mov.f32 %f1, 0f00000000; \
                   mov.f32 %f2, 0f00000000; mov.f32 %f3, 0f00000000; setp.ne.u32 %p9, 1, 0; CLOOP: \
                   shl.b32 %r24, %r21, 3; mov.u32 %r25, full; add.u32 %r25, %r25, %r24; \
                   CW: mbarrier.try_wait.parity.shared::cta.b64 %p15, [%r25], %r22; @!%p15 bra CW; \
                   shl.b32 %r26, %r21, 10; cvt.u64.u32 %d10, %r26; wgmma.fence.sync.aligned; \
                   wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0,%f1,%f2,%f3}, %d10, %d10, %p9, 1, 1, 0, 0; \
                   wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 1; mov.u32 %r27, empty; \
                   add.u32 %r27, %r27, %r24; @%p8 mbarrier.arrive.shared::cta.b64 _, [%r27]; add.u32 %r20, %r20, 1; \
                   add.u32 %r21, %r21, 1; setp.eq.u32 %p6, %r21, 4; @%p6 mov.u32 %r21, 0; @%p6 xor.b32 %r22, %r22, 1; \
                   setp.lt.u32 %p7, %r20, %r59; @%p7 bra CLOOP; shl.b32 %r30, %r23, 4; sub.u32 %r31, %r5, 1; \
                   shl.b32 %r32, %r31, 11; mov.u32 %r33, outt; add.u32 %r34, %r33, %r32; add.u32 %r35, %r34, %r30; \
                   st.shared.v4.f32 [%r35], {%f0,%f1,%f2,%f3}; fence.proxy.async.shared::cta; add.u32 %r36, %r5, 7; \
                   barrier.sync %r36, 128; @!%p8 bra DONE; \
                   cp.async.bulk.global.shared::cta.bulk_group [%d4], [%r34], 2048; cp.async.bulk.commit_group; \
                   cp.async.bulk.wait_group.read 0; DONE:",
        },
        Case {
            name: "hopper_epifence",
            kernel: &KERNEL_A,
            codes: &[640],
            body: "setp.ne.u32 %p1, %r0, 0; @%p1 bra INITED; mov.u32 %r1, 0; INIT: shl.b32 %r2, %r1, 3; \
                   mov.u32 %r3, full; add.u32 %r3, %r3, %r2; mbarrier.init.shared::cta.b64 [%r3], 1; \
                   mov.u32 %r4, empty; add.u32 %r4, %r4, %r2; mbarrier.init.shared::cta.b64 [%r4], 2; \
                   add.u32 %r1, %r1, 1; setp.lt.u32 %p2, %r1, 4; @%p2 bra INIT; fence.mbarrier_init.release.cluster; \
                   fence.proxy.async; INITED: bar.sync 0; shr.u32 %r5, %r0, 7; setp.eq.u32 %p3, %r5, 0; \
                   @!%p3 bra CONSUMER; setmaxnreg.dec.sync.aligned.u32 40; shr.u32 %r6, %r0, 5; \
                   setp.ne.u32 %p4, %r6, 0; @%p4 bra DONE; elect.sync _|%p5, -1; @!%p5 bra DONE; mov.u32 %r10, 0; \
                   mov.u32 %r11, 0; mov.u32 %r12, 1; PLOOP: shl.b32 %r13, %r11, 3; mov.u32 %r14, full; \
                   add.u32 %r14, %r14, %r13; mov.u32 %r15, empty; add.u32 %r15, %r15, %r13; \
                   PW: mbarrier.try_wait.parity.shared::cta.b64 %p15, [%r15], %r12; @!%p15 bra PW; \
                   mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r14], 16384; shl.b32 %r16, %r11, 14; \
                   mov.u32 %r17, tiles; add.u32 %r17, %r17, %r16; \
                   cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r17], [%d1, {%r10, %r10}], [%r14]; \
                   add.u32 %r18, %r17, 8192; \
                   cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r18], [%d2, {%r10, %r10}], [%r14]; \
                   add.u32 %r10, %r10, 1; add.u32 %r11, %r11, 1; setp.eq.u32 %p6, %r11, 4; @%p6 mov.u32 %r11, 0; \
                   @%p6 xor.b32 %r12, %r12, 1; setp.lt.u32 %p7, %r10, %r59; @%p7 bra PLOOP; bra DONE; CONSUMER: \
                   setmaxnreg.inc.sync.aligned.u32 232; mov.u32 %r20, 0; mov.u32 %r21, 0; mov.u32 %r22, 0; \
                   and.b32 %r23, %r0, 127; setp.eq.u32 %p8, %r23, 0; mov.f32 %f0, 0f00000000; mov.f32 %f1, 0f00000000; \
                   mov.f32 %f2, 0f00000000; mov.f32 %f3, 0f00000000; setp.ne.u32 %p9, 1, 0; CLOOP: \
                   shl.b32 %r24, %r21, 3; mov.u32 %r25, full; add.u32 %r25, %r25, %r24; \
                   CW: mbarrier.try_wait.parity.shared::cta.b64 %p15, [%r25], %r22; @!%p15 bra CW; \
                   shl.b32 %r26, %r21, 10; cvt.u64.u32 %d10, %r26; wgmma.fence.sync.aligned; \
                   wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0,%f1,%f2,%f3}, %d10, %d10, %p9, 1, 1, 0, 0; \
                   wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0; mov.u32 %r27, empty; \
                   add.u32 %r27, %r27, %r24; @%p8 mbarrier.arrive.shared::cta.b64 _, [%r27]; add.u32 %r20, %r20, 1; \
                   add.u32 %r21, %r21, 1; setp.eq.u32 %p6, %r21, 4; @%p6 mov.u32 %r21, 0; @%p6 xor.b32 %r22, %r22, 1; \
                   setp.lt.u32 %p7, %r20, %r59; @%p7 bra CLOOP; shl.b32 %r30, %r23, 4; sub.u32 %r31, %r5, 1; \
                   shl.b32 %r32, %r31, 11; mov.u32 %r33, outt; add.u32 %r34, %r33, %r32; add.u32 %r35, %r34, %r30; \
                   st.shared.v4.f32 [%r35], {%f0,%f1,%f2,%f3}; add.u32 %r36, %r5, 7; barrier.sync %r36, 128; \
                   @!%p8 bra DONE; cp.async.bulk.global.shared::cta.bulk_group [%d4], [%r34], 2048; \
                   cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0; DONE:",
        },
        Case {
            name: "hopper_epiwait",
            kernel: &KERNEL_A,
            codes: &[650],
            body: "setp.ne.u32 %p1, %r0, 0; @%p1 bra INITED; mov.u32 %r1, 0; INIT: shl.b32 %r2, %r1, 3; \
                   mov.u32 %r3, full; add.u32 %r3, %r3, %r2; mbarrier.init.shared::cta.b64 [%r3], 1; \
                   mov.u32 %r4, empty; add.u32 %r4, %r4, %r2; mbarrier.init.shared::cta.b64 [%r4], 2; \
                   add.u32 %r1, %r1, 1; setp.lt.u32 %p2, %r1, 4; @%p2 bra INIT; fence.mbarrier_init.release.cluster; \
                   fence.proxy.async; INITED: bar.sync 0; shr.u32 %r5, %r0, 7; setp.eq.u32 %p3, %r5, 0; \
                   @!%p3 bra CONSUMER; setmaxnreg.dec.sync.aligned.u32 40; shr.u32 %r6, %r0, 5; \
                   setp.ne.u32 %p4, %r6, 0; @%p4 bra DONE; elect.sync _|%p5, -1; @!%p5 bra DONE; mov.u32 %r10, 0; \
                   mov.u32 %r11, 0; mov.u32 %r12, 1; PLOOP: shl.b32 %r13, %r11, 3; mov.u32 %r14, full; \
                   add.u32 %r14, %r14, %r13; mov.u32 %r15, empty; add.u32 %r15, %r15, %r13; \
                   PW: mbarrier.try_wait.parity.shared::cta.b64 %p15, [%r15], %r12; @!%p15 bra PW; \
                   mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r14], 16384; shl.b32 %r16, %r11, 14; \
                   mov.u32 %r17, tiles; add.u32 %r17, %r17, %r16; \
                   cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r17], [%d1, {%r10, %r10}], [%r14]; \
                   add.u32 %r18, %r17, 8192; \
                   cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r18], [%d2, {%r10, %r10}], [%r14]; \
                   add.u32 %r10, %r10, 1; add.u32 %r11, %r11, 1; setp.eq.u32 %p6, %r11, 4; @%p6 mov.u32 %r11, 0; \
                   @%p6 xor.b32 %r12, %r12, 1; setp.lt.u32 %p7, %r10, %r59; @%p7 bra PLOOP; bra DONE; CONSUMER: \
                   setmaxnreg.inc.sync.aligned.u32 232; mov.u32 %r20, 0; mov.u32 %r21, 0; mov.u32 %r22, 0; \
                   and.b32 %r23, %r0, 127; setp.eq.u32 %p8, %r23, 0; mov.f32 %f0, 0f00000000; mov.f32 %f1, 0f00000000; \
                   mov.f32 %f2, 0f00000000; mov.f32 %f3, 0f00000000; setp.ne.u32 %p9, 1, 0; CLOOP: \
                   shl.b32 %r24, %r21, 3; mov.u32 %r25, full; add.u32 %r25, %r25, %r24; \
                   CW: mbarrier.try_wait.parity.shared::cta.b64 %p15, [%r25], %r22; @!%p15 bra CW; \
                   shl.b32 %r26, %r21, 10; cvt.u64.u32 %d10, %r26; wgmma.fence.sync.aligned; \
                   wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0,%f1,%f2,%f3}, %d10, %d10, %p9, 1, 1, 0, 0; \
                   wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0; mov.u32 %r27, empty; \
                   add.u32 %r27, %r27, %r24; @%p8 mbarrier.arrive.shared::cta.b64 _, [%r27]; add.u32 %r20, %r20, 1; \
                   add.u32 %r21, %r21, 1; setp.eq.u32 %p6, %r21, 4; @%p6 mov.u32 %r21, 0; @%p6 xor.b32 %r22, %r22, 1; \
                   setp.lt.u32 %p7, %r20, %r59; @%p7 bra CLOOP; shl.b32 %r30, %r23, 4; sub.u32 %r31, %r5, 1; \
                   shl.b32 %r32, %r31, 11; mov.u32 %r33, outt; add.u32 %r34, %r33, %r32; add.u32 %r35, %r34, %r30; \
                   st.shared.v4.f32 [%r35], {%f0,%f1,%f2,%f3}; fence.proxy.async.shared::cta; add.u32 %r36, %r5, 7; \
                   barrier.sync %r36, 128; @!%p8 bra DONE; \
                   cp.async.bulk.global.shared::cta.bulk_group [%d4], [%r34], 2048; cp.async.bulk.commit_group; DONE:",
        },
    ]);
}

#[test]
fn roles_around_tensor_memory() {
    check(&[
        Case {
            name: "bw",
            kernel: &KERNEL_B,
            codes: &[],
            body: "shr.u32 %r1, %r0, 5; setp.eq.u32 %p1, %r0, 0; @!%p1 bra I; \
                   mbarrier.init.shared::cta.b64 [full+0], 1; mbarrier.init.shared::cta.b64 [empty+0], 1; \
                   mbarrier.init.shared::cta.b64 [accf+0], 1; mbarrier.init.shared::cta.b64 [acce+0], 128; \
                   mbarrier.init.shared::cta.b64 [full+8], 1; mbarrier.init.shared::cta.b64 [empty+8], 1; \
                   mbarrier.init.shared::cta.b64 [accf+8], 1; mbarrier.init.shared::cta.b64 [acce+8], 128; \
                   fence.mbarrier_init.release.cluster; I: setp.eq.u32 %p2, %r1, 2; \
                   @%p2 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 128; \
                   @%p2 tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned; tcgen05.fence::before_thread_sync; \
                   bar.sync 0; tcgen05.fence::after_thread_sync; ld.shared.u32 %r2, [slot]; setp.eq.u32 %p3, %r1, 0; \
                   @%p3 bra TMA; setp.eq.u32 %p4, %r1, 1; @%p4 bra MMA; setp.ge.u32 %p5, %r1, 4; @%p5 bra EPI; bra END; \
                   TMA: elect.sync _|%p6, -1; @!%p6 bra END; mov.u32 %r10, 0; mov.u32 %r11, 0; mov.u32 %r12, 1; TL: \
                   shl.b32 %r13, %r11, 3; mov.u32 %r14, full; add.u32 %r14, %r14, %r13; mov.u32 %r15, empty; \
                   add.u32 %r15, %r15, %r13; TW: mbarrier.try_wait.parity.shared::cta.b64 %p15, [%r15], %r12; \
                   @!%p15 bra TW; shl.b32 %r16, %r11, 14; mov.u32 %r17, tiles; add.u32 %r17, %r17, %r16; \
                   mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r14], 16384; \
                   cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes [%r17], [%d1, {%r10, %r10}], [%r14]; \
                   add.u32 %r10, %r10, 1; xor.b32 %r11, %r11, 1; setp.eq.u32 %p7, %r11, 0; @%p7 xor.b32 %r12, %r12, 1; \
                   setp.lt.u32 %p8, %r10, %r59; @%p8 bra TL; bra END; MMA: elect.sync _|%p6, -1; @!%p6 bra END; \
                   mov.u32 %r20, 0; mov.u32 %r21, 0; mov.u32 %r22, 0; mov.u32 %r23, 1; mov.u32 %r28, 0x8100490; ML: \
                   shl.b32 %r24, %r21, 3; mov.u32 %r25, full; add.u32 %r25, %r25, %r24; mov.u32 %r26, acce; \
                   add.u32 %r26, %r26, %r24; MA: mbarrier.try_wait.parity.shared::cta.b64 %p15, [%r26], %r23; \
                   @!%p15 bra MA; tcgen05.fence::after_thread_sync; \
                   MW: mbarrier.try_wait.parity.shared::cta.b64 %p15, [%r25], %r22; @!%p15 bra MW; \
                   shl.b32 %r27, %r21, 6; add.u32 %r27, %r2, %r27; setp.ne.u32 %p9, %r20, 0; \
                   tcgen05.mma.cta_group::1.kind::f16 [%r27], %d1, %d2, %r28, %p9; mov.u32 %r29, empty; \
                   add.u32 %r29, %r29, %r24; \
                   tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r29]; mov.u32 %r30, accf; \
                   add.u32 %r30, %r30, %r24; \
                   tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r30]; add.u32 %r20, %r20, 1; \
                   xor.b32 %r21, %r21, 1; setp.eq.u32 %p7, %r21, 0; @%p7 xor.b32 %r22, %r22, 1; \
                   @%p7 xor.b32 %r23, %r23, 1; setp.lt.u32 %p8, %r20, %r59; @%p8 bra ML; bra END; EPI: mov.u32 %r31, 0; \
                   mov.u32 %r32, 0; mov.u32 %r33, 0; and.b32 %r34, %r1, 3; shl.b32 %r34, %r34, 21; EL: \
                   shl.b32 %r35, %r32, 3; mov.u32 %r36, accf; add.u32 %r36, %r36, %r35; \
                   EW: mbarrier.try_wait.parity.shared::cta.b64 %p15, [%r36], %r33; @!%p15 bra EW; \
                   tcgen05.fence::after_thread_sync; shl.b32 %r37, %r32, 6; add.u32 %r38, %r2, %r37; \
                   add.u32 %r38, %r38, %r34; tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r40, %r41}, [%r38]; \
                   tcgen05.wait::ld.sync.aligned; tcgen05.fence::before_thread_sync; mov.u32 %r42, acce; \
                   add.u32 %r42, %r42, %r35; mbarrier.arrive.shared::cta.b64 _, [%r42]; \
                   st.global.v2.u32 [%d4], {%r40, %r41}; add.u64 %d4, %d4, 1024; add.u32 %r31, %r31, 1; \
                   xor.b32 %r32, %r32, 1; setp.eq.u32 %p7, %r32, 0; @%p7 xor.b32 %r33, %r33, 1; \
                   setp.lt.u32 %p8, %r31, %r59; @%p8 bra EL; END: tcgen05.fence::before_thread_sync; bar.sync 0; \
                   tcgen05.fence::after_thread_sync; @%p2 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r2, 128;",
        },
        Case {
            name: "bw_ldwait",
            kernel: &KERNEL_B,
            codes: &[605, 654],
            body: "shr.u32 %r1, %r0, 5; setp.eq.u32 %p1, %r0, 0; @!%p1 bra I; \
                   mbarrier.init.shared::cta.b64 [full+0], 1; mbarrier.init.shared::cta.b64 [empty+0], 1; \
                   mbarrier.init.shared::cta.b64 [accf+0], 1; mbarrier.init.shared::cta.b64 [acce+0], 128; \
                   mbarrier.init.shared::cta.b64 [full+8], 1; mbarrier.init.shared::cta.b64 [empty+8], 1; \
                   mbarrier.init.shared::cta.b64 [accf+8], 1; mbarrier.init.shared::cta.b64 [acce+8], 128; \
                   fence.mbarrier_init.release.cluster; I: setp.eq.u32 %p2, %r1, 2; \
                   @%p2 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 128; \
                   @%p2 tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned; tcgen05.fence::before_thread_sync; \
                   bar.sync 0; tcgen05.fence::after_thread_sync; ld.shared.u32 %r2, [slot]; setp.eq.u32 %p3, %r1, 0; \
                   @%p3 bra TMA; setp.eq.u32 %p4, %r1, 1; @%p4 bra MMA; setp.ge.u32 %p5, %r1, 4; @%p5 bra EPI; bra END; \
                   TMA: elect.sync _|%p6, -1; @!%p6 bra END; mov.u32 %r10, 0; mov.u32 %r11, 0; mov.u32 %r12, 1; TL: \
                   shl.b32 %r13, %r11, 3; mov.u32 %r14, full; add.u32 %r14, %r14, %r13; mov.u32 %r15, empty; \
                   add.u32 %r15, %r15, %r13; TW: mbarrier.try_wait.parity.shared::cta.b64 %p15, [%r15], %r12; \
                   @!%p15 bra TW; shl.b32 %r16, %r11, 14; mov.u32 %r17, tiles; add.u32 %r17, %r17, %r16; \
                   mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r14], 16384; \
                   cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes [%r17], [%d1, {%r10, %r10}], [%r14]; \
                   add.u32 %r10, %r10, 1; xor.b32 %r11, %r11, 1; setp.eq.u32 %p7, %r11, 0; @%p7 xor.b32 %r12, %r12, 1; \
                   setp.lt.u32 %p8, %r10, %r59; @%p8 bra TL; bra END; MMA: elect.sync _|%p6, -1; @!%p6 bra END; \
                   mov.u32 %r20, 0; mov.u32 %r21, 0; mov.u32 %r22, 0; mov.u32 %r23, 1; mov.u32 %r28, 0x8100490; ML: \
                   shl.b32 %r24, %r21, 3; mov.u32 %r25, full; add.u32 %r25, %r25, %r24; mov.u32 %r26, acce; \
                   add.u32 %r26, %r26, %r24; MA: mbarrier.try_wait.parity.shared::cta.b64 %p15, [%r26], %r23; \
                   @!%p15 bra MA; tcgen05.fence::after_thread_sync; \
                   MW: mbarrier.try_wait.parity.shared::cta.b64 %p15, [%r25], %r22; @!%p15 bra MW; \
                   shl.b32 %r27, %r21, 6; add.u32 %r27, %r2, %r27; setp.ne.u32 %p9, %r20, 0; \
                   tcgen05.mma.cta_group::1.kind::f16 [%r27], %d1, %d2, %r28, %p9; mov.u32 %r29, empty; \
                   add.u32 %r29, %r29, %r24; \
                   tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r29]; mov.u32 %r30, accf; \
                   add.u32 %r30, %r30, %r24; \
                   tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r30]; add.u32 %r20, %r20, 1; \
                   xor.b32 %r21, %r21, 1; setp.eq.u32 %p7, %r21, 0; @%p7 xor.b32 %r22, %r22, 1; \
                   @%p7 xor.b32 %r23, %r23, 1; setp.lt.u32 %p8, %r20, %r59; @%p8 bra ML; bra END; EPI: mov.u32 %r31, 0; \
                   mov.u32 %r32, 0; mov.u32 %r33, 0; and.b32 %r34, %r1, 3; shl.b32 %r34, %r34, 21; EL: \
                   shl.b32 %r35, %r32, 3; mov.u32 %r36, accf; add.u32 %r36, %r36, %r35; \
                   EW: mbarrier.try_wait.parity.shared::cta.b64 %p15, [%r36], %r33; @!%p15 bra EW; \
                   tcgen05.fence::after_thread_sync; shl.b32 %r37, %r32, 6; add.u32 %r38, %r2, %r37; \
                   add.u32 %r38, %r38, %r34; tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r40, %r41}, [%r38]; \
                   tcgen05.fence::before_thread_sync; mov.u32 %r42, acce; add.u32 %r42, %r42, %r35; \
                   mbarrier.arrive.shared::cta.b64 _, [%r42]; st.global.v2.u32 [%d4], {%r40, %r41}; \
                   add.u64 %d4, %d4, 1024; add.u32 %r31, %r31, 1; xor.b32 %r32, %r32, 1; setp.eq.u32 %p7, %r32, 0; \
                   @%p7 xor.b32 %r33, %r33, 1; setp.lt.u32 %p8, %r31, %r59; @%p8 bra EL; END: \
                   tcgen05.fence::before_thread_sync; bar.sync 0; tcgen05.fence::after_thread_sync; \
                   @%p2 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r2, 128;",
        },
        Case {
            name: "bw_ldwait2",
            kernel: &KERNEL_B,
            codes: &[654],
            body: "shr.u32 %r1, %r0, 5; setp.eq.u32 %p1, %r0, 0; @!%p1 bra I; \
                   mbarrier.init.shared::cta.b64 [full+0], 1; mbarrier.init.shared::cta.b64 [empty+0], 1; \
                   mbarrier.init.shared::cta.b64 [accf+0], 1; mbarrier.init.shared::cta.b64 [acce+0], 128; \
                   mbarrier.init.shared::cta.b64 [full+8], 1; mbarrier.init.shared::cta.b64 [empty+8], 1; \
                   mbarrier.init.shared::cta.b64 [accf+8], 1; mbarrier.init.shared::cta.b64 [acce+8], 128; \
                   fence.mbarrier_init.release.cluster; I: setp.eq.u32 %p2, %r1, 2; \
                   @%p2 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 128; \
                   @%p2 tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned; tcgen05.fence::before_thread_sync; \
                   bar.sync 0; tcgen05.fence::after_thread_sync; ld.shared.u32 %r2, [slot]; setp.eq.u32 %p3, %r1, 0; \
                   @%p3 bra TMA; setp.eq.u32 %p4, %r1, 1; @%p4 bra MMA; setp.ge.u32 %p5, %r1, 4; @%p5 bra EPI; bra END; \
                   TMA: elect.sync _|%p6, -1; @!%p6 bra END; mov.u32 %r10, 0; mov.u32 %r11, 0; mov.u32 %r12, 1; TL: \
                   shl.b32 %r13, %r11, 3; mov.u32 %r14, full; add.u32 %r14, %r14, %r13; mov.u32 %r15, empty; \
                   add.u32 %r15, %r15, %r13; TW: mbarrier.try_wait.parity.shared::cta.b64 %p15, [%r15], %r12; \
                   @!%p15 bra TW; shl.b32 %r16, %r11, 14; mov.u32 %r17, tiles; add.u32 %r17, %r17, %r16; \
                   mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r14], 16384; \
                   cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes [%r17], [%d1, {%r10, %r10}], [%r14]; \
                   add.u32 %r10, %r10, 1; xor.b32 %r11, %r11, 1; setp.eq.u32 %p7, %r11, 0; @%p7 xor.b32 %r12, %r12, 1; \
                   setp.lt.u32 %p8, %r10, %r59; @%p8 bra TL; bra END; MMA: elect.sync _|%p6, -1; @!%p6 bra END; \
                   mov.u32 %r20, 0; mov.u32 %r21, 0; mov.u32 %r22, 0; mov.u32 %r23, 1; mov.u32 %r28, 0x8100490; ML: \
                   shl.b32 %r24, %r21, 3; mov.u32 %r25, full; add.u32 %r25, %r25, %r24; mov.u32 %r26, acce; \
                   add.u32 %r26, %r26, %r24; MA: mbarrier.try_wait.parity.shared::cta.b64 %p15, [%r26], %r23; \
                   @!%p15 bra MA; tcgen05.fence::after_thread_sync; \
                   MW: mbarrier.try_wait.parity.shared::cta.b64 %p15, [%r25], %r22; @!%p15 bra MW; \
                   shl.b32 %r27, %r21, 6; add.u32 %r27, %r2, %r27; setp.ne.u32 %p9, %r20, 0; \
                   tcgen05.mma.cta_group::1.kind::f16 [%r27], %d1, %d2, %r28, %p9; mov.u32 %r29, empty; \
                   add.u32 %r29, %r29, %r24; \
                   tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r29]; mov.u32 %r30, accf; \
                   add.u32 %r30, %r30, %r24; \
                   tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r30]; add.u32 %r20, %r20, 1; \
                   xor.b32 %r21, %r21, 1; setp.eq.u32 %p7, %r21, 0; @%p7 xor.b32 %r22, %r22, 1; \
                   @%p7 xor.b32 %r23, %r23, 1; setp.lt.u32 %p8, %r20, %r59; @%p8 bra ML; bra END; EPI: mov.u32 %r31, 0; \
                   mov.u32 %r32, 0; mov.u32 %r33, 0; and.b32 %r34, %r1, 3; shl.b32 %r34, %r34, 21; EL: \
                   shl.b32 %r35, %r32, 3; mov.u32 %r36, accf; add.u32 %r36, %r36, %r35; \
                   EW: mbarrier.try_wait.parity.shared::cta.b64 %p15, [%r36], %r33; @!%p15 bra EW; \
                   tcgen05.fence::after_thread_sync; shl.b32 %r37, %r32, 6; add.u32 %r38, %r2, %r37; \
                   add.u32 %r38, %r38, %r34; tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r40, %r41}, [%r38]; \
                   tcgen05.fence::before_thread_sync; mov.u32 %r42, acce; add.u32 %r42, %r42, %r35; \
                   mbarrier.arrive.shared::cta.b64 _, [%r42]; tcgen05.wait::ld.sync.aligned; \
                   st.global.v2.u32 [%d4], {%r40, %r41}; add.u64 %d4, %d4, 1024; add.u32 %r31, %r31, 1; \
                   xor.b32 %r32, %r32, 1; setp.eq.u32 %p7, %r32, 0; @%p7 xor.b32 %r33, %r33, 1; \
                   setp.lt.u32 %p8, %r31, %r59; @%p8 bra EL; END: tcgen05.fence::before_thread_sync; bar.sync 0; \
                   tcgen05.fence::after_thread_sync; @%p2 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r2, 128;",
        },
        Case {
            name: "bw_free",
            kernel: &KERNEL_B,
            codes: &[606],
            body: "shr.u32 %r1, %r0, 5; setp.eq.u32 %p1, %r0, 0; @!%p1 bra I; \
                   mbarrier.init.shared::cta.b64 [full+0], 1; mbarrier.init.shared::cta.b64 [empty+0], 1; \
                   mbarrier.init.shared::cta.b64 [accf+0], 1; mbarrier.init.shared::cta.b64 [acce+0], 128; \
                   mbarrier.init.shared::cta.b64 [full+8], 1; mbarrier.init.shared::cta.b64 [empty+8], 1; \
                   mbarrier.init.shared::cta.b64 [accf+8], 1; mbarrier.init.shared::cta.b64 [acce+8], 128; \
                   fence.mbarrier_init.release.cluster; I: setp.eq.u32 %p2, %r1, 2; \
                   @%p2 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 128; \
                   @%p2 tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned; tcgen05.fence::before_thread_sync; \
                   bar.sync 0; tcgen05.fence::after_thread_sync; ld.shared.u32 %r2, [slot]; setp.eq.u32 %p3, %r1, 0; \
                   @%p3 bra TMA; setp.eq.u32 %p4, %r1, 1; @%p4 bra MMA; setp.ge.u32 %p5, %r1, 4; @%p5 bra EPI; bra END; \
                   TMA: elect.sync _|%p6, -1; @!%p6 bra END; mov.u32 %r10, 0; mov.u32 %r11, 0; mov.u32 %r12, 1; TL: \
                   shl.b32 %r13, %r11, 3; mov.u32 %r14, full; add.u32 %r14, %r14, %r13; mov.u32 %r15, empty; \
                   add.u32 %r15, %r15, %r13; TW: mbarrier.try_wait.parity.shared::cta.b64 %p15, [%r15], %r12; \
                   @!%p15 bra TW; shl.b32 %r16, %r11, 14; mov.u32 %r17, tiles; add.u32 %r17, %r17, %r16; \
                   mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r14], 16384; \
                   cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes [%r17], [%d1, {%r10, %r10}], [%r14]; \
                   add.u32 %r10, %r10, 1; xor.b32 %r11, %r11, 1; setp.eq.u32 %p7, %r11, 0; @%p7 xor.b32 %r12, %r12, 1; \
                   setp.lt.u32 %p8, %r10, %r59; @%p8 bra TL; bra END; MMA: elect.sync _|%p6, -1; @!%p6 bra END; \
                   mov.u32 %r20, 0; mov.u32 %r21, 0; mov.u32 %r22, 0; mov.u32 %r23, 1; mov.u32 %r28, 0x8100490; ML: \
                   shl.b32 %r24, %r21, 3; mov.u32 %r25, full; add.u32 %r25, %r25, %r24; mov.u32 %r26, acce; \
                   add.u32 %r26, %r26, %r24; MA: mbarrier.try_wait.parity.shared::cta.b64 %p15, [%r26], %r23; \
                   @!%p15 bra MA; tcgen05.fence::after_thread_sync; \
                   MW: mbarrier.try_wait.parity.shared::cta.b64 %p15, [%r25], %r22; @!%p15 bra MW; \
                   shl.b32 %r27, %r21, 6; add.u32 %r27, %r2, %r27; setp.ne.u32 %p9, %r20, 0; \
                   tcgen05.mma.cta_group::1.kind::f16 [%r27], %d1, %d2, %r28, %p9; mov.u32 %r29, empty; \
                   add.u32 %r29, %r29, %r24; \
                   tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r29]; mov.u32 %r30, accf; \
                   add.u32 %r30, %r30, %r24; \
                   tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r30]; add.u32 %r20, %r20, 1; \
                   xor.b32 %r21, %r21, 1; setp.eq.u32 %p7, %r21, 0; @%p7 xor.b32 %r22, %r22, 1; \
                   @%p7 xor.b32 %r23, %r23, 1; setp.lt.u32 %p8, %r20, %r59; @%p8 bra ML; bra END; EPI: mov.u32 %r31, 0; \
                   mov.u32 %r32, 0; mov.u32 %r33, 0; and.b32 %r34, %r1, 3; shl.b32 %r34, %r34, 21; EL: \
                   shl.b32 %r35, %r32, 3; mov.u32 %r36, accf; add.u32 %r36, %r36, %r35; \
                   EW: mbarrier.try_wait.parity.shared::cta.b64 %p15, [%r36], %r33; @!%p15 bra EW; \
                   tcgen05.fence::after_thread_sync; shl.b32 %r37, %r32, 6; add.u32 %r38, %r2, %r37; \
                   add.u32 %r38, %r38, %r34; tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r40, %r41}, [%r38]; \
                   tcgen05.wait::ld.sync.aligned; tcgen05.fence::before_thread_sync; mov.u32 %r42, acce; \
                   add.u32 %r42, %r42, %r35; mbarrier.arrive.shared::cta.b64 _, [%r42]; \
                   st.global.v2.u32 [%d4], {%r40, %r41}; add.u64 %d4, %d4, 1024; add.u32 %r31, %r31, 1; \
                   xor.b32 %r32, %r32, 1; setp.eq.u32 %p7, %r32, 0; @%p7 xor.b32 %r33, %r33, 1; \
                   setp.lt.u32 %p8, %r31, %r59; @%p8 bra EL; END: tcgen05.fence::before_thread_sync; bar.sync 0; \
                   tcgen05.fence::after_thread_sync;",
        },
    ]);
}
