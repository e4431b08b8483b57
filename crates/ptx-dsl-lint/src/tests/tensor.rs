//! Tensor Memory between threads and between the CTAs of a pair: PTX0606, PTX0678, PTX0679, PTX0681, PTX0682, PTX0689.

use super::*;

const FREE: &str = "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r9, 64;";
const MMA: &str = "tcgen05.mma.cta_group::1.kind::f16 [%r9], %rd1, %rd2, %r2, %p3;";
const COMMIT: &str = "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [bar1];";
const LOAD: &str = "tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r3, %r4}, [%r8];";
const STORE: &str = "tcgen05.st.sync.aligned.32x32b.x2.b32 [%r8], {%r3, %r4};";
const LOADED: &str = "tcgen05.wait::ld.sync.aligned;";
const STORED: &str = "tcgen05.wait::st.sync.aligned;";
const BEFORE: &str = "tcgen05.fence::before_thread_sync;";
const AFTER: &str = "tcgen05.fence::after_thread_sync;";
const DONE: &str = "D: mbarrier.try_wait.parity.shared::cta.b64 %p9, [bar1], 0;\n @!%p9 bra D;";

/// What comes before: warp 0 (`%p1`) allocates 64 columns, thread 0 (`%p2`) initialises two mbarriers. `%r9` is the address,
/// `%r8` that of the warp's own lanes.
const START: &str = "mov.u32 %r1, %tid.x;\n setp.lt.u32 %p1, %r1, 32;\n setp.eq.u32 %p2, %r1, 0;\n\
    @%p1 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [sh], 64;\n\
    @%p2 mbarrier.init.shared::cta.b64 [bar1], 1;\n @%p2 mbarrier.init.shared::cta.b64 [bar2], 128;\n bar.sync 0;\n\
    ld.shared.u32 %r9, [sh];\n ld.param.u64 %rd1, [any];\n ld.param.u64 %rd2, [any];\n mov.u32 %r2, 0x8100490;\n\
    setp.ne.u32 %p3, %r2, 0;\n shr.u32 %r7, %r1, 5;\n shl.b32 %r7, %r7, 21;\n add.u32 %r8, %r9, %r7;\n\
    mov.u32 %r3, 0;\n mov.u32 %r4, 0;\n";

/// Four warps that work on Tensor Memory, which warp 0 frees.
#[track_caller]
fn warps(body: &str) {
    case(&kernel("128", &format!("{START}{body}\n bar.sync 0;\n @%p1 {FREE}")));
}

/// The same with an end of its own.
#[track_caller]
fn whole(body: &str) {
    case(&kernel("128", &format!("{START}{body}")));
}

#[test]
fn stores_are_awaited_before_others_know() {
    let rest = format!("@%p2 {COMMIT}\n {DONE}\n {AFTER}\n {LOAD}\n {LOADED}");
    let meet = format!("{BEFORE}\n bar.sync 0;\n {AFTER}");
    warps(&format!("{STORE}\n {meet}\n @%p2 {MMA} // error: PTX0681\n {rest}"));
    warps(&format!("{STORE}\n {STORED}\n {meet}\n @%p2 {MMA}\n {rest}"));
    // Its own thread is not told either.
    let copy = "tcgen05.cp.cta_group::1.128x256b [%r9], %rd1;";
    warps(&format!("{STORE}\n @%p2 {copy} // error: PTX0681\n {rest}"));
    // Columns that may be others.
    let elsewhere = STORE.replace("%r8", "%r8+32");
    warps(&format!("{elsewhere}\n {meet}\n @%p2 {MMA} // warning: PTX0681\n {rest}"));
    // The operation begins behind them.
    let behind = MMA.replace("%r9", "%r9+16");
    warps(&format!("{STORE}\n {meet}\n @%p2 {behind}\n {rest}"));
    // Awaited on one way only.
    warps(&format!(
        "ld.param.u32 %r5, [n];\n setp.eq.u32 %p4, %r5, 0;\n {STORE}\n @%p4 bra L;\n {STORED}\n L:\n {meet}\n @%p2 {MMA}\n {rest}"
    ));
}

