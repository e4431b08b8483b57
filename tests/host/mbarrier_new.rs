//! The mbarrier forms of PTX ISA 9.3 and 9.4, `cp.async.mbarrier.arrive`, and `mbarrier.init` over a live object
//! (manual 9.7.13.15).

use ptx_dsl::prelude::*;

fn one() -> Launch {
    Launch::grid(1).block(1)
}

#[test]
fn layouts_are_told_apart() {
    let k = ptx!(<sm_90, ptx 9.3> |d: &mut [u32]| {
        .reg .pred %p<4>;
        .reg .b32 %v<5>;
        .reg .b64 %pd, %state, %g;
        .shared .align 8 .b64 mb[2];
        ld.param.u64 %pd, [d];
        mbarrier.init.layout::v1.shared::cta.b64 [mb], 511;
        mbarrier.init.layout::v0.shared::cta.b64 [mb + 8], 512;
        mbarrier.check_layout.layout::v0.shared::cta.b64 %p0, [mb];
        mbarrier.check_layout.layout::v1.shared::cta.b64 %p1, [mb];
        mbarrier.check_layout.layout::v0.shared::cta.b64 %p2, [mb + 8];
        mov.u64 %g, mb;
        cvta.shared.u64 %g, %g;
        mbarrier.check_layout.layout::v1.b64 %p3, [%g + 8];
        mbarrier.arrive.noComplete.shared::cta.b64 %state, [mb + 8], 12;
        mbarrier.arrive.noComplete.shared::cta.b64 %state, [mb + 8], 1;
        mbarrier.pending_count.layout::v0.b64 %v4, %state;
        selp.u32 %v0, 1, 0, %p0;
        selp.u32 %v1, 1, 0, %p1;
        selp.u32 %v2, 1, 0, %p2;
        selp.u32 %v3, 1, 0, %p3;
        st.global.u32 [%pd], %v0;
        st.global.u32 [%pd + 4], %v1;
        st.global.u32 [%pd + 8], %v2;
        st.global.u32 [%pd + 12], %v3;
        st.global.u32 [%pd + 16], %v4;
    });
    let mut d = [9u32; 5];
    k.launch(&Host::new(), one(), (&mut d,)).unwrap();
    assert_eq!(d, [0, 1, 1, 0, 500]);
}

#[test]
fn an_object_of_layout_v1_has_counts_of_nine_bits() {
    let k = ptx!(<sm_90, ptx 9.3> |n: u32| {
        .reg .b32 %n;
        .shared .align 8 .b64 mb;
        ld.param.u32 %n, [n];
        mbarrier.init.layout::v1.shared::cta.b64 [mb], %n;
    });
    k.launch(&Host::new(), one(), (511,)).unwrap();
    let report = k.launch(&Host::new(), one(), (512,)).unwrap_err().to_string();
    assert!(report.contains("512") && report.contains("511"), "{report}");
}

#[test]
fn waits_of_each_phase_type_follow_the_phase_and_find_no_report() {
    let k = ptx!(<sm_90, ptx 9.3> |d: &mut [u32]| {
        .reg .pred %p, %q;
        .reg .b8 %report;
        .reg .b32 %t, %v, %r;
        .reg .b64 %pd, %state;
        .shared .align 8 .b64 mb;
        ld.param.u64 %pd, [d];
        mov.u32 %t, %tid.x;
        setp.ne.u32 %p, %t, 0;
        @%p bra READY;
        mbarrier.init.layout::v1.shared::cta.b64 [mb], 2;
        mbarrier.arrive.shared::cta.b64 %state, [mb];
        // One arrival of two: nothing is complete.
        cvt.u8.u32 %report, 77;
        mbarrier.test_wait.phase_type::primary.shared::cta.b64 %p|%q, %report, [mb], %state;
        selp.u32 %v, 1, 0, %p;
        selp.u32 %t, 2, 0, %q;
        or.b32 %v, %v, %t;
        st.global.u32 [%pd], %v;
        mbarrier.test_wait.parity.phase_type::conditional.acquire.cta.shared::cta.b64 %p, [mb], 0;
        selp.u32 %v, 1, 0, %p;
        st.global.u32 [%pd + 4], %v;
    READY:
        bar.sync 0;
        mov.u32 %t, %tid.x;
        setp.ge.u32 %p, %t, 32;
        @%p bra WAIT;
        setp.eq.u32 %p, %t, 5;
        @%p mbarrier.arrive.shared::cta.b64 _, [mb];
        setp.ne.u32 %p, %t, 0;
        @%p ret;
    OWN:
        cvt.u8.u32 %report, 77;
        mbarrier.try_wait.phase_type::primary.shared::cta.b64 %p|%q, %report, [mb], %state, 100;
        @!%p bra OWN;
        cvt.u32.u8 %r, %report;
        selp.u32 %v, 256, 0, %q;
        or.b32 %v, %v, %r;
        st.global.u32 [%pd + 8], %v;
        ret;
    WAIT:
        mbarrier.try_wait.parity.phase_type::conditional.shared::cta.b64 %p, [mb], 0;
        @!%p bra WAIT;
        mbarrier.test_wait.parity.phase_type::primary.shared::cta.b64 %p|%q, [mb], 0;
        selp.u32 %v, 1, 0, %p;
        selp.u32 %r, 2, 0, %q;
        or.b32 %v, %v, %r;
        // Two phases are distinguished: the next one is not complete.
        mbarrier.try_wait.parity.phase_type::primary.shared::cta.b64 %p|%q, [mb], 1, 1;
        selp.u32 %r, 4, 0, %p;
        or.b32 %v, %v, %r;
        st.global.u32 [%pd + 12], %v;
    });
    for seed in 0..4 {
        let mut d = [99u32; 4];
        k.launch(&Host::new().seed(seed), Launch::grid(1).block(64), (&mut d,)).unwrap();
        assert_eq!(d, [0, 0, 0, 1], "seed {seed}");
    }
}

