//! Products of matrices whose sums or factors nobody has written, and loads of Tensor Memory of which only a part is written, on the checked
//! host: reported where the result matters.

use super::races::{clean, permissive, run, threads};
use ptx_dsl::fault::FaultKind;
use ptx_dsl::prelude::*;
use ptx_dsl::{Error, Fault};

/// The register that matters, the one that nobody has written, and the statement that read it first.
#[track_caller]
fn undefined(launch: Launch, body: &str) -> (String, String, String) {
    match run(launch, body) {
        Err(Error::Fault(fault)) => match fault.kind {
            FaultKind::UndefinedRegister { register, from, read, .. } => (register, from, read),
            _ => panic!("{body}\n{fault}"),
        },
        other => panic!("{body}\n{other:?}"),
    }
}

/// Zeros in the registers of this name with numbers below `n`, but for one.
fn zeros(name: &str, n: usize, but: Option<usize>) -> String {
    (0..n).filter(|k| Some(*k) != but).map(|k| format!("mov.b32 {name}{k}, 0; ")).collect()
}

/// `mma` in a loop, then a store of one of its sums.
fn product(sums: &str, factors: &str, stored: usize) -> String {
    format!(
        ".reg .f32 %f<4>; .reg .b32 %m<6>; mad.wide.u32 %d0, %t, 4, %b; mov.u32 %r2, 0;\n{sums}{factors}\n\
         next: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {{%f0, %f1, %f2, %f3}}, {{%m0, %m1, %m2, %m3}}, {{%m4, %m5}}, \
         {{%f0, %f1, %f2, %f3}};\n\
         add.u32 %r2, %r2, 1; setp.lt.u32 %p, %r2, 3; @%p bra next;\n\
         mul.f32 %f{stored}, %f{stored}, 0f40000000; st.global.f32 [%d0], %f{stored};"
    )
}

#[test]
fn sums_of_mma() {
    let factors = zeros("%m", 6, None);
    clean(threads(32), &product(&zeros("%f", 4, None), &factors, 0));
    let (register, from, read) = undefined(threads(32), &product("", &factors, 1));
    assert_eq!((register.as_str(), from.as_str()), ("%f1", "%f1"));
    assert!(read.starts_with("`mma.sync.aligned.m16n8k16"), "{read}");
    // only the sum that nobody has written
    let but_two = zeros("%f", 4, Some(2));
    clean(threads(32), &product(&but_two, &factors, 3));
    assert_eq!(undefined(threads(32), &product(&but_two, &factors, 2)).1, "%f2");
    // a part of B is in all sums
    let sums = zeros("%f", 4, None);
    assert_eq!(undefined(threads(32), &product(&sums, &zeros("%m", 6, Some(5)), 3)).1, "%m5");
}

/// Rows of A and columns of B that nobody has written are in the sums of their row or column, and in no others.
#[test]
fn rows_and_columns_of_mma() {
    let sums = zeros("%f", 4, None);
    // registers 1 and 3 of A are rows 8 to 15, and so are registers 2 and 3 of the sums
    for register in [1, 3] {
        let factors = zeros("%m", 6, Some(register));
        for stored in [0, 1] {
            clean(threads(32), &product(&sums, &factors, stored));
        }
        for stored in [2, 3] {
            assert_eq!(undefined(threads(32), &product(&sums, &factors, stored)).1, format!("%m{register}"));
        }
    }
    // written but in row 5, which lanes 20 to 23 have
    let all = zeros("%m", 6, Some(0));
    let row = |stored: &str| {
        let factors = format!("{all} shr.u32 %r3, %t, 2; setp.ne.u32 %p, %r3, 5; @%p mov.b32 %m0, 0;");
        product(&sums, &factors, 0).replace("st.global", &format!("setp.eq.u32 %p, %r3, {stored}; @%p st.global"))
    };
    clean(threads(32), &row("4"));
    assert_eq!(undefined(threads(32), &row("5")).1, "%m0");
    // written but in column 3, whose lanes are 12 to 15: sum 1 of the second lane of each four
    let all = zeros("%m", 6, Some(4));
    let column = |lane: u32, stored: usize| {
        let factors =
            format!("{all} shr.u32 %r3, %t, 2; setp.ne.u32 %p, %r3, 3; @%p mov.b32 %m4, 0; and.b32 %r3, %t, 3;");
        product(&sums, &factors, stored).replace("st.global", &format!("setp.eq.u32 %p, %r3, {lane}; @%p st.global"))
    };
    clean(threads(32), &column(1, 0));
    clean(threads(32), &column(2, 1));
    assert_eq!(undefined(threads(32), &column(1, 1)).1, "%m4");
}

