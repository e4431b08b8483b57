ptx! {
    <sm_90a, ptx 8.0>
    layout Tile = f16[128, 64] swizzle 128;
    .visible .entry k() {
        .shared Tile stages[4];
        ret;
    }
}
