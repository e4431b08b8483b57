//! How fast: `cargo test --release -p ptx-dsl-runtime -- --ignored --nocapture speed_of_mma`.

use std::hint::black_box;
use std::time::{Duration, Instant};

use super::*;

/// A matrix product as one would write it: rows of D, vectorised along n.
fn by_hand(a: &[f32], b: &[f32], d: &mut [f32], (m, n, k): (usize, usize, usize)) {
    for i in 0..m {
        let d = &mut d[i * n..(i + 1) * n];
        for l in 0..k {
            let x = a[i * k + l];
            for (d, b) in d.iter_mut().zip(&b[l * n..(l + 1) * n]) {
                *d += x * b;
            }
        }
    }
}

#[test]
#[ignore = "a measurement"]
fn speed_of_mma() {
    for (name, kind, code, d, transposed, k) in [
        ("f16", q::kind_f16, 0, 1, false, 16),
        ("f16, B transposed", q::kind_f16, 0, 1, true, 16),
        ("tf32", q::kind_tf32, 2, 1, false, 8),
        ("e4m3", q::kind_f8f6f4, 0, 1, false, 32),
        ("s8", q::kind_i8, 1, 2, false, 32),
        ("f16, D f16", q::kind_f16, 0, 0, false, 16),
        ("e4m3, block scales", q::kind_mxf8f6f4, 0, 0, false, 32),
    ] {
        let (m, n) = (128, 256);
        // neither special nor subnormal values in any type
        let shared: Vec<u8> = (0..0x20000u32).map(|i| (i.wrapping_mul(2654435761) >> 24) as u8 & 0x0b | 0x30).collect();
        let scaled = kind == q::kind_mxf8f6f4;
        let idesc = d << 4 | code << 7 | code << 10 | u32::from(transposed) << 16 | 32 << 17 | 8 << 24;
        let idesc = idesc | u32::from(scaled) << 23;
        let desc = 256u64 << 16 | 64 << 32 | 1 << 46 | 2 << 61;
        let mut s = vec![0, desc, desc | 0x1000, idesc.into(), 1];
        if scaled {
            s.splice(4..4, [256, 264]);
        }
        let job = Multiply::new(Q::new(&[kind], &[]), false, false, Generation::Sm100, &s).expect("a job");
        let mut tmem = Tmem::default();
        tmem.set_allocated(0..512, true);
        for lane in 0..tmem::LANES {
            tmem.lane_mut(lane)[256..272].fill(0x7f7f_7f7f);
        }
        let (a, b, mut out) = (vec![0.5f32; m * k], vec![0.25f32; n * k], vec![0f32; m * n]);
        let (mut ours, mut theirs) = (Duration::MAX, Duration::MAX);
        for _ in 0..300 {
            let start = Instant::now();
            job.run(&mut [TensorCta { tmem: &mut tmem, shared: black_box(&shared) }]).expect("no fault");
            ours = ours.min(start.elapsed());
            let start = Instant::now();
            by_hand(black_box(&a), black_box(&b), &mut out, (m, n, k));
            theirs = theirs.min(start.elapsed());
            black_box(&mut out);
        }
        println!("{name}: {ours:?}, by hand {theirs:?}: {:.2}", ours.as_secs_f64() / theirs.as_secs_f64());
    }
}
