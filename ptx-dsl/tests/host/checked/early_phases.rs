//! Phases of an mbarrier object that are complete without a copy, because `expect_tx` counts too few bytes.

use super::async_races::{WAIT, clean, hosts, leader, race};
use super::races::{run_on, threads};
use ptx_dsl::Error;
use ptx_dsl::fault::FaultKind;
use ptx_dsl::prelude::*;

/// Two copies of 128 bytes, which all threads read. `%r2` is a number of bytes that the checker does not know.
fn two_copies(counted: &str, before: &str, after: &str) -> String {
    leader(&format!(
        "$p mbarrier.init.shared.b64 [bar], 1; bar.sync 0; ld.global.u32 %r2, [%a]; add.u32 %r2, %r2, {counted};\n\
         $!p bra wait; {before}\n\
         cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%a], 128, [bar];\n\
         cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile+128], [%a+128], 128, [bar];\n\
         {after} wait: {WAIT} ld.shared.u32 %r4, [%r1]; ld.shared.u32 %r5, [%r1+128];"
    ))
}

const ARRIVE: &str = "mbarrier.arrive.expect_tx.shared.b64 _, [bar], %r2;";

#[test]
fn too_few_bytes() {
    clean(&threads(32), &two_copies("256", ARRIVE, ""));
    clean(&threads(32), &two_copies("256", "", ARRIVE));
    for host in hosts() {
        let body = two_copies("128", ARRIVE, "");
        let Err(Error::Fault(fault)) = run_on(&host, threads(32), &body) else { panic!("no fault") };
        let FaultKind::DataRace(race) = &fault.kind else { panic!("{fault}") };
        let early = race.early.as_ref().expect("a phase that is complete without the copy");
        // the first copy may be complete before the second one starts
        let bytes = if early.pending { (128, 256) } else { (128, 128) };
        assert_eq!(early.bytes, Some(bytes), "{fault}");
    }
    let Err(Error::Fault(fault)) = run_on(&Host::checked(), threads(32), &two_copies("128", ARRIVE, "")) else {
        panic!("no fault")
    };
    let report = fault.to_string();
    for text in [
        "the phase of mbarrier 0x400 (`bar`) in which the copy started was complete before the copy: `expect_tx` counted 128 \
         bytes, and the copies of the phase bring 256",
        "help: let `expect_tx` count the bytes of all copies of a phase, before the last arrival of the phase",
    ] {
        assert!(report.contains(text), "{report}");
    }
}

#[test]
fn no_bytes() {
    let early = |body: &str| race(&threads(32), body).early.expect("a phase that is complete without the copy");
    let found = early(&two_copies(
        "256",
        "mbarrier.arrive.shared.b64 _, [bar];",
        "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], %r2;",
    ));
    assert_eq!((found.pending, found.bytes), (false, Some((0, 0))));
}

/// Copies that start too early, for the next phase.
#[test]
fn a_stage_that_is_refilled_too_early() {
    let next = "mbarrier.arrive.expect_tx.shared.b64 _, [bar], 128;\n\
        cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%a], 128, [bar];";
    let body = |between: &str| {
        leader(&format!(
            "$p mbarrier.init.shared.b64 [bar], 1; bar.sync 0; $!p bra wait; {next}\n\
             wait: {WAIT} ld.shared.u32 %r4, [%r1]; {between} $!p bra done; {next}\n\
             again: mbarrier.try_wait.parity.shared.b64 %q, [bar], 1; $!q bra again; done: bar.sync 0;"
        ))
        .replace("$!q", "@!%q")
    };
    clean(&threads(32), &body("bar.sync 0;"));
    let late = leader(&format!(
        "$p mbarrier.init.shared.b64 [bar], 1; bar.sync 0; $!p bra wait; {next}\n\
         wait: {WAIT} $!p bra read; {next} read: ld.shared.u32 %r4, [%r1]; bar.sync 0;\n\
         again: mbarrier.try_wait.parity.shared.b64 %q, [bar], 1; @!%q bra again;"
    ));
    let early = race(&threads(32), &late).early.expect("a phase before that of the copy");
    assert_eq!((early.pending, early.bytes), (false, Some((128, 128))));
}
