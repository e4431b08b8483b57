//! Memory operations inside a divergent loop: running sums along rows of 0 to 31 elements, a thread a row.

use super::{Case, sparse};
use ptx_dsl::prelude::*;
use ptx_dsl_test_support::random::Random;

ptx! {
    <sm_80, ptx 7.0>
    .visible .entry ragged(
        .param .u64 .ptr .global .align 4 starts: &[u32],
        .param .u64 .ptr .global .align 4 x: &[u32],
        .param .u64 .ptr .global .align 4 sums: &mut [u32])
        .reqntid 128
    {
        .reg .pred %p;
        .reg .b32 %i, %b, %at, %end, %v, %sum;
        .reg .b64 %starts, %x, %sums, %o;
        ld.param.u64 %starts, [starts];
        ld.param.u64 %x, [x];
        ld.param.u64 %sums, [sums];
        mov.u32 %b, %ctaid.x;
        mov.u32 %i, %tid.x;
        mad.lo.u32 %i, %b, 128, %i;
        mul.wide.u32 %o, %i, 4;
        add.u64 %starts, %starts, %o;
        ld.global.u32 %at, [%starts];
        ld.global.u32 %end, [%starts+4];
        setp.ge.u32 %p, %at, %end;
        @%p ret;
        mul.wide.u32 %o, %at, 4;
        add.u64 %x, %x, %o;
        add.u64 %sums, %sums, %o;
        mov.u32 %sum, 0;
      next:
        ld.global.u32 %v, [%x];
        add.u32 %sum, %sum, %v;
        st.global.u32 [%sums], %sum;
        add.u64 %x, %x, 4;
        add.u64 %sums, %sums, 4;
        add.u32 %at, %at, 1;
        setp.lt.u32 %p, %at, %end;
        @%p bra next;
        ret;
    }
}

struct Ragged {
    starts: Vec<u32>,
    x: Vec<u32>,
    sums: Vec<u32>,
    hand: Vec<u32>,
}

pub fn case() -> Box<dyn Case> {
    let (starts, x) = sparse::graph(&mut Random::new(23));
    let (sums, hand) = (vec![0; x.len()], vec![0; x.len()]);
    Box::new(Ragged { starts, x, sums, hand })
}

impl Case for Ragged {
    crate::launches!(self, host => ragged.launch(
        host,
        Launch::grid((sparse::ROWS / 128) as u32).block(128),
        (&self.starts, &self.x, &mut self.sums)
    ));

    fn hand(&mut self) {
        for row in self.starts.windows(2) {
            let row = row[0] as usize..row[1] as usize;
            let mut sum = 0u32;
            for (s, x) in self.hand[row.clone()].iter_mut().zip(&self.x[row]) {
                sum = sum.wrapping_add(*x);
                *s = sum;
            }
        }
    }

    fn agrees(&self) -> bool {
        self.sums == self.hand
    }
}
