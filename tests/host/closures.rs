//! Kernels as Rust closures: `kernel.on(&host, launch)` works wherever Rust takes a closure, in both forms of the macro.

use ptx_dsl::Error;
use ptx_dsl::fault::FaultKind;
use ptx_dsl::prelude::*;

ptx! {
    <sm_90, ptx 8.0>
    .visible .entry saxpy(
        .param .u64 .ptr .global .align 4 x: &[f32],
        .param .u64 .ptr .global .align 4 y: &mut [f32],
        .param .f32 a,
        .param .u32 n)
    {
        .reg .pred %p;
        .reg .b32 %i, %n;
        .reg .f32 %a, %x, %y;
        .reg .b64 %px, %py, %o;
        mov.u32 %i, %tid.x;
        ld.param.u32 %n, [n];
        setp.ge.u32 %p, %i, %n;
        @%p ret;
        ld.param.u64 %px, [x];
        ld.param.u64 %py, [y];
        ld.param.f32 %a, [a];
        mul.wide.u32 %o, %i, 4;
        add.u64 %px, %px, %o;
        add.u64 %py, %py, %o;
        ld.global.f32 %x, [%px];
        ld.global.f32 %y, [%py];
        fma.rn.f32 %y, %a, %x, %y;
        st.global.f32 [%py], %y;
        ret;
    }

    // Nothing has a Rust type.
    .visible .entry copy(.param .u64 .ptr .global .align 4 from, .param .u64 to, .param .u64 plus) {
        .reg .b32 %v, %w;
        .reg .b64 %a, %b, %n;
        ld.param.u64 %a, [from];
        ld.param.u64 %b, [to];
        ld.param.u64 %n, [plus];
        ld.global.u32 %v, [%a];
        cvt.u32.u64 %w, %n;
        add.u32 %v, %v, %w;
        st.global.u32 [%b], %v;
        ret;
    }

    .visible .entry nothing() { ret; }
}

/// A function that takes any `a * x + y`.
fn apply(f: impl Fn(&[f32], &mut [f32], f32, u32) -> Result<Report, Error>) -> Vec<f32> {
    let x: Vec<f32> = (0..40).map(|i| i as f32).collect();
    let mut y = vec![1.0; 40];
    // Twice: each call borrows anew.
    f(&x, &mut y, 2.0, 30).expect("it runs");
    f(&x[..10], &mut y[30..], 3.0, 10).expect("it runs");
    y
}

fn expected() -> Vec<f32> {
    (0..40).map(|i| if i < 30 { 2.0 * i as f32 + 1.0 } else { 3.0 * (i - 30) as f32 + 1.0 }).collect()
}

#[test]
fn both_forms_go_where_a_closure_is_taken() {
    let (host, launch) = (Host::new(), Launch::grid(1).block(64));
    assert_eq!(apply(saxpy.on(&host, launch.clone())), expected());
    assert_eq!(apply(saxpy.on(&Host::checked(), launch.clone())), expected());
    let k = ptx!(<sm_90, ptx 8.0> |x: &[f32], y: &mut [f32], a: f32, n: u32| {
        .reg .pred %p;
        .reg .b32 %i, %n;
        .reg .f32 %a, %x, %y;
        .reg .b64 %px, %py;
        mov.u32 %i, %tid.x;
        ld.param.u32 %n, [n];
        setp.ge.u32 %p, %i, %n;
        @%p ret;
        ld.param.u64 %px, [x];
        ld.param.u64 %py, [y];
        ld.param.f32 %a, [a];
        mad.wide.u32 %px, %i, 4, %px;
        mad.wide.u32 %py, %i, 4, %py;
        ld.global.f32 %x, [%px];
        ld.global.f32 %y, [%py];
        fma.rn.f32 %y, %a, %x, %y;
        st.global.f32 [%py], %y;
        ret;
    });
    assert_eq!(apply(k.on(&host, launch)), expected());
}

/// The closure owns what it needs.
fn made() -> impl Fn(&[u32], &mut [u32]) -> Result<Report, Error> + Clone + Send + Sync + 'static {
    let host = Host::new().seed(3);
    ptx!(<sm_90, ptx 8.0> |x: &[u32], y: &mut [u32]| {
        .reg .b32 %v;
        .reg .b64 %x, %y;
        ld.param.u64 %x, [x];
        ld.param.u64 %y, [y];
        ld.global.u32 %v, [%x];
        add.u32 %v, %v, 1;
        st.global.u32 [%y], %v;
        ret;
    })
    .on(&host, Launch::grid(1))
}

