//! Cluster launch control, the cluster barrier, mbarriers before init: PTX0609 to PTX0613.

use super::*;

const ASK: &str =
    "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [answer], [bar1];\n";
const INIT: &str = "mbarrier.init.shared::cta.b64 [bar1], 1;\n";
const EXPECT: &str = "mbarrier.arrive.expect_tx.relaxed.cluster.shared::cta.b64 _, [bar1], 16;\n";
const WAIT: &str = "W:\n mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [bar1], 0;\n @!%p1 bra W;\n";
const CANCELED: &str = "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p2, %q1;\n";
const FIRST: &str = "clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r1, %q1;";

#[test]
fn response_read_too_early() {
    case(&kernel("1", &format!("{INIT}{EXPECT}{ASK} ld.shared.b128 %q1, [answer]; // error: PTX0609\n {CANCELED}")));
    case(&kernel(
        "1",
        &format!(
            "{INIT}{EXPECT}{ASK} ld.shared.v2.b64 {{%rd1, %rd2}}, [answer]; // error: PTX0609\n mov.b128 %q1, {{%rd1, %rd2}};\n {CANCELED}{WAIT}"
        ),
    ));
    // No barrier makes it come, if nobody waits for it.
    case(&kernel(
        "32",
        &format!(
            " mov.u32 %r1, %tid.x;\n setp.eq.u32 %p3, %r1, 0;\n @!%p3 bra N;\n {INIT}{EXPECT}{ASK} N:\n bar.sync 0;\n ld.shared.b128 %q1, [answer]; // error: PTX0609\n {CANCELED}"
        ),
    ));
}

#[test]
fn response_read_in_time() {
    case(&kernel("1", &format!("{INIT}{EXPECT}{ASK}{WAIT} ld.shared.b128 %q1, [answer];\n {CANCELED}")));
    // One asks, everybody waits.
    case(&kernel(
        "32",
        &format!(
            " mov.u32 %r1, %tid.x;\n setp.eq.u32 %p3, %r1, 0;\n @!%p3 bra N;\n {INIT}{EXPECT}{ASK} N:\n {WAIT} ld.shared.b128 %q1, [answer];\n {CANCELED}"
        ),
    ));
    // One asks, others wait and let it know.
    case(&kernel(
        "64",
        &format!(
            " mov.u32 %r1, %tid.x;\n setp.eq.u32 %p4, %r1, 0;\n @%p4 mbarrier.init.shared::cta.b64 [bar1], 1;\n bar.sync 0;\n setp.ge.u32 %p3, %r1, 32;\n @!%p3 bra N;\n {WAIT} bra M;\n N:\n @!%p4 bra M;\n {EXPECT}{ASK} M:\n bar.sync 0;\n ld.shared.b128 %q1, [answer];\n {CANCELED}"
        ),
    ));
}

#[test]
fn first_ctaid_of_any_response() {
    let ready = format!("{INIT}{EXPECT}{ASK}{WAIT} ld.shared.b128 %q1, [answer];\n");
    let right = |body: &str| case(&kernel("1", &format!("{ready} {body}")));
    let wrong = |level: &str, before: &str, after: &str| {
        case(&kernel("1", &format!("{ready} {before} {FIRST} // {level}: PTX0610\n {after}")));
    };
    // What goes by the result: an address, a condition.
    let address = "mad.wide.u32 %rd3, %r1, 4, %rd1;\n ld.global.u32 %r5, [%rd3];\n";
    let condition = "setp.gt.u32 %p5, %r1, 7;\n @%p5 st.shared.u32 [sh], 1;\n";
    let pointer = "ld.param.u64 %rd1, [w];\n";
    for used in [address, condition] {
        wrong("error", pointer, used);
        wrong("error", &format!("{pointer} {CANCELED} @%p2 bra A;\n"), &format!("{used} A:"));
        wrong("error", &format!("{pointer} {CANCELED}"), used);
        right(&format!("{pointer} {CANCELED} {FIRST}\n @!%p2 ret;\n {used}"));
        right(&format!("{pointer} {FIRST}\n {CANCELED} selp.b32 %r1, %r1, 0, %p2;\n {used}"));
        right(&format!("{pointer} {CANCELED} @%p2 {FIRST}\n @!%p2 ret;\n {used}"));
    }
    // The next round of a loop uses it, and there is none if the answer is no.
    let wait = WAIT.replace("[bar1], 0", "[bar1], %r7").replace("bra W;\n", "bra W;\n xor.b32 %r7, %r7, 1;\n");
    case(&kernel(
        "1",
        &format!(
            "{INIT}{pointer} mov.u32 %r1, 0;\n mov.u32 %r7, 0;\n L:\n {address} {EXPECT}{ASK}{wait} ld.shared.b128 %q1, [answer];\n \
             {CANCELED}{FIRST}\n fence.proxy.async.shared::cta;\n @%p2 bra L;"
        ),
    ));
    // Nothing goes by it.
    wrong("warning", "", "");
    wrong("warning", &format!("{CANCELED} @!%p2 "), "");
    wrong("warning", &format!("{CANCELED} @%p2 bra A;\n"), " A:");
    wrong("warning", CANCELED, "st.shared.u32 [sh], %r1;");
    right(&format!("{CANCELED} {FIRST}\n @!%p2 ret;"));
    right(&format!("{CANCELED} @%p2 {FIRST}"));
    right(&format!("{CANCELED} @!%p2 ret;\n {FIRST}"));
    right(&format!("{CANCELED} selp.u32 %r2, 1, 0, %p2;\n setp.eq.u32 %p3, %r2, 0;\n @%p3 ret;\n {FIRST}"));
    // Both go to other threads, which ask.
    right(&format!(
        "{CANCELED} {FIRST}\n selp.u32 %r2, 1, 0, %p2;\n st.shared.u32 [sh], %r2;\n st.shared.u32 [sh+4], %r1;"
    ));
}

