//! The generic and the asynchronous proxy, and that of tensors' maps: PTX0640, PTX0641, PTX0662, PTX0670.

use super::{Rule, rules};

#[test]
fn stores_read_by_asynchronous_operations() {
    rules(&[Rule {
        code: 640,
        wrong: &[
            // All threads store, a barrier, one copies.
            "# .reqntid 128
             mov.u32 %r1, %tid.x;
             mov.u32 %r3, sh;
             mad.lo.u32 %r4, %r1, 4, %r3;
             st.shared.u32 [%r4], %r1;
             bar.sync 0;
             ld.param.u64 %d1, [a];
             setp.ne.u32 %p1, %r1, 0;
             @%p1 bra END;
             cp.async.bulk.global.shared::cta.bulk_group [%d1], [%r3], 512; // error: PTX0640
             cp.async.bulk.commit_group;
             cp.async.bulk.wait_group 0;
             END:",
            // A tensor, by a parameter's map, filled in a loop.
            "# .reqntid 1
             mov.u32 %r3, sh;
             mov.u32 %r5, 0;
             FILL:
             shl.b32 %r6, %r5, 2;
             add.u32 %r7, %r3, %r6;
             st.shared.u32 [%r7], %r5;
             add.u32 %r5, %r5, 1;
             setp.lt.u32 %p1, %r5, 8;
             @%p1 bra FILL;
             mov.b64 %d3, map;
             cvta.param.u64 %d3, %d3;
             cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%d3, {%r5}], [%r3]; // error: PTX0640
             cp.async.bulk.commit_group;
             cp.async.bulk.wait_group 0;",
            // `wgmma` behind a bulk copy into another buffer.
            "# .reqntid 128
             mov.u32 %r1, %tid.x;
             setp.eq.u32 %p1, %r1, 0;
             @%p1 mbarrier.init.shared::cta.b64 [bar], 1;
             fence.mbarrier_init.release.cluster;
             bar.sync 0;
             ld.param.u64 %d1, [a];
             @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 1024;
             @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [other], [%d1], 1024, [bar];
             mov.u32 %r3, sh;
             mad.lo.u32 %r4, %r1, 8, %r3;
             st.shared.v2.u32 [%r4], {%r1, %r1};
             W:
             mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 0;
             @!%p2 bra W;
             bar.sync 0;
             shr.u32 %r5, %r3, 4;
             cvt.u64.u32 %d3, %r5;
             or.b64 %d4, %d3, 0x4000004000010000;
             mov.u32 %r6, other;
             shr.u32 %r7, %r6, 4;
             cvt.u64.u32 %d5, %r7;
             or.b64 %d6, %d5, 0x4000004000010000;
             mov.f32 %f0, 0f00000000; mov.f32 %f1, %f0; mov.f32 %f2, %f0; mov.f32 %f3, %f0;
             wgmma.fence.sync.aligned;
             wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %d6, %d4, %p1, 1, 1, 0, 0; // error: PTX0640
             wgmma.commit_group.sync.aligned;
             wgmma.wait_group.sync.aligned 0;",
            // `cp.async` is of the generic proxy too.
            "# .reqntid 128
             mov.u32 %r1, %tid.x;
             ld.param.u64 %d1, [a];
             mov.u32 %r3, sh;
             mad.lo.u32 %r4, %r1, 8, %r3;
             cp.async.ca.shared.global [%r4], [%d1], 8;
             cp.async.wait_all;
             bar.sync 0;
             shr.u32 %r5, %r3, 4;
             cvt.u64.u32 %d3, %r5;
             or.b64 %d4, %d3, 0x4000004000010000;
             mov.f32 %f0, 0f00000000; mov.f32 %f1, %f0; mov.f32 %f2, %f0; mov.f32 %f3, %f0;
             wgmma.fence.sync.aligned;
             wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %d4, %d4, %p1, 1, 1, 0, 0; // warning: PTX0640
             wgmma.commit_group.sync.aligned;
             wgmma.wait_group.sync.aligned 0;",
            // Global memory.
            "# .reqntid 1
             ld.param.u64 %d1, [a];
             mbarrier.init.shared::cta.b64 [bar], 1;
             st.global.u32 [%d1], 7;
             mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 16;
             cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [sh], [%d1], 16, [bar]; // error: PTX0640
             W:
             mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 0;
             @!%p2 bra W;",
            // A fence for the other space.
            "# .reqntid 1
             ld.param.u64 %d1, [a];
             st.shared.u32 [sh], 7;
             fence.proxy.async.global;
             cp.async.bulk.global.shared::cta.bulk_group [%d1], [sh], 16; // error: PTX0640
             cp.async.bulk.commit_group;
             cp.async.bulk.wait_group 0;",
        ],
        right: &[
            "# .reqntid 128
             mov.u32 %r1, %tid.x;
             mov.u32 %r3, sh;
             mad.lo.u32 %r4, %r1, 4, %r3;
             st.shared.u32 [%r4], %r1;
             fence.proxy.async.shared::cta;
             bar.sync 0;
             ld.param.u64 %d1, [a];
             setp.ne.u32 %p1, %r1, 0;
             @%p1 bra END;
             cp.async.bulk.global.shared::cta.bulk_group [%d1], [%r3], 512;
             cp.async.bulk.commit_group;
             cp.async.bulk.wait_group 0;
             END:",
            // Matrices that a copy brought, and something else that threads store.
            "# .reqntid 128
             mov.u32 %r1, %tid.x;
             setp.eq.u32 %p1, %r1, 0;
             @%p1 mbarrier.init.shared::cta.b64 [bar], 1;
             fence.mbarrier_init.release.cluster;
             bar.sync 0;
             ld.param.u64 %d1, [a];
             @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 1024;
             @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [sh], [%d1], 1024, [bar];
             st.shared.u32 [word], %r1;
             W:
             mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 0;
             @!%p2 bra W;
             mov.u32 %r3, sh;
             shr.u32 %r5, %r3, 4;
             cvt.u64.u32 %d3, %r5;
             or.b64 %d4, %d3, 0x4000004000010000;
             mov.f32 %f0, 0f00000000; mov.f32 %f1, %f0; mov.f32 %f2, %f0; mov.f32 %f3, %f0;
             wgmma.fence.sync.aligned;
             wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %d4, %d4, %p1, 1, 1, 0, 0;
             wgmma.commit_group.sync.aligned;
             wgmma.wait_group.sync.aligned 0;",
            // One part of dynamic shared memory for copies, one for threads.
            "# .reqntid 128
             mov.u32 %r1, %tid.x;
             setp.eq.u32 %p1, %r1, 0;
             @%p1 mbarrier.init.shared::cta.b64 [bar], 1;
             fence.mbarrier_init.release.cluster;
             bar.sync 0;
             ld.param.u64 %d1, [a];
             mov.u32 %r2, dyn;
             and.b32 %r3, %r2, -1024;
             @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 1024;
             @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%d1], 1024, [bar];
             mad.lo.u32 %r4, %r1, 4, %r3;
             st.shared.u32 [%r4+4096], %r1;
             W:
             mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 0;
             @!%p2 bra W;
             shr.u32 %r5, %r3, 4;
             cvt.u64.u32 %d3, %r5;
             or.b64 %d4, %d3, 0x4000004000010000;
             mov.f32 %f0, 0f00000000; mov.f32 %f1, %f0; mov.f32 %f2, %f0; mov.f32 %f3, %f0;
             wgmma.fence.sync.aligned;
             wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %d4, %d4, %p1, 1, 1, 0, 0;
             wgmma.commit_group.sync.aligned;
             wgmma.wait_group.sync.aligned 0;",
            // `cp.async`, then the fence.
            "# .reqntid 128
             mov.u32 %r1, %tid.x;
             ld.param.u64 %d1, [a];
             mov.u32 %r3, sh;
             mad.lo.u32 %r4, %r1, 8, %r3;
             cp.async.ca.shared.global [%r4], [%d1], 8;
             cp.async.wait_all;
             fence.proxy.async.shared::cta;
             bar.sync 0;
             shr.u32 %r5, %r3, 4;
             cvt.u64.u32 %d3, %r5;
             or.b64 %d4, %d3, 0x4000004000010000;
             mov.f32 %f0, 0f00000000; mov.f32 %f1, %f0; mov.f32 %f2, %f0; mov.f32 %f3, %f0;
             wgmma.fence.sync.aligned;
             wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %d4, %d4, %p1, 1, 1, 0, 0;
             wgmma.commit_group.sync.aligned;
             wgmma.wait_group.sync.aligned 0;",
            "# .reqntid 1
             ld.param.u64 %d1, [a];
             mbarrier.init.shared::cta.b64 [bar], 1;
             st.global.u32 [%d1], 7;
             fence.proxy.async;
             mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 16;
             cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [sh], [%d1], 16, [bar];
             W:
             mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 0;
             @!%p2 bra W;",
            // What a bulk copy brought, another takes away.
            "# .reqntid 1
             ld.param.u64 %d1, [a];
             ld.param.u64 %d2, [b];
             mbarrier.init.shared::cta.b64 [bar], 1;
             st.shared.u32 [other], 7;
             mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 16;
             cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [sh], [%d1], 16, [bar];
             W:
             mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 0;
             @!%p2 bra W;
             cp.async.bulk.global.shared::cta.bulk_group [%d2], [sh], 16;
             cp.async.bulk.commit_group;
             cp.async.bulk.wait_group 0;",
        ],
    }]);
}

