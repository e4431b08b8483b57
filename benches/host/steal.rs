//! Cluster launch control with clusters of one warp each, which take over tile after tile of 1,024 elements and hash them.

use super::Case;
use ptx_dsl::prelude::*;
use ptx_dsl_test_support::random::Random;

const N: usize = 1 << 22;
const TILE: usize = 1024;

ptx! {
    <sm_100a, ptx 8.6>
    // The protocol of PTX ISA 9.7.13.17 for a cluster of one CTA of one warp: request the next tile, work on this one, then wait
    // for the response.
    .visible .entry steal(
        .param .u64 .ptr .global .align 4 x: &[u32],
        .param .u64 .ptr .global .align 4 hashes: &mut [u32])
        .reqntid 32
    {
        .reg .pred %p, %leader, %done;
        .reg .b32 %lane, %tile, %at, %i, %v, %h, %phase;
        .reg .b64 %x, %hashes, %o, %from, %to;
        .reg .b128 %handle;
        .shared .align 16 .b8 answer[16];
        .shared .align 8 .b64 arrived;
        ld.param.u64 %x, [x];
        ld.param.u64 %hashes, [hashes];
        mov.u32 %lane, %tid.x;
        mov.u32 %tile, %ctaid.x;
        mov.u32 %phase, 0;
        setp.eq.u32 %leader, %lane, 0;
        @!%leader bra ready;
        mbarrier.init.shared::cta.b64 [arrived], 1;
        fence.mbarrier_init.release.cluster;
      ready:
        bar.sync 0;
      turn:
        @!%leader bra work;
        mbarrier.arrive.expect_tx.relaxed.cluster.shared::cta.b64 _, [arrived], 16;
        clusterlaunchcontrol.try_cancel.async.mbarrier::complete_tx::bytes.b128 [answer], [arrived];
      work:
        mad.lo.u32 %at, %tile, 1024, %lane;
        mul.wide.u32 %o, %at, 4;
        add.u64 %from, %x, %o;
        add.u64 %to, %hashes, %o;
        mov.u32 %i, 0;
      next:
        ld.global.u32 %v, [%from];
        shr.u32 %h, %v, 16;
        xor.b32 %v, %v, %h;
        mul.lo.u32 %v, %v, 0x85EBCA6B;
        shr.u32 %h, %v, 13;
        xor.b32 %v, %v, %h;
        mul.lo.u32 %v, %v, 0xC2B2AE35;
        shr.u32 %h, %v, 16;
        xor.b32 %v, %v, %h;
        st.global.u32 [%to], %v;
        add.u64 %from, %from, 128;
        add.u64 %to, %to, 128;
        add.u32 %i, %i, 1;
        setp.lt.u32 %p, %i, 32;
        @%p bra next;
      wait:
        mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %done, [arrived], %phase;
        @!%done bra wait;
        xor.b32 %phase, %phase, 1;
        ld.shared.b128 %handle, [answer];
        clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p, %handle;
        @!%p ret;
        @%p clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {%tile, _, _, _}, %handle;
        fence.proxy.async.shared::cta;                  // the answer has been read before the next one is written
        bar.sync 0;
        bra turn;
    }
}

struct Steal {
    x: Vec<u32>,
    hashes: Vec<u32>,
    hand: Vec<u32>,
}

pub fn case() -> Box<dyn Case> {
    let mut random = Random::new(31);
    Box::new(Steal { x: (0..N).map(|_| random.word()).collect(), hashes: vec![0; N], hand: vec![0; N] })
}

impl Case for Steal {
    crate::launches!(self, host => steal.launch(host, Launch::grid((N / TILE) as u32).block(32), (&self.x, &mut self.hashes)));

    fn hand(&mut self) {
        for (h, &x) in self.hand.iter_mut().zip(&self.x) {
            let v = (x ^ x >> 16).wrapping_mul(0x85EB_CA6B);
            let v = (v ^ v >> 13).wrapping_mul(0xC2B2_AE35);
            *h = v ^ v >> 16;
        }
    }

    fn agrees(&self) -> bool {
        self.hashes == self.hand
    }
}
