ptx! {
    <sm_90, ptx 8.0>
    const TILE: u32 = crate::TILE;
    .visible .entry k() .reqntid TILE { ret; }
}