#[test]
fn fences_on_the_wrong_side() {
    rules(&[Rule {
        code: 670,
        wrong: &[
            "# .reqntid 128
             mov.u32 %r1, %tid.x;
             mov.u32 %r3, sh;
             mad.lo.u32 %r4, %r1, 4, %r3;
             st.shared.u32 [%r4], %r1;
             bar.sync 0;
             ld.param.u64 %d1, [a];
             setp.ne.u32 %p1, %r1, 0;
             @%p1 bra END;
             fence.proxy.async.shared::cta;
             cp.async.bulk.global.shared::cta.bulk_group [%d1], [%r3], 512; // warning: PTX0670
             cp.async.bulk.commit_group;
             cp.async.bulk.wait_group 0;
             END:",
            // The elected lane of a warp, in each round.
            "# .reqntid 64
             mov.u32 %r1, %tid.x;
             mov.u32 %r3, sh;
             mad.lo.u32 %r4, %r1, 4, %r3;
             ld.param.u64 %d1, [a];
             mov.u32 %r2, 0;
             L:
             st.shared.u32 [%r4], %r2;
             bar.sync 0;
             setp.ge.u32 %p1, %r1, 32;
             @%p1 bra NEXT;
             elect.sync _|%p2, -1;
             @!%p2 bra NEXT;
             fence.proxy.async;
             cp.async.bulk.global.shared::cta.bulk_group [%d1], [%r3], 256; // warning: PTX0670
             cp.async.bulk.commit_group;
             cp.async.bulk.wait_group.read 0;
             NEXT:
             bar.sync 0;
             add.u32 %r2, %r2, 1;
             setp.lt.u32 %p3, %r2, 4;
             @%p3 bra L;
             cp.async.bulk.wait_group 0;",
        ],
        right: &[
            "# .reqntid 64
             mov.u32 %r1, %tid.x;
             mov.u32 %r3, sh;
             mad.lo.u32 %r4, %r1, 4, %r3;
             ld.param.u64 %d1, [a];
             mov.u32 %r2, 0;
             L:
             st.shared.u32 [%r4], %r2;
             fence.proxy.async;
             bar.sync 0;
             setp.ge.u32 %p1, %r1, 32;
             @%p1 bra NEXT;
             elect.sync _|%p2, -1;
             @!%p2 bra NEXT;
             cp.async.bulk.global.shared::cta.bulk_group [%d1], [%r3], 256;
             cp.async.bulk.commit_group;
             cp.async.bulk.wait_group.read 0;
             NEXT:
             bar.sync 0;
             add.u32 %r2, %r2, 1;
             setp.lt.u32 %p3, %r2, 4;
             @%p3 bra L;
             cp.async.bulk.wait_group 0;",
            // It stored all of it itself.
            "# .reqntid 128
             mov.u32 %r1, %tid.x;
             setp.ne.u32 %p1, %r1, 0;
             @%p1 bra MEET;
             st.shared.v4.u32 [sh], {%r1, %r1, %r1, %r1};
             MEET:
             bar.sync 0;
             ld.param.u64 %d1, [a];
             @%p1 bra END;
             fence.proxy.async.shared::cta;
             cp.async.bulk.global.shared::cta.bulk_group [%d1], [sh], 16;
             cp.async.bulk.commit_group;
             cp.async.bulk.wait_group 0;
             END:",
            // All threads run it on either side.
            "# .reqntid 128
             mov.u32 %r1, %tid.x;
             mov.u32 %r3, sh;
             mad.lo.u32 %r4, %r1, 4, %r3;
             st.shared.u32 [%r4], %r1;
             bar.sync 0;
             fence.proxy.async.shared::cta;
             bar.sync 0;
             ld.param.u64 %d1, [a];
             setp.ne.u32 %p1, %r1, 0;
             @%p1 bra END;
             cp.async.bulk.global.shared::cta.bulk_group [%d1], [%r3], 512;
             cp.async.bulk.commit_group;
             cp.async.bulk.wait_group 0;
             END:",
        ],
    }]);
}

