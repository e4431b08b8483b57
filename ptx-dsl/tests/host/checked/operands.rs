//! Matrices in shared memory of which not all elements have a value: the sums that depend on them are undefined, and a finding where they
//! matter. Padding is not.

use super::races::{clean, permissive, run, threads};
use ptx_dsl::fault::FaultKind;
use ptx_dsl::prelude::*;
use ptx_dsl::{Error, Fault};

fn fault(body: &str) -> Box<Fault> {
    match run(threads(128), body) {
        Err(Error::Fault(fault)) => fault,
        other => panic!("{body}\nno fault: {other:?}"),
    }
}

/// The B of a `wgmma` has a column for four of the threads 0 to 31, which store its first eight elements; threads 32 to 63 store the others.
fn columns(stored: &str, used: &str) -> String {
    format!(
        ".reg .f32 %f<4>; mov.b32 %r4, 0; mov.b32 %r5, 0; mov.b32 %r6, 0; mov.b32 %r7, 0;\n\
         setp.lt.u32 %q, %t, 64; {stored} fence.proxy.async.shared::cta; bar.sync 0;\n\
         shr.u32 %r2, %r0, 4; cvt.u64.u32 %d1, %r2; or.b64 %d1, %d1, 0x0000001000080000;\n\
         wgmma.fence.sync.aligned;\n\
         wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {{%f0, %f1, %f2, %f3}}, {{%r4, %r5, %r6, %r7}}, %d1, 0, 1, 1, 0;\n\
         wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {{%f0, %f1, %f2, %f3}}, {{%r4, %r5, %r6, %r7}}, %d1, 1, 1, 1, 0;\n\
         wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n\
         mad.wide.u32 %d0, %t, 4, %b; @%q st.global.f32 [%d0], {used};"
    )
}

#[test]
fn columns_of_wgmma() {
    let all = "@%q st.shared.u32 [%r1], 0;";
    clean(threads(128), &columns(all, "%f1"));
    // columns 6 and 7 are in lanes 3, 7, ..: the sums of column 7 in registers 1 and 3
    let but_the_last = "and.b32 %r8, %t, 28; setp.lt.u32 %p, %r8, 28; and.pred %p, %p, %q; @%p st.shared.u32 [%r1], 0;";
    clean(threads(128), &columns(but_the_last, "%f0"));
    clean(threads(128), &columns(but_the_last, "%f2"));
    let found = fault(&columns(but_the_last, "%f3"));
    let FaultKind::Uninitialised { space: "shared", addr } = found.kind else { panic!("{found}") };
    assert_eq!((addr & 0xffff, found.thread.unwrap().lane), (112, 3), "{found}");
    assert!(found.at.as_ref().unwrap().text.starts_with("wgmma.mma_async"), "{found}");
    let used = found.used.clone().unwrap();
    assert!(used.starts_with("`%f3` is stored to global memory by") && !used.contains("comes from memory"), "{used}");
    // only lanes that have other columns store them
    clean(
        threads(128),
        &columns(but_the_last, "%f3")
            .replace("@%q st.global", "and.b32 %r8, %t, 3; setp.lt.u32 %p, %r8, 3; and.pred %p, %p, %q; @%p st.global"),
    );
    // values that threads have stored, and that are undefined
    let copied = "setp.lt.u32 %p, %t, 28; @%p mov.u32 %r9, 0; setp.gt.u32 %p, %t, 31; @%p mov.u32 %r9, 0; @%q st.shared.u32 [%r1], %r9;";
    clean(threads(128), &columns(copied, "%f0"));
    let found = fault(&columns(copied, "%f1"));
    let FaultKind::UndefinedRegister { from, read, stored: true, .. } = &found.kind else { panic!("{found}") };
    assert!(from == "%r9" && read.starts_with("`@%q st.shared.u32 [%r1], %r9;`"), "{found}");
    // half of an element
    let byte = format!("{all} setp.eq.u32 %p, %t, 31; @%p st.shared.u8 [%r1], %r9;");
    clean(threads(128), &columns(&byte, "%f1"));
}

