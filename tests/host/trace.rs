//! Timelines: what warps run and wait for, asynchronous operations, and the JSON that Perfetto opens.

use ptx_dsl::prelude::*;
use ptx_dsl::trace::{Kind, Timeline, Tracer};
use std::collections::HashMap;

mod browser;

ptx! {
    <sm_90, ptx 8.0>
    // warp 0 sends three values through one slot of shared memory; warp 1 adds them up
    .visible .entry pipeline(.param .u64 .ptr .global .align 4 sum: &mut [u32])
        .reqntid 64
    {
        .reg .pred %p, %done;
        .reg .b32 %t, %i, %phase, %v, %sum;
        .reg .b64 %to;
        .shared .align 8 .b64 full;
        .shared .align 8 .b64 empty;
        .shared .align 4 .b32 value;
        mov.u32 %t, %tid.x;
        mov.u32 %i, 0;
        mov.u32 %sum, 0;
        setp.ne.u32 %p, %t, 0;
        @%p bra initialised;
        mbarrier.init.shared::cta.b64 [full], 32;
        mbarrier.init.shared::cta.b64 [empty], 32;
      initialised:
        bar.sync 0;
        setp.ge.u32 %p, %t, 32;
        @%p bra consume;
      produce:
        and.b32 %phase, %i, 1;
        xor.b32 %phase, %phase, 1;
      waitEmpty:
        mbarrier.try_wait.parity.shared::cta.b64 %done, [empty], %phase;
        @!%done bra waitEmpty;
        add.u32 %v, %i, 10;
        setp.eq.u32 %p, %t, 0;
        @%p st.shared.u32 [value], %v;
        mbarrier.arrive.shared::cta.b64 _, [full];
        add.u32 %i, %i, 1;
        setp.lt.u32 %p, %i, 3;
        @%p bra produce;
        ret;
      consume:
        and.b32 %phase, %i, 1;
      waitFull:
        mbarrier.try_wait.parity.shared::cta.b64 %done, [full], %phase;
        @!%done bra waitFull;
        ld.shared.u32 %v, [value];
        add.u32 %sum, %sum, %v;
        mbarrier.arrive.shared::cta.b64 _, [empty];
        add.u32 %i, %i, 1;
        setp.lt.u32 %p, %i, 3;
        @%p bra consume;
        ld.param.u64 %to, [sum];
        setp.ne.u32 %p, %t, 32;
        @%p ret;
        st.global.u32 [%to], %sum;
        ret;
    }
}

ptx! {
    <sm_100a, ptx 8.6>
    .visible .entry persistent(.param .u64 .ptr .global .align 4 count: &mut [u32])
        .reqntid 32
    {
        .reg .pred %p, %done, %more;
        .reg .b32 %t, %phase;
        .reg .b64 %to;
        .reg .b128 %response;
        .shared .align 16 .b8 answer[16];
        .shared .align 8 .b64 full;
        ld.param.u64 %to, [count];
        mov.u32 %t, %tid.x;
        setp.ne.u32 %p, %t, 0;
        @%p ret;
        mbarrier.init.shared::cta.b64 [full], 1;
        mov.u32 %phase, 0;
      next:
        red.global.add.u32 [%to], 1;
        mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 16;
        clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [answer], [full];
      wait:
        mbarrier.try_wait.parity.shared::cta.b64 %done, [full], %phase;
        @!%done bra wait;
        xor.b32 %phase, %phase, 1;
        ld.shared.b128 %response, [answer];
        clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %more, %response;
        fence.proxy.async.shared::cta;
        @%more bra next;
        ret;
    }
    .visible .entry stuck(.param .u32 n) .reqntid 64
    {
        .reg .pred %p;
        .reg .b32 %t, %n;
        ld.param.u32 %n, [n];
        mov.u32 %t, %tid.x;
        setp.lt.u32 %p, %t, 40;
        @%p bra FIRST;
        barrier.sync 1, %n;
        ret;
      FIRST:
        barrier.sync 2, %n;
        ret;
    }
}

