use ptx_dsl::ptx;

const TILE: u32 = 48;
const F: f32 = 1.0;

ptx! {
    <sm_90, ptx 8.0>
    const TILE: u32 = crate::TILE;
    const F: f32 = crate::F;
    const X: String = crate::F;
    const W: u8 = 300;
    const TILE: u32 = 16;
    .visible .entry k() .reqntid F {
        .reg .b32 %r;
        .reg .f32 %f;
        mov.u32 %r, F;
        mov.f32 %f, TILE;
        mov.f32 %f, F * 2.0;
        ret;
    }
}

mod by_rustc {
    ptx_dsl::ptx! {
        <sm_90, ptx 8.0>
        const NARROW: u16 = crate::TILE;
        const NOWHERE: u32 = crate::NOWHERE;
        .visible .entry k() .reqntid NARROW { bar.sync NOWHERE; ret; }
    }
}

fn main() {}
