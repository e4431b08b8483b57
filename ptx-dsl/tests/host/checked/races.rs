//! What the checked host finds in one run, and what it must not find. The kernels are pairs: with and without what orders their
//! accesses.

use ptx_dsl::Error;
use ptx_dsl::fault::{FaultKind, Race, TooWeak};
use ptx_dsl::load::{Level, Options, Selector};
use ptx_dsl::prelude::*;

/// A kernel with two buffers of 64 numbers, `%a` and `%b`, and shared memory at `tile`.
pub(super) fn run(launch: Launch, body: &str) -> Result<[u32; 64], Error> {
    run_on(&Host::checked(), launch, body)
}

/// What would be an error before the launch may run.
pub(super) fn permissive() -> Options {
    let named = [
        "protocol",
        "suspicious",
        "PTX0640",
        "PTX0648",
        "PTX0651",
        "PTX0653",
        "PTX0655",
        "PTX0656",
        "PTX0657",
        "PTX0662",
        "PTX0672",
    ]
    .map(|name| Selector::from_name(name).unwrap());
    named.into_iter().fold(Options::new(), |o, class| o.level(Level::Allow, class))
}

pub(super) fn run_on(host: &Host<ptx_dsl::Checked>, launch: Launch, body: &str) -> Result<[u32; 64], Error> {
    let text = format!(
        ".version 8.6\n.target sm_90a\n.address_size 64\n\
         .visible .entry k(.param .u64 .ptr .global .align 4 a, .param .u64 .ptr .global .align 4 b)\n{{\n\
         .reg .pred %p, %q; .reg .b32 %t, %c, %l, %w, %r<16>; .reg .b64 %a, %b, %d<8>;\n\
         .shared .align 128 .b8 tile[1024]; .shared .align 8 .b64 bar, other;\n\
         ld.param.u64 %a, [a]; ld.param.u64 %b, [b]; mov.u32 %t, %tid.x; mov.u32 %c, %ctaid.x; mov.u32 %l, %laneid;\n\
         shr.u32 %w, %t, 5; mov.u32 %r0, tile; mad.lo.u32 %r1, %t, 4, %r0;\n{body}\n ret;\n}}\n"
    );
    let module = permissive().parse(&text).unwrap();
    let kernel = module.kernel("k").unwrap();
    let (mut a, mut b) = ([0u32; 64], [0u32; 64]);
    let done = kernel.launch_raw(host, launch, &mut [(&mut a[..]).into(), (&mut b[..]).into()]);
    done.map(|_| b)
}

#[track_caller]
pub(super) fn clean(launch: Launch, body: &str) {
    if let Err(error) = run(launch, body) {
        panic!("{body}\n{error}");
    }
}

/// The race in the kernel, with its report.
#[track_caller]
fn race(launch: Launch, body: &str) -> (Race, String) {
    match run(launch, body) {
        Err(Error::Fault(fault)) => match &fault.kind {
            FaultKind::DataRace(race) => ((**race).clone(), fault.to_string()),
            _ => panic!("{body}\n{fault}"),
        },
        other => panic!("{body}\nno race: {other:?}"),
    }
}

pub(super) fn threads(n: u32) -> Launch {
    Launch::grid(1).block(n)
}

#[test]
fn a_tree_reduction() {
    let body = "st.shared.u32 [%r1], %t; mov.u32 %r2, 32;\n\
        next: bar.sync 0; setp.ge.u32 %p, %t, %r2; @%p bra skip;\n\
        mad.lo.u32 %r3, %r2, 4, %r1; ld.shared.u32 %r4, [%r3]; ld.shared.u32 %r5, [%r1]; add.u32 %r5, %r5, %r4;\n\
        st.shared.u32 [%r1], %r5;\n skip: shr.u32 %r2, %r2, 1; setp.ne.u32 %p, %r2, 0; @%p bra next;\n\
        setp.eq.u32 %p, %t, 0; @%p st.global.u32 [%b], %r5;";
    clean(threads(64), body);
    let (found, report) = race(threads(64), &body.replace("bar.sync 0;", ""));
    assert_eq!(found.space, "shared");
    assert!(report.contains("data race: nothing orders this"), "{report}");
    assert!(report.contains("= the earlier s") && report.contains("PTX ISA 8.7.1"), "{report}");
}

