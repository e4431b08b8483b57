use ptx_dsl::ptx;

const TILE: u32 = 16;

ptx! {
    <sm_90, ptx 8.0>
    const TILE = crate::TILE;
    .visible .entry k() .reqntid TILE { ret; }
}

fn main() {}
