//! Sums of blocks of 256 threads by halving in shared memory, over 16 M f32.

use super::Case;
use ptx_dsl::prelude::*;
use ptx_dsl_test_support::random::Random;

const N: usize = 1 << 24;
const BLOCKS: usize = N / 1024;

ptx! {
    <sm_80, ptx 7.0>
    // A block sums 1024 elements: 4 a thread, then a tree of barriers.
    .visible .entry reduce(
        .param .u64 .ptr .global .align 4 x: &[f32],
        .param .u64 .ptr .global .align 4 sums: &mut [f32])
        .reqntid 256
    {
        .reg .pred %p;
        .reg .b32 %t, %b, %s, %at, %half;
        .reg .f32 %v<4>;
        .reg .b64 %x, %o;
        .shared .align 4 .b8 part[1024];
        ld.param.u64 %x, [x];
        mov.u32 %t, %tid.x;
        mov.u32 %b, %ctaid.x;
        mad.lo.u32 %at, %b, 1024, %t;
        mul.wide.u32 %o, %at, 4;
        add.u64 %x, %x, %o;
        ld.global.f32 %v0, [%x];
        ld.global.f32 %v1, [%x+1024];
        ld.global.f32 %v2, [%x+2048];
        ld.global.f32 %v3, [%x+3072];
        add.f32 %v0, %v0, %v1;
        add.f32 %v2, %v2, %v3;
        add.f32 %v0, %v0, %v2;
        mov.u32 %s, part;
        mad.lo.u32 %s, %t, 4, %s;
        st.shared.f32 [%s], %v0;
        bar.sync 0;
        mov.u32 %half, 128;
      halve:
        setp.ge.u32 %p, %t, %half;
        @%p bra skip;
        mad.lo.u32 %at, %half, 4, %s;
        ld.shared.f32 %v0, [%s];
        ld.shared.f32 %v1, [%at];
        add.f32 %v0, %v0, %v1;
        st.shared.f32 [%s], %v0;
      skip:
        bar.sync 0;
        shr.u32 %half, %half, 1;
        setp.ne.u32 %p, %half, 0;
        @%p bra halve;
        setp.ne.u32 %p, %t, 0;
        @%p ret;
        ld.shared.f32 %v0, [part];
        ld.param.u64 %x, [sums];
        mul.wide.u32 %o, %b, 4;
        add.u64 %x, %x, %o;
        st.global.f32 [%x], %v0;
        ret;
    }
}

struct Reduce {
    x: Vec<f32>,
    sums: Vec<f32>,
    hand: Vec<f32>,
}

pub fn case() -> Box<dyn Case> {
    let mut random = Random::new(7);
    // small integers: the order of summation does not matter
    let x = (0..N).map(|_| (random.word() % 1024) as f32).collect();
    Box::new(Reduce { x, sums: vec![0.0; BLOCKS], hand: vec![0.0; BLOCKS] })
}

impl Case for Reduce {
    crate::launches!(self, host => reduce.launch(host, Launch::grid(BLOCKS as u32).block(256), (&self.x, &mut self.sums)));

    fn hand(&mut self) {
        for (sum, x) in self.hand.iter_mut().zip(self.x.chunks(1024)) {
            // sixteen sums, because additions to one sum wait for each other
            let mut parts = [0f32; 16];
            for x in x.chunks_exact(16) {
                for (part, x) in parts.iter_mut().zip(x) {
                    *part += x;
                }
            }
            *sum = parts.iter().sum();
        }
    }

    fn agrees(&self) -> bool {
        self.sums == self.hand
    }
}
