//! Matrix products on the tensor cores of Blackwell: D = A * B, with A as M x K and B as N x K, both row by row.
//!
//! Three kernels of one structure. Four warps copy tiles of A and B from global memory into a ring of stages in shared memory, in
//! the 128-byte swizzle that the tensor core reads. One elected thread of a fifth warp issues the products, 16 (or 32) elements
//! of K at a time; they accumulate in Tensor Memory. Each stage has two mbarriers: `full` counts the threads that write it, and
//! `tcgen05.commit` arrives on `empty` when the products that read it are done. At the end the four warps load the sums from
//! Tensor Memory, a quarter of its lanes each, and store them.
//!
//! - `gemm`: f16 in, f32 out, a tile of 128 x 128 for each CTA.
//! - `gemm_pair`: the same with CTA pairs, `.cta_group::2`: a tile of 256 x 256 for each pair. Each CTA copies its half of A and
//!   B; a thread of the even one issues the products for both.
//! - `gemm_scaled`: 8-bit floats (e4m3) with a scale factor for every 32 elements of K, `.kind::mxf8f6f4.block_scale`.

mod one;
mod pair;
mod scaled;

use half::f16;
use one::gemm;
use pair::gemm_pair;
use ptx_dsl::prelude::*;
use scaled::gemm_scaled;
use std::io::IsTerminal;
use std::time::Instant;

/// Stages of the ring and the bytes of one: a tile of A and one of B, 128 rows of 128 bytes each.
const STAGES: usize = 3;
const STAGE: usize = 2 * 128 * 128;
/// Threads of a CTA: four warps that copy tiles and store results, and the one that issues.
const THREADS: u32 = 160;

/// A launch that counts its CTAs on a terminal.
fn watched(launch: Launch, name: &'static str) -> Launch {
    if !std::io::stderr().is_terminal() {
        return launch;
    }
    launch.on_progress(move |p| eprint!("\r  {name} {}/{}\r", p.clusters_done, p.clusters))
}

/// Pseudo-random numbers (xorshift).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 >> 16
    }
}

/// The product in f64, and for each element the sum of the magnitudes of its terms.
fn product(a: &[f64], b: &[f64], (m, n, k): (usize, usize, usize)) -> (Vec<f64>, Vec<f64>) {
    let (mut sums, mut sizes) = (vec![0.0; m * n], vec![0.0; m * n]);
    for i in 0..m {
        let a = &a[i * k..][..k];
        for j in 0..n {
            let b = &b[j * k..][..k];
            sums[i * n + j] = a.iter().zip(b).map(|(x, y)| x * y).sum();
            sizes[i * n + j] = a.iter().zip(b).map(|(x, y)| (x * y).abs()).sum();
        }
    }
    (sums, sizes)
}

/// The largest error, as a multiple of the bound: K roundings of f32, each at most 2^-24 of the sum of magnitudes.
fn worst(d: &[f32], (sums, sizes): &(Vec<f64>, Vec<f64>), k: usize) -> f64 {
    let bound = k as f64 * 2f64.powi(-24);
    d.iter().zip(sums).zip(sizes).map(|((&d, sum), size)| (d as f64 - sum).abs() / (bound * size)).fold(0.0, f64::max)
}

/// The value of an e4m3 byte: a sign, four bits of exponent with bias 7, three bits of fraction.
fn e4m3(x: u8) -> f64 {
    let (exponent, fraction) = ((x >> 3 & 15) as i32, (x & 7) as f64);
    let size = if exponent == 0 { fraction * 2f64.powi(-9) } else { (1.0 + fraction / 8.0) * 2f64.powi(exponent - 7) };
    if x & 0x80 != 0 { -size } else { size }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (m, n, k) = (512, 512, 512);
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    let mut halves = |count: usize| -> Vec<f16> {
        (0..count).map(|_| f16::from_f32((random.next() % 4096) as f32 / 2048.0 - 1.0)).collect()
    };
    let (a, b) = (halves(m * k), halves(n * k));
    let wide = |x: &[f16]| x.iter().map(|x| x.to_f64()).collect::<Vec<_>>();
    let want = product(&wide(&a), &wide(&b), (m, n, k));
    let host = Host::new();
    let ring = (STAGES * STAGE) as u32;
    let flops = 2.0 * (m * n * k) as f64;
    println!("D = A * B, {m} x {n} x {k}, f16 in, f32 out");

    let mut d = vec![0f32; m * n];
    let launch = Launch::grid((m as u32 / 128, n as u32 / 128)).block(THREADS).dynamic_shared(ring);
    let launch = watched(launch, "gemm");
    let start = Instant::now();
    gemm.launch(&host, launch, (&a, &b, &mut d, n as u32, k as u32))?;
    let time = start.elapsed().as_secs_f64();
    let error = worst(&d, &want, k);
    println!(
        "  one CTA a tile:   {:6.2} GFLOP/s on the host, largest error {error:.3} of the bound",
        flops / time / 1e9
    );
    assert!(error <= 1.0, "the result is wrong");

    let mut d = vec![0f32; m * n];
    let launch = Launch::grid((m as u32 / 128, n as u32 / 256)).block(THREADS).dynamic_shared(ring);
    let launch = watched(launch, "gemm_pair");
    let start = Instant::now();
    gemm_pair.launch(&host, launch, (&a, &b, &mut d, n as u32, k as u32))?;
    let time = start.elapsed().as_secs_f64();
    let error = worst(&d, &want, k);
    println!(
        "  CTA pairs:        {:6.2} GFLOP/s on the host, largest error {error:.3} of the bound",
        flops / time / 1e9
    );
    assert!(error <= 1.0, "the result is wrong");

    // Any byte but the two NaNs, and scale factors from 2^-4 to 2^3.
    let mut bytes = |count: usize| -> Vec<u8> {
        (0..count).map(|_| random.next() as u8).map(|x| if x & 0x7f == 0x7f { x - 1 } else { x }).collect()
    };
    let (a, b) = (bytes(m * k), bytes(n * k));
    let mut scales = |count: usize| -> Vec<u8> { (0..count).map(|_| 123 + (random.next() % 8) as u8).collect() };
    let (a_scales, b_scales) = (scales(m * k / 32), scales(n * k / 32));
    let scaled = |x: &[u8], s: &[u8]| -> Vec<f64> {
        x.iter().enumerate().map(|(i, &x)| e4m3(x) * 2f64.powi(s[i / 32] as i32 - 127)).collect()
    };
    let want = product(&scaled(&a, &a_scales), &scaled(&b, &b_scales), (m, n, k));
    let mut d = vec![0f32; m * n];
    let launch = Launch::grid((m as u32 / 128, n as u32 / 128)).block(THREADS).dynamic_shared(ring);
    let launch = watched(launch, "gemm_scaled");
    let start = Instant::now();
    gemm_scaled.launch(&host, launch, (&a, &b, &a_scales, &b_scales, &mut d, n as u32, k as u32))?;
    let time = start.elapsed().as_secs_f64();
    let error = worst(&d, &want, k);
    println!("e4m3 in with a scale factor for every 32 elements:");
    println!(
        "  block scaled:     {:6.2} GFLOP/s on the host, largest error {error:.3} of the bound",
        flops / time / 1e9
    );
    assert!(error <= 1.0, "the result is wrong");
    Ok(())
}
