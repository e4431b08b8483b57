//! Kernels of a Rust file for `ptx-dsl run`. Nobody compiles it.

use ptx_dsl::ptx;

ptx! {
    <sm_90, ptx 8.0>
    part steps {
        .inline add(.reg .b32 %x, const N: u32) { add.u32 %x, %x, N; }
    }
}

ptx! {
    <sm_90, ptx 8.0>
    use self::steps;
    .visible .entry first(.param .u64 .ptr .global .align 4 x: &mut [u32]) .reqntid 32 {
        .reg .b32 %r<2>;
        .reg .b64 %rd<2>;
        ld.param.u64 %rd0, [x];
        mov.u32 %r0, %tid.x;
        mul.wide.u32 %rd1, %r0, 4;
        add.u64 %rd0, %rd0, %rd1;
        steps::add!(%r0, 5);
        st.global.u32 [%rd0], %r0;
        ret;
    }
}

ptx! {
    <sm_90, ptx 8.0>
    .visible .entry second(.param .u64 .ptr .global .align 4 x: &mut [u32]) .reqntid 32 {
        .reg .b64 %rd;
        ld.param.u64 %rd, [x];
        st.global.u32 [%rd + 4096], 1;
        ret;
    }
}
