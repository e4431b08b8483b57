//! What the checked host finds besides data races, and what it must not find: pairs of kernels, with a bug and without it.

use super::races::{clean, run, threads};
use ptx_dsl::fault::FaultKind;
use ptx_dsl::prelude::*;
use ptx_dsl::{Error, Fault};

/// The first fault of the kernel.
#[track_caller]
fn fault(launch: Launch, body: &str) -> Box<Fault> {
    match run(launch, body) {
        Err(Error::Fault(fault)) => fault,
        other => panic!("{body}\nno fault: {other:?}"),
    }
}

/// The report of an access outside of its variable: name, offset, size.
#[track_caller]
fn outside(launch: Launch, body: &str) -> (String, i64, u64) {
    let fault = fault(launch, body);
    match &fault.kind {
        FaultKind::OutsideVariable { variable, offset, size, .. } => (variable.clone(), *offset, *size),
        _ => panic!("{body}\n{fault}"),
    }
}

#[test]
fn an_access_leaves_its_variable() {
    // `tile` has 1024 bytes, `bar` and `other` follow it
    let tile = |offset| ("tile".to_string(), offset, 1024);
    clean(threads(32), "st.shared.u32 [%r1], %t; st.shared.u32 [%r1+896], %t; st.shared.b64 [bar], %a;");
    assert_eq!(outside(threads(32), "st.shared.u32 [%r1+904], %t;"), tile(1024));
    let before = "mov.u32 %r2, other; sub.u32 %r2, %r2, %t; st.shared.u8 [%r2], %t;";
    clean(threads(1), before);
    assert_eq!(outside(threads(2), before), ("other".into(), -1, 8));
    // an index from memory, a generic address, an atomic operation, a choice
    let index =
        "st.shared.u32 [tile+4], $; ld.shared.u32 %r3, [tile+4]; mad.lo.u32 %r2, %r3, 8, %r0; st.shared.u32 [%r2], %t;";
    clean(threads(1), &index.replace('$', "127"));
    assert_eq!(outside(threads(1), &index.replace('$', "129")), tile(1032));
    let generic = "sub.u32 %r2, %r0, %t; cvt.u64.u32 %d0, %r2; cvta.shared.u64 %d0, %d0; ";
    clean(
        threads(1),
        &format!("{generic} atom.add.u32 %r2, [%d0+1020], 1;").replace("atom", "st.u32 [%d0+1020], 0; atom"),
    );
    assert_eq!(outside(threads(1), &format!("{generic} st.u32 [%d0+1028], 1;")), tile(1028));
    let choice = "setp.eq.u32 %p, %t, 5; mov.u32 %r2, bar; selp.b32 %r3, %r0, %r2, %p; st.shared.u32 [%r3+4], %t;";
    clean(threads(1), choice);
}

#[test]
fn addresses_of_one_variable_made_from_another_are_not_reported() {
    let difference = "mov.u32 %r2, bar; sub.u32 %r3, %r2, %r0; add.u32 %r4, %r0, %r3; st.shared.b64 [%r4], %a;";
    clean(threads(1), difference);
    // a pointer in memory, to which something is added
    let stored = "mov.u32 %r2, bar; sub.u32 %r3, %r2, %r0; st.shared.u32 [%r0], %r3; ld.shared.u32 %r4, [%r0];\n\
        add.u32 %r4, %r4, %r0; st.shared.b64 [%r4], %a;";
    clean(threads(1), stored);
    let pointer =
        "mov.u32 %r2, tile; st.shared.u32 [other], %r2; ld.shared.u32 %r3, [other]; st.shared.u32 [%r3+1024], %t;";
    clean(threads(1), pointer);
}

