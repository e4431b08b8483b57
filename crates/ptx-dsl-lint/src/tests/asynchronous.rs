//! Right kernels in the shapes that are used, about which nothing may be said, and mistakes beside them.
//! Each code has a wrong and a right kernel more in `explain/protocol/` and in `tests/bugs/` of the workspace.

use super::*;

fn module(target: &str, shared: &str, threads: u32, body: &str) -> String {
    format!(
        ".version 8.6\n.target {target}\n.address_size 64\n{shared}\
         .visible .entry k(.param .u64 .ptr .global .align 128 a, .param .u64 .ptr .global .align 16 b, .param .u32 n) .reqntid {threads}\n\
         {{\n.reg .b32 %r<40>; .reg .b64 %d<20>; .reg .pred %p<10>; .reg .f32 %f<8>;\n\
         ld.param.u64 %d1, [a];\nld.param.u64 %d2, [b];\nld.param.u32 %r39, [n];\nmov.u32 %r1, %tid.x;\n{body}\nret;\n}}\n"
    )
}

/// A ring of two stages: a producer warp that copies, a warpgroup that multiplies, an epilogue that stores.
fn ring(broken: &str) -> String {
    let wait = |bar: &str, parity: &str, label: &str| {
        format!("{label}:\nmbarrier.try_wait.parity.shared::cta.b64 %p7, [{bar}], {parity};\n@!%p7 bra {label};\n")
    };
    let text = format!(
        "setp.ne.u32 %p1, %r1, 0;\n@%p1 bra INIT;\n\
         mbarrier.init.shared::cta.b64 [full], 1;\nmbarrier.init.shared::cta.b64 [full+8], 1;\n\
         mbarrier.init.shared::cta.b64 [empty], 128;\nmbarrier.init.shared::cta.b64 [empty+8], 128;\n\
         fence.mbarrier_init.release.cluster;\nINIT:\nbar.sync 0;\n\
         mov.u32 %r2, 0;\nmov.u32 %r3, 0;\nmov.u32 %r4, 0;\nmov.u32 %r10, ring;\nmov.u32 %r11, full;\nmov.u32 %r12, empty;\n\
         setp.lt.u32 %p2, %r1, 128;\n@%p2 bra CONSUMER;\nsetp.ne.u32 %p3, %r1, 128;\n@%p3 bra DONE;\n\
         PRODUCER:\nshl.b32 %r5, %r3, 3;\nadd.u32 %r6, %r12, %r5;\nadd.u32 %r7, %r11, %r5;\nxor.b32 %r8, %r4, 1;\n{}\
         shl.b32 %r9, %r3, 12;\nadd.u32 %r13, %r10, %r9;\n\
         mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r7], 4096;\n\
         cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r13], [%d1], 4096, [%r7];\n\
         add.u64 %d1, %d1, 4096;\nadd.u32 %r2, %r2, 1;\nxor.b32 %r3, %r3, 1;\nsetp.eq.u32 %p4, %r3, 0;\n@%p4 xor.b32 %r4, %r4, 1;\n\
         setp.lt.u32 %p5, %r2, %r39;\n@%p5 bra PRODUCER;\nbra DONE;\n\
         CONSUMER:\nshl.b32 %r5, %r3, 3;\nadd.u32 %r6, %r11, %r5;\nadd.u32 %r7, %r12, %r5;\n{}\
         shl.b32 %r9, %r3, 12;\nadd.u32 %r13, %r10, %r9;\nshl.b32 %r14, %r1, 2;\nadd.u32 %r15, %r13, %r14;\n\
         ld.shared.u32 %r16, [%r15];\nmov.u32 %r17, out;\nadd.u32 %r18, %r17, %r14;\n\
         bar.sync 1, 128;\nst.shared.u32 [%r18], %r16;\nfence.proxy.async.shared::cta;\n\
         mbarrier.arrive.shared::cta.b64 _, [%r7];\nbar.sync 1, 128;\n@%p1 bra NEXT;\n\
         cp.async.bulk.global.shared::cta.bulk_group [%d2], [%r17], 512;\ncp.async.bulk.commit_group;\n\
         cp.async.bulk.wait_group.read 0;\nNEXT:\nadd.u64 %d2, %d2, 512;\n\
         add.u32 %r2, %r2, 1;\nxor.b32 %r3, %r3, 1;\nsetp.eq.u32 %p4, %r3, 0;\n@%p4 xor.b32 %r4, %r4, 1;\n\
         setp.lt.u32 %p5, %r2, %r39;\n@%p5 bra CONSUMER;\n@!%p1 cp.async.bulk.wait_group 0;\nDONE:",
        wait("%r6", "%r8", "FREE"),
        wait("%r6", "%r4", "READY"),
    );
    let text = if broken.is_empty() { text } else { text.replace(broken, "") };
    let shared = ".shared .align 128 .b8 ring[8192];\n.shared .align 128 .b8 out[512];\n.shared .align 8 .b64 full[2];\n.shared .align 8 .b64 empty[2];\n";
    module("sm_90a", shared, 160, &text)
}

/// How often something of the kind is said.
fn codes(text: &str) -> Vec<(u16, Severity)> {
    let (lexed, mut found) = lex(text);
    found.extend(ptx_dsl_frontend::compile(&lexed.tokens).diagnostics);
    found.iter().map(|d| (d.code, d.severity)).collect()
}

