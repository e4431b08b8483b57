//! A producer warp and seven consumer warps over a ring of four stages with mbarriers, one CTA.

use super::Case;
use ptx_dsl::prelude::*;
use ptx_dsl_test_support::random::Random;

const CHUNKS: usize = 20_000;

ptx! {
    <sm_90, ptx 8.0>
    .visible .entry ring(
        .param .u64 .ptr .global .align 4 x: &[u32],
        .param .u64 .ptr .global .align 4 sums: &mut [u32],
        .param .u32 chunks)
        .reqntid 256
    {
        .reg .pred %p, %done;
        .reg .b32 %t, %warp, %lane, %i, %n, %stage, %phase, %slot, %bar, %v, %sum;
        .reg .b64 %x, %o;
        .shared .align 16 .b8 stages[512];
        .shared .align 8 .b64 full[4];
        .shared .align 8 .b64 empty[4];
        mov.u32 %t, %tid.x;
        shr.u32 %warp, %t, 5;
        and.b32 %lane, %t, 31;
        ld.param.u32 %n, [chunks];
        setp.ge.u32 %p, %t, 4;
        @%p bra ready;
        mov.u32 %bar, full;
        mad.lo.u32 %bar, %t, 8, %bar;
        mbarrier.init.shared::cta.b64 [%bar], 32;
        mov.u32 %bar, empty;
        mad.lo.u32 %bar, %t, 8, %bar;
        mbarrier.init.shared::cta.b64 [%bar], 224;
      ready:
        bar.sync 0;
        mov.u32 %i, 0;
        mov.u32 %sum, 0;
        setp.ne.u32 %p, %warp, 0;
        @%p bra consume;
        ld.param.u64 %x, [x];
        mul.wide.u32 %o, %lane, 4;
        add.u64 %x, %x, %o;
      produce:
        and.b32 %stage, %i, 3;
        shr.u32 %phase, %i, 2;
        and.b32 %phase, %phase, 1;
        xor.b32 %phase, %phase, 1;
        mov.u32 %bar, empty;
        mad.lo.u32 %bar, %stage, 8, %bar;
      waitEmpty:
        mbarrier.try_wait.parity.shared::cta.b64 %done, [%bar], %phase;
        @!%done bra waitEmpty;
        ld.global.u32 %v, [%x];
        mov.u32 %slot, stages;
        mad.lo.u32 %slot, %stage, 128, %slot;
        mad.lo.u32 %slot, %lane, 4, %slot;
        st.shared.u32 [%slot], %v;
        mov.u32 %bar, full;
        mad.lo.u32 %bar, %stage, 8, %bar;
        mbarrier.arrive.shared::cta.b64 _, [%bar];
        add.u64 %x, %x, 128;
        add.u32 %i, %i, 1;
        setp.lt.u32 %p, %i, %n;
        @%p bra produce;
        ret;
      consume:
        and.b32 %stage, %i, 3;
        shr.u32 %phase, %i, 2;
        and.b32 %phase, %phase, 1;
        mov.u32 %bar, full;
        mad.lo.u32 %bar, %stage, 8, %bar;
      waitFull:
        mbarrier.try_wait.parity.shared::cta.b64 %done, [%bar], %phase;
        @!%done bra waitFull;
        xor.b32 %slot, %lane, %warp;
        mov.u32 %v, stages;
        mad.lo.u32 %v, %stage, 128, %v;
        mad.lo.u32 %slot, %slot, 4, %v;
        ld.shared.u32 %v, [%slot];
        mov.u32 %bar, empty;
        mad.lo.u32 %bar, %stage, 8, %bar;
        mbarrier.arrive.shared::cta.b64 _, [%bar];
        mad.lo.u32 %sum, %v, %warp, %sum;
        add.u32 %i, %i, 1;
        setp.lt.u32 %p, %i, %n;
        @%p bra consume;
        ld.param.u64 %x, [sums];
        mul.wide.u32 %o, %t, 4;
        add.u64 %x, %x, %o;
        st.global.u32 [%x], %sum;
        ret;
    }
}

struct Ring {
    x: Vec<u32>,
    sums: Vec<u32>,
    hand: Vec<u32>,
}

pub fn case() -> Box<dyn Case> {
    let mut random = Random::new(9);
    Box::new(Ring { x: (0..CHUNKS * 32).map(|_| random.word()).collect(), sums: vec![0; 256], hand: vec![0; 256] })
}

impl Case for Ring {
    crate::launches!(self, host => ring.launch(host, Launch::grid(1).block(256), (&self.x, &mut self.sums, CHUNKS as u32)));

    fn hand(&mut self) {
        let mut sums = [[0u32; 32]; 8];
        for chunk in self.x.chunks_exact(32) {
            for (warp, sums) in sums.iter_mut().enumerate().skip(1) {
                for (lane, sum) in sums.iter_mut().enumerate() {
                    *sum = sum.wrapping_add(chunk[lane ^ warp].wrapping_mul(warp as u32));
                }
            }
        }
        for (to, from) in self.hand.iter_mut().zip(sums.as_flattened()) {
            *to = *from;
        }
    }

    fn agrees(&self) -> bool {
        self.sums == self.hand
    }
}
