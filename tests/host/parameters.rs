//! Rust types of parameters: 16-bit floats, structs and arrays by value, buffers, strided views.

use half::{bf16, f16};
use ptx_dsl::prelude::*;

ptx! {
    <sm_90, ptx 8.0>
    .visible .entry halves(
        .param .u64 .ptr .global .align 2 x: &[f16],
        .param .u64 .ptr .global .align 2 y: &mut [bf16],
        .param .b16 factor: f16)
    {
        .reg .f16 %h, %f;
        .reg .b16 %b;
        .reg .f32 %w;
        .reg .b64 %x, %y;
        ld.param.u64 %x, [x];
        ld.param.u64 %y, [y];
        ld.param.b16 %f, [factor];
        ld.global.b16 %h, [%x];
        mul.f16 %h, %h, %f;
        cvt.f32.f16 %w, %h;
        cvt.rn.bf16.f32 %b, %w;
        st.global.b16 [%y], %b;
        ret;
    }
}

#[test]
fn floats_of_16_bits_are_elements_and_values() {
    let mut y = [bf16::ZERO];
    let launch = Launch::grid(1);
    halves.launch(&Host::new(), launch.clone(), (&[f16::from_f32(1.5)], &mut y, f16::from_f32(-4.0))).unwrap();
    assert_eq!(y, [bf16::from_f32(-6.0)]);
    let k = ptx!(<sm_90, ptx 8.0> |x: &mut [ptx_dsl::half::bf16], v: bf16| {
        .reg .b16 %v;
        .reg .b64 %x;
        ld.param.b16 %v, [v];
        ld.param.u64 %x, [x];
        st.global.b16 [%x], %v;
        ret;
    });
    k.launch(&Host::new(), launch, (&mut y, bf16::ONE)).unwrap();
    assert_eq!(y, [bf16::ONE]);
}

/// A point with a weight.
#[derive(ptx_dsl::Param, Clone, Copy)]
#[repr(C)]
struct Point<const D: usize> {
    at: [f32; D],
    tag: u8,
    weight: f64,
}

#[derive(ptx_dsl::Param)]
#[repr(C, align(16))]
struct Options<T>(Point<3>, [T; 2], bool);

ptx! {
    <sm_90, ptx 8.0>
    .visible .entry fields(
        .param .u64 .ptr .global .align 8 out: &mut [f64],
        .param .align 16 .b8 options[32]: Options<u16>,
        .param .align 8 .b8 points[48]: [Point<3>; 2],
        .param .align 4 .b8 pair[8]: [i32; 2])
    {
        .reg .b64 %out;
        .reg .f32 %f<4>;
        .reg .f64 %d<8>;
        .reg .b32 %r<8>;
        ld.param.u64 %out, [out];
        ld.param.v2.f32 {%f0, %f1}, [options];
        ld.param.f32 %f2, [options + 8];
        ld.param.u8 %r0, [options + 12];
        ld.param.f64 %d3, [options + 16];
        ld.param.b32 %r1, [options + 24];
        ld.param.u8 %r2, [options + 28];
        ld.param.f32 %f3, [points + 24 + 8];
        ld.param.v2.u32 {%r3, %r4}, [pair];
        cvt.f64.f32 %d0, %f0;
        cvt.f64.f32 %d1, %f1;
        cvt.f64.f32 %d2, %f2;
        st.global.f64 [%out], %d0;
        st.global.f64 [%out + 8], %d1;
        st.global.f64 [%out + 16], %d2;
        st.global.f64 [%out + 24], %d3;
        cvt.rn.f64.u32 %d4, %r0;
        cvt.rn.f64.u32 %d5, %r1;
        cvt.rn.f64.u32 %d6, %r2;
        cvt.f64.f32 %d7, %f3;
        st.global.f64 [%out + 32], %d4;
        st.global.f64 [%out + 40], %d5;
        st.global.f64 [%out + 48], %d6;
        st.global.f64 [%out + 56], %d7;
        sub.s32 %r3, %r3, %r4;
        cvt.rn.f64.s32 %d0, %r3;
        st.global.f64 [%out + 64], %d0;
        ret;
    }
}

#[test]
fn structs_and_arrays_are_passed_by_value() {
    let point = Point { at: [1.0, 2.0, 3.0], tag: 4, weight: 0.1 };
    let mut out = [0.0; 9];
    let options = Options(point, [5u16, 6], true);
    let points = [point, Point { at: [7.0, 8.0, 9.0], ..point }];
    fields.launch(&Host::new(), Launch::grid(1), (&mut out, options, points, [-1, 2])).unwrap();
    let wanted = [1.0, 2.0, 3.0, 0.1, 4.0, 6.0 * 65536.0 + 5.0, 1.0, 9.0, -3.0];
    assert_eq!(out, wanted);
    // as a closure: rustc 1.96 and later refuse private types in the interface of its trait
    let (mut out, options) = ([0.0; 9], Options(point, [5u16, 6], true));
    fields.on(&Host::new(), Launch::grid(1))(&mut out, options, points, [-1, 2]).unwrap();
    assert_eq!(out, wanted);
}

