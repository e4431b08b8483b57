//! Forms of other targets than an H200's, against plain Rust: narrow formats, block scaling, and the sums of other generations.

use super::forms::size;
use super::hardware::{Pools, run_on};
use super::inputs::{CLASSES, Class, Side, Ty};
use super::kernels::{Kernel, Operand, POOL, Pool};
use super::reference::{To, exponent, fused, of_a, of_b, of_c, value};
use ptx_dsl::Numerics;
use ptx_dsl::prelude::*;

/// A product of 16 rows and eight columns.
#[derive(Debug, Clone, Copy)]
struct Form {
    target: &'static str,
    /// Up to the shape.
    head: &'static str,
    shape: &'static str,
    /// After the layouts.
    kind: &'static str,
    d: Ty,
    a: Ty,
    b: Ty,
    sparse: bool,
    scale: Option<Scale>,
    /// Bits of a term, and of a result.
    fraction: i32,
    to: To,
    /// Terms added at once.
    step: usize,
    /// Sums of f32.
    fast: bool,
}

#[derive(Debug, Clone, Copy)]
struct Scale {
    ty: Ty,
    vector: usize,
    bytes: [usize; 2],
    threads: [usize; 2],
}

fn name(ty: Ty) -> String {
    if ty == Ty::E2m1Packed { "e2m1".into() } else { format!("{ty:?}").to_lowercase() }
}

impl Form {
    fn registers(&self, ty: Ty, elements: u32) -> u32 {
        (elements * ty.pitch() / 1024).max(1)
    }

    fn kernel(&self) -> Kernel {
        let [m, n, k] = size(self.shape);
        let [d, a, b] = [self.d, self.a, self.b].map(name);
        let scale = self.scale.map_or(String::new(), |s| format!(".{}", name(s.ty)));
        let instr = format!("{}.sync.aligned.{}.row.col{}.{d}.{a}.{b}.{d}{scale}", self.head, self.shape, self.kind);
        let fragment = |ty: Ty, side, elements| Operand::Fragment { ty, side, registers: self.registers(ty, elements) };
        let stored = if self.sparse { k / 2 } else { k };
        let mut operands = vec![
            fragment(self.a, Side::A, m * stored),
            fragment(self.b, Side::B, n * k),
            fragment(self.d, Side::C, m * n),
        ];
        if self.sparse {
            operands.push(Operand::Metadata { tf32: false, ordered: true });
            operands.push(Operand::Constant("0".into()));
        }
        if let Some(scale) = self.scale {
            for (i, side) in [Side::A, Side::B].into_iter().enumerate() {
                operands.push(Operand::Factors(scale.ty, side));
                operands.push(Operand::Constant(format!("{{{}, {}}}", scale.bytes[i], scale.threads[i])));
            }
        }
        Kernel::warp(self.target, &instr, fragment(self.d, Side::C, m * n), operands)
    }

