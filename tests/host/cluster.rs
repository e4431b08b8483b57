//! Clusters: distributed shared memory, cluster barriers, cluster launch control.

use ptx_dsl::prelude::*;

ptx! {
    <sm_90, ptx 8.0>
    .visible .entry neighbours(.param .u64 .ptr .global .align 4 d: &mut [u32]) .reqnctapercluster 4 .reqntid 32 {
        .reg .b32 %t, %r, %n, %a, %v, %g, %c;
        .reg .b64 %pd, %o;
        .shared .align 4 .b32 box[32];
        ld.param.u64 %pd, [d];
        mov.u32 %t, %tid.x;
        mov.u32 %r, %cluster_ctarank;
        mov.u32 %a, box;
        mad.lo.u32 %a, %t, 4, %a;
        mov.u32 %c, %ctaid.x;
        mad.lo.u32 %v, %c, 100, %t;
        st.shared.u32 [%a], %v;
        barrier.cluster.arrive;
        barrier.cluster.wait;
        // Read from the next CTA of the cluster.
        add.u32 %n, %r, 1;
        and.b32 %n, %n, 3;
        mapa.shared::cluster.u32 %a, %a, %n;
        ld.shared::cluster.u32 %v, [%a];
        getctarank.shared::cluster.u32 %g, %a;
        mad.lo.u32 %v, %g, 10000, %v;
        mad.lo.u32 %t, %c, 32, %t;
        mul.wide.u32 %o, %t, 4;
        add.u64 %pd, %pd, %o;
        st.global.u32 [%pd], %v;
        // Nobody exits while a peer may still read.
        barrier.cluster.arrive;
        barrier.cluster.wait;
        ret;
    }

    .visible .entry remote_arrive(.param .u64 .ptr .global .align 4 d: &mut [u32]) .reqnctapercluster 2 .reqntid 32 {
        .reg .pred %p, %first;
        .reg .b32 %r, %a, %v;
        .reg .b64 %pd;
        .shared .align 8 .b64 mb;
        ld.param.u64 %pd, [d];
        mov.u32 %r, %cluster_ctarank;
        mov.u32 %v, %tid.x;
        setp.eq.u32 %first, %v, 0;
        @%first mbarrier.init.shared::cta.b64 [mb], 32;
        fence.mbarrier_init.release.cluster;
        barrier.cluster.arrive;
        barrier.cluster.wait;
        setp.eq.u32 %p, %r, 0;
        @%p bra WAIT;
        // Every thread of CTA 1 arrives on the mbarrier of CTA 0.
        mov.u32 %a, mb;
        mapa.shared::cluster.u32 %a, %a, 0;
        mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%a];
        bra END;
    WAIT:
        mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p, [mb], 0;
        @!%p bra WAIT;
        @%first st.global.u32 [%pd], 1;
    END:
        barrier.cluster.arrive;
        barrier.cluster.wait;
        ret;
    }
}

#[test]
fn distributed_shared_memory_reads_a_peer() {
    let mut d = vec![0u32; 8 * 32];
    neighbours.launch(&Host::new(), Launch::grid(8), (&mut d,)).unwrap();
    for cta in 0..8u32 {
        for t in 0..32 {
            let peer = (cta % 4 + 1) % 4;
            let expected = (cta / 4 * 4 + peer) * 100 + t + peer * 10000;
            assert_eq!(d[(cta * 32 + t) as usize], expected);
        }
    }
}

#[test]
fn a_peer_arrives_on_a_remote_mbarrier() {
    let mut d = [0u32];
    remote_arrive.launch(&Host::new(), Launch::grid(2), (&mut d,)).unwrap();
    assert_eq!(d, [1]);
}

