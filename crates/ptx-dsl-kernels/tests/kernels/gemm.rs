//! Matrix products.

use crate::{numbers, on_devices, on_hosts, on_schedules};
use half::{bf16, f16};
use ptx_dsl::Host;
use ptx_dsl::launch::Device;
use ptx_dsl_kernels::Error;
use ptx_dsl_kernels::gemm::{self, Cluster, Plan, Shape};
use ptx_dsl_kernels::{gemm_sm80, gemm_sm100};

const fn shape([m, n, k]: [usize; 3]) -> Shape {
    Shape { m, n, k }
}

/// A and B of numbers from -1 to 1, and for each element of C its value and the sum of the magnitudes of its terms.
struct Problem {
    shape: Shape,
    a: Vec<f32>,
    b: Vec<f32>,
    exact: Vec<(f64, f64)>,
}

impl Problem {
    /// The numbers have 8 bits, so bf16 and f16 have them exactly.
    fn new(shape: Shape) -> Problem {
        let eighths = |n, seed| numbers(n, seed).iter().map(|x| (x * 128.0).round() / 128.0).collect::<Vec<f32>>();
        let Shape { m, n, k } = shape;
        let (a, b) = (eighths(m * k, 1), eighths(n * k, 2));
        let element = |at: usize| {
            let terms =
                a[at / n * k..][..k].iter().zip(&b[at % n * k..][..k]).map(|(a, b)| f64::from(*a) * f64::from(*b));
            terms.fold((0.0, 0.0), |(sum, size), term| (sum + term, size + term.abs()))
        };
        let exact = (0..m * n).map(element).collect();
        Problem { shape, a, b, exact }
    }

    /// Compares C: the error is at most 2^-16 of the magnitudes of the terms, and half a unit of a type with so many bits.
    fn compare(&self, c: impl Iterator<Item = f64>, bits: i32) {
        for (at, (c, (sum, size))) in c.zip(&self.exact).enumerate() {
            let bound = size / 65536.0 + sum.abs() * 2f64.powi(-bits);
            let (row, column) = (at / self.shape.n, at % self.shape.n);
            assert!((c - sum).abs() <= bound, "{:?}, row {row}, column {column}: {c} instead of {sum}", self.shape);
        }
    }

    fn bf16(&self, device: &dyn Device, plan: Plan) -> Result<(), Error> {
        let [a, b] = [&self.a, &self.b].map(|x| x.iter().map(|x| bf16::from_f32(*x)).collect::<Vec<_>>());
        let mut c = vec![bf16::NAN; self.exact.len()];
        gemm::bf16_bf16(&device, &a, &b, &mut c, plan)?;
        self.compare(c.iter().map(|c| c.to_f64()), 8);
        Ok(())
    }

    fn bf16_f32(&self, device: &dyn Device, plan: Plan) -> Result<(), Error> {
        let [a, b] = [&self.a, &self.b].map(|x| x.iter().map(|x| bf16::from_f32(*x)).collect::<Vec<_>>());
        let mut c = vec![f32::NAN; self.exact.len()];
        gemm::bf16_f32(&device, &a, &b, &mut c, plan)?;
        self.compare(c.iter().map(|c| f64::from(*c)), 23);
        Ok(())
    }

    fn f16(&self, device: &dyn Device, plan: Plan) -> Result<(), Error> {
        let [a, b] = [&self.a, &self.b].map(|x| x.iter().map(|x| f16::from_f32(*x)).collect::<Vec<_>>());
        let mut c = vec![f16::NAN; self.exact.len()];
        gemm::f16_f16(&device, &a, &b, &mut c, plan)?;
        self.compare(c.iter().map(|c| c.to_f64()), 11);
        Ok(())
    }

    /// Zeros, ones and halves of either sign for A and B: nothing is rounded but C.
    fn e4m3(&self, device: &dyn Device, plan: Plan) -> Result<(), Error> {
        let code = |x: &f32| [0x00, 0x30, 0x38, 0xb8][(x.abs() * 4.0) as usize % 4];
        let [a, b] = [&self.a, &self.b].map(|x| x.iter().map(code).collect::<Vec<u8>>());
        let Shape { n, k, .. } = self.shape;
        let (pad, depth) = (k.next_multiple_of(16) - k, k.next_multiple_of(16));
        let padded =
            |x: &[u8]| x.chunks(k).flat_map(|row| row.iter().copied().chain(vec![0; pad])).collect::<Vec<u8>>();
        let plan = Plan::new(Shape { k: depth, ..self.shape }, plan.width(), plan.cluster(), 132)?;
        let mut c = vec![bf16::NAN; self.exact.len()];
        gemm::e4m3_bf16(&device, &padded(&a), &padded(&b), &mut c, plan, 1.0)?;
        for (at, c) in c.iter().enumerate() {
            let terms = a[at / n * k..][..k].iter().zip(&b[at % n * k..][..k]).map(|(a, b)| e4m3(*a) * e4m3(*b));
            let sum: f64 = terms.sum();
            assert!((c.to_f64() - sum).abs() <= sum.abs() / 256.0, "{:?}, {at}: {c} instead of {sum}", self.shape);
        }
        Ok(())
    }

