//! A product of 512 x 512 matrices on the tensor core of Blackwell: f16 in, f32 out, a tile of 128 x 128 for each CTA. The Rust
//! counterpart computes in f32.

use super::Case;
use half::f16;
use ptx_dsl::prelude::*;
use ptx_dsl_test_support::random::Random;

const N: usize = 512;

ptx! {
    <sm_100a, ptx 8.6>
    // A and the transpose of B, row by row. Four warps bring 64 elements of K of 128 rows of both, in the 128-byte swizzle;
    // thread 0 issues the products, and all wait for them before they bring more.
    .visible .entry mma(
        .param .u64 .ptr .global .align 16 a: &[f16],
        .param .u64 .ptr .global .align 16 b: &[f16],
        .param .u64 .ptr .global .align 16 d: &mut [f32],
        .param .u32 n)
        .reqntid 128
    {
        .reg .pred %p, %more, %leader, %add;
        .reg .b32 %thread, %warp, %n, %i, %phase, %at, %row, %chunk, %to, %tmem, %idesc, %col;
        .reg .b32 %v<32>;
        .reg .b64 %a, %b, %d, %offset, %adesc, %bdesc, %adesc0, %bdesc0, %pitch, %fa, %fb;
        .shared .align 1024 .b8 tile[32768];
        .shared .align 8 .b64 done;
        .shared .align 4 .b32 tensor;

        mov.u32 %thread, %tid.x;
        shr.u32 %warp, %thread, 5;
        setp.eq.u32 %leader, %thread, 0;
        ld.param.u32 %n, [n];
        setp.ne.u32 %p, %warp, 0;
        @%p bra allocated;
        tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [tensor], 128;
        tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;
      allocated:
        @%leader mbarrier.init.shared::cta.b64 [done], 1;
        tcgen05.fence::before_thread_sync;
        bar.sync 0;
        tcgen05.fence::after_thread_sync;
        ld.shared.b32 %tmem, [tensor];

        // A thread brings chunks of 16 bytes: chunk tid % 8 of the rows tid / 8 + 16 * j of both tiles.
        ld.param.u64 %a, [a];
        ld.param.u64 %b, [b];
        shr.u32 %row, %thread, 3;
        and.b32 %chunk, %thread, 7;
        mov.u32 %at, %ctaid.x;
        mad.lo.u32 %at, %at, 128, %row;
        mul.lo.u32 %at, %at, %n;
        mad.lo.u32 %at, %chunk, 8, %at;
        mul.wide.u32 %offset, %at, 2;
        add.u64 %a, %a, %offset;
        mov.u32 %at, %ctaid.y;
        mad.lo.u32 %at, %at, 128, %row;
        mul.lo.u32 %at, %at, %n;
        mad.lo.u32 %at, %chunk, 8, %at;
        mul.wide.u32 %offset, %at, 2;
        add.u64 %b, %b, %offset;
        mul.wide.u32 %pitch, %n, 32;                    // bytes of 16 rows
        and.b32 %at, %row, 7;
        xor.b32 %chunk, %chunk, %at;
        mov.u32 %to, tile;
        mad.lo.u32 %to, %row, 128, %to;
        mad.lo.u32 %to, %chunk, 16, %to;
        mov.u32 %at, tile;
        shr.u32 %at, %at, 4;
        cvt.u64.u32 %adesc0, %at;
        or.b64 %adesc0, %adesc0, 0x4000404000010000;    // 1024 bytes to the next 8 rows, 128-byte swizzle
        add.u64 %bdesc0, %adesc0, 1024;                 // the tile of B is 16384 bytes on
        mov.b32 %idesc, 0x08200010;                     // f16 * f16 to f32, N = 128, M = 128
        mov.u32 %i, 0;
        mov.u32 %phase, 0;

      bring:
        mov.b64 %fa, %a;
        mov.b64 %fb, %b;
        mov.u32 %row, %to;
        mov.u32 %at, 0;
      rows:
        ld.global.v4.b32 {%v0, %v1, %v2, %v3}, [%fa];
        ld.global.v4.b32 {%v4, %v5, %v6, %v7}, [%fb];
        st.shared.v4.b32 [%row], {%v0, %v1, %v2, %v3};
        st.shared.v4.b32 [%row+16384], {%v4, %v5, %v6, %v7};
        add.u64 %fa, %fa, %pitch;
        add.u64 %fb, %fb, %pitch;
        add.u32 %row, %row, 2048;
        add.u32 %at, %at, 1;
        setp.lt.u32 %more, %at, 8;
        @%more bra rows;
        add.u64 %a, %a, 128;
        add.u64 %b, %b, 128;
        fence.proxy.async.shared::cta;
        bar.sync 0;
        @!%leader bra wait;
        tcgen05.fence::after_thread_sync;
        mov.b64 %adesc, %adesc0;
        mov.b64 %bdesc, %bdesc0;
        mov.u32 %at, 0;
      multiply:
        or.b32 %col, %i, %at;
        setp.ne.u32 %add, %col, 0;                      // the first product does not add
        tcgen05.mma.cta_group::1.kind::f16 [%tmem], %adesc, %bdesc, %idesc, %add;
        add.u64 %adesc, %adesc, 2;                      // 16 elements, 32 bytes
        add.u64 %bdesc, %bdesc, 2;
        add.u32 %at, %at, 1;
        setp.lt.u32 %more, %at, 4;
        @%more bra multiply;
        tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [done];
      wait:
        mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %p, [done], %phase;
        @!%p bra wait;
        xor.b32 %phase, %phase, 1;
        add.u32 %i, %i, 64;
        setp.lt.u32 %more, %i, %n;
        @%more bra bring;

        // A thread has one row of the tile, its warp's quarter of the lanes, 128 columns.
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
        add.u32 %at, %tmem, %at;
        mov.u32 %col, 0;
      store:
        tcgen05.ld.sync.aligned.32x32b.x32.b32
            {%v0, %v1, %v2, %v3, %v4, %v5, %v6, %v7, %v8, %v9, %v10, %v11, %v12, %v13, %v14, %v15,
             %v16, %v17, %v18, %v19, %v20, %v21, %v22, %v23, %v24, %v25, %v26, %v27, %v28, %v29, %v30, %v31}, [%at];
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
        add.u32 %at, %at, 32;
        add.u32 %col, %col, 32;
        setp.lt.u32 %more, %col, 128;
        @%more bra store;
        tcgen05.fence::before_thread_sync;
        bar.sync 0;
        setp.ne.u32 %p, %warp, 0;
        @%p bra end;
        tcgen05.fence::after_thread_sync;
        tcgen05.dealloc.cta_group::1.sync.aligned.b32 %tmem, 128;
      end:
        ret;
    }
}

