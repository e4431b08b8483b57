//! How a launch on several threads ends: faults, deadlocks, budgets, cancelling; and its progress reports.

use super::THREADS;
use ptx_dsl::fault::FaultKind;
use ptx_dsl::launch::CancelHandle;
use ptx_dsl::prelude::*;
use std::sync::{Arc, Mutex};

ptx! {
    <sm_80, ptx 7.0>
    .visible .entry outside(.param .u64 .ptr .global .align 4 d: &mut [u32], .param .u32 wrong) .reqntid 32 {
        .reg .pred %p;
        .reg .b32 %t, %b, %w;
        .reg .b64 %d, %o;
        ld.param.u64 %d, [d];
        ld.param.u32 %w, [wrong];
        mov.u32 %t, %tid.x;
        mov.u32 %b, %ctaid.x;
        mad.lo.u32 %t, %b, 32, %t;
        mul.wide.u32 %o, %t, 4;
        add.u64 %d, %d, %o;
        setp.eq.u32 %p, %b, %w;
        @%p add.u64 %d, %d, 1048576;
        st.global.u32 [%d], %b;
        ret;
    }

    .visible .entry endless(.param .u64 .ptr .global .align 4 d: &mut [u32]) .reqntid 32 {
        .reg .pred %p;
        .reg .b32 %v;
        .reg .b64 %d;
        ld.param.u64 %d, [d];
        mov.u32 %v, %ctaid.x;
        setp.eq.u32 %p, %v, 0;
        @%p ret;
      again:
        ld.volatile.global.u32 %v, [%d];
        setp.eq.u32 %p, %v, 0;
        @%p bra again;
        ret;
    }

    .visible .entry nothing(.param .u64 .ptr .global .align 4 d: &mut [u32]) .reqntid 32 {
        .reg .b64 %d;
        ld.param.u64 %d, [d];
        red.global.add.u32 [%d], 1;
        ret;
    }
}

ptx! {
    <sm_90, ptx 8.0>
    // Blocks 3 and 11 wait for a phase that never completes, while the others work.
    .visible .entry stuck(.param .u64 .ptr .global .align 4 d: &mut [u32]) .reqntid 32 {
        .reg .pred %p, %q;
        .reg .b32 %b, %i;
        .reg .b64 %d;
        .shared .align 8 .b64 mb;
        ld.param.u64 %d, [d];
        mov.u32 %b, %tid.x;
        setp.eq.u32 %p, %b, 0;
        mov.u32 %i, %nctaid.x;
        @%p mbarrier.init.shared::cta.b64 [mb], %i;
        bar.warp.sync 0xffffffff;
        mov.u32 %b, %ctaid.x;
        and.b32 %i, %b, 7;
        setp.eq.u32 %p, %i, 3;
        @%p bra wait;
        mov.u32 %i, 0;
      work:
        red.global.add.u32 [%d], 1;
        add.u32 %i, %i, 1;
        setp.lt.u32 %p, %i, 100;
        @%p bra work;
        ret;
      wait:
        mbarrier.try_wait.parity.shared::cta.b64 %q, [mb], 0;
        @!%q bra wait;
        ret;
    }

    // Block 0 stops waiting when it sees the flag; block 1 sets it after a long time.
    .visible .entry gives_up(
        .param .u64 .ptr .global .align 4 flag: &mut [u32],
        .param .u32 long)
        .reqntid 32
    {
        .reg .pred %p, %q;
        .reg .b32 %b, %i, %n;
        .reg .b64 %d;
        .shared .align 8 .b64 mb;
        ld.param.u64 %d, [flag];
        ld.param.u32 %n, [long];
        mov.u32 %b, %tid.x;
        setp.eq.u32 %p, %b, 0;
        mov.u32 %i, %nctaid.x;
        @%p mbarrier.init.shared::cta.b64 [mb], %i;
        bar.warp.sync 0xffffffff;
        mov.u32 %b, %ctaid.x;
        setp.eq.u32 %p, %b, 0;
        @%p bra wait;
        mov.u32 %i, 0;
      work:
        xor.b32 %b, %b, %i;
        add.u32 %i, %i, 1;
        setp.lt.u32 %p, %i, %n;
        @%p bra work;
        st.relaxed.gpu.global.u32 [%d], 1;
        st.relaxed.gpu.global.u32 [%d+4], %b;
        ret;
      wait:
        mbarrier.try_wait.parity.shared::cta.b64 %q, [mb], 0;
        @%q bra end;
        ld.relaxed.gpu.global.u32 %i, [%d];
        setp.eq.u32 %p, %i, 0;
        @%p bra wait;
      end:
        ret;
    }
}

