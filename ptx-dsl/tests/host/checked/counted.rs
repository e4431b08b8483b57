//! Operations on mbarrier objects that a phase counts: whoever has waited for the phase knows that they are done.

use super::async_races::{clean, hosts, leader, race};
use super::races::{permissive, run_on, threads};
use ptx_dsl::Error;
use ptx_dsl::prelude::*;

fn two() -> Launch {
    Launch::grid(2).block(1).cluster(2)
}

const MEET: &str = "barrier.cluster.arrive; barrier.cluster.wait;";

/// CTA 1 executes `other` on the object of CTA 0 at `%r6`, which CTA 0 has initialised with a count. Then CTA 0 executes `own`.
fn body(count: u32, other: &str, own: &str) -> String {
    leader(&format!(
        "mov.u32 %r2, %cluster_ctarank; setp.ne.u32 %q, %r2, 0; mov.u32 %r5, bar; mapa.shared::cluster.u32 %r6, %r5, 0;\n\
         mapa.shared::cluster.u32 %r4, %r0, 0; mbarrier.init.shared.b64 [bar], {count}; {MEET}\n\
         $q bra peer; {own} bra done;\npeer: {other}\ndone:"
    ))
}

const WAIT: &str = "full: mbarrier.try_wait.parity.acquire.cluster.shared.b64 %p, [bar], 0; @!%p bra full;";
const EXPECT_4: &str = "mbarrier.arrive.expect_tx.shared.b64 _, [bar], 4;";

/// Operations of CTA 1 with the count of the object of CTA 0, and what CTA 0 does before it waits.
fn remote_operations() -> Vec<(u32, String, &'static str)> {
    let on_peer =
        |op: &str, operands: &str| format!("mbarrier.{op}.release.cluster.shared::cluster.b64 _, [%r6]{operands};");
    let tx = |op: &str| format!("mbarrier.{op}.relaxed.cluster.shared::cluster.b64 [%r6], 4;");
    let st = "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r4], 9, [%r6];";
    let red = "red.async.relaxed.cluster.global.shared::cluster.mbarrier::complete_tx::bytes";
    let copy = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r4], [%a], 16, [%r6];";
    vec![
        (1, on_peer("arrive", ""), ""),
        (2, on_peer("arrive", ", 2"), ""),
        (1, on_peer("arrive", "").replace("release", "relaxed"), ""),
        (1, on_peer("arrive.expect_tx", ", 0"), ""),
        (1, on_peer("arrive_drop", ""), ""),
        (1, on_peer("arrive_drop.expect_tx", ", 0"), ""),
        // the arrival alone says that CTA 1 is done with the object
        (1, format!("{}{}{}", tx("expect_tx"), tx("complete_tx"), on_peer("arrive", "")), ""),
        (1, st.to_owned(), EXPECT_4),
        (1, red.replace(".global", "") + ".add.u32 [%r4], 9, [%r6];", EXPECT_4),
        (1, copy.to_owned(), "mbarrier.arrive.expect_tx.shared.b64 _, [bar], 16;"),
    ]
}

#[test]
fn what_a_phase_counts_is_done_after_its_wait() {
    for (count, other, own) in remote_operations() {
        let write = if other.contains("red.async") { "st.shared.u32 [tile], 1;" } else { "" };
        let body = |end: &str| body(count, &other, &format!("{own} {end}")).replace(MEET, &format!("{write} {MEET}"));
        clean(&two(), &body(WAIT));
        // without a wait the CTA may end too early
        for host in hosts() {
            let Err(Error::Fault(fault)) = run_on(&host, two(), &body("")) else { panic!("{other}") };
            let text = fault.to_string();
            let ends = ["nothing keeps this CTA alive", "has exited", "ends while"];
            assert!(ends.iter().any(|end| text.contains(end)), "{other}\n{text}");
        }
    }
}

/// The next phase says as much, and so does a relaxed wait.
#[test]
fn a_later_phase_or_a_relaxed_wait_says_so_too() {
    let arrive = "mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [%r6], 0;";
    clean(&two(), &body(1, arrive, &WAIT.replace("acquire", "relaxed")));
    let (again, later) = (format!("{arrive}{arrive}"), format!("mbarrier.arrive.shared.b64 _, [bar]; {WAIT}"));
    clean(&two(), &body(3, &again, &later));
    let second = WAIT.replace("[bar], 0", "[bar], 1");
    let in_turn = format!("mbarrier.arrive.shared.b64 _, [bar]; {}", second.replace("full", "next"));
    clean(&two(), &body(1, arrive, &format!("{WAIT}{in_turn}")));
}

/// The end of an object: the start of a copy by another thread is done with the phase, but a test is not.
#[test]
fn the_end_of_an_object_after_its_phase() {
    let body = |test: &str| {
        leader(&format!(
            "$p mbarrier.init.shared.b64 [bar], 1; bar.sync 0; $!p bra others;\n\
             cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%a], 128, [bar]; bra done;\n\
             others: setp.ne.u32 %p, %t, 32; $p bra tests; mbarrier.arrive.expect_tx.shared.b64 _, [bar], 128;\n\
             {WAIT} mbarrier.inval.shared.b64 [bar]; bra done;\n\
             tests: {test}\ndone:"
        ))
    };
    clean(&threads(64), &body(""));
    let found = race(
        &threads(96),
        &body("setp.ne.u32 %p, %t, 64; $!p mbarrier.test_wait.parity.shared.b64 %q, [bar], 0;").replace("$!p", "@!%p"),
    );
    assert!(format!("{} {}", found.access, found.other.access).contains("mbarrier"), "{found}");
}

/// `tcgen05.commit` with a multicast, on the objects of a pair of CTAs.
#[test]
fn a_commit_to_the_peer() {
    let text = |wait: &str| {
        format!(
            ".version 8.6\n.target sm_100a\n.address_size 64\n\
             .visible .entry k() .reqntid 32 .reqnctapercluster 2\n{{\n\
             .reg .pred %p, %q; .reg .b32 %r<4>; .reg .b16 %h;\n.shared .align 8 .b64 bar;\n\
             elect.sync _|%p, -1; @%p mbarrier.init.shared::cta.b64 [bar], 1; fence.mbarrier_init.release.cluster;\n\
             barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n\
             mov.u32 %r0, %cluster_ctarank; setp.eq.and.u32 %q, %r0, 0, %p; mov.b16 %h, 3; mov.u32 %r1, bar;\n\
             @%q tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%r1], %h;\n\
             {wait}\nret;\n}}\n"
        )
    };
    let run = |host: &Host<ptx_dsl::Checked>, wait: &str| {
        let module = permissive().parse(&text(wait)).unwrap();
        module.kernel("k").unwrap().launch_raw(host, Launch::grid(2), &mut [])
    };
    for host in hosts() {
        run(&host, WAIT).unwrap();
        assert!(run(&host, "").is_err());
    }
}
