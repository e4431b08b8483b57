//! The language besides instructions: scopes, names, constants, calls, initial values, the forms of the macro.

use half::f16;
use ptx_dsl::prelude::*;

mod vars {
    ptx_dsl::ptx! {
        <sm_90, ptx 8.0, allow(PTX0520)>
        .global .align 4 .u32 a[4] = {1, 2, 3, 4};
        .global .u64 pa = a;
        .global .u64 pairs[2] = {generic(a), generic(a)+8};
        .const .f32 e[2][2] = {{1.0}, {0f40400000, 4.}};
        .const .v4 .f32 v = {1.0, 2.0, 3.0, 4.0};
        .global .v2 .u32 w[2] = {{1, 2}, {3, 4}};
        .global .s32 neg = -1;
        .global .f64 dbl = 1.5e10;
        .const .u64 pc = e;
        .global .u64 gc = generic(v);
        .global .u8 bytes[4] = {0xff, 3};
        .global .u8 place[8] = {0xff(a), 0xff00(a), 0xff0000(a), 0xff000000(a), 0xff00000000(a), 0xff0000000000(a), 0xff000000000000(a), 0xff00000000000000(a)};
        .const .u32 many[2][3] = {{1}, {2, 3}};
        .global .v2 .u16 grid[2][2] = {{{1, 2}}, {{3, 4}, {5, 6}}};
        .extern .shared .align 16 .b8 dyn[];
        .shared .u32 s1;
        .visible .entry vars(.param .u64 .ptr .global .align 8 out: &mut [u32], .param .u64 .ptr .global .align 8 o64: &mut [u64]) {
            .reg .b32 r, x, y; .reg .b64 p, q, t; .reg .f32 f; .reg .f64 d; .reg .v4 .f32 vv;
            ld.param.u64 p, [out];
            ld.param.u64 t, [o64];
            ld.global.u64 q, [pa]; ld.global.u32 r, [q+4]; st.global.u32 [p], r;        // 2
            ld.global.u64 q, [pairs+8]; ld.u32 r, [q]; st.global.u32 [p+4], r;          // 3
            ld.const.f32 f, [e]; cvt.rzi.u32.f32 r, f; st.global.u32 [p+8], r;          // 1
            ld.const.f32 f, [e+4]; cvt.rzi.u32.f32 r, f; st.global.u32 [p+12], r;       // 3
            ld.const.f32 f, [e+8]; cvt.rzi.u32.f32 r, f; st.global.u32 [p+16], r;       // 4
            ld.const.f32 f, [e+12]; cvt.rzi.u32.f32 r, f; st.global.u32 [p+20], r;      // 0
            ld.const.v4.f32 vv, [v]; cvt.rzi.u32.f32 r, vv.z; st.global.u32 [p+24], r;  // 3
            ld.global.v2.u32 {x, y}, [w+8]; add.u32 x, x, y; st.global.u32 [p+28], x;   // 7
            ld.global.s32 r, [neg]; st.global.u32 [p+32], r;
            ld.global.f64 d, [dbl]; st.global.f64 [t], d;
            ld.const.u64 q, [pc]; ld.const.f32 f, [q+12]; cvt.rzi.u32.f32 r, f; st.global.u32 [p+36], r; // 0
            ld.global.u64 q, [gc]; ld.f32 f, [q+12]; cvt.rzi.u32.f32 r, f; st.global.u32 [p+40], r; // 4
            ld.global.u32 r, [bytes]; st.global.u32 [p+44], r; // 0x3ff
            mov.u32 r, dyn; st.shared.u32 [dyn+4], 9; ld.shared.u32 x, [r+4]; st.global.u32 [p+48], x;
            mov.u32 r, s1; st.shared.u32 [s1], 11; ld.shared.u32 x, [r]; st.global.u32 [p+52], x;
            .reg .b32 b0, b1; .reg .b64 m, n;
            mov.u64 m, 0;
            ld.global.u8 n, [place]; or.b64 m, m, n; ld.global.u8 n, [place+1]; shl.b64 n, n, 8; or.b64 m, m, n;
            ld.global.u8 n, [place+2]; shl.b64 n, n, 16; or.b64 m, m, n;
            ld.global.u8 n, [place+5]; shl.b64 n, n, 40; or.b64 m, m, n; ld.global.u32 r, [m+12];
            st.global.u32 [p+60], r; // 4
            ld.const.u32 r, [many+12]; ld.const.u32 x, [many+4]; mad.lo.u32 r, r, 10, x;
            ld.const.u32 x, [many+16]; mad.lo.u32 r, r, 10, x; st.global.u32 [p+64], r; // 20
            .reg .b16 h0, h1; ld.global.v2.u16 {h0, h1}, [grid+12]; cvt.u32.u16 r, h1; st.global.u32 [p+68], r; // 0
            ld.global.u32 r, [grid+4]; st.global.u32 [p+72], r; // 3, 4
            mov.u32 r, s1; mov.u32 x, dyn; sub.u32 x, x, r; st.global.u32 [p+56], x;
            ret;
        }
    }
}
#[test]
fn variables_of_the_module_have_their_initial_values() {
    let (mut o, mut t) = ([9u32; 19], [0u64; 2]);
    vars::vars.launch(&Host::checked(), Launch::grid(1).dynamic_shared(64), (&mut o, &mut t)).unwrap();
    assert_eq!(o, [2, 3, 1, 3, 4, 0, 3, 7, u32::MAX, 0, 4, 0x3ff, 9, 11, 16, 4, 20, 0, 0x4_0003]);
    assert_eq!(t[0], 1.5e10f64.to_bits());
}

