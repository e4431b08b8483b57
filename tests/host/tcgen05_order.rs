//! Tensor Memory between threads (manual 9.7.16.5, 9.7.16.6): the checked host reports a missing wait or fence, and every host a
//! CTA of a pair without its peer, or an early commit. A parameter selects what is missing, so one kernel is right and wrong.

use ptx_dsl::fault::FaultKind;
use ptx_dsl::fault::TensorOrder;
use ptx_dsl::prelude::*;
use ptx_dsl::{Checked, Error};

ptx! {
    <sm_100a, ptx 8.6, allow(PTX0605), allow(PTX0606), allow(PTX0608), allow(PTX0678), allow(PTX0679), allow(PTX0681), allow(PTX0682), allow(PTX0689)>

    // Warps 0 to 3 store 4 columns, thread 0 copies 16 bytes to each row of the same columns, all load them. `steps`: 1 wait for
    // the store, 2 and 4 the fences before and after the first barrier, 8 the fence after the commit, 16 wait for the load before
    // the end.
    .visible .entry copy_over(
        .param .u64 .ptr .global .align 4 out: &mut [u32],
        .param .u32 steps) .reqntid 128
    {
        .reg .pred %p, %leader, %first, %step;
        .reg .b32 %t, %warp, %tmem, %at, %v<4>, %steps, %x;
        .reg .b64 %out, %o, %desc;
        .shared .align 16 .b8 tile[512];
        .shared .align 8 .b64 done;
        .shared .align 4 .b32 tensor;

        ld.param.u32 %steps, [steps];
        mov.u32 %t, %tid.x;
        shr.u32 %warp, %t, 5;
        setp.eq.u32 %first, %warp, 0;
        setp.eq.u32 %leader, %t, 0;
        mov.u32 %at, tile;
        mad.lo.u32 %at, %t, 4, %at;
        add.u32 %v0, %t, 500;
        st.shared.u32 [%at], %v0;
        fence.proxy.async.shared::cta;
        @%first tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [tensor], 32;
        @%leader mbarrier.init.shared::cta.b64 [done], 1;
        bar.sync 0;
        ld.shared.u32 %tmem, [tensor];
        mad.lo.u32 %at, %warp, 0x200000, %tmem;

        tcgen05.st.sync.aligned.32x32b.x4.b32 [%at], {%t, %t, %t, %t}; // store
        and.b32 %x, %steps, 1;
        setp.eq.u32 %step, %x, 0;
        @%step bra stored;
        tcgen05.wait::st.sync.aligned;
      stored:
        and.b32 %x, %steps, 2;
        setp.ne.u32 %step, %x, 0;
        @%step tcgen05.fence::before_thread_sync;
        bar.sync 0;
        and.b32 %x, %steps, 4;
        setp.ne.u32 %step, %x, 0;
        @%step tcgen05.fence::after_thread_sync;

        @!%leader bra issued;
        mov.u32 %x, tile;
        shr.u32 %x, %x, 4;
        cvt.u64.u32 %desc, %x;
        or.b64 %desc, %desc, 0x0000400800000000;
        tcgen05.cp.cta_group::1.32x128b.warpx4 [%tmem], %desc; // copy
        tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [done];
      issued:
        bar.warp.sync -1;
      wait:
        mbarrier.try_wait.parity.shared::cta.b64 %p, [done], 0;
        @!%p bra wait;
        and.b32 %x, %steps, 8;
        setp.ne.u32 %step, %x, 0;
        @%step tcgen05.fence::after_thread_sync;
        tcgen05.ld.sync.aligned.32x32b.x4.b32 {%v0, %v1, %v2, %v3}, [%at]; // load
        and.b32 %x, %steps, 16;
        setp.eq.u32 %step, %x, 0;
        @%step bra loaded;
        tcgen05.wait::ld.sync.aligned;
      loaded:
        mul.wide.u32 %o, %t, 16;
        ld.param.u64 %out, [out];
        add.u64 %out, %out, %o;
        st.global.v4.u32 [%out], {%v0, %v1, %v2, %v3};
        bar.sync 0;
        @%first tcgen05.dealloc.cta_group::1.sync.aligned.b32 %tmem, 32; // free
        ret;
    }

    // Warps 0 to 3 store rows, warps 4 to 7 load them. `steps` as above, without the last two; 32: no barrier between them, 64: what is
    // loaded is used, as a copy, before the wait for it.
    .visible .entry hand_over(
        .param .u64 .ptr .global .align 4 out: &mut [u32],
        .param .u32 steps) .reqntid 256
    {
        .reg .pred %first, %step, %stores;
        .reg .b32 %t, %warp, %tmem, %at, %v, %copy, %steps, %x;
        .reg .b64 %out, %o;
        .shared .align 4 .b32 tensor;

        ld.param.u32 %steps, [steps];
        mov.u32 %t, %tid.x;
        shr.u32 %warp, %t, 5;
        setp.eq.u32 %first, %warp, 0;
        setp.lt.u32 %stores, %warp, 4;
        @%first tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [tensor], 32;
        bar.sync 0;
        ld.shared.u32 %tmem, [tensor];
        and.b32 %at, %warp, 3;
        mad.lo.u32 %at, %at, 0x200000, %tmem;
        @!%stores bra meet;
        mul.lo.u32 %v, %t, 3;
        tcgen05.st.sync.aligned.32x32b.x1.b32 [%at], {%v}; // store of a row
        and.b32 %x, %steps, 1;
        setp.eq.u32 %step, %x, 0;
        @%step bra stored;
        tcgen05.wait::st.sync.aligned;
      stored:
        and.b32 %x, %steps, 2;
        setp.ne.u32 %step, %x, 0;
        @%step tcgen05.fence::before_thread_sync;
      meet:
        and.b32 %x, %steps, 32;
        setp.eq.u32 %step, %x, 0;
        @!%step bra met;
        bar.sync 0;
      met:
        and.b32 %x, %steps, 4;
        setp.ne.u32 %step, %x, 0;
        @%step tcgen05.fence::after_thread_sync;
        @%stores bra end;
        tcgen05.ld.sync.aligned.32x32b.x1.b32 {%v}, [%at]; // load of a row
        mov.b32 %copy, %v;
        and.b32 %x, %steps, 64;
        setp.eq.u32 %step, %x, 0;
        @%step bra loaded;
        xor.b32 %copy, %copy, 0; // use of a row
      loaded:
        tcgen05.wait::ld.sync.aligned;
        sub.u32 %x, %t, 128;
        mul.wide.u32 %o, %x, 4;
        ld.param.u64 %out, [out];
        add.u64 %out, %out, %o;
        st.global.u32 [%out], %copy;
      end:
        bar.sync 0;
        @%first tcgen05.dealloc.cta_group::1.sync.aligned.b32 %tmem, 32;
        ret;
    }

    // CTA 1 of the pair omits what `lacks` says: 1 the allocation, 2 relinquishing the permit, 3 the deallocation.
    .visible .entry alone(.param .u32 lacks) .reqntid 32 .reqnctapercluster 2
    {
        .reg .pred %p, %odd;
        .reg .b32 %rank, %lacks, %tmem;
        .shared .align 4 .b32 tensor;
        mov.u32 %rank, %cluster_ctarank;
        setp.ne.u32 %odd, %rank, 0;
        st.shared.u32 [tensor], 0;
        ld.param.u32 %lacks, [lacks];
        setp.eq.and.u32 %p, %lacks, 1, %odd;
        @%p bra allocated;
        tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [tensor], 32; // alloc of a pair
      allocated:
        setp.eq.and.u32 %p, %lacks, 2, %odd;
        @%p bra relinquished;
        tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned; // relinquish of a pair
      relinquished:
        bar.sync 0;
        ld.shared.u32 %tmem, [tensor];
        barrier.cluster.arrive;
        barrier.cluster.wait;
        setp.eq.and.u32 %p, %lacks, 3, %odd;
        @%p bra freed;
        tcgen05.dealloc.cta_group::2.sync.aligned.b32 %tmem, 32; // dealloc of a pair
      freed:
        ret;
    }

    // A thread starts a product, another one then a copy over half of it, and commits: the product is done too. `fences`: with
    // fences between them.
    .visible .entry relay(
        .param .u64 .ptr .global .align 4 out: &mut [u32],
        .param .u32 fences) .reqntid 128
    {
        .reg .pred %p, %first, %second, %fences;
        .reg .b32 %t, %warp, %tmem, %at, %v<8>, %x;
        .reg .b64 %out, %o, %desc, %a;
        .shared .align 128 .b8 tile[8192];
        .shared .align 8 .b64 done;
        .shared .align 4 .b32 tensor;

        ld.param.u32 %x, [fences];
        setp.ne.u32 %fences, %x, 0;
        mov.u32 %t, %tid.x;
        shr.u32 %warp, %t, 5;
        setp.eq.u32 %first, %t, 0;
        setp.eq.u32 %second, %t, 32;
        mov.u32 %at, tile;
        mad.lo.u32 %at, %t, 64, %at;
        mov.u32 %x, 0;
      clear:
        st.shared.v4.u32 [%at], {%t, %t, %t, %t};
        add.u32 %at, %at, 16;
        add.u32 %x, %x, 1;
        setp.lt.u32 %p, %x, 4;
        @%p bra clear;
        fence.proxy.async.shared::cta;
        setp.eq.u32 %p, %warp, 0;
        @%p tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [tensor], 32;
        @%first mbarrier.init.shared::cta.b64 [done], 1;
        bar.sync 0;
        ld.shared.u32 %tmem, [tensor];
        mov.u32 %x, tile;
        shr.u32 %x, %x, 4;
        cvt.u64.u32 %desc, %x;

        @!%first bra started;
        or.b64 %a, %desc, 0x0000401000080000;
        mov.u32 %x, 0x08020010;
        setp.eq.u32 %p, %x, 0;
        tcgen05.mma.cta_group::1.kind::f16 [%tmem], %a, %a, %x, %p; // product
        @%fences tcgen05.fence::before_thread_sync;
      started:
        bar.sync 0;
        @!%second bra copied;
        @%fences tcgen05.fence::after_thread_sync;
        or.b64 %a, %desc, 0x0000400800000000;
        tcgen05.cp.cta_group::1.32x128b.warpx4 [%tmem], %a; // copy after it
        tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [done];
      copied:
        bar.warp.sync -1;
      wait:
        mbarrier.try_wait.parity.shared::cta.b64 %p, [done], 0;
        @!%p bra wait;
        tcgen05.fence::after_thread_sync;
        mad.lo.u32 %at, %warp, 0x200000, %tmem;
        tcgen05.ld.sync.aligned.32x32b.x8.b32 {%v0, %v1, %v2, %v3, %v4, %v5, %v6, %v7}, [%at]; // load of both
        tcgen05.wait::ld.sync.aligned;
        mul.wide.u32 %o, %t, 4;
        ld.param.u64 %out, [out];
        add.u64 %out, %out, %o;
        st.global.u32 [%out], %v3;
        tcgen05.fence::before_thread_sync;
        bar.sync 0;
        setp.eq.u32 %p, %warp, 0;
        @%p tcgen05.dealloc.cta_group::1.sync.aligned.b32 %tmem, 32;
        ret;
    }

    // CTA 0 copies into both CTAs of the pair, both load, and CTA 0 copies again. `fence`: CTA 1 fences after its load.
    .visible .entry both_again(.param .u32 fence) .reqntid 32 .reqnctapercluster 2
    {
        .reg .pred %p, %leader, %odd, %fence;
        .reg .b32 %x, %tmem, %v, %rank, %round;
        .reg .b16 %both;
        .reg .b64 %desc;
        .shared .align 16 .b8 tile[512];
        .shared .align 8 .b64 done;
        .shared .align 4 .b32 tensor;
        mov.u32 %rank, %cluster_ctarank;
        setp.ne.u32 %odd, %rank, 0;
        mov.u32 %x, %laneid;
        setp.eq.u32 %leader, %x, 0;
        setp.eq.and.u32 %leader, %rank, 0, %leader;
        ld.param.u32 %v, [fence];
        setp.ne.u32 %fence, %v, 0;
        tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [tensor], 32;
        setp.eq.u32 %p, %x, 0;
        @%p mbarrier.init.shared::cta.b64 [done], 1;
        fence.mbarrier_init.release.cluster;
        mov.u32 %v, tile;
        mad.lo.u32 %v, %x, 16, %v;
        st.shared.v4.u32 [%v], {%x, %x, %x, %x};
        fence.proxy.async.shared::cta;
        barrier.cluster.arrive;
        barrier.cluster.wait;
        ld.shared.u32 %tmem, [tensor];
        mov.u32 %x, tile;
        shr.u32 %x, %x, 4;
        cvt.u64.u32 %desc, %x;
        or.b64 %desc, %desc, 0x0000400800000000;
        mov.u16 %both, 3;
        mov.u32 %round, 0;
      round:
        @!%leader bra issued;
        tcgen05.fence::after_thread_sync;
        tcgen05.cp.cta_group::2.32x128b.warpx4 [%tmem], %desc; // copy to both
        tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [done], %both;
      issued:
        bar.warp.sync -1;
      wait:
        mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p, [done], %round;
        @!%p bra wait;
        tcgen05.fence::after_thread_sync;
        tcgen05.ld.sync.aligned.32x32b.x1.b32 {%v}, [%tmem];
        tcgen05.wait::ld.sync.aligned;
        setp.eq.or.u32 %p, %rank, 0, %fence;
        @%p tcgen05.fence::before_thread_sync;
        barrier.cluster.arrive;
        barrier.cluster.wait;
        add.u32 %round, %round, 1;
        setp.lt.u32 %p, %round, 2;
        @%p bra round;
        tcgen05.dealloc.cta_group::2.sync.aligned.b32 %tmem, 32;
        ret;
    }

    // Frees what it has allocated, so many times.
    .visible .entry again(.param .u32 times) .reqntid 32
    {
        .reg .pred %p;
        .reg .b32 %n, %tmem;
        .shared .align 4 .b32 tensor;
        tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [tensor], 32;
        ld.shared.u32 %tmem, [tensor];
        ld.param.u32 %n, [times];
      free:
        tcgen05.dealloc.cta_group::1.sync.aligned.b32 %tmem, 32; // free again
        sub.u32 %n, %n, 1;
        setp.ne.u32 %p, %n, 0;
        @%p bra free;
        ret;
    }

    // A copy to Tensor Memory, with the commit before or after it.
    .visible .entry track(.param .u32 early) .reqntid 32
    {
        .reg .pred %p, %leader, %early;
        .reg .b32 %x, %tmem, %v;
        .reg .b64 %desc;
        .shared .align 16 .b8 tile[512];
        .shared .align 8 .b64 done;
        .shared .align 4 .b32 tensor;
        mov.u32 %x, %laneid;
        setp.eq.u32 %leader, %x, 0;
        tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [tensor], 32;
        @%leader mbarrier.init.shared::cta.b64 [done], 1;
        mov.u32 %v, tile;
        mad.lo.u32 %v, %x, 16, %v;
        st.shared.v4.u32 [%v], {%x, %x, %x, %x};
        fence.proxy.async.shared::cta;
        bar.warp.sync -1;
        ld.shared.u32 %tmem, [tensor];
        ld.param.u32 %x, [early];
        setp.ne.u32 %early, %x, 0;
        mov.u32 %x, tile;
        shr.u32 %x, %x, 4;
        cvt.u64.u32 %desc, %x;
        or.b64 %desc, %desc, 0x0000400800000000;
        @!%leader bra issued;
        @%early tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [done];
        tcgen05.cp.cta_group::1.32x128b.warpx4 [%tmem], %desc; // copy that is tracked
        @!%early tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [done];
      issued:
        bar.warp.sync -1;
      wait:
        mbarrier.try_wait.parity.shared::cta.b64 %p, [done], 0;
        @!%p bra wait;
        tcgen05.ld.sync.aligned.32x32b.x1.b32 {%v}, [%tmem]; // load of the copy
        tcgen05.wait::ld.sync.aligned;
        tcgen05.dealloc.cta_group::1.sync.aligned.b32 %tmem, 32; // free of the copy
        ret;
    }
}

