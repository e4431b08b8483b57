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
fn tcgen05(stores: &str, first: &str, used: (u32, u32)) -> Result<(), Box<Fault>> {
    tcgen05_after(stores, "", first, used)
}

/// A product before which all warps do something with their quarters of Tensor Memory, of which `%r8` is the address.
fn tcgen05_after(stores: &str, before: &str, first: &str, (used, column): (u32, u32)) -> Result<(), Box<Fault>> {
    let before = match before {
        "" => String::new(),
        before => format!(
            "shr.u32 %r8, %l, 5; shl.b32 %r8, %r8, 21; add.u32 %r8, %taddr, %r8; {before}\n\
             tcgen05.fence::before_thread_sync; bar.sync 0; tcgen05.fence::after_thread_sync;"
        ),
    };
    let text = format!(
        ".version 8.7\n.target sm_100a\n.address_size 64\n.visible .entry k(.param .u64 .ptr .global .align 4 out)\n{{\n\
         .reg .b32 %t, %l, %r<12>, %i, %taddr; .reg .b64 %o, %da, %db; .reg .pred %p, %q, %z;\n\
         .shared .align 128 .b8 a[4096]; .shared .align 128 .b8 b[512]; .shared .align 8 .b64 done; .shared .b32 at;\n\
         ld.param.u64 %o, [out]; mov.u32 %l, %tid.x; setp.lt.u32 %q, %l, 32; setp.eq.u32 %p, %l, 0; setp.ne.u32 %z, %l, %l;\n\
         @%q tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [at], 64;\n\
         @%p mbarrier.init.shared::cta.b64 [done], 1;\n\
         mov.u32 %r1, a; shr.u32 %r2, %l, 3; and.b32 %r3, %l, 7; mad.lo.u32 %r4, %r2, 128, %r1; mad.lo.u32 %r4, %r3, 16, %r4;\n\
         mov.u32 %r5, b; mad.lo.u32 %r6, %l, 16, %r5; {stores}\n\
         fence.proxy.async.shared::cta; bar.sync 0; ld.shared.u32 %taddr, [at];\n\
         shr.u32 %r7, %r1, 4; cvt.u64.u32 %da, %r7; or.b64 %da, %da, 0x0000400800800000;\n\
         shr.u32 %r7, %r5, 4; cvt.u64.u32 %db, %r7; or.b64 %db, %db, 0x0000401000080000; mov.u32 %i, 0x08020010;\n\
         {before} @!%p bra wait; {first}\n\
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

/// Lanes from this one on store an undefined value to column `column`, the others `value`.
fn stored(lane: u32, column: u32, value: u32) -> String {
    format!(
        "add.u32 %r10, %r11, {value}; setp.lt.u32 %z, %l, {lane}; @%z mov.u32 %r10, {value};\n\
         tcgen05.st.sync.aligned.32x32b.x1.b32 [%r8+{column}], {{%r10}}; tcgen05.wait::st.sync.aligned;"
    )
}

/// `tcgen05.st` of a register that the thread has not written: the word of Tensor Memory has no value, and neither has what comes from it.
#[test]
fn stores_to_tensor_memory() {
    let run = |before: &str, first: &str, used| tcgen05_after(&stores(128, 8), before, first, used);
    let from_register = |found: Result<(), Box<Fault>>| {
        let fault = found.expect_err("no fault");
        match &fault.kind {
            FaultKind::UndefinedRegister { from, stored: true, .. } => assert_eq!(from, "%r11", "{fault}"),
            _ => panic!("{fault}"),
        }
        assert!(fault.to_string().contains("tcgen05.st.sync.aligned.32x32b.x1.b32"), "{fault}");
    };
    run(&stored(100, 20, 0), MMA, (100, 20)).unwrap();
    from_register(run(&stored(100, 20, 0), MMA, (101, 20)));
    // another store gives it a value
    run(&format!("{}{}", stored(100, 20, 0), stored(128, 20, 0)), MMA, (128, 20)).unwrap();
    // a row of A
    let mma = "add.u32 %r7, %taddr, 16; setp.ne.u32 %z, %l, %l; tcgen05.mma.cta_group::1.kind::f16 [%taddr], [%r7], %db, %i, %z;";
    let a: String = (16..24).map(|column| stored(if column == 20 { 100 } else { 128 }, column, 0)).collect();
    run(&a, mma, (100, 0)).unwrap();
    from_register(run(&a, mma, (101, 0)));
    // the halves of a word
    let unpacked = "tcgen05.st.sync.aligned.32x32b.x1.unpack::16b.b32";
    let unpack = stored(100, 20, 0).replace("tcgen05.st.sync.aligned.32x32b.x1.b32", unpacked);
    run(&unpack, MMA, (100, 21)).unwrap();
    assert!(run(&unpack, MMA, (101, 21)).is_err());
}

/// The indices of a sparse A: a row has no value without them.
#[test]
fn sparse_metadata() {
    let b: String = (0..4).map(|k| format!("@%z st.shared.v4.u32 [%r6+{}], {{0, 0, 0, 0}};", 128 * k)).collect();
    let stores = stores(128, 0) + &format!("setp.lt.u32 %z, %l, 8; {b}");
    let mma = "setp.ne.u32 %z, %l, %l; add.u32 %r7, %taddr, 40; or.b32 %i, %i, 4;\n\
               tcgen05.mma.sp.cta_group::1.kind::f16 [%taddr], %da, %db, [%r7], %i, %z;";
    let run = |lane, used| tcgen05_after(&stores, &stored(lane, 40, 0x4444_4444), mma, (used, 0));
    run(128, 128).unwrap();
    // lanes 112 to 127 have the indices of their rows
    run(112, 112).unwrap();
    let fault = run(112, 113).expect_err("no fault");
    assert!(matches!(&fault.kind, FaultKind::UndefinedRegister { from, .. } if from == "%r11"), "{fault}");
}

/// `atom.cas` of an undefined value to compare with: whether it stores is undefined. What it stores is, too.
#[test]
fn compare_and_swap_of_undefined_values() {
    for op in ["atom.global.cas.b32 %r2, [%b], %r9, 1;", "atom.shared.cas.b32 %r2, [%r1], %r9, 1;"] {
        let found = fault(&format!("st.shared.u32 [%r1], 0; {op}"));
        let FaultKind::UndefinedRegister { register, what, .. } = &found.kind else { panic!("{found}") };
        assert_eq!((register.as_str(), what.as_str()), ("%r9", "compared with what is in memory"), "{found}");
    }
    let wide = ".reg .b64 %u<2>; .reg .b128 %w<3>; mov.b128 %w0, {%u0, %u1}; mov.b128 %w1, {%b, %b}; atom.global.cas.b128 %w2, [%b], %w0, %w1;";
    assert!(matches!(fault(wide).kind, FaultKind::UndefinedRegister { .. }));
    clean(threads(128), "st.shared.u32 [%r1], 0; atom.shared.cas.b32 %r2, [%r1], 0, 1;");
}

/// What nothing has written of a block of the heap has no value.
#[test]
fn unwritten_memory_of_the_heap() {
    let run = |body: &str| {
        let text = format!(
            ".version 8.0\n.target sm_90\n.address_size 64\n.extern .func (.param .b64 r) malloc (.param .b64 n);\n\
             .extern .func free (.param .b64 p);\n.visible .entry k(.param .u64 .ptr .global .align 4 out)\n{{\n\
             .reg .b64 %o, %h; .reg .b32 %r<9>;\nld.param.u64 %o, [out];\n\
             {{ .param .b64 n; .param .b64 r; st.param.b64 [n], 64; call.uni (r), malloc, (n); ld.param.b64 %h, [r]; }}\n\
             {body}\n{{ .param .b64 p; st.param.b64 [p], %h; call.uni free, (p); }}\nret;\n}}\n"
        );
        let module = permissive().parse(&text).unwrap();
        let mut a = [0u32; 4];
        module.kernel("k").unwrap().launch_raw(&Host::checked(), threads(1), &mut [(&mut a[..]).into()]).map(drop)
    };
    let found = |body: &str| match run(body) {
        Err(Error::Fault(fault)) => match fault.kind {
            FaultKind::Uninitialised { space: "global", .. } => *fault,
            _ => panic!("{fault}"),
        },
        other => panic!("{body}: {other:?}"),
    };
    let fault = found("ld.u32 %r1, [%h+4]; add.u32 %r1, %r1, 1; st.global.u32 [%o], %r1;");
    assert!(fault.used.as_ref().unwrap().starts_with("`%r1` is stored to global memory"), "{fault}");
    found("atom.add.u32 %r1, [%h], 1;");
    found("atom.cas.b32 %r1, [%h], 0, 1;");
    run("st.u32 [%h], 7; atom.add.u32 %r1, [%h], 1; ld.u32 %r2, [%h]; st.global.u32 [%o], %r2;").unwrap();
    run("atom.exch.b32 %r1, [%h], 7; ld.u32 %r2, [%h]; st.global.u32 [%o], %r2;").unwrap();
    // padding: nothing uses it
    run("st.u32 [%h], 7; ld.v2.u32 {%r1, %r2}, [%h]; st.global.u32 [%o], %r1;").unwrap();
    let copied = "ld.u32 %r1, [%h+4]; st.u32 [%h], %r1;";
    run(copied).unwrap();
    found(&format!("{copied} ld.u32 %r2, [%h]; st.global.u32 [%o], %r2;"));
}

/// Kernels of CuTe ask for the first `ctaid` of each response, and use it if the request succeeded. Here no cluster is pending.
#[test]
fn first_ctaid_of_a_failed_request() {
    let run = |host: &Host<ptx_dsl::Checked>, used: &str| {
        let text = format!(
            ".version 8.6\n.target sm_100a\n.address_size 64\n.visible .entry k(.param .u64 .ptr .global .align 4 out) .reqntid 1\n{{\n\
             .reg .b64 %o, %low, %high; .reg .b128 %q; .reg .b32 %x, %y; .reg .pred %p, %c;\n\
             .shared .align 16 .b8 response[16]; .shared .align 8 .b64 bar;\nld.param.u64 %o, [out];\n\
             mbarrier.init.shared::cta.b64 [bar], 1; fence.proxy.async.shared::cta;\n\
             mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 16;\n\
             clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [response], [bar];\n\
             wait: mbarrier.try_wait.parity.shared::cta.b64 %p, [bar], 0; @!%p bra wait;\n\
             ld.shared.v2.b64 {{%low, %high}}, [response]; mov.b128 %q, {{%low, %high}};\n\
             clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %c, %q;\n\
             clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %x, %q;\n\
             selp.b32 %y, %x, 7, %c; st.global.u32 [%o], {used}; ret;\n}}\n"
        );
        let module = permissive().parse(&text).unwrap_or_else(|e| panic!("{e}"));
        let mut a = [0u32; 4];
        let result = module.kernel("k").unwrap().launch_raw(host, threads(1), &mut [(&mut a[..]).into()]);
        result.map(|_| a[0])
    };
    assert_eq!(run(&Host::checked(), "%y").unwrap(), 7);
    let Err(Error::Fault(fault)) = run(&Host::checked(), "%x") else { panic!("no fault") };
    assert!(matches!(fault.kind, FaultKind::FirstCtaidOfFailure), "{fault}");
    assert!(fault.used.as_ref().unwrap().starts_with("`%x` is stored to global memory"), "{fault}");
}