#[test]
fn a_fault_ends_all_threads() {
    for n in THREADS {
        let mut d = vec![u32::MAX; 64 * 32];
        let error = outside.launch(&Host::new().threads(n), Launch::grid(64), (&mut d, 40)).unwrap_err();
        let fault = error.fault().unwrap();
        assert!(matches!(fault.kind, FaultKind::OutOfBounds { size: 8192, .. }), "{n} threads: {error}");
        assert_eq!(fault.thread.unwrap().ctaid, [40, 0, 0]);
        assert_eq!((fault.at.as_ref().unwrap().text.as_str(), fault.replay.clone()), ("st.global.u32 [%d], %b;", None));
        assert!(d.chunks(32).zip(0..).all(|(d, b)| d == [b; 32] || d == [u32::MAX; 32]), "{n} threads");
        assert_eq!(d[..32], [0; 32]);
    }
}

#[test]
fn a_launch_is_cancelled() {
    for n in THREADS {
        let handle = CancelHandle::new();
        let cancel = handle.clone();
        // block 0 exits at once; the others wait forever
        let launch = Launch::grid(20).step_limit(u64::MAX).cancel(handle).on_progress(move |_| cancel.cancel());
        let error = endless.launch(&Host::new().threads(n), launch, (&mut [0u32],)).unwrap_err();
        assert!(matches!(error.fault().unwrap().kind, FaultKind::Cancelled { .. }), "{n} threads: {error}");
    }
}

#[test]
fn the_step_limit_is_for_all_threads() {
    for n in THREADS {
        let host = Host::new().threads(n);
        let launch = Launch::grid(20).step_limit(300_000);
        let error = endless.launch(&host, launch, (&mut [0u32],)).unwrap_err();
        assert!(
            matches!(error.fault().unwrap().kind, FaultKind::StepLimit { turns: 300_000, .. }),
            "{n} threads: {error}"
        );
        // what is left when they end is counted too
        let turns = nothing.launch(&host, Launch::grid(100), (&mut [0u32],)).unwrap().turns;
        let launch = |limit| nothing.launch(&host, Launch::grid(100).step_limit(limit), (&mut [0u32],));
        launch(turns).unwrap();
        assert!(launch(turns - 1).is_err(), "{n} threads");
    }
}

#[test]
fn progress_is_told_in_order() {
    for n in THREADS {
        let told = Arc::new(Mutex::new(Vec::new()));
        let list = told.clone();
        let launch = Launch::grid(50).on_progress(move |p| list.lock().unwrap().push((p.clusters_done, p.clusters)));
        let mut d = [0u32];
        let report = nothing.launch(&Host::new().threads(n), launch, (&mut d,)).unwrap();
        assert_eq!((d, report.clusters_launched), ([50 * 32], 50));
        assert_eq!(*told.lock().unwrap(), (1..=50).map(|n| (n, 50)).collect::<Vec<_>>(), "{n} threads");
    }
}

#[test]
fn a_deadlock_is_found_when_all_else_has_ended() {
    for n in THREADS {
        let mut d = [0u32];
        let error = stuck.launch(&Host::new().threads(n), Launch::grid(16), (&mut d,)).unwrap_err();
        let fault = error.fault().unwrap();
        let FaultKind::Deadlock { waiting } = &fault.kind else { panic!("{n} threads: {error}") };
        assert_eq!(d, [14 * 32 * 100], "{n} threads");
        assert_eq!(fault.thread.unwrap().ctaid, [3, 0, 0]);
        let found = ["(3, 0, 0)", "(11, 0, 0)"].map(|cta| waiting.iter().filter(|w| w.contains(cta)).count());
        assert_eq!((found, waiting.len()), ([1, 1], 2), "{n} threads: {error}");
    }
}

#[test]
fn waiting_is_no_deadlock_while_others_run() {
    for n in THREADS {
        for long in [1, 1000, 200_000] {
            let mut flag = [0u32; 2];
            gives_up.launch(&Host::new().threads(n), Launch::grid(2), (&mut flag, long)).unwrap();
            assert_eq!(flag[0], 1);
        }
    }
}

#[test]
fn a_listener_that_panics_is_heard() {
    let launch = Launch::grid(50).on_progress(|p| assert!(p.clusters_done < 10, "enough"));
    let run = || nothing.launch(&Host::new().threads(3), launch, (&mut [0u32],));
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).is_err());
}