/// Names of the slices of a kind on a track, in order.
fn names(t: &Timeline, track: &str, kind: Kind) -> Vec<String> {
    let here = t.slices.iter().filter(|s| t.tracks[s.track].name == track && s.kind == kind);
    here.map(|s| s.name.clone()).collect()
}

/// Slices of a track nest: one that starts within another ends within it. Those of warps do not even nest.
fn is_well_formed(t: &Timeline) {
    let mut open: HashMap<usize, Vec<u64>> = HashMap::new();
    let mut order: Vec<usize> = (0..t.slices.len()).collect();
    order.sort_by_key(|i| (t.slices[*i].from, std::cmp::Reverse(t.slices[*i].to)));
    for i in order {
        let s = &t.slices[i];
        assert!(s.from < s.to, "{s:?}");
        let stack = open.entry(s.track).or_default();
        while stack.last().is_some_and(|end| *end <= s.from) {
            stack.pop();
        }
        if matches!(s.kind, Kind::Run | Kind::Wait | Kind::Async) {
            assert!(stack.is_empty(), "{s:?} overlaps another slice");
        }
        assert!(stack.last().is_none_or(|end| s.to <= *end), "{s:?} overlaps another slice");
        stack.push(s.to);
    }
    let json: serde_json::Value = serde_json::from_str(&t.to_json()).unwrap();
    let events = json["traceEvents"].as_array().unwrap();
    let count = |ph: &str| events.iter().filter(|e| e["ph"] == ph).count();
    assert_eq!((count("X"), count("s"), count("f")), (t.slices.len(), t.arrows.len(), t.arrows.len()));
    assert_eq!(count("i"), t.instants.len());
    for e in events {
        assert!(e["pid"].is_u64() && e["tid"].is_u64() && e["ts"].is_number(), "{e}");
    }
}

/// The page has the same slices, and refers to no other file.
fn is_a_page(t: &Timeline) {
    let html = t.to_html();
    let (_, data) = html.split_once("<script id=\"data\" type=\"application/json\">").unwrap();
    let (data, code) = data.split_once("</script>").unwrap();
    let json: serde_json::Value = serde_json::from_str(data).unwrap();
    let count = |what: &str| json[what].as_array().unwrap().len();
    assert_eq!((count("slices"), count("tracks")), (t.slices.len(), t.tracks.len()));
    assert_eq!((count("instants"), count("arrows")), (t.instants.len(), t.arrows.len()));
    assert_eq!(json["slices"][0][2], t.slices[0].name);
    for reference in ["http", "src=", "href=", "import", "url("] {
        assert!(!code.contains(reference), "{reference}");
    }
}

/// Runs with a trace, and gives the timeline, which is well-formed.
fn traced(run: impl Fn(&Host<Tracer>)) -> Timeline {
    let host = Host::trace();
    run(&host);
    let timeline = host.timeline();
    is_well_formed(&timeline);
    is_a_page(&timeline);
    timeline
}

