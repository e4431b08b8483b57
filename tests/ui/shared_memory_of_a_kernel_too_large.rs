use ptx_dsl::ptx;

ptx! {
    <sm_90, ptx 8.0>
    .shared .b8 a[40000];
    .shared .b8 b[40000];
    .func f() { st.shared.u32 [b], 2; ret; }
    .visible .entry one() { st.shared.u32 [a], 1; ret; }
    .visible .entry both() { st.shared.u32 [a], 1; call f; ret; }
}

fn main() {}