#[test]
fn dynamic_shared_memory_has_no_variables() {
    let text = |body: &str| {
        format!(
            ".version 8.6\n.target sm_90\n.address_size 64\n.extern .shared .align 16 .b8 all[];\n\
             .extern .shared .align 16 .b8 more[];\n\
             .visible .entry k()\n{{\n.shared .align 16 .b8 own[64];\n\
             .reg .b32 %r<4>; mov.u32 %r0, all; mov.u32 %r1, more; mov.u32 %r2, own; mov.u32 %r3, %clusterid.x;\n\
             sub.u32 %r0, %r0, %r3; sub.u32 %r1, %r1, %r3; sub.u32 %r2, %r2, %r3; {body}\nret;\n}}\n"
        )
    };
    let run = |body: &str| {
        let module = ptx_dsl::load::Module::parse(&text(body)).unwrap();
        let launch = Launch::grid(1).block(1).dynamic_shared(256);
        match module.kernel("k").unwrap().launch_raw(&Host::checked(), launch, &mut []) {
            Ok(_) => None,
            Err(Error::Fault(fault)) => Some(fault.kind),
            Err(other) => panic!("{other}"),
        }
    };
    assert_eq!(run("st.shared.u32 [%r0+252], 1; st.shared.u32 [%r1+128], 1; st.shared.u32 [%r2+60], 1;"), None);
    assert!(matches!(run("st.shared.u32 [%r0+256], 1;"), Some(FaultKind::OutOfBounds { .. })));
    assert!(matches!(run("st.shared.u32 [%r1+-4], 1;"), Some(FaultKind::OutsideVariable { offset: -4, .. })));
    assert!(matches!(run("st.shared.u32 [%r2+64], 1;"), Some(FaultKind::OutsideVariable { offset: 64, size: 64, .. })));
}

#[test]
fn variables_of_other_state_spaces() {
    let text = ".version 8.6\n.target sm_90\n.address_size 64\n\
        .global .u32 first[4]; .global .u32 second[4]; .const .u32 table[4] = {1, 2, 3, 4}; .const .u32 rest[4];\n\
        .visible .entry k(.param .u64 n)\n{\n.local .u32 x[4]; .local .u32 y[4];\n\
        .reg .b32 %n, %v; .reg .b64 %d<8>;\n\
        ld.param.u64 %d4, [n]; cvt.u32.u64 %n, %d4; mul.wide.u32 %d0, %n, 4;\n\
        mov.u64 %d1, first; add.u64 %d1, %d1, %d0; st.global.u32 [%d1], %n;\n\
        mov.u64 %d2, table; add.u64 %d2, %d2, %d0; ld.const.u32 %v, [%d2];\n\
        mov.u64 %d3, x; cvta.local.u64 %d3, %d3; add.u64 %d3, %d3, %d0; st.u32 [%d3], %v;\nret;\n}\n";
    let module = ptx_dsl::load::Module::parse(text).unwrap();
    let run = |n: u64| match module.kernel("k").unwrap().launch_raw(&Host::checked(), threads(32), &mut [n.into()]) {
        Ok(_) => Vec::new(),
        Err(Error::Fault(fault)) => {
            let kinds = std::iter::once(&fault.kind).chain(fault.others.iter().map(|f| &f.kind));
            let name = |kind: &FaultKind| match kind {
                FaultKind::OutsideVariable { variable, space, .. } => format!("{space} {variable}"),
                other => other.to_string(),
            };
            kinds.map(name).collect()
        }
        Err(other) => panic!("{other}"),
    };
    assert_eq!(run(3), Vec::<String>::new());
    assert_eq!(run(4), ["global first", "const table", "local x"]);
}

#[test]
fn what_the_stack_has_freed() {
    let body = "stacksave.u64 %d0; alloca.u64 %d1, 64; st.local.u32 [%d1], 1; $ ld.local.u32 %r2, [%d1]; @ st.global.u32 [%b], %r2;";
    let restore = "stackrestore.u64 %d0;";
    clean(threads(32), &body.replace('$', "").replace('@', restore));
    let found = fault(threads(32), &body.replace('$', restore).replace('@', ""));
    assert!(matches!(found.kind, FaultKind::FreedStack { .. }), "{found}");
    assert!(found.to_string().contains("9.7.17.2"), "{found}");
    // allocated again, and not written again
    let again = body.replace('$', "stackrestore.u64 %d0; alloca.u64 %d1, 64;").replace('@', "");
    assert!(matches!(fault(threads(1), &again).kind, FaultKind::Uninitialised { space: "local", .. }));
}

/// The report of an undefined register: name, and where its value comes from.
#[track_caller]
fn undefined(launch: Launch, body: &str) -> (String, String, String) {
    let fault = fault(launch, body);
    match &fault.kind {
        FaultKind::UndefinedRegister { register, from, what, .. } => (register.clone(), from.clone(), what.clone()),
        _ => panic!("{body}\n{fault}"),
    }
}