/// Rows of A in shared memory: warp `w` has rows 16 `w` and up.
#[test]
fn rows_of_wgmma() {
    let body = |rows: u32, stored: u32| {
        format!(
            ".reg .f32 %f<4>; .shared .align 128 .b8 big[4096];\n\
             setp.lt.u32 %q, %t, 64; @%q st.shared.u32 [%r1], 0;\n\
             mov.u32 %r3, big; shr.u32 %r4, %t, 1; shr.u32 %r5, %r4, 3; and.b32 %r6, %r4, 7; and.b32 %r7, %t, 1;\n\
             mad.lo.u32 %r8, %r5, 256, %r3; mad.lo.u32 %r8, %r6, 16, %r8; mad.lo.u32 %r8, %r7, 128, %r8;\n\
             setp.lt.u32 %p, %r4, {rows}; @%p st.shared.v4.u32 [%r8], {{0, 0, 0, 0}}; fence.proxy.async.shared::cta; bar.sync 0;\n\
             shr.u32 %r2, %r0, 4; cvt.u64.u32 %d1, %r2; or.b64 %d1, %d1, 0x0000001000080000;\n\
             shr.u32 %r2, %r3, 4; cvt.u64.u32 %d2, %r2; or.b64 %d2, %d2, 0x0000001000080000;\n\
             wgmma.fence.sync.aligned;\n\
             wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {{%f0, %f1, %f2, %f3}}, %d2, %d1, 0, 1, 1, 0, 0;\n\
             wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n\
             setp.lt.u32 %p, %t, {stored}; @%p st.global.f32 [%b], %f2;"
        )
    };
    clean(threads(128), &body(64, 128));
    // 24 rows: the last eight of warp 1 are padding, and register 2 has them
    clean(threads(128), &body(24, 32));
    assert!(matches!(fault(&body(24, 33)).kind, FaultKind::Uninitialised { .. }));
    clean(threads(128), &body(24, 64).replace("[%b], %f2", "[%b], %f0"));
    assert!(matches!(fault(&body(24, 65).replace("[%b], %f2", "[%b], %f0")).kind, FaultKind::Uninitialised { .. }));
}

/// Integers: what is multiplied with zero does not matter.
#[test]
fn integers_of_wgmma() {
    let body = |a: u32| {
        columns("setp.lt.u32 %q, %t, 32; @%q st.shared.u32 [%r1], 0; setp.lt.u32 %q, %t, 64;", "%f0")
            .replace("m64n8k16.f32.f16.f16", "m64n8k32.s32.s8.s8")
            .replace(", 1, 1, 0;", ";")
            .replace(".f32 %f<4>", ".b32 %f<4>")
            .replace("st.global.f32", "st.global.u32")
            // registers 2 and 3 of A are those of the second half of k
            .replace("mov.b32 %r6, 0;", &format!("mov.b32 %r6, {a};"))
    };
    clean(threads(128), &body(0));
    assert!(matches!(fault(&body(1)).kind, FaultKind::Uninitialised { .. }));
}

#[test]
fn atomic_operations_on_undefined_values() {
    let body = |op: &str, then: &str| format!("st.shared.u32 [%r1], %r9; {op} {then}");
    for op in
        ["atom.shared.add.u32 %r2, [%r1], 1;", "red.shared.max.u32 [%r1], 1;", "atom.shared.cas.b32 %r2, [%r1], 0, 1;"]
    {
        let found = fault(&body(op, ""));
        assert!(matches!(&found.kind, FaultKind::UndefinedRegister { what, .. } if what == "changed"), "{found}");
        assert!(found.to_string().contains("a value in shared memory is changed"), "{found}");
    }
    let exchange = "atom.shared.exch.b32 %r2, [%r1], 1;";
    clean(threads(128), &body(exchange, "ld.shared.u32 %r3, [%r1]; st.global.u32 [%b], %r3;"));
    let found = fault(&body(exchange, "st.global.u32 [%b], %r2;"));
    assert!(matches!(&found.kind, FaultKind::UndefinedRegister { from, .. } if from == "%r9"), "{found}");
}

