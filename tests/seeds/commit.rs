//! The page on `tcgen05.commit` (manual 9.7.16.12.1): what it tracks, what it signals, where.

use ptx_dsl::prelude::*;

ptx! {
    <sm_100a, ptx 8.6>

    // Example 1 of the page: a copy to Tensor Memory, tracked by an mbarrier.
    .visible .entry example_1(.param .u64 .ptr .global .align 4 out: &mut [u32])
        .reqntid 32
    {
        .reg .pred p, leader;
        .reg .b32 taddr0, r, at;
        .reg .b64 sdesc0, place;
        .shared .align 4 .b32 tensor;
        .shared .align 8 .b64 mbarObj1;
        .shared .align 128 .b8 data[4096];
        tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [tensor], 32;
        ld.shared.b32 taddr0, [tensor];
        // word 0 of row r holds 7 * r + 1; 128 rows of 32 bytes in core matrices of 8 rows of 16 bytes
        mov.u32 r, %tid.x;
        setp.ne.u32 p, r, 0;
        @p bra ready;
        mbarrier.init.shared::cta.b64 [mbarObj1], 1;
      ready:
        shl.b32 at, r, 4;
        mov.u32 r, data;
        add.u32 at, at, r;
        mov.u32 r, %tid.x;
        mad.lo.u32 r, r, 7, 1;
        st.shared.b32 [at], r;
        fence.proxy.async.shared::cta;
        bar.warp.sync -1;
        // no swizzle: 2048 bytes to the second half of the columns, 128 bytes to the next 8 rows
        mov.u32 r, data;
        shr.u32 r, r, 4;
        cvt.u64.u32 sdesc0, r;
        or.b64 sdesc0, sdesc0, 0x0000400800800000;
        elect.sync _|leader, -1;
        @!leader bra loop;
        tcgen05.cp.cta_group::1.128x256b                      [taddr0], sdesc0;
        tcgen05.commit.cta_group::1.mbarrier::arrive::one.b64 [mbarObj1];
      loop:
        mbarrier.try_wait.parity.b64 p, [mbarObj1], 0;
        @!p bra loop;
        tcgen05.fence::after_thread_sync;
        tcgen05.ld.sync.aligned.32x32b.x1.b32 {r}, [taddr0];
        tcgen05.wait::ld.sync.aligned;
        ld.param.u64 place, [out];
        mov.u32 at, %tid.x;
        mad.wide.u32 place, at, 4, place;
        st.global.b32 [place], r;
        tcgen05.dealloc.cta_group::1.sync.aligned.b32 taddr0, 32;
        exit;
    }

    // A commit of nothing signals at once, and once for each thread that executes it; `.multicast::cluster` signals the
    // same offset in the CTAs of the mask.
    .visible .entry multicast(.param .u64 .ptr .global .align 4 out: &mut [u32], .param .u32 mask)
        .reqntid 32
        .reqnctapercluster 4
    {
        .reg .pred %p, %leader;
        .reg .b16 %mask;
        .reg .b32 %rank, %done, %tries;
        .reg .b64 %out;
        .shared .align 8 .b64 mbar;
        mov.u32 %rank, %cluster_ctarank;
        elect.sync _|%leader, -1;
        @%leader mbarrier.init.shared::cta.b64 [mbar], 1;
        @%leader fence.mbarrier_init.release.cluster;
        barrier.cluster.arrive;
        barrier.cluster.wait;
        ld.param.u16 %mask, [mask];
        setp.eq.and.u32 %p, %rank, 0, %leader;
        @%p tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [mbar], %mask;
        // signalled or not, everybody looks for a while
        mov.u32 %tries, 0;
      look:
        mbarrier.test_wait.parity.acquire.cluster.shared::cta.b64 %p, [mbar], 0;
        nanosleep.u32 100;
        add.u32 %tries, %tries, 1;
        setp.lt.and.u32 %p, %tries, 4000, !%p;
        @%p bra look;
        mbarrier.test_wait.parity.acquire.cluster.shared::cta.b64 %p, [mbar], 0;
        selp.u32 %done, 1, 0, %p;
        ld.param.u64 %out, [out];
        mad.wide.u32 %out, %rank, 4, %out;
        @%leader st.global.u32 [%out], %done;
        barrier.cluster.arrive;
        barrier.cluster.wait;
        ret;
    }

    // An address that is not a place in shared memory.
    .visible .entry outside()
    {
        .reg .pred %leader;
        .reg .b64 %a;
        mov.u64 %a, 0;
        elect.sync _|%leader, -1;
        @%leader tcgen05.commit.cta_group::1.mbarrier::arrive::one.b64 [%a];
        ret;
    }
}

#[test]
fn example_1_waits_for_the_copy() {
    for host in [Host::new(), Host::new().seed(1), Host::new().seed(2)] {
        let mut out = [0u32; 32];
        example_1.launch(&host, Launch::grid(1).block(32), (&mut out,)).unwrap();
        assert_eq!(out, std::array::from_fn::<_, 32, _>(|i| 7 * i as u32 + 1));
    }
}

#[test]
fn the_signal_goes_to_each_cta_of_the_mask_and_no_other() {
    for mask in [0b0001u32, 0b0110, 0b1111, 0b1000] {
        let mut out = [9u32; 4];
        multicast.launch(&Host::new(), Launch::grid(4).block(32), (&mut out, mask)).unwrap();
        assert_eq!(out, std::array::from_fn::<_, 4, _>(|rank| mask >> rank & 1));
    }
}

#[test]
fn a_rank_that_the_cluster_does_not_have() {
    let error =
        multicast.launch(&Host::new(), Launch::grid(4).block(32), (&mut [0u32; 4], 0x10)).unwrap_err().to_string();
    assert!(error.contains("CTA rank 4 in a cluster of 4"), "{error}");
}

#[test]
fn an_address_outside_of_shared_memory() {
    let error = outside.launch(&Host::new(), Launch::grid(1).block(32), ()).unwrap_err().to_string();
    assert!(error.contains("shared memory") && error.contains("tcgen05.commit"), "{error}");
}