#[test]
fn registers_that_nobody_has_written() {
    let report = |register: &str, from: &str, what: &str| (register.into(), from.into(), what.into());
    let stored = "stored to global memory";
    assert_eq!(undefined(threads(1), "st.global.u32 [%b], %r9;"), report("%r9", "%r9", stored));
    // through a sum, in some lanes, on some paths
    let sum = "setp.lt.u32 %p, %t, 31; @%p mov.u32 %r9, 1; add.u32 %r8, %r9, 1; mad.wide.u32 %d0, %t, 4, %b; st.global.u32 [%d0], %r8;";
    clean(threads(31), sum);
    assert_eq!(undefined(threads(32), sum), report("%r8", "%r9", stored));
    let path = "setp.eq.u32 %p, %t, 0; @%p bra go; mov.u32 %r9, 1;\n go: setp.eq.u32 %q, %r9, 1; @%q bra on; st.global.u32 [%b], %t;\n on:";
    let found = fault(threads(2), path);
    assert!(
        matches!(&found.kind, FaultKind::UndefinedRegister { register, from, .. } if register == "%q" && from == "%r9"),
        "{found}"
    );
    assert!(found.to_string().contains("the predicate of the branch at"), "{found}");
    clean(threads(2), &path.replace("@%p bra go; mov.u32 %r9, 1;", "mov.u32 %r9, 1; @%p bra go;"));
    assert_eq!(undefined(threads(1), "ld.global.u32 %r2, [%d7];"), report("%d7", "%d7", "used as an address"));
    assert_eq!(undefined(threads(32), "bar.sync %r9;"), report("%r9", "%r9", "used as an operand of a barrier"));
    // an accumulator without its zero
    let sums = "mov.u32 %r2, 0;\n next: add.u32 %r9, %r9, %r2; add.u32 %r2, %r2, 1; setp.lt.u32 %p, %r2, 9; @%p bra next;\n\
        st.global.u32 [%b], %r9;";
    assert_eq!(undefined(threads(1), sums), report("%r9", "%r9", stored));
    clean(threads(1), &sums.replace("mov.u32 %r2, 0;", "mov.u32 %r2, 0; mov.u32 %r9, 0;"));
}

#[test]
fn undefined_registers_that_do_not_matter() {
    // a copy that nobody uses, the other side of a choice, bits that are masked, a zero, padding of a vector
    clean(threads(1), "mov.u32 %r2, %r9; add.u32 %r2, %r2, 1; st.global.u32 [%b], %t;");
    clean(threads(1), "setp.lt.u32 %p, %t, 32; selp.u32 %r2, %t, %r9, %p; st.global.u32 [%b], %r2;");
    clean(
        threads(1),
        "and.b32 %r2, %r9, 1; xor.b32 %r3, %r8, %r8; sub.u32 %r4, %r7, %r7; st.global.v2.u32 [%b], {%r3, %r4};",
    );
    clean(threads(1), "st.global.v2.u32 [%b], {%t, %r9};");
    clean(threads(1), "mov.b64 %d0, {%t, %r9}; st.global.u64 [%b], %d0;");
    // written under a guard, and read under the same
    let guarded = "setp.eq.u32 %p, %t, 1; @%p mov.u32 %r9, 1; @%p st.global.u32 [%b], %r9;";
    clean(threads(32), guarded);
    // in a loop, after the first iteration
    let late = "mov.u32 %r2, 0;\n next: setp.eq.u32 %p, %r2, 0; @%p bra first; st.global.u32 [%b], %r9;\n\
        first: mov.u32 %r9, %r2; add.u32 %r2, %r2, 1; setp.lt.u32 %p, %r2, 3; @%p bra next;";
    clean(threads(1), late);
}

/// Initialises `bar` and `other` for one arrival.
const OBJECTS: &str = "setp.eq.u32 %p, %t, 0; @%p mbarrier.init.shared.b64 [bar], 1; @%p mbarrier.init.shared.b64 [other], 1; bar.sync 0;\n";

/// Waits for a phase of an object.
fn wait(label: &str, object: &str, parity: u32) -> String {
    format!("{label}: mbarrier.try_wait.parity.shared.b64 %q, [{object}], {parity}; @!%q bra {label};\n")
}

