#![deny(deprecated)]

use ptx_dsl::ptx;

ptx! {
    <sm_90, ptx 8.0>
    .visible .entry k()
        .maxntid 128
        .maxntid 256
    {
        ret;
    }
}

fn main() {}