ptx! {
    <sm_107f, ptx 9.4>
    .visible .entry multicast(.param .u64 .ptr .global .align 4 d: &mut [u32]) .reqnctapercluster 4 .reqntid 1 {
        .reg .pred %p, %is<4>;
        .reg .b32 %r, %v, %left, %next;
        .reg .b64 %pd, %o, %state;
        .shared .align 8 .b64 mb[3];
        ld.param.u64 %pd, [d];
        mov.u32 %r, %cluster_ctarank;
        mul.wide.u32 %o, %r, 16;
        add.u64 %pd, %pd, %o;
        setp.eq.u32 %is0, %r, 0;
        setp.eq.u32 %is1, %r, 1;
        setp.eq.u32 %is2, %r, 2;
        setp.eq.u32 %is3, %r, 3;
        mbarrier.init.shared::cta.b64 [mb + 16], 8;
        fence.mbarrier_init.release.cluster;
        barrier.cluster.arrive;
        barrier.cluster.wait;
        @%is0 mbarrier.arrive.release.cluster.shared::cluster.multicast::cluster::32b.b64 _, [mb + 16], 2, 0b1011;
        @%is1 mbarrier.arrive.shared::cluster.multicast::cluster::32b.b64 _, [mb + 16], 0b1111;
        @%is2 mbarrier.expect_tx.relaxed.cluster.shared::cluster.multicast::cluster::32b.b64 [mb + 16], 24, 0b0101;
        @%is3 mbarrier.arrive_drop.shared::cluster.multicast::cluster::32b.b64 _, [mb + 16], 1, 0b1000;
        @%is3 mbarrier.arrive.expect_tx.shared::cluster.multicast::cluster::32b.b64 _, [mb + 16], 8, 0b0010;
        barrier.cluster.arrive;
        barrier.cluster.wait;
        mbarrier.arrive.noComplete.shared::cta.b64 %state, [mb + 16], 1;
        mbarrier.pending_count.b64 %v, %state;
        st.global.u32 [%pd], %v;
        // All arrivals have come; bytes are missing in three of the four.
        sub.u32 %left, %v, 1;
        mbarrier.arrive.shared::cta.b64 _, [mb + 16], %left;
        mbarrier.test_wait.parity.shared::cta.b64 %p, [mb + 16], 0;
        selp.u32 %v, 1, 0, %p;
        st.global.u32 [%pd + 4], %v;
        barrier.cluster.arrive;
        barrier.cluster.wait;
        @%is1 mbarrier.complete_tx.shared::cluster.multicast::cluster::32b.b64 [mb + 16], 24, 0b0101;
        @%is2 mbarrier.complete_tx.relaxed.cluster.shared::cluster.multicast::cluster::32b.b64 [mb + 16], 8, 0b0010;
        barrier.cluster.arrive;
        barrier.cluster.wait;
        mbarrier.test_wait.parity.shared::cta.b64 %p, [mb + 16], 0;
        selp.u32 %v, 1, 0, %p;
        st.global.u32 [%pd + 8], %v;
        mbarrier.arrive.noComplete.shared::cta.b64 %state, [mb + 16], 1;
        mbarrier.pending_count.b64 %next, %state;
        st.global.u32 [%pd + 12], %next;
        barrier.cluster.arrive;
        barrier.cluster.wait;
        ret;
    }

    .visible .entry too_far(.param .u32 mask: u32) .reqnctapercluster 2 .reqntid 1 {
        .reg .pred %p;
        .reg .b32 %r, %m;
        .shared .align 8 .b64 mb;
        ld.param.u32 %m, [mask];
        mbarrier.init.shared::cta.b64 [mb], 9;
        barrier.cluster.arrive;
        barrier.cluster.wait;
        mbarrier.arrive_drop.expect_tx.shared::cluster.multicast::cluster::32b.b64 _, [mb], 16, %m;
        barrier.cluster.arrive;
        barrier.cluster.wait;
        ret;
    }
}

