//! A product of 512 x 512 matrices with `mma.sync`: f16 in, f32 out, a tile of 64 x 64 for each CTA. The Rust counterpart computes in f32.

use super::Case;
use half::f16;
use ptx_dsl::Numerics;
use ptx_dsl::prelude::*;
use ptx_dsl_test_support::random::Random;

const N: usize = 512;

ptx! {
    <sm_90, ptx 8.6>
    // A and the transpose of B, row by row. Four warps bring 64 elements of K of 64 rows of both; in shared memory rows are 144 bytes apart.
    // Each warp multiplies 16 rows of A.
    .visible .entry mma_sync(
        .param .u64 .ptr .global .align 16 a: &[f16],
        .param .u64 .ptr .global .align 16 b: &[f16],
        .param .u64 .ptr .global .align 16 d: &mut [f32],
        .param .u32 n)
        .reqntid 128
    {
        .reg .pred %more;
        .reg .b32 %thread, %lane, %warp, %n, %i, %j, %at, %row, %to, %from_a, %from_b, %k, %v<8>, %a<4>, %b<4>;
        .reg .f32 %d<32>;
        .reg .b64 %pa, %pb, %pd, %fa, %fb, %pitch, %offset;
        .shared .align 16 .b8 tile_a[9216];
        .shared .align 16 .b8 tile_b[9216];

        mov.u32 %thread, %tid.x;
        shr.u32 %warp, %thread, 5;
        and.b32 %lane, %thread, 31;
        ld.param.u32 %n, [n];
        ld.param.u64 %pa, [a];
        ld.param.u64 %pb, [b];
        ld.param.u64 %pd, [d];
        // a thread brings 16 bytes, piece tid % 8 of the rows tid / 8 + 16 * j
        shr.u32 %row, %thread, 3;
        and.b32 %at, %thread, 7;
        mul.lo.u32 %to, %row, 144;
        mad.lo.u32 %to, %at, 16, %to;
        mul.lo.u32 %at, %at, 8;
        mov.u32 %i, %ctaid.x;
        mad.lo.u32 %i, %i, 64, %row;
        mad.lo.u32 %i, %i, %n, %at;
        mad.wide.u32 %pa, %i, 2, %pa;
        mov.u32 %i, %ctaid.y;
        mad.lo.u32 %i, %i, 64, %row;
        mad.lo.u32 %i, %i, %n, %at;
        mad.wide.u32 %pb, %i, 2, %pb;
        mul.wide.u32 %pitch, %n, 32;                    // bytes of 16 rows
        // ldmatrix: rows lane % 16 of A, halves lane / 16; rows lane % 8 + 8 * (lane / 16) of B, halves lane / 8 % 2
        mul.lo.u32 %from_a, %warp, 16;
        and.b32 %at, %lane, 15;
        add.u32 %from_a, %from_a, %at;
        mul.lo.u32 %from_a, %from_a, 144;
        shr.u32 %at, %lane, 4;
        mad.lo.u32 %from_a, %at, 16, %from_a;
        mov.u32 %j, tile_a;
        add.u32 %from_a, %from_a, %j;
        mul.lo.u32 %from_b, %at, 8;
        and.b32 %at, %lane, 7;
        add.u32 %from_b, %from_b, %at;
        mul.lo.u32 %from_b, %from_b, 144;
        shr.u32 %at, %lane, 3;
        and.b32 %at, %at, 1;
        mad.lo.u32 %from_b, %at, 16, %from_b;
        mov.u32 %j, tile_b;
        add.u32 %from_b, %from_b, %j;
        mov.b32 %d0, 0f00000000; mov.b32 %d1, 0f00000000; mov.b32 %d2, 0f00000000; mov.b32 %d3, 0f00000000;
        mov.b32 %d4, 0f00000000; mov.b32 %d5, 0f00000000; mov.b32 %d6, 0f00000000; mov.b32 %d7, 0f00000000;
        mov.b32 %d8, 0f00000000; mov.b32 %d9, 0f00000000; mov.b32 %d10, 0f00000000; mov.b32 %d11, 0f00000000;
        mov.b32 %d12, 0f00000000; mov.b32 %d13, 0f00000000; mov.b32 %d14, 0f00000000; mov.b32 %d15, 0f00000000;
        mov.b32 %d16, 0f00000000; mov.b32 %d17, 0f00000000; mov.b32 %d18, 0f00000000; mov.b32 %d19, 0f00000000;
        mov.b32 %d20, 0f00000000; mov.b32 %d21, 0f00000000; mov.b32 %d22, 0f00000000; mov.b32 %d23, 0f00000000;
        mov.b32 %d24, 0f00000000; mov.b32 %d25, 0f00000000; mov.b32 %d26, 0f00000000; mov.b32 %d27, 0f00000000;
        mov.b32 %d28, 0f00000000; mov.b32 %d29, 0f00000000; mov.b32 %d30, 0f00000000; mov.b32 %d31, 0f00000000;
        mov.u32 %i, 0;

      bring:
        mov.b64 %fa, %pa;
        mov.b64 %fb, %pb;
        mov.u32 %row, %to;
        mov.u32 %j, 0;
      rows:
        mov.u32 %at, tile_a;
        add.u32 %at, %at, %row;
        ld.global.v4.b32 {%v0, %v1, %v2, %v3}, [%fa];
        st.shared.v4.b32 [%at], {%v0, %v1, %v2, %v3};
        mov.u32 %at, tile_b;
        add.u32 %at, %at, %row;
        ld.global.v4.b32 {%v4, %v5, %v6, %v7}, [%fb];
        st.shared.v4.b32 [%at], {%v4, %v5, %v6, %v7};
        add.u64 %fa, %fa, %pitch;
        add.u64 %fb, %fb, %pitch;
        add.u32 %row, %row, 2304;
        add.u32 %j, %j, 1;
        setp.lt.u32 %more, %j, 4;
        @%more bra rows;
        add.u64 %pa, %pa, 128;
        add.u64 %pb, %pb, 128;
        bar.sync 0;
        mov.u32 %k, 0;
      multiply:
        add.u32 %at, %from_a, %k;
        ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%a0, %a1, %a2, %a3}, [%at];
        add.u32 %at, %from_b, %k;
        ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%b0, %b1, %b2, %b3}, [%at];
        mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
            {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%d0, %d1, %d2, %d3};
        mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
            {%d4, %d5, %d6, %d7}, {%a0, %a1, %a2, %a3}, {%b2, %b3}, {%d4, %d5, %d6, %d7};
        ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%b0, %b1, %b2, %b3}, [%at+2304];
        mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
            {%d8, %d9, %d10, %d11}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%d8, %d9, %d10, %d11};
        mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
            {%d12, %d13, %d14, %d15}, {%a0, %a1, %a2, %a3}, {%b2, %b3}, {%d12, %d13, %d14, %d15};
        ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%b0, %b1, %b2, %b3}, [%at+4608];
        mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
            {%d16, %d17, %d18, %d19}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%d16, %d17, %d18, %d19};
        mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
            {%d20, %d21, %d22, %d23}, {%a0, %a1, %a2, %a3}, {%b2, %b3}, {%d20, %d21, %d22, %d23};
        ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%b0, %b1, %b2, %b3}, [%at+6912];
        mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
            {%d24, %d25, %d26, %d27}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%d24, %d25, %d26, %d27};
        mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
            {%d28, %d29, %d30, %d31}, {%a0, %a1, %a2, %a3}, {%b2, %b3}, {%d28, %d29, %d30, %d31};
        add.u32 %k, %k, 32;
        setp.lt.u32 %more, %k, 128;
        @%more bra multiply;
        bar.sync 0;
        add.u32 %i, %i, 64;
        setp.lt.u32 %more, %i, %n;
        @%more bra bring;

        // rows 16 * warp + lane / 4 and 8 more, columns 2 * (lane % 4) and 8 more
        mov.u32 %row, %ctaid.x;
        mad.lo.u32 %row, %row, 4, %warp;
        shr.u32 %at, %lane, 2;
        mad.lo.u32 %row, %row, 16, %at;
        mov.u32 %at, %ctaid.y;
        mul.lo.u32 %at, %at, 64;
        and.b32 %j, %lane, 3;
        mad.lo.u32 %at, %j, 2, %at;
        mad.lo.u32 %at, %row, %n, %at;
        mad.wide.u32 %pd, %at, 4, %pd;
        mul.wide.u32 %offset, %n, 32;
        add.u64 %offset, %pd, %offset;
        st.global.v2.f32 [%pd], {%d0, %d1};
        st.global.v2.f32 [%offset], {%d2, %d3};
        st.global.v2.f32 [%pd+32], {%d4, %d5};
        st.global.v2.f32 [%offset+32], {%d6, %d7};
        st.global.v2.f32 [%pd+64], {%d8, %d9};
        st.global.v2.f32 [%offset+64], {%d10, %d11};
        st.global.v2.f32 [%pd+96], {%d12, %d13};
        st.global.v2.f32 [%offset+96], {%d14, %d15};
        st.global.v2.f32 [%pd+128], {%d16, %d17};
        st.global.v2.f32 [%offset+128], {%d18, %d19};
        st.global.v2.f32 [%pd+160], {%d20, %d21};
        st.global.v2.f32 [%offset+160], {%d22, %d23};
        st.global.v2.f32 [%pd+192], {%d24, %d25};
        st.global.v2.f32 [%offset+192], {%d26, %d27};
        st.global.v2.f32 [%pd+224], {%d28, %d29};
        st.global.v2.f32 [%offset+224], {%d30, %d31};
    }
}