struct Mma {
    a: Vec<f16>,
    /// The transpose of B.
    b: Vec<f16>,
    d: Vec<f32>,
    wide_a: Vec<f32>,
    wide_b: Vec<f32>,
    hand: Vec<f32>,
}

pub fn case() -> Box<dyn Case> {
    let mut random = Random::new(5);
    // small integers: the order of summation does not matter
    let mut matrix = || (0..N * N).map(|_| (random.word() % 17) as f32 - 8.0).collect::<Vec<_>>();
    let (wide_a, wide_b) = (matrix(), matrix());
    let a = wide_a.iter().map(|&x| f16::from_f32(x)).collect();
    let b = (0..N * N).map(|i| f16::from_f32(wide_b[i % N * N + i / N])).collect();
    Box::new(Mma { a, b, d: vec![0.0; N * N], wide_a, wide_b, hand: vec![0.0; N * N] })
}

/// D = A B, all row by row.
pub fn by_hand(a: &[f32], b: &[f32], d: &mut [f32]) {
    for (d, a) in d.chunks_mut(N).zip(a.chunks(N)) {
        d.fill(0.0);
        for (a, b) in a.iter().zip(b.chunks(N)) {
            for (d, b) in d.iter_mut().zip(b) {
                *d += a * b;
            }
        }
    }
}

impl Case for Mma {
    crate::launches!(self, host => mma.launch(
        host,
        Launch::grid(((N / 128) as u32, (N / 128) as u32)).block(128),
        (&self.a, &self.b, &mut self.d, N as u32)
    ));

    fn hand(&mut self) {
        by_hand(&self.wide_a, &self.wide_b, &mut self.hand);
    }

    fn agrees(&self) -> bool {
        self.d == self.hand
    }
}
