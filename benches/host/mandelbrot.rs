//! The Mandelbrot set, 1024 x 1024 points, at most 256 iterations.

use super::Case;
use ptx_dsl::prelude::*;

const N: usize = 1024;

ptx! {
    <sm_80, ptx 7.0>
    .visible .entry mandelbrot(.param .u64 .ptr .global .align 4 counts: &mut [u32], .param .u32 n)
        .reqntid 128
    {
        .reg .pred %p;
        .reg .b32 %i, %b, %n, %x, %y, %count;
        .reg .b64 %o, %d;
        .reg .f32 %cx, %cy, %zx, %zy, %xx, %yy, %t;
        ld.param.u64 %d, [counts];
        ld.param.u32 %n, [n];
        mov.u32 %b, %ctaid.x;
        mov.u32 %i, %tid.x;
        mad.lo.u32 %i, %b, 128, %i;
        div.u32 %y, %i, %n;
        rem.u32 %x, %i, %n;
        cvt.rn.f32.u32 %cx, %x;
        cvt.rn.f32.u32 %cy, %y;
        fma.rn.f32 %cx, %cx, 0f3B400000, 0fC0000000;    // x * 3 / 1024 - 2
        fma.rn.f32 %cy, %cy, 0f3B400000, 0fBFC00000;    // y * 3 / 1024 - 1.5
        mov.f32 %zx, 0f00000000;
        mov.f32 %zy, 0f00000000;
        mov.u32 %count, 0;
      iterate:
        mul.rn.f32 %xx, %zx, %zx;
        mul.rn.f32 %yy, %zy, %zy;
        add.rn.f32 %t, %xx, %yy;
        setp.gt.f32 %p, %t, 0f40800000;
        @%p bra done;
        mul.rn.f32 %t, %zx, %zy;
        sub.rn.f32 %zx, %xx, %yy;
        add.rn.f32 %zx, %zx, %cx;
        fma.rn.f32 %zy, %t, 0f40000000, %cy;
        add.u32 %count, %count, 1;
        setp.lt.u32 %p, %count, 256;
        @%p bra iterate;
      done:
        mul.wide.u32 %o, %i, 4;
        add.u64 %d, %d, %o;
        st.global.u32 [%d], %count;
        ret;
    }
}

struct Mandelbrot {
    counts: Vec<u32>,
    hand: Vec<u32>,
}

pub fn case() -> Box<dyn Case> {
    Box::new(Mandelbrot { counts: vec![0; N * N], hand: vec![0; N * N] })
}

impl Case for Mandelbrot {
    crate::launches!(self, host => mandelbrot.launch(host, Launch::grid((N * N / 128) as u32).block(128), (&mut self.counts, N as u32)));

    fn hand(&mut self) {
        let step = 3.0 / 1024.0;
        for (i, count) in self.hand.iter_mut().enumerate() {
            // every product here is exact or doubled, so fusing makes no difference
            let (cx, cy) = ((i % N) as f32 * step - 2.0, (i / N) as f32 * step - 1.5);
            let (mut x, mut y, mut n) = (0f32, 0f32, 0);
            while n < 256 {
                let (xx, yy) = (x * x, y * y);
                if xx + yy > 4.0 {
                    break;
                }
                y = x * y * 2.0 + cy;
                x = xx - yy + cx;
                n += 1;
            }
            *count = n;
        }
    }

    fn agrees(&self) -> bool {
        self.counts == self.hand
    }
}