#[test]
fn lanes_of_one_warp() {
    let body = "st.shared.u32 [%r1], %t; $ xor.b32 %r2, %t, 1; mad.lo.u32 %r2, %r2, 4, %r0; ld.shared.u32 %r3, [%r2];";
    clean(threads(32), &body.replace('$', "bar.warp.sync -1;"));
    let (_, report) = race(threads(32), &body.replace('$', ""));
    assert!(report.contains("nothing else orders the lanes of a warp"), "{report}");
    // each half of the warp by itself
    let halves = "setp.lt.u32 %p, %l, 16; selp.u32 %r5, 0xffff, 0xffff0000, %p; bar.warp.sync %r5;";
    clean(threads(32), &body.replace('$', halves));
    let across = body.replace("xor.b32 %r2, %t, 1", "xor.b32 %r2, %t, 16");
    race(threads(32), &across.replace('$', halves));
    clean(threads(32), &across.replace('$', "bar.warp.sync -1;"));
}

#[test]
fn counters() {
    let body = |add: &str| {
        format!(
            "st.shared.u32 [%r1], 0; bar.sync 0; and.b32 %r2, %t, 7; mad.lo.u32 %r2, %r2, 4, %r0; {add} bar.sync 0;\n\
             ld.shared.u32 %r4, [%r1];"
        )
    };
    clean(threads(64), &body("red.shared.add.u32 [%r2], 1;"));
    let (found, _) =
        race(threads(64), &body("ld.shared.u32 %r3, [%r2]; add.u32 %r3, %r3, 1; st.shared.u32 [%r2], %r3;"));
    assert_eq!((found.access, found.other.access), ("store", "load"));
    // in global memory, by threads of several CTAs
    clean(Launch::grid(2).block(32), "red.global.add.u32 [%b], 1;");
    race(Launch::grid(2).block(32), "ld.global.u32 %r3, [%b]; add.u32 %r3, %r3, 1; st.global.u32 [%b], %r3;");
    // atomic operations of a scope that is too narrow may lose updates
    let (found, _) = race(Launch::grid(2).block(1), "red.cta.global.add.u32 [%b], 1;");
    assert_eq!((found.access, found.other.access), ("atomic operation", "atomic operation"));
    clean(Launch::grid(1).block(64), "red.cta.global.add.u32 [%b], 1;");
}

#[test]
fn stores_of_one_value_are_no_race() {
    clean(threads(64), "st.global.u32 [%b], 7;");
    race(threads(64), "st.global.u32 [%b], %w;");
    race(threads(32), "st.global.u32 [%b], %l;");
}

#[test]
fn named_barriers() {
    // two warps produce, two consume: the producers do not wait
    let body = "setp.ge.u32 %p, %w, 2; $p bra take; st.shared.u32 [%r1], %t; bar.arrive 1, 128; bra done;\n\
        take: bar.sync 1, 128; ld.shared.u32 %r2, [%r1+-256];\n done:";
    let body = body.replace("$p", "@%p");
    clean(threads(128), &body);
    race(
        threads(128),
        &body.replace("bar.arrive 1, 128;", "bar.arrive 2, 128;").replace("bar.sync 1, 128;", "bar.sync 1, 64;"),
    );
}

/// CTA 0 stores a value and a flag; CTA 1 polls the flag and loads the value.
fn message(store: &str, load: &str) -> String {
    format!(
        "setp.ne.u32 %p, %c, 0; @%p bra poll; st.global.u32 [%a], 41; {store} bra done;\n\
         poll: {load} setp.eq.u32 %p, %r2, 0; @%p bra poll; ld.global.u32 %r3, [%a]; st.global.u32 [%b], %r3;\n done:"
    )
}

