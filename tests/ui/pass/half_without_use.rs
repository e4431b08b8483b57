//! `f16` in the type of a parameter is that of the crate `half`, unless a name in scope says otherwise.

use ptx_dsl::{Host, KernelFn, Launch, ptx};

ptx! {
    <sm_90, ptx 8.0>
    .visible .entry twice(.param .u64 .ptr .global .align 2 x: &mut [f16]) {
        .reg .b64 %x;
        .reg .b16 %h;
        ld.param.u64 %x, [x];
        ld.global.b16 %h, [%x];
        add.f16 %h, %h, %h;
        st.global.b16 [%x], %h;
        ret;
    }
}

mod own {
    #[allow(non_camel_case_types)]
    pub type f16 = u16;

    ptx_dsl::ptx! {
        <sm_90, ptx 8.0>
        .visible .entry next(.param .u64 .ptr .global .align 2 x: &mut [f16]) {
            .reg .b64 %x;
            .reg .b16 %h;
            ld.param.u64 %x, [x];
            ld.global.u16 %h, [%x];
            add.u16 %h, %h, 1;
            st.global.u16 [%x], %h;
            ret;
        }
    }
}

mod imported {
    use ptx_dsl::prelude::*;

    ptx! {
        <sm_90, ptx 8.0>
        .visible .entry same(.param .u64 .ptr .global .align 2 x: &mut [f16], .param .u64 .ptr .global .align 2 y: &[bf16]) {
            ret;
        }
    }

    pub fn run() {
        let mut x = [f16::ONE];
        same.launch(&Host::new(), Launch::grid(1).block(1), (&mut x, &[bf16::ONE])).unwrap();
    }
}

fn main() {
    let (host, launch) = (Host::new(), || Launch::grid(1).block(1));
    let mut x = [ptx_dsl::half::f16::from_f32(1.5)];
    twice.launch(&host, launch(), (&mut x,)).unwrap();
    assert_eq!(x[0].to_f32(), 3.0);
    let kernel = ptx!(<sm_90, ptx 8.0> |x: &mut [f16], y: &[bf16]| { ret; });
    kernel.launch(&host, launch(), (&mut x, &[ptx_dsl::half::bf16::ONE])).unwrap();
    let mut x = [7];
    own::next.launch(&host, launch(), (&mut x,)).unwrap();
    assert_eq!(x, [8]);
    imported::run();
}