#[test]
fn ring_of_two_stages() {
    assert_eq!(codes(&ring("")), vec![]);
    assert_eq!(codes(&ring("fence.proxy.async.shared::cta;\n")), vec![(640, Severity::Error)]);
    assert_eq!(codes(&ring("cp.async.bulk.wait_group.read 0;\n")), vec![(649, Severity::Error)]);
}

#[test]
fn groups_in_a_loop() {
    let body = |wait: &str| {
        format!(
            "mov.u32 %r2, 0;\nmov.u32 %r10, even;\nmov.u32 %r11, odd;\n\
             cp.async.ca.shared.global [%r10], [%d1], 16;\ncp.async.commit_group;\n\
             LOOP:\ncp.async.ca.shared.global [%r11], [%d1+16], 16;\ncp.async.commit_group;\n{wait}\nld.shared.u32 %r3, [even];\n\
             cp.async.ca.shared.global [%r10], [%d1+32], 16;\ncp.async.commit_group;\ncp.async.wait_group 1;\nld.shared.u32 %r4, [odd];\n\
             add.u32 %r2, %r2, 1;\nsetp.lt.u32 %p1, %r2, %r39;\n@%p1 bra LOOP;\ncp.async.wait_all;\nst.shared.u32 [even], %r3;"
        )
    };
    let shared = ".shared .align 16 .b8 even[16];\n.shared .align 16 .b8 odd[16];\n";
    assert_eq!(codes(&module("sm_90", shared, 1, &body("cp.async.wait_group 1;"))), vec![]);
    assert_eq!(codes(&module("sm_90", shared, 1, &body("cp.async.wait_group 2;"))), vec![(648, Severity::Error)]);
}

/// A producer waits for the parity before the first one: that is how an empty stage is known to be empty.
#[test]
fn empty_at_the_beginning() {
    let shared = ".shared .align 8 .b64 full;\n.shared .align 8 .b64 empty;\n.shared .align 16 .b8 box[16];\n";
    let body = "setp.eq.u32 %p1, %r1, 0;\n@%p1 mbarrier.init.shared::cta.b64 [full], 1;\n@%p1 mbarrier.init.shared::cta.b64 [empty], 32;\n\
                bar.sync 0;\nsetp.lt.u32 %p2, %r1, 32;\n@%p2 bra CONSUMER;\nE:\nmbarrier.try_wait.parity.shared::cta.b64 %p3, [empty], 1;\n@!%p3 bra E;\n\
                setp.eq.u32 %p4, %r1, 32;\nmov.u32 %r3, box;\n@%p4 mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 16;\n\
                @%p4 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%d1], 16, [full];\nbra DONE;\n\
                CONSUMER:\nF:\nmbarrier.try_wait.parity.shared::cta.b64 %p3, [full], 0;\n@!%p3 bra F;\nld.shared.u32 %r4, [box];\n\
                mbarrier.arrive.shared::cta.b64 _, [empty];\nst.global.u32 [%d2], %r4;\nDONE:";
    assert_eq!(codes(&module("sm_90", shared, 64, body)), vec![]);
    assert_eq!(
        codes(&module("sm_90", shared, 64, &body.replace("[full], 0", "[empty], 0"))),
        vec![(647, Severity::Error), (696, Severity::Error)],
    );
    assert_eq!(
        codes(&module("sm_90", shared, 64, &body.replace("[full], 1;", "[full], 2;"))),
        vec![(642, Severity::Error)]
    );
}

/// Compilers move registers between an MMA and its wait where values join.
#[test]
fn moves_of_accumulators() {
    let acc = "{%f0, %f1, %f2, %f3}";
    let body = |between: &str| {
        format!(
            "wgmma.fence.sync.aligned;\nmov.u64 %d3, 0;\nsetp.ne.u32 %p1, %r39, 0;\nmov.f32 %f0, 0f00000000;\nmov.f32 %f1, %f0;\n\
             mov.f32 %f2, %f0;\nmov.f32 %f3, %f0;\n\
             wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {acc}, %d3, %d3, %p1, 1, 1, 0, 0;\nwgmma.commit_group.sync.aligned;\n\
             {between}\nwgmma.wait_group.sync.aligned 0;\nst.global.f32 [%d2], %f0;"
        )
    };
    assert_eq!(codes(&module("sm_90a", "", 128, &body("mov.f32 %f4, %f1;"))), vec![]);
    assert_eq!(codes(&module("sm_90a", "", 128, &body("add.f32 %f4, %f1, %f2;"))), vec![(651, Severity::Error)]);
}

/// Two debts of one place are one finding.
#[test]
fn one_place_is_said_once() {
    let shared = ".shared .align 16 .b8 box[64];\n.shared .align 8 .b64 full;\n";
    let two = "mov.u32 %r3, box;\ncp.async.bulk.global.shared::cta.bulk_group [%d1], [%r3], 16;\n\
               cp.async.bulk.global.shared::cta.bulk_group [%d2], [%r3], 16;\n";
    let left = [(650, Severity::Warning)];
    assert_eq!(codes(&module("sm_90", shared, 1, two)), left);
    let early = "mbarrier.init.shared::cta.b64 [full], 1;\nmov.u32 %r3, box;\n\
                 mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 32;\n\
                 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%d1], 16, [full];\n\
                 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%d2], 16, [full];\n\
                 ld.shared.u32 %r4, [box];\n\
                 W:\nmbarrier.try_wait.parity.shared::cta.b64 %p3, [full], 0;\n@!%p3 bra W;\nst.global.u32 [%d2], %r4;";
    assert_eq!(codes(&module("sm_90", shared, 1, early)), [(646, Severity::Error)]);
}
