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

/// A kind to measure: M = 128, N = 256.
struct Measured {
    name: &'static str,
    kind: Qualifier,
    /// Of the elements, and of D.
    codes: [u32; 2],
    /// K as the instruction has it; a product by hand has as many multiplications.
    k: usize,
    options: Options,
}

#[derive(Default)]
struct Options {
    transposed: bool,
    sparse: bool,
    a_in_tmem: bool,
    lut: bool,
    flag: Option<Qualifier>,
    extra: u32,
}

const fn measured(name: &'static str, kind: Qualifier, codes: [u32; 2], k: usize) -> Measured {
    let options = Options { transposed: false, sparse: false, a_in_tmem: false, lut: false, flag: None, extra: 0 };
    Measured { name, kind, codes, k, options }
}

fn with(m: Measured, options: Options) -> Measured {
    Measured { options, ..m }
}

fn all() -> Vec<Measured> {
    let off = Options::default;
    let mx = |name, kind, code, k, extra: u32, flag| {
        with(measured(name, kind, [code, 0], k), Options { extra: extra | 1 << 23, flag, ..off() })
    };
    vec![
        measured("f16", q::kind_f16, [0, 1], 16),
        measured("bf16", q::kind_f16, [1, 1], 16),
        with(measured("f16, B transposed", q::kind_f16, [0, 1], 16), Options { transposed: true, ..off() }),
        with(measured("f16, A in Tensor Memory", q::kind_f16, [0, 1], 16), Options { a_in_tmem: true, ..off() }),
        measured("f16, D f16", q::kind_f16, [0, 0], 16),
        with(measured("f16, sparse", q::kind_f16, [0, 1], 32), Options { sparse: true, ..off() }),
        measured("tf32", q::kind_tf32, [2, 1], 8),
        measured("e4m3", q::kind_f8f6f4, [0, 1], 32),
        measured("e4m3, D f16", q::kind_f8f6f4, [0, 0], 32),
        measured("e3m2", q::kind_f8f6f4, [4, 1], 32),
        measured("e2m1", q::kind_f8f6f4, [5, 1], 32),
        with(measured("e4m3, sparse", q::kind_f8f6f4, [0, 1], 64), Options { sparse: true, ..off() }),
        with(
            measured("e4m3, lookup tables", q::kind_f8f6f4, [0, 1], 64),
            Options { lut: true, extra: 1 << 29, ..off() },
        ),
        measured("s8", q::kind_i8, [1, 2], 32),
        with(measured("s8, saturating", q::kind_i8, [1, 2], 32), Options { extra: 8, ..off() }),
        measured("12-bit integers", q::kind_ti16, [3, 2], 16),
        mx("e4m3, block scales", q::kind_mxf8f6f4, 0, 32, 0, None),
        mx("mxf4", q::kind_mxf4, 1, 64, 0, None),
        mx("mxf4, K = 96", q::kind_mxf4, 1, 96, 1 << 31, None),
        mx("nvf4, blocks of 16", q::kind_mxf4nvf4, 1, 64, 0, Some(q::block16)),
    ]
}

#[test]
#[ignore = "a measurement"]
fn speed_of_mma() {
    for Measured { name, kind, codes: [code, d], k, options: o } in all() {
        let (m, n) = (128, 256);
        // neither special nor subnormal values in any type
        let byte = |i: u32| (i.wrapping_mul(2654435761) >> 24) as u8 & 0x0b | 0x30;
        // 12-bit integers have zeros in bits 11 to 14
        let shared: Vec<u8> =
            (0..0x20000u32).map(|i| if kind == q::kind_ti16 && i % 2 == 1 { 1 } else { byte(i) }).collect();
        let scaled = o.extra >> 23 & 1 != 0;
        let idesc = d << 4 | code << 7 | code << 10 | u32::from(o.transposed) << 16 | 32 << 17 | 8 << 24;
        let idesc = idesc | o.extra | u32::from(o.sparse) << 2;
        let desc = 256u64 << 16 | 64 << 32 | 1 << 46 | 2 << 61;
        let mut s = vec![0, if o.a_in_tmem { 300 } else { desc }, desc | 0x1000];
        if o.lut {
            s.push(320);
        }
        if o.sparse {
            s.push(330);
        }
        s.push(idesc.into());
        if scaled {
            s.extend([256, 272]);
        }
        s.push(1);
        let mut flags = vec![kind];
        flags.extend(o.flag);
        flags.extend(o.a_in_tmem.then_some(q::a_tmem));
        flags.extend(o.lut.then_some(q::decompress_lut_b));
        let job = Multiply::new(Q::new(&flags, &[]), o.sparse, false, Generation::Sm107, &s).expect("a job");
        let mut tmem = Tmem::default();
        tmem.set_allocated(0..512, true);
        for lane in 0..tmem::LANES {
            tmem.lane_mut(lane)[256..300].fill(0x7f7f_7f7f);
            tmem.lane_mut(lane)[300..330].fill(0x3131_3131);
            tmem.lane_mut(lane)[330..340].fill(0x4444_4444);
        }
        let (a, b, mut out) = (vec![0.5f32; m * k], vec![0.25f32; n * k], vec![0f32; m * n]);
        let exact = Multiply::new(Q::new(&flags, &[]), o.sparse, false, Generation::Sm107, &s).expect("a job");
        let exact = Multiply { exact: Some(crate::simd::best(true)), ..exact };
        let (mut fast, mut ours, mut theirs) = (Duration::MAX, Duration::MAX, Duration::MAX);
        let mut time = |job: &Multiply| {
            let start = Instant::now();
            job.run(&mut [TensorCta { tmem: &mut tmem, shared: black_box(&shared) }]).expect("no fault");
            start.elapsed()
        };
        for _ in 0..200 {
            fast = fast.min(time(&job));
            ours = ours.min(time(&exact));
            let start = Instant::now();
            by_hand(black_box(&a), black_box(&b), &mut out, (m, n, k));
            theirs = theirs.min(start.elapsed());
            black_box(&mut out);
        }
        let ratio = |of: Duration| of.as_secs_f64() / theirs.as_secs_f64();
        println!("{name}: exact {:.2}, fast {:.2} times {theirs:?} by hand", ratio(ours), ratio(fast));
    }
}
