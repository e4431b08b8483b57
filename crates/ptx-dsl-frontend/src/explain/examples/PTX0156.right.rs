ptx! {
    <sm_90, ptx 8.0>
    const N: u32 = 16;
    .visible .entry k() { .reg .b32 %r<N>; ret; }
}
