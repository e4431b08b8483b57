ptx! {
    <sm_90, ptx 8.0>
    const N: u32 = crate::N;
    .visible .entry k() {
        .reg .b32 %r<N>;
        @for I in 0..N { mov.u32 %r{I}, I; }
        ret;
    }
}
