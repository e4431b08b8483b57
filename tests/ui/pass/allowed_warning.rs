#![deny(warnings)]
// what is for rust-analyzer alone names a `cfg` that rustc does not know
#![forbid(unexpected_cfgs)]

use ptx_dsl::ptx;

ptx! {
    <sm_90, ptx 8.0, allow(PTX0516), warn(PTX0517)>
    .visible .entry k() .minnctapersm 2 {
        ret;
    }
}

fn main() {
    let f = ptx!(<sm_90, ptx 8.0, allow(PTX0516)> |n: u32| { ret; });
    let _ = f;
}
