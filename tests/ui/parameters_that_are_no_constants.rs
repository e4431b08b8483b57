use ptx_dsl::ptx;

ptx! {
    <sm_90, ptx 8.0>
    .visible .entry a<const N: u32>() { .reg .b32 %r; mov.u32 %r, N; ret; }
    .visible .entry b() { ret; }
    .func f<const M: u32>() { ret; }
}

ptx! {
    <sm_90, ptx 8.0>
    .visible .entry c<const N: f32>() { ret; }
}

ptx! {
    <sm_90, ptx 8.0>
    .visible .entry d<N: u32>() { ret; }
}

fn main() {}
