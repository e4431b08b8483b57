//! Reports name the cause: the CTA, the field, the object, the edit that mends it.

use ptx_dsl::load::Module;
use ptx_dsl::prelude::*;
use ptx_dsl::{Error, Fault};

/// The first fault of a kernel `k` with one buffer on the checked host.
#[track_caller]
fn fault(head: &str, directives: &str, launch: Launch, body: &str) -> Box<Fault> {
    let text = format!(
        "{head}.address_size 64\n.visible .entry k(.param .u64 .ptr .global .align 16 x) {directives}\n{{\n\
         .reg .pred %p<8>; .reg .b16 %h<4>; .reg .b32 %r<16>; .reg .b64 %d<8>; .reg .f32 %f<8>;\n\
         .shared .align 128 .b8 tile[1024]; .shared .align 8 .b64 bar; .shared .align 8 .b64 other;\n\
         ld.param.u64 %d0, [x]; mov.u32 %r0, %tid.x; and.b32 %r1, %r0, 31; shr.u32 %r2, %r0, 5; mov.u32 %r3, tile;\n\
         mad.lo.u32 %r4, %r1, 4, %r3; setp.eq.u32 %p0, %r0, 0; mov.u32 %r5, bar;\n{body}\n}}\n"
    );
    let module = Module::parse(&text).unwrap_or_else(|errors| panic!("{text}\n{errors}"));
    let mut x = [0u32; 256];
    match module.kernel("k").unwrap().launch_raw(&Host::checked(), launch, &mut [(&mut x[..]).into()]) {
        Err(Error::Fault(fault)) => fault,
        other => panic!("{body}\nno fault: {other:?}"),
    }
}

const HOPPER: &str = ".version 8.3\n.target sm_90a\n";

#[track_caller]
fn says(fault: &Fault, what: &[&str]) {
    let text = fault.to_string();
    what.iter().for_each(|what| assert!(text.contains(what), "`{what}` is not in\n{text}"));
}

#[test]
fn a_race_in_another_cta_names_it() {
    // two multicast copies of one thread into both CTAs: nothing tells it that the other CTA is done with the first
    let body = "mov.u16 %h0, 3; @%p0 mbarrier.init.shared::cta.b64 [bar], 1; @%p0 mbarrier.init.shared::cta.b64 [other], 1;\n\
        fence.mbarrier_init.release.cluster; barrier.cluster.arrive.release; barrier.cluster.wait.acquire;\n\
        mov.u32 %r6, %cluster_ctarank; mov.u32 %r9, 0;\n\
        @!%p0 bra wait; mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 128;\n\
        mbarrier.arrive.expect_tx.shared::cta.b64 _, [other], 128;\n\
        setp.ne.u32 %p2, %r6, 0; @%p2 bra wait;\n\
        cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [tile], [%d0], 128, [bar], %h0;\n\
        first: mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0; @!%p1 bra first;\n\
        cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [tile], [%d0], 128, [other], %h0;\n\
        wait: mbarrier.try_wait.parity.shared::cta.b64 %p1, [other], 0; @!%p1 bra wait;\n\
        barrier.cluster.arrive; barrier.cluster.wait; ret;";
    let fault = fault(HOPPER, ".reqntid 32 .reqnctapercluster 2", Launch::grid(2), body);
    says(&fault, &["byte 0 of `tile` (shared address 0x0) of CTA rank 1 of the cluster"]);
}

#[test]
fn barriers_above_15() {
    let fault = fault(
        HOPPER,
        ".reqntid 32",
        Launch::grid(1),
        "ld.global.u32 %r6, [%d0]; add.u32 %r6, %r6, 16; bar.sync %r6, 32;",
    );
    says(&fault, &["barriers are numbered 0 to 15", "help: a CTA has the barriers 0 to 15"]);
}

#[test]
fn an_elected_lane_arrives_for_stores_of_the_warp() {
    let body = |between: &str| {
        format!(
            "@%p0 mbarrier.init.shared::cta.b64 [bar], 1; bar.sync 0; setp.ne.u32 %p2, %r2, 0; @%p2 bra read;\n\
             st.shared.u32 [%r4], %r0; {between} setp.ne.u32 %p3, %r1, 0; @%p3 bra end;\n\
             mbarrier.arrive.shared::cta.b64 _, [bar]; bra end;\n\
             read: mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0; @!%p1 bra read;\n\
             ld.shared.u32 %r6, [%r4]; mad.wide.u32 %d1, %r1, 4, %d0; st.global.u32 [%d1], %r6; end: ret;"
        )
    };
    let report = fault(HOPPER, ".reqntid 64", Launch::grid(1), &body(""));
    says(
        &report,
        &[
            "lane 0 of warp 0 has arrived or released since, which orders its own accesses alone",
            "help: put a `bar.warp.sync` between the earlier store and the arrival or release of lane 0",
        ],
    );
    let mended = format!("{} ld.global.u32 %r7, [%d0+4096];", body("bar.warp.sync -1;").replace("end: ret;", "end:"));
    // what is left is the access that this test adds
    says(&fault(HOPPER, ".reqntid 64", Launch::grid(1), &mended), &["out of bounds"]);
}