#[test]
fn release_and_acquire() {
    let two = || Launch::grid(2).block(1);
    let (release, acquire) = ("st.release.gpu.global.u32 [%a+4], 1;", "ld.acquire.gpu.global.u32 %r2, [%a+4];");
    clean(two(), &message(release, acquire));
    let fence = "fence.acq_rel.gpu;";
    let (store, load) = ("st.relaxed.gpu.global.u32 [%a+4], 1;", "ld.relaxed.gpu.global.u32 %r2, [%a+4];");
    clean(two(), &message(&format!("{fence} {store}"), &format!("{load} {fence}")));
    clean(two(), &message(&format!("membar.gl; {store}"), acquire));
    clean(two(), &message(release, &format!("{load} {fence}")));
    clean(
        two(),
        &message("atom.exch.release.gpu.global.b32 %r4, [%a+4], 1;", "atom.or.acquire.gpu.global.b32 %r2, [%a+4], 0;"),
    );
    let misses = [
        (store, acquire, "the store is `.relaxed`"),
        (release, load, "the load is `.relaxed`"),
        (store, load, "follows it\n"),
        (store, &format!("{load} {fence}"), "precedes it\n"),
        ("st.release.cta.global.u32 [%a+4], 1;", acquire, "the scope of the release"),
        (release, "ld.acquire.cta.global.u32 %r2, [%a+4];", "the scope of the acquire"),
    ];
    for (store, load, why) in misses {
        let (found, report) = race(two(), &message(store, load));
        // the flag itself, or the value after it
        if found.addr & 4 == 0 {
            assert!(report.contains(why), "{report}");
        }
    }
    // a fence after the store orders nothing
    race(two(), &message(&format!("{store} {fence}"), acquire));
    // a weak flag is a race by itself
    race(two(), &message("st.global.u32 [%a+4], 1;", acquire));
}

/// A lock that is relaxed on both sides: the report says so, although others have tried to take it meanwhile.
#[test]
fn a_relaxed_lock() {
    let body = "take: atom#.gpu.global.cas.b32 %r2, [%a], 0, 1; setp.ne.u32 %p, %r2, 0; $p bra take;\n\
        ld.global.u32 %r3, [%a+8]; add.u32 %r3, %r3, 1; st.global.u32 [%a+8], %r3; st&.gpu.global.u32 [%a], 0;";
    let lock = |take: &str, give: &str| body.replace("$p", "@%p").replace('#', take).replace('&', give);
    let both = || Launch::grid(4).block(1);
    clean(both(), &lock(".acquire", ".release"));
    for (take, give, why) in [
        (".relaxed", ".relaxed", TooWeak::Relaxed),
        (".acquire", ".relaxed", TooWeak::RelaxedStore),
        (".relaxed", ".release", TooWeak::RelaxedLoad),
    ] {
        let (found, report) = race(both(), &lock(take, give));
        assert_eq!(found.near_miss.map(|miss| miss.why), Some(why), "{report}");
    }
}

#[test]
fn a_chain_of_atomic_operations() {
    // the last CTA to count reads what all have stored
    let body = "mad.wide.u32 %d0, %c, 4, %a; st.global.u32 [%d0], %c; $ atom.add.relaxed.gpu.global.u32 %r2, [%b], 1;\n\
        setp.ne.u32 %p, %r2, 7; #p bra done; & mov.u32 %r3, 0;\n\
        next: mad.wide.u32 %d0, %r3, 4, %a; ld.global.u32 %r4, [%d0]; add.u32 %r3, %r3, 1; setp.lt.u32 %p, %r3, 8; #p bra next;\n\
        done:";
    let body = body.replace("#p", "@%p");
    let launch = || Launch::grid(8).block(1);
    clean(launch(), &body.replace(['$', '&'], "fence.acq_rel.gpu;"));
    clean(launch(), &body.replace(['$', '&'], "membar.gl;"));
    race(launch(), &body.replace('$', "").replace('&', "fence.acq_rel.gpu;"));
    race(launch(), &body.replace('$', "fence.acq_rel.gpu;").replace('&', ""));
}

#[test]
fn mbarrier_objects() {
    let body = "setp.eq.u32 %p, %t, 0; #p mbarrier.init.shared.b64 [bar], 64; bar.sync 0;\n\
        st.shared.u32 [%r1], %t; mbarrier.arrive$.shared.b64 %d0, [bar];\n\
        wait: mbarrier.try_wait&.shared.b64 %q, [bar], %d0; #!q bra wait; xor.b32 %r2, %t, 32; mad.lo.u32 %r2, %r2, 4, %r0;\n\
        ld.shared.u32 %r3, [%r2];";
    let body = body.replace("#p", "@%p").replace("#!q", "@!%q");
    let with = |arrive: &str, wait: &str| body.replace('$', arrive).replace('&', wait);
    clean(threads(64), &with("", ""));
    clean(threads(64), &with(".release.cta", ".acquire.cta"));
    let (_, report) = race(threads(64), &with(".relaxed.cta", ""));
    assert!(report.contains("the arrival is `.relaxed`"), "{report}");
    let (_, report) = race(threads(64), &with("", ".relaxed.cta"));
    assert!(report.contains("the wait is `.relaxed`"), "{report}");
    // the other threads do not know the object yet
    let early = with("", "").replacen("bar.sync 0;", "", 1);
    let (found, _) = race(threads(64), &early);
    assert_eq!(found.other.access, "`mbarrier.init` or `.inval`");
}