#[test]
fn stores_are_awaited_before_an_arrival() {
    let roles = |body: &str, fence: &str| {
        format!(
            "setp.ge.u32 %p4, %r1, 96;\n @%p4 bra MULTIPLY;\n {body}\n bra END;\n MULTIPLY:\n elect.sync _|%p5, -1;\n @!%p5 bra END;\n \
             W: mbarrier.try_wait.parity.shared::cta.b64 %p6, [bar2], 0;\n @!%p6 bra W;\n {fence}\n {MMA}\n {COMMIT}\n END:\n \
             bar.warp.sync -1;\n {DONE}\n bar.sync 0;\n @%p1 {FREE}"
        )
    };
    let start = START.replace("[bar2], 128", "[bar2], 96");
    let arrive = "mbarrier.arrive.shared::cta.b64 _, [bar2];";
    let run = |body: &str| case(&kernel("128", &format!("{start}{body}")));
    run(&roles(&format!("{STORE}\n {BEFORE}\n {arrive} // error: PTX0681"), AFTER));
    run(&roles(&format!("{STORE}\n {STORED}\n {BEFORE}\n {arrive}"), AFTER));
    // Between the roles a barrier does the same.
    let named = |text: String| {
        text.replace("W: mbarrier.try_wait.parity.shared::cta.b64 %p6, [bar2], 0;\n @!%p6 bra W;", "bar.sync 1, 128;")
            .replace("elect.sync _|%p5, -1;\n @!%p5 bra END;", "")
            .replace(MMA, &format!("elect.sync _|%p5, -1;\n @!%p5 bra END;\n {MMA}"))
    };
    run(&named(roles(&format!("{STORE}\n {BEFORE}\n bar.sync 1, 128; // error: PTX0681"), AFTER)));
    run(&named(roles(&format!("{STORE}\n {STORED}\n {BEFORE}\n bar.sync 1, 128;"), AFTER)));
    // The fences are the other rule's business.
    run(&roles(&format!("{STORE}\n {STORED}\n {arrive} // warning: PTX0679"), AFTER));
    run(&roles(&format!("{STORE}\n {STORED}\n {BEFORE}\n {arrive}"), "")
        .replace(MMA, &format!("{MMA} // warning: PTX0679")));
    run(&named(roles(&format!("{STORE}\n {STORED}\n bar.sync 1, 128; // warning: PTX0679"), AFTER)));
}

#[test]
fn fences_around_a_barrier() {
    let rest = format!("@%p2 {COMMIT}\n {DONE}\n {AFTER}\n {LOAD}\n {LOADED}");
    let multiply = |before: &str, after: &str, mark: &str| {
        warps(&format!("{STORE}\n {STORED}\n {before}\n bar.sync 0;\n {after}\n @%p2 {MMA} {mark}\n {rest}"));
    };
    multiply(BEFORE, AFTER, "");
    multiply("", AFTER, "// warning: PTX0679");
    multiply(BEFORE, "", "// warning: PTX0679");
    multiply("", "", "// warning: PTX0679");
    // Without a meeting nobody else is told of anything, and another rule says that.
    warps(&format!("{STORE}\n {STORED}\n {AFTER}\n @%p2 {MMA}\n {rest}"));
    // A meeting about something else comes first.
    multiply("bar.sync 1, 128;", AFTER, "// warning: PTX0679");
    multiply(&format!("bar.sync 1, 128;\n {BEFORE}"), AFTER, "");
    // What is loaded is overwritten in the next round.
    let rounds = |before: &str, after: &str, mark: &str| {
        warps(&format!(
            "mov.u32 %r6, 0;\n L:\n @%p2 {MMA} {mark}\n @%p2 {COMMIT}\n D: mbarrier.try_wait.parity.shared::cta.b64 %p9, [bar1], %r6;\n \
             @!%p9 bra D;\n xor.b32 %r6, %r6, 1;\n {AFTER}\n {LOAD}\n {LOADED}\n {before}\n bar.sync 0;\n {after}\n \
             add.u32 %r5, %r5, 1;\n setp.lt.u32 %p4, %r5, 9;\n @%p4 bra L;"
        ).replace("mov.u32 %r6, 0;", "mov.u32 %r6, 0;\n mov.u32 %r5, 0;"));
    };
    rounds(BEFORE, AFTER, "");
    rounds("", AFTER, "// warning: PTX0679");
    rounds(BEFORE, "", "// warning: PTX0679");
}