/// A product in Tensor Memory: D is 128 rows of 8 columns. `stores`: how threads fill A, a row each, and B; `first`: the operations;
/// `used`: the threads that store column `column` of their row of D.
fn tcgen05(stores: &str, first: &str, (used, column): (u32, u32)) -> Result<(), Box<Fault>> {
    let text = format!(
        ".version 8.7\n.target sm_100a\n.address_size 64\n.visible .entry k(.param .u64 .ptr .global .align 4 out)\n{{\n\
         .reg .b32 %t, %l, %r<12>, %i, %taddr; .reg .b64 %o, %da, %db; .reg .pred %p, %q, %z;\n\
         .shared .align 128 .b8 a[4096]; .shared .align 128 .b8 b[256]; .shared .align 8 .b64 done; .shared .b32 at;\n\
         ld.param.u64 %o, [out]; mov.u32 %l, %tid.x; setp.lt.u32 %q, %l, 32; setp.eq.u32 %p, %l, 0; setp.ne.u32 %z, %l, %l;\n\
         @%q tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [at], 64;\n\
         @%p mbarrier.init.shared::cta.b64 [done], 1;\n\
         mov.u32 %r1, a; shr.u32 %r2, %l, 3; and.b32 %r3, %l, 7; mad.lo.u32 %r4, %r2, 128, %r1; mad.lo.u32 %r4, %r3, 16, %r4;\n\
         mov.u32 %r5, b; mad.lo.u32 %r6, %l, 16, %r5; {stores}\n\
         fence.proxy.async.shared::cta; bar.sync 0; ld.shared.u32 %taddr, [at];\n\
         shr.u32 %r7, %r1, 4; cvt.u64.u32 %da, %r7; or.b64 %da, %da, 0x0000400800800000;\n\
         shr.u32 %r7, %r5, 4; cvt.u64.u32 %db, %r7; or.b64 %db, %db, 0x0000401000080000; mov.u32 %i, 0x08020010;\n\
         @!%p bra wait; {first}\n\
         tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [done];\n\
         wait: mbarrier.try_wait.parity.shared::cta.b64 %z, [done], 0; @!%z bra wait; bar.warp.sync -1;\n\
         tcgen05.fence::after_thread_sync; shr.u32 %r8, %l, 5; shl.b32 %r8, %r8, 21; add.u32 %taddr, %taddr, %r8;\n\
         tcgen05.ld.sync.aligned.32x32b.x1.b32 {{%r9}}, [%taddr+{column}]; tcgen05.wait::ld.sync.aligned;\n\
         setp.lt.u32 %p, %l, {used}; @%p st.global.u32 [%o], %r9;\n\
         tcgen05.fence::before_thread_sync; bar.sync 0; sub.u32 %taddr, %taddr, %r8;\n\
         @%q tcgen05.dealloc.cta_group::1.sync.aligned.b32 %taddr, 64;\n\
         @%q tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned; ret;\n}}\n"
    );
    let module = permissive().parse(&text).unwrap();
    let mut a = [0u32; 4];
    match module.kernel("k").unwrap().launch_raw(&Host::checked(), threads(128), &mut [(&mut a[..]).into()]) {
        Ok(_) => Ok(()),
        Err(Error::Fault(fault)) => Err(fault),
        Err(other) => panic!("{other}"),
    }
}

/// Threads store these rows of A and columns of B.
fn stores(rows: u32, columns: u32) -> String {
    format!(
        "setp.lt.u32 %z, %l, {rows}; @%z st.shared.v4.u32 [%r4], {{0, 0, 0, 0}}; @%z st.shared.v4.u32 [%r4+2048], {{0, 0, 0, 0}};\n\
         setp.lt.u32 %z, %l, {columns}; @%z st.shared.v4.u32 [%r6], {{0, 0, 0, 0}}; @%z st.shared.v4.u32 [%r6+128], {{0, 0, 0, 0}};"
    )
}

