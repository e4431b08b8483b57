use ptx_dsl::ptx;

ptx! {
    <sm_90, ptx 8.0>
    .visible .entry k() .reqntid TILE {
        .reg .b32 %r<SIZE>;
        .reg .b32 %a;
        .shared .b32 tile[TILE];
        .shared .align TILE .b32 more[TILE * TILE];
        mov.u32 %a, TILE;
        mov.u32 %a, TILE * 2;
        mov.u32 %a, (TILE + 2) * 2;
        ld.shared.u32 %a, [more + TILE];
        bra LOOP;
        ret;
    }
}

ptx! {
    <sm_90, ptx 8.0>
    .visible .entry repetition() {
        .reg .b32 %a;
        @for I in 0..STAGES { mov.u32 %a, I; }
        ret;
    }
}

ptx! {
    <sm_90, ptx 8.0>
    part of_constants {
        .inline step(.reg .b32 %x) { add.u32 %x, %x, STEP; }
        .layout tiles(all) { .shared .b32 all[TILES]; }
    }
}

fn main() {
    let n = 4u32;
    let m = ptx!(<sm_90, ptx 8.0> |x, n| { ret; });
    let l = ptx!(<sm_90, ptx 8.0> |x: &[f32]| { .reg .b32 %r; mov.u32 %r, TILE; ret; });
}