/// What is multiplied with zero does not matter, if it is an integer.
#[test]
fn integers_times_zero() {
    let body = |a: &str, b: &str| {
        format!(
            ".reg .b32 %m<6>; mad.wide.u32 %d0, %t, 4, %b; {}{}{a}{b}\n\
             mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {{%r4, %r5, %r6, %r7}}, {{%m0, %m1, %m2, %m3}}, {{%m4, %m5}}, \
             {{%r4, %r5, %r6, %r7}}; st.global.u32 [%d0], %r4;",
            zeros("%m", 2, None),
            (4..8).map(|k| format!("mov.u32 %r{k}, 0; ")).collect::<String>(),
        )
    };
    // registers 2 and 3 of A are multiplied with register 1 of B
    let b = "mov.b32 %m4, 1; mov.b32 %m5, ";
    clean(threads(32), &body("", &format!("{b}0;")));
    assert_eq!(undefined(threads(32), &body("", &format!("{b}1;"))).1, "%m2");
    clean(threads(32), &body("mov.b32 %m2, 1; mov.b32 %m3, 1;", &format!("{b}1;")));
}

/// Sparse products: the sums, a row of A, B, the metadata.
#[test]
fn sums_of_sparse_mma() {
    let body = |sums: &str, factors: &str, metadata: &str, stored: usize| {
        format!(
            ".reg .f32 %f<4>; .reg .b32 %m<8>; mad.wide.u32 %d0, %t, 4, %b; {sums}{factors}{metadata}\n\
             mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {{%f0, %f1, %f2, %f3}}, {{%m0, %m1, %m2, %m3}}, \
             {{%m4, %m5, %m6, %m7}}, {{%f0, %f1, %f2, %f3}}, %r2, 0; st.global.f32 [%d0], %f{stored};"
        )
    };
    let (sums, factors, metadata) = (zeros("%f", 4, None), zeros("%m", 8, None), "mov.b32 %r2, 0x44444444;");
    clean(threads(32), &body(&sums, &factors, metadata, 0));
    let but = |sum: Option<usize>, factor: Option<usize>, stored: usize| {
        body(&zeros("%f", 4, sum), &zeros("%m", 8, factor), metadata, stored)
    };
    clean(threads(32), &but(Some(2), None, 1));
    assert_eq!(undefined(threads(32), &but(Some(2), None, 2)).1, "%f2");
    clean(threads(32), &but(None, Some(1), 0));
    assert_eq!(undefined(threads(32), &but(None, Some(1), 2)).1, "%m1");
    // one word of a chunk may be what the metadata does not select
    let word = factors.replace("mov.b32 %m5, 0;", "and.b32 %r3, %l, 1; setp.eq.u32 %p, %r3, 0; @%p mov.b32 %m5, 0;");
    clean(threads(32), &body(&sums, &word, metadata, 0));
    assert_eq!(undefined(threads(32), &but(None, Some(4), 0)).1, "%m4");
    let column = factors.replace("mov.b32 %m5, 0;", "setp.lt.u32 %p, %l, 16; @%p mov.b32 %m5, 0;");
    clean(threads(32), &body(&sums, &column, metadata, 0).replace("st.global", "setp.eq.u32 %p, %l, 0; @%p st.global"));
    assert_eq!(undefined(threads(32), &body(&sums, &column, metadata, 0)).1, "%m5");
}

/// A product with block scaling.
fn scaled(sums: &str, factors: &str, scale: &str, stored: usize) -> String {
    format!(
        ".version 8.8\n.target sm_120a\n.address_size 64\n.visible .entry k(.param .u64 .ptr .global .align 4 b)\n{{\n\
         .reg .b32 %t, %r<4>; .reg .b64 %d0, %b; .reg .f32 %f<4>; .reg .b32 %m<6>;\n\
         ld.param.u64 %b, [b]; mov.u32 %t, %tid.x; mad.wide.u32 %d0, %t, 4, %b; {sums}{factors}{scale}\n\
         mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0 {{%f0, %f1, %f2, %f3}}, \
         {{%m0, %m1, %m2, %m3}}, {{%m4, %m5}}, {{%f0, %f1, %f2, %f3}}, %r2, {{0, 0}}, %r3, {{0, 0}};\n\
         st.global.f32 [%d0], %f{stored}; ret;\n}}\n"
    )
}

