//! A histogram of 16 M bytes: shared atomics in each block, then global ones.

use super::Case;
use ptx_dsl::prelude::*;
use ptx_dsl_test_support::random::Random;

const N: usize = 1 << 24;
const BLOCKS: usize = 256;

ptx! {
    <sm_80, ptx 7.0>
    .visible .entry histogram(
        .param .u64 .ptr .global .align 4 x: &[u8],
        .param .u64 .ptr .global .align 4 bins: &mut [u32],
        .param .u32 words)                    // 32-bit words of x in all, a multiple of the number of threads
        .reqntid 256
    {
        .reg .pred %p;
        .reg .b32 %t, %b, %n, %i, %s, %at, %v, %byte, %stride, %old;
        .reg .b64 %x, %o, %bins, %step;
        .shared .align 4 .b8 local[1024];
        ld.param.u64 %x, [x];
        ld.param.u64 %bins, [bins];
        ld.param.u32 %n, [words];
        mov.u32 %t, %tid.x;
        mov.u32 %b, %ctaid.x;
        mov.u32 %s, local;
        mad.lo.u32 %at, %t, 4, %s;
        st.shared.u32 [%at], 0;
        bar.sync 0;
        mad.lo.u32 %i, %b, 256, %t;
        mov.u32 %stride, %nctaid.x;
        shl.b32 %stride, %stride, 8;
        mul.wide.u32 %o, %i, 4;
        add.u64 %x, %x, %o;
        mul.wide.u32 %step, %stride, 4;
      next:
        ld.global.u32 %v, [%x];
        bfe.u32 %byte, %v, 0, 8;
        mad.lo.u32 %byte, %byte, 4, %s;
        red.shared.add.u32 [%byte], 1;
        bfe.u32 %byte, %v, 8, 8;
        mad.lo.u32 %byte, %byte, 4, %s;
        red.shared.add.u32 [%byte], 1;
        bfe.u32 %byte, %v, 16, 8;
        mad.lo.u32 %byte, %byte, 4, %s;
        red.shared.add.u32 [%byte], 1;
        bfe.u32 %byte, %v, 24, 8;
        mad.lo.u32 %byte, %byte, 4, %s;
        red.shared.add.u32 [%byte], 1;
        add.u64 %x, %x, %step;
        add.u32 %i, %i, %stride;
        setp.lt.u32 %p, %i, %n;
        @%p bra next;
        bar.sync 0;
        ld.shared.u32 %v, [%at];
        mul.wide.u32 %o, %t, 4;
        add.u64 %bins, %bins, %o;
        red.global.add.u32 [%bins], %v;
        ret;
    }
}

struct Histogram {
    x: Vec<u8>,
    bins: Vec<u32>,
    hand: Vec<u32>,
}

pub fn case() -> Box<dyn Case> {
    let mut random = Random::new(11);
    let x = (0..N).map(|_| (random.word() & random.word()) as u8).collect();
    Box::new(Histogram { x, bins: vec![0; 256], hand: vec![0; 256] })
}

impl Case for Histogram {
    crate::launches!(self, host => {
        self.bins.fill(0);
        histogram.launch(host, Launch::grid(BLOCKS as u32).block(256), (&self.x, &mut self.bins, (N / 4) as u32))
    });

    fn hand(&mut self) {
        self.hand.fill(0);
        for &x in &self.x {
            self.hand[x as usize] += 1;
        }
    }

    fn agrees(&self) -> bool {
        self.bins == self.hand
    }
}