#[test]
fn a_wait_two_phases_late() {
    // lane 0 produces three phases, lane 32 wants to see each
    let arrive = "mbarrier.arrive.shared.b64 _, [bar];\n";
    let consumer = |between: &str| {
        let all = [0, 1, 0].iter().enumerate().map(|(i, parity)| wait(&format!("c{i}"), "bar", *parity) + between);
        all.collect::<String>()
    };
    let kernel = |producer: String, consumer: String| {
        format!(
            "{OBJECTS} @!%p bra others;\n{producer} bra done;\n\
             others: setp.ne.u32 %p, %t, 32; @%p bra done;\n{consumer} done:"
        )
    };
    let found = fault(threads(33), &kernel(arrive.repeat(3), consumer("")));
    assert!(matches!(&found.kind, FaultKind::MbarrierLateWait { .. }), "{found}");
    let report = found.to_string();
    assert!(
        report.contains("a wait for phase 0 of mbarrier ")
            && report.contains("(`bar`), counted from 0")
            && report.contains("3 phases are complete"),
        "{report}"
    );
    // the producer waits for an answer
    let answers =
        [0, 1, 0].iter().enumerate().map(|(i, parity)| format!("{arrive}{}", wait(&format!("p{i}"), "other", *parity)));
    clean(threads(33), &kernel(answers.collect(), consumer("mbarrier.arrive.shared.b64 _, [other];\n")));
    // the consumer knows of two phases by a barrier, and means the third
    let third = format!("{OBJECTS} @%p {arrive} @%p {arrive} bar.sync 0;\n @%p {arrive} {}", wait("c", "bar", 0));
    clean(threads(64), &third);
    // one phase: it may be complete before the wait
    clean(threads(64), &format!("{OBJECTS} @%p {arrive} {}", wait("c", "bar", 0)));
}

/// A thread knows that a phase is complete because it has arrived itself, and waits for it when the next one is complete too.
#[test]
fn a_wait_two_phases_late_of_a_thread_that_has_arrived() {
    let arrive = |object: &str| format!("mbarrier.arrive.shared.b64 _, [{object}];\n");
    let kernel = |first: &str, second: &str| {
        format!(
            "setp.eq.u32 %p, %t, 0; @%p st.shared.u32 [tile], 0; {OBJECTS} @!%p bra others;\n\
             {} {first} bra done;\n\
             others: setp.ne.u32 %p, %t, 32; @%p bra done;\n{} {second} done:",
            arrive("bar"),
            wait("c", "bar", 0)
        )
    };
    let (own, next) = (wait("p", "bar", 0), arrive("bar"));
    // the second thread does not know whether the first one has waited, and the first one not what has happened since
    let poll = "poll: ld.relaxed.cta.shared.u32 %r2, [tile]; setp.eq.u32 %p, %r2, 0; @%p bra poll;\n";
    let late = kernel(&format!("{poll} {own}"), &format!("{next} st.relaxed.cta.shared.u32 [tile], 1;"));
    let found = fault(threads(64), &late);
    assert!(matches!(found.kind, FaultKind::MbarrierLateWait { wanted: 0, complete: 2, .. }), "{found}");
    // it waits until the first one has
    clean(threads(64), &kernel(&format!("{own} {}", arrive("other")), &format!("{} {next}", wait("o", "other", 0))));
    // a wait that is repeated is in time until the next phase is complete
    let twice = format!("{own} {} {}", wait("again", "bar", 0), arrive("other"));
    clean(threads(64), &kernel(&twice, &format!("{} {next}", wait("o", "other", 0))));
}

#[test]
fn aligned_barriers_of_one_warp_at_two_statements() {
    let apart = "setp.lt.u32 %p, %t, 16; @%p bra one; $sync 0; bra done;\n one: $sync 0;\n done:";
    let found = fault(threads(32), &apart.replace('$', "bar."));
    assert!(matches!(&found.kind, FaultKind::Members { what } if what.contains("the one at PTX line")), "{found}");
    clean(threads(32), &apart.replace('$', "barrier."));
    // whole warps may be apart, and the rest of one whose other lanes have exited
    clean(threads(64), &apart.replace('$', "bar.").replace("%t, 16", "%t, 32"));
    clean(threads(64), "setp.lt.u32 %p, %t, 16; @%p exit; bar.sync 0; bar.sync 0;");
    let cluster = apart.replace("$sync 0", "barrier.cluster.arrive$; barrier.cluster.wait$");
    let found = fault(threads(32), &cluster.replace('$', ".aligned"));
    assert!(matches!(found.kind, FaultKind::Members { .. }), "{found}");
    clean(threads(32), &cluster.replace('$', ""));
}

