//! Asynchronous tcgen05 operations, and Tables 47 and 48 of the manual under `Host::explore`.

use ptx_dsl::Error;
use ptx_dsl::fault::FaultKind;
use ptx_dsl::prelude::*;

ptx! {
    <sm_100a, ptx 8.6, allow(PTX0608)>

    // Copies 32 rows of 16 bytes to all four quarters of Tensor Memory; reads before the copy is done, on request, and after.
    .visible .entry copy(
        .param .u64 .ptr .global .align 4 src: &[u32],
        .param .u64 .ptr .global .align 4 before: &mut [u32],
        .param .u64 .ptr .global .align 4 after: &mut [u32],
        .param .u32 early) .reqntid 128
    {
        .reg .pred %p, %leader;
        .reg .b32 %t, %warp, %tmem, %at, %v<4>, %early, %quarter;
        .reg .b64 %src, %before, %after, %o, %desc;
        .shared .align 16 .b8 tile[512];
        .shared .align 8 .b64 done;
        .shared .align 4 .b32 tensor;

        mov.u32 %t, %tid.x;
        shr.u32 %warp, %t, 5;
        mul.wide.u32 %o, %t, 4;
        ld.param.u64 %src, [src];
        add.u64 %src, %src, %o;
        ld.global.u32 %v0, [%src];
        mov.u32 %at, tile;
        mad.lo.u32 %at, %t, 4, %at;
        st.shared.u32 [%at], %v0;
        fence.proxy.async.shared::cta;
        setp.ne.u32 %p, %warp, 0;
        @%p bra allocated;
        tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [tensor], 32;
      allocated:
        setp.eq.u32 %leader, %t, 0;
        @%leader mbarrier.init.shared::cta.b64 [done], 1;
        bar.sync 0;
        ld.shared.u32 %tmem, [tensor];

        @!%leader bra issued;
        mov.u32 %at, tile;
        shr.u32 %at, %at, 4;
        cvt.u64.u32 %desc, %at;
        or.b64 %desc, %desc, 0x0000400800000000;
        tcgen05.cp.cta_group::1.32x128b.warpx4 [%tmem], %desc;
        tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [done];
      issued:
        shl.b32 %quarter, %warp, 21;
        add.u32 %quarter, %tmem, %quarter;
        mul.wide.u32 %o, %t, 16;
        ld.param.u32 %early, [early];
        setp.eq.u32 %p, %early, 0;
        @%p bra wait;
        tcgen05.ld.sync.aligned.32x32b.x4.b32 {%v0, %v1, %v2, %v3}, [%quarter];
        tcgen05.wait::ld.sync.aligned;
        ld.param.u64 %before, [before];
        add.u64 %before, %before, %o;
        st.global.v4.u32 [%before], {%v0, %v1, %v2, %v3};

      wait:
        mbarrier.try_wait.parity.shared::cta.b64 %p, [done], 0;
        @!%p bra wait;
        tcgen05.fence::after_thread_sync;
        tcgen05.ld.sync.aligned.32x32b.x4.b32 {%v0, %v1, %v2, %v3}, [%quarter];
        tcgen05.wait::ld.sync.aligned;
        ld.param.u64 %after, [after];
        add.u64 %after, %after, %o;
        st.global.v4.u32 [%after], {%v0, %v1, %v2, %v3};

        tcgen05.fence::before_thread_sync;
        bar.sync 0;
        setp.ne.u32 %p, %warp, 0;
        @%p bra end;
        tcgen05.dealloc.cta_group::1.sync.aligned.b32 %tmem, 32;
      end:
        ret;
    }

    // Both CTAs of the pair synchronise, deallocate, exit.
    .visible .entry table_47() .reqnctapercluster 2 .reqntid 32
    {
        .reg .b32 %tmem;
        .shared .align 4 .b32 tensor;
        tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [tensor], 32;
        ld.shared.u32 %tmem, [tensor];
        barrier.cluster.arrive;
        barrier.cluster.wait;
        tcgen05.dealloc.cta_group::2.sync.aligned.b32 %tmem, 32;
        exit;
    }

    // CTA 1 deallocates before it synchronises with CTA 0: a hang, if its deallocation waits for that of CTA 0.
    .visible .entry table_48() .reqnctapercluster 2 .reqntid 32
    {
        .reg .pred %odd;
        .reg .b32 %tmem, %rank;
        .shared .align 4 .b32 tensor;
        tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [tensor], 32;
        ld.shared.u32 %tmem, [tensor];
        mov.u32 %rank, %cluster_ctarank;
        setp.ne.u32 %odd, %rank, 0;
        @%odd bra cta1;
        barrier.cluster.arrive;
        barrier.cluster.wait;
        tcgen05.dealloc.cta_group::2.sync.aligned.b32 %tmem, 32;
        exit;
      cta1:
        tcgen05.dealloc.cta_group::2.sync.aligned.b32 %tmem, 32;
        barrier.cluster.arrive;
        barrier.cluster.wait;
        exit;
    }
}