/// The line of this file that ends with a comment.
fn line(mark: &str) -> u32 {
    let source = include_str!("tcgen05_order.rs");
    let at = source.lines().position(|l| l.ends_with(&format!("; // {mark}")));
    at.unwrap_or_else(|| panic!("no line `{mark}`")) as u32 + 1
}

/// The fault of a launch, at the marked statement, which contains all these words.
#[track_caller]
fn fault<T: std::fmt::Debug>(result: Result<T, Error>, mark: &str, words: &[&str]) -> FaultKind {
    let Err(Error::Fault(fault)) = result else { panic!("{mark}: no fault but {result:?}") };
    let at = fault.at.as_ref().unwrap_or_else(|| panic!("{mark}: no statement: {fault}"));
    assert_eq!(at.rust_line, line(mark), "{fault}");
    for word in words {
        assert!(fault.to_string().contains(word), "`{word}` is not in\n{fault}");
    }
    fault.kind.clone()
}

fn copied<M>(host: &Host<M>, steps: u32) -> Result<Vec<u32>, Error> {
    let mut out = vec![0; 512];
    copy_over.launch(host, Launch::grid(1).block(128), (&mut out[..], steps))?;
    Ok(out)
}

fn handed<M>(host: &Host<M>, steps: u32) -> Result<Vec<u32>, Error> {
    let mut out = vec![0; 128];
    hand_over.launch(host, Launch::grid(1).block(256), (&mut out[..], steps))?;
    Ok(out)
}

