use ptx_dsl::ptx;

ptx! {
    <sm_90, ptx 8.0>
    .visible .entry k(.param .u64 .ptr .global .align 2 x: &mut [f16]) {
        .reg .b64 %x; .reg .b16 %h;
        ld.param.u64 %x, [x];
        ld.global.b16 %h, [%x];
        add.f16 %h, %h, %h;
        st.global.b16 [%x], %h;
        ret;
    }
}

fn main() {}
