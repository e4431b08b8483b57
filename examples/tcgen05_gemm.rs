//! Matrix products on the tensor cores of Blackwell: D = A * B, with A as M x K and B as N x K, both row by row.
//!
//! Three kernels of one shape. Four warps bring tiles of A and B from global memory into a ring of stages in shared memory,
//! in the 128-byte swizzle that the tensor core reads. One elected thread of a fifth warp issues the products, 16 (or 32)
//! elements of K at a time; they accumulate in Tensor Memory. Two mbarriers a stage hand it over: `full` counts the threads
//! that write it, `empty` is what `tcgen05.commit` arrives on when the products that read it are done. At the end the four
//! warps load the sums from Tensor Memory, a quarter of its lanes each, and store them.
//!
//! - `gemm`: f16 in, f32 out, a tile of 128 x 128 for each CTA.
//! - `gemm_pair`: the same with CTA pairs, `.cta_group::2`: a tile of 256 x 256 for each pair. Both CTAs bring their half of
//!   A and of B, a thread of the even one issues the products for both.
//! - `gemm_scaled`: 8-bit floats (e4m3) with a scale factor for every 32 elements of K, `.kind::mxf8f6f4.block_scale`.

use half::f16;
use indicatif::{ProgressBar, ProgressStyle};
use ptx_dsl::prelude::*;
use std::time::Instant;

/// Stages of the ring and the bytes of one: a tile of A and one of B, 128 rows of 128 bytes each.
const STAGES: usize = 3;
const STAGE: usize = 2 * 128 * 128;
/// Threads of a CTA: four warps that bring tiles and store results, and the one that issues.
const THREADS: u32 = 160;

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

        // Warp 4 allocates 128 columns, thread 0 makes the mbarriers.
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

        // Warps 0 to 3. A thread brings chunks of 16 bytes: chunk tid % 8 of the rows tid / 8 + 16 * j of both tiles.
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
        // The swizzle: chunk c of row r lies where chunk c ^ (r % 8) would.
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

ptx! {
    <sm_100a, ptx 8.6>

    // The stages.
    .extern .shared .align 1024 .b8 ring[];

    // A pair: rows 256 * (%ctaid.x / 2) of A, rows 256 * %ctaid.y of B. Each CTA brings 128 rows of both, and has 128 rows of D.
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
        // Only the even CTA issues; the odd one's fifth warp has nothing to do.
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
        // Both CTAs are done with Tensor Memory (Table 47 of the manual): warp 4 of each gives it back.
        tcgen05.fence::after_thread_sync;
        tcgen05.dealloc.cta_group::2.sync.aligned.b32 %tmem, 256;
        ret;
    }
}

ptx! {
    <sm_100a, ptx 8.7>

    .extern .shared .align 1024 .b8 ring[];

    // As `gemm`, with rows of 128 bytes of e4m3. A row has a scale factor (ue8m0) for 32 elements of K, so 4 bytes a stage.
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
        // The scale factors of row tid: 4 bytes a stage. In shared memory row r lies at 16 * (r % 32) + 4 * (r / 32), as
        // `tcgen05.cp.32x128b` takes them to Tensor Memory.
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
        // The scale factors of the stage go to Tensor Memory: 4 columns for A and 4 for B, the four warps' quarters alike.
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

/// The launch with a bar of its CTAs, where somebody looks.
fn watched(launch: Launch, name: &'static str) -> (Launch, ProgressBar) {
    let style = ProgressStyle::with_template("  {msg:12} {wide_bar} {pos}/{len}").expect("a template");
    let bar = ProgressBar::new(0).with_style(style).with_message(name);
    let told = bar.clone();
    let launch = launch.on_progress(move |p| {
        told.set_length(p.clusters);
        told.set_position(p.clusters_done);
    });
    (launch, bar)
}

/// Pseudo-random numbers (xorshift).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 >> 16
    }
}

/// The product in f64, and for each element the sum of the magnitudes of its terms.
fn product(a: &[f64], b: &[f64], (m, n, k): (usize, usize, usize)) -> (Vec<f64>, Vec<f64>) {
    let (mut sums, mut sizes) = (vec![0.0; m * n], vec![0.0; m * n]);
    for i in 0..m {
        let a = &a[i * k..][..k];
        for j in 0..n {
            let b = &b[j * k..][..k];
            sums[i * n + j] = a.iter().zip(b).map(|(x, y)| x * y).sum();
            sizes[i * n + j] = a.iter().zip(b).map(|(x, y)| (x * y).abs()).sum();
        }
    }
    (sums, sizes)
}