    fn f16_f32(&self, device: &dyn Device, plan: Plan) -> Result<(), Error> {
        let [a, b] = [&self.a, &self.b].map(|x| x.iter().map(|x| f16::from_f32(*x)).collect::<Vec<_>>());
        let mut c = vec![f32::NAN; self.exact.len()];
        gemm::f16_f32(&device, &a, &b, &mut c, plan)?;
        self.compare(c.iter().map(|c| f64::from(*c)), 23);
        Ok(())
    }
}

#[test]
fn plans() -> Result<(), Error> {
    let plan = |m, n| Plan::of(shape([m, n, 4096]), 132).map(|plan| (plan.width(), plan.cluster(), plan.ctas()));
    // four waves of large tiles that are equally full; a wave of small ones; half a wave, of which each CTA has half of K
    assert_eq!(plan(4096, 4096)?, (256, Cluster::Alone, 128));
    assert_eq!(plan(1024, 2048)?, (128, Cluster::Alone, 128));
    assert_eq!(plan(128, 8192)?, (128, Cluster::Split(2), 128));
    let error = Plan::of(shape([1, 0, 8]), 132).unwrap_err();
    assert_eq!(error.to_string(), "`n` is 0, but must be from 1 to 2^32 - 1");
    Ok(())
}

/// The value of an e4m3 number, by its definition: 4 bits of exponent with a bias of 7, 3 of mantissa.
fn e4m3(bits: u8) -> f64 {
    let (exponent, mantissa) = (i32::from(bits >> 3 & 15), f64::from(bits & 7) / 8.0);
    let size = if exponent == 0 { mantissa * 2f64.powi(-6) } else { (1.0 + mantissa) * 2f64.powi(exponent - 7) };
    if bits < 128 { size } else { -size }
}

#[test]
fn eight_bits() {
    let Shape { m, n, k } = shape([136, 136, 304]);
    let mut random = ptx_dsl_test_support::random::Random::new(4);
    let mut random = |n| {
        (0..n).map(|_| (random.below(128u32) as u8).min(0x77) | (random.below(2u32) as u8) << 7).collect::<Vec<u8>>()
    };
    let (a, b) = (random(m * k), random(n * k));
    let [x, y] = [&a, &b].map(|x| x.iter().map(|x| e4m3(*x)).collect::<Vec<_>>());
    let scales = |n, seed| numbers(n, seed).iter().map(|x| x + 1.5).collect::<Vec<f32>>();
    let (a_scales, b_scales) = (scales(m, 5), scales(n, 6));
    for width in [256, 128] {
        let plan = Plan::new(shape([m, n, k]), width, Cluster::Alone, 1).expect("a plan");
        on_devices(|device| {
            let mut c = vec![bf16::NAN; m * n];
            gemm::e4m3_rows_bf16(&device, &a, &b, &mut c, plan, &a_scales, &b_scales)?;
            for (at, c) in c.iter().enumerate() {
                let scale = f64::from(a_scales[at / n]) * f64::from(b_scales[at % n]);
                let terms = x[at / n * k..][..k].iter().zip(&y[at % n * k..][..k]).map(|(x, y)| x * y * scale);
                let (sum, size) = terms.fold((0.0, 0.0), |(sum, size), term| (sum + term, size + term.abs()));
                let bound = size * 2f64.powi(-11) + sum.abs() / 256.0;
                assert!((c.to_f64() - sum).abs() <= bound, "{at}: {c} instead of {sum}");
            }
            Ok(())
        });
        on_devices(|device| {
            let mut c = vec![bf16::NAN; m * n];
            gemm::e4m3_bf16(&device, &a, &b, &mut c, plan, 0.25)?;
            for (at, c) in c.iter().enumerate() {
                let terms = x[at / n * k..][..k].iter().zip(&y[at % n * k..][..k]).map(|(x, y)| x * y / 4.0);
                let (sum, size) = terms.fold((0.0, 0.0), |(sum, size), term| (sum + term, size + term.abs()));
                // the tensor cores cut terms 13 bits below the greatest
                assert!(
                    (c.to_f64() - sum).abs() <= size * 2f64.powi(-11) + sum.abs() / 256.0,
                    "{at}: {c} instead of {sum}"
                );
            }
            Ok(())
        });
    }
}

/// Tails in each dimension, one CTA for four tiles, and more blocks than stages.
fn every_type(width: u32) {
    let problem = Problem::new(shape([136, width as usize + 8, 328]));
    let plan = Plan::new(problem.shape, width, Cluster::Alone, 1).expect("a plan");
    on_devices(|device| {
        problem.bf16(device, plan)?;
        problem.f16_f32(device, plan)
    });
    problem.f16(&Host::new(), plan).expect("as bf16");
    problem.bf16_f32(&Host::new(), plan).expect("as f16");
}

#[test]
fn tiles_of_64() {
    every_type(64);
}

#[test]
fn tiles_of_144() {
    every_type(144);
}

#[test]
fn tiles_of_128() {
    every_type(128);
}

#[test]
fn tiles_of_192() {
    every_type(192);
}