#[test]
fn a_pipeline_of_two_warps() {
    let t = traced(|host| {
        let mut sum = [0];
        pipeline.launch(host, Launch::grid(1), (&mut sum,)).unwrap();
        assert_eq!(sum, [33]);
    });
    assert_eq!(t.kernel, "pipeline");
    // Both warps come to `bar.sync` together, so neither waits there. The producer finds `empty` complete once, as the phase before
    // the first is, and then waits for the consumer twice.
    let producer = names(&t, "warp 0", Kind::Wait);
    assert_eq!(producer, ["mbarrier 0x8, parity 0", "mbarrier 0x8, parity 1"]);
    // The first value is there when the consumer runs. It waits for the other two.
    let consumer = names(&t, "warp 1", Kind::Wait);
    let full = |parity| format!("mbarrier 0x0, parity {parity}");
    assert_eq!(consumer, [full(1), full(0)]);
    // three phases of each object complete, and a fourth begins
    let phases = ["phase 0", "phase 1", "phase 2", "phase 3"];
    assert_eq!(names(&t, "mbarrier 0x0 (`full`)", Kind::Phase), phases);
    assert_eq!(names(&t, "mbarrier 0x8 (`empty`)", Kind::Phase), phases);
    // a wait ends when the phase has, and no earlier
    let of =
        |track: &str, name: &str| t.slices.iter().find(|s| t.tracks[s.track].name == track && s.name == name).unwrap();
    let (wait, phase) = (of("warp 0", "mbarrier 0x8, parity 0"), of("mbarrier 0x8 (`empty`)", "phase 0"));
    assert!(phase.from < wait.from && phase.to <= wait.to, "{wait:?} {phase:?}");
    let note = |name: &str| wait.notes.iter().find(|(n, _)| *n == name).map(|(_, v)| v.as_str());
    assert!(note("reason").unwrap().contains("pending count 32 of 32"), "{wait:?}");
    assert!(note("statement").unwrap().starts_with("mbarrier.try_wait"), "{wait:?}");
    assert!(note("source").unwrap().starts_with("tests/host/trace.rs:"), "{wait:?}");
    assert!(names(&t, "warp 1", Kind::Run).iter().any(|name| name.contains("consume")));
    assert_eq!(names(&t, "CTA", Kind::Cta), ["CTA (0, 0, 0)"]);
    assert!(t.arrows.is_empty());
}

#[test]
fn clusters_that_are_cancelled() {
    let t = traced(|host| {
        let mut count = [0];
        let host = host.clone().resident_clusters(1);
        let report = persistent.launch(&host, Launch::grid(4), (&mut count,)).unwrap();
        assert_eq!((count[0], report.clusters_launched, report.clusters_cancelled), (4, 1, 3));
    });
    let moments: Vec<&str> =
        t.instants.iter().filter(|i| t.tracks[i.track].process == "grid").map(|i| &*i.name).collect();
    let cancelled = |i: u32| format!("cluster of CTA ({i}, 0, 0) is cancelled");
    assert_eq!(moments[..4], ["cluster (0, 0, 0) starts", &cancelled(1), &cancelled(2), &cancelled(3)]);
    assert_eq!(moments[4..], ["no cluster is left to cancel"]);
    // four responses, each with an arrow to its arrival in the phase that it completes
    let opcode = "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128";
    assert_eq!(names(&t, "asynchronous 1", Kind::Async), [opcode; 4]);
    assert_eq!(t.arrows.len(), 4);
    for (i, arrow) in t.arrows.iter().enumerate() {
        let (from, to) = (&t.slices[arrow.from], &t.slices[arrow.to]);
        assert!(from.kind == Kind::Async && to.name == "arrival" && from.to < to.from, "{from:?} {to:?}");
        let phase = t.slices.iter().find(|s| s.track == to.track && s.name == format!("phase {i}")).unwrap();
        assert!(phase.from < to.from && to.to < phase.to, "{phase:?} {to:?}");
    }
}

#[test]
fn waits_that_never_end() {
    let t = traced(|host| {
        let error = stuck.launch(host, Launch::grid(1), (64,)).unwrap_err();
        assert!(error.to_string().contains("deadlock"), "{error}");
    });
    // the warp that parts has a track for each part
    assert_eq!(names(&t, "warp 0", Kind::Wait), ["barrier 2"]);
    let mut parts = [names(&t, "warp 1", Kind::Wait), names(&t, "warp 1, part 2", Kind::Wait)].concat();
    parts.sort();
    assert_eq!(parts, ["barrier 1", "barrier 2"]);
    for s in t.slices.iter().filter(|s| s.kind == Kind::Wait) {
        assert_eq!(s.notes.last().unwrap(), &("end", "the launch fails".to_owned()));
    }
}

#[test]
fn seeds_and_many_ctas() {
    for seed in 0..8 {
        let t = traced(|host| {
            let mut sum = [0];
            pipeline.launch(&host.clone().seed(seed), Launch::grid(20), (&mut sum,)).unwrap();
            assert_eq!(sum, [33]);
        });
        assert_eq!(t.slices.iter().filter(|s| s.kind == Kind::Cta).count(), 20);
    }
}