#[test]
fn sums_of_block_scaling() {
    let run = |text: &str| {
        let module = permissive().parse(text).unwrap();
        let mut b = [0u32; 32];
        match module.kernel("k").unwrap().launch_raw(&Host::checked(), threads(32), &mut [(&mut b[..]).into()]) {
            Ok(_) => String::new(),
            Err(Error::Fault(fault)) => match fault.kind {
                FaultKind::UndefinedRegister { from, .. } => from,
                _ => panic!("{text}\n{fault}"),
            },
            Err(other) => panic!("{text}\n{other}"),
        }
    };
    let (sums, factors) = (|but| zeros("%f", 4, but), |but| zeros("%m", 6, but));
    let scale = "mov.b32 %r2, 0x7f7f; mov.b32 %r3, 0x7f7f; ";
    assert_eq!(run(&scaled(&sums(None), &factors(None), scale, 0)), "");
    assert_eq!(run(&scaled(&sums(Some(0)), &factors(None), scale, 0)), "%f0");
    assert_eq!(run(&scaled(&sums(None), &factors(Some(3)), scale, 0)), "");
    assert_eq!(run(&scaled(&sums(None), &factors(Some(3)), scale, 3)), "%m3");
    assert_eq!(run(&scaled(&sums(None), &factors(None), "mov.b32 %r2, 0x7f7f;", 0)), "%r3");
}

#[test]
fn sums_of_wmma() {
    let body = |sums: &str| {
        let list = |name: &str| (0..8).map(|k| format!("%{name}{k}")).collect::<Vec<_>>().join(", ");
        format!(
            ".reg .f32 %f<8>; .reg .b32 %m<8>, %n<8>; mad.wide.u32 %d0, %t, 4, %b; {}{}{sums}\n\
             wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {{{f}}}, {{{m}}}, {{{n}}}, {{{f}}}; st.global.f32 [%d0], %f7;",
            zeros("%m", 8, None),
            zeros("%n", 8, None),
            f = list("f"),
            m = list("m"),
            n = list("n"),
        )
    };
    clean(threads(32), &body(&zeros("%f", 8, None)));
    assert_eq!(undefined(threads(32), &body(&zeros("%f", 8, Some(7)))).1, "%f7");
}

/// Two `wgmma`, of which the first adds to its sums if `adds`.
fn wgmma(adds: &str, sums: &str) -> String {
    let mma = |adds: &str| {
        format!(
            "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {{%f0, %f1, %f2, %f3}}, {{%r4, %r5, %r6, %r7}}, %d1, {adds}, 1, 1, 0;\n"
        )
    };
    format!(
        ".reg .f32 %f<4>; {}{sums} setp.lt.u32 %q, %t, 64; @%q st.shared.u32 [%r1], 0; fence.proxy.async.shared::cta; bar.sync 0;\n\
         shr.u32 %r2, %r0, 4; cvt.u64.u32 %d1, %r2; or.b64 %d1, %d1, 0x0000001000080000; setp.ne.u32 %p, %r4, 0;\n\
         wgmma.fence.sync.aligned;\n{}{}wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n\
         @%q mad.wide.u32 %d0, %t, 4, %b; @%q st.global.f32 [%d0], %f2;",
        "mov.b32 %r4, 0; mov.b32 %r5, 0; mov.b32 %r6, 0; mov.b32 %r7, 0; ",
        mma(adds),
        mma("1"),
    )
}

