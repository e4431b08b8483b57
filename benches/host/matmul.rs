//! A product of 512 x 512 matrices with tiles of 16 x 16 in shared memory.

use super::Case;
use ptx_dsl::prelude::*;
use ptx_dsl_test_support::random::Random;

const N: usize = 512;

ptx! {
    <sm_80, ptx 7.0>
    .visible .entry matmul(
        .param .u64 .ptr .global .align 4 a: &[f32],
        .param .u64 .ptr .global .align 4 b: &[f32],
        .param .u64 .ptr .global .align 4 c: &mut [f32],
        .param .u32 n)
        .reqntid 16, 16
    {
        .reg .pred %p;
        .reg .b32 %x, %y, %bx, %by, %n, %k, %at, %sa, %sb, %ra, %rb;
        .reg .b64 %a, %b, %c, %o, %step;
        .reg .f32 %sum, %u, %v;
        .shared .align 4 .b8 as[1024];
        .shared .align 4 .b8 bs[1024];
        ld.param.u64 %a, [a];
        ld.param.u64 %b, [b];
        ld.param.u64 %c, [c];
        ld.param.u32 %n, [n];
        mov.u32 %x, %tid.x;
        mov.u32 %y, %tid.y;
        mov.u32 %bx, %ctaid.x;
        mov.u32 %by, %ctaid.y;
        mad.lo.u32 %bx, %bx, 16, %x;          // column of c
        mad.lo.u32 %by, %by, 16, %y;          // row of c
        mad.lo.u32 %at, %by, %n, %x;
        mul.wide.u32 %o, %at, 4;
        add.u64 %a, %a, %o;
        mad.lo.u32 %at, %y, %n, %bx;
        mul.wide.u32 %o, %at, 4;
        add.u64 %b, %b, %o;
        mad.lo.u32 %at, %by, %n, %bx;
        mul.wide.u32 %o, %at, 4;
        add.u64 %c, %c, %o;
        mul.wide.u32 %step, %n, 64;           // 16 rows of b
        mov.u32 %ra, as;
        mad.lo.u32 %ra, %y, 64, %ra;          // row y of the tile of a
        mad.lo.u32 %sa, %x, 4, %ra;
        mov.u32 %rb, bs;
        mad.lo.u32 %rb, %x, 4, %rb;           // column x of the tile of b
        mad.lo.u32 %sb, %y, 64, %rb;
        mov.f32 %sum, 0f00000000;
        mov.u32 %k, 0;
      tile:
        ld.global.f32 %u, [%a];
        ld.global.f32 %v, [%b];
        st.shared.f32 [%sa], %u;
        st.shared.f32 [%sb], %v;
        bar.sync 0;
        ld.shared.f32 %u, [%ra];
        ld.shared.f32 %v, [%rb];
        fma.rn.f32 %sum, %u, %v, %sum;
        ld.shared.f32 %u, [%ra+4];
        ld.shared.f32 %v, [%rb+64];
        fma.rn.f32 %sum, %u, %v, %sum;
        ld.shared.f32 %u, [%ra+8];
        ld.shared.f32 %v, [%rb+128];
        fma.rn.f32 %sum, %u, %v, %sum;
        ld.shared.f32 %u, [%ra+12];
        ld.shared.f32 %v, [%rb+192];
        fma.rn.f32 %sum, %u, %v, %sum;
        ld.shared.f32 %u, [%ra+16];
        ld.shared.f32 %v, [%rb+256];
        fma.rn.f32 %sum, %u, %v, %sum;
        ld.shared.f32 %u, [%ra+20];
        ld.shared.f32 %v, [%rb+320];
        fma.rn.f32 %sum, %u, %v, %sum;
        ld.shared.f32 %u, [%ra+24];
        ld.shared.f32 %v, [%rb+384];
        fma.rn.f32 %sum, %u, %v, %sum;
        ld.shared.f32 %u, [%ra+28];
        ld.shared.f32 %v, [%rb+448];
        fma.rn.f32 %sum, %u, %v, %sum;
        ld.shared.f32 %u, [%ra+32];
        ld.shared.f32 %v, [%rb+512];
        fma.rn.f32 %sum, %u, %v, %sum;
        ld.shared.f32 %u, [%ra+36];
        ld.shared.f32 %v, [%rb+576];
        fma.rn.f32 %sum, %u, %v, %sum;
        ld.shared.f32 %u, [%ra+40];
        ld.shared.f32 %v, [%rb+640];
        fma.rn.f32 %sum, %u, %v, %sum;
        ld.shared.f32 %u, [%ra+44];
        ld.shared.f32 %v, [%rb+704];
        fma.rn.f32 %sum, %u, %v, %sum;
        ld.shared.f32 %u, [%ra+48];
        ld.shared.f32 %v, [%rb+768];
        fma.rn.f32 %sum, %u, %v, %sum;
        ld.shared.f32 %u, [%ra+52];
        ld.shared.f32 %v, [%rb+832];
        fma.rn.f32 %sum, %u, %v, %sum;
        ld.shared.f32 %u, [%ra+56];
        ld.shared.f32 %v, [%rb+896];
        fma.rn.f32 %sum, %u, %v, %sum;
        ld.shared.f32 %u, [%ra+60];
        ld.shared.f32 %v, [%rb+960];
        fma.rn.f32 %sum, %u, %v, %sum;
        bar.sync 0;
        add.u64 %a, %a, 64;
        add.u64 %b, %b, %step;
        add.u32 %k, %k, 16;
        setp.lt.u32 %p, %k, %n;
        @%p bra tile;
        st.global.f32 [%c], %sum;
        ret;
    }
}

struct Matmul {
    a: Vec<f32>,
    b: Vec<f32>,
    c: Vec<f32>,
    hand: Vec<f32>,
}

pub fn case() -> Box<dyn Case> {
    let mut random = Random::new(3);
    // small integers: the order of summation does not matter
    let mut matrix = || (0..N * N).map(|_| (random.word() % 17) as f32 - 8.0).collect::<Vec<_>>();
    Box::new(Matmul { a: matrix(), b: matrix(), c: vec![0.0; N * N], hand: vec![0.0; N * N] })
}

impl Case for Matmul {
    crate::launches!(self, host => matmul.launch(
        host,
        Launch::grid(((N / 16) as u32, (N / 16) as u32)).block((16, 16)),
        (&self.a, &self.b, &mut self.c, N as u32)
    ));

    fn hand(&mut self) {
        for (c, a) in self.hand.chunks_mut(N).zip(self.a.chunks(N)) {
            c.fill(0.0);
            for (a, b) in a.iter().zip(self.b.chunks(N)) {
                for (c, b) in c.iter_mut().zip(b) {
                    *c += a * b;
                }
            }
        }
    }

    fn agrees(&self) -> bool {
        self.c == self.hand
    }
}
