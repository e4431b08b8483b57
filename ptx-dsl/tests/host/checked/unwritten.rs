//! Reads of memory that nothing has written, on the checked host: they are reported where the value matters, and only there.

use super::races::{clean, run, threads};
use ptx_dsl::fault::FaultKind;
use ptx_dsl::prelude::*;
use ptx_dsl::{Error, Fault};

/// The statement that has read what nobody has written, the address, and what the value is used as.
#[track_caller]
fn unwritten(threads: Launch, body: &str) -> (String, u64, String) {
    let fault = match run(threads, body) {
        Err(Error::Fault(fault)) => fault,
        other => panic!("{body}\nno fault: {other:?}"),
    };
    let Fault { kind: FaultKind::Uninitialised { addr, .. }, at: Some(at), used: Some(used), .. } = *fault else {
        panic!("{body}\n{fault}")
    };
    (at.text, addr, used)
}

/// Memory of a thread with `%d0` at its start.
const LOCAL: &str = ".local .align 8 .b8 s[64]; .reg .b16 %h<4>; mov.u64 %d0, s;\n";

#[test]
fn values_that_matter() {
    let load = "ld.local.u32 %r2, [%d0+8];";
    for (used, what) in [
        ("st.global.u32 [%b], %r2;", "`%r2` is stored to global memory by `st.global.u32 [%b], %r2;`"),
        ("st.u32 [%b], %r2;", "`%r2` is stored to global memory by `st.u32 [%b], %r2;`"),
        ("add.u32 %r3, %r2, 1; xor.b32 %r4, %r3, 5; st.global.u32 [%b], %r4;", "`%r4` is stored"),
        ("mad.wide.u32 %d1, %r2, 4, %b; st.global.u32 [%d1], %t;", "`%d1` is used as an address by `st.global.u32"),
        ("setp.eq.u32 %p, %r2, 0; @%p st.global.u32 [%b], %t;", "`%p` is used as the guard of an instruction by"),
        (
            "setp.eq.u32 %p, %r2, 0; @%p bra on; add.u32 %r3, %t, 1;\n on:",
            "`%p` is used as the predicate of the branch",
        ),
        ("bar.sync %r2;", "`%r2` is used as an operand of a barrier by `bar.sync %r2;`"),
    ] {
        let (statement, addr, found) = unwritten(threads(32), &format!("{LOCAL}{load}{used}"));
        assert_eq!((statement.as_str(), addr & 0xffff), (load, 8), "{used}");
        assert!(found.starts_with(what), "{found}");
    }
    // of shared memory, in the lane that reads it
    let shared = "setp.ne.u32 %p, %l, 7; @%p st.shared.u32 [%r1], %t; ld.shared.u32 %r2, [%r1]; mad.wide.u32 %d1, %t, 4, %b;\n\
        st.global.u32 [%d1], %r2;";
    let (_, addr, _) = unwritten(threads(32), shared);
    assert_eq!(addr & 0xffff, 28);
    clean(threads(7), shared);
    // a vector: the second element
    let vector = "st.local.u32 [%d0], %t; ld.local.v2.u32 {%r2, %r3}, [%d0]; st.global.u32 [%b], %r";
    clean(threads(1), &format!("{LOCAL}{vector}2;"));
    assert_eq!(unwritten(threads(1), &format!("{LOCAL}{vector}3;")).1 & 0xffff, 4);
}

/// A report shows the load, the thread, the use and a help.
#[test]
fn the_report() {
    let Err(Error::Fault(fault)) =
        run(threads(1), &format!("{LOCAL}ld.local.u32 %r2, [%d0]; st.global.u32 [%b], %r2;"))
    else {
        panic!()
    };
    let report = fault.to_string();
    let lines: Vec<_> = report.lines().map(str::trim).collect();
    assert!(lines[0].starts_with("read of byte 0 of `s` (local address 0x"), "{report}");
    assert!(lines[1].ends_with(": `ld.local.u32 %r2, [%d0];`"), "{report}");
    assert!(lines.iter().any(|line| line.starts_with("= `%r2` is stored to global memory by `st.global")));
    assert!(!report.contains("registers:"), "those of the store are not those of the load: {report}");
}

