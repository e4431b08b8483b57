//! `clusterlaunchcontrol.try_cancel` on the host.

use ptx_dsl::prelude::*;

macro_rules! fault {
    ($grid:expr, { $($body:tt)* }) => {{
        let k = ptx!(<sm_100a, ptx 8.6> |d: &mut [u32]| {
            .reg .pred %p;
            .reg .b32 %r<4>;
            .reg .b64 %pd, %rd<4>;
            .shared .align 16 .b8 buf[32];
            .shared .align 8 .b64 mb;
            ld.param.u64 %pd, [d];
            mbarrier.init.shared::cta.b64 [mb], 1;
            mbarrier.arrive.expect_tx.shared::cta.b64 %rd0, [mb], 16;
            mov.u32 %r0, buf;
            mov.u32 %r1, mb;
            // Addresses that the compiler does not know.
            mov.u32 %r2, %tid.x;
            add.u32 %r0, %r0, %r2;
            add.u32 %r1, %r1, %r2;
            $($body)*
        });
        k.launch(&Host::new(), Launch::grid($grid).block(1), (&mut [0u32; 8],)).expect_err("a fault").to_string()
    }};
}

#[test]
fn operands_are_aligned_and_in_the_own_window() {
    let report = fault!(1, {
        add.u32 %r0, %r0, 8;
        clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%r0], [%r1];
    });
    assert!(report.contains("multiple of 16"), "{report}");
    let report = fault!(1, {
        add.u32 %r1, %r1, 4;
        clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%r0], [%r1];
    });
    assert!(report.contains("multiple of 8"), "{report}");
    let report = fault!(1, {
        cvt.u64.u32 %rd1, %r1;
        cvta.shared.u64 %rd1, %rd1;
        mov.b64 {%r2, %r3}, %pd;
        mov.b64 %pd, {%r2, %r3};
        clusterlaunchcontrol.try_cancel.async.mbarrier::complete_tx::bytes.b128 [%pd], [%rd1];
    });
    assert!(report.contains("response of `try_cancel`"), "{report}");
}

ptx! {
    <sm_100a, ptx 8.6>
    .visible .entry all_of_the_cluster(.param .u64 .ptr .global .align 4 d: &mut [u32]) .reqnctapercluster 2 .reqntid 1 {
        .reg .pred %p, %lead;
        .reg .b32 %r, %x;
        .reg .b64 %pd, %s, %o;
        .reg .b128 %h;
        .shared .align 16 .b8 buf[16];
        .shared .align 8 .b64 mb;
        ld.param.u64 %pd, [d];
        mbarrier.init.shared::cta.b64 [mb], 1;
        mbarrier.arrive.expect_tx.shared::cta.b64 %s, [mb], 16;
        barrier.cluster.arrive;
        barrier.cluster.wait;
        mov.u32 %r, %cluster_ctarank;
        setp.eq.u32 %lead, %r, 0;
        @%lead clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.multicast::cluster::all.b128 [buf], [mb];
    W:
        mbarrier.try_wait.acquire.cluster.shared::cta.b64 %p, [mb], %s;
        @!%p bra W;
        ld.shared.b128 %h, [buf];
        clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p, %h;
        mov.u32 %x, 7;
        @%p clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %x, %h;
        mul.wide.u32 %o, %r, 4;
        add.u64 %pd, %pd, %o;
        st.global.u32 [%pd], %x;
        ret;
    }
}

#[test]
fn multicast_reaches_each_cta_of_the_cluster() {
    // Two clusters, one resident: the first cancels the second, whose first CTA is 2.
    let mut d = [9u32; 2];
    all_of_the_cluster.launch(&Host::new().resident_clusters(1), Launch::grid(4), (&mut d,)).unwrap();
    assert_eq!(d, [2, 2]);
}