#[test]
fn slots_written_again() {
    rules(&[Rule {
        code: 641,
        wrong: &[
            "# .reqntid 1
             ld.param.u64 %d1, [a];
             mbarrier.init.shared::cta.b64 [bar], 1;
             mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 16;
             cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [sh], [%d1], 16, [bar];
             W:
             mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 0;
             @!%p2 bra W;
             ld.shared.u32 %r1, [sh];
             mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 16;
             cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [sh], [%d1], 16, [bar]; // warning: PTX0641
             V:
             mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 1;
             @!%p2 bra V;",
            // A response that is asked for again.
            "# .reqntid 1
             mbarrier.init.shared::cta.b64 [bar], 1;
             mov.u32 %r9, 0;
             NEXT:
             mbarrier.arrive.expect_tx.relaxed.cluster.shared::cta.b64 _, [bar], 16;
             clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [answer], [bar]; // warning: PTX0641
             W:
             mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [bar], %r9;
             @!%p2 bra W;
             xor.b32 %r9, %r9, 1;
             ld.shared.b128 %q1, [answer];
             clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p1, %q1;
             @%p1 bra NEXT;",
            // The newer text wants both halves.
            "# .reqntid 32
             mov.u32 %r1, %tid.x;
             setp.eq.u32 %p5, %r1, 0;
             @%p5 mbarrier.init.shared::cta.b64 [bar], 1;
             bar.sync 0;
             mov.u32 %r9, 0;
             NEXT:
             @%p5 mbarrier.arrive.expect_tx.relaxed.cluster.shared::cta.b64 _, [bar], 16;
             @%p5 clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [answer], [bar]; // warning: PTX0641
             W:
             mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [bar], %r9;
             @!%p2 bra W;
             xor.b32 %r9, %r9, 1;
             ld.shared.b128 %q1, [answer];
             fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster;
             barrier.cluster.arrive.relaxed;
             barrier.cluster.wait;
             clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p1, %q1;
             @%p1 bra NEXT;",
        ],
        right: &[
            // The address of Tensor Memory, which is read once, lies where a copy goes later.
            "mov.u32 %r1, %tid.x;
             setp.eq.u32 %p1, %r1, 0;
             setp.lt.u32 %p2, %r1, 32;
             @%p1 mbarrier.init.shared::cta.b64 [bar], 1;
             @%p2 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [sh], 64;
             bar.sync 0;
             ld.shared.b32 %r2, [sh];
             bar.sync 0;
             ld.param.u64 %d1, [a];
             @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 16;
             @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [sh], [%d1], 16, [bar];
             W: mbarrier.try_wait.parity.shared::cta.b64 %p3, [bar], 0;
             @!%p3 bra W;
             @%p2 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r2, 64;",
            "# .reqntid 1
             ld.param.u64 %d1, [a];
             mbarrier.init.shared::cta.b64 [bar], 1;
             mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 16;
             cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [sh], [%d1], 16, [bar];
             W:
             mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 0;
             @!%p2 bra W;
             ld.shared.u32 %r1, [sh];
             fence.proxy.async.shared::cta;
             mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 16;
             cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [sh], [%d1], 16, [bar];
             V:
             mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 1;
             @!%p2 bra V;",
            // The older text.
            "# .reqntid 32
             mov.u32 %r1, %tid.x;
             setp.eq.u32 %p5, %r1, 0;
             @%p5 mbarrier.init.shared::cta.b64 [bar], 1;
             bar.sync 0;
             mov.u32 %r9, 0;
             NEXT:
             @%p5 mbarrier.arrive.expect_tx.relaxed.cluster.shared::cta.b64 _, [bar], 16;
             @%p5 clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [answer], [bar];
             W:
             mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [bar], %r9;
             @!%p2 bra W;
             xor.b32 %r9, %r9, 1;
             ld.shared.b128 %q1, [answer];
             fence.proxy.async.shared::cta;
             barrier.cluster.arrive.relaxed;
             barrier.cluster.wait;
             clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p1, %q1;
             @%p1 bra NEXT;",
            // The newer text.
            "# .reqntid 32
             mov.u32 %r1, %tid.x;
             setp.eq.u32 %p5, %r1, 0;
             @%p5 mbarrier.init.shared::cta.b64 [bar], 1;
             bar.sync 0;
             mov.u32 %r9, 0;
             NEXT:
             @%p5 mbarrier.arrive.expect_tx.relaxed.cluster.shared::cta.b64 _, [bar], 16;
             @%p5 clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [answer], [bar];
             W:
             mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [bar], %r9;
             @!%p2 bra W;
             xor.b32 %r9, %r9, 1;
             ld.shared.b128 %q1, [answer];
             fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster;
             barrier.cluster.arrive.relaxed;
             barrier.cluster.wait;
             fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster;
             clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p1, %q1;
             @%p1 bra NEXT;",
        ],
    }]);
}

