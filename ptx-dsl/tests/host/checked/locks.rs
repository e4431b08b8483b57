//! Locks and compare-and-swap loops with a weak access or a weak synchronisation: the help of the report is an edit that mends them.

use super::races::{clean, run_on};
use ptx_dsl::fault::{FaultKind, TooWeak};
use ptx_dsl::prelude::*;
use ptx_dsl::{Error, Fault};

fn warps() -> Launch {
    Launch::grid(2).block(64)
}

/// Lane 0 of each warp takes the lock at `a[0]`, changes `b[0]`, and gives the lock back.
fn locked(take: &str, give: &str) -> String {
    format!(
        "setp.ne.u32 %p, %l, 0; @%p bra done; {take} ld.global.u32 %r3, [%b]; add.u32 %r3, %r3, 1;\n\
         st.global.u32 [%b], %r3; {give} done:"
    )
}

const TAKE: &str = "again: atom.acquire.gpu.global.cas.b32 %r2, [%a], 0, 1; setp.ne.u32 %p, %r2, 0; @%p bra again;";
const GIVE: &str = "st.release.gpu.global.u32 [%a], 0;";
/// Polls with a plain load before it tries to take the lock.
const POLL: &str = "again: ld.global.u32 %r2, [%a]; setp.ne.u32 %p, %r2, 0; @%p bra again;\n\
    atom.acquire.gpu.global.cas.b32 %r2, [%a], 0, 1; setp.ne.u32 %p, %r2, 0; @%p bra again;";

fn findings(body: &str) -> Box<Fault> {
    match run_on(&Host::checked(), warps(), body) {
        Err(Error::Fault(fault)) => fault,
        other => panic!("{body}\n{other:?}"),
    }
}

/// The first report of `body` has this help, and the edit mends the kernel.
#[track_caller]
fn mends(body: &str, help: &str, edit: (&str, &str)) -> Box<Fault> {
    let fault = findings(body);
    let report = fault.to_string();
    let first = report.split("\n\n").next().unwrap();
    assert!(first.contains(&format!("= help: {help}")), "`{help}` is not in\n{report}");
    assert!(body.contains(edit.0), "{body}");
    clean(warps(), &body.replace(edit.0, edit.1));
    fault
}

#[test]
fn a_lock_that_is_right() {
    clean(warps(), &locked(TAKE, GIVE));
    clean(warps(), &locked(TAKE, "atom.release.gpu.global.exch.b32 %r4, [%a], 0;"));
    clean(warps(), &locked(TAKE, "fence.acq_rel.gpu; st.volatile.global.u32 [%a], 0;"));
}

#[test]
fn a_plain_store_gives_it_back() {
    let help =
        "if other threads wait for the value, make this store `st.release.gpu`; if not, put a `bar.sync` between them";
    let edit = ("st.global.u32 [%a]", "st.release.gpu.global.u32 [%a]");
    for fence in ["", "fence.acq_rel.gpu; "] {
        mends(&locked(TAKE, &format!("{fence}st.global.u32 [%a], 0;")), help, edit);
    }
}

/// What the lock protects is in order, so the loads of the lock alone are races.
#[test]
fn a_plain_load_polls() {
    let help =
        "if other threads may change the value meanwhile, make the earlier load `ld.relaxed.gpu` or `ld.acquire.gpu`";
    for load in ["ld.relaxed.gpu.global.u32", "ld.acquire.gpu.global.u32"] {
        let fault = mends(&locked(POLL, GIVE), help, ("ld.global.u32 %r2", &format!("{load} %r2")));
        for finding in std::iter::once(&*fault).chain(&fault.others) {
            let FaultKind::DataRace(race) = &finding.kind else { panic!("{finding}") };
            assert!(race.strength.is_some(), "{fault}");
        }
    }
}

#[test]
fn a_part_is_relaxed() {
    let relaxed = TAKE.replace("acquire", "relaxed");
    let help = "write `.acquire` at the load, or a `fence.acq_rel` after it";
    mends(&locked(&relaxed, GIVE), help, ("atom.relaxed", "atom.acquire"));
    mends(&locked(&relaxed, GIVE), help, ("@%p bra again;", "@%p bra again; fence.acq_rel.gpu;"));
    let help = "write `.release` at the store, or a `fence.acq_rel` before it";
    let give = "st.relaxed.gpu.global.u32 [%a], 0;";
    mends(&locked(TAKE, give), help, ("st.relaxed", "st.release"));
    mends(&locked(TAKE, give), help, ("st.relaxed", "fence.acq_rel.gpu; st.relaxed"));
}

#[test]
fn a_scope_is_too_narrow() {
    let help = "strong accesses do not race if their scopes include both threads: `.gpu`";
    mends(&locked(TAKE, GIVE).replace(".gpu", ".cta"), help, (".cta", ".gpu"));
    // the synchronisation alone
    let flag = |scope: &str| {
        format!(
            "setp.ne.u32 %p, %t, 0; @%p bra done; setp.ne.u32 %p, %c, 0; @%p bra take; st.global.u32 [%b], 1;\n\
             fence.acq_rel.{scope}; st.relaxed.gpu.global.u32 [%a], 1; bra done;\n\
             take: ld.acquire.gpu.global.u32 %r2, [%a]; setp.eq.u32 %p, %r2, 0; @%p bra take; ld.global.u32 %r3, [%b]; done:"
        )
    };
    mends(
        &flag("cta"),
        "give the release a scope that includes both threads",
        ("fence.acq_rel.cta", "fence.acq_rel.gpu"),
    );
    let both = "if other threads may change the value meanwhile, make the earlier load `ld.relaxed.gpu` or \
        `ld.acquire.gpu`, and give the other access the scope `.gpu`";
    let count =
        "setp.ne.u32 %p, %l, 0; @%p bra done; ld.global.u32 %r2, [%a]; red.relaxed.cta.global.add.u32 [%a], 1; done:";
    mends(
        count,
        both,
        ("ld.global.u32 %r2, [%a]; red.relaxed.cta", "ld.relaxed.gpu.global.u32 %r2, [%a]; red.relaxed.gpu"),
    );
}

