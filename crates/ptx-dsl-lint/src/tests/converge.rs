//! Who is at a place: PTX0601 to PTX0604.

use super::*;

const TID: &str = "mov.u32 %r1, %tid.x;\n";
const LANE: &str = "mov.u32 %r1, %laneid;\n";
const ELECT: &str = "elect.sync _|%p1, 0xffffffff;\n";

#[test]
fn barrier_for_one_thread() {
    case(&kernel(
        "128",
        &format!(
            "{TID} setp.ne.u32 %p1, %r1, 0;\n @%p1 bra SKIP;\n bar.sync 0; // error: PTX0603\n SKIP: st.shared.u32 [sh], %r1;"
        ),
    ));
    // A CTA of one thread would do.
    case(&kernel(
        "",
        &format!(
            "{TID} setp.ne.u32 %p1, %r1, 0;\n @%p1 bra SKIP;\n bar.sync 0; // warning: PTX0603\n SKIP: st.shared.u32 [sh], %r1;"
        ),
    ));
    case(&kernel(
        "1",
        &format!("{TID} setp.ne.u32 %p1, %r1, 0;\n @%p1 bra SKIP;\n bar.sync 0;\n SKIP: st.shared.u32 [sh], %r1;"),
    ));
    case(&kernel("128", &format!("{TID} setp.eq.u32 %p1, %r1, 7;\n @%p1 barrier.sync.aligned 0; // error: PTX0603")));
    both(&format!("{TID} setp.eq.u32 %p1, %r1, 7;\n @%p1 bar.sync 0; // error: PTX0603"));
}

#[test]
fn barrier_outside_of_the_branch() {
    both(&format!(
        "{TID} setp.ne.u32 %p1, %r1, 0;\n @%p1 bra SKIP;\n st.shared.u32 [sh], %r1;\n SKIP:\n bar.sync 0;\n
         setp.lt.u32 %p2, %r1, 32;\n @!%p2 bra LAST;\n bar.sync 1, 32;\n LAST:"
    ));
    // Not `.aligned`: lanes come one by one.
    both(&format!("{TID} setp.eq.u32 %p1, %r1, 0;\n @%p1 barrier.sync 1, 32;"));
    // The condition may be the same for all.
    both("ld.param.u32 %r1, [n];\n setp.eq.u32 %p1, %r1, 0;\n @%p1 bar.sync 0;");
    both("mov.u32 %r1, %warpid;\n ld.param.u32 %r2, [n];\n setp.lt.u32 %p1, %r1, %r2;\n @%p1 bar.sync 0;");
    // Likely not for a number of threads.
    both(&format!("{TID} ld.param.u32 %r2, [n];\n setp.lt.u32 %p1, %r1, %r2;\n @%p1 bar.sync 0; // warning: PTX0603"));
}

#[test]
fn barrier_for_some_lanes() {
    both(&format!(
        "{LANE} setp.lt.u32 %p1, %r1, 8;\n vote.sync.any.pred %p3, %p1, -1;\n @%p1 bar.sync 0; // error: PTX0603"
    ));
    case(&kernel(
        "128",
        &format!("{TID} and.b32 %r2, %r1, 31;\n setp.ne.u32 %p1, %r2, 3;\n @%p1 bar.sync 0; // error: PTX0603"),
    ));
    // The first warp lacks a lane, but the others may be the ones that are meant.
    case(&kernel("", &format!("{TID} setp.ne.u32 %p1, %r1, 0;\n @%p1 bar.sync 0;")));
    case(&kernel("128", &format!("{TID} setp.ne.u32 %p1, %r1, 0;\n @%p1 bar.sync 0; // error: PTX0603")));
    // A warp of 64 threads in rows of 16: two rows, of which one is here.
    case(&kernel("16, 4", "mov.u32 %r1, %tid.y;\n setp.eq.u32 %p1, %r1, 1;\n @%p1 bar.sync 0; // error: PTX0603"));
    case(&kernel("32, 4", "mov.u32 %r1, %tid.y;\n setp.eq.u32 %p1, %r1, 1;\n @%p1 bar.sync 0;"));
    // Two rows of 16 are a whole warp.
    case(&kernel("16, 4", "mov.u32 %r1, %tid.y;\n shr.u32 %r2, %r1, 1;\n setp.eq.u32 %p1, %r2, 1;\n @%p1 bar.sync 0;"));
}