#[test]
fn maps_that_were_changed() {
    rules(&[Rule {
        code: 662,
        wrong: &[
            "# .reqntid 1
             ld.param.u64 %d1, [a];
             ld.param.u64 %d2, [b];
             tensormap.replace.tile.global_address.global.b1024.b64 [%d1], %d2;
             mov.u32 %r1, 0;
             cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%d1, {%r1}], [sh]; // error: PTX0662
             cp.async.bulk.commit_group;
             cp.async.bulk.wait_group 0;",
            // Released, not acquired.
            "# .reqntid 1
             ld.param.u64 %d1, [a];
             ld.param.u64 %d2, [b];
             tensormap.replace.tile.global_address.global.b1024.b64 [%d1], %d2;
             fence.proxy.tensormap::generic.release.gpu;
             mov.u32 %r1, 0;
             cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%d1, {%r1}], [sh]; // error: PTX0662
             cp.async.bulk.commit_group;
             cp.async.bulk.wait_group 0;",
            // Changed in shared memory, copied with a release, not acquired.
            "# .reqntid 32
             ld.param.u64 %d1, [a];
             ld.param.u64 %d2, [b];
             mov.u32 %r9, %tid.x;
             setp.eq.u32 %p1, %r9, 0;
             @%p1 tensormap.replace.tile.global_address.shared::cta.b1024.b64 [sh], %d2;
             bar.warp.sync -1;
             tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%d1], [sh], 128;
             mov.u32 %r1, 0;
             @%p1 cp.async.bulk.prefetch.tensor.1d.L2.global.tile [%d1, {%r1}]; // error: PTX0662",
            // The acquire is for another map.
            "# .reqntid 1
             ld.param.u64 %d1, [a];
             ld.param.u64 %d2, [b];
             tensormap.replace.tile.global_address.global.b1024.b64 [%d1], %d2;
             fence.proxy.tensormap::generic.release.gpu;
             fence.proxy.tensormap::generic.acquire.gpu [%d1+128], 128;
             mov.u32 %r1, 0;
             cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%d1, {%r1}], [sh]; // error: PTX0662
             cp.async.bulk.commit_group;
             cp.async.bulk.wait_group 0;",
            // Written by plain stores.
            "# .reqntid 1
             ld.param.u64 %d1, [a];
             ld.param.u64 %d2, [b];
             st.global.u64 [%d1], %d2;
             mov.u32 %r1, 0;
             cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%d1, {%r1}], [sh]; // error: PTX0662
             cp.async.bulk.commit_group;
             cp.async.bulk.wait_group 0;",
        ],
        right: &[
            "# .reqntid 1
             ld.param.u64 %d1, [a];
             ld.param.u64 %d2, [b];
             tensormap.replace.tile.global_address.global.b1024.b64 [%d1], %d2;
             fence.proxy.tensormap::generic.release.gpu;
             fence.proxy.tensormap::generic.acquire.gpu [%d1], 128;
             mov.u32 %r1, 0;
             cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%d1, {%r1}], [sh];
             cp.async.bulk.commit_group;
             cp.async.bulk.wait_group 0;",
            "# .reqntid 32
             ld.param.u64 %d1, [a];
             ld.param.u64 %d2, [b];
             mov.u32 %r9, %tid.x;
             setp.eq.u32 %p1, %r9, 0;
             @%p1 tensormap.replace.tile.global_address.shared::cta.b1024.b64 [sh], %d2;
             bar.warp.sync -1;
             tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%d1], [sh], 128;
             fence.proxy.tensormap::generic.acquire.gpu [%d1], 128;
             mov.u32 %r1, 0;
             @%p1 cp.async.bulk.prefetch.tensor.1d.L2.global.tile [%d1, {%r1}];",
            // Another map, and one that the host made.
            "# .reqntid 1
             ld.param.u64 %d1, [a];
             ld.param.u64 %d2, [b];
             tensormap.replace.tile.global_address.global.b1024.b64 [%d1+128], %d2;
             mov.u32 %r1, 0;
             cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%d1, {%r1}], [sh];
             mov.b64 %d3, map;
             cvta.param.u64 %d4, %d3;
             cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%d4, {%r1}], [sh];
             cp.async.bulk.commit_group;
             cp.async.bulk.wait_group 0;",
        ],
    }]);
}