#[test]
fn fences_behind_a_commit() {
    let load =
        |after: &str, mark: &str| format!("@%p2 {MMA}\n @%p2 {COMMIT}\n {DONE}\n {after}\n {LOAD} {mark}\n {LOADED}");
    warps(&load(AFTER, ""));
    warps(&load("", "// warning: PTX0679"));
    // Behind another wait it is too late; a barrier between does not matter.
    warps(&load("bar.sync 0;\n bar.sync 0;", "// warning: PTX0679"));
    warps(&load(&format!("bar.sync 0;\n {AFTER}"), ""));
    warps(&load(&format!("{AFTER}\n bar.sync 0;"), ""));
    // One warp that does all of it by itself, and a CTA of one warp.
    warps(&format!("@!%p1 bra E;\n {}\n E:", load("", "")));
    case(&kernel("32", &format!("{START}{}\n {FREE}", load("", "")).replace("[bar2], 128", "[bar2], 32")));
    // In a ring the object is one of several.
    let ring = |after: &str, mark: &str| {
        warps(&format!(
            ".shared .align 8 .b64 ring[2];\n @%p2 mbarrier.init.shared::cta.b64 [ring], 1;\n @%p2 mbarrier.init.shared::cta.b64 [ring+8], 1;\n bar.sync 0;\n \
             mov.u32 %r5, 0;\n L:\n and.b32 %r6, %r5, 1;\n shl.b32 %r6, %r6, 3;\n mov.u32 %r10, ring;\n add.u32 %r6, %r6, %r10;\n \
             shr.u32 %r11, %r5, 1;\n and.b32 %r11, %r11, 1;\n @%p2 {MMA}\n \
             @%p2 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r6];\n \
             W: mbarrier.try_wait.parity.shared::cta.b64 %p9, [%r6], %r11;\n @!%p9 bra W;\n {after}\n {LOAD} {mark}\n {LOADED}\n {BEFORE}\n \
             bar.sync 0;\n {AFTER}\n add.u32 %r5, %r5, 1;\n setp.lt.u32 %p4, %r5, 9;\n @%p4 bra L;"
        ));
    };
    ring(AFTER, "");
    ring("", "// warning: PTX0679");
}

