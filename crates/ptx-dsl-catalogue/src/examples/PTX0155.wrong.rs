ptx! {
    <sm_90, ptx 8.0>
    const TILE = crate::TILE;
    .visible .entry k() .reqntid TILE { ret; }
}