#[test]
fn a_compare_and_swap_loop() {
    let body = "setp.ne.u32 %p, %l, 0; @%p bra done; ld.global.u32 %r2, [%a]; again: add.u32 %r3, %r2, 1;\n\
        atom.relaxed.gpu.global.cas.b32 %r4, [%a], %r2, %r3; setp.ne.u32 %p, %r4, %r2; mov.u32 %r2, %r4; @%p bra again; done:";
    let help = "if other threads may change the value meanwhile, make the earlier load `ld.relaxed.gpu`";
    mends(body, help, ("ld.global", "ld.relaxed.gpu.global"));
}

/// Bytes of a word that others change with a store of the word.
#[test]
fn accesses_of_different_widths() {
    let body = "setp.eq.u32 %p, %t, 0; @%p st.relaxed.gpu.global.u32 [%a], 1; setp.eq.u32 %p, %t, 32;\n\
        @%p ld.relaxed.gpu.global.u8 %r2, [%a];";
    let help = "strong accesses do not race if they are of the same bytes: use one width for both";
    mends(body, help, ("ld.relaxed.gpu.global.u8", "ld.relaxed.gpu.global.u32"));
}

/// A barrier of the grid: threads 0 count themselves, and the last one sets a flag, for which the others wait. Then they load what the
/// neighbour has stored; the last one only if `last` is `met`.
fn grid_barrier(count: &str, store: &str, load: &str, last: &str) -> String {
    format!(
        "setp.ne.u32 %p, %t, 0; @%p bra done; mov.u32 %r2, %nctaid.x; mad.wide.u32 %d0, %c, 4, %a; st.global.u32 [%d0], 7;\n\
         atom.{count}.gpu.global.add.u32 %r3, [%b], 1; sub.u32 %r4, %r2, 1; setp.ne.u32 %p, %r3, %r4; @%p bra spin;\n\
         st.{store}.gpu.global.u32 [%b+4], 1; bra {last};\n\
         spin: ld.{load}.gpu.global.u32 %r5, [%b+4]; setp.eq.u32 %p, %r5, 0; @%p bra spin;\n\
         met: xor.b32 %r6, %c, 1; mad.wide.u32 %d1, %r6, 4, %a; ld.global.u32 %r7, [%d1]; done:"
    )
}

/// The chain that leads from the store through a counter, and perhaps a flag, to the load: the report names the link that is too weak.
#[test]
fn a_barrier_of_the_grid() {
    let launch = || Launch::grid(4).block(64);
    let weak =
        |count, store, load, last| match run_on(&Host::checked(), launch(), &grid_barrier(count, store, load, last)) {
            Err(Error::Fault(fault)) => match &fault.kind {
                FaultKind::DataRace(race) => {
                    let miss = race.near_miss.clone().unwrap_or_else(|| panic!("{fault}"));
                    let opcode =
                        |at: Option<ptx_dsl::fault::At>| at.unwrap().text.split(' ').next().unwrap().to_owned();
                    (opcode(miss.from_at), opcode(miss.to_at), miss.why, fault.to_string())
                }
                _ => panic!("{fault}"),
            },
            other => panic!("{other:?}"),
        };
    let (atom, ld, st) = ("atom.relaxed.gpu.global.add.u32", "ld.relaxed.gpu.global.u32", "st.relaxed.gpu.global.u32");
    clean(launch(), &grid_barrier("acq_rel", "release", "acquire", "met"));
    // the last one has only the counter
    for (store, load) in [("relaxed", "relaxed"), ("release", "acquire")] {
        let (from, to, why, report) = weak("relaxed", store, load, "met");
        assert_eq!((from.as_str(), to.as_str(), why), (atom, atom, TooWeak::Relaxed), "{report}");
        assert!(
            report.contains("= help: write `.acq_rel` at it, or a `fence.acq_rel` before it and after it"),
            "{report}"
        );
    }
    // the others have the flag first, and then what its writer knows
    for count in ["relaxed", "acq_rel"] {
        let (from, to, why, report) = weak(count, "relaxed", "relaxed", "done");
        assert_eq!((from.as_str(), to.as_str(), why), (st, ld, TooWeak::Relaxed), "{report}");
    }
    let (from, to, _, report) = weak("relaxed", "release", "acquire", "done");
    assert_eq!((from.as_str(), to.as_str()), (atom, atom), "{report}");
    let (from, to, why, report) = weak("acquire", "release", "acquire", "done");
    assert_eq!(
        (from.as_str(), to.as_str(), why),
        (&*atom.replace("relaxed", "acquire"), &*atom.replace("relaxed", "acquire"), TooWeak::RelaxedStore),
        "{report}"
    );
}
