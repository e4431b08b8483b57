use ptx_dsl::tensor_map::TensorMap as Map;
use ptx_dsl::prelude::*;

ptx! {
    <sm_90, ptx 8.0>
    .visible .entry k(.param .u64 .ptr .global .align 2 x: &mut [f16], .param .b16 h: bf16,
        .param .align 64 .b8 m[128]: &Map)
    {
        .reg .b64 %x; .reg .b16 %h;
        ld.param.u64 %x, [x];
        ld.param.b16 %h, [h];
        st.global.b16 [%x], %h;
        ret;
    }
}

fn main() {
    let mut x = [f16::from_f32(1.0)];
    let _ = (k, &mut x, bf16::from_f32(2.0));
}