/// Whoever uses the memory of an object again must know that it has ended.
#[test]
fn memory_of_an_object_that_has_ended() {
    let body = |between: &str, next: &str| {
        format!(
            "setp.eq.u32 %p, %t, 0; setp.eq.u32 %q, %t, 40;
             @%p mbarrier.init.shared::cta.b64 [bar], 64; bar.sync 0;
             mbarrier.arrive.shared::cta.b64 %d0, [bar];
             W: mbarrier.try_wait.shared::cta.b64 %q, [bar], %d0; @!%q bra W;
             bar.sync 0; setp.eq.u32 %q, %t, 40;
             @%p mbarrier.inval.shared::cta.b64 [bar];
             {between} @%q {next};"
        )
    };
    for next in ["st.shared.u32 [bar+4], %t", "mbarrier.init.shared::cta.b64 [bar], 64"] {
        clean(threads(64), &body("bar.sync 0;", next));
        let (found, text) = race(threads(64), &body("", next));
        assert_eq!(found.other.access, "`mbarrier.inval`", "{text}");
    }
}

#[test]
fn clusters() {
    let body = "mov.u32 %r2, %cluster_ctarank; xor.b32 %r3, %r2, 1; mapa.shared::cluster.u32 %r4, %r0, %r3;\n\
        barrier.cluster.arrive; barrier.cluster.wait; st.shared::cluster.u32 [%r4], %r2;\n\
        barrier.cluster.arrive$; & ld.shared.u32 %r5, [%r0]; barrier.cluster.arrive; barrier.cluster.wait;";
    let launch = || Launch::grid(2).block(1).cluster(2);
    clean(launch(), &body.replace('$', "").replace('&', "barrier.cluster.wait;"));
    clean(launch(), &body.replace('$', ".release").replace('&', "barrier.cluster.wait.acquire;"));
    let (_, report) = race(launch(), &body.replace('$', ".relaxed").replace('&', "barrier.cluster.wait;"));
    assert!(report.contains("barrier.cluster.arrive"), "{report}");
}

#[test]
fn narrow_accesses_to_one_word() {
    // each thread has a byte of its own
    let body = "add.u32 %r2, %r0, %t; st.shared.u8 [%r2], %t; $ ld.shared.u32 %r3, [%r0];";
    clean(threads(4), &body.replace('$', "bar.warp.sync 0xf;"));
    race(threads(4), &body.replace('$', ""));
    clean(threads(4), "add.u32 %r2, %r0, %t; st.shared.u8 [%r2], %t; ld.shared.u8 %r3, [%r2];");
}

#[test]
fn a_loop_needs_both_barriers() {
    let body = "mov.u32 %r9, 0;\n next: add.u32 %r8, %t, %r9; st.shared.u32 [%r1], %r8; bar.sync 0; xor.b32 %r2, %t, 32;\n\
        mad.lo.u32 %r2, %r2, 4, %r0; ld.shared.u32 %r3, [%r2]; $ add.u32 %r9, %r9, 1; setp.lt.u32 %p, %r9, 3; #p bra next;";
    let body = body.replace("#p", "@%p");
    clean(threads(64), &body.replace('$', "bar.sync 0;"));
    let (found, _) = race(threads(64), &body.replace('$', ""));
    assert_eq!((found.access, found.other.access), ("store", "load"));
}