#[test]
fn closures_are_values() {
    let one = made();
    type Step = Box<dyn Fn(&[u32], &mut [u32]) -> Result<Report, Error> + Send>;
    let boxed: Vec<Step> = vec![
        Box::new(one.clone()),
        Box::new(one),
        Box::new(|x, y| {
            y[0] = x[0] + 10;
            made()(&[y[0]], y)
        }),
    ];
    let mut at = [5u32];
    for f in &boxed {
        let before = at;
        f(&before, &mut at).expect("it runs");
    }
    assert_eq!(at, [5 + 1 + 1 + 11]);
    let last = boxed.into_iter().next().expect("three");
    let there = std::thread::spawn(move || {
        let mut y = [0];
        last(&[41], &mut y).map(|_| y[0])
    });
    assert_eq!(there.join().expect("no panic").expect("it runs"), 42);
}

#[test]
fn what_has_no_rust_type_is_an_arg() {
    let f = copy.on(&Host::new(), Launch::grid(1));
    let (from, mut to) = (vec![1u32], [0u32; 2]);
    f((&from).into(), (&mut to[1..]).into(), 7.into()).expect("it runs");
    assert_eq!(to, [0, 8]);
    let g: &dyn Fn() -> Result<Report, Error> = &nothing.on(&Host::new(), Launch::grid(1));
    assert!(g().is_ok() && g().is_ok());
}

#[test]
fn errors_come_out_of_the_closure() {
    let f = saxpy.on(&Host::new(), Launch::grid(1).block(2000));
    let error = f(&[], &mut [], 0.0, 0).expect_err("too many threads");
    assert!(error.to_string().contains("1024"), "{error}");
    let f = saxpy.on(&Host::new(), Launch::grid(1));
    let error = f(&[], &mut [0.0], 0.0, 1).expect_err("x is empty");
    assert!(matches!(error.fault().map(|f| &f.kind), Some(FaultKind::OutOfBounds { .. })), "{error}");
}

/// Names in the macro's expansion do not clash with the user's.
#[test]
fn types_of_parameters_have_any_name() {
    type M = u32;
    let k = ptx!(<sm_90, ptx 8.0> |m: &mut [M], n: u32| {
        .reg .b32 %n;
        .reg .b64 %m;
        ld.param.u64 %m, [m];
        ld.param.u32 %n, [n];
        st.global.u32 [%m], %n;
        ret;
    });
    let mut m: [M; 1] = [0];
    k.on(&Host::new(), Launch::grid(1))(&mut m, 5).expect("it runs");
    assert_eq!(m, [5]);
}

/// Closures can have as many parameters as kernels.
#[test]
fn a_closure_of_twenty_parameters() {
    let k = ptx!(<sm_90, ptx 8.0> |a0: &mut [u32], a1: u32, a2: u32, a3: u32, a4: u32, a5: u32, a6: u32, a7: u32, a8: u32, a9: u32,
                                   b0: &[u32], b1: u32, b2: u32, b3: u32, b4: u32, b5: u32, b6: u32, b7: u32, b8: u32, b9: u32| {
        .reg .b32 %v, %w;
        .reg .b64 %a, %b;
        ld.param.u64 %a, [a0];
        ld.param.u64 %b, [b0];
        ld.global.u32 %v, [%b];
        ld.param.u32 %w, [b9];
        add.u32 %v, %v, %w;
        st.global.u32 [%a], %v;
        ret;
    });
    let f = k.on(&Host::new(), Launch::grid(1));
    let mut out = [0];
    f(&mut out, 1, 2, 3, 4, 5, 6, 7, 8, 9, &[30], 1, 2, 3, 4, 5, 6, 7, 8, 12).expect("it runs");
    assert_eq!(out, [42]);
}

/// Performance directives after the parameters work as those of an `.entry`.
#[test]
fn the_expression_form_takes_directives() {
    let (host, mut y) = (Host::new(), [0u32; 8]);
    let cluster = ptx!(<sm_90, ptx 8.0> |y: &mut [u32]| .reqntid 2 .reqnctapercluster 4 .minnctapersm 1 .maxnreg 32 {
        .reg .b32 %i, %v;
        .reg .b64 %y;
        ld.param.u64 %y, [y];
        mov.u32 %v, %ntid.x;
        mov.u32 %i, %cluster_nctaid.x;
        mad.lo.u32 %v, %v, 10, %i;
        mov.u32 %i, %ctaid.x;
        mad.wide.u32 %y, %i, 4, %y;
        st.global.u32 [%y], %v;
        ret;
    });
    cluster.launch(&host, Launch::grid(8), (&mut y,)).expect("block and cluster are known");
    assert_eq!(y, [24; 8]);
    let ptx = cluster.ptx();
    for directive in [".reqntid 2", ".reqnctapercluster 4", ".minnctapersm 1", ".maxnreg 32"] {
        assert!(ptx.contains(directive), "{ptx}");
    }
    let error = cluster.launch(&host, Launch::grid(8).block(64), (&mut y,)).expect_err("not 64");
    assert!(error.to_string().contains(".reqntid"), "{error}");
    let narrow = ptx!(<sm_90, ptx 8.0> || .maxntid 128 .maxclusterrank 2 .pragma "nounroll"; { ret; });
    let error = narrow.on(&host, Launch::grid(4).block(129))().expect_err("not 129");
    assert!(error.to_string().contains(".maxntid"), "{error}");
}

