//! Shuffles from lanes that their mask does not name: the value is undefined, and a finding where it matters.

use super::async_races::hosts;
use super::races::{run_on, threads};
use ptx_dsl::fault::FaultKind;
use ptx_dsl::prelude::*;
use ptx_dsl::{Error, Fault};

/// The first fault on a host.
#[track_caller]
fn fault(host: &Host<ptx_dsl::Checked>, body: &str) -> Box<Fault> {
    match run_on(host, threads(32), body) {
        Err(Error::Fault(fault)) => fault,
        other => panic!("{body}\nno fault: {other:?}"),
    }
}

/// The lanes below 8 sum their numbers by steps, as `if (tid < 8)` in tutorials; lane 0 stores the sum.
fn tail(steps: &[u32], end: &str) -> String {
    let step = |n: &u32| format!("shfl.sync.down.b32 %r3, %r2, {n}, 31, 0xff; add.u32 %r2, %r2, %r3;\n");
    let steps: String = steps.iter().map(step).collect();
    format!("mov.u32 %r2, %t; setp.ge.u32 %p, %t, 8; @%p bra done;\n{steps}{end}\ndone:")
}

const STORE: &str = "setp.ne.u32 %p, %t, 0; @%p bra done; st.global.u32 [%b], %r2;";

#[test]
fn the_tail_of_a_reduction() {
    for host in hosts() {
        assert_eq!(run_on(&host, threads(32), &tail(&[4, 2, 1], STORE)).unwrap()[0], 28);
        // no lane uses what lies outside
        run_on(&host, threads(32), &tail(&[16], "")).unwrap();
    }
}

#[test]
fn a_value_that_matters() {
    let read = |fault: &Fault| match fault.kind {
        FaultKind::ShuffleSource { lane, from, mask: 0xff } => (lane, from),
        _ => panic!("{fault}"),
    };
    for host in hosts() {
        // lane 0 begins with the value of lane 8
        let found = fault(&host, &tail(&[8, 4, 2, 1], STORE));
        assert_eq!(read(&found), (0, 8));
        let text = found.to_string();
        assert!(text.contains("lane 0 reads from lane 8, which the member mask 0x000000ff does not name"), "{text}");
        assert!(text.contains("is stored to global memory by `st.global.u32 [%b], %r2;`"), "{text}");
        assert!(found.at.as_ref().is_some_and(|at| at.text.starts_with("shfl.sync.down")), "{text}");
        // lane 0 gets the value by way of lane 3, which has read it from lane 9
        let way = "shfl.sync.idx.b32 %r2, %r2, 3, 31, 0xff;";
        assert_eq!(read(&fault(&host, &tail(&[6], &format!("{way} {STORE}")))), (3, 9));
        // as an address, and as a predicate
        let address = "cvt.u64.u32 %d0, %r2; add.u64 %d0, %d0, %b; and.b32 %r4, %r2, 0; st.global.u32 [%d0], %r4;";
        assert_eq!(read(&fault(&host, &tail(&[8], address))).1, 8);
        assert_eq!(read(&fault(&host, &tail(&[8], "setp.ne.u32 %p, %r2, 0; @%p bra done;"))).1, 8);
    }
}

/// A lane whose own value is undefined passes it on; one whose source is in the mask has a value.
#[test]
fn values_that_move() {
    let body = |from: u32| tail(&[4], &format!("shfl.sync.idx.b32 %r2, %r2, {from}, 31, 0xff; {STORE}"));
    for host in hosts() {
        assert_eq!(run_on(&host, threads(32), &body(3)).unwrap()[0], 10);
        assert!(matches!(fault(&host, &body(4)).kind, FaultKind::ShuffleSource { lane: 4, from: 8, .. }));
    }
    // what nothing has written to shared memory, loaded by lane 8
    let body = |lane: u32| {
        format!(
            "setp.lt.u32 %q, %t, 8; @%q st.shared.u32 [%r1], %t; ld.shared.u32 %r2, [%r1];\n\
             shfl.sync.idx.b32 %r3, %r2, {lane}, 31, -1; setp.eq.u32 %p, %t, 3; @%p st.global.u32 [%b], %r3;"
        )
    };
    for host in hosts() {
        assert_eq!(run_on(&host, threads(32), &body(7)).unwrap()[0], 7);
        let found = fault(&host, &body(8));
        assert!(matches!(found.kind, FaultKind::Uninitialised { space: "shared", addr: 32 }), "{found}");
        assert!(found.to_string().contains("is stored to global memory"), "{found}");
    }
}

#[test]
fn strict_hosts_report_every_such_read() {
    let host = || Host::checked().strict_shuffles();
    for host in std::iter::once(host()).chain((0..5).map(|seed| host().seed(seed))) {
        let found = fault(&host, &tail(&[4, 2, 1], STORE));
        assert!(matches!(found.kind, FaultKind::ShuffleSource { lane: 4, from: 8, mask: 0xff }), "{found}");
        run_on(&host, threads(32), &tail(&[], STORE)).unwrap();
    }
}
