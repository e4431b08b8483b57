//! Times every instance of the bf16 products at 512 cubed on the host: `cargo run -p ptx-dsl-kernels --example host_times`.

use half::bf16;
use ptx_dsl::Host;
use ptx_dsl_kernels::gemm::{self, Cluster, Plan, Shape};
use std::time::Instant;

const N: usize = 512;

fn main() -> Result<(), ptx_dsl_kernels::Error> {
    let shape = Shape { m: N, n: N, k: N };
    let host = Host::new();
    let (a, b) = (vec![bf16::ONE; N * N], vec![bf16::from_f32(0.5); N * N]);
    let eights = vec![0x38; N * N];
    let time = |name: &str, run: &mut dyn FnMut() -> Result<(), ptx_dsl_kernels::Error>| {
        // the first launch prepares the kernel
        run()?;
        let start = Instant::now();
        run()?;
        println!("{name:24} {:6.0} ms", start.elapsed().as_secs_f64() * 1e3);
        Ok::<(), ptx_dsl_kernels::Error>(())
    };
    for width in [256, 192, 144, 128, 64] {
        for cluster in [Cluster::Alone, Cluster::Pair] {
            let plan = Plan::new(shape, width, cluster, gemm::MULTIPROCESSORS)?;
            let mut c = vec![bf16::ZERO; N * N];
            time(&format!("bf16 {width} {cluster:?}"), &mut || {
                gemm::bf16_bf16(&host, &a, &b, &mut c, plan)?;
                assert!(c.iter().all(|c| *c == bf16::from_f32(256.0)));
                Ok(())
            })?;
            let mut wide = vec![0.0; N * N];
            time(&format!("bf16 > f32 {width} {cluster:?}"), &mut || {
                gemm::bf16_f32(&host, &a, &b, &mut wide, plan).map(drop)
            })?;
            time(&format!("e4m3 {width} {cluster:?}"), &mut || {
                gemm::e4m3_bf16(&host, &eights, &eights, &mut c, plan, 1.0).map(drop)
            })?;
        }
    }
    Ok(())
}
