//! The kernel of the example: checked and run on the host as Rust, and written for nvcc.

use ptx_dsl::prelude::*;

ptx! {
    <sm_75, ptx 6.4>
    // Multiplies n numbers by a factor.
    .visible .entry scale(.param .u64 .ptr .global .align 4 x: &mut [f32], .param .f32 factor, .param .u32 n) .reqntid 256
    {
        .reg .pred %p;
        .reg .b32 %i, %block, %n;
        .reg .f32 %v, %factor;
        .reg .b64 %x;
        ld.param.u64 %x, [x];
        ld.param.f32 %factor, [factor];
        ld.param.u32 %n, [n];
        mov.u32 %i, %tid.x;
        mov.u32 %block, %ctaid.x;
        mad.lo.u32 %i, %block, 256, %i;
        setp.ge.u32 %p, %i, %n;
        @%p ret;
        cvta.to.global.u64 %x, %x;
        mad.wide.u32 %x, %i, 4, %x;
        ld.global.f32 %v, [%x];
        mul.rn.f32 %v, %v, %factor;
        st.global.f32 [%x], %v;
        ret;
    }
}