/// Each thread loads the element of its neighbour. Within a warp that needs a barrier of the warp, but the last lane has a neighbour in the next
/// warp: the barrier is one of the CTA.
#[test]
fn a_tile_without_a_barrier() {
    let of = |threads: &str, neighbour: &str| {
        let body = format!(
            "mad.lo.u32 %r8, %r0, 4, %r3; st.shared.u32 [%r8], %r0; add.u32 %r6, %r0, 1; {neighbour}\n\
             mad.lo.u32 %r7, %r6, 4, %r3; ld.shared.u32 %r6, [%r7]; mad.wide.u32 %d1, %r0, 4, %d0; st.global.u32 [%d1], %r6; ret;"
        );
        fault(HOPPER, threads, Launch::grid(1), &body)
    };
    let whole = of(".reqntid 64", "and.b32 %r6, %r6, 63;");
    says(&whole, &["data race", "warp 0", "help: put a `bar.sync` between them"]);
    let of_lanes = "help: put a `bar.warp.sync` between them: nothing else orders the lanes of a warp";
    says(&of(".reqntid 32", "and.b32 %r6, %r6, 31;"), &["data race", of_lanes]);
    // each warp has a part of its own
    let own = "and.b32 %r6, %r6, 31; and.b32 %r7, %r0, 32; or.b32 %r6, %r6, %r7;";
    says(&of(".reqntid 64", own), &["data race", of_lanes]);
}

#[test]
fn lanes_that_store_to_one_element() {
    let fault = fault(HOPPER, ".reqntid 32", Launch::grid(1), "st.shared.u32 [tile], %r0;");
    says(&fault, &["help: lanes of one warp store to the same bytes by one statement: check the index"]);
}

#[test]
fn misaligned_destinations_of_copies() {
    let body = "@%p0 mbarrier.init.shared::cta.b64 [bar], 1; ld.global.u32 %r6, [%d0]; add.u32 %r6, %r6, 8; add.u32 %r6, %r6, %r3;\n\
        cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r6], [%d0], 16, [bar];";
    let fault = fault(HOPPER, ".reqntid 1", Launch::grid(1), body);
    says(&fault, &["is not a multiple of 16", "help: align the variable with `.align`"]);
}

#[test]
fn an_earlier_operation_of_the_same_thread_names_its_wait() {
    // the second copy overwrites what the first may still read
    let body = "@%p0 mbarrier.init.shared::cta.b64 [bar], 1; st.shared.u32 [tile], 0; st.shared.u32 [tile+4], 0; st.shared.u32 [tile+8], 0;\n\
        st.shared.u32 [tile+12], 0; fence.proxy.async; mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 16;\n\
        cp.async.bulk.global.shared::cta.bulk_group [%d0], [tile], 16; cp.async.bulk.commit_group;\n\
        cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%d0+64], 16, [bar];\n\
        wait: mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0; @!%p1 bra wait; cp.async.bulk.wait_group 0; ret;";
    let head = ".version 8.3\n.target sm_90a\n";
    let fault = fault(head, ".reqntid 1", Launch::grid(1), body);
    says(&fault, &["help: wait for the earlier operation first, by `cp.async.bulk.wait_group.read`"]);
}

#[test]
fn an_arrival_too_many_names_the_object() {
    let body = "@%p0 mbarrier.init.shared::cta.b64 [other], 32; bar.sync 0; mbarrier.arrive.noComplete.shared::cta.b64 %d1, [other], 1;\n\
        ld.global.u32 %r6, [%d0]; add.u32 %r6, %r6, 3; mbarrier.arrive.shared::cta.b64 %d1, [other], %r6;";
    let fault = fault(HOPPER, ".reqntid 2", Launch::grid(1), &body.replace("[other], 32", "[other], 4"));
    says(&fault, &["at the mbarrier object `other` (shared address", "wait for the phase of the round before"]);
}

#[test]
fn a_deadlock_lists_the_bytes_of_each_statement() {
    let body = "@%p0 mbarrier.init.shared::cta.b64 [bar], 1;\n\
        ld.global.u32 %r6, [%d0]; add.u32 %r6, %r6, 64;\n\
        mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], %r6; mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 128;\n\
        cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%d0], 128, [bar];\n\
        wait: mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0; @!%p1 bra wait; ret;";
    let fault = fault(HOPPER, ".reqntid 1", Launch::grid(1), body);
    says(
        &fault,
        &[
            "64 more bytes are expected",
            "; `mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], %r6;` (PTX line 12) expects 64 bytes",
            "(PTX line 12) expects 128 bytes",
            "(PTX line 13) has brought 128 bytes",
        ],
    );
}

#[test]
fn offsets_in_bytes_in_a_descriptor() {
    // 64 x 16 elements of A, 16 x 8 of B; the stride of A, 256 bytes, is written in bytes instead of units of 16
    let registers = "{%f0, %f1, %f2, %f3}";
    let body = |stride: u64| {
        let a = stride << 32 | 8 << 16;
        format!(
            "mov.f32 %f0, 0f00000000; mov.f32 %f1, %f0; mov.f32 %f2, %f0; mov.f32 %f3, %f0; setp.ne.u32 %p1, %r0, %r0;\n\
             mov.b64 %d1, {a}; mov.b64 %d2, {}; wgmma.fence.sync.aligned;\n\
             wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {registers}, %d1, %d2, %p1, 1, 1, 0, 0;\n\
             wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0; ret;",
            16u64 << 32 | 8 << 16
        )
    };
    let fault = fault(HOPPER, ".reqntid 128", Launch::grid(1), &body(256));
    says(
        &fault,
        &[
            "of the matrix A at shared address",
            "the stride dimension byte offset in the descriptor is 4096 bytes",
            "help: descriptors count in units of 16 bytes: for 256 bytes write 16 into the stride dimension byte offset, not 256",
        ],
    );
}
