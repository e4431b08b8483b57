use ptx_dsl::ptx;

ptx! {
    <sm_90, ptx 8.0>
    .visible .entry k<const N: u32>() .reqntid N + 1025 {
        .reg .b32 %v;
        .shared .align 4 .b32 tile[64];
        mov.u32 %v, 0;
        st.shared.b32 [tile + 4 * N + 2], %v;
        st.shared.b32 [tile + 4 * N], %v;
        ret;
    }
}

fn main() {}
