use ptx_dsl::ptx;

const TILE: u32 = 16;

ptx! {
    <sm_90, ptx 8.0>
    .visible .entry parameter<const N>() .reqntid N { ret; }
}

ptx! {
    <sm_90, ptx 8.0>
    const SIZE: u32;
    .visible .entry value() .reqntid SIZE { ret; }
}

ptx! {
    <sm_90, ptx 8.0>
    const TILE: u32 = crate::TILE;
    .visible .entry address() {
        .reg .b32 %r<4>;
        .reg .b64 %rd<4>;
        ld.global.u32 %r1, [%rd1 - TILE];
        ret;
    }
}

fn main() {}