#[test]
fn a_multicast_reaches_the_objects_of_its_mask() {
    for seed in 0..4 {
        let mut d = [[99u32; 4]; 4];
        multicast.launch(&Host::new().seed(seed), Launch::grid(4), (d.as_flattened_mut(),)).unwrap();
        // Pending of 8 less the arrivals; complete without bytes; complete with bytes; pending in the next phase.
        assert_eq!(d, [[5, 0, 1, 8], [4, 0, 1, 8], [7, 0, 1, 8], [4, 1, 1, 7]], "seed {seed}");
    }
}

#[test]
fn a_multicast_to_a_rank_outside_of_the_cluster_is_reported() {
    for mask in [0, 1, 2, 3] {
        too_far.launch(&Host::new(), Launch::grid(2), (mask,)).unwrap();
    }
    let report = too_far.launch(&Host::new(), Launch::grid(2), (5,)).unwrap_err().to_string();
    assert!(report.contains("rank 2") && report.contains("cluster of 2"), "{report}");
}

#[test]
fn without_copies_cp_async_mbarrier_arrive_comes_at_once() {
    let k = ptx!(<sm_90, ptx 8.0> |d: &mut [u32]| {
        .reg .pred %p, %q;
        .reg .b32 %t, %v, %w;
        .reg .b64 %pd, %state;
        .shared .align 8 .b64 mb[2];
        ld.param.u64 %pd, [d];
        mov.u32 %t, %tid.x;
        setp.eq.u32 %p, %t, 0;
        @%p mbarrier.init.shared::cta.b64 [mb], 40;
        @%p mbarrier.init.shared::cta.b64 [mb + 8], 32;
        bar.sync 0;
        cp.async.mbarrier.arrive.shared::cta.b64 [mb];
        cp.async.mbarrier.arrive.noinc.shared::cta.b64 [mb + 8];
        bar.sync 0;
        @!%p ret;
        mbarrier.arrive.noComplete.shared::cta.b64 %state, [mb], 3;
        mbarrier.pending_count.b64 %v, %state;
        mbarrier.test_wait.parity.shared::cta.b64 %q, [mb + 8], 0;
        selp.u32 %w, 1, 0, %q;
        st.global.u32 [%pd], %v;
        st.global.u32 [%pd + 4], %w;
    });
    let mut d = [0u32; 2];
    k.launch(&Host::new(), Launch::grid(1).block(32), (&mut d,)).unwrap();
    assert_eq!(d, [40, 1]);
}

#[test]
fn an_increment_beyond_the_largest_count_and_an_arrival_too_many_are_reported() {
    let increment = ptx!(<sm_90, ptx 8.0> |n: u32| {
        .reg .b32 %n;
        .shared .align 8 .b64 mb;
        ld.param.u32 %n, [n];
        mbarrier.init.shared::cta.b64 [mb], %n;
        cp.async.mbarrier.arrive.shared::cta.b64 [mb];
    });
    increment.launch(&Host::new(), one(), (1_048_574,)).unwrap();
    let report = increment.launch(&Host::new(), one(), (1_048_575,)).unwrap_err().to_string();
    assert!(report.contains("1048575") && report.contains("pending"), "{report}");

    let counted = ptx!(<sm_90, ptx 8.0> || {
        .shared .align 8 .b64 mb;
        mbarrier.init.shared::cta.b64 [mb], 4;
        mbarrier.expect_tx.shared::cta.b64 [mb], 1;
        mbarrier.arrive.shared::cta.b64 _, [mb], 4;
        cp.async.mbarrier.arrive.noinc.shared::cta.b64 [mb];
    });
    let report = counted.launch(&Host::new(), one(), ()).unwrap_err().to_string();
    assert!(report.contains("pending count is 0"), "{report}");
}

#[test]
fn the_checked_host_reports_an_init_over_a_live_object() {
    let over = ptx!(<sm_90, ptx 8.0> || {
        .shared .align 8 .b64 mb[2];
        .reg .b32 %t, %o;
        // An address that the compiler does not know.
        mov.u32 %t, %tid.x;
        mov.u32 %o, mb;
        add.u32 %o, %o, %t;
        mbarrier.init.shared::cta.b64 [mb], 1;
        mbarrier.init.shared::cta.b64 [mb + 8], 1;
        mbarrier.init.shared::cta.b64 [%o + 8], 2;
    });
    over.launch(&Host::new(), one(), ()).unwrap();
    let report = over.launch(&Host::checked(), one(), ()).unwrap_err().to_string();
    for words in ["`mbarrier.init` over a live mbarrier object", "mbarrier.init.shared::cta.b64 [%o+8], 2;"] {
        assert!(report.replace(" + ", "+").contains(words), "`{words}` is not in:\n{report}");
    }

    let after = ptx!(<sm_90, ptx 8.0> || {
        .shared .align 8 .b64 mb;
        mbarrier.init.shared::cta.b64 [mb], 1;
        mbarrier.inval.shared::cta.b64 [mb];
        mbarrier.init.shared::cta.b64 [mb], 2;
    });
    // Each CTA has its own object at that offset, also in a slot of a CTA that has exited.
    after.launch(&Host::checked().resident_clusters(2), Launch::grid(5).block(1), ()).unwrap();
}
