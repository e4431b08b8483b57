use ptx_dsl::prelude::*;

ptx! {
    <sm_90, ptx 8.0>
    .visible .entry ring<const STAGES: u32 in [2, 4], const BYTES: u32 in 15..=16>() .reqntid 512 * STAGES {
        .reg .b32 %r<STAGES>;
        .reg .b64 %from;
        .shared .align 16 .b8 to[16];
        mov.u64 %from, 0;
        mov.u32 %r3, 1;
        cp.async.ca.shared.global [to], [%from], BYTES;
        ret;
    }
}

mod right {
    ptx_dsl::ptx! {
        <sm_90, ptx 8.0>
        .visible .entry add<const N: u32 in [1, 2], const UP: bool in [true]>() { .reg .b32 %r; mov.u32 %r, N; ret; }
    }
}

mod lists {
    ptx_dsl::ptx! {
        <sm_90, ptx 8.0>
        .visible .entry a<const N: u32 in [1, 2], const M: u32>() { ret; }
        .visible .entry b<const N: u8 in [1, 256]>() { ret; }
        .visible .entry c<const N: u8 in [1, 1]>() { ret; }
        .visible .entry d<const N: u8 in []>() { ret; }
        .visible .entry e<const N: u8 in 4>() { ret; }
    }
}

fn main() {
    let _ = right::add::<3, true>::PTX;
    let _ = right::add::<2, true>::PTX;
    let _ = right::add::<4, true>();
    let (host, launch) = (Host::new(), Launch::grid(1));
    right::add::<5, true>().launch(&host, launch.clone(), ()).unwrap();
    right::add::<6, true>.launch(&host, launch.clone(), ()).unwrap();
    right::add::<7, true>.on(&host, launch)().unwrap();
}
