//! Loops that poll for ever are deadlocks; those that end, or may end, are not.

use ptx_dsl::Error;
use ptx_dsl::fault::FaultKind;
use ptx_dsl::load::{Level, Module, Options, Selector};
use ptx_dsl::prelude::*;

fn module(body: &str) -> Module {
    let text = format!(
        ".version 8.6\n.target sm_90\n.address_size 64\n\
         .visible .entry k(.param .u64 .ptr .global .align 4 a)\n{{\n\
         .reg .pred %p, %q; .reg .b32 %t, %c, %r<16>; .reg .b64 %a, %d<8>; .shared .align 8 .b64 bar;\n\
         ld.param.u64 %a, [a]; mov.u32 %t, %tid.x; mov.u32 %c, %ctaid.x; setp.eq.u32 %p, %t, 0;\n{body}\n ret;\n}}\n"
    );
    let named = ["protocol", "suspicious"].map(|name| Selector::from_name(name).unwrap());
    named.into_iter().fold(Options::new(), |o, class| o.level(Level::Allow, class)).parse(&text).unwrap()
}

fn run<M>(host: &Host<M>, launch: Launch, body: &str) -> Result<(), Error> {
    let mut a = [0u32; 64];
    module(body).kernel("k").unwrap().launch_raw(host, launch, &mut [(&mut a[..]).into()]).map(|_| ())
}

/// The report of the deadlock, on the plain host and with a seed.
#[track_caller]
fn deadlock(launch: Launch, body: &str) -> String {
    let mut reports = Vec::new();
    for host in [Host::new(), Host::new().seed(3)] {
        match run(&host, launch.clone(), body) {
            Err(Error::Fault(fault)) if matches!(fault.kind, FaultKind::Deadlock { .. }) => {
                reports.push(fault.to_string())
            }
            other => panic!("{body}\nno deadlock: {other:?}"),
        }
    }
    reports.swap_remove(0)
}

const LOAD: &str = "poll: ld.relaxed.gpu.global.u32 %r1, [%a+4]; setp.eq.u32 %q, %r1, 0; @%q bra poll;";

#[test]
fn a_flag_that_nobody_sets() {
    let report = deadlock(Launch::grid(1).block(32), LOAD);
    for part in [
        "in the loop at `poll`",
        "polls `ld.relaxed.gpu.global.u32 %r1, [%a+4];`",
        "at `a` + 4 bytes",
        "no statement outside of these loops changes memory",
    ] {
        assert!(report.contains(part), "{part}: {report}");
    }
    // the store is after the loop of the same thread
    let behind = deadlock(Launch::grid(1).block(32), &format!("{LOAD} st.global.u32 [%a+4], 1;"));
    assert!(behind.contains("no thread will execute what could change that: `st.global.u32 [%a+4], 1;`"), "{behind}");
    // the inner one of two loops is named first
    let rounds = format!(
        "mov.u32 %r2, 0; round: ld.relaxed.gpu.global.u32 %r3, [%a+8]; {LOAD}\n\
        add.u32 %r2, %r2, 1; setp.lt.u32 %q, %r2, 3; @%q bra round;"
    );
    let inner = deadlock(Launch::grid(1).block(32), &rounds);
    let at = inner.lines().nth(1).unwrap();
    assert!(at.ends_with("`ld.relaxed.gpu.global.u32 %r1, [%a+4];`"), "{inner}");
    assert!(inner.contains("polls `ld.relaxed.gpu.global.u32 %r1, [%a+4];`"), "{inner}");
    // all places for clusters are taken by CTAs that poll
    let all = deadlock(Launch::grid(16).block(32), LOAD);
    assert!(all.contains("the same in CTAs (1, 0, 0), (2, 0, 0), (3, 0, 0), (4, 0, 0) and 11 more"), "{all}");
    // others wait at a barrier, and other CTAs poll too
    let others = deadlock(Launch::grid(3).block(64), &format!("@!%p bra meet;\n {LOAD}\n meet: bar.sync 0;"));
    assert!(
        others.contains("waits for barrier 0") && others.contains("the same in CTAs (1, 0, 0), (2, 0, 0)"),
        "{others}"
    );
}

