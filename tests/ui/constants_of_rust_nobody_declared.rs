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
        @for I in 0..STAGES { mov.u32 %a, I; }
        bra LOOP;
        ret;
    }
}

fn main() {
    let n = 4u32;
    let k = ptx!(<sm_90, ptx 8.0> |x, n| { ret; });
    let l = ptx!(<sm_90, ptx 8.0> |x: &[f32]| { .reg .b32 %r; mov.u32 %r, TILE; ret; });
}
