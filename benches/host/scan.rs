//! Inclusive sums within each warp by shuffles, over 16 M elements.

use super::Case;
use ptx_dsl::prelude::*;
use ptx_dsl_test_support::random::Random;

const N: usize = 1 << 24;

ptx! {
    <sm_80, ptx 7.0>
    .visible .entry scan(.param .u64 .ptr .global .align 4 x: &[u32], .param .u64 .ptr .global .align 4 sums: &mut [u32])
        .reqntid 256
    {
        .reg .pred %p;
        .reg .b32 %i, %b, %v, %u;
        .reg .b64 %x, %o, %d;
        ld.param.u64 %x, [x];
        ld.param.u64 %d, [sums];
        mov.u32 %b, %ctaid.x;
        mov.u32 %i, %tid.x;
        mad.lo.u32 %i, %b, 256, %i;
        mul.wide.u32 %o, %i, 4;
        add.u64 %x, %x, %o;
        add.u64 %d, %d, %o;
        ld.global.u32 %v, [%x];
        shfl.sync.up.b32 %u|%p, %v, 1, 0, -1;
        @%p add.u32 %v, %v, %u;
        shfl.sync.up.b32 %u|%p, %v, 2, 0, -1;
        @%p add.u32 %v, %v, %u;
        shfl.sync.up.b32 %u|%p, %v, 4, 0, -1;
        @%p add.u32 %v, %v, %u;
        shfl.sync.up.b32 %u|%p, %v, 8, 0, -1;
        @%p add.u32 %v, %v, %u;
        shfl.sync.up.b32 %u|%p, %v, 16, 0, -1;
        @%p add.u32 %v, %v, %u;
        st.global.u32 [%d], %v;
        ret;
    }
}

struct Scan {
    x: Vec<u32>,
    sums: Vec<u32>,
    hand: Vec<u32>,
}

pub fn case() -> Box<dyn Case> {
    let mut random = Random::new(5);
    Box::new(Scan { x: (0..N).map(|_| random.word()).collect(), sums: vec![0; N], hand: vec![0; N] })
}

impl Case for Scan {
    crate::launches!(self, host => scan.launch(host, Launch::grid((N / 256) as u32).block(256), (&self.x, &mut self.sums)));

    fn hand(&mut self) {
        for (sums, x) in self.hand.chunks_exact_mut(32).zip(self.x.chunks_exact(32)) {
            let mut sum = 0u32;
            for (s, x) in sums.iter_mut().zip(x) {
                sum = sum.wrapping_add(*x);
                *s = sum;
            }
        }
    }

    fn agrees(&self) -> bool {
        self.sums == self.hand
    }
}