/// A ring of one stage: a thread loads it again and again by bulk copies, and a warp reads it.
#[test]
fn a_stage_that_is_loaded_again() {
    let body = "setp.eq.u32 %p, %t, 0; $p mbarrier.init.shared.b64 [bar], 1; $p mbarrier.init.shared.b64 [other], 32; bar.sync 0;\n\
        mov.u32 %r5, 0; setp.ne.u32 %q, %w, 0; $q bra read; setp.ne.u32 %q, %t, 0; $q bra done;\n\
        load: & mbarrier.arrive.expect_tx.shared.b64 _, [bar], 128;\n\
        cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%a], 128, [bar];\n\
        add.u32 %r5, %r5, 1; setp.lt.u32 %p, %r5, 3; $p bra load; bra done;\n\
        read: and.b32 %r6, %r5, 1; full: # mad.lo.u32 %r7, %l, 4, %r0; ld.shared.u32 %r8, [%r7];\n\
        mbarrier.arrive.shared.b64 _, [other]; add.u32 %r5, %r5, 1; setp.lt.u32 %p, %r5, 3; $p bra read; done:";
    let body = body.replace("$p", "@%p").replace("$q", "@%q");
    let empty = "xor.b32 %r6, %r5, 1; and.b32 %r6, %r6, 1;\n\
        empty: mbarrier.try_wait.parity.shared.b64 %q, [other], %r6; @!%q bra empty;";
    let full = "mbarrier.try_wait.parity.shared.b64 %q, [bar], %r6; @!%q bra full;";
    clean(threads(64), &body.replace('&', empty).replace('#', full));
    // the next copy starts when the one before it is complete, not when it has been read
    let complete = "setp.eq.u32 %q, %r5, 0; @%q bra first; sub.u32 %r6, %r5, 1; and.b32 %r6, %r6, 1;\n\
        again: mbarrier.try_wait.parity.shared.b64 %q, [bar], %r6; @!%q bra again; first:";
    let (found, _) = race(threads(64), &body.replace('&', complete).replace('#', full));
    // which of them comes first depends on the schedule
    let mut accesses = [found.access, found.other.access];
    accesses.sort_unstable();
    assert_eq!(accesses, ["load", "write by an asynchronous copy"]);
}

/// A relaxed arrival at the barrier of the cluster orders nothing; the report says so.
#[test]
fn a_relaxed_barrier_of_the_cluster() {
    let body = "mapa.shared::cluster.u32 %r3, %r1, %r4; st.shared::cluster.u32 [%r3], %t; $ barrier.cluster.wait; ld.shared.u32 %r5, [%r1];\n\
        mad.wide.u32 %d0, %t, 4, %b; st.relaxed.gpu.global.u32 [%d0], %r5; barrier.cluster.arrive; barrier.cluster.wait;";
    let start = "mov.u32 %r4, %cluster_ctarank; xor.b32 %r4, %r4, 1; barrier.cluster.arrive; barrier.cluster.wait;\n";
    let body = |arrive| format!("{start}{}", body.replace('$', arrive));
    let two = || Launch::grid(2).block(32).cluster(2);
    clean(two(), &body("barrier.cluster.arrive;"));
    clean(two(), &body("fence.acq_rel.cluster; barrier.cluster.arrive.relaxed;"));
    let (found, report) = race(two(), &body("barrier.cluster.arrive.relaxed;"));
    let miss = found.near_miss.unwrap();
    assert!(miss.why == TooWeak::RelaxedArrival, "{report}");
    assert!(report.contains("`barrier.cluster.arrive.relaxed;` at PTX line"), "{report}");
}

/// `try_wait` may return false: with a seed it does now and then.
#[test]
fn a_wait_without_a_loop() {
    let body = "setp.eq.u32 %p, %t, 0; $p mbarrier.init.shared.b64 [bar], 32; bar.sync 0; setp.ne.u32 %q, %w, 0; $q bra wait;\n\
        st.shared.u32 [%r1], %t; mbarrier.arrive.shared.b64 _, [bar]; bra done;\n\
        wait: mbarrier.try_wait.parity.shared.b64 %q, [bar], 0; $!q bra wait; ld.shared.u32 %r2, [%r1+-128]; done:";
    let body = body.replace("$p", "@%p").replace("$q", "@%q").replace("$!q", "@!%q");
    let fails = |body: &str| (0..64).any(|seed| run_on(&Host::checked().seed(seed), threads(64), body).is_err());
    assert!(!fails(&body));
    assert!(fails(&body.replace("@!%q bra wait;", "")));
}