#[test]
fn lanes_that_name_different_members() {
    let shuffle = "setp.lt.u32 %p, %l, 16; selp.u32 %r5, $, %p; shfl.sync.idx.b32 %r2, %t, %l, 0x1f, %r5; st.shared.u32 [%r1], %r2;";
    let found = fault(threads(32), &shuffle.replace('$', "0xffffffff, 0xffff0000"));
    assert!(matches!(&found.kind, FaultKind::Members { what } if what.contains("lane 16, which it names")), "{found}");
    let vote =
        "setp.lt.u32 %p, %l, 16; selp.u32 %r5, $, %p; vote.sync.ballot.b32 %r2, %p, %r5; st.shared.u32 [%r1], %r2;";
    clean(threads(32), &vote.replace('$', "0xffff, 0xffff0000"));
    assert!(matches!(fault(threads(32), &vote.replace('$', "0x1ffff, 0xffff0000")).kind, FaultKind::Members { .. }));
    clean(threads(32), &vote.replace('$', "0xffffffff, 0xffffffff"));
}

#[test]
fn tensor_memory_that_nobody_has_written() {
    let text = |body: &str| {
        format!(
            ".version 8.6\n.target sm_100a\n.address_size 64\n.visible .entry k()\n{{\n.reg .b32 %t, %a, %v; .shared .b32 at;\n\
             tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [at], 32;\n\
             bar.warp.sync -1; ld.shared.u32 %t, [at]; mov.u32 %v, 7;\n{body}\n\
             tcgen05.dealloc.cta_group::1.sync.aligned.b32 %t, 32;\n\
             tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned; ret;\n}}\n"
        )
    };
    let run = |body: &str| {
        let module = ptx_dsl::load::Module::parse(&text(body)).unwrap();
        match module.kernel("k").unwrap().launch_raw(&Host::checked(), threads(32), &mut []) {
            Ok(_) => None,
            Err(Error::Fault(fault)) => Some(fault.kind),
            Err(other) => panic!("{other}"),
        }
    };
    let load = "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%a}, [%t+3]; tcgen05.wait::ld.sync.aligned;";
    let store = "tcgen05.st.sync.aligned.32x32b.x1.b32 [%t+COLUMN], {%v}; tcgen05.wait::st.sync.aligned;";
    assert_eq!(run(&format!("{}{load}", store.replace("COLUMN", "3"))), None);
    let unwritten = |body: &str| match run(body) {
        Some(FaultKind::TensorUnwritten(read)) => (read.access, read.operand, read.lanes, read.columns),
        other => panic!("{other:?}"),
    };
    assert_eq!(unwritten(load), ("load", "", 0..32, 3..4));
    assert_eq!(unwritten(&format!("{}{load}", store.replace("COLUMN", "4"))), ("load", "", 0..32, 3..4));
    // allocated again
    let again = "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %t, 32; bar.warp.sync -1;\n\
        tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [at], 32; bar.warp.sync -1; ld.shared.u32 %t, [at];";
    let twice = format!("{}bar.warp.sync -1; {again}{load}", store.replace("COLUMN", "3"));
    assert_eq!(unwritten(&twice), ("load", "", 0..32, 3..4));
    // A in Tensor Memory, and the D of a first product that adds to it; the matrix in shared memory is B
    let product = |adds: u32| {
        format!(
            ".reg .pred %p, %all; .reg .b32 %b, %i, %l; .reg .b64 %d; .shared .align 128 .b8 b[256]; .shared .align 8 .b64 done;\n\
             mov.u32 %l, %tid.x; mov.u32 %b, b; mad.lo.u32 %a, %l, 8, %b; st.shared.v2.u32 [%a], {{0, 0}};\n\
             setp.eq.u32 %p, %l, 0; @%p mbarrier.init.shared::cta.b64 [done], 1;\n\
             fence.proxy.async.shared::cta; bar.warp.sync -1;\n\
             @!%p bra wait;\n\
             shr.u32 %b, %b, 4; cvt.u64.u32 %d, %b; or.b64 %d, %d, 0x0000400800080000;\n\
             mov.u32 %i, {adds}; setp.ne.u32 %all, %i, 0; mov.u32 %i, 0x08020010; add.u32 %a, %t, 16;\n\
             tcgen05.mma.cta_group::1.kind::f16 [%t], [%a], %d, %i, %all;\n\
             tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [done];\n\
             wait: mbarrier.try_wait.parity.shared::cta.b64 %p, [done], 0; @!%p bra wait; bar.warp.sync -1;"
        )
    };
    assert_eq!(unwritten(&product(1)), ("read by `tcgen05.mma`", "D", 0..128, 0..8));
    assert_eq!(unwritten(&product(0)), ("read by `tcgen05.mma`", "A", 0..128, 16..24));
}

