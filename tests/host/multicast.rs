//! An operation on several CTAs reaches each at a time of its own, and a seed chooses which cluster is cancelled. A kernel that
//! waits in one CTA for all of them, or relies on an order, is right in some schedules and wrong in others.

use ptx_dsl::Error;
use ptx_dsl::prelude::*;
use std::collections::BTreeSet;

ptx! {
    <sm_100a, ptx 8.6, allow(PTX0602)>

    // CTA 0 makes a request for both and waits for its own response; CTA 1 then checks whether there is one for it, and waits.
    .visible .entry response(.param .u64 .ptr .global .align 4 out: &mut [u32])
        .explicitcluster .reqnctapercluster 2, 1, 1 .reqntid 1, 1, 1
    {
        .reg .pred %first, %there, %done;
        .reg .b32 %rank, %seen;
        .reg .b64 %out, %at;
        .shared .align 16 .b8 answer[16];
        .shared .align 8 .b64 bar;
        ld.param.u64 %out, [out];
        mov.u32 %rank, %cluster_ctarank;
        setp.eq.u32 %first, %rank, 0;
        mbarrier.init.shared.b64 [bar], 1;
        fence.mbarrier_init.release.cluster;
        mbarrier.arrive.expect_tx.relaxed.cluster.shared::cta.b64 _, [bar], 16;
        barrier.cluster.arrive;
        barrier.cluster.wait;
        @!%first bra asked;
        clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.multicast::cluster::all.b128 [answer], [bar];
      own:
        mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %done, [bar], 0;
        @!%done bra own;
      asked:
        barrier.cluster.arrive;
        barrier.cluster.wait;
        mbarrier.test_wait.parity.acquire.cluster.shared::cta.b64 %there, [bar], 0;
        selp.u32 %seen, 1, 0, %there;
        mul.wide.u32 %at, %rank, 4;
        add.u64 %out, %out, %at;
        st.global.u32 [%out], %seen;
      wait:
        mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %done, [bar], 0;
        @!%done bra wait;
        barrier.cluster.arrive;
        barrier.cluster.wait;
        ret;
    }

    // The same with a commit: CTA 0 commits for both and waits for its own arrival; CTA 1 checks.
    .visible .entry commit(.param .u64 .ptr .global .align 4 out: &mut [u32])
        .explicitcluster .reqnctapercluster 2, 1, 1 .reqntid 1, 1, 1
    {
        .reg .pred %first, %there, %done;
        .reg .b16 %both;
        .reg .b32 %rank, %seen;
        .reg .b64 %out, %at;
        .shared .align 8 .b64 bar;
        ld.param.u64 %out, [out];
        mov.u32 %rank, %cluster_ctarank;
        setp.eq.u32 %first, %rank, 0;
        mbarrier.init.shared.b64 [bar], 1;
        fence.mbarrier_init.release.cluster;
        barrier.cluster.arrive;
        barrier.cluster.wait;
        @!%first bra asked;
        mov.b16 %both, 3;
        tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [bar], %both;
      own:
        mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %done, [bar], 0;
        @!%done bra own;
      asked:
        barrier.cluster.arrive;
        barrier.cluster.wait;
        mbarrier.test_wait.parity.acquire.cluster.shared::cta.b64 %there, [bar], 0;
        selp.u32 %seen, 1, 0, %there;
        mul.wide.u32 %at, %rank, 4;
        add.u64 %out, %out, %at;
        st.global.u32 [%out], %seen;
      wait:
        mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %done, [bar], 0;
        @!%done bra wait;
        barrier.cluster.arrive;
        barrier.cluster.wait;
        ret;
    }

    // CTA 0 waits for its own arrival and releases CTA 1, which relies on having one too.
    .visible .entry counts_on_both() .explicitcluster .reqnctapercluster 2, 1, 1 .reqntid 1, 1, 1
    {
        .reg .pred %first, %there, %done;
        .reg .b16 %both;
        .reg .b32 %rank;
        .shared .align 8 .b64 bar;
        mov.u32 %rank, %cluster_ctarank;
        setp.eq.u32 %first, %rank, 0;
        mbarrier.init.shared.b64 [bar], 1;
        fence.mbarrier_init.release.cluster;
        barrier.cluster.arrive;
        barrier.cluster.wait;
        @!%first bra asked;
        mov.b16 %both, 3;
        tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [bar], %both;
      own:
        mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %done, [bar], 0;
        @!%done bra own;
      asked:
        barrier.cluster.arrive;
        barrier.cluster.wait;
        mbarrier.test_wait.parity.acquire.cluster.shared::cta.b64 %there, [bar], 0;
        @!%there trap;
        barrier.cluster.arrive;
        barrier.cluster.wait;
        ret;
    }

    // Cancels all clusters, and records the responses.
    .visible .entry cancel_all(.param .u64 .ptr .global .align 4 out: &mut [u32]) .reqntid 1, 1, 1
    {
        .reg .pred %p;
        .reg .b32 %x;
        .reg .b64 %out, %state;
        .reg .b128 %handle;
        .shared .align 16 .b128 answer;
        .shared .align 8 .b64 bar;
        ld.param.u64 %out, [out];
        mbarrier.init.shared::cta.b64 [bar], 1;
      next:
        mbarrier.arrive.expect_tx.relaxed.cluster.shared::cta.b64 %state, [bar], 16;
        clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [answer], [bar];
      wait:
        mbarrier.try_wait.acquire.cluster.shared::cta.b64 %p, [bar], %state;
        @!%p bra wait;
        ld.shared.b128 %handle, [answer];
        clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p, %handle;
        @!%p ret;
        clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %x, %handle;
        st.global.u32 [%out], %x;
        add.u64 %out, %out, 4;
        fence.proxy.async.shared::cta;
        bra next;
    }

    // A whole warp commits: 32 arrivals.
    .visible .entry warp_commits(.param .u32 count) .reqntid 32, 1, 1
    {
        .reg .pred %p;
        .reg .b32 %t, %n;
        .shared .align 8 .b64 bar;
        mov.u32 %t, %tid.x;
        ld.param.u32 %n, [count];
        setp.eq.u32 %p, %t, 0;
        @%p mbarrier.init.shared::cta.b64 [bar], %n;
        bar.sync 0;
        tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [bar];
      wait:
        mbarrier.try_wait.parity.shared::cta.b64 %p, [bar], 0;
        @!%p bra wait;
        bar.sync 0;
        ret;
    }
}