/// The address in shared memory that nothing has written, and the statement that has read it.
#[track_caller]
fn unwritten(found: Result<(), Box<Fault>>) -> (u64, String) {
    let fault = found.expect_err("no fault");
    match fault.kind {
        FaultKind::Uninitialised { space: "shared", addr } => (addr, fault.at.as_ref().unwrap().text.clone()),
        _ => panic!("{fault}"),
    }
}

const MMA: &str = "setp.ne.u32 %z, %l, %l; tcgen05.mma.cta_group::1.kind::f16 [%taddr], %da, %db, %i, %z;";

#[test]
fn rows_and_columns_of_tcgen05() {
    let run = |rows, columns, used| tcgen05(&stores(rows, columns), MMA, used).map_err(|fault| panic!("{fault}"));
    let found = |rows, columns, used| unwritten(tcgen05(&stores(rows, columns), MMA, used));
    run(128, 8, (128, 7)).unwrap();
    // 100 rows
    run(100, 8, (100, 0)).unwrap();
    let (addr, statement) = found(100, 8, (101, 0));
    assert_eq!(addr, 12 * 128 + 4 * 16);
    assert!(statement.starts_with("tcgen05.mma"), "{statement}");
    // five columns
    run(128, 5, (128, 4)).unwrap();
    assert_eq!(found(128, 5, (128, 5)).0, 4096 + 5 * 16);
    // a second product adds, another one does not
    let adds = MMA.replace("setp.ne", "setp.eq");
    let twice = |second: &str| tcgen05(&stores(100, 8), &format!("{MMA}{second}"), (101, 0));
    assert!(twice(&adds).is_err() && twice(MMA).is_err());
    // values that threads have stored
    let copied = format!(
        "{} st.shared.u32 [%r4+4], %r10; st.shared.u32 [%r4+4], 1; setp.eq.u32 %z, %l, 9; @%z st.shared.u32 [%r4+4], %r10;",
        stores(128, 8)
    );
    tcgen05(&copied, MMA, (9, 0)).unwrap();
    let fault = tcgen05(&copied, MMA, (10, 0)).expect_err("no fault");
    assert!(
        matches!(&fault.kind, FaultKind::UndefinedRegister { from, stored: true, .. } if from == "%r10"),
        "{fault}"
    );
}

/// `tcgen05.cp` copies undefined bytes, and A in Tensor Memory has them.
#[test]
fn copies_to_tensor_memory() {
    // 128 rows of 16 bytes: the columns 0 to 3
    let copy = "tcgen05.cp.cta_group::1.128x128b [%taddr+16], %da;";
    let run = |stores: &str, first: &str, used| tcgen05(stores, first, used).map_err(|fault| panic!("{fault}"));
    let two = "tcgen05.cp.cta_group::1.128x256b [%taddr+16], %da;";
    run(&stores(128, 8), copy, (128, 19)).unwrap();
    run(&stores(100, 8), copy, (100, 16)).unwrap();
    let (addr, statement) = unwritten(tcgen05(&stores(100, 8), copy, (101, 16)));
    assert_eq!(addr, 12 * 128 + 4 * 16);
    assert!(statement.starts_with("tcgen05.cp"), "{statement}");
    let mma = "add.u32 %r7, %taddr, 16; setp.ne.u32 %z, %l, %l; tcgen05.mma.cta_group::1.kind::f16 [%taddr], [%r7], %db, %i, %z;";
    let both = format!("{two}{mma}");
    run(&stores(100, 8), &both, (100, 0)).unwrap();
    assert!(unwritten(tcgen05(&stores(100, 8), &both, (101, 0))).1.starts_with("tcgen05.cp"));
}