#[test]
fn barrier_after_the_others_left() {
    case(&kernel("128", &format!("{TID} setp.ge.u32 %p1, %r1, 5;\n @%p1 ret;\n bar.sync 0; // warning: PTX0603")));
    case(&kernel("128", &format!("{TID} setp.ge.u32 %p1, %r1, 96;\n @%p1 ret;\n bar.sync 0;")));
}

#[test]
fn elected_lane_at_a_barrier() {
    both(&format!(
        "{ELECT} @!%p1 bra DONE;\n barrier.cluster.arrive.aligned; // error: PTX0603\n barrier.cluster.wait; \n DONE: st.shared.u32 [sh], 1;"
    ));
    both(&format!("{ELECT} @%p1 bar.sync 0; // error: PTX0603\n bar.sync 0;"));
    both(&format!("{ELECT} and.pred %p2, %p1, %p1;\n not.pred %p3, %p2;\n @!%p3 bar.sync 0; // error: PTX0603"));
    // Whoever was not elected.
    both(&format!(
        "{ELECT} @%p1 bra A;\n bar.sync 0; // error: PTX0603\n bra B;\n A:\n st.shared.u32 [sh], 1;\n B: bar.sync 1;"
    ));
    // Each thread for itself.
    both(&format!("{ELECT} @!%p1 bra DONE;\n barrier.cluster.arrive;\n barrier.cluster.wait;\n DONE:"));
    // A disjunction says nothing.
    both(&format!(
        "{ELECT} ld.param.u32 %r1, [n];\n setp.eq.u32 %p2, %r1, 0;\n or.pred %p3, %p1, %p2;\n @%p3 bar.sync 0;"
    ));
}

#[test]
fn predicate_written_again() {
    both(&format!(
        "{ELECT} @!%p1 bra DONE;\n st.shared.u32 [sh], 1;\n DONE:\n ld.param.u32 %r1, [n];\n setp.eq.u32 %p1, %r1, 0;\n
         @%p1 bar.sync 0;"
    ));
    // Inside a loop the lane is elected each time; the barrier is in the loop, not in the branch.
    both(&format!(
        "mov.u32 %r2, 0;\n LOOP:\n {ELECT} @!%p1 bra NEXT;\n st.shared.u32 [sh], %r2;\n NEXT:\n bar.sync 0;\n
         add.u32 %r2, %r2, 1;\n setp.lt.u32 %p2, %r2, 4;\n @%p2 bra LOOP;"
    ));
}

#[test]
fn masks_that_name_absent_lanes() {
    both(&format!(
        "{ELECT} @!%p1 bra DONE;\n shfl.sync.idx.b32 %r1, 1, 0, 31, 0xffffffff; // error: PTX0604\n st.shared.u32 [sh], %r1;\n DONE: bar.sync 0;"
    ));
    case(&kernel(
        "128",
        &format!(
            "{LANE} setp.lt.u32 %p1, %r1, 16;\n @%p1 vote.sync.ballot.b32 %r2, %p1, 0xffffffff; // error: PTX0604"
        ),
    ));
    case(&kernel("128", "shfl.sync.idx.b32 %r1, 1, 0, 31, 0xffff; // error: PTX0604"));
}

#[test]
fn masks_that_name_lanes_that_have_exited() {
    let collective = "vote.sync.ballot.b32 %r2, %p1, 0xffffffff;";
    // They have exited, and nobody asks for them.
    case(&kernel("128", &format!("{LANE} setp.ge.u32 %p1, %r1, 16;\n @%p1 exit;\n {collective}")));
    case(&kernel(
        "128",
        &format!("{LANE} setp.ge.u32 %p1, %r1, 16;\n @%p1 bra OUT;\n {collective}\n ret;\n OUT: exit;"),
    ));
    // They come to the same end as those who run it: a compiler may have moved it into the branch.
    case(&kernel(
        "128",
        &format!("{LANE} setp.ge.u32 %p1, %r1, 16;\n @%p1 bra OUT;\n {collective} // warning: PTX0604\n OUT:"),
    ));
}