/// `nvcc -G` copies padding, empty bases and bit-fields that are only partly set.
#[test]
fn values_that_do_not_matter() {
    // a structure of a byte, a byte of padding and a number, copied twice
    let copy = "st.local.u8 [%d0], 1; st.local.u16 [%d0+2], 7; ld.local.u8 %h0, [%d0]; ld.local.u8 %h1, [%d0+1]; ld.local.u16 %h2, [%d0+2];\n\
        st.local.u8 [%d0+16], %h0; st.local.u8 [%d0+17], %h1; st.local.u16 [%d0+18], %h2;\n\
        ld.local.u8 %h0, [%d0+16]; ld.local.u8 %h1, [%d0+17]; ld.local.u16 %h2, [%d0+18]; st.global.u8 [%b+1], %h1;\n\
        cvt.u32.u16 %r2, $; st.global.u32 [%b+4], %r2;";
    clean(threads(1), &format!("{LOCAL}{}", copy.replace('$', "%h2")));
    let (statement, addr, _) = unwritten(threads(1), &format!("{LOCAL}{}", copy.replace('$', "%h1")));
    assert_eq!((statement.as_str(), addr & 0xffff), ("ld.local.u8 %h1, [%d0+17];", 17));
    // a structure that is partly written, in one word
    clean(threads(1), &format!("{LOCAL}st.local.u32 [%d0], 1; ld.local.u64 %d1, [%d0]; st.global.u64 [%b], %d1;"));
    // bit-fields
    let bits = "ld.local.u32 %r2, [%d0]; and.b32 %r2, %r2, -8; or.b32 %r2, %r2, 3; st.local.u32 [%d0], %r2;\n\
        ld.local.u32 %r3, [%d0]; bfe.u32 %r3, %r3, 0, 3; st.global.u32 [%b], %r3;";
    clean(threads(1), &format!("{LOCAL}{bits}"));
    // beyond the end of a list: compared, and not chosen
    let end = "ld.shared.u32 %r2, [tile]; setp.lt.u32 %p, %r2, %t; setp.gt.u32 %q, %t, 64; and.pred %p, %p, %q; selp.b32 %r3, %r2, %t, %p;\n\
        st.global.u32 [%b], %r3;";
    clean(threads(1), end);
    // a value that is exchanged, and not used
    clean(threads(1), "atom.shared.exch.b32 %r2, [tile], 1; ld.shared.u32 %r3, [tile]; st.global.u32 [%b], %r3;");
    let Err(Error::Fault(fault)) = run(threads(1), "atom.shared.add.u32 %r2, [tile], 1;") else { panic!() };
    assert!(matches!(fault.kind, FaultKind::Uninitialised { space: "shared", .. }), "{fault}");
}

/// A loop that has run before, where nothing was undefined; and registers that are written again.
#[test]
fn in_a_loop() {
    let body = "mov.u32 %r2, 0; mov.u32 %r5, 0;\n\
        next: mad.lo.u32 %r3, %r2, 4, %r0; setp.lt.u32 %p, %r2, $; @%p st.shared.u32 [%r3], %r2; ld.shared.u32 %r4, [%r3];\n\
        add.u32 %r5, %r5, %r4; add.u32 %r2, %r2, 1; setp.lt.u32 %p, %r2, 20; @%p bra next; & st.global.u32 [%b], %r5;";
    let body = |written: &str, after: &str| body.replace('$', written).replace('&', after);
    clean(threads(1), &body("20", ""));
    let (statement, addr, used) = unwritten(threads(1), &body("19", ""));
    assert_eq!((statement.as_str(), addr & 0xffff), ("ld.shared.u32 %r4, [%r3];", 76));
    assert!(used.starts_with("`%r5` is stored to global memory"), "{used}");
    clean(threads(1), &body("19", "mov.u32 %r5, 1;"));
}