struct MmaSync {
    a: Vec<f16>,
    /// The transpose of B.
    b: Vec<f16>,
    d: Vec<f32>,
    wide_a: Vec<f32>,
    wide_b: Vec<f32>,
    hand: Vec<f32>,
    numerics: Numerics,
}

/// With the bits of tensor cores.
pub fn exact() -> Box<dyn Case> {
    case(Numerics::default())
}

/// With ordinary sums of f32.
pub fn fast() -> Box<dyn Case> {
    case(Numerics::Fast)
}

fn case(numerics: Numerics) -> Box<dyn Case> {
    let mut random = Random::new(5);
    // small integers: the order of summation does not matter
    let mut matrix = || (0..N * N).map(|_| (random.word() % 17) as f32 - 8.0).collect::<Vec<_>>();
    let (wide_a, wide_b) = (matrix(), matrix());
    let a = wide_a.iter().map(|&x| f16::from_f32(x)).collect();
    let b = (0..N * N).map(|i| f16::from_f32(wide_b[i % N * N + i / N])).collect();
    Box::new(MmaSync { a, b, d: vec![0.0; N * N], wide_a, wide_b, hand: vec![0.0; N * N], numerics })
}

impl Case for MmaSync {
    crate::launches!(self, host => mma_sync.launch(
        &host.clone().numerics(self.numerics),
        Launch::grid(((N / 64) as u32, (N / 64) as u32)).block(128),
        (&self.a, &self.b, &mut self.d, N as u32)
    ));

    fn hand(&mut self) {
        super::mma::by_hand(&self.wide_a, &self.wide_b, &mut self.hand);
    }

    fn agrees(&self) -> bool {
        self.d == self.hand
    }
}
