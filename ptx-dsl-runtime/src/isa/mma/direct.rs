//! Products of 16 rows and dense elements of 8, 16 or 32 bits, from registers to registers: the frequent forms of `mma`.
//!
//! The same sums as those of [`dot`], without tiles. Fragments nearly have the right order: a register of A has four lanes
//! for each of its rows, and two registers of C, interleaved, are rows. Only B is transposed. [`multiply`] leaves infinities, NaNs and
//! products that f32 does not hold exactly to the tiles.

mod elements;
#[cfg(test)]
mod tests;

use super::Sources;
use super::form::Form;
use crate::Lanes;
use crate::isa::float16::{f16_to_f32, f32_to_f16};
use crate::isa::matrix::dot::{LEAST, WIDE, canonical, finish};
use crate::isa::matrix::format::Format;
use crate::isa::matrix::fragment::Cells;
use crate::isa::matrix::model::{Model, least_exponent};
use crate::isa::matrix::tile::{NARROW, exponent};
use crate::lanes::Level;
use crate::simd::{InstructionSet, dispatch};
use elements::{Bf16, Elements, F16, Four, Tf32, Two};

/// Rows of A.
const ROWS: usize = 16;
/// Rows worked on at once: their sums and units stay in vector registers.
const HIGH: usize = 4;
/// The most k.
const DEEP: usize = 32;
/// Terms whose sum fits into an i32.
const TERMS: usize = 16;

/// How products are added.
#[derive(Clone, Copy)]
pub(super) enum Sum {
    /// As tensor cores add.
    Fused(Model),
    /// Both halves of each register as f16, one after the other, then C: elements of 8 bits on `sm_90`.
    Halves(Model),
    /// Ordinary sums of f32.
    Plain,
    /// Exact sums, which wrap or saturate.
    Integers { saturate: bool },
}

/// A product.
pub(super) struct Job<'a> {
    form: &'a Form,
    s: Sources<'a>,
    sum: Sum,
}

impl<'a> Job<'a> {
    /// `None` if the form is not one of these.
    pub fn new(form: &'a Form, s: Sources<'a>, sum: Sum) -> Option<Job<'a>> {
        let bits = form.formats.map(Format::bits);
        let chunk = if matches!(sum, Sum::Halves(_)) { 8 } else { chunk(form.formats[0]) };
        let of_step = if let Sum::Fused(model) = sum { model.step.min(form.k) } else { chunk };
        let dense = !form.sparse && !form.packed && form.scale.is_none() && form.m == ROWS && form.k <= DEEP;
        let simple = bits[0] == bits[1] && matches!(bits[0], 8 | 16 | 32) && form.formats[0] != Format::S1z4m11;
        let fits = form.k.is_multiple_of(chunk) && of_step.is_multiple_of(chunk) && of_step <= TERMS;
        (dense && simple && fits).then_some(Job { form, s, sum })
    }
}

/// Elements that the four lanes of a row have in a register.
const fn chunk(format: Format) -> usize {
    match format.bits() {
        8 => 16,
        16 => 8,
        _ => 4,
    }
}

