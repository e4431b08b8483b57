ptx! {
    <sm_90, ptx 8.0>
    .inline twice(.reg .b32 %x) { add.u32 %x, %x, %x; }
    .visible .entry k() { .reg .b64 %r; mov.u64 %r, 1; twice!(%r); ret; }
}