#[test]
fn one_cta_of_a_pair() {
    let pair = |threads: &str, body: &str| {
        let body = body.replace("cta_group::1", "cta_group::2");
        case(&kernel(threads, &body).replace(".reqntid 32", ".reqntid 32 .reqnctapercluster 2"));
    };
    let alloc = "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [sh], 64;";
    let gone = "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;";
    let read = "bar.sync 0;\n ld.shared.u32 %r9, [sh];";
    let meet = "barrier.cluster.arrive;\n barrier.cluster.wait;";
    let rank = "mov.u32 %r5, %cluster_ctarank;\n setp.eq.u32 %p4, %r5, 0;";
    pair("32", &format!("{alloc}\n {gone}\n {read}\n {meet}\n {FREE}"));
    pair("32", &format!("{rank}\n @%p4 {alloc} // error: PTX0678\n {read}\n {meet}\n @%p4 {FREE} // error: PTX0678"));
    pair("32", &format!("{rank}\n {alloc}\n {read}\n {meet}\n @!%p4 bra L;\n {FREE} // error: PTX0678\n L:"));
    pair("32", &format!("{rank}\n {alloc}\n @%p4 {gone} // warning: PTX0678\n {read}\n {meet}\n {FREE}"));
    // By the number of the CTA, by its lowest bit, with other conditions, by leaving.
    pair(
        "32",
        &format!(
            "mov.u32 %r5, %ctaid.x;\n and.b32 %r5, %r5, 1;\n setp.ne.b32 %p4, %r5, 0;\n {alloc}\n {read}\n {meet}\n @%p4 {FREE} // error: PTX0678"
        ),
    );
    pair(
        "32",
        &format!(
            "{rank}\n ld.param.u32 %r6, [n];\n setp.gt.u32 %p5, %r6, 3;\n and.pred %p5, %p5, %p4;\n {alloc}\n {read}\n {meet}\n @%p5 {FREE} // error: PTX0678"
        ),
    );
    pair(
        "",
        &format!("{rank}\n {alloc}\n {read}\n {meet}\n @!%p4 exit; // warning: PTX0606\n {FREE} // error: PTX0678"),
    );
    // Each CTA has one of its own, or what chooses is not the CTA.
    pair("32", &format!("{rank}\n {alloc}\n {read}\n {meet}\n @!%p4 bra L;\n {FREE}\n ret;\n L:\n {FREE}"));
    pair(
        "32",
        &format!(
            "{alloc}\n {read}\n {meet}\n ld.param.u32 %r6, [n];\n setp.gt.u32 %p5, %r6, 3;\n @%p5 {FREE}\n @!%p5 {FREE}"
        ),
    );
    // The second pair of a cluster of four.
    let four = |limit: u32, mark: &str| {
        let body = format!(
            "mov.u32 %r5, %cluster_ctarank;\n setp.lt.u32 %p4, %r5, {limit};\n {alloc}\n {read}\n {meet}\n @%p4 {FREE} {mark}"
        );
        let text = kernel("32", &body.replace("cta_group::1", "cta_group::2"));
        case(&text.replace(".reqntid 32", ".reqntid 32 .reqnctapercluster 4"));
    };
    four(3, "// error: PTX0678");
    four(4, "");
    // A rank that the pair does not have.
    pair(
        "32",
        &format!(
            "mov.u32 %r5, %cluster_ctarank;\n setp.lt.u32 %p4, %r5, 2;\n @%p4 {alloc}\n {read}\n {meet}\n @%p4 {FREE}"
        ),
    );
}

#[test]
fn another_size_than_was_allocated() {
    let free = |n: u32| FREE.replace("64", &n.to_string());
    whole(&format!("bar.sync 0;\n @%p1 {}", free(64)));
    whole(&format!("bar.sync 0;\n @%p1 {} // error: PTX0682", free(32)));
    whole(&format!("bar.sync 0;\n mov.u32 %r5, 128;\n @%p1 {} // error: PTX0682", FREE.replace("64", "%r5")));
    // Not known.
    whole(&format!("bar.sync 0;\n ld.param.u32 %r5, [n];\n @%p1 {}", FREE.replace("64", "%r5")));
    // Two allocations of different sizes.
    let second = "@%p1 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [sh+4], 32;\n bar.sync 0;\n ld.shared.u32 %r10, [sh+4];";
    let free_second = |n: u32| free(n).replace("%r9", "%r10");
    whole(&format!("{second}\n bar.sync 0;\n @%p1 {}\n @%p1 {FREE}", free_second(32)));
    whole(&format!("{second}\n bar.sync 0;\n @%p1 {} // error: PTX0682\n @%p1 {FREE}", free_second(64)));
    // Where it does not begin.
    let part = "add.u32 %r10, %r9, 32;\n bar.sync 0;";
    whole(&format!("{part}\n @%p1 {} // error: PTX0682", FREE.replace("%r9", "%r10")));
    whole(&format!("{part}\n @%p1 {FREE}"));
    let exclusive = |text: String| {
        case(&kernel("128", &text).replace(".version 8.8", ".version 9.4").replace("sm_100a", "sm_100f"));
    };
    let start = START.replace("tcgen05.alloc.", "tcgen05.alloc.exclusive.");
    exclusive(format!("{start}\n bar.sync 0;\n @%p1 {}", FREE.replace("dealloc.", "dealloc.exclusive.")));
    exclusive(format!("{start}\n bar.sync 0;\n @%p1 {FREE} // error: PTX0682"));
    exclusive(format!(
        "{START}\n bar.sync 0;\n @%p1 {} // error: PTX0682",
        FREE.replace("dealloc.", "dealloc.exclusive.")
    ));
}