#[test]
fn a_copy_over_what_was_stored() {
    // Each quarter of 32 rows has the tile of 16 bytes a row.
    let wanted: Vec<u32> = (0..512).map(|i| 500 + i % 128).collect();
    let all = 31;
    for host in [Host::new(), Host::new().seed(4)] {
        assert_eq!(copied(&host, all).unwrap_or_else(|e| panic!("{e}")), wanted);
    }
    for host in [Host::checked(), Host::checked().seed(3)] {
        assert_eq!(copied(&host, all).unwrap_or_else(|e| panic!("{e}")), wanted);
    }
    // The plain host does not check.
    assert_eq!(copied(&Host::new(), 0).unwrap_or_else(|e| panic!("{e}")), wanted);
    let without = |step: u32| copied(&Host::checked(), all - step);
    fault(without(1), "copy", &["after a store of", "`tcgen05.st.sync", "has not waited", "tcgen05.wait::st"]);
    fault(
        without(2),
        "copy",
        &["after a store of", "no `tcgen05.fence::before_thread_sync` follows that", "9.7.16.6.3"],
    );
    fault(without(4), "copy", &["after a store of", "no `tcgen05.fence::after_thread_sync` precedes this"]);
    fault(without(8), "load", &["a write by `tcgen05.cp` of", "fence::after_thread_sync"]);
    let relies = Host::checked().tensor_registers(false);
    fault(copied(&relies, all - 16), "free", &["a load of", "has not waited", "tcgen05.wait::ld", "9.7.16.8.5"]);
    // Without fences, which compilers leave out, waits are still wanted.
    let lenient = Host::checked().tensor_fences(false);
    for fences in [2, 4, 8, 14] {
        assert_eq!(copied(&lenient, all - fences).unwrap_or_else(|e| panic!("{e}")), wanted);
    }
    fault(copied(&lenient, all - 15), "copy", &["has not waited"]);
}