/// The texts of two closures form one module, even those of the same closure.
#[test]
fn each_closure_has_a_name_of_its_own() {
    macro_rules! twice {
        ($($n:literal)*) => {[$({
            let k = ptx!(<sm_90, ptx 8.0> |y: &mut [u32]| .maxntid 32 {
                .reg .b64 %y;
                ld.param.u64 %y, [y];
                st.global.u32 [%y], $n;
                ret;
            });
            (k.name(), k.ptx())
        }),*]};
    }
    let mut all = twice!(1 2).to_vec();
    let (a, b) = (ptx!(<sm_90, ptx 8.0> || { ret; }), ptx!(<sm_90, ptx 8.0> || { ret; }));
    all.extend([(a.name(), a.ptx()), (b.name(), b.ptx())]);
    let mut names: Vec<_> = all.iter().map(|(name, _)| *name).collect();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), all.len(), "{names:?}");
    let mut module = String::new();
    for (i, (name, ptx)) in all.iter().enumerate() {
        assert!(ptx.contains(&format!(".visible .entry {name}(")), "{ptx}");
        // The header once, as in any module.
        module += if i == 0 { ptx } else { &ptx[ptx.find(".visible").expect("an entry")..] };
    }
    let Some(verdicts) = crate::ptxas::assemble_all(&[("closures".to_owned(), module.clone())]) else { return };
    assert!(verdicts[0].is_ok(), "{:?}\n{module}", verdicts[0]);
}

#[test]
fn arrays_are_passed_by_value() {
    let k = ptx!(<sm_90, ptx 8.0> |y: &mut [u32], three: [u16; 3], pairs: [[f32; 2]; 2], on: bool, n: usize| {
        .reg .b16 %h;
        .reg .b32 %r;
        .reg .b64 %y, %n;
        ld.param.u64 %y, [y];
        ld.param.u16 %h, [three + 4];
        cvt.u32.u16 %r, %h;
        st.global.u32 [%y], %r;
        ld.param.b32 %r, [pairs + 12];
        st.global.u32 [%y + 4], %r;
        ld.param.u8 %h, [on];
        cvt.u32.u16 %r, %h;
        st.global.u32 [%y + 8], %r;
        ld.param.u64 %n, [n];
        cvt.u32.u64 %r, %n;
        st.global.u32 [%y + 12], %r;
        ret;
    });
    let ptx = k.ptx();
    assert!(ptx.contains(".align 2 .b8 three[6]") && ptx.contains(".align 4 .b8 pairs[16]"), "{ptx}");
    let mut y = [9; 4];
    k.launch(&Host::new(), Launch::grid(1), (&mut y, [5, 6, 7], [[1.0, 2.0], [3.0, 4.0]], true, 11)).unwrap();
    assert_eq!(y, [7, 4.0f32.to_bits(), 1, 11]);
}

/// Ranges of registers, and a closure that declares nothing else.
#[test]
fn ranges_of_registers() {
    let kernel = ptx!(<sm_90, ptx 8.0> |x: &mut [u32]| {
        .reg .b32 %v<4>;
        .reg .b64 %x;
        ld.param.u64 %x, [x];
        ld.global.v2.u32 {%v0..=%v1}, [%x];
        ld.global.v2.u32 {%v2..=%v3}, [%x+8];
        @for I in 0..4 { add.u32 %v{I}, %v{I}, I; }
        st.global.v2.u32 [%x], {%v2..=%v3};
        st.global.v2.u32 [%x+8], {%v0..=%v1};
        ret;
    });
    let mut x = [10, 20, 30, 40];
    kernel.launch(&Host::new(), Launch::grid(1).block(1), (&mut x,)).unwrap();
    assert_eq!(x, [32, 43, 10, 21]);
}
