//! `include_ptx!`: every module of tests/ptx becomes Rust that compiles, and kernels from files run.

use ptx_dsl::prelude::*;

macro_rules! modules {
    ($($name:ident $file:literal)*) => {$(
        #[allow(dead_code)]
        mod $name {
            ptx_dsl::include_ptx!($file);
        }
    )*};
}

modules! {
    atomics "../ptx/atomics.ptx"
    barriers "../ptx/barriers.ptx"
    clc "../ptx/clc.ptx"
    clc_older "../ptx/clc_older.ptx"
    cluster "../ptx/cluster.ptx"
    compare "../ptx/compare.ptx"
    control "../ptx/control.ptx"
    convert "../ptx/convert.ptx"
    float "../ptx/float.ptx"
    half "../ptx/half.ptx"
    integer "../ptx/integer.ptx"
    mbarrier "../ptx/mbarrier.ptx"
    memory "../ptx/memory.ptx"
    older "../ptx/older.ptx"
    order "../ptx/order.ptx"
    rubin "../ptx/rubin.ptx"
    sreg "../ptx/sreg.ptx"
    texture_independent "../ptx/texture_independent.ptx"
    texture_surface "../ptx/texture_surface.ptx"
    video "../ptx/video.ptx"
    tcgen05 "../ptx/tcgen05.ptx"
    warp "../ptx/warp.ptx"
}

#[test]
fn a_kernel_from_a_file_sums_blocks() {
    let x: Vec<f32> = (0..1000).map(|i| (i % 17) as f32).collect();
    let mut sums = [0f32; 4];
    older::_Z9block_sumPKfPfi.launch(&Host::new(), Launch::grid(4).block(256), (&x, &mut sums, 1000)).unwrap();
    for (block, sum) in sums.iter().enumerate() {
        let expected: f32 = x[block * 256..1000.min(block * 256 + 256)].iter().sum();
        assert_eq!(*sum, expected, "all sums are small integers, so exact");
    }
}

#[test]
fn a_kernel_from_a_file_steals_clusters_of_two() {
    for seed in 0..4 {
        let mut taken = [0u32; 64];
        let host = Host::new().seed(seed).resident_clusters(3);
        let report = clc::clc.launch(&host, Launch::grid(64), (&mut taken,)).unwrap();
        assert_eq!(taken.iter().sum::<u32>(), 64);
        assert_eq!(report.clusters_launched + report.clusters_cancelled, 32);
    }
}