#[test]
fn rows_from_warp_to_warp() {
    let wanted: Vec<u32> = (0..128).map(|t| 3 * t).collect();
    assert_eq!(handed(&Host::new(), 7).unwrap_or_else(|e| panic!("{e}")), wanted);
    for host in [Host::checked(), Host::checked().seed(5)] {
        assert_eq!(handed(&host, 7).unwrap_or_else(|e| panic!("{e}")), wanted);
    }
    let without = |step: u32| handed(&Host::checked(), 7 - step);
    fault(without(1), "load of a row", &["the earlier store: `tcgen05.st", "warp 0 lane 0", "has not waited"]);
    fault(without(2), "load of a row", &["no `tcgen05.fence::before_thread_sync`", "--allow PTX0679"]);
    fault(without(4), "load of a row", &["no `tcgen05.fence::after_thread_sync`"]);
    // Fences and waits alone order nothing: the threads must synchronise, on any host.
    let unsynchronised =
        ["not ordered by any synchronisation", "`tcgen05.st", "barrier or an mbarrier object", "9.7.16.6.3"];
    let kind = fault(handed(&Host::checked(), 7 + 32), "load of a row", &unsynchronised);
    let FaultKind::TensorRace(race) = kind else { panic!("{kind}") };
    assert_eq!((race.columns, race.access, race.other.access), (0..1, "load", "store"));
    assert_eq!((race.other.thread.warp, race.missing), (0, TensorOrder::Synchronisation));
    fault(handed(&Host::checked().tensor_fences(false), 7 + 32), "load of a row", &unsynchronised);
}