/// Every pair of statements is reported once, in the order of the run; the fault that ends the launch comes last.
#[test]
fn all_findings_of_a_launch() {
    let body = "and.b32 %r2, %t, 1; mad.lo.u32 %r2, %r2, 4, %r0; st.shared.u32 [%r2], %t; ld.shared.u32 %r3, [%r2];\n\
        st.global.u32 [%b], %w; ld.shared.u32 %r4, [tile+512]; setp.eq.u32 %p, %t, 40; $p ld.global.u32 %r5, [%b+4096];";
    let body = body.replace("$p", "@%p");
    let Err(Error::Fault(fault)) = run(threads(64), &body) else { panic!("no fault") };
    let races = |f: &ptx_dsl::Fault| match &f.kind {
        FaultKind::DataRace(race) => Some((race.access, race.other.access)),
        _ => None,
    };
    assert_eq!(races(&fault), Some(("store", "store")), "{fault}");
    let kinds: Vec<_> = fault.others.iter().map(races).collect();
    assert_eq!(kinds, [Some(("load", "store")), Some(("store", "store")), None, None], "{fault}");
    assert!(matches!(fault.others[2].kind, FaultKind::Uninitialised { .. }), "{fault}");
    assert!(matches!(fault.others[3].kind, FaultKind::OutOfBounds { .. }), "{fault}");
    assert!(fault.registers.iter().any(|r| r.name == "%t"), "{fault}");
    assert!(fault.to_string().contains("5 findings in this launch of `k`"), "{fault}");

    let Err(Error::Fault(fault)) = run_on(&Host::checked().first(), threads(64), &body) else { panic!("no fault") };
    assert_eq!((races(&fault), fault.others.len()), (Some(("store", "store")), 0));
    let Err(Error::Fault(fault)) = run_on(&Host::checked().limit(2), threads(64), &body) else { panic!("no fault") };
    assert_eq!(fault.others.len(), 1);
}

#[test]
fn a_report_has_both_sides() {
    let body = "st.shared.u32 [%r1], 0; bar.sync 0; st.shared.u32 [%r1], %t; @ xor.b32 %r2, %t, 32;\n\
        mad.lo.u32 %r2, %r2, 4, %r0; ld.shared.u32 %r3, [%r2];";
    clean(threads(64), &body.replace('@', "bar.sync 0;"));
    let (found, report) = race(threads(64), &body.replace('@', ""));
    // both warps have stored before the first of them loads
    assert_eq!((found.space, found.bytes, found.other.thread.warp), ("shared", 4, 1));
    for part in [
        "data race: nothing orders this load of 4 bytes at byte 128 of `tile` (shared address 0x80) and a store of another thread",
        "`ld.shared.u32 %r3, [%r2];`",
        "thread (0, 0, 0) of CTA (0, 0, 0), warp 0 lane 0",
        "= the earlier store: `st.shared.u32 [%r1], %t;` at PTX line",
        "= by thread (32, 0, 0) of CTA (0, 0, 0), warp 1 lane 0",
        "= help: put a `bar.sync` between them",
    ] {
        assert!(report.contains(part), "`{part}` is not in\n{report}");
    }
}

#[test]
fn stores_of_one_value() {
    let all = "st.global.u32 [%b], 1;";
    let strict = Host::checked().same_values();
    for launch in [threads(2), threads(64), Launch::grid(2).block(1)] {
        clean(launch.clone(), all);
        let found = run_on(&strict, launch, all);
        assert!(
            matches!(&found, Err(Error::Fault(fault)) if matches!(fault.kind, FaultKind::DataRace(_))),
            "{found:?}"
        );
    }
    let first = "setp.eq.u32 %p, %t, 0; @%p st.global.u32 [%b], 1; bar.sync 0; setp.eq.u32 %p, %t, 33; @%p st.global.u32 [%b], 1;";
    run_on(&strict, threads(64), first).unwrap();
    // other options stay
    let found = run_on(&Host::checked().same_values().first(), threads(64), &format!("{all} st.global.u32 [%b+4], 2;"));
    assert!(matches!(&found, Err(Error::Fault(fault)) if fault.others.is_empty()), "{found:?}");
}

