//! 8-bit floats (e4m3) with a scale factor for every 32 elements of K, `.kind::mxf8f6f4.block_scale`.

use ptx_dsl::prelude::*;

ptx! {
    <sm_100a, ptx 8.7>

    .extern .shared .align 1024 .b8 ring[];

    // Like `gemm`, with rows of 128 bytes of e4m3. A row has a scale factor (ue8m0) for 32 elements of K, so 4 bytes a stage.
    .visible .entry gemm_scaled(
        .param .u64 .ptr .global .align 16 a: &[u8],
        .param .u64 .ptr .global .align 16 b: &[u8],
        .param .u64 .ptr .global .align 4 a_scales: &[u8],
        .param .u64 .ptr .global .align 4 b_scales: &[u8],
        .param .u64 .ptr .global .align 16 d: &mut [f32],
        .param .u32 n,
        .param .u32 k)
    .reqntid 160
    {
        .reg .pred %p, %more, %leader, %add;
        .reg .b32 %thread, %warp, %lane, %n, %k, %i, %steps, %stage, %phase, %at, %row, %chunk, %base, %slot, %bar, %tmem, %idesc, %col;
        .reg .b32 %scales, %mine, %sfa, %sfb, %ids;
        .reg .b32 %v<32>;
        .reg .b64 %a, %b, %d, %sa, %sb, %offset, %from, %adesc, %bdesc, %desc, %pitch;
        .shared .align 128 .b8 factors[3072];           // 3 stages: 512 bytes for A, 512 for B
        .shared .align 8 .b64 full[3];
        .shared .align 8 .b64 empty[3];
        .shared .align 8 .b64 done;
        .shared .align 4 .b32 tensor;

        mov.u32 %thread, %tid.x;
        shr.u32 %warp, %thread, 5;
        and.b32 %lane, %thread, 31;
        ld.param.u32 %n, [n];
        ld.param.u32 %k, [k];
        shr.u32 %steps, %k, 7;                          // 128 elements of K a stage

        setp.ne.u32 %p, %warp, 4;
        @%p bra allocated;
        tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [tensor], 256;
        tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;
    allocated:
        setp.ne.u32 %p, %thread, 0;
        @%p bra initialised;
        mbarrier.init.shared::cta.b64 [full], 128;
        mbarrier.init.shared::cta.b64 [full+8], 128;
        mbarrier.init.shared::cta.b64 [full+16], 128;
        mbarrier.init.shared::cta.b64 [empty], 1;
        mbarrier.init.shared::cta.b64 [empty+8], 1;
        mbarrier.init.shared::cta.b64 [empty+16], 1;
        mbarrier.init.shared::cta.b64 [done], 1;
        fence.mbarrier_init.release.cluster;
    initialised:
        tcgen05.fence::before_thread_sync;
        bar.sync 0;
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
        mad.lo.u32 %at, %chunk, 16, %at;
        cvt.u64.u32 %offset, %at;
        add.u64 %a, %a, %offset;
        mov.u32 %at, %ctaid.y;
        mad.lo.u32 %at, %at, 128, %row;
        mad.lo.u32 %at, %at, %k, 0;
        mad.lo.u32 %at, %chunk, 16, %at;
        cvt.u64.u32 %offset, %at;
        add.u64 %b, %b, %offset;
        mul.wide.u32 %pitch, %k, 16;
        and.b32 %at, %row, 7;
        xor.b32 %chunk, %chunk, %at;
        mov.u32 %base, ring;
        mad.lo.u32 %base, %row, 128, %base;
        mad.lo.u32 %base, %chunk, 16, %base;
        // The scale factors of row tid: 4 bytes a stage. In shared memory row r is at 16 * (r % 32) + 4 * (r / 32), as
        // `tcgen05.cp.32x128b` expects it.
        ld.param.u64 %sa, [a_scales];
        ld.param.u64 %sb, [b_scales];
        shr.u32 %col, %k, 5;
        mov.u32 %at, %ctaid.x;
        mad.lo.u32 %at, %at, 128, %thread;
        mul.wide.u32 %offset, %at, %col;
        add.u64 %sa, %sa, %offset;
        mov.u32 %at, %ctaid.y;
        mad.lo.u32 %at, %at, 128, %thread;
        mul.wide.u32 %offset, %at, %col;
        add.u64 %sb, %sb, %offset;
        mov.u32 %scales, factors;
        mad.lo.u32 %scales, %lane, 16, %scales;
        mad.lo.u32 %scales, %warp, 4, %scales;

    bring:
        mov.u32 %bar, empty;
        mad.lo.u32 %bar, %stage, 8, %bar;
        xor.b32 %at, %phase, 1;
    waitEmpty:
        mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %p, [%bar], %at;
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
        mad.lo.u32 %mine, %stage, 1024, %scales;
        ld.global.b32 %v0, [%sa];
        ld.global.b32 %v1, [%sb];
        st.shared.b32 [%mine], %v0;
        st.shared.b32 [%mine+512], %v1;
        fence.proxy.async.shared::cta;
        mov.u32 %bar, full;
        mad.lo.u32 %bar, %stage, 8, %bar;
        mbarrier.arrive.release.cta.shared::cta.b64 _, [%bar];
        add.u64 %a, %a, 128;
        add.u64 %b, %b, 128;
        add.u64 %sa, %sa, 4;
        add.u64 %sb, %sb, 4;
        add.u32 %stage, %stage, 1;
        setp.eq.u32 %p, %stage, 3;
        @%p xor.b32 %phase, %phase, 1;
        selp.u32 %stage, 0, %stage, %p;
        add.u32 %i, %i, 1;
        setp.lt.u32 %more, %i, %steps;
        @%more bra bring;

    waitDone:
        mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %p, [done], 0;
        @!%p bra waitDone;
        tcgen05.fence::after_thread_sync;
        ld.param.u64 %d, [d];
        mov.u32 %row, %ctaid.x;
        mad.lo.u32 %row, %row, 128, %thread;
        mov.u32 %col, %ctaid.y;
        mul.lo.u32 %col, %col, 128;
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
        setp.lt.u32 %more, %col, 128;
        @%more bra store;
        tcgen05.fence::before_thread_sync;
        bar.sync 0;
        ret;

    issue:
        elect.sync _|%leader, -1;
        @!%leader bra issued;
        mov.u32 %base, ring;
        mov.u32 %scales, factors;
    multiply:
        mov.u32 %bar, full;
        mad.lo.u32 %bar, %stage, 8, %bar;
    waitFull:
        mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %p, [%bar], %phase;
        @!%p bra waitFull;
        tcgen05.fence::after_thread_sync;
        // The scale factors of the stage go to Tensor Memory: 4 columns for A and 4 for B, equal in the four warps' quarters.
        mad.lo.u32 %mine, %stage, 1024, %scales;
        shr.u32 %mine, %mine, 4;
        cvt.u64.u32 %desc, %mine;
        or.b64 %desc, %desc, 0x0000400800010000;        // 128 bytes from 8 rows to the next, no swizzle
        mad.lo.u32 %sfa, %stage, 8, %tmem;
        add.u32 %sfa, %sfa, 128;
        add.u32 %sfb, %sfa, 4;
        tcgen05.cp.cta_group::1.32x128b.warpx4 [%sfa], %desc;
        add.u64 %desc, %desc, 32;
        tcgen05.cp.cta_group::1.32x128b.warpx4 [%sfb], %desc;
        mad.lo.u32 %slot, %stage, 32768, %base;
        and.b32 %slot, %slot, 0x3FFFF;
        shr.u32 %slot, %slot, 4;
        cvt.u64.u32 %desc, %slot;
        or.b64 %adesc, %desc, 0x4000404000010000;
        add.u64 %bdesc, %adesc, 1024;
        mov.u32 %at, 0;
    multiply32:
        or.b32 %slot, %i, %at;
        setp.ne.u32 %add, %slot, 0;
        // e4m3 * e4m3, N = 128, scale factors ue8m0, M = 128; which byte of a column has the factor of these 32 elements.
        shl.b32 %idesc, %at, 29;
        shl.b32 %ids, %at, 4;
        or.b32 %idesc, %idesc, %ids;
        or.b32 %idesc, %idesc, 0x08A00000;
        tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.scale_vec::1X [%tmem], %adesc, %bdesc, %idesc, [%sfa], [%sfb], %add;
        add.u64 %adesc, %adesc, 2;
        add.u64 %bdesc, %bdesc, 2;
        add.u32 %at, %at, 1;
        setp.lt.u32 %more, %at, 4;
        @%more bra multiply32;
        mov.u32 %bar, empty;
        mad.lo.u32 %bar, %stage, 8, %bar;
        tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%bar];
        add.u32 %stage, %stage, 1;
        setp.eq.u32 %p, %stage, 3;
        @%p xor.b32 %phase, %phase, 1;
        selp.u32 %stage, 0, %stage, %p;
        add.u32 %i, %i, 1;
        setp.lt.u32 %more, %i, %steps;
        @%more bra multiply;
        mov.u32 %bar, done;
        tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%bar];
    issued:
        bar.warp.sync -1;
        bar.sync 0;
        tcgen05.fence::after_thread_sync;
        tcgen05.dealloc.cta_group::1.sync.aligned.b32 %tmem, 256;
        ret;
    }
}