    /// What a warp gets, by lane and register.
    fn expected(&self, class: usize, warp: usize, pools: &mut Pools, threads: usize) -> Vec<[u32; 32]> {
        let [m, n, k] = size(self.shape).map(|x| x as usize);
        let mut word =
            |pool: Pool, lane: usize, j: usize| pools.of(pool)[class * POOL + j * threads + warp * 32 + lane];
        let mut element = |ty: Ty, side, lane: usize, i: usize| {
            let per = 32 / ty.pitch() as usize;
            value(ty, word(Pool::Elements(ty, side), lane, i / per) >> (i % per * ty.pitch() as usize))
        };
        let stored = if self.sparse { k / 2 } else { k };
        let (mut a, mut b, mut c) = (vec![vec![0.0; stored]; m], vec![vec![0.0; k]; n], vec![vec![0.0; n]; m]);
        for lane in 0..32 {
            for i in 0..m * stored / 32 {
                let (row, k) = of_a(lane, i, 32 / self.a.pitch() as usize);
                a[row][k] = element(self.a, Side::A, lane, i);
            }
            for i in 0..n * k / 32 {
                let (k, column) = of_b(lane, i, 32 / self.b.pitch() as usize);
                b[column][k] = element(self.b, Side::B, lane, i);
            }
            for i in 0..m * n / 32 {
                let (row, column) = of_c(lane, i);
                c[row][column] = element(self.d, Side::C, lane, i);
            }
        }
        // chunks of one element or a pair, two of four
        let unit = if self.a == Ty::E2m1Packed { 2 } else { 1 };
        let mut place = |row: usize, i: usize| {
            if !self.sparse {
                return i;
            }
            let chunk = i / (2 * unit);
            let index = word(Pool::Ordered, row % 8 * 4 + row / 8 + chunk / 8 * 2, 0) >> (chunk % 8 * 4);
            let position = index >> (i / unit % 2 * 2) & 3;
            (chunk * 4 + position as usize) * unit + i % unit
        };
        let places: Vec<Vec<usize>> = (0..m).map(|row| (0..stored).map(|i| place(row, i)).collect()).collect();
        let mut factor = |side: usize, line: usize, k: usize| {
            let Some(s) = self.scale else { return 1.0 };
            let lane = line % 8 * 4 + if side == 0 { s.threads[0] * 2 + line / 8 } else { s.threads[1] };
            let byte = s.bytes[side] + k * s.vector / stored;
            value(s.ty, word(Pool::Elements(s.ty, [Side::A, Side::B][side]), lane, 0) >> (8 * byte) & 0xff)
        };
        let mut sums = vec![[0u32; 32]; if self.d == Ty::F16 { 2 } else { 4 }];
        for at in 0..128 {
            let (lane, i) = (at / 4, at % 4);
            let (row, column) = of_c(lane, i);
            let mut total = (c[row][column], exponent(self.d, c[row][column]));
            let mut bits = 0;
            let products: Vec<(f64, i32)> = (0..stored)
                .map(|k| {
                    let (x, y) = (a[row][k], b[column][places[row][k]]);
                    let scale = factor(0, row, k) * factor(1, column, k);
                    let e = exponent(self.a, x) + exponent(self.b, y);
                    (x * y * scale, e + if scale == 0.0 { 0 } else { scale.log2().floor() as i32 })
                })
                .collect();
            if self.fast {
                let sum = products.iter().fold(0f32, |sum, p| sum + p.0 as f32);
                let sum = sum + c[row][column] as f32;
                bits = if self.d == Ty::F16 { fused(&[], (sum.into(), 0), 30, To::F16) } else { sum.to_bits() };
            }
            for terms in products.chunks(self.step).filter(|_| !self.fast) {
                bits = fused(terms, total, self.fraction, self.to);
                let sum = value(if self.d == Ty::F16 { Ty::F16 } else { Ty::F32 }, bits);
                total = (sum, exponent(self.d, sum));
            }
            if self.d == Ty::F16 {
                sums[i / 2][lane] |= bits << (16 * (i % 2))
            } else {
                sums[i][lane] = bits
            };
        }
        sums
    }

    /// What the kernel stores.
    fn results(&self, pools: &mut Pools) -> Vec<u32> {
        let numerics = if self.fast { Numerics::Fast } else { Numerics::Exact };
        run_on(&Host::new().numerics(numerics), &self.kernel(), pools).unwrap()
    }

    fn check(&self, pools: &mut Pools) {
        let kernel = self.kernel();
        let found = self.results(pools);
        let threads = kernel.threads as usize;
        let mut seen = std::collections::BTreeSet::new();
        for (class, _) in CLASSES.iter().enumerate().filter(|c| *c.1 == Class::Near) {
            for warp in [0, threads / 32 - 1] {
                for (r, lanes) in self.expected(class, warp, pools, threads).iter().enumerate() {
                    for (lane, &wanted) in lanes.iter().enumerate() {
                        let found = found[class * threads * kernel.outputs + r * threads + warp * 32 + lane];
                        assert_eq!(
                            found, wanted,
                            "{}: warp {warp} lane {lane} register {r}: {found:08x}, not {wanted:08x}",
                            kernel.label
                        );
                        seen.insert(found);
                    }
                }
            }
        }
        assert!(seen.len() > 100, "{}: only {} different results", kernel.label, seen.len());
    }
}

const NARROW: [Ty; 5] = [Ty::E4m3, Ty::E5m2, Ty::E3m2, Ty::E2m3, Ty::E2m1];

const PLAIN: Form = Form {
    target: "sm_120a",
    head: "mma",
    shape: "m16n8k32",
    kind: ".kind::f8f6f4",
    d: Ty::F32,
    a: Ty::E4m3,
    b: Ty::E4m3,
    sparse: false,
    scale: None,
    fraction: 25,
    to: To::F32(23),
    step: usize::MAX,
    fast: false,
};