#[test]
fn sums_of_wgmma() {
    let sums = zeros("%f", 4, None);
    clean(threads(128), &wgmma("1", &sums));
    // the old sums do not count, by a constant and by a predicate
    clean(threads(128), &wgmma("0", ""));
    clean(threads(128), &wgmma("%p", ""));
    let (register, from, read) = undefined(threads(128), &wgmma("1", ""));
    assert_eq!((register.as_str(), from.as_str()), ("%f2", "%f2"));
    assert!(read.starts_with("`wgmma.mma_async"), "{read}");
    // a row of A in registers: the sums of rows 8 to 15 are stored, then those of rows 0 to 7
    let written = wgmma("1", &sums);
    for (register, stored, is_undefined) in [(5, "%f2", true), (5, "%f1", false), (6, "%f2", false), (6, "%f1", true)] {
        let body = written
            .replace(&format!("mov.b32 %r{register}, 0;"), "")
            .replace("[%d0], %f2", &format!("[%d0], {stored}"));
        // the predicate comes from another register
        let body = body.replace("setp.ne.u32 %p, %r4, 0;", "");
        match is_undefined {
            true => assert_eq!(undefined(threads(128), &body).1, format!("%r{register}")),
            false => clean(threads(128), &body),
        }
    }
    // a descriptor, and `scale-d`
    let lost = |text: &str, by: &str| match run(threads(128), &written.replace(text, by)) {
        Err(Error::Fault(fault)) => match fault.kind {
            FaultKind::UndefinedRegister { from, what, .. } => (from, what),
            _ => panic!("{fault}"),
        },
        other => panic!("{other:?}"),
    };
    assert_eq!(lost("%r7}, %d1,", "%r7}, %d5,"), ("%d5".into(), "used as a descriptor of a matrix".into()));
    let guard = wgmma("%p", &sums).replace("setp.ne.u32 %p, %r4, 0;", "");
    let Err(Error::Fault(fault)) = run(threads(128), &guard) else { panic!() };
    assert!(matches!(&fault.kind, FaultKind::UndefinedRegister { what, .. } if what == "used as `scale-d`"), "{fault}");
}