#[test]
fn registers_before_the_wait_for_their_load() {
    let wanted: Vec<u32> = (0..128).map(|t| 3 * t).collect();
    let early = |host: &Host<Checked>| handed(host, 7 + 64);
    let words = [
        "`%copy`, a copy of `%v`,",
        "`tcgen05.ld.sync",
        "tcgen05.wait::ld.sync.aligned",
        "9.7.16.8.5",
        "--allow PTX0605",
    ];
    let kind = fault(early(&Host::checked()), "use of a row", &words);
    assert!(matches!(kind, FaultKind::PendingRegister { .. }), "{kind}");
    // ptxas makes the reader wait
    assert_eq!(early(&Host::checked().tensor_registers(false)).unwrap_or_else(|e| panic!("{e}")), wanted);
    assert_eq!(handed(&Host::new(), 7 + 64).unwrap_or_else(|e| panic!("{e}")), wanted);
    // a copy alone is none
    assert_eq!(handed(&Host::checked(), 7).unwrap_or_else(|e| panic!("{e}")), wanted);
}

fn relayed<M>(host: &Host<M>, fences: u32) -> Result<Vec<u32>, Error> {
    let mut out = vec![0; 128];
    relay.launch(host, Launch::grid(1).block(128), (&mut out[..], fences))?;
    Ok(out)
}

