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
    // a part of B is in all sums; rows of A that nobody has written may be rows that nobody wants
    let sums = zeros("%f", 4, None);
    assert_eq!(undefined(threads(32), &product(&sums, &zeros("%m", 6, Some(5)), 3)).1, "%m5");
    clean(threads(32), &product(&sums, &zeros("%m", 6, Some(1)), 0));
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