/// The register that nobody has written, the statement that has stored it, and the whole report.
#[track_caller]
fn stored(threads: Launch, body: &str) -> (String, String, String) {
    match run(threads, body) {
        Err(Error::Fault(fault)) => match &fault.kind {
            FaultKind::UndefinedRegister { from, read, stored: true, .. } => {
                (from.clone(), read.clone(), fault.to_string())
            }
            _ => panic!("{body}\n{fault}"),
        },
        other => panic!("{body}\nno fault: {other:?}"),
    }
}

/// An undefined value that another thread loads from shared memory.
#[test]
fn values_in_shared_memory() {
    let body = "st.shared.u32 [%r1], %r9; & bar.sync 0; xor.b32 %r2, %t, 1; mad.lo.u32 %r2, %r2, 4, %r0; ld.shared.u32 %r3, [%r2];\n\
        add.u32 %r3, %r3, 1; mad.wide.u32 %d0, %t, 4, %b; $";
    let body = |between: &str, used: &str| body.replace('&', between).replace('$', used);
    let store = "st.global.u32 [%d0], %r3;";
    let (from, read, report) = stored(threads(64), &body("", store));
    assert_eq!(from, "%r9");
    assert!(read.starts_with("`st.shared.u32 [%r1], %r9;`"), "{read}");
    assert!(report.contains(
        "`%r3` is stored to global memory, but it comes from `%r9`, which the thread that stored it has not"
    ));
    // nobody uses it, or something else has been stored meanwhile: by a thread, by an atomic operation, by a copy
    clean(threads(64), &body("", "st.global.u32 [%d0], %t;"));
    clean(threads(64), &body("st.shared.u32 [%r1], %t;", store));
    clean(threads(64), &body("atom.shared.exch.b32 %r4, [%r1], 1;", store));
    clean(
        threads(64),
        &body("mad.wide.u32 %d1, %t, 4, %a; cp.async.ca.shared.global [%r1], [%d1], 4; cp.async.wait_all;", store),
    );
    // the value of one thread, which one other thread uses
    let one = body(
        "setp.ne.u32 %p, %t, 7; @%p st.shared.u32 [%r1], %t;",
        "setp.eq.u32 %p, %t, &; @%p st.global.u32 [%d0], %r3;",
    );
    clean(threads(64), &one.replace('&', "7"));
    assert_eq!(stored(threads(64), &one.replace('&', "6")).0, "%r9");
    // an address
    assert_eq!(stored(threads(64), &body("", "mad.wide.u32 %d0, %r3, 4, %b; ld.global.u32 %r4, [%d0];")).0, "%r9");
    // a sum over shared memory, of which one element is the result
    let tree = "setp.lt.u32 %p, %t, $; @%p mov.u32 %r9, %t; st.shared.u32 [%r1], %r9; mov.u32 %r2, 16;\n\
        next: bar.sync 0; mad.lo.u32 %r3, %r2, 4, %r1; setp.lt.u32 %p, %t, %r2; @%p ld.shared.u32 %r4, [%r3]; @%p ld.shared.u32 %r5, [%r1];\n\
        @%p add.u32 %r5, %r5, %r4; @%p st.shared.u32 [%r1], %r5; shr.u32 %r2, %r2, 1; setp.ne.u32 %p, %r2, 0; @%p bra next;\n\
        setp.eq.u32 %p, %t, 0; @%p st.global.u32 [%b], %r5;";
    clean(threads(64), &tree.replace('$', "32"));
    assert_eq!(stored(threads(64), &tree.replace('$', "31")).0, "%r9");
}