/// The value that a loop waits for, who has written it, or where it comes from.
#[test]
fn a_deadlock_says_what_the_loop_reads() {
    let body = format!(
        "@%p st.relaxed.gpu.global.u32 [%a+8], 5;\n{}",
        LOAD.replace("setp", "ld.relaxed.gpu.global.u32 %r2, [%a+8]; setp")
    );
    let plain = deadlock(Launch::grid(1).block(32), &body);
    assert!(
        plain.contains("at `a` + 4 bytes, which holds 0,") && plain.contains("at `a` + 8 bytes, which holds 5\n"),
        "{plain}"
    );
    for host in [Host::checked(), Host::checked().seed(2)] {
        let checked = run(&host, Launch::grid(1).block(32), &body).unwrap_err().to_string();
        for part in [
            "at `a` + 4 bytes, which holds 0 (as passed by the caller: no thread has written it)",
            "at `a` + 8 bytes, which holds 5 (written last by thread (0, 0, 0) of CTA (0, 0, 0) with `@%p st.relaxed.gpu.global.u32 [%a+8], 5;` (PTX line",
        ] {
            assert!(checked.contains(part), "{part}: {checked}");
        }
    }
    let shared = "poll: ld.relaxed.cta.shared.s32 %r1, [bar]; setp.ge.s32 %q, %r1, 0; @%q bra poll;";
    let checked = run(
        &Host::checked().limit(2),
        Launch::grid(1).block(32),
        &format!("@%p st.relaxed.cta.shared.s32 [bar], 3; bar.sync 0;\n{shared}"),
    );
    let checked = checked.unwrap_err().to_string();
    assert!(checked.contains(", which holds 3 (written last by thread (0, 0, 0)"), "{checked}");
}

/// With a seed a loop that has read nothing new waits for a change, as `try_wait` does.
#[test]
fn polls_take_few_turns_with_a_seed() {
    // the last CTA works for long before it sets the flag
    let body = format!(
        "setp.ne.u32 %q, %c, 7; @%q bra poll;\n mov.u32 %r2, 0;\n\
         work: add.u32 %r2, %r2, 1; setp.lt.u32 %q, %r2, 20000; @%q bra work;\n\
         st.release.gpu.global.u32 [%a+4], 1; bra done;\n {LOAD}\n done:"
    );
    for seed in 0..8 {
        let mut a = [0u32; 64];
        let host = Host::new().seed(seed);
        let kernel = module(&body);
        let report =
            kernel.kernel("k").unwrap().launch_raw(&host, Launch::grid(8), &mut [(&mut a[..]).into()]).unwrap();
        assert!((20_000..30_000).contains(&report.turns), "seed {seed}: {} turns", report.turns);
    }
}

/// The turns of a launch on a host with each of these seeds; `right` sees memory at its end.
#[track_caller]
fn turns<M>(host: impl Fn(u64) -> Host<M>, launch: &Launch, body: &str, right: impl Fn(&[u32]) -> bool) -> Vec<u64> {
    let kernel = module(body).kernel("k").unwrap().clone();
    let of_seed = |seed| {
        let mut a = [0u32; 64];
        let report = kernel.launch_raw(&host(seed), launch.clone(), &mut [(&mut a[..]).into()]).unwrap();
        assert!(right(&a), "seed {seed}: {a:?}");
        report.turns
    };
    (0..16).map(of_seed).collect()
}

