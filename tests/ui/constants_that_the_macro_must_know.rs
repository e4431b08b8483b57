use ptx_dsl::ptx;

const TILE: u32 = 48;

ptx! {
    <sm_90, ptx 8.0>
    const TILE: u32 = crate::TILE;
    .const .u32 c[2][TILE] = {{1}, {2}};
    .global .u32 g[TILE];
    .global .u64 at = g;
    .extern .global .u32 e[TILE];
    .visible .entry k(.param .u64 .ptr .global .align 8 x, .param .b8 bytes[TILE]) {
        .reg .b32 %r;
        .reg .b64 %x;
        .shared .b64 mb[4];
        .local .u32 l<TILE>;
        ld.param.u64 %x, [x + TILE];
        mbarrier.init.b64 [mb + TILE], 1;
        ld.global.u32 %r, [TILE];
        cp.async.ca.shared.global [mb], [%x], TILE;
        @for I in 0..TILE { mov.u32 %r, I; }
        @if TILE > 2 { mov.u32 %r, 4; }
        ret;
    }
}

ptx! {
    <sm_90, ptx 8.0>
    const TILE: u32 = crate::TILE;
    .global .u32 v[TILE];
    .visible .entry g<const N: u32>() {
        .reg .b32 %r<8>;
        @for I in 0..N { mov.u32 %r{I}, I; }
        ret;
    }
    .visible .entry h() { ret; }
}

fn main() {}