/// Thread 0 of each CTA arrives on an mbarrier by a generic address, that of the CTA whose rank differs by `n`.
macro_rules! arrive_by_generic_address {
    ($name:ident, $($arrive:tt)*) => {
        ptx! {
            <sm_90, ptx 8.0, allow(PTX0635)>
            .visible .entry $name(.param .u32 n) .reqnctapercluster 2 .reqntid 32 {
                .reg .pred %first;
                .reg .b32 %r, %v;
                .reg .b64 %a, %s;
                .shared .align 8 .b64 mb;
                mov.u32 %v, %tid.x;
                setp.eq.u32 %first, %v, 0;
                @%first mbarrier.init.shared::cta.b64 [mb], 1;
                fence.mbarrier_init.release.cluster;
                barrier.cluster.arrive;
                barrier.cluster.wait;
                mov.u32 %r, %cluster_ctarank;
                ld.param.u32 %v, [n];
                xor.b32 %r, %r, %v;
                cvta.shared.u64 %a, mb;
                mapa.u64 %a, %a, %r;
                @%first $($arrive)*
                barrier.cluster.arrive;
                barrier.cluster.wait;
                ret;
            }
        }
    };
}
arrive_by_generic_address!(kept, mbarrier.arrive.release.cluster.b64 %s, [%a];);
arrive_by_generic_address!(dropped, mbarrier.arrive_drop.release.cluster.b64 %s, [%a];);
arrive_by_generic_address!(of_bytes, mbarrier.arrive.expect_tx.release.cluster.b64 %s, [%a], 16;);
arrive_by_generic_address!(no_state, mbarrier.arrive.release.cluster.b64 _, [%a];);

/// Launches on the plain host and on the checked one, which accesses memory lane by lane.
macro_rules! on_both_hosts {
    ($kernel:ident, $n:literal) => {{
        let plain = $kernel.launch(&Host::new(), Launch::grid(2), ($n,)).map(drop);
        let checked = $kernel.launch(&Host::checked(), Launch::grid(2), ($n,)).map(drop);
        [plain, checked].map(|report| report.err().map_or(String::new(), |e| e.to_string()))
    }};
}

#[test]
fn a_peer_returns_no_state() {
    // The executing CTA's object, and a peer's without a qualifier.
    assert_eq!(on_both_hosts!(kept, 0), ["", ""]);
    assert_eq!(on_both_hosts!(dropped, 0), ["", ""]);
    assert_eq!(on_both_hosts!(no_state, 1), ["", ""]);
    for (reports, section) in [
        (on_both_hosts!(kept, 1), "9.7.13.15.13"),
        (on_both_hosts!(dropped, 1), "9.7.13.15.14"),
        (on_both_hosts!(of_bytes, 1), "9.7.13.15.13"),
    ] {
        for report in reports {
            assert!(report.contains("asks for a state") && report.contains(section), "{report}");
        }
    }
}

ptx! {
    <sm_100, ptx 8.6>
    .visible .entry steal(.param .u64 .ptr .global .align 4 seen: &mut [u32]) .reqntid 1 {
        .reg .pred %p;
        .reg .b32 %x, %old;
        .reg .b64 %ps, %a, %o, %state;
        .reg .b128 %handle;
        .shared .align 16 .b128 response;
        .shared .align 8 .b64 mb;
        ld.param.u64 %ps, [seen];
        mov.u32 %x, %ctaid.x;
        mbarrier.init.shared::cta.b64 [mb], 1;
    NEXT:
        mbarrier.arrive.expect_tx.relaxed.cluster.shared::cta.b64 %state, [mb], 16;
        clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [response], [mb];
        mul.wide.u32 %o, %x, 4;
        add.u64 %a, %ps, %o;
        atom.global.add.u32 %old, [%a], 1;
    WAIT:
        mbarrier.try_wait.acquire.cluster.shared::cta.b64 %p, [mb], %state;
        @!%p bra WAIT;
        ld.shared.b128 %handle, [response];
        clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p, %handle;
        @!%p ret;
        clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %x, %handle;
        fence.proxy.async.shared::cta;
        bra NEXT;
    }
}

#[test]
fn every_cluster_is_worked_on_exactly_once() {
    for seed in 0..6 {
        for resident in [1, 3, 100] {
            let host = Host::new().seed(seed).resident_clusters(resident);
            let mut seen = [0u32; 50];
            let report = steal.launch(&host, Launch::grid(50), (&mut seen,)).unwrap();
            assert_eq!(seen, [1; 50], "seed {seed}, resident {resident}");
            assert_eq!(report.clusters_launched + report.clusters_cancelled, 50);
        }
    }
}

