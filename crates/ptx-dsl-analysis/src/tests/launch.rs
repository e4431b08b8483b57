//! Uniformity, reaching threads, execution counts, variation between CTAs.

use super::*;
use crate::ctas::{Ctas, Dependence, exclusive};
use crate::lanes::{LaneFact, Lanes, Uniformity};
use crate::ranks::Rank;
use crate::reaching::{OtherThreads, PartialWarp, Reaching, every_lane, max_threads, only_elected};
use crate::sites::{Site, executes_exactly};
use crate::threads::has_thread;
use ptx_dsl_isa::opcode::op;

#[test]
fn a_comparison_of_the_thread_number() {
    let flow = flow(
        ".reqntid 128",
        "mov.u32 %r1, %tid.x;\nsetp.lt.u32 %p1, %r1, 40;\nshr.u32 %r2, %r1, 5;\nsetp.eq.u32 %p2, %r2, 1;\n@%p1 st.shared.u32 [sh], %r1;\n@%p2 st.shared.u32 [sh], %r1;\nret;",
    );
    let lanes = Lanes::new(&flow);
    assert_eq!(lanes.cta_size.exact, Some(128));
    let pred = |n| match lanes.facts[written(&flow, nth(&flow, op::setp, n)) as usize] {
        LaneFact::Pred(p) => p,
        other => panic!("{other:?}"),
    };
    let yes = lanes.sets[usize::from(pred(0).yes)];
    assert!(has_thread(&yes, 39) && !has_thread(&yes, 40));
    assert_eq!(pred(0).uniformity, Uniformity::None, "warp 1 has both kinds of lanes");
    let warp = lanes.sets[usize::from(pred(1).yes)];
    assert_eq!([31, 32, 63, 64].map(|t| has_thread(&warp, t)), [false, true, true, false]);
    assert_eq!(pred(1).uniformity, Uniformity::Warp);
}

#[test]
fn who_shares_a_value() {
    let flow = flow(
        "",
        "ld.param.u32 %r1, [n];\nmov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %laneid;\nld.global.u32 %r4, [%rd1];\nadd.u32 %r5, %r1, %r2;\nshfl.sync.idx.b32 %r6, %r4, 0, 31, -1;\nst.shared.u32 [sh], %r5;\nret;",
    );
    let lanes = Lanes::new(&flow);
    let uniformity = |at| lanes.uniformity(written(&flow, at));
    assert_eq!(uniformity(0), Uniformity::Cta);
    assert_eq!(uniformity(1), Uniformity::Cta);
    assert_eq!(uniformity(2), Uniformity::None);
    assert_eq!(uniformity(3), Uniformity::None, "a load");
    assert_eq!(uniformity(4), Uniformity::Cta);
    assert_eq!(uniformity(5), Uniformity::Warp);
}

#[test]
fn a_phi_behind_a_divergent_branch_is_divergent() {
    let body = |condition: &str| {
        format!(
            "ld.param.u32 %r9, [n];\nmov.u32 %r8, %laneid;\nsetp.eq.u32 %p1, {condition}, 0;\nmov.u32 %r1, 1;\n@%p1 bra A;\nmov.u32 %r1, 2;\nA:\nst.shared.u32 [sh], %r1;\nret;"
        )
    };
    for (condition, expected, divergent) in [("%r9", Uniformity::Warp, false), ("%r8", Uniformity::None, true)] {
        let flow = flow("", &body(condition));
        let lanes = Lanes::new(&flow);
        assert_eq!(lanes.uniformity(read(&flow, first(&flow, op::st), "%r1")), expected, "{condition}");
        let inside = flow.cfg.block_of(nth(&flow, op::mov, 2)) as usize;
        assert_eq!(lanes.divergent[inside], divergent, "{condition}");
        assert!(!lanes.divergent[block(&flow, "A") as usize], "the lanes are together again");
    }
}

#[test]
fn threads_behind_a_branch() {
    let flow = flow(
        ".reqntid 96",
        "mov.u32 %r1, %tid.x;\nsetp.ge.u32 %p1, %r1, 32;\n@%p1 bra A;\nmov.u32 %r2, 1;\nA:\nmov.u32 %r3, 1;\nret;",
    );
    let lanes = Lanes::new(&flow);
    let reaching = Reaching::new(&flow, &lanes);
    let at = |n| {
        let i = nth(&flow, op::mov, n);
        (reaching.threads_at(&flow, &lanes, flow.cfg.block_of(i), i), flow.cfg.block_of(i), i)
    };
    let (inside, block, i) = at(1);
    assert_eq!(inside.warps(lanes.cta_size), [(0, u32::MAX)]);
    assert_eq!((max_threads(&inside, &lanes, 96), inside.others), (32, OtherThreads::Stay));
    assert!(inside.whole_warps(lanes.cta_size) && every_lane(&flow, &lanes, &inside, block, i));
    assert!(executes_exactly(&flow, &lanes, Site { block, at: i }));
    let (behind, ..) = at(2);
    assert_eq!(max_threads(&behind, &lanes, 96), 96);
}