#[test]
fn tiles_of_256() {
    every_type(256);
}

/// Every instance of a width with 32 schedules: two blocks in bf16, one in the other types, with tails.
fn every_schedule(width: u32) {
    let [deep, flat] = [72, 8].map(|k| Problem::new(shape([40, 24, k])));
    let plan = |problem: &Problem, cluster| Plan::new(problem.shape, width, cluster, 132).expect("a plan");
    for cluster in [Cluster::Alone, Cluster::Split(2), Cluster::Pair] {
        on_schedules(|device| deep.bf16(device, plan(&deep, cluster)));
    }
    for cluster in [Cluster::Alone, Cluster::Pair] {
        on_schedules(|device| flat.f16(device, plan(&flat, cluster)));
        on_schedules(|device| flat.bf16_f32(device, plan(&flat, cluster)));
        on_schedules(|device| flat.f16_f32(device, plan(&flat, cluster)));
        on_schedules(|device| flat.e4m3(device, plan(&flat, cluster)));
    }
}

#[test]
fn schedules_of_64() {
    every_schedule(64);
}

#[test]
fn schedules_of_128() {
    every_schedule(128);
}

#[test]
fn schedules_of_144() {
    every_schedule(144);
}

#[test]
fn schedules_of_192() {
    every_schedule(192);
}

#[test]
fn schedules_of_256() {
    every_schedule(256);
}

/// Two and four CTAs for a tile, with parts of K that differ.
#[test]
fn shared_tiles() {
    for (width, split) in [(192, 4), (128, 2), (144, 3), (64, 5)] {
        let problem = Problem::new(shape([72, width as usize + 8, 264]));
        let plan = Plan::new(problem.shape, width, Cluster::Split(split), 132).expect("a plan");
        on_devices(|device| {
            problem.bf16(device, plan)?;
            problem.f16_f32(device, plan)
        });
    }
}

/// Three rows of tiles for pairs of them.
#[test]
fn pairs() {
    for width in [256, 192, 144, 128, 64] {
        let problem = Problem::new(shape([264, width as usize / 2 + 8, 264]));
        let plan = Plan::new(problem.shape, width, Cluster::Pair, 2).expect("a plan");
        on_devices(|device| {
            problem.bf16(device, plan)?;
            problem.f16_f32(device, plan)
        });
    }
}

/// `tcgen05`: tails in each dimension, more blocks of K than stages, and more tiles than the pairs that start.
#[test]
fn blackwell() {
    let check = |device: &dyn Device, problem: &Problem| {
        let [a, b] = [&problem.a, &problem.b].map(|x| x.iter().map(|x| bf16::from_f32(*x)).collect::<Vec<_>>());
        let mut c = vec![bf16::NAN; problem.exact.len()];
        gemm_sm100::bf16_bf16(&device, &a, &b, &mut c, problem.shape)?;
        problem.compare(c.iter().map(|c| c.to_f64()), 8);
        let [a, b] = [&problem.a, &problem.b].map(|x| x.iter().map(|x| f16::from_f32(*x)).collect::<Vec<_>>());
        let mut c = vec![f16::NAN; problem.exact.len()];
        gemm_sm100::f16_f16(&device, &a, &b, &mut c, problem.shape)?;
        problem.compare(c.iter().map(|c| c.to_f64()), 11);
        Ok(())
    };
    let problem = Problem::new(shape([270, 264, 392]));
    on_hosts(|device| check(device, &problem));
    let problem = Problem::new(shape([136, 264, 72]));
    on_schedules(|device| check(device, &problem));
}

/// `mma.sync`: tails in each dimension, and more blocks of K than stages.
#[test]
fn ampere() {
    let check = |device: &dyn Device, problem: &Problem| {
        let [a, b] = [&problem.a, &problem.b].map(|x| x.iter().map(|x| bf16::from_f32(*x)).collect::<Vec<_>>());
        let mut c = vec![bf16::NAN; problem.exact.len()];
        gemm_sm80::bf16_bf16(&device, &a, &b, &mut c, problem.shape)?;
        problem.compare(c.iter().map(|c| c.to_f64()), 8);
        let [a, b] = [&problem.a, &problem.b].map(|x| x.iter().map(|x| f16::from_f32(*x)).collect::<Vec<_>>());
        let mut c = vec![f16::NAN; problem.exact.len()];
        gemm_sm80::f16_f16(&device, &a, &b, &mut c, problem.shape)?;
        problem.compare(c.iter().map(|c| c.to_f64()), 11);
        Ok(())
    };
    let problem = Problem::new(shape([200, 138, 328]));
    on_devices(|device| check(device, &problem));
    let problem = Problem::new(shape([70, 34, 136]));
    on_schedules(|device| check(device, &problem));
}

#[test]
fn shapes_that_no_tensor_map_has() {
    let c = &mut [f32::NAN; 9];
    let plan = Plan::of(shape([3, 3, 3]), 132).expect("a plan");
    let error = gemm::bf16_f32(&Host::new(), &[bf16::ONE; 9], &[bf16::ONE; 9], c, plan).unwrap_err();
    assert!(matches!(error, Error::Map(_)), "{error}");
}
