//! Names of kernels are no patterns: variables, parameters and functions of other modules can have them.

mod kernels {
    ptx_dsl::ptx! {
        <sm_90, ptx 8.0>
        .visible .entry scale(.param .f32 x) { ret; }
    }
    ptx_dsl::ptx! {
        <sm_90, ptx 8.0>
        .visible .entry gemm<const N: u32>(.param .f32 x) .maxntid N { ret; }
    }
    ptx_dsl::ptx! {
        <sm_90, ptx 8.0>
        .visible .entry match() { ret; }
        .visible .entry listed<const N: u32 in [1, 2]>() .maxntid 32 * N { ret; }
    }
}

use kernels::*;
use ptx_dsl::{Host, Launch};

fn twice(scale: f32) -> f32 {
    let gemm = 2.0;
    match scale {
        0.0 => 0.0,
        scale => scale * gemm,
    }
}

fn main() {
    let (host, launch) = (Host::new(), Launch::grid(1));
    // a glob import brings the methods too
    scale.launch(&host, launch.clone(), (1.0,)).unwrap();
    scale.on(&host, launch.clone())(1.0).unwrap();
    gemm::<32>.launch(&host, launch.clone(), (1.0,)).unwrap();
    gemm::<32>.on(&host, launch.clone())(1.0).unwrap();
    r#match.launch(&host, launch.clone(), ()).unwrap();
    listed::<2>.on(&host, launch.clone())().unwrap();
    let one: listed<1> = listed_1();
    one.launch(&host, launch.clone(), ()).unwrap();
    let scale = twice(2.0);
    // the type has its constants, and its value the methods, whatever the variables
    kernels::scale().launch(&host, launch, (scale,)).unwrap();
    assert!(scale::PTX.contains(scale::NAME) && gemm::<32>::ENTRY_PTX.contains("gemm_32"));
}