/// With a seed a loop waits until what it reads changes, not until anything does.
#[test]
fn polls_wait_for_the_place_that_they_read() {
    // the last CTA stores elsewhere for long before it sets the flag
    let body = format!(
        "setp.ne.u32 %q, %c, 7; @%q bra poll;\n mov.u32 %r2, 0;\n\
         work: add.u32 %r2, %r2, 1; st.relaxed.gpu.global.u32 [%a+8], %r2; setp.lt.u32 %q, %r2, 2000; @%q bra work;\n\
         st.release.gpu.global.u32 [%a+4], 1; bra done;\n {LOAD}\n done:"
    );
    let all = turns(|seed| Host::new().seed(seed), &Launch::grid(8).block(64), &body, |a| a[2] == 2000);
    // those of the loop that stores, of two warps
    assert!(all.iter().all(|n| (8000..8300).contains(n)), "{all:?}");
    // an mbarrier object that is tested, and a lock that another warp holds
    let tests = [
        ("mbarrier.test_wait.parity.shared.b64 %q, [bar], 0; @!%q bra poll;", "mbarrier.arrive.shared.b64 _, [bar];"),
        (
            "atom.cas.acquire.gpu.global.b32 %r1, [%a+4], 0, 1; setp.ne.u32 %q, %r1, 0; @%q bra poll; st.release.gpu.global.u32 [%a+4], 0;",
            "st.release.gpu.global.u32 [%a+4], 0;",
        ),
    ];
    for (test, end) in tests {
        let body = format!(
            "@%p mbarrier.init.shared.b64 [bar], 1;\n @%p st.global.u32 [%a+4], 1;\n bar.sync 0;\n\
             setp.ge.u32 %q, %t, 32; @%q bra others;\n mov.u32 %r2, 0;\n\
             work: add.u32 %r2, %r2, 1; @%p st.relaxed.gpu.global.u32 [%a+8], %r2; setp.lt.u32 %q, %r2, 2000; @%q bra work;\n\
             @%p {end} bra done;\n others: setp.ne.u32 %q, %t, 32; @%q bra done;\n poll: {test}\n done:"
        );
        let all = turns(|seed| Host::new().seed(seed), &Launch::grid(1).block(64), &body, |a| a[2] == 2000);
        assert!(all.iter().all(|n| (4000..4150).contains(n)), "{test} {all:?}");
    }
}

/// A scan whose CTAs each look back at all before them, a warp at a time.
#[test]
fn a_look_back_takes_few_turns_with_a_seed() {
    let body = "@%p atom.relaxed.gpu.global.add.u32 %r0, [%a+128], 1;\n @%p st.shared.u32 [bar], %r0;\n bar.sync 0;\n\
        ld.shared.u32 %c, [bar];\n mov.u32 %r2, 0;\n\
        work: add.u32 %r2, %r2, 1; @%p red.relaxed.gpu.global.add.u32 [%a+192], 1; setp.lt.u32 %q, %r2, 50; @%q bra work;\n\
        setp.ge.u32 %q, %t, 32; @%q bra done;\n\
        sub.u32 %r4, %c, %t; add.s32 %r4, %r4, -1; mul.wide.s32 %d0, %r4, 4; add.u64 %d1, %a, %d0; setp.lt.u32 %p, %t, %c;\n\
        look: mov.u32 %r5, 1; @%p ld.acquire.gpu.global.u32 %r5, [%d1]; setp.eq.u32 %q, %r5, 0;\n\
        vote.sync.any.pred %q, %q, -1; @%q bra look;\n\
        selp.u32 %r6, 1, 0, %p; redux.sync.add.u32 %r7, %r6, -1; add.u32 %r7, %r7, 1;\n\
        mul.wide.u32 %d0, %c, 4; add.u64 %d1, %a, %d0; setp.eq.u32 %p, %t, 0; @%p st.release.gpu.global.u32 [%d1], %r7;\n done:";
    let right = |a: &[u32]| (1..=16).eq(a[..16].iter().copied()) && a[48] == 16 * 50;
    let launch = Launch::grid(16).block(64);
    let plain = turns(|seed| Host::new().seed(seed), &launch, body, right);
    assert!(plain.iter().all(|n| *n < 5000), "{plain:?}");
    assert_eq!(turns(|seed| Host::checked().seed(seed), &launch, body, right), plain, "the same decisions");
}