#[test]
fn cluster_barrier_out_of_step() {
    both("barrier.cluster.arrive;\n barrier.cluster.arrive; // error: PTX0611\n barrier.cluster.wait;");
    both("barrier.cluster.wait; // error: PTX0612\n barrier.cluster.arrive;\n barrier.cluster.wait;");
    both("barrier.cluster.arrive;\n barrier.cluster.wait;\n barrier.cluster.wait; // error: PTX0612");
    both(
        "ld.param.u32 %r1, [n];\n setp.eq.u32 %p1, %r1, 0;\n @%p1 bra A;\n barrier.cluster.arrive;\n bra B;\n A: barrier.cluster.arrive.relaxed;\n B: barrier.cluster.arrive; // error: PTX0611\n barrier.cluster.wait;",
    );
}

#[test]
fn cluster_barrier_in_step() {
    both(
        "barrier.cluster.arrive;\n barrier.cluster.wait;\n barrier.cluster.arrive.release;\n barrier.cluster.wait.acquire;",
    );
    // Both under the same condition.
    both(
        "ld.param.u32 %r1, [n];\n setp.eq.u32 %p1, %r1, 0;\n @%p1 barrier.cluster.arrive;\n mov.u32 %r2, 0;\n @%p1 barrier.cluster.wait;\n barrier.cluster.arrive;\n barrier.cluster.wait;",
    );
    both(
        "mov.u32 %r1, 0;\n barrier.cluster.arrive;\n L:\n barrier.cluster.wait;\n add.u32 %r1, %r1, 1;\n barrier.cluster.arrive;\n setp.lt.u32 %p1, %r1, 4;\n @%p1 bra L;\n barrier.cluster.wait;",
    );
}

#[test]
fn mbarrier_before_its_init() {
    case(&kernel(
        "",
        "mbarrier.arrive.shared.b64 %rd1, [bar1]; // error: PTX0613\n mbarrier.init.shared.b64 [bar1], 1;",
    ));
    case(&kernel(
        "",
        "mov.u32 %r1, bar2;\n mbarrier.init.shared.b64 [bar1], 1;\n mbarrier.expect_tx.relaxed.cta.shared.b64 [bar2], 16; // error: PTX0613\n mbarrier.init.shared.b64 [%r1], 1;",
    ));
}

#[test]
fn mbarrier_after_its_init() {
    case(&kernel("", "mbarrier.init.shared.b64 [bar1], 1;\n mbarrier.arrive.shared.b64 %rd1, [bar1];"));
    // Another thread may have done it.
    both(
        "mov.u32 %r1, %tid.x;\n setp.eq.u32 %p1, %r1, 0;\n @%p1 mbarrier.init.shared.b64 [bar1], 128;\n bar.sync 0;\n mbarrier.arrive.shared.b64 %rd1, [bar1];",
    );
    both(
        "mov.u32 %r1, %tid.x;\n setp.lt.u32 %p1, %r1, 32;\n @%p1 bra A;\n bar.sync 0;\n mbarrier.arrive.shared.b64 %rd1, [bar1];\n bra B;\n A:\n elect.sync _|%p2, -1;\n @%p2 mbarrier.init.shared.b64 [bar1], 96;\n bar.sync 0;\n B:",
    );
    // Whose init is not here.
    case(&kernel("", "mbarrier.init.shared.b64 [bar1], 1;\n mbarrier.arrive.shared.b64 %rd1, [bar2];"));
}
