ptx! {
    <sm_90, ptx 8.0>
    .inline twice(.reg .b32 %x) { add.u32 %x, %x, %x; }
    .visible .entry k() { .reg .b32 %r; mov.u32 %r, 1; twice!(%r); ret; }
}
