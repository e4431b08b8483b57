//! f16 in, f32 out, a tile of 128 x 128 for each CTA.

use half::f16;
use ptx_dsl::prelude::*;

ptx! {
    <sm_100a, ptx 8.6>

    // The stages.
    .extern .shared .align 1024 .b8 ring[];

    // A CTA: rows 128 * %ctaid.x of A, rows 128 * %ctaid.y of B (columns of D).
    .visible .entry gemm(
        .param .u64 .ptr .global .align 16 a: &[f16],
        .param .u64 .ptr .global .align 16 b: &[f16],
        .param .u64 .ptr .global .align 16 d: &mut [f32],
        .param .u32 n,
        .param .u32 k)
    .reqntid 160
    {
        .reg .pred %p, %more, %leader, %add;
        .reg .b32 %thread, %warp, %lane, %n, %k, %i, %steps, %stage, %phase, %at, %row, %chunk, %base, %slot, %bar, %tmem, %idesc, %col;
        .reg .b32 %v<32>;
        .reg .b64 %a, %b, %d, %offset, %from, %adesc, %bdesc, %desc, %pitch;
        .shared .align 8 .b64 full[3];
        .shared .align 8 .b64 empty[3];
        .shared .align 8 .b64 done;
        .shared .align 4 .b32 tensor;

        mov.u32 %thread, %tid.x;
        shr.u32 %warp, %thread, 5;
        and.b32 %lane, %thread, 31;
        ld.param.u32 %n, [n];
        ld.param.u32 %k, [k];
        shr.u32 %steps, %k, 6;                          // 64 elements of K a stage

        // Warp 4 allocates 128 columns, thread 0 initialises the mbarriers.
        setp.ne.u32 %p, %warp, 4;
        @%p bra allocated;
        tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [tensor], 128;
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

        // Warps 0 to 3. A thread copies chunks of 16 bytes: chunk tid % 8 of the rows tid / 8 + 16 * j of both tiles.
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
        mad.lo.u32 %at, %at, 128, %row;
        mad.lo.u32 %at, %at, %k, 0;
        mad.lo.u32 %at, %chunk, 8, %at;
        mul.wide.u32 %offset, %at, 2;
        add.u64 %b, %b, %offset;
        mul.wide.u32 %pitch, %k, 32;                    // bytes of 16 rows
        // The swizzle: chunk c of row r is at the place of chunk c ^ (r % 8).
        and.b32 %at, %row, 7;
        xor.b32 %chunk, %chunk, %at;
        mov.u32 %base, ring;
        mad.lo.u32 %base, %row, 128, %base;
        mad.lo.u32 %base, %chunk, 16, %base;

    bring:
        mov.u32 %bar, empty;
        mad.lo.u32 %bar, %stage, 8, %bar;
        xor.b32 %at, %phase, 1;                         // the phase before the first counts as complete
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
        fence.proxy.async.shared::cta;                  // what was written is read by the async proxy
        mov.u32 %bar, full;
        mad.lo.u32 %bar, %stage, 8, %bar;
        mbarrier.arrive.release.cta.shared::cta.b64 _, [%bar];
        add.u64 %a, %a, 128;
        add.u64 %b, %b, 128;
        add.u32 %stage, %stage, 1;
        setp.eq.u32 %p, %stage, 3;
        @%p xor.b32 %phase, %phase, 1;
        selp.u32 %stage, 0, %stage, %p;
        add.u32 %i, %i, 1;
        setp.lt.u32 %more, %i, %steps;
        @%more bra bring;

        // All products are done: a thread has one row of the tile, its warp's quarter of the lanes, 128 columns.
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
        shl.b32 %at, %warp, 21;                         // lane 32 * warp, in the high half of the address
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

        // Warp 4: one thread issues, the others wait at the end.
    issue:
        elect.sync _|%leader, -1;
        @!%leader bra issued;
        mov.b32 %idesc, 0x08200010;                     // f16 * f16 to f32, N = 128, M = 128
        mov.u32 %base, ring;
    multiply:
        mov.u32 %bar, full;
        mad.lo.u32 %bar, %stage, 8, %bar;
    waitFull:
        mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %p, [%bar], %phase;
        @!%p bra waitFull;
        tcgen05.fence::after_thread_sync;
        // Descriptors: address, leading offset 1 (unused), 1024 bytes from 8 rows to the next, 128-byte swizzle.
        mad.lo.u32 %slot, %stage, 32768, %base;
        and.b32 %slot, %slot, 0x3FFFF;
        shr.u32 %slot, %slot, 4;
        cvt.u64.u32 %desc, %slot;
        or.b64 %adesc, %desc, 0x4000404000010000;
        add.u64 %bdesc, %adesc, 1024;                   // the tile of B is 16384 bytes on
        mov.u32 %at, 0;
    multiply16:
        or.b32 %slot, %i, %at;
        setp.ne.u32 %add, %slot, 0;                     // the first product does not add
        tcgen05.mma.cta_group::1.kind::f16 [%tmem], %adesc, %bdesc, %idesc, %add;
        add.u64 %adesc, %adesc, 2;                      // 16 elements, 32 bytes
        add.u64 %bdesc, %bdesc, 2;
        add.u32 %at, %at, 1;
        setp.lt.u32 %more, %at, 4;
        @%more bra multiply16;
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
        tcgen05.dealloc.cta_group::1.sync.aligned.b32 %tmem, 128;
        ret;
    }
}
