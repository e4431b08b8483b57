//! Rust types of parameters and included files. Nobody compiles it.

use ptx_dsl::{include_ptx, ptx};

include_ptx!("right.ptx");
include_ptx!("right.ptx");
include_ptx!("missing.ptx", deny(protocol));
include_ptx!("doubtful.ptx", fn doubtful(n: u32), allow(PTX0516));

ptx! {
    <sm_90, ptx 8.0>
    .visible .entry sizes(.param .u32 n: u64, .param .u32 x: &[f32], .param .f32 right: f32, .param .u64 y: &mut f32) { ret; }
    .visible .entry others(.param .align 8 .b8 pair[8]: crate::Pair, .param .align 64 .b8 map[128]: &TensorMap, .param .u64 z: &mut [u8]) { ret; }
    @for I in 0..2 {
        .visible .entry made{I}(.param .u32 n: u16) { ret; }
    }
}

ptx! {
    <sm_90, ptx 8.0>
    .visible .entry elements(.param .u64 .ptr .global .align 8 x: &mut [f32]) {
        .reg .b64 %x;
        .reg .f64 %f;
        ld.param.u64 %x, [x];
        ld.global.f64 %f, [%x];
        st.global.f64 [%x + 8], %f;
        ret;
    }
}