#[test]
fn a_closure_takes_every_kind_of_parameter() {
    let k = ptx!(<sm_90, ptx 8.0> |o: &mut [u64], b: u8, c: i8, d: u16, e: i16, f: u32, g: i32, h1: u64, i: i64, j: f32,
                                   l: f64, m: f16, r: &[u8], r2: &[f16], w: &mut [i64]| {
        .reg .b64 p, t, q; .reg .b16 h; .reg .b32 s; .reg .f32 x; .reg .f64 y;
        ld.param.u64 p, [o];
        ld.param.u8 t, [b]; st.global.u64 [p], t;
        ld.param.s8 t, [c]; st.global.u64 [p+8], t;
        ld.param.u16 t, [d]; st.global.u64 [p+16], t;
        ld.param.s16 t, [e]; st.global.u64 [p+24], t;
        ld.param.u32 t, [f]; st.global.u64 [p+32], t;
        ld.param.s32 t, [g]; st.global.u64 [p+40], t;
        ld.param.u64 t, [h1]; st.global.u64 [p+48], t;
        ld.param.s64 t, [i]; st.global.u64 [p+56], t;
        ld.param.f32 x, [j]; cvt.f64.f32 y, x; st.global.f64 [p+64], y;
        ld.param.f64 y, [l]; st.global.f64 [p+72], y;
        ld.param.b16 h, [m]; cvt.f64.f16 y, h; st.global.f64 [p+80], y;
        ld.param.u64 q, [r]; ld.global.u8 t, [q+1]; st.global.u64 [p+88], t;
        ld.param.u64 q, [r2]; ld.global.b16 h, [q+2]; cvt.f64.f16 y, h; st.global.f64 [p+96], y;
        ld.param.u64 q, [w]; st.global.s64 [q], -7;
        ret;
    });
    let mut o = [0u64; 16];
    let mut w = [0i64; 1];
    k.launch(
        &Host::checked(),
        Launch::grid(1),
        (
            &mut o,
            250,
            -3,
            65000,
            -4,
            7,
            -8,
            1 << 40,
            -9,
            1.5,
            2.5,
            f16::from_f32(0.25),
            &[1, 2],
            &[f16::ZERO, f16::ONE],
            &mut w,
        ),
    )
    .unwrap();
    assert_eq!(o[..8], [250, -3i64 as u64, 65000, -4i64 as u64, 7, -8i64 as u64, 1 << 40, -9i64 as u64]);
    assert_eq!(o[8..11], [1.5f64.to_bits(), 2.5f64.to_bits(), 0.25f64.to_bits()]);
    assert_eq!((o[11], o[12], w[0]), (2, 1f64.to_bits(), -7));
}

mod file {
    ptx_dsl::include_ptx!("from_file.ptx");
}
mod same_file {
    ptx_dsl::include_ptx!("../host/from_file.ptx");
}

#[test]
fn files_are_found_beside_the_one_that_names_them() {
    let mut o = [0u32; 1];
    file::from_file.launch(&Host::new(), Launch::grid(1), (&mut o[..],)).unwrap();
    assert_eq!(o, [42]);
    let mut b = [0u8; 4];
    same_file::from_file.launch_raw(&Host::new(), Launch::grid(1), &mut [Arg::buffer(&mut b)]).unwrap();
    assert_eq!(b, [42, 0, 0, 0]);
}

