use ptx_dsl::ptx;

const TILE: u32 = 48;
const BIG: u32 = 300;
const ZERO: u32 = 0;

ptx! {
    <sm_90, ptx 8.0>
    const TILE: u32 = crate::TILE;
    const BIG: u32 = crate::BIG;
    const ZERO: u32 = crate::ZERO;
    .visible .entry k() .reqntid TILE, TILE {
        .reg .b32 %v;
        .shared .align TILE .u32 tile[TILE];
        .shared .align 4 .u32 none[ZERO];
        .shared .align 4 .u32 large[TILE * TILE * BIG];
        mov.u32 %v, BIG;
        lop3.b32 %v, %v, %v, %v, BIG;
        st.shared.u32 [tile + TILE], %v;
        st.shared.u32 [tile + TILE * 4], %v;
        st.shared.u32 [large + TILE + 2], %v;
        st.shared.u32 [tile + 400], %v;
        ld.shared.u32 %v, [tile + TILE * 4];
        ld.shared.u32 %v, [tile + 4 * TILE];
        bar.sync 0, TILE;
        ret;
    }
}

mod division {
    ptx_dsl::ptx! {
        <sm_90, ptx 8.0>
        const TILE: u32 = crate::TILE;
        const ZERO: u32 = crate::ZERO;
        .visible .entry k() {
            .reg .b32 %v;
            mov.u32 %v, TILE / ZERO;
            ret;
        }
    }
}

fn main() {}