#[test]
fn the_same_twice() {
    whole(&format!("bar.sync 0;\n @%p1 {FREE}\n bar.sync 0;\n @%p1 {FREE} // error: PTX0682"));
    whole(&format!(
        "bar.sync 0;\n ld.param.u32 %r5, [n];\n setp.eq.u32 %p4, %r5, 0;\n @!%p4 bra L;\n @%p1 {FREE}\n L:\n bar.sync 0;\n @%p1 {FREE} // error: PTX0682"
    ));
    whole(&format!(
        "bar.sync 0;\n @%p1 {FREE}\n ld.param.u32 %r5, [n];\n setp.eq.u32 %p4, %r5, 0;\n @!%p4 bra L;\n @%p1 {FREE} // warning: PTX0682\n L:"
    ));
    whole(&format!(
        "bar.sync 0;\n ld.param.u32 %r5, [n];\n setp.eq.u32 %p4, %r5, 0;\n @!%p4 bra L;\n @%p1 {FREE}\n bra E;\n L:\n bar.sync 0;\n @%p1 {FREE}\n E:"
    ));
    // In a loop, with and without a new allocation.
    let rounds = "add.u32 %r5, %r5, 1;\n setp.lt.u32 %p4, %r5, 9;\n @%p4 bra L;";
    whole(&format!("mov.u32 %r5, 0;\n L:\n bar.sync 0;\n @%p1 {FREE} // warning: PTX0682\n {rounds}"));
    let again = "@%p1 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [sh], 64;\n bar.sync 0;\n ld.shared.u32 %r9, [sh];";
    whole(&format!(
        "mov.u32 %r5, 0;\n L:\n bar.sync 0;\n @%p1 {FREE}\n {again}\n {rounds}\n bar.sync 0;\n @%p1 {FREE}"
    ));
    // By all four warps, though one has allocated.
    whole(&format!("bar.sync 0;\n {FREE} // error: PTX0682"));
    whole(&format!("bar.sync 0;\n @%p1 {FREE}\n setp.ge.u32 %p4, %r1, 96;\n @%p4 {FREE} // error: PTX0682"));
    case(&kernel("32", &format!("{START}\n bar.sync 0;\n {FREE}").replace("[bar2], 128", "[bar2], 32")));
}

#[test]
fn ways_out_with_what_is_allocated() {
    let early = "ld.param.u32 %r5, [n];\n setp.eq.u32 %p4, %r5, 0;";
    whole(&format!("{early}\n @%p4 ret; // error: PTX0606\n bar.sync 0;\n @%p1 {FREE}"));
    whole(&format!("{early}\n @%p4 bra E; // error: PTX0606\n bar.sync 0;\n @%p1 {FREE}\n E:"));
    whole(&format!("{early}\n @!%p4 bra L; // error: PTX0606\n bar.sync 0;\n ret;\n L:\n bar.sync 0;\n @%p1 {FREE}"));
    // Before the allocation, or behind where it is freed.
    case(&kernel("128", &format!("{early}\n @%p4 ret;\n {START}\n bar.sync 0;\n @%p1 {FREE}")));
    whole(&format!("{early}\n bar.sync 0;\n @%p1 {FREE}\n @%p4 ret;\n bar.sync 0;"));
    whole(&format!("{early}\n @%p4 bra F;\n bar.sync 0;\n F:\n bar.sync 0;\n @%p1 {FREE}"));
    // It is not allocated on that way.
    let alloc = "@%p1 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [sh], 64;\n bar.sync 0;\n ld.shared.u32 %r9, [sh];";
    let maybe = "mov.u32 %r1, %tid.x;\n setp.lt.u32 %p1, %r1, 32;\n mov.u32 %r9, 0;";
    case(&kernel(
        "128",
        &format!(
            "{maybe}\n {early}\n @%p4 bra N;\n {alloc}\n N:\n setp.ne.u32 %p5, %r5, 0;\n @!%p5 ret;\n bar.sync 0;\n @%p1 {FREE}"
        ),
    ));
    // Some threads leave; a trap is no end.
    whole(&format!("setp.ge.u32 %p4, %r1, 64;\n @%p4 ret;\n @%p1 {FREE}"));
    whole(&format!("{early}\n @%p4 bra T;\n bar.sync 0;\n @%p1 {FREE}\n ret;\n T:\n trap;"));
}