#[test]
fn registers_of_products_that_change_without_a_fence() {
    let mma = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, {%r4, %r5, %r6, %r7}, %d1, 1, 1, 1, 0;\n\
        wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n";
    let two = |between: &str| {
        format!(
            ".reg .f32 %f<4>; mov.f32 %f0, 0f00000000; mov.f32 %f1, %f0; mov.f32 %f2, %f0; mov.f32 %f3, %f0;\n\
             st.shared.u32 [%r1], 0; fence.proxy.async.shared::cta; bar.sync 0;\n\
             and.b32 %r4, %t, 1; add.u32 %r5, %r4, 1; add.u32 %r6, %r4, 2; add.u32 %r7, %r4, 3;\n\
             // 16 rows of 8: the second eight rows 128 bytes further on\n\
             cvt.u64.u32 %d1, %r0; shr.u64 %d1, %d1, 4; or.b64 %d1, %d1, 0x0000000800080000;\n\
             wgmma.fence.sync.aligned;\n{mma}{between}\n{mma}"
        )
    };
    let fence = "wgmma.fence.sync.aligned;";
    clean(threads(128), &two(""));
    for change in ["add.u32 %r5, %r5, 1;", "add.f32 %f2, %f2, %f2;", "add.u32 %r8, %r5, 1; mov.b32 %r5, %r8;"] {
        clean(threads(128), &two(&format!("{change} {fence}")));
        let found = fault(threads(128), &two(change));
        assert!(matches!(found.kind, FaultKind::UnfencedRegister { .. }), "{found}");
        assert_eq!(found.kind.section(), "9.7.15.7.1");
    }
    // the fence is too early for the sum, and a copy of an old value, or of a constant, needs none
    let early = fault(threads(128), &two(&format!("{fence} add.u32 %r5, %r5, 1;"))).to_string();
    let expected =
        "`%r5` is read by `wgmma.mma_async`, but no `wgmma.fence` comes between it and `add`, which writes it";
    assert!(early.contains(expected), "{early}");
    clean(threads(128), &two("mov.b32 %r5, 0; mov.b32 %r6, %r7;"));
}

#[test]
fn registers_of_products_in_flight() {
    let product = |touch: &str, wait: &str| {
        format!(
            ".reg .f32 %f<4>; mov.f32 %f0, 0f00000000; mov.f32 %f1, %f0; mov.f32 %f2, %f0; mov.f32 %f3, %f0;\n\
             st.shared.u32 [%r1], 0; fence.proxy.async.shared::cta; bar.sync 0; mov.b32 %r4, 0;\n\
             cvt.u64.u32 %d1, %r0; shr.u64 %d1, %d1, 4; or.b64 %d1, %d1, 0x0000000800080000;\n\
             wgmma.fence.sync.aligned;\n\
             wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {{%f0, %f1, %f2, %f3}}, {{%r4, %r4, %r4, %r4}}, %d1, 1, 1, 1, 0;\n\
             wgmma.commit_group.sync.aligned; {touch}\n wgmma.wait_group.sync.aligned {wait};\n\
             st.shared.f32 [%r1+512], %f0;\n wgmma.wait_group.sync.aligned 0;"
        )
    };
    clean(threads(128), &product("", "0"));
    // both are found in one run, each with the product
    let found = fault(threads(128), &product("add.f32 %f2, %f2, %f2;", "1"));
    assert!(matches!(found.kind, FaultKind::HeldRegister { .. }), "{found}");
    assert_eq!((found.kind.section(), found.others.len()), ("9.7.15.7.3", 1), "{found}");
    assert!(found.to_string().contains("belongs to `wgmma.mma_async"), "{found}");
}