/// The largest error, as a multiple of the bound: K roundings of f32, each at most 2^-24 of the sum of magnitudes.
fn worst(d: &[f32], (sums, sizes): &(Vec<f64>, Vec<f64>), k: usize) -> f64 {
    let bound = k as f64 * 2f64.powi(-24);
    d.iter().zip(sums).zip(sizes).map(|((&d, sum), size)| (d as f64 - sum).abs() / (bound * size)).fold(0.0, f64::max)
}

/// The value of an e4m3 byte: a sign, four bits of exponent with bias 7, three bits of fraction.
fn e4m3(x: u8) -> f64 {
    let (exponent, fraction) = ((x >> 3 & 15) as i32, (x & 7) as f64);
    let size = if exponent == 0 { fraction * 2f64.powi(-9) } else { (1.0 + fraction / 8.0) * 2f64.powi(exponent - 7) };
    if x & 0x80 != 0 { -size } else { size }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (m, n, k) = (512, 512, 512);
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    let mut halves = |count: usize| -> Vec<f16> {
        (0..count).map(|_| f16::from_f32((random.next() % 4096) as f32 / 2048.0 - 1.0)).collect()
    };
    let (a, b) = (halves(m * k), halves(n * k));
    let wide = |x: &[f16]| x.iter().map(|x| x.to_f64()).collect::<Vec<_>>();
    let want = product(&wide(&a), &wide(&b), (m, n, k));
    let host = Host::new();
    let ring = (STAGES * STAGE) as u32;
    let flops = 2.0 * (m * n * k) as f64;
    println!("D = A * B, {m} x {n} x {k}, f16 in, f32 out");

    let mut d = vec![0f32; m * n];
    let launch = Launch::grid((m as u32 / 128, n as u32 / 128)).block(THREADS).dynamic_shared(ring);
    let (launch, bar) = watched(launch, "gemm");
    let start = Instant::now();
    gemm.launch(&host, launch, (&a, &b, &mut d, n as u32, k as u32))?;
    let time = start.elapsed().as_secs_f64();
    bar.finish_and_clear();
    let error = worst(&d, &want, k);
    println!(
        "  one CTA a tile:   {:6.2} GFLOP/s on the host, largest error {error:.3} of the bound",
        flops / time / 1e9
    );
    assert!(error <= 1.0, "the result is wrong");

    let mut d = vec![0f32; m * n];
    let launch = Launch::grid((m as u32 / 128, n as u32 / 256)).block(THREADS).dynamic_shared(ring);
    let (launch, bar) = watched(launch, "gemm_pair");
    let start = Instant::now();
    gemm_pair.launch(&host, launch, (&a, &b, &mut d, n as u32, k as u32))?;
    let time = start.elapsed().as_secs_f64();
    bar.finish_and_clear();
    let error = worst(&d, &want, k);
    println!(
        "  CTA pairs:        {:6.2} GFLOP/s on the host, largest error {error:.3} of the bound",
        flops / time / 1e9
    );
    assert!(error <= 1.0, "the result is wrong");

    // Any byte but the two NaNs, and scale factors from 2^-4 to 2^3.
    let mut bytes = |count: usize| -> Vec<u8> {
        (0..count).map(|_| random.next() as u8).map(|x| if x & 0x7f == 0x7f { x - 1 } else { x }).collect()
    };
    let (a, b) = (bytes(m * k), bytes(n * k));
    let mut scales = |count: usize| -> Vec<u8> { (0..count).map(|_| 123 + (random.next() % 8) as u8).collect() };
    let (a_scales, b_scales) = (scales(m * k / 32), scales(n * k / 32));
    let scaled = |x: &[u8], s: &[u8]| -> Vec<f64> {
        x.iter().enumerate().map(|(i, &x)| e4m3(x) * 2f64.powi(s[i / 32] as i32 - 127)).collect()
    };
    let want = product(&scaled(&a, &a_scales), &scaled(&b, &b_scales), (m, n, k));
    let mut d = vec![0f32; m * n];
    let launch = Launch::grid((m as u32 / 128, n as u32 / 128)).block(THREADS).dynamic_shared(ring);
    let (launch, bar) = watched(launch, "gemm_scaled");
    let start = Instant::now();
    gemm_scaled.launch(&host, launch, (&a, &b, &a_scales, &b_scales, &mut d, n as u32, k as u32))?;
    let time = start.elapsed().as_secs_f64();
    bar.finish_and_clear();
    let error = worst(&d, &want, k);
    println!("e4m3 in with a scale factor for every 32 elements:");
    println!(
        "  block scaled:     {:6.2} GFLOP/s on the host, largest error {error:.3} of the bound",
        flops / time / 1e9
    );
    assert!(error <= 1.0, "the result is wrong");
    Ok(())
}