#[test]
fn threads_behind_an_exit() {
    let flow =
        flow(".reqntid 64", "mov.u32 %r1, %tid.x;\nsetp.ge.u32 %p1, %r1, 16;\n@%p1 exit;\nmov.u32 %r2, 1;\nret;");
    let lanes = Lanes::new(&flow);
    let reaching = Reaching::new(&flow, &lanes);
    let i = nth(&flow, op::mov, 1);
    let present = reaching.threads_at(&flow, &lanes, flow.cfg.block_of(i), i);
    assert_eq!(present.warps(lanes.cta_size), [(0, 0xffff)]);
    assert_eq!(present.others, OtherThreads::Exit);
    assert_eq!(present.partial_warp(lanes.cta_size), Some(PartialWarp::SomeLanes));
}

#[test]
fn the_elected_lane_of_each_warp() {
    let flow =
        flow(".reqntid 64", "elect.sync _|%p1, -1;\n@%p1 bra A;\nmov.u32 %r1, 1;\nret;\nA:\nmov.u32 %r2, 2;\nret;");
    let lanes = Lanes::new(&flow);
    let reaching = Reaching::new(&flow, &lanes);
    let (others, elected) = (nth(&flow, op::mov, 0), nth(&flow, op::mov, 1));
    let at = |i: u32| reaching.threads_at(&flow, &lanes, flow.cfg.block_of(i), i);
    let present = at(elected);
    assert!(present.elected && !present.not_elected);
    assert_eq!(present.partial_warp(lanes.cta_size), Some(PartialWarp::OneLane));
    assert_eq!(max_threads(&present, &lanes, 64), 2, "one of each warp");
    assert!(only_elected(&flow, &lanes, flow.cfg.block_of(elected), elected));
    assert!(at(others).not_elected && !at(others).elected);
}

#[test]
fn an_unknown_branch_leaves_the_count_open() {
    let flow = flow(
        ".reqntid 32",
        "ld.param.u32 %r1, [n];\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra A;\nmov.u32 %r2, 1;\nA:\nmov.u32 %r3, 1;\nret;",
    );
    let lanes = Lanes::new(&flow);
    let exactly = |n| {
        let at = nth(&flow, op::mov, n);
        executes_exactly(&flow, &lanes, Site { block: flow.cfg.block_of(at), at })
    };
    assert_eq!((exactly(0), exactly(1)), (false, true));
}

#[test]
fn what_tells_ctas_apart() {
    let flow = flow(
        ".reqnctapercluster 2",
        "mov.u32 %r1, %cluster_ctarank;\nmov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %tid.x;\nmov.u32 %r4, %nctaid.x;\nadd.u32 %r5, %r1, %r2;\nadd.u32 %r6, %r1, %r3;\n\
         setp.eq.u32 %p1, %r1, 0;\n@%p1 bra A;\nadd.u32 %r7, %r1, 1;\nret;\nA:\nadd.u32 %r8, %r1, 2;\nret;",
    );
    let ctas = Ctas::new(&flow);
    let of = |at| ctas.variation(written(&flow, at));
    assert_eq!(
        [0, 1, 2, 3, 4, 5].map(of),
        [Some(Dependence::Rank), Some(Dependence::Cta), None, None, Some(Dependence::Cta), None]
    );
    let conditions = |n| {
        let at = nth(&flow, op::add, n);
        ctas.conditions(&flow, flow.cfg.block_of(at), at)
    };
    let (other, zero) = (conditions(2), conditions(3));
    let p = written(&flow, first(&flow, op::setp));
    assert!(zero.contains(&(p, true)) && other.contains(&(p, false)));
    assert!(exclusive(&zero, &other) && !exclusive(&zero, &zero));
}

#[test]
fn what_one_rank_reaches() {
    let flow = flow(
        ".reqnctapercluster 4, 2",
        "mov.u32 %r1, %cluster_ctarank;\nand.b32 %r2, %r1, 1;\nsetp.eq.u32 %p1, %r2, 0;\nmov.u32 %r3, %cluster_ctaid.y;\nsetp.eq.u32 %p2, %r3, 1;\n\
         @%p1 bra A;\nadd.u32 %r4, %r1, 1;\nret;\nA:\n@%p2 add.u32 %r5, %r1, 2;\nret;",
    );
    let (odd, even) = (flow.cfg.block_of(nth(&flow, op::add, 0)), block(&flow, "A"));
    // Ranks 0 to 3 have `%cluster_ctaid.y` 0, ranks 4 to 7 have 1.
    for (rank, at_odd, at_even, runs) in [(1, true, false, false), (2, false, true, false), (6, false, true, true)] {
        let cta = Rank::new(&flow, rank);
        let reached = cta.reached(&flow);
        assert_eq!((reached[odd as usize], reached[even as usize]), (at_odd, at_even), "{rank}");
        assert_eq!(cta.may_run(&flow, nth(&flow, op::add, 1)), runs, "{rank}");
    }
}