/// The values that CTA 1 saw in many schedules; CTA 0 always saw its own.
fn seen_by_the_peer(launch: impl Fn(&Host, &mut [u32]) -> Result<Report, Error>) -> BTreeSet<u32> {
    let seen = Host::new().explore(64).run(|host| {
        let mut out = [7; 2];
        launch(host, &mut out)?;
        assert_eq!(out[0], 1);
        Ok(out[1])
    });
    seen.unwrap_or_else(|e| panic!("{e}")).into_iter().collect()
}

#[test]
fn a_response_reaches_each_cta_at_a_time_of_its_own() {
    let pair = || Launch::grid(2).cluster(2).block(1);
    assert_eq!(seen_by_the_peer(|host, out| response.launch(host, pair(), (out,))), [0, 1].into());
}

#[test]
fn a_commit_reaches_each_cta_at_a_time_of_its_own() {
    let pair = || Launch::grid(2).cluster(2).block(1);
    assert_eq!(seen_by_the_peer(|host, out| commit.launch(host, pair(), (out,))), [0, 1].into());
}

#[test]
fn what_a_seed_finds_the_checked_host_finds_with_it() {
    let run = |result: Result<Report, Error>| match result {
        Ok(report) => Ok(report.schedule),
        Err(Error::Fault(fault)) => Err((fault.message(), fault.schedule)),
        Err(other) => panic!("{other}"),
    };
    let pair = || Launch::grid(2).cluster(2).block(1);
    let mut found = 0;
    for seed in 0..64 {
        let plain = run(counts_on_both.launch(&Host::new().seed(seed).record(), pair(), ()));
        let checked = run(counts_on_both.launch(&Host::checked().seed(seed).record(), pair(), ()));
        assert_eq!(plain, checked, "seed {seed}");
        found += u32::from(plain.is_err());
    }
    assert!((1..64).contains(&found), "{found} of 64 schedules find it");
    let report =
        Host::checked().explore(64).run(|host| counts_on_both.launch(host, pair(), ())).unwrap_err().to_string();
    assert!(report.contains("to see it again: `Host::checked().seed("), "{report}");
}

#[test]
fn a_seed_chooses_which_cluster_is_cancelled() {
    let order = |host: &Host| {
        let mut out = [0; 30];
        let report = cancel_all.launch(&host.clone().resident_clusters(1), Launch::grid(30).block(1), (&mut out,));
        assert_eq!(report.unwrap().clusters_cancelled, 29);
        out[..29].to_vec()
    };
    let all: Vec<u32> = (1..30).collect();
    assert_eq!(order(&Host::new()), all, "in order where nobody chooses");
    let mut orders = BTreeSet::new();
    for seed in 0..8 {
        // the first cluster is the one that starts, and cancels the others
        let host = Host::new().seed(seed).start_in_order();
        let mut one = order(&host);
        assert_eq!(one, order(&host), "the same again");
        orders.insert(one.clone());
        one.sort_unstable();
        assert_eq!(one, all, "each once");
    }
    assert_eq!(orders.len(), 8);
}

#[test]
fn commits_of_a_warp_are_counted_for_or_too_many() {
    let one = || Launch::grid(1).block(32);
    Host::new().explore(16).run(|host| warp_commits.launch(host, one(), (32,))).unwrap_or_else(|e| panic!("{e}"));
    warp_commits.launch(&Host::checked(), one(), (32,)).unwrap_or_else(|e| panic!("{e}"));
    let report = warp_commits.launch(&Host::new(), one(), (31,)).unwrap_err().to_string();
    let part = "CTA 0 of the cluster ends before this `tcgen05.commit` has arrived";
    assert!(report.contains(part), "{part} is not in\n{report}");
}