/// Two columns are loaded, of which one is written; one of the registers is stored.
fn loaded(stored: &str) -> Result<(), Box<Fault>> {
    let text = format!(
        ".version 8.6\n.target sm_100a\n.address_size 64\n.visible .entry k(.param .u64 .ptr .global .align 4 a)\n{{\n\
         .reg .b32 %t, %x, %y, %v; .reg .b64 %a; .shared .b32 at;\n\
         ld.param.u64 %a, [a]; tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [at], 32;\n\
         bar.warp.sync -1; ld.shared.u32 %t, [at]; mov.u32 %v, 7;\n\
         tcgen05.st.sync.aligned.32x32b.x1.b32 [%t+3], {{%v}}; tcgen05.wait::st.sync.aligned;\n\
         tcgen05.ld.sync.aligned.32x32b.x2.b32 {{%x, %y}}, [%t+3]; tcgen05.wait::ld.sync.aligned;\n\
         st.global.u32 [%a], %{stored};\n\
         tcgen05.dealloc.cta_group::1.sync.aligned.b32 %t, 32;\n\
         tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned; ret;\n}}\n"
    );
    let module = permissive().parse(&text).unwrap();
    let mut a = [0u32; 4];
    match module.kernel("k").unwrap().launch_raw(&Host::checked(), threads(32), &mut [(&mut a[..]).into()]) {
        Ok(_) => Ok(()),
        Err(Error::Fault(fault)) if matches!(fault.kind, FaultKind::TensorUnwritten(_)) => Err(fault),
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn columns_of_which_one_is_written() {
    loaded("x").unwrap();
    let fault = loaded("y").unwrap_err();
    let FaultKind::TensorUnwritten(read) = &fault.kind else { panic!("{fault}") };
    assert_eq!((read.lanes.clone(), read.columns.clone()), (0..1, 4..5));
    assert!(fault.at.as_ref().is_some_and(|at| at.text.starts_with("tcgen05.ld")), "{fault}");
    assert!(fault.used.as_ref().is_some_and(|used| used.starts_with("`%y` is stored to global memory")), "{fault}");
}

/// `tcgen05.mma` adds to 16 columns, of which the first `written` are set. Then column `loaded` is stored, which is loaded alone or with the
/// one before.
fn added(adds: bool, written: u32, loaded: u32, alone: bool) -> Result<[f32; 128], Box<Fault>> {
    let zeros = (0..9).map(|k| format!("st.shared.u32 [%s+{}], 0; ", 512 * k)).collect::<String>();
    let sets =
        (0..written).map(|k| format!("tcgen05.st.sync.aligned.32x32b.x1.b32 [%a+{k}], {{%v}}; ")).collect::<String>();
    let text = format!(
        ".version 8.6\n.target sm_100a\n.address_size 64\n\
         .visible .entry k(.param .u64 .ptr .global .align 4 x) .reqntid 128\n{{\n\
         .reg .pred %first, %p, %adds; .reg .b32 %t, %a, %d, %s, %v, %warp; .reg .b64 %x, %m, %n;\n\
         .shared .align 4 .b32 slot; .shared .align 8 .b64 bar; .shared .align 128 .b8 tile[4608];\n\
         ld.param.u64 %x, [x]; mov.u32 %t, %tid.x; shr.u32 %warp, %t, 5; setp.ne.u32 %first, %warp, 0;\n\
         mov.u32 %s, tile; shr.u32 %v, %s, 4; cvt.u64.u32 %m, %v; or.b64 %m, %m, 0x0000401000080000; add.u64 %n, %m, 256;\n\
         mad.lo.u32 %s, %t, 4, %s; {zeros} mov.b32 %v, 0f3F800000; setp.eq.u32 %adds, 1, {adds};\n\
         setp.eq.u32 %p, %t, 0; @%p mbarrier.init.shared::cta.b64 [bar], 1; fence.proxy.async.shared::cta;\n\
         @%first bra met; tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 32;\n\
         tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\n\
         met: tcgen05.fence::before_thread_sync; bar.sync 0; tcgen05.fence::after_thread_sync;\n\
         ld.shared.b32 %d, [slot]; shl.b32 %a, %warp, 21; add.u32 %a, %a, %d;\n\
         {sets} tcgen05.wait::st.sync.aligned; tcgen05.fence::before_thread_sync; bar.sync 0; tcgen05.fence::after_thread_sync;\n\
         setp.eq.u32 %p, %t, 0; @%p tcgen05.mma.cta_group::1.kind::f16 [%d], %m, %n, 0x8040010, %adds;\n\
         @%p tcgen05.mma.cta_group::1.kind::f16 [%d], %m, %n, 0x8040010, 1;\n\
         @%p tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [bar];\n\
         wait: mbarrier.try_wait.parity.shared::cta.b64 %p, [bar], 0; @!%p bra wait; tcgen05.fence::after_thread_sync;\n\
         tcgen05.ld.sync.aligned.32x32b.{load}; tcgen05.wait::ld.sync.aligned;\n\
         mad.wide.u32 %x, %t, 4, %x; st.global.b32 [%x], %v; tcgen05.fence::before_thread_sync; bar.sync 0;\n\
         @%first bra done; tcgen05.dealloc.cta_group::1.sync.aligned.b32 %d, 32;\ndone: ret;\n}}\n",
        adds = u32::from(adds),
        load = match alone {
            true => format!("x1.b32 {{%v}}, [%a+{loaded}]"),
            false => format!("x2.b32 {{%warp, %v}}, [%a+{}]", loaded - 1),
        },
    );
    let module = permissive().parse(&text).unwrap();
    let mut x = [7f32; 128];
    match module.kernel("k").unwrap().launch_raw(&Host::checked(), threads(128), &mut [(&mut x[..]).into()]) {
        Ok(_) => Ok(x),
        Err(Error::Fault(fault)) if matches!(fault.kind, FaultKind::TensorUnwritten(_)) => Err(fault),
        Err(other) => panic!("{text}\n{other}"),
    }
}

/// What `tcgen05.mma` adds to a column that nothing has written is undefined, although other columns are written.
#[test]
fn columns_to_which_mma_only_adds() {
    assert_eq!(added(false, 0, 15, true).unwrap(), [0.0; 128]);
    assert_eq!(added(true, 16, 15, true).unwrap(), [1.0; 128]);
    // the first columns alone, which are stored
    assert_eq!(added(true, 8, 7, true).unwrap(), [1.0; 128]);
    let fault = added(true, 8, 8, false).unwrap_err();
    let FaultKind::TensorUnwritten(read) = &fault.kind else { panic!("{fault}") };
    assert_eq!((read.lanes.clone(), read.columns.clone(), read.only_added), (0..1, 8..9, true));
    assert!(fault.to_string().contains("where `tcgen05.mma` has added to what nothing has written"), "{fault}");
    assert!(fault.used.as_ref().is_some_and(|used| used.starts_with("`%v` is stored to global memory")), "{fault}");
    let fault = added(true, 8, 8, true).unwrap_err();
    assert!(matches!(&fault.kind, FaultKind::TensorUnwritten(read) if read.only_added), "{fault}");
    // without a column, the product itself is reported
    assert!(
        matches!(&added(true, 0, 0, true).unwrap_err().kind, FaultKind::TensorUnwritten(read) if read.operand == "D")
    );
}