#[test]
fn masks_of_those_that_are_there() {
    case(&kernel("128", &format!("{LANE} setp.lt.u32 %p1, %r1, 16;\n @%p1 vote.sync.ballot.b32 %r2, %p1, 0xffff;")));
    both(&format!(
        "{LANE} ld.param.u32 %r3, [n];\n setp.lt.u32 %p1, %r1, %r3;\n @%p1 vote.sync.ballot.b32 %r2, %p1, 0xffffffff;"
    ));
    case(&kernel("16", "shfl.sync.idx.b32 %r1, 1, 0, 31, 0xffff;"));
    case(&kernel("", "shfl.sync.idx.b32 %r1, 1, 0, 31, 0xffff;"));
    both(&format!("{ELECT} @%p1 bar.warp.sync 1;"));
}

#[test]
fn barrier_that_a_warp_never_comes_to() {
    let warp0 = "mov.u32 %r1, %tid.x;\n setp.lt.u32 %p2, %r1, 32;\n";
    let rest = "mbarrier.try_wait.parity.shared.b64 %p3, [bar1], 0;";
    case(&kernel(
        "128",
        &format!("{warp0} @!%p2 bra L;\n bar.sync 0; // warning: PTX0615\n bra M;\n L:\n {rest}\n M:"),
    ));
    case(&kernel(
        "128",
        &format!(
            "{warp0} @!%p2 bra L;\n bar.sync 1, 32;\n bar.sync 2; // warning: PTX0615\n bra M;\n L:\n bar.sync 3, 96;\n {rest}\n M:"
        ),
    ));
    // The others come to it elsewhere, or have left, or are not there.
    case(&kernel("128", &format!("{warp0} @!%p2 bra L;\n bar.sync 0;\n bra M;\n L:\n bar.sync 0;\n M:")));
    case(&kernel("128", &format!("{warp0} @!%p2 ret;\n bar.sync 0;")));
    case(&kernel("32", &format!("{warp0} @!%p2 bra L;\n bar.sync 0;\n bra M;\n L:\n {rest} // warning: PTX0622\n M:")));
    case(&kernel("128", &format!("{warp0} @!%p2 bra L;\n bar.sync 1, 32;\n bra M;\n L:\n {rest}\n M:")));
}

#[test]
fn mbarrier_initialised_by_many() {
    let init = "mbarrier.init.shared.b64 [bar1], 1;";
    case(&kernel("128", &format!("{init} // warning: PTX0614\n bar.sync 0;")));
    case(&kernel("128", &format!("{ELECT} @%p1 {init} // warning: PTX0614\n bar.sync 0;")));
    case(&kernel("128", &format!("{ELECT} @!%p1 bra L;\n {init} // warning: PTX0614\n L:\n bar.sync 0;")));
    case(&kernel("32", &format!("{ELECT} @%p1 {init}\n bar.sync 0;")));
    case(&kernel("1", init));
    case(&kernel("", init));
    case(&kernel("128", &format!("{TID} setp.eq.u32 %p1, %r1, 0;\n @%p1 {init}\n bar.sync 0;")));
    case(&kernel(
        "128",
        &format!("{TID} setp.ge.u32 %p2, %r1, 32;\n @%p2 bra L;\n {ELECT} @%p1 {init}\n L:\n bar.sync 0;"),
    ));
    case(&kernel(
        "128",
        &format!(
            "{ELECT} ld.param.u32 %r2, [n];\n setp.eq.u32 %p2, %r2, 0;\n and.pred %p3, %p1, %p2;\n @%p3 {init}\n bar.sync 0;"
        ),
    ));
}

#[test]
fn lanes_part_into_a_loop_without_an_end() {
    // Their ways meet nowhere, which is nothing to be looked for.
    both(&format!(
        "{TID} ld.param.u32 %r2, [n];\n setp.lt.u32 %p1, %r1, %r2;\n @%p1 bra SKIP;\n bar.sync 0; // warning: PTX0603\n \
         SKIP: st.shared.u32 [sh], %r1;\n bra SKIP;"
    ));
}
