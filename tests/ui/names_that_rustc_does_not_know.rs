use ptx_dsl::ptx;

ptx! {
    <sm_90, ptx 8.0>
    .visible .entry k(
        .param .u64 .ptr .global .align 4 x: &mut [Nmae],
        .param .align 64 .b8 m[128]: &Maps,
        .param .b32 n: Numbre)
    {
        .reg .b64 %x; .reg .b32 %n;
        ld.param.u64 %x, [x];
        ld.param.b32 %n, [n];
        st.global.b32 [%x], %n;
        ret;
    }
}

fn main() {}