mod grammar {
    ptx_dsl::ptx! {
    <sm_90, ptx 8.0>
    .file 1 "a.cu"
    // a line comment
    /* a block /* nested in rust */ comment */
    .func (.reg .b32 r) twice(.reg .b32 a) { add.u32 r, a, a; ret; }
    .func (.param .b32 r) thrice(.param .b32 a) { .reg .b32 x; ld.param.b32 x, [a]; mul.lo.u32 x, x, 3; st.param.b32 [r], x; ret; }
    .func nothing { ret; }
    .func (.reg .b32 r) next(.reg .b32 a) { add.u32 r, a, 1; ret; }
    .global .u64 table[2] = {twice, next};
    .visible .entry grammar(.param .u64 .ptr .global .align 4 out: &mut [u32])
    {
        .loc 1 3 4
        .reg .b32 %r<100>, a, x; .reg .b64 %rd<4>; .reg .pred p, q; .reg .f32 f; .param .b32 arg;
        .reg .u32 $odd, _under, %dollar$x;
        ld.param.u64 %rd1, [out];
        call (%r99), twice, (21); st.global.u32 [%rd1], %r99;
        call (x), thrice, (%r99); st.global.u32 [%rd1+4], x; // 126
        { .param .b32 ret0; .param .b32 a0; st.param.b32 [a0+0], x; call.uni (ret0), thrice, (a0);
        ld.param.b32 x, [ret0+0]; } st.global.u32 [%rd1+8], x; // 378
        call nothing;
        mov.u32 a, 1; { .reg .f32 a; mov.f32 a, 0f40000000; { .reg .u64 a; mov.u64 a, 5; } cvt.rzi.u32.f32 x, a;
        } add.u32 x, x, a; st.global.u32 [%rd1+12], x; // 3
        mov.u32 x, 0;
        { L: add.u32 x, x, 1; setp.lt.u32 p, x, 5; @p bra L; }
        { L: add.u32 x, x, 1; setp.lt.u32 p, x, 9; @p bra L; } st.global.u32 [%rd1+16], x; // 9
        $L__BB0_3: add.u32 x, x, 1; setp.lt.u32 p|q, x, 12; @p bra $L__BB0_3; @!q bra.uni $x; mov.u32 x, 50;
        $x: st.global.u32 [%rd1+20], x; // 50
        mov.u32 x, 1+2*3; st.global.u32 [%rd1+24], x; // 7
        mov.u32 x, (1<<4)|3; st.global.u32 [%rd1+28], x; // 19
        mov.u32 x, 5==5 && 3!=2 ? 0x1F : 017; st.global.u32 [%rd1+32], x; // 31
        mov.u32 x, WARP_SZ*2 - 0b101; st.global.u32 [%rd1+36], x; // 59
        mov.u32 x, !0 + ~0; st.global.u32 [%rd1+40], x; // 0
        mov.s32 x, -7/2; st.global.u32 [%rd1+44], x; // -3
        mov.f32 f, 0F3F800000; mov.b32 x, f; st.global.u32 [%rd1+48], x;
        mov.u32 x, 7 % 4; st.global.u32 [%rd1+52], x; // 3
        mov.u32 $odd, 5; mov.u32 _under, $odd; mov.u32 %dollar$x, _under;
        st.global.u32 [%rd1+(4*14)], %dollar$x; // 5
        mov.u32 x, 0; ts: .branchtargets A, B, C; mov.u32 a, 2; brx.idx a, ts; A: add.u32 x, x, 1;
        B: add.u32 x, x, 10; C: add.u32 x, x, 100; st.global.u32 [%rd1+60], x; // 100
        mov.u64 %rd2, twice; P: .callprototype (.reg .b32 _) _ (.reg .b32 _); call (x), %rd2, (4), P;
        st.global.u32 [%rd1+64], x; // 8
        .reg .v4 .f32 fv; .reg .v2 .b32 pair; .reg .f32 g<4>; .reg .v4 .b32 tv; .reg .b64 w;
        mov.v4.f32 fv, {1.0, 2.0, 3.0, 4.0}; mov.v4.f32 {g0, g1, g2, g3}, fv; sub.f32 g3, g3, g1;
        cvt.rzi.u32.f32 x, g3; st.global.u32 [%rd1+68], x; // 2
        mov.v2.u32 pair, {5, 6}; mov.b64 w, pair; shr.u64 w, w, 32; st.global.u32 [%rd1+72], w; // 6
        mov.b64 pair, 0x700000008; mov.u32 x, pair.y; mad.lo.u32 x, x, 10, pair.x; st.global.u32 [%rd1+76], x; // 78
        mov.v4.u32 tv, %ntid; mad.lo.u32 x, tv.x, 100, tv.y; mad.lo.u32 x, x, 10, tv.z;
        st.global.u32 [%rd1+80], x; // 32 2 1 -> 32021
        bt: .branchtargets D<2>; mov.u32 a, 1; mov.u32 x, 0; brx.idx a, bt; D0: add.u32 x, x, 1;
        D1: add.u32 x, x, 10; st.global.u32 [%rd1+84], x; // 10
        ld.global.u64 w, [table+8]; .reg .b32 res; TP: .callprototype (.reg .b32 _) _ (.reg .b32 _);
        call (res), w, (7), TP; st.global.u32 [%rd1+88], res; // 8
        exit;
    }
    }
}

#[test]
fn scopes_constants_and_calls_mean_what_the_manual_says() {
    let mut o = [0u32; 23];
    grammar::grammar.launch(&Host::checked(), Launch::grid(1).block((32, 2)), (&mut o,)).unwrap();
    let expected =
        [42, 126, 378, 3, 9, 50, 7, 19, 31, 59, 0, -3i32 as u32, 0x3f800000, 3, 5, 100, 8, 2, 6, 78, 32021, 10, 8];
    assert_eq!(o, expected);
}