#[test]
fn a_copy_arrives_when_its_commit_does() {
    let src: Vec<u32> = (0..128).map(|i| 1000 + i).collect();
    let wanted: Vec<u32> = (0..512).map(|i| 1000 + i % 128).collect();
    let run = |host: &Host, early: u32| {
        let (mut before, mut after) = (vec![7; 512], vec![7; 512]);
        copy.launch(host, Launch::grid(1).block(128), (&src[..], &mut before[..], &mut after[..], early))?;
        Ok::<_, Error>((before, after))
    };
    let results = Host::new().explore(32).run(|host| run(host, 0)).unwrap();
    assert!(results.iter().all(|(_, after)| *after == wanted));
    // without a wait a thread sees the old data
    let (before, after) = run(&Host::new(), 1).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!((before, after), (vec![0; 512], wanted.clone()));
    // and the checked host reports it
    let (mut before, mut after) = (vec![7; 512], vec![7; 512]);
    let mut checked = |early: u32| {
        copy.launch(&Host::checked(), Launch::grid(1).block(128), (&src[..], &mut before[..], &mut after[..], early))
    };
    checked(0).unwrap_or_else(|e| panic!("{e}"));
    let text = checked(1).unwrap_err().to_string();
    for part in ["columns 0 to 3 of Tensor Memory", "tcgen05.cp.cta_group::1.32x128b.warpx4", "tcgen05.ld.sync"] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
}

#[test]
fn table_47_is_clean_and_table_48_hangs() {
    let launch = || Launch::grid(2).cluster(2).block(32);
    Host::new().explore(64).run(|host| table_47.launch(host, launch(), ())).unwrap_or_else(|e| panic!("{e}"));
    let all = Host::checked().explore(1000).exhaustive().run(|host| table_47.launch(host, launch(), ()));
    assert!(all.unwrap_or_else(|e| panic!("{e}")).is_complete());
    // at most two runs find the other one
    for explore in [Host::checked().explore(2), Host::checked().explore(2).exhaustive()] {
        let found = explore.run(|host| table_48.launch(host, launch(), ())).unwrap_err();
        assert!(matches!(found.fault().map(|f| &f.kind), Some(FaultKind::Deadlock { .. })), "{found}");
    }
    table_48.launch(&Host::new(), launch(), ()).unwrap_or_else(|e| panic!("{e}"));
    let found = Host::new().explore(64).run(|host| table_48.launch(host, launch(), ())).unwrap_err();
    let fault = found.fault().unwrap_or_else(|| panic!("{found}"));
    let FaultKind::Deadlock { waiting } = &fault.kind else { panic!("{found}") };
    for part in ["cluster barrier", "`tcgen05.dealloc` of CTA rank 0", "a cycle"] {
        assert!(waiting.iter().any(|w| w.contains(part)), "{part} is not in\n{found}");
    }
    assert!(found.to_string().contains("`Host::new().seed(0)`"), "{found}");
    for host in [Host::new().seed(0), Host::new().replay(fault.schedule.clone())] {
        let again = table_48.launch(&host, launch(), ()).unwrap_err();
        assert_eq!(again.fault().map(|f| &f.kind), Some(&fault.kind));
    }
}
