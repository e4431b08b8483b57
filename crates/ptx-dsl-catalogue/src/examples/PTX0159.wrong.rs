ptx! {
    <sm_90, ptx 8.0>
    .inline twice(x) { add.u32 x, x, x; }
    .visible .entry k() { ret; }
}
