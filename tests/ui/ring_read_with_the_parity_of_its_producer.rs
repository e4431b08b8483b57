use ptx_dsl::ptx;

ptx! {
    <sm_90, ptx 8.6>
    .visible .entry k(.param .u64 .ptr .global .align 16 a, .param .u32 n) .reqntid 64 {
        .reg .pred %p<4>;
        .reg .b32 %r<16>;
        .reg .b64 %d;
        .shared .align 128 .b8 tiles[2048];
        .shared .align 8 .b64 full[2];
        .shared .align 8 .b64 empty[2];
        ld.param.u64 %d, [a];
        ld.param.u32 %r1, [n];
        mov.u32 %r0, %tid.x;
        setp.eq.u32 %p0, %r0, 0;
        @%p0 mbarrier.init.shared::cta.b64 [full], 1;
        @%p0 mbarrier.init.shared::cta.b64 [full + 8], 1;
        @%p0 mbarrier.init.shared::cta.b64 [empty], 32;
        @%p0 mbarrier.init.shared::cta.b64 [empty + 8], 32;
        bar.sync 0;
        mov.u32 %r2, full;
        mov.u32 %r3, empty;
        mov.u32 %r4, tiles;
        mov.u32 %r5, 0;
        mov.u32 %r6, 1;
        setp.lt.u32 %p1, %r0, 32;
        @%p1 bra READ;
        setp.ne.u32 %p1, %r0, 32;
        @%p1 bra DONE;
    FILL:
        and.b32 %r7, %r5, 1;
        mad.lo.u32 %r8, %r7, 8, %r2;
        mad.lo.u32 %r9, %r7, 8, %r3;
        mad.lo.u32 %r10, %r7, 1024, %r4;
    FREE:
        mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r9], %r6;
        @!%p2 bra FREE;
        mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r8], 1024;
        cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r10], [%d], 1024, [%r8];
        xor.b32 %r6, %r6, %r7;
        add.u32 %r5, %r5, 1;
        setp.lt.u32 %p3, %r5, %r1;
        @%p3 bra FILL;
        bra DONE;
    READ:
        and.b32 %r7, %r5, 1;
        mad.lo.u32 %r8, %r7, 8, %r2;
        mad.lo.u32 %r9, %r7, 8, %r3;
        mad.lo.u32 %r10, %r7, 1024, %r4;
    HERE:
        mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r8], %r6;
        @!%p2 bra HERE;
        ld.shared.u32 %r11, [%r10];
        mbarrier.arrive.shared::cta.b64 _, [%r9];
        xor.b32 %r6, %r6, %r7;
        add.u32 %r5, %r5, 1;
        setp.lt.u32 %p3, %r5, %r1;
        @%p3 bra READ;
    DONE:
        ret;
    }
}

fn main() {}
