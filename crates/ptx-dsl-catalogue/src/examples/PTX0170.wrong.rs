ptx! {
    <sm_90, ptx 8.0>
    use other_crate::ring;
    .visible .entry k() {
        .reg .b32 %r;
        ring::first!(%r);
        ret;
    }
}
