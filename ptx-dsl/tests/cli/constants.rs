//! Constants and repetition in a Rust file. Nobody compiles it.

const TILE: u32 = 16;

ptx_dsl::ptx! {
    <sm_90, ptx 8.0>
    const TILE: u32 = crate::TILE;
    const STAGES: u32 = 3;
    .visible .entry k<const N: u32>() .reqntid TILE, N {
        .shared .b32 tile[TILE * N];
        @for I in 0..STAGES {
            .reg .b32 %r{I}, %s{I}_{I + 1};
            mov.u32 %r{I}, I * TILE;
            @if I > 0 { mov.u64 %r{I}, 0; } else { st.shared.b32 [tile], %r{I}; }
        }
        ret;
    }
}

ptx_dsl::ptx! {
    <sm_90, ptx 8.0>
    .visible .entry known() { @for I in 0..2 { bar.sync I; } ret; }
}
