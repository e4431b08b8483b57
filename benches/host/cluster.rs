//! Sums over 16 M elements by clusters of four CTAs, which read each other's shared memory.

use super::Case;
use ptx_dsl::prelude::*;
use ptx_dsl_test_support::random::Random;

const N: usize = 1 << 24;
/// Elements of a cluster: 4 CTAs of 256 threads, 16 a thread.
const SHARE: usize = 4 * 256 * 16;

ptx! {
    <sm_90, ptx 8.0>
    // Every thread sums 16 elements. Each CTA then adds up its quarter of the sums of all four CTAs, and CTA 0 adds the quarters.
    .visible .entry cluster(
        .param .u64 .ptr .global .align 4 x: &[u32],
        .param .u64 .ptr .global .align 4 sums: &mut [u32])
        .reqntid 256
        .reqnctapercluster 4
    {
        .reg .pred %p;
        .reg .b32 %t, %b, %rank, %at, %i, %v, %sum, %mine, %far, %number;
        .reg .b64 %x, %o;
        .shared .align 4 .b8 part[1024];
        .shared .align 4 .b32 total;
        ld.param.u64 %x, [x];
        mov.u32 %t, %tid.x;
        mov.u32 %b, %ctaid.x;
        mov.u32 %rank, %cluster_ctarank;
        mad.lo.u32 %at, %b, 4096, %t;
        mul.wide.u32 %o, %at, 4;
        add.u64 %x, %x, %o;
        mov.u32 %sum, 0;
        mov.u32 %i, 0;
      next:
        ld.global.u32 %v, [%x];
        add.u32 %sum, %sum, %v;
        add.u64 %x, %x, 1024;
        add.u32 %i, %i, 1;
        setp.lt.u32 %p, %i, 16;
        @%p bra next;
        mov.u32 %at, part;
        mad.lo.u32 %mine, %t, 4, %at;
        st.shared.u32 [%mine], %sum;
        setp.eq.u32 %p, %t, 0;
        @%p st.shared.u32 [total], 0;
        barrier.cluster.arrive;
        barrier.cluster.wait;

        // two warps of each CTA
        setp.ge.u32 %p, %t, 64;
        @%p bra finish;
        mad.lo.u32 %mine, %rank, 256, %mine;
        mapa.shared::cluster.u32 %far, %mine, 0;
        ld.shared::cluster.u32 %sum, [%far];
        mapa.shared::cluster.u32 %far, %mine, 1;
        ld.shared::cluster.u32 %v, [%far];
        add.u32 %sum, %sum, %v;
        mapa.shared::cluster.u32 %far, %mine, 2;
        ld.shared::cluster.u32 %v, [%far];
        add.u32 %sum, %sum, %v;
        mapa.shared::cluster.u32 %far, %mine, 3;
        ld.shared::cluster.u32 %v, [%far];
        add.u32 %sum, %sum, %v;
        redux.sync.add.u32 %sum, %sum, -1;
        and.b32 %i, %t, 31;
        setp.ne.u32 %p, %i, 0;
        @%p bra finish;
        mov.u32 %at, total;
        mapa.shared::cluster.u32 %far, %at, 0;
        red.relaxed.cluster.shared::cluster.add.u32 [%far], %sum;
      finish:
        barrier.cluster.arrive;
        barrier.cluster.wait;
        or.b32 %i, %rank, %t;
        setp.ne.u32 %p, %i, 0;
        @%p ret;
        ld.shared.u32 %sum, [total];
        mov.u32 %number, %clusterid.x;
        ld.param.u64 %x, [sums];
        mul.wide.u32 %o, %number, 4;
        add.u64 %x, %x, %o;
        st.global.u32 [%x], %sum;
        ret;
    }
}

struct Cluster {
    x: Vec<u32>,
    sums: Vec<u32>,
    hand: Vec<u32>,
}

pub fn case() -> Box<dyn Case> {
    let mut random = Random::new(29);
    let x = (0..N).map(|_| random.word()).collect();
    Box::new(Cluster { x, sums: vec![0; N / SHARE], hand: vec![0; N / SHARE] })
}

impl Case for Cluster {
    crate::launches!(self, host => cluster.launch(
        host,
        Launch::grid((N / 4096) as u32).block(256).cluster(4),
        (&self.x, &mut self.sums)
    ));

    fn hand(&mut self) {
        for (sum, x) in self.hand.iter_mut().zip(self.x.chunks(SHARE)) {
            *sum = x.iter().fold(0, |s, x| s.wrapping_add(*x));
        }
    }

    fn agrees(&self) -> bool {
        self.sums == self.hand
    }
}