#[test]
fn a_commit_tracks_what_its_operations_come_behind() {
    // The copy has each row of 16 bytes from the tile; thread 4n to 4n + 3 stored row n of 64.
    let wanted: Vec<u32> = (0..128).map(|t| t % 32 / 4).collect();
    assert_eq!(relayed(&Host::new(), 1).unwrap_or_else(|e| panic!("{e}")), wanted);
    for host in [Host::checked(), Host::checked().seed(2)] {
        assert_eq!(relayed(&host, 1).unwrap_or_else(|e| panic!("{e}")), wanted);
    }
    fault(relayed(&Host::checked(), 0), "copy after it", &["`tcgen05.mma", "nothing says which comes first"]);
}

#[test]
fn loads_of_the_other_cta_of_a_pair() {
    fn launch<M>(host: &Host<M>, fence: u32) -> Result<Report, Error> {
        both_again.launch(host, Launch::grid(2).block(32), (fence,))
    }
    launch(&Host::new(), 0).unwrap_or_else(|e| panic!("{e}"));
    launch(&Host::checked(), 1).unwrap_or_else(|e| panic!("{e}"));
    fault(launch(&Host::checked(), 0), "copy to both", &["a load of", "fence::before_thread_sync", "CTA rank 1"]);
}

fn one_of_two<M>(host: &Host<M>) {
    let launch = |lacks: u32| alone.launch(host, Launch::grid(2).block(32), (lacks,));
    launch(0).unwrap_or_else(|e| panic!("{e}"));
    // CTA 1 waits for CTA 0 in the cluster barrier, and CTA 0 for CTA 1.
    let deadlock = launch(1).unwrap_err();
    let Some(FaultKind::Deadlock { waiting }) = deadlock.fault().map(|f| &f.kind) else { panic!("{deadlock}") };
    assert!(waiting.iter().any(|w| w.contains("`tcgen05.alloc` of CTA rank 1")), "{deadlock}");
    let kind = fault(launch(2), "relinquish of a pair", &["CTA rank 1 exits without the"]);
    assert!(matches!(kind, FaultKind::IssueGranularity { .. }), "{kind}");
    fault(launch(3), "alloc of a pair", &["exits without deallocating the 32 columns"]);
}

#[test]
fn one_cta_of_a_pair() {
    one_of_two(&Host::new());
    one_of_two(&Host::checked());
}

#[test]
fn the_same_columns_twice() {
    let launch = |times: u32| again.launch(&Host::new(), Launch::grid(1).block(32), (times,));
    launch(1).unwrap_or_else(|e| panic!("{e}"));
    fault(launch(2), "free again", &["column 0, where no allocation starts"]);
}

fn tracked<M>(host: &Host<M>, early: u32) -> Result<Report, Error> {
    track.launch(host, Launch::grid(1).block(32), (early,))
}

#[test]
fn a_commit_that_comes_too_early() {
    for host in [Host::new(), Host::new().seed(1)] {
        tracked(&host, 0).unwrap_or_else(|e| panic!("{e}"));
    }
    tracked(&Host::checked(), 0).unwrap_or_else(|e| panic!("{e}"));
    fault(tracked(&Host::checked(), 1), "load of the copy", &["column 0 ", "nothing has waited for that"]);
    // The plain host reports it when the CTA exits before the copy completes.
    fault(tracked(&Host::new(), 1), "copy that is tracked", &["ends while this operation"]);
}