#[test]
fn narrow_formats() {
    let mut pools = Pools::default();
    for (i, a) in NARROW.into_iter().enumerate() {
        for (j, b) in NARROW.into_iter().enumerate() {
            let sparse = Form { head: "mma.sp::ordered_metadata", shape: "m16n8k64", sparse: true, ..PLAIN };
            let form = Form { a, b, ..if (i + j) % 2 == 0 { PLAIN } else { sparse } };
            form.check(&mut pools);
            Form { d: Ty::F16, to: To::F16, ..form }.check(&mut pools);
            let scale = Scale { ty: Ty::Ue8m0, vector: 1, bytes: [i % 4, j % 4], threads: [j % 2, i % 4] };
            let kind = ".kind::mxf8f6f4.block_scale.scale_vec::1X";
            Form { kind, scale: Some(scale), ..form }.check(&mut pools);
        }
    }
}

#[test]
fn scaled_4_bit_formats() {
    let mut pools = Pools::default();
    for sparse in [false, true] {
        for (kind, ty, vector, bytes) in [
            (".kind::mxf4.block_scale.scale_vec::2X", Ty::Ue8m0, 2, [0, 2]),
            (".kind::mxf4nvf4.block_scale.scale_vec::2X", Ty::Ue8m0, 2, [2, 0]),
            (".kind::mxf4nvf4.block_scale.scale_vec::4X", Ty::Ue8m0, 4, [0, 0]),
            (".kind::mxf4nvf4.block_scale.scale_vec::4X", Ty::Ue4m3, 4, [0, 0]),
        ] {
            let (head, shape) = if sparse { ("mma.sp::ordered_metadata", "m16n8k128") } else { ("mma", "m16n8k64") };
            let scale = Some(Scale { ty, vector, bytes, threads: [1, 3] });
            let (a, b) = (Ty::E2m1Packed, Ty::E2m1Packed);
            Form { head, shape, kind, a, b, sparse, scale, fraction: 35, ..PLAIN }.check(&mut pools);
        }
    }
}

#[test]
fn sums_of_other_generations() {
    let mut pools = Pools::default();
    let f16 = Form { a: Ty::F16, b: Ty::F16, kind: "", ..PLAIN };
    let fp8 = Form { target: "sm_89", kind: "", fraction: 13, step: 16, ..PLAIN };
    for form in [
        Form { target: "sm_75", shape: "m16n8k8", fraction: 24, step: 8, ..f16 },
        Form { target: "sm_80", shape: "m16n8k8", fraction: 24, step: 8, ..f16 },
        Form { target: "sm_80", shape: "m16n8k16", fraction: 24, step: 8, ..f16 },
        Form { target: "sm_89", shape: "m16n8k16", fraction: 24, step: 8, ..f16 },
        Form { target: "sm_100a", shape: "m16n8k16", ..f16 },
        Form { target: "sm_120a", shape: "m16n8k16", ..f16 },
        Form { to: To::F32(13), ..fp8 },
        Form { to: To::F32(13), a: Ty::E5m2, ..fp8 },
        Form { to: To::F16, d: Ty::F16, b: Ty::E5m2, ..fp8 },
    ] {
        form.check(&mut pools);
        let half = Form { d: Ty::F16, to: To::F16, ..form };
        half.check(&mut pools);
    }
}

#[test]
fn fast_sums_are_those_of_f32() {
    let mut pools = Pools::default();
    let fast = Form { target: "sm_90a", kind: "", fast: true, ..PLAIN };
    let f16 = Form { shape: "m16n8k16", a: Ty::F16, b: Ty::F16, ..fast };
    let scale = Some(Scale { ty: Ty::Ue8m0, vector: 1, bytes: [1, 2], threads: [1, 0] });
    let kind = ".kind::mxf8f6f4.block_scale.scale_vec::1X";
    for form in [
        f16,
        Form { d: Ty::F16, ..f16 },
        fast,
        Form { a: Ty::E5m2, ..fast },
        Form { target: "sm_120a", kind, scale, b: Ty::E3m2, ..fast },
    ] {
        form.check(&mut pools);
        assert_ne!(form.results(&mut pools), Form { fast: false, ..form }.results(&mut pools), "{form:?}: as exact");
    }
}
