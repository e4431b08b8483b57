ptx! {
    <sm_90, ptx 8.0>
    pub part ring {
        .inline first(.reg .b32 %r) { mov.u32 %r, 0; }
    }
}

ptx! {
    <sm_90, ptx 8.0>
    use crate::ring;
    .visible .entry k() {
        .reg .b32 %r;
        ring::first!(%r);
        ret;
    }
}