/// A load of memory that nothing has written, whose value goes through shared memory.
#[test]
fn unwritten_memory_through_shared_memory() {
    let body = "ld.local.u32 %r2, [%d0+8]; st.shared.u32 [%r1], %r2; bar.sync 0; ld.shared.u32 %r3, [tile]; st.global.u32 [%b], %r3;";
    let (statement, addr, used) = unwritten(threads(32), &format!("{LOCAL}{body}"));
    assert_eq!((statement.as_str(), addr & 0xffff), ("ld.local.u32 %r2, [%d0+8];", 8));
    assert!(
        used.contains("`%r3` is stored to global memory") && used.contains("where `st.shared.u32 [%r1], %r2;`"),
        "{used}"
    );
}

/// An element of a vector in global memory may be padding, until it is used.
#[test]
fn a_vector_in_global_memory() {
    let body = "mad.wide.u32 %d0, %t, 8, %a; st.global.v2.u32 [%d0], {%t, %r9}; bar.sync 0; ld.global.v2.u32 {%r2, %r3}, [%a+8];\n\
        mad.wide.u32 %d1, %t, 4, %b; st.global.u32 [%d1], ";
    clean(threads(32), &format!("{body}%r2;"));
    let (from, read, _) = stored(threads(32), &format!("{body}%r3;"));
    assert_eq!(from, "%r9");
    assert!(read.starts_with("`st.global.v2.u32"), "{read}");
}

/// Words of matrices that `stmatrix` stores and `ldmatrix` loads.
#[test]
fn matrices_in_shared_memory() {
    let body = |load: &str, lane: u32| {
        format!(
            "setp.ne.u32 %p, %l, 5; @%p mov.b32 %r9, %t; and.b32 %r2, %l, 7; mad.lo.u32 %r2, %r2, 16, %r0;\n\
             stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r2], {{%r9}}; bar.warp.sync -1;\n\
             ldmatrix.sync.aligned.m8n8.x1{load}.shared.b16 {{%r3}}, [%r2]; setp.eq.u32 %p, %l, {lane};\n\
             mad.wide.u32 %d0, %t, 4, %b; @%p st.global.u32 [%d0], %r3;"
        )
    };
    clean(threads(32), &body("", 4));
    let (from, read, _) = stored(threads(32), &body("", 5));
    assert!(from == "%r9" && read.starts_with("`stmatrix"), "{read}");
    // in each word of the transposed matrix the other element is written
    (0..32).for_each(|lane| clean(threads(32), &body(".trans", lane)));
    // with two rows, the columns 2 and 3 of the transposed matrix: lanes 8 and 12
    let rows = |lane: u32| {
        body(".trans", lane).replace("setp.ne.u32 %p, %l, 5;", "and.b32 %r4, %l, 0x1b; setp.ne.u32 %p, %r4, 1;")
    };
    clean(threads(32), &rows(4));
    assert_eq!(stored(threads(32), &rows(8)).0, "%r9");
    assert_eq!(stored(threads(32), &rows(12)).0, "%r9");
}

/// A copy to global memory of what is undefined as a whole.
#[test]
fn copies_of_shared_memory() {
    let body = |from: &str| {
        format!(
            "setp.ge.u32 %p, %t, {from}; @%p mov.u32 %r9, 1; st.shared.u32 [%r1], %r9; fence.proxy.async.shared::cta; bar.sync 0;\n\
             setp.eq.u32 %p, %t, 0; @%p cp.async.bulk.global.shared::cta.bulk_group [%b], [tile], 256;\n\
             cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;"
        )
    };
    // a part may be padding
    clean(threads(64), &body("63"));
    let (from, read, report) = stored(threads(64), &body("64"));
    assert!(from == "%r9" && read.starts_with("`st.shared"), "{read}");
    assert!(
        report.contains("a value in shared memory is copied to global memory, but it comes from `%r9`"),
        "{report}"
    );
    assert!(report.contains("`@%p cp.async.bulk.global"), "{report}");
}