/// Sets D. False, with nothing done, if there are numbers of other ranges.
pub(super) fn multiply(set: InstructionSet, job: &Job<'_>, d: &mut [&mut Lanes]) -> bool {
    // processors of x86-64 without AVX2 are few
    #[cfg(target_arch = "x86_64")]
    return dispatch!(set, [level::<crate::lanes::Avx512>, level::<crate::lanes::Avx2>, nothing],
        (job: &Job<'_> = job, d: &mut [&mut Lanes] = d) -> bool);
    #[cfg(not(target_arch = "x86_64"))]
    dispatch!(set, level::<crate::lanes::Base>, (job: &Job<'_> = job, d: &mut [&mut Lanes] = d) -> bool)
}

/// Leaves the product to the tiles.
#[cfg(target_arch = "x86_64")]
fn nothing(_: &Job<'_>, _: &mut [&mut Lanes]) -> bool {
    false
}

#[inline(always)]
fn level<L: Level>(job: &Job<'_>, d: &mut [&mut Lanes]) -> bool {
    let (form, [of_d, of_c]) = (job.form, job.form.cells);
    let mut c = [[0; WIDE]; ROWS];
    load(of_c, job.s.c, &mut c);
    let (parts, formats): (&[_], _) = match job.sum {
        Sum::Halves(_) => (&[Some(0), Some(2)], [Format::F16; 2]),
        _ => (&[None], form.formats),
    };
    let (mut sums, mut addends) = ([[0.0; WIDE]; ROWS], [[0.0; WIDE]; ROWS]);
    if let Sum::Fused(_) = job.sum {
        floats(of_c, &c, &mut sums);
    }
    // one call of each function: one that is not inlined would not have the instruction set, and call every instruction
    let mut factors = Factors { a: [0.0; _], b: [[0.0; WIDE]; _], k: 0, chunk: 0 };
    for half in parts {
        factors.decode::<L>(form.formats, *half, job.s);
        match job.sum {
            Sum::Fused(model) | Sum::Halves(model) => {
                if !factors.fused::<L>(model, formats, &mut sums) {
                    return false;
                }
            }
            Sum::Plain | Sum::Integers { .. } => factors.plain(&mut sums),
        }
    }
    if let Sum::Integers { saturate } = job.sum {
        for (c, sum) in c.as_flattened_mut().iter_mut().zip(sums.as_flattened()) {
            let (old, sum) = (*c as i32, *sum as i32);
            *c = if saturate { old.saturating_add(sum) } else { old.wrapping_add(sum) } as u32;
        }
    } else {
        if !matches!(job.sum, Sum::Fused(_)) {
            floats(of_c, &c, &mut addends);
            for (sum, c) in sums.as_flattened_mut().iter_mut().zip(addends.as_flattened()) {
                *sum = canonical(*c + *sum);
            }
        }
        bits(of_d, &sums, &mut c);
    }
    store(of_d, &c, d);
    true
}

/// The bits of an accumulator.
type Bits = [[u32; WIDE]; ROWS];
type Floats = [[f32; WIDE]; ROWS];

/// Both halves of each word, the lower one first.
#[inline(always)]
fn words(pairs: &[u64; 4]) -> [u32; 8] {
    let mut out = [0; 8];
    for t in 0..4 {
        (out[2 * t], out[2 * t + 1]) = (pairs[t] as u32, (pairs[t] >> 32) as u32);
    }
    out
}

#[inline(always)]
fn load(cells: Cells, registers: &[&Lanes], rows: &mut Bits) {
    match (cells, registers) {
        (Cells::Word, &[a, b, c, d]) => {
            for (half, even, odd) in [(0, a, b), (8, c, d)] {
                for g in 0..8 {
                    let mut pairs = [0; 4];
                    for t in 0..4 {
                        pairs[t] = even[4 * g + t] & 0xffff_ffff | odd[4 * g + t] << 32;
                    }
                    rows[half + g] = words(&pairs);
                }
            }
        }
        _ => {
            for (rows, register) in rows.chunks_exact_mut(8).zip(registers) {
                for (row, lanes) in rows.iter_mut().zip(register.chunks_exact(4)) {
                    for (i, to) in row.iter_mut().enumerate() {
                        *to = lanes[i / 2] as u32 >> (16 * (i % 2)) & 0xffff;
                    }
                }
            }
        }
    }
}

#[inline(always)]
fn store(cells: Cells, rows: &Bits, d: &mut [&mut Lanes]) {
    match (cells, d) {
        (Cells::Word, [a, b, c, d]) => {
            for (half, even, odd) in [(0, a, b), (8, c, d)] {
                for g in 0..8 {
                    for t in 0..4 {
                        even[4 * g + t] = rows[half + g][2 * t].into();
                        odd[4 * g + t] = rows[half + g][2 * t + 1].into();
                    }
                }
            }
        }
        (_, d) => {
            for (rows, register) in rows.chunks_exact(8).zip(d) {
                for (row, lanes) in rows.iter().zip(register.chunks_exact_mut(4)) {
                    for t in 0..4 {
                        lanes[t] = (row[2 * t] | row[2 * t + 1] << 16).into();
                    }
                }
            }
        }
    }
}

#[inline(always)]
fn floats(cells: Cells, bits: &Bits, to: &mut Floats) {
    for (to, bits) in to.as_flattened_mut().iter_mut().zip(bits.as_flattened()) {
        *to = if cells == Cells::Word { f32::from_bits(*bits) } else { f16_to_f32(*bits as u16) };
    }
}

#[inline(always)]
fn bits(cells: Cells, floats: &Floats, to: &mut Bits) {
    for (to, v) in to.as_flattened_mut().iter_mut().zip(floats.as_flattened()) {
        *to = if cells == Cells::Word { v.to_bits() } else { f32_to_f16(*v).into() };
    }
}

/// A and B as f32.
struct Factors {
    /// As in registers: parts of k, each with 16 rows of `chunk` elements.
    a: [f32; ROWS * DEEP],
    /// By k.
    b: [[f32; WIDE]; DEEP],
    k: usize,
    chunk: usize,
}

impl Factors {
    /// `half`: only these two elements of the four of each register.
    #[inline(always)]
    fn decode<L: Level>(&mut self, formats: [Format; 2], half: Option<u32>, s: Sources<'_>) {
        match (formats[0], half) {
            (Format::F16, _) => self.fill::<L, _>([&F16; 2], s),
            (Format::Bf16, _) => self.fill::<L, _>([&Bf16; 2], s),
            (Format::Tf32, _) => self.fill::<L, _>([&Tf32; 2], s),
            (_, Some(first)) => self.fill::<L, _>(formats.map(|f| Two(f.values(), first)).each_ref(), s),
            _ => self.fill::<L, _>(formats.map(|f| Four(f.values())).each_ref(), s),
        }
    }

    #[inline(always)]
    fn fill<L: Level, E: Elements>(&mut self, [of_a, of_b]: [&E; 2], s: Sources<'_>) {
        (self.k, self.chunk) = (4 * E::PER * s.b.len(), 4 * E::PER);
        for (r, lanes) in s.a.iter().enumerate() {
            let to = &mut self.a[32 * E::PER * r..][..32 * E::PER];
            for i in 0..4 {
                let mut words = [0; 8];
                for l in 0..8 {
                    words[l] = lanes[8 * i + l] as u32;
                }
                of_a.in_order::<L>(&words, &mut to[8 * E::PER * i..][..8 * E::PER]);
            }
        }
        for (r, lanes) in s.b.iter().enumerate() {
            let to = &mut self.b[4 * E::PER * r..][..4 * E::PER];
            let mut pairs = [[0; 4]; 4];
            for i in 0..4 {
                for t in 0..4 {
                    pairs[i][t] = lanes[8 * i + t] & 0xffff_ffff | lanes[8 * i + 4 + t] << 32;
                }
            }
            let pairs = L::transpose(&pairs);
            for t in 0..4 {
                of_b.across::<L>(&words(&pairs[t]), &mut to[E::PER * t..][..E::PER]);
            }
        }
    }

    /// Elements of `HIGH` rows in a part of k.
    #[inline(always)]
    fn rows(&self, block: usize, part: usize) -> [&[f32]; HIGH] {
        let chunk = self.chunk;
        let rows = &self.a[(part * ROWS + block * HIGH) * chunk..][..HIGH * chunk];
        let (low, high) = rows.split_at(2 * chunk);
        let ((a, b), (c, d)) = (low.split_at(chunk), high.split_at(chunk));
        [a, b, c, d]
    }

    /// Ordinary sums, in ascending k.
    #[inline(always)]
    fn plain(&self, sums: &mut Floats) {
        for (block, to) in sums.chunks_exact_mut(HIGH).enumerate() {
            let mut sums = [[0.0; WIDE]; HIGH];
            for (part, b) in self.b[..self.k].chunks_exact(self.chunk).enumerate() {
                let a = self.rows(block, part);
                for (j, b) in b.iter().enumerate() {
                    for r in 0..HIGH {
                        let a = a[r][j];
                        for n in 0..WIDE {
                            sums[r][n] += a * b[n];
                        }
                    }
                }
            }
            to.copy_from_slice(&sums);
        }
    }

    /// Adds all products to `sums`, as [`dot::block`](crate::isa::matrix::dot::block) does. False, with nothing done, if products do
    /// not fit into f32 or there are infinities and NaNs.
    #[inline(always)]
    fn fused<L: Level>(&self, model: Model, formats: [Format; 2], sums: &mut Floats) -> bool {
        let finite = sums.as_flattened().iter().fold(true, |all, c| all & c.is_finite());
        let mut range = (i32::MAX, i32::MIN);
        let (mut a, mut b) = ([0; ROWS * DEEP], [[0; WIDE]; DEEP]);
        let least = formats.map(least_exponent);
        measure(&self.a[..ROWS * self.k], least[0], &mut a, &mut range);
        measure(self.b[..self.k].as_flattened(), least[1], b.as_flattened_mut(), &mut range);
        if !finite || range.0 < (*NARROW.start()).into() || range.1 > (*NARROW.end()).into() {
            return false;
        }
        let of_step = model.step.min(self.k) / self.chunk;
        for from in (0..self.k / self.chunk).step_by(of_step.max(1)) {
            for block in 0..ROWS / HIGH {
                let parts = from..from + of_step.max(1);
                self.step::<L>(model, (&a, &b), (block, parts), &mut sums[block * HIGH..][..HIGH]);
            }
        }
        true
    }

    /// One step of a tensor core, for some rows.
    #[inline(always)]
    fn step<L: Level>(
        &self,
        model: Model,
        (of_a, of_b): (&[i32; ROWS * DEEP], &[[i32; WIDE]; DEEP]),
        (block, parts): (usize, std::ops::Range<usize>),
        c: &mut [[f32; WIDE]],
    ) {
        let (chunk, mut top) = (self.chunk, [[0; WIDE]; HIGH]);
        for (top, c) in top.iter_mut().zip(&*c) {
            top.iter_mut().zip(c).for_each(|(top, c)| *top = exponent(*c, model.least()).into());
        }
        for part in parts.clone() {
            let a = &of_a[(part * ROWS + block * HIGH) * chunk..][..HIGH * chunk];
            for (j, b) in of_b[part * chunk..][..chunk].iter().enumerate() {
                for (r, top) in top.iter_mut().enumerate() {
                    *top = L::raise_words(top, a[r * chunk + j], b);
                }
            }
        }
        let mut units = [[0.0; WIDE]; HIGH];
        for (unit, top) in units.as_flattened_mut().iter_mut().zip(top.as_flattened_mut()) {
            *top = (*top).max(LEAST.into());
            *unit = f32::from_bits(((i32::from(model.fraction) - *top + 127).clamp(1, 254) as u32) << 23);
        }
        let mut sums = [[0i32; WIDE]; HIGH];
        for part in parts {
            let a = self.rows(block, part);
            for (j, b) in self.b[part * chunk..][..chunk].iter().enumerate() {
                for r in 0..HIGH {
                    let (a, mut terms) = (a[r][j], [0.0; WIDE]);
                    for n in 0..WIDE {
                        terms[n] = a * b[n] * units[r][n];
                    }
                    let terms = L::truncate(&terms);
                    for n in 0..WIDE {
                        sums[r][n] = sums[r][n].wrapping_add(terms[n]);
                    }
                }
            }
        }
        for ((c, sums), top) in c.iter_mut().zip(&sums).zip(&top) {
            let mut total = [0.0; WIDE];
            total.iter_mut().zip(sums).for_each(|(total, sum)| *total = f64::from(*sum));
            *c = finish(model, true, &total, top, c);
        }
    }
}

/// The exponents of numbers, and the least and the greatest of those that are no zeros.
#[inline(always)]
fn measure(values: &[f32], least: i16, exponents: &mut [i32], range: &mut (i32, i32)) {
    for (to, value) in exponents.iter_mut().zip(values) {
        let e = i32::from(exponent(*value, least));
        *range = (range.0.min(if *value == 0.0 { 0 } else { e }), range.1.max(e));
        *to = e;
    }
}