ptx! {
    <sm_90, ptx 8.0>
    // adds a matrix with strides to a contiguous one
    .visible .entry add_rows(
        .param .u64 .ptr .global .align 4 x: &[f32],
        .param .u64 .ptr .global .align 4 y: &mut [f32],
        .param .u32 rows: u32,
        .param .u32 columns: u32,
        .param .u32 row_stride: u32)
    {
        .reg .pred %p, %q;
        .reg .b32 %i, %j, %n, %at;
        .reg .f32 %v, %w;
        .reg .b64 %x, %y;
        ld.param.u32 %n, [rows];
        mov.u32 %i, %tid.y;
        setp.ge.u32 %p, %i, %n;
        @%p ret;
        ld.param.u32 %n, [columns];
        mov.u32 %j, %tid.x;
        setp.ge.u32 %q, %j, %n;
        @%q ret;
        ld.param.u64 %y, [y];
        mad.lo.u32 %at, %i, %n, %j;
        mad.wide.u32 %y, %at, 4, %y;
        ld.param.u64 %x, [x];
        ld.param.u32 %n, [row_stride];
        mad.lo.u32 %at, %i, %n, %j;
        mad.wide.u32 %x, %at, 4, %x;
        ld.global.f32 %v, [%x];
        ld.global.f32 %w, [%y];
        add.f32 %v, %v, %w;
        st.global.f32 [%y], %v;
        ret;
    }
}

#[test]
fn buffers_outlive_launches_and_have_parts_and_views() {
    let host = Host::new();
    let launch = Launch::grid(1).block((4, 4));
    let data: Vec<f32> = (0..15).map(|i| i as f32).collect();
    let x = ptx_dsl::argument::Strided::new(host.buffer(&data), [3, 2], [5, 1]).unwrap();
    let mut y = host.zeroed::<f32>(8);
    let ([rows, columns], [stride, _]) = (x.shape().map(|n| n as u32), x.strides().map(|n| n as u32));
    add_rows.launch(&host, launch.clone(), (&x, &mut y, rows, columns, stride)).unwrap();
    add_rows.launch(&host, launch.clone(), (&x, y.slice_mut(0..6), rows, columns, stride)).unwrap();
    // a closure, and a part that begins after the first element
    add_rows.on(&host, launch.clone())(&(*x)[1..], &mut y[2..], rows, columns, stride).unwrap();
    let mut wanted = [0.0; 8];
    for row in 0..3 {
        for column in 0..2 {
            wanted[2 * row + column] += 2.0 * x[[row, column]];
            wanted[2 * row + column + 2] += data[5 * row + column + 1];
        }
    }
    let mut out = [0.0; 8];
    y.copy_to(&mut out);
    assert_eq!((out, y.to_vec()), (wanted, wanted.to_vec()));
    // a part ends where it ends
    let fault = add_rows.launch(&host, launch, (&x, y.slice_mut(0..5), rows, columns, stride)).unwrap_err();
    assert!(fault.fault().is_some(), "{fault}");
    y.copy_from(&[1.0; 8]);
    assert_eq!(y[..], [1.0; 8]);
    // parameters without a Rust type
    let mut z = host.zeroed::<u32>(2);
    file::from_file.launch(&host, Launch::grid(1), (&mut z,)).unwrap();
    assert_eq!(z[..], [42, 0]);
}

mod file {
    ptx_dsl::include_ptx!("from_file.ptx");
}

mod typed_file {
    ptx_dsl::include_ptx!("parameters.ptx", fn scale(x: &mut [f32], factor: f32), deny(PTX0158), fn copy(from: &[u32], to: &mut [u32]));
}

#[test]
fn kernels_of_files_have_rust_types() {
    let (host, mut x) = (Host::new(), vec![1.5]);
    // literals get their types from the signature
    typed_file::scale.launch(&host, Launch::grid(1), (&mut x, 2.0)).unwrap();
    assert_eq!(x, [3.0f32]);
    let mut to = [0];
    typed_file::copy().on(&host, Launch::grid(1))(&[7], &mut to).unwrap();
    assert_eq!(to, [7u32]);
    // this one has no signature
    typed_file::nothing.launch(&host, Launch::grid(1), (&mut x, 0u64)).unwrap();
}