ptx! {
    <sm_100a, ptx 8.6>
    // Both examples of the manual as printed; the work of a cluster is to be counted at its first CTA.
    .visible .entry example(.param .u64 .ptr .global .align 4 seen: &mut [u32]) .reqnctapercluster 2 .reqntid 1 {
        .reg .pred p0, p, complete, lead;
        .reg .b32 %r<4>, xctaid;
        .reg .b64 state, seen_at, at;
        .reg .b128 handle;
        .shared .align 16 .b8 addr[16];
        .shared .align 8 .b64 mbar;
        ld.param.u64 seen_at, [seen];
        mov.u32 %r1, %cluster_ctarank;
        setp.eq.u32 lead, %r1, 0;
        mbarrier.init.shared::cta.b64 [mbar], 1;

mov.b32 xctaid, %ctaid.x;

barrier.cluster.arrive;
barrier.cluster.wait;

processCluster:
  mov.u32  %r0, %tid.x;
  setp.u32.eq p0, %r0, 0x0;
  mov.u32  %r0, %tid.x;
  setp.u32.eq p0, %r0, 0x0;
  @!p0 bra processCurrentCluster;

  mbarrier.arrive.expect_tx.cluster.relaxed.shared::cta.b64 state, [mbar], 16;

  mov.u32  %r0, %cluster_ctaid.x;
  setp.u32.eq p0, %r0, 0x0;
  @p0 clusterlaunchcontrol.try_cancel.async.mbarrier::complete_tx::bytes.multicast::cluster::all.b128 [addr], [mbar];

  processCurrentCluster:
 mul.wide.u32 at, xctaid, 4;
 add.u64 at, at, seen_at;
 @lead red.global.add.u32 [at], 1;


  waitLoop:
    mbarrier.try_wait.cluster.acquire.shared::cta.b64   complete, [mbar], state;
    @!complete bra waitLoop;

  ld.shared.b128 handle, [addr];

  clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 p, handle;
  @!p ret;

  @p clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {xctaid, _, _, _},  handle;

  fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster;

  barrier.cluster.arrive.relaxed;
  barrier.cluster.wait;

  fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster;

  bra processCluster;
    }
    .visible .entry older_example(.param .u64 .ptr .global .align 4 seen: &mut [u32]) .reqnctapercluster 2 .reqntid 1 {
        .reg .pred p0, p, complete, lead;
        .reg .b32 %r<4>, xctaid;
        .reg .b64 state, seen_at, at;
        .reg .b128 handle;
        .shared .align 16 .b8 addr[16];
        .shared .align 8 .b64 mbar;
        ld.param.u64 seen_at, [seen];
        mov.u32 %r1, %cluster_ctarank;
        setp.eq.u32 lead, %r1, 0;
        mbarrier.init.shared::cta.b64 [mbar], 1;
        fence.mbarrier_init.release.cluster;


mov.b32 xctaid, %ctaid.x;
barrier.cluster.arrive.relaxed;
processCluster:


barrier.cluster.wait.acquire;
mov.u32  %r0, %tid.x;
setp.u32.eq p0, %r0, 0x0;
@!p0 bra asyncWork;


mbarrier.arrive.expect_tx.cluster.relaxed.shared::cta.b64 state, [mbar], 16;


mov.u32  %r0, %cluster_ctaid.x;
setp.u32.eq p0, %r0, 0x0;
@p0 clusterlaunchcontrol.try_cancel.async.mbarrier::complete_tx::bytes.multicast::cluster::all.b128 [addr], [mbar];

asyncWork:
 mul.wide.u32 at, xctaid, 4;
 add.u64 at, at, seen_at;
 @lead red.global.add.u32 [at], 1;



waitLoop:

mbarrier.try_wait.cluster.acquire.shared::cta.b64   complete, [mbar], state;
@!complete bra waitLoop;


ld.shared.b128 handle, [addr];


clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 p, handle;
@!p ret;


@p clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {xctaid, _, _, _},  handle;


fence.proxy.async.shared::cta;
barrier.cluster.arrive.relaxed;

bra processCluster;
    }
}

#[test]
fn the_examples_of_the_manual_work_on_each_cluster_once() {
    for seed in 0..4 {
        let host = Host::new().seed(seed).resident_clusters(2);
        let expected: Vec<u32> = (0..20).map(|cta| u32::from(cta % 2 == 0)).collect();
        let mut seen = [0u32; 20];
        example.launch(&host, Launch::grid(20), (&mut seen,)).unwrap();
        assert_eq!(seen[..], expected, "seed {seed}");
        let mut seen = [0u32; 20];
        older_example.launch(&host, Launch::grid(20), (&mut seen,)).unwrap();
        assert_eq!(seen[..], expected, "older, seed {seed}");
    }
}

ptx! {
    <sm_100a, ptx 8.6, allow(PTX0655)>
    .visible .entry a_peer_has_gone() .reqnctapercluster 2 .reqntid 1 {
        .reg .pred %p;
        .reg .b32 %r;
        .reg .b64 %s;
        .shared .align 16 .b8 buf[16];
        .shared .align 8 .b64 mb;
        mov.u32 %r, %cluster_ctarank;
        setp.eq.u32 %p, %r, 1;
        @%p exit;
        // long enough for the peer to leave
        mov.u32 %r, 0;
    AGAIN:
        add.u32 %r, %r, 1;
        setp.lt.u32 %p, %r, 20000;
        @%p bra AGAIN;
        mbarrier.init.shared::cta.b64 [mb], 1;
        mbarrier.arrive.expect_tx.shared::cta.b64 %s, [mb], 16;
        clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.multicast::cluster::all.b128 [buf], [mb];
        ret;
    }
}

#[test]
fn multicast_with_an_exited_cta_is_a_fault() {
    let report = a_peer_has_gone.launch(&Host::new(), Launch::grid(2), ()).unwrap_err().to_string();
    assert!(report.contains("exited"), "{report}");
}