#[test]
fn commits_behind_what_they_track() {
    let load = format!("{DONE}\n {AFTER}\n {LOAD}\n {LOADED}");
    warps(&format!("@%p2 {MMA}\n @%p2 {COMMIT}\n {load}"));
    warps(&format!("@%p2 {COMMIT}\n @%p2 {MMA} // error: PTX0689\n {load}"));
    // A fence for what comes later changes nothing.
    warps(&format!("@%p2 {COMMIT}\n @%p2 {MMA} // error: PTX0689\n {load}\n {BEFORE}"));
    // Only the first of two is tracked.
    warps(&format!("@%p2 {MMA}\n @%p2 {COMMIT}\n {load}\n @%p2 {MMA} // error: PTX0689"));
    // The roles of two threads: one cannot track what another one started.
    warps(&format!(
        "setp.eq.u32 %p4, %r1, 32;\n @%p4 bra C;\n @!%p2 bra E;\n {MMA} // error: PTX0689\n bra E;\n C:\n {COMMIT}\n E:\n {load}"
    ));
    // Another thread goes on with the pipeline.
    warps(&format!(
        "@!%p2 bra C;\n {MMA}\n {BEFORE}\n C:\n bar.sync 0;\n setp.eq.u32 %p4, %r1, 32;\n @!%p4 bra E;\n {AFTER}\n {MMA}\n {COMMIT}\n E:\n {load}"
    ));
}

#[test]
fn commits_in_a_loop() {
    // A stage is free for the next copy when the commit behind its products says so.
    let ring = |body: &str| {
        warps(&format!(
            "mov.u32 %r5, 0;\n ld.param.u32 %r10, [n];\n @!%p2 bra E;\n L:\n W: mbarrier.try_wait.parity.shared::cta.b64 %p6, [%r10], %r6;\n @!%p6 bra W;\n {AFTER}\n {body}\n \
             add.u32 %r5, %r5, 1;\n setp.lt.u32 %p4, %r5, 9;\n @%p4 bra L;\n {COMMIT}\n E:\n bar.warp.sync -1;\n {DONE}\n {AFTER}\n {LOAD}\n {LOADED}"
        )
        .replace("L:\n W:", "L:\n and.b32 %r6, %r5, 1;\n W:"));
    };
    let empty = COMMIT.replace("bar1", "stage");
    let with = |body: &str| ring(&format!(".shared .align 8 .b64 stage;\n {body}"));
    with(&format!("{MMA}\n {empty}"));
    with(&format!("{empty} // warning: PTX0689\n {MMA}"));
    // From the second round on for what the round before has started.
    with(&format!("setp.eq.u32 %p7, %r5, 0;\n @%p7 bra N;\n {empty}\n N:\n {MMA}"));
}

