use ptx_dsl::ptx;

ptx! {
    <sm_90, ptx 8.0>
    .visible .entry k(.param .u64 .ptr .global .align 4 x: &[u32]) .reqntid 128 {
        .reg .pred %p, %q;
        .reg .b32 %r<4>;
        .reg .b64 %rd<4>;
        .reg .b64 %rq;
        .shared .align 16 .b8 tile[256];
        .shared .align 8 .b64 mb;
        ld.param.u64 %rd1, [x];
        mov.u32 %r1, %tid.x;
        mul.wide.u32 %rd2, %r1, 4;
        add.u64 %rd1, %rd1, %rd2;
        st.global.u32 [%rd1], %r1;
        ret;
    }
}

fn main() {}