/// CTA 1 hands over what it has stored to the memory of CTA 0 with an arrival at an mbarrier object there.
#[test]
fn scopes_of_mbarrier_operations() {
    let body = |arrival: &str, wait: &str| {
        format!(
            "mbarrier.init.shared.b64 [bar], 1; st.shared.u32 [tile], 0; fence.mbarrier_init.release.cluster;\n\
             barrier.cluster.arrive; barrier.cluster.wait; setp.eq.u32 %p, %c, 0; @%p bra wait;\n\
             mov.u32 %r2, tile; mapa.shared::cluster.u32 %r3, %r2, 0; st.shared::cluster.u32 [%r3], 7;\n\
             mov.u32 %r2, bar; mapa.shared::cluster.u32 %r3, %r2, 0; mbarrier.arrive{arrival}.shared::cluster.b64 _, [%r3];\n\
             bra end; wait: mbarrier.try_wait.parity{wait}.shared::cta.b64 %q, [bar], 0; @!%q bra wait; ld.shared.u32 %r4, [tile];\n\
             end: barrier.cluster.arrive; barrier.cluster.wait;"
        )
    };
    let two = Launch::grid(2).block(1).cluster(2);
    clean(two.clone(), &body(".release.cluster", ".acquire.cluster"));
    // compilers write none
    clean(two.clone(), &body("", ""));
    let narrow = [
        (".release.cta", ".acquire.cluster", TooWeak::ArrivalScope),
        (".release.cluster", ".acquire.cta", TooWeak::WaitScope),
    ];
    for (arrival, wait, why) in narrow {
        let (found, report) = race(two.clone(), &body(arrival, wait));
        assert_eq!((found.access, found.other.access), ("load", "store"), "{report}");
        assert!(found.near_miss.is_some_and(|miss| miss.why == why), "{report}");
    }
}

/// Each lane gives the address of the row that it has stored, but gets parts of another one.
#[test]
fn rows_of_ldmatrix() {
    let body = |store: &str, sync: &str, load: &str| {
        format!("and.b32 %r2, %l, 7; mad.lo.u32 %r1, %r2, 16, %r0; {store} {sync} {load}")
    };
    let rows = "setp.lt.u32 %p, %l, 8; @%p st.shared.v4.u32 [%r1], {%t, %t, %t, %t};";
    for load in ["ldmatrix.sync.aligned.m8n8.x1", "ldmatrix.sync.aligned.m8n8.x1.trans"] {
        let load = format!("{load}.shared.b16 {{%r3}}, [%r1];");
        clean(threads(32), &body(rows, "bar.warp.sync -1;", &load));
        let (found, report) = race(threads(32), &body(rows, "", &load));
        assert_eq!((found.access, found.other.access), ("load", "store"), "{report}");
    }
    // the other way round: lane 5 stores bytes 4 to 7 of row 1, whose address lane 1 gives
    let store = "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r1], {%t};";
    let own = "shr.u32 %r4, %l, 2; and.b32 %r5, %l, 3; mad.lo.u32 %r4, %r4, 16, %r0; mad.lo.u32 %r4, %r5, 4, %r4;\n\
        ld.shared.u32 %r6, [%r4];";
    clean(threads(32), &body(store, "", own));
    let row = "setp.lt.u32 %p, %l, 8; @%p ld.shared.v4.u32 {%r4, %r5, %r6, %r7}, [%r1];";
    clean(threads(32), &body(store, "bar.warp.sync -1;", row));
    race(threads(32), &body(store, "", row));
}

#[test]
fn a_race_in_a_late_iteration() {
    // by then a plan runs the loop, and the two loads and the `fma` as one
    let kernel = |missing: u32| {
        format!(
            ".reg .f32 %f<4>; mov.f32 %f0, 0f00000000; mov.u32 %r2, 0;\n\
             loop: cvt.rn.f32.u32 %f3, %r2; st.shared.f32 [%r1], %f3; st.shared.f32 [%r1+256], %f3;\n\
             setp.eq.u32 %p, %r2, {missing}; @%p bra skip; bar.sync 0;\n\
             skip: ld.shared.f32 %f1, [%r1+128]; ld.shared.f32 %f2, [%r1]; fma.rn.f32 %f0, %f1, %f2, %f0;\n\
             bar.sync 0; add.u32 %r2, %r2, 1; setp.lt.u32 %q, %r2, 20; @%q bra loop;"
        )
    };
    clean(threads(64), &kernel(30));
    for iteration in [0, 1, 2, 9, 19] {
        let (race, text) = race(threads(64), &kernel(iteration));
        assert_eq!((race.access, race.other.access), ("load", "store"), "{text}");
    }
}

#[test]
fn a_strong_load_of_what_the_host_has_written() {
    let both =
        |store: &str| format!("setp.eq.u32 %p, %c, 0; @%p ld.relaxed.gpu.global.u32 %r2, [%a]; @!%p {store} [%a], 1;");
    clean(Launch::grid(2).block(1), &both("st.relaxed.gpu.global.u32"));
    let (race, text) = race(Launch::grid(2).block(1), &both("st.global.u32"));
    assert_eq!((race.access, race.other.access), ("store", "load"), "{text}");
}