#[test]
fn a_response_is_not_there_before_it_was_waited_for() {
    // The kernel reads the response at once: it must be able to see the old bytes.
    let k = ptx!(<sm_100, ptx 8.6> |d: &mut [u64]| {
        .reg .pred %p;
        .reg .b64 %pd, %state, %before, %after;
        .shared .align 16 .b8 response[16];
        .shared .align 8 .b64 mb;
        ld.param.u64 %pd, [d];
        st.shared.u64 [response], 12345;
        st.shared.u64 [response + 8], 12345;
        mbarrier.init.shared::cta.b64 [mb], 1;
        mbarrier.arrive.expect_tx.shared::cta.b64 %state, [mb], 16;
        clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [response], [mb];
        ld.shared.u64 %before, [response];
    WAIT:
        mbarrier.try_wait.shared::cta.b64 %p, [mb], %state;
        @!%p bra WAIT;
        ld.shared.u64 %after, [response];
        st.global.u64 [%pd], %before;
        setp.ne.u64 %p, %after, %before;
        selp.u64 %after, 1, 0, %p;
        st.global.u64 [%pd + 8], %after;
    });
    let mut d = [0u64; 2];
    k.launch(&Host::new(), Launch::grid(1).block(1), (&mut d,)).unwrap();
    assert_eq!(d, [12345, 1]);
}

ptx! {
    <sm_90, ptx 8.0>
    // The address of a shared variable has the rank of its CTA: with bit 24 cleared it is that of the even CTA of a pair.
    .visible .entry even_cta(.param .u64 .ptr .global .align 4 d: &mut [u32]) .reqnctapercluster 4 .reqntid 32 {
        .reg .pred %p, %first;
        .reg .b32 %r, %a, %even, %odd, %v, %g;
        .reg .b64 %pd, %o, %ga;
        .shared .align 8 .b64 mb;
        .shared .align 4 .b32 word;
        ld.param.u64 %pd, [d];
        mov.u32 %r, %cluster_ctarank;
        mov.u32 %v, %tid.x;
        setp.eq.u32 %first, %v, 0;
        @%first mbarrier.init.shared::cta.b64 [mb], 64;
        @%first st.shared.u32 [word], %r;
        fence.mbarrier_init.release.cluster;
        barrier.cluster.arrive;
        barrier.cluster.wait;
        // All threads of a pair arrive at the object of the even CTA.
        mov.u32 %a, mb;
        and.b32 %even, %a, 0xFEFFFFFF;
        mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%even];
        // The word of the other CTA, by an address and by a generic one.
        mov.u32 %odd, word;
        xor.b32 %odd, %odd, 0x01000000;
        ld.shared::cluster.u32 %v, [%odd];
        cvta.shared::cluster.u64 %ga, word;
        xor.b64 %ga, %ga, 0x01000000;
        ld.u32 %g, [%ga];
        mad.lo.u32 %v, %g, 10, %v;
        getctarank.shared::cluster.u32 %g, %even;
        mad.lo.u32 %v, %g, 100, %v;
        and.b32 %g, %r, 1;
        setp.ne.u32 %p, %g, 0;
        @%p bra END;
    WAIT:
        mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p, [mb], 0;
        @!%p bra WAIT;
        add.u32 %v, %v, 1000;
    END:
        mul.wide.u32 %o, %r, 4;
        add.u64 %pd, %pd, %o;
        @%first st.global.u32 [%pd], %v;
        barrier.cluster.arrive;
        barrier.cluster.wait;
        ret;
    }
}

#[test]
fn a_shared_address_has_the_rank_of_its_cta() {
    // The rank of the other CTA once and ten times, of the even one a hundred times; even CTAs saw all arrivals.
    let expected = [1011, 0, 1233, 222];
    let (mut plain, mut checked) = ([0u32; 4], [0u32; 4]);
    even_cta.launch(&Host::new(), Launch::grid(4), (&mut plain,)).unwrap();
    even_cta.launch(&Host::checked(), Launch::grid(4), (&mut checked,)).unwrap();
    assert_eq!((plain, checked), (expected, expected));
}
