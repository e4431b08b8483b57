//! The same with CTA pairs, `.cta_group::2`: a tile of 256 x 256 for each pair.

use half::f16;
use ptx_dsl::prelude::*;

ptx! {
    <sm_100a, ptx 8.6>

    // The stages.
    .extern .shared .align 1024 .b8 ring[];

    // A pair: rows 256 * (%ctaid.x / 2) of A, rows 256 * %ctaid.y of B. Each CTA copies 128 rows of both, and has 128 rows of D.
    .visible .entry gemm_pair(
        .param .u64 .ptr .global .align 16 a: &[f16],
        .param .u64 .ptr .global .align 16 b: &[f16],
        .param .u64 .ptr .global .align 16 d: &mut [f32],
        .param .u32 n,
        .param .u32 k)
    .reqntid 160
    .reqnctapercluster 2
    {
        .reg .pred %p, %more, %leader, %add;
        .reg .b32 %thread, %warp, %rank, %n, %k, %i, %steps, %stage, %phase, %at, %row, %chunk, %base, %slot, %bar, %tmem, %idesc, %col;
        .reg .b32 %v<32>;
        .reg .b16 %both;
        .reg .b64 %a, %b, %d, %offset, %from, %adesc, %bdesc, %desc, %pitch;
        .shared .align 8 .b64 full[3];
        .shared .align 8 .b64 empty[3];
        .shared .align 8 .b64 done;
        .shared .align 4 .b32 tensor;

        mov.u32 %thread, %tid.x;
        shr.u32 %warp, %thread, 5;
        mov.u32 %rank, %cluster_ctarank;
        ld.param.u32 %n, [n];
        ld.param.u32 %k, [k];
        shr.u32 %steps, %k, 6;

        // Warp 4 of both CTAs allocates 256 columns in both.
        setp.ne.u32 %p, %warp, 4;
        @%p bra allocated;
        tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [tensor], 256;
        tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned;
    allocated:
        // `full` of the even CTA counts the threads of both; `empty` and `done` are for each CTA.
        setp.ne.u32 %p, %thread, 0;
        @%p bra initialised;
        mbarrier.init.shared::cta.b64 [full], 256;
        mbarrier.init.shared::cta.b64 [full+8], 256;
        mbarrier.init.shared::cta.b64 [full+16], 256;
        mbarrier.init.shared::cta.b64 [empty], 1;
        mbarrier.init.shared::cta.b64 [empty+8], 1;
        mbarrier.init.shared::cta.b64 [empty+16], 1;
        mbarrier.init.shared::cta.b64 [done], 1;
        fence.mbarrier_init.release.cluster;
    initialised:
        tcgen05.fence::before_thread_sync;
        barrier.cluster.arrive;
        barrier.cluster.wait;
        tcgen05.fence::after_thread_sync;
        ld.shared.b32 %tmem, [tensor];
        mov.u32 %i, 0;
        mov.u32 %stage, 0;
        mov.u32 %phase, 0;
        setp.eq.u32 %p, %warp, 4;
        @%p bra issue;

        ld.param.u64 %a, [a];
        ld.param.u64 %b, [b];
        shr.u32 %row, %thread, 3;
        and.b32 %chunk, %thread, 7;
        mov.u32 %at, %ctaid.x;
        mad.lo.u32 %at, %at, 128, %row;
        mad.lo.u32 %at, %at, %k, 0;
        mad.lo.u32 %at, %chunk, 8, %at;
        mul.wide.u32 %offset, %at, 2;
        add.u64 %a, %a, %offset;
        mov.u32 %at, %ctaid.y;
        mad.lo.u32 %at, %at, 2, %rank;
        mad.lo.u32 %at, %at, 128, %row;
        mad.lo.u32 %at, %at, %k, 0;
        mad.lo.u32 %at, %chunk, 8, %at;
        mul.wide.u32 %offset, %at, 2;
        add.u64 %b, %b, %offset;
        mul.wide.u32 %pitch, %k, 32;
        and.b32 %at, %row, 7;
        xor.b32 %chunk, %chunk, %at;
        mov.u32 %base, ring;
        mad.lo.u32 %base, %row, 128, %base;
        mad.lo.u32 %base, %chunk, 16, %base;

    bring:
        mov.u32 %bar, empty;
        mad.lo.u32 %bar, %stage, 8, %bar;
        xor.b32 %at, %phase, 1;
    waitEmpty:
        mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p, [%bar], %at;
        @!%p bra waitEmpty;
        mad.lo.u32 %slot, %stage, 32768, %base;
        mov.b64 %from, %a;
        mov.u32 %at, 0;
    bringA:
        ld.global.v4.b32 {%v0, %v1, %v2, %v3}, [%from];
        st.shared.v4.b32 [%slot], {%v0, %v1, %v2, %v3};
        add.u64 %from, %from, %pitch;
        add.u32 %slot, %slot, 2048;
        add.u32 %at, %at, 1;
        setp.lt.u32 %more, %at, 8;
        @%more bra bringA;
        mov.b64 %from, %b;
        mov.u32 %at, 0;
    bringB:
        ld.global.v4.b32 {%v0, %v1, %v2, %v3}, [%from];
        st.shared.v4.b32 [%slot], {%v0, %v1, %v2, %v3};
        add.u64 %from, %from, %pitch;
        add.u32 %slot, %slot, 2048;
        add.u32 %at, %at, 1;
        setp.lt.u32 %more, %at, 8;
        @%more bra bringB;
        fence.proxy.async.shared::cta;
        mov.u32 %bar, full;
        mad.lo.u32 %bar, %stage, 8, %bar;
        mapa.shared::cluster.u32 %bar, %bar, 0;         // the even CTA's
        mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%bar];
        add.u64 %a, %a, 128;
        add.u64 %b, %b, 128;
        add.u32 %stage, %stage, 1;
        setp.eq.u32 %p, %stage, 3;
        @%p xor.b32 %phase, %phase, 1;
        selp.u32 %stage, 0, %stage, %p;
        add.u32 %i, %i, 1;
        setp.lt.u32 %more, %i, %steps;
        @%more bra bring;

    waitDone:
        mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p, [done], 0;
        @!%p bra waitDone;
        tcgen05.fence::after_thread_sync;
        ld.param.u64 %d, [d];
        mov.u32 %row, %ctaid.x;
        mad.lo.u32 %row, %row, 128, %thread;
        mov.u32 %col, %ctaid.y;
        mul.lo.u32 %col, %col, 256;
        mad.lo.u32 %at, %row, %n, %col;
        mul.wide.u32 %offset, %at, 4;
        add.u64 %d, %d, %offset;
        shl.b32 %at, %warp, 21;
        add.u32 %tmem, %tmem, %at;
        mov.u32 %col, 0;
    store:
        tcgen05.ld.sync.aligned.32x32b.x32.b32
            {%v0, %v1, %v2, %v3, %v4, %v5, %v6, %v7, %v8, %v9, %v10, %v11, %v12, %v13, %v14, %v15,
                %v16, %v17, %v18, %v19, %v20, %v21, %v22, %v23, %v24, %v25, %v26, %v27, %v28, %v29, %v30, %v31}, [%tmem];
        tcgen05.wait::ld.sync.aligned;
        st.global.v4.b32 [%d], {%v0, %v1, %v2, %v3};
        st.global.v4.b32 [%d+16], {%v4, %v5, %v6, %v7};
        st.global.v4.b32 [%d+32], {%v8, %v9, %v10, %v11};
        st.global.v4.b32 [%d+48], {%v12, %v13, %v14, %v15};
        st.global.v4.b32 [%d+64], {%v16, %v17, %v18, %v19};
        st.global.v4.b32 [%d+80], {%v20, %v21, %v22, %v23};
        st.global.v4.b32 [%d+96], {%v24, %v25, %v26, %v27};
        st.global.v4.b32 [%d+112], {%v28, %v29, %v30, %v31};
        add.u64 %d, %d, 128;
        add.u32 %tmem, %tmem, 32;
        add.u32 %col, %col, 32;
        setp.lt.u32 %more, %col, 256;
        @%more bra store;
        tcgen05.fence::before_thread_sync;
        barrier.cluster.arrive;
        barrier.cluster.wait;
        ret;

    issue:
        // Only the even CTA issues; the fifth warp of the odd one is idle.
        setp.ne.u32 %p, %rank, 0;
        @%p bra issued;
        elect.sync _|%leader, -1;
        @!%leader bra issued;
        mov.b32 %idesc, 0x10400010;                     // f16 * f16 to f32, N = 256, M = 256
        mov.u32 %base, ring;
        mov.u16 %both, 3;
    multiply:
        mov.u32 %bar, full;
        mad.lo.u32 %bar, %stage, 8, %bar;
    waitFull:
        mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p, [%bar], %phase;
        @!%p bra waitFull;
        tcgen05.fence::after_thread_sync;
        mad.lo.u32 %slot, %stage, 32768, %base;
        and.b32 %slot, %slot, 0x3FFFF;
        shr.u32 %slot, %slot, 4;
        cvt.u64.u32 %desc, %slot;
        or.b64 %adesc, %desc, 0x4000404000010000;
        add.u64 %bdesc, %adesc, 1024;
        mov.u32 %at, 0;
    multiply16:
        or.b32 %slot, %i, %at;
        setp.ne.u32 %add, %slot, 0;
        tcgen05.mma.cta_group::2.kind::f16 [%tmem], %adesc, %bdesc, %idesc, %add;
        add.u64 %adesc, %adesc, 2;
        add.u64 %bdesc, %bdesc, 2;
        add.u32 %at, %at, 1;
        setp.lt.u32 %more, %at, 4;
        @%more bra multiply16;
        mov.u32 %bar, empty;
        mad.lo.u32 %bar, %stage, 8, %bar;
        tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%bar], %both;
        add.u32 %stage, %stage, 1;
        setp.eq.u32 %p, %stage, 3;
        @%p xor.b32 %phase, %phase, 1;
        selp.u32 %stage, 0, %stage, %p;
        add.u32 %i, %i, 1;
        setp.lt.u32 %more, %i, %steps;
        @%more bra multiply;
        mov.u32 %bar, done;
        tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%bar], %both;
    issued:
        bar.warp.sync -1;
        barrier.cluster.arrive;
        barrier.cluster.wait;
        // Both CTAs are done with Tensor Memory (Table 47 of the manual): warp 4 of each deallocates it.
        tcgen05.fence::after_thread_sync;
        tcgen05.dealloc.cta_group::2.sync.aligned.b32 %tmem, 256;
        ret;
    }
}