/// A persistent product of three roles: warp 4 loads, warp 5 multiplies into one of two accumulators, warps 0 to 3 store.
/// `full` and `empty` are rings of stages, `ready` and `free` those of the accumulators.
fn persistent(multiply: &str, stored: &str, load: &str) -> String {
    let commit =
        |ring: &str| format!("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [{ring}];");
    let slot = |ring: &str, number: &str, to: &str| {
        format!(
            "and.b32 %r10, {number}, 1;\n shl.b32 %r10, %r10, 3;\n mov.u32 {to}, {ring};\n add.u32 {to}, {to}, %r10;"
        )
    };
    let wait = |label: &str, ring: &str, number: &str| {
        format!(
            "{}\n shr.u32 %r12, {number}, 1;\n and.b32 %r12, %r12, 1;\n {label}: mbarrier.try_wait.parity.shared::cta.b64 %p8, [%r11], %r12;\n \
             @!%p8 bra {label};",
            slot(ring, number, "%r11")
        )
    };
    kernel(
        "192",
        &format!(
            ".shared .align 8 .b64 full[2];\n .shared .align 8 .b64 empty[2];\n .shared .align 8 .b64 ready[2];\n .shared .align 8 .b64 free[2];\n \
             .shared .align 128 .b8 stage[8192];\n {}\n \
             @%p2 mbarrier.init.shared::cta.b64 [full], 1;\n @%p2 mbarrier.init.shared::cta.b64 [full+8], 1;\n \
             @%p2 mbarrier.init.shared::cta.b64 [empty], 1;\n @%p2 mbarrier.init.shared::cta.b64 [empty+8], 1;\n \
             @%p2 mbarrier.init.shared::cta.b64 [ready], 1;\n @%p2 mbarrier.init.shared::cta.b64 [ready+8], 1;\n \
             @%p2 mbarrier.init.shared::cta.b64 [free], 128;\n @%p2 mbarrier.init.shared::cta.b64 [free+8], 128;\n \
             {BEFORE}\n bar.sync 0;\n {AFTER}\n ld.param.u32 %r19, [n];\n mov.u32 %r5, 0;\n mov.u32 %r6, 0;\n \
             setp.eq.u32 %p4, %r7, 0x800000;\n @%p4 bra FETCH;\n setp.eq.u32 %p4, %r7, 0xa00000;\n @%p4 bra MULTIPLY;\n \
             STORE:\n {}\n {load}\n {LOADED}\n {stored}\n {}\n mbarrier.arrive.shared::cta.b64 _, [%r13];\n \
             add.u32 %r5, %r5, 1;\n setp.lt.u32 %p6, %r5, %r19;\n @%p6 bra STORE;\n bra END;\n \
             FETCH:\n elect.sync _|%p5, -1;\n @!%p5 bra END;\n \
             F: xor.b32 %r18, %r6, 2;\n {}\n {}\n mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r13], 4096;\n \
             cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [stage], [%rd1], 4096, [%r13];\n \
             add.u32 %r6, %r6, 1;\n setp.lt.u32 %p6, %r6, %r19;\n @%p6 bra F;\n bra END;\n \
             MULTIPLY:\n elect.sync _|%p5, -1;\n @!%p5 bra END;\n \
             TILE: xor.b32 %r18, %r5, 2;\n {}\n {multiply}\n mov.u32 %r17, 0;\n \
             K: {}\n {MMA}\n {}\n {}\n add.u32 %r6, %r6, 1;\n add.u32 %r17, %r17, 1;\n setp.lt.u32 %p6, %r17, 4;\n @%p6 bra K;\n \
             {}\n {}\n add.u32 %r5, %r5, 1;\n setp.lt.u32 %p6, %r5, %r19;\n @%p6 bra TILE;\n \
             END:\n bar.warp.sync -1;\n {BEFORE}\n barrier.sync 0;\n {AFTER}\n @%p1 {FREE}",
            START.replace("@%p2 mbarrier.init.shared::cta.b64 [bar1], 1;\n @%p2 mbarrier.init.shared::cta.b64 [bar2], 128;\n bar.sync 0;", "bar.sync 0;"),
            wait("R", "ready", "%r5"),
            slot("free", "%r5", "%r13"),
            wait("E", "empty", "%r18"),
            slot("full", "%r6", "%r13"),
            wait("A", "free", "%r18"),
            wait("W", "full", "%r6"),
            slot("empty", "%r6", "%r13"),
            commit("%r13"),
            slot("ready", "%r5", "%r13"),
            commit("%r13"),
        ),
    )
}

#[test]
fn roles_with_rings() {
    let load = format!("{AFTER}\n {LOAD}");
    case(&persistent(AFTER, BEFORE, &load));
    case(&persistent(AFTER, BEFORE, &format!("{LOAD} // warning: PTX0679")));
    // The cluster meets first.
    let meet = "barrier.cluster.arrive;\n barrier.cluster.wait;";
    case(&persistent(AFTER, BEFORE, &format!("{LOAD} // warning: PTX0679")).replacen("bar.sync 0;", meet, 1));
    // An arrival for something else before the fence.
    let other = format!("mbarrier.arrive.shared::cta.b64 _, [bar1];\n {BEFORE}");
    case(&persistent(AFTER, &other, &load));
    case(&persistent("", BEFORE, &load).replace(MMA, &format!("{MMA} // warning: PTX0679")));
    let arrive = "mbarrier.arrive.shared::cta.b64 _, [%r13];";
    case(&persistent(AFTER, "", &load).replace(arrive, &format!("{arrive} // warning: PTX0679")));
}
