//! 1,024 threads, 1,000 barriers, 64 CTAs: each thread passes a number to its neighbour between barriers.

use super::Case;
use ptx_dsl::prelude::*;

const ROUNDS: usize = 500;
const CTAS: usize = 64;

ptx! {
    <sm_80, ptx 7.0>
    .visible .entry barriers(.param .u64 .ptr .global .align 4 out: &mut [u32], .param .u32 rounds)
        .reqntid 1024
    {
        .reg .pred %p;
        .reg .b32 %t, %b, %i, %rounds, %mine, %next, %v;
        .reg .b64 %d, %o;
        .shared .align 4 .b8 ring[4096];
        ld.param.u64 %d, [out];
        ld.param.u32 %rounds, [rounds];
        mov.u32 %t, %tid.x;
        mov.u32 %b, %ctaid.x;
        mov.u32 %mine, ring;
        add.u32 %next, %t, 1;
        and.b32 %next, %next, 1023;
        mad.lo.u32 %next, %next, 4, %mine;
        mad.lo.u32 %mine, %t, 4, %mine;
        add.u32 %v, %t, %b;
        mov.u32 %i, 0;
      round:
        st.shared.u32 [%mine], %v;
        bar.sync 0;
        ld.shared.u32 %v, [%next];
        add.u32 %v, %v, 1;
        bar.sync 0;
        add.u32 %i, %i, 1;
        setp.lt.u32 %p, %i, %rounds;
        @%p bra round;
        mad.lo.u32 %t, %b, 1024, %t;
        mul.wide.u32 %o, %t, 4;
        add.u64 %d, %d, %o;
        st.global.u32 [%d], %v;
        ret;
    }
}

struct Barriers {
    out: Vec<u32>,
    hand: Vec<u32>,
}

pub fn case() -> Box<dyn Case> {
    Box::new(Barriers { out: vec![0; 1024 * CTAS], hand: vec![0; 1024 * CTAS] })
}

impl Case for Barriers {
    crate::launches!(self, host => barriers.launch(host, Launch::grid(CTAS as u32).block(1024), (&mut self.out, ROUNDS as u32)));

    fn hand(&mut self) {
        for (b, out) in self.hand.chunks_mut(1024).enumerate() {
            for (t, v) in out.iter_mut().enumerate() {
                *v = (t + b) as u32;
            }
            let mut next = [0u32; 1024];
            for _ in 0..ROUNDS {
                for t in 0..1023 {
                    next[t] = out[t + 1] + 1;
                }
                next[1023] = out[0] + 1;
                out.copy_from_slice(&next);
            }
        }
    }

    fn agrees(&self) -> bool {
        self.out == self.hand
    }
}
