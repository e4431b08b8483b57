//! Emitted code stands beside names of the user, which may be those of Rust.

use ptx_dsl::{Host, KernelFn as _, Launch};

#[allow(non_camel_case_types, dead_code)]
mod hostile {
    pub enum Option {}
    pub enum Result {}
    pub struct Some;
    pub struct None;
    pub struct Ok;
    pub struct Err;
    pub struct Vec;
    pub struct Box;
    pub struct String;
    pub struct bool;
    pub struct str;
    pub struct u8;
    pub struct u16;
    pub struct u32;
    pub struct u64;
    pub struct usize;
    pub struct i8;
    pub struct i16;
    pub struct i32;
    pub struct i64;
    pub struct isize;
    pub struct f32;
    pub struct f64;
    pub trait Clone {}
    pub trait Copy {}
    pub trait Default {}
    pub trait Fn {}
    pub trait From {}
    pub trait Into {}
    pub trait Iterator {}
    pub trait PartialEq {}
    pub trait Sized {}

    #[derive(ptx_dsl::Param)]
    #[repr(C)]
    pub struct Pair(pub ::core::primitive::u32, pub ::core::primitive::f32);

    ptx_dsl::ptx! {
        <sm_90, ptx 8.0, compiled>
        const STEP: u32 = 2 + 3;
        const HALF: f32 = 0.5;
        const ODD: i32 = -7;
        .visible .entry k(
            .param .u64 .ptr .global .align 4 x,
            .param .u32 n,
            .param .f32 f,
            .param .align 4 .b8 pair[8]: Pair)
            .maxntid 64
        {
            .reg .b32 %r<4>;
            .reg .b64 %x;
            .reg .f32 %f;
            .reg .pred %p;
            .shared .align 4 .b32 sum[STEP];
            ld.param.u64 %x, [x];
            ld.param.u32 %r0, [n];
            ld.param.u32 %r1, [pair];
            ld.param.f32 %f, [f];
            mov.u32 %r2, %tid.x;
            setp.lt.u32 %p, %r2, %r0;
            @!%p bra out;
            add.u32 %r1, %r1, STEP;
            add.s32 %r1, %r1, ODD;
            add.u32 %r1, %r1, %r2;
            st.shared.u32 [sum], %r1;
            mad.wide.u32 %x, %r2, 4, %x;
            st.global.u32 [%x], %r1;
        out:
            ret;
        }
        .visible .entry listed<const N: u32 in [2, 4], const TWICE: bool in [true]>(.param .u64 x: &mut [::core::primitive::u32]) {
            .reg .b32 %r;
            .reg .b64 %x;
            ld.param.u64 %x, [x];
            mov.u32 %r, N;
            st.global.u32 [%x], %r;
            ret;
        }
    }

    ptx_dsl::ptx! {
        <sm_90, ptx 8.0, compiled>
        .visible .entry generic<const N: u32>(.param .u64 .ptr .global .align 4 x) .maxntid N {
            .reg .b32 %r;
            .reg .b64 %x;
            .shared .align 4 .b8 more[N];
            ld.param.u64 %x, [x];
            mov.u32 %r, N;
            st.global.u32 [%x], %r;
            ret;
        }
    }

    ptx_dsl::include_ptx!("buffers.ptx", compiled);

    pub fn closure(host: &ptx_dsl::Host, x: &mut [::core::primitive::u32]) {
        let k = ptx_dsl::ptx!(<sm_90, ptx 8.0, compiled> |x: &mut [::core::primitive::u32], n: ::core::primitive::u32| {
            .reg .b32 %r;
            .reg .b64 %x;
            ld.param.u64 %x, [x];
            ld.param.u32 %r, [n];
            st.global.u32 [%x], %r;
            ret;
        });
        k.launch(host, ptx_dsl::Launch::grid(1), (x, 9)).unwrap();
    }
}

mod answer {
    ptx_dsl::ptx! {
        <sm_90, ptx 8.0>
        .visible .entry answer(.param .u64 .ptr .global .align 4 x) {
            .reg .b64 %x;
            ld.param.u64 %x, [x];
            st.global.u32 [%x], 42;
            ret;
        }
    }
}
// `use answer::answer;` is E0255
use answer::*;

#[test]
fn a_kernel_may_have_the_name_of_its_module() {
    let (host, mut x) = (Host::new(), [0; 2]);
    answer.launch(&host, Launch::grid(1), (&mut x[..1],)).unwrap();
    answer::answer.launch(&host, Launch::grid(1), (&mut x[1..],)).unwrap();
    assert_eq!(x, [42, 42]);
}

#[test]
fn names_of_rust_may_be_names_of_the_user() {
    let (host, one) = (Host::new(), || Launch::grid(1));
    let mut x = [0; 4];
    hostile::k.launch(&host, Launch::grid(1).block(4), (&mut x, 3, 1.0, hostile::Pair(10, 0.0))).unwrap();
    assert_eq!(x, [8, 9, 10, 0]);
    hostile::listed::<4, true>().launch(&host, one(), (&mut x,)).unwrap();
    assert_eq!(x[0], 4);
    hostile::generic::<7>().launch(&host, one(), (&mut x,)).unwrap();
    assert_eq!(x[0], 7);
    hostile::word.launch(&host, one(), (&mut x,)).unwrap();
    assert_eq!(x[0], 42);
    hostile::closure(&host, &mut x);
    assert_eq!(x[0], 9);
}
