use ptx_dsl::ptx;

ptx! {
    <sm_100a, ptx 8.6>
    .visible .entry k(.param .u64 a, .param .u64 b) .reqntid 128 {
        .reg .pred %p<5>;
        .reg .b32 %r<8>;
        .reg .b64 %d<3>;
        .shared .align 8 .b64 done;
        .shared .align 4 .b32 slot;
        mov.u32 %r1, %tid.x;
        setp.lt.u32 %p1, %r1, 32;
        setp.eq.u32 %p2, %r1, 0;
        @%p1 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 64;
        @%p2 mbarrier.init.shared::cta.b64 [done], 1;
        bar.sync 0;
        ld.shared.u32 %r2, [slot];
        shl.b32 %r3, %r1, 16;
        and.b32 %r3, %r3, 0x600000;
        add.u32 %r4, %r2, %r3;
        ld.param.u64 %d1, [a];
        ld.param.u64 %d2, [b];
        mov.u32 %r5, 0x8100490;
        setp.ne.u32 %p3, %r5, 0;
        @%p2 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [done];
        @%p2 tcgen05.mma.cta_group::1.kind::f16 [%r2], %d1, %d2, %r5, %p3;
        wait:
        mbarrier.try_wait.parity.shared::cta.b64 %p4, [done], 0;
        @!%p4 bra wait;
        tcgen05.fence::after_thread_sync;
        tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r6}, [%r4];
        tcgen05.wait::ld.sync.aligned;
        tcgen05.fence::before_thread_sync;
        bar.sync 0;
        @%p1 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r2, 64;
        ret;
    }
}

fn main() {}
