ptx! {
    <sm_90, ptx 8.0, deny(PTX0158)>
    .visible .entry k(.param .u64 .ptr .global .align 8 x: &mut [f64]) {
        .reg .f64 %d;
        .reg .b64 %x;
        ld.param.u64 %x, [x];
        ld.global.f64 %d, [%x + 8];
        st.global.f64 [%x], %d;
        ret;
    }
}