/// A loop that polls and stores: what others write there is a change too.
#[test]
fn a_loop_that_polls_stores_again_what_another_thread_has_overwritten() {
    let body = "setp.ne.u32 %p, %c, 0; @%p bra other;\n\
        poll: st.volatile.global.u32 [%a+8], 5; ld.volatile.global.u32 %r1, [%a+4]; setp.eq.u32 %q, %r1, 0; @%q bra poll; bra done;\n\
        other: mov.u32 %r2, 0;\n\
        again: st.volatile.global.u32 [%a+8], %r2;\n\
        wait: ld.volatile.global.u32 %r1, [%a+8]; setp.ne.u32 %q, %r1, 5; @%q bra wait;\n\
        add.u32 %r2, %r2, 1; setp.lt.u32 %q, %r2, 5; @%q bra again; st.volatile.global.u32 [%a+4], 1;\n done:";
    let all = turns(|seed| Host::new().seed(seed), &Launch::grid(2).block(1), body, |a| a[2] == 5);
    assert!(all.iter().all(|n| *n < 150), "{all:?}");
}

#[test]
fn a_loop_that_reads_nothing_has_a_place() {
    for (body, statement) in
        [("again: fence.acq_rel.gpu; bra again;", "fence.acq_rel.gpu;"), ("again: bra again;", "bra again;")]
    {
        let report = deadlock(Launch::grid(1).block(32), body);
        let at = report.lines().nth(1).unwrap();
        assert!(at.ends_with(&format!("`{statement}`")), "{report}");
        assert!(report.contains("in the loop at `again`: runs forever"), "{report}");
    }
}

#[test]
fn a_flag_that_a_pending_cluster_would_set() {
    // the last CTA sets the flag, the others poll it
    let last = |of: u32| {
        format!(
            "setp.eq.u32 %p, %c, {};\n@%p st.relaxed.gpu.global.u32 [%a+4], 1;\n@%p bra done;\n{LOAD}\ndone:",
            of - 1
        )
    };
    let launch = Launch::grid(6).block(32);
    let report = run(&Host::new().resident_clusters(2), launch.clone(), &last(6)).unwrap_err().to_string();
    for part in [
        "no resident thread will execute what could change that: `@%p st.relaxed.gpu.global.u32 [%a+4], 1;`",
        "4 more clusters start only when one of the 2 resident clusters ends",
        "`Host::resident_clusters(6)` or `--resident 6`",
    ] {
        assert!(report.contains(part), "{part}: {report}");
    }
    // the advice helps
    run(&Host::new().resident_clusters(6), launch, &last(6)).unwrap();
    // nobody is pending
    let nobody = deadlock(Launch::grid(3).block(32), LOAD);
    assert!(!nobody.contains("more cluster"), "{nobody}");
}

#[test]
fn other_ways_to_poll() {
    // a counter that does not end the loop, a clock that nobody looks at, a pause
    let count = LOAD.replace("setp.eq", "add.u32 %r2, %r2, 1; mov.u32 %r3, %clock; nanosleep.u32 100; setp.eq");
    deadlock(Launch::grid(2).block(64), &format!("mov.u32 %r2, 0; {count} st.global.u32 [%a], %r2;"));
    // a counter that starts again
    let retry = "again: mov.u32 %r2, 0;\n poll: ld.volatile.global.u32 %r1, [%a]; setp.ne.u32 %q, %r1, 0; @%q bra done;\n\
        add.u32 %r2, %r2, 1; setp.lt.u32 %q, %r2, 10; @%q bra poll; bra again;\n done:";
    deadlock(Launch::grid(1).block(1), retry);
    // a lock that is never free, and a store of what is there
    let lock = "@%p st.global.u32 [%a], 1; bar.sync 0;\n poll: atom.cas.acquire.gpu.global.b32 %r1, [%a], 0, 1; st.volatile.global.u32 [%a+8], 5;\n\
        setp.ne.u32 %q, %r1, 0; @%q bra poll;";
    deadlock(Launch::grid(1).block(64), lock);
    // an mbarrier that is tested, and one that is waited for beside a thread that polls
    let object = "@%p mbarrier.init.shared.b64 [bar], 2; bar.sync 0;\n";
    let test = "poll: mbarrier.test_wait.parity.shared.b64 %q, [bar], 0; @!%q bra poll;";
    let report = deadlock(Launch::grid(1).block(32), &format!("{object}{test}"));
    assert!(report.contains("polls `mbarrier.test_wait"), "{report}");
    let wait = "@%p bra poll;\n wait: mbarrier.try_wait.parity.shared.b64 %q, [bar], 0; @!%q bra wait; bra done;";
    let report = deadlock(Launch::grid(1).block(64), &format!("{object}{wait}\n {LOAD}\n done:"));
    assert!(report.contains("waits for mbarrier") && report.contains("polls `ld.relaxed"), "{report}");
}

#[test]
fn loops_that_end() {
    let fine = |launch: Launch, body: &str| {
        for host in [Host::new(), Host::new().seed(3)] {
            if let Err(error) = run(&host, launch.clone(), body) {
                panic!("{body}\n{error}");
            }
        }
    };
    // a counter that ends the loop, late; a clock that does; a thread that works for long before it sets the flag
    let attempts = "mov.u32 %r2, 0;\n poll: ld.volatile.global.u32 %r1, [%a]; add.u32 %r2, %r2, 1; setp.eq.u32 %q, %r1, 0;\n\
        setp.lt.and.u32 %q, %r2, 200000, %q; @%q bra poll;";
    fine(Launch::grid(1).block(1), attempts);
    let clock = "mov.u64 %d0, %clock64;\n poll: mov.u64 %d1, %clock64; sub.u64 %d1, %d1, %d0; setp.lt.u64 %q, %d1, 300000; @%q bra poll;";
    fine(Launch::grid(1).block(1), clock);
    let work = format!(
        "@!%p bra poll;\n mov.u32 %r2, 0;\n work: add.u32 %r2, %r2, 1; setp.lt.u32 %q, %r2, 1000; @%q bra work;\n\
         st.relaxed.gpu.global.u32 [%a+4], 1; bra done;\n {LOAD}\n done:"
    );
    fine(Launch::grid(1).block(64), &work);
    // a counter in local, shared or global memory
    for (space, declared, place) in [
        ("local", ".local .align 4 .b32 own;", "own"),
        ("shared", ".shared .align 4 .b32 count;", "count"),
        ("global", "", "%a"),
    ] {
        fine(
            Launch::grid(1).block(1),
            &format!(
                "{declared} st.{space}.u32 [{place}], 0;\n next: ld.{space}.u32 %r1, [{place}]; add.u32 %r1, %r1, 1;\n\
                 st.{space}.u32 [{place}], %r1; setp.lt.u32 %q, %r1, 200000; @%q bra next;"
            ),
        );
    }
    let atomic = "next: atom.global.add.u32 %r1, [%a], 1; setp.lt.u32 %q, %r1, 200000; @%q bra next;";
    fine(Launch::grid(1).block(1), atomic);
    // a wait that looks again so often and then sets the flag
    let gives_up = format!(
        "@%p mbarrier.init.shared.b64 [bar], 1; bar.sync 0; @!%p bra poll;\n mov.u32 %r2, 0;\n\
         wait: mbarrier.try_wait.parity.shared.b64 %q, [bar], 0; add.u32 %r2, %r2, 1; setp.lt.u32 %q, %r2, 5; @%q bra wait;\n\
         st.relaxed.gpu.global.u32 [%a+4], 1; bra done;\n {LOAD}\n done:"
    );
    fine(Launch::grid(1).block(64), &gives_up);
}
